"""Writing to a disk that may be full, shared or switched off: old bytes or new bytes, never a mixture.

Everything that Afterturn keeps goes through `write_atomically` or `append_durably`. What the bytes mean is known by
`sessions` and `projections`.
"""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from worker.errors import AfterturnError, SessionBusy, StorageUnavailable, StoreError

FILE_MODE = 0o600
FOLDER_MODE = 0o700
TEMPORARY_LIFE_SECONDS = 3600.0
PIECE_BYTES = 1 << 13

_TEMPORARY_NAME = re.compile(r"\.afterturn-[0-9]+-[0-9a-f]{16}\.tmp")

_NEXT_STEPS = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "the quota is used up: free some space and run it again",
    errno.EFBIG: "files may not grow that large here: raise the limit and run it again",
    errno.EROFS: "make the file system writable or choose another workspace",
    errno.EACCES: "give this user the right to it or choose another workspace",
    errno.EPERM: "give this user the right to it or choose another workspace",
}
_WILL_FAIL_AGAIN = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL}
_NO_HARD_LINKS = {errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EXDEV, errno.ENOSYS}


def write_atomically(path: Path, data: bytes, *, exclusive: bool = False, mode: int = FILE_MODE) -> bool:
    """True when `path` now holds `data`; False when `exclusive` and the file was there before, which then is untouched.

    Missing folders are made. A reader sees the old bytes or the new ones, also when this process is killed or the
    power fails.

    Raises: StorageUnavailable when the disk does not take it, StoreError when the path cannot be a file; then nothing
    is left behind.
    """
    with storage_errors(path):
        make_folder(path.parent)
        temporary = _write_temporary(path.parent, data, mode)
        try:
            if exclusive:
                return _publish_new(temporary, path)
            temporary.replace(path)
            _sync_folder(path.parent)
            return True
        finally:
            temporary.unlink(missing_ok=True)


def append_durably(path: Path, data: bytes) -> None:
    """Puts `data` behind what the file holds by then, whoever wrote it; a missing file is made.

    A kill in the middle leaves a beginning of `data` at the end of the file: the caller has to know how to finish it.
    """
    with storage_errors(path):
        make_folder(path.parent)
        is_new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(descriptor, "ab") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if is_new:
            _sync_folder(path.parent)


def read_if_there(path: Path) -> bytes | None:
    """The bytes of a file, None when there is none."""
    with storage_errors(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def read_bounded(path: Path, max_bytes: int, *, from_end: bool = False) -> bytes | None:
    """The first `max_bytes` of a file, or its last ones; None when there is none.

    It never waits: a pipe or a device is no file of ours. Raises: StoreError for such, StorageUnavailable.
    """
    with storage_errors(path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise StoreError(f"{path}: no file; move what is in the way")
            stream.seek(max(0, found.st_size - max_bytes) if from_end else 0)
            return stream.read(max_bytes)


def read_in_pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, some whole lines at a time, not much more than `PIECE_BYTES`; none when it is not there.

    For files that grow as long as they are used: what a reader holds of them stays the same.
    """
    with storage_errors(path), suppress(FileNotFoundError), path.open("rb") as stream:
        while piece := stream.read(PIECE_BYTES) + stream.readline():
            yield piece


def remove(path: Path) -> None:
    """Takes a file away; one that is not there is no error."""
    with storage_errors(path):
        path.unlink(missing_ok=True)


def own_file(workspace: Path, name: str) -> Path:
    """Where a file of ours really is. A link is followed inside the workspace only: nothing we write goes elsewhere.

    Raises: StoreError for a link that leads out.
    """
    path = workspace / name
    with storage_errors(path):
        if not path.is_symlink():
            return path
        target = Path(os.path.realpath(path))  # resolve() raises no OSError for links that lead in circles
        if not target.is_relative_to(os.path.realpath(workspace)):
            raise StoreError(f"{path}: a link that leads out of the workspace; put a file in its place")
        return target


def permissions(path: Path) -> int:
    """The permission bits that a file has, those of a new file when there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return FILE_MODE


def sweep_temporary(root: Path, *, older_than_seconds: float = TEMPORARY_LIFE_SECONDS) -> int:
    """How many files of writers that died were removed below `root`.

    Age decides, not the writer's process id: ids mean nothing between the containers that share a folder, and nobody
    writes one file for an hour.
    """
    newest = time.time() - older_than_seconds
    swept = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if _TEMPORARY_NAME.fullmatch(name) and _remove_if_older(Path(folder, name), newest):
                swept += 1
    return swept


@contextmanager
def locked(path: Path, *, wait_seconds: float) -> Iterator[None]:
    """Holds the lock file `path`; the kernel gives it back when the process dies.

    Raises: SessionBusy when another process holds it longer than `wait_seconds`.
    """
    from filelock import FileLock, Timeout  # half of what a hook would load, and a hook takes no lock

    with storage_errors(path):
        make_folder(path.parent)
        lock = FileLock(path, timeout=wait_seconds, mode=FILE_MODE, poll_interval=0.01)
        try:
            lock.acquire()
        except Timeout as exc:
            raise SessionBusy(f"{path}: held by another process for {wait_seconds:g} s; try again") from exc
    try:
        yield
    finally:
        lock.release()


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Maps an OSError of the block to ours, as one line that names the path and what to do."""
    try:
        yield
    except AfterturnError:
        raise
    except OSError as exc:
        raise storage_error(path, exc) from exc


def storage_error(path: Path, exc: OSError) -> StorageUnavailable | StoreError:
    reason = exc.strerror or type(exc).__name__
    if exc.errno in _WILL_FAIL_AGAIN:
        return StoreError(f"{path}: {reason}; choose another workspace or move what is in the way")
    return StorageUnavailable(f"{path}: {reason}; {_NEXT_STEPS.get(exc.errno or 0, 'try again')}")


def make_folder(folder: Path) -> None:
    """The folder and all above it; each new one is private and survives a power failure."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
        return
    _sync_folder(folder.parent)


def _write_temporary(folder: Path, data: bytes, mode: int) -> Path:
    path = folder / f".afterturn-{os.getpid()}-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if mode != FILE_MODE:
                os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _publish_new(temporary: Path, path: Path) -> bool:
    """A link fails when the name exists, a rename would not: that is the whole compare-and-swap."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as exc:
        if exc.errno in _NO_HARD_LINKS:
            raise StoreError(f"{path}: this file system has no hard links; choose another workspace") from exc
        raise
    temporary.unlink()
    _sync_folder(path.parent)
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as exc:
        # Network file systems that cannot sync a folder say so; there is nothing more to do for them.
        if exc.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _remove_if_older(path: Path, newest: float) -> bool:
    with suppress(OSError):
        if path.lstat().st_mtime < newest:
            path.unlink()
            return True
    return False
