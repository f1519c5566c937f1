"""How a job request gets to the desk in Redis: on disk first, then over, in the order of asking, within a time limit.

    keep ──> spool ──deliver──> desk          the asker, while it waits at most its budget
                   ──drain────> desk          a worker, every second

An asker that is killed, a Redis that is down, full, slow or refuses, an address that nobody answers: the request stays
in the spool, and the next asker or worker hands it over. It may be handed over twice and counts once, because the desk
knows the submissions that it has seen. Who asks, and for what, is known by `worker.client` and `worker.hooks`.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from worker.adapters.spool import Drained, Spool, SpoolEntry
from worker.core.job import JobRequest, Trigger, request_from_fields, request_to_json
from worker.errors import AfterturnError, BrokerUnavailable, StorageUnavailable, StoreError, UsageError

if TYPE_CHECKING:
    from worker.adapters.job_desk import JobDesk

BUDGET_SECONDS = 0.17
"""An agent gets its answer within 0.2 s; what is missing to that is for the machine to notice that time is up."""

LEAST_SECONDS = 0.03
"""Ten times what a Redis that is well takes: it gets that much also when finding the request took the budget."""

READ_TIMEOUT_SECONDS = 0.1

DEBOUNCE_SECONDS: Mapping[Trigger, float] = {
    Trigger.TURN: 10.0,
    Trigger.SESSION_END: 2.0,
    Trigger.COMPACTION: 0.0,
    Trigger.NIGHTLY: 0.0,
    Trigger.MANUAL: 0.0,
}
"""How long a request waits for the next of its kind. Turn ends come a few seconds apart when a person answers quickly
or a program goes on; at a session's end only the agent's last rows are waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """job: the id to ask `status` for. spooled: it waits on disk for a worker; reason: why, None when it does not."""

    job: str
    spooled: bool
    reason: str | None = None


def spool_of(run: Path) -> Spool:
    return Spool(run / "spool")


def redis_url(environ: Mapping[str, str]) -> str | None:
    """Of a Redis that a person named; None: the one that `afterturn up` starts."""
    return environ.get("AFTERTURN_REDIS_URL", "").strip() or None


def size_and_time(transcript: Path) -> tuple[int | None, datetime | None]:
    """What a worker waits for before it reads: bytes and time of the last change. None and None without a file."""
    try:
        found = transcript.stat()
    except (OSError, ValueError):  # a path with a NUL in it is a ValueError
        return None, None
    return found.st_size, datetime.fromtimestamp(found.st_mtime, UTC)


def hand_in(
    request: JobRequest, run: Path, redis_url: str | None, *, budget_seconds: float = BUDGET_SECONDS
) -> Submission:
    """The request is in Redis or safe on disk, and at most `budget_seconds` have gone by.

    Raises: StorageUnavailable when neither of the two takes it.
    """
    started = time.monotonic()
    spool = spool_of(run)
    try:
        entry = _put(request, spool)
    except (StorageUnavailable, StoreError) as exc:
        return _hand_over_without_disk(request, run, redis_url, exc, budget_seconds)
    delivery = _Delivery(run, redis_url)
    delivery.run_for(budget_seconds - (time.monotonic() - started))
    job = delivery.arrived.get(request.submission)
    spooled = job is None and spool.holds(entry.id)
    return Submission(job=job or request.submission, spooled=spooled, reason=delivery.reason if spooled else None)


def leave(request: JobRequest, run: Path) -> Submission | None:
    """The request safe on disk, when a worker watches the spool and will take it within a second.

    What a hook wants: nothing of Redis has to be loaded. None when nobody watches, or the disk does not take it; then
    it is for `hand_in`.
    """
    spool = spool_of(run)
    if not spool.is_watched():
        return None
    try:
        _put(request, spool)
    except (StorageUnavailable, StoreError):
        return None
    return Submission(job=request.submission, spooled=True, reason="left_to_worker")


def drain(spool: Spool, desk: "JobDesk", *, wait_seconds: float = 1.0) -> Drained:
    """Hands over all that waits, oldest first; for the worker's loop, which also calls `spool.watch()` each round.

    Raises: BrokerUnavailable, SessionBusy: the rest stays for the next round.
    """
    return spool.drain(_Handler(desk, {}), wait_seconds=wait_seconds)


