"""One attempt at a job: what it leaves behind, and what it does not, however it ends."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from worker import attempts
from worker.adapters.job_desk import Rescue
from worker.attempts import BACKOFF_SECONDS, attempt
from worker.core.checkpoint import Outcome, Status
from worker.core.job import Kind, Priority, State, Trigger
from worker.errors import ModelRefused, ModelUnavailable, RateLimited
from worker.testing import EMPTY_PART, ScriptedModel, in_form
from worker.watching import stopping

DOWN = ModelUnavailable("openai/x: connection refused")


def test_a_job_ends_with_a_checkpoint_and_what_an_agent_reads(place: Any) -> None:
    """J09: not only written, but found where it is read. J18: with reason, counts and range."""
    ending = place.work(place.transcript().turns(6))
    assert (ending.outcome, ending.reason, ending.checkpoint) == (Outcome.COMMITTED, "deterministic", 1)
    assert (ending.start, ending.end, ending.messages) == (0, 12, 12)
    assert "Never change the database schema" in (place.root / "MEMORY.md").read_text("utf-8")
    assert "T-105" in (place.root / "HISTORY.md").read_text("utf-8")
    assert place.events() == ["committed"]


def test_a_message_that_is_delivered_twice_works_once(place: Any) -> None:
    """J04, B28, B34."""
    job = place.hand_in(place.transcript().turns(3))
    place.take()
    assert attempt(place.service, job) is not None
    assert attempt(place.service, job) is None
    assert len(place.chain()) == 1
    assert (place.root / "HISTORY.md").read_text("utf-8").count("number=1 -->") == 1


def test_a_late_job_for_a_session_that_ended_runs(place: Any) -> None:
    """J05."""
    session = place.transcript().turns(3)
    place.work(session)
    session.turns(2)
    late = place.work(session, trigger=Trigger.TURN, seal_all=True)
    assert (late.outcome, late.start, late.end) == (Outcome.COMMITTED, 6, 10)


def test_a_transcript_that_is_gone_fails_once_and_nothing_is_touched(place: Any) -> None:
    """T03."""
    session = place.transcript().turns(3)
    place.work(session)
    memory = (place.root / "MEMORY.md").read_bytes()
    session.path.unlink()
    for _ in range(4):
        ending = place.work(session)
        assert (ending.outcome, ending.reason) == (Outcome.FAILED, "source_missing")
    assert place.take() == []
    assert (place.root / "MEMORY.md").read_bytes() == memory
    assert place.service.breakers.not_closed() == []


def test_a_cancelled_job_stops_at_its_next_report_and_commits_nothing(place: Any) -> None:
    """J18: with the reason."""
    job = place.hand_in(place.transcript().turns(3))
    place.take()
    place.during = lambda stage: stage == "validating" and place.service.desk.cancel(job, place.clock.now(), "typo")
    ending = attempt(place.service, job)
    assert ending is not None
    assert (ending.outcome, ending.reason) == (Outcome.CANCELLED, "typo")
    assert place.chain() == []
    assert place.job(job).state is State.DONE
    assert place.events() == ["cancelled"]


def test_a_worker_that_was_taken_for_dead_commits_nothing(place: Any) -> None:
    """O53, J11: who took over does it, and its checkpoint is the only one."""
    job = place.hand_in(place.transcript().turns(3))
    place.take()

    def rescue(stage: str) -> None:
        if stage == "writing":
            done = place.service.desk.rescue(place.clock.now(), silent_seconds=0.0)
            assert done == [Rescue(job=job, what="requeued")]

    place.during = rescue
    assert attempt(place.service, job) is None
    assert place.chain() == []
    place.during = None
    assert place.take() == [job]
    ending = attempt(place.service, job)
    assert ending is not None
    assert ending.outcome is Outcome.COMMITTED
    assert len(place.chain()) == 1


def test_a_worker_that_is_told_to_end_gives_its_job_back(place: Any) -> None:
    """B35: what was pending is not lost with the process."""
    job = place.hand_in(place.transcript().turns(3))
    place.take()
    place.during = lambda stage: stopping.set() if stage == "validating" else None
    try:
        assert attempt(place.service, job) is None
    finally:
        stopping.clear()
    assert place.job(job).state is State.QUEUED
    assert place.take() == [job]


def test_a_job_that_takes_too_long_is_postponed(place: Any) -> None:
    place.settings = place.settings.model_copy(update={"job_seconds": 0.0001})
    job = place.hand_in(place.transcript().turns(3))
    place.take()
    assert attempt(place.service, job) is None
    assert "out of time" in (place.job(job).error or "")


def test_an_outage_writes_nothing_and_is_tried_again(place: Any) -> None:
    """B31: with a count of the attempts and a back-off."""
    place.model = ScriptedModel(otherwise=DOWN)
    session = place.transcript().turns(3)
    assert place.work(session) is None
    [job] = place.service.desk.jobs_of(str(place.root), str(session.path))
    assert (job.state, job.attempts) == (State.QUEUED, 1)
    assert job.due_at is not None
    assert (
        timedelta(seconds=BACKOFF_SECONDS[0] - 2)
        < job.due_at - place.clock.now()
        <= timedelta(seconds=BACKOFF_SECONDS[0])
    )
    assert place.chain() == []
    assert not (place.root / "HISTORY.md").exists()


def test_the_last_attempt_does_without_the_model_and_says_so(place: Any) -> None:
    place.model = ScriptedModel(otherwise=DOWN)
    job = place.hand_in(place.transcript().turns(3))
    for _ in range(place.settings.job_attempts - 1):
        assert place.take() == [job]
        assert attempt(place.service, job) is None
        place.clock.advance(100_000)
    assert place.take() == [job]
    ending = attempt(place.service, job)
    assert ending is not None
    assert (ending.outcome, ending.status) == (Outcome.COMMITTED, Status.DEGRADED.value)
    assert place.events() == ["degraded"]


def test_a_provider_that_is_down_is_not_asked_again_before_its_time(place: Any) -> None:
    """F15, F17, F18: after three failures the breaker is open for every session, and a person passes."""
    place.model = ScriptedModel(otherwise=DOWN)
    for number in range(3):
        place.work(place.transcript(f"s{number}").turns(2))
    asked = len(place.model.asked)
    assert asked == 3
    assert place.work(place.transcript("another").turns(2)) is None
    assert len(place.model.asked) == asked
    assert place.work(place.transcript("mine").turns(2), trigger=Trigger.MANUAL) is None
    assert len(place.model.asked) == asked + 1


def test_the_provider_is_asked_again_by_one_probe_whose_success_closes_the_breaker(place: Any) -> None:
    """F15."""
    place.model = ScriptedModel(DOWN, DOWN, DOWN, otherwise="nothing that counts")
    for number in range(3):
        place.work(place.transcript(f"s{number}").turns(2))
    assert [one.name for one in place.service.breakers.not_closed()] == ["provider:scripted"]
    place.clock.advance(301)
    place.work(place.transcript("s9").turns(2))
    assert place.service.breakers.not_closed() == []


def test_a_pause_that_the_provider_asks_for_holds_for_all(place: Any) -> None:
    place.model = ScriptedModel(otherwise=RateLimited("openai/x: slow down", 1_000.0))
    place.settings = place.settings.model_copy(update={"llm_timeout_seconds": 1.0})
    session = place.transcript().turns(2)
    assert place.work(session) is None
    [job] = place.service.desk.jobs_of(str(place.root), str(session.path))
    assert job.due_at is not None
    assert job.due_at - place.clock.now() > timedelta(seconds=990)
    place.work(place.transcript("s2").turns(2), trigger=Trigger.MANUAL)
    assert len(place.model.asked) == 1


def test_a_session_that_fails_three_times_is_left_alone_until_a_person_asks(place: Any) -> None:
    """F17, F18: the fourth automatic attempt makes no request; J01-like loops end here. O39."""
    place.model = ScriptedModel(otherwise=ModelRefused("openai/x: 401 wrong key"))
    session = place.transcript()
    for _ in range(3):
        ending = place.work(session.turns(1))
        assert (ending.outcome, ending.reason) == (Outcome.FAILED, "model_refused")
    asked = len(place.model.asked)
    ending = place.work(session.turns(1))
    assert (ending.outcome, ending.reason) == (Outcome.REFUSED, "breaker_open")
    assert len(place.model.asked) == asked
    place.work(session.turns(1), trigger=Trigger.MANUAL)
    assert len(place.model.asked) == asked + 1
    assert place.events() == ["failed"] * 3 + ["refused"] + ["failed"]


def test_a_session_without_anything_new_is_not_read_again(place: Any) -> None:
    """O39: a job that finds nothing leaves nothing that would start another."""
    session = place.transcript().turns(2)
    place.work(session)
    assert place.work(session).outcome is Outcome.NOTHING_TO_DO
    again = place.work(session)
    assert (again.outcome, again.reason) == (Outcome.REFUSED, "unchanged")
    assert place.work(session, trigger=Trigger.MANUAL).outcome is Outcome.NOTHING_TO_DO
    assert place.work(session.turns(1)).outcome is Outcome.COMMITTED


def test_runs_that_succeed_too_often_are_held_back(place: Any) -> None:
    """F16."""
    session = place.transcript()
    outcomes = [place.work(session.turns(1)).outcome for _ in range(7)]
    assert outcomes == [Outcome.COMMITTED] * 6 + [Outcome.REFUSED]


def test_the_budget_of_the_day_is_kept_and_a_person_passes_it(place: Any) -> None:
    place.settings = place.settings.model_copy(update={"daily_tokens": 50, "model": "scripted"})
    place.model = ScriptedModel(otherwise=DOWN)
    session = place.transcript().turns(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("worker.wiring.model_for", lambda *_: None)
        ending = place.work(session)
        assert (ending.outcome, ending.reason) == (Outcome.REFUSED, "daily_budget_spent")
        assert place.model.asked == []
        place.work(session, trigger=Trigger.MANUAL)
    assert len(place.model.asked) == 1
    spending = place.service.day_budget(str(place.root)).spending(f"{place.clock.now():%Y-%m-%d}")
    assert spending.reserved_tokens == 0


def test_a_few_words_behind_the_tail_are_not_worth_an_automatic_run(place: Any) -> None:
    """P11 O35"""
    place.settings = place.settings.model_copy(update={"keep_recent_tokens": 0})
    session = place.transcript().turns(3)
    turn = place.work(session, trigger=Trigger.TURN, seal_all=False)
    assert (turn.outcome, turn.reason) == (Outcome.DEFERRED, "below_batch_size")
    assert place.work(session, trigger=Trigger.MANUAL, seal_all=False).outcome is Outcome.COMMITTED


def test_two_kinds_of_work_on_one_session_do_not_run_at_once(place: Any) -> None:
    """O60."""
    session = place.transcript().turns(2)
    inner: list[object] = []

    def begin_another(stage: str) -> None:
        if stage == "validating" and not inner:
            other = place.hand_in(session, kind=Kind.RESUMMARIZE, priority=Priority.INTERACTIVE)
            assert place.take() == [other]
            inner.append(attempt(place.service, other))

    place.during = begin_another
    assert place.work(session).outcome is Outcome.COMMITTED
    assert inner == [None]
    assert len(place.chain()) == 1


def test_a_bug_ends_the_job_and_not_the_worker(place: Any) -> None:
    def fail(_: str) -> None:
        raise ZeroDivisionError("secret words of a transcript")

    place.during = fail
    ending = place.work(place.transcript().turns(2))
    assert (ending.outcome, ending.reason) == (Outcome.FAILED, "bug")
    assert "secret" not in (ending.error or "")


def test_a_redis_that_is_away_for_a_moment_is_waited_for(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from worker.errors import BrokerUnavailable

    answers: list[Callable[[], bool]] = [
        _raise(BrokerUnavailable("down")),
        _raise(BrokerUnavailable("down")),
        lambda: True,
    ]
    monkeypatch.setattr("worker.attempts.time.sleep", lambda _: None)
    assert attempts._insisting(lambda: answers.pop(0)()) is True


def test_a_redis_that_stays_away_leaves_the_job_to_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from worker.errors import BrokerUnavailable

    monkeypatch.setattr(attempts, "LAST_WORD_SECONDS", 0.0)
    monkeypatch.setattr("worker.attempts.time.sleep", lambda _: None)
    with pytest.raises(BrokerUnavailable):
        attempts._insisting(_raise(BrokerUnavailable("down")))


def _raise(error: Exception) -> Callable[[], bool]:
    def act() -> bool:
        raise error

    return act


def test_a_last_message_that_is_not_there_yet_is_waited_for_and_asked_for_again(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T01: what is sealed is used after a while, and the rest gets one more run, not a loop."""
    monkeypatch.setattr("worker.awaiting.LONGEST_WAIT_SECONDS", 0.3)
    session = place.transcript().turns(3)
    first = place.work(session, last_message_sha256="0" * 64)
    assert first.outcome is Outcome.COMMITTED
    place.clock.advance(61)
    [rest] = place.take()
    session.turns(1)
    ending = attempt(place.service, rest)
    assert ending is not None
    assert (ending.outcome, ending.start, ending.end) == (Outcome.COMMITTED, 6, 8)
    place.clock.advance(1_000)
    assert place.take() == []


