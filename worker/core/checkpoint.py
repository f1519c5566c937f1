"""The checkpoint as a value: what one consolidation leaves behind, and from what range it came."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from worker.core.ledger import Ledger
from worker.core.summary import Summary

SCHEMA = 1


class Status(StrEnum):
    """ok: a model answered for all. degraded: asked, and not usable for all. deterministic: no model configured."""

    OK = "ok"
    DEGRADED = "degraded"
    DETERMINISTIC = "deterministic"


class Outcome(StrEnum):
    COMMITTED = "committed"
    NOTHING_TO_DO = "nothing_to_do"
    DEFERRED = "deferred"
    REFUSED = "refused"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation. where: section and item, or the part. mended: code put it right, and nothing is left to do."""

    code: str
    where: str
    ids: tuple[str, ...] = ()
    detail: str = ""
    mended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Where a reader goes on behind a covered range.

    index: of the next message. offset: bytes into the file, None for formats that are one document.
    anchors: digests of the last covered messages, newest last, at most 3. anchor_offset: where the row of the newest
    begins. state: what the reader of the format knew before that row, as JSON by kind: ids, names, digests, never words
    of a message; empty when that was not kept.
    """

    format: str
    index: int
    offset: int | None = None
    anchor_offset: int | None = None
    anchors: tuple[str, ...] = ()
    state: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRef:
    """key: folder name under sessions/. source: the transcript's path as it was given. cwd: the project it names."""

    key: str
    agent: str
    id: str
    source: str
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRange:
    """Message indexes [start, end) and the hash of those messages. chain: counts the restarts of the file."""

    start: int
    end: int
    sha256: str
    chain: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    findings: tuple[Finding, ...] = ()
    repairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """Cost is None when no price of the model is known."""

    name: str | None = None
    prompt_sha256: str | None = None
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One immutable, numbered file. id: sha256 over everything else. parent: id of number - 1, None for the first.

    replaces: set when `range` was summarized again: the numbers of the checkpoints that it touches. What those say of
    the range no longer counts; `covered` and `cursor` stay as they were.
    """

    schema: int = SCHEMA
    id: str = ""
    number: int
    parent: str | None
    created_at: datetime
    session: SessionRef
    range: SourceRange
    covered: int
    status: Status
    summary: Summary
    ledger: Ledger
    validation: Validation
    model: ModelUse
    savings: dict[str, int]
    tokens_before: int
    tokens_after: int
    cursor: Cursor
    skipped: dict[str, int] = field(default_factory=dict)
    moved: Summary = field(default_factory=Summary)
    """The items that outgrew the state with this checkpoint: they stand in HISTORY.md and in no later summary."""
    replaces: tuple[int, ...] = ()
