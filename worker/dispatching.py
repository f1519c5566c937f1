"""The thread of a worker that brings jobs on their way: from the spool to the desk, from the desk to a queue, and back
to the desk when whoever had them died. Every worker process has one; they do not have to know of each other.
"""

import threading
import time
from collections.abc import Callable

from worker.adapters.files import sweep_temporary
from worker.adapters.job_desk import UNSENT_SECONDS, Claim
from worker.core.job import Priority
from worker.delivery import drain, spool_of
from worker.errors import AfterturnError
from worker.log import log_event
from worker.service import Service
from worker.watching import stopping

ROUND_SECONDS = 1.0
RESCUE_SECONDS = 5.0

SENT_AHEAD = 64
"""So many messages wait in the queues, so that no thread ever waits for a round of ours. What else is due waits at the
desk, where a newer request can still join it and a more urgent one can still pass it."""

LOST_MESSAGE_SECONDS = 10.0
"""With all queues empty, a job that was sent so long ago and not begun has lost its message (a worker took it while it
was stopping, or Redis forgot its last second): no worker keeps messages that it does not work on."""

Sender = Callable[[Claim], None]


class Dispatcher:
    """send: puts the message for a job into the queue of its priority."""

    def __init__(self, service: Service, send: Sender) -> None:
        self._service = service
        self._send = send
        self._spool = spool_of(service.run)
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._rescued_at = float("-inf")
        self._trouble: str | None = None
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        swept = sweep_temporary(self._service.run)
        log_event("dispatcher_started", run=str(self._service.run), swept=swept)
        self._thread.start()

    def wake(self) -> None:
        """There may be something to do now: do not wait for the next round."""
        self._woken.set()

    def stop(self) -> None:
        self._stopped.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._spool.unwatch()

    def round(self) -> None:
        """Everything once. Raises: AfterturnError; what was not done is done in a later round."""
        self._spool.watch()
        drain(self._spool, self._service.desk)
        self.rescue()
        self._send_due()

    def rescue(self, *, is_due: bool = False) -> None:
        """Takes jobs back from workers that died and queues that lost them; not more often than it is worth."""
        if not is_due and time.monotonic() - self._rescued_at < min(RESCUE_SECONDS, self._service.silent_seconds / 3):
            return
        self._rescued_at = time.monotonic()
        rescued = self._service.desk.rescue(
            self._service.clock.now(),
            silent_seconds=self._service.silent_seconds,
            unsent_seconds=UNSENT_SECONDS if self._queued() else LOST_MESSAGE_SECONDS,
        )
        for rescue in rescued:
            log_event("job_rescued", level="warning", job=rescue.job, what=rescue.what)

    def _send_due(self) -> None:
        if stopping.is_set():  # our own worker may still take a message, and not work on it
            return
        now = self._service.clock.now()
        room = SENT_AHEAD - self._service.desk.health(now).sent
        # One in any case: the most urgent comes first, and it must not wait behind others that were sent.
        for claim in self._service.desk.claim_due(now, max(room, 1)):
            self._send(claim)

    def _queued(self) -> int:
        return sum(int(self._service.link.call("LLEN", queue.value)) for queue in Priority)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                self.round()
                self._note(None)
            except AfterturnError as exc:
                self._note(exc)
            except Exception as exc:  # noqa: BLE001 - the boundary of this thread: without it nothing moves any more
                self._note(exc)
            self._woken.wait(ROUND_SECONDS)

    def _note(self, error: Exception | None) -> None:
        """One line when trouble begins, changes or ends, not one per second."""
        trouble = getattr(error, "reason", type(error).__name__) if error else None
        if trouble != self._trouble:
            self._trouble = trouble
            if error is None:
                log_event("dispatching_resumed")
            else:
                log_event("dispatching_failed", level="warning", reason=trouble, error=str(error)[:300])
