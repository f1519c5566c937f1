"""Work in threads: in order, bounded, and never waited for by somebody who gave up."""

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.threads import side_by_side, within


def tell_nobody(done: int, total: int) -> None:
    """Progress that nobody watches."""


@settings(deadline=None, max_examples=30)
@given(numbers=st.lists(st.integers(), max_size=12), at_once=st.integers(min_value=1, max_value=5))
def test_it_gives_what_a_loop_gives(numbers: list[int], at_once: int) -> None:
    told: list[tuple[int, int]] = []
    doubled = side_by_side(lambda n: n * 2, numbers, at_once=at_once, on_done=lambda *step: told.append(step))
    assert doubled == [number * 2 for number in numbers]
    assert told == [(done, len(numbers)) for done in range(1, len(numbers) + 1)]


def test_no_more_than_that_are_at_work_at_once() -> None:
    at_work, most, lock = set[int](), [0], threading.Lock()
    meeting = threading.Barrier(3, timeout=10)

    def work(number: int) -> None:
        with lock:
            at_work.add(number)
            most[0] = max(most[0], len(at_work))
        meeting.wait()
        with lock:
            at_work.discard(number)

    side_by_side(work, range(6), at_once=3, on_done=tell_nobody)
    assert most == [3]


def test_of_several_errors_the_earliest_is_raised_and_what_has_not_begun_is_left() -> None:
    begun: list[int] = []
    both = threading.Barrier(2, timeout=10)

    def work(number: int) -> None:
        begun.append(number)
        both.wait()
        raise ValueError(number)

    with pytest.raises(ValueError, match=r"^0$"):
        side_by_side(work, range(6), at_once=2, on_done=tell_nobody)
    assert sorted(begun) == [0, 1]


def test_an_error_of_the_watcher_waits_for_those_at_work() -> None:
    finished: list[int] = []

    def work(number: int) -> None:
        time.sleep(0.05 * number)
        finished.append(number)

    def refuse(done: int, total: int) -> None:
        raise LookupError("cancelled")

    with pytest.raises(LookupError):
        side_by_side(work, range(5), at_once=2, on_done=refuse)
    assert {0, 1} <= set(finished)
    assert len(finished) < 5


def test_an_interrupt_waits_for_nobody() -> None:
    never = threading.Event()

    def work(number: int) -> None:
        if number:
            never.wait(timeout=30)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, range(3), at_once=2, on_done=interrupt)
    assert time.monotonic() - began < 20
    never.set()


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_the_work_raises_is_raised_where_it_is_waited_for(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        within(10, failing(error))
    assert caught.value is error


def failing(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_work_that_takes_too_long_is_left_to_itself() -> None:
    never = threading.Event()
    with pytest.raises(TimeoutError, match=r"0\.05 seconds"):
        within(0.05, lambda: never.wait(timeout=30))
    never.set()
    assert within(10, lambda: "came") == "came"
