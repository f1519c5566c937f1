"""A site: one workspace, its own Redis, a model that counts what it is asked, and worker processes that can be told
where to fail. After whatever happened to them, `Site.faults()` says what is not as it has to be.

AFTERTURN_TEST_FAULTS=full (`make faults`) runs the long forms too: with the waiting times of a real service.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from worker import wiring
from worker.adapters.redis_server import EmbeddedRedis
from worker.adapters.sessions import FileCheckpoints
from worker.config import Settings
from worker.core.checkpoint import Checkpoint
from worker.core.job import Job, JobRequest, Kind, State, Trigger
from worker.errors import BrokerUnavailable
from worker.service import Service
from worker.testing import EMPTY_PART, in_form

ROOT = Path(__file__).parents[2]
IS_FULL = os.environ.get("AFTERTURN_TEST_FAULTS") == "full"
SILENT_SECONDS = 1.5
PATIENCE_SECONDS = 60.0
"""For what comes within seconds, on a machine that does other things too."""


@dataclass(slots=True)
class Forked:
    """A worker process; its parent is the nursery."""

    pid: int
    log: Path

    def is_alive(self) -> bool:
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            return not select.select([descriptor], [], [], 0)[0]
        finally:
            os.close(descriptor)

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""


class Nursery:
    """One process that has loaded everything and forks workers in a moment."""

    def __init__(self, folder: Path) -> None:
        self._errors = (folder / "nursery.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("faulty_worker.py"))],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._lock = threading.Lock()
        self._read()

    def fork(self, log: Path, environ: dict[str, str]) -> Forked:
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps({"log": str(log), "environ": environ}) + "\n")
            self._process.stdin.flush()
            return Forked(int(self._read()), log)

    def close(self) -> None:
        self._process.communicate(timeout=30)
        self._errors.close()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery died; see nursery.log"
        return line.strip()


class Session:
    """A Claude Code transcript: a standing rule, work on tickets in several parts, one output too long to be kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = 0

    def turns(self, count: int) -> "Session":
        for _ in range(count):
            ticket = f"T-{100 + self._rows}"
            self._row("user", f"Never change the database schema. Work on {ticket}.")
            words = " ".join(f"step{self._rows}x{place}" for place in range(70))
            self._row("assistant", [{"type": "text", "text": f"Worked on {ticket}: {words}"}])
        return self

    def long_output(self) -> "Session":
        call = f"toolu_{self._rows}"
        given = {"command": "make logs"}
        self._row("assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": given}])
        text = "\n".join(f"line {number}: level {number * 37}" for number in range(2_500))
        self._row("user", [{"type": "tool_result", "tool_use_id": call, "content": text}])
        self._row("assistant", [{"type": "text", "text": "The logs are long."}])
        return self

    def _row(self, kind: str, content: Any) -> None:
        message = {"role": kind, "content": content} | ({"id": f"msg_{self._rows}"} if kind == "assistant" else {})
        moment = datetime(2026, 1, 23, 3, tzinfo=UTC) + timedelta(minutes=self._rows)
        row = {
            "parentUuid": f"u{self._rows - 1}" if self._rows else None,
            "isSidechain": False,
            "cwd": "/home/dana/orders",
            "sessionId": self.path.stem,
            "type": kind,
            "message": message,
            "uuid": f"u{self._rows}",
            "timestamp": moment.isoformat().replace("+00:00", "Z"),
        }
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        self._rows += 1


