"""`afterturn up`, as real processes: everything starts, is watched, and stops together."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker import supervising
from worker.adapters.redis_server import socket_url
from worker.client import submit, wait
from worker.config import Settings
from worker.core.checkpoint import Outcome
from worker.delivery import spool_of
from worker.supervising import Child, Supervisor

Factory = Any
Until = Any

SLEEP = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def children(up: Any) -> dict[str, int]:
    """Of an `up` that logs: the newest process id of each."""
    lines = [json.loads(line) for line in up.said().splitlines() if line.startswith("{")]
    return {line["child"]: line["pid"] for line in lines if line["event"] == "child_started"}


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.fixture
def up(factory: Factory, until: Until) -> Any:
    """One that is ready."""
    process = factory.afterturn("up")
    until(lambda: spool_of(factory.run).is_watched())
    return process


def test_up_serves_a_session_and_stops_cleanly(factory: Factory, until: Until, up: Any) -> None:
    session = factory.place.transcript().turns(3)
    submission = submit(session.path, trigger="session_end", seal_all=True, environ=factory.variables)
    job = wait(submission.job, timeout=40, environ=factory.variables)
    assert job is not None
    assert job.ending is not None
    assert job.ending.outcome is Outcome.COMMITTED
    status = factory.afterturn("status", "--json")
    assert status.popen.wait(20) == 0
    assert json.loads(status.said())["jobs"][0]["ending"]["outcome"] == "committed"
    pids = children(up)
    assert set(pids) == {"worker", "express", "beat"}
    assert up.stop() == 0
    assert not any(map(is_alive, pids.values()))
    assert socket_url(factory.run) is None
    assert not spool_of(factory.run).is_watched()
    assert "stopped" in up.said()


def test_a_second_up_is_refused_in_one_line(factory: Factory, up: Any) -> None:
    second = factory.afterturn("up")
    assert second.popen.wait(20) == 4
    lines = [line for line in second.said().splitlines() if line.startswith("afterturn:")]
    assert lines == [
        f"afterturn: {factory.run}: another 'afterturn up' runs here; 'afterturn status' shows what it does"
    ]
    assert up.popen.poll() is None


def test_a_child_that_dies_is_started_again(factory: Factory, until: Until, up: Any) -> None:
    first = children(up)["worker"]
    os.kill(first, signal.SIGKILL)
    until(lambda: children(up)["worker"] != first)
    assert "worker ended (killed by signal 9)" in up.said()


def test_a_redis_that_dies_is_started_again_and_what_waited_is_done(factory: Factory, until: Until, up: Any) -> None:
    recorded = factory.place.transcript().turns(3)
    pid = int(factory.place.link.call("INFO", "server")["process_id"])
    os.kill(pid, signal.SIGKILL)
    until(lambda: "redis ended; started again" in up.said())
    submission = submit(recorded.path, trigger="session_end", seal_all=True, environ=factory.variables)
    job = wait(submission.job, timeout=60, environ=factory.variables)
    assert job is not None
    assert job.ending is not None


def test_children_do_not_outlive_an_up_that_is_killed(factory: Factory, until: Until, up: Any) -> None:
    pids = children(up)
    up.kill()
    until(lambda: not any(map(is_alive, pids.values())))
    again = factory.afterturn("up")
    until(lambda: set(children(again)) == {"worker", "express", "beat"})
    assert again.stop() == 0


def test_a_child_that_keeps_dying_is_started_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("worker.supervising.time.monotonic", lambda: now[0])
    child = Child("worker", [sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "log", os.environ)
    pauses = []
    for _ in range(9):
        child.start()
        subprocess.run(["true"], check=True)
        while (said := child.look_after()) is None:
            time.sleep(0.01)
        assert "exit code 3" in said
        pauses.append(float(said.split(" in ")[1].split()[0]))
        assert child.look_after() is None
        assert child.pid is None
        now[0] += pauses[-1]
    assert pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]


def test_a_child_that_lived_long_is_started_again_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("worker.supervising.time.monotonic", lambda: now[0])
    child = Child("worker", SLEEP, tmp_path / "log", os.environ)
    child.start()
    now[0] += 3_600
    child.kill()
    child.wait(10)
    assert "started again in 0 s" in (child.look_after() or "")
    child.look_after()
    assert child.pid is not None
    child.kill()
    child.wait(10)
    child.release()


def test_a_log_that_has_grown_long_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "MAX_LOG_BYTES", 10)
    (tmp_path / "worker.log").write_text("much has been said")
    child = Child("worker", ["true"], tmp_path / "worker.log", os.environ)
    child.start()
    child.wait(10)
    child.release()
    assert (tmp_path / "worker.log.1").read_text() == "much has been said"
    assert (tmp_path / "worker.log").stat().st_mode & 0o777 == 0o600


def test_a_worker_that_hangs_is_killed_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "STOP_SECONDS", 0.3)
    script = "import signal, sys; signal.signal(15, signal.SIG_IGN); print(1, flush=True); sys.stdin.read()"
    stubborn = Child("worker", [sys.executable, "-c", script], tmp_path / "log", os.environ)
    said: list[str] = []
    settings = Settings(workspace=tmp_path / "w", redis_url="redis://127.0.0.1:1")
    supervisor = Supervisor(settings, os.environ, said.append)
    monkeypatch.setattr(supervisor, "_staff", lambda: [stubborn])

    def stop_when_it_ignores_us() -> None:
        while not (tmp_path / "log").exists() or not (tmp_path / "log").read_text():
            time.sleep(0.01)
        supervisor.stop()

    threading.Thread(target=stop_when_it_ignores_us).start()
    supervisor.serve()
    assert "killed" in said[-2]
    assert said[-1] == "stopped"


def test_only_the_worker_has_the_port_of_the_metrics(tmp_path: Path) -> None:
    environ = {"AFTERTURN_METRICS_PORT": "9000"}
    supervisor = Supervisor(Settings(workspace=tmp_path, metrics_port=9000), environ, print)
    given: Callable[[Child], bool] = lambda child: "AFTERTURN_METRICS_PORT" in child._environ  # noqa: E731
    assert [child.name for child in supervisor._staff() if given(child)] == ["worker"]
