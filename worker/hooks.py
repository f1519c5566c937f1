"""What agents call when something happened: their hook's JSON in, a job request out, within milliseconds.

    Claude Code   Stop, SubagentStop, StopFailure    the turn may have grown: turn
                  SessionEnd                         nothing more will come: seal everything
                  PreCompact                         before the agent forgets: interactive; seals everything when a
                                                     person asked for it, for then no turn is open
                  PostCompact                        its own summary is kept as evidence
                  SessionStart                       asks for nothing; is told what is remembered
    Codex         agent-turn-complete                turn

Nothing here reads a transcript, waits for a worker, writes to the agent's terminal or fails: a hook that fails stops
the agent. Only a session's start is answered, with what `worker.briefing` has for it. What went wrong is a line in
`hooks.log` of the run folder. A sub-agent's end is a step of its parent's session, whose transcript has the result: it
asks for the parent's session and says nothing of its last message.
"""

import hashlib
import json
import os
import select
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from typing import Any

from worker.adapters.agent_folders import (
    claude_ancestors,
    claude_project,
    claude_transcript,
    codex_rollout,
    path_or_none,
    session_id_or_none,
)
from worker.adapters.files import append_durably, storage_errors
from worker.core.job import MAX_INSTRUCTION_CHARS, JobRequest, Kind, Priority, Trigger
from worker.core.session_key import session_key
from worker.delivery import Submission, hand_in, leave, redis_url, size_and_time
from worker.errors import AfterturnError
from worker.locating import Ground

BUDGET_SECONDS = 0.8
"""Claude Code gives a SessionEnd hook 1.5 s. Only used up when Redis is there and does not answer."""

STDIN_WAIT_SECONDS = 1.0
MAX_STDIN_BYTES = 16 * 2**20
MAX_LOG_BYTES = 2**20
MAX_BACKGROUND_TASKS = 20

_LOG_NAME = "hooks.log"
_Fields = Mapping[str, Any]


class Handled(StrEnum):
    ANSWERED = "answered"
    ENQUEUED = "enqueued"
    SPOOLED = "spooled"
    IGNORED = "ignored"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOutcome:
    """What became of one call. reason: why it was ignored, failed or spooled. answer: what goes to stdout.

    A session's start that FAILED may have an answer: what could be read.
    """

    handled: Handled
    event: str = ""
    reason: str | None = None
    session: str | None = None
    job: str | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    trigger: Trigger
    priority: Priority = Priority.TURN
    seal_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """directory: in which it began, None when nothing tells."""

    agent: str
    id: str
    transcript: Path
    directory: str | None

    @property
    def key(self) -> str:
        return session_key(self.agent, self.id)


CLAUDE_CODE_EVENTS: Mapping[str, _Wish] = {
    "Stop": _Wish(trigger=Trigger.TURN),
    "StopFailure": _Wish(trigger=Trigger.TURN),
    "SubagentStop": _Wish(trigger=Trigger.TURN),
    "SessionEnd": _Wish(trigger=Trigger.SESSION_END, seal_all=True),
    "PreCompact": _Wish(trigger=Trigger.COMPACTION, priority=Priority.INTERACTIVE),
    "PostCompact": _Wish(trigger=Trigger.COMPACTION),
}


SESSION_START = "SessionStart"
GOES_ON = ("resume", "compact", "fork")
BEGINS_ANEW = "clear"
"""Whoever clears a conversation wants to be rid of it, whatever id it goes on under."""


def handle_claude_code(stdin_text: str, environ: Mapping[str, str], now: datetime) -> HookOutcome:
    """What became of a call of `afterturn hook claude-code` with that on its stdin; raises for no input."""
    fields = _object_in(stdin_text)
    event = _name(fields.get("hook_event_name"))
    return _handle("claude-code", event, fields, environ, now)


def handle_codex(argument: str, environ: Mapping[str, str], now: datetime) -> HookOutcome:
    """What became of a call of `afterturn hook codex` with that as its last argument; raises for no input."""
    fields = {name.replace("_", "-"): value for name, value in _object_in(argument).items()}
    return _handle("codex", _name(fields.get("type")), fields, environ, now)


def said_sha256(text: object) -> str | None:
    """How a message is named without quoting it: a worker compares it with the last one that it finds in the file."""
    if not isinstance(text, str) or not text.strip():
        return None
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Always 0, and nothing on stdout but an answer. arguments: the agent, then what it passes."""
    environ, now = os.environ, datetime.now(UTC)
    try:
        outcome = _call(arguments, environ, now)
    except Exception as exc:  # noqa: BLE001 - the boundary to the agent: a bug of ours must not stop it
        outcome = HookOutcome(handled=Handled.FAILED, reason=f"bug:{type(exc).__name__}")
        _log("", outcome, environ, now)
    _answer(outcome.answer)
    return 0


def _answer(text: str) -> None:
    """An agent that has closed its end is not troubled either, nor by what Python flushes at its own end."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def read_stdin(descriptor: int, *, wait_seconds: float = STDIN_WAIT_SECONDS) -> str:
    """What stands on stdin, at most `MAX_STDIN_BYTES`; "" for a terminal, or when nothing comes in time.

    Some versions of Claude Code start an asynchronous hook with a pipe that nobody writes to or closes.
    """
    if os.isatty(descriptor):
        return ""
    deadline = time.monotonic() + wait_seconds
    pieces: list[bytes] = []
    size = 0
    while size < MAX_STDIN_BYTES and select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        piece = os.read(descriptor, 2**20)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces).decode("utf-8", "replace")


