"""A range summarized again is one more checkpoint that replaces; whatever goes wrong leaves everything as it was."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from worker import terminal
from worker.adapters.sessions import FileCheckpoints
from worker.consolidate import Request, Result
from worker.core.checkpoint import Outcome, Status
from worker.core.memory import parse
from worker.core.summary import TaskStatus
from worker.errors import ModelUnavailable, UsageError
from worker.ports import Turn
from worker.resummarize import resummarize
from worker.testing import FakeClock, ScriptedModel, in_form, part_answer

Desk = Any
Session = Any
MERGED: dict[str, Any] = {
    "request": "Look at the modules",
    "current_work": "All was looked at",
    "next_step": None,
    "changes": [],
}


def again(desk: Desk, session: Session, model: Any = None, **span: int) -> Result:
    return resummarize(Request(path=session.path), desk.tools(model), session=session.key, **span)


def helpful(turns: Sequence[Turn]) -> str:
    """Answers in form and proposes nothing of its own."""
    if turns[0].content.startswith("You keep the memory"):
        return in_form(MERGED)
    return part_answer(current_work="The model has read it")


def model(answer: Any = helpful) -> ScriptedModel:
    return ScriptedModel(otherwise=answer)


# What it makes.


def test_a_whole_session_becomes_one_checkpoint_that_replaces_all(desk: Desk, grown: Session) -> None:
    """B42"""
    before = desk.chain(grown)
    result = again(desk, grown)
    newest = desk.chain(grown)[-1]
    assert (result.outcome, result.checkpoint, result.range) == (Outcome.COMMITTED, 4, (0, 12))
    assert (newest.parent, newest.replaces) == (before[-1].id, (1, 2, 3))
    assert (newest.covered, newest.cursor) == (before[-1].covered, before[-1].cursor)
    assert [said.id for said in newest.summary.user_messages] == ["m0", "m4", "m8"]
    assert desk.chain(grown)[:3] == before
    assert desk.problems() == []


def test_a_part_of_it_leaves_the_rest_alone(desk: Desk, grown: Session) -> None:
    before = desk.joined(grown)
    result = again(desk, grown, start=4, end=8)
    newest = desk.chain(grown)[-1]
    assert (result.range, newest.replaces, newest.covered) == ((4, 8), (2,), 12)
    assert [said.id for said in newest.summary.user_messages] == ["m4"]
    assert newest.summary.current_work == before.summary.current_work
    rules = [rule.quote for rule in desk.joined(grown).summary.constraints]
    assert sorted(rules) == sorted(rule.quote for rule in before.summary.constraints)
    assert desk.problems() == []


def test_a_range_is_widened_to_whole_turns(desk: Desk, grown: Session) -> None:
    grown.turn("One more.").turn("And another.")
    desk.run(grown)
    result = again(desk, grown, start=14, end=15)
    assert (result.range, desk.chain(grown)[-1].replaces) == ((12, 16), (4,))
    assert desk.problems() == []


def test_what_is_shown_has_every_message_once(desk: Desk, grown: Session) -> None:
    again(desk, grown, start=4, end=8)
    again(desk, grown)
    whole = desk.joined(grown)
    assert [said.id for said in whole.summary.user_messages] == ["m0", "m4", "m8"]
    assert len(whole.ledger.tasks) == len({task.id for task in whole.ledger.tasks})


def test_artifacts_of_a_replaced_range_are_named_once(desk: Desk, grown: Session) -> None:
    grown.person("Read the log.")
    grown.bash("cat build.log", "\n".join(f"line {number} of the log" for number in range(4_000)))
    grown.assistant("Read.")
    desk.run(grown)
    again(desk, grown)
    assert len(desk.joined(grown).summary.artifacts) == 1
    assert desk.problems() == []


def test_a_later_run_goes_on_behind_what_was_covered(desk: Desk, grown: Session) -> None:
    again(desk, grown)
    grown.turn("Look at the search module.")
    result = desk.run(grown)
    assert (result.outcome, result.checkpoint, result.range) == (Outcome.COMMITTED, 5, (12, 16))
    assert [said.id for said in desk.joined(grown).summary.user_messages] == ["m0", "m4", "m8", "m12"]
    assert desk.problems() == []


def test_ranges_that_do_not_fit_in_memory_are_read_one_after_the_other(desk: Desk, grown: Session) -> None:
    tools = desk.tools()
    tools = replace(tools, limits=replace(tools.limits, range_tokens=60))
    result = resummarize(Request(path=grown.path), tools, session=grown.key)
    newest = desk.chain(grown)[-1]
    assert (result.outcome, newest.replaces, result.range) == (Outcome.COMMITTED, (1, 2, 3), (0, 12))
    assert [said.id for said in newest.summary.user_messages] == ["m0", "m4", "m8"]
    assert desk.problems() == []


def test_history_says_what_was_replaced_and_tells_nothing_twice(desk: Desk, grown: Session) -> None:
    again(desk, grown)
    entry = desk.text("HISTORY.md").rpartition("## [")[2]
    assert "checkpoint 4" in entry
    assert "Summarized again, replaces checkpoints 1–3." in entry
    assert "rule:" not in entry


# What stays and what goes.


def test_rules_and_open_tasks_survive_a_model_that_says_nothing(desk: Desk, grown: Session) -> None:
    before = desk.joined(grown).summary
    assert again(desk, grown, model()).status == "ok"
    after = desk.joined(grown).summary
    assert {rule.quote for rule in before.constraints} <= {rule.quote for rule in after.constraints if rule.in_force}
    assert {task.id for task in before.tasks if task.status.is_open} <= {task.id for task in after.tasks}
    assert {rule.id for rule in before.constraints} <= {rule.id for rule in after.constraints}


def test_an_error_that_had_piled_up_is_gone(desk: Desk, grown: Session) -> None:
    lie = {"kind": "decision", "text": "We look at the billing module with care", "evidence": ["m12"]}
    grown.turn("Look at the billing module again.")
    desk.run(
        grown,
        model(lambda turns: part_answer(problem_solving=[lie]) if "again" in turns[1].content else helpful(turns)),
    )
    told = [problem.text for problem in desk.joined(grown).summary.problem_solving]
    assert lie["text"] in told
    again(desk, grown, model())
    assert lie["text"] not in [problem.text for problem in desk.joined(grown).summary.problem_solving]


def test_a_task_that_was_finished_later_is_not_opened_by_an_older_range(desk: Desk) -> None:
    session = desk.session()
    for status in ("in_progress", "completed"):
        session.person("Go on with the notes.")
        session.tool("TodoWrite", {"todos": [{"content": "write the notes", "status": status}]}, "ok")
        session.assistant("Noted.")
        desk.run(session)
    again(desk, session, start=0, end=4)
    assert [task.status for task in desk.joined(session).summary.tasks] == [TaskStatus.DONE]


def test_what_an_agent_handed_over_stays_although_no_transcript_holds_it(desk: Desk) -> None:
    session = desk.session().turn("Look at the logs.")
    desk.run(session, constraints=("Never push to main.",), tasks=("T-9: ship it",))
    again(desk, session)
    again(desk, session)
    whole = desk.joined(session)
    assert [rule.rule for rule in whole.summary.constraints] == ["Never push to main."]
    assert [(task.id, task.status) for task in whole.summary.tasks] == [("T-9", TaskStatus.OPEN)]


def test_a_rule_that_was_lifted_does_not_come_back(desk: Desk) -> None:
    session = desk.session().turn("Never change the database schema.")
    desk.run(session)
    rule = desk.joined(session).summary.constraints[0].id
    words = "You may change the database schema now, forget that rule."
    session.turn(words)
    lifted = {"id": rule, "quote": words, "evidence": ["m4"]}
    desk.run(
        session, model(lambda turns: part_answer(lifted=[lifted]) if words in turns[1].content else helpful(turns))
    )
    assert [one.in_force for one in desk.joined(session).summary.constraints if one.id == rule] == [False]
    again(desk, session, model())
    assert [one.in_force for one in desk.joined(session).summary.constraints if one.id == rule] == [False]


def test_items_are_as_old_as_they_are(desk: Desk, grown: Session) -> None:
    since = {rule.id: rule.since for rule in desk.joined(grown).summary.constraints}
    again(desk, grown)
    assert {rule.id: rule.since for rule in desk.joined(grown).summary.constraints} == since


def test_summarizing_again_without_news_changes_nothing_but_the_number(desk: Desk, grown: Session) -> None:
    again(desk, grown)
    first = desk.chain(grown)[-1].summary
    again(desk, grown)
    second = desk.chain(grown)[-1].summary
    assert [item.id for item in second.tasks] == [item.id for item in first.tasks]
    assert [rule.id for rule in second.constraints] == [rule.id for rule in first.constraints]
    assert second.user_messages == first.user_messages


# MEMORY.md.


def test_bullets_of_the_replaced_checkpoints_keep_working(desk: Desk, grown: Session) -> None:
    before = desk.text("MEMORY.md")
    assert len(parse(before).bullets) == 2
    again(desk, grown)
    assert desk.text("MEMORY.md") == before
    assert desk.problems() == []


def test_a_memory_that_only_the_rebuild_found_becomes_a_bullet(desk: Desk) -> None:
    """It cites a message from long before the newest checkpoint; the rebuild carries the words that it rests on."""
    session = desk.session().turn("I prefer dark themes in every editor.")
    desk.run(session)
    session.turn("Look at the logs.")
    desk.run(session)
    found = {"kind": "preference", "text": "Prefers dark themes in every editor", "evidence": ["m0"]}
    again(desk, session, model(lambda turns: part_answer(memories=[found])))
    assert "Prefers dark themes in every editor" in desk.text("MEMORY.md")
    assert desk.problems() == []


# What goes wrong.


def test_a_transcript_that_is_gone_loses_nothing(desk: Desk, grown: Session) -> None:
    before = desk.files()
    grown.path.unlink()
    result = again(desk, grown)
    assert (result.outcome, result.reason) == (Outcome.FAILED, "source_missing")
    assert desk.files() == before


def test_a_transcript_that_began_anew_is_refused(desk: Desk, grown: Session) -> None:
    before = desk.files()
    grown.path.write_bytes(b"")
    other = desk.session()
    for number in range(4):
        other.person(f"Something else, {number}.")
        other.bash("ls", f"file{number}")
        other.assistant(f"There is file{number}.")
    result = again(desk, grown)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, "source_restarted")
    assert desk.files() == before


def test_a_transcript_that_was_changed_in_the_middle_is_refused(desk: Desk, grown: Session) -> None:
    grown.path.write_bytes(grown.path.read_bytes().replace(b"T-102", b"T-103"))
    result = again(desk, grown)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, "source_changed")
    assert len(desk.chain(grown)) == 3


def test_a_transcript_that_is_changed_while_it_is_read_is_refused(desk: Desk) -> None:
    session = desk.session().turn("Look at the logs.")
    for lines in (100_000, 200_000):  # what is asked about first is read before the end of the file is
        session.turn("And this one.").bash("cat build.log", "x y z\n" * lines)
    session.turn("Use port 5433.")
    desk.run(session)
    checkpoints = len(desk.chain(session))

    def answer(turns: Sequence[Turn]) -> str:
        session.path.write_bytes(session.path.read_bytes().replace(b"Use port 5433.", b"Use port 5434."))
        return helpful(turns)

    tools = desk.tools(model(answer))
    tools = replace(tools, limits=replace(tools.limits, range_tokens=60))
    result = resummarize(Request(path=session.path), tools, session=session.key)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, "source_changed")
    assert len(desk.chain(session)) == checkpoints


def test_the_newest_chain_of_a_restarted_transcript_can_be_summarized_again(desk: Desk, grown: Session) -> None:
    grown.path.write_bytes(b"")
    other = desk.session()
    other.turn("A new beginning. Never delete the logs.").turn("And more.")
    desk.run(other)
    result = again(desk, other)
    assert (result.outcome, result.range) == (Outcome.COMMITTED, (12, 20))
    assert desk.chain(other)[-1].replaces == (4,)
    assert {"m0", "m4", "m8", "m12", "m16"} == {said.id for said in desk.joined(other).summary.user_messages}
    assert "Never change the database schema." in [rule.quote for rule in desk.joined(other).summary.constraints]


def test_without_a_model_a_models_summary_is_not_replaced(desk: Desk, grown: Session) -> None:
    again(desk, grown, model())
    result = again(desk, grown)
    assert (result.outcome, result.reason, len(desk.chain(grown))) == (Outcome.REFUSED, "no_model", 4)


def test_a_deterministic_checkpoint_is_redone_once_a_model_is_there(desk: Desk, grown: Session) -> None:
    assert desk.chain(grown)[-1].status is Status.DETERMINISTIC
    again(desk, grown, model())
    assert (desk.chain(grown)[-1].status, desk.chain(grown)[-1].summary.current_work) == (
        Status.OK,
        "The model has read it",
    )


def test_an_outage_writes_nothing(desk: Desk, grown: Session) -> None:
    before = desk.files()
    with pytest.raises(ModelUnavailable):
        again(desk, grown, model(ModelUnavailable("503")))
    assert desk.files() == before


def test_a_summary_that_is_worse_than_what_is_there_is_not_committed(desk: Desk, grown: Session) -> None:
    again(desk, grown, model())
    result = again(desk, grown, model("I am sorry, I cannot do that."))
    assert (result.outcome, result.reason) == (Outcome.REFUSED, "worse_than_before")
    assert len(desk.chain(grown)) == 4


def test_a_run_that_is_cancelled_writes_nothing(desk: Desk, grown: Session) -> None:
    class Cancelled(Exception):
        pass

    class Cancelling:
        def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
            if stage == "writing":
                raise Cancelled

    before = desk.files()
    with pytest.raises(Cancelled):
        resummarize(Request(path=grown.path), replace(desk.tools(), progress=Cancelling()), session=grown.key)
    assert desk.files() == before


def test_of_two_at_once_one_wins_and_the_other_says_so(desk: Desk, grown: Session) -> None:
    meeting = threading.Barrier(2)

    class Meeting:
        def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
            if stage == "writing":
                meeting.wait(10)

    results: list[Result] = []

    def run(number: int) -> None:
        clock = FakeClock(desk.clock.now() + timedelta(seconds=number))
        tools = replace(desk.tools(), progress=Meeting(), clock=clock)
        results.append(resummarize(Request(path=grown.path), tools, session=grown.key))

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.outcome for result in results) == [Outcome.COMMITTED, Outcome.SUPERSEDED]
    assert len(desk.chain(grown)) == 4
    assert desk.problems() == []


def test_beside_a_consolidation_one_of_the_two_is_superseded(desk: Desk, grown: Session) -> None:
    grown.turn("Something new.")

    class Overtaken:
        def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
            if stage == "writing":
                assert desk.run(grown).outcome is Outcome.COMMITTED

    result = resummarize(Request(path=grown.path), replace(desk.tools(), progress=Overtaken()), session=grown.key)
    assert (result.outcome, result.reason) == (Outcome.SUPERSEDED, "another_run_committed_first")
    assert desk.chain(grown)[-1].range.end == 16
    assert desk.problems() == []


@pytest.mark.parametrize(("start", "end"), [(5, 5), (8, 4), (0, 13), (12, 20), (-1, 4)])
def test_a_range_that_is_not_covered_is_refused_by_name(desk: Desk, grown: Session, start: int, end: int) -> None:
    with pytest.raises(UsageError, match=r"m0–m11"):
        again(desk, grown, start=start, end=end)


def test_a_session_without_a_checkpoint_has_nothing_to_redo(desk: Desk) -> None:
    session = desk.session().turn("Hello.")
    assert resummarize(Request(path=session.path), desk.tools()).outcome is Outcome.NOTHING_TO_DO


def test_a_tampered_parent_is_found_although_the_chain_was_rebuilt(desk: Desk, grown: Session) -> None:
    again(desk, grown)
    path = FileCheckpoints(desk.root).path(grown.key, 2)
    path.write_bytes(path.read_bytes().replace(b'"covered":8', b'"covered":7'))
    assert any("000002.json" in problem for problem in desk.problems())


def test_the_page_is_printed_from_the_rebuilt_chain(
    desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    again(desk, grown, start=4, end=8)
    terminal.print_checkpoint(desk.chain(grown), 12_000, is_newest=True, as_json=False)
    page = capsys.readouterr().out
    assert page.count("\n- m4 ") == 1
    assert "12 messages covered" in page
