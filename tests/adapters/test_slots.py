"""Concurrency over processes, on a real Redis."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from worker.adapters.redis_link import RedisLink
from worker.adapters.slots import Slots
from worker.core.messages import digest_of
from worker.errors import ModelUnavailable, RateLimited

InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]


def slots(link: RedisLink, limit: int = 2, life_seconds: float = 30.0) -> Slots:
    return Slots(link, "openai", limit, life_seconds=life_seconds)


def test_no_more_than_the_limit_is_out_and_an_end_makes_room(redis_link: RedisLink) -> None:
    two = slots(redis_link)
    with two.slot(wait_seconds=0):
        with two.slot(wait_seconds=0):
            assert two.taken() == 2
            with pytest.raises(ModelUnavailable, match="all 2 slots taken"), two.slot(wait_seconds=0.05):
                pytest.fail("a third slot")
        with two.slot(wait_seconds=0):
            assert two.taken() == 2
    assert two.taken() == 0


def test_o62_waiting_for_a_slot_ends(redis_link: RedisLink) -> None:
    one = slots(redis_link, limit=1)
    with one.slot(wait_seconds=0):
        started = time.monotonic()
        with pytest.raises(ModelUnavailable), one.slot(wait_seconds=0.3):
            pytest.fail("a second slot")
        assert 0.2 < time.monotonic() - started < 3


def test_a_waiting_thread_gets_the_slot_that_becomes_free(redis_link: RedisLink) -> None:
    one, order = slots(redis_link, limit=1), []

    def work() -> None:
        with one.slot(wait_seconds=10):
            order.append("second")

    with one.slot(wait_seconds=0):
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_block_that_fails_gives_its_slot_back(redis_link: RedisLink) -> None:
    one = slots(redis_link, limit=1)
    with pytest.raises(ZeroDivisionError), one.slot(wait_seconds=0):
        _ = 1 // 0
    assert one.taken() == 0


def test_a_holder_that_died_gives_its_slot_back_when_its_time_is_over(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    def die(_: int) -> bool:
        own = slots(RedisLink(redis_server, prefix=redis_link.prefix), limit=1, life_seconds=0.3)
        own.slot(wait_seconds=0).__enter__()
        return True

    assert in_processes(1, die) == [True]
    with slots(redis_link, limit=1, life_seconds=0.3).slot(wait_seconds=5):
        pass


@pytest.mark.parametrize("ends_in_seconds", [-1, 86_400])
def test_a_slot_whose_time_is_over_or_cannot_be_true_is_free(redis_link: RedisLink, ends_in_seconds: int) -> None:
    """The second is what a clock of the server that was set back leaves behind."""
    ends = round((time.time() + ends_in_seconds) * 1000)
    redis_link.call("ZADD", redis_link.key("slots", digest_of("openai")), ends, "a holder that died")
    with slots(redis_link, limit=1).slot(wait_seconds=0):
        pass


def test_a_pause_that_the_provider_asked_for_holds_for_everybody(redis_link: RedisLink) -> None:
    slots(redis_link).pause(60)
    with pytest.raises(RateLimited) as refused, slots(redis_link).slot(wait_seconds=1):
        pytest.fail("a request in the pause")
    assert refused.value.retry_after_seconds is not None
    assert 55 < refused.value.retry_after_seconds <= 60
    with Slots(redis_link, "anthropic", 2, life_seconds=30).slot(wait_seconds=0):
        pass


def test_a_short_pause_is_waited_for(redis_link: RedisLink) -> None:
    two = slots(redis_link)
    two.pause(0.2)
    started = time.monotonic()
    with two.slot(wait_seconds=5):
        assert time.monotonic() - started >= 0.15


def test_a_shorter_pause_does_not_end_a_longer_one(redis_link: RedisLink) -> None:
    two = slots(redis_link)
    two.pause(60)
    two.pause(0.001)
    assert two.paused_seconds() > 50


def test_processes_together_stay_below_the_limit(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    def work(_: int) -> int:
        own, most = slots(RedisLink(redis_server, prefix=redis_link.prefix)), 0
        for _ in range(3):
            with own.slot(wait_seconds=20):
                most = max(most, own.taken())
                time.sleep(0.01)
        return most

    assert max(in_processes(6, work)) == 2
