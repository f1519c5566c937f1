"""Leases on a real Redis, between real processes."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from worker.adapters.leases import Lease, Leases
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis
from worker.errors import SessionBusy

InProcesses = Callable[[int, Callable[[int], Any]], list[Any]]

SESSION = "/w claude-code--0f3a"


@pytest.fixture
def leases(redis_link: RedisLink) -> Leases:
    return Leases(redis_link, lease_seconds=10)


def taken(leases: Leases, owner: str = "w1") -> Lease:
    lease = leases.acquire(SESSION, owner)
    assert lease is not None
    return lease


def wait_until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_a_session_has_one_holder(leases: Leases) -> None:
    lease = taken(leases)
    assert leases.acquire(SESSION, "w2") is None
    assert leases.acquire("/w another", "w2") is not None
    assert leases.holder(SESSION) == lease


def test_the_fencing_number_grows_with_every_holder(leases: Leases) -> None:
    fences = []
    for owner in ("w1", "w2", "w1"):
        lease = taken(leases, owner)
        fences.append(lease.fence)
        leases.release(lease)
    assert fences == sorted(set(fences))


def test_the_fencing_number_grows_also_when_redis_forgot_everything(leases: Leases, redis_link: RedisLink) -> None:
    before = taken(leases).fence
    redis_link.call("DEL", *redis_link.call("KEYS", redis_link.key("*")))
    time.sleep(0.002)  # the number follows the server's clock, in milliseconds
    assert taken(leases, "w2").fence > before


def test_only_its_owner_gives_a_lease_back(leases: Leases) -> None:
    lease = taken(leases)
    assert not leases.release(Lease(session=SESSION, owner="w2", fence=lease.fence))
    assert not leases.release(Lease(session=SESSION, owner="w1", fence=lease.fence - 1))
    assert leases.holder(SESSION) == lease
    assert leases.release(lease)
    assert not leases.release(lease)


def test_j11_a_lease_whose_holder_is_silent_is_free_after_its_time(redis_link: RedisLink) -> None:
    short = Leases(redis_link, lease_seconds=0.5)
    old = taken(short)
    assert short.acquire(SESSION, "w2") is None
    time.sleep(0.6)
    new = taken(short, "w2")
    assert new.fence > old.fence
    assert (short.renew(old), short.release(old), short.holder(SESSION)) == (False, False, new)


def test_a_held_lease_outlives_its_span_and_is_given_back_at_the_end(redis_link: RedisLink) -> None:
    """O49"""
    short, beats = Leases(redis_link, lease_seconds=1), []
    with short.hold(SESSION, "w1", on_beat=lambda: beats.append(1)) as held:
        time.sleep(1.5)
        held.confirm()
        assert short.acquire(SESSION, "w2") is None
    assert len(beats) >= 3
    assert short.holder(SESSION) is None


def test_o55_a_nested_call_of_the_same_owner_gets_the_same_lease_at_once(leases: Leases) -> None:
    started = time.monotonic()
    with leases.hold(SESSION, "w1") as outer:
        with leases.hold(SESSION, "w1") as inner:
            assert inner.lease == outer.lease
        assert leases.holder(SESSION) == outer.lease, "the inner end gave the outer's lease back"
    assert leases.holder(SESSION) is None
    assert time.monotonic() - started < 20


def test_o62_somebody_else_is_refused_at_once_also_in_the_same_process(leases: Leases) -> None:
    started = time.monotonic()
    with leases.hold(SESSION, "w1"), pytest.raises(SessionBusy, match="another worker"), leases.hold(SESSION, "w2"):
        pytest.fail("two owners hold one session")
    assert time.monotonic() - started < 20


def test_a_block_that_fails_gives_its_lease_back(leases: Leases) -> None:
    with pytest.raises(ZeroDivisionError), leases.hold(SESSION, "w1"):
        _ = 1 // 0
    assert leases.holder(SESSION) is None
    assert not [thread for thread in threading.enumerate() if "_keep" in thread.name]


def test_a_lease_that_somebody_else_has_now_is_reported_lost_at_the_next_beat(redis_link: RedisLink) -> None:
    short, lost = Leases(redis_link, lease_seconds=3), threading.Event()
    with short.hold(SESSION, "w1", on_lost=lost.set) as held:
        redis_link.call("DEL", *redis_link.call("KEYS", redis_link.key("lease:*")))
        new = taken(Leases(redis_link), "w2")
        assert lost.wait(2), "it was not noticed before the lease would have ended by itself"
        with pytest.raises(SessionBusy, match="lost"):
            held.confirm()
    assert short.holder(SESSION) == new, "the loser gave back what is not its own"


def test_an_outage_shorter_than_the_lease_loses_nothing(own_redis: EmbeddedRedis, tmp_path: Any) -> None:
    link = RedisLink(f"unix://{tmp_path}/own/redis/redis.sock", read_timeout_seconds=0.1)
    assert own_redis.pid is not None
    with Leases(link, lease_seconds=2).hold(SESSION, "w1") as held:
        os.kill(own_redis.pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(own_redis.pid, signal.SIGCONT)
        time.sleep(1.5)
        assert not held.is_lost
    link.close()


def test_an_outage_longer_than_the_lease_loses_it(own_redis: EmbeddedRedis, tmp_path: Any) -> None:
    link, lost = RedisLink(f"unix://{tmp_path}/own/redis/redis.sock", read_timeout_seconds=0.1), threading.Event()
    assert own_redis.pid is not None
    with Leases(link, lease_seconds=0.5).hold(SESSION, "w1", on_lost=lost.set) as held:
        os.kill(own_redis.pid, signal.SIGSTOP)
        assert lost.wait(3)
        assert held.is_lost
    os.kill(own_redis.pid, signal.SIGCONT)
    link.close()


def test_o53_j11_a_worker_that_is_killed_blocks_nobody_longer_than_its_lease(
    redis_server: str, redis_link: RedisLink
) -> None:
    leases = Leases(redis_link, lease_seconds=1)
    child = os.fork()
    if child == 0:
        own = Leases(RedisLink(redis_server, prefix=redis_link.prefix), lease_seconds=1)
        with own.hold(SESSION, "child"):
            time.sleep(60)
        os._exit(0)
    wait_until(lambda: leases.holder(SESSION))
    time.sleep(1.3)
    assert leases.acquire(SESSION, "w2") is None, "the child keeps it alive"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wait_until(lambda: leases.acquire(SESSION, "w2"), seconds=4)


def test_a_worker_that_was_frozen_past_its_lease_knows_it_when_it_wakes(
    redis_server: str, redis_link: RedisLink
) -> None:
    answer, report = os.pipe()
    child = os.fork()
    if child == 0:
        own = Leases(RedisLink(redis_server, prefix=redis_link.prefix), lease_seconds=0.4)
        with own.hold(SESSION, "child") as held:
            os.kill(os.getpid(), signal.SIGSTOP)
            os.write(report, b"lost" if held.is_lost else b"held")
        os._exit(0)
    os.close(report)
    os.waitpid(child, os.WUNTRACED)
    time.sleep(0.5)
    new = taken(Leases(redis_link), "w2")
    os.kill(child, signal.SIGCONT)
    with os.fdopen(answer, "rb") as stream:
        assert stream.read() == b"lost"
    os.waitpid(child, 0)
    assert Leases(redis_link).holder(SESSION) == new


def test_b39_of_many_processes_at_once_one_gets_the_lease(
    redis_server: str, redis_link: RedisLink, in_processes: InProcesses
) -> None:
    def want(number: int) -> bool:
        own = Leases(RedisLink(redis_server, prefix=redis_link.prefix))
        return own.acquire(SESSION, f"process {number}") is not None

    assert sum(in_processes(8, want)) == 1
