"""MEMORY.md as a value: which bullets are ours, where one goes in, which have to leave, what a person took out.

    - Never change the schema. <!-- afterturn:memory id=C-1a2b3c kind=constraint date=… session=… evidence=m12 sum=… -->

A bullet is ours as long as its sum fits its words: an edit by a person makes it theirs. Everything that is not ours is
never touched, and a bullet that a person took out does not come back. What a bullet may say is up to `remembering`.
Texts are those of the file: lines end as the file ends them, bytes that are no UTF-8 are surrogate escapes.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum

from worker.core.lines import marked_line
from worker.core.messages import digest_of, message_index
from worker.core.summary import MemoryKind

MAX_MEMORY_LINES = 200
MAX_MEMORY_BYTES = 25_000
MAX_BULLET_CHARS = 400
MAX_BULLET_EVIDENCE = 4
MAX_COMPARED_LINES = 400
MAX_COMPARED_CHARS = 400
MAX_GONE = 1_000


class MemoryOp(StrEnum):
    ADD = "add"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    RETIRE = "retire"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOperation:
    """One change of MEMORY.md that a model proposes; `ids` are entries that exist, `evidence` cites messages."""

    op: MemoryOp
    ids: tuple[str, ...] = ()
    kind: MemoryKind | None = None
    text: str = ""
    evidence: tuple[str, ...] = ()
    reason: str = ""


class Section(StrEnum):
    """The sections of MEMORY.md in their order; the value is what a marker says."""

    PREFERENCES = "preference"
    CONSTRAINTS = "constraint"
    PROJECT = "project"
    REFERENCES = "reference"
    CORRECTIONS = "correction"

    @property
    def heading(self) -> str:
        return _TITLES[self]


_TITLES = {
    Section.PREFERENCES: "Preferences",
    Section.CONSTRAINTS: "Standing constraints",
    Section.PROJECT: "Project",
    Section.REFERENCES: "References",
    Section.CORRECTIONS: "Corrections",
}
_SECTIONS = frozenset(section.value for section in Section)
_SECTION_OF_TITLE = {title: section for section, title in _TITLES.items()}
_LEAST_USEFUL_FIRST = (
    Section.PROJECT,
    Section.REFERENCES,
    Section.PREFERENCES,
    Section.CORRECTIONS,
    Section.CONSTRAINTS,
)

_SECTION_MARKER = "<!-- afterturn:section -->"
_BULLET_MARKER = "<!-- afterturn:memory "
_BULLET = re.compile(
    r"[ \t]{0,8}[-*+] (?P<text>\S[^\r\n]*?) ?"
    r"<!-- afterturn:memory id=(?P<id>[A-Z]-[0-9a-f]{6}) kind=(?P<kind>[a-z]{1,20}) date=(?P<date>\d{4}-\d\d-\d\d)"
    r" session=(?P<session>\S{1,200}) evidence=(?P<evidence>\S{0,200}) sum=(?P<sum>[0-9a-f]{8}) -->[ \t]*"
)
_ANY_MARKER_ID = re.compile(r"<!-- afterturn:memory id=(\S{1,42}) ")
_OWN_MARKER = re.compile(r" ?<!-- afterturn:[^\r\n>]{0,600}-->")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One statement that is ours. session: label of the session it came from. id: of the item it was made from."""

    id: str
    section: Section
    text: str
    date: date
    session: str
    evidence: tuple[str, ...] = ()

    @property
    def sum(self) -> str:
        return digest_of(
            self.id, self.section, self.text, self.date.isoformat(), self.session, ",".join(self.evidence)
        )[:8]

    @property
    def key(self) -> str:
        """Names exactly these words of this bullet."""
        return f"{self.id}:{self.sum}"


