"""Tool calls with what came of them: the view of a range from which files, failures, checks and tasks are read.

Tool names and arguments differ from agent to agent; what they mean is settled here once.
"""

import json
import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worker.core.commands import simple_commands
from worker.core.messages import Message, ToolCall, ToolResult

SHELLS = frozenset(
    {
        "bash",
        "shell",
        "exec",
        "exec_command",
        "local_shell",
        "local_shell_call",
        "run_shell_command",
        "run_terminal_cmd",
        "execute_bash",
        "run_command",
        "execute_command",
        "terminal",
        "container.exec",
        "powershell",
    }
)
_SEARCHERS = frozenset(
    {"grep", "egrep", "fgrep", "rg", "ag", "ack", "pgrep", "test", "[", "diff", "cmp", "which", "find"}
)
_PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file", "absolute_path", "target_file", "filePath")
_COMMAND_KEYS = ("command", "cmd", "script", "code")
_OPENERS = frozenset({"open", "create"})
_EDITS_THE_OPEN_FILE = frozenset({"edit", "insert"})
"""SWE-agent's commands: whose arguments name no file mean the one that was opened or made last."""
_EXIT_HEAD = re.compile(
    r"\s*(?:<tool_use_error>)?\s*(?:Error: )?(?:Exit code:?|exit code:?|Process exited with code"
    r"|Exit Code:) (-?\d{1,5})\b"
)
_EXIT_LINE = re.compile(
    r"^\s*(?:\(?(?:Command|Process) exited with (?:exit )?(?:code|status) (-?\d{1,5})"
    r"|[Ee]xit [Cc]ode: ?(-?\d{1,5}))\)?\.?\s*$",
    re.MULTILINE,
)
_EDGE_CHARS = 400
"""Exit codes stand in the first or last lines that a harness adds; in the middle they belong to the output."""

