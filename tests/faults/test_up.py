"""`afterturn up` as it is, with its own waiting times: how long it takes until all is well again, and who is needed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from worker.client import submit
from worker.config import Settings
from worker.core.checkpoint import Outcome
from worker.core.job import Job, State
from worker.errors import BrokerUnavailable
from worker.service import Service

pytestmark = [
    pytest.mark.xdist_group("faults"),
    pytest.mark.skipif(
        os.environ.get("AFTERTURN_TEST_FAULTS") != "full", reason="with real waiting times: `make faults`"
    ),
]

WORKER_RECOVERY_SECONDS = 60.0
"""Silence of 30 s, a look every 5 s, a round of 1 s; and a new worker that has to load LiteLLM first."""

REDIS_RECOVERY_SECONDS = 30.0
"""Started again within a second; an attempt that it failed comes back after 10 s."""


class Up:
    """The program in a process, on the workspace of a site whose own Redis it does not use."""

    def __init__(self, site: Any) -> None:
        self._site = site
        self.environ = {name: value for name, value in site.variables.items() if name != "AFTERTURN_REDIS_URL"}
        self._log = (site.folder / "up.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "worker", "up"], env=self.environ, stdout=self._log, stderr=self._log
        )
        self._site.until(lambda: (site.root / ".afterturn" / "redis" / "address").exists())

    @property
    def service(self) -> Service:
        ours = {name: value for name, value in self.environ.items() if name.startswith("AFTERTURN_")}
        return Service.connect(Settings.from_env(ours))

    def job(self, job: str) -> Job | None:
        with suppress(BrokerUnavailable):
            return self.service.desk.status(job)
        return None

    def is_done(self, job: str) -> bool:
        found = self.job(job)
        return found is not None and found.state is State.DONE

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self._log.close()


@pytest.fixture
def up(site: Any) -> Iterator[Up]:
    started = Up(site)
    yield started
    started.stop()


def asking(up: Up, site: Any) -> tuple[Any, str]:
    """A session, and its job that waits for the second answer of the model."""
    site.answer_seconds = 3.0
    session = site.session().turns(4)
    job = submit(session.path, trigger="session_end", seal_all=True, environ=up.environ).job
    site.until(lambda: len(site.provider.requests) >= 2)
    return session, job


def test_a_worker_that_is_killed_is_replaced_within_the_time_of_the_readme(up: Up, site: Any) -> None:
    """O53 J11 F14"""
    session, job = asking(up, site)
    owner = up.job(job)
    assert owner is not None
    assert owner.owner is not None
    os.kill(int(owner.owner.split(":")[1]), signal.SIGKILL)
    killed_at = time.monotonic()
    site.until(lambda: up.is_done(job), WORKER_RECOVERY_SECONDS + 30)
    assert time.monotonic() - killed_at < WORKER_RECOVERY_SECONDS
    assert site.faults(session, covered=8, asked_again=1) == []
    assert site.history_entries() == 1


def test_a_redis_that_is_killed_is_replaced_within_the_time_of_the_readme(up: Up, site: Any) -> None:
    """J02"""
    session, job = asking(up, site)
    information = up.service.link.call("INFO", "server")
    pid = information["process_id"] if isinstance(information, dict) else information.split("process_id:")[1].split()[0]
    os.kill(int(pid), signal.SIGKILL)
    killed_at = time.monotonic()
    site.until(lambda: up.is_done(job), REDIS_RECOVERY_SECONDS + 30)
    assert time.monotonic() - killed_at < REDIS_RECOVERY_SECONDS
    ended = up.job(job)
    assert ended is not None
    assert ended.ending is not None
    assert ended.ending.outcome in (Outcome.COMMITTED, Outcome.NOTHING_TO_DO)
    assert site.faults(session, covered=8, asked_again=1) == []
