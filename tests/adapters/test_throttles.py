"""What stops runs that succeed and should not be repeated."""

from datetime import UTC, datetime, timedelta

import pytest

from worker.adapters.redis_link import RedisLink
from worker.adapters.throttles import FrequencyCap, Standstill

NOW = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)
SESSION = "/w claude-code--0f3a"


@pytest.fixture
def cap(redis_link: RedisLink) -> FrequencyCap:
    return FrequencyCap(redis_link)


@pytest.fixture
def standstill(redis_link: RedisLink) -> Standstill:
    return Standstill(redis_link)


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def test_f16_the_seventh_successful_run_within_an_hour_is_refused_until_the_first_is_an_hour_old(
    cap: FrequencyCap,
) -> None:
    for number in range(6):
        assert cap.ask(SESSION, at(number)).allowed
        cap.succeeded(SESSION, at(number), f"run {number}")
    passage = cap.ask(SESSION, at(6))
    assert (passage.allowed, passage.reason, passage.until) == (False, "throttled", at(60))
    assert not cap.ask(SESSION, at(59.9)).allowed
    assert cap.ask(SESSION, at(60)).allowed


def test_f16_a_person_is_not_throttled_and_other_sessions_are_not_concerned(cap: FrequencyCap) -> None:
    for number in range(9):
        cap.succeeded(SESSION, NOW, f"run {number}")
    assert cap.ask(SESSION, NOW, is_manual=True).allowed
    assert cap.ask("/w another", NOW).allowed


def test_with_more_runs_than_the_cap_the_wait_is_for_the_one_that_makes_room(cap: FrequencyCap) -> None:
    for number in range(9):
        cap.succeeded(SESSION, at(number), f"run {number}")
    assert cap.ask(SESSION, at(9)).until == at(60 + 3)


def test_one_run_that_is_reported_twice_counts_once(cap: FrequencyCap) -> None:
    for number in range(9):
        cap.succeeded(SESSION, at(number), "the same run")
    assert cap.ask(SESSION, at(9)).allowed


def test_runs_that_a_wrong_clock_put_into_the_future_do_not_count(cap: FrequencyCap) -> None:
    for number in range(9):
        cap.succeeded(SESSION, at(1_000), f"run {number}")
    assert cap.ask(SESSION, NOW).allowed


def test_f10_two_runs_without_gain_stop_the_session_until_something_new_arrives(standstill: Standstill) -> None:
    assert standstill.fruitless(SESSION, "750 messages") == 1
    assert standstill.ask(SESSION, "750 messages").allowed
    assert standstill.fruitless(SESSION, "750 messages") == 2
    passage = standstill.ask(SESSION, "750 messages")
    assert (passage.allowed, passage.reason, passage.until) == (False, "unchanged", None)
    assert standstill.ask(SESSION, "751 messages").allowed
    assert standstill.ask(SESSION, "750 messages", is_manual=True).allowed


def test_f10_runs_without_gain_over_different_content_are_not_in_a_row(standstill: Standstill) -> None:
    for content in "abcdef":
        assert standstill.fruitless(SESSION, content) == 1
        assert standstill.ask(SESSION, content).allowed


def test_o31_o37_content_with_nothing_to_consolidate_is_not_looked_at_again(standstill: Standstill) -> None:
    standstill.nothing_there(SESSION, "only harness rows")
    assert standstill.ask(SESSION, "only harness rows").reason == "unchanged"
    assert standstill.ask(SESSION, "a person wrote").allowed
    assert standstill.ask("/w another", "only harness rows").allowed


def test_a_run_that_gained_something_starts_the_count_again(standstill: Standstill) -> None:
    standstill.fruitless(SESSION, "a")
    standstill.fruitful(SESSION)
    assert standstill.fruitless(SESSION, "a") == 1


def test_nothing_of_the_content_itself_is_kept(standstill: Standstill, redis_link: RedisLink) -> None:
    standstill.nothing_there(SESSION, "some words of a person")
    (key,) = redis_link.call("KEYS", redis_link.key("*"))
    assert "some words" not in str(redis_link.call("HGETALL", key))