_DENIED = re.compile(
    r"(?i)\A\s*(?:\(no output\)\s*)?(?:Command|Operation) aborted|the user doesn['’]t want to (?:proceed"
    r"|take this action)|request interrupted by user"
    r"|permission to use \S{1,80}(?: with command .{1,400}?)? has been denied"
    r"|(?:rejected|denied|declined|cancelled|canceled|aborted) by (?:the )?user|user (?:has )?(?:denied|rejected"
    r"|declined|cancelled|canceled)|requested permissions to .{1,300} but you haven['’]t granted"
    r"|(?:command|tool|operation) (?:was )?(?:blocked|denied) by (?:policy|the (?:sandbox|hook|permission))"
    r"|not allowed by (?:policy|permission)"
)
_DENIAL_CHARS = 600
_ERROR_START = re.compile(
    r"\s*(?:<tool_use_error>|(?:\w{1,40}Error|Error|ERROR|error)(?: \w+ing \w+)?:|Error executing|Failed to|ENOENT"
    r"|EACCES|File not found|File does not exist|No such file|String to replace not found"
    r"|No changes made|Could not find|No replacement was performed|Traceback \(most recent call last\)|Invalid "
    r"|apply_patch verification failed|Your proposed edit has introduced)"
)
_SHELL_ERROR = re.compile(
    r"\s*(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh: .{1,300}(?:not found|No such file|Permission denied|syntax error)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call and its result. name: lower case. arguments: {} when they are no JSON object.

    command: what a shell was given, None for other tools. path: the file that the arguments name, or the open one.
    exit_code: of the result, or as the harness wrote it into the output. is_denied: a person or a permission said no,
    or stopped it. is_failed: by exit code or error flag; what a pipe hid behind exit code 0 is no failure by code.
    """

    call: ToolCall
    name: str
    arguments: Mapping[str, Any]
    command: str | None
    path: str | None
    message: Message
    result: ToolResult | None = None
    result_message: Message | None = None
    exit_code: int | None = None
    is_denied: bool = False
    is_failed: bool = False

    @property
    def text(self) -> str:
        return self.result.text if self.result else ""

    @property
    def evidence(self) -> tuple[str, ...]:
        ids = (self.message.id,) if self.result_message is None else (self.message.id, self.result_message.id)
        return tuple(dict.fromkeys(ids))

    @property
    def is_successful(self) -> bool:
        return self.result is not None and not self.is_failed


def invocations_of(messages: Sequence[Message]) -> list[Invocation]:
    """One per call, in the order of the calls; results are matched by order within an id, since ids are used again."""
    results: dict[str, deque[tuple[ToolResult, Message]]] = defaultdict(deque)
    for message in messages:
        if message.tool_result is not None:
            results[message.tool_result.call_id].append((message.tool_result, message))
    found = []
    opened: str | None = None
    for message in messages:
        for call in message.tool_calls:
            waiting = results.get(call.id)
            while waiting and waiting[0][1].index < message.index:
                waiting.popleft()
            invocation = _invocation(call, message, waiting.popleft() if waiting else None)
            if invocation.path is None and invocation.name in _EDITS_THE_OPEN_FILE:
                invocation = replace(invocation, path=opened)
            elif invocation.path and invocation.name in _OPENERS and invocation.is_successful:
                opened = invocation.path
            found.append(invocation)
    return found


def parsed_arguments(call: ToolCall) -> Any:
    """The arguments as JSON value; the raw text when they are none."""
    try:
        return json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments


def subject_of(call: ToolCall) -> str:
    """What the call is about, in one line: its command, else the path, pattern or address it names; "" for none."""
    parsed = parsed_arguments(call)
    arguments: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    command = _command(_plain_name(call), arguments, parsed)
    named = (arguments.get(key) for key in (*_PATH_KEYS, "pattern", "query", "url"))
    return " ".join((command or next((value for value in named if isinstance(value, str)), "")).split())


def _plain_name(call: ToolCall) -> str:
    return call.name.rsplit("__", 1)[-1].lower()


def _invocation(call: ToolCall, message: Message, answer: tuple[ToolResult, Message] | None) -> Invocation:
    parsed = parsed_arguments(call)
    arguments: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    name = _plain_name(call)
    command = _command(name, arguments, parsed)
    result, result_message = answer or (None, None)
    exit_code = _exit_code(command, result)
    is_denied = _is_denied(result)
    return Invocation(
        call=call,
        name=name,
        arguments=arguments,
        command=command,
        path=next(
            (arguments[key] for key in _PATH_KEYS if isinstance(arguments.get(key), str) and arguments[key]), None
        ),
        message=message,
        result=result,
        result_message=result_message,
        exit_code=exit_code,
        is_denied=is_denied,
        is_failed=is_denied or _is_failed(command, exit_code, result),
    )


def _command(name: str, arguments: Mapping[str, Any], parsed: Any) -> str | None:
    if name not in SHELLS:
        return None
    if isinstance(parsed, str):
        return parsed
    action = arguments.get("action")
    source = action if isinstance(action, dict) else arguments
    for key in _COMMAND_KEYS:
        value = source.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return value[-1] if len(value) > 2 and value[1].startswith("-") and "c" in value[1] else " ".join(value)
    return None


def _exit_code(command: str | None, result: ToolResult | None) -> int | None:
    if result is None:
        return None
    return result.exit_code if result.exit_code is not None else _told_exit_code(command, result.text)


def _is_denied(result: ToolResult | None) -> bool:
    if result is None or not (result.is_error or len(result.text) <= _DENIAL_CHARS):
        return False
    return _DENIED.search(result.text, 0, _DENIAL_CHARS) is not None


def _is_failed(command: str | None, exit_code: int | None, result: ToolResult | None) -> bool:
    if result is None:
        return False
    if exit_code is not None:
        return exit_code != 0 and not _is_no_match(command, exit_code, result)
    return result.is_error or _looks_failed(command, result.text)


def _is_no_match(command: str | None, exit_code: int, result: ToolResult) -> bool:
    """Exit code 1 of a search without output says "nothing found"."""
    if command is None or exit_code != 1 or len(result.text) > _EDGE_CHARS:
        return False
    output = _EXIT_LINE.sub("", _EXIT_HEAD.sub("", result.text)).replace("(no output)", "").strip()
    programs = [words[0] for words in simple_commands(command)]
    return not output and bool(programs) and programs[-1].rsplit("/", 1)[-1] in _SEARCHERS


def _told_exit_code(command: str | None, text: str) -> int | None:
    """The exit code that the harness wrote into the output of a shell."""
    if command is None:
        return None
    head = _EXIT_HEAD.match(text, 0, _EDGE_CHARS)
    if head is not None:
        return int(head[1])
    for edge in (text[:_EDGE_CHARS], text[-_EDGE_CHARS:]):
        found = _EXIT_LINE.search(edge)
        if found is not None:
            return int(found[1] or found[2])
    return None


def _looks_failed(command: str | None, text: str) -> bool:
    """For formats that flag no errors: the beginning of the result says it."""
    if command is not None:
        return len(text) <= _EDGE_CHARS and _SHELL_ERROR.match(text) is not None
    return _ERROR_START.match(text, 0, _EDGE_CHARS) is not None
