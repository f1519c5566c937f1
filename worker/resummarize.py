"""A session, or a range of it, summarized again from the transcript and not from the last summary.

    find the chain → check the source → take out → summarize range by range → put together → one commit → project

So errors do not pile up, a degraded checkpoint is mended once a model is there, and nothing is lost when it fails: the
result is one checkpoint more, which names those that it replaces, or it is not there at all. What may stay of the old
state is decided in `core.rebuilding`; a summary that would be worse than what is there is not committed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from worker.asking import added_use
from worker.consolidate import Request, Result, Tools, find_chain
from worker.core.checkpoint import Checkpoint, Finding, ModelUse, Outcome, SourceRange, Status, Validation
from worker.core.ledger import Ledger
from worker.core.messages import Message, range_sha256
from worker.core.pairing import opens_turn, pair
from worker.core.rebuilding import (
    Remains,
    Span,
    in_runs,
    live_numbers,
    only_items,
    piled_up,
    piled_up_ledgers,
    put_together,
    span_of,
    take_out,
)
from worker.core.rendering import render_summary, source_of
from worker.core.shedding import shed
from worker.core.summary import Artifact, Summary, UserMessage
from worker.core.taking import take_ledger
from worker.core.tokens import estimate_tokens
from worker.errors import UsageError
from worker.log import log_event
from worker.ranges import SealedRange, Window, messages_between
from worker.summarize import Material, Summarized, summarize
from worker.transcripts import Transcript, open_transcript

_EXPLANATIONS = {
    "source_missing": "the transcript is gone; the checkpoints stay as they are",
    "source_restarted": "the transcript was begun anew since; what it said before can no longer be read",
    "source_changed": "the transcript no longer says what was summarized; 'afterturn verify' names the place",
    "no_checkpoint": "nothing of this session is summarized yet; 'afterturn run FILE' begins",
    "no_model": "no model is configured, and a model's summary is not replaced by one without a model",
    "worse_than_before": "the model could not be used for all of it; what is there is better and stays",
    "another_run_committed_first": "another run committed first; its result stands",
}


def resummarize(
    request: Request, tools: Tools, *, session: str | None = None, start: int | None = None, end: int | None = None
) -> Result:
    """Makes the newest checkpoint of a session anew, for the messages [start, end) or for all that the chain covers.

    A range is widened to whole turns. session: its key, None to find it by the transcript. Progress and cancelling are
    as in `consolidate`: what `tools.progress` raises ends the run, and nothing is written.

    Raises: UsageError for a range that is not covered, TranscriptError, StoreError, ModelRefused, ModelUnavailable,
        SessionBusy, StorageUnavailable.
    """
    tools.progress.report("reading")
    if not request.path.is_file():
        return _ended(Outcome.FAILED, "source_missing", session or request.path.stem)
    transcript = open_transcript(request.path, max_row_bytes=tools.max_row_bytes)
    key = session or find_chain(transcript, tools.checkpoints)[0].key
    chain = tools.checkpoints.chain(key)
    if not chain:
        return _ended(Outcome.NOTHING_TO_DO, "no_checkpoint", key)
    work = _Rebuild(request, tools, transcript, chain)
    work.choose(start, end)
    reason = work.objection()
    if reason is not None:
        return _ended(Outcome.REFUSED, reason, key, work.chain[-1].covered)
    return work.run()


class _Rebuild:
    """One rebuild: the chain as it was found, the span, and what the summary is made with."""

    def __init__(self, request: Request, tools: Tools, transcript: Transcript, chain: Sequence[Checkpoint]) -> None:
        self.chain = chain
        self._request = request
        self._tools = tools
        self._transcript = transcript
        self._newest = chain[-1]
        self._number = self._newest.number + 1
        self._originals = [one for one in chain if not one.replaces and one.range.chain == self._newest.range.chain]
        self._span = Span(start=0, end=0)
        self._base: Checkpoint | None = None
        self._pieces: list[Checkpoint] = []
        self._sha256 = ""

    def choose(self, start: int | None, end: int | None) -> None:
        """Settles which messages are wanted, and which checkpoints first told of them."""
        first, behind = self._originals[0].range.start, self._newest.covered
        wanted = Span(start=first if start is None else start, end=behind if end is None else end)
        if not (first <= wanted.start < wanted.end <= behind):
            raise UsageError(
                f"m{wanted.start} to m{wanted.end - 1}: no range of what can be read again, m{first}–m{behind - 1}"
            )
        self._span = wanted
        self._pieces = [one for one in self._originals if span_of(one).touches(wanted)]
        self._base = _newest_before(self.chain, self._pieces[0].range.start)

    def objection(self) -> str | None:
        """Why this must not be done, as a code; None when it may. Widens the span to whole turns."""
        if self._tools.asker is None and any(one.status is not Status.DETERMINISTIC for one in self._touched()):
            return "no_model"
        if self._transcript.read(self._newest.cursor).restarted is not None:
            return "source_restarted"
        widened = self._widened()
        if widened is None:
            return "source_changed"
        self._span = widened
        return None

    def run(self) -> Result:
        remains = take_out(
            self._newest.summary,
            self._span,
            covered=self._newest.covered,
            base=self._base.summary if self._base else None,
            human={said.id for one in self.chain for said in one.summary.user_messages},
        )
        taken = self._summarize_again(remains)
        self._tools.progress.report("validating")
        checkpoint = self._checkpoint(taken, remains)
        if checkpoint.status is Status.DEGRADED and all(one.status is Status.OK for one in self._touched()):
            return self._result(Outcome.REFUSED, "worse_than_before", taken)
        if range_sha256(taken.marks) != self._sha256:
            return self._result(Outcome.REFUSED, "source_changed", taken)
        return self._commit(checkpoint, taken)

    def _commit(self, checkpoint: Checkpoint, taken: "_Taken") -> Result:
        key = checkpoint.session.key
        self._tools.progress.report("writing")
        if not self._tools.checkpoints.commit(checkpoint):
            return self._result(Outcome.SUPERSEDED, "another_run_committed_first", taken)
        self._tools.projections.project(key)
        log_event(
            "range_summarized_again",
            session=key,
            number=checkpoint.number,
            status=checkpoint.status,
            replaces=checkpoint.replaces,
        )
        return self._result(Outcome.COMMITTED, checkpoint.status.value, taken, checkpoint)

    def _touched(self) -> list[Checkpoint]:
        """The checkpoints that still tell of the span."""
        live = live_numbers(self.chain)
        return [one for one in self.chain if one.number in live and span_of(one).touches(self._span)]

    def _widened(self) -> Span | None:
        """The span widened to whole turns; None when the transcript says something else by now. One range is held."""
        reading = iter(self._transcript.read(self._base.cursor if self._base else None))
        start, end = self._span.start, self._span.end
        marks: list[Message] = []
        for piece in self._pieces:
            messages = list(islice(reading, piece.range.end - piece.range.start))
            if range_sha256(messages) != piece.range.sha256:
                return None
            marks += map(_mark, messages)
            cuts = _cuts(messages)
            if span_of(piece).start <= self._span.start:
                start = max(cut for cut in cuts if cut <= self._span.start)
            if self._span.end <= span_of(piece).end:
                end = min(cut for cut in cuts if cut >= self._span.end)
        self._sha256 = range_sha256(messages_between(marks, start, end))
        return Span(start=start, end=end)

    # The summary.

    def _summarize_again(self, remains: Remains) -> "_Taken":
        """The span, one range after the other in memory, each joined with what the ranges before it gave."""
        tools, taken = self._tools, _Taken(summary=remains.before)
        window = Window(
            self._transcript,
            self._base,
            replace(tools.limits, keep_recent_tokens=None),
            manual=True,
            writer_is_gone=True,
            only=(self._span.start, self._span.end),
        )
        while (sealed := window.next_range()) is not None:
            material = self._material(sealed, taken.summary)
            # A rebuild without the model's words would replace better ones: an outage ends it, and it is tried later.
            summarized = summarize(material, tools.limits, tools.asker, require_model=True)
            for offload in sealed.tidied.offloads:
                tools.artifacts.put(self._newest.session.key, offload.text, offload.artifact)
            taken.add(sealed, material.ledger, summarized)
        taken.skipped = window.reading.skipped
        return taken

    def _material(self, sealed: SealedRange, state: Summary | None) -> Material:
        return Material(
            messages=sealed.messages,
            tidied=sealed.tidied,
            ledger=take_ledger(
                sealed.messages,
                artifacts=[offload.artifact for offload in sealed.tidied.offloads],
                given_constraints=self._request.given_constraints(),
                given_tasks=self._request.given_tasks(),
                known_tasks=state.tasks if state else (),
                cwd=self._newest.session.cwd,
            ),
            state=state,
            number=self._number,
            today=self._tools.today(self._tools.clock.now()),
            instructions=self._request.instructions,
        )

    def _checkpoint(self, taken: "_Taken", remains: Remains) -> Checkpoint:
        newest, limits = self._newest, self._tools.limits
        whole = put_together(taken.told(), remains, newest.summary, span=self._span, number=self._number)
        shrunk = shed(whole, state_tokens=limits.state_tokens, token_estimator=estimate_tokens)
        checkpoint = replace(
            newest,
            id="",
            number=self._number,
            parent=newest.id,
            created_at=self._tools.clock.now(),
            session=replace(newest.session, source=str(self._transcript.path.absolute())),
            range=SourceRange(
                start=self._span.start, end=self._span.end, sha256=self._sha256, chain=newest.range.chain
            ),
            status=taken.status,
            summary=shrunk.summary,
            ledger=replace(taken.ledger, user_messages=(), artifacts=()),
            validation=Validation(findings=tuple(taken.findings), repairs=taken.repairs),
            model=taken.use if self._tools.asker else ModelUse(),
            savings=dict(taken.savings),
            tokens_before=taken.tokens,
            tokens_after=0,
            skipped=taken.skipped,
            moved=piled_up([*taken.moved, only_items(whole, shrunk.moved)]),
            replaces=tuple(one.number for one in self.chain if span_of(one).touches(self._span)),
        )
        page = render_summary(checkpoint.summary, source=source_of(checkpoint), budget_tokens=self._tools.show_tokens)
        return replace(checkpoint, tokens_after=estimate_tokens(page.markdown))

    def _result(self, outcome: Outcome, reason: str, taken: "_Taken", committed: Checkpoint | None = None) -> Result:
        result = _ended(outcome, reason, self._newest.session.key, self._newest.covered)
        result = replace(
            result,
            range=(self._span.start, self._span.end),
            skipped=taken.skipped,
            parts=taken.parts,
            llm_calls=taken.use.calls,
            tokens_in=taken.use.tokens_in,
            tokens_out=taken.use.tokens_out,
            cost_usd=taken.use.cost_usd,
            findings=tuple(taken.findings),
        )
        if committed is None:
            return result
        return replace(
            result,
            explanation=f"checkpoint {committed.number}, in the place of {in_runs(committed.replaces)}",
            checkpoint=committed.number,
            status=committed.status.value,
            checkpoints=1,
            tokens_before=committed.tokens_before,
            tokens_after=committed.tokens_after,
            artifacts=len(committed.summary.artifacts),
            savings=dict(committed.savings),
        )


@dataclass(slots=True, kw_only=True)
class _Taken:
    """What the ranges of a span gave, added up as they come. summary: of all of them so far, with what was known."""

    summary: Summary | None
    marks: list[Message] = field(default_factory=list)
    user_messages: list[UserMessage] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    moved: list[Summary] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    savings: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, int] = field(default_factory=dict)
    statuses: set[Status] = field(default_factory=set)
    use: ModelUse = field(default_factory=ModelUse)
    repairs: int = 0
    parts: int = 0
    tokens: int = 0

    def add(self, sealed: SealedRange, ledger: Ledger, summarized: Summarized) -> None:
        self.summary = summarized.summary
        self.marks += map(_mark, sealed.messages)
        self.user_messages += summarized.summary.user_messages
        self.artifacts += summarized.summary.artifacts
        self.ledger = piled_up_ledgers([self.ledger, ledger])
        self.moved.append(summarized.moved)
        self.findings += summarized.findings
        self.savings.update(sealed.tidied.savings)
        self.statuses.add(summarized.status)
        self.use = added_use(self.use, summarized.use)
        self.repairs += summarized.repairs
        self.parts += summarized.parts
        self.tokens += sealed.seal.tokens

    @property
    def status(self) -> Status:
        """The worst of all ranges."""
        order = (Status.DEGRADED, Status.DETERMINISTIC, Status.OK)
        return next(status for status in order if status in self.statuses)

    def told(self) -> Summary:
        """The summary of the span, with the user messages and artifacts of all of its ranges."""
        return replace(
            self.summary or Summary(), user_messages=tuple(self.user_messages), artifacts=tuple(self.artifacts)
        )


def _newest_before(chain: Sequence[Checkpoint], index: int) -> Checkpoint | None:
    """The checkpoint from behind which a reader comes to the message; None for the beginning of the file."""
    return max(
        (one for one in chain if not one.replaces and one.range.end <= index), key=lambda one: one.number, default=None
    )


def _mark(message: Message) -> Message:
    """What a range is recognised by, without what the message says: of long sessions all are in memory."""
    return Message(index=message.index, role=message.role, origin=message.origin, text="", digest=message.digest)


def _cuts(messages: Sequence[Message]) -> list[int]:
    """Message indexes at which the range may be cut: its ends, and where a turn begins and no group goes on."""
    ends = {group.end for group in pair(messages).groups}
    turns = [one.index for at, one in enumerate(messages) if at in ends and opens_turn(one)]
    return [messages[0].index, *turns, messages[-1].index + 1]


def _ended(outcome: Outcome, reason: str, session: str, messages: int = 0) -> Result:
    return Result(
        outcome=outcome,
        reason=reason,
        explanation=_EXPLANATIONS.get(reason, reason),
        session=session,
        messages=messages,
        skipped={},
        range=(messages, messages),
    )
