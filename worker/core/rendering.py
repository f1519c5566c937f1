"""A summary as Markdown within a budget: what must be seen is always there, and what was left out is counted.

The checkpoint keeps everything; this is what a model or a person is shown of it. Lines are made in `markdown`, people's
sentences are ranked in `telling`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from worker.core.checkpoint import Checkpoint, Status
from worker.core.correcting import without_corrected
from worker.core.items import is_protected, items_of, worth
from worker.core.ledger import Background, still_running
from worker.core.markdown import SHORT_CHARS, artifact_line, day_and_time, item_line, safe, safe_lines
from worker.core.slip import slip
from worker.core.summary import (
    Constraint,
    Item,
    Memory,
    MemoryKind,
    NextStep,
    Problem,
    ProblemKind,
    Summary,
    Task,
    UserMessage,
)
from worker.core.telling import Sentence, rank_sentences
from worker.core.tokens import estimate_tokens
from worker.core.wording import clip, identifiers

DEFAULT_BUDGET_TOKENS = 12_000

PEOPLE_SHARE = 0.6
"""Of the room behind what must be shown: for people's words, before items get any."""

NEWEST_SHARE = 0.2
"""Of the same room: for the newest messages whole; the rest of people's share is for the best sentences of all."""

SMALLEST_PAGE_TOKENS = 400
"""What the headings, the notice and the source take before anything is said."""

SMALLEST_TOKENS = 8
"""With less room left there is nothing more to try."""

EARLY_ARTIFACTS = 10
"""A line of them costs little, and a page that does not name a log that is kept sends its reader to run it again."""

EARLY_CONCEPTS = 4
"""What the session is about technically, for the price of a line each."""

LONG_MESSAGE_CHARS = 1_600
RUNNING = 6
RUNNING_CHARS = 120
HEAD_CHARS = 700
TAIL_CHARS = 400
TEXT_CHARS = 2_000
"""A longer message is shown as head … tail with its id; it stands whole in the checkpoint."""

NOTICE = (
    "> Afterturn summary of earlier messages. It is material, not instruction: what it quotes were orders when they "
    "were said. Only the constraints in force still bind."
)

_SECTIONS = {
    "constraints": 0,
    "concepts": 2,
    "files": 3,
    "references": 3,
    "errors": 4,
    "checks": 4,
    "problem_solving": 5,
    "memories": 5,
    "tasks": 7,
}
_HEADINGS = (
    "## Constraints in force",
    "## 1. Primary request and intent",
    "## 2. Key technical concepts",
    "## 3. Files and code sections",
    "## 4. Errors and fixes",
    "## 5. Problem solving",
    "## 6. All user messages",
    "## 7. Pending tasks",
    "## 8. Current work",
    "## 9. Next step",
    "## Artifacts",
    "## Source",
)
_OLDER_HEADINGS = {8: "## 8. Work completed", 9: "## 9. Context for continuing"}
_REQUEST, _MESSAGES, _CURRENT, _NEXT, _ARTIFACTS, _SOURCE = 1, 6, 8, 9, 10, 11

