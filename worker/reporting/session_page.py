"""One session's report as values: its chain of checkpoints and its transcript, read again, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from worker.core.checkpoint import Checkpoint, Status
from worker.core.items import items_of
from worker.core.rebuilding import in_runs, live_numbers, without_replaced
from worker.core.rendering import Rendering
from worker.core.session_key import session_label
from worker.core.summary import Summary, UserMessage
from worker.core.wording import clip, sentences
from worker.reporting.bars import UNKNOWN, bar, source_shares, summary_shares
from worker.reporting.citing import Citing, span
from worker.reporting.counting import counted, dollars, duration, total_cost
from worker.reporting.entries import Sections
from worker.reporting.figures import (
    binding_words,
    counts_of,
    figure_of_cost,
    figure_of_findings,
    figure_of_kept,
    figure_of_left_out,
    figure_of_size,
    tokens_before,
)
from worker.reporting.histories import Histories
from worker.reporting.leftovers import (
    checked,
    degraded_parts,
    kept,
    moved_entry,
    saved_entries,
    skipped_entries,
    skipped_in,
    unshown_entry,
)
from worker.reporting.page import (
    Bar,
    CheckpointRow,
    Cite,
    LeftOut,
    Quoted,
    SessionPage,
    Share,
    in_words,
)
from worker.reporting.quoting import Saying, cut, shown_chars
from worker.reporting.rereading import Reread, Standing
from worker.reporting.timeline import timeline

MAX_USER_MESSAGES = 2_000
TITLE_CHARS = 90

_STATUS_NOTES = {
    Status.OK: "A model wrote the summary, code checked it against the transcript.",
    Status.DEGRADED: (
        "Degraded: a model was asked and could not be used for all of it. Where it could not, what code found "
        "by itself stands there. The nightly run does it again."
    ),
    Status.DETERMINISTIC: "Written by code alone: no model was configured.",
}


_OUTCOMES = {
    "unchanged": "all of it still fits, so 'afterturn view' sends it unchanged",
    "micro_compacted": "old tool outputs are moved out, then it fits",
    "checkpoint": "the summary and the newest messages, as 'afterturn view' sends them",
    "window": "the newest messages, as 'afterturn view' sends them",
    "archive": "the newest messages and a pointer to the archive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRequest:
    """What a view would send now. sources: tokens by source. outcome: what it did to make them fit the window."""

    window: int
    reserve: int
    safety: int
    outcome: str
    sources: Mapping[str, int]
    over_budget: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a session's page is made of. chain: oldest first. whole: its newest, joined. rendering: what `show` prints.

    memory_tokens: of the workspace's MEMORY.md. following: None where nobody asked, or nothing can be sent.
    cited: ids of the messages that the page may quote, in all with quoted_bytes.
    """

    chain: Sequence[Checkpoint]
    whole: Checkpoint
    rendering: Rendering
    read: Reread
    zone: tzinfo
    show_tokens: int
    memory_tokens: int
    following: NextRequest | None
    cited: Sequence[str]
    quoted_bytes: int


def title_of(whole: Checkpoint) -> str:
    """What a person said first, in a line; the session's name where nobody spoke."""
    first = next((said.text for said in whole.summary.user_messages if said.text.strip()), "")
    words = sentences(first[:2_000])
    return clip(words[0], TITLE_CHARS) if words else session_label(whole.session.key)


def session_page(material: Material, *, number: int) -> SessionPage:
    """number: of the session on its page, from 1; its anchors begin with it."""
    return _Maker(material, f"s{number}").page()


