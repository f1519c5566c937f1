"""Checkpoints to store, and a way to be killed at every step of a write."""

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from worker.adapters.redis_server import EmbeddedRedis
from worker.adapters.sessions import FileCheckpoints
from worker.core.checkpoint import (
    Checkpoint,
    Cursor,
    ModelUse,
    SessionRef,
    SourceRange,
    Status,
    Validation,
)
from worker.core.ledger import Ledger
from worker.core.summary import Memory, MemoryKind, Summary, UserMessage, with_id

CheckpointMaker = Callable[..., Checkpoint]
Killer = Callable[[int, Callable[[], object]], bool]

STEPS = ("mkdir", "open", "fsync", "replace", "link", "unlink", "fdopen")


@pytest.fixture
def make_checkpoint() -> CheckpointMaker:
    """The checkpoint of a number in which a person stated a preference: `make_checkpoint(2, parent=first.id)`."""

    def make(
        number: int = 1, *, parent: str | None = None, session: str = "claude-code--0f3a", said: str | None = None
    ) -> Checkpoint:
        words = said or f"I prefer theme t{number}x{session.rpartition('-')[2]}"
        message = UserMessage(id=f"m{10 * number}", text=words)
        memory = with_id(Memory(kind=MemoryKind.PREFERENCE, text=words, evidence=(message.id,)))
        return Checkpoint(
            number=number,
            parent=parent,
            created_at=datetime(2026, 11, 1, 6, 0, tzinfo=UTC) + timedelta(hours=number),
            session=SessionRef(key=session, agent="claude-code", id="0f3a", source="s.jsonl"),
            range=SourceRange(start=10 * number, end=10 * number + 10, sha256="0" * 64),
            covered=10 * number + 10,
            status=Status.OK,
            summary=Summary(request=f"Request {number} of {session}.", memories=(memory,)),
            ledger=Ledger(user_messages=(message,)),
            validation=Validation(),
            model=ModelUse(),
            savings={},
            tokens_before=10,
            tokens_after=5,
            cursor=Cursor(format="plain", index=10 * number + 10),
        )

    return make


CommitChain = Callable[..., list[Checkpoint]]


@pytest.fixture
def commit_chain(make_checkpoint: CheckpointMaker) -> CommitChain:
    """Commits `count` more checkpoints of a session; gives those, as they are stored."""

    def commit(workspace: Path, count: int, session: str = "claude-code--0f3a") -> list[Checkpoint]:
        store = FileCheckpoints(workspace)
        made = []
        for _ in range(count):
            latest = store.latest(session)
            number, parent = (latest.number + 1, latest.id) if latest else (1, None)
            assert store.commit(make_checkpoint(number, parent=parent, session=session))
            made.append(store.load(session, number))
        return made

    return commit


@pytest.fixture
def killed_at() -> Killer:
    """`killed_at(n, act)`: runs `act` in a process that kills itself before its n-th step; False when it got through.

    Steps are the calls that change a disk; writing a file is two, so that files are also left half written.
    """

    def run(step: int, act: Callable[[], object]) -> bool:
        child = os.fork()
        if child == 0:
            _die_at(step)
            try:
                act()
            except BaseException:  # noqa: BLE001  the parent has to hear of it, whatever it is
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the act failed by itself"
        return os.WIFSIGNALED(status)

    return run


def _die_at(step: int) -> None:
    """Wraps the calls of this process, which is a fork and never comes back."""
    left = iter(range(step - 1, -1, -1))

    def count() -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            count()
            return call(*args, **kwargs)

        return wrapped

    class HalfWriter:
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self._stream.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

        def write(self, data: bytes) -> None:
            self._stream.write(data[: len(data) // 2])
            self._stream.flush()
            count()
            self._stream.write(data[len(data) // 2 :])

    real_fdopen = os.fdopen
    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    os.fdopen = lambda *args, **kwargs: HalfWriter(real_fdopen(*args, **kwargs))  # type: ignore[assignment]


@pytest.fixture
def own_redis(redis_server: str, tmp_path: Path) -> Iterator[EmbeddedRedis]:
    """A Redis of this test's own, to be killed, frozen and filled; it is started."""
    server = EmbeddedRedis(tmp_path / "own")
    server.start()
    yield server
    if server.pid is not None:
        os.kill(server.pid, signal.SIGCONT)
    server.stop()


InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]


@pytest.fixture
def in_processes() -> InProcesses:
    """`in_processes(n, act)`: what `act(0)` … `act(n - 1)` gave (plain JSON), each in a process, all let go at once."""

    def run(count: int, act: Callable[[int], Any]) -> list[Any]:
        gate_read, gate_write = os.pipe()
        children = [_child(act, number, gate_read, gate_write) for number in range(count)]
        os.close(gate_read)
        os.close(gate_write)
        return [_result_of(pid, answer) for pid, answer in children]

    return run


def _child(act: Callable[[int], Any], number: int, gate_read: int, gate_write: int) -> tuple[int, int]:
    answer_read, answer_write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(answer_write)
        return pid, answer_read
    os.close(gate_write)
    os.read(gate_read, 1)  # until the parent closed its end
    try:
        os.write(answer_write, json.dumps(act(number)).encode())
    finally:
        os._exit(0)


def _result_of(pid: int, answer: int) -> Any:
    with os.fdopen(answer, "rb") as stream:
        data = stream.read()
    os.waitpid(pid, 0)
    assert data, "a process died of an error"
    return json.loads(data)


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """As `tmp_path`, in memory where that exists: a kill is no power failure, and syncing a real disk takes time."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KB. Only root can mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=128k tmpfs '{folder}' 2>/dev/null"):  # noqa: S605
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        os.system(f"umount -l '{folder}'")  # noqa: S605
