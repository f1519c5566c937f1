"""What is due in a night, decided from facts: which sessions, in which order, how far the budget goes, what is left.

Nothing is done here. The same facts give the same plan, so a night that was interrupted is planned anew and does what
is left: what was done is no longer due.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from worker.core.checkpoint import Checkpoint, Status
from worker.core.rebuilding import Span, live_numbers, span_of

REBUILD_EVERY = 8
IDLE_MINUTES = 30
RETRY_DAYS = 7
"""How long a session rests whose last summarizing anew changed nothing: what one night cannot mend, the next cannot."""

CONFLICTS = frozenset(
    {
        "constraint_missing",
        "constraint_weakened",
        "constraint_lifted_unsourced",
        "task_missing",
        "task_promoted",
        "identifier_lost",
        "quote_not_verbatim",
    }
)
"""Findings that say that the state contradicts the transcript; one that code did not mend asks for a rebuild."""


class Work(StrEnum):
    """What a night does. consolidate: a session that went on. redo: what a model could not be used for. rebuild: all of
    a session from its transcript. hygiene: projections, MEMORY.md, retention. verify: every hash.
    """

    CONSOLIDATE = "consolidate"
    REDO = "redo"
    REBUILD = "rebuild"
    HYGIENE = "hygiene"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What is known of a session when the night begins.

    session: its key. source: its transcript. unread_tokens: estimate of what is not covered, None when nothing is new.
    idle_seconds: since the transcript was last written, None when it is gone. waiting_since: when that was, else when
    the newest checkpoint was made. redo: the messages to be summarized again because a model was not used, or not for
    all. since_rebuild: checkpoints since the beginning or the last rebuild. covered_tokens: of what a rebuild reads.
    rests: True when a rebuild was tried lately and changed nothing. forgotten: a person had it forgotten.
    """

    session: str
    source: str
    waiting_since: datetime
    unread_tokens: int | None = None
    idle_seconds: float | None = None
    redo: Span | None = None
    redo_tokens: int = 0
    since_rebuild: int = 0
    has_conflict: bool = False
    covered_tokens: int = 0
    rests: bool = False
    forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRules:
    """budget_tokens: None for no limit. idle_minutes: how long a session must have been quiet."""

    has_model: bool
    budget_tokens: int | None = None
    rebuild_every: int = REBUILD_EVERY
    idle_minutes: int = IDLE_MINUTES


@dataclass(frozen=True, slots=True, kw_only=True)
class NightStep:
    """session: None for work on the whole workspace. tokens: estimate, 0 without a model. reason: why it is due."""

    work: Work
    reason: str
    session: str | None = None
    source: str = ""
    span: Span | None = None
    tokens: int = 0

    @property
    def name(self) -> str:
        """The same in every plan of a night, so that what was done is recognised."""
        return f"{self.work}:{self.session or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Work that is due or would be, and is not done, with the reason as a code."""

    work: Work
    session: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NightPlan:
    steps: tuple[NightStep, ...]
    left: tuple[LeftOut, ...]


def plan_night(facts: Sequence[SessionFacts], rules: NightRules, *, spent_tokens: int = 0) -> NightPlan:
    """What is done, in order, and what is left: the longest waiting first, as far as the budget goes, then the rest.

    A step that alone is larger than what is left of the budget still begins while there is something left of it: else
    a large session would wait for ever. spent_tokens: by an earlier attempt of the same night.
    """
    steps: list[NightStep] = []
    left: list[LeftOut] = []
    for one in sorted(facts, key=lambda one: (one.waiting_since, one.session)):
        due, not_due = _of_session(one, rules)
        left += not_due
        for step in due:
            if step.tokens and rules.budget_tokens is not None and spent_tokens >= rules.budget_tokens:
                left.append(LeftOut(work=step.work, session=step.session, reason="night_budget_spent"))
                continue
            spent_tokens += step.tokens
            steps.append(step)
    steps.append(NightStep(work=Work.HYGIENE, reason="every_night"))
    steps.append(NightStep(work=Work.VERIFY, reason="every_night"))
    return NightPlan(steps=tuple(steps), left=tuple(left))


