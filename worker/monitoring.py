"""Seeing the service: what jobs there are, whether work gets done, and numbers for Prometheus. Nothing is changed here.

Whether a process lives says nothing: one can live for a month and do no job. What counts is how long work that could be
done has not been done.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from worker.adapters.breakers import BreakerState
from worker.adapters.events import Event
from worker.adapters.job_desk import DeskHealth
from worker.core.job import Ending, Job, State
from worker.delivery import spool_of
from worker.errors import AfterturnError, UsageError
from worker.service import Service

OVERDUE_SECONDS = 300.0
"""Work that could have begun so long ago is stuck, or there are too few workers; either way somebody should look."""

SHOWN_ENDED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """problems: one line each, in the order of weight; none means that work gets done.

    spooled: handed in and not yet in Redis. is_watched: a worker looks at the spool. set_aside: entries that nobody
    understood.
    """

    desk: DeskHealth
    breakers: tuple[BreakerState, ...]
    spooled: int
    set_aside: int
    is_watched: bool
    problems: tuple[str, ...]


def health_of(service: Service) -> Health:
    """Raises: BrokerUnavailable."""
    now = service.clock.now()
    spool = spool_of(service.run)
    desk, stuck = service.desk.health(now), service.desk.stuck()
    breakers = tuple(service.breakers.not_closed())
    spooled, is_watched = len(spool), spool.is_watched()
    return Health(
        desk=desk,
        breakers=breakers,
        spooled=spooled,
        set_aside=spool.set_aside_count(),
        is_watched=is_watched,
        problems=tuple(_problems(desk, stuck, spooled=spooled, is_watched=is_watched)),
    )


def _problems(desk: DeskHealth, stuck: Sequence[Job], *, spooled: int, is_watched: bool) -> Iterable[str]:
    if desk.overdue_seconds is not None and desk.overdue_seconds > OVERDUE_SECONDS:
        yield f"{desk.waiting} jobs wait, one of them could have begun {_age(desk.overdue_seconds)} ago"
    silent = [job for job in stuck if job.state is State.RUNNING]
    if silent:
        yield f"{len(silent)} jobs have a worker that is not heard: {', '.join(job.id for job in silent[:5])}"
    if spooled and not is_watched:
        yield f"{spooled} jobs wait on disk and no worker looks at them; start 'afterturn up'"


def job_object(job: Job) -> dict[str, Any]:
    """The documented object of one job: ids, times, numbers and reason codes."""
    request = job.request
    return {
        "id": job.id,
        "kind": request.kind.value,
        "state": job.state.value,
        "stage": job.stage,
        "session": request.session,
        "transcript": request.transcript or None,
        "workspace": request.workspace,
        "trigger": request.trigger.value,
        "priority": job.priority.value,
        "manual": job.is_manual,
        "coalesced": job.coalesced,
        "attempts": job.attempts,
        "part_done": job.part_done,
        "parts": job.parts,
        "tokens": job.tokens,
        "submitted_at": _time(job.submitted_at),
        "due_at": _time(job.due_at),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "error": job.error,
        "joined": job.joined,
        "ending": _ending_object(job.ending) if job.ending else None,
    }


def health_object(health: Health) -> dict[str, Any]:
    desk = asdict(health.desk)
    times = {name: _time(desk[name]) for name in ("last_success_at", "last_finished_at")}
    return {
        "ok": not health.problems,
        "problems": list(health.problems),
        **desk,
        **times,
        "spooled": health.spooled,
        "set_aside": health.set_aside,
        "watched": health.is_watched,
        "breakers": [asdict(one) | {"open_until": _time(one.open_until)} for one in health.breakers],
    }


def health_lines(health: Health) -> str:
    """The same for a person."""
    desk = health.desk
    success = f"{desk.last_success_at:%Y-%m-%d %H:%M}Z" if desk.last_success_at else "none yet"
    oldest = "" if desk.oldest_waiting_seconds is None else f", the oldest for {_age(desk.oldest_waiting_seconds)}"
    lines = [
        *health.problems,
        f"jobs      {desk.waiting} wait{oldest}; {desk.running} run; {health.spooled} on disk",
        f"success   {success}",
        f"worker    {'looks at the spool' if health.is_watched else 'none looks at the spool of this folder'}",
    ]
    lines += [
        f"breaker   {one.name}: {one.failures} failures ({one.reason}), until {one.open_until:%Y-%m-%d %H:%M}Z"
        for one in health.breakers
    ]
    return "\n".join(lines)


def event_object(event: Event) -> dict[str, Any]:
    return {name: value for name, value in asdict(event).items() if value not in (None, "")} | {"at": _time(event.at)}


def known_jobs(service: Service, limit: int = 50) -> list[Job]:
    """What runs, what waits, and what ended last, in this order."""
    waiting = [job for job in service.desk.waiting(limit) if job.state is State.QUEUED]
    return [*service.desk.running(), *waiting, *service.desk.ended(SHOWN_ENDED)]


def table(jobs: Sequence[Job], now: datetime) -> str:
    """One line per job, for a terminal."""
    if not jobs:
        return "no jobs"
    rows = [("JOB", "SESSION", "STATE", "WHERE", "TRIED", "TOKENS", "AGE"), *(_row(job, now) for job in jobs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _row(job: Job, now: datetime) -> tuple[str, ...]:
    session = job.request.session or job.request.date or job.request.kind.value
    tokens = job.ending.tokens_in + job.ending.tokens_out if job.ending else job.tokens
    return (
        job.id,
        session if len(session) <= 44 else f"{session[:30]}…{session[-13:]}",
        job.state.value,
        where_of(job, now),
        str(job.attempts),
        f"{tokens:,}" if tokens else "–",
        _age((now - job.submitted_at).total_seconds()),
    )


def where_of(job: Job, now: datetime) -> str:
    """Where a job stands, in a few words: "part 3 of 8", "in 40 s", "committed: checkpoint 7, m12–m80"."""
    if job.ending is not None:
        return _ended_in_words(job.ending)
    if job.state is State.RUNNING:
        return f"part {job.part_done} of {job.parts}" if job.stage == "asking" and job.parts else job.stage
    if job.due_at is None:
        return job.stage if job.stage != "queued" else "behind the running one"
    seconds = (job.due_at - now).total_seconds()
    return f"in {_age(seconds)}" if seconds > 0 else "due"


def _ended_in_words(ending: Ending) -> str:
    if ending.checkpoint is not None and ending.start is not None and ending.end is not None:
        return f"{ending.outcome}: checkpoint {ending.checkpoint} {ending.status}, m{ending.start}–m{ending.end - 1}"
    return f"{ending.outcome}: {ending.reason}"


def event_line(event: Event) -> str:
    sizes = f" {event.tokens_before:,} → {event.tokens_after:,} tokens" if event.tokens_before is not None else ""
    number = f" checkpoint {event.checkpoint}" if event.checkpoint is not None else ""
    reason = f" ({event.reason})" if event.reason else ""
    return f"{event.at:%Y-%m-%d %H:%M:%S}Z {event.name}{number} {event.session or event.job}{sizes}{reason}"


class Metrics:
    """What one worker counts, and what it reads from Redis when it is asked. One object hears every job's end."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self._jobs = Counter("afterturn_jobs", "Jobs that ended", ["kind", "outcome", "reason"], registry=self.registry)
        self._tokens = Counter("afterturn_tokens", "Tokens of requests to models", ["way"], registry=self.registry)
        self._calls = Counter("afterturn_model_calls", "Requests to models", registry=self.registry)
        self._seconds = Histogram(
            "afterturn_job_seconds",
            "From begin to end of the attempt that ended a job",
            ["kind"],
            buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600),
            registry=self.registry,
        )
        self.registry.register(_DeskCollector(service))

    def told(self, job: Job, ending: Ending, seconds: float) -> None:
        kind = job.request.kind.value
        self._jobs.labels(kind, ending.outcome.value, ending.reason).inc()
        self._tokens.labels("in").inc(ending.tokens_in)
        self._tokens.labels("out").inc(ending.tokens_out)
        self._calls.inc(ending.llm_calls)
        self._seconds.labels(kind).observe(seconds)

    def serve(self, port: int) -> Callable[[], None]:
        """On all addresses of this machine, in a thread of its own, until the function that is returned is called.

        Raises: UsageError when the port is taken.
        """
        try:
            server, thread = start_http_server(port, registry=self.registry)
        except OSError as exc:
            raise UsageError(f"AFTERTURN_METRICS_PORT={port}: {exc.strerror}; choose another port") from exc

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop


class _DeskCollector(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Without Redis there is `afterturn_up 0` and nothing that looks like an empty queue."""
        try:
            health = health_of(self._service)
        except AfterturnError:
            yield GaugeMetricFamily("afterturn_up", "Whether Redis answers", 0)
            return
        yield GaugeMetricFamily("afterturn_up", "Whether Redis answers", 1)
        for name, (words, value) in _gauges(health).items():
            if value is not None:
                yield GaugeMetricFamily(f"afterturn_{name}", words, value)


def _gauges(health: Health) -> Mapping[str, tuple[str, float | None]]:
    desk = health.desk
    success = desk.last_success_at.timestamp() if desk.last_success_at else None
    return {
        "jobs_waiting": ("Jobs that have not begun", desk.waiting),
        "jobs_running": ("Jobs that a worker has", desk.running),
        "jobs_spooled": ("Jobs on disk that are not in Redis yet", health.spooled),
        "oldest_waiting_seconds": ("Age of the oldest job that has not begun", desk.oldest_waiting_seconds or 0),
        "overdue_seconds": ("How long the most overdue job could have begun", desk.overdue_seconds or 0),
        "last_success_timestamp_seconds": ("When a job last ended well", success),
        "breakers_open": ("Breakers that are open or half-open", len(health.breakers)),
    }


def _ending_object(ending: Ending) -> dict[str, Any]:
    return asdict(ending) | {"outcome": ending.outcome.value}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment else None


def _age(seconds: float) -> str:
    """ "41 s", "7 min", "3 h", "2 d"."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
