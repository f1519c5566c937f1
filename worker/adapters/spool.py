"""A folder of small files that holds what could not be handed on yet: written first, taken away when it arrived.

    spool/01764460800000000000-3f0c9a1b22de-4d1f9a63.json    entries, oldest first by name
    spool/aside/                                             entries that cannot be understood, kept for a person

A name is a stamp, the hash of what the entry is about, and a random token: together the entry's id. Stamps only grow,
also when the clock goes back. An entry is removed after its handler returned, so a crash hands it in twice and never
zero times: handlers must know an id that they have seen. What the payload means is known by `worker.client`.
"""

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.adapters.files import locked, make_folder, remove, storage_errors, write_atomically
from worker.errors import SessionBusy, StorageUnavailable, StoreError

MAX_ENTRIES = 4_096
MAX_ENTRY_BYTES = 64 * 1024
WATCHED_SECONDS = 5.0
"""How long a spool counts as watched after somebody said so: several rounds of a worker that looks every second."""

STUCK_SECONDS = 10.0
"""A drainer that has not moved for so long is suspended or hangs; one entry takes milliseconds."""

_NAME = re.compile(r"([0-9]{20})-([0-9a-f]{12})-([0-9a-f]{8})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolEntry:
    """id: unique for ever, ascending in the order of writing. payload: plain JSON as it was put."""

    id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """How many entries were handed on, and how many were set aside because nobody can understand them."""

    handled: int = 0
    set_aside: int = 0


Handler = Callable[[SpoolEntry], bool]


class Spool:
    """One spool folder, used by any number of processes at once."""

    def __init__(self, folder: Path, *, max_entries: int = MAX_ENTRIES) -> None:
        self._folder = folder
        self._max_entries = max_entries

    def put(self, payload: Mapping[str, Any], *, about: str) -> SpoolEntry:
        """The entry, on disk and safe from a power failure when this returns.

        `about` says what the entry is about. A full spool keeps only the newest entry about each thing.

        Raises: StorageUnavailable when the disk does not take it or the spool is full, StoreError for a payload over
            `MAX_ENTRY_BYTES`.
        """
        body = json.dumps(payload, separators=(",", ":")).encode("ascii")
        if len(body) > MAX_ENTRY_BYTES:
            raise StoreError(f"{self._folder}: an entry of {len(body)} bytes, {MAX_ENTRY_BYTES} are allowed")
        names = self._names()
        if len(names) >= self._max_entries:
            names = self._make_room(names)
        entry_id = f"{_stamp_behind(names):020d}-{_digest(about)}-{secrets.token_hex(4)}"
        write_atomically(self._folder / f"{entry_id}.json", _checksum(body) + b"\n" + body)
        return SpoolEntry(id=entry_id, payload=payload)

    def drain(self, handler: Handler, *, wait_seconds: float = 0.0) -> Drained:
        """Hands every entry to the handler, oldest first, also those that arrive meanwhile.

        The handler answers True when the entry arrived, False when nobody can ever understand it: then it is set aside.
        What the handler raises ends the draining, with that entry and all behind it in place.

        Raises: SessionBusy when another process drains longer than `wait_seconds`.
        """
        if not self._names():
            return Drained()
        handled = set_aside = 0
        with ExitStack() as stack:
            self._take_turn(stack, wait_seconds)
            while names := self._names():
                for name in names:
                    with storage_errors(self._folder / name):
                        outcome = self._handle(name, handler)
                    handled += outcome.handled
                    set_aside += outcome.set_aside
        return Drained(handled=handled, set_aside=set_aside)

    def holds(self, entry_id: str) -> bool:
        """Whether the entry still waits here."""
        return (self._folder / f"{entry_id}.json").exists()

    def waiting(self) -> list[SpoolEntry]:
        """What waits here, oldest first; damaged entries are left for `drain` to set aside."""
        found = []
        for name in self._names():
            with suppress(OSError):
                payload = _payload_of((self._folder / name).read_bytes())
                if payload is not None:
                    found.append(SpoolEntry(id=name.removesuffix(".json"), payload=payload))
        return found

    def __len__(self) -> int:
        return len(self._names())

    def set_aside_count(self) -> int:
        return len(_listed(self._aside))

    def watch(self) -> None:
        """Says that somebody drains this spool at least every second: agents may then leave the handing on to them."""
        with storage_errors(self._mark):
            make_folder(self._folder)
            self._mark.touch(mode=0o600)

    def unwatch(self) -> None:
        remove(self._mark)

    def is_watched(self) -> bool:
        return _age_seconds(self._mark) < WATCHED_SECONDS

    @property
    def _mark(self) -> Path:
        return self._folder / ".watched"

    @property
    def _lock(self) -> Path:
        return self._folder / ".lock"

    @property
    def _aside(self) -> Path:
        return self._folder / "aside"

    def _names(self) -> list[str]:
        """Of all entries, oldest first."""
        return sorted(name for name in _listed(self._folder) if _NAME.fullmatch(name))

    def _make_room(self, names: list[str]) -> list[str]:
        newest = {name.split("-")[1]: name for name in names}
        kept = [name for name in names if newest[name.split("-")[1]] == name]
        if len(kept) >= self._max_entries:
            raise StorageUnavailable(f"{self._folder}: {len(kept)} jobs wait already; start 'afterturn up'")
        for name in set(names).difference(kept):
            remove(self._folder / name)
        return kept

    def _take_turn(self, stack: ExitStack, wait_seconds: float) -> None:
        """One drains at a time, which keeps the order. A drainer that is stuck is not waited for: that costs at most
        the order, as an entry may be handed in twice."""
        try:
            stack.enter_context(locked(self._lock, wait_seconds=wait_seconds))
        except SessionBusy:
            if _age_seconds(self._lock) < STUCK_SECONDS:
                raise

    def _handle(self, name: str, handler: Handler) -> Drained:
        path = self._folder / name
        self._show_movement()
        try:
            payload = _payload_of(path.read_bytes())
        except FileNotFoundError:  # a drainer that passed us by was quicker
            return Drained()
        except (PermissionError, IsADirectoryError):
            payload = None
        if payload is None or not handler(SpoolEntry(id=path.stem, payload=payload)):
            return self._set_aside(path)
        remove(path)
        return Drained(handled=1)

    def _show_movement(self) -> None:
        with storage_errors(self._lock):
            self._lock.touch(mode=0o600)

    def _set_aside(self, path: Path) -> Drained:
        with storage_errors(path):
            make_folder(self._aside)
            path.replace(self._aside / path.name)
        return Drained(set_aside=1)


def _listed(folder: Path) -> list[str]:
    with storage_errors(folder):
        try:
            return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted, of thousands of files
        except FileNotFoundError:
            return []


def _stamp_behind(names: list[str]) -> int:
    """Nanoseconds since 1970, but behind every stamp that is there."""
    newest = int(names[-1].split("-")[0]) if names else 0
    return max(time.time_ns(), newest + 1)


def _payload_of(data: bytes) -> dict[str, Any] | None:
    checksum, _, body = data.partition(b"\n")
    if checksum != _checksum(body):
        return None
    payload = json.loads(body)
    return payload if isinstance(payload, dict) else None


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _age_seconds(path: Path) -> float:
    """Since the last change, either way: a mark from the future was made before the clock went back."""
    try:
        return abs(time.time() - path.stat().st_mtime)
    except OSError:
        return float("inf")
