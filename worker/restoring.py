"""Reads the files that a session was working on again, as they are now, for the agent's next request.

Paths come from a transcript, and nothing in a transcript is trusted: a file is opened only below the session's own
folder, step by step without following a link, and only when it is a plain file. Secrets are replaced, files that are
made to hold them are not read at all.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from worker.core.handover import FileShown
from worker.core.secrets import redact
from worker.core.tokens import estimate_tokens
from worker.core.touched import Touched

FILE_TOKENS = 5_000
SMALLEST_TOKENS = 100
"""With less room left no further file is begun."""
READ_BYTES = 1 << 20
"""Of a larger file only the beginning is read; whether it changed is then not known."""

_HOLDS_SECRETS = re.compile(
    r"(?i)(?:^|/)(?:\.env(?:\.(?!example$|sample$|template$|dist$)[^/]*)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|"
    r"id_(?:rsa|dsa|ecdsa|ed25519)|credentials(?:\.\w+)?|secrets?\.(?:ya?ml|json|toml|env|txt)|"
    r"[^/]*\.(?:pem|key|p12|pfx|jks|kdbx|keystore))$|(?:^|/)\.(?:ssh|aws|gnupg|kube|docker)/"
)


class _NotReadable(Exception):
    """Why a file is not shown, in words for the agent."""


def restore_files(
    root: Path, touched: Sequence[Touched], *, budget_tokens: int, file_tokens: int = FILE_TOKENS
) -> list[FileShown]:
    """The files below `root`, in the order given, until `budget_tokens` are used; nothing for a root that is not there.

    Never raises for a file: what cannot be shown says why.
    """
    if not root.is_dir() or root.resolve() == Path(root.resolve().anchor):
        return []
    restored: list[FileShown] = []
    room = budget_tokens
    for one in touched:
        if room < SMALLEST_TOKENS:
            break
        found = _restore(root.resolve(), one, min(file_tokens, room))
        restored.append(found)
        room -= estimate_tokens(found.text or "")
    return restored


def changed_since(root: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Of files by path and hash those that are others now, with their hash now, "" for one that cannot be read."""
    now = {path: _fingerprint(root, path) for path in known} if known and root.is_dir() else {}
    return {path: sha256 for path, sha256 in now.items() if sha256 != known[path]}


def _fingerprint(root: Path, path: str) -> str:
    try:
        data, _ = _read(root.resolve(), path)
    except _NotReadable:
        return ""
    return hashlib.sha256(data).hexdigest()


def _restore(root: Path, touched: Touched, room: int) -> FileShown:
    try:
        data, is_whole = _read(root, touched.path)
    except _NotReadable as exc:
        return FileShown(path=touched.path, reason=str(exc))
    text = data.decode("utf-8", "replace")
    changed = None if touched.content is None or not is_whole else _hash(text) != _hash(touched.content)
    shown, lines_left_out = _cut(redact(text), room)
    sha256 = hashlib.sha256(data).hexdigest()
    return FileShown(path=touched.path, text=shown, changed=changed, lines_left_out=lines_left_out, sha256=sha256)


def _hash(text: str) -> str:
    """Line breaks at the end do not count: reading tools print none or one more."""
    return hashlib.sha256(text.rstrip("\r\n").encode("utf-8", "replace")).hexdigest()


def _read(root: Path, path: str) -> tuple[bytes, bool]:
    """The bytes, and whether they are the whole file."""
    with _opened(root, path) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _NotReadable("is no plain file")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(READ_BYTES + 1)
    if b"\0" in data:
        raise _NotReadable("is binary")
    return data[:READ_BYTES], len(data) <= READ_BYTES


@contextmanager
def _opened(root: Path, path: str) -> Iterator[int]:
    """A descriptor of the file, reached from `root` by steps that follow no link once the path is resolved."""
    steps = _steps(root, path)
    with _errors():
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for at, step in enumerate(steps):
            kind = os.O_DIRECTORY if at < len(steps) - 1 else os.O_NONBLOCK
            with _errors():
                below = os.open(step, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _steps(root: Path, path: str) -> tuple[str, ...]:
    with _errors():
        real = (root / path).resolve()
    if not real.is_relative_to(root) or real == root:
        raise _NotReadable("lies outside of the project")
    if _HOLDS_SECRETS.search(path) or _HOLDS_SECRETS.search(real.relative_to(root).as_posix()):
        raise _NotReadable("may hold secrets")
    return real.relative_to(root).parts


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise _NotReadable("is not there any more") from None
    except (OSError, ValueError, RuntimeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "no usable path"
        raise _NotReadable(f"cannot be read ({reason})") from None


def _cut(text: str, tokens: int) -> tuple[str, int]:
    """The first lines that fit, and how many lines follow."""
    shown = text
    while (needed := estimate_tokens(shown)) > tokens:
        shorter = shown[: min(len(shown) - 1, int(len(shown) * tokens / needed))]
        shown = shorter[: shorter.rfind("\n") + 1] if "\n" in shorter else shorter
    return shown, len(text[len(shown) :].splitlines())