class Why(StrEnum):
    """Why a bullet is no longer in the file. deleted: a person took it out. duplicate: another line says the same."""

    DELETED = "deleted"
    MOVED = "moved"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    MERGED = "merged"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A bullet that was in the file once. Its words are kept, for the same statement comes back in other words."""

    id: str
    text: str
    why: Why
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """What is known from earlier writes: the words of the bullets in the file by id, and what is gone, oldest first."""

    written: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[Gone, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A bullet that code took out, and why; `by` is the bullet that says it now."""

    bullet: Bullet
    why: Why
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A proposal that did not become a bullet. reason: a code."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line with its end. bullet, heading: set when the line is ours."""

    text: str
    bullet: Bullet | None = None
    heading: Section | None = None

    @property
    def is_ours(self) -> bool:
        return self.bullet is not None or self.heading is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The file, line by line; `render` gives back every byte."""

    lines: tuple[Line, ...]

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        return tuple(line.bullet for line in self.lines if line.bullet)

    @property
    def foreign(self) -> str:
        """What is not ours, in its order."""
        return "".join(line.text for line in self.lines if not line.is_ours)

    def render(self) -> str:
        return "".join(line.text for line in self.lines)


def parse(text: str) -> Page:
    """The lines of a MEMORY.md. Markers inside code fences, comments and front matter are a person's examples."""
    lines = _split(text)
    hidden = _hidden(lines)
    return Page(lines=tuple(Line(text=line) if at in hidden else _line(line) for at, line in enumerate(lines)))


def ids_in(text: str) -> set[str]:
    """The ids of all bullets that stand in the text in whatever form, also those that a person edited."""
    return set(_ANY_MARKER_ID.findall(text))


def for_model(text: str) -> str:
    """The text without front matter and without our markers: what a model may read of it."""
    lines = _split(text)
    behind = _front_matter_end(lines)
    return _OWN_MARKER.sub("", "".join(lines[behind:]))


def add(page: Page, bullet: Bullet) -> Page:
    """The page with one bullet more, at the end of its section; a section that is missing is made at the end."""
    lines = list(page.lines)
    if not lines:
        lines = [Line(text="# Memory\n")]
    newline = _newline(lines)
    at = _place(lines, bullet.section)
    if at is None:
        at = _open_section(lines, bullet.section, newline)
    _end_line(lines, at - 1, newline)
    lines.insert(at, Line(text=_bullet_line(bullet, newline), bullet=bullet))
    return Page(lines=tuple(lines))


def exchange(page: Page, old_id: str, new: Bullet) -> Page:
    """The page with `new` where the bullet `old_id` stood."""
    newline = _newline(page.lines)
    made = Line(text=_bullet_line(new, newline), bullet=new)
    return Page(lines=tuple(made if _is(line, old_id) else line for line in page.lines))


def without(page: Page, ids: Iterable[str]) -> Page:
    """The page without those bullets of ours."""
    going = set(ids)
    return Page(lines=tuple(line for line in page.lines if line.bullet is None or line.bullet.id not in going))


def departed(record: MemoryRecord, text: str, *, now: datetime) -> MemoryRecord:
    """The record once a person had the file: what was written and stands there no more was deleted by them.

    One that they edited is theirs now. It stands there, so it is not written again either.
    """
    present = ids_in(text)
    ours = {bullet.id: bullet.text for bullet in parse(text).bullets}
    deleted = [
        Gone(id=name, text=words, why=Why.DELETED, at=now)
        for name, words in record.written.items()
        if name not in present
    ]
    kept = {name: words for name, words in record.written.items() if name in present}
    return MemoryRecord(written=kept | ours, gone=_bounded([*record.gone, *deleted]))


def after_write(record: MemoryRecord, page: Page, left: Sequence[Left], *, now: datetime) -> MemoryRecord:
    """The record once `page` was written."""
    ours = {bullet.id: bullet.text for bullet in page.bullets}
    gone = [Gone(id=each.bullet.id, text=each.bullet.text, why=each.why, at=now) for each in left]
    still_gone = [each for each in record.gone if each.id not in ours]
    gone_ids = {each.id for each in gone}
    written = {name: words for name, words in record.written.items() if name not in gone_ids}
    return MemoryRecord(written=written | ours, gone=_bounded([*still_gone, *gone]))


def without_session(page: Page, session: str) -> Page:
    """The page without the bullets of ours that came from a session, named by its label."""
    return without(page, (bullet.id for bullet in page.bullets if bullet.session == session))


