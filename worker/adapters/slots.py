"""How many requests may be with one provider at a time, over all processes and machines, and when none may be.

All times are the Redis server's: its clock is the only one that all holders share. A holder that dies gives its slot
back when its time is over, so that time must be longer than the longest request.
"""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from worker.adapters.redis_link import RedisLink, Script
from worker.core.messages import digest_of
from worker.errors import BrokerUnavailable, ModelUnavailable, RateLimited
from worker.log import log_event

POLL_SECONDS = 0.02
LONGEST_POLL_SECONDS = 0.1

# ARGV: holder limit life -> {1, 0} had it, {0, 0} all taken, {0, ms} paused for so long
_TAKE = Script("""
local paused = redis.call("PTTL", KEYS[2])
if paused > 0 then return { 0, paused } end
local time, life = redis.call("TIME"), tonumber(ARGV[3])
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now))
-- Further ahead than any can be: the server's clock was set back.
redis.call("ZREMRANGEBYSCORE", KEYS[1], string.format("%.0f", now + 2 * life), "+inf")
local is_full = redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[2])
if is_full and not redis.call("ZSCORE", KEYS[1], ARGV[1]) then return { 0, 0 } end
redis.call("ZADD", KEYS[1], string.format("%.0f", now + life), ARGV[1])
redis.call("PEXPIRE", KEYS[1], 2 * life)
return { 1, 0 }
""")

_PAUSE = Script("""
if redis.call("PTTL", KEYS[1]) < tonumber(ARGV[1]) then redis.call("SET", KEYS[1], "1", "PX", ARGV[1]) end
""")


class Slots:
    """The slots of one provider. Share one object between the threads of a process: then only one of them polls."""

    def __init__(self, link: RedisLink, provider: str, limit: int, *, life_seconds: float) -> None:
        self._link = link
        self._provider = provider
        self._limit = limit
        self._life = round(life_seconds * 1000)
        self._turnstile = threading.Lock()
        self._taken = link.key("slots", digest_of(provider))
        self._paused = link.key("paused", digest_of(provider))

    @contextmanager
    def slot(self, *, wait_seconds: float) -> Iterator[None]:
        """One of the slots for the block.

        Raises: RateLimited when the provider asked for a longer pause than `wait_seconds`, ModelUnavailable when no
        slot became free in that time, BrokerUnavailable.
        """
        holder = secrets.token_hex(8)
        self._wait_for(holder, time.monotonic() + wait_seconds, wait_seconds)
        try:
            yield
        finally:
            with suppress(BrokerUnavailable):  # then it ends by itself
                self._link.call("ZREM", self._taken, holder)

    def pause(self, seconds: float) -> None:
        """No new requests for so long, from nobody: what a provider's Retry-After asks for. The longest counts."""
        self._link.run(_PAUSE, [self._paused], max(round(seconds * 1000), 1))

    def paused_seconds(self) -> float:
        return max(int(self._link.call("PTTL", self._paused)), 0) / 1000

    def taken(self) -> int:
        """How many are out, those of holders that died just now included."""
        return int(self._link.call("ZCARD", self._taken))

    def _wait_for(self, holder: str, deadline: float, wait_seconds: float) -> None:
        if not self._turnstile.acquire(timeout=max(wait_seconds, 0)):
            raise self._none_free(wait_seconds)
        try:
            pause = POLL_SECONDS
            while not self._take(holder, deadline):
                if time.monotonic() + pause > deadline:
                    raise self._none_free(wait_seconds)
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_POLL_SECONDS)
        finally:
            self._turnstile.release()

    def _take(self, holder: str, deadline: float) -> bool:
        taken, paused_ms = self._link.run(_TAKE, [self._taken, self._paused], holder, self._limit, self._life)
        if time.monotonic() + paused_ms / 1000 > deadline and paused_ms:
            seconds = paused_ms / 1000
            raise RateLimited(f"{self._provider}: asked for a pause, {seconds:.0f} s are left; try again then", seconds)
        return bool(taken)

    def _none_free(self, wait_seconds: float) -> ModelUnavailable:
        log_event("slot_not_free", level="warning", provider=self._provider, limit=self._limit, seconds=wait_seconds)
        return ModelUnavailable(f"{self._provider}: all {self._limit} slots taken for {wait_seconds:g} s; try again")
