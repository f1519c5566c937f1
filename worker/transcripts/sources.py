"""Where rows come from: a JSONL file as a stream, or one JSON document. Files are opened read-only, never locked."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from worker.errors import TranscriptError
from worker.transcripts.jsonl import NOT_AN_OBJECT, Row, parse_document, read_rows

DOCUMENT_LIMIT_BYTES = 256 * 1024 * 1024
WARM_UP_BYTES = 1024 * 1024
"""So much before the place where a reading goes on is read again for what it teaches: ids, call names, the queue.

Only where nobody kept what the reader knew there."""

BUFFER_BYTES = 16 * 1024
"""Every place of the file that is looked at costs so many bytes: larger ones make a short look long."""

SCAN_BYTES = 64 * 1024


class RowSource(Protocol):
    """size: of the whole, in the unit of the offsets of its rows. located: whether these are byte offsets."""

    size: int
    located: bool

    def rows(self, start: int) -> Iterator[Row]:
        """The rows from an offset on that is the beginning of one."""
        ...

    def begins_row(self, offset: int) -> bool:
        """Whether a row can begin at the offset."""
        ...

    def warm_start(self, offset: int) -> int | None:
        """Beginning of a row at some distance before the row at `offset`; None when no row can begin there."""
        ...

    def holds(self, needle: bytes) -> bool:
        """Whether the bytes stand anywhere in the file. Rows that are being read are not disturbed."""
        ...

    def close(self) -> None: ...


class FileRows:
    """The rows of an open JSONL file."""

    located = True

    def __init__(self, file: BinaryIO, path: Path, max_row_bytes: int) -> None:
        self._file = file
        self._path = path
        self._max_row_bytes = max_row_bytes
        self.size = size_of(file)

    def rows(self, start: int) -> Iterator[Row]:
        try:
            yield from read_rows(self._file, start, self._max_row_bytes)
        except OSError as exc:
            raise TranscriptError(f"{self._path}: cannot be read ({exc}); check the disk") from exc

    def begins_row(self, offset: int) -> bool:
        if not 0 <= offset < self.size:
            return False
        if offset == 0:
            return True
        self._file.seek(offset - 1)
        return self._file.read(1) == b"\n"

    def warm_start(self, offset: int) -> int | None:
        if not self.begins_row(offset):
            return None
        return row_start_behind(self._file, max(0, offset - WARM_UP_BYTES), offset)

    def holds(self, needle: bytes) -> bool:
        with kept_place(self._file):
            return _holds(self._file, needle)

    def close(self) -> None:
        self._file.close()


class DocumentRows:
    """The elements of a document; their offsets are their numbers."""

    located = False

    def __init__(self, elements: Sequence[Any]) -> None:
        self._elements = elements
        self.size = len(elements)

    def rows(self, start: int) -> Iterator[Row]:
        for number in range(start, self.size):
            value = self._elements[number]
            if isinstance(value, dict):
                yield Row(offset=number, end=number + 1, values=(value,))
            else:
                yield Row(offset=number, end=number + 1, problems=(NOT_AN_OBJECT,))

    def begins_row(self, offset: int) -> bool:
        return 0 <= offset < self.size

    def warm_start(self, offset: int) -> int | None:
        return 0 if self.begins_row(offset) else None

    def holds(self, _needle: bytes) -> bool:
        return False

    def close(self) -> None:
        """Nothing is open."""


def row_start_behind(file: BinaryIO, start: int, limit: int) -> int:
    """The first beginning of a row at or behind `start`, at most `limit`, which is one."""
    if start == 0:
        return 0
    file.seek(start - 1)
    line = file.readline(limit - start + 1)
    return start - 1 + len(line) if line.endswith(b"\n") else limit


def open_binary(path: Path) -> BinaryIO:
    """The file, opened for reading. Raises: TranscriptError when there is none or it may not be read."""
    try:
        if path.is_dir():
            raise TranscriptError(f"{path}: is a directory; name the transcript file itself")
        if path.exists() and not path.is_file():
            raise TranscriptError(f"{path}: is a pipe or a device; save it to a file first")
        return path.open("rb", buffering=BUFFER_BYTES)
    except FileNotFoundError as exc:
        raise TranscriptError(f"{path}: no such file; the agent may have moved or deleted it") from exc
    except PermissionError as exc:
        raise TranscriptError(f"{path}: permission denied; run as the user who owns it") from exc
    except (OSError, ValueError) as exc:
        raise TranscriptError(f"{path}: cannot be opened ({exc}); check the path") from exc


def size_of(file: BinaryIO) -> int:
    """Bytes in the file now."""
    return os.fstat(file.fileno()).st_size


@contextmanager
def kept_place(file: BinaryIO) -> Iterator[None]:
    """Where the file was being read, it is read on after the block."""
    place = file.tell()
    try:
        yield
    finally:
        file.seek(place)


def load_document(file: BinaryIO, path: Path) -> Any:
    """The file's one JSON value. Raises: TranscriptError when it is too large; ValueError when it is no JSON."""
    size = size_of(file)
    if size > DOCUMENT_LIMIT_BYTES:
        raise TranscriptError(
            f"{path}: one JSON document of {size >> 20} MiB, the limit is {DOCUMENT_LIMIT_BYTES >> 20} MiB; "
            "write the messages as JSONL, one per line"
        )
    file.seek(0)
    return parse_document(file.read())


def _holds(file: BinaryIO, needle: bytes) -> bool:
    file.seek(0)
    before = b""
    while chunk := file.read(SCAN_BYTES):
        if needle in before + chunk:
            return True
        before = chunk[-len(needle) :]
    return False
