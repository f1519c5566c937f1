"""What a liar asserts in good form: leave nobody gave, work nobody did, tasks nobody asked for, swapped counts."""

from dataclasses import replace
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.asserting import asserts_done, asserts_leave, grave_words, measures_in, people_in
from worker.core.clauses import clauses, forbidden_actions, meaning_stems
from worker.core.demoting import without_sentences
from worker.core.grounds import Grounds
from worker.core.ledger import Ledger
from worker.core.mending import mend
from worker.core.merging import MergeChange, MergeOp, MergeProposal, apply_changes
from worker.core.messages import Message
from worker.core.summary import (
    Change,
    Check,
    CheckResult,
    Concept,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    NextStep,
    Problem,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
    with_id,
)
from worker.core.taking import take_ledger
from worker.core.turning import copied_from, mixes_clauses, refused_in, swapped_counts, turned_output, turned_sentence
from worker.core.validation import validate


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002


@pytest.fixture
def garden(talk: Conversation) -> Conversation:
    """m0 a request, m1–m2 a failing test, m3 a proposal, m4 its refusal, m5–m6 an edit, m7 a report."""
    talk.human("Make the irrigation planner handle frost. GD-12: the frost check. Never push to the release branch.")
    talk.call("Bash", '{"command": "pytest tests/frost"}')
    talk.tool("FAILED tests/frost/test_night.py: pump started at -3 degrees\n2 failed, 5 passed", is_error=True)
    talk.assistant("Two tests fail. Option: switch the planner to the weather service of Otto.")
    talk.human("No weather service. Stay with the local sensor, its limit is 2 degrees, not 5.")
    talk.call("Edit", '{"file_path": "src/frost.py", "old_string": "5", "new_string": "2"}', id="c2")
    talk.tool("The file has been updated.", id="c2")
    talk.assistant("The limit is now 2 degrees in src/frost.py.")
    return talk


def mended(talk: Conversation, **told: object) -> tuple[Summary, set[str]]:
    """The mended summary with these sections, and what was found about it; nothing accused is left."""
    ledger: Ledger = take_ledger(talk.messages)
    base = Summary(request="Make the irrigation planner handle frost", current_work="The limit is now 2 degrees")
    summary = replace(base, **told)  # type: ignore[arg-type]
    findings = validate(summary, ledger=ledger, messages=talk.messages)
    fixed, settled = mend(summary, findings, ledger=ledger, messages=talk.messages)
    assert [one for one in settled if not one.mended and one.code != "inflated"] == []
    return fixed, {one.code for one in settled if not one.code.endswith("_missing") and one.code != "identifier_lost"}


def problem(kind: ProblemKind, text: str, *evidence: str) -> tuple[Problem, ...]:
    return (with_id(Problem(kind=kind, text=text, evidence=evidence)),)


def texts(summary: Summary) -> list[str]:
    said = [one.text for one in summary.problem_solving] + [one.text for one in summary.concepts]
    return said + [one.text for one in summary.tasks]


@pytest.mark.parametrize(
    ("text", "lie", "code"),
    [
        ("The user approved the push. The limit is 2 degrees.", "approved", "leave_unsourced"),
        ("The frost tests pass. The limit is 2 degrees.", "tests pass", "success_denied"),
        ("GD-12 is done. The limit is 2 degrees.", "is done", "success_denied"),
        ("Released to all gardens. The limit is 2 degrees.", "Released", "success_denied"),
        ("Waiting for Henrike to look at it. The limit is 2 degrees.", "Henrike", "name_unsaid"),
        ("The planner is at v2.8.7. The limit is 2 degrees.", "2.8.7", "number_unseen"),
    ],
)
def test_of_a_running_text_only_the_sentence_goes_that_is_not_so(
    garden: Conversation, text: str, lie: str, code: str
) -> None:
    fixed, codes = mended(garden, current_work=text)
    assert (codes, fixed.current_work) == ({code}, "The limit is 2 degrees.")
    assert lie not in fixed.current_work


