"""Breakers on a real Redis."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from worker.adapters.breakers import LADDER_SECONDS, Breakers
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis, socket_url

NOW = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)
NAME = "session:claude-code--0f3a"


@pytest.fixture
def breakers(redis_link: RedisLink) -> Breakers:
    return Breakers(redis_link)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def opened(breakers: Breakers) -> None:
    for _ in range(3):
        breakers.failed(NAME, NOW, "model_unavailable")


def test_f18_the_fourth_automatic_attempt_after_three_failures_is_refused_with_reason_and_time(
    breakers: Breakers,
) -> None:
    for attempt in range(3):
        assert breakers.ask(NAME, at(attempt)).allowed
        assert breakers.failed(NAME, at(attempt), "model_unavailable") == attempt + 1
    passage = breakers.ask(NAME, at(3))
    assert (passage.allowed, passage.reason, passage.until) == (False, "breaker_open", at(2 + 300))
    assert passage.detail == "3 failures in a row, the last: model_unavailable"


def test_failures_that_are_not_in_a_row_open_nothing(breakers: Breakers) -> None:
    for _ in range(4):
        breakers.failed(NAME, NOW, "model_unavailable")
        breakers.failed(NAME, NOW, "model_unavailable")
        breakers.succeeded(NAME)
    assert breakers.ask(NAME, NOW).allowed


def test_f15_after_the_cool_down_one_probe_passes_and_its_success_closes_the_breaker(breakers: Breakers) -> None:
    opened(breakers)
    assert not breakers.ask(NAME, at(299)).allowed
    first, second = breakers.ask(NAME, at(300)), breakers.ask(NAME, at(301))
    assert (first.allowed, first.is_probe) == (True, True)
    assert (second.allowed, second.reason) == (False, "breaker_probing")
    breakers.succeeded(NAME)
    assert [breakers.ask(NAME, at(302)).is_probe for _ in range(2)] == [False, False]
    assert breakers.not_closed() == []


def test_f15_the_cool_down_climbs_its_ladder_and_never_becomes_for_good(breakers: Breakers) -> None:
    opened(breakers)
    when, waits = NOW, []
    for _ in range(7):
        until = breakers.ask(NAME, when).until
        assert until is not None
        waits.append((until - when).total_seconds())
        when = until
        assert breakers.ask(NAME, when).is_probe
        breakers.failed(NAME, when, "model_unavailable")
    assert waits == [*LADDER_SECONDS, LADDER_SECONDS[-1], LADDER_SECONDS[-1]]


def test_one_outage_is_one_step_however_many_calls_it_broke(breakers: Breakers) -> None:
    for _ in range(40):
        breakers.failed(NAME, NOW, "model_unavailable")
    assert breakers.ask(NAME, at(1)).until == at(300)


def test_f17_a_manual_job_passes_and_its_success_closes_the_breaker(breakers: Breakers) -> None:
    opened(breakers)
    assert breakers.ask(NAME, at(1), is_manual=True).allowed
    assert not breakers.ask(NAME, at(1)).allowed
    breakers.succeeded(NAME)
    assert breakers.ask(NAME, at(2)).allowed


def test_a_manual_job_takes_no_probe_away(breakers: Breakers) -> None:
    opened(breakers)
    assert not breakers.ask(NAME, at(400), is_manual=True).is_probe
    assert breakers.ask(NAME, at(400)).is_probe


def test_a_probe_that_came_to_nothing_lets_the_next_one_try(breakers: Breakers) -> None:
    opened(breakers)
    assert breakers.ask(NAME, at(300)).is_probe
    breakers.withdrew(NAME)
    assert breakers.ask(NAME, at(301)).is_probe


def test_a_probe_whose_worker_died_does_not_keep_the_breaker_shut(breakers: Breakers) -> None:
    opened(breakers)
    assert breakers.ask(NAME, at(300)).is_probe
    assert not breakers.ask(NAME, at(300 + 1_799)).allowed
    assert breakers.ask(NAME, at(300 + 1_800)).is_probe


def test_a_session_and_a_provider_have_breakers_of_their_own(breakers: Breakers) -> None:
    opened(breakers)
    assert breakers.ask("provider:openai", NOW).allowed
    assert breakers.ask("session:claude-code--0f3b", NOW).allowed


def test_open_breakers_can_be_listed(breakers: Breakers) -> None:
    opened(breakers)
    breakers.failed("provider:openai", NOW, "rate_limited")
    (state,) = breakers.not_closed()
    assert (state.name, state.failures, state.open_until, state.reason) == (NAME, 3, at(300), "model_unavailable")


def test_a_clock_that_was_set_back_does_not_lengthen_the_cool_down(breakers: Breakers) -> None:
    opened(breakers)
    assert breakers.ask(NAME, at(-86_400)).is_probe


def test_f17_a_breaker_survives_the_death_of_redis_and_of_the_worker(own_redis: EmbeddedRedis, tmp_path: Any) -> None:
    folder = tmp_path / "own"
    link = RedisLink(socket_url(folder) or "")
    opened(Breakers(link))
    link.close()
    own_redis.stop()
    own_redis.start()
    link = RedisLink(socket_url(folder) or "")
    assert Breakers(link).ask(NAME, at(1)).reason == "breaker_open"
    link.close()
