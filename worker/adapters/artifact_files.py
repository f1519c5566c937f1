"""An artifact's file, read as a stream: checked against its name first, then piece by piece, whatever its size.

What is held at a time is one block and the lines that are asked for. The file stays open from the check to the last
byte that is shown, so nobody can put another in its place in between.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from worker.adapters import line_search
from worker.adapters.files import storage_errors
from worker.core.excerpts import LINE_BYTES, Line, decoded, torn_at_end, torn_at_start
from worker.errors import StoreError, UsageError

BLOCK_BYTES = 1 << 20
SEARCH_SECONDS = 5.0
"""For one stretch of at most 256 lines or 1 MiB: a sane pattern needs milliseconds."""

_BEFORE_MATCH_BYTES = 200


class OriginalChanged(StoreError):
    """The bytes are no longer those that were stored: a check found a problem."""

    exit_code = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A line with a match. first, first_offset: the earliest line of its context. start, end: bytes in the line."""

    line: int
    offset: int
    first: int
    first_offset: int
    start: int
    end: int


class ArtifactFile:
    """The bytes of one artifact that is what its name says. size in bytes, lines as an editor counts them."""

    def __init__(self, stream: BinaryIO, *, size: int, lines: int, newlines: tuple[int, ...]) -> None:
        self.size = size
        self.lines = lines
        self._stream = stream
        self._newlines = newlines

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes of [start, end), in blocks."""
        self._stream.seek(start)
        while start < end and (block := self._stream.read(min(BLOCK_BYTES, end - start))):
            start += len(block)
            yield block

    def read_lines(self, first: int, end: int) -> Iterator[Line]:
        """The lines at the positions [first, end) from 0, long ones cut behind their beginning."""
        if first < end:
            yield from self._lines_at(first + 1, self._offset_of(first), end - first)

    def read_around(self, match: Match, context: int, *, behind: int) -> Iterator[Line]:
        """The lines around a match, those up to the number `behind` left out; of a long one the piece that matches."""
        count = min(self.lines, match.line + context) - match.first + 1
        for line in self._lines_at(match.first, match.first_offset, count, match):
            if line.number > behind:
                yield line

    def search(
        self, pattern: str, *, context: int, most: int, ignore_case: bool, fixed: bool, seconds: float = SEARCH_SECONDS
    ) -> tuple[list[Match], int]:
        """The first `most` matching lines, and how many there are.

        Raises: UsageError when the pattern takes longer than `seconds` for one stretch of the file.
        """
        wish = {"pattern": pattern, "context": context, "most": most, "seconds": seconds}
        self._stream.seek(0, os.SEEK_END)  # drops what is buffered: the search moves the same file's position
        done = subprocess.run(
            [sys.executable, "-I", "-S", line_search.__file__, json.dumps(wish | _flags(ignore_case, fixed))],
            stdin=self._stream,
            capture_output=True,
            check=False,
        )
        self._stream.seek(0, os.SEEK_END)
        if done.returncode == -signal.SIGALRM:
            raise UsageError(
                f"pattern {pattern[:80]!r}: took over {seconds:g} s for a few lines; "
                "write it without nested repeats, or search for the words as they stand"
            )
        if done.returncode != 0:
            why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise UsageError(f"pattern {pattern[:80]!r}: cannot be searched for ({why[:200]})")
        *rows, (_, count) = [json.loads(line) for line in done.stdout.splitlines()]
        return [_match(row) for row in rows], count

    def _lines_at(self, number: int, offset: int, count: int, match: Match | None = None) -> Iterator[Line]:
        self._stream.seek(offset)
        for now in range(number, number + count):
            is_match = match is not None and now == match.line
            skip = _skipped(match) if match is not None and is_match else 0
            data, length, end = self._read_line(skip)
            shown = data[: length - end - skip]
            if skip:
                torn = torn_at_start(shown)
                skip, shown = skip + torn, shown[torn:]
            if len(shown) > LINE_BYTES:
                shown = shown[:LINE_BYTES]
                shown = shown[: len(shown) - torn_at_end(shown)]
            yield Line(
                number=now,
                text=decoded(shown),
                at=offset + skip,
                before=skip,
                behind=length - skip - end - len(shown),
                is_match=is_match,
            )
            offset += length

    def _read_line(self, skip: int) -> tuple[bytes, int, int]:
        """Of the next line the bytes from `skip` on, somewhat more than are shown; its length, and that of its end."""
        length = 0
        while length < skip:
            length += len(self._stream.readline(min(BLOCK_BYTES, skip - length)))
        piece = data = self._stream.readline(LINE_BYTES + 8)
        length += len(data)
        last = data[-2:]
        while piece and not piece.endswith(b"\n"):
            piece = self._stream.readline(BLOCK_BYTES)
            length += len(piece)
            last = (last + piece)[-2:]
        return data, length, 2 if last == b"\r\n" else int(last.endswith(b"\n"))

    def _offset_of(self, position: int) -> int:
        """Where the line at a position begins: behind that many newlines."""
        if position == 0:
            return 0
        block = bisect_right(self._newlines, position - 1) - 1
        left = position - self._newlines[block]
        self._stream.seek(block * BLOCK_BYTES)
        data = self._stream.read(BLOCK_BYTES)
        at = -1
        for _ in range(left):
            at = data.index(b"\n", at + 1)
        return block * BLOCK_BYTES + at + 1


@contextmanager
def open_artifact(path: Path, handle: str) -> Iterator[ArtifactFile]:
    """The file, once its bytes are proved to be those that were stored.

    Raises: OriginalChanged when they are not, StoreError when there is no such file, StorageUnavailable.
    """
    with storage_errors(path):
        if not path.is_file():
            raise StoreError(f"{path}: no such artifact; 'afterturn show' lists those that are kept")
        with path.open("rb") as stream:
            yield _checked(stream, path, handle)


def _checked(stream: BinaryIO, path: Path, handle: str) -> ArtifactFile:
    digest = hashlib.sha256()
    newlines = [0]
    size, last = 0, b""
    while block := stream.read(BLOCK_BYTES):
        digest.update(block)
        newlines.append(newlines[-1] + block.count(b"\n"))
        size += len(block)
        last = block[-1:]
    if digest.hexdigest() != handle:
        raise OriginalChanged(
            f"{path}: the original changed since it was stored, nothing of it is shown; restore it from a backup"
        )
    lines = newlines[-1] + (last not in (b"", b"\n"))
    return ArtifactFile(stream, size=size, lines=lines, newlines=tuple(newlines[:-1]))


def _skipped(match: Match) -> int:
    """How much of a matching line goes before the piece that is shown: none when the match is in sight anyway."""
    return max(0, match.start - _BEFORE_MATCH_BYTES) if match.end > LINE_BYTES else 0


def _flags(ignore_case: bool, fixed: bool) -> dict[str, bool]:
    return {"ignore_case": ignore_case, "fixed": fixed}


def _match(row: list[int]) -> Match:
    line, offset, first, first_offset, start, end = row
    return Match(line=line, offset=offset, first=first, first_offset=first_offset, start=start, end=end)