@pytest.mark.parametrize(
    "text",
    [
        "The user wants to wait for approval before the push.",
        "The frost tests do not pass yet: two fail.",
        "GD-12 is not done.",
        "Nothing was released.",
        "The limit was set to 2 degrees in src/frost.py; the tests have to run again.",
        "The weather service was refused, the local sensor stays.",
    ],
)
def test_a_running_text_that_is_so_stays(garden: Conversation, text: str) -> None:
    text = f"{text} The limit is 2 degrees in src/frost.py."
    fixed, codes = mended(garden, current_work=text)
    assert (codes, fixed.current_work) == (set(), text)


def test_leave_that_a_person_gave_may_be_told(garden: Conversation) -> None:
    garden.assistant("Shall I rename the planner to gardener?")
    garden.human("Yes, go ahead.")
    text = "The user approved renaming the planner to gardener."
    assert mended(garden, current_work=text)[0].current_work == text


def test_a_test_that_passed_later_may_be_told(garden: Conversation) -> None:
    garden.call("Bash", '{"command": "pytest tests/frost"}', id="c3")
    garden.tool("7 passed in 0.2s", id="c3")
    text = "The frost tests pass."
    assert mended(garden, current_work=text)[0].current_work == text


def test_a_success_is_judged_by_the_run_before_it(garden: Conversation) -> None:
    early = problem(ProblemKind.CLAIM, "The frost tests pass", "m3")
    assert "The frost tests pass" not in texts(mended(garden, problem_solving=early)[0])


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (Task(id="", text="Delete the irrigation planner", status=TaskStatus.OPEN, evidence=("m4",)), "task_unasked"),
        (
            Task(id="", text="Buy sensors for the irrigation planner", status=TaskStatus.OPEN, evidence=("m0",)),
            "task_unasked",
        ),
    ],
)
def test_a_task_that_nobody_asked_for_is_a_claim_that_says_so(garden: Conversation, item: Task, code: str) -> None:
    fixed, codes = mended(garden, tasks=(with_id(item),))
    assert code in codes
    assert item.text not in [one.text for one in fixed.tasks]
    assert f"Told as a task, asked for by nobody: {item.text}" in texts(fixed)


@pytest.mark.parametrize(
    "text", ["Handle frost in the irrigation planner", "Implement the frost check", "Run the frost tests again"]
)
def test_a_task_in_other_words_stays(garden: Conversation, text: str) -> None:
    task = with_id(Task(id="", text=text, status=TaskStatus.OPEN, evidence=("m0",)))
    assert text in [one.text for one in mended(garden, tasks=(task,))[0].tasks]


@pytest.mark.parametrize("text", ["Drop the garden tables", "Write the yearly report"])
def test_a_known_task_keeps_its_words(garden: Conversation, text: str) -> None:
    task = Task(id="GD-12", text=text, status=TaskStatus.OPEN, evidence=("m0",))
    fixed, codes = mended(garden, tasks=(task,))
    assert codes == {"task_reworded"}
    assert [one.text for one in fixed.tasks if one.id == "GD-12"] == ["the frost check"]


def test_a_proposal_that_was_refused_is_no_decision(garden: Conversation) -> None:
    told = "Switch the planner to the weather service of Otto"
    fixed, codes = mended(garden, problem_solving=problem(ProblemKind.DECISION, told, "m3"))
    assert "decision_unsourced" in codes
    assert [one.kind for one in fixed.problem_solving if one.text == told] == [ProblemKind.CLAIM]


def test_a_proposal_that_was_agreed_to_is_a_decision(talk: Conversation) -> None:
    talk.human("Which sensor do we take?")
    talk.assistant("Option: take the ceramic sensor for the orchard.")
    talk.human("Good idea, do that.")
    told = problem(ProblemKind.DECISION, "Take the ceramic sensor for the orchard", "m1")
    assert mended(talk, request="Which sensor", current_work="It was decided", problem_solving=told)[0].problem_solving


