"""The desk on a real Redis."""

import itertools
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worker.adapters.job_desk import LONGEST_DEBOUNCE_SECONDS, JobDesk, new_submission
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis
from worker.core.checkpoint import Outcome
from worker.core.job import Ending, Job, JobRequest, Kind, Order, Priority, State, Trigger
from worker.errors import UsageError

NOW = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)
WORKSPACE, TRANSCRIPT = "/w", "/t/s.jsonl"
DONE = Ending(outcome=Outcome.COMMITTED, reason="committed", checkpoint=7, start=0, end=40, messages=40, tokens_in=900)

InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]


@pytest.fixture
def desk(redis_link: RedisLink) -> JobDesk:
    return JobDesk(redis_link)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def wish(seconds: float = 0.0, **more: Any) -> JobRequest:
    given = {"submission": new_submission(), "kind": Kind.CONSOLIDATE, "workspace": WORKSPACE, "transcript": TRANSCRIPT}
    return JobRequest(**{**given, "submitted_at": at(seconds), **more})


def manual(seconds: float = 0.0, **more: Any) -> JobRequest:
    return wish(seconds, trigger=Trigger.MANUAL, priority=Priority.INTERACTIVE, **more)


def read(desk: JobDesk, job: str) -> Job:
    found = desk.status(job)
    assert found is not None
    return found


def begun(desk: JobDesk, request: JobRequest | None = None, owner: str = "w1") -> str:
    """A job that the owner works on."""
    job = desk.submit(request or wish(), NOW, 0)
    desk.claim_due(NOW)
    assert desk.begin(job, owner, NOW) is not None
    return job


def sent(desk: JobDesk, seconds: float) -> list[str]:
    return [claim.job for claim in desk.claim_due(at(seconds))]


def test_j01_b30_six_turn_ends_in_25_seconds_are_one_run_over_the_last_state(desk: JobDesk) -> None:
    jobs = [desk.submit(wish(s, transcript_bytes=100 * s), at(s), 10) for s in (0, 5, 10, 15, 20, 25)]
    assert len(set(jobs)) == 1
    assert sent(desk, 34.9) == []
    assert sent(desk, 35) == jobs[:1]
    job = desk.begin(jobs[0], "w1", at(35))
    assert job is not None
    assert (job.coalesced, job.request.transcript_bytes) == (6, 2500)
    assert (desk.waiting(), sent(desk, 10_000)) == ([], [])


def test_o60_j15_manual_nightly_and_turn_end_of_one_session_are_one_run(desk: JobDesk) -> None:
    wishes = [
        wish(trigger=Trigger.NIGHTLY, priority=Priority.NIGHTLY),
        wish(),
        manual(instructions="keep the API decisions in full"),
    ]
    jobs = {desk.submit(one, NOW, 0 if one.is_manual else 30) for one in wishes}
    assert len(jobs) == 1
    (claim,) = desk.claim_due(NOW)
    assert claim.priority is Priority.INTERACTIVE
    job = read(desk, claim.job)
    assert (job.is_manual, job.request.trigger) == (True, Trigger.MANUAL)
    assert job.request.instructions == "keep the API decisions in full"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_newest_facts_and_the_strongest_wish_win_in_whatever_order_they_arrive(
    desk: JobDesk, order: tuple[int, ...]
) -> None:
    """A spool is drained late: what is in it may be older than what is at the desk."""
    wishes = [wish(0, transcript_bytes=1, seal_all=True), manual(1, transcript_bytes=2), wish(2, transcript_bytes=3)]
    for place in order:
        job = desk.submit(wishes[place], at(5), 10)
    found = read(desk, job)
    assert found.request.transcript_bytes == 3
    assert (found.request.seal_all, found.is_manual, found.priority) == (True, True, Priority.INTERACTIVE)


def test_an_agent_that_never_pauses_is_consolidated_all_the_same(desk: JobDesk) -> None:
    for seconds in range(0, 200, 5):
        job = desk.submit(wish(seconds), at(seconds), 10)
        if sent(desk, seconds):
            break
    assert seconds == LONGEST_DEBOUNCE_SECONDS
    assert read(desk, job).coalesced == 1 + LONGEST_DEBOUNCE_SECONDS / 5


