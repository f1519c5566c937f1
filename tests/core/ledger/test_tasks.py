"""Tasks come from the agent's lists and from people; how they stand comes from tools and people, never from prose."""

from typing import Any

import pytest

from worker.core.summary import Summary, Task, TaskStatus
from worker.core.tasks import find_tasks, with_statuses_seen


def board(session: Any, *given: Task) -> dict[str, Task]:
    return {task.id: task for task in find_tasks(session.messages, session.invocations, given)}


def statuses(session: Any) -> dict[str, str]:
    return {task.text: task.status.value for task in find_tasks(session.messages, session.invocations)}


def todo(session: Any, *rows: tuple[str, str]) -> None:
    session.call("TodoWrite", todos=[{"content": text, "status": status} for text, status in rows])
    session.result("Todos have been modified successfully")


def test_the_newest_list_says_how_a_task_stands(session: Any) -> None:
    todo(session, ("write the parser", "in_progress"), ("document it", "pending"))
    todo(session, ("write the parser", "completed"), ("document it", "in_progress"))
    assert statuses(session) == {"write the parser": "done", "document it": "in_progress"}
    assert all(task.from_ledger for task in board(session).values())


def test_a_task_gone_from_a_newer_list_keeps_its_last_status(session: Any) -> None:
    """C04"""
    todo(session, ("write the parser", "completed"), ("document it", "pending"))
    todo(session, ("release", "pending"))
    assert statuses(session) == {"write the parser": "done", "document it": "open", "release": "open"}


def test_a_refused_list_changes_nothing(session: Any) -> None:
    session.call("TodoWrite", todos=[{"content": "x", "status": "completed"}])
    session.result("The user doesn't want to proceed with this tool use.", is_error=True)
    assert board(session) == {}


def test_the_lists_of_other_agents_are_read_too(session: Any) -> None:
    session.call("update_plan", plan=[{"step": "read", "status": "completed"}, {"step": "write", "status": "pending"}])
    session.call("write_todos", todos=[{"description": "measure", "status": "cancelled"}])
    assert statuses(session) == {"read": "done", "write": "open", "measure": "cancelled"}


def test_numbered_tasks_are_updated_by_their_number(session: Any) -> None:
    session.call("TaskCreate", subject="Add the flag", description="…")
    session.result("Task #1 created successfully: Add the flag")
    session.call("TaskCreate", subject="Test it", description="…")
    session.result("Task #2 created successfully: Test it")
    session.call("TaskUpdate", taskId="1", status="completed")
    session.result("Updated task #1 status")
    assert statuses(session) == {"Add the flag": "done", "Test it": "open"}


def test_an_id_that_a_person_names_is_open_until_a_person_or_a_tool_says_more(session: Any) -> None:
    """C04: the assistant's claim ends nothing."""
    session.human("Please do T-101 and #4670.")
    session.assistant("T-101 is done.")
    tasks = board(session)
    assert {task_id: task.status for task_id, task in tasks.items()} == {
        "T-101": TaskStatus.OPEN,
        "#4670": TaskStatus.OPEN,
    }
    assert not tasks["T-101"].from_ledger
    session.human("T-101 is done")
    session.run("gh issue close 4670", "✓ Closed issue #4670", exit_code=0)
    tasks = board(session)
    assert {task.status for task in tasks.values()} == {TaskStatus.DONE}
    assert all(task.from_ledger for task in tasks.values())


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("T-101 is done", TaskStatus.DONE),
        ("T-101 and T-102 are done", TaskStatus.DONE),
        ("T-101: done!", TaskStatus.DONE),
        ("I already merged T-101", TaskStatus.DONE),
        ("T-101 已完成", TaskStatus.DONE),
        ("T-101 is not done", TaskStatus.OPEN),
        ("T-101 isn't done yet, T-102 is done", TaskStatus.OPEN),
        ("is T-101 done?", TaskStatus.OPEN),
        ("skip T-101", TaskStatus.CANCELLED),
        ("skip T-102 and T-101", TaskStatus.CANCELLED),
        ("T-101 is no longer needed", TaskStatus.CANCELLED),
        ("T-101 is blocked by the release", TaskStatus.BLOCKED),
        ("T-101 is in progress", TaskStatus.IN_PROGRESS),
        ("continue with T-101", TaskStatus.OPEN),
    ],
)
def test_what_a_person_says_about_an_id_is_its_status(session: Any, said: str, status: TaskStatus) -> None:
    session.human("Work on T-101.")
    session.human(said)
    assert board(session)["T-101"].status is status