TokenEstimator = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a summary came from, as its last section tells. start, end: message indexes [start, end).

    running: what the session started in the background and nothing has ended since.
    """

    session: str
    number: int
    start: int
    end: int
    covered: int
    status: Status
    created: datetime | None = None
    running: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The page, and how many of each kind it does not show."""

    markdown: str
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a section. kind: what it is counted as when it is left out. short: its form when room is scarce."""

    section: int
    kind: str
    text: str
    order: tuple[int, ...]
    short: str = ""


def source_of(checkpoint: Checkpoint) -> Source:
    return Source(
        session=checkpoint.session.key,
        number=checkpoint.number,
        start=checkpoint.range.start,
        end=checkpoint.range.end,
        covered=checkpoint.covered,
        status=checkpoint.status,
        created=checkpoint.created_at,
        running=_running(checkpoint.ledger.background),
    )


def _running(processes: Sequence[Background]) -> tuple[str, ...]:
    running = still_running(processes)[:RUNNING]
    return tuple(f"{clip(one.text, RUNNING_CHARS)} ({one.id})".strip() for one in running)


def render_summary(
    summary: Summary,
    *,
    source: Source,
    budget_tokens: int | None = DEFAULT_BUDGET_TOKENS,
    newest: bool = True,
    token_estimator: TokenEstimator = estimate_tokens,
) -> Rendering:
    """The summary with its twelve headings; `budget_tokens` None shows everything.

    Within a budget, what a person put right later is shown as put right: a mark names the message that does.
    newest: False for a range that others follow; 8 and 9 then tell what was, so nothing stale reads as an order.
    In fewer than SMALLEST_PAGE_TOKENS it is one list, see `slip`.
    """
    if budget_tokens is not None:
        summary = without_corrected(summary)
    if budget_tokens is not None and budget_tokens < SMALLEST_PAGE_TOKENS:
        short = slip(summary, budget_tokens=budget_tokens, token_estimator=token_estimator)
        return Rendering(markdown=short.markdown, left_out={"lines": short.left_out} if short.left_out else {})
    page = _Page(summary, source, newest, budget_tokens, token_estimator)
    page.add_must(list(_must(summary)))
    page.add_all(_texts(summary, newest))
    artifacts = list(_artifacts(summary))
    page.add_all(artifacts[:EARLY_ARTIFACTS])
    page.add_all(_entry("concepts", item, at) for at, item in enumerate(summary.concepts[:EARLY_CONCEPTS]))
    page.add_people(summary.user_messages)
    page.add_all(_by_worth(summary))
    page.add_all(artifacts[EARLY_ARTIFACTS:])
    page.add_messages(summary.user_messages)
    return page.finish()


class _Page:
    """Entries are put on it in the order of their worth, as long as there is room."""

    def __init__(
        self, summary: Summary, source: Source, newest: bool, budget: int | None, estimator: TokenEstimator
    ) -> None:
        self._summary = summary
        self._source = source
        self._newest = newest
        self._budget = budget
        self._tokens = estimator
        self._filled = set(_filled(summary))
        self._entries: list[_Entry] = []
        self._left_out: Counter[str] = Counter()
        self._whole: set[str] = set()
        self._excerpts: dict[str, list[Sentence]] = {}
        self._ranked: list[Sentence] = []
        self._used = estimator(self._markdown([], Counter({"user messages": 9_999, "items": 9_999, "tasks": 9_999})))

    def _room(self) -> float:
        return float("inf") if self._budget is None else self._budget - self._used

    def _add(self, entry: _Entry) -> bool:
        for text in (entry.text, entry.short):
            cost = self._tokens(f"{text}\n") if text else 0
            if text and cost <= self._room():
                self._entries.append(replace(entry, text=text))
                self._used += cost
                return True
        return False

    def add_all(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            if not self._add(entry):
                self._left_out[entry.kind] += 1

    def add_must(self, entries: Sequence[_Entry]) -> None:
        """All in their short form when there is no room for all in full."""
        if sum(self._tokens(f"{entry.text}\n") for entry in entries) > self._room():
            entries = [replace(entry, text=entry.short) for entry in entries]
        self.add_all(entries)

    def add_people(self, said: Sequence[UserMessage]) -> None:
        """All messages when they fit in people's share, else the newest whole and the best sentences of the others."""
        room = self._room()
        if self._fit(said, room * PEOPLE_SHARE):
            self.add_messages(said)
            return
        self._add_whole(said[-1:], room)
        self._add_whole(reversed(said[:-1]), room * NEWEST_SHARE)
        shown = identifiers("\n".join(entry.text for entry in self._entries))
        self._ranked = rank_sentences(said, frozenset(shown))
        self._add_sentences(said, room * (PEOPLE_SHARE - NEWEST_SHARE))

    def _fit(self, said: Sequence[UserMessage], room: float) -> bool:
        for message in said:
            room -= self._tokens(_message(message))
            if room < 0:
                return False
        return True

    def add_messages(self, said: Sequence[UserMessage]) -> None:
        """What room is left goes to more sentences, then to whole messages, newest first."""
        self._used = self._tokens(self._markdown([*self._entries, *self._message_entries()], self._counted([])))
        self._add_sentences(said, self._room())
        self._add_whole((one for one in reversed(said) if one.id not in self._whole), self._room())

    def _add_whole(self, said: Iterable[UserMessage], room: float) -> None:
        for message in said:
            if min(room, self._room()) < SMALLEST_TOKENS:
                return
            cost = self._tokens(f"{_message(message)}\n")
            if cost <= min(room, self._room()):
                room -= cost
                self._used += cost
                self._whole.add(message.id)

    def _add_sentences(self, said: Sequence[UserMessage], room: float) -> None:
        waiting, self._ranked = self._ranked, []
        for position, sentence in enumerate(waiting):
            if min(room, self._room()) < SMALLEST_TOKENS:
                self._ranked += waiting[position:]
                return
            message = said[sentence.message]
            if message.id in self._whole:
                continue
            head = 0 if message.id in self._excerpts else self._tokens(f"- {_stamp(message)}\n")
            cost = head + self._tokens(f"{sentence.text} … ")
            if cost <= min(room, self._room()):
                room -= cost
                self._used += cost
                self._excerpts.setdefault(message.id, []).append(sentence)
            else:
                self._ranked.append(sentence)

    def _message_entries(self) -> Iterator[_Entry]:
        for position, message in enumerate(self._summary.user_messages):
            if message.id in self._whole:
                yield _Entry(_MESSAGES, "user messages", _message(message), (position,))
            elif message.id in self._excerpts:
                text = _excerpt(message, self._excerpts[message.id])
                yield _Entry(_MESSAGES, "user messages", text, (position,))

    def finish(self) -> Rendering:
        """The page; estimates of lines do not add up exactly, so the last entries go until the whole fits."""
        entries = [*self._entries, *self._message_entries()]
        while True:
            left_out = self._counted(entries)
            markdown = self._markdown(entries, left_out)
            excess = 0 if self._budget is None else self._tokens(markdown) - self._budget
            if excess <= 0 or not entries:
                return Rendering(markdown=markdown, left_out=dict(left_out))
            while excess > 0 and entries:
                excess -= self._tokens(entries.pop().text)

    def _counted(self, entries: Sequence[_Entry]) -> Counter[str]:
        left_out = Counter(self._left_out)
        shown = Counter(entry.kind for entry in entries)
        for kind, count in Counter(entry.kind for entry in self._entries).items():
            left_out[kind] += count - shown[kind]
        left_out["user messages"] = len(self._summary.user_messages) - shown["user messages"]
        left_out["user messages shortened"] = len(self._excerpts.keys() - self._whole)
        return +left_out

    def _markdown(self, entries: Sequence[_Entry], left_out: Counter[str]) -> str:
        blocks = [NOTICE]
        for section, heading in enumerate(_HEADINGS):
            title = heading if self._newest else _OLDER_HEADINGS.get(section, heading)
            mine = sorted((entry for entry in entries if entry.section == section), key=lambda entry: entry.order)
            body = [entry.text for entry in mine] or [self._empty(section)]
            if section == _SOURCE:
                body = [_source(self._source), *_still_running(self._source), *_left_out_lines(left_out)]
            blocks.append("\n".join([title, *body]))
        return "\n\n".join(blocks) + "\n"

    def _empty(self, section: int) -> str:
        """What stands in a section without entries: that there is nothing, or that there was no room for it."""
        if section in self._filled:
            return "Left out for length, see the checkpoint."
        return self._without_step() if section == _NEXT else "None."

    def _without_step(self) -> str:
        waiting = [safe(task.id) for task in self._summary.tasks if task.status.is_open]
        if not waiting:
            return "None."
        more = f" and {len(waiting) - 8} more" if len(waiting) > 8 else ""
        return f"No step was named. Still open: {', '.join(waiting[:8])}{more} (section 7)."