class _Maker:
    def __init__(self, material: Material, prefix: str) -> None:
        self._material = material
        self._chain = material.chain
        self._whole = material.whole
        self._read = material.read
        said = _people_sayings(material.whole.summary, material.cited)
        self._people = {one.id: one for one in said}
        others = {name: one for name, one in material.read.sayings.items() if name not in self._people}
        times = {name: one.at for name, one in (others | self._people).items()}
        self._others = others
        self._chars = shown_chars(others | self._people, material.quoted_bytes)
        self._citing = Citing(prefix=prefix, quoted=times.keys(), zone=material.zone, told=times.get)
        counting = live_numbers(material.chain)
        self._counting = [one for one in material.chain if one.number in counting]
        self._histories = Histories(without_replaced(material.chain), material.read.steps, self._citing)
        self._sections = Sections(self._citing, self._histories, several=len(material.chain) > 1)
        self._counts = counts_of(material.whole.summary)

    def page(self) -> SessionPage:
        session = self._chain[-1].session
        before, after = self._bars()
        messages = self._person_messages()
        left_out = self._left_out()
        findings = checked(self._counting)
        return SessionPage(
            anchor=self._citing.prefix,
            key=session.key,
            title=title_of(self._whole),
            name=session_label(session.key).partition("/")[2],
            agent=session.agent,
            project=session.cwd or "",
            source=session.source,
            span=span(self._citing, *self._times()),
            lede=self._lede(),
            status=self._whole.status.value,
            status_note="" if self._whole.status is Status.DEGRADED else _STATUS_NOTES[self._whole.status],
            notices=tuple(self._notices()),
            figures=(
                figure_of_size(before, after),
                figure_of_kept(self._counts),
                figure_of_left_out(left_out, self._whole.summary, _savings(self._chain)),
                figure_of_findings(self._counting),
                figure_of_cost(self._totals()),
            ),
            before=before,
            after=after,
            summary=bar("Summary", "", summary_shares(self._material.rendering.markdown), 0),
            following=self._following(),
            timeline=timeline(self._chain, self._replaced(), self._read, self._citing),
            sections=self._sections.of(self._whole, messages, messages_left=self._counts.said - len(messages)),
            left_out=left_out,
            checked=findings,
            artifacts=kept(self._whole.summary.artifacts, self._citing),
            checkpoints=tuple(self._row(one) for one in self._chain),
            totals=self._totals(),
            quoted=tuple(
                self._quoted(one) for _, one in sorted(self._others.items(), key=lambda each: int(each[0][1:]))
            ),
            unquoted=self._unquoted(),
            command=f"afterturn show {session.key}",
        )

    def _replaced(self) -> set[int]:
        return {one.number for one in self._chain} - {one.number for one in self._counting}

    def _times(self) -> tuple[datetime | None, datetime | None]:
        """When the session began and ended, as far as somebody noted it."""
        said = [one.timestamp for one in self._whole.summary.user_messages if one.timestamp]
        first = self._read.first_at or min(said, default=None)
        return first, self._read.last_at or max(said, default=None)

    # Messages.

    def _person_messages(self) -> list[Quoted]:
        answers = {said.id: said.answers for said in self._whole.summary.user_messages if said.answers}
        quoted = []
        for saying in self._people.values():
            answered = answers.get(saying.id)
            quoted.append(
                self._quoted(
                    saying,
                    answers=answered.excerpt if answered else "",
                    answered=self._citing.cite(answered.id) if answered else None,
                )
            )
        return quoted

    def _quoted(self, saying: Saying, answers: str = "", answered: Cite | None = None) -> Quoted:
        text, left_out = cut(saying.text, self._chars)
        return Quoted(
            anchor=self._citing.anchor(saying.id),
            id=saying.id,
            author=saying.author,
            when=self._citing.when(saying.at),
            text=text,
            cut=left_out,
            is_note=saying.is_note,
            answers=answers,
            answered=answered,
        )

    def _unquoted(self) -> int:
        cited = {name for _, item in items_of(self._whole.summary) for name in item.evidence}
        return len(cited - set(self._people) - set(self._others))

    # Words.

    def _lede(self) -> str:
        covered = self._whole.covered
        size = f"{_summary_tokens(self._material):,} tokens"
        open_ones = in_words(binding_words(self._counts))
        kept_words = (
            f"It keeps {open_ones}, and every word that people wrote."
            if open_ones
            else "It keeps every word that people wrote; no rule is in force and nothing is open."
        )
        return f"{counted(covered, 'message')} became a summary of {size}. {kept_words}"

    def _notices(self) -> list[str]:
        read = self._read
        notices = []
        if read.standing is Standing.GONE:
            notices.append(
                "The transcript is no longer where it was. This page is made from the checkpoints alone: what people "
                "wrote is here, what assistant and tools said is not."
            )
        elif read.standing is Standing.UNREADABLE:
            notices.append(
                f"The transcript cannot be read ({read.problem}). This page is made from the checkpoints alone: what "
                "people wrote is here, what assistant and tools said is not."
            )
        elif read.changed:
            notices.append(
                f"The transcript was changed since: what {in_runs(read.changed)} covered reads otherwise now, or is "
                "gone. Messages of those ranges are quoted only where a checkpoint holds them."
            )
        if self._whole.status is Status.DEGRADED:
            notices.append(_STATUS_NOTES[Status.DEGRADED])
        return notices

    # Tokens.

    def _bars(self) -> tuple[Bar, Bar]:
        read = self._read
        is_whole = read.standing is Standing.READ and not read.changed
        if is_whole:
            sources = dict(read.sources)
            for name, tokens in read.tail_sources.items():
                sources[name] = sources.get(name, 0) + tokens
            shares = source_shares(sources)
        else:
            shares = (Share(name=UNKNOWN, tokens=tokens_before(self._chain), tone="system"),)
        after = [Share(name="Summary", tokens=_summary_tokens(self._material), tone="rules")]
        if read.tail_tokens:
            after.append(Share(name="Tail, verbatim", tokens=read.tail_tokens, tone="assistant"))
        if self._material.memory_tokens:
            after.append(Share(name="MEMORY.md", tokens=self._material.memory_tokens, tone="people"))
        scale = sum(share.tokens for share in shares)
        return (
            bar("Before", "everything that was said, by who said it", shares, scale),
            bar("After", "what is carried on", tuple(after), scale),
        )

    def _following(self) -> Bar | None:
        following = self._material.following
        if following is None:
            return None
        shares = (
            *source_shares(following.sources),
            Share(name="Reserved for the answer", tokens=following.reserve, tone="reserve"),
            Share(name="Safety, for what estimates miss", tokens=following.safety, tone="reserve"),
        )
        note = _OUTCOMES.get(following.outcome, following.outcome.replace("_", " "))
        if following.over_budget:
            note = f"{note}; over the budget: {following.over_budget}"
        return bar(f"Next request and its reserve, of a window of {following.window:,}", note, shares, following.window)

    # What was left out.

    def _left_out(self) -> tuple[LeftOut, ...]:
        material = self._material
        rows: list[LeftOut | None] = [
            _degraded_entry(self._counting),
            moved_entry(self._chain, self._sections.entry),
            unshown_entry(material.rendering.left_out, material.show_tokens),
            self._tail_entry(),
            *saved_entries(_savings(self._chain)),
            *(
                skipped_entries(skipped_in(self._chain), is_exact=False)
                if self._read.skipped is None
                else skipped_entries(self._read.skipped, is_exact=True)
            ),
        ]
        return tuple(row for row in rows if row is not None)

    def _tail_entry(self) -> LeftOut | None:
        messages = self._read.end - self._whole.covered
        if messages <= 0 or not self._read.tail_known:
            return None
        return LeftOut(
            what="The tail",
            amount=f"{counted(messages, 'message')}, {self._read.tail_tokens:,} tokens",
            why="the newest messages stay verbatim until a later checkpoint covers them",
            code="tail",
        )

    # Checkpoints.

    def _row(self, checkpoint: Checkpoint) -> CheckpointRow:
        use = checkpoint.model
        notes = []
        if checkpoint.replaces:
            notes.append(f"summarized again, in the place of {in_runs(checkpoint.replaces)}")
        if checkpoint.number in self._replaced():
            notes.append("summarized again since")
        if checkpoint.number in self._read.changed and self._read.standing is Standing.READ:
            notes.append("the transcript reads otherwise now")
        if parts := self._read.parts.get(checkpoint.number):
            notes.append(counted(len(parts), "part"))
        if checkpoint.validation.repairs:
            notes.append(f"asked again {counted(checkpoint.validation.repairs, 'time')}")
        return CheckpointRow(
            anchor=f"{self._citing.prefix}-checkpoint-{checkpoint.number}",
            number=checkpoint.number,
            messages=f"m{checkpoint.range.start}–m{checkpoint.range.end - 1}",
            status=checkpoint.status.value,
            when=self._citing.when(checkpoint.created_at),
            tokens_before=checkpoint.tokens_before,
            tokens_after=checkpoint.tokens_after,
            calls=use.calls,
            tokens_in=use.tokens_in,
            tokens_out=use.tokens_out,
            cost=dollars(use.cost_usd) if use.calls else "",
            seconds=duration(use.seconds) if use.calls else "",
            model=use.name or "",
            note="; ".join(notes),
        )

    def _totals(self) -> CheckpointRow:
        uses = [one.model for one in self._chain]
        cost = total_cost(uses)
        return CheckpointRow(
            anchor="",
            number=len(self._chain),
            messages=counted(self._whole.covered, "message"),
            status=self._whole.status.value,
            when="",
            tokens_before=tokens_before(self._chain),
            tokens_after=_summary_tokens(self._material),
            calls=sum(use.calls for use in uses),
            tokens_in=sum(use.tokens_in for use in uses),
            tokens_out=sum(use.tokens_out for use in uses),
            cost=dollars(cost) if any(use.calls for use in uses) else "",
            seconds=duration(sum(use.seconds for use in uses)) if any(use.calls for use in uses) else "",
            model=in_words(sorted({use.name for use in uses if use.name})),
        )


