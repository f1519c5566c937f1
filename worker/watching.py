"""Whether an attempt at a job may go on: told and asked at every report, by the thread that keeps its lease, and once
more right before a commit. Who lost the lease, was told to stop or took too long commits nothing.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from worker.adapters.leases import Held
from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.job import Ending, Job, Kind, Order
from worker.errors import BrokerUnavailable
from worker.log import log_event
from worker.ports import Checkpoints
from worker.providers import Meter
from worker.service import Service

REPORT_SECONDS = 0.25
"""A stage that reports more often than that is told to the desk so often."""

OUT_OF_TIME_SECONDS = 10.0
NIGHT_SECONDS = 6 * 3_600.0
"""A night is many sessions, and has limits of its own."""

stopping = threading.Event()
"""Set when this process is to end: attempts give their jobs back at their next report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The attempt came to nothing; another one may do better after so long. counts: the last attempt fails instead."""

    seconds: float
    error: str
    counts: bool = False


class Stopped(Exception):
    """An attempt may not go on. verdict: what is to be said of it; None when it is nobody's to say anything."""

    def __init__(self, verdict: Ending | Again | None) -> None:
        super().__init__(verdict)
        self.verdict = verdict


class Watch:
    """Progress that tells the desk and asks whether to go on; and the last question before a commit."""

    def __init__(self, service: Service, job: Job, owner: str, meter: Meter) -> None:
        self._held: list[Held] = []
        self._service = service
        self._job = job
        self._owner = owner
        self._meter = meter
        self._order = Order.GO_ON
        is_night = job.request.kind is Kind.NIGHTLY
        self._deadline = time.monotonic() + (NIGHT_SECONDS if is_night else service.settings.job_seconds)
        self._told: tuple[str, float] = ("", 0.0)

    @contextmanager
    def holding(self, held: Held) -> Iterator[None]:
        """For the block the work goes on only while this lease is held, too."""
        self._held.append(held)
        try:
            yield
        finally:
            self._held.remove(held)

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:  # noqa: ARG002 - spent is what the meter says
        """Raises: Stopped."""
        last_stage, last_time = self._told
        if stage != last_stage or done == total or time.monotonic() - last_time > REPORT_SECONDS:
            self._told = (stage, time.monotonic())
            self._ask(stage=stage, done=done, total=total, tokens=self._meter.tokens)
        self.check()

    def beat(self) -> None:
        """Called by the thread that keeps the lease, while a model thinks."""
        self._order = self._service.desk.beat(self._job.id, self._owner, self._service.clock.now())

    def confirm(self) -> None:
        """Right before a commit. Raises: Stopped."""
        with suppress(BrokerUnavailable):  # then the lease's own clock decides
            self.beat()
        self.check()

    def check(self) -> None:
        """Raises: Stopped when the job is lost, cancelled, out of time, or the process is to end."""
        if self._order is Order.LOST or any(held.is_lost for held in self._held):
            raise Stopped(None)
        if self._order is Order.STOP:
            raise Stopped(Ending(outcome=Outcome.CANCELLED, reason=self._reason_to_cancel()))
        if time.monotonic() > self._deadline:
            error = "out of time (AFTERTURN_JOB_SECONDS); what was paid for is kept, and it goes on there"
            raise Stopped(Again(seconds=OUT_OF_TIME_SECONDS, error=error, counts=True))
        if stopping.is_set():
            raise Stopped(Again(seconds=0.0, error="worker_stopping: it is taken up again by the next worker"))

    def wait(self, seconds: float) -> None:
        """Sleeps, but not past an order to stop. Raises: Stopped."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, REPORT_SECONDS))

    def _ask(self, *, stage: str, done: int, total: int, tokens: int) -> None:
        """A Redis that does not answer is no reason to throw work away: that is for the lease to say."""
        try:
            self._order = self._service.desk.progress(
                self._job.id, self._owner, self._service.clock.now(), stage, done=done, total=total, tokens=tokens
            )
        except BrokerUnavailable as exc:
            log_event("progress_not_told", level="warning", job=self._job.id, reason=exc.reason)

    def _reason_to_cancel(self) -> str:
        found = self._service.desk.status(self._job.id)
        return (found.cancel_reason if found else None) or "asked"


class GuardedCheckpoints:
    """Checkpoints that are committed only while the watch allows it; each commit is an event."""

    def __init__(self, checkpoints: Checkpoints, watch: Watch, tell: Callable[[Checkpoint], None]) -> None:
        self._checkpoints = checkpoints
        self._watch = watch
        self._tell = tell

    def latest(self, session_key: str) -> Checkpoint | None:
        return self._checkpoints.latest(session_key)

    def chain(self, session_key: str) -> list[Checkpoint]:
        return self._checkpoints.chain(session_key)

    def commit(self, checkpoint: Checkpoint) -> Checkpoint | None:
        self._watch.confirm()
        stored = self._checkpoints.commit(checkpoint)
        if stored is not None:
            self._tell(stored)
        return stored
