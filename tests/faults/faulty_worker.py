"""Real worker processes that fail where they are told to, made quickly: this process loads everything once and forks.

It reads one JSON object per line, {"log": path, "environ": {…}}, and answers with the process id of a worker that was
forked for it. A worker is `afterturn worker` as it is, around which the calls of `STEPS` are wrapped:

AFTERTURN_TEST_FAULT       STEP:before or STEP:after, and :N for the N-th time; what happens there, the first time only:
AFTERTURN_TEST_ACT         "die" (kill -9 of itself), "kill PID", "freeze PID" (the test lets it go on), "fill FOLDER"
                           (its file system), "limit BYTES" (of any file that it writes), "clock SECONDS"
AFTERTURN_TEST_MARK        the file that remembers that it has happened
AFTERTURN_TEST_CLOCK       a file with the seconds by which the clock of this worker is wrong
AFTERTURN_TEST_SILENT      seconds after which a worker that is not heard is taken for dead
AFTERTURN_TEST_VISIBILITY  seconds after which the broker delivers a message again that was not acknowledged
AFTERTURN_TEST_HASTE       divides the pauses between two attempts at a job
"""

import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import worker.jobs
from worker import attempts
from worker.adapters import history_file
from worker.adapters.events import Events
from worker.adapters.history_file import HistoryFile
from worker.adapters.job_desk import JobDesk
from worker.adapters.leases import Leases
from worker.adapters.llm import LiteLlm
from worker.adapters.memory_file import MemoryFile
from worker.adapters.parts_cache import FileParts
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.config import Settings
from worker.jobs import Staff, run_worker
from worker.log import configure_log
from worker.service import Service
from worker.watching import Watch

STEPS: Mapping[str, tuple[Any, str]] = {
    "begin": (JobDesk, "begin"),
    "lease": (Leases, "acquire"),
    "asking": (LiteLlm, "ask"),
    "cache": (FileParts, "put"),
    "artifact": (FileArtifacts, "put"),
    "commit": (FileCheckpoints, "commit"),
    "link": (os, "link"),
    "memory": (MemoryFile, "write"),
    "record": (MemoryFile, "write_record"),
    "history": (HistoryFile, "append"),
    "announce": (history_file, "write_atomically"),
    "append": (history_file, "append_durably"),
    "finish": (JobDesk, "finish"),
    "event": (Events, "append"),
}
STAGES = ("reading", "merging", "validating", "writing")
"""Reports of progress: the other steps."""


class ShiftedClock:
    """Wrong by what stands in a file at the moment."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        seconds = float(self._path.read_text() or "0") if self._path.exists() else 0.0
        return datetime.now(UTC) + timedelta(seconds=seconds)


class Fault:
    """What happens at one step, the first time that any worker comes there."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.step, self.when, *number = (environ.get("AFTERTURN_TEST_FAULT") or "none:before").split(":")
        self._left = count(int(number[0]) if number else 1, -1)
        self._act = environ.get("AFTERTURN_TEST_ACT", "die").split()
        self._mark = Path(environ.get("AFTERTURN_TEST_MARK", "happened"))
        self._clock = Path(environ.get("AFTERTURN_TEST_CLOCK", "clock"))
        self._lock = threading.Lock()

    def reached(self, when: str) -> None:
        with self._lock:
            if when != self.when or self._mark.exists() or next(self._left) != 1:
                return
            self._mark.write_text(str(time.time()))
        self._happens()

    def _happens(self) -> None:
        match self._act:
            case ["die"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["kill", pid]:
                os.kill(int(pid), signal.SIGKILL)
            case ["freeze", pid]:
                os.kill(int(pid), signal.SIGSTOP)
            case ["clock", seconds]:
                self._clock.write_text(seconds)
            case ["fill", folder]:
                fill(Path(folder))
            case ["limit", size]:
                resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), resource.RLIM_INFINITY))


def fill(folder: Path) -> None:
    """Takes all the space that is left on the file system of that folder."""
    with (folder / "ballast").open("ab", buffering=0) as ballast:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError:
                continue


def plant(fault: Fault) -> None:
    if fault.step in STAGES:
        _wrap(Watch, "report", fault, lambda given: given[1] == fault.step)
    elif fault.step in STEPS:
        _wrap(*STEPS[fault.step], fault, lambda _: True)


def _wrap(owner: Any, name: str, fault: Fault, is_meant: Callable[[tuple[Any, ...]], bool]) -> None:
    call = getattr(owner, name)

    def wrapped(*given: Any, **more: Any) -> Any:
        if not is_meant(given):
            return call(*given, **more)
        fault.reached("before")
        result = call(*given, **more)
        fault.reached("after")
        return result

    setattr(owner, name, wrapped)


def _deliver_again_after(seconds: float) -> None:
    jobs: Any = worker.jobs
    make_app = jobs.make_app

    def made(*given: Any, **more: Any) -> Any:
        app = make_app(*given, **more)
        impatient = {"visibility_timeout": seconds, "unacked_restore_throttle": 1}
        app.conf.broker_transport_options = {**app.conf.broker_transport_options, **impatient}
        return app

    jobs.make_app = made


def _hurry(haste: float) -> None:
    pauses: Any = attempts
    pauses.BACKOFF_SECONDS = tuple(seconds / haste for seconds in attempts.BACKOFF_SECONDS)
    pauses.BUSY_SECONDS /= haste


def work(environ: Mapping[str, str]) -> int:
    settings = Settings.from_env(environ)
    configure_log(settings.log_level)
    visibility = float(environ.get("AFTERTURN_TEST_VISIBILITY", "0"))
    if visibility:
        _deliver_again_after(visibility)
    _hurry(float(environ.get("AFTERTURN_TEST_HASTE", "1")))
    plant(Fault(environ))
    service = Service.over(
        Service.connect(settings).link,
        settings,
        silent_seconds=float(environ.get("AFTERTURN_TEST_SILENT", "30")),
        clock=ShiftedClock(Path(environ.get("AFTERTURN_TEST_CLOCK", "clock"))),
    )
    return run_worker(service, Staff(threads=2))


def fork(log: str, environ: Mapping[str, str]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(environ)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        code = work(environ)
    except BaseException:  # noqa: BLE001 - a fork never comes back to where it was made
        traceback.print_exc()
    finally:
        print(f"ended with {code}", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(code)


def main() -> None:
    import celery.worker  # type: ignore[import-untyped]  # noqa: F401 - loaded before the first fork, as litellm is

    LiteLlm("openai/test").limits  # noqa: B018
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: no zombies
    print("ready", flush=True)  # noqa: T201
    for line in sys.stdin:
        wish = json.loads(line)
        print(fork(wish["log"], wish["environ"]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
