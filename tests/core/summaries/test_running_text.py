"""Request and current work of weak models: another language, another subject, finished before it is; and citations."""

from dataclasses import replace
from typing import Protocol

import pytest

from worker.core.answers import PartAnswer, read_answer, to_summary
from worker.core.mending import mend
from worker.core.messages import Message
from worker.core.summary import Constraint, Summary, Task, TaskStatus, with_id
from worker.core.taking import take_ledger
from worker.core.validation import validate
from worker.ports import ModelAnswer


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002


@pytest.fixture
def trip(talk: Conversation) -> Conversation:
    """The flight is asked for, and is not booked."""
    talk.human("帮我安排六月的里斯本之行，我和我妈妈一起去。预算总共 2200 欧元，不要超。")
    talk.call("book_flight", '{"flights": ["LH1166"]}')
    talk.tool("error: passenger 2: passport number is missing", is_error=True)
    talk.assistant("航班还没订成：缺少您妈妈的护照号码。")
    return talk


@pytest.fixture
def export(talk: Conversation) -> Conversation:
    talk.human(
        "Two tickets: T-101 CSV export of the orders, T-102 rate limiting. Never touch migrations/, ask Mei first."
    )
    talk.assistant("T-101 is written, its tests pass. T-102 comes next.")
    return talk


def judged(talk: Conversation, **told: str) -> tuple[Summary, set[str]]:
    ledger = take_ledger(talk.messages)
    summary = replace(Summary(request="x", current_work="y", constraints=ledger.constraints), **told)  # type: ignore[arg-type]
    findings = validate(summary, ledger=ledger, messages=talk.messages)
    fixed, _ = mend(summary, findings, ledger=ledger, messages=talk.messages)
    return fixed, {one.code for one in findings}


def test_a_request_in_a_language_of_nobody_there_is_told_in_the_peoples_words(trip: Conversation) -> None:
    fixed, codes = judged(
        trip, request="Plan a six-month trip to Lisbon with the mother of the user, and it is for two"
    )
    assert "text_foreign" in codes
    assert "帮我安排六月的里斯本之行" in fixed.request
    assert "six-month" not in fixed.request


def test_the_peoples_language_stays(trip: Conversation) -> None:
    told = "安排六月的里斯本之行，和妈妈一起去，预算 2200 欧元"
    fixed, codes = judged(trip, request=told)
    assert "text_foreign" not in codes
    assert fixed.request == told


def test_names_and_code_are_no_language(trip: Conversation) -> None:
    assert "text_foreign" not in judged(trip, current_work="book_flight LH1166: passenger 2")[1]


@pytest.mark.parametrize(
    "told",
    [
        "The booking is complete, no more work to be done",
        "Everything was booked. Nothing is in work",
        "预订已完成",
    ],
)
def test_work_is_not_called_finished_while_a_call_has_failed(trip: Conversation, told: str) -> None:
    fixed, codes = judged(trip, current_work=told)
    assert "work_unfinished" in codes or "text_foreign" in codes
    assert told not in fixed.current_work
    assert "航班还没订成" in fixed.current_work


@pytest.mark.parametrize(
    ("told", "is_early"),
    [
        ("The export is complete", True),
        ("All tasks are done", True),
        ("T-101 is complete, T-102 comes next", False),
        ("The export is complete; the rate limiting of T-102 is left", False),
        ("The work is done once the rate limiting is in", False),
        ("Writing the rate limiting", False),
    ],
)
def test_work_is_finished_when_nothing_is_open_or_what_is_open_is_named(
    export: Conversation, told: str, is_early: bool
) -> None:
    assert ("work_unfinished" in judged(export, current_work=told)[1]) is is_early


def test_a_request_about_something_else_is_told_from_the_ledger(export: Conversation) -> None:
    fixed, codes = judged(export, request="Bake bread with walnuts for Sunday breakfast")
    assert "request_unspoken" in codes
    assert "CSV export" in fixed.request
    assert "request_unspoken" not in judged(export, request="Write the CSV export and limit the rate")[1]