def test_a_request_without_delay_makes_the_waiting_job_due_and_later_ones_do_not_put_it_off(desk: JobDesk) -> None:
    job = desk.submit(wish(), NOW, 60)
    desk.submit(manual(1), at(1), 0)
    desk.submit(wish(1.5), at(1.5), 60)
    assert sent(desk, 2) == [job]


def test_the_same_submission_twice_is_one_wish_also_after_its_job_ended(desk: JobDesk) -> None:
    """B34: a spool that is drained twice hands everything in twice."""
    request = wish()
    job = begun(desk, request)
    assert desk.submit(request, at(1), 0) == job
    assert desk.finish(job, "w1", at(2), DONE)
    assert desk.submit(request, at(3), 0) == job
    assert (read(desk, job).coalesced, desk.waiting()) == (1, [])


def test_a_submission_leads_to_the_job_that_it_became_part_of(desk: JobDesk) -> None:
    job, later = desk.submit(wish(), NOW, 10), wish(1)
    desk.submit(later, at(1), 10)
    assert read(desk, later.submission).id == job
    assert desk.cancel(later.submission, NOW) == "cancelled"


def test_different_work_waits_side_by_side(desk: JobDesk) -> None:
    wishes = [wish(), wish(transcript="/t/u.jsonl"), wish(kind=Kind.RESUMMARIZE), wish(workspace="/v")]
    assert len({desk.submit(one, NOW, 0) for one in wishes}) == 4
    assert len(desk.claim_due(NOW)) == 4


def test_j05_b27_a_request_for_a_session_that_was_done_runs(desk: JobDesk) -> None:
    first = begun(desk, wish(seal_all=True))
    desk.finish(first, "w1", at(1), DONE)
    late = desk.submit(wish(5), at(5), 1)
    assert late != first
    assert sent(desk, 6) == [late]


def test_instructions_reach_redis_without_their_secrets(desk: JobDesk, redis_link: RedisLink) -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7j" * 5
    job = desk.submit(manual(instructions=f"use {secret} for it"), NOW, 0)
    assert secret not in read(desk, job).request.instructions
    assert secret not in str(redis_link.call("HGETALL", redis_link.key("job", job)))


def test_paths_of_any_bytes_come_back_as_they_were(desk: JobDesk) -> None:
    path = "/t/\udcff\ud83d\x00\u2028 名前.jsonl"
    job = desk.submit(wish(transcript=path), NOW, 0)
    assert read(desk, job).request.transcript == path
    assert [found.id for found in desk.jobs_of(WORKSPACE, path)] == [job]


def test_requests_during_a_run_become_exactly_one_follow_up_that_is_due_when_the_run_ends(desk: JobDesk) -> None:
    job = begun(desk)
    follow_ups = {desk.submit(wish(s, transcript_bytes=s), at(s), 1) for s in (1, 2, 3)}
    assert len(follow_ups) == 1
    assert sent(desk, 100) == []
    assert read(desk, *follow_ups).due_at is None
    desk.finish(job, "w1", at(101), DONE)
    assert sent(desk, 101) == list(follow_ups)
    assert read(desk, *follow_ups).request.transcript_bytes == 3


def test_a_follow_up_keeps_the_debounce_that_is_left(desk: JobDesk) -> None:
    job = begun(desk)
    follow_up = desk.submit(wish(10), at(10), 20)
    desk.finish(job, "w1", at(11), DONE)
    assert (sent(desk, 29), sent(desk, 30)) == ([], [follow_up])


def test_o39_a_job_that_ends_queues_nothing_by_itself(desk: JobDesk) -> None:
    for seconds in range(5):
        job = begun(desk, wish(seconds))
        desk.finish(job, "w1", at(seconds), DONE)
        assert (desk.waiting(), sent(desk, 1e6)) == ([], [])


def test_b28_a_delivery_that_comes_again_finds_the_job_ended(desk: JobDesk) -> None:
    job = begun(desk)
    assert desk.finish(job, "w1", at(1), DONE)
    assert desk.begin(job, "w2", at(2)) is None
    assert read(desk, job).ending == DONE