def _call(arguments: Sequence[str], environ: Mapping[str, str], now: datetime) -> HookOutcome:
    agent = arguments[0] if arguments else ""
    if agent == "claude-code":
        return handle_claude_code(read_stdin(sys.stdin.fileno()), environ, now)
    if agent == "codex":
        return handle_codex(arguments[-1] if len(arguments) > 1 else "", environ, now)
    outcome = HookOutcome(handled=Handled.IGNORED, reason="unknown_agent")
    _log(_name(agent), outcome, environ, now)
    return outcome


def _handle(agent: str, event: str, fields: _Fields, environ: Mapping[str, str], now: datetime) -> HookOutcome:
    outcome = _outcome(agent, event, fields, environ, now)
    if outcome.handled in (Handled.IGNORED, Handled.FAILED):
        _log(agent, outcome, environ, now)
    return outcome


def _outcome(agent: str, event: str, fields: _Fields, environ: Mapping[str, str], now: datetime) -> HookOutcome:
    ground = Ground.from_env(environ)
    try:
        if agent == "claude-code" and event == SESSION_START:
            return _told(fields, environ, now)
        request = _REQUESTS[agent](event, fields, environ, now) if fields else "no_json_object"
        if isinstance(request, str):
            return HookOutcome(handled=Handled.IGNORED, event=event, reason=request)
        return _submitted(event, request, ground.run, environ)
    except AfterturnError as exc:
        return HookOutcome(handled=Handled.FAILED, event=event, reason=f"{exc.reason}: {exc}")


def _told(fields: _Fields, environ: Mapping[str, str], now: datetime) -> HookOutcome:
    """The answer to a session's start; none for a sub-agent, whose work its parent has ordered."""
    session = "subagent" if fields.get("agent_id") else _claude_code_session(fields, environ)
    if isinstance(session, str):
        return HookOutcome(handled=Handled.IGNORED, event=SESSION_START, reason=session)
    from worker.briefing import Start, briefing

    place = Ground.from_env(environ).place_of_transcript(session.transcript, session.directory)
    start = Start(
        key=session.key,
        goes_on_from=_goes_on_from(session, fields),
        begins=fields.get("source") not in GOES_ON,
        directory=session.directory,
    )
    found = briefing(place.root, start, now, _briefing_tokens(environ))
    return HookOutcome(
        handled=Handled.FAILED if found.problems else Handled.ANSWERED,
        event=SESSION_START,
        reason="; ".join(found.problems) or None,
        session=session.key,
        answer=_session_start_answer(found.text) if found.text else "",
    )


def _goes_on_from(session: _Session, fields: _Fields) -> list[str]:
    """Its own key first: a session that is known goes on, and one that is resumed or forked can get a new id."""
    source = fields.get("source")
    if source == BEGINS_ANEW:
        return []
    named = [session.id]
    if source in GOES_ON:
        given = path_or_none(fields.get("transcript_path"))
        named += claude_ancestors(session.transcript, session.id)
        named += [given.stem] if given and session_id_or_none(given.stem) else []
    return [session_key(session.agent, name) for name in dict.fromkeys(named)]


