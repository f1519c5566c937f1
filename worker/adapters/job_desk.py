"""The jobs, as records in Redis: handed in, coalesced, sent out, worked on, ended. What each operation does to the
records is in `job_desk.lua`; every one happens whole or not at all, whoever else is at the desk.

    submit --(debounce)--> due --claim_due--> sent to a queue --begin--> running --finish--> done
      ^ requests for a subject that waits join it; one that runs gets exactly one follow-up
    retry, rescue: running --> due again

Nothing here sends, runs or decides whether a run is wanted. Records hold ids, numbers and reason codes, never content.
A record stays until its job ended, then `KEPT` (time and number bound it).
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from worker.adapters.redis_link import RedisLink, Script, milliseconds, moment_of
from worker.core.checkpoint import Outcome
from worker.core.job import (
    MAX_ERROR_CHARS,
    Ending,
    Job,
    JobRequest,
    Kind,
    Order,
    Priority,
    State,
    Trigger,
    request_from_json,
    request_to_json,
)
from worker.core.messages import digest_of
from worker.core.secrets import redact
from worker.errors import UsageError

LONGEST_DEBOUNCE_SECONDS = 120.0
"""Behind the first request: an agent whose turns never pause is consolidated all the same."""

SILENT_SECONDS = 30.0
"""A worker that was not heard for so long is dead or frozen; it reports several times in this span."""

UNSENT_SECONDS = 900.0
"""A job that was sent and not begun for so long is sent again: the queue lost it, or is very long, and then the second
message finds the job begun and does nothing."""

MOST_ATTEMPTS = 5
"""A job whose workers died so often kills them: it fails instead of being tried for ever."""

SEEN_DAYS = 14
KEPT_DAYS = 7
KEPT_JOBS = 5_000

SUCCESSES = frozenset({Outcome.COMMITTED, Outcome.NOTHING_TO_DO})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job to be sent to the queue of its priority; nobody else was told to send it."""

    job: str
    kind: Kind
    priority: Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """What became of a stuck job: requeued, failed (too many attempts), cancelled, forgotten (its record is gone)."""

    job: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskHealth:
    """Whether work gets done, not whether processes live.

    waiting: has not begun, those in back-off and behind a running job included. sent: of these, on their way in a
    queue. oldest_waiting_seconds: since it was first asked for. overdue_seconds: how long the most overdue job could
    have begun and has not.
    """

    waiting: int
    sent: int
    running: int
    oldest_waiting_seconds: float | None
    overdue_seconds: float | None
    last_success_at: datetime | None
    last_finished_at: datetime | None


def new_submission() -> str:
    """An id for one wish, made once by whoever wishes and kept over all attempts to hand it in."""
    return secrets.token_hex(8)


