"""One worker per session: a lease in Redis that ends by itself when its holder dies, freezes or loses the network.

A lease carries a fencing number that only grows, so that what an old holder still writes can be told from what the new
one writes. Nobody waits for a lease: it is had or not, at once. Nothing here locks a file, and an agent's own writing
never meets a lease.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from worker.adapters.redis_link import RedisLink, Script
from worker.core.messages import digest_of
from worker.errors import AfterturnError, BrokerUnavailable, SessionBusy
from worker.log import log_event

LEASE_SECONDS = 30.0
BEATS_PER_LEASE = 3

# The number is never below the server's clock, so that it also grows when Redis lost its last second.
_ACQUIRE = Script("""
local held = redis.call("HMGET", KEYS[1], "owner", "fence")
if held[1] and held[1] ~= ARGV[1] then return false end
local fence = held[2]
if not fence then
  local time = redis.call("TIME")
  local clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  fence = string.format("%.0f", math.max(tonumber(redis.call("GET", KEYS[2]) or "0") + 1, clock))
  redis.call("SET", KEYS[2], fence)
end
redis.call("HSET", KEYS[1], "owner", ARGV[1], "fence", fence)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return fence
""")

_RENEW = Script("""
local held = redis.call("HMGET", KEYS[1], "owner", "fence")
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[3])
""")

_RELEASE = Script("""
local held = redis.call("HMGET", KEYS[1], "owner", "fence")
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end
return redis.call("DEL", KEYS[1])
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """session: what is held. owner: by whom. fence: grows with every new holder of any session."""

    session: str
    owner: str
    fence: int


class Held:
    """A lease that a thread keeps alive. Safe to ask from any thread."""

    def __init__(self, lease: Lease, valid_until: float) -> None:
        self.lease = lease
        self._valid_until = valid_until
        self._lost = threading.Event()

    @property
    def is_lost(self) -> bool:
        """Also true in a process that was frozen past the end of its lease, before any thread of it notices."""
        return self._lost.is_set() or time.monotonic() >= self._valid_until

    def confirm(self) -> None:
        """Raises: SessionBusy when the lease is lost; then nothing more may be written for the session."""
        if self.is_lost:
            raise SessionBusy(f"{self.lease.session}: the lease was lost while working; it is tried again")


@dataclass(slots=True)
class _Nesting:
    held: Held
    depth: int = 1


class Leases:
    """The leases of one Redis.

    session: any text that names the session in all workspaces. owner: any text that no other attempt uses.
    """

    def __init__(self, link: RedisLink, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._link = link
        self._lease_seconds = lease_seconds
        self._nestings: dict[tuple[str, str], _Nesting] = {}
        self._lock = threading.Lock()

    def acquire(self, session: str, owner: str) -> Lease | None:
        """The lease, None while another owner has it. Its own owner gets the same one again, with its time renewed.

        Raises: BrokerUnavailable.
        """
        keys = [self._key(session), self._link.key("fence")]
        fence = self._link.run(_ACQUIRE, keys, owner, self._milliseconds())
        return Lease(session=session, owner=owner, fence=int(fence)) if fence else None

    def renew(self, lease: Lease) -> bool:
        """Whether it is held for another span. False: it ended, and perhaps somebody else has it."""
        return bool(self._on_own(_RENEW, lease, self._milliseconds()))

    def release(self, lease: Lease) -> bool:
        """Gives it back; False, and nothing happens, when it is not the owner's any more."""
        return bool(self._on_own(_RELEASE, lease))

    def holder(self, session: str) -> Lease | None:
        """Who has it now."""
        owner, fence = self._link.call("HMGET", self._key(session), "owner", "fence")
        return Lease(session=session, owner=owner, fence=int(fence)) if owner and fence else None

    @contextmanager
    def hold(
        self,
        session: str,
        owner: str,
        *,
        on_lost: Callable[[], object] | None = None,
        on_beat: Callable[[], object] | None = None,
    ) -> Iterator[Held]:
        """Holds the lease for the block and keeps it alive. The same owner may nest it; the outermost gives it back.

        on_lost: called once, from the keeping thread, when it could not be kept. on_beat: called there with each beat.
        Raises: SessionBusy at once when another owner has it; BrokerUnavailable.
        """
        nested = self._enter(session, owner)
        if nested is not None:
            try:
                yield nested
            finally:
                self._leave(session, owner)
            return
        with self._kept(session, owner, on_lost, on_beat) as held:
            yield held

    @contextmanager
    def _kept(
        self, session: str, owner: str, on_lost: Callable[[], object] | None, on_beat: Callable[[], object] | None
    ) -> Iterator[Held]:
        valid_until = time.monotonic() + self._lease_seconds  # counted from before it was asked for
        lease = self.acquire(session, owner)
        if lease is None:
            raise SessionBusy(f"{session}: another worker has it; it is tried again")
        held = Held(lease, valid_until)
        with self._lock:
            self._nestings[session, owner] = _Nesting(held)
        done = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(held, done, on_lost, on_beat), daemon=True)
        keeper.start()
        try:
            yield held
        finally:
            self._leave(session, owner)
            done.set()
            keeper.join()
            with suppress(BrokerUnavailable):  # then it ends by itself
                self.release(lease)

    def _enter(self, session: str, owner: str) -> Held | None:
        with self._lock:
            nesting = self._nestings.get((session, owner))
            if nesting is None:
                return None
            nesting.depth += 1
            return nesting.held

    def _leave(self, session: str, owner: str) -> None:
        with self._lock:
            nesting = self._nestings[session, owner]
            nesting.depth -= 1
            if not nesting.depth:
                del self._nestings[session, owner]

    def _keep(
        self,
        held: Held,
        done: threading.Event,
        on_lost: Callable[[], object] | None,
        on_beat: Callable[[], object] | None,
    ) -> None:
        """Renews until told to stop or until the lease is lost. An outage shorter than the lease loses nothing."""
        while not done.wait(self._lease_seconds / BEATS_PER_LEASE):
            self._beat(held, on_beat)
            if held.is_lost:
                log_event("lease_lost", level="warning", session=held.lease.session, fence=held.lease.fence)
                if on_lost:
                    on_lost()
                return

    def _beat(self, held: Held, on_beat: Callable[[], object] | None) -> None:
        valid_until = time.monotonic() + self._lease_seconds
        try:
            if self.renew(held.lease):
                held._valid_until = valid_until
            else:
                held._lost.set()
            if on_beat:
                on_beat()
        except AfterturnError as exc:
            log_event("heartbeat_failed", level="warning", session=held.lease.session, reason=exc.reason)

    def _on_own(self, script: Script, lease: Lease, *more: int) -> object:
        return self._link.run(script, [self._key(lease.session)], lease.owner, str(lease.fence), *more)

    def _milliseconds(self) -> int:
        return round(self._lease_seconds * 1000)

    def _key(self, session: str) -> str:
        return self._link.key("lease", digest_of(session))
