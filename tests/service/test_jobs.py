"""Real worker processes over a real Redis: what is handed in is done once, whatever happens to the processes."""

import os
import signal
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from worker.adapters.redis_link import RedisLink
from worker.app import QUEUES, celery_url, make_app
from worker.client import submit, wait
from worker.config import Settings
from worker.core.checkpoint import Outcome
from worker.core.job import Kind, Priority, State, Trigger
from worker.delivery import spool_of, spooled_requests
from worker.errors import UsageError
from worker.jobs import SUBMIT_TASK, Staff, ask_for_night, night_of, run_worker
from worker.testing import EMPTY_PART, in_form

Factory = Any
Until = Any


def ended(place: Any, job: str) -> bool:
    return bool(place.job(job).state is State.DONE)


def history_entries(root: Path) -> int:
    return (root / "HISTORY.md").read_text("utf-8").count("afterturn:checkpoint id=")


def test_what_a_program_submits_is_remembered(factory: Factory, until: Until) -> None:
    """B34: queued is not the end of it; J09: the memory is there to be read."""
    factory.redis.start()
    session = factory.place.transcript().turns(4)
    factory.worker()
    submission = submit(session.path, trigger="session_end", seal_all=True, environ=factory.variables)
    job = wait(submission.job, timeout=40, environ=factory.variables)
    assert job is not None
    assert job.ending is not None
    assert (job.ending.outcome, job.ending.end) == (Outcome.COMMITTED, 8)
    assert "Never change the database schema" in (factory.root / "MEMORY.md").read_text("utf-8")


def test_six_turn_ends_in_a_few_seconds_are_one_run_over_the_last_state(factory: Factory, until: Until) -> None:
    """J01, B30, J15: the nightly job for the session is the same one."""
    factory.redis.start()
    place = factory.place
    factory.worker()
    session = place.transcript()
    jobs = set()
    for turn in range(6):
        request = place.request(session.turns(1), trigger=Trigger.NIGHTLY if turn == 3 else Trigger.TURN)
        jobs.add(place.service.desk.submit(request, place.clock.now(), 2.0))
        time.sleep(0.3)
    [job] = jobs
    until(lambda: ended(place, job))
    assert place.job(job).coalesced == 6
    assert [(one.range.start, one.range.end) for one in place.chain()] == [(0, 12)]
    assert history_entries(factory.root) == 1


def test_a_foreign_celery_client_hands_in_with_plain_json(factory: Factory, until: Until) -> None:
    from celery import Celery  # type: ignore[import-untyped]

    url = factory.redis.start()
    place = factory.place
    session = place.transcript().turns(3)
    factory.worker()
    theirs = Celery("an-agent", broker=celery_url(url), backend=celery_url(url))
    wish = {"transcript": str(session.path), "workspace": str(factory.root), "trigger": "session_end", "seal_all": True}
    sent = [theirs.send_task(SUBMIT_TASK, kwargs=wish, queue="interactive", task_id="their-own-id") for _ in range(2)]
    job = sent[0].get(timeout=40)
    theirs.close()
    until(lambda: ended(place, job))
    assert place.job(job).coalesced == 1
    assert len(place.chain()) == 1


@pytest.mark.parametrize("step", ["validating:before", "commit:after", "project:after"])
def test_a_worker_that_is_killed_is_replaced_and_nothing_is_doubled(factory: Factory, until: Until, step: str) -> None:
    """B28, B32, F14, O53: by the sweeper of another worker, not after the visibility timeout."""
    factory.redis.start()
    place = factory.place
    session = place.transcript().turns(3)
    dying = {"AFTERTURN_TEST_FAULT": step, "AFTERTURN_TEST_MARK": str(factory.root.parent / "died")}
    first = factory.worker(**dying, AFTERTURN_TEST_SILENT="3")
    job = place.hand_in(session)
    until(lambda: first.popen.poll() is not None)
    assert first.popen.returncode == -signal.SIGKILL
    factory.worker(AFTERTURN_TEST_SILENT="3")
    until(lambda: ended(place, job))
    assert place.job(job).attempts == 2
    assert len(place.chain()) == 1
    assert history_entries(factory.root) == 1


def test_a_worker_that_is_frozen_and_wakes_up_commits_nothing(factory: Factory, until: Until) -> None:
    """J11, O53: its lease and its job are somebody else's by then."""
    factory.redis.start()
    place = factory.place
    session = place.transcript().turns(3)
    sleeper = factory.worker(AFTERTURN_TEST_SILENT="3", AFTERTURN_TEST_SLOW="2")
    job = place.hand_in(session)
    until(lambda: place.job(job).stage == "validating")
    os.kill(sleeper.popen.pid, signal.SIGSTOP)
    factory.worker(AFTERTURN_TEST_SILENT="3")
    until(lambda: ended(place, job))
    os.kill(sleeper.popen.pid, signal.SIGCONT)
    until(lambda: "job_lost" in sleeper.said())
    assert len(place.chain()) == 1
    assert history_entries(factory.root) == 1


