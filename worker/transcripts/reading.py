"""One pass over a transcript: messages in file order, from the beginning or from behind what was covered before.

Where a pass goes on is never taken on trust: the row of the last covered message must still give the same digest. With
what the reader knew there, that row is the first one that is read; without, some rows before it are read as well. If
it gives another digest, the content is looked for elsewhere (a file can be rewritten with its head cut off), and if it
is nowhere, the file counts as restarted and is read whole, with indexes that go on.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from weakref import finalize

from worker.core.checkpoint import Cursor
from worker.core.messages import Message
from worker.transcripts.drafts import Draft, digest_of_draft, placed
from worker.transcripts.formats import RowReader, State, TranscriptInfo
from worker.transcripts.jsonl import Row
from worker.transcripts.resuming import ResumePoint, unpacked
from worker.transcripts.sources import RowSource

ANCHORS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Behind the `count`th message of the row at `offset`."""

    offset: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """A reader that knows what it needs of the rows before, and the rows that follow.

    half: the row of the last covered message, of which more than that may be new. drafts: all of that row. count: how
    many of them are covered. before: what the reader knew before that row.
    """

    reader: RowReader
    rows: Iterator[Row]
    half: Row | None = None
    drafts: Sequence[Draft] = ()
    count: int = 0
    before: State = field(default_factory=dict)


class Reading:
    """The messages, once. What is said about them is complete when they are exhausted; `restarted` is known at once.

    restarted: why the covered part was not found again, None when it was or nothing was covered.
    still_writing: the last row is half there. end: offset behind the last whole row. size: of the file when opened.
    """

    def __init__(
        self, source: RowSource, new_reader: Callable[[], RowReader], cursor: Cursor | None, format_name: str
    ) -> None:
        self.size = source.size
        self.end = 0
        self.still_writing = False
        self.restarted: str | None = None
        self._before: State = {}
        self._taken = 0
        self._source = source
        self._new_reader = new_reader
        finalize(self, source.close)
        start = self._resume(cursor, format_name) or _Start(reader=new_reader(), rows=source.rows(0))
        self._reader = start.reader
        self._messages = self._read(start, max(0, cursor.index) if cursor else 0)

    def __iter__(self) -> Iterator[Message]:
        return self._messages

    @property
    def skipped(self) -> dict[str, int]:
        """How many rows became no message and how many pieces were taken out of messages, by reason."""
        return {reason: count for reason, count in sorted(self._reader.skipped.items()) if count}

    @property
    def rewound(self) -> list[tuple[int, int]]:
        """Index ranges [start, end) that the person went back behind: they are not part of the main line."""
        return self._reader.rewound()

    @property
    def point(self) -> ResumePoint | None:
        """From where a later reading goes on behind the message that was given last; None in a document."""
        return ResumePoint(state=self._before, taken=self._taken) if self._taken and self._source.located else None

    # Where to go on.

    def _resume(self, cursor: Cursor | None, format_name: str) -> _Start | None:
        if cursor is None or (cursor.index <= 0 and not cursor.anchors):
            return None
        if cursor.format != format_name:
            self.restarted = f"the file was {cursor.format} and is {format_name} now"
        elif not cursor.anchors:
            self.restarted = "the place where to go on names no message"
        elif (start := self._known(cursor) or self._warm(cursor) or self._found(cursor)) is not None:
            start.reader.skipped.clear()
            return start
        elif cursor.offset is not None and cursor.offset > self.size:
            self.restarted = "the file is shorter than what was covered"
        else:
            self.restarted = "the last covered message is no longer in the file"
        return None

    def _known(self, cursor: Cursor) -> _Start | None:
        """In place, with what the reader knew."""
        offset, point = cursor.anchor_offset, unpacked(cursor.state)
        if point is None or offset is None or not self._can_begin(offset):
            return None
        reader = self._new_reader()
        try:
            for again in reader.resume(point.state):
                self._take_again(again, offset, reader)
        except (KeyError, TypeError, ValueError):
            return None
        start = _start_at(offset, self._source.rows(offset), reader)
        if start is None or len(start.drafts) < point.taken:
            return None
        is_same = digest_of_draft(start.drafts[point.taken - 1]) == cursor.anchors[-1]
        return replace(start, count=point.taken) if is_same else None

    def _take_again(self, offset: int, limit: int, reader: RowReader) -> None:
        """Raises: ValueError when no row before the limit begins at the offset."""
        row = next(self._source.rows(offset), None) if offset < limit and self._can_begin(offset) else None
        if row is None or row.offset != offset:
            raise ValueError("no row there")
        _drafts_of(row, reader, None)

    def _warm(self, cursor: Cursor) -> _Start | None:
        """In place; rows before it teach what they can."""
        offset = cursor.anchor_offset
        start = self._warmed(offset) if offset is not None and self._can_begin(offset) else None
        count = _count_up_to(cursor.anchors, start.drafts) if start is not None else 0
        return replace(start, count=count) if start is not None and count else None

    def _found(self, cursor: Cursor) -> _Start | None:
        """At another place, or anywhere in a document."""
        place = self._anywhere(cursor.anchors, cursor.index)
        start = self._warmed(place.offset) if place is not None else None
        return replace(start, count=place.count) if start is not None and place is not None else None

    def _can_begin(self, offset: int) -> bool:
        return self._source.located and self._source.begins_row(offset)

    def _warmed(self, offset: int) -> _Start | None:
        return _start_at(offset, self._source.rows(self._source.warm_start(offset) or 0), self._new_reader())

    def _anywhere(self, anchors: Sequence[str], index: int) -> _Place | None:
        """The place where the anchors follow each other: where they were before, else the first.

        At the head of a file fewer will do, if the message is one that only occurs once.
        """
        window: deque[str] = deque(maxlen=len(anchors))
        reader = self._new_reader()
        first: _Place | None = None
        seen = 0
        for row in self._source.rows(0):
            for count, draft in enumerate(_drafts_of(row, reader, None), 1):
                window.append(digest_of_draft(draft))
                seen += 1
                is_enough = len(window) == len(anchors) or draft.row_id or draft.stamp
                if is_enough and list(window) == list(anchors[-len(window) :]):
                    first = first or _Place(offset=row.offset, count=count)
                    if seen == index:
                        return _Place(offset=row.offset, count=count)
        return first

    # Reading on.

    def _read(self, start: _Start, index: int) -> Iterator[Message]:
        if start.half is not None:
            self._note(start.half)
            self._before = start.before
            for taken, draft in enumerate(start.drafts[start.count :], start.count + 1):
                self._taken = taken
                yield self._placed(draft, index, start.half)
                index += 1
        for row in start.rows:
            self._before = self._reader.state()
            drafts = _drafts_of(row, self._reader, index)
            self._reader.skipped.update(row.problems)
            self._note(row)
            for taken, draft in enumerate(drafts, 1):
                self._taken = taken
                yield self._placed(draft, index, row)
                index += 1
        self._source.close()

    def _placed(self, draft: Draft, index: int, row: Row) -> Message:
        return placed(draft, index, *((row.offset, row.end) if self._source.located else (None, None)))

    def _note(self, row: Row) -> None:
        if row.unfinished:
            self.still_writing = True
        else:
            self.end = row.end