@dataclass(slots=True, kw_only=True)
class Site:
    """folder: of this test. root: the workspace. redis: started. answer_seconds: of the model."""

    folder: Path
    root: Path
    redis: EmbeddedRedis
    redis_url: str
    provider: Any
    nursery: Nursery
    environ: dict[str, str] = field(default_factory=dict)
    workers: list[Forked] = field(default_factory=list)
    answer_seconds: float = 0.0
    has_ended: bool = False
    _service: Service | None = None

    @property
    def variables(self) -> dict[str, str]:
        ours = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "NO_PROXY": "127.0.0.1",
            "AFTERTURN_WORKSPACE": str(self.root),
            "AFTERTURN_REDIS_URL": self.redis_url,
            "AFTERTURN_TIMEZONE": "UTC",
            "AFTERTURN_LOG_LEVEL": "info",
            "AFTERTURN_MODEL": "openai/test",
            "AFTERTURN_API_BASE": self.provider.url,
            "AFTERTURN_API_KEY": "sk-test-not-a-key",
            "AFTERTURN_WINDOW_TOKENS": "32000",
            "AFTERTURN_PART_TOKENS": "1000",
            "AFTERTURN_LLM_CONCURRENCY": "1",
            "AFTERTURN_TEST_MARK": str(self.mark),
            "AFTERTURN_TEST_CLOCK": str(self.folder / "clock"),
            "AFTERTURN_TEST_SILENT": str(SILENT_SECONDS),
            "AFTERTURN_TEST_HASTE": "1" if IS_FULL else "10",
        }
        return {**ours, **self.environ}

    @property
    def settings(self) -> Settings:
        return Settings.from_env({name: value for name, value in self.variables.items() if name.startswith("AFTER")})

    @property
    def service(self) -> Service:
        if self._service is None:
            self._service = Service.connect(self.settings)
        return self._service

    @property
    def mark(self) -> Path:
        """There once the fault has happened; it holds the time."""
        return self.folder / "happened"

    def session(self, name: str = "s1") -> Session:
        return Session(self.folder / f"{name}.jsonl")

    def worker(self, **variables: str) -> Forked:
        log = self.folder / f"worker-{len(self.workers)}.log"
        self.workers.append(self.nursery.fork(log, {**self.variables, **variables}))
        return self.workers[-1]

    def hand_in(self, session: Session, **fields: Any) -> str:
        """For all of the session, as at its end; due at once."""
        wish: dict[str, Any] = {
            "submission": token_hex(8),
            "kind": Kind.CONSOLIDATE,
            "workspace": str(self.root),
            "submitted_at": datetime.now(UTC),
            "transcript": str(session.path),
            "trigger": Trigger.SESSION_END,
            "seal_all": True,
        }
        return self.service.desk.submit(JobRequest(**{**wish, **fields}), datetime.now(UTC), 0.0)

    def job(self, job: str) -> Job | None:
        with suppress(BrokerUnavailable):
            return self.service.desk.status(job)
        return None

    def is_done(self, job: str) -> bool:
        found = self.job(job)
        return found is not None and found.state is State.DONE

    def until(self, condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"did not come in {seconds:g} s:\n{self.said()}"
            time.sleep(0.1)

    def chain(self, session: str = "claude-code--s1") -> list[Checkpoint]:
        return FileCheckpoints(self.root).chain(session)

    def said(self) -> str:
        return "\n".join(f"--- {worker.log.name}\n{worker.said()[-4_000:]}" for worker in self.workers)

    def asked(self) -> Counter[str]:
        """How often each part was sent to the model; the random names of fences are no difference."""
        bodies = (request.body["messages"] for request in self.provider.requests)
        asked = (turns[-1]["content"] for turns in bodies if "write the memory" in turns[0]["content"])
        return Counter(re.sub(r"-[0-9a-f]{8,}\b", "", text) for text in asked)

    def faults(self, session: Session, *, covered: int, asked_again: int = 0) -> list[str]:
        """What is lost, doubled, damaged or was paid for twice, in words; nothing is as it should be.

        asked_again: parts that may have been asked twice, because their answer was on its way at a kill.
        """
        ranges = [(one.range.start, one.range.end) for one in self.chain(f"claude-code--{session.path.stem}")]
        joints = [0, *(end for _, end in ranges)]
        found = []
        if [start for start, _ in ranges] != joints[:-1] or joints[-1] != covered:
            found.append(f"ranges {ranges}, covered should be {covered}")
        entries = re.findall(r"afterturn:checkpoint id=\S+", (self.root / "HISTORY.md").read_text("utf-8"))
        if len(set(entries)) != len(entries):
            found.append("an entry of HISTORY.md is doubled")
        bullets = [line for line in (self.root / "MEMORY.md").read_text("utf-8").splitlines() if line[:2] == "- "]
        if not bullets or len(set(bullets)) != len(bullets):
            found.append(f"bullets of MEMORY.md: {bullets}")
        twice = sum(times - 1 for times in self.asked().values())
        if twice > asked_again:
            found.append(f"{twice} parts were asked again, {asked_again} may")
        found += [f"verify: {problem.where}: {problem.what}" for problem in wiring.verify_places(self.settings)]
        return found

    def history_entries(self) -> int:
        return (self.root / "HISTORY.md").read_text("utf-8").count("afterturn:checkpoint id=")

    def end(self) -> None:
        """Once: whoever takes its disk away ends it before."""
        if self.has_ended:
            return
        self.has_ended = True
        for worker in self.workers:
            worker.send(signal.SIGKILL)
        if self.redis.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.redis.pid, signal.SIGCONT)
        if self._service is not None:
            self._service.link.close()
        self.redis.stop()
        self.provider.close()


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory, redis_server: str) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("nursery"))
    yield made
    made.close()


SiteMaker = Callable[..., Site]


@pytest.fixture(scope="module")
def make_site(
    tmp_path_factory: pytest.TempPathFactory, nursery: Nursery, provider_kind: type[Any]
) -> Iterator[SiteMaker]:
    """`make_site()`: a site, its Redis beside the workspace. root, run: elsewhere, on a disk of their own."""
    made: list[Site] = []

    def make(*, root: Path | None = None, run: Path | None = None, **environ: str) -> Site:
        folder = tmp_path_factory.mktemp("site")
        redis = EmbeddedRedis(run or folder / "run")
        site = Site(
            folder=folder,
            root=root or folder / "w",
            redis=redis,
            redis_url=redis.start(),
            provider=provider_kind(),
            nursery=nursery,
            environ=environ,
        )
        site.provider.otherwise = lambda request: _answer(site, request)
        made.append(site)
        return site

    yield make
    for site in made:
        site.end()


@pytest.fixture
def site(make_site: SiteMaker) -> Iterator[Site]:
    made = make_site()
    yield made
    for worker in made.workers:
        worker.send(signal.SIGKILL)


def _answer(site: Site, request: Any) -> Any:
    """A true answer: what a part is about is told by its tickets."""
    time.sleep(site.answer_seconds)
    asked = request.body["messages"][-1]["content"]
    if "write the memory" not in request.body["messages"][0]["content"]:
        whole: dict[str, object] = {
            "request": "Work on the tickets",
            "current_work": "The logs",
            "next_step": None,
            "changes": [],
        }
        return site.provider.says(in_form(whole))
    told = "Work on " + (" ".join(dict.fromkeys(re.findall(r"T-[0-9]+", asked))) or "the logs")
    return site.provider.says(in_form({**EMPTY_PART, "request": told, "current_work": told}))
