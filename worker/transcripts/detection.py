"""Which format a file is, by what is in it. The name decides nothing: a document can be called full.jsonl."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import BinaryIO, TypeVar

from worker.errors import TranscriptError
from worker.transcripts.anthropic_messages import ANTHROPIC
from worker.transcripts.claude_code import CLAUDE_CODE
from worker.transcripts.codex import CODEX
from worker.transcripts.drafts import mapping
from worker.transcripts.formats import Fields, Format, Sample, TranscriptInfo
from worker.transcripts.gemini_cli import GEMINI_CLI
from worker.transcripts.jsonl import BYTE_ORDER_MARK, ROW_TOO_LONG, Row, read_rows
from worker.transcripts.nanobot import NANOBOT
from worker.transcripts.openai_chat import OPENAI
from worker.transcripts.pi import PI
from worker.transcripts.plain import PLAIN
from worker.transcripts.sources import kept_place, load_document, row_start_behind, size_of

FORMATS = (CLAUDE_CODE, CODEX, PI, NANOBOT, GEMINI_CLI, PLAIN, ANTHROPIC, OPENAI)
"""The more particular ones first: a list of plain texts is Anthropic's as well as OpenAI's."""

HEAD_ROWS = 200
HEAD_BYTES = 1024 * 1024
OPENING_ROWS = 5
OPENING_BYTES = 32 * 1024
"""The rows that begin before there, and the first few in any case, are the opening: cheap to look at every time."""

TAIL_BYTES = (16 * 1024, 256 * 1024, 8 * 1024 * 1024)
"""How far back the end of the file is looked at, step by step; the last step only where one long row ends it."""

FIRST_BYTES = 4096

FOREIGN = {
    b"%PDF": "a PDF",
    b"\x1f\x8b": "compressed (gzip)",
    b"\x28\xb5\x2f\xfd": "compressed (zstd)",
    b"PK\x03\x04": "a ZIP archive",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image",
}
KNOWN_FORMATS = "Claude Code, Codex, pi, OpenClaw, nanobot, Gemini CLI, OpenAI and Anthropic messages, plain JSONL"


T = TypeVar("T")


class _Kept(Iterable[T]):
    """What an iterator gives: taken from it when it is asked for, and then kept."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._kept: list[T] = []

    def __iter__(self) -> Iterator[T]:
        at = 0
        while True:
            if at == len(self._kept):
                self._kept += islice(self._source, 1)
            if at == len(self._kept):
                return
            yield self._kept[at]
            at += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """is_document: the file is one JSON value and not a row per line."""

    format: Format
    info: TranscriptInfo
    is_document: bool


def detect(file: BinaryIO, path: Path, max_row_bytes: int) -> Detected:
    """The format of an open file, from its head. Raises: TranscriptError when it is of none, with the reason."""
    file.seek(0)
    first = file.read(FIRST_BYTES)
    _refuse_foreign(first, path)
    if _looks_like_document(first):
        return _as_document(file, path) or _refuse(first, path)
    head = _Kept(_head(file, max_row_bytes))
    if _is_alone(head, file) and (found := _as_document(file, path)):
        return found
    sample = Sample(
        head=_Kept(value for row in head for value in row.values),
        opening=_Kept(value for row in _opening(head) for value in row.values),
        newest=_Kept(_newest(file, max_row_bytes)),
        stem=stem_of(path),
    )
    if (found_format := _format_of(sample)) is not None:
        return Detected(format=found_format, info=found_format.describe(sample), is_document=False)
    if all(ROW_TOO_LONG in row.problems for row in head):
        raise TranscriptError(
            f"{path}:1: a row longer than {max_row_bytes} bytes, and no other; raise AFTERTURN_MAX_ROW_BYTES"
        )
    return (_as_document(file, path) if first.lstrip()[:1] == b"{" else None) or _refuse(first, path)


def stem_of(path: Path) -> str:
    """The name that the agent gave the session; an agent that sets a file aside adds to the end of the name."""
    name, mark, _ = path.name.partition(".jsonl")
    return name if mark and name else path.stem


