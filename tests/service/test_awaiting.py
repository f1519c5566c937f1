"""T01: a hook can be faster than the agent's own writing."""

import threading
import time
from typing import Any

import pytest

from worker.adapters.sessions import FileCheckpoints
from worker.awaiting import has_arrived
from worker.core.job import JobRequest
from worker.hooks import said_sha256

KEY = "claude-code--s1"


def arrived(place: Any, request: JobRequest, wait_seconds: float = 0.3) -> bool:
    return has_arrived(request, FileCheckpoints(place.root), KEY, lambda: None, wait_seconds=wait_seconds)


def test_a_request_that_names_nothing_waits_for_nothing(place: Any) -> None:
    started = time.monotonic()
    assert arrived(place, place.request(place.transcript().turns(1)), 30)
    assert time.monotonic() - started < 5


def test_the_last_message_is_found_among_the_newest(place: Any) -> None:
    session = place.transcript().turns(2)
    session.says("All three tests pass now.")
    session.says("Anything else?")
    request = place.request(session, last_message_sha256=said_sha256("All three tests pass now.\n"))
    assert arrived(place, request)


def test_a_last_message_that_comes_while_waiting_is_seen(place: Any) -> None:
    session = place.transcript().turns(2)
    request = place.request(session, last_message_sha256=said_sha256("Done."))
    assert not arrived(place, request, 0.1)
    writer = threading.Timer(0.4, session.says, args=["Done."])
    writer.start()
    assert arrived(place, request, 20)
    writer.join()


def test_bytes_that_are_not_there_yet_are_waited_for_with_an_end(place: Any) -> None:
    session = place.transcript().turns(2)
    size = session.path.stat().st_size
    assert arrived(place, place.request(session, transcript_bytes=size))
    assert not arrived(place, place.request(session, transcript_bytes=size + 1))


def test_a_job_that_is_redone_after_its_commit_does_not_wait_for_what_it_covered(place: Any) -> None:
    session = place.transcript().turns(2)
    session.says("Done.")
    place.work(session)
    assert arrived(place, place.request(session, last_message_sha256=said_sha256("Done.")))


def test_an_order_to_stop_ends_the_waiting(place: Any) -> None:
    def stop() -> None:
        raise InterruptedError

    request = place.request(place.transcript().turns(1), transcript_bytes=10**9)
    with pytest.raises(InterruptedError):
        has_arrived(request, FileCheckpoints(place.root), KEY, stop, wait_seconds=60)
