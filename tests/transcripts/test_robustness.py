"""No value in no place of a row makes a reader stumble: a transcript is what another program wrote."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker.errors import TranscriptError
from worker.transcripts import cursor_behind, open_transcript

STRANGE: list[Any] = [None, 7, "x", {}, [["x"]], {"type": ["text"]}]
BLOCKS = [
    {"type": "text", "text": "hi"},
    {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "/a"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
]
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}], "is_error": True}
CLAUDE = {"sessionId": "s", "uuid": "u", "parentUuid": "p", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/app"}
PI = {"id": "1", "parentId": "0", "timestamp": "2026-01-01T00:00:00Z", "type": "message"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
GEMINI_CALL = {
    "id": "w",
    "name": "x",
    "args": {},
    "status": "success",
    "result": [{"functionResponse": {"response": {}}}],
}

ROWS: dict[str, Any] = {
    "claude-assistant": {**CLAUDE, "type": "assistant", "message": {"id": "m", "model": "a", "content": BLOCKS}},
    "claude-result": {**CLAUDE, "type": "user", "toolUseResult": "Error", "message": {"content": [RESULT]}},
    "claude-answers": {
        **CLAUDE,
        "type": "user",
        "toolUseResult": {"questions": [{"question": "q"}], "answers": {"q": "a"}},
        "message": {"content": [RESULT]},
    },
    "claude-queue": {**CLAUDE, "type": "queue-operation", "operation": "enqueue", "content": "x"},
    "claude-attachment": {**CLAUDE, "type": "attachment", "attachment": {"type": "queued_command", "prompt": "x"}},
    "codex-header": {"type": "session_meta", "payload": {"id": "x", "cwd": "/a", "forked_from_id": "y"}},
    "codex-message": {
        "type": "response_item",
        "timestamp": "2026-01-01T00:00:00Z",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:x,QQ"}]},
    },
    "codex-call": {
        "type": "response_item",
        "payload": {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "x"}},
    },
    "codex-output": {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c", "output": {"content": "x", "success": False}},
    },
    "codex-bare": {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
    "pi-header": {"type": "session", "version": 3, "id": "x", "timestamp": "x", "cwd": "/a"},
    "pi-assistant": {
        **PI,
        "message": {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "t", "name": "ls", "arguments": {}}],
            "stopReason": "error",
            "errorMessage": "x",
        },
    },
    "pi-user": {**PI, "message": {"role": "user", "content": BLOCKS, "provenance": {"kind": "cron"}}},
    "pi-result": {
        **PI,
        "message": {
            "role": "toolResult",
            "toolCallId": "t",
            "toolName": "ls",
            "content": BLOCKS,
            "details": {"exitCode": 1},
        },
    },
    "pi-bash": {**PI, "message": {"role": "bashExecution", "command": "ls", "output": "x", "exitCode": 1}},
    "nanobot-head": {"_type": "metadata", "key": "k", "metadata": {"_last_summary": {"text": "x", "last_active": "x"}}},
    "chat-assistant": {"role": "assistant", "content": "x", "tool_calls": [CHAT_CALL], "function_call": {"name": "x"}},
    "chat-user": {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:a,b"}}], "media": ["/x"]},
    "chat-tool": {
        "role": "tool",
        "content": "x",
        "tool_call_id": "c",
        "tool_call_ids": ["c"],
        "exit_code": 1,
        "origin": "x",
    },
    "chat-log": {"messages": [{"role": "user", "content": "x"}], "model": "x"},
    "swe-agent": {"role": "user", "content": "x", "message_type": "observation", "agent": "main", "is_demo": False},
    "gemini": {
        "sessionId": "s",
        "projectHash": "p",
        "messages": [
            {"id": "g", "timestamp": "x", "type": "gemini", "content": [{"text": "x"}], "toolCalls": [GEMINI_CALL]}
        ],
    },
}


def mutations(value: Any) -> Iterator[Any]:
    """The value with every place in it replaced by every strange value, one at a time."""
    yield from STRANGE
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: item for name, item in value.items() if name != key}
            yield from ({**value, key: changed} for changed in mutations(inner))
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in mutations(inner))


@pytest.mark.parametrize("name", ROWS)
def test_a_strange_value_anywhere_is_read_counted_or_refused(name: str, write: Callable[..., Path]) -> None:
    alone = [json.dumps(row).encode() for row in mutations(ROWS[name])]
    for line in alone:
        try:
            list(open_transcript(write(line)).read())
        except TranscriptError as refused:
            assert "\n" not in str(refused)


@pytest.mark.parametrize("name", [name for name in ROWS if name != "gemini"])
def test_strange_rows_do_not_shift_what_is_read_behind_them(name: str, write: Callable[..., Path]) -> None:
    rows = [ROWS[name], *(row for row in mutations(ROWS[name]) if isinstance(row, dict)), ROWS["chat-log"], ROWS[name]]
    transcript = open_transcript(write(rows))
    whole = list(transcript.read())
    assert [message.index for message in whole] == list(range(len(whole)))
    for cut in range(0, len(whole) + 1, max(1, len(whole) // 5)):
        rest = list(transcript.read(cursor_behind(whole[:cut], transcript.info)))
        assert [message.index for message in rest] == list(range(cut, len(whole)))
