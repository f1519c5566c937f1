"""Breakers: after failures in a row, no more automatic attempts for a while, for a session or for a provider.

    closed --3 failures--> open --cool-down--> half-open: one probe --success--> closed
                            ^---------- failure, next step of the ladder ----'

Kept in Redis, so that a restart of the worker, or of Redis, changes nothing. A manual job passes, and its success
closes the breaker. The ladder never ends in "off for good": its last step is repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.adapters.redis_link import RedisLink, Script, milliseconds, moment_of
from worker.core.messages import digest_of
from worker.ports import Passage

FAILURES_IN_A_ROW = 3
LADDER_SECONDS = (300.0, 900.0, 3_600.0, 21_600.0, 86_400.0)
PROBE_SECONDS = 1_800.0
"""A probe that said nothing for so long died; the next one may try."""

_CLOCK_SLACK_MILLISECONDS = 60_000
_FORGET_MILLISECONDS = 7 * 86_400_000

# ARGV: now probe slack -> "closed" | "probe", or "open" | "probing" with the time until which it holds
_ASK = Script("""
local now = tonumber(ARGV[1])
local state = redis.call("HMGET", KEYS[1], "open_until", "wait", "probe_until", "failures", "reason")
local open_until, wait, probe_until = tonumber(state[1]), tonumber(state[2]), tonumber(state[3])
if not open_until then return { "closed", "", state[4] or "0", "" } end
local clock_was_set_back = open_until - now > wait + tonumber(ARGV[3])
if now < open_until and not clock_was_set_back then return { "open", state[1], state[4], state[5] } end
if probe_until and now < probe_until and probe_until - now <= tonumber(ARGV[2]) + tonumber(ARGV[3]) then
  return { "probing", state[3], state[4], state[5] }
end
redis.call("HSET", KEYS[1], "probe_until", string.format("%.0f", now + tonumber(ARGV[2])))
return { "probe", "", state[4], state[5] }
""")

# ARGV: name now limit slack forget reason ladder … -> failures in a row. Failures of work that was under way when the
# breaker opened are counted and do not climb the ladder: one outage is one step, however many calls it broke.
_FAIL = Script("""
local now, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local failures = redis.call("HINCRBY", KEYS[1], "failures", 1)
local state = redis.call("HMGET", KEYS[1], "open_until", "step", "wait")
local open_until, step, wait = tonumber(state[1]), tonumber(state[2] or "0"), tonumber(state[3] or "0")
redis.call("HSET", KEYS[1], "name", ARGV[1], "reason", ARGV[6])
local is_open = open_until and now < open_until and open_until - now <= wait + tonumber(ARGV[4])
if failures >= limit and not is_open then
  step = math.min(step + 1, #ARGV - 6)
  wait = tonumber(ARGV[6 + step])
  open_until = now + wait
  redis.call("HSET", KEYS[1], "step", step, "wait", wait, "open_until", string.format("%.0f", open_until))
  redis.call("HDEL", KEYS[1], "probe_until")
  redis.call("ZADD", KEYS[2], string.format("%.0f", open_until), ARGV[1])
end
redis.call("PEXPIRE", KEYS[1], string.format("%.0f", math.max(wait, 0) + tonumber(ARGV[5])))
return failures
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerState:
    """name: as it was given. open_until: when the cool-down ends; then a probe is let through."""

    name: str
    failures: int
    open_until: datetime
    reason: str


class Breakers:
    """The breakers of one Redis, by name ("session:…", "provider:…"). All raise BrokerUnavailable."""

    def __init__(
        self,
        link: RedisLink,
        *,
        failures_in_a_row: int = FAILURES_IN_A_ROW,
        ladder_seconds: Sequence[float] = LADDER_SECONDS,
        probe_seconds: float = PROBE_SECONDS,
    ) -> None:
        self._link = link
        self._failures = failures_in_a_row
        self._ladder = [round(seconds * 1000) for seconds in ladder_seconds]
        self._probe = round(probe_seconds * 1000)

    def ask(self, name: str, now: datetime, *, is_manual: bool = False) -> Passage:
        """Whether an attempt may be made. A probe must be answered: `succeeded`, `failed` or `withdrew`."""
        if is_manual:
            return Passage(allowed=True)
        times = milliseconds(now), self._probe, _CLOCK_SLACK_MILLISECONDS
        state, until, failures, reason = self._link.run(_ASK, [self._key(name)], *times)
        if state in ("closed", "probe"):
            return Passage(allowed=True, is_probe=state == "probe")
        detail = f"{failures} failures in a row, the last: {reason}"
        return Passage(allowed=False, reason=f"breaker_{state}", until=moment_of(until), detail=detail)

    def failed(self, name: str, now: datetime, reason: str) -> int:
        """Notes a failure, with its reason code; how many there were in a row."""
        keys = [self._key(name), self._link.key("breakers")]
        fixed = milliseconds(now), self._failures, _CLOCK_SLACK_MILLISECONDS, _FORGET_MILLISECONDS
        return int(self._link.run(_FAIL, keys, name, *fixed, reason, *self._ladder))

    def succeeded(self, name: str) -> None:
        """Closes the breaker and forgets its failures."""
        self._link.call("DEL", self._key(name))
        self._link.call("ZREM", self._link.key("breakers"), name)

    def withdrew(self, name: str) -> None:
        """A probe that came to nothing, good or bad (nothing to do, cancelled): the next attempt may probe."""
        self._link.call("HDEL", self._key(name), "probe_until")

    def not_closed(self) -> list[BreakerState]:
        """Every breaker that is open or half-open, the longest open last."""
        names = self._link.call("ZRANGE", self._link.key("breakers"), 0, -1)
        return [state for state in map(self._state, names) if state]

    def _state(self, name: str) -> BreakerState | None:
        fields = self._link.call("HMGET", self._key(name), "failures", "open_until", "reason")
        failures, open_until, reason = fields
        if open_until is None:  # it was forgotten with time
            self._link.call("ZREM", self._link.key("breakers"), name)
            return None
        return BreakerState(name=name, failures=int(failures), open_until=moment_of(open_until), reason=reason)

    def _key(self, name: str) -> str:
        return self._link.key("breaker", digest_of(name))
