"""Redis killed or frozen in each phase of a job, and restarted as `afterturn up` does it: the work that was paid for
stands, the job goes on by itself, and what agents hand in meanwhile waits on disk.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from worker.client import submit
from worker.core.checkpoint import Outcome

pytestmark = pytest.mark.xdist_group("faults")

IS_FULL = os.environ.get("AFTERTURN_TEST_FAULTS") == "full"
FROZEN_SECONDS = 30.0 if IS_FULL else 4.0
"""Longer than a lease, in both forms: the worker's of the short form lasts 1.5 s."""

SILENT_SECONDS = "30" if IS_FULL else "1.5"
RECOVERY_SECONDS = 60.0

KILLED = ["begin:before", "asking:before:2", "cache:after:2", "commit:before", "commit:after", "finish:before"]
KILLED_IN_FULL_FORM = [
    "begin:after",
    "lease:after",
    "merging:before",
    "artifact:after",
    "memory:before",
    "append:after",
    "finish:after",
    "event:before",
]
FROZEN = ["asking:before:2", "commit:before"]
FROZEN_IN_FULL_FORM = ["begin:before", "lease:before", "cache:after:2", "finish:before"]
SCENES = [
    *(("kill", moment) for moment in [*KILLED, *(KILLED_IN_FULL_FORM if IS_FULL else [])]),
    *(("freeze", moment) for moment in [*FROZEN, *(FROZEN_IN_FULL_FORM if IS_FULL else [])]),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """seconds: from Redis being back to the end of the job."""

    ended: Outcome
    seconds: float
    faults: list[str]
    entries: int
    other_ended: Outcome
    submit_seconds: float


Aftermaths = Callable[[str, str], Aftermath]


@pytest.fixture(scope="module")
def aftermath(make_site: Any) -> Iterator[Aftermaths]:
    with ThreadPoolExecutor(8) as pool:
        scenes: dict[tuple[str, str], Future[Aftermath]] = {
            (act, moment): pool.submit(redis_lost, make_site(AFTERTURN_TEST_SILENT=SILENT_SECONDS), act, moment)
            for act, moment in SCENES
        }
        yield lambda act, moment: scenes[act, moment].result()


def redis_lost(site: Any, act: str, moment: str) -> Aftermath:
    session, other = site.session().turns(5).long_output().turns(1), site.session("s2").turns(2)
    job = site.hand_in(session)
    site.worker(AFTERTURN_TEST_FAULT=moment, AFTERTURN_TEST_ACT=f"{act} {site.redis.pid}")
    site.until(site.mark.exists)
    started = time.monotonic()
    submission = submit(other.path, trigger="session_end", seal_all=True, environ=site.variables)
    submit_seconds = time.monotonic() - started
    if act == "kill":
        site.until(lambda: not site.redis.is_running())
        site.redis.stop()
        site.redis.start()
    else:
        time.sleep(FROZEN_SECONDS)
        os.kill(site.redis.pid, signal.SIGCONT)
    back_at = time.monotonic()
    site.until(lambda: site.is_done(job))
    seconds = time.monotonic() - back_at
    site.until(lambda: site.is_done(submission.job))
    return Aftermath(
        ended=site.job(job).ending.outcome,
        seconds=seconds,
        faults=[
            *site.faults(session, covered=15, asked_again=int(moment == "asking:before:2")),
            *site.faults(other, covered=4, asked_again=1),
        ],
        entries=site.history_entries(),
        other_ended=site.job(submission.job).ending.outcome,
        submit_seconds=submit_seconds,
    )


@pytest.mark.parametrize(("act", "moment"), SCENES)
def test_a_redis_that_is_lost_in_the_middle_costs_time_and_nothing_else(
    aftermath: Aftermaths, act: str, moment: str
) -> None:
    """O36 F14 F20 J02 B36"""
    after = aftermath(act, moment)
    assert after.faults == []
    assert after.entries == 2
    assert after.ended in (Outcome.COMMITTED, Outcome.NOTHING_TO_DO)
    assert after.other_ended is Outcome.COMMITTED
    assert after.seconds < RECOVERY_SECONDS
