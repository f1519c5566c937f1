"""`afterturn up`: everything on one machine. A Redis of our own, a worker, one more for people who wait, and beat; they
are started together, watched, and stopped together.

    RUN/up.lock    held by the one `up` of this folder
    RUN/logs/      what worker, express and beat say

A child that dies is started again, at once the first time, later each time it dies soon. Children end with us, also
when we are killed: their stdin is a pipe that only we hold.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from worker import wiring
from worker.adapters.files import FILE_MODE, locked, make_folder, storage_errors
from worker.adapters.redis_server import EmbeddedRedis
from worker.config import Settings
from worker.core.job import Priority
from worker.errors import AfterturnError, SessionBusy
from worker.log import log_event

LOOK_SECONDS = 0.25
STOP_SECONDS = 20.0
"""Work that is under way is given back within one report; a request to a model may hold it longer. Then it is killed,
and the next worker redoes what it had: answers that were paid for are kept."""

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
HEALTHY_SECONDS = 60.0
"""A child that lived so long did not die of being started."""

MAX_LOG_BYTES = 10 * 2**20

Say = Callable[[str], None]


class Child:
    """One process, started again when it ends by itself."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        self.name = name
        self._command = command
        self._log = log
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._pause = 0.0
        self._due_at = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """A session of its own: Ctrl-C is for us, and we tell the children in our order."""
        with storage_errors(self._log), _opened(self._log) as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**self._environ},
                start_new_session=True,
            )
        self._started_at = time.monotonic()
        log_event("child_started", child=self.name, pid=self._process.pid)

    def look_after(self) -> str | None:
        """Starts it again when that is due; one line for a person when it died."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return None
            return self._mourn(code)
        if time.monotonic() >= self._due_at:
            self.start()
        return None

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended by then."""
        if self._process is None:
            return True
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(seconds, 0.0))
            return True
        return False

    def release(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _mourn(self, code: int) -> str:
        lived = time.monotonic() - self._started_at
        self.release()
        self._process = None
        self._pause = (
            0.0 if lived > HEALTHY_SECONDS else min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
        )
        self._due_at = time.monotonic() + self._pause
        log_event("child_died", level="warning", child=self.name, code=code, lived_seconds=round(lived))
        return f"{self.name} ended ({_in_words(code)}); started again in {self._pause:g} s, see {self._log}"


class Supervisor:
    """All of them. say: prints one line for the person who started us."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], say: Say) -> None:
        self._settings = settings
        self._say = say
        self._run = wiring.ground_of(settings).run
        self._environ = environ
        self._redis = None if settings.redis_url else EmbeddedRedis(self._run)
        self._asked_to_stop = threading.Event()
        self._children: list[Child] = []

    def stop(self) -> None:
        """From a signal handler or another thread: ends `serve`."""
        self._asked_to_stop.set()

    def serve(self) -> None:
        """Until told to stop. Raises: SessionBusy when another one serves this folder; what `EmbeddedRedis` raises."""
        with _only_one(self._run):
            address = self._redis.start() if self._redis else "AFTERTURN_REDIS_URL"
            try:
                self._serve(address)
            finally:
                self._end()

    def _serve(self, address: str) -> None:
        with storage_errors(self._run):
            make_folder(self._run / "logs")
        self._children = self._staff()
        for child in self._children:
            child.start()
        self._say(f"afterturn is up; Ctrl-C stops it\n  redis  {address}\n  logs   {self._run / 'logs'}")
        self._say(f"  memory {self._settings.workspace or wiring.ground_of(self._settings).home / 'workspaces'}")
        while not self._asked_to_stop.wait(LOOK_SECONDS):
            self._look_after_redis()
            for child in self._children:
                said = child.look_after()
                if said:
                    self._say(said)

    def _look_after_redis(self) -> None:
        """Its jobs are in its append-only file; until it is back, what is handed in waits on disk."""
        if self._redis is None or self._redis.is_running():
            return
        self._say("redis ended; started again")
        try:
            self._redis.stop()
            self._redis.start()
        except AfterturnError as exc:
            self._say(f"redis does not start: {exc}")
            self._asked_to_stop.wait(FIRST_PAUSE_SECONDS)

    def _end(self) -> None:
        """Workers first, so that what they give back still finds Redis."""
        for child in self._children:
            child.stop()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self._children:
            if not child.wait(deadline - time.monotonic()):
                self._say(f"{child.name} does not end; killed, its work is redone at the next start")
                child.kill()
                child.wait(STOP_SECONDS)
            child.release()
        if self._redis:
            self._redis.stop()
        self._say("stopped")

    def _staff(self) -> list[Child]:
        """The express worker takes what somebody waits for: the other one may be full of the night's work."""
        settings = self._settings
        worker = ["worker", "--threads", str(settings.worker_threads), "--until-eof"]
        express = ["worker", "--name", "express", "--queues", Priority.INTERACTIVE.value, "--until-eof"]
        express += ["--threads", str(settings.interactive_threads)]
        without_metrics = {name: value for name, value in self._environ.items() if name != "AFTERTURN_METRICS_PORT"}
        return [
            self._child("worker", worker, self._environ),
            self._child("express", express, without_metrics),
            self._child("beat", ["beat", "--until-eof"], without_metrics),
        ]

    def _child(self, name: str, arguments: Sequence[str], environ: Mapping[str, str]) -> Child:
        place = {"AFTERTURN_WORKSPACE": str(self._settings.workspace.absolute())} if self._settings.workspace else {}
        command = [sys.executable, "-m", "worker", *arguments]
        return Child(name, command, self._run / "logs" / f"{name}.log", {**environ, **place})


def serve(settings: Settings, environ: Mapping[str, str], say: Say) -> None:
    """`afterturn up`, in the foreground, until Ctrl-C or SIGTERM. Raises: as `Supervisor.serve`."""
    supervisor = Supervisor(settings, environ, say)
    old = {number: signal.signal(number, lambda *_: supervisor.stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        supervisor.serve()
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def _only_one(run: Path) -> Iterator[None]:
    try:
        with locked(run / "up.lock", wait_seconds=0.0):
            yield
    except SessionBusy as exc:
        if str(run / "up.lock") not in str(exc):
            raise
        raise SessionBusy(f"{run}: another 'afterturn up' runs here; 'afterturn status' shows what it does") from exc


def _opened(path: Path) -> BinaryIO:
    """For a child to write to; one former file is kept when it has grown long."""
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE), "ab")


def _in_words(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
