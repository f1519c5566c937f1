"""What an agent waits for: a hook's whole process, and `submit`, with a Redis that is up, gone, refuses or is frozen.
The start of a session is answered with what is kept of it, after a consolidation of 1 MB, and has to be within 500 ms.

    python bench/hooks.py [--runs 15] [--submits 100]

The hook is set against `python -c "import redis"` in turn, on the same machine at the same time: the relation is what
counts. Each `submit` has to return within 200 ms, with the job in Redis or on disk.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sessions import session_rows, write_rows

from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis
from worker.client import submit
from worker.delivery import spool_of, spooled_requests

ALLOWED_MS = 200
ALLOWED_START_MS = 500
START = "start of a session, told"
SESSION = "00000000-0000-4000-8000-0000000000be"
COLD_SUBMIT = """
import sys, time
from worker.client import submit
started = time.perf_counter()
submit(sys.argv[1])
print((time.perf_counter() - started) * 1000)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--submits", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.hooks(options.runs)
        bench.submits(options.submits, options.runs)


class Bench:
    """One home with one session and one Redis."""

    def __init__(self, folder: Path) -> None:
        self._home = folder
        self._run = folder / "w" / ".afterturn"
        self._session = folder / ".claude" / "projects" / "-home-me-app" / f"{SESSION}.jsonl"
        self._session.parent.mkdir(parents=True)
        write_rows(self._session, 2**20, session_rows())
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "AFTERTURN_WORKSPACE": str(folder / "w"),
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }

    def hooks(self, runs: int) -> None:
        """The hook as settings files name it, while a worker watches the spool, and while nobody does."""
        commands: Mapping[str, Callable[[], float]] = {
            'python -c "import redis"': lambda: self._process("-c", "import redis"),
            "hook, a worker watches": self._watched_hook,
            "hook, Redis and no worker": self._hook,
            START: self._start,
        }
        self._consolidate()
        with self._redis():
            taken = _in_turn(commands, runs)
        taken |= _in_turn({"hook, nothing is there": self._hook}, runs)
        bare = statistics.median(next(iter(taken.values())))
        print(f"whole processes, {runs} runs each in turn")
        for name, seconds in taken.items():
            median = statistics.median(seconds)
            print(
                f"  {name:28} median {median * 1000:6.0f} ms   {median / bare:4.2f} x   max {max(seconds) * 1000:6.0f}"
            )
        quickest = min(taken[START]) * 1000
        verdict = "within" if quickest <= ALLOWED_START_MS else "NOT within"
        print(f"  {'':28} the quickest start took {quickest:.0f} ms, {verdict} {ALLOWED_START_MS}")

    def submits(self, count: int, runs: int) -> None:
        print(f"submit, {count} calls in one process; 'cold' is the first call of a new process, {runs} of them")
        for name, state in self._states().items():
            with state():
                warm = [self._submit() for _ in range(count)]
                cold = [self._cold_submit() for _ in range(runs)]
            self._clear()
            _print(name, warm, cold)

    def _states(self) -> Mapping[str, Callable[[], AbstractContextManager[object]]]:
        return {
            "up": self._redis,
            "never started": self._nothing,
            "killed": self._killed,
            "refuses (full)": self._full,
            "frozen": self._frozen,
        }

    @contextmanager
    def _redis(self) -> Iterator[EmbeddedRedis]:
        redis = EmbeddedRedis(self._run)
        redis.start()
        try:
            yield redis
        finally:
            if redis.pid is not None and redis.is_running():
                os.kill(redis.pid, signal.SIGCONT)
            redis.stop()

    @contextmanager
    def _nothing(self) -> Iterator[None]:
        yield

    @contextmanager
    def _killed(self) -> Iterator[None]:
        with self._redis() as redis:
            _signal(redis, signal.SIGKILL)
            yield

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        with self._redis() as redis:
            _signal(redis, signal.SIGSTOP)
            yield

    @contextmanager
    def _full(self) -> Iterator[None]:
        with self._redis():
            link = RedisLink(str(self._run / "redis" / "redis.sock"))
            link.call("CONFIG", "SET", "maxmemory", "1")
            try:
                yield
            finally:
                link.call("CONFIG", "SET", "maxmemory", "0")
                link.close()

    def _submit(self) -> float:
        started = time.perf_counter()
        submit(self._session, environ=self._environ)
        return time.perf_counter() - started

    def _cold_submit(self) -> float:
        command = [sys.executable, "-c", COLD_SUBMIT, str(self._session)]
        done = subprocess.run(command, env=self._environ, capture_output=True, text=True, check=True)
        return float(done.stdout) / 1000

    def _watched_hook(self) -> float:
        spool_of(self._run).watch()
        try:
            return self._hook()
        finally:
            spool_of(self._run).unwatch()

    def _hook(self) -> float:
        called = {
            "hook_event_name": "Stop",
            "session_id": SESSION,
            "transcript_path": str(self._session),
            "cwd": "/home/me/app",
        }
        return self._process("-m", "worker", "hook", "claude-code", stdin=json.dumps(called))

    def _start(self) -> float:
        called = {"hook_event_name": "SessionStart", "session_id": SESSION, "cwd": "/home/me/app", "source": "compact"}
        return self._process("-m", "worker", "hook", "claude-code", stdin=json.dumps(called), answers="Source:")

    def _consolidate(self) -> None:
        command = [sys.executable, "-m", "worker", "run", str(self._session), "--all"]
        subprocess.run(command, env=self._environ, capture_output=True, check=True)

    def _process(self, *arguments: str, stdin: str = "", answers: str = "") -> float:
        """answers: what has to be in the answer, else it was not the work that is to be measured."""
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], input=stdin, env=self._environ, text=True, check=True, stdout=subprocess.PIPE
        )
        taken = time.perf_counter() - started
        if answers not in done.stdout:
            raise SystemExit(f"{' '.join(arguments)}: no answer")
        return taken

    def _clear(self) -> None:
        waiting = len(spooled_requests(self._run))
        for path in (self._run / "spool").glob("*"):
            if path.is_file():
                path.unlink()
        if waiting:
            print(f"  {waiting} on disk:")


def _in_turn(commands: Mapping[str, Callable[[], float]], runs: int) -> dict[str, list[float]]:
    """All of them once, then all again: what else the machine does hits each the same. The first round warms up."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, act in commands.items():
            seconds = act()
            if number:
                taken[name].append(seconds)
    return taken


def _signal(redis: EmbeddedRedis, number: signal.Signals) -> None:
    assert redis.pid is not None
    os.kill(redis.pid, number)


def _print(name: str, warm: list[float], cold: list[float]) -> None:
    ordered = sorted(warm)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    slowest = max(*warm, *cold) * 1000
    verdict = "within" if slowest <= ALLOWED_MS else "NOT within"
    print(
        f"  {name:16} p50 {p50 * 1000:6.1f}   p99 {p99 * 1000:6.1f}   cold median {statistics.median(cold) * 1000:6.1f}"
        f"   slowest {slowest:6.1f} ms, {verdict} {ALLOWED_MS}"
    )


if __name__ == "__main__":
    main()
