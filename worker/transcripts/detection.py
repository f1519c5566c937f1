"""Which format a file is, by what is in it. The name decides nothing: a document can be called full.jsonl."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

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
from worker.transcripts.sources import load_document, row_start_behind, size_of

FORMATS = (CLAUDE_CODE, CODEX, PI, NANOBOT, GEMINI_CLI, PLAIN, ANTHROPIC, OPENAI)
"""The more particular ones first: a list of plain texts is Anthropic's as well as OpenAI's."""

HEAD_ROWS = 200
HEAD_BYTES = 1024 * 1024
TAIL_BYTES = (256 * 1024, 8 * 1024 * 1024)
OPENING_BYTES = 4096

FOREIGN = {
    b"%PDF": "a PDF",
    b"\x1f\x8b": "compressed (gzip)",
    b"\x28\xb5\x2f\xfd": "compressed (zstd)",
    b"PK\x03\x04": "a ZIP archive",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image",
}
KNOWN_FORMATS = "Claude Code, Codex, pi, OpenClaw, nanobot, Gemini CLI, OpenAI and Anthropic messages, plain JSONL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """is_document: the file is one JSON value and not a row per line."""

    format: Format
    info: TranscriptInfo
    is_document: bool


def detect(file: BinaryIO, path: Path, max_row_bytes: int) -> Detected:
    """The format of an open file, from its head. Raises: TranscriptError when it is of none, with the reason."""
    file.seek(0)
    opening = file.read(OPENING_BYTES)
    _refuse_foreign(opening, path)
    if _looks_like_document(opening):
        return _as_document(file, path) or _refuse(opening, path)
    head = _head(file, max_row_bytes)
    rows = [value for row in head for value in row.values]
    if _is_alone(head, file) and (found := _as_document(file, path)):
        return found
    if (found_format := _format_of(rows)) is not None:
        sample = Sample(head=rows, tail=_tail(file, max_row_bytes), stem=stem_of(path))
        return Detected(format=found_format, info=found_format.describe(sample), is_document=False)
    if all(ROW_TOO_LONG in row.problems for row in head):
        raise TranscriptError(
            f"{path}:1: a row longer than {max_row_bytes} bytes, and no other; raise AFTERTURN_MAX_ROW_BYTES"
        )
    return (_as_document(file, path) if opening.lstrip()[:1] == b"{" else None) or _refuse(opening, path)


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


def _is_alone(head: Sequence[Row], file: BinaryIO) -> bool:
    """One row that is the whole file: a document on one line, or the first row of a session."""
    return len(head) == 1 and head[0].end >= size_of(file)


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
            sample = Sample(head=[row for row in rows if row], tail=(), stem=stem_of(path))
            return Detected(format=candidate, info=candidate.describe(sample), is_document=True)
    return None


def _head(file: BinaryIO, max_row_bytes: int) -> list[Row]:
    head = []
    for row in read_rows(file, 0, max_row_bytes):
        head.append(row)
        if len(head) >= HEAD_ROWS or row.end >= HEAD_BYTES:
            break
    return head


def _tail(file: BinaryIO, max_row_bytes: int) -> list[dict[str, Any]]:
    """The objects of the last rows: more of the file is looked at when its end is one long row."""
    size = size_of(file)
    for tail_bytes in TAIL_BYTES:
        start = row_start_behind(file, max(0, size - tail_bytes), size)
        rows = [value for row in read_rows(file, start, max_row_bytes) for value in row.values]
        if rows or start == 0:
            return rows
    return []


def _format_of(rows: Sequence[Fields]) -> Format | None:
    """The first format that knows one of the rows: the header may be torn, and the rows behind it still readable."""
    return next((candidate for candidate in FORMATS if any(map(candidate.recognises, rows))), None)