def test_settings_of_a_person_are_what_an_attempt_goes_by(place: Any) -> None:
    place.settings = place.settings.model_copy(update={"job_attempts": 1})
    place.model = ScriptedModel(otherwise=DOWN)
    assert place.work(place.transcript().turns(2)).status == Status.DEGRADED.value


def test_a_night_is_done_once_and_covers_what_went_on_by_day(place: Any) -> None:
    """J08, J15: with the sessions' own leases."""
    session = place.transcript().turns(3)
    place.work(session)
    session.turns(2)
    long_ago = time.time() - 7_200
    os.utime(session.path, (long_ago, long_ago))
    night = {"kind": Kind.NIGHTLY, "trigger": Trigger.NIGHTLY, "date": f"{place.clock.now():%Y-%m-%d}"}
    first = place.work(session, **night)
    assert (first.outcome, first.reason) == (Outcome.COMMITTED, "night_done")
    assert [one.range.end for one in place.chain()] == [6, 10]
    assert place.work(session, **night).reason == "night_already_done"
    assert place.events().count("committed") == 2


def test_a_night_leaves_a_session_alone_on_which_somebody_works(place: Any) -> None:
    """O57, O60."""
    session = place.transcript().turns(3)
    place.work(session)
    session.turns(2)
    long_ago = time.time() - 7_200
    os.utime(session.path, (long_ago, long_ago))
    with place.service.leases.hold(f"{place.root}\nclaude-code--s1", "somebody"):
        ending = place.work(session, kind=Kind.NIGHTLY, trigger=Trigger.NIGHTLY)
    assert ending.reason == "night_done"
    assert len(place.chain()) == 1


