"""Rows of a JSONL file as a bounded stream. Knows JSON and damage, and nothing of what a row means.

Lines end at b"\\n" only: U+2028 and form feeds stand inside JSON strings. At any time at most one row is in memory.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import SEEK_CUR
from typing import Any, BinaryIO

import orjson

ROW_LIMIT_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
SALVAGE_TRIES = 16
"""How many times the beginning of a row is looked for inside a damaged one, so that a hostile line stays cheap."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NOT_JSON = "not_json"
NOT_AN_OBJECT = "not_an_object"
ROW_TOO_LONG = "row_too_long"
UNFINISHED_LAST_ROW = "unfinished_last_row"
MENDED_ROW = "mended_row"
"""Read after all, but not as it stood: control characters, bytes that are not UTF-8, lone surrogates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the file: the objects on it (two writers can lose a newline) and what was wrong with it.

    offset, end: byte range of the line with its newline. problems: reasons, one per piece that is lost or mended.
    """

    offset: int
    end: int
    values: tuple[dict[str, Any], ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def unfinished(self) -> bool:
        return UNFINISHED_LAST_ROW in self.problems


def read_rows(file: BinaryIO, start: int = 0, limit_bytes: int = ROW_LIMIT_BYTES) -> Iterator[Row]:
    """The rows from the byte `start` on, which must be the beginning of a line. Blank lines are no rows."""
    file.seek(start)
    offset = start
    held: Row | None = None
    while line := file.readline(limit_bytes + 1):
        too_long = len(line) > limit_bytes and not line.endswith(b"\n")
        end = _skip_line(file) if too_long else offset + len(line)
        row = _row(line, offset, end, too_long=too_long)
        offset = end
        if row is not None:
            if held is not None:
                yield held
            held = row
    if held is not None:
        yield _as_last(held)


def _row(line: bytes, offset: int, end: int, *, too_long: bool) -> Row | None:
    if too_long:
        return Row(offset=offset, end=end, problems=(ROW_TOO_LONG,))
    body = line.strip(b" \t\r\n\x00")
    if offset == 0:
        body = body.removeprefix(BYTE_ORDER_MARK)
    if not body:
        return None
    values, problems = parse_line(body)
    return Row(offset=offset, end=end, values=values, problems=problems)


def _skip_line(file: BinaryIO) -> int:
    """Where the next line begins, without holding this one."""
    while piece := file.read(CHUNK_BYTES):
        if (newline := piece.find(b"\n")) >= 0:
            file.seek(newline + 1 - len(piece), SEEK_CUR)
            break
    return file.tell()


def _as_last(row: Row) -> Row:
    """A bad last line is a row that is being written; a bad line before it is damage."""
    if row.problems[-1:] != (NOT_JSON,):
        return row
    return Row(offset=row.offset, end=row.end, values=row.values, problems=(*row.problems[:-1], UNFINISHED_LAST_ROW))


def parse_line(body: bytes) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The objects of one line, and the reasons for what is not among them."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _parse_damaged(body)
    return ((value,), ()) if isinstance(value, dict) else ((), (NOT_AN_OBJECT,))


def _parse_damaged(body: bytes) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """Objects glued together, control characters, NaN, lone surrogates, bytes that are no UTF-8: read what can be."""
    text = body.decode("utf-8", "replace")
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    problems: list[str] = []
    at = 0
    while at < len(text):
        value, at = _decode_at(decoder, text, at)
        if at < 0:
            problems.append(NOT_JSON)
            break
        if isinstance(value, dict):
            found.append(_without_lone_surrogates(value))
        else:
            problems.append(NOT_AN_OBJECT)
    if problems[-1:] == [NOT_JSON] and (whole := _row_behind_a_half_one(decoder, text)) is not None:
        # The half row is gone for good, even at the end of the file: its writer went on with the next.
        return (*found, whole), (*problems[:-1], NOT_JSON, MENDED_ROW)
    if len(found) == 1 and not problems:
        problems.append(MENDED_ROW)
    return tuple(found), tuple(problems)


def _decode_at(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    """The value that begins at `at` and where the next may begin; -1 when there is none."""
    try:
        value, end = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, -1
    while end < len(text) and text[end] in " \t\r\x00":
        end += 1
    return value, end


def _row_behind_a_half_one(decoder: json.JSONDecoder, text: str) -> dict[str, Any] | None:
    """A writer that died leaves half a row without newline, and the next row follows on the same line.

    Rows of one writer begin alike. Only an object that reaches the end of the line is a row: one that ends before is
    a piece of the half row.
    """
    opening = text[:8]
    at = text.find(opening, 1) if opening.startswith("{") and len(opening) == 8 else -1
    for _ in range(SALVAGE_TRIES):
        if at < 0:
            return None
        value, end = _decode_at(decoder, text, at)
        if end == len(text) and isinstance(value, dict):
            mended: dict[str, Any] = _without_lone_surrogates(value)
            return mended
        at = text.find(opening, at + 1)
    return None


def _without_lone_surrogates(value: Any) -> Any:
    """The same value with half characters replaced: they cannot be written as UTF-8 by anybody downstream."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_lone_surrogates(key): _without_lone_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    return value


def parse_document(body: bytes) -> Any:
    """The value of a file that is one JSON document. Raises: ValueError when it is none."""
    body = body.removeprefix(BYTE_ORDER_MARK)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return _without_lone_surrogates(json.loads(body.decode("utf-8", "replace"), strict=False))
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
