"""How a Celery worker takes messages from the broker, where Celery's own way ends the worker.

When the connection to Redis breaks while a task runs, Celery raises in the middle of its loop and ends with all that
its threads were doing: once when it closes that connection, once when it acknowledges the task's message on it. Nothing
is lost without either: the broker delivers the message again, and it finds its job begun or ended.
"""

from collections.abc import Callable
from typing import Any

from celery.worker.consumer import Consumer  # type: ignore[import-untyped]

from worker.log import log_event


class EnduringConsumer(Consumer):  # type: ignore[misc]
    """Named in the app's settings as the consumer of its workers."""

    def on_connection_error_after_connected(self, error: Exception) -> None:
        """What Celery does before it connects again."""
        _bearing(
            "connection_not_closed", lambda: super(EnduringConsumer, self).on_connection_error_after_connected(error)
        )

    def call_soon_ack(self, acknowledge: Callable[..., object], *given: Any, **named: Any) -> Any:
        """What Celery calls to acknowledge or reject a message."""
        return super().call_soon_ack(lambda: _bearing("message_not_acknowledged", lambda: acknowledge(*given, **named)))


def _bearing(event: str, act: Callable[[], object]) -> None:
    try:
        act()
    except Exception as exc:  # noqa: BLE001 - kombu raises whatever a channel without a connection runs into
        log_event(event, level="warning", error=type(exc).__name__)
