"""Tokens that may be spent in a period: a local day, or one night. Reserved before the model is asked, settled after.

A reservation has a holder (the job) and is made once by it, however often the job is redelivered. One that is never
settled counts as spent: whoever died while spending has not saved anything.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from worker.adapters.redis_link import RedisLink, Script
from worker.core.messages import digest_of

_KEPT_MILLISECONDS = 40 * 86_400_000

# ARGV: holder tokens limit("" for none) force kept -> {granted, used, reserved by others}
_RESERVE = Script("""
local used, reserved = tonumber(redis.call("GET", KEYS[1]) or "0"), 0
local held = redis.call("HGETALL", KEYS[2])
for place = 1, #held, 2 do
  if held[place] ~= ARGV[1] then reserved = reserved + tonumber(held[place + 1]) end
end
local granted = ARGV[3] == "" or ARGV[4] == "1" or used + reserved + tonumber(ARGV[2]) <= tonumber(ARGV[3])
if granted then
  redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])
  redis.call("PEXPIRE", KEYS[2], ARGV[5])
end
return { granted and 1 or 0, used, reserved }
""")

# ARGV: holder used kept -> 1, or 0 when nothing was reserved (it was settled before)
_SETTLE = Script("""
if redis.call("HDEL", KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call("INCRBY", KEYS[1], ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[3])
return 1
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """granted: go on. left_tokens: what was free before, None without a limit."""

    granted: bool
    left_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Of one period: settled, and reserved by work that is under way or died."""

    used_tokens: int
    reserved_tokens: int


class TokenBudget:
    """name: whose budget, and for what ("day", "night"). All raise BrokerUnavailable."""

    def __init__(self, link: RedisLink, name: str, limit_tokens: int | None) -> None:
        self._link = link
        self._name = digest_of(name)
        self._limit = limit_tokens

    def reserve(self, period: str, holder: str, tokens: int, *, is_manual: bool = False) -> Grant:
        """Sets tokens aside for the holder, in place of what it had set aside. A manual job gets them in any case."""
        limit = "" if self._limit is None else self._limit
        force = "1" if is_manual else ""
        arguments = holder, max(tokens, 0), limit, force, _KEPT_MILLISECONDS
        granted, used, reserved = self._link.run(_RESERVE, self._keys(period), *arguments)
        left = None if self._limit is None else max(self._limit - used - reserved, 0)
        return Grant(granted=bool(granted), left_tokens=left)

    def settle(self, period: str, holder: str, used_tokens: int) -> bool:
        """Puts what was really spent in place of the reservation, once; False when there is none.

        period: that of the reservation, also when it has ended by now.
        """
        keys = self._keys(period)
        return bool(self._link.run(_SETTLE, keys, holder, max(used_tokens, 0), _KEPT_MILLISECONDS))

    def spending(self, period: str) -> Spending:
        used_key, held_key = self._keys(period)
        used = int(self._link.call("GET", used_key) or 0)
        reserved = sum(map(int, self._link.call("HVALS", held_key)))
        return Spending(used_tokens=used, reserved_tokens=reserved)

    def _keys(self, period: str) -> list[str]:
        return [self._link.key("budget", self._name, period, part) for part in ("used", "held")]


def local_day(now: datetime, zone: tzinfo) -> str:
    """The period that a moment belongs to: "2026-01-23" as the people there write it."""
    return now.astimezone(zone).date().isoformat()


def next_local_day(now: datetime, zone: tzinfo) -> datetime:
    """When the next period begins there, in UTC; a day of 23 or 25 hours is one too."""
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, tzinfo=zone).astimezone(UTC)
