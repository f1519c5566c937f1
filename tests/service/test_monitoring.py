"""What a person and Prometheus are shown: whether work gets done, not whether processes live."""

import json
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

from worker.adapters.redis_link import RedisLink
from worker.attempts import attempt
from worker.core.checkpoint import Outcome
from worker.core.job import Ending, Trigger
from worker.delivery import leave, spool_of
from worker.monitoring import (
    OVERDUE_SECONDS,
    Metrics,
    event_line,
    event_object,
    health_lines,
    health_object,
    health_of,
    job_object,
    known_jobs,
    table,
    where_of,
)
from worker.service import Service


def test_nothing_to_do_is_no_problem(place: Any) -> None:
    health = health_of(place.service)
    assert health.problems == ()
    assert "success   none yet" in health_lines(health)
    assert health_object(health)["ok"] is True


def test_work_that_could_have_begun_long_ago_is_a_problem(place: Any) -> None:
    """B26, J06: a live worker that does nothing is not healthy."""
    place.hand_in(place.transcript().turns(1))
    spool_of(place.service.run).watch()
    assert health_of(place.service).problems == ()
    place.clock.advance(OVERDUE_SECONDS + 5)
    [problem] = health_of(place.service).problems
    assert problem == "1 jobs wait, one of them could have begun 5 min ago"


def test_a_job_in_back_off_is_not_overdue(place: Any) -> None:
    job = place.hand_in(place.transcript())
    place.take()
    desk = place.service.desk
    desk.begin(job, "me", place.clock.now())
    desk.retry(job, "me", place.clock.now(), place.clock.now() + timedelta(hours=5), "later")
    place.clock.advance(3_600)
    assert health_of(place.service).problems == ()


def test_a_worker_that_is_not_heard_is_a_problem(place: Any) -> None:
    job = place.hand_in(place.transcript())
    place.take()
    place.service.desk.begin(job, "me", place.clock.now())
    place.link.call("ZINCRBY", place.link.key("running"), -60_000, job)
    assert health_of(place.service).problems == (f"1 jobs have a worker that is not heard: {job}",)


def test_jobs_on_disk_that_nobody_looks_at_are_a_problem(place: Any) -> None:
    spool = spool_of(place.service.run)
    spool.watch()
    leave(place.request(place.transcript()), place.service.run)
    assert health_of(place.service).problems == ()
    spool.unwatch()
    [problem] = health_of(place.service).problems
    assert "no worker looks at them" in problem


def test_an_open_breaker_is_shown_and_is_no_problem(place: Any) -> None:
    for _ in range(3):
        place.service.breakers.failed("provider:x", place.clock.now(), "model_unavailable")
    health = health_of(place.service)
    assert health.problems == ()
    assert "provider:x: 3 failures (model_unavailable)" in health_lines(health)


def test_the_last_success_is_told(place: Any) -> None:
    place.work(place.transcript().turns(1))
    assert health_of(place.service).desk.last_success_at is not None


def test_the_table_has_what_runs_waits_and_ended(place: Any) -> None:
    place.work(place.transcript("done").turns(2))
    running = place.hand_in(place.transcript("runs"), session="claude-code--" + "x" * 60)
    place.take()
    desk = place.service.desk
    desk.begin(running, "me", place.clock.now())
    desk.progress(running, "me", place.clock.now(), "asking", done=3, total=8, tokens=12_345)
    desk.submit(place.request(place.transcript("waits")), place.clock.now(), 90.0)
    jobs = known_jobs(place.service)
    shown = table(jobs, place.clock.now()).splitlines()
    assert "part 3 of 8" in shown[1]
    assert "12,345" in shown[1]
    assert "…" in shown[1]
    assert "in 90 s" in shown[2] or "in 89 s" in shown[2]
    assert "committed: checkpoint 1 deterministic, m0–m3" in shown[3]
    assert table([], place.clock.now()) == "no jobs"


def test_every_job_is_an_object_of_plain_json(place: Any) -> None:
    job = place.hand_in(place.transcript().turns(2), trigger=Trigger.MANUAL)
    place.take()
    attempt(place.service, job)
    found = json.loads(json.dumps(job_object(place.job(job))))
    assert found["ending"]["outcome"] == "committed"
    assert found["manual"] is True
    assert found["finished_at"].endswith("+00:00")
    [event] = place.service.events.read()
    assert event_object(event)["name"] == "committed"
    assert "committed checkpoint 1 claude-code--s1" in event_line(event)


def test_a_job_behind_another_says_so(place: Any) -> None:
    session = place.transcript()
    first = place.hand_in(session)
    place.take()
    place.service.desk.begin(first, "me", place.clock.now())
    behind = place.hand_in(session)
    assert where_of(place.job(behind), datetime.now(UTC)) == "behind the running one"


def test_prometheus_gets_numbers(place: Any) -> None:
    metrics = Metrics(place.service)
    job = place.hand_in(place.transcript().turns(1))
    found = place.job(job)
    ending = Ending(outcome=Outcome.COMMITTED, reason="ok", tokens_in=120, tokens_out=30, llm_calls=2)
    metrics.told(found, ending, 1.5)
    value = metrics.registry.get_sample_value
    assert value("afterturn_jobs_total", {"kind": "consolidate", "outcome": "committed", "reason": "ok"}) == 1
    assert value("afterturn_tokens_total", {"way": "in"}) == 120
    assert value("afterturn_job_seconds_count", {"kind": "consolidate"}) == 1
    assert value("afterturn_jobs_waiting") == 1
    assert value("afterturn_up") == 1


def test_without_redis_the_numbers_do_not_look_like_an_empty_queue(place: Any) -> None:
    service = Service.over(RedisLink("unix:///nowhere/redis.sock"), place.settings)
    value = Metrics(service).registry.get_sample_value
    assert value("afterturn_up") == 0
    assert value("afterturn_jobs_waiting") is None


def test_an_ended_attempt_is_counted_by_whoever_listens(place: Any) -> None:
    heard: list[str] = []
    job = place.hand_in(place.transcript().turns(1))
    place.take()
    attempt(place.service.telling(lambda job, ending, seconds: heard.append(ending.outcome.value)), job)
    assert heard == ["committed"]


def test_the_port_answers_over_http(place: Any, unused_port: int) -> None:
    stop = Metrics(place.service).serve(unused_port)
    with urllib.request.urlopen(f"http://127.0.0.1:{unused_port}/metrics", timeout=5) as page:
        assert b"afterturn_up 1.0" in page.read()
    stop()