def test_a_concept_says_nothing_chosen_that_was_only_proposed(garden: Conversation) -> None:
    topic = with_id(Concept(text="The weather service of Otto is the chosen source", evidence=("m3",)))
    assert mended(garden, concepts=(topic,))[0].concepts == ()


def test_an_error_that_nothing_tells_is_a_claim_that_says_so(garden: Conversation) -> None:
    error = with_id(ErrorItem(error="The database of the orchard lost its rows", evidence=("m6",)))
    fixed, codes = mended(garden, errors=(error,))
    assert "error_unseen" in codes or "evidence_unsupported" in codes
    assert error.error not in [one.error for one in fixed.errors]


def test_a_note_and_a_snippet_lose_what_stands_nowhere(garden: Conversation) -> None:
    file = FileItem(
        path="src/frost.py",
        change=Change.EDITED,
        note="Limit set to 2. Approved by Ines and deployed.",
        snippet="limit = 99 if winter else 77",
        evidence=("m5",),
    )
    fixed, codes = mended(garden, files=(with_id(file),))
    assert codes == {"note_unseen"}
    assert [(one.note, one.snippet) for one in fixed.files] == [("Limit set to 2.", None)]


def test_a_check_that_code_saw_fail_did_not_pass_without_a_citation_either(garden: Conversation) -> None:
    check = with_id(Check(command="pytest tests/frost", result=CheckResult.PASSED, note="7 of 7"))
    fixed, _ = mended(garden, checks=(check,))
    assert {one.result for one in fixed.checks} == {CheckResult.FAILED}


def test_a_number_that_may_have_been_worked_out_says_that_it_is_not_seen(garden: Conversation) -> None:
    fixed, codes = mended(garden, problem_solving=problem(ProblemKind.CLAIM, "The pump ran 1234 times at frost", "m2"))
    assert "number_unseen" in codes
    assert any(one.endswith("(not in the transcript: 1234)") for one in texts(fixed))


def test_more_memories_than_a_message_has_clauses_push_nothing_out(garden: Conversation) -> None:
    """Doubles that look true would fill the places of what is."""
    words = ["frost", "irrigation", "planner", "check", "release", "branch", "push", "handle"]
    made = [f"{one} {other} never push release branch" for one in words for other in words if one != other]
    memories = tuple(with_id(Memory(kind=MemoryKind.PROJECT, text=text, evidence=("m0",))) for text in made)
    fixed, codes = mended(garden, memories=memories)
    assert "said_too_often" in codes
    assert len(fixed.memories) <= 8


def test_a_step_without_a_word_of_the_session_is_taken_out_and_nothing_breaks(garden: Conversation) -> None:
    """A next step is no text that the draft could give."""
    step = NextStep(text="Paint all wooden benches turquoise", quote="Stay with the local sensor")
    assert mended(garden, next_step=step)[0].next_step is None


def test_a_step_that_cannot_be_taken_back_is_asked_for_by_a_person(garden: Conversation) -> None:
    step = NextStep(text="Push the planner", quote="Make the irrigation planner handle frost.")
    fixed, codes = mended(garden, next_step=step)
    assert (codes & {"next_step_unasked"}, fixed.next_step) == ({"next_step_unasked"}, None)


def test_a_pull_request_may_be_named_by_the_number_of_its_address(talk: Conversation) -> None:
    talk.human("Work through https://github.example/garden/planner/pull/112 please, all of its comments.")
    talk.assistant("I read the comments of the pull request.")
    told = "Work through the comments of pull request #112"
    fixed, codes = mended(talk, request=told, current_work="The comments are read")
    assert (codes, fixed.request) == (set(), told)
    lie = replace(fixed, request="Work through the comments of pull request #113")
    findings = validate(lie, ledger=take_ledger(talk.messages), messages=talk.messages)
    assert [one.detail for one in findings if one.code == "identifier_invented"] == ["#113"]