def test_a_list_row_that_begins_with_an_id_is_that_task(session: Any) -> None:
    session.human("Work on T-101, it belongs to #4670")
    todo(session, ("T-101: write the parser for #4670", "completed"))
    assert board(session)["T-101"].status is TaskStatus.DONE


def test_ids_that_are_only_referred_to_or_stand_in_logs_are_no_tasks(session: Any) -> None:
    session.human("Do it like T-55.\n```\nfailed in T-77\n```\nthe colour is #283228")
    assert board(session) == {}


def test_harness_rows_open_no_tasks(session: Any) -> None:
    """O32"""
    session.harness("Scheduled: run T-900 now")
    assert board(session) == {}


def test_given_tasks_come_first_and_keep_their_id(session: Any) -> None:
    session.human("T-7 is done. Then do T-8.")
    given = Task(id="T-7", text="ship it", status=TaskStatus.OPEN)
    tasks = find_tasks(session.messages, session.invocations, [given])
    assert [(task.id, task.status) for task in tasks] == [("T-7", TaskStatus.DONE), ("T-8", TaskStatus.OPEN)]
    assert tasks[0].text == "ship it"


def test_rows_that_are_no_objects_are_passed_over(session: Any) -> None:
    session.call("TodoWrite", todos=["x", None, {"content": 3}, {"status": "pending"}, {"content": "real"}])
    session.call("TodoWrite", raw="not json")
    session.call("TodoWrite", todos="x")
    assert statuses(session) == {"real": "open"}


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            "Three tickets: T-101 CSV export for /orders, T-102 rate limiting on that one, and T-103 the backfill.",
            {"T-101": "CSV export for /orders", "T-102": "rate limiting on that one", "T-103": "the backfill"},
        ),
        ("- T-7: write the docs\n- T-8 – fix the login", {"T-7": "write the docs", "T-8": "fix the login"}),
        ("Work on T-101, it belongs to the release", {"T-101": "Work on T-101, it belongs to the release"}),
        ("Commit that as T-1, then T-2: use a bucket", {"T-1": "Commit that as T-1, then T-2: use a bucket"}),
    ],
)
def test_a_task_has_the_words_that_belong_to_its_id(session: Any, said: str, texts: dict[str, str]) -> None:
    session.human(said)
    tasks = board(session)
    assert {task_id: tasks[task_id].text for task_id in texts} == texts


def test_the_title_of_a_list_says_what_a_bare_id_did_not(session: Any) -> None:
    session.human("Please do T-101 and T-102.")
    todo(session, ("T-101: write the parser", "in_progress"))
    assert {task.id: task.text for task in board(session).values()} == {
        "T-101": "write the parser",
        "T-102": "Please do T-101 and T-102.",
    }


ASKED = [
    "Please do OPS-12.",
    "Work on OPS-12, it belongs to the release.",
    "Can you fix OPS-12?",
    "Could you please have a look at OPS-12?",
    "Start with OPS-12.",
    "let's debug - OPS-12 in linear",
    "OPS-12: CSV export",
    "- OPS-12 write the docs",
    "OPS-12 next, please.",
    "Next up: OPS-12.",
    "We need to finish OPS-12 this week.",
    "I want OPS-12 done today.",
    "Write tests for OPS-12.",
    "Then OPS-12.",
    "OPS-12 is done.",
    "OPS-12 needs a test.",
    "Shall we do OPS-12?",
    "继续 OPS-12",
    "请修复 OPS-12",
    "OPS-12 をお願いします",
    "Mach bitte OPS-12 fertig.",
    "First OPS-12, then the docs.",
    "Implement OPS-12 like we discussed.",
    "Fix OPS-12, like in T-9 last year.",
    "Tickets: OPS-12, T-3",
    "You can do OPS-12 when T-3 is ready.",
    "Take OPS-12 and make it fast.",
    "I'd like you to take care of OPS-12.",
    "OPS-12!",
    "Could we do OPS-12 now?",
]
MENTIONED = [
    "like in OPS-12 last year",
    "We had the same problem in OPS-12.",
    "OPS-12 had the same bug.",
    "OPS-12 introduced that regression, I think.",
    "This looks like OPS-12.",
    "It is the same as OPS-12.",
    "See OPS-12 for background.",
    "The fix for OPS-12 broke the build.",
    "Last year OPS-12 took three weeks.",
    "Do you remember OPS-12?",
    "What was OPS-12 about?",
    "Do it the way we did OPS-12.",
    "Use the approach of OPS-12.",
    "Thanks for OPS-12!",
    "I opened OPS-12 for that.",
    "My colleague works on OPS-12.",
    "They merged it because of OPS-12.",
    "参考 OPS-12 的做法",
    "去年 OPS-12 也是这样",
    "像 OPS-12 那样做",
    "OPS-12 のようにしてください",
    "Mach es wie in OPS-12.",
    "Rename the column, compare OPS-12.",
    "The schema came with OPS-12.",
    "Does OPS-12 cover that?",
    "Revert what OPS-12 changed.",
    "The error appeared after OPS-12 landed.",
    "Tom says OPS-12 is the cause.",
    "Read OPS-12 first, then write the summary.",
    "It was discussed in OPS-12 and in T-3.",
]


