"""A page within a budget does not tell two values of one thing, and says where the one that holds was said."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.checkpoint import Status
from worker.core.correcting import is_mark, mark_corrected, put_right, without_corrected, without_marks
from worker.core.rendering import Source, render_summary
from worker.core.said_again import Statement
from worker.core.slip import slip
from worker.core.summary import (
    Constraint,
    Memory,
    MemoryKind,
    NextStep,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
)

SOURCE = Source(session="s", number=1, start=0, end=3, covered=3, status=Status.OK)


def right(*texts: str) -> dict[int, int]:
    return {one.old: one.new for one in put_right([Statement(at=at, text=text) for at, text in enumerate(texts)])}


def said(*texts: str) -> tuple[UserMessage, ...]:
    return tuple(UserMessage(id=f"m{at}", text=text) for at, text in enumerate(texts))


def marked(*texts: str) -> tuple[str, ...]:
    return tuple(message.text for message in mark_corrected(said(*texts)).said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The budget for the load tests is $340.", "The budget for the load tests is $704."),
        ("The release is called VUKO-917 and ships on 2027-05-17.", "Correction: VUKO-917 ships on 2027-05-04."),
        ("The staging API lives at https://a.example/v2.", "The staging API lives at https://b.example/v3."),
        ("The smoke test on staging uses port 5432.", "Actually the smoke test on staging uses port 5433."),
        ("The codename is BCCLF-449 and the deadline is 2027-08-17.", "Update: the deadline is 2027-09-01."),
        ("测试环境的端口是5432", "更正：测试环境的端口是5433"),
    ],
)
def test_o70_a_newer_value_puts_the_older_one_right(old: str, new: str) -> None:
    assert right(old, "Go on, please.", new) == {0: 2}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Project spending is capped at $500.", "Conference spending is capped at $250."),
        ("T-101: rename the quantity column.", "T-102: rename the quantity column."),
        ("PR 12 is ready and waits for review.", "PR 13 is ready and waits for review."),
        ("Is the limit for the upload 20 MB?", "Is the limit for the upload 30 MB?"),
        ("There is a slow test in suite 12 of billing.", "There is a slow test in suite 13 of billing."),
        ("The bug sits in the file src/a1.py now.", "The bug sits in the file src/b2.py now."),
        ("The page is slow again, about 4272 ms.", "The page is slow again, about 3067 ms."),
        ("Nobody told me 5 times.", "Correction: my name is Ann, room 7."),
    ],
)
def test_what_is_said_of_something_else_stands(old: str, new: str) -> None:
    assert right(old, new) == {}


def test_a_chain_of_corrections_leads_to_the_last() -> None:
    assert right(*(f"The budget for the load tests is ${amount}." for amount in (300, 400, 500))) == {0: 2, 1: 2}


def test_a_chain_in_other_words_leads_to_the_last() -> None:
    told = ("The launch date is 2027-05-04.", "The launch moved to May 11.", "Launch has slipped to May 18.")
    assert right(*told) == {0: 2, 1: 2}


def test_one_message_does_not_put_itself_right() -> None:
    listed = [Statement(at=0, text=f"The limit for one upload is {size} MB.") for size in (20, 30)]
    assert put_right(listed) == ()


def test_only_the_value_goes_from_a_sentence_that_says_more() -> None:
    old = "HARD CONSTRAINT: Project budget cap is $800 total. Never exceed without explicit approval."
    assert marked(old, "Quick update: keep project spend under five hundred dollars from now on.")[0] == (
        "HARD CONSTRAINT: Project budget cap is [put right in m1] total. Never exceed without explicit approval."
    )
    assert marked("I want terse answers with no em-dashes.", "I would rather get playful answers.")[0] == (
        "I want [put right in m1] answers with no em-dashes."
    )


def test_a_sentence_goes_whole_where_the_newer_one_says_all_of_it() -> None:
    assert marked("FACT: Launch deadline is 2027-05-04.", "The launch date moved to May 11.")[0] == (
        "[put right in m1]."
    )
    assert marked("上线日期定在3月3日。", "上线日期改到3月10日。")[0] == "[put right in m1]。"


def test_a_rule_beside_the_value_stays_to_be_seen() -> None:
    old = "Never share the vault code abcde-12."
    assert marked(old, "The new vault code is fghij-34.")[0] == "Never share the vault code [put right in m1]."
    told = marked("Never exceed the $800 budget.", "The budget is now $900.")
    assert told[0] == "Never exceed the [put right in m1] budget."


def test_two_values_of_one_sentence_are_put_right_each() -> None:
    old, new = "Keep replies terse and use imperial units.", "Please make responses playful and stick to metric units."
    assert marked(old, new)[0] == "Keep replies [put right in m1] and use [put right in m1] units."


def test_a_title_does_not_end_a_sentence() -> None:
    old, new = "The pediatrician is Dr. Hannah Weiss. Call early.", "Our new pediatrician is Dr. Amir Khalil."
    assert marked(old, new)[0] == "The pediatrician is Dr. [put right in m1]. Call early."


def test_a_page_shows_what_holds_and_says_where_it_was_said() -> None:
    old, new = "The release OPS-7 ships on 2027-05-17.", "The release OPS-7 ships on 2027-05-04."
    summary = Summary(
        user_messages=said(f"{old} Ask Ann.", "Go on.", new),
        tasks=(Task(id="OPS-7", text=old, status=TaskStatus.OPEN, evidence=("m0",)),),
        problem_solving=(Problem(id="X-1", kind=ProblemKind.FACT, text=old, evidence=("m0",)),),
    )
    page = render_summary(summary, source=SOURCE, budget_tokens=6_000).markdown
    assert "2027-05-17" not in page
    assert "- m0: [put right in m2]. Ask Ann." in page
    assert f"OPS-7: {new}" in page
    assert "2027-05-17" in render_summary(summary, source=SOURCE, budget_tokens=None).markdown


SUPPORT = said("Field trip: expenses stay below $700, ask Ann Lee.", "Thanks.", "New ceiling for trip costs: $500.")


def test_o70_an_item_made_of_the_older_message_shows_the_mark_in_the_place_of_the_value() -> None:
    cited = ("m0",)
    summary = Summary(
        user_messages=SUPPORT,
        constraints=(
            Constraint(id="C-1", rule="Spend at most $700.", quote="expenses stay below $700", evidence=cited),
        ),
        memories=(Memory(id="M-1", kind=MemoryKind.PROJECT, text="The trip costs $700 at most.", evidence=cited),),
        references=(
            Reference(id="R-1", kind=ReferenceKind.OTHER, value="$700", evidence=cited),
            Reference(id="R-2", kind=ReferenceKind.OTHER, value="$7001", evidence=cited),
        ),
        tasks=(Task(id="T-1", text="Check that $700 is kept", status=TaskStatus.OPEN, evidence=cited),),
        request="A trip for $700.",
        current_work="The trip for $700, now $500.",
        next_step=NextStep(text="Book within $700", quote="expenses stay below $700"),
    )
    page = without_corrected(summary)
    assert page.constraints[0].rule == "Spend at most [put right in m2]."
    assert page.constraints[0].quote == "expenses stay below [put right in m2]"
    assert page.memories[0].text == "The trip costs [put right in m2] at most."
    assert [reference.value for reference in page.references] == ["$7001"]
    assert page.tasks[0].text == "Check that [put right in m2] is kept"
    assert page.request == "A trip for [put right in m2]."
    assert page.current_work == summary.current_work
    assert page.next_step == NextStep(
        text="Book within [put right in m2]", quote="expenses stay below [put right in m2]"
    )


@pytest.mark.parametrize("evidence", [(), ("m1",), ("m0", "m2")])
def test_an_item_that_does_not_come_from_the_older_message_alone_stays(evidence: tuple[str, ...]) -> None:
    problem = Problem(id="X-1", kind=ProblemKind.FACT, text="The hotel costs $700.", evidence=evidence)
    page = without_corrected(Summary(user_messages=SUPPORT, problem_solving=(problem,)))
    assert page.problem_solving == (problem,)


def test_the_same_words_for_something_else_stay() -> None:
    first, second = "Project A has a budget of $800.", "Project B has a budget of $800."
    summary = Summary(
        user_messages=said(f"{first} {second}", "The budget of project A is now $500."),
        problem_solving=tuple(
            Problem(id=f"X-{text[8]}", kind=ProblemKind.FACT, text=text, evidence=("m0",))
            for text in (first, second, "One of the projects has $800.")
        ),
    )
    page = without_corrected(summary)
    assert [problem.text for problem in page.problem_solving] == [
        "Project A has a budget of [put right in m1].",
        second,
        "One of the projects has $800.",
    ]


def test_a_weekday_in_a_text_that_cites_nothing_stays() -> None:
    told = said("The standup is on Monday.", "The standup moved to Tuesday.")
    page = without_corrected(Summary(user_messages=told, request="Plan Monday's release."))
    assert page.request == "Plan Monday's release."
    assert page.user_messages[0].text == "[put right in m1]."


def test_a_small_number_that_stands_for_two_things_stays() -> None:
    problem = Problem(id="X-1", kind=ProblemKind.FACT, text="Retry 3 times on 3 hosts.", evidence=("m0",))
    told = said("The retry count is 3.", "The retry count is now 5.")
    assert without_corrected(Summary(user_messages=told, problem_solving=(problem,))).problem_solving == (problem,)


def test_a_task_whose_id_was_the_old_value_gets_the_new_one_and_is_not_told_twice() -> None:
    old, new = "FACT: The project codename is ABCDE-123.", "We are calling the project FGHIJ-456 now."
    first = Task(id="ABCDE-123", text=old, status=TaskStatus.OPEN, evidence=("m0",))
    second = Task(id="FGHIJ-456", text=new, status=TaskStatus.OPEN, evidence=("m1",))
    page = without_corrected(Summary(user_messages=said(old, new), tasks=(first,)))
    assert [(task.id, task.text) for task in page.tasks] == [("FGHIJ-456", new)]
    assert without_corrected(Summary(user_messages=said(old, new), tasks=(first, second))).tasks == (second,)
    longer = Task(id="ABCDE-123", text=f"{old} Use it in names.", status=TaskStatus.OPEN, evidence=("m0",))
    (task,) = without_corrected(Summary(user_messages=said(longer.text, new), tasks=(longer,))).tasks
    assert (task.id, task.text) == ("FGHIJ-456", "FACT: The project codename is [put right in m1]. Use it in names.")


def test_a_ticket_that_only_cites_the_message_keeps_its_id() -> None:
    ticket = Task(id="ABCDE-123", text="Write the migration.", status=TaskStatus.OPEN, evidence=("m0",))
    told = said("The codename is ABCDE-123.", "We are calling it FGHIJ-456 now.")
    assert without_corrected(Summary(user_messages=told, tasks=(ticket,))).tasks == (ticket,)


def test_a_request_is_marked_line_by_line() -> None:
    told = said(
        "Cart runs in eu-west-1, the database is postgres 15.4.",
        "The database was upgraded to postgres 16.1.",
        "We moved cart to eu-west-3.",
    )
    request = f"{told[2].text} (m2)\nBefore that: {told[1].text} (m1)\nBefore that: {told[0].text} (m0)"
    page = without_corrected(Summary(user_messages=told, request=request))
    assert page.request.splitlines() == [
        *request.splitlines()[:2],
        "Before that: Cart runs in [put right in m2], the database is postgres [put right in m1]. (m0)",
    ]


def test_a_constraint_whose_whole_sentence_is_put_right_stays_on_the_page() -> None:
    old, new = "Report all times in UTC.", "From now on, report all times in Pacific time."
    rule = Constraint(id="C-1", rule=old, quote=old, evidence=("m0",))
    page = without_corrected(Summary(user_messages=said(old, new), constraints=(rule,)))
    assert [constraint.rule for constraint in page.constraints] == ["Report all times in [put right in m1]."]


def test_a_slip_has_no_holes() -> None:
    summary = Summary(
        user_messages=said("Project budget cap is $800 total. Ask Ann.", "From now on the project budget is $500."),
        constraints=(
            Constraint(id="C-1", rule="Keep the project below $800.", quote="budget cap is $800", evidence=("m0",)),
        ),
    )
    lines = slip(without_corrected(summary), budget_tokens=4_000, token_estimator=len).markdown
    assert "- Project budget cap is [see m1] total. Ask Ann." in lines
    assert "- Keep the project below [see m1]." in lines
    assert "$800" not in lines


def test_nothing_is_changed_where_nothing_was_put_right() -> None:
    summary = Summary(user_messages=said("The limit is 20 MB.", "Thanks."))
    assert without_corrected(summary) is summary


def test_what_a_mark_hides_is_not_taken_for_never_said() -> None:
    told = ("The project budget is $800.", "The travel budget is $300.", "The budget is $500 now.")
    once = without_corrected(Summary(user_messages=said(*told, "From now on the project budget is $600.")))
    assert [message.text for message in once.user_messages[:2]] == ["[put right in m3].", told[1]]
    assert without_corrected(once) is once


def test_a_long_message_was_pasted_and_puts_nothing_right() -> None:
    old, new = "The launch date is 2027-05-04.", "The launch moved to May 11."
    assert marked(old, "\n".join([new, *["log line"] * 400]))[0] == old


def test_a_mark_is_told_apart_from_words() -> None:
    text = marked("The limit for uploads is 20 MB. Ask Ann.", "The limit for uploads is 30 MB.")[0]
    assert text == "[put right in m1]. Ask Ann."
    assert without_marks(text) == "Ask Ann."
    assert without_marks("The cap is [put right in m1] total.") == "The cap is [see m1] total."
    assert is_mark("[put right in m1]") and is_mark("[put right in m1].")
    assert not is_mark("[put right in m1] Ask Ann.")


FRAMES = [
    "The port of the staging host is {}.",
    "Correction: the port of the staging host is {}.",
    "The project budget is ${}00. Ask Ann first.",
    "From now on keep project costs below ${}00.",
    "Travel budget: ${}00.",
    "The launch date moved to May {}.",
    "Launch is on 2027-05-0{}.",
    "{}",
]
TEXTS = st.lists(
    st.tuples(st.sampled_from(FRAMES), st.integers(1, 4)).map(lambda drawn: drawn[0].format(drawn[1])), max_size=8
)
MARK = re.compile(r"\[put right in (m\d+)\]")


@given(texts=TEXTS)
def test_every_statement_is_put_right_by_a_later_one_whose_value_stands(texts: list[str]) -> None:
    found = put_right([Statement(at=at, text=text) for at, text in enumerate(texts)])
    gone = {(one.old, one.value.start) for one in found}
    assert all(one.old < one.new and (one.new, one.by.start) not in gone for one in found)


@given(texts=TEXTS)
def test_the_newest_message_stays_and_marks_name_later_ones(texts: list[str]) -> None:
    told = mark_corrected(said(*texts)).said
    assert [message.id for message in told] == [f"m{at}" for at in range(len(texts))]
    assert not told or told[-1].text == texts[-1]
    for at, message in enumerate(told):
        assert all(int(cited.removeprefix("m")) > at for cited in MARK.findall(message.text))


@given(texts=TEXTS)
def test_the_text_outside_marks_is_what_was_written(texts: list[str]) -> None:
    for message, text in zip(mark_corrected(said(*texts)).said, texts, strict=True):
        pieces = [re.escape(piece) for piece in MARK.split(message.text)[::2]]
        assert message.text == text or re.fullmatch(".+?".join(pieces).replace(r"\.", r"\.?"), text, re.DOTALL)


@given(texts=TEXTS)
def test_what_is_marked_once_is_not_marked_again(texts: list[str]) -> None:
    summary = Summary(user_messages=said(*texts))
    once = without_corrected(summary)
    assert without_corrected(once) == once
