"""What every transcript format provides, and what is known of a file before its messages are read."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from worker.transcripts.drafts import Draft

Fields = Mapping[str, Any]
"""One parsed JSON object of a transcript: untrusted, any key may be missing or hold anything."""


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

    def take(self, row: Fields, index: int | None, /) -> list[Draft]:
        """The messages of one row. index: of the first of them, None for rows that are only read for what they teach.

        A row that becomes no message is counted in `skipped` by its reason.
        """
        ...

    def rewound(self) -> list[tuple[int, int]]:
        """Message indexes [start, end) that the person went back behind, as far as the rows so far tell."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is looked at before reading: rows from the head and the tail of the file, and its name without suffixes.

    Of a document the head begins with the document itself, which can name the session.
    """

    head: Sequence[Fields]
    tail: Sequence[Fields]
    stem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One transcript format.

    recognises: whether a row is of this format, given that it is of none of the more particular ones.
    reader: makes a reader for one pass; its second argument tells whether the bytes `lookahead` are in the file.
    elements: the rows of a file that is one JSON document, None when the document is of another format.
    """

    name: str
    recognises: Callable[[Fields], bool]
    describe: Callable[[Sample], TranscriptInfo]
    reader: Callable[[TranscriptInfo, bool], RowReader]
    elements: Callable[[Any], list[Any] | None] = lambda _document: None
    lookahead: bytes | None = None


def first_text(rows: Sequence[Fields], *keys: str) -> str | None:
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
