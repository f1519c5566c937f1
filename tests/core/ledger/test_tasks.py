"""Tasks come from the agent's lists and from people; how they stand comes from tools and people, never from prose."""

from typing import Any

import pytest

from worker.core.summary import Task, TaskStatus
from worker.core.tasks import find_tasks


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