def forgotten(record: MemoryRecord, ids: Container[str]) -> MemoryRecord:
    """The record without the words of these bullets. That a person deleted one stays known, by its id alone."""
    kept = (
        replace(each, text="") if each.id in ids else each
        for each in record.gone
        if each.id not in ids or each.why is Why.DELETED
    )
    written = {name: words for name, words in record.written.items() if name not in ids}
    return MemoryRecord(written=written, gone=tuple(kept))


def within_limits(
    page: Page,
    *,
    told: Container[str] = (),
    max_lines: int = MAX_MEMORY_LINES,
    max_bytes: int = MAX_MEMORY_BYTES,
) -> tuple[Page, tuple[Left, ...]]:
    """The page with as many bullets as its limits allow, and those that have to leave: least useful, oldest first.

    What people wrote counts and stays. When it alone is over the limits, no bullet is left. told: keys of bullets that
    HISTORY.md says have left, because a run was killed before it could: they are the first to go.
    """
    lines = len(page.lines)
    size = sum(_size(line.text) for line in page.lines)
    leaving: list[Bullet] = []
    for line in _by_usefulness(page, told):
        if lines <= max_lines and size <= max_bytes:
            break
        if line.bullet:
            leaving.append(line.bullet)
            lines -= 1
            size -= _size(line.text)
    ids = {bullet.id for bullet in leaving}
    return without(page, ids), tuple(Left(bullet=bullet, why=Why.MOVED) for bullet in leaving)


def statements_of_others(page: Page) -> list[str]:
    """What a person wrote or edited, one statement per line, the first lines of a very long file only."""
    lines = (_OWN_MARKER.sub("", line.text).strip() for line in page.lines if not line.is_ours)
    return [line[:MAX_COMPARED_CHARS] for line in lines if len(line) > 3][:MAX_COMPARED_LINES]


def shrinks_unnamed(before: Page, after: Page, named: Iterable[str]) -> bool:
    """Whether more than half of our part went and something of that was not named: no honest change looks so."""
    rest = {bullet.id for bullet in after.bullets}
    lost = {bullet.id for bullet in before.bullets} - rest - set(named)
    return bool(lost) and 2 * _own_size(after) < _own_size(before)


def _line(text: str) -> Line:
    if "<!-- afterturn:" not in text:
        return Line(text=text)
    plain = text.rstrip("\r\n")
    if plain.startswith("## ") and plain.endswith(_SECTION_MARKER):
        return Line(text=text, heading=_SECTION_OF_TITLE.get(plain[3 : -len(_SECTION_MARKER)].strip()))
    return Line(text=text, bullet=_bullet(plain))


def _bullet(line: str) -> Bullet | None:
    found = _BULLET.fullmatch(line) if line.count("<!--") == 1 else None
    if found is None or found["kind"] not in _SECTIONS:
        return None
    try:
        day = date.fromisoformat(found["date"])
    except ValueError:
        return None
    bullet = Bullet(
        id=found["id"],
        section=Section(found["kind"]),
        text=found["text"],
        date=day,
        session=found["session"],
        evidence=tuple(filter(None, found["evidence"].split(","))),
    )
    return bullet if bullet.sum == found["sum"] else None


def made_bullet(bullet: Bullet) -> Bullet:
    """The bullet as a line can hold it: one line, bounded, few message ids."""
    messages = tuple(name for name in bullet.evidence if message_index(name) is not None)
    return replace(bullet, text=marked_line(bullet.text, MAX_BULLET_CHARS), evidence=messages[-MAX_BULLET_EVIDENCE:])


def _bullet_line(bullet: Bullet, newline: str) -> str:
    marker = (
        f"id={bullet.id} kind={bullet.section} date={bullet.date.isoformat()} session={bullet.session}"
        f" evidence={','.join(bullet.evidence)} sum={bullet.sum}"
    )
    return f"- {bullet.text} {_BULLET_MARKER}{marker} -->{newline}"