def test_a_cancelled_job_leaves_things_as_they_were(factory: Factory, until: Until) -> None:
    factory.redis.start()
    place = factory.place
    factory.worker(AFTERTURN_TEST_SLOW="30")
    job = place.hand_in(place.transcript().turns(3))
    until(lambda: place.job(job).stage == "validating")
    assert place.service.desk.cancel(job, datetime.now(UTC)) == "stopping"
    until(lambda: ended(place, job), 10)
    assert place.job(job).ending.outcome is Outcome.CANCELLED
    assert place.chain() == []


def test_a_worker_that_is_told_to_end_gives_its_work_back_at_once(factory: Factory, until: Until) -> None:
    """B35."""
    factory.redis.start()
    place = factory.place
    worker = factory.worker(AFTERTURN_TEST_SLOW="60")
    job = place.hand_in(place.transcript().turns(3))
    until(lambda: place.job(job).stage == "validating")
    worker.stop(20)
    assert place.job(job).state is State.QUEUED
    factory.worker()
    until(lambda: ended(place, job))
    assert len(place.chain()) == 1


def test_what_was_handed_in_while_redis_was_down_is_done_when_it_is_up(factory: Factory, until: Until) -> None:
    """J02: and the worker that outlived it goes on by itself."""
    factory.redis.start()
    place = factory.place
    factory.worker()
    until(lambda: spool_of(factory.run).is_watched())
    factory.redis.stop()
    session = place.transcript().turns(3)
    submission = submit(session.path, trigger="session_end", seal_all=True, environ=factory.variables)
    assert submission.spooled
    assert len(spooled_requests(factory.run)) == 1
    factory.redis.start()
    job = wait(submission.job, timeout=60, environ=factory.variables)
    assert job is not None
    assert job.ending is not None
    assert job.ending.outcome is Outcome.COMMITTED


def test_a_person_does_not_wait_behind_the_night(factory: Factory, until: Until) -> None:
    """Of what is queued the urgent goes first, and what runs already does not hold the express worker."""
    factory.redis.start()
    place = factory.place
    night = [
        place.hand_in(place.transcript(f"n{number}").turns(2), priority=Priority.NIGHTLY, trigger=Trigger.NIGHTLY)
        for number in range(3)
    ]
    slow = {"AFTERTURN_TEST_THREADS": "1", "AFTERTURN_TEST_SLOW": "4"}
    factory.worker(**slow)
    until(lambda: any(place.job(job).stage == "validating" for job in night))
    first = place.hand_in(place.transcript("p1").turns(2), priority=Priority.INTERACTIVE, trigger=Trigger.MANUAL)
    until(lambda: place.job(first).state is not State.QUEUED)
    assert sum(place.job(job).state is State.QUEUED for job in night) == 2
    factory.worker(**{**slow, "AFTERTURN_TEST_QUEUES": "interactive", "AFTERTURN_TEST_SLOW": "0"})
    second = place.hand_in(place.transcript("p2").turns(2), priority=Priority.INTERACTIVE, trigger=Trigger.MANUAL)
    until(lambda: ended(place, second))
    assert not all(ended(place, job) for job in night)


def test_messages_hold_ids_and_nothing_of_a_session(factory: Factory) -> None:
    url = factory.redis.start()
    place = factory.place
    job = place.hand_in(place.transcript().turns(2), instructions="keep the API decisions in full")
    app = make_app(url, factory.settings, zone_name="UTC")
    app.send_task("afterturn.consolidate", args=[job], queue="turn")
    [message] = RedisLink(url).call("LRANGE", "turn", 0, -1)
    app.close()
    assert "keep the API" not in message
    assert "s1.jsonl" not in message


def test_an_unknown_queue_is_refused_by_name(place: Any) -> None:
    with pytest.raises(UsageError, match="nigthly"):
        run_worker(place.service, Staff(queues=("nigthly",)))


def test_one_night_is_asked_for_once(place: Any) -> None:
    """O94: by whoever asks, as often as they like, also after the hour was missed."""
    first = ask_for_night(place.service)
    place.clock.advance(60)
    assert ask_for_night(place.service) == first
    assert len(first) == 1
    place.clock.advance(86_400)
    assert ask_for_night(place.service) != first