# The measures by themselves.


@pytest.mark.parametrize(
    "text",
    ["The user approved it", "approved by Ana", "Ines agreed to the price", "用户批准了部署", "佐藤さんが承認した"],
)
def test_leave_is_heard(text: str) -> None:
    assert asserts_leave(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wait until it is approved",
        "It was not approved",
        "Was it approved?",
        "needs to be approved by Ana",
        "承認していない",
        "没有批准",
    ],
)
def test_leave_that_is_wanted_or_refused_is_none(text: str) -> None:
    assert asserts_leave(text) == []


@pytest.mark.parametrize(
    ("text", "is_done"),
    [
        ("All tests pass", True),
        ("测试全部通过", True),
        ("移行が完了した", True),
        ("Two of the tests pass, one fails", False),
        ("It passes once the limit is set", False),
        ("尚未完成", False),
        ("完了していない", False),
    ],
)
def test_what_is_told_as_done_is_told_so_outright(text: str, is_done: bool) -> None:
    assert asserts_done(text) is is_done


def test_deeds_are_one_whatever_their_form() -> None:
    assert grave_words("paid") == grave_words("Pay them") == grave_words("paying") == {"pay"}
    assert grave_words("The display is clear") == set()


def test_people_and_measures_are_found_where_sentences_have_them() -> None:
    assert people_in("Confirmed with Ines and Otto Vogt in March") == ["Ines", "Otto"]
    assert people_in("山本様と佐藤さん") == ["山本", "佐藤"]
    assert people_in("HTML Export Syntax Highlighting Added") == []
    assert measures_in("from 512Mi to 1.5 GB within 800ms, port 8080") == ["512Mi", "1.5GB", "800ms"]


def test_a_number_is_no_end_of_a_clause() -> None:
    assert clauses("until 01:00, not 02:00, for 12,000 yen") == ["until 01:00", "not 02:00", "for 12,000 yen"]


def test_what_is_forbidden_in_japanese_stands_before_the_cue() -> None:
    assert forbidden_actions("本番の設定は絶対に変更しないでください") == [("設定", "変更")]


def test_japanese_is_compared_without_its_endings() -> None:
    assert set(meaning_stems("証明書を発行する")) == set(meaning_stems("証明書は発行された"))


COUNTS = "confirmed: 74\nno answer: 35"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("35 are confirmed and 74 have no answer", ["no answer: 35", "confirmed: 74"]),
        ("74 are confirmed and 35 have no answer", []),
        ("74 are confirmed", []),
        ("74 of 118 came", []),
    ],
)
def test_counts_that_change_places_are_seen(text: str, lines: list[str]) -> None:
    assert swapped_counts(text, COUNTS) == lines


def test_an_output_is_turned_by_a_not_and_by_a_failure() -> None:
    line = "Not waterproof below 5 degrees"
    assert turned_output("The tent is waterproof below 5 degrees", [line]) == line
    assert turned_output("The tent is not waterproof below 5 degrees", [line]) is None
    assert turned_output("The upload to the bucket was not possible", ["upload to the bucket refused"]) is None


def test_a_short_refusal_is_turned_by_what_takes_it_up() -> None:
    assert refused_in("A buffet instead of a seated dinner", ["No buffet."]) == "No buffet."
    assert refused_in("A seated dinner instead of a buffet", ["No buffet."]) is None
    assert refused_in("No buffet at all", ["No buffet."]) is None


def test_two_clauses_are_told_as_two() -> None:
    assert turned_sentence("Seated dinner, no buffet", ["We stay with the seated dinner."]) is None
    assert mixes_clauses("Answer the customer in English", "Answer the customer in Japanese, me in English")
    assert not mixes_clauses("Answer the customer in Japanese", "Answer the customer in Japanese, me in English")
    assert copied_from("nothing of it", ["We stay with the seated dinner."]) is None