def test_a_session_is_summarized_again_by_a_job(place: Any) -> None:
    session = place.transcript().turns(3)
    place.work(session)
    ending = place.work(session, kind=Kind.RESUMMARIZE)
    assert (ending.outcome, ending.reason) == (Outcome.COMMITTED, "deterministic")
    assert len(place.chain()) == 2


def test_hygiene_is_a_job_of_the_workspace(place: Any) -> None:
    session = place.transcript().turns(3)
    place.work(session)
    assert place.work(session, kind=Kind.HYGIENE).outcome in (Outcome.COMMITTED, Outcome.NOTHING_TO_DO)


def test_a_job_that_never_has_time_enough_fails_in_the_end(place: Any) -> None:
    place.settings = place.settings.model_copy(update={"job_seconds": 0.0001, "job_attempts": 1})
    ending = place.work(place.transcript().turns(3))
    assert (ending.outcome, ending.reason) == (Outcome.FAILED, "out_of_time")


def test_a_part_that_was_answered_is_not_asked_again_by_the_next_attempt(place: Any) -> None:
    """O48: the retry begins where the failure was."""
    place.settings = place.settings.model_copy(update={"part_tokens": 600, "llm_concurrency": 1})
    request = "Work on T-100 to T-107 without a change of the schema"
    answer = in_form({**EMPTY_PART, "request": request, "current_work": request})
    place.model = ScriptedModel(answer, answer, DOWN, otherwise=answer)
    job = place.hand_in(place.transcript().turns(8))
    place.take()
    assert attempt(place.service, job) is None
    place.clock.advance(60)
    place.take()
    ending = attempt(place.service, job)
    assert ending is not None
    assert ending.parts >= 3
    shown = [asked.text for asked in place.model.asked]
    assert "Step 0:" in shown[0]
    assert not any("Step 0:" in text for text in shown[3:])


def test_the_agent_can_write_while_a_job_runs(place: Any) -> None:
    """O54: nothing of ours ever holds the transcript, and what comes meanwhile is for the next job."""
    session = place.transcript().turns(3)
    place.during = lambda stage: session.turns(1) if stage == "validating" else None
    assert place.work(session).end == 6
    place.during = None
    assert place.work(session).end == 8