def _session_start_answer(text: str) -> str:
    """ASCII, whatever encoding stdout has here."""
    told = {"hookEventName": SESSION_START, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": told}) + "\n"


def _briefing_tokens(environ: Mapping[str, str]) -> int:
    """As the setting says; `afterturn doctor` tells of a value that is none, an agent's start is no place for it."""
    from worker.core.briefing import DEFAULT_BUDGET_TOKENS

    value = environ.get("AFTERTURN_BRIEFING_TOKENS", "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else DEFAULT_BUDGET_TOKENS


def _submitted(event: str, request: JobRequest, run: Path, environ: Mapping[str, str]) -> HookOutcome:
    """Left to the worker that watches the spool, which costs a tenth of loading Redis; handed in when none does."""
    submission: Submission = leave(request, run) or hand_in(
        request, run, redis_url(environ), budget_seconds=BUDGET_SECONDS
    )
    return HookOutcome(
        handled=Handled.SPOOLED if submission.spooled else Handled.ENQUEUED,
        event=event,
        reason=submission.reason,
        session=request.session,
        job=submission.job,
    )


def _claude_code_request(event: str, fields: _Fields, environ: Mapping[str, str], now: datetime) -> JobRequest | str:
    """The request, or the reason code why there is none."""
    wish = CLAUDE_CODE_EVENTS.get(event)
    session = _claude_code_session(fields, environ)
    if wish is None or isinstance(session, str):
        return "unknown_event" if wish is None else str(session)
    request = _request(session, environ, now)
    if event == "PostCompact":
        _keep_summary(fields.get("compact_summary"), Path(request.workspace), session.key, now)
    is_subagent = event == "SubagentStop" or bool(fields.get("agent_id"))
    return replace(
        request,
        trigger=wish.trigger,
        priority=wish.priority,
        seal_all=(wish.seal_all or _is_asked_for(event, fields)) and not is_subagent,
        instructions=_instructions(fields.get("custom_instructions")),
        last_message_sha256=None if is_subagent else said_sha256(fields.get("last_assistant_message")),
        background=_running_tasks(fields.get("background_tasks")),
    )


def _is_asked_for(event: str, fields: _Fields) -> bool:
    return event == "PreCompact" and fields.get("trigger") == "manual"


def _codex_request(event: str, fields: _Fields, environ: Mapping[str, str], now: datetime) -> JobRequest | str:
    """The request, or the reason code why there is none."""
    if event != "agent-turn-complete":
        return "unknown_event"
    session = _codex_session(fields, environ)
    if isinstance(session, str):
        return session
    said = said_sha256(fields.get("last-assistant-message"))
    return replace(_request(session, environ, now), last_message_sha256=said)


_REQUESTS = {"claude-code": _claude_code_request, "codex": _codex_request}


def _claude_code_session(fields: _Fields, environ: Mapping[str, str]) -> _Session | str:
    given, cwd = path_or_none(fields.get("transcript_path")), path_or_none(fields.get("cwd"))
    session_id = session_id_or_none(fields.get("session_id")) or session_id_or_none(given.stem if given else None)
    if session_id is None:
        return "no_session"
    transcript = claude_transcript(given, session_id, cwd, environ)
    if transcript is None:
        return "no_transcript"
    directory = claude_project(transcript, session_id, cwd, environ)
    return _Session(agent="claude-code", id=session_id, transcript=transcript, directory=directory)


def _codex_session(fields: _Fields, environ: Mapping[str, str]) -> _Session | str:
    session_id = session_id_or_none(fields.get("thread-id"))
    if session_id is None:
        return "no_session"
    transcript = codex_rollout(session_id, environ)
    if transcript is None:
        return "no_transcript"
    cwd = path_or_none(fields.get("cwd"))
    return _Session(agent="codex", id=session_id, transcript=transcript, directory=str(cwd) if cwd else None)


def _request(session: _Session, environ: Mapping[str, str], now: datetime) -> JobRequest:
    """For a turn of the session, with the transcript as it is at this moment; also for one that is gone already."""
    place = Ground.from_env(environ).place_of_transcript(session.transcript, session.directory)
    size, modified_at = size_and_time(session.transcript)
    return JobRequest(
        submission=token_hex(8),
        kind=Kind.CONSOLIDATE,
        workspace=str(place.root),
        submitted_at=now,
        transcript=str(session.transcript),
        session=session.key,
        agent=session.agent,
        session_id=session.id,
        transcript_bytes=size,
        transcript_modified_at=modified_at,
    )


def _keep_summary(text: object, workspace: Path, key: str, now: datetime) -> None:
    """Only these hooks need the rules for secrets, which take a while to load."""
    if isinstance(text, str):
        from worker.adapters.agent_summaries import AgentSummaries

        AgentSummaries(workspace).keep(key, text, now)


def _instructions(value: object) -> str:
    """What a person typed behind /compact, without secrets, and only as much as a job takes."""
    if not isinstance(value, str) or not value.strip():
        return ""
    from worker.core.secrets import redact

    return redact(value.strip()[: 4 * MAX_INSTRUCTION_CHARS])[:MAX_INSTRUCTION_CHARS]


def _running_tasks(value: object) -> tuple[str, ...]:
    """The ids of background tasks that still run. One without an id counts too: what matters is that it runs."""
    tasks = [task for task in value if isinstance(task, dict)] if isinstance(value, list) else []
    running = [task for task in tasks if task.get("status", "running") in ("running", "pending")]
    return tuple(session_id_or_none(task.get("id")) or "unnamed" for task in running[:MAX_BACKGROUND_TASKS])


def _object_in(text: str) -> _Fields:
    """The JSON object that the text is, an empty one when it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _name(value: object) -> str:
    """An event's name as it may stand in a log."""
    return "".join(char for char in value[:64] if char.isalnum() or char in "-_.") if isinstance(value, str) else ""


def _log(agent: str, outcome: HookOutcome, environ: Mapping[str, str], now: datetime) -> None:
    """One line in the run folder. A log that cannot be written is no reason to trouble the agent."""
    line = {
        "time": now.isoformat(timespec="milliseconds"),
        "event": f"hook_{outcome.handled}",
        "agent": agent,
        "hook": outcome.event,
        "reason": outcome.reason,
    }
    with suppress(AfterturnError):
        path = Ground.from_env(environ).run / _LOG_NAME
        _rotate(path)
        append_durably(path, json.dumps(line).encode("ascii") + b"\n")


def _rotate(path: Path) -> None:
    with storage_errors(path), suppress(FileNotFoundError):
        if path.stat().st_size > MAX_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
