"""MEMORY.md on disk, with its earlier versions and the record of what we wrote into it.

Everything here is called with the workspace's lock held, except by `verifying`, which only reads.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from worker.adapters.files import own_file, permissions, read_if_there, remove, write_atomically
from worker.core.memory import MemoryRecord, forgotten, parse, without_session
from worker.errors import StoreError

KEPT_VERSIONS = 20


class MemoryFile:
    """The long-term facts of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._folder = workspace / ".afterturn" / "memory"
        self._record = self._folder / "record.json"

    def text(self) -> str:
        """The file as it is; bytes that are no UTF-8 are surrogate escapes, so that they can be given back."""
        return (read_if_there(self._path()) or b"").decode("utf-8", "surrogateescape")

    def write(self, text: str, *, now: datetime) -> bool:
        """True when the file changed; what it was is kept among the last versions, and its permissions stay."""
        path = self._path()
        before = read_if_there(path) or b""
        after = text.encode("utf-8", "surrogateescape")
        if after == before:
            return False
        if before:
            self._keep_version(before, now)
        return write_atomically(path, after, mode=permissions(path))

    def record(self) -> MemoryRecord:
        """Raises: StoreError when the file is damaged."""
        data = read_if_there(self._record)
        if data is None:
            return MemoryRecord()
        try:
            return _record_type().validate_json(data)
        except ValidationError as exc:
            hint = "remove it (bullets that people deleted may come back once)"
            raise StoreError(f"{self._record}: damaged; {hint}") from exc

    def write_record(self, record: MemoryRecord) -> None:
        data = _record_type().dump_json(record)
        if read_if_there(self._record) != data:
            write_atomically(self._record, data)

    def forget(self, session: str, ids: Iterable[str], *, now: datetime) -> None:
        """Takes out the bullets of a session, named by its label, here and in the earlier versions.

        ids: of all items that the session ever had. The record comes first: a bullet that left the file and stands in
        the record would count as deleted by a person.
        """
        text = self.text()
        going = {bullet.id for bullet in parse(text).bullets if bullet.session == session}
        self.write_record(forgotten(self.record(), going.union(ids)))
        self.write(without_session(parse(text), session).render(), now=now)
        for path in self._folder.glob("*.md"):
            before = (read_if_there(path) or b"").decode("utf-8", "surrogateescape")
            after = without_session(parse(before), session).render()
            if after != before:
                write_atomically(path, after.encode("utf-8", "surrogateescape"))

    def _keep_version(self, data: bytes, now: datetime) -> None:
        name = f"{now:%Y%m%dT%H%M%S.%fZ}-{hashlib.sha256(data).hexdigest()[:8]}.md"
        write_atomically(self._folder / name, data)
        for old in sorted(self._folder.glob("*.md"))[:-KEPT_VERSIONS]:
            remove(old)

    def _path(self) -> Path:
        return own_file(self._workspace, "MEMORY.md")


@cache
def _record_type() -> TypeAdapter[MemoryRecord]:
    return TypeAdapter(MemoryRecord)
