"""The same facts give the same plan: oldest need first, within the budget, and what is left is told."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import (
    Checkpoint,
    Cursor,
    Finding,
    ModelUse,
    SessionRef,
    SourceRange,
    Status,
    Validation,
)
from worker.core.ledger import Ledger
from worker.core.nightly import NightPlan, NightRules, SessionFacts, Work, chain_needs, plan_night
from worker.core.rebuilding import Span
from worker.core.summary import Summary

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
WITH_MODEL = NightRules(has_model=True)


def facts(session: str = "a--b", *, waiting_hours: float = 1, **fields: Any) -> SessionFacts:
    known = {"idle_seconds": 9_000.0, "covered_tokens": 100} | fields
    return SessionFacts(
        session=session, source=f"{session}.jsonl", waiting_since=NOON - timedelta(hours=waiting_hours), **known
    )


def work_of(plan: NightPlan) -> list[tuple[Work, str | None]]:
    return [(step.work, step.session) for step in plan.steps if step.session]


def test_hygiene_and_verification_come_every_night_and_last() -> None:
    plan = plan_night([facts(unread_tokens=5)], WITH_MODEL)
    assert [step.work for step in plan.steps] == [Work.CONSOLIDATE, Work.HYGIENE, Work.VERIFY]
    assert [step.work for step in plan_night([], WITH_MODEL).steps] == [Work.HYGIENE, Work.VERIFY]


def test_what_is_fine_is_left_alone() -> None:
    plan = plan_night([facts(since_rebuild=7)], WITH_MODEL)
    assert (work_of(plan), plan.left) == ([], ())


def test_a_rebuild_mends_what_is_degraded_too() -> None:
    one = facts(since_rebuild=8, redo=Span(start=0, end=4), redo_tokens=10)
    assert work_of(plan_night([one], WITH_MODEL)) == [(Work.REBUILD, "a--b")]


def test_a_conflict_asks_for_a_rebuild_before_its_time() -> None:
    assert work_of(plan_night([facts(has_conflict=True)], WITH_MODEL)) == [(Work.REBUILD, "a--b")]


def test_without_a_model_nothing_is_summarized_again() -> None:
    one = facts(unread_tokens=5, since_rebuild=20, redo=Span(start=0, end=4))
    plan = plan_night([one], NightRules(has_model=False, budget_tokens=1))
    assert work_of(plan) == [(Work.CONSOLIDATE, "a--b")]
    assert plan.steps[0].tokens == 0


def test_a_session_that_rests_is_only_consolidated() -> None:
    one = facts(unread_tokens=5, since_rebuild=20, rests=True)
    assert work_of(plan_night([one], WITH_MODEL)) == [(Work.CONSOLIDATE, "a--b")]


def test_obstacles_are_told_by_name() -> None:
    sessions = [
        facts("forgotten", unread_tokens=1, forgotten=True),
        facts("gone", since_rebuild=9, idle_seconds=None),
        facts("busy", unread_tokens=1, idle_seconds=60.0),
        facts("busy-but-done", idle_seconds=60.0),
    ]
    plan = plan_night(sessions, WITH_MODEL)
    assert work_of(plan) == []
    assert {(one.session, one.reason) for one in plan.left} == {
        ("forgotten", "forgotten"),
        ("gone", "source_missing"),
        ("busy", "not_idle"),
    }


def test_a_session_larger_than_the_budget_does_not_wait_for_ever() -> None:
    sessions = [facts("large", waiting_hours=9, unread_tokens=10_000), facts("small", unread_tokens=10)]
    plan = plan_night(sessions, NightRules(has_model=True, budget_tokens=100))
    assert work_of(plan) == [(Work.CONSOLIDATE, "large")]
    assert [(one.session, one.reason) for one in plan.left] == [("small", "night_budget_spent")]


def test_what_an_earlier_attempt_spent_counts() -> None:
    rules = NightRules(has_model=True, budget_tokens=100)
    assert work_of(plan_night([facts(unread_tokens=10)], rules, spent_tokens=100)) == []


SESSIONS = st.lists(
    st.builds(
        facts,
        session=st.integers(0, 99).map(lambda number: f"s--{number}"),
        waiting_hours=st.floats(0, 100),
        unread_tokens=st.none() | st.integers(1, 100),
        since_rebuild=st.integers(0, 12),
        idle_seconds=st.none() | st.floats(0, 10_000),
        rests=st.booleans(),
        forgotten=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda one: one.session,
)


@settings(deadline=None, max_examples=80)
@given(sessions=SESSIONS, budget=st.none() | st.integers(1, 300), order=st.randoms())
def test_whatever_is_due_is_done_or_told_and_the_order_of_facts_does_not_matter(
    sessions: list[SessionFacts], budget: int | None, order: Any
) -> None:
    rules = NightRules(has_model=True, budget_tokens=budget)
    plan = plan_night(sessions, rules)
    due = {(Work.CONSOLIDATE, one.session) for one in sessions if one.unread_tokens is not None}
    due |= {(Work.REBUILD, one.session) for one in sessions if one.since_rebuild >= 8 and not one.rests}
    done, left = work_of(plan), [(one.work, one.session) for one in plan.left]
    assert set(done) | set(left) == due
    assert len(done) + len(left) == len(due)
    costs = [step.tokens for step in plan.steps if step.session]
    assert budget is None or sum(costs[:-1]) < budget
    order.shuffle(shuffled := [*sessions])
    assert plan_night(shuffled, rules) == plan


@settings(deadline=None, max_examples=80)
@given(sessions=SESSIONS)
def test_nobody_is_served_before_who_waits_longer(sessions: list[SessionFacts]) -> None:
    since = {one.session: one.waiting_since for one in sessions}
    served = [since[step.session] for step in plan_night(sessions, WITH_MODEL).steps if step.session]
    assert served == sorted(served)


# What a chain needs.


def checkpoint(number: int, start: int, end: int, *, covered: int | None = None, **fields: Any) -> Checkpoint:
    chain = fields.pop("chain", 1)
    made: dict[str, Any] = {
        "number": number,
        "parent": None,
        "created_at": NOON,
        "session": SessionRef(key="a--b", agent="a", id="b", source="s"),
        "range": SourceRange(start=start, end=end, sha256="", chain=chain),
        "covered": end if covered is None else covered,
        "status": Status.OK,
        "summary": Summary(),
        "ledger": Ledger(),
        "validation": Validation(),
        "model": ModelUse(),
        "savings": {},
        "tokens_before": 10,
        "tokens_after": 0,
        "cursor": Cursor(format="plain", index=end),
    }
    return Checkpoint(**(made | fields))


def test_a_sound_chain_needs_nothing() -> None:
    needs = chain_needs([checkpoint(1, 0, 4), checkpoint(2, 4, 8)])
    assert (needs.redo, needs.since_rebuild, needs.has_conflict, needs.covered_tokens) == (None, 2, False, 20)


def test_what_was_degraded_is_redone_from_the_first_to_the_last_message() -> None:
    chain = [
        checkpoint(number, 4 * number, 4 * number + 4, status=status)
        for number, status in enumerate((Status.OK, Status.DEGRADED, Status.OK, Status.DETERMINISTIC, Status.OK))
    ]
    needs = chain_needs(chain)
    assert (needs.redo, needs.redo_tokens) == (Span(start=4, end=16), 30)


def test_what_was_redone_since_is_not_redone() -> None:
    chain = [checkpoint(1, 0, 8, status=Status.DEGRADED), checkpoint(2, 0, 8, replaces=(1,))]
    assert chain_needs(chain).redo is None
    halves = [chain[0], checkpoint(2, 0, 4, covered=8, replaces=(1,)), checkpoint(3, 4, 8, replaces=(1,))]
    assert chain_needs(halves).redo is None
    assert chain_needs(halves[:2]).redo == Span(start=0, end=8)


def test_only_a_rebuild_of_everything_starts_the_count_anew() -> None:
    chain = [checkpoint(1, 0, 4), checkpoint(2, 4, 8), checkpoint(3, 4, 8, replaces=(2,))]
    assert chain_needs(chain).since_rebuild == 2
    whole = [*chain, checkpoint(4, 0, 8, replaces=(1, 2, 3)), checkpoint(5, 8, 12)]
    assert chain_needs(whole).since_rebuild == 1


def test_a_contradiction_that_nobody_mended_is_a_conflict() -> None:
    def found(code: str, *, mended: bool) -> Validation:
        return Validation(findings=(Finding(code=code, where="tasks", mended=mended),))

    assert chain_needs([checkpoint(1, 0, 4, validation=found("task_promoted", mended=False))]).has_conflict
    assert not chain_needs([checkpoint(1, 0, 4, validation=found("task_promoted", mended=True))]).has_conflict
    assert not chain_needs([checkpoint(1, 0, 4, validation=found("part_degraded", mended=False))]).has_conflict


def test_before_a_restart_nothing_can_be_read_again() -> None:
    chain = [checkpoint(1, 0, 4, status=Status.DEGRADED), checkpoint(2, 4, 8, chain=2)]
    assert (chain_needs(chain).redo, chain_needs(chain).covered_tokens) == (None, 10)
