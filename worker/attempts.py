"""One attempt at a job: from the message that names it to the record that says how it ended.

    begin → lease → gates → wait for the transcript → work → (ended | again later)

The desk decides whether there is something to do at all, so that a message delivered twice, late or after a rescue
finds the job begun or ended. What is committed is decided by compare-and-swap, and asked for once more right before:
who lost the lease, was told to stop or took too long commits nothing.
"""

import secrets
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from os import getpid
from pathlib import Path
from typing import Any, TypeVar

from worker.adapters.events import Event
from worker.adapters.sessions import FileCheckpoints
from worker.consolidate import find_chain
from worker.core.checkpoint import Checkpoint, Outcome, Status
from worker.core.job import Ending, Job, Kind, Priority
from worker.errors import BrokerUnavailable, Permanent, RateLimited, SessionBusy, Transient
from worker.locating import Place
from worker.log import log_event
from worker.ports import Passage
from worker.providers import Meter
from worker.service import Service
from worker.spending import lost_is_bearable
from worker.transcripts import open_transcript
from worker.watching import Again, Stopped, Watch, stopping
from worker.workbench import Workbench, content_of

BACKOFF_SECONDS = (10.0, 60.0, 300.0, 900.0)
BUSY_SECONDS = 5.0
LAST_WORD_SECONDS = 60.0
"""How long an attempt insists on telling how it ended. Who is not heard is taken for dead, and the job is redone."""

FOLLOW_UP_SECONDS = 60.0

Said = TypeVar("Said")


def attempt(service: Service, job_id: str) -> Ending | None:
    """How the job ended; None when it did not end here: it was not to be begun, or comes again, or was lost.

    Raises: BrokerUnavailable when Redis stays away; then the job is found and redone by whoever looks for such.
    """
    owner = f"{socket.gethostname()}:{getpid()}:{secrets.token_hex(4)}"
    silent = service.silent_seconds
    job = _insisting(lambda: service.desk.begin(job_id, owner, service.clock.now(), silent_seconds=silent))
    if job is None:
        log_event("message_ignored", job=job_id)
        return None
    started = time.monotonic()
    ending = _Attempt(service, job, owner).work()
    if ending is not None:
        service.told(job, ending, time.monotonic() - started)
    return ending


