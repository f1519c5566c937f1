"""All numbers of a consolidation, decided before anything is done. `--dry-run` prints the plan and stops there.

Pure: settings, the model's limits and what was counted go in; limits, a decision of the gate, a plan come out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from worker.core.checkpoint import Outcome
from worker.core.sealing import Seal, SealReason
from worker.core.splitting import Part, part_budget
from worker.core.tidying import Tidied
from worker.core.tokens import with_margin

RESERVE_OUTPUT_TOKENS = 20_000
SAFETY_TOKENS = 13_000
MANUAL_SAFETY_TOKENS = 3_000
KEEP_RECENT_TOKENS = 20_000
KEEP_RECENT_TOKENS_SMALL = 8_000
PART_TOKENS = 16_000
STATE_TOKENS = 24_000
PARTS_PER_RANGE = 48
"""What one consolidation takes on: a longer history becomes several checkpoints, each of which can be finished."""

FULL_WINDOW_TOKENS = 128_000
SMALL_WINDOW_TOKENS = 64_000
_RESERVE_SHARE = 0.10
_SAFETY_SHARE = 0.065
_MANUAL_SAFETY_SHARE = 0.015
_STATE_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Tokens. Sizes are fixed because single turns are; a window below FULL_WINDOW_TOKENS shrinks them.

    usable: the window without the reserve for the answer and the safety buffer; a turn larger than this may be cut.
    keep_recent: None holds nothing back. part: of the material in one part. range: of one sealed range.
    state: of the items that are carried from checkpoint to checkpoint.
    """

    window_tokens: int
    reserve_output_tokens: int
    safety_tokens: int
    keep_recent_tokens: int | None
    part_tokens: int
    range_tokens: int
    state_tokens: int

    @property
    def usable_tokens(self) -> int:
        return self.window_tokens - self.reserve_output_tokens - self.safety_tokens


def limits_for(
    window_tokens: int,
    *,
    manual: bool = False,
    hold_back: bool = True,
    keep_recent_tokens: int | None = None,
    reserve_output_tokens: int = RESERVE_OUTPUT_TOKENS,
    part_tokens: int = PART_TOKENS,
    state_tokens: int = STATE_TOKENS,
    average_message_tokens: float = 0.0,
) -> Limits:
    """The limits in a window. keep_recent_tokens: a person's setting, None for the default of this window size.

    hold_back: False when the session ended or sleeps, then there is no tail.
    """
    safety = MANUAL_SAFETY_TOKENS if manual else SAFETY_TOKENS
    safety_share = _MANUAL_SAFETY_SHARE if manual else _SAFETY_SHARE
    default_tail = KEEP_RECENT_TOKENS if window_tokens >= SMALL_WINDOW_TOKENS else KEEP_RECENT_TOKENS_SMALL
    budget = part_budget(
        window_tokens=window_tokens, part_tokens=part_tokens, average_message_tokens=average_message_tokens
    )
    tail = default_tail if keep_recent_tokens is None else keep_recent_tokens
    return Limits(
        window_tokens=window_tokens,
        reserve_output_tokens=_shrunk(reserve_output_tokens, _RESERVE_SHARE, window_tokens),
        safety_tokens=_shrunk(safety, safety_share, window_tokens),
        keep_recent_tokens=tail if hold_back else None,
        part_tokens=budget,
        range_tokens=budget * PARTS_PER_RANGE,
        state_tokens=min(state_tokens, int(window_tokens * _STATE_SHARE)),
    )


def _shrunk(tokens: int, share: float, window_tokens: int) -> int:
    return tokens if window_tokens >= FULL_WINDOW_TOKENS else min(tokens, int(window_tokens * share))


