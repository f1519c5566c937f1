"""The Celery app: how messages travel. What a task does is in `worker.jobs`; what a job is, and whether it is done, is
known by the job desk in Redis, so that a message lost or delivered twice changes nothing.

    interactive > turn > nightly      a free thread takes from the first of the queues that holds something

Importing this loads no model code.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery import Celery  # type: ignore[import-untyped]
from celery.schedules import crontab  # type: ignore[import-untyped]

from worker.config import Settings
from worker.core.job import Priority

QUEUES = tuple(priority.value for priority in Priority)
"""In the order of right of way."""

NIGHTLY_TASK = "afterturn.night"
SWEEP_TASK = "afterturn.sweep"
SWEEP_SECONDS = 60.0
CATCH_UP_SECONDS = 600.0
"""How often somebody asks whether a night was missed: a machine that slept at that hour makes up for it."""

RESULT_SECONDS = 3_600
LEAST_VISIBILITY_SECONDS = 12 * 3_600.0


def make_app(redis_url: str, settings: Settings, *, zone_name: str, schedule: Path | None = None) -> Any:
    """The app on that Redis. schedule: where beat remembers what it sent last."""
    app = Celery("afterturn", set_as_current=False)
    address = celery_url(redis_url)
    app.conf.update(
        broker_url=address,
        result_backend=address,
        accept_content=["json"],
        task_serializer="json",
        result_serializer="json",
        result_expires=RESULT_SECONDS,
        task_ignore_result=True,
        task_track_started=False,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_default_queue=Priority.TURN.value,
        task_create_missing_queues=True,
        worker_prefetch_multiplier=1,
        worker_consumer="worker.consuming:EnduringConsumer",
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A Redis that takes nothing for now (its disk or memory is full) is waited for like one that is away.
        broker_channel_error_retry=True,
        broker_transport_options={
            # Above the longest job: a message that comes back earlier finds its job begun, and is one for nothing.
            "visibility_timeout": max(2 * settings.job_seconds, LEAST_VISIBILITY_SECONDS),
            "queue_order_strategy": "priority",
            "socket_connect_timeout": 5.0,
            "socket_keepalive": True,
        },
        timezone=zone_name,
        beat_schedule=_schedule(settings),
        **({"beat_schedule_filename": str(schedule)} if schedule else {}),
    )
    # What Celery would load at the first message, in the middle of which a signal or a second thread would find it.
    _ = app.amqp, app.backend
    return app


def celery_url(redis_url: str) -> str:
    """The address as Celery writes it: sockets are redis+socket:// there."""
    parts = urlsplit(redis_url)
    if redis_url.startswith("/"):
        return f"redis+socket://{redis_url}"
    return f"redis+socket://{parts.path}" if parts.scheme == "unix" else redis_url


def _schedule(settings: Settings) -> dict[str, Any]:
    """What beat sends. A message that nobody took before the next one is sent is thrown away: they all ask the same."""
    hour, minute = (int(number) for number in settings.nightly_at.split(":"))
    night = {"task": NIGHTLY_TASK, "options": {"queue": Priority.NIGHTLY.value, "expires": CATCH_UP_SECONDS}}
    return {
        "night": {**night, "schedule": crontab(hour=hour, minute=minute)},
        "missed-night": {**night, "schedule": CATCH_UP_SECONDS},
        "sweep": {
            "task": SWEEP_TASK,
            "schedule": SWEEP_SECONDS,
            "options": {"queue": Priority.INTERACTIVE.value, "expires": SWEEP_SECONDS},
        },
    }
