"""Checkpoints and artifacts as files below one workspace's `sessions/`.

A checkpoint's id is the sha256 of its own JSON without the id, in sorted compact form, and is computed again from the
stored bytes at every read. So a changed digit is found, and a field that a later version adds changes no old id.
"""

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from worker.adapters.files import read_if_there, remove, storage_errors, write_atomically
from worker.core.checkpoint import SCHEMA, Checkpoint
from worker.core.session_key import is_session_key
from worker.core.summary import Artifact
from worker.errors import StoreError, UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_JSON = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC
_FILE_NAME = re.compile(r"([0-9]{6,})\.json")
_HANDLE = re.compile(r"[0-9a-f]{64}")

MAX_LISTED = 20_000
"""Sessions that are looked at for the newest: somebody waits for the answer."""


def session_folders(root: Path) -> list[str]:
    """The keys of all sessions of which anything is kept, sorted.

    Also those without a checkpoint: only ever viewed, or killed before the first one.
    """
    folder = root / "sessions"
    with storage_errors(folder):
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if is_session_key(path.name) and path.is_dir())


class FileCheckpoints:
    """`ports.Checkpoints` over `sessions/<session key>/checkpoints/000001.json …`."""

    def __init__(self, workspace: Path) -> None:
        self._sessions = workspace / "sessions"

    def sessions(self) -> list[str]:
        """The keys of all sessions that have a checkpoint, sorted."""
        return [name for name in session_folders(self._sessions.parent) if self.newest_number(name)]

    def recent(self, limit: int) -> list[str]:
        """The keys of the sessions whose chains changed last, newest first; only folders are looked at."""
        found = []
        with storage_errors(self._sessions), suppress(FileNotFoundError), os.scandir(self._sessions) as entries:
            for entry in islice(entries, MAX_LISTED):
                if is_session_key(entry.name):
                    with suppress(FileNotFoundError, NotADirectoryError):
                        found.append((Path(entry.path, "checkpoints").stat().st_mtime_ns, entry.name))
        return [name for _, name in sorted(found, reverse=True)[:limit]]

    def path(self, session_key: str, number: int) -> Path:
        return self._folder(session_key) / f"{number:06d}.json"

    def numbers(self, session_key: str) -> list[int]:
        """The numbers of the checkpoint files of a session, ascending; nothing is opened."""
        folder = self._folder(session_key)
        with storage_errors(folder):
            if not folder.is_dir():
                return []
            matches = (_FILE_NAME.fullmatch(path.name) for path in folder.iterdir())
            return sorted(int(match[1]) for match in matches if match)

    def newest_number(self, session_key: str) -> int | None:
        numbers = self.numbers(session_key)
        return numbers[-1] if numbers else None

    def latest(self, session_key: str) -> Checkpoint | None:
        """The newest checkpoint, None for a new session. Reads one file however long the chain is.

        Raises: StoreError when the file is damaged or written by a newer version.
        """
        number = self.newest_number(session_key)
        return None if number is None else self.load(session_key, number)

    def load(self, session_key: str, number: int) -> Checkpoint:
        """Raises: StoreError when the file is missing, damaged or written by a newer version."""
        path = self.path(session_key, number)
        data = read_if_there(path)
        if data is None:
            raise StoreError(f"{path}: no such checkpoint; 'afterturn verify' lists what the chain lacks")
        return decode(data, path)

    def chain(self, session_key: str) -> list[Checkpoint]:
        """All checkpoints, oldest first. Raises: StoreError as `load`."""
        return [self.load(session_key, number) for number in self.numbers(session_key)]

    def id_of(self, session_key: str, number: int) -> str | None:
        """The id that a checkpoint's file claims, None when there is no such file; far cheaper than `load`."""
        claimed = _id_in(read_if_there(self.path(session_key, number)))
        return claimed if isinstance(claimed, str) else None

    def commit(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Creates the file and gives the checkpoint as `load` would; None when it no longer continues the chain.

        That is: the number is taken, or the checkpoint before it is gone or another. A commit that is repeated, because
        the first try did not hear that it had succeeded, succeeds again.

        Raises: StorageUnavailable, with nothing left behind.
        """
        sealed, data = encode(checkpoint)
        key, number = checkpoint.session.key, checkpoint.number
        if not self._continues(key, number, checkpoint.parent):
            return None
        path = self.path(key, number)
        is_there = write_atomically(path, data, exclusive=True) or _id_in(read_if_there(path)) == sealed.id
        return sealed if is_there else None

    def _continues(self, session_key: str, number: int, parent: str | None) -> bool:
        if number == 1:
            return parent is None
        return parent is not None and self.id_of(session_key, number - 1) == parent

    def _folder(self, session_key: str) -> Path:
        return _session_folder(self._sessions, session_key) / "checkpoints"


class FileArtifacts:
    """`ports.Artifacts` over `sessions/<session key>/artifacts/<sha256>.txt` and `.json`."""

    def __init__(self, workspace: Path) -> None:
        self._sessions = workspace / "sessions"

    def put(self, session_key: str, text: str, artifact: Artifact) -> None:
        """Keeps the text under its handle. What is there already stays, unless its bytes are damaged.

        Raises: StoreError when the handle is not the hash of the text, StorageUnavailable.
        """
        data = text.encode("utf-8", "replace")
        path = self.path(session_key, artifact.handle)
        if hashlib.sha256(data).hexdigest() != artifact.handle:
            raise StoreError(f"{path}: the handle is not the hash of the text; nothing was written")
        if read_if_there(path) != data:
            write_atomically(path, data)
        else:
            # It is wanted anew, and retention counts from now: the checkpoint that names it is not there yet.
            with storage_errors(path):
                path.touch()
        # The description comes last: whoever finds one finds the bytes too.
        if read_if_there(path.with_suffix(".json")) is None:
            write_atomically(path.with_suffix(".json"), _to_json(artifact))

    def get(self, session_key: str, handle: str) -> str:
        """The whole text. Raises: StoreError when it is missing or no longer what was stored."""
        path = self.path(session_key, handle)
        data = read_if_there(path)
        if data is None:
            raise StoreError(f"{path}: no such artifact; 'afterturn show' lists those that are kept")
        if hashlib.sha256(data).hexdigest() != handle:
            raise StoreError(f"{path}: the original changed since it was stored; restore it from a backup")
        return data.decode("utf-8")

    def info(self, session_key: str, handle: str) -> Artifact | None:
        """What is known about an artifact, None when there is none. Raises: StoreError when that file is damaged."""
        path = self.path(session_key, handle).with_suffix(".json")
        data = read_if_there(path)
        if data is None:
            return None
        from pydantic import ValidationError

        try:
            return _artifact_type().validate_python(orjson.loads(data))
        except (ValidationError, orjson.JSONDecodeError) as exc:
            raise StoreError(f"{path}: not an artifact's description; remove it, the text beside it is whole") from exc

    def handles(self, session_key: str) -> list[str]:
        """The handles of all artifacts of a session, sorted."""
        folder = _session_folder(self._sessions, session_key) / "artifacts"
        with storage_errors(folder):
            if not folder.is_dir():
                return []
            return sorted(
                path.stem for path in folder.iterdir() if path.suffix == ".txt" and _HANDLE.fullmatch(path.stem)
            )

    def stored_at(self, session_key: str, handle: str) -> datetime:
        """When the text was last put."""
        path = self.path(session_key, handle)
        with storage_errors(path):
            return datetime.fromtimestamp(path.stat().st_mtime, UTC)

    def remove(self, session_key: str, handle: str) -> None:
        """Takes it away, the description first: whoever finds one finds the bytes too."""
        path = self.path(session_key, handle)
        remove(path.with_suffix(".json"))
        remove(path)

    def path(self, session_key: str, handle: str) -> Path:
        """Raises: UsageError when the handle is not 64 hex digits."""
        if not _HANDLE.fullmatch(handle):
            raise UsageError(f"{handle[:80]!r} is no artifact handle; 64 hex digits are expected")
        return _session_folder(self._sessions, session_key) / "artifacts" / f"{handle}.txt"


def encode(checkpoint: Checkpoint) -> tuple[Checkpoint, bytes]:
    """The checkpoint as it will be read again, with its id, and the bytes of its file."""
    try:
        fields = orjson.loads(orjson.dumps(checkpoint, option=_JSON))
    except orjson.JSONEncodeError:
        fields = orjson.loads(_to_json(checkpoint))
        checkpoint = _checkpoint_type().validate_python(fields)
    fields["id"] = _hash_of(fields)
    return replace(checkpoint, id=fields["id"]), orjson.dumps(fields) + b"\n"


def decode(data: bytes, path: Path) -> Checkpoint:
    """The checkpoint that the bytes of a file hold. Raises: StoreError, naming `path` and what to do."""
    from pydantic import ValidationError

    fields = sealed_fields(data, path)
    try:
        return _checkpoint_type().validate_python(fields)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise StoreError(f"{path}: not a checkpoint ({where}: {first['msg']}); restore it from a backup") from exc


def sealed_fields(data: bytes, path: Path) -> dict[str, Any]:
    """The JSON object of a checkpoint's file, once its hash is the one that it claims; its shape is not looked at.

    Raises: StoreError, naming `path` and what to do.
    """
    fields = _fields(data, path)
    schema = fields.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise StoreError(f"{path}: written by a newer Afterturn (schema {schema}); upgrade this one")
    if fields.get("id") != _hash_of(fields):
        raise StoreError(f"{path}: its content is not what was written; restore it from a backup or remove it")
    return fields


def _fields(data: bytes, path: Path) -> dict[str, Any]:
    try:
        fields = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise StoreError(f"{path}: not JSON ({exc.msg}); restore it from a backup or remove it") from exc
    if not isinstance(fields, dict):
        raise StoreError(f"{path}: not a JSON object; restore it from a backup or remove it")
    return fields


def _hash_of(fields: dict[str, Any]) -> str:
    content = {name: value for name, value in fields.items() if name != "id"}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _id_in(data: bytes | None) -> object:
    """The id that a checkpoint file claims, None when it has none."""
    try:
        fields = orjson.loads(data or b"")
    except orjson.JSONDecodeError:
        return None
    return fields.get("id") if isinstance(fields, dict) else None


def _to_json(value: Any) -> bytes:
    """Compact JSON. UTF-8 cannot hold lone surrogates, and transcripts do: those become U+FFFD."""
    try:
        return orjson.dumps(value, option=_JSON)
    except orjson.JSONEncodeError:
        return orjson.dumps(_without_surrogates(value), option=_JSON)


def _without_surrogates(value: Any) -> Any:
    """Plain JSON values in which two surrogates that belong together are one character and a lone one is U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(name): _without_surrogates(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(inner) for inner in value]
    if is_dataclass(value):
        return {field.name: _without_surrogates(getattr(value, field.name)) for field in fields_of(value)}
    return value


def _session_folder(sessions: Path, session_key: str) -> Path:
    if not is_session_key(session_key):
        raise UsageError(f"{session_key[:80]!r} is no session key; 'afterturn status' lists them")
    return sessions / session_key


# Building a validator takes 0.1 s, and loading pydantic as much: once per process, and only in one that needs them.
@cache
def _checkpoint_type() -> "TypeAdapter[Checkpoint]":
    from pydantic import TypeAdapter

    return TypeAdapter(Checkpoint)


@cache
def _artifact_type() -> "TypeAdapter[Artifact]":
    from pydantic import TypeAdapter

    return TypeAdapter(Artifact)
