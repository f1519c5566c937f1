"""The record of one night: what it did, what it left, and who may write that down.

    WORKSPACE/.afterturn/nightly/2026-11-29.json           created exclusively: there is one night per local date
    WORKSPACE/.afterturn/nightly/2026-11-29.claim-2        created exclusively by who takes over a night that died

No lock is held. A night shows that it lives by writing; one that wrote nothing for a while may be taken over, and finds
out before its next write.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from worker.adapters.files import read_if_there, remove, write_atomically
from worker.core.nightly import LeftOut, Work
from worker.errors import AfterturnError, StoreError
from worker.hygiene import HygieneReport
from worker.ports import Clock

CLAIM_SECONDS = 1_800.0
"""A night that wrote nothing for so long is dead: the longest silence is one request to a model with its retries."""

BEAT_SECONDS = 60.0
KEPT_DAYS = 60
MAX_MISSED_DAYS = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneStep:
    """outcome: that of the job, or failed. tokens: what the model really took. detail: one line for a person."""

    name: str
    work: Work
    session: str | None
    outcome: str
    reason: str
    tokens: int = 0
    checkpoint: int | None = None
    status: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRecord:
    """All that is known of the night of a date. beat_at: the last sign of life. begun: how often each step was begun.

    generation: how often the night was taken over, from 1. released: stopped before its end, by somebody who said so.
    missed: dates since the last night on which there was none.
    """

    day: date
    started_at: datetime
    beat_at: datetime
    generation: int = 1
    released: bool = False
    finished_at: datetime | None = None
    begun: Mapping[str, int] = field(default_factory=dict)
    done: tuple[DoneStep, ...] = ()
    left: tuple[LeftOut, ...] = ()
    tokens: int = 0
    hygiene: HygieneReport | None = None
    problems: tuple[str, ...] = ()
    missed: tuple[date, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """outcome: done, already_done (by an earlier run of this date), or running (by another process)."""

    outcome: str
    record: NightRecord

    def as_object(self) -> dict[str, Any]:
        """The documented object of `afterturn nightly --json`."""
        fields = asdict(self.record)
        del fields["begun"], fields["generation"], fields["released"], fields["beat_at"]
        return {"outcome": self.outcome, **fields}

    def lines(self) -> list[str]:
        """The report for a person, one thing per line."""
        record = self.record
        lines = [f"night of {record.day.isoformat()}: {self.outcome.replace('_', ' ')}, {record.tokens:,} tokens"]
        lines += [f"  missed   {day.isoformat()}" for day in record.missed]
        lines += [_line_of(step) for step in record.done]
        lines += [f"  left     {one.work} {one.session or ''}: {one.reason}" for one in record.left]
        lines += _lines_of(record.hygiene) if record.hygiene else []
        return [*lines, *(f"  problem  {problem}" for problem in record.problems)]


def _line_of(step: DoneStep) -> str:
    made = f", checkpoint {step.checkpoint} {step.status}" if step.checkpoint else ""
    spent = f", {step.tokens:,} tokens" if step.tokens else ""
    detail = f" ({step.detail})" if step.detail else ""
    return f"  {step.work:<12} {step.session or 'workspace'}: {step.outcome}, {step.reason}{made}{spent}{detail}"


def _lines_of(report: HygieneReport) -> Iterator[str]:
    if report.memory_in or report.memory_out:
        yield f"  MEMORY.md: {len(report.memory_in)} lines in, {len(report.memory_out)} out"
    if report.removed:
        removed = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in report.removed.items())
        yield f"  removed: {removed}, {report.freed_bytes:,} bytes"
    yield from (f"  problem  {problem}" for problem in report.problems)


class ClaimLost(Exception):
    """Another process took the night over."""


class Claim:
    """The record of a date, and the right to write it.

    The first process creates the record exclusively. Each that takes over creates a file with its number exclusively,
    and whoever finds a higher number than its own has lost the night.
    """

    def __init__(self, root: Path, day: date, clock: Clock) -> None:
        self._folder = root / ".afterturn" / "nightly"
        self._path = self._folder / f"{day.isoformat()}.json"
        self._day = day
        self._clock = clock
        self._lock = threading.Lock()
        now = clock.now()
        self.record = NightRecord(day=day, started_at=now, beat_at=now)

    def take(self) -> str | None:
        """None when the night is ours; else what is to be said: already_done or running."""
        earlier = self.earlier()
        self.record = replace(self.record, missed=_missed(earlier, self._day))
        if write_atomically(self._path, _record_type().dump_json(self.record), exclusive=True):
            return None
        self.record = _read(self._path)
        return "already_done" if self.record.finished_at else self._take_over(self.record)

    def _take_over(self, found: NightRecord) -> str | None:
        claims = self._claims()
        signs = [found.beat_at, *claims.values()]
        now = self._clock.now()
        is_free = found.released and found.generation >= max([0, *claims])
        # A clock that was set back makes a sign come from the future: it is as old as it is far away.
        if not is_free and min(abs((now - sign).total_seconds()) for sign in signs) < CLAIM_SECONDS:
            return "running"
        generation = max([found.generation, *claims]) + 1
        path = self._folder / f"{self._day.isoformat()}.claim-{generation}"
        if not write_atomically(path, now.isoformat().encode(), exclusive=True):
            return "running"
        self.write(replace(found, generation=generation, released=False))
        return None

    def write(self, record: NightRecord) -> None:
        """Raises: ClaimLost when the night is another's by now."""
        if max([0, *self._claims()]) > record.generation:
            raise ClaimLost
        with self._lock:
            self.record = replace(record, beat_at=self._clock.now())
            write_atomically(self._path, _record_type().dump_json(self.record))

    def release(self) -> None:
        """Says that nobody works on the night any more, so that the next one need not wait."""
        with suppress(ClaimLost, AfterturnError):
            self.write(replace(self.record, released=True))

    def beat(self) -> None:
        """A sign of life, at most once a minute."""
        if abs((self._clock.now() - self.record.beat_at).total_seconds()) >= BEAT_SECONDS:
            self.write(self.record)

    def earlier(self) -> list[NightRecord]:
        """The records of earlier dates, oldest first; one that is damaged tells nothing."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with suppress(StoreError):
                found.append(_read(path))
        return [record for record in found if record.day < self._day]

    def sweep(self) -> None:
        """Removes the records of long ago, and the claims of all nights that are over."""
        limit = (self._day - timedelta(days=KEPT_DAYS)).isoformat()
        for path in self._folder.glob("*"):
            is_old_claim = ".claim-" in path.name and path.name[:10] < self._day.isoformat()
            if path.name[:10] < limit or is_old_claim:
                remove(path)

    def _claims(self) -> dict[int, datetime]:
        """Number → when it was claimed."""
        claims: dict[int, datetime] = {}
        for path in self._folder.glob(f"{self._day.isoformat()}.claim-*"):
            number = path.name.rpartition("-")[2]
            data = read_if_there(path)
            if number.isdigit() and data is not None:
                claims[int(number)] = datetime.fromisoformat(data.decode())
        return claims


def _missed(earlier: Sequence[NightRecord], day: date) -> tuple[date, ...]:
    """The dates behind the last finished night that have none; none when there was never a night."""
    finished = [record.day for record in earlier if record.finished_at is not None]
    if not finished:
        return ()
    days = min((day - finished[-1]).days - 1, MAX_MISSED_DAYS)
    return tuple(day - timedelta(days=back) for back in range(days, 0, -1))


def _read(path: Path) -> NightRecord:
    try:
        return _record_type().validate_json(read_if_there(path) or b"")
    except ValidationError as exc:
        raise StoreError(f"{path}: damaged; remove it and run 'afterturn nightly' again") from exc


@cache
def _record_type() -> TypeAdapter[NightRecord]:
    return TypeAdapter(NightRecord)