def _refuse_foreign(opening: bytes, path: Path) -> None:
    if not opening.strip(b" \t\r\n\x00" + BYTE_ORDER_MARK):
        raise TranscriptError(f"{path}: the file is empty; run again when the agent has written something")
    for magic, what in FOREIGN.items():
        if opening.startswith(magic):
            raise TranscriptError(f"{path}: is {what}, not a transcript; give the agent's session file")


def _refuse(opening: bytes, path: Path) -> Detected:
    if b"\x00" in opening or opening.decode("utf-8", "replace").count("�") > len(opening) // 10:
        raise TranscriptError(f"{path}: is binary, not a transcript; give the agent's session file")
    if _looks_like_document(opening):
        raise TranscriptError(f"{path}: JSON that is cut off or holds no messages; known are {KNOWN_FORMATS}")
    raise TranscriptError(f"{path}: not a transcript of a known format; known are {KNOWN_FORMATS}")


def _looks_like_document(opening: bytes) -> bool:
    """An array, or an object that is broken over lines."""
    body = opening.removeprefix(BYTE_ORDER_MARK).lstrip()
    return body.startswith(b"[") or body.split(b"\n", 1)[0].strip() == b"{"


def _is_alone(head: Iterable[Row], file: BinaryIO) -> bool:
    """One row that is the whole file: a document on one line, or the first row of a session."""
    first = list(islice(head, 2))
    return len(first) == 1 and first[0].end >= size_of(file)


def _as_document(file: BinaryIO, path: Path) -> Detected | None:
    """None when the file is no JSON document, or one without messages."""
    try:
        document = load_document(file, path)
    except ValueError:
        return None
    for candidate in FORMATS:
        elements = candidate.elements(document)
        if elements is not None:
            rows = [dict(mapping(element)) for element in (document, *elements[:HEAD_ROWS], *elements[-10:])]
            known = [row for row in rows if row]
            sample = Sample(head=known, opening=known, newest=(), stem=stem_of(path))
            return Detected(format=candidate, info=candidate.describe(sample), is_document=True)
    return None


def _head(file: BinaryIO, max_row_bytes: int) -> Iterator[Row]:
    for row in islice(read_rows(file, 0, max_row_bytes), HEAD_ROWS):
        yield row
        if row.end >= HEAD_BYTES:
            return


def _opening(head: Iterable[Row]) -> Iterator[Row]:
    numbered = takewhile(lambda each: each[0] < OPENING_ROWS or each[1].offset < OPENING_BYTES, enumerate(head))
    return (row for _, row in numbered)


def _newest(file: BinaryIO, max_row_bytes: int) -> Iterator[Fields]:
    """The objects of the last rows, newest first; the head is read on from where it was."""
    size = end = size_of(file)
    seen = 0
    for tail_bytes in TAIL_BYTES:
        if end == 0 or (seen and tail_bytes == TAIL_BYTES[-1]):
            return
        with kept_place(file):
            start = row_start_behind(file, max(0, size - tail_bytes), end)
            rows = list(takewhile(lambda row: row.offset < end, read_rows(file, start, max_row_bytes)))  # noqa: B023
        for row in reversed(rows):
            yield from reversed(row.values)
        seen += len(rows)
        end = start


def _format_of(sample: Sample) -> Format | None:
    """The most particular format that knows a row of the opening; where none does, that of the first known row.

    Any row will do: the header may be torn, and the rows behind it still readable.
    """
    rank = len(FORMATS)
    for row in sample.opening:
        rank = min(rank, _rank(row))
        if rank == 0:
            break
    if rank == len(FORMATS):
        rank = next((found for found in map(_rank, sample.head) if found < rank), rank)
    return FORMATS[rank] if rank < len(FORMATS) else None


def _rank(row: Fields) -> int:
    """The place in `FORMATS` of the first format that knows the row; behind the last when none does."""
    return next((at for at, candidate in enumerate(FORMATS) if candidate.recognises(row)), len(FORMATS))