def test_a_second_delivery_while_the_first_works_gets_nothing(desk: JobDesk) -> None:
    job = begun(desk)
    assert desk.begin(job, "w2", at(1)) is None
    assert read(desk, job).owner == "w1"


def test_a_delivery_from_before_the_back_off_does_not_cut_it_short(desk: JobDesk) -> None:
    job = begun(desk)
    desk.retry(job, "w1", at(1), at(300), "model_unavailable")
    assert desk.begin(job, "w2", at(2)) is None
    assert sent(desk, 300) == [job]
    assert desk.begin(job, "w2", at(300)) is not None


def test_a_job_that_nobody_knows_is_nobodys(desk: JobDesk) -> None:
    assert desk.begin("s-unknown", "w1", NOW) is None
    assert desk.beat("s-unknown", "w1", NOW) is Order.LOST
    assert desk.cancel("s-unknown", NOW) == "unknown"
    assert desk.status("s-unknown") is None
    assert not desk.finish("s-unknown", "w1", NOW, DONE)


def test_progress_is_readable_while_it_runs(desk: JobDesk) -> None:
    job = begun(desk)
    assert desk.progress(job, "w1", at(5), "asking", done=2, total=5, tokens=4_000) is Order.GO_ON
    found = read(desk, job)
    assert (found.state, found.stage, found.part_done, found.parts) == (State.RUNNING, "asking", 2, 5)
    assert (found.tokens, found.heartbeat_at, found.attempts) == (4_000, at(5), 1)
    assert [one.id for one in desk.running()] == [job]


def test_a_raised_priority_sends_a_job_again_that_lies_in_a_lower_queue(desk: JobDesk) -> None:
    job = desk.submit(wish(priority=Priority.NIGHTLY), NOW, 0)
    assert [claim.priority for claim in desk.claim_due(NOW)] == [Priority.NIGHTLY]
    desk.submit(manual(), NOW, 0)
    assert [(claim.job, claim.priority) for claim in desk.claim_due(NOW)] == [(job, Priority.INTERACTIVE)]
    assert desk.begin(job, "first message", NOW) is not None
    assert desk.begin(job, "second message", NOW) is None


def test_higher_queues_are_sent_first_and_within_one_the_longest_due(desk: JobDesk) -> None:
    for place, priority in enumerate([Priority.NIGHTLY, Priority.TURN, Priority.INTERACTIVE, Priority.TURN]):
        desk.submit(wish(transcript=f"/t/{place}", submission=f"number-{place}", priority=priority), at(place), 0)
    assert sent(desk, 10) == ["number-2", "number-1", "number-3", "number-0"]


def test_no_more_than_the_limit_is_claimed_at_once(desk: JobDesk) -> None:
    for place in range(5):
        desk.submit(wish(transcript=f"/t/{place}"), NOW, 0)
    assert [len(desk.claim_due(NOW, limit=2)) for _ in range(4)] == [2, 2, 1, 0]


def test_b31_every_attempt_is_counted_and_the_last_error_is_kept(desk: JobDesk) -> None:
    job = begun(desk)
    for attempt in (1, 2, 3):
        assert read(desk, job).attempts == attempt
        assert desk.retry(job, "w1", at(attempt), at(attempt), f"model_unavailable\nfor the {attempt}. time")
        assert sent(desk, attempt) == [job]
        assert desk.begin(job, "w1", at(attempt)) is not None
    assert read(desk, job).error == "model_unavailable for the 3. time"


def test_a_turn_end_does_not_cut_a_back_off_short_and_a_person_does(desk: JobDesk) -> None:
    job = begun(desk)
    desk.retry(job, "w1", at(1), at(21_600), "model_unavailable")
    assert desk.submit(wish(10), at(10), 5) == job
    assert sent(desk, 21_599) == []
    desk.submit(manual(60), at(60), 0)
    assert sent(desk, 60) == [job]


