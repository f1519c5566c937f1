"""What happened, for agents and dashboards: a stream in Redis, the newest some ten thousand, read from any place on.

Ids, counts and reason codes; never content. An event is a convenience: the truth is the checkpoint and the job record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.adapters.redis_link import RedisLink, milliseconds, moment_of

KEPT_EVENTS = 10_000
BEGINNING = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """name: in the past tense (committed, degraded, refused …). id: its place in the stream, "" before it has one."""

    name: str
    at: datetime
    id: str = ""
    workspace: str = ""
    session: str = ""
    job: str = ""
    checkpoint: int | None = None
    status: str | None = None
    reason: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


class Events:
    """All raise BrokerUnavailable."""

    def __init__(self, link: RedisLink, *, kept: int = KEPT_EVENTS) -> None:
        self._link = link
        self._kept = kept
        self._key = link.key("events")

    def append(self, event: Event) -> str:
        """Its place in the stream."""
        fields = [word for pair in _row(event).items() for word in pair]
        return str(self._link.call("XADD", self._key, "MAXLEN", "~", self._kept, "*", *fields))

    def last_id(self) -> str:
        """The place of the newest event: from there on `read` and `follow` give only what is to come."""
        newest = self._link.call("XREVRANGE", self._key, "+", "-", "COUNT", 1)
        return str(newest[0][0]) if newest else BEGINNING

    def read(self, after: str = BEGINNING, *, limit: int = 100, wait_seconds: float = 0.0) -> list[Event]:
        """Events behind the place `after`, oldest first; without any it waits at most so long, and gives []."""
        block: tuple[str | int, ...] = ()
        if wait_seconds > 0:
            longest = self._link.read_timeout_seconds / 2  # else the connection would give up first
            block = ("BLOCK", max(round(min(wait_seconds, longest) * 1000), 1))
        found = self._link.call("XREAD", "COUNT", limit, *block, "STREAMS", self._key, after)
        return [_event(place, fields) for _, entries in found or [] for place, fields in entries]

    def follow(self, after: str = BEGINNING) -> Iterator[Event | None]:
        """Every event behind `after`, as it comes; None when none came for a while, so that a caller can stop."""
        while True:
            events = self.read(after, wait_seconds=self._link.read_timeout_seconds)
            if not events:
                yield None
            for event in events:
                after = event.id
                yield event


def _row(event: Event) -> dict[str, str | int]:
    row: dict[str, str | int | None] = {
        "name": event.name,
        "at": milliseconds(event.at),
        "workspace": event.workspace,
        "session": event.session,
        "job": event.job,
        "checkpoint": event.checkpoint,
        "status": event.status,
        "reason": event.reason,
        "tokens_before": event.tokens_before,
        "tokens_after": event.tokens_after,
    }
    return {name: value for name, value in row.items() if value is not None}


def _event(place: str, row: Mapping[str, Any]) -> Event:
    return Event(
        id=place,
        name=row["name"],
        at=moment_of(row["at"]),
        workspace=row.get("workspace", ""),
        session=row.get("session", ""),
        job=row.get("job", ""),
        checkpoint=_number(row, "checkpoint"),
        status=row.get("status"),
        reason=row.get("reason"),
        tokens_before=_number(row, "tokens_before"),
        tokens_after=_number(row, "tokens_after"),
    )


def _number(row: Mapping[str, Any], name: str) -> int | None:
    return int(row[name]) if name in row else None
