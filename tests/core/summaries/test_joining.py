"""State and parts become one summary and nothing is lost."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.items import items_of, newest_evidence, words_of
from worker.core.joining import EARLIER_CHARS, join
from worker.core.summary import (
    Change,
    Check,
    CheckResult,
    Constraint,
    ErrorItem,
    FileItem,
    Lift,
    NextStep,
    Problem,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
)
from worker.core.wording import identifiers

Parts = st.SearchStrategy[Summary]


def fact(text: str, *evidence: str) -> Problem:
    return Problem(kind=ProblemKind.FACT, text=text, evidence=evidence)


def facts_of(*parts: Summary) -> list[str]:
    return [one.text for one in join(None, parts, number=1).problem_solving]


def of_facts(*facts: Problem) -> Summary:
    return Summary(problem_solving=facts)


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_a_summary_joined_with_itself_is_itself(states: Parts, data: st.DataObject) -> None:
    state = data.draw(states)
    assert join(state, [state], number=1) == state


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_no_item_of_the_state_is_lost(states: Parts, parts: Parts, data: st.DataObject) -> None:
    state, new = data.draw(states), data.draw(parts)
    joined = join(state, [new], number=2)
    assert {item.id for _, item in items_of(state)} <= {item.id for _, item in items_of(joined)}


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_no_identifier_is_lost(parts: Parts, data: st.DataObject) -> None:
    some = data.draw(st.lists(parts, min_size=1, max_size=3))
    told = "\n".join(words_of(item) for _, item in items_of(join(None, some, number=1)))
    for part in some:
        for _, item in items_of(part):
            if not isinstance(item, FileItem | Constraint | Check):
                assert all(value in told for value in identifiers(words_of(item)))


@given(data=st.data())
@settings(deadline=None, max_examples=25)
def test_ids_are_unique_within_a_list(parts: Parts, data: st.DataObject) -> None:
    joined = join(None, data.draw(st.lists(parts, min_size=1, max_size=3)), number=1)
    ids = [(field, item.id) for field, item in items_of(joined)]
    assert len(ids) == len(set(ids))
    assert all(item.id for _, item in items_of(joined))


@given(data=st.data())
@settings(deadline=None, max_examples=10)
def test_b45_fifty_rounds_without_news_do_not_make_a_summary_grow(parts: Parts, data: st.DataObject) -> None:
    part = data.draw(parts)
    state = join(None, [part], number=1)
    for _ in range(2):
        state = join(state, [part], number=1)
    settled = state
    for _ in range(47):
        state = join(state, [part], number=1)
    assert state == settled


def test_b46_requests_do_not_nest_a_level_a_round() -> None:
    state = join(None, [Summary(request="Do number 0")], number=1)
    for number in range(2, 60):
        state = join(state, [Summary(request=f"Do number {number} " + "at length " * 10)], number=number)
    assert state.request.startswith("Do number 59")
    assert len(state.request) < EARLIER_CHARS + 400
    assert "Before that: Before that" not in state.request


def test_new_items_begin_in_this_checkpoint_and_known_ones_were_last_seen_in_it() -> None:
    state = join(None, [of_facts(fact("The cache holds 64 entries", "m1"))], number=1)
    joined = join(state, [of_facts(fact("The cache holds 64 entries", "m9"), fact("Login is slow", "m8"))], number=2)
    assert [(one.since, one.seen) for one in joined.problem_solving] == [(1, 2), (2, 2)]
    assert joined.problem_solving[0].evidence == ("m1", "m9")


def test_nearly_the_same_words_are_one_item_and_the_more_specific_text_wins() -> None:
    short = fact("The staging server listens on the port", "m1")
    long = fact("The staging server listens on the port 5432", "m4")
    assert facts_of(of_facts(short), of_facts(long)) == [long.text]
    assert facts_of(of_facts(long), of_facts(short)) == [long.text]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server listens on port 5432", "The server listens on port 5433"),
        ("The login bug is fixed on staging", "The login bug is not fixed on staging"),
        ("The upload test passes on Linux now", "The upload test fails on Linux now"),
        ("Commit 9f3c2ab41d broke the login page", "Commit 77aa2bc41d broke the login page"),
        ("端口必须是 5432", "端口不是 5432"),
    ],
)
def test_what_differs_in_a_number_an_identifier_or_a_not_stays_apart(one: str, other: str) -> None:
    assert facts_of(of_facts(fact(one)), of_facts(fact(other))) == [one, other]


def test_a_fact_and_a_claim_of_the_same_words_stay_apart() -> None:
    claim = Problem(kind=ProblemKind.CLAIM, text="All tests pass")
    assert len(join(None, [Summary(problem_solving=(fact("All tests pass"), claim))], number=1).problem_solving) == 2


def task(status: TaskStatus, *, id: str = "T-101", text: str = "Fix the login", seen: bool = False) -> Summary:  # noqa: A002
    return Summary(tasks=(Task(id=id, text=text, status=status, from_ledger=seen),))


def statuses(*parts: Summary) -> list[TaskStatus]:
    return [one.status for one in join(None, parts, number=1).tasks]


def test_the_newest_status_of_a_task_counts() -> None:
    assert statuses(task(TaskStatus.OPEN), task(TaskStatus.DONE)) == [TaskStatus.DONE]


def test_c04_a_status_that_code_saw_is_not_overruled_by_a_model() -> None:
    seen, told = task(TaskStatus.OPEN, seen=True), task(TaskStatus.DONE)
    assert statuses(seen, told) == statuses(told, seen) == [TaskStatus.OPEN]
    assert statuses(seen, told, task(TaskStatus.DONE, seen=True)) == [TaskStatus.DONE]


def test_a_second_list_that_counts_from_one_again_does_not_overwrite_the_first() -> None:
    joined = join(None, [task(TaskStatus.DONE, id="1", text="Write the parser")], number=1)
    joined = join(joined, [task(TaskStatus.OPEN, id="1", text="Deploy everything")], number=2)
    assert [(one.text, one.status) for one in joined.tasks] == [
        ("Write the parser", TaskStatus.DONE),
        ("Deploy everything", TaskStatus.OPEN),
    ]


def test_a_task_known_by_another_id_is_the_same_task() -> None:
    first = Summary(tasks=(Task(id="T-101", refs=("#4670",), text="Fix the login", status=TaskStatus.OPEN),))
    joined = join(None, [first, task(TaskStatus.DONE, id="#4670", text="Login repaired")], number=1)
    assert [(one.id, one.refs, one.status) for one in joined.tasks] == [("T-101", ("#4670",), TaskStatus.DONE)]


def test_a_mention_or_a_read_does_not_undo_an_edit() -> None:
    steps = (Change.READ, Change.EDITED, Change.READ, Change.MENTIONED)
    parts = [Summary(files=(FileItem(path="a.py", change=change),)) for change in steps]
    assert [one.change for one in join(None, parts, number=1).files] == [Change.EDITED]
    deleted = Summary(files=(FileItem(path="./a.py", change=Change.DELETED),))
    assert [one.change for one in join(None, [*parts, deleted], number=1).files] == [Change.DELETED]


def test_an_error_that_comes_back_is_unresolved_again_and_keeps_what_was_tried() -> None:
    fixed = Summary(errors=(ErrorItem(error="Upload times out", fix="raised the limit to 30 s", evidence=("m3",)),))
    again = Summary(errors=(ErrorItem(error="Upload times out", evidence=("m40",)),))
    (error,) = join(None, [fixed, again], number=1).errors
    assert error.fix is None
    assert "raised the limit to 30 s" in error.error
    assert join(None, [fixed, again, again], number=1).errors == (error,)


def test_the_newest_result_of_a_check_counts() -> None:
    parts = [
        Summary(checks=(Check(command="pytest -q", result=one),)) for one in (CheckResult.FAILED, CheckResult.PASSED)
    ]
    assert [one.result for one in join(None, parts, number=1).checks] == [CheckResult.PASSED]


def test_o9_a_rule_is_in_the_summary_verbatim_after_five_cycles() -> None:
    rule = Constraint(rule="Never run migrations without asking.", quote="never run migrations without asking")
    state = join(None, [Summary(constraints=(rule,))], number=1)
    for number in range(2, 8):
        state = join(state, [Summary(request=f"round {number}", concepts=())], number=number)
    assert [one.quote for one in state.constraints] == ["never run migrations without asking"]


def test_a_lifted_rule_that_is_said_again_is_in_force_again() -> None:
    lifted = Constraint(
        rule="No pushes.", quote="do not push", evidence=("m1",), lifted=Lift(quote="you may push", evidence=("m5",))
    )
    again = replace(lifted, lifted=None, evidence=("m9",))
    before = replace(lifted, lifted=None)
    assert join(None, [Summary(constraints=(lifted,)), Summary(constraints=(again,))], number=1).constraints[0].in_force
    still = join(None, [Summary(constraints=(lifted,)), Summary(constraints=(before,))], number=1)
    assert not still.constraints[0].in_force


def test_o16_no_parts_leave_the_state_as_it_is() -> None:
    state = join(None, [Summary(request="Build the parser", current_work="Half done")], number=1)
    assert join(state, [], number=2) == state


def test_b49_a_short_new_part_updates_request_and_current_work() -> None:
    state = join(None, [Summary(request="A" * 500, current_work="B" * 500)], number=1)
    joined = join(state, [Summary(request="stop, do X", current_work="X begun")], number=2)
    assert joined.request.startswith("stop, do X\n\nBefore that: AAA")
    assert joined.current_work == "X begun"


def test_a_blank_part_does_not_blank_the_texts() -> None:
    state = join(None, [Summary(request="Build it", current_work="Half done")], number=1)
    joined = join(state, [Summary()], number=2)
    assert (joined.request, joined.current_work) == ("Build it", "Half done")


def test_b60_the_newest_part_alone_says_what_is_next() -> None:
    old = Summary(request="A", next_step=NextStep(text="go on with A", quote="do A"))
    assert join(old, [Summary(request="B")], number=2).next_step is None


def test_user_messages_are_those_of_the_new_range_in_order() -> None:
    old = Summary(user_messages=(UserMessage(id="m1", text="old"),))
    new = [
        Summary(user_messages=(UserMessage(id="m12", text="b"),)),
        Summary(user_messages=(UserMessage(id="m9", text="a"),)),
    ]
    assert [one.id for one in join(old, new, number=2).user_messages] == ["m9", "m12"]


def test_o4_evidence_does_not_grow_without_end() -> None:
    state = None
    for number in range(1, 100):
        state = join(state, [of_facts(fact("The cache holds 64 entries", f"m{number}"))], number=number)
    assert state is not None
    (item,) = state.problem_solving
    assert len(item.evidence) == 12
    assert item.evidence[0] == "m1"
    assert newest_evidence(item) == 99
