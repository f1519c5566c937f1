"""Summaries that agents wrote of their own sessions, kept as evidence and not as truth.

    WORKSPACE/.afterturn/agent-summaries/<session key>/20261129T140203000000Z-3f0c….txt

An agent hands one over after it has compacted its context. Here it waits, without its secrets, for whoever consolidates
the session. The newest few of each session stay.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from worker.adapters.files import read_if_there, remove, storage_errors, write_atomically
from worker.core.secrets import redact

MAX_CHARS = 200_000
"""The longest of 87 real ones has 24,500."""

KEPT_PER_SESSION = 5

_TIME = "%Y%m%dT%H%M%S%fZ"
_NAME = re.compile(r"([0-9]{8}T[0-9]{12}Z)-([0-9a-f]{24})\.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSummary:
    """taken_at: when the agent handed it over."""

    taken_at: datetime
    text: str


class AgentSummaries:
    """Those of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._root = workspace / ".afterturn" / "agent-summaries"

    def keep(self, session_key: str, text: str, taken_at: datetime) -> bool:
        """False when there is no text, or the same one is kept already.

        Raises: StorageUnavailable; then nothing is left behind.
        """
        data = redact(text[:MAX_CHARS].strip()).encode("utf-8", "replace")
        names = self._names(session_key)
        digest = hashlib.sha256(data).hexdigest()[:24]
        if not data or any(digest in name for name in names):
            return False
        name = f"{taken_at.astimezone(UTC).strftime(_TIME)}-{digest}.txt"
        write_atomically(self._root / session_key / name, data)
        for old in sorted([*names, name])[:-KEPT_PER_SESSION]:
            remove(self._root / session_key / old)
        return True

    def of_session(self, session_key: str) -> list[AgentSummary]:
        """Newest first; a file that is damaged is not among them."""
        found = (self._read(session_key, name) for name in reversed(self._names(session_key)))
        return [summary for summary in found if summary is not None]

    def sweep(self, *, older_than: datetime) -> int:
        """Deletes what was handed over before that moment; how many."""
        limit = older_than.astimezone(UTC).strftime(_TIME)
        with storage_errors(self._root):
            stale = [path for path in self._root.glob("*/*.txt") if _NAME.fullmatch(path.name) and path.name < limit]
        for path in stale:
            remove(path)
        return len(stale)

    def forget(self, session_key: str) -> None:
        """Deletes all of a session."""
        for name in self._names(session_key):
            remove(self._root / session_key / name)

    def _names(self, session_key: str) -> list[str]:
        folder = self._root / session_key
        with storage_errors(folder):
            return sorted(path.name for path in folder.glob("*.txt") if _NAME.fullmatch(path.name))

    def _read(self, session_key: str, name: str) -> AgentSummary | None:
        stamp, _, digest = name.removesuffix(".txt").partition("-")
        data = read_if_there(self._root / session_key / name)
        if data is None or hashlib.sha256(data).hexdigest()[:24] != digest:
            return None
        return AgentSummary(taken_at=datetime.strptime(stamp, _TIME).replace(tzinfo=UTC), text=data.decode("utf-8"))
