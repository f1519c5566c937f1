"""What a person put right later is known by its form, and what only looks like it is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.checkpoint import Status
from worker.core.correcting import Statement, is_mark, mark_corrected, put_right, without_corrected, without_marks
from worker.core.rendering import Source, render_summary
from worker.core.summary import Problem, ProblemKind, Summary, Task, TaskStatus, UserMessage


def right(*texts: str) -> dict[int, int]:
    return put_right([Statement(at=at, text=text) for at, text in enumerate(texts)])


def said(*texts: str) -> tuple[UserMessage, ...]:
    return tuple(UserMessage(id=f"m{at}", text=text) for at, text in enumerate(texts))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The budget for the load tests is $340.", "The budget for the load tests is $704."),
        ("The release is called VUKO-917 and ships on 2027-05-17.", "Correction: VUKO-917 ships on 2027-05-04."),
        ("The staging API lives at https://a.example/v2.", "The staging API lives at https://b.example/v3."),
        ("The smoke test on staging uses port 5432.", "Actually the smoke test on staging uses port 5433."),
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
        ("Nobody told me 5 times.", "Correction: my name is Ann, room 7."),
        ("The codename is BCCLF-449 and the deadline is 2027-08-17.", "Update: the deadline is 2027-09-01."),
    ],
)
def test_what_is_said_of_something_else_stands(old: str, new: str) -> None:
    assert right(old, new) == {}


def test_a_chain_of_corrections_leads_to_the_last() -> None:
    assert right(*(f"The budget for the load tests is ${amount}." for amount in (300, 400, 500))) == {0: 2, 1: 2}


def test_one_message_does_not_put_itself_right() -> None:
    listed = [Statement(at=0, text=f"The limit for one upload is {size} MB.") for size in (20, 30)]
    assert put_right(listed) == {}


def test_a_page_shows_what_holds_and_says_where_it_was_said() -> None:
    old, new = "The release OPS-7 ships on 2027-05-17.", "The release OPS-7 ships on 2027-05-04."
    summary = Summary(
        user_messages=said(f"{old} Ask Ann.", "Go on.", new),
        tasks=(Task(id="OPS-7", text=old, status=TaskStatus.OPEN, evidence=("m0",)),),
        problem_solving=(Problem(id="X-1", kind=ProblemKind.FACT, text=old, evidence=("m0",)),),
    )
    source = Source(session="s", number=1, start=0, end=3, covered=3, status=Status.OK)
    page = render_summary(summary, source=source, budget_tokens=6_000).markdown
    assert "2027-05-17" not in page
    assert "- m0: [put right in m2] Ask Ann." in page
    assert f"OPS-7: {new}" in page
    assert "2027-05-17" in render_summary(summary, source=source, budget_tokens=None).markdown


def test_nothing_is_changed_where_nothing_was_put_right() -> None:
    summary = Summary(user_messages=said("The limit is 20 MB.", "Thanks."))
    assert without_corrected(summary) is summary


def test_a_mark_is_told_apart_from_words() -> None:
    marked = mark_corrected(said("The limit for uploads is 20 MB. Ask Ann.", "The limit for uploads is 30 MB.")).said
    assert marked[0].text == "[put right in m1] Ask Ann."
    assert without_marks(marked[0].text) == "Ask Ann."
    assert is_mark("[put right in m1]") and not is_mark("[put right in m1] Ask Ann.")


STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["The port of the staging host is {}.", "Correction: the port of the staging host is {}.", "{}"]
        ),
        st.integers(1, 4),
    ).map(lambda drawn: drawn[0].format(drawn[1])),
    max_size=8,
)


@given(texts=STATEMENTS)
def test_every_statement_is_put_right_by_a_later_one_that_stands(texts: list[str]) -> None:
    found = right(*texts)
    assert all(old < new and new not in found for old, new in found.items())