class JobDesk:
    """All jobs of one Redis. Safe to share between threads and processes.

    Every method raises BrokerUnavailable when Redis does not do it; then, but for a reply that got lost on its way
    back, nothing was done, and doing it again is harmless.
    """

    def __init__(self, link: RedisLink, *, kept_jobs: int = KEPT_JOBS, kept_days: float = KEPT_DAYS) -> None:
        self._link = link
        self._script = Script.beside(__file__)
        self._kept = (max(kept_jobs, 1), round(kept_days * 86_400_000))

    def submit(self, request: JobRequest, now: datetime, debounce_seconds: float) -> str:
        """The id of the job that the request is or became part of; the same submission always gets the same one.

        debounce_seconds: how long to wait for more of the kind; 0 makes the job due now, also one that waits already.
        """
        held = replace(request, instructions="")
        return str(
            self._do(
                "submit",
                request.submission,
                request.subject,
                milliseconds(now),
                round(debounce_seconds * 1000),
                round(LONGEST_DEBOUNCE_SECONDS * 1000),
                request.priority.rank,
                _flag(request.is_manual),
                _flag(request.seal_all),
                milliseconds(request.submitted_at),
                json.dumps(redact(request.instructions)) if request.instructions else "",
                request_to_json(held),
                request.kind,
                SEEN_DAYS * 86_400_000,
                *_references(request),
            )
        )

    def claim_due(self, now: datetime, limit: int = 100) -> list[Claim]:
        """Jobs whose time has come, the highest priority first. Whoever gets one must send it; see `rescue`."""
        flat = self._do("claim_due", milliseconds(now), limit)
        return [
            Claim(job=job, kind=Kind(kind), priority=_priority(rank))
            for job, kind, rank in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        ]

    def begin(self, job_id: str, owner: str, now: datetime, *, silent_seconds: float = SILENT_SECONDS) -> Job | None:
        """The job, when it is this owner's to do now; None when it ended, somebody works on it, or it waits again.

        owner: names one attempt in one process. A queue may deliver twice; only one delivery gets the job.
        """
        answer = self._do("begin", job_id, owner, milliseconds(now), round(silent_seconds * 1000))
        return self.status(job_id) if answer == "begun" else None

    def beat(self, job_id: str, owner: str, now: datetime) -> Order:
        """Says that the owner lives; at least every third of `SILENT_SECONDS`."""
        return Order(self._do("report", job_id, owner, milliseconds(now)))

    def progress(
        self, job_id: str, owner: str, now: datetime, stage: str, *, done: int = 0, total: int = 0, tokens: int = 0
    ) -> Order:
        """Says where the owner is: part `done` of `total`, `tokens` spent so far in this attempt. Also a beat."""
        fields = ("stage", stage, "part_done", done, "parts", total, "tokens", tokens)
        return Order(self._do("report", job_id, owner, milliseconds(now), *fields))

    def name_session(self, job_id: str, workspace: str, session_key: str) -> None:
        """From now on the job is found by its session's key too, which only reading the transcript tells."""
        self._do("name", job_id, SEEN_DAYS * 86_400_000, _reference(workspace, session_key))

    def finish(self, job_id: str, owner: str, now: datetime, ending: Ending) -> bool:
        """True when the job ended with that; False when it is not the owner's any more, and nothing changed.

        A follow-up becomes due at once. Raises: UsageError for an ending without a reason.
        """
        if not ending.reason:
            raise UsageError(f"job {job_id}: an ending needs a reason code")
        outcome, is_success = ending.outcome, ending.outcome in SUCCESSES
        error = _one_line(ending.error)
        text = _ending_json(replace(ending, error=error))
        done = self._do(
            "finish", job_id, owner, milliseconds(now), outcome, _flag(is_success), text, error or "", *self._kept
        )
        return bool(done)

    def retry(self, job_id: str, owner: str, now: datetime, due_at: datetime, error: str) -> bool:
        """Back to the queue, not before `due_at`, unless it was cancelled; False when it is not the owner's any more.

        A follow-up that waited becomes part of it. A request without delay passes the back-off.
        """
        times = milliseconds(now), milliseconds(due_at)
        endings = _CANCELLED, _JOINED
        return bool(self._do("retry", job_id, owner, *times, _one_line(error) or "", *endings, *self._kept))

    def cancel(self, job_id: str, now: datetime, reason: str = "asked") -> str:
        """ "cancelled"; "stopping" when its worker has to be told, at its next report; "ended" before; or "unknown"."""
        ending = _ending_json(Ending(outcome=Outcome.CANCELLED, reason=reason))
        return str(self._do("cancel", job_id, milliseconds(now), reason, ending, *self._kept))

    def cancel_session(self, workspace: str, session: str, now: datetime, reason: str = "asked") -> dict[str, str]:
        """What `cancel` says for each job of the session that has not ended; session: its key or transcript."""
        jobs = [job for job in self.jobs_of(workspace, session) if job.state is not State.DONE]
        return {job.id: self.cancel(job.id, now, reason) for job in jobs}

    def status(self, job_id: str) -> Job | None:
        """The record of a job, found by its id or by any submission that became part of it.

        For one that was joined by another job it is that one's, which does the work now.
        """
        found = next(iter(self._records([job_id])), None)
        if found is None or found.joined is None:
            return found
        return next(iter(self._records([found.joined])), found)

    def jobs_of(self, workspace: str, session: str, limit: int = 20) -> list[Job]:
        """The jobs of a session, given by key or transcript path, newest first."""
        ids = self._link.call("LRANGE", self._link.key("of", _reference(workspace, session)), 0, limit - 1)
        return self._records(ids)

    def waiting(self, limit: int = 100) -> list[Job]:
        """What has not begun, the longest waiting first."""
        return self._records(self._link.call("ZRANGE", self._link.key("queued"), 0, limit - 1))

    def running(self) -> list[Job]:
        return self._records(self._link.call("ZRANGE", self._link.key("running"), 0, -1))

    def ended(self, limit: int = 100) -> list[Job]:
        """What ended, the newest first."""
        return self._records(self._link.call("ZREVRANGE", self._link.key("done"), 0, limit - 1))

    def stuck(self, *, silent_seconds: float = SILENT_SECONDS, unsent_seconds: float = UNSENT_SECONDS) -> list[Job]:
        """Jobs whose worker was not heard, and jobs that were sent and that nobody began, by the server's clock."""
        return self._records(self._do("stuck", round(silent_seconds * 1000), round(unsent_seconds * 1000)))

    def rescue(
        self,
        now: datetime,
        *,
        silent_seconds: float = SILENT_SECONDS,
        unsent_seconds: float = UNSENT_SECONDS,
        most_attempts: int = MOST_ATTEMPTS,
    ) -> list[Rescue]:
        """Makes stuck jobs due again, or ends them when they were cancelled or have cost `most_attempts` workers."""
        spans = round(silent_seconds * 1000), round(unsent_seconds * 1000)
        flat = self._do(
            "rescue", milliseconds(now), *spans, most_attempts, _WORKER_LOST, _CANCELLED, _JOINED, *self._kept
        )
        return [Rescue(job=job, what=what) for job, what in zip(flat[::2], flat[1::2], strict=True)]

    def health(self, now: datetime) -> DeskHealth:
        waiting, sent, running, *times = self._do("health", milliseconds(now))
        asked_at, due_at, success_at, finished_at = (moment_of(time) if time else None for time in times)
        return DeskHealth(
            waiting=waiting,
            sent=sent,
            running=running,
            oldest_waiting_seconds=_age(asked_at, now),
            overdue_seconds=_age(due_at, now),
            last_success_at=success_at,
            last_finished_at=finished_at,
        )

    def _do(self, operation: str, *arguments: str | int) -> Any:
        return self._link.run(self._script, [self._link.prefix], operation, *arguments)

    def _records(self, ids: Sequence[str]) -> list[Job]:
        found = (_job(job_id, _pairs(flat)) for job_id, flat in self._do("records", *ids))
        return [job for job in found if job]


