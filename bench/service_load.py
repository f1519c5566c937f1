"""A thousand sessions queued at once, against a model that takes five seconds: rate, memory, fairness, `submit`.

    python bench/service_load.py [--sessions 1000] [--seconds 5] [--at-a-time 64] [--workers 2]

So many worker processes, one Redis, and a stand-in for the model in a process of its own, all on this machine. The
rate is set against what the permitted concurrency allows: sessions that ask one question each, so many at a time, so
long each. Memory is told at each quarter of the sessions, and as a slope from when WARM_UP_SESSIONS of each worker are
done; it is flat when the slope is below FLAT_MIB.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from sessions import WORDS

from worker.adapters.redis_server import EmbeddedRedis
from worker.client import submit
from worker.core.job import Job, State
from worker.delivery import connected
from worker.testing import part_answer

GOAL = 0.85
PROJECTS = 20
LOOK_SECONDS = 1.0
WARM_UP_SESSIONS = 350
"""Of each worker: until its threads have their connections and their shares of the heap, and its caches are full."""

SLOPE_SESSIONS = 1_000
"""Of fewer, what a heap takes and gives back by the megabyte would pass for growth."""

FLAT_MIB = 10.0
"""Per thousand sessions, all workers together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--at-a-time", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stand_in(options.seconds) as url:
        load = Load(Path(folder), url, options.at_a_time, options.workers)
        load.run(options.sessions)
        load.report(options.sessions, options.at_a_time / options.seconds)


