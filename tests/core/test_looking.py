"""What only reads, searches or fetches has done nothing."""

import json

import pytest

from worker.core.looking import acting_messages, only_looks
from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult


def called(name: str, arguments: dict[str, str], *, is_error: bool = False) -> list[Message]:
    call = ToolCall(id="c", name=name, arguments=json.dumps(arguments))
    result = ToolResult(call_id="c", name=name, text="text", is_error=is_error)
    return [
        Message(index=0, role=Role.ASSISTANT, origin=Origin.ASSISTANT, text="", tool_calls=(call,)),
        Message(index=1, role=Role.TOOL, origin=Origin.TOOL, text="", tool_result=result),
    ]


@pytest.mark.parametrize(
    "command", ["cat a.py", "grep -rn x src | head", "git log --oneline", "gh pr view 3", "cd a && ls"]
)
def test_commands_that_only_look(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize(
    "command", ["", "make test", "cat a.py && make", "git commit -m x", "gh api -X POST /x", "rm a"]
)
def test_commands_that_do_something(command: str) -> None:
    assert not only_looks(command)


@pytest.mark.parametrize(
    ("name", "arguments", "acted"),
    [
        ("Edit", {"file_path": "a.py"}, True),
        ("Bash", {"command": "make test"}, True),
        ("Bash", {"command": "gh pr view 3"}, True),
        ("Bash", {"command": "cat a.py"}, False),
        ("Read", {"file_path": "a.py"}, False),
        ("WebFetch", {"url": "https://x.example"}, False),
        ("mcp__files__read_file", {"path": "a.py"}, False),
    ],
)
def test_messages_of_calls_that_did_something(name: str, arguments: dict[str, str], acted: bool) -> None:
    messages = called(name, arguments)
    assert acting_messages(messages) == ({"m0": ("m0", "m1"), "m1": ("m0", "m1")} if acted else {})


def test_a_call_that_failed_did_nothing() -> None:
    assert acting_messages(called("Edit", {"file_path": "a.py"}, is_error=True)) == {}
    assert acting_messages([]) == {}