def test_a_rule_cites_the_message_in_which_a_person_said_it(export: Conversation) -> None:
    ledger = take_ledger(export.messages)
    rule = with_id(
        Constraint(rule="Never touch migrations/", quote="Never touch migrations/, ask Mei first.", evidence=("m1",))
    )
    summary = Summary(request="CSV export of the orders", current_work="T-102 comes next", constraints=(rule,))
    findings = validate(summary, ledger=ledger, messages=export.messages)
    assert [one.detail for one in findings if one.code == "constraint_miscited"] == ["said in m0"]
    fixed, _ = mend(summary, findings, ledger=ledger, messages=export.messages)
    assert all(one.evidence == ("m0",) for one in fixed.constraints)


def drafted(tasks: str, files: str = "[]") -> Summary:
    text = f"""<analysis>a</analysis><summary>{{"request": "r", "concepts": [], "files": {files}, "references": [],
    "errors": [], "checks": [], "problem_solving": [], "tasks": {tasks}, "current_work": "w", "next_step": null,
    "constraints": [], "lifted": [], "memories": []}}</summary>"""
    answer = read_answer(ModelAnswer(text=text, finish_reason="stop"), source_tokens=5_000)
    assert isinstance(answer, PartAnswer)
    return to_summary(answer).summary


@pytest.mark.parametrize(
    ("written", "is_"),
    [
        ("T-101 CSV export endpoint", "T-101"),
        ("T-101 export", "T-101"),
        ("T-101", "T-101"),
        ("Phase 2", "Phase 2"),
        ("My Story Hotel Ouro", ""),
        ("docs/color.md", ""),
        ("#12", "#12"),
    ],
)
def test_a_title_is_no_id(written: str, is_: str) -> None:
    (task,) = drafted(
        f'[{{"id": "{written}", "refs": [], "text": "Write it", "status": "open", "evidence": ["m1"]}}]'
    ).tasks
    assert task == with_id(Task(id=is_, text="Write it", status=TaskStatus.OPEN, evidence=("m1",)))


def test_a_message_is_no_file() -> None:
    files = '[{"path": "m18", "change": "read", "note": "", "snippet": null, "evidence": ["m18"]}]'
    assert drafted("[]", files).files == ()


def test_a_slash_that_moved_makes_no_invented_name(talk: Conversation) -> None:
    talk.human("You should always include exactly one tool call/function call per response. Look at the parser.")
    told = "Include exactly one tool call/ function call per response, look at the parser"
    assert "identifier_invented" not in judged(talk, request=told)[1]
    assert "identifier_invented" in judged(talk, request=f"{told} in src/lexer/")[1]


def test_a_rule_that_is_a_piece_of_another_one_is_told_once(talk: Conversation) -> None:
    talk.human("Never restart postgres without asking me first, and don't delete anything under /srv/billing.")
    ledger = take_ledger(talk.messages)
    (whole,) = ledger.constraints
    quote = "Never restart postgres without asking me first"
    piece = with_id(Constraint(rule=quote, quote=quote, evidence=("m0",)))
    summary = Summary(request="Never restart postgres", current_work="Nothing yet", constraints=(piece, whole))
    findings = validate(summary, ledger=ledger, messages=talk.messages)
    fixed, _ = mend(summary, findings, ledger=ledger, messages=talk.messages)
    assert [one.id for one in fixed.constraints] == [whole.id]


def test_a_task_over_several_known_ones_is_none(export: Conversation) -> None:
    ledger = take_ledger(export.messages)
    umbrella = with_id(Task(text="Get the export out (T-101, T-102)", status=TaskStatus.OPEN, evidence=("m0",)))
    summary = Summary(request="CSV export", current_work="T-102 comes next", tasks=(umbrella, *ledger.tasks))
    findings = validate(summary, ledger=ledger, messages=export.messages)
    fixed, _ = mend(summary, findings, ledger=ledger, messages=export.messages)
    assert [one.id for one in fixed.tasks] == ["T-101", "T-102"]
