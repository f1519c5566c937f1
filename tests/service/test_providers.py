"""A model as all workers share it: slots, pauses, the breaker, the meter."""

import threading
import time
from typing import Any

import pytest

from worker.errors import BrokerUnavailable, ModelRefused, ModelUnavailable, PromptTooLong, RateLimited
from worker.ports import ModelAnswer, Turn
from worker.providers import Meter, Providers
from worker.testing import ScriptedModel

TURNS = [Turn(role="user", content="hello")]
DOWN = ModelUnavailable("x: down")


def providers(place: Any, **changes: Any) -> Providers:
    given = {"concurrency": 2, "timeout_seconds": 0.3, **changes}
    return Providers(place.link, place.service.breakers, place.clock, **given)


def test_what_a_request_took_is_counted(place: Any) -> None:
    meter = Meter()
    answer = ModelAnswer(text="x", finish_reason="stop", tokens_in=120, tokens_out=30)
    model = providers(place).shared(ScriptedModel(answer, DOWN), meter, is_manual=False)
    model.ask(TURNS, max_tokens=10)
    with pytest.raises(ModelUnavailable):
        model.ask(TURNS, max_tokens=10)
    assert (meter.calls, meter.tokens_in, meter.tokens_out, meter.tokens) == (1, 120, 30, 150)


def test_it_is_the_model_that_it_wraps(place: Any) -> None:
    inner = ScriptedModel(name="openai/x", supports_schema=True, window_tokens=9_000)
    model = providers(place).shared(inner, Meter(), is_manual=False)
    assert (model.name, model.supports_schema, model.limits.window_tokens) == ("openai/x", True, 9_000)


def test_no_more_requests_than_allowed_are_under_way_over_all_processes(place: Any) -> None:
    inside: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def answer(_: object) -> str:
        with lock:
            inside.append(1)
            most.append(len(inside))
        time.sleep(0.05)
        with lock:
            inside.pop()
        return "x"

    two_processes = [providers(place, timeout_seconds=5.0) for _ in range(2)]
    models = [one.shared(ScriptedModel(otherwise=answer), Meter(), is_manual=False) for one in two_processes]
    threads = [
        threading.Thread(target=model.ask, args=(TURNS,), kwargs={"max_tokens": 1})
        for model in models
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 2
    assert len(most) == 8


def test_a_provider_that_fails_three_times_in_a_row_is_left_alone_and_a_success_in_between_forgives(place: Any) -> None:
    model = providers(place).shared(ScriptedModel(DOWN, DOWN, "x", DOWN, DOWN, DOWN), Meter(), is_manual=False)
    for expected in (DOWN, DOWN, None, DOWN, DOWN, DOWN):
        if expected is None:
            model.ask(TURNS, max_tokens=1)
        else:
            with pytest.raises(ModelUnavailable):
                model.ask(TURNS, max_tokens=1)
    with pytest.raises(RateLimited) as caught:
        model.ask(TURNS, max_tokens=1)
    assert caught.value.retry_after_seconds is not None
    assert 290 < caught.value.retry_after_seconds <= 300


@pytest.mark.parametrize("error", [ModelRefused("x: no"), PromptTooLong("x: long"), RateLimited("x: slow", None)])
def test_what_lies_with_the_request_or_with_a_limit_says_nothing_of_the_provider(place: Any, error: Any) -> None:
    model = providers(place).shared(ScriptedModel(otherwise=error), Meter(), is_manual=False)
    for _ in range(5):
        with pytest.raises(type(error)):
            model.ask(TURNS, max_tokens=1)
    assert place.service.breakers.not_closed() == []


def test_a_probe_that_comes_to_nothing_lets_the_next_one_probe(place: Any) -> None:
    script = ScriptedModel(DOWN, DOWN, DOWN, ModelRefused("x: no"), "x")
    model = providers(place).shared(script, Meter(), is_manual=False)
    for _ in range(3):
        with pytest.raises(ModelUnavailable):
            model.ask(TURNS, max_tokens=1)
    place.clock.advance(301)
    with pytest.raises(ModelRefused):
        model.ask(TURNS, max_tokens=1)
    assert model.ask(TURNS, max_tokens=1).text == "x"


def test_no_free_slot_is_not_the_providers_fault(place: Any) -> None:
    all_of_them = providers(place, concurrency=1)
    hold = threading.Event()
    first = all_of_them.shared(ScriptedModel(otherwise=lambda _: str(hold.wait(10))), Meter(), is_manual=False)
    thread = threading.Thread(target=first.ask, args=(TURNS,), kwargs={"max_tokens": 1})
    thread.start()
    time.sleep(0.1)
    second = all_of_them.shared(ScriptedModel(otherwise="x"), Meter(), is_manual=False)
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="slots taken"):
            second.ask(TURNS, max_tokens=1)
    hold.set()
    thread.join()
    assert place.service.breakers.not_closed() == []


def test_without_redis_nobody_is_asked(place: Any) -> None:
    from worker.adapters.breakers import Breakers
    from worker.adapters.redis_link import RedisLink

    nowhere = RedisLink("unix:///nowhere/redis.sock")
    script = ScriptedModel(otherwise="x")
    all_of_them = Providers(nowhere, Breakers(nowhere), place.clock, concurrency=1, timeout_seconds=0.1)
    with pytest.raises(BrokerUnavailable):
        all_of_them.shared(script, Meter(), is_manual=False).ask(TURNS, max_tokens=1)
    assert script.asked == []