def _of_session(facts: SessionFacts, rules: NightRules) -> tuple[list[NightStep], list[LeftOut]]:
    obstacle = _obstacle(facts, rules)
    steps = list(_due(facts, rules))
    if obstacle is None:
        return steps, []
    return [], [LeftOut(work=step.work, session=step.session, reason=obstacle) for step in steps]


def _obstacle(facts: SessionFacts, rules: NightRules) -> str | None:
    if facts.forgotten:
        return "forgotten"
    if facts.idle_seconds is None:
        return "source_missing"
    return "not_idle" if facts.idle_seconds < 60 * rules.idle_minutes else None


def _due(facts: SessionFacts, rules: NightRules) -> Iterator[NightStep]:
    """At most one consolidation and one summarizing again: a rebuild mends what is degraded too."""
    if facts.unread_tokens is not None:
        yield _step(Work.CONSOLIDATE, "unconsolidated", facts, rules, facts.unread_tokens)
    if facts.rests or not rules.has_model:
        return
    if facts.since_rebuild >= rules.rebuild_every:
        yield _step(Work.REBUILD, "rebuild_due", facts, rules, facts.covered_tokens)
    elif facts.has_conflict:
        yield _step(Work.REBUILD, "conflict", facts, rules, facts.covered_tokens)
    elif facts.redo is not None:
        yield _step(Work.REDO, "model_was_not_used", facts, rules, facts.redo_tokens, facts.redo)


def _step(
    work: Work, reason: str, facts: SessionFacts, rules: NightRules, tokens: int, span: Span | None = None
) -> NightStep:
    return NightStep(
        work=work,
        reason=reason,
        session=facts.session,
        source=facts.source,
        span=span,
        tokens=tokens if rules.has_model else 0,
    )


# What a chain says about itself.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainNeeds:
    """redo: from the first to the last live message that a model was not used for. Otherwise as in `SessionFacts`."""

    redo: Span | None
    redo_tokens: int
    since_rebuild: int
    has_conflict: bool
    covered_tokens: int


def chain_needs(chain: Sequence[Checkpoint]) -> ChainNeeds:
    """What a chain needs, oldest first; only messages of the file as it is now count, not those before a restart."""
    of_file = [one for one in chain if one.range.chain == chain[-1].range.chain]
    live = live_numbers(chain)
    alive = [one for one in of_file if one.number in live]
    poor = [one for one in alive if one.status is not Status.OK and not _is_told_well(one, alive)]
    originals = [one for one in of_file if not one.replaces]
    redo = _hull(poor)
    return ChainNeeds(
        redo=redo,
        redo_tokens=sum(one.tokens_before for one in originals if redo and span_of(one).touches(redo)),
        since_rebuild=_since_rebuild(of_file),
        has_conflict=any(
            one.code in CONFLICTS and not one.mended for each in alive for one in each.validation.findings
        ),
        covered_tokens=sum(one.tokens_before for one in originals),
    )


def _hull(checkpoints: Sequence[Checkpoint]) -> Span | None:
    if not checkpoints:
        return None
    return Span(start=min(one.range.start for one in checkpoints), end=max(one.range.end for one in checkpoints))


def _is_told_well(checkpoint: Checkpoint, alive: Iterable[Checkpoint]) -> bool:
    """Whether all of a range that was summarized part by part again is told by later checkpoints."""
    later = sorted(
        (span_of(one) for one in alive if one.replaces and one.number > checkpoint.number), key=lambda span: span.start
    )
    reached = checkpoint.range.start
    for span in later:
        if span.start <= reached < span.end:
            reached = span.end
    return reached >= checkpoint.range.end


def _since_rebuild(chain: Sequence[Checkpoint]) -> int:
    first = chain[0].range.start
    count = 0
    for one in reversed(chain):
        if one.replaces and one.range.start <= first and one.range.end == one.covered:
            return count
        count += not one.replaces
    return count
