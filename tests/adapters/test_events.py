"""The stream of events on a real Redis."""

import threading
from datetime import UTC, datetime

import pytest

from worker.adapters.events import Event, Events
from worker.adapters.redis_link import RedisLink

NOW = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)


@pytest.fixture
def events(redis_link: RedisLink) -> Events:
    return Events(redis_link)


def event(name: str = "committed", **more: object) -> Event:
    return Event(name=name, at=NOW, **more)  # type: ignore[arg-type]


def test_an_event_comes_back_as_it_was_told(events: Events) -> None:
    told = event(
        workspace="/w",
        session="claude-code--0f3a",
        job="s-000001",
        checkpoint=7,
        status="ok",
        reason="committed",
        tokens_before=90_000,
        tokens_after=9_000,
    )
    place = events.append(told)
    (found,) = events.read()
    assert found == Event(**{**{name: getattr(told, name) for name in Event.__slots__}, "id": place})


def test_reading_goes_on_where_it_ended(events: Events) -> None:
    for number in range(5):
        events.append(event(checkpoint=number))
    first = events.read(limit=2)
    rest = events.read(first[-1].id)
    assert [one.checkpoint for one in [*first, *rest]] == [0, 1, 2, 3, 4]
    assert events.read(rest[-1].id) == []


def test_from_the_last_id_on_only_what_is_to_come_is_read(events: Events) -> None:
    assert events.read(events.last_id()) == []
    events.append(event("refused"))
    last = events.last_id()
    events.append(event("failed"))
    assert [one.name for one in events.read(last)] == ["failed"]


def test_a_reader_that_waits_hears_an_event_at_once(events: Events) -> None:
    writer = threading.Timer(0.1, events.append, [event("degraded")])
    writer.start()
    heard = events.read(wait_seconds=2)
    writer.join()  # its own answer may come behind the event, and the server's end is no part of this test
    assert [one.name for one in heard] == ["degraded"]


def test_waiting_ends_before_the_connection_gives_up(redis_server: str, redis_link: RedisLink) -> None:
    impatient = RedisLink(redis_server, prefix=redis_link.prefix, read_timeout_seconds=1)
    assert Events(impatient).read(wait_seconds=60) == []
    impatient.close()


def test_following_gives_every_event_once_and_a_sign_of_life_in_between(
    redis_server: str, redis_link: RedisLink
) -> None:
    link = RedisLink(redis_server, prefix=redis_link.prefix, read_timeout_seconds=1)
    events = Events(link)
    events.append(event(checkpoint=1))
    seen, following = [], events.follow()
    seen.append(next(following))
    seen.append(next(following))
    events.append(event(checkpoint=2))
    seen.append(next(following))
    assert [one and one.checkpoint for one in seen] == [1, None, 2]
    link.close()


def test_the_stream_is_bounded(redis_link: RedisLink) -> None:
    events = Events(redis_link, kept=100)
    for number in range(500):
        events.append(event(checkpoint=number))
    found = events.read(limit=1_000)
    assert 100 <= len(found) < 300
    assert found[-1].checkpoint == 499


def test_a_workspace_path_of_any_bytes_breaks_no_event(events: Events) -> None:
    events.append(event(workspace="/w/\udcff 名前"))
    assert events.read()[0].workspace == "/w/\udcff 名前"
