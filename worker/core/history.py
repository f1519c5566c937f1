"""HISTORY.md as text: the entry of one checkpoint, the markers in a file, and which months move out.

    ## [2026-11-29 14:02 +08:00] claude-code/0f3a · checkpoint 3 · m120–m187

    Move the retry limit into the settings. The last test failed on a time-out.

    Decided: keep the queue; rule: never change the database schema
    Open: T-101 write the migration (in progress)
    <!-- afterturn:checkpoint id=… session=claude-code/0f3a number=3 -->

The marker closes an entry: where it stands the whole entry stands. A raw message never goes in, every text is bounded.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from worker.core.checkpoint import Checkpoint, Status
from worker.core.items import items_of
from worker.core.joining import EARLIER
from worker.core.lines import marked_line, paragraph
from worker.core.rebuilding import in_runs
from worker.core.rules import told_rule
from worker.core.session_key import session_label
from worker.core.summary import (
    Change,
    Item,
    MemoryKind,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
    item_content,
)
from worker.core.wording import normal

MAX_HISTORY_BYTES = 1_000_000
MAX_LINE_ITEMS = 8
MAX_ITEM_CHARS = 200
MAX_TEXT_CHARS = 400
MAX_BEGUN_CHARS = 200
MAX_FAILED_CHARS = 140
MAX_MOVED_CHARS = 400

_HEADING = re.compile(r"^## \[([0-9]{4}-[0-9]{2})-[0-9]{2} [0-9]{2}:[0-9]{2} [+-][0-9]{2}:[0-9]{2}\] ", re.MULTILINE)
_MARKER = re.compile(
    r"^<!-- afterturn:checkpoint id=([0-9a-f]{64}) session=(\S{1,200}) number=([0-9]{1,12}) -->\r?$", re.MULTILINE
)
_LEFT = re.compile(r"^<!-- afterturn:left ids=(\S+) -->\r?$", re.MULTILINE)
_PLACED = re.compile(r"^superseded (?:in part )?by m\d{1,9}: |(?: \[on: .{0,400}\])? \(m\d{1,9}\)$")
_TOMBSTONE = re.compile(r"^.* <!-- afterturn:forgotten session=(\S{1,200}) -->\r?\n", re.MULTILINE)
_DEPARTURE = re.compile(
    r"^[A-Z][a-z]{2,12}: .* \([0-9]{4}-[0-9]{2}-[0-9]{2}, (\S{1,200}?)(?:, [^()\r\n]*)?\)\r?\n", re.MULTILINE
)
_QUOTED_BEHIND = re.compile(r" \(\"[^\"]{0,300}\"\)$")
_WORD = re.compile(r"[^_\W]+")
_WRITES = {Change.CREATED, Change.EDITED, Change.DELETED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What the marker of an entry names. session: the label of a session, "claude-code/0f3a"."""

    id: str
    session: str
    number: int

    @property
    def line(self) -> str:
        """The marker."""
        return f"<!-- afterturn:checkpoint id={self.id} session={self.session} number={self.number} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """A bullet that left MEMORY.md. `key` names exactly this text of this bullet. why: moved, superseded, retired."""

    key: str
    why: str
    text: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """`kept` stays in HISTORY.md; `months` are ("2026-10", its entries) to put behind those months' files."""

    kept: str
    months: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Where one entry stands in a text, and the month that its heading names."""

    month: str
    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def size(self, text: str) -> int:
        return len(self.of(text).encode("utf-8", "surrogateescape"))


def history_entry(checkpoint: Checkpoint, previous: Checkpoint | None, *, zone: tzinfo) -> str:
    """The entry of a checkpoint: what is new in it against `previous`, the checkpoint before."""
    before = previous.summary if previous else Summary()
    pieces = [_heading(checkpoint, zone), _account(checkpoint)]
    lines = [_line(name, texts) for name, texts in _news(checkpoint, before) if texts]
    lines += [f"Moved: {_named(item)}" for _, item in items_of(checkpoint.moved)]
    return "\n\n".join(piece for piece in pieces if piece) + "\n\n" + "\n".join([*lines, _marker(checkpoint)]) + "\n"


def departures_entry(departures: Sequence[Departure], *, now: datetime, zone: tzinfo) -> str:
    """The entry for bullets that left MEMORY.md, one greppable line each."""
    lines = [
        f"{each.why.capitalize()}: {marked_line(each.text, MAX_MOVED_CHARS)} ({each.origin})" for each in departures
    ]
    marker = f"<!-- afterturn:left ids={','.join(each.key for each in departures)} -->"
    return (
        f"## [{local_time(now, zone)}] MEMORY.md · {len(departures)} moved out\n\n" + "\n".join([*lines, marker]) + "\n"
    )


def marks(text: str) -> list[Mark]:
    """The checkpoints whose entries stand whole in the text, in its order; one that stands twice comes twice."""
    return [Mark(id=found[1], session=found[2], number=int(found[3])) for found in _MARKER.finditer(text)]


def departure_keys(text: str) -> set[str]:
    return {key for keys in _LEFT.findall(text) for key in keys.split(",")}


def rotate(text: str, *, max_bytes: int = MAX_HISTORY_BYTES) -> Rotation:
    """What has to move so that our entries are under `max_bytes`: the oldest months, whole.

    When the newest month alone is too large, its older entries move as well, until half of the limit is left: a file
    that is full again after every entry would be rewritten at every entry. What is not an entry of ours stays, and
    does not count: the log of another program, however large, must not push out what was told last.
    """
    entries = _entries(text)
    size = sum(entry.size(text) for entry in entries)
    if size <= max_bytes:
        return Rotation(kept=text, months=())
    leaving = _oldest(text, entries, excess=size - max_bytes, max_bytes=max_bytes)
    months: dict[str, list[str]] = {}
    for entry in leaving:
        months.setdefault(entry.month, []).append(entry.of(text))
    kept = _without(text, leaving)
    return Rotation(kept=kept, months=tuple((month, "".join(months[month])) for month in sorted(months)))


def missing_entries(text: str, archive: str) -> str:
    """Those entries of `text` that `archive` does not hold yet: a move that was interrupted is not made twice."""
    known = _marker_lines(archive)
    pieces = [entry.of(text) for entry in _entries(text)]
    return "".join(piece for piece in pieces if not _marker_lines(piece) <= known)


def tombstone(session: str, *, at: datetime, zone: tzinfo, checkpoints: int, covered: int) -> str:
    """The line that stays of a session that was forgotten: that there was one, and nothing that it said."""
    what = f"forgotten: {checkpoints} checkpoint{'' if checkpoints == 1 else 's'}, {covered} messages"
    return f"- [{local_time(at, zone)}] {session} · {what} <!-- afterturn:forgotten session={session} -->\n"


def without_session(text: str, session: str, *, keep: str = "") -> str:
    """The text without the entries of a session, without what it told MEMORY.md, and without its tombstones but `keep`.

    session: the label, as markers name it. Everything else stays byte for byte.
    """
    pieces = []
    position = 0
    for entry in _entries(text):
        pieces.append(text[position : entry.start])
        pieces.append(_entry_without(entry.of(text), session))
        position = entry.end
    rest = "".join([*pieces, text[position:]])
    return _TOMBSTONE.sub(lambda found: "" if found[1] == session and found[0] != keep else found[0], rest)


def _entry_without(entry: str, session: str) -> str:
    marked = _MARKER.search(entry)
    if marked is not None:
        # Blank lines behind the one that separates entries are a person's.
        behind = entry[marked.end() :].removeprefix("\n").removeprefix("\n")
        return behind if marked[2] == session else entry
    return _DEPARTURE.sub(lambda found: "" if found[1] == session else found[0], entry)


def local_time(moment: datetime, zone: tzinfo) -> str:
    """The moment as headings write it: "2026-11-29 14:02 +08:00"."""
    offset = moment.astimezone(zone).strftime("%z")
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def _heading(checkpoint: Checkpoint, zone: tzinfo) -> str:
    span = f"m{checkpoint.range.start}–m{max(checkpoint.range.start, checkpoint.range.end - 1)}"
    where = f"{session_label(checkpoint.session.key)} · checkpoint {checkpoint.number} · {span}"
    return f"## [{local_time(checkpoint.created_at, zone)}] {where}"


def _marker(checkpoint: Checkpoint) -> str:
    return Mark(id=checkpoint.id, session=session_label(checkpoint.session.key), number=checkpoint.number).line


def _account(checkpoint: Checkpoint) -> str:
    """What was asked and what came of it: the first and the newest request, then how the range ended."""
    summary = checkpoint.summary
    newest, *earlier = [_bare(text) for text in summary.request.split("\n\n") if text.strip()] or [""]
    work = marked_line(summary.current_work.partition("\n")[0], MAX_TEXT_CHARS)
    begun = f"Begun with: {_sentence(marked_line(earlier[-1], MAX_BEGUN_CHARS))}" if earlier else ""
    texts = [begun, "" if _is_told(newest, work) else _sentence(marked_line(newest, MAX_TEXT_CHARS)), work]
    if checkpoint.status is Status.DEGRADED:
        texts.append("(Degraded: a model could not be used for all of this.)")
    if checkpoint.replaces:
        texts.insert(0, f"(Summarized again, replaces {in_runs(checkpoint.replaces)}.)")
    return paragraph(" ".join(text for text in texts if text), 3 * MAX_TEXT_CHARS)


def _bare(request: str) -> str:
    """The request without what only places it in section 1: that it was earlier, replaced, and where it stands."""
    return _PLACED.sub("", request.strip().removeprefix(EARLIER)).strip()


def _is_told(request: str, work: str) -> bool:
    return bool(request) and normal(request)[:80].rstrip("….") in normal(work)


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "…", "。", "！", "？", ")")) else f"{text}."


def _news(checkpoint: Checkpoint, before: Summary) -> list[tuple[str, list[str]]]:
    summary = checkpoint.summary
    return [
        ("Decided", _decided(summary, before)),
        ("Done", [_task(task) for task in _changed(summary.tasks, before.tasks) if not task.status.is_open]),
        ("Open", [_task(task) for task in summary.tasks if task.status.is_open]),
        ("Failed", _failed(summary, before)),
        ("Files", _files(checkpoint, before)),
    ]


def _files(checkpoint: Checkpoint, before: Summary) -> list[str]:
    """What was written in the range; when it was summarized again, what no entry has told yet."""
    told = {file.path for file in before.files} if checkpoint.replaces else set()
    written = [file for file in checkpoint.ledger.files if file.change in _WRITES and file.path not in told]
    return list(dict.fromkeys(f"{file.path} ({file.change})" for file in written))


def _decided(summary: Summary, before: Summary) -> list[str]:
    known = _ids(before)
    in_force = {rule.id for rule in before.constraints if rule.in_force}
    rules = [rule for rule in summary.constraints if rule.id not in known and rule.in_force]
    lifted = [
        rule for rule in summary.constraints if not rule.in_force and (rule.id in in_force or rule.id not in known)
    ]
    corrections = [memory for memory in summary.memories if memory.kind is MemoryKind.CORRECTION]
    decisions = [problem for problem in summary.problem_solving if problem.kind is ProblemKind.DECISION]
    return _once(
        [
            *(_QUOTED_BEHIND.sub("", problem.text) for problem in decisions if problem.id not in known),
            *(f"rule: {told_rule(rule)}" for rule in rules),
            *(f"no longer a rule: {told_rule(rule)}" for rule in lifted),
            *(f"correction: {memory.text}" for memory in corrections if memory.id not in known),
        ]
    )


def _once(texts: Sequence[str]) -> list[str]:
    """Without those whose words an earlier one holds: "No migration!" is a rule and was a decision too."""
    kept: list[str] = []
    for text in texts:
        words = _words(text.partition(": ")[2] or text)
        if not any(words in _words(other) for other in kept[:MAX_LINE_ITEMS]):
            kept.append(text)
    return kept


def _words(text: str) -> str:
    """The words between spaces, so that what stands in another text stands there whole."""
    return f" {' '.join(_WORD.findall(normal(text[: 2 * MAX_ITEM_CHARS])))} "


def _failed(summary: Summary, before: Summary) -> list[str]:
    known = _ids(before)
    attempts = [problem for problem in summary.problem_solving if problem.kind is ProblemKind.FAILED_ATTEMPT]
    return [
        *(problem.text for problem in attempts if problem.id not in known),
        *(
            marked_line(error.error, MAX_FAILED_CHARS)
            for error in summary.errors
            if error.fix is None and error.id not in known
        ),
    ]


def _changed(tasks: Sequence[Task], before: Sequence[Task]) -> list[Task]:
    status_before = {task.id: task.status for task in before}
    return [task for task in tasks if status_before.get(task.id) != task.status]


def _task(task: Task) -> str:
    name = task.text if task.id in task.text or _is_made(task.id) else f"{task.id} {task.text}"
    plain = task.status in (TaskStatus.OPEN, TaskStatus.DONE)
    return name if plain else f"{name} ({task.status.value.replace('_', ' ')})"


def _is_made(task_id: str) -> bool:
    """Whether we made the id from the content: it tells a reader nothing."""
    return re.fullmatch(r"T-[0-9a-f]{6}", task_id) is not None


def _line(name: str, texts: Sequence[str]) -> str:
    shown = [marked_line(text, MAX_ITEM_CHARS).rstrip(".").replace("; ", ", ") for text in texts[:MAX_LINE_ITEMS]]
    more = len(texts) - len(shown)
    return f"{name}: {'; '.join(shown)}" + (f"; and {more} more in the checkpoint" if more else "")


def _named(item: Item) -> str:
    line = marked_line(f"{item.id} {item_content(item)}", MAX_MOVED_CHARS)
    return f"{line} ({marked_line(', '.join(item.evidence[:4]), MAX_ITEM_CHARS)})" if item.evidence else line


def _marker_lines(text: str) -> set[str]:
    return {found[0].rstrip() for pattern in (_MARKER, _LEFT) for found in pattern.finditer(text)}


def _ids(summary: Summary) -> set[str]:
    return {item.id for _, item in items_of(summary)}


def _entries(text: str) -> list[Entry]:
    """Every whole entry of ours, in the order of the text, each up to the blank lines behind its marker."""
    starts = [(match[1], match.start()) for match in _HEADING.finditer(text)]
    limits = [start for _, start in starts[1:]] + [len(text)]
    ends = sorted(match.end() for pattern in (_MARKER, _LEFT) for match in pattern.finditer(text))
    entries = []
    for (month, start), limit in zip(starts, limits, strict=False):
        position = bisect_right(ends, start)
        if position < len(ends) and ends[position] <= limit:
            entries.append(Entry(month=month, start=start, end=_behind_blank_lines(text, ends[position], limit)))
    return entries


def _behind_blank_lines(text: str, end: int, limit: int) -> int:
    while end < limit and text[end] in "\r\n":
        end += 1
    return end


def _oldest(text: str, entries: Sequence[Entry], *, excess: int, max_bytes: int) -> list[Entry]:
    """The entries that leave: whole months while there are older ones than the newest, then single entries."""
    newest = max((entry.month for entry in entries), default="")
    leaving: list[Entry] = []
    for month in sorted({entry.month for entry in entries} - {newest}):
        if excess <= 0:
            return leaving
        of_month = [entry for entry in entries if entry.month == month]
        excess -= sum(entry.size(text) for entry in of_month)
        leaving += of_month
    if excess > 0:
        excess += max_bytes // 2
    for entry in entries:
        if excess <= 0:
            break
        if entry.month == newest:
            excess -= entry.size(text)
            leaving.append(entry)
    return leaving


def _without(text: str, leaving: Sequence[Entry]) -> str:
    pieces = []
    position = 0
    for entry in sorted(leaving, key=lambda entry: entry.start):
        pieces.append(text[position : entry.start])
        position = entry.end
    return "".join([*pieces, text[position:]])
