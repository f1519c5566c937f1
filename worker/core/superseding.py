"""Which results a later one makes needless: the same file read again, the same search run again, a search long past.

A result that failed is never needless. The call itself always stays: that it was looked up is part of what happened.
"""

import json
from collections.abc import Mapping, Sequence
from enum import Enum

from worker.core.messages import Message, ToolCall, ToolResult
from worker.core.offloading import is_offloaded
from worker.core.pairing import Pairing

SUPERSEDED_PREFIX = "[superseded: "
STUB_CHARS = 500
"""A result shorter than this stays: a stub would save nothing, and denials are short."""
OLD_SEARCH_CHARS = 2_000
OLD_AFTER_MESSAGES = 20
_KEPT_LINES = 10
_KEPT_LINE_CHARS = 300


class _Use(Enum):
    READ = "read"
    SEARCH = "search"


_USES = {
    **dict.fromkeys(("read", "read_file", "readfile", "view", "view_file", "open_file", "fs_read", "cat"), _Use.READ),
    **dict.fromkeys(
        (
            "grep",
            "glob",
            "ls",
            "find",
            "search",
            "search_files",
            "list_directory",
            "list_dir",
            "search_file_content",
            "codebase_search",
            "file_search",
            "grep_search",
            "websearch",
            "web_search",
        ),
        _Use.SEARCH,
    ),
}
_PATH_FIELDS = ("file_path", "path", "absolute_path", "filepath", "filename", "target_file")
_RANGE_FIELDS = ("offset", "limit", "start_line", "end_line", "view_range", "pages", "line", "lines")


_STUB_CHARS_AT_MOST = 4_000


def is_superseded(text: str) -> bool:
    """True for a stub of ours."""
    return len(text) <= _STUB_CHARS_AT_MOST and text.startswith(SUPERSEDED_PREFIX)


def failed(result: ToolResult) -> bool:
    """True when the result says so in its fields."""
    return result.is_error or result.exit_code not in (None, 0)


def superseded(
    messages: Sequence[Message], pairing: Pairing, old_after_messages: int = OLD_AFTER_MESSAGES
) -> dict[int, str]:
    """Position of each needless result, and the stub that may stand for it."""
    stubs: dict[int, str] = {}
    newest: dict[str, str] = {}
    for position in range(len(messages) - 1, -1, -1):
        place = pairing.call_of.get(position)
        message = messages[position]
        result = message.tool_result
        if place is None or message.sidechain or result is None or failed(result):
            continue
        call = messages[place.position].tool_calls[place.number]
        use = _USES.get(call.name.lower())
        if use is None:
            continue
        age = len(messages) - position
        stub = _stub(result, use, _later(call, use, message.id, newest), age > old_after_messages)
        if stub is not None:
            stubs[position] = stub
    return stubs


def _later(call: ToolCall, use: _Use, message_id: str, newest: dict[str, str]) -> str | None:
    """The message in which the same was looked up later; notes this one for the earlier ones."""
    exact, whole = _keys(call, use)
    later = newest.get(exact) or newest.get(whole)
    newest.setdefault(exact, message_id)
    return later


def _stub(result: ToolResult, use: _Use, later: str | None, is_old: bool) -> str | None:
    text = result.text
    if is_superseded(text) or is_offloaded(text):
        return None
    if later is not None and len(text) >= STUB_CHARS:
        return f"{SUPERSEDED_PREFIX}{len(text):,} characters, the same was looked up again in {later}]"
    if use is _Use.SEARCH and is_old and len(text) > OLD_SEARCH_CHARS:
        return f"{SUPERSEDED_PREFIX}an old search, {_beginning(text)}]"
    return None


def _beginning(text: str) -> str:
    lines = text.split("\n")
    first = "\n".join(line[:_KEPT_LINE_CHARS] for line in lines[:_KEPT_LINES])
    return f"{len(lines):,} lines that began:\n{first}\n…"


def _keys(call: ToolCall, use: _Use) -> tuple[str, str]:
    """What was looked up, and the larger thing whose later look-up covers it: a file for a range of its lines."""
    if use is _Use.SEARCH:
        exact = f"{call.name} {call.arguments}"
        return exact, exact
    fields = _fields(call.arguments)
    path = next((fields[name] for name in _PATH_FIELDS if isinstance(fields.get(name), str)), None)
    if path is None:
        exact = f"{call.name} {call.arguments}"
        return exact, exact
    part = [fields.get(name) for name in _RANGE_FIELDS]
    return f"read {path} {part}", f"read {path} {[None] * len(part)}"


def _fields(arguments: str) -> Mapping[str, object]:
    try:
        fields = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
