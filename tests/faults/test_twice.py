"""Two at once, and the same twice: workers, messages, kinds of work, a clock that moves, a disk that is full."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.app import make_app
from worker.consolidate import Request, consolidate
from worker.core.checkpoint import Outcome
from worker.core.job import Kind, Priority, State
from worker.locating import Place

pytestmark = pytest.mark.xdist_group("faults")

IS_FULL = os.environ.get("AFTERTURN_TEST_FAULTS") == "full"
HOUR, DAY = 3_600, 86_400


def test_two_workers_do_a_job_once(site: Any) -> None:
    """B39 J12: many messages for one job, as a queue that delivers twice would send them."""
    session = site.session().turns(5)
    site.answer_seconds = 0.3
    workers = [site.worker(), site.worker()]
    job = site.hand_in(session)
    app = make_app(site.redis_url, site.settings, zone_name="UTC")
    for _ in range(6):
        app.send_task("afterturn.consolidate", args=[job], queue="turn")
        time.sleep(0.1)
    app.close()
    site.until(lambda: site.is_done(job))
    site.until(lambda: sum(worker.said().count("message_ignored") for worker in workers) >= 6)
    assert site.job(job).attempts == 1
    assert site.faults(session, covered=10) == []
    assert site.history_entries() == 1


def test_two_kinds_of_work_on_one_session_wait_for_each_other(site: Any) -> None:
    """O55 O62: on two workers; who finds the session taken comes back, and says so."""
    session = site.session().turns(5)
    site.answer_seconds = 0.3
    workers = [site.worker(), site.worker()]
    first = site.hand_in(session)
    site.until(lambda: site.job(first).stage == "asking")
    second = site.hand_in(session, kind=Kind.RESUMMARIZE, priority=Priority.INTERACTIVE)
    site.until(lambda: site.is_done(first) and site.is_done(second))
    assert "session_busy" in "".join(worker.said() for worker in workers)
    assert [one.number for one in site.chain()] == [1, 2]
    assert site.history_entries() == 2
    assert wiring.verify_places(site.settings) == []


def test_of_a_worker_and_a_person_who_are_at_one_session_one_commits(site: Any) -> None:
    """B39 O54: `afterturn run` asks no worker; the file system decides, and the loser gives way."""
    session = site.session().turns(5)
    site.answer_seconds = 0.5
    site.worker()
    job = site.hand_in(session)
    site.until(lambda: site.job(job).stage == "asking")
    alone = site.settings.model_copy(update={"model": None})
    tools = wiring.tools_for(Place(root=site.root, run=site.root / ".afterturn"), alone, hold_back=False)
    assert consolidate(Request(path=session.path), tools).outcome is Outcome.COMMITTED
    site.until(lambda: site.is_done(job))
    assert site.job(job).ending.outcome is Outcome.SUPERSEDED
    assert site.faults(session, covered=10) == []
    assert site.history_entries() == 1


def test_an_agent_goes_on_writing_while_its_session_is_worked_on(site: Any) -> None:
    """O54 O59: no lock of ours is on its file, and what it wrote meanwhile is for the follow-up."""
    session = site.session().turns(5)
    site.answer_seconds = 0.5
    site.worker()
    job = site.hand_in(session)
    site.until(lambda: site.job(job).stage == "asking")
    started = time.monotonic()
    session.turns(2)
    assert time.monotonic() - started < 1.0
    follow_up = site.hand_in(session)
    assert follow_up != job
    site.until(lambda: site.is_done(job) and site.is_done(follow_up))
    assert site.faults(session, covered=14) == []
    assert site.history_entries() == 2


@pytest.mark.skipif(not IS_FULL, reason="the broker looks for such messages every ten seconds: `make faults`")
def test_a_message_that_the_broker_takes_for_lost_changes_nothing(make_site: Any) -> None:
    """J04 B34: the visibility timeout is shorter than the model's answer."""
    site = make_site(AFTERTURN_TEST_VISIBILITY="1")
    session = site.session().turns(1)
    site.answer_seconds = 20.0
    workers = [site.worker(), site.worker()]
    job = site.hand_in(session)
    site.until(lambda: site.is_done(job))
    assert "message_ignored" in "".join(worker.said() for worker in workers)
    assert site.job(job).attempts == 1
    assert site.faults(session, covered=2) == []


