from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Attachment, Role

HEADER = {
    "type": "session",
    "version": 3,
    "id": "5e55",
    "timestamp": "2026-01-23T03:00:00.000Z",
    "cwd": "/home/dana/app",
}


def entry(message: dict[str, Any], row_id: str | None = None, parent: str | None = None) -> dict[str, Any]:
    tree = {} if row_id is None else {"id": row_id, "parentId": parent}
    return {"type": "message", "timestamp": "2026-01-23T03:00:00.000Z", "message": {"timestamp": 1, **message}, **tree}


def asked(text: str, row_id: str | None = None, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return entry({"role": "user", "content": [{"type": "text", "text": text}], **fields}, row_id, parent)


def test_a_session_of_version_1_reads(read: Callable[..., Any]) -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    call = {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a.py"}}
    found = read(
        [
            header,
            asked("look"),
            entry(
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm"}, call],
                    "stopReason": "toolUse",
                }
            ),
            entry(
                {
                    "role": "toolResult",
                    "toolCallId": "t1",
                    "toolName": "read",
                    "content": [{"type": "text", "text": "no"}],
                    "isError": True,
                    "details": {"exitCode": 2},
                }
            ),
            {"type": "thinking_level_change", "thinkingLevel": "off"},
        ]
    )
    info, result = found.transcript.info, found.messages[2].tool_result
    assert (info.format, info.agent, info.session_id, info.cwd) == ("pi", "pi", "5e55", "/home/dana/app")
    assert found.origins == ["human", "assistant", "tool"]
    assert found.messages[1].tool_calls[0].arguments == '{"path":"a.py"}'
    assert (result.call_id, result.name, result.is_error, result.exit_code) == ("t1", "read", True, 2)
    assert found.messages[0].timestamp.isoformat() == "2026-01-23T03:00:00+00:00"
    assert found.reading.skipped == {"session": 1, "thinking_level_change": 1}


def test_an_aborted_call_stays_without_result_o12(read: Callable[..., Any]) -> None:
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    rows = [entry({"role": "assistant", "content": content, "stopReason": "aborted"}) for content in ([], [call])]
    found = read([HEADER, *rows])
    assert [len(message.tool_calls) for message in found.messages] == [0, 1]


def test_a_failed_request_is_no_word_of_the_model(read: Callable[..., Any]) -> None:
    found = read([HEADER, entry({"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "429"})])
    assert (found.origins, found.messages[0].text) == (["harness"], "429")


def test_a_command_that_the_person_ran_is_a_call_with_its_result(read: Callable[..., Any]) -> None:
    found = read([HEADER, entry({"role": "bashExecution", "command": "make", "output": "boom", "exitCode": 2})])
    call, result = found.messages[0].tool_calls[0], found.messages[1].tool_result
    assert found.origins == ["harness", "tool"]
    assert call.arguments == '{"command":"make"}'
    assert (result.call_id, result.text, result.exit_code, result.is_error) == (call.id, "boom", 2, True)


def test_two_commands_have_two_ids(read: Callable[..., Any]) -> None:
    row = entry({"role": "bashExecution", "command": "ls", "output": "", "exitCode": 0})
    found = read([HEADER, {**row, "timestamp": None}, {**row, "timestamp": None}])
    assert len({message.tool_calls[0].id for message in found.messages if message.tool_calls}) == 2


def test_compactions_are_summaries_wherever_they_are(read: Callable[..., Any]) -> None:
    found = read(
        [
            HEADER,
            asked("go"),
            {"type": "compaction", "summary": "# Checkpoint", "firstKeptEntryIndex": 3, "tokensBefore": 9},
            {"type": "branch_summary", "summary": "the other branch"},
            entry({"role": "compactionSummary", "summary": "again"}),
            {"type": "compaction", "summary": None},
        ]
    )
    assert found.origins == ["human", "summary", "summary", "summary"]
    assert found.reading.skipped == {"compaction": 1, "session": 1}


def test_the_lost_half_of_a_glued_last_line_is_read(read: Callable[..., Any]) -> None:
    content = (
        b'{"type":"session","id":"5e55","timestamp":"x"}\n'
        b'{"type":"message","message":{"role":"user","content":"hi"}}{"type":"compaction","summary":"all of it"}'
    )
    assert read(content).origins == ["human", "summary"]


def test_custom_messages_are_harness_and_custom_rows_counted(read: Callable[..., Any]) -> None:
    found = read(
        [
            HEADER,
            {"type": "custom_message", "customType": "plan", "content": "plan text", "display": True},
            entry({"role": "custom", "content": [{"type": "text", "text": "hook"}]}),
            {"type": "custom", "customType": "openclaw:prompt-error", "data": {}},
            {"type": "model_change", "modelId": "x"},
        ]
    )
    assert found.origins == ["harness", "harness"]
    assert found.transcript.info.agent == "openclaw"
    assert found.reading.skipped == {"custom": 1, "model_change": 1, "session": 1}


@pytest.mark.parametrize("kind", ["internal_system", "inter_session", "cron"])
def test_a_turn_that_no_person_started_is_told_by_its_provenance_o85(read: Callable[..., Any], kind: str) -> None:
    text = "check the calendar and report"
    found = read([HEADER, asked(text, provenance={"kind": kind}), asked(text, provenance={"kind": "external_user"})])
    assert found.origins == ["harness", "human"]


def test_the_same_words_of_two_senders_are_two_messages_o86(read: Callable[..., Any]) -> None:
    found = read([HEADER, asked("[Telegram Ann id:1] yes"), asked("[Telegram Bob id:2] yes")])
    assert found.humans == ["[Telegram Ann id:1] yes", "[Telegram Bob id:2] yes"]
    assert found.messages[0].digest != found.messages[1].digest


def test_a_branch_that_was_left_is_reported_and_a_repeated_row_read_once_t09(read: Callable[..., Any]) -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}
    rows = [
        asked("a", "1"),
        entry(answer, "2", "1"),
        asked("wrong", "3", "2"),
        entry(answer, "4", "3"),
        asked("right", "5", "2"),
    ]
    found = read([HEADER, *rows, rows[-1]])
    assert found.reading.rewound == [(2, 4)]
    assert found.reading.skipped == {"duplicate_row": 1, "session": 1}


def test_an_image_is_measured_and_not_carried_o42(read: Callable[..., Any]) -> None:
    image = {"type": "image", "data": "QUJD" * 100, "mimeType": "image/png"}
    message = read([HEADER, entry({"role": "user", "content": [image]})]).messages[0]
    assert message.attachments == (Attachment(kind="image", media_type="image/png", size=300),)
    assert message.is_human


def test_a_torn_header_does_not_hide_the_session_o96(read: Callable[..., Any]) -> None:
    found = read([b'{"type":"session","version":3,"id":"5e\n', asked("hi", "1")], name="2026_5e55.jsonl.reset.17")
    assert found.humans == ["hi"]
    assert (found.transcript.info.format, found.transcript.info.session_id) == ("pi", "2026_5e55")
    assert found.reading.skipped == {"not_json": 1}


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [{"type": "text", "text": 7}]])
def test_any_value_in_any_field_is_survived(read: Callable[..., Any], value: Any) -> None:
    whole = [
        asked("x"),
        entry({"role": "bashExecution", "command": "a", "output": "b", "exitCode": 1, "cancelled": False}),
    ]
    broken = [{**row, "message": {**row["message"], key: value}} for row in whole for key in row["message"]]
    found = read([HEADER, asked("hi"), *broken, {"type": "message", "message": value}])
    assert found.messages[0].role is Role.USER