# Laws.

SENTENCES = st.lists(
    st.sampled_from(
        ["The user approved it.", "All tests pass.", "GD-12 is done.", "Never push.", "Otto wants 5.", "承認した。"]
    ),
    min_size=1,
    max_size=5,
)


@given(said=SENTENCES)
def test_what_a_person_wrote_is_never_struck_from_a_text(said: list[str]) -> None:
    from tests.core.summaries.conftest import Talk

    talk = Talk()
    talk.human(" ".join(said))
    talk.assistant("Yes.")
    fixed, codes = mended(talk, request=" ".join(said), current_work=said[0])
    assert codes & {"leave_unsourced", "success_denied", "order_of_tool", "name_unsaid"} == set()
    assert fixed.current_work == said[0]


@given(said=SENTENCES)
def test_a_text_of_which_nothing_is_out_keeps_its_words(said: list[str]) -> None:
    text = "\n\n".join([" ".join(said), said[0]])
    assert without_sentences(text, lambda _: False).split() == text.replace("。", "。 ").split()
    assert without_sentences(text, lambda _: True) == ""


# Merge answers.


def state(*items: Item) -> Summary:
    return Summary(
        request="r", current_work="w", problem_solving=tuple(one for one in items if isinstance(one, Problem))
    )


LIMIT = Problem(id="D-1", kind=ProblemKind.DECISION, text="Only the local sensor, not the service", evidence=("m4",))
COUNT = Problem(id="X-1", kind=ProblemKind.FACT, text="The pump started at 3 degrees", evidence=("m2",))
OTHER = Problem(id="X-2", kind=ProblemKind.FACT, text="The pump has a local sensor of 3 kinds", evidence=("m2",))


def refused(garden: Conversation, change: MergeChange) -> list[str]:
    ledger = take_ledger(garden.messages)
    before = state(LIMIT, COUNT, OTHER)
    human = {one.id: one.text for one in garden.messages if one.is_human}
    source = Grounds(garden.messages, ledger, before)
    proposal = MergeProposal(request="", current_work="", changes=(change,))
    result = apply_changes(before, proposal, human=human, ledger=ledger, source_end=30, source=source)
    assert (result.summary == before) is bool(result.refused)
    return [one.code for one in result.refused]


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (("rewrite", "D-1", "The local sensor, the service too"), ["statement_turned"]),
        (("rewrite", "D-1", "The service, not the local sensor"), ["statement_turned"]),
        (("rewrite", "X-1", "The pump started at 2 degrees"), ["statement_turned"]),
        (("rewrite", "X-1", "The pump started at 3 degrees and the push is out"), ["statement_turned"]),
        (("rewrite", "X-1", "At 3 degrees the pump started"), []),
        (("drop", "D-1", "obsolete"), ["evidence_unsupported"]),
        (("drop", "X-1", "duplicate"), ["change_invalid"]),
        (("drop", "X-1", "superseded"), ["change_invalid"]),
    ],
)
def test_a_change_that_turns_or_takes_away_is_refused(
    garden: Conversation, change: tuple[str, str, str], codes: list[str]
) -> None:
    operation, one, words = change
    proposed = MergeChange(
        op=MergeOp(operation),
        ids=(one,),
        text=words if operation == "rewrite" else None,
        reason=words,
        by="X-2",
        evidence=("m0", "m1", "m3", "m7"),
    )
    assert refused(garden, proposed) == codes


def test_two_items_that_differ_in_a_number_are_not_merged_into_one(garden: Conversation) -> None:
    proposed = MergeChange(op=MergeOp.MERGE, ids=("X-1", "X-2"), text="The pump has a local sensor and started")
    assert refused(garden, proposed) == ["statement_turned"]