def _job(job_id: str, row: Mapping[str, str]) -> Job | None:
    """The record as a value; None for one that is not there, or was trimmed in the middle of something."""
    if "request" not in row or "state" not in row:
        return None
    state, priority = State(row["state"]), _priority(row["rank"])
    return Job(
        id=job_id,
        request=_request(row, priority),
        state=state,
        stage=row["stage"] if state is not State.DONE else "done",
        priority=priority,
        is_manual="manual" in row,
        submitted_at=moment_of(row["asked_at"]),
        due_at=None if "behind" in row else _when(row, "due_at"),
        coalesced=int(row.get("coalesced", 1)),
        attempts=int(row.get("attempts", 0)),
        part_done=int(row.get("part_done", 0)),
        parts=int(row.get("parts", 0)),
        tokens=int(row.get("tokens", 0)),
        owner=row.get("owner"),
        started_at=_when(row, "started_at"),
        heartbeat_at=_when(row, "heartbeat_at"),
        finished_at=_when(row, "finished_at"),
        cancel_reason=row.get("cancel_reason"),
        error=row.get("error") or None,
        joined=row.get("joined"),
        ending=_ending(row["ending"]) if "ending" in row else None,
    )


def _request(row: Mapping[str, str], priority: Priority) -> JobRequest:
    """The newest facts with the strongest of all wishes: one manual request makes the run manual."""
    newest = request_from_json(row["request"])
    return replace(
        newest,
        priority=priority,
        trigger=Trigger.MANUAL if "manual" in row else newest.trigger,
        seal_all="seal_all" in row,
        instructions=json.loads(row["instructions"]) if "instructions" in row else "",
    )


def _ending_json(ending: Ending) -> str:
    return json.dumps(asdict(ending))


def _ending(text: str) -> Ending:
    given = json.loads(text)
    return Ending(**{**given, "outcome": Outcome(given["outcome"])})


_JOINED = _ending_json(Ending(outcome=Outcome.SUPERSEDED, reason="joined"))
_CANCELLED = _ending_json(Ending(outcome=Outcome.CANCELLED, reason="asked"))
_WORKER_LOST = _ending_json(Ending(outcome=Outcome.FAILED, reason="worker_lost", error="its workers died"))


def _references(request: JobRequest) -> list[str]:
    """What a job is found by: its transcript, and its session's key where the asker knew it."""
    names = [name for name in (request.transcript, request.session) if name]
    return [_reference(request.workspace, name) for name in names]


def _reference(workspace: str, session: str) -> str:
    return digest_of(workspace, session)


def _one_line(error: str | None) -> str | None:
    return " ".join(error.split())[:MAX_ERROR_CHARS].encode("utf-8", "replace").decode() if error else None


def _priority(rank: str | int) -> Priority:
    return list(Priority)[int(rank)]


def _flag(value: bool) -> str:
    return "1" if value else ""


def _pairs(flat: Sequence[str]) -> dict[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _when(row: Mapping[str, str], field: str) -> datetime | None:
    return moment_of(row[field]) if field in row else None


def _age(moment: datetime | None, now: datetime) -> float | None:
    """Seconds, never less than none: clocks of two machines differ."""
    return max(now - moment, timedelta()).total_seconds() if moment else None
