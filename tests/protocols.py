"""What OpenAI's chat completions and Anthropic's messages demand of a request, written from their documentation.

Shares nothing with the code that makes requests. Each function raises AssertionError with the place of the violation.
"""

import json
import re
from typing import Any

Json = dict[str, Any]

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_openai(messages: list[Json]) -> None:
    """Roles, paired calls, unique ids, no empty content, the first message after the system's is the user's."""
    json.dumps(messages, ensure_ascii=False).encode("utf-8")
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role = message["role"]
        assert role in ("system", "user", "assistant", "tool"), at
        if role == "tool":
            assert message["tool_call_id"] in waiting, f"{at}: a result without its call right before"
            waiting.remove(message["tool_call_id"])
            _is_text(message["content"], at)
            continue
        assert not waiting, f"{at}: {waiting} were not answered"
        if role == "assistant" and "tool_calls" in message:
            waiting = _openai_calls(message, seen, at)
        else:
            _is_text(message["content"], at)
    assert not waiting, f"{waiting} were never answered"
    spoken = [message["role"] for message in messages if message["role"] != "system"]
    assert not spoken or spoken[0] == "user"


def _openai_calls(message: Json, seen: set[str], at: int) -> list[str]:
    assert message["tool_calls"], at
    assert message["content"] is None or message["content"].strip(), at
    ids = []
    for call in message["tool_calls"]:
        assert call["type"] == "function", at
        assert _NAME.fullmatch(call["function"]["name"]), at
        assert isinstance(call["function"]["arguments"], str), at
        assert call["function"]["arguments"], at
        _is_new_id(call["id"], seen, at)
        ids.append(call["id"])
    return ids


def check_anthropic(system: list[Json], messages: list[Json]) -> None:
    """Alternating roles from the user on, blocks that are not empty, results at the start of the very next message."""
    json.dumps([system, messages], ensure_ascii=False).encode("utf-8")
    for block in system:
        assert block["type"] == "text"
        assert block["text"].strip()
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        assert message["role"] == ("user", "assistant")[at % 2], f"{at}: roles do not alternate from the user on"
        assert message["content"], f"{at}: empty content"
        waiting = _anthropic_blocks(message, waiting, seen, at)
    assert not waiting, f"{waiting} were never answered"
    if messages and messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1]
        assert last["type"] != "text" or last["text"] == last["text"].rstrip()


def _anthropic_blocks(message: Json, waiting: list[str], seen: set[str], at: int) -> list[str]:
    results = [block for block in message["content"] if block["type"] == "tool_result"]
    assert message["content"][: len(results)] == results, f"{at}: a result behind other content"
    assert sorted(block["tool_use_id"] for block in results) == sorted(waiting), f"{at}: not exactly the open calls"
    calls = []
    for block in message["content"]:
        match block["type"]:
            case "text":
                _is_text(block["text"], at)
            case "tool_use":
                assert message["role"] == "assistant", at
                assert _NAME.fullmatch(block["name"]), at
                assert isinstance(block["input"], dict), at
                _is_new_id(block["id"], seen, at)
                calls.append(block["id"])
            case "tool_result":
                assert message["role"] == "user", at
                _is_text(block["content"], at)
            case kind:
                raise AssertionError(f"{at}: a block of the kind {kind}")
    return calls


def _is_text(content: object, at: int) -> None:
    assert isinstance(content, str), f"{at}: {content!r}"
    assert content.strip(), f"{at}: blank"


def _is_new_id(call_id: str, seen: set[str], at: int) -> None:
    assert _ID.fullmatch(call_id), f"{at}: {call_id!r}"
    assert call_id not in seen, f"{at}: {call_id!r} again"
    seen.add(call_id)