def _split(text: str) -> list[str]:
    """The lines with their ends. Only "\\n" ends one: the other line ends of Unicode are a person's characters."""
    pieces = text.split("\n")
    lines = [f"{piece}\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _hidden(lines: Sequence[str]) -> set[int]:
    """The lines inside closed front matter, fences and comments. An open end hides nothing: it is being typed."""
    return {at for start, end in _blocks(lines) if end is not None for at in range(start, end)}


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int | None]]:
    """(start, end) of each block whose lines are no Markdown; the last one's end is None when nobody closed it."""
    at = _front_matter_end(lines)
    if at:
        yield 0, at
    while at < len(lines):
        closes = _opening(lines[at])
        end = at + 1 if closes is None else next((n + 1 for n in range(at + 1, len(lines)) if closes(lines[n])), None)
        if closes is not None:
            yield at, end
        if end is None:
            return
        at = end


def _opening(line: str) -> Callable[[str], bool] | None:
    """Tells whether a line ends the block that this one opens; None when it opens none."""
    if line.lstrip(" ").startswith("<!--") and "-->" not in line:
        return lambda later: "-->" in later
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):
        return None
    fence = found[1]

    def closes(later: str) -> bool:
        end = _FENCE.match(later)
        return end is not None and end[1].startswith(fence) and not end[2].strip()

    return closes


def _front_matter_end(lines: Sequence[str]) -> int:
    """The line behind the front matter, 0 without one."""
    if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), 0)


def _newline(lines: Sequence[Line]) -> str:
    return "\r\n" if lines and lines[0].text.endswith("\r\n") else "\n"


def _place(lines: Sequence[Line], section: Section) -> int | None:
    """Behind the last bullet of the section, else under its heading; None when there is neither."""
    bullets = [at for at, line in enumerate(lines) if line.bullet and line.bullet.section is section]
    if bullets:
        return bullets[-1] + 1
    headings = [at for at, line in enumerate(lines) if line.heading is section]
    if not headings:
        return None
    at = headings[-1] + 1
    return at + 1 if at < len(lines) and not lines[at].text.strip() else at


def _open_section(lines: list[Line], section: Section, newline: str) -> int:
    """Puts the heading at the end, before a block that somebody has still open; gives the place under it."""
    ends = [start for start, end in _blocks([line.text for line in lines]) if end is None]
    at = ends[0] if ends else len(lines)
    _end_line(lines, at - 1, newline)
    blank = Line(text=newline)
    heading = Line(text=f"## {section.heading} {_SECTION_MARKER}{newline}", heading=section)
    above = [] if at == 0 or not lines[at - 1].text.strip() else [blank]
    below = [blank] if at < len(lines) else []
    lines[at:at] = [*above, heading, blank, *below]
    return at + len(above) + 2


def _end_line(lines: list[Line], at: int, newline: str) -> None:
    if at >= 0 and not lines[at].text.endswith("\n"):
        lines[at] = replace(lines[at], text=lines[at].text + newline)


def _is(line: Line, bullet_id: str) -> bool:
    return line.bullet is not None and line.bullet.id == bullet_id


KEPT_PER_SECTION = 12
"""The newest of each section leave last: many old rules must not push out what a person has just put right."""


def _by_usefulness(page: Page, told: Container[str]) -> list[Line]:
    owned = [(line.bullet, line) for line in page.lines if line.bullet]
    newest: set[str] = set()
    for section in _LEAST_USEFUL_FIRST:
        ids = [bullet.id for bullet, _ in sorted(owned, key=lambda pair: pair[0].date) if bullet.section is section]
        newest.update(ids[-KEPT_PER_SECTION:])
    owned.sort(
        key=lambda pair: (
            pair[0].key not in told,
            pair[0].id in newest,
            _LEAST_USEFUL_FIRST.index(pair[0].section),
            pair[0].date,
        )
    )
    return [line for _, line in owned]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _own_size(page: Page) -> int:
    return sum(_size(line.text) for line in page.lines if line.bullet)


def _bounded(gone: Sequence[Gone]) -> tuple[Gone, ...]:
    """The newest; what a person deleted is forgotten last."""
    spare = len(gone) - MAX_GONE
    if spare <= 0:
        return tuple(gone)
    order = sorted(range(len(gone)), key=lambda at: (gone[at].why is Why.DELETED, at))
    going = set(order[:spare])
    return tuple(each for at, each in enumerate(gone) if at not in going)