def test_what_was_asked_for_during_a_run_that_failed_becomes_part_of_its_next_attempt(desk: JobDesk) -> None:
    job = begun(desk)
    later = desk.submit(wish(5, transcript_bytes=500, seal_all=True, instructions="keep it"), at(5), 10)
    assert desk.retry(job, "w1", at(6), at(60), "model_unavailable")
    assert sent(desk, 60) == [job]
    found = desk.begin(job, "w1", at(60))
    assert found is not None
    assert (found.request.transcript_bytes, found.request.seal_all, found.coalesced) == (500, True, 2)
    assert found.request.instructions == "keep it"
    assert read(desk, later).id == job, "who waits for the later request sees the job that does it"


def test_a_person_who_asked_during_a_run_that_failed_does_not_wait_for_its_back_off(desk: JobDesk) -> None:
    job = begun(desk)
    desk.submit(manual(5), at(5), 0)
    desk.retry(job, "w1", at(6), at(3_600), "model_unavailable")
    desk.submit(wish(7), at(7), 30)
    assert [(claim.job, claim.priority) for claim in desk.claim_due(at(7))] == [(job, Priority.INTERACTIVE)]


def test_an_owner_that_lost_its_job_changes_nothing_any_more(desk: JobDesk) -> None:
    job = begun(desk, owner="old")
    assert desk.begin(job, "new", at(60), silent_seconds=0) is not None
    assert desk.progress(job, "old", at(61), "writing") is Order.LOST
    assert not desk.finish(job, "old", at(62), DONE)
    assert not desk.retry(job, "old", at(62), at(62), "model_unavailable")
    assert (read(desk, job).owner, read(desk, job).stage) == ("new", "reading")


def test_a_job_whose_worker_died_is_found_and_runs_again(desk: JobDesk) -> None:
    job = begun(desk)
    assert desk.stuck() == []
    assert [found.id for found in desk.stuck(silent_seconds=0)] == [job]
    assert [(one.job, one.what) for one in desk.rescue(at(1), silent_seconds=0)] == [(job, "requeued")]
    assert sent(desk, 1) == [job]
    found = desk.begin(job, "w2", at(1))
    assert found is not None
    assert (found.owner, found.attempts) == ("w2", 2)


def test_a_worker_that_reports_is_not_taken_for_dead(desk: JobDesk, redis_link: RedisLink) -> None:
    job = begun(desk)

    def silent_for(seconds: int) -> None:
        redis_link.call("ZINCRBY", redis_link.key("running"), -1_000 * seconds, job)

    silent_for(25)
    assert desk.rescue(NOW) == []
    assert desk.beat(job, "w1", NOW) is Order.GO_ON
    silent_for(25)
    assert desk.rescue(NOW) == []
    silent_for(6)
    assert [one.job for one in desk.rescue(NOW)] == [job]


def test_a_server_clock_that_was_set_back_hides_no_dead_worker(desk: JobDesk, redis_link: RedisLink) -> None:
    job = begun(desk)
    redis_link.call("ZINCRBY", redis_link.key("running"), 86_400_000, job)
    assert desk.rescue(NOW, silent_seconds=0.1) == []
    time.sleep(0.15)
    assert [one.job for one in desk.rescue(NOW, silent_seconds=0.1)] == [job]


def test_j08_b32_a_job_that_was_sent_and_that_nobody_began_is_sent_again(desk: JobDesk) -> None:
    job = desk.submit(wish(), NOW, 0)
    assert sent(desk, 0) == [job]
    assert desk.rescue(NOW) == []
    assert [one.what for one in desk.rescue(NOW, unsent_seconds=0)] == ["requeued"]
    assert sent(desk, 0) == [job]


def test_a_follow_up_of_a_job_whose_worker_died_is_not_lost(desk: JobDesk) -> None:
    job = begun(desk)
    later = desk.submit(wish(1, transcript_bytes=9), at(1), 0)
    desk.rescue(at(2), silent_seconds=0)
    assert sent(desk, 2) == [job]
    assert read(desk, later).request.transcript_bytes == 9


