"""A model proposes, code applies what breaks no rule; the rest is refused change by change."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.grounds import Grounds
from worker.core.items import is_protected, items_of
from worker.core.ledger import Identifier, Ledger
from worker.core.merging import Applied, MergeChange, MergeOp, MergeProposal, apply_changes
from worker.core.messages import Message, Origin, Role
from worker.core.summary import (
    Concept,
    Constraint,
    ErrorItem,
    NextStep,
    Problem,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
)

RULE = Constraint(id="C-1", rule="Never change the database schema.", quote="don't touch the schema", evidence=("m1",))
FACT = Problem(id="X-1", kind=ProblemKind.FACT, text="Staging listens on db-7.internal:5439", evidence=("m3",))
CLAIM = Problem(id="L-1", kind=ProblemKind.CLAIM, text="Staging listens on db-7.internal:5439", evidence=("m4",))
TASK = Task(id="T-101", text="Fix the login page", status=TaskStatus.OPEN, evidence=("m1",))
DONE = Task(id="T-100", text="Set up the repository", status=TaskStatus.DONE, evidence=("m2",))
ERROR = ErrorItem(id="E-1", error="Upload times out", evidence=("m5",))
OLD = Concept(id="K-1", text="Retry queue", evidence=("m2",))
TWIN = Concept(id="K-2", text="Retry queue of the upload worker", evidence=("m6",))
STATE = Summary(
    request="Build it",
    current_work="Half done",
    constraints=(RULE,),
    problem_solving=(FACT, CLAIM),
    tasks=(TASK, DONE),
    errors=(ERROR,),
    concepts=(OLD, TWIN),
)
HUMAN = {
    "m1": "Fix T-101, and don't touch the schema.",
    "m20": "You may change the schema now, the freeze is over.",
    "m21": "Forget the login page, we drop it.",
    "m22": "How are things?",
}


def change(op: str, *ids: str, **more: object) -> MergeChange:
    return MergeChange(op=MergeOp(op), ids=ids, **more)  # type: ignore[arg-type]


def applied(*changes: MergeChange, ledger: Ledger | None = None, state: Summary = STATE) -> Applied:
    proposal = MergeProposal(request="", current_work="", changes=changes)
    return apply_changes(state, proposal, human=HUMAN, ledger=ledger or Ledger(), source_end=30)


def refusals(*changes: MergeChange) -> list[str]:
    result = applied(*changes)
    assert result.summary == STATE
    return [one.code for one in result.refused]


def ids_of(summary: Summary) -> set[str]:
    return {item.id for _, item in items_of(summary)}


def test_what_the_answer_does_not_mention_is_kept() -> None:
    assert applied().summary == STATE


def test_texts_are_replaced_and_blank_ones_kept() -> None:
    step = NextStep(text="Fix it", quote="Fix T-101")
    proposal = MergeProposal(request="New request", current_work=" ", next_step=step)
    summary = apply_changes(STATE, proposal, human=HUMAN, ledger=Ledger(), source_end=30).summary
    assert (summary.request, summary.current_work, summary.next_step) == ("New request", "Half done", step)


def test_duplicates_become_one_item_with_both_evidences() -> None:
    summary = applied(change("merge", "K-1", "K-2", text="Retry queue of the upload worker")).summary
    assert [(one.id, one.text, one.evidence) for one in summary.concepts] == [
        ("K-1", "Retry queue of the upload worker", ("m2", "m6"))
    ]


@pytest.mark.parametrize(
    ("proposed", "code"),
    [
        (change("drop", "X-999", reason="obsolete", evidence=("m9",)), "change_unknown_id"),
        (change("merge"), "change_unknown_id"),
        (change("merge", "K-1"), "change_invalid"),
        (change("rewrite", "K-1", text=" "), "change_invalid"),
        (change("drop", "K-1", reason="boring"), "change_invalid"),
        (change("merge", "X-1", "K-1"), "change_mixes_kinds"),
        (change("merge", "X-1", "L-1"), "change_mixes_kinds"),
        (change("drop", "C-1", reason="obsolete", evidence=("m9",)), "constraint_missing"),
        (change("drop", "C-1", reason="obsolete", evidence=("m22",)), "constraint_missing"),
        (change("drop", "C-1", reason="obsolete", evidence=("m1",)), "constraint_missing"),
        (change("rewrite", "C-1", text="The user mentioned the database schema."), "constraint_weakened"),
        (change("rewrite", "C-1", text="Ideally the schema is left alone."), "constraint_weakened"),
        (change("rewrite", "C-1", text="Write good commit messages."), "constraint_missing"),
        (change("drop", "T-101", reason="resolved", evidence=("m9",)), "task_missing"),
        (change("drop", "T-101", reason="resolved", evidence=("m22",)), "task_missing"),
        (change("merge", "T-101", "T-100", text="Work"), "task_missing"),
        (change("drop", "E-1", reason="resolved", evidence=("m9",)), "error_missing"),
        (change("rewrite", "X-1", text="Staging is at db-7.internal:5439"), "fact_without_evidence"),
        (change("rewrite", "X-1", text="Staging is at db-7.internal:5439", evidence=("m99",)), "fact_without_evidence"),
        (change("rewrite", "X-1", text="Staging has a database", evidence=("m3",)), "identifier_lost"),
        (change("rewrite", "K-1", text="Retry queue of ./src/retry.py"), "identifier_invented"),
        (change("drop", "X-1", "L-1", reason="obsolete", evidence=("m9",)), "identifier_lost"),
        (change("drop", "K-1", reason="obsolete"), "evidence_unknown"),
        (change("drop", "K-1", reason="duplicate"), "change_unknown_id"),
        (change("drop", "K-1", reason="duplicate", by="K-1"), "change_unknown_id"),
        (change("drop", "K-1", reason="duplicate", by="E-1"), "evidence_unsupported"),
    ],
)
def test_a_change_that_breaks_a_rule_is_refused_and_nothing_happens(proposed: MergeChange, code: str) -> None:
    assert refusals(proposed) == [code]


def test_each_change_stands_on_its_own() -> None:
    result = applied(change("drop", "C-1", reason="obsolete"), change("drop", "K-1", reason="duplicate", by="K-2"))
    assert ids_of(STATE) - ids_of(result.summary) == {"K-1"}
    assert [one.ids for one in result.refused] == [("C-1",)]


def test_an_identifier_from_the_ledger_may_be_added() -> None:
    ledger = Ledger(identifiers=(Identifier(kind="path", value="src/retry.py", evidence=("m2",)),))
    summary = applied(change("rewrite", "K-1", text="Retry queue of src/retry.py"), ledger=ledger).summary
    assert summary.concepts[0].text == "Retry queue of src/retry.py"


def test_a_claim_may_go_when_the_fact_says_the_same() -> None:
    summary = applied(change("drop", "L-1", reason="duplicate", by="X-1")).summary
    assert summary.problem_solving == (FACT,)


def test_a_constraint_that_a_person_lifts_later_is_kept_as_lifted() -> None:
    (rule,) = applied(change("drop", "C-1", reason="obsolete", evidence=("m20",))).summary.constraints
    assert rule.lifted is not None
    assert rule.lifted.evidence == ("m20",)
    assert rule.lifted.quote in HUMAN["m20"]


def test_an_open_task_that_a_person_ends_later_is_kept_as_cancelled() -> None:
    summary = applied(change("drop", "T-101", reason="obsolete", evidence=("m21",))).summary
    assert (summary.tasks[0].id, summary.tasks[0].status) == ("T-101", TaskStatus.CANCELLED)


def test_a_rule_may_be_said_better() -> None:
    summary = applied(change("rewrite", "C-1", text="Never alter the schema of the database.")).summary
    assert summary.constraints == (replace(RULE, rule="Never alter the schema of the database."),)


@given(
    changes=st.lists(
        st.builds(
            MergeChange,
            op=st.sampled_from(MergeOp),
            ids=st.lists(st.sampled_from([*sorted(ids_of(STATE)), "X-9"]), max_size=3).map(tuple),
            text=st.sampled_from([None, "", "The user mentioned it", "Retry queue", "Something T-999"]),
            reason=st.sampled_from(["duplicate", "superseded", "resolved", "obsolete", "?"]),
            by=st.sampled_from([None, "K-2", "X-1"]),
            evidence=st.lists(st.sampled_from(["m3", "m9", "m22", "m99", "x"]), max_size=2).map(tuple),
        ),
        max_size=6,
    )
)
@settings(deadline=None, max_examples=120)
def test_no_proposal_removes_a_constraint_an_open_task_or_an_unresolved_error(changes: list[MergeChange]) -> None:
    summary = applied(*changes).summary
    kept = {item.id for _, item in items_of(summary)}
    assert {item.id for _, item in items_of(STATE) if is_protected(item)} <= kept
    assert summary.constraints[0].quote == RULE.quote
    assert summary.constraints[0].in_force


def with_task(**fields: object) -> Summary:
    other = Task(id="T-102", text="Fix the login form", status=TaskStatus.OPEN, evidence=("m1",))
    return replace(STATE, tasks=(TASK, replace(other, **fields)))  # type: ignore[arg-type]


def codes(state: Summary, *changes: MergeChange, source: Grounds | None = None) -> list[str]:
    proposal = MergeProposal(request="", current_work="", changes=changes)
    result = apply_changes(state, proposal, human=HUMAN, ledger=Ledger(), source_end=30, source=source)
    if result.refused:
        assert result.summary == state
    return [one.code for one in result.refused]


def test_tasks_with_ids_of_their_own_stay_apart() -> None:
    text = "Fix the login page and form, T-101 and T-102"
    assert codes(with_task(), change("merge", "T-101", "T-102", text=text)) == ["task_missing"]
    unnamed = change("merge", "T-101", "T-1a2b3c", text="Fix the login page and form, T-101")
    assert codes(with_task(id="T-1a2b3c"), unnamed) == []


def test_what_takes_the_place_of_an_item_says_most_of_it() -> None:
    long = replace(STATE, concepts=(OLD, replace(TWIN, text="Retry queue of the upload worker in region four")))
    assert codes(long, change("merge", "K-1", "K-2", text="Queue")) == ["change_invalid"]
    assert codes(long, change("rewrite", "T-101", text="The page T-101", evidence=("m22",))) == []
    assert codes(long, change("rewrite", "K-2", text="Upload", evidence=("m22",))) == ["change_invalid"]


def test_a_text_does_not_grow_from_round_to_round() -> None:
    text = "Upload times out. " * 40
    assert codes(STATE, change("rewrite", "E-1", text=text, evidence=("m5",))) == ["inflated"]
    assert codes(STATE, change("rewrite", "C-1", text=f"{RULE.rule} {RULE.rule} {RULE.rule}")) == ["inflated"]


def test_words_that_stand_nowhere_are_not_written_into_an_item() -> None:
    said = Message(index=5, role=Role.USER, origin=Origin.HUMAN, text="The upload times out behind the proxy.")
    source = Grounds([said], Ledger(), STATE)
    known = change("rewrite", "E-1", text="Upload times out behind the proxy", evidence=("m5",))
    made_up = change("rewrite", "E-1", text="Upload times out on kubernetes", evidence=("m5",))
    assert codes(STATE, known, source=source) == []
    assert codes(STATE, made_up, source=source) == ["evidence_unsupported"]


@pytest.mark.parametrize(
    ("said", "reason", "status"),
    [
        ("The login page is fixed.", "resolved", TaskStatus.DONE),
        ("Skip the login page.", "obsolete", TaskStatus.CANCELLED),
        ("Begin with the login page.", "resolved", TaskStatus.OPEN),
        ("The logo is done, go on with the login page, T-101.", "resolved", TaskStatus.OPEN),
        ("Begin with the login page.", "obsolete", TaskStatus.OPEN),
    ],
)
def test_only_words_that_end_a_task_close_it(said: str, reason: str, status: TaskStatus) -> None:
    proposal = MergeProposal(
        request="", current_work="", changes=(change("drop", "T-101", reason=reason, evidence=("m25",)),)
    )
    result = apply_changes(STATE, proposal, human={"m25": said}, ledger=Ledger(), source_end=30)
    assert result.summary.tasks[0].status is status
