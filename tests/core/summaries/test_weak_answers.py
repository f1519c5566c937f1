"""What a small model says in good form and not in truth: rules turned round, reports believed, results reversed."""

from dataclasses import replace
from typing import Protocol

import pytest

from worker.core.ledger import Ledger
from worker.core.mending import mend
from worker.core.messages import Message
from worker.core.summary import (
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
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
    with_id,
)
from worker.core.validation import validate

RULE = "Never restart postgres on that host without asking me first, and don't delete anything under /srv/billing."


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002
    def ledger(self) -> Ledger: ...


@pytest.fixture
def night(talk: Conversation) -> Conversation:
    """m0 a request with two rules in a sentence, m1–m2 a failed service, m3 a guess, m4 the denial, m5–m6 a check."""
    talk.human(f"The disk of db-ams-2 runs full, find out why. {RULE}")
    talk.call("shell", '{"command": "systemctl status walpush"}')
    talk.tool("walpush failed: upload refused, 403 Forbidden (bucket billing-wal-eu). 96211 segments are waiting.")
    talk.assistant("walpush cannot upload because the access key expired.")
    talk.human("No, the key is fine. Write the report tomorrow, not tonight.")
    talk.call("shell", '{"command": "promtool check rules alerts/wal.yaml"}', id="c2")
    talk.tool("alerts/wal.yaml: FAILED: field alert not found", id="c2")
    return talk


def ledger_of(night: Conversation) -> Ledger:
    rule = with_id(Constraint(rule=RULE, quote=RULE, evidence=("m0",)))
    return replace(night.ledger(), constraints=(rule,))


def judged(night: Conversation, **told: object) -> tuple[Summary, list[str]]:
    """The mended summary with these sections, and the codes of what was found about it; all of it is mended."""
    rule = with_id(Constraint(rule=RULE, quote=RULE, evidence=("m0",)))
    base = Summary(
        request="Find out why the disk of db-ams-2 runs full",
        current_work="The rules file was refused",
        constraints=(rule,),
        memories=(with_id(Memory(kind=MemoryKind.CORRECTION, text="The key is fine.", evidence=("m4",))),),
    )
    summary = replace(base, **told)  # type: ignore[arg-type]
    ledger = ledger_of(night)
    findings = validate(summary, ledger=ledger, messages=night.messages)
    fixed, settled = mend(summary, findings, ledger=ledger, messages=night.messages)
    assert [one for one in settled if not one.mended] == []
    assert validate(fixed, ledger=ledger, messages=night.messages) == ()
    return fixed, [one.code for one in settled if one.code != "correction_missing"]


def rule_of(rule: str, quote: str) -> tuple[Constraint, ...]:
    return (with_id(Constraint(rule=rule, quote=quote, evidence=("m0",))),)


def problem(kind: ProblemKind, text: str, *evidence: str) -> tuple[Problem, ...]:
    return (with_id(Problem(kind=kind, text=text, evidence=evidence)),)


def test_the_summary_that_the_tests_begin_with_is_true(night: Conversation) -> None:
    assert judged(night)[1] == []


def test_a_rule_quoted_without_its_never_stays_the_rule_that_was_set(night: Conversation) -> None:
    quote = "restart postgres on that host without asking me first"
    fixed, codes = judged(night, constraints=rule_of("Restart postgres on that host", quote))
    assert codes == ["constraint_weakened", "constraint_missing"]
    assert [(one.rule, one.quote) for one in fixed.constraints] == [(RULE, RULE)]


def test_two_rules_of_one_sentence_are_not_told_by_the_first_alone(night: Conversation) -> None:
    first = "Never restart postgres on that host without asking me first"
    fixed, codes = judged(night, constraints=rule_of(f"{first}.", first))
    assert codes == ["constraint_missing"]
    assert any("delete anything under /srv/billing" in one.rule for one in fixed.constraints)


def test_two_rules_of_one_sentence_may_be_told_one_by_one(night: Conversation) -> None:
    first, second = RULE.rstrip(".").split(", and ")
    assert judged(night, constraints=(*rule_of(first, first), *rule_of(second, second)))[1] == []


@pytest.mark.parametrize(
    ("section", "item"),
    [
        ("tasks", Task(id="", text="Restart postgres", status=TaskStatus.OPEN, evidence=("m0",))),
        (
            "problem_solving",
            Problem(kind=ProblemKind.DECISION, text="Restart postgres on the host db-ams-2", evidence=("m0",)),
        ),
    ],
)
def test_an_order_that_a_rule_forbids_is_told_with_the_rule(night: Conversation, section: str, item: Item) -> None:
    fixed, codes = judged(night, **{section: (with_id(item),)})
    assert codes == ["order_against_rule"]
    assert f'(but: "{RULE}")' in getattr(fixed, section)[0].text


def test_a_request_that_turns_a_rule_round_is_told_with_the_rule(night: Conversation) -> None:
    fixed, codes = judged(night, request="Restart postgres on db-ams-2, its disk runs full")
    assert codes == ["order_against_rule"]
    assert fixed.request.endswith(f'(but: "{RULE}")')


