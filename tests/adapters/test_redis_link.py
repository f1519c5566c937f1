"""What happens on the connection, and what its errors become."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis.exceptions
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.redis_link import RedisLink, Script, milliseconds, moment_of
from worker.adapters.redis_link import _mapped as mapped
from worker.adapters.redis_server import EmbeddedRedis
from worker.errors import AfterturnError, BrokerUnavailable, StoreError, UsageError

InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]

GROW = Script('return redis.call("INCRBY", KEYS[1], ARGV[1])')


@pytest.fixture
def own_link(own_redis: EmbeddedRedis, tmp_path: Path) -> Iterator[RedisLink]:
    link = RedisLink(str(tmp_path / "own/redis/redis.sock"), read_timeout_seconds=0.5)
    yield link
    link.close()


def writes(link: RedisLink) -> list[Callable[[], object]]:
    return [lambda: link.call("SET", "a", "2"), lambda: link.run(GROW, ["a"], 1)]


def test_a_script_runs_also_on_a_server_that_has_never_seen_it(redis_link: RedisLink) -> None:
    key = redis_link.key("n")
    assert redis_link.run(GROW, [key], 3) == 3
    redis_link.call("SCRIPT", "FLUSH")
    assert redis_link.run(GROW, [key], 3) == 6


def test_text_of_any_bytes_comes_back(redis_link: RedisLink) -> None:
    text = "\udcff\x00\u2028 \x1b[31m 名前"
    redis_link.call("SET", redis_link.key("text"), text)
    assert redis_link.call("GET", redis_link.key("text")) == text


def test_half_a_character_breaks_no_command(redis_link: RedisLink) -> None:
    redis_link.call("SET", redis_link.key("text"), "half \ud83d of it")
    assert redis_link.call("GET", redis_link.key("text")) == "half ? of it"


def test_keys_lie_below_the_prefix(redis_server: str) -> None:
    assert RedisLink(redis_server).key("job", "s-1") == "afterturn:job:s-1"


def test_no_server_is_broker_unavailable_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(BrokerUnavailable, match=r"nobody\.sock: no connection"):
        RedisLink(f"unix://{tmp_path}/nobody.sock").call("PING")
    with pytest.raises(BrokerUnavailable):
        RedisLink("redis://127.0.0.1:1/0").call("PING")
    assert time.monotonic() - started < 10


def test_a_server_that_is_frozen_is_broker_unavailable_after_the_read_timeout(
    own_redis: EmbeddedRedis, own_link: RedisLink
) -> None:
    own_link.call("PING")
    assert own_redis.pid is not None
    os.kill(own_redis.pid, signal.SIGSTOP)
    for _ in range(2):
        started = time.monotonic()
        with pytest.raises(BrokerUnavailable, match="not answer in time"):
            own_link.call("PING")
        assert 0.4 < time.monotonic() - started < 20
    os.kill(own_redis.pid, signal.SIGCONT)
    assert own_link.call("PING")


def test_a_reply_that_came_too_late_is_not_taken_for_the_next_ones(
    own_redis: EmbeddedRedis, own_link: RedisLink
) -> None:
    own_link.call("SET", "a", "of a")
    own_link.call("SET", "b", "of b")
    assert own_redis.pid is not None
    os.kill(own_redis.pid, signal.SIGSTOP)
    with pytest.raises(BrokerUnavailable):
        own_link.call("GET", "a")
    os.kill(own_redis.pid, signal.SIGCONT)
    assert own_link.call("GET", "b") == "of b"


def test_a_connection_survives_the_death_of_its_server(own_redis: EmbeddedRedis, own_link: RedisLink) -> None:
    own_link.call("SET", "a", "1")
    own_redis.stop()
    with pytest.raises(BrokerUnavailable):
        own_link.call("GET", "a")
    own_redis.start()
    assert own_link.call("GET", "a") == "1"


def test_a_full_server_is_broker_unavailable_and_still_reads(own_redis: EmbeddedRedis, own_link: RedisLink) -> None:
    own_link.call("SET", "a", "1")
    own_link.call("CONFIG", "SET", "maxmemory", "1")
    for write in writes(own_link):
        with pytest.raises(BrokerUnavailable, match="takes nothing now"):
            write()
    assert own_link.call("GET", "a") == "1"


def test_a_server_that_may_not_write_is_broker_unavailable(own_redis: EmbeddedRedis, own_link: RedisLink) -> None:
    own_link.call("CONFIG", "SET", "min-replicas-to-write", "1")
    for write in writes(own_link):
        with pytest.raises(BrokerUnavailable, match="takes nothing now"):
            write()


def test_a_replica_is_broker_unavailable(own_redis: EmbeddedRedis, own_link: RedisLink) -> None:
    own_link.call("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(BrokerUnavailable):
        own_link.call("SET", "a", "2")


def test_a_wrong_password_is_a_wrong_setting_and_is_not_repeated(
    own_redis: EmbeddedRedis, own_link: RedisLink, tmp_path: Path
) -> None:
    own_link.call("CONFIG", "SET", "requirepass", "the right one")
    for url in (f"unix://{tmp_path}/own/redis/redis.sock", f"unix://:hunter2@{tmp_path}/own/redis/redis.sock"):
        with pytest.raises(UsageError, match="does not let us in") as refused:
            RedisLink(url).call("PING")
        assert "hunter2" not in str(refused.value)
    own_link.call("CONFIG", "SET", "requirepass", "")


def test_a_key_that_holds_something_else_is_a_store_error(redis_link: RedisLink) -> None:
    redis_link.call("SET", redis_link.key("text"), "x")
    with pytest.raises(StoreError, match="WRONGTYPE"):
        redis_link.call("LPUSH", redis_link.key("text"), "x")


def test_an_answer_that_is_not_redis_is_mapped_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.recv(1_000)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(AfterturnError):
            RedisLink(f"redis://127.0.0.1:{server.getsockname()[1]}").call("PING")
        thread.join()


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1", "127.0.0.1:6379", "redis://h:99999", "redis://h:x", "redis://h/?db=x"]
)
def test_an_address_of_another_form_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(UsageError, match="Redis"):
        RedisLink(url)


@pytest.mark.parametrize(
    "url", ["redis://user:hunter2@h:6379/0", "rediss://:hunter2@h/0", "redis://h/0?password=hunter2"]
)
def test_no_message_holds_a_password(url: str) -> None:
    link = RedisLink(url)
    assert "hunter2" not in link.where
    assert "h" in link.where


def foreign_errors(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for below in kind.__subclasses__():
        yield from foreign_errors(below)


FOREIGN = {kind.__name__: kind for kind in foreign_errors(redis.exceptions.RedisError)}


@pytest.mark.parametrize("kind", FOREIGN.values(), ids=FOREIGN)
def test_every_foreign_error_becomes_one_of_ours(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    assert isinstance(error, redis.exceptions.RedisError)
    Exception.__init__(error, "some\nwords " * 100)
    ours = mapped(error, "unix:///s")
    assert isinstance(ours, AfterturnError)
    assert "\n" not in str(ours)
    assert len(str(ours)) < 400


@settings(deadline=None, max_examples=100)
@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_times_keep_their_milliseconds(moment: datetime) -> None:
    again = moment_of(milliseconds(moment))
    assert abs((again - moment).total_seconds()) < 0.001
    assert milliseconds(again) == milliseconds(moment)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        milliseconds(datetime(2026, 1, 23))  # noqa: DTZ001
