"""The parts of a report page as plain values, in the order in which a reader meets them.

Texts are untrusted and unescaped; escaping is what the page's templates do. Times are texts already, in the zone that
people read. Nothing here knows HTML.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A message that something rests on. anchor: where it stands on the page, None when it does not."""

    id: str
    anchor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """One message as the page holds it. author: "person", "assistant", "tool" … cut: characters left out of `text`.

    is_note: the text is said about the message, which has none. answers: what a short message points at, and where.
    """

    anchor: str
    id: str
    author: str
    when: str = ""
    text: str = ""
    cut: int = 0
    is_note: bool = False
    answers: str = ""
    answered: Cite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step in the life of a rule or a task. what: "asked for", "open → done", "lifted" …"""

    what: str
    detail: str = ""
    when: str = ""
    checkpoint: int = 0
    cites: tuple[Cite, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One item of a section. kind, status: what the page can be narrowed to. notes: (label, text), most telling first.

    code: a snippet or a command's output, shown as it is. history: only where there is more than its beginning.
    """

    id: str
    kind: str
    text: str
    status: str = ""
    is_code: bool = False
    notes: tuple[tuple[str, str], ...] = ()
    code: str = ""
    cites: tuple[Cite, ...] = ()
    since: int = 0
    history: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """heading: as `afterturn show` writes it. paragraphs: texts whose message ids are to be linked. ended: entries that
    no longer count (rules that were lifted, tasks that are done), shown apart. lead: what stands before an entry, its
    "kind" or its "id".
    """

    anchor: str
    heading: str
    paragraphs: tuple[tuple["str | Cite", ...], ...] = ()
    entries: tuple[Entry, ...] = ()
    ended: tuple[Entry, ...] = ()
    ended_heading: str = ""
    messages: tuple[Quoted, ...] = ()
    not_shown: int = 0
    empty: str = "None."
    lead: str = "kind"

    @property
    def count(self) -> int:
        """How much of it is shown as current."""
        return len(self.entries) + len(self.messages)

    @property
    def is_empty(self) -> bool:
        return not (self.paragraphs or self.entries or self.ended or self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a bar. tone: its colour's name on the page."""

    name: str
    tokens: int
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Tokens by what they are spent on, largest first. scale: the tokens that the page draws at full width."""

    title: str
    note: str
    shares: tuple[Share, ...]
    scale: int

    @property
    def tokens(self) -> int:
        return sum(share.tokens for share in self.shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stretch of the time line, in percent of its width. lane: "range", "part", "again" or "tail"."""

    lane: str
    left: float
    width: float
    label: str
    title: str
    tone: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The tokens of neighbouring messages: (tone, height in percent of the tallest column), from the ground up."""

    title: str
    heights: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """columns: empty when the transcript cannot be read. people: where people spoke, in percent."""

    start: str
    end: str
    columns: tuple[Column, ...] = ()
    people: tuple[float, ...] = ()
    blocks: tuple[Block, ...] = ()
    per_column: int = 1

    def lane(self, name: str) -> list[Block]:
        return [block for block in self.blocks if block.lane == name]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One kind of thing that did not go on. amount: counted, with its unit. entries: when each can be named."""

    what: str
    amount: str
    why: str
    code: str = ""
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Findings of one code. settled: code or a second answer put them right. places: where each was found."""

    code: str
    meaning: str
    settled: int
    standing: int
    places: tuple[str, ...] = ()
    done: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An artifact: a tool output kept whole beside the checkpoint."""

    handle: str
    what: str
    size: str
    lines: int
    cites: tuple[Cite, ...]
    preview: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """One checkpoint in figures. cost: in dollars, "" when no price is known."""

    anchor: str
    number: int
    messages: str
    status: str
    when: str
    tokens_before: int
    tokens_after: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: str
    seconds: str
    model: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number that tells. tone: "good", "warn" or "" for neither."""

    label: str
    value: str
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A session's report. title: the first words of a person. notices: what a reader must know before trusting it.

    command: prints the summary in a terminal.
    """

    anchor: str
    key: str
    title: str
    name: str
    agent: str
    project: str
    source: str
    span: str
    lede: str
    status: str
    status_note: str
    notices: tuple[str, ...]
    figures: tuple[Figure, ...]
    before: Bar
    after: Bar
    summary: Bar
    following: Bar | None
    timeline: Timeline
    sections: tuple[Section, ...]
    left_out: tuple[LeftOut, ...]
    checked: tuple[Checked, ...]
    artifacts: tuple[Kept, ...]
    checkpoints: tuple[CheckpointRow, ...]
    totals: CheckpointRow
    quoted: tuple[Quoted, ...]
    unquoted: int
    command: str

    @property
    def kinds(self) -> list[str]:
        """What the page can be narrowed to, in the order of its sections."""
        said = ["message"] if any(section.messages for section in self.sections) else []
        return list(dict.fromkeys([*(entry.kind for entry in self._entries()), *said]))

    @property
    def statuses(self) -> list[str]:
        return list(dict.fromkeys(entry.status for entry in self._entries() if entry.status))

    @property
    def anchors(self) -> set[str]:
        """Of the messages that the page holds."""
        said = (message for section in self.sections for message in section.messages)
        return {message.anchor for message in (*said, *self.quoted)}

    def _entries(self) -> Iterator[Entry]:
        for section in self.sections:
            yield from (*section.entries, *section.ended)
        for row in self.left_out:
            yield from row.entries


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """A line of MEMORY.md. source: the session it came from, "" for a person's own. target: the session's part."""

    text: str
    source: str = ""
    date: str = ""
    cites: tuple[Cite, ...] = ()
    target: str = ""
    is_heading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session in the list of a workspace. target: its part of the page, None when the page has no room for it."""

    name: str
    agent: str
    title: str
    span: str
    messages: int
    tokens_before: int
    tokens_after: int
    rules: int
    tasks: int
    errors: int
    status: str
    cost: str
    command: str
    target: str | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacePage:
    """Everything that one folder keeps."""

    name: str
    path: str
    lede: str
    figures: tuple[Figure, ...]
    rows: tuple[SessionRow, ...]
    memory: tuple[MemoryLine, ...]
    memory_note: str


def percent(part: float, whole: float) -> float:
    """Of a width, with two digits: enough for a pixel, and the same text on every machine."""
    return round(100 * part / whole, 2) if whole else 0.0


def in_words(parts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