def test_what_a_person_allowed_later_is_no_breach(night: Conversation) -> None:
    night.human("All right, restart postgres now.")
    task = Task(id="", text="Restart postgres", status=TaskStatus.OPEN, evidence=("m7",))
    assert judged(night, tasks=(with_id(task),))[1] == []


def test_a_report_of_a_breach_is_left_as_it_is(night: Conversation) -> None:
    claim = problem(ProblemKind.CLAIM, "The assistant restarted postgres on db-ams-2 although it was forbidden", "m0")
    assert judged(night, problem_solving=claim)[1] == []


def test_what_the_assistant_guessed_is_no_fact_because_a_tool_is_cited_beside_it(night: Conversation) -> None:
    lie = "The access key of walpush expired, so uploads to billing-wal-eu fail"
    fixed, codes = judged(night, problem_solving=problem(ProblemKind.FACT, lie, "m2", "m3"))
    assert codes == ["fact_without_evidence"]
    assert [one.kind for one in fixed.problem_solving] == [ProblemKind.CLAIM]


def test_a_fact_in_other_words_than_the_tool_printed_stays_a_fact(night: Conversation) -> None:
    true = "walpush could not upload to the bucket billing-wal-eu: 403 Forbidden, with 96211 segments waiting"
    assert judged(night, problem_solving=problem(ProblemKind.FACT, true, "m2"))[1] == []


def test_a_true_fact_that_cites_the_assistant_beside_the_tool_is_given_the_tool(night: Conversation) -> None:
    true = "walpush failed: upload refused with 403 Forbidden on the bucket billing-wal-eu"
    fixed, codes = judged(night, problem_solving=problem(ProblemKind.FACT, true, "m3"))
    assert codes == ["fact_without_evidence"]
    assert [(one.kind, one.evidence) for one in fixed.problem_solving] == [(ProblemKind.FACT, ("m2", "m3"))]


def test_a_fact_with_a_number_that_nobody_named_is_told_with_the_right_one_or_says_so(night: Conversation) -> None:
    fixed, codes = judged(night, problem_solving=problem(ProblemKind.FACT, "96312 segments are waiting", "m2"))
    assert codes == ["statement_turned", "fact_without_evidence", "number_unseen"]
    assert fixed.problem_solving[0].text == "96211 segments are waiting."
    other = problem(ProblemKind.FACT, "The disk holds 96312 files of the old release", "m2")
    fixed, _ = judged(night, problem_solving=other)
    assert fixed.problem_solving == ()
    counted = problem(ProblemKind.FACT, "All in all the uploads of the night to that bucket were 96312", "m2")
    fixed, _ = judged(night, problem_solving=counted)
    assert fixed.problem_solving[0].kind is ProblemKind.CLAIM
    assert fixed.problem_solving[0].text.endswith("(not in the transcript: 96312)")


def test_a_request_with_a_number_that_nobody_named_is_accused(night: Conversation) -> None:
    summary = Summary(request="Free 4711 GB on db-ams-2", current_work="The rules file was refused")
    findings = validate(summary, ledger=night.ledger(), messages=night.messages)
    assert [(one.where, one.detail) for one in findings if one.code == "identifier_invented"] == [("request", "4711")]


@pytest.mark.parametrize("number", ["96211", "96,211", "2026", "2026-03-01"])
def test_a_number_is_known_with_and_without_its_comma_and_a_date_may_be_written_out(
    night: Conversation, number: str
) -> None:
    request = f"Find out why the disk of db-ams-2 runs full ({number})"
    assert judged(night, request=request)[1] == []


def test_a_rule_with_another_number_than_the_person_named_is_told_in_their_words(night: Conversation) -> None:
    night.human("The budget is 2200 euros, never spend more.")
    rule = Constraint(rule="Never spend more than 3200 euros", quote="never spend more", evidence=("m7",))
    fixed, codes = judged(night, constraints=(*rule_of(RULE, RULE), with_id(rule)))
    assert codes == ["constraint_weakened"]
    assert all("3200" not in one.rule for one in fixed.constraints)


def test_a_preference_turned_round_in_the_persons_own_script_is_none(talk: Conversation) -> None:
    talk.human("妈妈膝盖不好，她不吃海鲜。")
    talk.call("search", '{"city": "Lisbon", "area": "Baixa", "lift": true}')
    talk.tool("My Story Hotel Ouro: 860 EUR, lift, flat street, free cancellation " * 4)
    lie = with_id(Memory(kind=MemoryKind.PREFERENCE, text="喜欢吃海鲜", evidence=("m0",)))
    true = with_id(Memory(kind=MemoryKind.PREFERENCE, text="妈妈不吃海鲜", evidence=("m0",)))
    summary = Summary(request="妈妈膝盖不好", current_work="看酒店", memories=(lie, true))
    findings = validate(summary, ledger=talk.ledger(), messages=talk.messages)
    assert [one.ids for one in findings if one.code == "memory_unsourced"] == [(lie.id,)]


