from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Attachment


def session(*messages: dict[str, Any]) -> dict[str, Any]:
    rows = [{"id": f"g{n}", "timestamp": "2026-01-15T20:51:48.582Z", **m} for n, m in enumerate(messages)]
    return {"sessionId": "f763", "projectHash": "7e89", "startTime": "x", "messages": rows}


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "w1", "name": "write_file", "args": {"file_path": "a.md"}, "status": "success", **fields}


def response(**fields: Any) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": "w1", "name": "write_file", "response": fields}}]


def test_a_pretty_printed_document_under_the_name_of_jsonl_reads(read: Callable[..., Any]) -> None:
    found = read(
        document=session(
            {"type": "user", "content": "write it"},
            {
                "type": "gemini",
                "content": "I will.",
                "thoughts": [{"subject": "secret thoughts"}],
                "toolCalls": [call(result=response(output="written"))],
            },
            {"type": "warning", "content": "Hook failed."},
        ),
        name="full.jsonl",
    )
    info, result = found.transcript.info, found.messages[2].tool_result
    assert (info.format, info.agent, info.session_id) == ("gemini-cli", "gemini-cli", "f763")
    assert found.origins == ["human", "assistant", "tool", "harness"]
    assert found.messages[1].tool_calls[0].arguments == '{"file_path":"a.md"}'
    assert (result.call_id, result.name, result.text, result.is_error) == ("w1", "write_file", "written", False)
    assert {message.offset for message in found.messages} == {None}
    assert "secret thoughts" not in repr(found.messages)


def test_a_session_of_one_warning_is_a_session(read: Callable[..., Any]) -> None:
    assert read(document=session({"type": "warning", "content": "x"})).origins == ["harness"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"status": "error", "result": response(error="no such file")}, "no such file"),
        ({"status": "cancelled", "result": None}, "(cancelled)"),
    ],
)
def test_a_call_that_failed_says_so(read: Callable[..., Any], fields: dict[str, Any], text: str) -> None:
    result = (
        read(document=session({"type": "gemini", "content": "", "toolCalls": [call(**fields)]})).messages[1].tool_result
    )
    assert (result.text, result.is_error) == (text, True)


def test_a_call_without_status_or_result_is_unanswered_o14(read: Callable[..., Any]) -> None:
    found = read(document=session({"type": "gemini", "content": "", "toolCalls": [{"id": "w1", "name": "x"}]}))
    assert found.origins == ["assistant"]


def test_parts_are_joined_and_inline_data_measured_o42(read: Callable[..., Any]) -> None:
    parts = [{"text": "what is"}, "this?", {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 10}}]
    message = read(document=session({"type": "user", "content": parts})).messages[0]
    assert message.text == "what is\n\nthis?"
    assert message.attachments == (Attachment(kind="file", media_type="image/png", size=30),)


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [7]])
def test_any_value_in_any_field_is_survived(read: Callable[..., Any], value: Any) -> None:
    whole = {"type": "gemini", "content": "x", "toolCalls": [call(result=response(output="x"))]}
    broken = [{**whole, key: value} for key in whole] + [
        {**whole, "toolCalls": [{**call(), key: value}]} for key in call()
    ]
    found = read(document=session({"type": "user", "content": "hi"}, *broken))
    assert found.humans[0] == "hi"
