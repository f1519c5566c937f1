"""What is replaced no longer counts, what is outside is never touched, and nobody's rule or task is lost between."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.items import items_of, words_of
from worker.core.ledger import Ledger
from worker.core.rebuilding import Span, in_runs, live_numbers, put_together, span_of, take_out, without_replaced
from worker.core.summary import (
    Artifact,
    Concept,
    Constraint,
    ErrorItem,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
    with_id,
)


def said(index: int) -> UserMessage:
    return UserMessage(id=f"m{index}", text=f"words of m{index}")


def checkpoint(
    number: int, start: int, end: int, *, covered: int | None = None, replaces: tuple[int, ...] = ()
) -> Checkpoint:
    """One whose range holds a person's message, a task and an artifact at each index."""
    indexes = range(start, end)
    artifacts = tuple(
        Artifact(
            handle=f"{at:064d}",
            message=f"m{at}",
            tool="Bash",
            media_type="text/plain",
            chars=1,
            lines=1,
            size=1,
            preview="",
        )
        for at in indexes
    )
    tasks = tuple(Task(id=f"T-{at}", text="t", status=TaskStatus.OPEN, evidence=(f"m{at}",)) for at in indexes)
    return Checkpoint(
        number=number,
        parent=None,
        created_at=datetime(2026, 11, 29, tzinfo=UTC),
        session=SessionRef(key="a--b", agent="a", id="b", source="s"),
        range=SourceRange(start=start, end=end, sha256=""),
        covered=end if covered is None else covered,
        status=Status.OK,
        summary=Summary(user_messages=tuple(map(said, indexes)), artifacts=artifacts),
        ledger=Ledger(tasks=tasks),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=0,
        tokens_after=0,
        cursor=Cursor(format="plain", index=end),
        replaces=replaces,
    )


@st.composite
def chains(draw: st.DrawFn) -> list[Checkpoint]:
    """Chains in which ranges are added and summarized again in any order."""
    chain: list[Checkpoint] = []
    covered = 0
    for number in range(1, draw(st.integers(1, 8)) + 1):
        if covered and draw(st.booleans()):
            start = draw(st.integers(0, covered - 1))
            end = draw(st.integers(start + 1, covered))
            span = Span(start=start, end=end)
            touched = tuple(one.number for one in chain if span_of(one).touches(span))
            chain.append(checkpoint(number, start, end, covered=covered, replaces=touched))
        else:
            grown = covered + draw(st.integers(1, 5))
            chain.append(checkpoint(number, covered, grown))
            covered = grown
    return chain


@settings(deadline=None, max_examples=60)
@given(chain=chains())
def test_every_message_is_told_exactly_once(chain: list[Checkpoint]) -> None:
    told = without_replaced(chain)
    every = [f"m{at}" for at in range(chain[-1].covered)]
    assert sorted(one.id for each in told for one in each.summary.user_messages) == sorted(every)
    assert sorted(one.message for each in told for one in each.summary.artifacts) == sorted(every)
    assert sorted(task.evidence[0] for each in told for task in each.ledger.tasks) == sorted(every)


@settings(deadline=None, max_examples=60)
@given(chain=chains())
def test_the_newest_is_always_live_and_what_is_not_has_nothing_left_to_tell(chain: list[Checkpoint]) -> None:
    live = live_numbers(chain)
    assert chain[-1].number in live
    assert {one.number for one in without_replaced(chain) if one.summary.user_messages} <= live


def test_a_chain_without_rebuilds_is_left_as_it_is() -> None:
    chain = [checkpoint(1, 0, 3), checkpoint(2, 3, 5)]
    assert without_replaced(chain) == chain


def test_what_an_agent_gave_stays_when_its_checkpoint_is_replaced() -> None:
    given = with_id(Constraint(rule="Never push.", quote="Never push.", given=True))
    first = replace(checkpoint(1, 0, 3), ledger=Ledger(constraints=(given,)))
    told = without_replaced([first, checkpoint(2, 0, 3, replaces=(1,))])
    assert [rule for one in told for rule in one.ledger.constraints] == [given]
    assert [one.id for each in told for one in each.summary.user_messages] == ["m0", "m1", "m2"]


# Taking out and putting together.

RULE = with_id(Constraint(rule="Never push.", quote="never push", evidence=("m2",)))
LIFTED_RULE = with_id(Constraint(rule="Use tabs.", quote="use tabs", evidence=("m4",)))
MADE_TASK = with_id(Task(text="tidy the attic", status=TaskStatus.OPEN, evidence=("m3",)))
WRITTEN_TASK = Task(id="T-101", text="rename qty", status=TaskStatus.OPEN, evidence=("m3",))
ASKED_TASK = with_id(Task(text="write the notes", status=TaskStatus.OPEN, evidence=("m2",)))
EARLY = with_id(Concept(text="early", evidence=("m0",)))
INSIDE = with_id(Concept(text="inside", evidence=("m3", "m4")))
ACROSS = with_id(Concept(text="across", evidence=("m0", "m3")))
LATE = with_id(ErrorItem(error="late", evidence=("m4", "m7")))
STATE = Summary(
    constraints=(RULE,),
    request="the newest request",
    concepts=(EARLY, INSIDE, ACROSS),
    errors=(LATE,),
    tasks=(MADE_TASK, WRITTEN_TASK, ASKED_TASK),
    current_work="the newest work",
)
SPAN = Span(start=2, end=6)