@pytest.mark.parametrize("said", ASKED)
def test_an_id_is_a_task_when_work_on_it_is_asked_for_or_it_is_listed(session: Any, said: str) -> None:
    session.human(said)
    assert "OPS-12" in board(session)


@pytest.mark.parametrize("said", MENTIONED)
def test_an_id_that_is_only_mentioned_is_a_reference(session: Any, said: str) -> None:
    session.human(said)
    assert board(session) == {}


def test_a_mentioned_id_is_a_task_when_the_session_works_on_it(session: Any) -> None:
    session.human("The export breaks on commas, OPS-12 describes it. It had been quick until OPS-11 came.")
    session.run("git checkout -b fix/OPS-12-commas", "Switched to a new branch", exit_code=0)
    assert list(board(session)) == ["OPS-12"]
    assert board(session)["OPS-12"].evidence == ("m0", "m2")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("I want T-101 done today.", TaskStatus.OPEN),
        ("When T-101 is done, start with T-102.", TaskStatus.OPEN),
        ("Once T-101 is merged, tell Ben.", TaskStatus.OPEN),
        ("Make sure T-101 is closed.", TaskStatus.OPEN),
        ("T-101 完成后做 T-102", TaskStatus.OPEN),
        ("T-101 が終わったら T-102 をお願いします", TaskStatus.OPEN),
    ],
)
def test_a_wish_and_a_condition_tell_no_status(session: Any, said: str, status: TaskStatus) -> None:
    session.human("Work on T-101.")
    session.human(said)
    assert board(session)["T-101"].status is status


def test_a_task_of_an_earlier_range_keeps_its_text_and_takes_the_status(session: Any) -> None:
    session.human("T-2 is done. T-3 takes too long.")
    known = [
        Task(id="T-2", text="the importer", status=TaskStatus.OPEN, evidence=("m90",), since=1, seen=2),
        Task(id="T-3", text="the exporter", status=TaskStatus.OPEN, evidence=("m91",), since=1, seen=2),
    ]
    (task,) = find_tasks(session.messages, session.invocations, known=known)
    assert (task.id, task.text, task.status, task.evidence) == ("T-2", "the importer", TaskStatus.DONE, ("m0",))


def test_a_title_takes_the_place_of_a_sentence_that_only_told_how_it_stands(session: Any) -> None:
    session.human("T-2 is blocked.")
    session.human("T-2: the importer")
    session.human("T-2 is done")
    assert [(task.text, task.status) for task in board(session).values()] == [("the importer", TaskStatus.DONE)]


def test_a_status_that_code_saw_wins_over_one_that_was_told() -> None:
    told = Task(id="T-1", text="the importer", status=TaskStatus.DONE, evidence=("m1", "m5"))
    other = Task(id="T-2", text="the exporter", status=TaskStatus.DONE, evidence=("m2",))
    seen = (
        Task(id="T-1", text="Reopen T-1.", status=TaskStatus.OPEN, evidence=("m9",), from_ledger=True),
        Task(id="T-2", text="Look at T-2.", status=TaskStatus.OPEN, evidence=("m9",)),
    )
    first, second = with_statuses_seen(Summary(tasks=(told, other)), seen).tasks
    assert (first.text, first.status, first.evidence) == ("the importer", TaskStatus.OPEN, ("m1", "m5", "m9"))
    assert second == other
