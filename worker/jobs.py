"""The Celery tasks, and the two processes that Celery is: a worker and beat.

Messages carry the id of a job, never content; for programs that know Celery and not us there is `afterturn.submit`.
A task that was delivered twice finds the job begun or ended and does nothing.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any

from celery import signals  # type: ignore[import-untyped]

from worker import wiring
from worker.adapters.files import make_folder
from worker.adapters.job_desk import Claim
from worker.app import NIGHTLY_TASK, QUEUES, SWEEP_TASK, make_app
from worker.attempts import attempt
from worker.client import request_for
from worker.config import Settings
from worker.core.job import JobRequest, Kind, Priority, Trigger
from worker.core.messages import digest_of
from worker.delivery import DEBOUNCE_SECONDS
from worker.dispatching import Dispatcher
from worker.errors import BrokerUnavailable, UsageError
from worker.locating import Ground
from worker.log import configure_log, hear_warnings, log_event
from worker.service import Service, redis_url_of
from worker.watching import stopping

SUBMIT_TASK = "afterturn.submit"


def task_name(kind: Kind) -> str:
    return f"afterturn.{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """Who consumes what. name: of the worker, for people. until_eof: end when stdin ends, because a parent died."""

    queues: Sequence[str] = QUEUES
    threads: int = 8
    name: str = "worker"
    until_eof: bool = False


def run_worker(service: Service, staff: Staff) -> int:
    """Works until SIGTERM or Ctrl-C; the exit code. Raises: UsageError for a queue that there is not."""
    unknown = sorted(set(staff.queues).difference(QUEUES))
    if unknown:
        raise UsageError(f"--queues: {', '.join(unknown)}; there are {', '.join(QUEUES)}")
    service = _with_metrics(service)
    app = _app_of(service)
    dispatcher = Dispatcher(service, _sender(app))
    register(app, service, dispatcher)
    _keep_our_log(service.settings)
    _stop_with(staff.until_eof)
    # Celery asks the queues in the order in which they are named here.
    queues = [queue for queue in QUEUES if queue in staff.queues]
    worker = app.Worker(
        hostname=f"{staff.name}@%h",
        pool="threads",
        concurrency=staff.threads,
        queues=queues,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    dispatcher.start()
    try:
        worker.start()
    finally:
        stopping.set()
        dispatcher.stop()
    return int(worker.exitcode or 0)


def run_beat(settings: Settings, *, until_eof: bool = False) -> None:
    """Sends what is due by the clock, until SIGTERM or Ctrl-C (SystemExit)."""
    run = wiring.ground_of(settings).run
    make_folder(run)
    app = make_app(
        redis_url_of(settings),
        settings,
        zone_name=_zone_name(wiring.zone_of(settings)),
        schedule=run / "beat-schedule",
    )
    _keep_our_log(settings)
    _stop_with(until_eof)
    app.Beat(quiet=True, loglevel="WARNING", redirect_stdouts=False, max_interval=30).run()


def register(app: Any, service: Service, dispatcher: Dispatcher) -> None:
    """Gives the app its tasks: closures over the one service of this process."""

    def work(job_id: str) -> None:
        _worked(service, dispatcher, job_id)

    def sweep() -> None:
        dispatcher.rescue(is_due=True)

    def night() -> None:
        ask_for_night(service)

    for kind in Kind:
        app.task(work, name=task_name(kind))
    app.task(_submitting(service, dispatcher), name=SUBMIT_TASK, bind=True, ignore_result=False)
    app.task(sweep, name=SWEEP_TASK)
    app.task(night, name=NIGHTLY_TASK)


def ask_for_night(service: Service) -> list[str]:
    """The jobs for the night that began last, one per workspace; asking again gives the same ones."""
    now = service.clock.now()
    date = night_of(now, service.settings.nightly_at, service.zone)
    ground = wiring.ground_of(service.settings)
    requests = [_night(date.isoformat(), str(place.root), now) for place in ground.places()]
    return [service.desk.submit(request, now, DEBOUNCE_SECONDS[request.trigger]) for request in requests]


def night_of(now: datetime, nightly_at: str, zone: tzinfo) -> date:
    """The local date on which the last night began. An hour that a clock change leaves out begins at its end."""
    local = now.astimezone(zone)
    begins = datetime.combine(local.date(), time.fromisoformat(nightly_at), zone).astimezone(UTC)
    return local.date() if now >= begins else local.date() - timedelta(days=1)


def _night(date: str, workspace: str, now: datetime) -> JobRequest:
    return JobRequest(
        submission=f"night-{date}-{digest_of(workspace)[:16]}",
        kind=Kind.NIGHTLY,
        workspace=workspace,
        submitted_at=now,
        trigger=Trigger.NIGHTLY,
        priority=Priority.NIGHTLY,
        date=date,
    )


def _worked(service: Service, dispatcher: Dispatcher, job_id: str) -> None:
    """Whatever becomes of the message, the job is at the desk: one that could not be asked for is sent again."""
    try:
        attempt(service, job_id)
    except BrokerUnavailable as exc:
        log_event("job_left", level="warning", job=job_id, reason=exc.reason)
    finally:
        dispatcher.wake()


def _submitting(service: Service, dispatcher: Dispatcher) -> Callable[..., str]:
    """The task for foreign programs: `transcript` and the options of `worker.client.submit`, as plain JSON; the result
    is the job's id. The message's own id makes a second delivery of it the same wish.
    """

    def submit(task: Any, transcript: str, workspace: str | None = None, **options: Any) -> str:
        ground = wiring.ground_of(service.settings)
        if workspace is not None:
            ground = Ground(workspace=Path(workspace).expanduser().absolute(), home=ground.home)
        request = request_for(transcript, ground, submission=_as_submission(task.request.id), **options)
        job = service.desk.submit(request, service.clock.now(), DEBOUNCE_SECONDS[request.trigger])
        dispatcher.wake()
        return job

    return submit


def _as_submission(message_id: str) -> str:
    return f"message-{digest_of(message_id)[:32]}"


def _sender(app: Any) -> Callable[[Claim], None]:
    def send(claim: Claim) -> None:
        try:
            # A result that nobody reads would still be subscribed to, one channel for each job and for ever.
            app.send_task(
                task_name(claim.kind), args=[claim.job], queue=claim.priority.value, retry=False, ignore_result=True
            )
        except Exception as exc:  # kombu raises what its transport raises, of many families
            raise BrokerUnavailable(
                f"message for job {claim.job}: not sent ({type(exc).__name__}); it is sent again"
            ) from exc

    return send


def _with_metrics(service: Service) -> Service:
    port = service.settings.metrics_port
    if port is None:
        return service
    from worker.monitoring import Metrics

    metrics = Metrics(service)
    metrics.serve(port)
    return service.telling(metrics.told)


def _app_of(service: Service) -> Any:
    return make_app(redis_url_of(service.settings), service.settings, zone_name=_zone_name(service.zone))


def _zone_name(zone: tzinfo) -> str:
    """The zone as Celery names it; one without a name (a bare offset) is counted in UTC."""
    return getattr(zone, "key", None) or "UTC"


def _keep_our_log(settings: Settings) -> None:
    """Celery leaves logging alone when somebody listens here."""

    def set_up(**_: object) -> None:
        configure_log(settings.log_level)
        hear_warnings(("celery", "kombu"))

    signals.setup_logging.connect(set_up, weak=False)
    signals.worker_shutting_down.connect(lambda **_: stopping.set(), weak=False)


def _stop_with(until_eof: bool) -> None:
    """A child whose parent died has nobody to stop it: its stdin ends then, whatever killed the parent."""
    if not until_eof:
        return

    descriptor = sys.stdin.fileno()

    def wait_for_end() -> None:
        while os.read(descriptor, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_end, name="until-eof", daemon=True).start()