class Load:
    """folder: the home of a user with some projects."""

    def __init__(self, folder: Path, model_url: str, at_a_time: int, workers: int) -> None:
        self._folder = folder
        self._run = folder / ".afterturn" / "run"
        self._at_a_time = at_a_time
        self._workers = workers
        self._submit_seconds: list[float] = []
        self._memory: list[tuple[int, float]] = []
        self._cpu_seconds = 0.0
        self._jobs: list[Job] = []
        self._names: list[str] = []
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "NO_PROXY": "127.0.0.1",
            "AFTERTURN_HOME": str(folder / ".afterturn"),
            "AFTERTURN_MODEL": "openai/stand-in",
            "AFTERTURN_API_BASE": model_url,
            "AFTERTURN_API_KEY": "sk-bench-not-a-key",
            "AFTERTURN_PROVIDER_CONCURRENCY": str(at_a_time),
            "AFTERTURN_TIMEZONE": "UTC",
        }

    def run(self, sessions: int) -> None:
        transcripts = [_write_session(self._folder, number) for number in range(sessions)]
        redis = EmbeddedRedis(self._run)
        redis.start()
        try:
            with self._started() as pids:
                self._hand_in(transcripts)
                self._watch(pids, sessions)
        finally:
            redis.stop()

    def report(self, sessions: int, permitted: float) -> None:
        outcomes = {job.ending.outcome.value if job.ending else "?" for job in self._jobs}
        begun = sorted(job.started_at for job in self._jobs if job.started_at)
        ended = sorted(job.finished_at for job in self._jobs if job.finished_at)
        whole = sessions / (ended[-1] - begun[0]).total_seconds()
        rate = (sessions - 1) / (ended[-1] - ended[0]).total_seconds()
        print(f"{sessions} sessions, outcomes {sorted(outcomes)}, load of this machine {os.getloadavg()[0]:.1f}")
        print(f"rate    {rate:.2f} per second of {permitted:.2f} permitted: {rate / permitted:.0%} (goal {GOAL:.0%})")
        print(f"        {whole:.2f} with the start of the workers, which load LiteLLM: {whole / permitted:.0%}")
        print(f"cpu     of the workers {self._cpu_seconds / sessions * 1000:.0f} ms per session, loading included")
        self._report_submits()
        self._report_memory()
        self._report_waiting()

    def _report_submits(self) -> None:
        ordered = sorted(self._submit_seconds)
        p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
        print(f"submit  p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, slowest {ordered[-1] * 1000:.1f} ms")

    def _report_memory(self) -> None:
        """At the quarters of the run, and how it grew once all was made that is made once."""
        last = self._memory[-1][0]
        quarters = [next(size for done, size in self._memory if done >= last * part / 4) for part in range(1, 5)]
        told = ", ".join(f"{size:.0f}" for size in quarters)
        print(f"memory  of the workers at 25, 50, 75, 100 % of the run: {told} MiB")
        warm = WARM_UP_SESSIONS * self._workers
        late = [(done, size) for done, size in self._memory if done >= warm]
        if last < warm + SLOPE_SESSIONS:
            print(f"        how it grows is told of {warm + SLOPE_SESSIONS} sessions and more")
        else:
            slope = statistics.linear_regression(*zip(*late, strict=True)).slope * 1_000
            print(f"        {slope:+.1f} MiB per 1,000 sessions behind the first {warm} (flat: below {FLAT_MIB:g})")

    def _report_waiting(self) -> None:
        """How many of those that were handed in later began earlier; a fair queue has few, and the last has none."""
        known = {job.id: job.started_at for job in self._jobs if job.started_at}
        begun = [known[name] for name in self._names]
        overtaken = [sum(later < own for later in begun[place + 1 :]) for place, own in enumerate(begun)]
        waits = sorted((job.started_at - job.submitted_at).total_seconds() for job in self._jobs if job.started_at)
        print(
            f"waiting shortest {waits[0]:.1f} s, median {waits[len(waits) // 2]:.1f} s, longest {waits[-1]:.1f} s;"
            f" most overtaken by {max(overtaken)} of {len(begun)}"
        )

    def _hand_in(self, transcripts: Sequence[Path]) -> None:
        for transcript in transcripts:
            started = time.perf_counter()
            made = submit(transcript, trigger="session_end", seal_all=True, environ=self._environ)
            self._submit_seconds.append(time.perf_counter() - started)
            self._names.append(made.job)

    def _watch(self, pids: Sequence[int], sessions: int) -> None:
        with connected(self._run, None, read_timeout_seconds=10.0) as desk:
            while True:
                health = desk.health(datetime.now(UTC))
                done = sessions - health.waiting - health.running
                self._memory.append((done, sum(map(_resident_mib, pids))))
                self._cpu_seconds = sum(map(_cpu_seconds, pids))
                if not health.waiting and not health.running:
                    break
                time.sleep(LOOK_SECONDS)
            self._jobs = [job for job in desk.ended(sessions) if job.state is State.DONE]
        assert len(self._jobs) == sessions, f"{len(self._jobs)} of {sessions} ended"

    @contextmanager
    def _started(self) -> Iterator[list[int]]:
        threads = -(-self._at_a_time // self._workers)
        processes = []
        for number in range(self._workers):
            command = [sys.executable, "-m", "worker", "worker", "--threads", str(threads), "--name", f"w{number}"]
            with (self._folder / f"worker-{number}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, env=self._environ, stdout=log, stderr=log))
        try:
            yield [process.pid for process in processes]
        finally:
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                process.wait(60)


def _write_session(folder: Path, number: int) -> Path:
    """A session of three turns in one of the projects."""
    path = folder / "sessions" / f"session-{number:05d}.jsonl"
    path.parent.mkdir(exist_ok=True)
    rows = []
    for turn in range(3):
        ticket = f"T-{number}{turn}"
        said = f"Did {ticket}: " + " ".join(random.choices(WORDS, k=60))
        rows.append(_row(number, 2 * turn, "user", f"Never change the schema. Work on {ticket}."))
        rows.append(_row(number, 2 * turn + 1, "assistant", [{"type": "text", "text": said}]))
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return path


def _row(session: int, place: int, kind: str, content: object) -> dict[str, object]:
    return {
        "parentUuid": f"u{place - 1}" if place else None,
        "isSidechain": False,
        "cwd": f"/home/me/project-{session % PROJECTS}",
        "sessionId": f"session-{session:05d}",
        "type": kind,
        "message": {"role": kind, "content": content, "id": f"m{place}"},
        "uuid": f"u{place}",
        "timestamp": f"2026-11-01T10:00:{place:02d}Z",
    }


def _resident_mib(pid: int) -> float:
    """Linux only."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _cpu_seconds(pid: int) -> float:
    """User and system, of all threads. Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# The model.


@dataclass(frozen=True, slots=True)
class _Answer:
    seconds: float
    body: bytes


@contextmanager
def stand_in(seconds: float) -> Iterator[str]:
    """The address of a chat-completions server that answers everything the same after so many seconds."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(seconds, sender), daemon=True)
    process.start()
    sender.close()  # the other process has its own: when that one ends, `recv` raises and does not wait for ever
    try:
        yield f"http://127.0.0.1:{receiver.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _serve(seconds: float, sender: Connection) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": part_answer()}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1_500, "completion_tokens": 200, "total_tokens": 1_700}
    said = {"id": "x", "object": "chat.completion", "model": "stand-in", "choices": [choice], "usage": usage}
    body = json.dumps(said).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    answer = _Answer(seconds, head + body)

    async def serve() -> None:
        server = await asyncio.start_server(lambda reader, writer: _converse(reader, writer, answer), "127.0.0.1", 0)
        sender.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: _Answer) -> None:
    """As much of HTTP as the client speaks: one request after the other on a connection that stays."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            ]
            await reader.readexactly(int(lengths[0]) if lengths else 0)
            await asyncio.sleep(answer.seconds)
            writer.write(answer.body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


if __name__ == "__main__":
    main()
