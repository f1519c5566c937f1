import json
from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Attachment, Role

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/a"'}}
TURN: list[dict[str, Any]] = [
    {"role": "developer", "content": "be terse"},
    {"role": "user", "content": [{"type": "text", "text": "list"}, {"type": "text", "text": "it"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "long thoughts"},
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
]


def check_turn(found: Any) -> None:
    assert (found.transcript.info.format, found.transcript.info.agent) == ("openai", "openai")
    assert found.origins == ["system", "human", "assistant", "tool", "assistant"]
    assert [message.text for message in found.messages] == ["be terse", "list\n\nit", "", "", "no"]
    assert found.messages[2].tool_calls[0].arguments == '{"path": "/a"'
    assert (found.messages[3].tool_result.name, found.messages[3].tool_result.text) == ("ls", "a.py")
    assert "long thoughts" not in repr(found.messages)


@pytest.mark.parametrize("document", [TURN, {"model": "x", "messages": TURN}, {"history": TURN}])
def test_a_document_reads(read: Callable[..., Any], document: Any) -> None:
    check_turn(read(document=document, name="chat.json"))
    check_turn(read(json.dumps(document).encode(), name="chat.json"))


def test_one_message_per_line_reads_the_same(read: Callable[..., Any]) -> None:
    found = read(TURN)
    check_turn(found)
    assert found.transcript.info.session_id == "session"


def test_a_request_log_is_read_once_though_each_request_repeats_it_all(read: Callable[..., Any]) -> None:
    log = [{"request_id": n, "messages": TURN[: n + 2]} for n in range(4)]
    found = read(log)
    check_turn(found)
    assert found.reading.skipped == {"repeated_message": 2 + 3 + 4}


def test_a_log_whose_beginning_changes_is_read_from_the_change(read: Callable[..., Any]) -> None:
    other = [TURN[0], {"role": "user", "content": "something else"}]
    assert read([{"messages": TURN[:3]}, {"messages": other}]).humans == ["list\n\nit", "something else"]


def test_a_call_id_used_again_keeps_every_call_and_result_in_order(read: Callable[..., Any]) -> None:
    found = read([TURN[1], TURN[2], {**TURN[3], "content": "one"}, TURN[2], {**TURN[3], "content": "two"}])
    assert [message.tool_result.text for message in found.messages if message.tool_result] == ["one", "two"]


def test_functions_of_the_older_api_are_calls(read: Callable[..., Any]) -> None:
    call = {"role": "assistant", "content": "", "function_call": {"name": "ls", "arguments": "{}"}}
    found = read([TURN[1], call, {"role": "function", "name": "ls", "content": "a.py"}])
    assert found.messages[1].tool_calls[0].id == found.messages[2].tool_result.call_id == "ls"


def test_swe_agent_names_the_call_in_a_list(read: Callable[..., Any]) -> None:
    rows = [
        {"role": "system", "content": "s", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "fix it", "agent": "main", "message_type": "observation"},
        {**TURN[2], "action": "ls", "agent": "main", "message_type": "action"},
        {"role": "tool", "content": "a.py", "agent": "main", "message_type": "observation", "tool_call_ids": ["c1"]},
    ]
    found = read(document={"trajectory": [], "history": rows}, name="run.traj")
    assert (found.transcript.info.agent, found.transcript.info.session_id) == ("swe-agent", "run")
    assert found.origins == ["system", "human", "assistant", "tool"]
    assert found.messages[3].tool_result.call_id == "c1"


def test_older_swe_agent_files_have_calls_in_a_field_and_results_as_user_rows(read: Callable[..., Any]) -> None:
    shared = {"agent": "primary"}
    rows = [
        {"role": "user", "content": "demonstration", "message_type": "demonstration", "is_demo": True, **shared},
        {"role": "user", "content": "fix it", "message_type": "observation", **shared},
        {"role": "assistant", "content": "```\nls -F\n```", "action": "ls -F\n", "message_type": "action", **shared},
        {"role": "user", "content": "a.py", "message_type": "observation", **shared},
        {"role": "user", "content": "b.py", "message_type": "observation", **shared},
    ]
    found = read(document={"history": rows})
    assert found.origins == ["harness", "human", "assistant", "tool", "tool"]
    call = found.messages[2].tool_calls[0]
    assert (call.name, json.loads(call.arguments)) == ("bash", {"command": "ls -F\n"})
    assert [message.tool_result.call_id for message in found.messages[3:]] == [call.id, ""]


@pytest.mark.parametrize(
    ("action", "name", "path"),
    [
        ('open "src/a.py" 12\n', "open", "src/a.py"),
        ("create reproduce.py", "create", "reproduce.py"),
        ("edit 1:1\nx = 1\nend_of_edit\n", "edit", None),
        ("rm reproduce.py", "bash", None),
        ("open", "open", None),
        (" ", "bash", None),
    ],
)
def test_the_actions_of_older_swe_agent_files_name_their_file(
    read: Callable[..., Any], action: str, name: str, path: str | None
) -> None:
    row = {"role": "assistant", "content": "", "action": action, "message_type": "action", "agent": "primary"}
    call = read(document={"history": [TURN[1], row]}).messages[1].tool_calls[0]
    assert (call.name, json.loads(call.arguments).get("path")) == (name, path)


def test_media_is_measured_or_linked_and_never_carried_o42(read: Callable[..., Any]) -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 100}},
        {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}},
        {"type": "input_audio", "input_audio": {"data": "QUJD" * 10, "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
        {"type": "image_url", "image_url": None},
    ]
    found = read([{"role": "user", "content": parts}])
    assert found.messages[0].is_human
    assert found.messages[0].attachments == (
        Attachment(kind="image", media_type="image/png", size=300),
        Attachment(kind="image", name="https://a.example/x.png"),
        Attachment(kind="input_audio", size=30),
        Attachment(kind="file", media_type="application/pdf", size=3, name="a.pdf"),
        Attachment(kind="image"),
    )


def test_rows_that_are_no_messages_are_counted(read: Callable[..., Any]) -> None:
    found = read([TURN[1], {"role": "robot", "content": "x"}, {"event": "ping"}])
    assert found.reading.skipped == {"not_a_message": 1, "unknown_role": 1}


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [{"type": "text", "text": 7}], {"function": 7}])
def test_any_value_in_any_field_is_survived(read: Callable[..., Any], value: Any) -> None:
    broken = [{**row, key: value} for row in TURN for key in row if key != "role"]
    found = read([TURN[1], *broken, {**TURN[1], "message_type": "observation", "tool_call_ids": value}])
    assert found.messages[0].role is Role.USER
    assert len(found.messages) == 2 + len(broken)
