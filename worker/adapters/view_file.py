"""`sessions/<session key>/view.json`: what earlier views settled, and `archive/`: older turns as readable files.

A record that cannot be used costs a prompt cache, never a view: it is told, and the next view begins anew.
"""

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from worker.adapters.files import locked, read_if_there, remove, storage_errors, write_atomically
from worker.core.decisions import SCHEMA, Decisions
from worker.core.session_key import is_session_key
from worker.core.summary import HANDLE_CHARS
from worker.errors import StorageUnavailable, StoreError, UsageError

LOCK_WAIT_SECONDS = 2.0

_HANDLE = re.compile(rf"(?<=\[artifact )[0-9a-f]{{{HANDLE_CHARS}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the file holds. data: its bytes, None when there is none. problem: why they are not used, None when they
    are.
    """

    decisions: Decisions
    data: bytes | None
    problem: str | None = None


class ViewFile:
    """The record of one session."""

    def __init__(self, workspace: Path, session_key: str) -> None:
        if not is_session_key(session_key):
            raise UsageError(f"{session_key[:80]!r} is no session key; 'afterturn status' lists them")
        self._folder = workspace / "sessions" / session_key
        self._lock = self._folder / "view.lock"
        self._archive = self._folder / "archive"
        self.path = self._folder / "view.json"

    def load(self) -> Kept:
        """What was settled; nothing where the file is missing, unreadable, damaged, or of a newer version."""
        try:
            data = read_if_there(self.path)
        except (StorageUnavailable, StoreError) as exc:
            return Kept(decisions=Decisions(), data=None, problem=str(exc))
        if data is None:
            return Kept(decisions=Decisions(), data=None)
        try:
            fields = orjson.loads(data)
            if isinstance(fields, dict) and isinstance(fields.get("schema"), int) and fields["schema"] > SCHEMA:
                problem = f"{self.path}: written by a newer Afterturn; this view began anew"
                return Kept(decisions=Decisions(), data=data, problem=problem)
            return Kept(decisions=_decisions_type().validate_python(fields), data=data)
        except (orjson.JSONDecodeError, ValidationError):
            problem = f"{self.path}: damaged or not ours; this view began anew"
            return Kept(decisions=Decisions(), data=data, problem=problem)

    def store(self, decisions: Decisions, kept: Kept) -> bool:
        """False when another process has written since `kept` was loaded; then nothing is changed.

        Raises: StorageUnavailable, StoreError, SessionBusy.
        """
        data = orjson.dumps(decisions, option=orjson.OPT_NON_STR_KEYS) + b"\n"
        if data == kept.data:
            return True
        with locked(self._lock, wait_seconds=LOCK_WAIT_SECONDS):
            if read_if_there(self.path) != kept.data:
                return False
            return write_atomically(self.path, data)

    def named_handles(self) -> set[str]:
        """The beginnings of the handles that the settled texts name, as the agent was told them."""
        data = read_if_there(self.path) or b""
        return set(_HANDLE.findall(data.decode("utf-8", "replace")))

    def retire(self, *, older_than: datetime) -> None:
        """Removes record and archive when no view was settled since: the next one begins anew, whatever it cost."""
        with storage_errors(self._folder), suppress(FileNotFoundError):
            if datetime.fromtimestamp(self.path.stat().st_mtime, UTC) >= older_than:
                return
            with locked(self._lock, wait_seconds=LOCK_WAIT_SECONDS):
                remove(self.path)
                for path in sorted(self._archive.glob("*.md")):
                    remove(path)

    def archive(self, name: str, text: str) -> Path:
        """The file with older turns, written; the same text has the same name, and is written once."""
        path, data = self.archive_path(name, text), _bytes(text)
        if read_if_there(path) != data:
            write_atomically(path, data)
        return path

    def archive_path(self, name: str, text: str) -> Path:
        """Where `archive` would put it."""
        return self._archive / f"{name}-{hashlib.sha256(_bytes(text)).hexdigest()[:8]}.md"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


@cache
def _decisions_type() -> TypeAdapter[Decisions]:
    return TypeAdapter(Decisions)
