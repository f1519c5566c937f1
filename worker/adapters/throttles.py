"""What a breaker cannot see: runs that succeed and should not be repeated.

    FrequencyCap   a session that is consolidated successfully again and again, faster than anybody can use it
    Standstill     a session in which nothing changed since a run found nothing to do or gained nothing

Both let a manual job pass.
"""

from datetime import datetime, timedelta

from worker.adapters.redis_link import RedisLink, Script, milliseconds, moment_of
from worker.core.messages import digest_of
from worker.ports import Passage

SUCCESSES_PER_SPAN = 6
SPAN = timedelta(hours=1)

FRUITLESS_RUNS = 2
_REMEMBERED_MILLISECONDS = 90 * 86_400_000

_ASK = Script("""
local now, span, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now - span))
local newest = redis.call("ZREVRANGEBYSCORE", KEYS[1], ARGV[1], "-inf", "WITHSCORES", "LIMIT", 0, most)
return newest[2 * most] or false
""")

_FRUITLESS = Script("""
if redis.call("HGET", KEYS[1], "content") ~= ARGV[1] then
  redis.call("DEL", KEYS[1])
  redis.call("HSET", KEYS[1], "content", ARGV[1])
end
redis.call("PEXPIRE", KEYS[1], ARGV[3])
return redis.call("HINCRBY", KEYS[1], "runs", ARGV[2])
""")


class FrequencyCap:
    """At most so many successful automatic runs of one session in a span of time. All raise BrokerUnavailable."""

    def __init__(self, link: RedisLink, *, successes: int = SUCCESSES_PER_SPAN, span: timedelta = SPAN) -> None:
        self._link = link
        self._successes = successes
        self._span = span

    def ask(self, session: str, now: datetime, *, is_manual: bool = False) -> Passage:
        if is_manual:
            return Passage(allowed=True)
        span = round(self._span.total_seconds() * 1000)
        oldest = self._link.run(_ASK, [self._key(session)], milliseconds(now), span, self._successes)
        if oldest is None:
            return Passage(allowed=True)
        detail = f"{self._successes} successful runs in {self._span.total_seconds():g} s"
        return Passage(allowed=False, reason="throttled", until=moment_of(oldest) + self._span, detail=detail)

    def succeeded(self, session: str, now: datetime, run: str) -> None:
        """Notes a successful run, once by its id."""
        self._link.call("ZADD", self._key(session), milliseconds(now), run)
        self._link.call("PEXPIRE", self._key(session), round(2 * self._span.total_seconds() * 1000))

    def _key(self, session: str) -> str:
        return self._link.key("frequency", digest_of(session))


class Standstill:
    """Remembers for which content of a session another run is in vain. All raise BrokerUnavailable.

    content: what changes with any new message: the hash of the newest one, or size and time of the file.
    """

    def __init__(self, link: RedisLink, *, fruitless_runs: int = FRUITLESS_RUNS) -> None:
        self._link = link
        self._fruitless_runs = fruitless_runs

    def ask(self, session: str, content: str, *, is_manual: bool = False) -> Passage:
        if is_manual:
            return Passage(allowed=True)
        known, runs = self._link.call("HMGET", self._key(session), "content", "runs")
        if known != digest_of(content) or int(runs or 0) < self._fruitless_runs:
            return Passage(allowed=True)
        return Passage(allowed=False, reason="unchanged", detail="nothing changed since a run that came to nothing")

    def fruitless(self, session: str, content: str) -> int:
        """Notes a run that made nothing smaller; how many in a row for this content."""
        return self._note(session, content, 1)

    def nothing_there(self, session: str, content: str) -> None:
        """Notes that this content holds nothing to consolidate: no further run until it changes."""
        self._note(session, content, self._fruitless_runs)

    def fruitful(self, session: str) -> None:
        self._link.call("DEL", self._key(session))

    def _note(self, session: str, content: str, runs: int) -> int:
        arguments = digest_of(content), runs, _REMEMBERED_MILLISECONDS
        return int(self._link.run(_FRUITLESS, [self._key(session)], *arguments))

    def _key(self, session: str) -> str:
        return self._link.key("standstill", digest_of(session))
