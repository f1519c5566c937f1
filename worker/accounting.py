"""Where the tokens of a session's next request go, before and after what the reading side does to make it fit.

Nothing is written: looking at the numbers settles nothing for the views that follow.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.config import Settings
from worker.core.planning import limits_for
from worker.core.sending import rows_of
from worker.view import Wish, find_viewed, make_view
from worker.view_base import Strategy, messages_of
from worker.wiring import WINDOW_WITHOUT_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens by source of the whole session (`before`) and of the view (`after`), largest first.

    window: what the model has; of it `reserve` is left for the answer and `safety` for what estimates miss.
    savings: by the step that saved them.
    """

    session: str
    window: int
    reserve: int
    safety: int
    outcome: str
    before: dict[str, int]
    after: dict[str, int]
    savings: dict[str, int]
    over_budget: str | None
    notes: list[str]

    @property
    def tokens_before(self) -> int:
        return sum(self.before.values())

    @property
    def tokens_after(self) -> int:
        return sum(self.after.values())

    def as_object(self) -> dict[str, Any]:
        """The documented object of `afterturn usage --json`."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"tokens_before": self.tokens_before, "tokens_after": self.tokens_after}

    def as_lines(self) -> list[str]:
        """A table for a terminal: one line per source, then what is kept free, then what was saved."""
        names = sorted({*self.before, *self.after}, key=lambda name: (-self.before.get(name, 0), name))
        rows = [(name, self.before.get(name, 0), self.after.get(name, 0)) for name in names]
        rows += [("all", self.tokens_before, self.tokens_after)]
        width = max(len("free for the answer"), *(len(name) for name, _, _ in rows))
        lines = [f"{'tokens by source':<{width}}  {'before':>10}  {'after':>10}"]
        lines += [f"{name:<{width}}  {before:>10,}  {after:>10,}" for name, before, after in rows]
        lines += [f"{'free for the answer':<{width}}  {'':>10}  {self.reserve:>10,}"]
        lines += [f"{'safety':<{width}}  {'':>10}  {self.safety:>10,}"]
        lines += [f"window {self.window:,}: {self.outcome.replace('_', ' ')}"]
        lines += [f"  saved, {step}: {tokens:,}" for step, tokens in self.savings.items()]
        return lines + [f"  {note}" for note in (*self.notes, *([self.over_budget] if self.over_budget else []))]


def default_window(settings: Settings) -> int:
    """The window that is meant when nobody names one."""
    return settings.window_tokens or WINDOW_WITHOUT_MODEL


def usage(
    transcript: Path | str, *, window: int | None = None, strategy: Strategy = "summarize", settings: Settings
) -> Usage:
    """The tokens of a session's next request by source.

    Raises: TranscriptError, UsageError for a session that nobody knows.
    """
    tokens = window or default_window(settings)
    session = find_viewed(settings, transcript)
    counted: Counter[str] = Counter()
    for row in rows_of(messages_of(session.transcript.read())):
        counted[row.source] += row.tokens
    made = make_view(transcript, Wish(window=tokens, strategy=strategy, keep=False), settings)
    limits = limits_for(tokens, reserve_output_tokens=settings.reserve_tokens)
    return Usage(
        session=session.key,
        window=tokens,
        reserve=limits.reserve_output_tokens,
        safety=limits.safety_tokens,
        outcome=made.outcome,
        before=dict(counted.most_common()),
        after=made.sources,
        savings=made.savings,
        over_budget=made.over_budget,
        notes=made.notes,
    )