def spooled_requests(run: Path) -> list[JobRequest]:
    """What waits on disk and has not been handed over, oldest first."""
    requests = (_request_of(entry) for entry in spool_of(run).waiting())
    return [request for request in requests if request is not None]


@contextmanager
def connected(
    run: Path, redis_url: str | None, *, read_timeout_seconds: float = READ_TIMEOUT_SECONDS
) -> Iterator["JobDesk"]:
    """The desk in the Redis of that address, or in the one that was started in the run folder.

    Raises: BrokerUnavailable when none was started, UsageError for an address of another form.
    """
    from worker.adapters.redis_server import socket_url

    url = redis_url or socket_url(run)
    if url is None:
        raise BrokerUnavailable(f"{run}: no Redis was started here; start 'afterturn up'")
    from worker.adapters.job_desk import JobDesk
    from worker.adapters.redis_link import RedisLink

    link = RedisLink(url, read_timeout_seconds=read_timeout_seconds)
    try:
        yield JobDesk(link)
    finally:
        link.close()


class _Delivery:
    """A thread that drains the spool: name look-ups and half-dead networks know no timeout that could be set.

    It may go on when nobody waits for it any more, and end with the process: each entry is taken away only after it
    arrived.
    """

    def __init__(self, run: Path, redis_url: str | None, unspooled: JobRequest | None = None) -> None:
        self.arrived: dict[str, str] = {}
        self.reason = "timeout"
        self._run = run
        self._redis_url = redis_url
        self._unspooled = unspooled

    def run_for(self, seconds: float) -> None:
        thread = threading.Thread(target=self._deliver, name="afterturn-delivery", daemon=True)
        thread.start()
        thread.join(max(seconds, LEAST_SECONDS))

    def _deliver(self) -> None:
        try:
            with connected(self._run, self._redis_url) as desk:
                handler = _Handler(desk, self.arrived)
                if self._unspooled is not None:
                    handler.hand_over(self._unspooled)
                spool_of(self._run).drain(handler, wait_seconds=BUDGET_SECONDS)
        except AfterturnError as exc:
            self.reason = exc.reason
        except Exception as exc:  # noqa: BLE001 - a boundary: a traceback in the agent's terminal helps nobody
            self.reason = type(exc).__name__


class _Handler:
    """Hands entries over; `arrived` maps submissions to the jobs that they became.

    The desk counts milliseconds, and several entries can go in one: each gets its own, so that they stay in order.
    """

    def __init__(self, desk: "JobDesk", arrived: dict[str, str]) -> None:
        self._desk = desk
        self._arrived = arrived
        self._last = datetime.min.replace(tzinfo=UTC)

    def __call__(self, entry: SpoolEntry) -> bool:
        request = _request_of(entry)
        if request is None:
            return False
        self.hand_over(request)
        return True

    def hand_over(self, request: JobRequest) -> None:
        """Whatever the desk has against it now, a wrong password included, is no reason to give the request up."""
        self._last = max(datetime.now(UTC), self._last + timedelta(milliseconds=1))
        try:
            job = self._desk.submit(request, self._last, DEBOUNCE_SECONDS[request.trigger])
        except AfterturnError as exc:
            raise BrokerUnavailable(str(exc)) from exc
        self._arrived[request.submission] = job


def _hand_over_without_disk(
    request: JobRequest, run: Path, redis_url: str | None, problem: AfterturnError, budget_seconds: float
) -> Submission:
    """What lies on a disk that takes nothing more can still be drained, but behind this one."""
    delivery = _Delivery(run, redis_url, unspooled=request)
    delivery.run_for(budget_seconds)
    if request.submission not in delivery.arrived:
        raise StorageUnavailable(f"{problem}; Redis does not take it either ({delivery.reason})") from problem
    return Submission(job=delivery.arrived[request.submission], spooled=False)


def _put(request: JobRequest, spool: Spool) -> SpoolEntry:
    """The instructions come redacted: nothing is written with a secret in it."""
    return spool.put(json.loads(request_to_json(request)), about=_about(request))


def _about(request: JobRequest) -> str:
    """A newer request replaces an older one in a full spool only when it wants all that the older one wants."""
    return f"{request.subject} {request.trigger} {request.priority} {request.seal_all} {request.instructions}"


def _request_of(entry: SpoolEntry) -> JobRequest | None:
    """None for what no version of this program that we know has written."""
    try:
        return request_from_fields(entry.payload)
    except UsageError:
        return None
