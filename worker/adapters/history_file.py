"""HISTORY.md on disk: appends that survive a kill, the months that moved out, and which checkpoints have an entry.

Everything here is called with the workspace's lock held, except by `verifying`, which only reads.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from worker.adapters.files import (
    append_durably,
    own_file,
    permissions,
    read_if_there,
    read_in_pieces,
    remove,
    storage_errors,
    write_atomically,
)
from worker.core.history import (
    MAX_HISTORY_BYTES,
    Mark,
    departure_keys,
    marks,
    missing_entries,
    rotate,
    without_session,
)
from worker.errors import StoreError

TITLE = "# History\n\n"
_CLUE_BYTES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Append:
    """An append that was announced: `text` belongs behind the first `offset` bytes."""

    offset: int
    text: str


class HistoryFile:
    """The log of one workspace: HISTORY.md and the months in history/."""

    def __init__(self, workspace: Path, *, max_bytes: int = MAX_HISTORY_BYTES) -> None:
        self._workspace = workspace
        self._max_bytes = max_bytes
        self._pending = workspace / ".afterturn" / "history-append.json"
        self._index = workspace / ".afterturn" / "history-index"

    def text(self) -> str:
        return _decoded(read_if_there(self._path()))

    def marks(self) -> Iterator[Mark]:
        """The entries of all months and of HISTORY.md, one by one; a month that did not change is not read again."""
        months = self._months()
        if months:
            self._bring_index_up(months)
            yield from _marks_in(self._index)
        yield from _marks_in(self._path())

    def every_mark(self) -> list[tuple[Path, Mark]]:
        """Each entry with the file that holds it, read anew: for verification."""
        paths = [*self._months(), self._path()]
        return [(path, mark) for path in paths for mark in _marks_in(path)]

    def departure_keys(self) -> set[str]:
        """The bullets of MEMORY.md whose departure HISTORY.md already tells."""
        return {key for piece in read_in_pieces(self._path()) for key in departure_keys(_decoded(piece))}

    def append(self, entries: Sequence[str]) -> None:
        """Puts whole entries at the end, announced in a file first: so the next run can finish what a kill cut off."""
        if not entries:
            return
        there, end = _end_of(self._path())
        text = _separator(end) + "\n".join(entries)
        data = text.encode("utf-8", "replace")
        write_atomically(self._pending, orjson.dumps(_Append(offset=there, text=data.decode("utf-8"))))
        append_durably(self._path(), data)
        remove(self._pending)
        self._rotate()

    def finish_append(self) -> None:
        """Completes an append that a killed process had announced.

        Raises: StoreError when the announcement is damaged.
        """
        announced = read_if_there(self._pending)
        if announced is None:
            return
        try:
            append = _append_type().validate_json(announced)
        except ValidationError as exc:
            raise StoreError(f"{self._pending}: damaged; remove it") from exc
        there = (read_if_there(self._path()) or b"")[append.offset :]
        rest = _rest(append.text.encode("utf-8"), there)
        if rest:
            append_durably(self._path(), rest)
        remove(self._pending)
        self._rotate()

    def forget(self, session: str, tombstone: str) -> None:
        """Takes out all that is told of a session, named by its label, and leaves the tombstone once."""
        for path in [*self._months(), self._path()]:
            before = _decoded(read_if_there(path))
            after = without_session(before, session, keep=tombstone)
            if after != before:
                write_atomically(path, after.encode("utf-8", "surrogateescape"), mode=permissions(path))
        if tombstone not in self.text():
            self.append([tombstone])

    def _rotate(self) -> None:
        """Moves the oldest months out of a file that is over its limit: the only time that it is written anew.

        The months are written first. After a kill in between they hold entries that HISTORY.md still has, and the next
        run, which finds the file over its limit again, moves only what is missing there.
        """
        path = self._path()
        if not path.exists() or path.stat().st_size <= self._max_bytes:
            return
        rotation = rotate(self.text(), max_bytes=self._max_bytes)
        for month, entries in rotation.months:
            self._add_to_month(self._workspace / "history" / f"{month}.md", entries)
        if rotation.months:
            write_atomically(path, rotation.kept.encode("utf-8", "surrogateescape"), mode=permissions(path))

    def _add_to_month(self, path: Path, entries: str) -> None:
        archive = _decoded(read_if_there(path))
        moved = missing_entries(entries, archive)
        if moved:
            write_atomically(path, (archive + moved).encode("utf-8", "surrogateescape"))

    def _months(self) -> list[Path]:
        return sorted((self._workspace / "history").glob("*.md"))

    def _bring_index_up(self, months: Sequence[Path]) -> None:
        """The index is the markers of all months behind a line that tells sizes and times of change: it is derived,
        and may be deleted at any time.
        """
        stamps = orjson.dumps({path.name: _stamp(path) for path in months})
        if next(read_in_pieces(self._index), b"").partition(b"\n")[0] != stamps:
            lines = [mark.line for path in months for mark in _marks_in(path)]
            write_atomically(self._index, b"\n".join([stamps, "\n".join(lines).encode("utf-8", "surrogateescape")]))

    def _path(self) -> Path:
        return own_file(self._workspace, "HISTORY.md")


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


def _marks_in(path: Path) -> Iterator[Mark]:
    return (mark for piece in read_in_pieces(path) for mark in marks(_decoded(piece)))


def _end_of(path: Path) -> tuple[int, bytes]:
    """How many bytes the file holds, and the last two of them; those of a file that is not there are none."""
    with storage_errors(path), contextlib.suppress(FileNotFoundError), path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 2, 0))
        return size, stream.read(2)
    return 0, b""


def _rest(announced: bytes, there: bytes) -> bytes:
    """What of the announced bytes is still missing behind the place where they belong.

    Another program may have written there as well, before or after: then they are looked for.
    """
    if announced in there:
        return b""
    start = there.rfind(announced[:_CLUE_BYTES])
    if start < 0:
        start = 0 if announced.startswith(there) else len(there)
    torn = there[start:]
    return announced[len(torn) :] if announced.startswith(torn) else b"\n" + announced


def _separator(end: bytes) -> str:
    """What has to stand between the end of the file and a new entry, so that a blank line is between them."""
    if not end:
        return TITLE
    return "" if end.endswith(b"\n\n") else "\n" if end.endswith(b"\n") else "\n\n"


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


@cache
def _append_type() -> TypeAdapter[_Append]:
    return TypeAdapter(_Append)