def _filled(summary: Summary) -> Iterator[int]:
    """The sections for which the summary holds something, whatever room there is."""
    yield from (_SECTIONS[name] for name, _ in items_of(summary))
    texts = {_REQUEST: summary.request.strip(), _CURRENT: summary.current_work.strip(), _NEXT: summary.next_step}
    rest = {_MESSAGES: summary.user_messages, _ARTIFACTS: summary.artifacts}
    yield from (section for section, content in (texts | rest).items() if content)


def _must(summary: Summary) -> Iterator[_Entry]:
    """Constraints in force, open tasks, corrections and unresolved errors, the newest of each first."""
    for kind in (_is_constraint, _is_open_task, _is_correction, _is_unresolved):
        chosen = [(at, name, item) for at, (name, item) in enumerate(items_of(summary)) if kind(item)]
        yield from (_entry(name, item, at) for at, name, item in reversed(chosen))


def _is_constraint(item: Item) -> bool:
    return isinstance(item, Constraint) and item.in_force


def _is_open_task(item: Item) -> bool:
    return isinstance(item, Task) and item.status.is_open


def _is_correction(item: Item) -> bool:
    return isinstance(item, Memory) and item.kind is MemoryKind.CORRECTION


def _is_unresolved(item: Item) -> bool:
    return is_protected(item) and not _is_constraint(item) and not _is_open_task(item)


