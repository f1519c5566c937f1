"""What every transcript format provides, and what is known of a file before its messages are read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from worker.transcripts.drafts import Draft

Fields = Mapping[str, Any]
"""One parsed JSON object of a transcript: untrusted, any key may be missing or hold anything."""

State = Mapping[str, Any]
"""What a reader needs of the rows before a place to go on there, as plain JSON: ids, names, counts and digests.

Bounded, and without a word of a message: it is stored with the checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptInfo:
    """format: how the file is read. agent: who wrote it. cwd: the project's folder, None when no row names one."""

    format: str
    agent: str
    session_id: str
    cwd: str | None = None


class RowReader(Protocol):
    """Turns the rows of one file into drafts, in order; keeps what it must remember between rows."""

    skipped: Counter[str]

    def take(self, row: Fields, index: int | None, offset: int, /) -> list[Draft]:
        """The messages of one row. index: of the first of them, None for rows that are only read for what they teach.

        A row that becomes no message is counted in `skipped` by its reason. offset: where the row begins.
        """
        ...

    def rewound(self) -> list[tuple[int, int]]:
        """Message indexes [start, end) that the person went back behind, as far as the rows so far tell."""
        ...

    def state(self) -> State:
        """What it knows now. Asked for before every row, so it is cheap, and rows to come do not change it."""
        ...

    def resume(self, state: State, /) -> Sequence[int]:
        """Knows again what a reader knew; gives the offsets of rows that must be taken once more before going on.

        Raises: KeyError, TypeError, ValueError for a state that no reader of this format gave.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is looked at before reading: the beginning of the file, its end, and its name without suffixes.

    Rows are read as they are asked for. opening: the first of `head`; who looks for what may be missing looks there,
    so that a file without it does not cost its whole head every time. newest: the last rows, newest first.
    Of a document the head begins with the document itself, which can name the session.
    """

    head: Iterable[Fields]
    opening: Iterable[Fields]
    newest: Iterable[Fields]
    stem: str

    def newest_first(self) -> Iterator[Fields]:
        """All rows that may be looked at, from the last one back."""
        yield from self.newest
        yield from reversed(list(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One transcript format.

    recognises: whether a row is of this format, given that it is of none of the more particular ones.
    reader: makes a reader for one pass; its second argument tells whether some bytes stand anywhere in the file.
    elements: the rows of a file that is one JSON document, None when the document is of another format.
    """

    name: str
    recognises: Callable[[Fields], bool]
    describe: Callable[[Sample], TranscriptInfo]
    reader: Callable[[TranscriptInfo, Callable[[bytes], bool]], RowReader]
    elements: Callable[[Any], list[Any] | None] = lambda _document: None


def first_text(rows: Iterable[Fields], *keys: str) -> str | None:
    """The first text that is not empty under any of the keys."""
    for row in rows:
        for key in keys:
            value = row.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def counted(kind: object, known: frozenset[str]) -> str:
    """The name under which a row of this type is counted; a type that nobody knows gets no name of its own."""
    return kind if isinstance(kind, str) and kind in known else "unknown_row"
