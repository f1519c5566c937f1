"""Tokens reserved and spent, on a real Redis."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.budgets import TokenBudget, local_day, next_local_day
from worker.adapters.redis_link import RedisLink

InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]

DAY = "2026-01-23"
ZONES = [ZoneInfo(name) for name in ("UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Europe/Berlin")]


@pytest.fixture
def budget(redis_link: RedisLink) -> TokenBudget:
    return TokenBudget(redis_link, "/w day", 1_000)


def test_what_is_reserved_and_spent_never_exceeds_the_limit(budget: TokenBudget) -> None:
    assert budget.reserve(DAY, "job-a", 600).granted
    refused = budget.reserve(DAY, "job-b", 401)
    assert (refused.granted, refused.left_tokens) == (False, 400)
    assert budget.reserve(DAY, "job-b", 400).granted
    assert budget.reserve(DAY, "job-c", 1).left_tokens == 0


def test_what_was_reserved_and_not_needed_is_free_again(budget: TokenBudget) -> None:
    budget.reserve(DAY, "job-a", 900)
    assert budget.settle(DAY, "job-a", 100)
    spending = budget.spending(DAY)
    assert (spending.used_tokens, spending.reserved_tokens) == (100, 0)
    assert budget.reserve(DAY, "job-b", 900).granted


def test_a_job_that_spent_more_than_it_reserved_is_charged_for_all(budget: TokenBudget) -> None:
    budget.reserve(DAY, "job-a", 100)
    budget.settle(DAY, "job-a", 5_000)
    assert not budget.reserve(DAY, "job-b", 1).granted


def test_a_redelivered_job_reserves_and_settles_once(budget: TokenBudget) -> None:
    for _ in range(5):
        assert budget.reserve(DAY, "job-a", 900).granted
    assert [budget.settle(DAY, "job-a", 700) for _ in range(2)] == [True, False]
    assert budget.spending(DAY).used_tokens == 700


def test_a_worker_that_died_while_spending_has_not_saved_anything(budget: TokenBudget) -> None:
    budget.reserve(DAY, "died", 800)
    assert not budget.reserve(DAY, "job-b", 300).granted


def test_a_manual_job_passes_a_spent_budget_and_is_charged_to_it(budget: TokenBudget) -> None:
    budget.reserve(DAY, "job-a", 1_000)
    assert budget.reserve(DAY, "by-hand", 500, is_manual=True).granted
    budget.settle(DAY, "by-hand", 450)
    assert budget.spending(DAY).used_tokens == 450


def test_every_day_and_every_workspace_has_its_own(budget: TokenBudget, redis_link: RedisLink) -> None:
    budget.reserve(DAY, "job-a", 1_000)
    assert budget.reserve("2026-01-24", "job-a", 1_000).granted
    assert TokenBudget(redis_link, "/v day", 1_000).reserve(DAY, "job-a", 1_000).granted


def test_work_over_midnight_is_charged_to_the_day_it_was_reserved_for(budget: TokenBudget) -> None:
    budget.reserve(DAY, "job-a", 500)
    budget.settle(DAY, "job-a", 400)
    assert (budget.spending(DAY).used_tokens, budget.spending("2026-01-24").used_tokens) == (400, 0)


def test_without_a_limit_everything_is_granted_and_counted(redis_link: RedisLink) -> None:
    budget = TokenBudget(redis_link, "/w day", None)
    grant = budget.reserve(DAY, "job-a", 10**12)
    assert (grant.granted, grant.left_tokens) == (True, None)
    budget.settle(DAY, "job-a", 10**12)
    assert budget.spending(DAY).used_tokens == 10**12


def test_many_processes_together_do_not_overdraw(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    def reserve(number: int) -> bool:
        own = TokenBudget(RedisLink(redis_server, prefix=redis_link.prefix), "/w day", 1_000)
        return own.reserve(DAY, f"job-{number}", 300).granted

    assert sum(in_processes(10, reserve)) == 3


def test_a_period_is_the_date_where_people_live() -> None:
    late = datetime(2026, 1, 23, 20, 0, tzinfo=UTC)
    assert [local_day(late, zone) for zone in ZONES[:3]] == ["2026-01-23", "2026-01-24", "2026-01-23"]


@settings(deadline=None, max_examples=60)
@given(st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)), st.sampled_from(ZONES))  # noqa: DTZ001
def test_the_next_day_begins_when_this_one_ends_also_where_clocks_change(now: datetime, zone: ZoneInfo) -> None:
    start = next_local_day(now, zone)
    assert timedelta() < start - now <= timedelta(hours=25)
    assert local_day(start, zone) > local_day(now, zone) == local_day(start - timedelta(microseconds=1), zone)