def ids(summary: Summary | None) -> set[str]:
    return {item.id for _, item in items_of(summary or Summary())}


def test_items_are_parted_by_where_they_come_from() -> None:
    remains = take_out(STATE, SPAN, covered=9, base=Summary(request="before"), human={"m0", "m2"})
    assert ids(remains.before) == {EARLY.id, ACROSS.id}
    assert ids(remains.after) == {LATE.id}
    assert ids(remains.protected) == {RULE.id, WRITTEN_TASK.id, ASKED_TASK.id}
    assert (remains.before or Summary()).request == "before"
    assert remains.after is not None
    assert remains.after.current_work == "the newest work"


def test_of_a_whole_session_only_what_is_protected_stays() -> None:
    remains = take_out(STATE, Span(start=0, end=9), covered=9, base=None, human={"m0", "m2"})
    assert (remains.before, remains.after) == (None, None)
    assert ids(remains.protected) == {RULE.id, WRITTEN_TASK.id, ASKED_TASK.id}


def test_what_came_behind_the_range_has_the_last_word() -> None:
    done = replace(WRITTEN_TASK, status=TaskStatus.DONE, evidence=("m3", "m8"))
    state = Summary(tasks=(done,), request="newest", current_work="newest work")
    remains = take_out(state, SPAN, covered=9, base=None, human=())
    rebuilt = Summary(tasks=(WRITTEN_TASK,), request="older", current_work="older work")
    whole = put_together(rebuilt, remains, state, span=SPAN, number=4)
    assert [(task.id, task.status) for task in whole.tasks] == [("T-101", TaskStatus.DONE)]
    assert (whole.current_work, whole.request.split("\n")[0]) == ("newest work", "newest")


def test_a_rule_that_the_range_itself_lifts_is_lifted() -> None:
    from worker.core.summary import Lift

    state = Summary(constraints=(LIFTED_RULE,))
    remains = take_out(state, SPAN, covered=6, base=None, human={"m4"})
    lifted = replace(LIFTED_RULE, lifted=Lift(quote="forget the tabs", evidence=("m5",)))
    whole = put_together(Summary(constraints=(lifted,)), remains, state, span=SPAN, number=4)
    assert [rule.in_force for rule in whole.constraints] == [False]


def test_an_item_that_was_found_again_is_as_old_as_it_is() -> None:
    old = replace(INSIDE, since=1, seen=2)
    state = Summary(concepts=(old, replace(ACROSS, since=1, seen=1)))
    remains = take_out(state, SPAN, covered=6, base=None, human=())
    rebuilt = Summary(concepts=(INSIDE, *(remains.before or Summary()).concepts))
    whole = put_together(rebuilt, remains, state, span=SPAN, number=4)
    assert {item.id: (item.since, item.seen) for _, item in items_of(whole)} == {
        INSIDE.id: (1, 4),
        ACROSS.id: (1, 1),
    }


EVIDENCE = st.lists(st.integers(0, 9), min_size=1, max_size=3).map(lambda some: tuple(f"m{at}" for at in sorted(some)))


@settings(deadline=None, max_examples=60)
@given(
    rules=st.lists(EVIDENCE, max_size=4),
    errors=st.lists(EVIDENCE, max_size=4),
    start=st.integers(0, 8),
    length=st.integers(1, 9),
)
def test_a_rebuild_that_finds_nothing_loses_no_rule_and_nothing_from_outside(
    rules: list[tuple[str, ...]], errors: list[tuple[str, ...]], start: int, length: int
) -> None:
    span = Span(start=start, end=min(10, start + length))
    state = Summary(
        constraints=tuple(
            with_id(Constraint(rule=f"Never do {'x' * at}.", quote=f"never do {'x' * at}", evidence=cited))
            for at, cited in enumerate(rules, 1)
        ),
        errors=tuple(
            with_id(ErrorItem(error=f"module{at}.py broke in place {at * 1_111}", evidence=cited))
            for at, cited in enumerate(errors, 1)
        ),
    )
    remains = take_out(state, span, covered=10, base=None, human=())
    whole = put_together(remains.before or Summary(), remains, state, span=span, number=7)
    assert {rule.quote for rule in state.constraints} == {rule.quote for rule in whole.constraints}
    outside = {words_of(error) for error in state.errors if not span.rests_on(error.evidence)}
    assert {words_of(error) for error in whole.errors} == outside


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((3,), "checkpoint 3"),
        ((1, 2, 3), "checkpoints 1–3"),
        ((1, 2, 3, 5), "checkpoints 1–3, 5"),
        ((4, 2), "checkpoints 2, 4"),
    ],
)
def test_numbers_are_told_in_runs(numbers: tuple[int, ...], text: str) -> None:
    assert in_runs(numbers) == text