def output_tokens(setting: int, model_limit: int, window: int, input_tokens: int) -> int:
    """How many tokens an answer may have: never more than setting, model and window allow, never below 0."""
    return max(0, min(setting, model_limit, window - input_tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per token, as the model's price list names them."""

    input_usd: float
    output_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is known of the model before it is asked. prompt_tokens: of the text around the material of a part."""

    model_output_tokens: int
    prompt_tokens: int
    prices: Prices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Requests to the model, repairs not included, and their tokens with the estimate's margin."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a consolidation would do. start, end: message indexes. savings: tokens per step, without a model."""

    start: int
    end: int
    messages: int
    reason: SealReason
    tokens_before: int
    tokens_after: int
    parts: int
    artifacts: int
    estimate: Estimate
    savings: Mapping[str, int] = field(default_factory=dict)


def plan(
    *,
    start: int,
    seal: Seal,
    tidied: Tidied,
    parts: Sequence[Part],
    limits: Limits,
    has_state: bool,
    asking: Asking | None,
) -> Plan:
    """The plan of a sealed range that was tidied and split.

    start: index of its first message. has_state: a checkpoint stands before it. asking: None when no model is
    configured; then nothing is asked and nothing costs.
    """
    return Plan(
        start=start,
        end=start + seal.end,
        messages=len(tidied.messages),
        reason=seal.reason,
        tokens_before=seal.tokens,
        tokens_after=sum(tidied.tokens),
        parts=len(parts),
        artifacts=len(tidied.offloads),
        estimate=Estimate() if asking is None or not parts else _estimate(parts, limits, has_state, asking),
        savings=dict(tidied.savings),
    )


ANSWER_SHARE = 0.25
"""Of the material: a large model answered 64,000 characters of a recorded session with 13,000."""
ANSWER_TOKENS_AT_LEAST = 1_000


def _estimate(parts: Sequence[Part], limits: Limits, has_state: bool, asking: Asking) -> Estimate:
    answers = [_answer_tokens(part.tokens, limits, asking) for part in parts]
    tokens_in = sum(asking.prompt_tokens + with_margin(part.tokens) for part in parts)
    tokens_out = sum(answers)
    merges = 1 if has_state or len(parts) > 1 else 0
    if merges:
        merge_in = sum(answers) + (limits.state_tokens if has_state else 0)
        tokens_in += asking.prompt_tokens + merge_in
        tokens_out += _answer_tokens(merge_in, limits, asking)
    return Estimate(
        calls=len(parts) + merges,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=_cost(asking.prices, tokens_in, tokens_out),
    )


def _answer_tokens(material_tokens: int, limits: Limits, asking: Asking) -> int:
    likely = max(ANSWER_TOKENS_AT_LEAST, int(material_tokens * ANSWER_SHARE))
    most = output_tokens(
        limits.reserve_output_tokens,
        asking.model_output_tokens,
        limits.window_tokens,
        asking.prompt_tokens + with_margin(material_tokens),
    )
    return min(likely, most)


def _cost(prices: Prices | None, tokens_in: int, tokens_out: int) -> float | None:
    return None if prices is None else tokens_in * prices.input_usd + tokens_out * prices.output_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the gate judges by. new_messages: behind the last checkpoint. batch_tokens: the least an automatic trigger
    starts for. breaker_open: this session's, after failures or too many runs. spent_tokens: of today; daily_tokens:
    the budget of a day, None for none.
    """

    manual: bool
    new_messages: int
    seal: Seal
    still_writing: bool = False
    batch_tokens: int = 0
    breaker_open: bool = False
    spent_tokens: int = 0
    daily_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """Why nothing is done. outcome: nothing_to_do, deferred or refused."""

    outcome: Outcome
    reason: str


def gate(facts: Circumstances) -> GateDecision | None:
    """None to go on; else what to answer, without a call and without a write.

    A person passes every gate but "nothing new": there is nothing to do then, not something forbidden.
    """
    if facts.new_messages == 0 or facts.seal.reason is SealReason.NOTHING_NEW:
        return GateDecision(outcome=Outcome.NOTHING_TO_DO, reason="nothing_new")
    if facts.seal.end == 0:
        return _unsealed(facts)
    if facts.manual:
        return None
    if facts.breaker_open:
        return GateDecision(outcome=Outcome.REFUSED, reason="breaker_open")
    if facts.daily_tokens is not None and facts.spent_tokens >= facts.daily_tokens:
        return GateDecision(outcome=Outcome.REFUSED, reason="daily_budget_spent")
    if facts.seal.tokens < facts.batch_tokens:
        return GateDecision(outcome=Outcome.DEFERRED, reason="below_batch_size")
    return None


def _unsealed(facts: Circumstances) -> GateDecision:
    if facts.still_writing:
        return GateDecision(outcome=Outcome.DEFERRED, reason="still_writing")
    if facts.seal.reason is SealReason.TURN_OPEN and not facts.manual:
        return GateDecision(outcome=Outcome.DEFERRED, reason=SealReason.TURN_OPEN.value)
    return GateDecision(outcome=Outcome.NOTHING_TO_DO, reason=facts.seal.reason.value)
