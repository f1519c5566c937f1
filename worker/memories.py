"""The memory of one place as units that are read apart: MEMORY.md, HISTORY.md, each of its months, each session.

A unit has a stamp that changes with its files, so that who keeps something derived from it knows when to read again.
Raw transcripts are none of them.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.adapters.files import own_file, read_bounded, storage_errors
from worker.adapters.sessions import FileCheckpoints
from worker.core.recalling import Record
from worker.core.session_key import is_session_key
from worker.errors import StoreError

MAX_FILE_BYTES = 16 * 2**20
"""Of one file: HISTORY.md moves its months out at 1 MB, so a larger one was written by somebody else."""

_SESSIONS = "sessions/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The records of one unit. notes: what a reader has to know of them, one line each."""

    records: tuple[Record, ...]
    notes: tuple[str, ...] = ()


def unit_stamps(root: Path) -> dict[str, str]:
    """The units of a place and their stamps; nothing is opened. Empty for a place that was never written to."""
    with storage_errors(root):
        return dict(_stamps(root))


def read_unit(root: Path, name: str) -> Unit:
    """What the unit says now; one that is damaged says nothing, and why.

    Raises: StorageUnavailable.
    """
    try:
        if name.startswith(_SESSIONS):
            return _session(root, name.removeprefix(_SESSIONS))
        return _file(root, name)
    except StoreError as exc:
        return Unit(records=(), notes=(f"left out: {exc}",))


def _stamps(root: Path) -> Iterator[tuple[str, str]]:
    history = root / "history"
    months = [f"history/{path.name}" for path in sorted(history.glob("*.md"))] if history.is_dir() else []
    for name in ("MEMORY.md", "HISTORY.md", *months):
        with suppress(FileNotFoundError):
            yield name, _stamp((root / name).stat())
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root / "sessions") as entries:
        keys = sorted(entry.name for entry in entries if is_session_key(entry.name))
        for key in keys:
            with suppress(FileNotFoundError, NotADirectoryError):
                if stamp := _chain_stamp(root / "sessions" / key / "checkpoints"):
                    yield f"{_SESSIONS}{key}", stamp


def _chain_stamp(folder: Path) -> str:
    with os.scandir(folder) as entries:
        files = sorted((entry.name, _stamp(entry.stat())) for entry in entries if entry.name.endswith(".json"))
    return " ".join(f"{name}:{stamp}" for name, stamp in files)


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


# What makes records is loaded by whom has something to read: with an index that fits, an answer needs none of it.


def _session(root: Path, key: str) -> Unit:
    from worker.core.records import session_records

    return Unit(records=tuple(session_records(FileCheckpoints(root).chain(key))))


def _file(root: Path, name: str) -> Unit:
    from worker.core.records import history_records, memory_records

    path = own_file(root, name)
    is_memory = name == "MEMORY.md"
    data = read_bounded(path, MAX_FILE_BYTES + 1, from_end=not is_memory) or b""
    notes: tuple[str, ...] = ()
    if len(data) > MAX_FILE_BYTES:
        which = "first" if is_memory else "newest"
        notes = (f"{name} is too large: only its {which} {MAX_FILE_BYTES // 2**20} MiB are searched",)
        data = data[:MAX_FILE_BYTES] if is_memory else _from_an_entry(data)
    text = data.decode("utf-8", "replace")
    records = memory_records(text) if is_memory else history_records(text, name)
    return Unit(records=tuple(records), notes=notes)


def _from_an_entry(data: bytes) -> bytes:
    """The data from its first whole entry on: what stands before belongs to one whose heading was not read."""
    start = data.find(b"\n## [")
    return data[start + 1 :] if start >= 0 else data.partition(b"\n")[2]