def test_a_job_that_kills_its_workers_fails_in_the_end_and_its_follow_up_goes_on(desk: JobDesk) -> None:
    job = begun(desk)
    desk.rescue(NOW, silent_seconds=0)
    assert sent(desk, 0) == [job]
    desk.begin(job, "w2", NOW)
    later = desk.submit(wish(1), at(1), 0)
    assert [one.what for one in desk.rescue(at(2), silent_seconds=0, most_attempts=2)] == ["failed"]
    ending = read(desk, job).ending
    assert ending is not None
    assert (ending.outcome, ending.reason) == (Outcome.FAILED, "worker_lost")
    assert sent(desk, 2) == [later]


def test_a_record_that_vanished_does_not_stop_the_rescue_of_others(desk: JobDesk, redis_link: RedisLink) -> None:
    gone, job = begun(desk), begun(desk, wish(transcript="/t/other"))
    redis_link.call("DEL", redis_link.key("job", gone))
    assert {one.job: one.what for one in desk.rescue(NOW, silent_seconds=0)} == {gone: "forgotten", job: "requeued"}
    assert desk.rescue(NOW, silent_seconds=0) == []


def test_a_waiting_job_is_cancelled_at_once(desk: JobDesk) -> None:
    job = desk.submit(wish(), NOW, 10)
    assert desk.cancel(job, at(1), "asked") == "cancelled"
    assert (sent(desk, 100), desk.waiting()) == ([], [])
    assert desk.cancel(job, at(2)) == "ended"
    assert desk.submit(wish(3), at(3), 0) != job


def test_a_running_job_is_told_to_stop_at_its_next_report(desk: JobDesk) -> None:
    job = begun(desk)
    assert desk.cancel(job, at(1), "asked") == "stopping"
    assert desk.beat(job, "w1", at(2)) is Order.STOP
    assert desk.finish(job, "w1", at(3), Ending(outcome=Outcome.CANCELLED, reason="asked", start=0, end=4, messages=4))
    assert read(desk, job).state is State.DONE


def test_a_cancelled_job_whose_worker_died_is_not_tried_again(desk: JobDesk) -> None:
    job = begun(desk)
    desk.cancel(job, at(1))
    assert [one.what for one in desk.rescue(at(2), silent_seconds=0)] == ["cancelled"]
    assert sent(desk, 100) == []


def test_a_cancelled_job_is_not_tried_again_when_its_attempt_fails(desk: JobDesk) -> None:
    job = begun(desk)
    later = desk.submit(wish(1), at(1), 0)
    desk.cancel(job, at(2))
    assert desk.retry(job, "w1", at(3), at(4), "model_unavailable")
    ending = read(desk, job).ending
    assert ending is not None
    assert ending.outcome is Outcome.CANCELLED
    assert sent(desk, 3) == [later]


def test_cancelling_a_session_takes_its_running_and_its_waiting_job(desk: JobDesk) -> None:
    job = begun(desk)
    later = desk.submit(wish(1), at(1), 0)
    desk.name_session(job, WORKSPACE, "claude-code--0f3a")
    assert desk.cancel_session(WORKSPACE, "claude-code--0f3a", at(2)) == {job: "stopping"}
    assert desk.cancel_session(WORKSPACE, TRANSCRIPT, at(2)) == {job: "stopping", later: "cancelled"}


def test_j18_a_job_never_ends_without_a_reason_code(desk: JobDesk) -> None:
    job = begun(desk)
    with pytest.raises(UsageError, match="reason"):
        desk.finish(job, "w1", at(1), replace(DONE, reason=""))
    assert read(desk, job).state is State.RUNNING


def test_j18_every_way_to_end_leaves_outcome_reason_and_counts(desk: JobDesk) -> None:
    finished = begun(desk)
    desk.finish(finished, "w1", at(1), DONE)
    cancelled = desk.submit(wish(2), at(2), 9)
    desk.cancel(cancelled, at(3), "asked")
    retried = begun(desk, wish(4))
    joined = desk.submit(wish(5), at(5), 0)
    desk.retry(retried, "w1", at(6), at(6), "model_unavailable")
    desk.claim_due(at(6))
    desk.begin(retried, "w1", at(6))
    desk.rescue(at(7), silent_seconds=0, most_attempts=1)
    endings = {job.id: job.ending for job in desk.ended()}
    assert set(endings) == {finished, cancelled, joined, retried}
    assert [ending.outcome for ending in endings.values() if ending] == [
        "failed",
        "superseded",
        "cancelled",
        "committed",
    ]
    assert all(ending and ending.reason for ending in endings.values())
    assert endings[finished] == DONE


