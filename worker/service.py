"""What one process of the service works with: its settings, one Redis, and everything that is kept there."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path

from worker import wiring
from worker.adapters.breakers import Breakers
from worker.adapters.budgets import TokenBudget
from worker.adapters.events import Events
from worker.adapters.job_desk import SILENT_SECONDS, JobDesk
from worker.adapters.leases import Leases
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import socket_url
from worker.adapters.throttles import FrequencyCap, Standstill
from worker.config import Settings
from worker.consolidate import Tools
from worker.core.job import Ending, Job
from worker.errors import BrokerUnavailable
from worker.ports import Clock
from worker.providers import Providers

CONNECT_TIMEOUT_SECONDS = 2.0
"""A worker may wait longer for a Redis than an agent may."""

ToolsMaker = Callable[..., Tools]
Told = Callable[[Job, Ending, float], None]


def _told_nobody(job: Job, ending: Ending, seconds: float) -> None:
    """Nobody counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """make_tools: as `wiring.tools_for`. told: hears how each job ended and how many seconds its attempt took.
    silent_seconds: a worker that was not heard for so long is taken for dead, and its job is done by another.
    """

    settings: Settings
    run: Path
    zone: tzinfo
    clock: Clock
    link: RedisLink
    desk: JobDesk
    leases: Leases
    breakers: Breakers
    frequency: FrequencyCap
    standstill: Standstill
    events: Events
    providers: Providers
    make_tools: ToolsMaker = field(default=wiring.tools_for)
    told: Told = field(default=_told_nobody)
    silent_seconds: float = SILENT_SECONDS

    @classmethod
    def connect(cls, settings: Settings) -> "Service":
        """Nothing is sent yet. Raises: BrokerUnavailable when no Redis is named and none was started here."""
        return cls.over(RedisLink(redis_url_of(settings), connect_timeout_seconds=CONNECT_TIMEOUT_SECONDS), settings)

    @classmethod
    def over(
        cls,
        link: RedisLink,
        settings: Settings,
        *,
        make_tools: ToolsMaker = wiring.tools_for,
        silent_seconds: float = SILENT_SECONDS,
        clock: Clock | None = None,
    ) -> "Service":
        clock, breakers = clock or wiring.SystemClock(), Breakers(link)
        return cls(
            settings=settings,
            run=wiring.ground_of(settings).run,
            zone=wiring.zone_of(settings),
            clock=clock,
            link=link,
            desk=JobDesk(link),
            leases=Leases(link, lease_seconds=silent_seconds),
            breakers=breakers,
            frequency=FrequencyCap(link),
            standstill=Standstill(link),
            events=Events(link),
            providers=Providers(
                link,
                breakers,
                clock,
                concurrency=settings.provider_concurrency,
                timeout_seconds=settings.llm_timeout_seconds,
            ),
            make_tools=make_tools,
            silent_seconds=silent_seconds,
        )

    def telling(self, told: Told) -> "Service":
        return replace(self, told=told)

    def day_budget(self, workspace: str) -> TokenBudget:
        """Of a workspace, for one local day."""
        return TokenBudget(self.link, f"day:{workspace}", self.settings.daily_tokens)


def redis_url_of(settings: Settings) -> str:
    """The Redis that the settings name, else the one that was started in the run folder.

    Raises: BrokerUnavailable when there is neither.
    """
    run = wiring.ground_of(settings).run
    url = settings.redis_url or socket_url(run)
    if url is None:
        raise BrokerUnavailable(f"{run}: no Redis was started here; start 'afterturn up' or set AFTERTURN_REDIS_URL")
    return url
