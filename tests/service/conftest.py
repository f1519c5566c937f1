"""A workplace: one folder, one Redis, sessions on disk, jobs handed in, and attempts at them in this process or in real
worker processes. `worker_process.py` beside this is what such a process runs.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from worker import wiring
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis
from worker.adapters.sessions import FileCheckpoints
from worker.attempts import attempt
from worker.config import Settings
from worker.consolidate import Tools
from worker.core.checkpoint import Checkpoint
from worker.core.job import Ending, Job, JobRequest, Kind, Trigger
from worker.ports import Model
from worker.service import Service

ROOT = Path(__file__).parents[2]
RULE = "Never change the database schema."


class Clockwork:
    """The real time, moved ahead at will."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


class Transcript:
    """A Claude Code session on disk that grows turn by turn."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = 0

    def turns(self, count: int, *, words: int = 40) -> "Transcript":
        for _ in range(count):
            number = self._rows // 2
            self._row("user", f"{RULE} Work on T-{100 + number}.")
            self.says(f"Step {number}: " + " ".join(f"word{number}x{place}" for place in range(words)))
        return self

    def says(self, text: str) -> None:
        message = {"id": f"m{self._rows}", "role": "assistant", "content": [{"type": "text", "text": text}]}
        self._row("assistant", message)

    def _row(self, kind: str, said: Any) -> None:
        minute = timedelta(minutes=self._rows)
        row = {
            "parentUuid": f"u{self._rows - 1}" if self._rows else None,
            "isSidechain": False,
            "cwd": "/home/dana/orders",
            "sessionId": self.path.stem,
            "type": kind,
            "message": said if isinstance(said, dict) else {"role": kind, "content": said},
            "uuid": f"u{self._rows}",
            "timestamp": (datetime(2026, 1, 23, 3, tzinfo=UTC) + minute).isoformat().replace("+00:00", "Z"),
        }
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        self._rows += 1


@dataclass(slots=True, kw_only=True)
class Workplace:
    """model: what attempts in this process ask, behind all that workers share; None works without one."""

    root: Path
    link: RedisLink
    clock: Clockwork = field(default_factory=Clockwork)
    model: Model | None = None
    settings: Settings
    during: Callable[[str], None] | None = None

    @property
    def service(self) -> Service:
        return Service.over(self.link, self.settings, make_tools=self._tools, clock=self.clock)

    def transcript(self, name: str = "s1") -> Transcript:
        return Transcript(self.root.parent / f"{name}.jsonl")

    def request(self, transcript: Transcript, **fields: Any) -> JobRequest:
        """For everything in the session, as at its end."""
        wish = JobRequest(
            submission=token_hex(8),
            kind=Kind.CONSOLIDATE,
            workspace=str(self.root),
            submitted_at=self.clock.now(),
            transcript=str(transcript.path),
            trigger=Trigger.SESSION_END,
            seal_all=True,
        )
        return replace(wish, **fields)

    def hand_in(self, transcript: Transcript, **fields: Any) -> str:
        return self.service.desk.submit(self.request(transcript, **fields), self.clock.now(), 0.0)

    def take(self) -> list[str]:
        """What a dispatcher would send now."""
        return [claim.job for claim in self.service.desk.claim_due(self.clock.now())]

    def work(self, transcript: Transcript, **fields: Any) -> Ending | None:
        """Hands a job in and makes one attempt at it."""
        job = self.hand_in(transcript, **fields)
        assert job in self.take()
        return attempt(self.service, job)

    def job(self, job_id: str) -> Job:
        found = self.service.desk.status(job_id)
        assert found is not None
        return found

    def chain(self, session: str = "claude-code--s1") -> list[Checkpoint]:
        return FileCheckpoints(self.root).chain(session)

    def events(self) -> list[str]:
        return [event.name for event in self.service.events.read()]

    def _tools(self, *given: Any, progress: Any, around_model: Callable[[Model], Model], **more: Any) -> Tools:
        heard = _Overheard(progress, lambda stage: self.during(stage) if self.during else None)
        tools = wiring.tools_for(*given, progress=heard, **more)
        if self.model is None:
            return tools
        asker = wiring._asker(around_model(self.model), given[0], self.settings, heard)
        return replace(tools, asker=replace(asker, retries=0))


class _Overheard:
    def __init__(self, progress: Any, during: Callable[[str], None]) -> None:
        self._progress = progress
        self._during = during

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        self._during(stage)
        self._progress.report(stage, done, total, tokens)


@pytest.fixture
def place(tmp_path: Path, redis_link: RedisLink) -> Workplace:
    settings = Settings.from_env({"AFTERTURN_WORKSPACE": str(tmp_path / "w"), "AFTERTURN_TIMEZONE": "UTC"})
    return Workplace(root=tmp_path / "w", link=redis_link, settings=settings)


# Real processes.


@dataclass(slots=True)
class Process:
    """One of ours, with what it says in a file."""

    popen: "subprocess.Popen[bytes]"
    log: Path

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()

    def stop(self, seconds: float = 30.0) -> int:
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(seconds)

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")


@dataclass(slots=True, kw_only=True)
class Factory:
    """A workspace with a Redis of its own, and real processes over it; all are ended with the test."""

    root: Path
    processes: list[Process] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)
    redis: EmbeddedRedis

    @property
    def run(self) -> Path:
        return self.root / ".afterturn"

    @property
    def settings(self) -> Settings:
        return Settings.from_env({name: value for name, value in self.variables.items() if name.startswith("AFTER")})

    @property
    def variables(self) -> dict[str, str]:
        ours = {
            "PYTHONPATH": str(ROOT),
            "AFTERTURN_WORKSPACE": str(self.root),
            "AFTERTURN_TIMEZONE": "UTC",
            "AFTERTURN_LOG_LEVEL": "info",
            "HOME": str(self.root.parent),
        }
        return {**os.environ, **ours, **self.environ}

    @property
    def place(self) -> Workplace:
        """The same workspace, for looking at it and for handing in."""
        link = Service.connect(self.settings).link
        return Workplace(root=self.root, link=link, settings=self.settings)

    def afterturn(self, *arguments: str, **variables: str) -> Process:
        return self._start([sys.executable, "-m", "worker", *arguments], variables)

    def worker(self, **variables: str) -> Process:
        """A worker that is slow, dies or is taken for dead as the variables say; see `worker_process.py`."""
        return self._start([sys.executable, str(Path(__file__).with_name("worker_process.py"))], variables)

    def script(self, text: str) -> Process:
        return self._start([sys.executable, "-c", text], {})

    def end(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.popen.send_signal(signal.SIGCONT)
            process.kill()
        self._end_redis()

    def _end_redis(self) -> None:
        """Also one that an `up` left behind that was killed."""
        self.redis.stop()
        if self.redis.is_running():
            self.redis.start()
            self.redis.stop()

    def _start(self, command: list[str], variables: dict[str, str]) -> Process:
        log = self.root.parent / f"process-{len(self.processes)}.log"
        with log.open("wb") as stream:
            popen = subprocess.Popen(
                command,
                env={**self.variables, **variables},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                cwd=self.root.parent,
            )
        self.processes.append(Process(popen, log))
        return self.processes[-1]


@pytest.fixture
def factory(tmp_path: Path, redis_server: str) -> Iterator[Factory]:
    """Its Redis is not started yet. redis_server: skipped where there is none."""
    made = Factory(root=tmp_path / "w", redis=EmbeddedRedis(tmp_path / "w" / ".afterturn"))
    yield made
    made.end()


Until = Callable[..., None]


@pytest.fixture
def until() -> Until:
    """`until(condition)`: waits for it, and fails with what it is called when it does not come."""

    def wait(condition: Callable[[], object], seconds: float = 40.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"did not come in {seconds:g} s"
            time.sleep(0.05)

    return wait


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
