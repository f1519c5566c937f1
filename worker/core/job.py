"""A job as a value: what was asked for, where it stands, how it ended. And a request's form as plain JSON.

    JobRequest --submit--> Job (queued) --begin--> (running) --finish--> (done) with an Ending

Ids and facts about files only: no line of a transcript is ever in here. Who keeps the records is `adapters.job_desk`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from worker.core.messages import digest_of
from worker.errors import UsageError

if TYPE_CHECKING:
    from worker.core.checkpoint import Outcome  # a hook would load everything that a checkpoint is made of

MAX_INSTRUCTION_CHARS = 800
MAX_REQUEST_CHARS = 32_768
MAX_ERROR_CHARS = 500

_SUBMISSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{7,63}")


class Kind(StrEnum):
    CONSOLIDATE = "consolidate"
    RESUMMARIZE = "resummarize"
    NIGHTLY = "nightly"
    HYGIENE = "hygiene"


class Trigger(StrEnum):
    """What made somebody submit. Only a person's own request is `manual`, and only that passes the gates."""

    TURN = "turn"
    SESSION_END = "session_end"
    COMPACTION = "compaction"
    NIGHTLY = "nightly"
    MANUAL = "manual"


class Priority(StrEnum):
    """The queue; in the order of right of way."""

    INTERACTIVE = "interactive"
    TURN = "turn"
    NIGHTLY = "nightly"

    @property
    def rank(self) -> int:
        """0 goes first."""
        return list(Priority).index(self)


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Order(StrEnum):
    """What a worker is told each time it reports: go on, stop (somebody cancelled), or lost (it is not its job now)."""

    GO_ON = "go_on"
    STOP = "stop"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """One wish, made once. The same submission handed in twice is one wish.

    submission: made by whoever asks, 8 to 64 of A-Z a-z 0-9 _ . -; it becomes the job's id when nothing is coalesced.
    workspace, transcript: absolute paths; the transcript is "" for jobs about a workspace.
    session: the session key, where the asker knows it. agent, session_id: what a hook says of it.
    seal_all: hold no tail back, the session ended. start, end: the range to do again, message indexes.
    date: the local date of a nightly job (2026-01-23).
    instructions: the person's own words for this run, redacted, at most 800 characters.
    transcript_bytes, transcript_modified_at, last_message_sha256: what the transcript must have reached before it is
    read (a hook can be faster than the agent's own writing). background: tasks that still ran, by their ids.
    """

    submission: str
    kind: Kind
    workspace: str
    submitted_at: datetime
    transcript: str = ""
    session: str | None = None
    agent: str | None = None
    session_id: str | None = None
    trigger: Trigger = Trigger.TURN
    priority: Priority = Priority.TURN
    seal_all: bool = False
    start: int | None = None
    end: int | None = None
    date: str | None = None
    instructions: str = ""
    transcript_bytes: int | None = None
    transcript_modified_at: datetime | None = None
    last_message_sha256: str | None = None
    background: tuple[str, ...] = ()

    @property
    def is_manual(self) -> bool:
        return self.trigger is Trigger.MANUAL

    @property
    def subject(self) -> str:
        """Requests with one subject are one job while it waits: the same kind of work on the same thing."""
        pieces = (self.kind, self.workspace, self.transcript, f"{self.start}:{self.end}", self.date or "")
        return digest_of(*pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a job ended: always with a reason code and, where a transcript was read, with counts and the range.

    start, end: message indexes [start, end). status: of the checkpoint. error: one line for a person, no content.
    """

    outcome: "Outcome"
    reason: str
    checkpoint: int | None = None
    status: str | None = None
    start: int | None = None
    end: int | None = None
    messages: int = 0
    parts: int = 0
    llm_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    cost_usd: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The record of one job.

    request: the newest facts of all requests that became this job, with the strongest wish among them.
    priority: the highest asked for. is_manual: a person asked, now or in a coalesced request.
    due_at: not before; None while it waits behind the running job of its subject. coalesced: requests in it.
    attempts: how often a worker began it. stage: queued, reading, planning, asking (part_done of parts), merging,
    validating, writing. tokens: spent so far in this attempt. owner, heartbeat_at: of the worker that has it.
    error: of the last attempt that failed. joined: the job that does this one's work now.
    """

    id: str
    request: JobRequest
    state: State
    stage: str
    priority: Priority
    is_manual: bool
    submitted_at: datetime
    due_at: datetime | None
    coalesced: int = 1
    attempts: int = 0
    part_done: int = 0
    parts: int = 0
    tokens: int = 0
    owner: str | None = None
    started_at: datetime | None = None
    heartbeat_at: datetime | None = None
    finished_at: datetime | None = None
    cancel_reason: str | None = None
    error: str | None = None
    joined: str | None = None
    ending: Ending | None = None


def request_to_json(request: JobRequest) -> str:
    """One line of ASCII; `request_from_json` gives an equal request back."""
    given = {field.name: _plain(getattr(request, field.name)) for field in fields(request)}
    return json.dumps({name: value for name, value in given.items() if value is not None}, ensure_ascii=True)


def request_from_json(text: str) -> JobRequest:
    """The request that a program wrote, whoever it was.

    Raises: UsageError naming the field, for an unknown one, a missing one, or a value out of form.
    """
    if len(text) > MAX_REQUEST_CHARS:
        raise UsageError(f"job request: {len(text)} characters, at most {MAX_REQUEST_CHARS} are taken")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("job request: not JSON") from None
    if not isinstance(given, dict):
        raise UsageError("job request: not a JSON object")
    return request_from_fields(given)


def request_from_fields(given: Mapping[str, Any]) -> JobRequest:
    """Raises: UsageError naming the field."""
    unknown = sorted(set(given) - _READERS.keys())
    if unknown:
        raise UsageError(f"job request: no such field: {', '.join(map(repr, unknown[:3]))}")
    missing = [name for name in ("submission", "kind", "workspace", "submitted_at") if given.get(name) is None]
    if missing:
        raise UsageError(f"job request: {missing[0]} is missing")
    values: dict[str, Any] = {name: _read(name, value) for name, value in given.items() if value is not None}
    return _checked(JobRequest(**values))


def _checked(request: JobRequest) -> JobRequest:
    if not _SUBMISSION_ID.fullmatch(request.submission):
        raise UsageError("job request: submission must be 8 to 64 of A-Z a-z 0-9 _ . -")
    if request.kind in (Kind.CONSOLIDATE, Kind.RESUMMARIZE) and not request.transcript:
        raise UsageError(f"job request: transcript is missing, {request.kind} needs one")
    if len(request.instructions) > MAX_INSTRUCTION_CHARS:
        raise UsageError(f"job request: instructions of more than {MAX_INSTRUCTION_CHARS} characters")
    return request


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return list(value) if isinstance(value, tuple) else value


def _read(name: str, value: object) -> object:
    try:
        return _READERS[name](value)
    except (ValueError, TypeError):
        raise UsageError(f"job request: {name} is out of form") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _moment(value: object) -> datetime:
    """A time without a zone could mean any hour: it is refused."""
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return tuple(_text(name) for name in value)


_READERS: dict[str, Callable[[Any], object]] = {
    "submission": _text,
    "kind": Kind,
    "workspace": _text,
    "submitted_at": _moment,
    "transcript": _text,
    "session": _text,
    "agent": _text,
    "session_id": _text,
    "trigger": Trigger,
    "priority": Priority,
    "seal_all": _flag,
    "start": _number,
    "end": _number,
    "date": _text,
    "instructions": _text,
    "transcript_bytes": _number,
    "transcript_modified_at": _moment,
    "last_message_sha256": _text,
    "background": _names,
}
