"""Part answers that were paid for, as files in `.afterturn/parts/`: one per key, safe to delete at any time.

The text must come redacted. A file that is damaged, torn or not ours is a miss: asking again costs a request, believing
it could cost the truth.
"""

import hashlib
import time
from pathlib import Path

from worker.adapters.files import read_if_there, remove, storage_errors, write_atomically

LIFE_SECONDS = 30 * 24 * 3600


class FileParts:
    """`worker.ports.Parts` in a workspace."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / ".afterturn" / "parts"

    def get(self, key: str) -> str | None:
        """The answer kept under the key, None when there is none or it is damaged."""
        data = read_if_there(self._path(key))
        checksum, _, answer = (data or b"").partition(b"\n")
        return answer.decode("utf-8") if checksum == _checksum(answer) else None

    def put(self, key: str, answer: str) -> None:
        """Raises: StorageUnavailable; then nothing is left behind."""
        data = answer.encode("utf-8", "replace")
        write_atomically(self._path(key), _checksum(data) + b"\n" + data)

    def sweep(self, *, older_than_seconds: float = LIFE_SECONDS) -> int:
        """Deletes answers that nobody came back for; how many."""
        newest = time.time() - older_than_seconds
        with storage_errors(self._folder):
            stale = [path for path in self._folder.glob("*") if path.is_file() and path.stat().st_mtime < newest]
            for path in stale:
                remove(path)
        return len(stale)

    def clear(self) -> int:
        """Deletes all answers: their names do not tell from which session they are."""
        return self.sweep(older_than_seconds=-LIFE_SECONDS)

    def _path(self, key: str) -> Path:
        """By the key's hash: whatever a key is made of, it names a file in this folder and no other."""
        return self._folder / hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