def _people_sayings(summary: Summary, cited: Sequence[str]) -> list[Saying]:
    """What people wrote, in order; of more than a page holds those that are cited, then the newest."""
    said = list(summary.user_messages)
    if len(said) > MAX_USER_MESSAGES:
        pointed = set(cited)
        ranked = sorted(range(len(said)), key=lambda at: (said[at].id not in pointed, -at))[:MAX_USER_MESSAGES]
        said = [said[at] for at in sorted(ranked)]
    return [_saying(one) for one in said]


def _saying(said: UserMessage) -> Saying:
    return Saying(id=said.id, author="person", text=said.text, at=said.timestamp)


def _summary_tokens(material: Material) -> int:
    return sum(share.tokens for share in summary_shares(material.rendering.markdown))


def _savings(chain: Sequence[Checkpoint]) -> Mapping[str, int]:
    """Tokens per step, of every range once."""
    savings: dict[str, int] = {}
    for checkpoint in chain:
        for step, tokens in checkpoint.savings.items() if not checkpoint.replaces else ():
            savings[step] = savings.get(step, 0) + tokens
    return savings


def _degraded_entry(chain: Sequence[Checkpoint]) -> LeftOut | None:
    count = degraded_parts(chain)
    if not count:
        return None
    return LeftOut(
        what="Told without the model",
        amount=counted(count, "part"),
        why="no usable answer came; the ledger's rules, tasks, files and failures stand there instead",
        code="degraded",
    )
