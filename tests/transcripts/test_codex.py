import json
from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Attachment, Origin, Role

META = {"type": "session_meta", "payload": {"id": "019-abc", "cwd": "/home/dana/app", "source": "cli"}}


def item(payload: dict[str, Any], at: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-01-23T03:00:{at:02}.000Z", "type": "response_item", "payload": payload}


def said(role: str, *texts: str, at: int = 0) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return item({"type": "message", "role": role, "content": content}, at)


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-23T03:00:00.000Z", "type": "event_msg", "payload": {"type": kind, **fields}}


def called(call_id: str, at: int = 0) -> dict[str, Any]:
    return item({"type": "function_call", "name": "shell", "arguments": '{"cmd":"ls"}', "call_id": call_id}, at)


def answered(call_id: str, output: Any, at: int = 0, kind: str = "function_call_output") -> dict[str, Any]:
    return item({"type": kind, "call_id": call_id, "output": output}, at)


def test_each_message_is_read_once_though_it_is_there_twice(read: Callable[..., Any]) -> None:
    found = read(
        [
            META,
            said("user", "rename it"),
            event("user_message", message="rename it"),
            said("assistant", "done"),
            event("agent_message", message="done"),
        ]
    )
    assert (found.transcript.info.format, found.transcript.info.session_id) == ("codex", "019-abc")
    assert found.transcript.info.cwd == "/home/dana/app"
    assert [message.text for message in found.messages] == ["rename it", "done"]
    assert found.reading.skipped == {"event_msg": 2, "session_meta": 1}


def test_a_file_of_events_alone_is_read_from_them(read: Callable[..., Any]) -> None:
    found = read([META, event("user_message", message="rename it"), event("agent_message", message="done")])
    assert found.origins == ["human", "assistant"]


def test_user_items_that_no_person_wrote_are_harness_c02_c07(read: Callable[..., Any]) -> None:
    rules = "# AGENTS.md instructions for /app\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>"
    environment = "<environment_context>\n<cwd>/app</cwd>\n</environment_context>"
    found = read(
        [
            META,
            said("developer", "be terse"),
            said("user", rules, environment, at=1),
            said("user", "<turn_aborted>\ninterrupted\n</turn_aborted>", at=2),
            said("user", "# Context from my IDE setup:\n## Tabs\n\n## My request for Codex:\nrename it\n", at=3),
        ]
    )
    assert found.origins == ["system", "harness", "harness", "human"]
    assert found.humans == ["rename it"]
    assert "Never push" not in found.messages[1].text


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        ("Chunk ID: a1\nWall time: 0.1\nProcess exited with code 2\nOutput:\nboom", None, 2),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nexit code: 0", None, 1),
        ("Wall time: 0.1\nOutput:\nexit code: 3", None, None),
        ("prints exit code: 1 itself", None, None),
        (json.dumps({"output": "boom", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}), "boom", 1),
        (json.dumps({"output": "fine", "metadata": {"exit_code": 0}}), "fine", 0),
        (json.dumps({"tool": "has its own JSON"}), None, None),
        ({"content": "an object", "success": False}, "an object", None),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", None),
    ],
)
def test_the_output_and_its_exit_code(
    read: Callable[..., Any], output: Any, text: str | None, code: int | None
) -> None:
    for kind in ("function_call_output", "custom_tool_call_output"):
        result = read([META, called("c1"), answered("c1", output, kind=kind)]).messages[1].tool_result
        assert (result.text, result.exit_code, result.name) == (text if text is not None else output, code, "shell")
        assert result.is_error is (bool(code) or isinstance(output, dict))


