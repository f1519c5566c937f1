"""For Python programs: queue a session, ask how it goes, wait for it.

    from worker.client import submit, wait

    submission = submit("~/.claude/projects/-home-me-app/1f0c….jsonl")
    job = wait(submission.job, timeout=120)

Importing this loads no model code and no Celery; it loads the Redis client, so that the first `submit` is as quick as
the others. Settings come from `AFTERTURN_WORKSPACE`, `AFTERTURN_HOME` and `AFTERTURN_REDIS_URL` of the environment that
is passed, by default the process's own.
"""

import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from worker.adapters.job_desk import JobDesk
from worker.core.job import MAX_INSTRUCTION_CHARS, Job, JobRequest, Kind, Priority, State, Trigger
from worker.core.secrets import redact
from worker.core.session_key import session_key
from worker.delivery import (
    BUDGET_SECONDS,
    Submission,
    connected,
    hand_in,
    redis_url,
    size_and_time,
    spooled_requests,
)
from worker.errors import BrokerUnavailable, UsageError
from worker.locating import Ground
from worker.transcripts import open_transcript

__all__ = ["Job", "Submission", "status", "submit", "wait"]

STAGE_SPOOLED = "spooled"
READ_TIMEOUT_SECONDS = 2.0
FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 0.5

_PRIORITY_OF = {Trigger.MANUAL: Priority.INTERACTIVE, Trigger.NIGHTLY: Priority.NIGHTLY}

_Choice = TypeVar("_Choice", bound=StrEnum)


def submit(
    transcript: str | Path,
    *,
    workspace: str | Path | None = None,
    kind: str = "consolidate",
    trigger: str = "turn",
    priority: str | None = None,
    instructions: str = "",
    seal_all: bool = False,
    message_range: tuple[int, int] | None = None,
    environ: Mapping[str, str] = os.environ,
    budget_seconds: float = BUDGET_SECONDS,
) -> Submission:
    """The queued job, after at most `budget_seconds`: in Redis, or on disk when Redis does not answer in time.

    kind: consolidate or resummarize, the latter with a `message_range` [start, end) or for the whole session.
    trigger: turn, session_end, compaction, nightly or manual; only `manual` passes the gates. priority: interactive,
    turn or nightly; None follows from the trigger. instructions: what to keep in full, at most 800 characters.

    Raises: TranscriptError when the file is no transcript; UsageError for a value that is none of the above;
        StorageUnavailable when neither Redis nor the disk takes it.
    """
    started = time.monotonic()
    ground = Ground.from_env(environ, _as_path(workspace))
    request = request_for(
        transcript,
        ground,
        kind=kind,
        trigger=trigger,
        priority=priority,
        instructions=instructions,
        seal_all=seal_all,
        message_range=message_range,
    )
    left = budget_seconds - (time.monotonic() - started)
    return hand_in(request, ground.run, redis_url(environ), budget_seconds=left)


def request_for(
    transcript: str | Path,
    ground: Ground,
    *,
    submission: str | None = None,
    kind: str = "consolidate",
    trigger: str = "turn",
    priority: str | None = None,
    instructions: str = "",
    seal_all: bool = False,
    message_range: Sequence[int] | None = None,
) -> JobRequest:
    """The request that `submit` hands in. submission: an id that makes asking twice one wish, None for a new wish.

    Raises: as `submit`.
    """
    path = Path(os.path.abspath(Path(transcript).expanduser()))  # noqa: PTH100 - links stay: the path names the job
    info = open_transcript(path).info
    size, modified_at = size_and_time(path)
    reason = _choice(Trigger, "trigger", trigger)
    start, end = message_range or (None, None)
    return JobRequest(
        submission=submission or token_hex(8),
        kind=_choice(Kind, "kind", kind),
        workspace=str(ground.place_of_transcript(path, info.cwd).root),
        submitted_at=datetime.now(UTC),
        transcript=str(path),
        session=session_key(info.agent, info.session_id),
        agent=info.agent,
        session_id=info.session_id,
        trigger=reason,
        priority=_choice(Priority, "priority", priority or _PRIORITY_OF.get(reason, Priority.TURN)),
        seal_all=seal_all,
        start=start,
        end=end,
        instructions=_kept(instructions),
        transcript_bytes=size,
        transcript_modified_at=modified_at,
    )


def status(
    job_or_session: str, *, workspace: str | Path | None = None, environ: Mapping[str, str] = os.environ
) -> Job | None:
    """The job of that id, or the newest of a session by its key or its transcript's path; None when none is known.

    A job that waits on disk has the stage `spooled`.

    Raises: BrokerUnavailable when Redis does not answer and nothing on disk is meant.
    """
    ground = Ground.from_env(environ, _as_path(workspace))
    on_disk = [_spooled(request) for request in spooled_requests(ground.run) if _is_meant(request, job_or_session)]
    try:
        with connected(ground.run, redis_url(environ), read_timeout_seconds=READ_TIMEOUT_SECONDS) as desk:
            in_redis = _in_redis(desk, ground, job_or_session)
    except BrokerUnavailable:
        if not on_disk:
            raise
        in_redis = []
    return max([*in_redis, *on_disk], key=lambda job: job.submitted_at, default=None)


def wait(
    job: str,
    *,
    timeout: float = 60.0,
    workspace: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Job | None:
    """The job once it is done (`ending` says how), or as it is after `timeout` seconds; None when none is known.

    An outage of Redis is waited through like a long job, and a job that became part of another is waited for there.

    Raises: BrokerUnavailable when Redis does not answer at the end.
    """
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE_SECONDS
    while True:
        is_last = time.monotonic() >= deadline
        try:
            found = status(job, workspace=workspace, environ=environ)
        except BrokerUnavailable:
            if is_last:
                raise
        else:
            if found is not None and found.joined is not None:
                job = found.joined
            elif is_last or (found is not None and found.state is State.DONE):
                return found
        time.sleep(max(0.0, min(pause, deadline - time.monotonic())))
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)


def _in_redis(desk: JobDesk, ground: Ground, job_or_session: str) -> list[Job]:
    job = desk.status(job_or_session)
    if job is not None:
        return [job]
    session = os.path.abspath(job_or_session) if "/" in job_or_session else job_or_session  # noqa: PTH100
    places = ground.places()
    return [job for place in places for job in desk.jobs_of(str(place.root), session, limit=1)]


def _is_meant(request: JobRequest, job_or_session: str) -> bool:
    names = (request.submission, request.session, request.transcript)
    return job_or_session in names or os.path.abspath(job_or_session) == request.transcript  # noqa: PTH100


def _spooled(request: JobRequest) -> Job:
    return Job(
        id=request.submission,
        request=request,
        state=State.QUEUED,
        stage=STAGE_SPOOLED,
        priority=request.priority,
        is_manual=request.is_manual,
        submitted_at=request.submitted_at,
        due_at=None,
    )


def _kept(instructions: str) -> str:
    """Without its secrets: it is written to disk and to Redis. Raises: UsageError when it is too long."""
    if len(instructions) > MAX_INSTRUCTION_CHARS:
        raise UsageError(f"instructions: {len(instructions)} characters, at most {MAX_INSTRUCTION_CHARS} are taken")
    return redact(instructions)[:MAX_INSTRUCTION_CHARS] if instructions else ""


def _choice(choices: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return choices(value)
    except ValueError:
        raise UsageError(f"{name}: {value!r} is none of {', '.join(choices)}") from None


def _as_path(workspace: str | Path | None) -> Path | None:
    return Path(workspace).expanduser() if workspace else None