class _Attempt:
    def __init__(self, service: Service, job: Job, owner: str) -> None:
        self._service = service
        self._job = job
        self._owner = owner
        self._meter = Meter()
        self._watch = Watch(service, job, owner, self._meter)
        self._place = Place(root=Path(job.request.workspace), run=service.run)
        self._session = job.request.session or ""
        self._bench: Workbench | None = None
        self._has_asked_breaker = False

    @property
    def _is_last(self) -> bool:
        return self._job.attempts >= self._service.settings.job_attempts

    def work(self) -> Ending | None:
        verdict = self._verdict()
        if isinstance(verdict, Ending):
            return self._end(verdict)
        if verdict is not None:
            self._give_back(verdict)
        else:
            log_event("job_lost", level="warning", job=self._job.id)
        return None

    def _verdict(self) -> Ending | Again | None:
        """Every way in which an attempt can end."""
        try:
            return self._worked()
        except Stopped as exc:
            return self._stopped(exc.verdict)
        except SessionBusy as exc:
            return Again(seconds=BUSY_SECONDS * self._job.attempts, error=f"{exc.reason}: {exc}")
        except Transient as exc:
            return self._again_or_failed(exc)
        except Permanent as exc:
            return self._failed(exc.reason, str(exc))
        except Exception as exc:  # noqa: BLE001 - the job boundary: a bug ends one job, not the worker
            log_event("job_crashed", level="error", job=self._job.id, error=type(exc).__name__, where=_where(exc))
            return self._failed("bug", f"{type(exc).__name__} at {_where(exc)}")

    def _stopped(self, verdict: Ending | Again | None) -> Ending | Again | None:
        if isinstance(verdict, Ending):
            return self._so_far(verdict)
        if verdict is not None and verdict.counts and self._is_last:
            return self._failed("out_of_time", verdict.error)
        return verdict

    def _worked(self) -> Ending | Again | None:
        missing = self._name_session()
        if missing is not None:
            return missing
        with self._holding(self._session or self._job.request.kind):
            refusal = self._refusal()
            if refusal is not None:
                return refusal
            self._bench = self._made_bench()
            return self._bench.work()

    def _made_bench(self) -> Workbench:
        return Workbench(
            service=self._service,
            job=self._job,
            place=self._place,
            session=self._session,
            meter=self._meter,
            watch=self._watch,
            holding=self._holding,
            tell_commit=self._tell_commit,
            is_last_attempt=self._is_last,
        )

    @contextmanager
    def _holding(self, name: str) -> Iterator[None]:
        """Nobody else works on it, the session of that key or the workspace's housework, for the block."""
        subject = f"{self._place.root}\n{name}"
        hold = self._service.leases.hold(subject, self._owner, on_beat=self._watch.beat)
        with hold as held, self._watch.holding(held):
            yield

    def _name_session(self) -> Ending | None:
        """The session as its transcript names it, which is what leases and breakers go by."""
        request = self._job.request
        if request.kind not in (Kind.CONSOLIDATE, Kind.RESUMMARIZE):
            return None
        path = Path(request.transcript)
        if not path.is_file():
            return self._failed("source_missing", f"{path}: the transcript is gone; what is remembered of it stays")
        session, _ = find_chain(open_transcript(path), FileCheckpoints(self._place.root))
        self._session = session.key
        if session.key != request.session:
            self._service.desk.name_session(self._job.id, request.workspace, session.key)
        return None

    # Gates.

    def _refusal(self) -> Ending | None:
        """Why an automatic run is not made now. A person's own request passes."""
        if not self._session:
            return None
        now, manual = self._service.clock.now(), self._job.is_manual
        gates: tuple[Callable[[], Passage], ...] = (
            lambda: self._service.frequency.ask(self._subject, now, is_manual=manual),
            lambda: self._service.standstill.ask(self._subject, content_of(self._job.request), is_manual=manual),
            self._ask_breaker,
        )
        passages = (ask() for ask in gates)  # the breaker last: it may make this run its probe
        closed = next((passage for passage in passages if not passage.allowed), None)
        return _refused(closed) if closed else None

    def _ask_breaker(self) -> Passage:
        passage = self._service.breakers.ask(self._breaker, self._service.clock.now(), is_manual=self._job.is_manual)
        self._has_asked_breaker = passage.allowed
        return passage

    @property
    def _subject(self) -> str:
        return f"{self._place.root}\n{self._session}"

    @property
    def _breaker(self) -> str:
        return f"session:{self._session}@{self._place.root}"

    # Endings.

    def _again_or_failed(self, error: Transient) -> Ending | Again:
        """The last attempt does without the model, so what fails it is something else, and for good."""
        if self._is_last:
            return self._failed(error.reason, str(error))
        seconds = BACKOFF_SECONDS[min(self._job.attempts, len(BACKOFF_SECONDS)) - 1]
        if isinstance(error, RateLimited) and error.retry_after_seconds is not None:
            seconds = max(seconds, error.retry_after_seconds)
        return Again(seconds=seconds, error=f"{error.reason}: {error}")

    def _failed(self, reason: str, error: str) -> Ending:
        return self._so_far(Ending(outcome=Outcome.FAILED, reason=reason, error=error))

    def _so_far(self, ending: Ending) -> Ending:
        """With what was committed and spent before it ended otherwise."""
        ending = replace(
            ending,
            llm_calls=self._meter.calls,
            tokens_in=self._meter.tokens_in,
            tokens_out=self._meter.tokens_out,
        )
        committed = self._bench.committed if self._bench else []
        if not committed or not self._session:
            return ending
        first, last = committed[0], committed[-1]
        return replace(
            ending,
            checkpoint=last.number,
            status=last.status.value,
            start=first.range.start,
            end=last.range.end,
            messages=last.covered,
        )

    def _give_back(self, verdict: Again) -> None:
        due_at = self._service.clock.now() + timedelta(seconds=verdict.seconds)
        log_event("job_postponed", level="warning", job=self._job.id, seconds=verdict.seconds, why=verdict.error)
        self._leave_breaker()
        retry = self._service.desk.retry
        _insisting(lambda: retry(self._job.id, self._owner, self._service.clock.now(), due_at, verdict.error))

    def _end(self, ending: Ending) -> Ending | None:
        """The ending, once the desk has taken it from us; None when the job is somebody else's by now."""
        finish = self._service.desk.finish
        if not _insisting(lambda: finish(self._job.id, self._owner, self._service.clock.now(), ending)):
            log_event("ending_not_taken", level="warning", job=self._job.id, outcome=ending.outcome)
            return None
        log_event("job_ended", job=self._job.id, outcome=ending.outcome, reason=ending.reason)
        with lost_is_bearable("notes", self._job):
            self._tell_ending(ending)
            self._note_ending(ending)
            if self._bench is not None and not self._bench.is_complete:
                self._ask_again()
        return ending

    def _note_ending(self, ending: Ending) -> None:
        """What the breakers learn from it. A file that is gone says nothing about the session's next run."""
        now = self._service.clock.now()
        if not self._session:
            return
        if ending.outcome is Outcome.COMMITTED:
            self._service.breakers.succeeded(self._breaker)
            self._service.frequency.succeeded(self._subject, now, self._job.id)
        elif ending.outcome is Outcome.FAILED and ending.reason != "source_missing":
            self._service.breakers.failed(self._breaker, now, ending.reason)
        else:
            self._leave_breaker()

    def _leave_breaker(self) -> None:
        if self._has_asked_breaker and self._session:
            with lost_is_bearable("breaker", self._job):
                self._service.breakers.withdrew(self._breaker)

    def _ask_again(self) -> None:
        """The agent had not written all of it when we read; whatever comes is for one more run."""
        request = self._job.request
        follow_up = replace(
            request,
            submission=f"{request.submission[:48]}-rest",
            priority=Priority.TURN,
            last_message_sha256=None,
            transcript_bytes=None,
            submitted_at=self._service.clock.now(),
        )
        self._service.desk.submit(follow_up, self._service.clock.now(), FOLLOW_UP_SECONDS)

    # Events.

    def _tell_commit(self, checkpoint: Checkpoint) -> None:
        name = "degraded" if checkpoint.status is Status.DEGRADED else "committed"
        self._tell(
            name,
            session=checkpoint.session.key,
            checkpoint=checkpoint.number,
            status=checkpoint.status.value,
            tokens_before=checkpoint.tokens_before,
            tokens_after=checkpoint.tokens_after,
        )

    def _tell_ending(self, ending: Ending) -> None:
        if ending.outcome is not Outcome.COMMITTED:
            self._tell(ending.outcome.value, reason=ending.reason, checkpoint=ending.checkpoint)

    def _tell(self, name: str, *, session: str | None = None, **facts: Any) -> None:
        """An event that is lost is bearable: the truth is in the checkpoint and in the job's record."""
        event = Event(
            name=name,
            at=self._service.clock.now(),
            workspace=str(self._place.root),
            session=session or self._session,
            job=self._job.id,
            **facts,
        )
        with lost_is_bearable("event", self._job):
            self._service.events.append(event)


def _insisting(say: Callable[[], Said]) -> Said:
    """What the desk answers, after a wait if Redis is away for a moment. Saying it twice is harmless.

    Raises: BrokerUnavailable when it stays away.
    """
    deadline = time.monotonic() + LAST_WORD_SECONDS
    while True:
        try:
            return say()
        except BrokerUnavailable:
            if time.monotonic() > deadline or stopping.is_set():
                raise
            time.sleep(1.0)


def _refused(passage: Passage) -> Ending:
    until = f"; not before {passage.until:%Y-%m-%d %H:%M}Z" if passage.until else ""
    return Ending(outcome=Outcome.REFUSED, reason=passage.reason or "refused", error=f"{passage.detail}{until}")


def _where(error: Exception) -> str:
    """File and line of a bug, and nothing of what it was working on."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