def _start_at(offset: int, rows: Iterator[Row], reader: RowReader) -> _Start | None:
    """The start at the row of that offset, which is read, as are those before it; None when there is no such row."""
    for row in rows:
        before = reader.state()
        drafts = _drafts_of(row, reader, None)
        if row.offset >= offset:
            found = _Start(reader=reader, rows=rows, half=row, drafts=drafts, before=before)
            return found if row.offset == offset else None
    return None


def _count_up_to(anchors: Sequence[str], drafts: Sequence[Draft]) -> int:
    """How many of a row's drafts are covered; 0 when the newest anchor is not among them.

    A row can hold the same result twice. Where even the anchors before it fit twice, fewer: rather twice than never.
    """
    digests = [digest_of_draft(draft) for draft in drafts]
    fitting = [count for count in range(1, len(digests) + 1) if _fits(digests[:count], anchors)]
    return max(fitting, key=lambda count: min(count, len(anchors)), default=0)


def _fits(digests: Sequence[str], anchors: Sequence[str]) -> bool:
    length = min(len(digests), len(anchors))
    return list(digests[-length:]) == list(anchors[-length:])


def _drafts_of(row: Row, reader: RowReader, index: int | None) -> list[Draft]:
    drafts: list[Draft] = []
    for value in row.values:
        drafts += reader.take(value, None if index is None else index + len(drafts), row.offset)
    return drafts


def cursor_behind(covered: Sequence[Message], info: TranscriptInfo, point: ResumePoint | None = None) -> Cursor:
    """Where to go on when these messages, the last of a covered range, are done. None covered: the beginning.

    point: that of the reading when it gave the last of them; without it some rows before are read again.
    """
    if not covered:
        return Cursor(format=info.format, index=0)
    last = covered[-1]
    return Cursor(
        format=info.format,
        index=last.index + 1,
        offset=last.end,
        anchor_offset=last.offset,
        anchors=tuple(message.digest for message in covered[-ANCHORS:]),
        state=point.packed() if point is not None else {},
    )