@pytest.mark.parametrize("shift", [DAY, -DAY])
def test_a_clock_that_jumps_in_the_middle_of_a_job_changes_nothing(make_site: Any, shift: int) -> None:
    """And what is handed in afterwards, by a clock that is right, is done at once."""
    site = make_site()
    session = site.session().turns(5)
    site.worker(AFTERTURN_TEST_FAULT="asking:after", AFTERTURN_TEST_ACT=f"clock {shift}")
    job = site.hand_in(session)
    site.until(lambda: site.is_done(job))
    assert site.mark.exists()
    assert site.job(job).attempts == 1
    later = site.hand_in(session.turns(2))
    site.until(lambda: site.is_done(later))
    assert site.job(later).ending.outcome is Outcome.COMMITTED
    assert site.faults(session, covered=14) == []


def test_workers_whose_clocks_disagree_do_a_job_once(make_site: Any) -> None:
    """J11: who is dead is told by the clock of Redis, which all share."""
    site = make_site()
    (site.folder / "fast").write_text(str(HOUR))
    (site.folder / "slow").write_text(str(-HOUR))
    session = site.session().turns(5)
    site.answer_seconds = 0.6
    for name in ("fast", "slow"):
        site.worker(AFTERTURN_TEST_CLOCK=str(site.folder / name))
    job = site.hand_in(session)
    site.until(lambda: site.is_done(job))
    assert site.job(job).attempts == 1
    assert site.faults(session, covered=10) == []


# Disks.


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB. Only root can mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("moment", ["commit:before", "append:before"] if IS_FULL else ["commit:before"])
def test_a_full_disk_loses_nothing_and_is_got_over_without_a_person(
    make_site: Any, small_disk: Path, moment: str
) -> None:
    """O36 B36: what was paid for and written is kept; the rest waits for space."""
    site = make_site(root=small_disk / "w")
    session = site.session().turns(5).long_output().turns(1)
    site.worker(AFTERTURN_TEST_FAULT=moment, AFTERTURN_TEST_ACT=f"fill {small_disk}")
    job = site.hand_in(session)
    site.until(lambda: site.job(job).error)
    assert "No space left" in site.job(job).error
    assert site.job(job).state is State.QUEUED
    (small_disk / "ballast").unlink()
    site.until(lambda: site.is_done(job))
    assert site.faults(session, covered=15) == []
    assert site.history_entries() == 1


def test_files_that_may_not_grow_are_as_a_full_disk(site: Any) -> None:
    """For every user: the limit is on the worker's own files."""
    session = site.session().turns(5).long_output().turns(1)
    worker = site.worker(AFTERTURN_TEST_FAULT="commit:before", AFTERTURN_TEST_ACT="limit 2000")
    job = site.hand_in(session)
    site.until(lambda: site.job(job).error)
    assert "File too large" in site.job(job).error
    resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    site.until(lambda: site.is_done(job))
    assert site.faults(session, covered=15) == []
    assert site.history_entries() == 1


@pytest.mark.skipif(not IS_FULL, reason="waits for Redis to try its file again: `make faults`")
def test_a_redis_whose_disk_is_full_goes_on_when_there_is_space(make_site: Any, small_disk: Path) -> None:
    """J02: workspace and Redis on one disk, as `afterturn up` has them."""
    site = make_site(root=small_disk / "w", run=small_disk / "run")
    session = site.session().turns(5)
    site.worker(AFTERTURN_TEST_FAULT="commit:before", AFTERTURN_TEST_ACT=f"fill {small_disk}")
    job = site.hand_in(session)
    site.until(site.mark.exists)
    time.sleep(5.0)
    (small_disk / "ballast").unlink()
    try:
        site.until(lambda: site.is_done(job), 90)
        assert site.faults(session, covered=10) == []
    finally:
        site.end()