def test_calls_of_every_kind_keep_their_arguments(read: Callable[..., Any]) -> None:
    found = read(
        [
            META,
            item({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c1"}, 1),
            item({"type": "local_shell_call", "action": {"command": ["ls"]}, "call_id": "c2"}, 2),
            item({"type": "web_search_call", "status": "completed", "action": {"query": "x"}, "id": "ws"}, 3),
            item({"type": "image_generation_call", "status": "completed", "id": "ig", "result": "QUJD" * 100}, 4),
        ]
    )
    calls = [call for message in found.messages for call in message.tool_calls]
    assert [call.name for call in calls] == ["apply_patch", "local_shell", "web_search", "image_generation"]
    assert [call.arguments for call in calls] == ["*** Begin", '{"command":["ls"]}', '{"query":"x"}', "{}"]
    assert [m.tool_result.call_id for m in found.messages if m.tool_result] == ["ws", "ig"]
    assert found.messages[-1].attachments == (Attachment(kind="image", size=300),)


def test_two_calls_before_both_outputs_keep_their_ids(read: Callable[..., Any]) -> None:
    rows = [META, called("c1", 1), called("c2", 2), answered("c2", "two", 3), answered("c1", "one", 4)]
    assert [m.tool_result.call_id for m in read(rows).messages if m.tool_result] == ["c2", "c1"]


def test_reasoning_is_left_out_and_counted(read: Callable[..., Any]) -> None:
    found = read([META, said("user", "hi"), item({"type": "reasoning", "encrypted_content": "x" * 999, "summary": []})])
    assert len(found.messages) == 1
    assert found.reading.skipped["reasoning"] == 1


def test_an_image_is_measured_and_not_carried_o42(read: Callable[..., Any]) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "QUJD" * 1000}
    found = read([META, item({"type": "message", "role": "user", "content": [image]})])
    assert found.messages[0].origin is Origin.HUMAN
    assert found.messages[0].attachments == (Attachment(kind="image", media_type="image/png", size=3000),)


def test_turns_rolled_back_are_reported_t09(read: Callable[..., Any]) -> None:
    turns = [[said("user", f"q{n}", at=2 * n), said("assistant", f"a{n}", at=2 * n + 1)] for n in range(3)]
    rows = [META, *turns[0], *turns[1], *turns[2], event("thread_rolled_back", num_turns=2), said("user", "new", at=9)]
    assert read(rows).reading.rewound == [(2, 6)]


@pytest.mark.parametrize("turns", [None, 0, -1, "2", True])
def test_a_roll_back_of_no_number_of_turns_hides_nothing(read: Callable[..., Any], turns: Any) -> None:
    rows = [META, said("user", "q"), said("assistant", "a", at=1), event("thread_rolled_back", num_turns=turns)]
    assert read(rows).reading.rewound == []


def test_a_compaction_is_a_summary_and_an_opaque_one_is_counted(read: Callable[..., Any]) -> None:
    found = read(
        [
            META,
            said("user", "hi"),
            {
                "type": "compacted",
                "payload": {"message": "So far: renamed.", "replacement_history": [said("user", "x")]},
            },
            {"type": "compacted", "payload": {"message": "", "window_id": 3}},
            item({"type": "compaction", "encrypted_content": "x"}),
        ]
    )
    assert found.origins == ["human", "summary"]
    assert found.reading.skipped == {"compacted": 1, "compaction": 1, "session_meta": 1}


def test_lines_that_a_fork_repeats_count_once_and_the_fork_names_the_session(read: Callable[..., Any]) -> None:
    parent = {"type": "session_meta", "payload": {"id": "parent", "cwd": "/p"}}
    fork = {"type": "session_meta", "payload": {"id": "fork", "forked_from_id": "parent", "cwd": "/f"}}
    copied = [said("user", "q", at=1), said("assistant", "a", at=2)]
    found = read([fork, parent, *copied, *copied, said("user", "q", at=3)])
    assert found.humans == ["q", "q"]
    assert found.transcript.info.session_id == "fork"
    assert found.reading.skipped["duplicate_row"] == 2


def test_the_older_bare_format_is_read(read: Callable[..., Any]) -> None:
    environment = "<environment_context>\n<cwd>/old</cwd>\n</environment_context>"
    found = read(
        [
            {"id": "bare-1", "timestamp": "2025-05-01T00:00:00Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": environment}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        ]
    )
    assert (found.transcript.info.session_id, found.transcript.info.cwd) == ("bare-1", "/old")
    assert found.origins == ["harness", "human", "assistant", "tool", "assistant"]
    assert found.reading.skipped == {"session_meta": 1, "unknown_row": 1}


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [{"type": "input_text", "text": 7}]])
def test_any_value_in_any_field_is_survived(read: Callable[..., Any], value: Any) -> None:
    rows = [called("c1"), answered("c1", "x"), said("user", "x"), event("thread_rolled_back", num_turns=1)]
    broken = [{**row, "payload": {**row["payload"], key: value}} for row in rows for key in row["payload"]]
    assert read([META, said("user", "hi", at=1), *broken]).messages[0].role is Role.USER
