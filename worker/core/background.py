"""Processes and agents that a session started and did not wait for. Running until something says otherwise."""

import re
from collections.abc import Sequence
from dataclasses import replace

from worker.core.invocations import Invocation
from worker.core.ledger import Background
from worker.core.messages import Message, Origin

_STARTED = re.compile(
    r"(?:running in (?:the )?background with (?:ID|id)|[Bb]ackground (?:task|shell|process"
    r"|command)(?: started)?(?: with)? (?:ID|id)|agentId|agent_id|task_id|shell_id|bash_id"
    r"|session_id)\W{1,4}([\w.-]{2,80}?)(?=[.,;\s)\"'<]|$)"
)
_AGENT_TOOLS = frozenset({"task", "agent", "spawn_agent", "dispatch_agent"})
_WATCHERS = frozenset(
    {"bashoutput", "bash_output", "taskoutput", "task_output", "agentoutputtool", "agentoutput", "get_output"}
)
_KILLERS = frozenset({"killshell", "kill_shell", "killbash", "taskstop", "task_stop", "kill_process", "stop_agent"})
_ID_KEYS = ("bash_id", "shell_id", "task_id", "taskId", "agentId", "agent_id", "id", "session_id")
_STATUS = re.compile(r"(?i)<status>\s*(\w+)\s*</status>|\bstatus\W{1,3}(running|completed|failed|killed|stopped)\b")
_EXIT = re.compile(r"(?i)<exit_code>\s*(-?\d+)|exit code:? (-?\d+)")
_NOTICE = re.compile(
    r"<(?:task|bash|agent|shell)-notification>(.{1,4000}?)</(?:task|bash|agent|shell)-notification>", re.DOTALL
)
_NOTICE_ID = re.compile(r"<(?:task|shell|bash|agent)[-_]?id>\s*([\w.-]{2,80})\s*<")
_OLD_NOTICE = re.compile(
    r"Background (?:Bash|Agent|Task) ([\w.-]{2,80}) .{0,600}?\(status: (\w+)\)(?:.{0,40}?\(exit code: (-?\d+)\))?"
)
_STATUSES = {
    "running": "running",
    "completed": "completed",
    "complete": "completed",
    "success": "completed",
    "failed": "failed",
    "error": "failed",
    "killed": "killed",
    "stopped": "killed",
    "cancelled": "killed",
}
_SCANNED_CHARS = 4_000
_MAX_TEXT_CHARS = 300


def find_background(messages: Sequence[Message], invocations: Sequence[Invocation]) -> list[Background]:
    """All that was started, in that order, with the last status that a tool or a notice told."""
    found: dict[str, Background] = {}
    by_message: dict[int, list[Invocation]] = {}
    for invocation in invocations:
        by_message.setdefault(invocation.message.index, []).append(invocation)
    for message in messages:
        if message.origin in (Origin.HARNESS, Origin.TOOL) and not message.sidechain:
            _hear_notices(found, message)
        for invocation in by_message.get(message.index, ()):
            _take(found, invocation)
    return list(found.values())


def _take(found: dict[str, Background], invocation: Invocation) -> None:
    started = _started(invocation)
    if started is not None:
        found.setdefault(started.id, started)
    elif invocation.name in _WATCHERS and invocation.is_successful:
        _set(found, _watched_id(invocation), _status_of(invocation.text), invocation.evidence[-1])
    elif invocation.name in _KILLERS and invocation.is_successful:
        _set(found, _watched_id(invocation), "killed", invocation.evidence[-1])


def _started(invocation: Invocation) -> Background | None:
    is_agent = invocation.name in _AGENT_TOOLS
    runs_behind = (
        invocation.arguments.get("run_in_background") is True or invocation.arguments.get("background") is True
    )
    launched = is_agent and "launched" in invocation.text[:200]
    unanswered = is_agent and invocation.result is None
    if invocation.is_failed or not (runs_behind or launched or unanswered or _moved_behind(invocation)):
        return None
    told = _STARTED.search(invocation.text, 0, _SCANNED_CHARS)
    return Background(
        id=told[1] if told else invocation.call.id,
        text=_text(invocation),
        status="running",
        evidence=invocation.evidence,
    )


def _moved_behind(invocation: Invocation) -> bool:
    """A command that took too long and was put into the background by the harness or the person."""
    return invocation.command is not None and "running in the background with ID" in invocation.text[:400]


def _text(invocation: Invocation) -> str:
    for key in ("description", "command", "cmd", "prompt", "message"):
        value = invocation.arguments.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:_MAX_TEXT_CHARS]
    return invocation.call.name


def _watched_id(invocation: Invocation) -> str:
    return next((str(invocation.arguments[key]) for key in _ID_KEYS if invocation.arguments.get(key)), "")


def _status_of(text: str) -> str | None:
    told = _STATUS.search(text, 0, _SCANNED_CHARS)
    status = _STATUSES.get((told[1] or told[2]).lower()) if told else None
    ended = _EXIT.search(text, 0, _SCANNED_CHARS)
    if status == "completed" and ended is not None and int(ended[1] or ended[2]) != 0:
        return "failed"
    return status


def _hear_notices(found: dict[str, Background], message: Message) -> None:
    """Only harness text counts: a tool's output can hold anything, and rows of ours are marked by the reader."""
    text = message.text if message.origin is Origin.HARNESS else ""
    if "-notification>" in text:
        for notice in _NOTICE.finditer(text):
            named = _NOTICE_ID.search(notice[1])
            if named is not None:
                _set(found, named[1], _status_of(notice[1]), message.id)
    if "Background " in text and "(status: " in text:
        for old in _OLD_NOTICE.finditer(text):
            failed = old[3] is not None and int(old[3]) != 0
            _set(found, old[1], "failed" if failed else _STATUSES.get(old[2].lower()), message.id)


def _set(found: dict[str, Background], name: str, status: str | None, evidence: str) -> None:
    """A killed one stays killed: what comes later is the echo of its end. One of an earlier range has only its id."""
    if name and status and name not in found:
        found[name] = Background(id=name, text="", status=status, evidence=(evidence,))
    known = found.get(name)
    if known is not None and status is not None and known.status != "killed":
        found[name] = replace(known, status=status, evidence=tuple(dict.fromkeys((*known.evidence, evidence)))[:4])