def test_a_task_is_not_done_by_a_call_whose_result_tells_a_failure(talk: Conversation) -> None:
    talk.human("Book the flight LH1166 to Lisbon.")
    talk.call("book_flight", '{"flight": "LH1166", "to": "Lisbon"}')
    talk.tool("error: passenger 2: passport number is missing")
    done = Task(id="", text="Book the flight LH1166 to Lisbon", status=TaskStatus.DONE, evidence=("m0", "m2"))
    summary = Summary(request="Book the flight LH1166", current_work="The booking was tried", tasks=(with_id(done),))
    findings = validate(summary, ledger=talk.ledger(), messages=talk.messages)
    assert [one.code for one in findings] == ["task_promoted"]


def test_no_memory_is_made_of_what_a_person_denied(night: Conversation) -> None:
    lie = Memory(kind=MemoryKind.PROJECT, text="The access key of db-ams-2 expired", evidence=("m3", "m4"))
    fixed, codes = judged(night, memories=(with_id(lie),))
    assert codes == ["memory_unsourced"]
    assert all("expired" not in one.text for one in fixed.memories)


def test_a_file_is_not_told_as_deleted_when_no_call_deleted_it(night: Conversation) -> None:
    told = with_id(FileItem(path="alerts/wal.yaml", change=Change.DELETED, note="rules", evidence=("m6",)))
    fixed, codes = judged(night, files=(told,))
    assert (codes, fixed.files[0].change) == (["file_change_unseen"], Change.MENTIONED)
    night.call("shell", '{"command": "git rm alerts/wal.yaml"}', id="c3")
    assert judged(night, files=(told,))[1] == []


@pytest.mark.parametrize("value", ["shell", "walpush cannot upload because the access key expired in August"])
def test_the_name_of_a_tool_and_a_statement_are_no_references(night: Conversation, value: str) -> None:
    told = Reference(kind=ReferenceKind.OTHER, value=value, note="to look at the service", evidence=("m1",))
    fixed, codes = judged(night, references=(with_id(told),))
    assert (codes, fixed.references) == (["reference_unusable"], ())


def test_a_check_told_as_passed_whose_result_says_failed_has_failed(night: Conversation) -> None:
    told = Check(
        command="promtool check rules alerts/wal.yaml", result=CheckResult.PASSED, note="fine", evidence=("m6",)
    )
    fixed, codes = judged(night, checks=(with_id(told),))
    assert codes == ["check_unseen"]
    assert [(one.result, one.note) for one in fixed.checks] == [(CheckResult.FAILED, "")]


def test_a_check_whose_call_is_cited_is_judged_by_the_result_of_the_call(night: Conversation) -> None:
    told = Check(command="promtool check rules alerts/wal.yaml", result=CheckResult.PASSED, evidence=("m5",))
    assert judged(night, checks=(with_id(told),))[0].checks[0].result is CheckResult.FAILED


def test_a_fix_that_only_the_error_itself_is_cited_for_is_not_seen(night: Conversation) -> None:
    error = ErrorItem(
        error="403 Forbidden on the bucket billing-wal-eu", fix="postgres was restarted", evidence=("m2",)
    )
    fixed, codes = judged(night, errors=(with_id(error),))
    assert codes == ["fix_unseen"]
    assert fixed.errors[0].fix is None
    assert "postgres was restarted" in fixed.errors[0].error


def test_a_citation_of_every_message_is_narrowed_to_those_that_speak_of_the_item(night: Conversation) -> None:
    for number in range(20):
        night.assistant(f"Round {number}: nothing new.")
    everything = [f"m{index}" for index in range(40)]
    item = problem(ProblemKind.FACT, "walpush failed with 403 Forbidden on bucket billing-wal-eu", *everything)
    fixed, codes = judged(night, problem_solving=item)
    assert codes == ["evidence_runs_on", "evidence_unknown"]
    assert fixed.problem_solving[0].kind is ProblemKind.FACT
    assert "m2" in fixed.problem_solving[0].evidence
    assert len(fixed.problem_solving[0].evidence) <= 4


def test_a_fix_that_a_rule_forbids_is_not_believed_for_its_words(night: Conversation) -> None:
    error = ErrorItem(
        error="403 Forbidden", fix="check the status of walpush and restart postgres", evidence=("m1", "m2")
    )
    fixed, codes = judged(night, errors=(with_id(error),))
    assert (codes, fixed.errors[0].fix) == (["fix_unseen"], None)


def test_topics_without_any_evidence_are_given_theirs_and_need_no_repair(night: Conversation) -> None:
    topics = ("walpush upload", "bucket billing-wal-eu", "postgres restart", "promtool rules", "Kubernetes operators")
    fixed, codes = judged(night, concepts=tuple(with_id(Concept(text=topic)) for topic in topics))
    assert codes == ["evidence_unsupported"] * 5
    assert [one.text for one in fixed.concepts] == list(topics[:4])
    assert all(one.evidence for one in fixed.concepts)


def test_a_quote_of_the_next_step_is_given_back_the_half_that_limits_it(night: Conversation) -> None:
    fixed, codes = judged(night, next_step=NextStep(text="Write the report", quote="Write the report tomorrow"))
    assert codes == ["quote_cut_short"]
    assert fixed.next_step is not None
    assert fixed.next_step.quote == "Write the report tomorrow, not tonight."
