"""What the memory files say, as records that can be found: MEMORY.md, HISTORY.md and its months, one session's chain.

Each text of a record stands in its source as it is here. A person's own lines may hold what nothing of ours has ever
seen, so secrets are taken out of them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from worker.core.checkpoint import Checkpoint
from worker.core.inherited import TOLD
from worker.core.items import is_written_id, items_of, newest_evidence
from worker.core.memory import Section, for_model, parse
from worker.core.messages import message_index
from worker.core.rebuilding import without_replaced
from worker.core.recalling import Kind, Record, Trust, passages
from worker.core.secrets import redact
from worker.core.session_key import session_label
from worker.core.summary import (
    Artifact,
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
)

_KIND_OF_SECTION = {
    Section.PREFERENCES: Kind.PREFERENCE,
    Section.CONSTRAINTS: Kind.CONSTRAINT,
    Section.PROJECT: Kind.PROJECT,
    Section.REFERENCES: Kind.REFERENCE,
    Section.CORRECTIONS: Kind.CORRECTION,
}
_BY_A_PERSON = {Section.PREFERENCES, Section.CONSTRAINTS, Section.CORRECTIONS}
_KIND_OF_MEMORY = {
    MemoryKind.PREFERENCE: Kind.PREFERENCE,
    MemoryKind.PROJECT: Kind.PROJECT,
    MemoryKind.REFERENCE: Kind.REFERENCE,
    MemoryKind.CORRECTION: Kind.CORRECTION,
}
_KIND_OF_PROBLEM = {
    ProblemKind.DECISION: Kind.DECISION,
    ProblemKind.FACT: Kind.FACT,
    ProblemKind.CLAIM: Kind.CLAIM,
    ProblemKind.HYPOTHESIS: Kind.HYPOTHESIS,
    ProblemKind.FAILED_ATTEMPT: Kind.FAILED_ATTEMPT,
}
_SEEN_BY_TOOLS = {Kind.FACT, Kind.ERROR, Kind.CHECK, Kind.FILE, Kind.REFERENCE, Kind.FAILED_ATTEMPT, Kind.ARTIFACT}

_HEADING = re.compile(r"#{1,6} +(.*)")
_POINT = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,9}[.)]) +")
_ENTRY = re.compile(r"## \[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} [+-][0-9]{2}:[0-9]{2})\] (\S+) · .*")
_MARKER = re.compile(r"<!-- afterturn:\S+ .*-->\s*")
_TOMBSTONE = re.compile(r"- \[.*<!-- afterturn:forgotten \S+ -->\s*")
_TOLD_LINE = re.compile(r"(Decided|Done|Open|Failed|Files|Moved|Superseded|Retired|Merged): (.*)")
_DEPARTED = re.compile(r"(.*) \(([0-9]{4}-[0-9]{2}-[0-9]{2}), ([^\s,()]+)(?:, ([^()]*))?\)")
_LED = re.compile(r"(rule|no longer a rule|correction): (?=\S)")
_MORE = re.compile(r"and [0-9]+ more in the checkpoint")
_STATUS_OF_LINE = {"Superseded": "superseded", "Retired": "retired", "Merged": "merged", "Moved": "moved out"}


# MEMORY.md.


def memory_records(text: str) -> Iterator[Record]:
    """Our bullets, and what a person wrote around them, one record per point or paragraph under its heading."""
    page = parse(text)
    for bullet in page.bullets:
        yield Record(
            kind=_KIND_OF_SECTION[bullet.section],
            trust=Trust.PERSON if bullet.section in _BY_A_PERSON else Trust.VOUCHED,
            text=bullet.text,
            source="MEMORY.md",
            session=bullet.session,
            evidence=bullet.evidence,
            at=datetime.combine(bullet.date, time(), UTC),
        )
    yield from _notes(for_model(page.foreign), "MEMORY.md")


def _notes(text: str, source: str) -> Iterator[Record]:
    for heading, block in _blocks(text):
        for piece in passages(redact(block)):
            if piece.strip():
                yield Record(
                    kind=Kind.NOTE, trust=Trust.OWN_LINE, text=piece.strip("\n"), source=source, heading=heading
                )


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """(heading above, text) of every point and paragraph; what is indented belongs to the point above it."""
    heading, block = "", list[str]()
    for line in [*text.split("\n"), ""]:
        titled = _HEADING.fullmatch(line.rstrip("\r"))
        if titled or not line.strip() or _POINT.match(line):
            if block:
                yield heading, "\n".join(block)
            block = []
        if titled:
            heading = titled[1].strip()
        elif line.strip():
            block.append(line.rstrip("\r"))


# HISTORY.md.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """The entry of ours that a line belongs to. session: its label, "" for what left MEMORY.md."""

    at: datetime
    session: str


def history_records(text: str, source: str) -> Iterator[Record]:
    """The statements of every entry, one record each, and what a person wrote between entries."""
    entry: _Entry | None = None
    own: list[str] = []
    for line in text.split("\n"):
        found = _ENTRY.fullmatch(line.rstrip("\r"))
        if found or _MARKER.fullmatch(line):
            entry = _entry(found[1], found[2]) if found else None
        elif entry is not None:
            yield from _told(line.rstrip("\r"), entry, source)
        elif line != "# History" and not _TOMBSTONE.fullmatch(line):
            own.append(line)
    yield from _notes("\n".join(own), source)


def _entry(moment: str, about: str) -> _Entry | None:
    try:
        at = datetime.strptime(moment, "%Y-%m-%d %H:%M %z")
    except ValueError:
        return None
    return _Entry(at=at.astimezone(UTC), session=about if "/" in about else "")


def _told(line: str, entry: _Entry, source: str) -> Iterator[Record]:
    found = _TOLD_LINE.fullmatch(line)
    if found is None:
        if line.strip():
            yield _log(line.strip(), entry, source)
        return
    name, rest = found.groups()
    status = _STATUS_OF_LINE.get(name, "")
    departed = _DEPARTED.fullmatch(rest) if not entry.session else None
    if departed:
        evidence = tuple(one.strip() for one in (departed[4] or "").split(",") if one.strip())
        told = _Entry(at=_entry_date(departed[2]) or entry.at, session=departed[3])
        yield _log(departed[1], told, source, heading=name, status=status, evidence=evidence)
        return
    for piece in [rest] if name in ("Files", *_STATUS_OF_LINE) else rest.split("; "):
        if piece.strip() and not _MORE.fullmatch(piece):
            led = _LED.match(piece)
            heading = f"{name}, {led[1]}" if led else name
            yield _log(piece[led.end() if led else 0 :].strip(), entry, source, heading=heading, status=status)


def _entry_date(day: str) -> datetime | None:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        return None


def _log(
    text: str, entry: _Entry, source: str, *, heading: str = "", status: str = "", evidence: tuple[str, ...] = ()
) -> Record:
    return Record(
        kind=Kind.LOG,
        trust=Trust.SUMMARY,
        text=text,
        source=source,
        session=entry.session,
        evidence=evidence,
        at=entry.at,
        heading=heading,
        status=status,
    )


# Checkpoints.


def session_records(chain: Sequence[Checkpoint]) -> Iterator[Record]:
    """What the chain of one session knows now: the items of its newest checkpoint, and of every range what people said.

    What a later checkpoint says anew of a range takes the place of what was said of it before.
    """
    if chain:
        yield from _Chain(chain).records()


class _Chain:
    def __init__(self, chain: Sequence[Checkpoint]) -> None:
        self._newest = chain[-1]
        self._told = sorted(without_replaced(chain), key=lambda one: one.range.start)
        self._label = session_label(self._newest.session.key)
        said = [message for one in self._told for message in one.summary.user_messages]
        self._human = {message.id for message in said}
        moments = {message_index(message.id): message.timestamp for message in said if message.timestamp}
        self._moments = sorted((index, moment) for index, moment in moments.items() if index is not None)
        self._written = {one.number: one.created_at for one in chain}
        summary = self._newest.summary
        self._inherited = {cited for _, item in items_of(summary) if _tells(item) for cited in item.evidence}

    def records(self) -> Iterator[Record]:
        for _, item in items_of(self._newest.summary):
            yield self._of_item(item)
        for one in self._told:
            for _, item in items_of(one.moved):
                yield self._of_item(item, moved=True)
            for message in one.summary.user_messages:
                yield from self._of_message(message, one)
            for artifact in one.summary.artifacts:
                yield self._of_artifact(artifact, one)
        yield from self._texts(self._newest.summary)

    def _of_item(self, item: Item, *, moved: bool = False) -> Record:
        said = _said(item)
        return Record(
            kind=said.kind,
            trust=self._trust(item, said.kind),
            text=said.text,
            name=said.name,
            source=self._source(item.seen or self._newest.number),
            session=self._label,
            evidence=item.evidence,
            at=self._when(newest_evidence(item), item.seen),
            status=said.status or ("moved out" if moved else ""),
            more=tuple((name, text) for name, text in said.more if text and text.strip()),
            subject=said.subject,
        )

    def _trust(self, item: Item, kind: Kind) -> Trust:
        if _tells(item) or (item.evidence and self._inherited.issuperset(item.evidence)):
            return Trust.INHERITED
        if isinstance(item, Constraint | Memory) or self._human.intersection(item.evidence):
            return Trust.PERSON
        if isinstance(item, Task):
            return Trust.TOOL if item.from_ledger else Trust.SUMMARY
        if kind in _SEEN_BY_TOOLS:
            return Trust.TOOL
        return Trust.CLAIM if kind in (Kind.CLAIM, Kind.HYPOTHESIS, Kind.DECISION) else Trust.SUMMARY

    def _of_message(self, message: UserMessage, checkpoint: Checkpoint) -> Iterator[Record]:
        pieces = passages(message.text)
        answers = message.answers
        for number, piece in enumerate(pieces, start=1):
            if piece.strip():
                yield Record(
                    kind=Kind.MESSAGE,
                    trust=Trust.PERSON,
                    text=piece,
                    source=self._source(checkpoint.number),
                    session=self._label,
                    evidence=(message.id,),
                    at=message.timestamp or checkpoint.created_at,
                    more=((f"on {answers.id}", answers.excerpt),) if answers and number == 1 else (),
                    part=(number, len(pieces)) if len(pieces) > 1 else None,
                )

    def _of_artifact(self, artifact: Artifact, checkpoint: Checkpoint) -> Record:
        return Record(
            kind=Kind.ARTIFACT,
            trust=Trust.TOOL,
            text=artifact.call or f"{artifact.tool} output",
            name=artifact.name,
            source=self._source(checkpoint.number),
            session=self._label,
            evidence=(artifact.message,),
            at=artifact.created or self._when(message_index(artifact.message) or -1, checkpoint.number),
            more=(("preview", artifact.preview.partition("\n")[2]),),
        )

    def _texts(self, summary: Summary) -> Iterator[Record]:
        step = summary.next_step.text if summary.next_step else ""
        texts = [(Kind.REQUEST, part) for part in summary.request.split("\n\n")]
        for kind, text in [*texts, (Kind.WORK, summary.current_work), (Kind.WORK, step)]:
            if text.strip():
                yield Record(
                    kind=kind,
                    trust=Trust.INHERITED if TOLD in text else Trust.SUMMARY,
                    text=text.strip(),
                    source=self._source(self._newest.number),
                    session=self._label,
                    at=self._when(self._newest.covered - 1, self._newest.number),
                )

    def _source(self, number: int) -> str:
        agent, _, session = self._label.partition("/")
        return f"{agent}/{session[:8]} checkpoint {number}"

    def _when(self, index: int, number: int) -> datetime:
        """When a message was written: with the person's message before it, else with the checkpoint."""
        at = bisect_right(self._moments, index, key=lambda moment: moment[0])
        return self._moments[at - 1][1] if at and index >= 0 else self._written.get(number, self._newest.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What an item says, without who said it and when."""

    kind: Kind
    text: str
    name: str = ""
    status: str = ""
    subject: str = ""
    more: tuple[tuple[str, str | None], ...] = ()


def _said(item: Item) -> _Said:
    match item:
        case Constraint():
            lifted = item.lifted.quote if item.lifted else None
            quote = item.quote if item.quote != item.rule else None
            status = "lifted" if item.lifted else ""
            return _Said(
                kind=Kind.CONSTRAINT, text=item.rule, status=status, more=(("quote", quote), ("lifted", lifted))
            )
        case Task():
            name = item.id if is_written_id(item) else ""
            return _Said(
                kind=Kind.TASK,
                text=item.text,
                name="" if name in item.text else name,
                status=_task_status(item.status),
                subject=name,
            )
        case FileItem():
            more = (("note", item.note), ("snippet", item.snippet))
            return _Said(kind=Kind.FILE, text=item.path, status=str(item.change), more=more)
        case Reference():
            name = "" if item.kind is ReferenceKind.OTHER else str(item.kind)
            return _Said(kind=Kind.REFERENCE, text=item.value, name=name, more=(("note", item.note),))
        case ErrorItem():
            status = "closed" if item.fix else "unresolved"
            return _Said(kind=Kind.ERROR, text=item.error, status=status, more=(("outcome", item.fix),))
        case Check():
            return _Said(kind=Kind.CHECK, text=item.command, status=str(item.result), more=(("note", item.note),))
        case Problem():
            return _Said(kind=_KIND_OF_PROBLEM[item.kind], text=item.text, more=(("to verify", item.verify),))
        case Memory():
            return _Said(kind=_KIND_OF_MEMORY[item.kind], text=item.text)
        case Concept():
            return _Said(kind=Kind.CONCEPT, text=item.text)
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


def _task_status(status: TaskStatus) -> str:
    """ "open", "open, in progress", "done": who asks for open tasks means all that are not closed."""
    said = status.replace("_", " ")
    return f"open, {said}" if status.is_open and status is not TaskStatus.OPEN else said


def _tells(item: Item) -> bool:
    """Whether the item repeats what an agent's own summary told."""
    match item:
        case Problem() | Concept():
            return item.text.startswith(TOLD)
        case Reference():
            return item.note == TOLD.rstrip(": ").lower()
        case ErrorItem():
            return (item.fix or "").startswith(TOLD)
        case _:
            return False