def test_the_history_is_bounded_in_number_and_in_time(redis_link: RedisLink) -> None:
    desk = JobDesk(redis_link, kept_jobs=3, kept_days=1)
    jobs = []
    for seconds in range(6):
        jobs.append(begun(desk, wish(seconds)))
        desk.finish(jobs[-1], "w1", at(seconds), DONE)
    assert [job.id for job in desk.ended()] == jobs[:2:-1]
    assert desk.status(jobs[0]) is None
    assert redis_link.call("PTTL", redis_link.key("job", jobs[-1])) > 0


def test_a_job_that_has_not_ended_never_expires(desk: JobDesk, redis_link: RedisLink) -> None:
    waiting, running = desk.submit(wish(transcript="/t/u"), NOW, 10), begun(desk)
    assert [redis_link.call("PTTL", redis_link.key("job", job)) for job in (waiting, running)] == [-1, -1]


def test_b26_j06_health_is_the_age_of_what_waits_and_of_the_last_success(desk: JobDesk) -> None:
    nothing = desk.health(NOW)
    assert (nothing.waiting, nothing.oldest_waiting_seconds, nothing.last_success_at) == (0, None, None)
    job = begun(desk)
    desk.finish(job, "w1", at(5), DONE)
    failed = begun(desk, wish(6))
    desk.finish(failed, "w1", at(8), Ending(outcome=Outcome.FAILED, reason="model_refused"))
    for seconds in (10, 20):
        desk.submit(wish(seconds, transcript=f"/t/{seconds}"), at(seconds), 30)
    health = desk.health(at(100))
    assert (health.last_success_at, health.last_finished_at) == (at(5), at(8))
    assert (health.waiting, health.oldest_waiting_seconds, health.overdue_seconds) == (2, 90, 60)


def test_a_job_in_back_off_waits_and_is_not_overdue(desk: JobDesk) -> None:
    job = begun(desk)
    desk.retry(job, "w1", at(1), at(3_600), "model_unavailable")
    health = desk.health(at(600))
    assert (health.waiting, health.oldest_waiting_seconds, health.overdue_seconds) == (1, 600, None)


def test_a_clock_that_was_set_back_keeps_no_job_waiting(desk: JobDesk) -> None:
    job = desk.submit(wish(86_400), at(86_400), 10)
    assert sent(desk, 0) == [job]


def test_a_clock_that_was_set_back_keeps_no_job_waiting_of_an_agent_that_goes_on(desk: JobDesk) -> None:
    job = desk.submit(wish(86_400), at(86_400), 10)
    for seconds in range(0, 200, 5):
        desk.submit(wish(seconds), at(seconds), 10)
        if sent(desk, seconds) == [job]:
            break
    assert seconds <= LONGEST_DEBOUNCE_SECONDS


def test_facts_from_before_the_clock_was_set_back_are_not_the_newest_for_ever(desk: JobDesk) -> None:
    job = desk.submit(wish(86_400, transcript_bytes=1), at(86_400), 10)
    desk.submit(wish(0, transcript_bytes=2), at(0), 10)
    assert read(desk, job).request.transcript_bytes == 2


def test_a_clock_that_is_a_little_behind_does_not_undo_the_debounce(desk: JobDesk) -> None:
    job = desk.submit(wish(30), at(30), 10)
    assert (sent(desk, 0), sent(desk, 40)) == ([], [job])


