"""What a message did to a task is shown where the transcript shows it, and nowhere else."""

from datetime import UTC, datetime, timedelta

from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult
from worker.core.summary import Task, TaskStatus
from worker.core.taking import take_ledger
from worker.reporting.steps import task_steps

BEGIN = datetime(2026, 11, 27, tzinfo=UTC)


def session(*rows: Message) -> list[Message]:
    return list(rows)


def person(index: int, text: str) -> Message:
    at = BEGIN + timedelta(minutes=index)
    return Message(index=index, role=Role.USER, origin=Origin.HUMAN, text=text, timestamp=at)


def calls(index: int, name: str, arguments: str) -> Message:
    call = ToolCall(id=f"c{index}", name=name, arguments=arguments)
    return Message(index=index, role=Role.ASSISTANT, origin=Origin.ASSISTANT, text="", tool_calls=(call,))


def result(index: int, call_index: int, text: str = "ok") -> Message:
    made = ToolResult(call_id=f"c{call_index}", name=None, text=text)
    return Message(index=index, role=Role.TOOL, origin=Origin.TOOL, text="", tool_result=made)


def steps_of(messages: list[Message]) -> list[tuple[str, str, TaskStatus | None, TaskStatus]]:
    steps = task_steps(messages, take_ledger(messages).tasks)
    return [(step.task, step.message, step.before, step.status) for step in steps]


def test_a_persons_words_move_a_task() -> None:
    messages = session(person(0, "T-1: add the export."), person(1, "Go on."), person(2, "T-1 is done."))
    assert steps_of(messages) == [
        ("T-1", "m0", None, TaskStatus.OPEN),
        ("T-1", "m2", TaskStatus.OPEN, TaskStatus.DONE),
    ]


def test_the_agents_list_moves_a_task_when_its_result_is_there() -> None:
    begun = '{"todos": [{"content": "T-2 rate limit", "status": "pending"}]}'
    going = '{"todos": [{"content": "T-2 rate limit", "status": "in_progress"}]}'
    messages = session(calls(0, "TodoWrite", begun), result(1, 0), calls(2, "TodoWrite", going), result(3, 2))
    assert steps_of(messages) == [
        ("T-2", "m1", None, TaskStatus.OPEN),
        ("T-2", "m3", TaskStatus.OPEN, TaskStatus.IN_PROGRESS),
    ]


def test_a_task_that_was_only_named_has_one_step() -> None:
    assert steps_of(session(person(0, "T-1: add the export."))) == [("T-1", "m0", None, TaskStatus.OPEN)]


def test_a_task_that_ends_otherwise_than_the_ledger_says_has_no_steps() -> None:
    messages = session(person(0, "T-1: add the export."), person(1, "T-1 is done."))
    contradicted = Task(id="T-1", text="add the export", status=TaskStatus.BLOCKED, evidence=("m0", "m1"))
    assert task_steps(messages, [contradicted]) == ()


def test_a_task_that_was_given_and_cites_nothing_has_no_steps() -> None:
    given = Task(id="X-7", text="ship it", status=TaskStatus.OPEN)
    assert task_steps(session(person(0, "Hello.")), [given]) == ()
