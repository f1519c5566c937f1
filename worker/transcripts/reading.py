"""One pass over a transcript: messages in file order, from the beginning or from behind what was covered before.

Where a pass goes on is never taken on trust: the row of the last covered message must still give the same digest. If
it does not, the content is looked for elsewhere (a file can be rewritten with its head cut off), and if it is nowhere,
the file counts as restarted and is read whole, with indexes that go on.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from weakref import finalize

from worker.core.checkpoint import Cursor
from worker.core.messages import Message
from worker.transcripts.drafts import Draft, digest_of_draft, placed
from worker.transcripts.formats import RowReader, TranscriptInfo
from worker.transcripts.jsonl import Row
from worker.transcripts.sources import RowSource

ANCHORS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Behind the `count`th message of the row at `offset`."""

    offset: int
    count: int


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
        self._source = source
        self._new_reader = new_reader
        self._reader = new_reader()
        finalize(self, source.close)
        place = self._resume(cursor, format_name)
        self._messages = self._read(place, max(0, cursor.index) if cursor else 0)

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

    def _resume(self, cursor: Cursor | None, format_name: str) -> _Place | None:
        if cursor is None or (cursor.index <= 0 and not cursor.anchors):
            return None
        if cursor.format != format_name:
            self.restarted = f"the file was {cursor.format} and is {format_name} now"
        elif not cursor.anchors:
            self.restarted = "the place where to go on names no message"
        elif (place := self._place_of(cursor)) is not None:
            return place
        elif cursor.offset is not None and cursor.offset > self.size:
            self.restarted = "the file is shorter than what was covered"
        else:
            self.restarted = "the last covered message is no longer in the file"
        return None

    def _place_of(self, cursor: Cursor) -> _Place | None:
        if cursor.anchor_offset is not None and self._source.located:
            place = self._in_place(cursor.anchor_offset, cursor.anchors[-1])
            if place is not None:
                return place
        return self._anywhere(cursor.anchors, cursor.index)

    def _in_place(self, offset: int, anchor: str) -> _Place | None:
        """The place when the row at the offset still gives the anchor."""
        start = self._source.warm_start(offset)
        if start is None:
            return None
        reader = self._new_reader()
        for row in self._source.rows(start):
            drafts = _drafts_of(row, reader, None)
            if row.offset >= offset:
                digests = [digest_of_draft(draft) for draft in drafts] if row.offset == offset else []
                return _Place(offset=offset, count=digests.index(anchor) + 1) if anchor in digests else None
        return None

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

    def _read(self, place: _Place | None, index: int) -> Iterator[Message]:
        start = (self._source.warm_start(place.offset) or 0) if place else 0
        for row in self._source.rows(start):
            if place is not None and row.offset <= place.offset:
                drafts = self._known(row, place)
            else:
                drafts = _drafts_of(row, self._reader, index)
                self._note(row)
            for draft in drafts:
                yield placed(draft, index, *((row.offset, row.end) if self._source.located else (None, None)))
                index += 1
        self._source.close()

    def _known(self, row: Row, place: _Place) -> list[Draft]:
        """What of a covered row is new: the row of the last covered message can hold more than that one."""
        drafts = _drafts_of(row, self._reader, None)
        if row.offset < place.offset:
            return []
        self._reader.skipped.clear()
        self.end = row.end
        return drafts[place.count :]

    def _note(self, row: Row) -> None:
        self._reader.skipped.update(row.problems)
        if row.unfinished:
            self.still_writing = True
        else:
            self.end = row.end


def _drafts_of(row: Row, reader: RowReader, index: int | None) -> list[Draft]:
    drafts: list[Draft] = []
    for value in row.values:
        drafts += reader.take(value, None if index is None else index + len(drafts))
    return drafts


def cursor_behind(covered: Sequence[Message], info: TranscriptInfo) -> Cursor:
    """Where to go on when these messages, the last of a covered range, are done. None covered: the beginning."""
    if not covered:
        return Cursor(format=info.format, index=0)
    last = covered[-1]
    return Cursor(
        format=info.format,
        index=last.index + 1,
        offset=last.end,
        anchor_offset=last.offset,
        anchors=tuple(message.digest for message in covered[-ANCHORS:]),
    )