def test_b36_what_is_at_the_desk_survives_the_death_of_redis(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    def connect() -> RedisLink:
        return RedisLink(str(tmp_path / "own/redis/redis.sock"))

    link = connect()
    desk = JobDesk(link)
    running = begun(desk)
    waiting = desk.submit(wish(1), at(1), 10)
    back_off = begun(desk, wish(transcript="/t/u"))
    desk.retry(back_off, "w1", at(2), at(300), "model_unavailable")
    ended = begun(desk, wish(transcript="/t/v"))
    desk.finish(ended, "w1", at(3), DONE)
    before = [desk.status(job) for job in (running, waiting, back_off, ended)]
    link.close()
    assert own_redis.pid is not None
    os.kill(own_redis.pid, signal.SIGKILL)
    own_redis.stop()
    own_redis.start()
    link = connect()
    desk = JobDesk(link)
    assert [desk.status(job) for job in (running, waiting, back_off, ended)] == before
    assert desk.finish(running, "w1", at(20), DONE)
    assert sent(desk, 300) == [waiting, back_off]
    link.close()


def test_submitting_workers_and_a_sweeper_in_many_processes_lose_no_wish(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    """Every wish is covered by a run that began after it was handed in, and no session runs twice at a time."""
    rounds, sessions = 40, ("/t/a", "/t/b")

    def act(number: int) -> list[list[Any]]:
        desk = JobDesk(RedisLink(redis_server, prefix=redis_link.prefix))
        if number < 2:
            return _hand_in_many(desk, sessions[number], rounds)
        return _work(desk, f"worker {number}", until_idle_for=0.5)

    *handed_in, first, second, third = in_processes(5, act)
    assert [len(one) for one in handed_in] == [rounds, rounds]
    rest = _work(JobDesk(redis_link), "the last worker", until_idle_for=0.2)
    runs = sorted([*first, *second, *third, *rest], key=lambda run: run[2])
    for session in sessions:
        own = [run for run in runs if run[0] == session]
        assert own[-1][1] == rounds - 1, "the last run saw the last wish"
        assert all(earlier[3] <= later[2] for earlier, later in itertools.pairwise(own)), "two at a time"
        assert len(own) < rounds
    assert JobDesk(redis_link).waiting() == []


def _hand_in_many(desk: JobDesk, session: str, rounds: int) -> list[list[Any]]:
    for number in range(rounds):
        desk.submit(wish(number, transcript=session, transcript_bytes=number), datetime.now(UTC), 0.02)
        time.sleep(0.005)
    return [[number] for number in range(rounds)]


def _work(desk: JobDesk, owner: str, until_idle_for: float) -> list[list[Any]]:
    """What was run: session, facts, begin and end. Every third run fails, every seventh dies and is swept up."""
    runs: list[list[Any]] = []
    last, count = time.monotonic(), 0
    while time.monotonic() - last < until_idle_for:
        for claim in desk.claim_due(datetime.now(UTC)):
            job = desk.begin(claim.job, owner, datetime.now(UTC))
            if job is None:
                continue
            started, last, count = time.monotonic(), time.monotonic(), count + 1
            time.sleep(0.01)
            now = datetime.now(UTC)
            if count % 7 == 0:
                desk.rescue(now, silent_seconds=0, unsent_seconds=60, most_attempts=1_000)
            elif count % 3 == 0:
                desk.retry(job.id, owner, now, now, "model_unavailable")
            else:
                ended = time.monotonic()
                if desk.finish(job.id, owner, now, DONE):
                    runs.append([job.request.transcript, job.request.transcript_bytes, started, ended])
        time.sleep(0.002)
    return runs


def test_twenty_processes_that_hand_in_at_once_make_one_job(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    def hand_in(number: int) -> str:
        desk = JobDesk(RedisLink(redis_server, prefix=redis_link.prefix))
        return desk.submit(wish(number, transcript_bytes=number), at(number), 10)

    (job,) = set(in_processes(20, hand_in))
    found = read(JobDesk(redis_link), job)
    assert (found.coalesced, found.request.transcript_bytes) == (20, 19)


def test_b39_of_many_processes_that_want_a_job_one_gets_it(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    desk = JobDesk(redis_link)
    job = desk.submit(wish(), NOW, 0)

    def work(_: int) -> list[bool]:
        own = JobDesk(RedisLink(redis_server, prefix=redis_link.prefix))
        claimed = bool(own.claim_due(NOW))
        time.sleep(0.05)
        return [claimed, own.begin(job, f"process {os.getpid()}", NOW) is not None]

    answers = in_processes(8, work)
    assert [sum(claimed for claimed, _ in answers), sum(got for _, got in answers)] == [1, 1]
