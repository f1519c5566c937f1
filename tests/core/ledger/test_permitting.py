"""Leave is told from orders, and leave that takes some of it back is none."""

import pytest

from worker.core.permitting import LeaveKind, find_leave, gives_leave


@pytest.mark.parametrize(
    ("said", "kind", "about"),
    [
        ("You may touch the schema now.", LeaveKind.MAY, "touch the schema now"),
        ("OK, you can push to main again, the freeze is over.", LeaveKind.MAY, "push to main again"),
        ("The migration is through, so you can push again.", LeaveKind.MAY, "push again"),
        ("Feel free to change the wording.", LeaveKind.MAY, "change the wording"),
        ("Emojis are fine from now on.", LeaveKind.MAY, "Emojis"),
        ("You don't have to ask me about typos.", LeaveKind.NEED_NOT, "ask me about typos"),
        ("No need to be formal.", LeaveKind.NEED_NOT, "be formal"),
        ("Forget what I said about the schema.", LeaveKind.WITHDRAWN, "the schema"),
        ("The schema rule no longer applies.", LeaveKind.WITHDRAWN, "The schema"),
        ("现在可以修改数据库结构了。", LeaveKind.MAY, "修改数据库结构了"),
        ("不用每次都问我。", LeaveKind.NEED_NOT, "每次都问我"),
        ("スキーマを変更してもいいです。", LeaveKind.MAY, "スキーマを変更し"),
        ("もう毎回確認しなくていいです。", LeaveKind.NEED_NOT, "もう毎回確認し"),
        ("Du darfst das Schema jetzt ändern.", LeaveKind.MAY, "das Schema jetzt ändern"),
        ("Du musst mich nicht jedes Mal fragen.", LeaveKind.NEED_NOT, "jedes Mal fragen"),
    ],
)
def test_leave_is_found_with_what_it_is_about(said: str, kind: LeaveKind, about: str) -> None:
    leave = find_leave(said)
    assert leave is not None
    assert (leave.kind, leave.about) == (kind, about)


def test_leave_that_also_takes_back_what_was_said_says_so() -> None:
    leave = find_leave("You may touch the schema now, forget what I said about not touching it.")
    assert leave is not None
    assert leave.withdraws


@pytest.mark.parametrize(
    "said",
    [
        "You may not touch the schema.",
        "You can only use the standard library.",
        "You can push, but never to main.",
        "You can push as long as the tests pass.",
        "May I touch the schema?",
        "You may touch the schema now, right?",
        "If the tests pass, you may push.",
        "Don't forget what I said about the schema.",
        "可以修改数据库结构吗？",
        "只可以用中文。",
        "スキーマを変更してもいいですか",
        "Du darfst das Schema nicht ändern.",
        "Never touch the schema.",
        "Run the tests.",
    ],
)
def test_orders_questions_conditions_and_half_leave_are_none(said: str) -> None:
    assert not gives_leave(said)