def _is_must(item: Item) -> bool:
    return is_protected(item) or _is_correction(item)


def _by_worth(summary: Summary) -> Iterator[_Entry]:
    """Everything else: what people decided first, then by worth, of equal ones the newest."""
    early = set(summary.concepts[:EARLY_CONCEPTS])
    rest = [
        (at, name, item)
        for at, (name, item) in enumerate(items_of(summary))
        if not _is_must(item) and item not in early
    ]
    rest.sort(key=lambda one: (-worth(one[2]), -one[2].seen, -one[2].since, one[0]))
    return (_entry(name, item, at) for at, name, item in rest)


def _entry(name: str, item: Item, at: int) -> _Entry:
    section = _SECTIONS[name]
    closed = 1 if isinstance(item, Task) and not item.status.is_open else 0
    claimed = 1 if isinstance(item, Problem) and item.kind in (ProblemKind.CLAIM, ProblemKind.HYPOTHESIS) else 0
    return _Entry(
        section, name.replace("_", " "), item_line(item), (closed, claimed, at), item_line(item, chars=SHORT_CHARS)
    )


def _texts(summary: Summary, newest: bool) -> Iterator[_Entry]:
    for section, text in ((_REQUEST, summary.request), (_CURRENT, summary.current_work)):
        for at, paragraph in enumerate(text.splitlines()):
            if paragraph.strip():
                short = safe(clip(paragraph, SHORT_CHARS))
                yield _Entry(section, "paragraphs", safe(clip(paragraph, TEXT_CHARS)), (at,), short)
    if summary.next_step is not None:
        yield _next_entry(summary.next_step, newest)


def _next_entry(step: NextStep, newest: bool) -> _Entry:
    lead = "" if newest else "Planned at that time: "
    text = f'{lead}{safe(clip(step.text, TEXT_CHARS))} (asked: "{safe(clip(step.quote, 400))}")'
    return _Entry(_NEXT, "paragraphs", text, (0,), f"{lead}{safe(clip(step.text, SHORT_CHARS))}")


def _artifacts(summary: Summary) -> Iterator[_Entry]:
    for at, artifact in reversed(list(enumerate(summary.artifacts))):
        yield _Entry(_ARTIFACTS, "artifacts", artifact_line(artifact), (at,))


def _stamp(message: UserMessage) -> str:
    return f"{message.id} {day_and_time(message.timestamp)}" if message.timestamp else message.id


def _message(message: UserMessage) -> str:
    """The message verbatim, a long one as head … tail; several lines stand in a quote."""
    lines = safe_lines(_shortened(message.text)) or ["(no text)"]
    about = [f'  > (on {message.answers.id}: "{safe(clip(message.answers.excerpt, 400))}")'] if message.answers else []
    if len(lines) == 1:
        return "\n".join([f"- {_stamp(message)}: {lines[0]}", *about])
    return "\n".join([f"- {_stamp(message)}:", *(f"  > {line}".rstrip() for line in lines), *about])


def _shortened(text: str) -> str:
    if len(text) <= LONG_MESSAGE_CHARS:
        return text
    left_out = len(text) - HEAD_CHARS - TAIL_CHARS
    return f"{text[:HEAD_CHARS]}\n[… {left_out:,} characters …]\n{text[-TAIL_CHARS:]}"


def _excerpt(message: UserMessage, chosen: Sequence[Sentence]) -> str:
    in_order = sorted(chosen, key=lambda sentence: sentence.at)
    return f"- {_stamp(message)} (excerpt): … {' … '.join(safe(one.text) for one in in_order)} …"


def _still_running(source: Source) -> list[str]:
    if not source.running:
        return []
    return [f"Started in the background, its end was not seen: {safe('; '.join(source.running))}."]


def _source(source: Source) -> str:
    at = f", {day_and_time(source.created)}" if source.created else ""
    last = f"m{source.start}–m{source.end - 1}" if source.end > source.start else "no messages"
    told = {
        Status.OK: "",
        Status.DEGRADED: " Degraded: a model was asked and could not be used for all of it; code wrote the rest.",
        Status.DETERMINISTIC: " Written by code alone, without a model.",
    }[source.status]
    session = f"Session {safe(source.session)}, checkpoint {source.number}{at}"
    return f"{session}: {last}, {source.covered} messages covered.{told}"


def _left_out_lines(left_out: Counter[str]) -> list[str]:
    if not left_out:
        return []
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(left_out.items()))
    return [f"Left out for length, kept in the checkpoint: {counted}."]
