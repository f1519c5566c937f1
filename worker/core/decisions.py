"""What earlier views of a session have settled, so that later ones repeat it byte for byte.

A provider caches the beginning of a request. It is found again only as long as nothing in it changes: what went out
whole stays whole, what was replaced comes back with the very same words. The record is kept per lane, because another
window, format or strategy is another request: a smaller model that comes later shrinks nothing for the larger one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from worker.core.checkpoint import Cursor
from worker.core.sending import Sealed
from worker.core.tokens import estimate_tokens

SCHEMA = 1
LANES = 8
"""How many are kept; the one that was used longest ago goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """The words that stand for the result of a message. step: which step put them there. saved: tokens."""

    text: str
    step: str
    saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadBlock:
    """One text before the messages that are shown. kind: "memory", "files" or "note"."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that Afterturn says behind a message, when it came to know it. after: that message's index."""

    after: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What stands in the place of older messages. kind: "whole" (nothing does), "checkpoint", "window", "archive".

    start: where the messages that are shown begin, None for the beginning of the file.
    system_rows: how many messages of the file have to be read for all system messages before the start.
    checkpoint: the number of the one that is told, None where none is. left_out_tokens: of the messages before start.
    """

    kind: str = "whole"
    start: Cursor | None = None
    head: tuple[HeadBlock, ...] = ()
    system_rows: int = 0
    checkpoint: int | None = None
    left_out_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The last request. end: index behind its last message; sha256: of the messages from the start to there.

    units: how many pieces (see `dialects.units`) it had. units_sha256: over them.
    """

    end: int
    sha256: str
    units: int
    units_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Everything that the next view of the same kind repeats.

    replaced: by message index. late, breaks: see `sending.Sealed`. share: of the budget that is used, below 1 after a
    provider said that a view was too long; forced_at: the end of the view that it was said of.
    """

    base: Base = field(default_factory=Base)
    replaced: Mapping[int, Replacement] = field(default_factory=dict)
    late: tuple[int, ...] = ()
    breaks: tuple[int, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    sent: Sent | None = None
    share: float = 1.0
    forced_at: int | None = None

    @property
    def sealed(self) -> Sealed:
        return Sealed(late=frozenset(self.late), breaks=frozenset(self.breaks))

    @property
    def savings(self) -> dict[str, int]:
        """Tokens by the step that saved them."""
        saved: dict[str, int] = {}
        for one in self.replaced.values():
            saved[one.step] = saved.get(one.step, 0) + one.saved
        if self.base.kind != "whole":
            shown = sum(estimate_tokens(block.text) for block in self.base.head)
            saved[self.base.kind] = self.base.left_out_tokens - shown
        return saved


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """All lanes of a session by name, the one that was used last at the end."""

    schema: int = SCHEMA
    lanes: Mapping[str, Lane] = field(default_factory=dict)

    def with_lane(self, name: str, lane: Lane) -> "Decisions":
        others = [(known, kept) for known, kept in self.lanes.items() if known != name]
        return Decisions(lanes=dict([*others, (name, lane)][-LANES:]))


def lane_name(window: int, format_name: str, strategy: str) -> str:
    """ "openai summarize 200000"."""
    return f"{format_name} {strategy} {window}"