@pytest.mark.parametrize(
    ("now", "zone", "expected"),
    [
        (datetime(2026, 1, 23, 3, 29, tzinfo=UTC), "UTC", date(2026, 1, 22)),
        (datetime(2026, 1, 23, 3, 30, tzinfo=UTC), "UTC", date(2026, 1, 23)),
        (datetime(2026, 1, 22, 19, 30, tzinfo=UTC), "Asia/Shanghai", date(2026, 1, 23)),
        # The hour from 2:00 to 3:00 does not exist on that day in Berlin; from 2:30 to 3:30 it is counted on.
        (datetime(2026, 3, 29, 1, 29, tzinfo=UTC), "Europe/Berlin", date(2026, 3, 28)),
        (datetime(2026, 3, 29, 1, 31, tzinfo=UTC), "Europe/Berlin", date(2026, 3, 29)),
    ],
)
def test_a_night_belongs_to_the_local_date_on_which_it_begins(now: datetime, zone: str, expected: date) -> None:
    nightly_at = "02:30" if zone == "Europe/Berlin" else "03:30"
    assert night_of(now, nightly_at, ZoneInfo(zone)) == expected


def test_the_queues_are_named_in_the_order_of_right_of_way() -> None:
    assert QUEUES == ("interactive", "turn", "nightly")


def test_importing_the_app_loads_no_model_code() -> None:
    import subprocess
    import sys

    script = (
        "import worker.jobs, sys; print([name for name in ('litellm', 'prometheus_client') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix:///a%20b/redis.sock", "redis+socket:///a%20b/redis.sock"),
        ("redis://user:word@host:6380/2", "redis://user:word@host:6380/2"),
        ("rediss://host", "rediss://host"),
    ],
)
def test_an_address_of_redis_is_written_as_celery_does(given: str, expected: str) -> None:
    assert celery_url(given) == expected


def test_what_travels_is_set_up_for_work_that_may_be_killed() -> None:
    app = make_app("redis://localhost", Settings(job_seconds=5_000), zone_name="UTC")
    assert app.conf.task_acks_late is True
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.accept_content == ["json"]
    assert app.conf.broker_transport_options["visibility_timeout"] > 5_000


def test_beat_has_the_night_done_by_a_worker(factory: Factory, until: Until) -> None:
    """O94: one night per date however often the clock strikes, and nothing is left to a person."""
    factory.redis.start()
    place = factory.place
    session = place.transcript().turns(3)
    first = place.hand_in(session)
    factory.worker()
    until(lambda: ended(place, first))
    session.turns(2)
    long_ago = time.time() - 7_200
    os.utime(session.path, (long_ago, long_ago))
    factory.script(
        "import os, worker.app\n"
        "worker.app.CATCH_UP_SECONDS = 1.0\n"
        "from worker.config import Settings\n"
        "from worker.jobs import run_beat\n"
        "run_beat(Settings.from_env(os.environ))\n"
    )
    until(lambda: [one.range.end for one in place.chain()] == [6, 10])
    time.sleep(2.5)
    nights = [job for job in place.service.desk.ended() if job.request.kind is Kind.NIGHTLY]
    assert len(nights) == 1
    assert len(place.chain()) == 2


def test_beat_remembers_in_the_run_folder_and_ends_when_told(factory: Factory, until: Until) -> None:
    factory.redis.start()
    beat = factory.afterturn("beat")
    until(lambda: list(factory.run.glob("beat-schedule*")))
    assert beat.stop() == 0


def test_a_worker_asks_a_model_and_what_it_says_is_kept(factory: Factory, until: Until, provider: Any) -> None:
    """B64 The whole way, with the real LiteLLM: queue, worker, slots, provider, checkpoint."""
    request = "Work on T-100 to T-102 without a change of the schema"
    provider.otherwise = lambda _: provider.says(in_form({**EMPTY_PART, "request": request, "current_work": request}))
    factory.redis.start()
    factory.environ |= {
        "AFTERTURN_MODEL": "openai/test",
        "AFTERTURN_API_BASE": provider.url,
        "AFTERTURN_API_KEY": "sk-test-not-a-key",
        "NO_PROXY": "127.0.0.1",
    }
    place = factory.place
    factory.worker()
    job = place.hand_in(place.transcript().turns(3))
    until(lambda: ended(place, job), 60)
    ending = place.job(job).ending
    assert (ending.outcome, ending.status) == (Outcome.COMMITTED, "ok")
    assert ending.llm_calls == len(provider.requests)
    assert ending.tokens_in == 120 * ending.llm_calls


def test_a_night_is_due_at_the_local_time_of_the_setting() -> None:
    app = make_app("redis://localhost", Settings(nightly_at="02:15"), zone_name="Asia/Shanghai")
    schedule = app.conf.beat_schedule["night"]["schedule"]
    assert (schedule.hour, schedule.minute) == ({2}, {15})
    assert str(app.timezone) == "Asia/Shanghai"
