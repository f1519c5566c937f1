"""A worker's consumer goes on where Celery's would end it. `tests/faults/test_redis.py` kills a real Redis for it."""

from typing import Any

from worker.app import make_app
from worker.config import Settings
from worker.consuming import EnduringConsumer


def fail() -> None:
    raise AttributeError("'NoneType' object has no attribute 'hostname'")


def in_loop() -> Any:
    """A consumer in a worker with an event loop, which runs at once what it is given."""
    consumer = EnduringConsumer.__new__(EnduringConsumer)
    consumer.hub = type("Hub", (), {"call_soon": staticmethod(lambda act: act())})
    return consumer


def test_an_acknowledgement_on_a_connection_that_broke_does_not_end_the_loop() -> None:
    in_loop().call_soon_ack(fail)


def test_an_acknowledgement_is_made_with_what_it_was_given() -> None:
    made: list[tuple[Any, ...]] = []
    in_loop().call_soon_ack(lambda *given: made.append(given), "logger", multiple := ())
    assert made == [("logger", multiple)]


def test_it_is_the_consumer_of_every_worker() -> None:
    app = make_app("redis://localhost", Settings(), zone_name="UTC")
    assert app.conf.worker_consumer == "worker.consuming:EnduringConsumer"
    assert app.conf.broker_channel_error_retry is True
