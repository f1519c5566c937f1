"""The rows of a request in the shapes of OpenAI's chat completions and Anthropic's messages.

Anthropic: system apart, roles alternate, the results of a message's calls open the next user message, no empty text.
OpenAI: an assistant message is followed by one tool message per call; system messages stand where they stood.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from worker.core.messages import Role, ToolCall
from worker.core.sending import Row

Json = dict[str, Any]

ERROR_MARK = "[error]"
CACHE_MARK = {"type": "ephemeral"}


def openai_messages(rows: Iterable[Row]) -> list[Json]:
    """One message per row."""
    return [_openai(row) for row in rows]


def _openai(row: Row) -> Json:
    if row.role is Role.TOOL:
        # The protocol has no field that says so.
        text = f"{ERROR_MARK}\n{row.text}" if row.is_error else row.text
        return {"role": "tool", "tool_call_id": row.call_id, "content": text}
    if row.role is Role.ASSISTANT and row.calls:
        return {"role": "assistant", "content": row.text or None, "tool_calls": [_openai_call(c) for c in row.calls]}
    return {"role": row.role.value, "content": row.text}


def _openai_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments if call.arguments.strip() else "{}"}
    return {"id": call.id, "type": "function", "function": function}


def anthropic_messages(rows: Iterable[Row]) -> tuple[list[Json], list[Json]]:
    """The system blocks and the messages; a system row is a block wherever it stood, the same text only once."""
    system: list[Json] = []
    messages: list[Json] = []
    for row in rows:
        if row.role is Role.SYSTEM:
            block = _text(row.text)
            system += [block] if block not in system else []
            continue
        role = "assistant" if row.role is Role.ASSISTANT else "user"
        blocks = list(_blocks(row))
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return system, messages


def _blocks(row: Row) -> Iterator[Json]:
    if row.role is Role.TOOL:
        result: Json = {"type": "tool_result", "tool_use_id": row.call_id, "content": row.text}
        yield result | {"is_error": True} if row.is_error else result
        return
    # The last message of a request may not end in white space when the assistant wrote it.
    text = row.text.rstrip() if row.role is Role.ASSISTANT else row.text
    if text.strip():
        yield _text(text)
    for call in row.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _input(arguments: str) -> Json:
    """The arguments as an object; what is none, or no JSON that every parser takes, goes as text."""
    try:
        value = json.loads(arguments, parse_constant=_refuse) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return value if isinstance(value, dict) and _is_plain(arguments) else {"arguments": arguments}


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _is_plain(arguments: str) -> bool:
    """Escapes of lone surrogates are JSON to Python alone."""
    return "\\ud" not in arguments.lower()


def units(messages: Sequence[Json]) -> Iterator[tuple[str, object]]:
    """What a provider's prompt cache sees, in order: Anthropic's blocks, OpenAI's messages, each with its role.

    A user message to which the next row adds blocks is the same message with more behind it.
    """
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            yield from ((message["role"], block) for block in content)
        else:
            yield message["role"], message


def with_cache_marks(system: Sequence[Json], messages: Sequence[Json]) -> tuple[list[Json], list[Json]]:
    """Anthropic's messages with the two marks that a growing session needs: behind the static part and at the end.

    The static part is the system prompt; without one, the first block that Afterturn or the person put in front.
    """
    marked_system, marked = list(system), list(messages)
    if marked_system:
        marked_system[-1] = _marked(marked_system[-1])
    elif marked:
        first = marked[0]
        marked[0] = first | {"content": [_marked(first["content"][0]), *first["content"][1:]]}
    if marked:
        last = marked[-1]
        marked[-1] = last | {"content": [*last["content"][:-1], _marked(last["content"][-1])]}
    return marked_system, marked


def _marked(block: Json) -> Json:
    return block | {"cache_control": dict(CACHE_MARK)}


def as_text(message: Json) -> str:
    """A message for a person: who, then text, calls and results as they stand."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    lines = [f"── {message['role']} ──"]
    for block in blocks:
        match block["type"]:
            case "text":
                lines.append(block["text"])
            case "tool_use":
                lines.append(f"[call {block['name']} {json.dumps(block['input'], ensure_ascii=False)}]")
            case _:
                mark = " error" if block.get("is_error") else ""
                lines += [f"[result{mark} {block['tool_use_id']}]", block["content"]]
    for call in message.get("tool_calls", ()):
        lines.append(f"[call {call['function']['name']} {call['function']['arguments']}]")
    return "\n".join(lines)
