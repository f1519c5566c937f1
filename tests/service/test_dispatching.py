"""The dispatcher: from the spool to the desk, from the desk to a queue, and back when somebody died."""

import time
from typing import Any

import pytest

from worker.adapters.job_desk import Claim
from worker.adapters.redis_link import RedisLink
from worker.core.job import Priority, State
from worker.delivery import leave, spool_of
from worker.dispatching import LOST_MESSAGE_SECONDS, SENT_AHEAD, Dispatcher
from worker.errors import BrokerUnavailable
from worker.watching import stopping

Until = Any


class Sent(list[Claim]):
    """Takes messages, and has no queue."""

    def __call__(self, claim: Claim) -> None:
        self.append(claim)

    @property
    def jobs(self) -> list[str]:
        return [claim.job for claim in self]


@pytest.fixture
def sent() -> Sent:
    return Sent()


def test_what_a_hook_left_on_disk_is_sent_in_one_round(place: Any, sent: Sent) -> None:
    dispatcher = Dispatcher(place.service, sent)
    dispatcher.round()
    request = place.request(place.transcript().turns(1))
    assert leave(request, place.service.run) is not None
    dispatcher.round()
    place.clock.advance(5)
    dispatcher.round()
    assert sent.jobs == [request.submission]
    assert len(spool_of(place.service.run)) == 0


def test_the_most_urgent_goes_first_and_never_waits_for_room(place: Any, sent: Sent) -> None:
    dispatcher = Dispatcher(place.service, sent)
    for number in range(SENT_AHEAD + 20):
        place.hand_in(place.transcript(f"n{number}"), priority=Priority.NIGHTLY)
    dispatcher.round()
    assert len(sent) == SENT_AHEAD
    urgent = place.hand_in(place.transcript("urgent"), priority=Priority.INTERACTIVE)
    dispatcher.round()
    assert sent.jobs[SENT_AHEAD:] == [urgent]


def test_a_job_whose_message_was_lost_is_sent_again(place: Any, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """B32, B39: not after a quarter of an hour, when the queues are empty."""
    dispatcher = Dispatcher(place.service, sent)
    monkeypatch.setattr(dispatcher, "_queued", lambda: 0)
    job = place.hand_in(place.transcript())
    dispatcher.round()
    age(place, "sent", LOST_MESSAGE_SECONDS + 1)
    dispatcher.rescue(is_due=True)
    dispatcher.round()
    assert sent.jobs == [job, job]


def test_a_job_that_waits_in_a_long_queue_is_not_sent_again(
    place: Any, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = Dispatcher(place.service, sent)
    monkeypatch.setattr(dispatcher, "_queued", lambda: 1)
    place.hand_in(place.transcript())
    dispatcher.round()
    age(place, "sent", LOST_MESSAGE_SECONDS + 1)
    dispatcher.rescue(is_due=True)
    dispatcher.round()
    assert len(sent) == 1


def test_a_job_whose_worker_died_goes_back(place: Any, sent: Sent) -> None:
    dispatcher = Dispatcher(place.service, sent)
    job = place.hand_in(place.transcript())
    dispatcher.round()
    assert place.service.desk.begin(job, "somebody", place.clock.now()) is not None
    age(place, "running", place.service.silent_seconds + 1)
    dispatcher.rescue(is_due=True)
    assert place.job(job).state is State.QUEUED


def test_a_worker_that_is_ending_sends_nothing(place: Any, sent: Sent) -> None:
    place.hand_in(place.transcript())
    stopping.set()
    try:
        Dispatcher(place.service, sent).round()
    finally:
        stopping.clear()
    assert sent == []


def test_the_thread_survives_an_outage_and_says_so_once(
    place: Any, sent: Sent, until: Until, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.dispatching.ROUND_SECONDS", 0.01)
    caplog.set_level("INFO", "afterturn")
    link = place.link
    place.link = RedisLink("unix:///nowhere/redis.sock")
    service = place.service
    place.link = link
    dispatcher = Dispatcher(service, sent)
    rounds: list[float] = []
    real = dispatcher.round

    def counted() -> None:
        rounds.append(time.monotonic())
        real()

    monkeypatch.setattr(dispatcher, "round", counted)
    dispatcher.start()
    until(lambda: len(rounds) > 5)
    dispatcher.stop()
    said = [record.getMessage() for record in caplog.records]
    assert said.count("dispatching_failed") == 1
    assert not spool_of(service.run).is_watched()


def test_a_bug_in_a_round_does_not_end_the_thread(
    place: Any, sent: Sent, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.dispatching.ROUND_SECONDS", 0.01)
    failures = [ZeroDivisionError("x"), BrokerUnavailable("y")]
    dispatcher = Dispatcher(place.service, sent)
    real = dispatcher.round

    def round_() -> None:
        if failures:
            raise failures.pop()
        real()

    monkeypatch.setattr(dispatcher, "round", round_)
    job = place.hand_in(place.transcript())
    dispatcher.start()
    until(lambda: sent.jobs == [job])
    dispatcher.stop()


def test_waking_it_does_not_wait_for_the_next_round(
    place: Any, sent: Sent, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.dispatching.ROUND_SECONDS", 3_600.0)
    dispatcher = Dispatcher(place.service, sent)
    dispatcher.start()
    time.sleep(0.2)
    job = place.hand_in(place.transcript())
    dispatcher.wake()
    until(lambda: sent.jobs == [job], 5)
    dispatcher.stop()


def age(place: Any, name: str, seconds: float) -> None:
    """Makes the entries of a set of the desk older, by the server's clock."""
    key = place.link.key(name)
    for job in place.link.call("ZRANGE", key, 0, -1):
        place.link.call("ZINCRBY", key, -1000 * seconds, job)
