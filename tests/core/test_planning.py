"""Limits, gates and the plan: numbers that are decided before anything is done."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Outcome
from worker.core.material import shown_tokens
from worker.core.pairing import pair
from worker.core.planning import (
    Asking,
    Circumstances,
    GateDecision,
    Plan,
    Prices,
    gate,
    limits_for,
    output_tokens,
    plan,
)
from worker.core.sealing import Seal, SealReason, seal
from worker.core.splitting import split
from worker.core.tidying import tidy

SEALED = Seal(end=4, tokens=9_000, reason=SealReason.TURN_CLOSED)


@settings(deadline=None, max_examples=60)
@given(
    setting=st.integers(1, 400_000),
    model_limit=st.integers(1, 200_000),
    window=st.integers(1, 300_000),
    input_tokens=st.integers(0, 400_000),
)
def test_f11_an_answer_never_exceeds_setting_model_or_window(
    setting: int, model_limit: int, window: int, input_tokens: int
) -> None:
    found = output_tokens(setting, model_limit, window, input_tokens)
    assert 0 <= found <= min(setting, model_limit)
    assert found == 0 or found + input_tokens <= window
    assert found == max(0, min(setting, model_limit, window - input_tokens))


def test_a_large_window_has_fixed_sizes() -> None:
    limits = limits_for(200_000)
    assert (limits.reserve_output_tokens, limits.safety_tokens, limits.keep_recent_tokens) == (20_000, 13_000, 20_000)
    assert limits.usable_tokens == 167_000
    assert limits_for(200_000, manual=True).safety_tokens == 3_000


def test_a_small_window_shrinks_them() -> None:
    limits = limits_for(32_000)
    assert (limits.reserve_output_tokens, limits.safety_tokens, limits.keep_recent_tokens) == (3_200, 2_080, 8_000)
    assert limits_for(32_000, manual=True).safety_tokens == 480
    assert limits.part_tokens == 8_704


@given(window=st.integers(2_000, 2_000_000), manual=st.booleans())
@settings(deadline=None, max_examples=60)
def test_reserve_and_buffer_never_eat_the_window(window: int, manual: bool) -> None:
    limits = limits_for(window, manual=manual)
    assert limits.usable_tokens >= window * 0.7
    assert 0 < limits.state_tokens < window


def test_a_setting_for_the_tail_wins_and_an_ended_session_has_none() -> None:
    assert limits_for(200_000, keep_recent_tokens=5_000).keep_recent_tokens == 5_000
    assert limits_for(200_000, keep_recent_tokens=0).keep_recent_tokens == 0
    assert limits_for(200_000, keep_recent_tokens=5_000, hold_back=False).keep_recent_tokens is None


def circumstances(**facts: Any) -> Circumstances:
    return Circumstances(**{"manual": False, "new_messages": 10, "seal": SEALED, **facts})


def test_the_gate_is_open_when_nothing_speaks_against_it() -> None:
    assert gate(circumstances()) is None


@pytest.mark.parametrize("manual", [True, False])
def test_o16_o17_nothing_new_is_nothing_to_do_for_everybody(manual: bool) -> None:
    """O31 too: a second job without a new message."""
    nothing = Seal(end=0, tokens=0, reason=SealReason.NOTHING_NEW)
    found = gate(circumstances(manual=manual, new_messages=0, seal=nothing))
    assert found == GateDecision(outcome=Outcome.NOTHING_TO_DO, reason="nothing_new")


@pytest.mark.parametrize(
    ("facts", "outcome", "reason"),
    [
        ({"breaker_open": True}, Outcome.REFUSED, "breaker_open"),
        ({"spent_tokens": 100, "daily_tokens": 100}, Outcome.REFUSED, "daily_budget_spent"),
        ({"batch_tokens": 9_001}, Outcome.DEFERRED, "below_batch_size"),
    ],
)
def test_a_person_passes_what_holds_an_automatic_trigger(facts: dict[str, Any], outcome: Outcome, reason: str) -> None:
    assert gate(circumstances(**facts)) == GateDecision(outcome=outcome, reason=reason)
    assert gate(circumstances(manual=True, **facts)) is None


def test_what_fits_the_tail_is_nothing_to_do_and_an_open_turn_waits() -> None:
    fits = Seal(end=0, tokens=0, reason=SealReason.FITS_TAIL)
    is_open = Seal(end=0, tokens=0, reason=SealReason.TURN_OPEN)
    assert gate(circumstances(seal=fits)) == GateDecision(outcome=Outcome.NOTHING_TO_DO, reason="fits_tail")
    assert gate(circumstances(seal=is_open)) == GateDecision(outcome=Outcome.DEFERRED, reason="turn_open")
    assert gate(circumstances(seal=is_open, still_writing=True)) == GateDecision(
        outcome=Outcome.DEFERRED, reason="still_writing"
    )
    assert gate(circumstances(seal=is_open, manual=True)) == GateDecision(
        outcome=Outcome.NOTHING_TO_DO, reason="turn_open"
    )


def test_a_day_without_a_budget_is_never_spent() -> None:
    assert gate(circumstances(spent_tokens=10**9, daily_tokens=None)) is None


def planned(script: Any, asking: Asking | None, *, has_state: bool = False) -> Plan:
    limits = limits_for(200_000, part_tokens=2_000, keep_recent_tokens=50)
    pairing = pair(script.messages)
    tokens = shown_tokens(script.messages, pairing)
    sealed = seal(
        script.messages,
        tokens,
        pairing,
        keep_recent_tokens=limits.keep_recent_tokens,
        max_tokens=limits.range_tokens,
        turn_tokens=limits.usable_tokens,
    )
    messages = script.messages[: sealed.end]
    inside = pair(messages)
    tidied = tidy(messages, inside, tokens[: sealed.end])
    parts = split(tidied.messages, inside, budget=limits.part_tokens, tokens=tidied.tokens)
    return plan(start=7, seal=sealed, tidied=tidied, parts=parts, limits=limits, has_state=has_state, asking=asking)


def history(script: Any, turns: int) -> None:
    for number in range(turns):
        script.turn(f"request {number}", "the answer to it, at some length. " * 20)


ASKING = Asking(model_output_tokens=8_000, prompt_tokens=3_000, prices=Prices(input_usd=1e-6, output_usd=5e-6))


def test_the_plan_says_what_would_be_done_and_what_it_would_cost(script: Any) -> None:
    history(script, 20)
    found = planned(script, ASKING)
    assert (found.start, found.end, found.messages, found.reason) == (7, 45, 38, SealReason.TURN_CLOSED)
    assert found.tokens_before == found.tokens_after
    assert found.parts > 1
    assert found.estimate.calls == found.parts + 1
    assert found.estimate.tokens_in > found.parts * 3_000 + found.tokens_after
    assert found.estimate.tokens_out >= found.parts * 1_000
    cost = found.estimate.tokens_in * 1e-6 + found.estimate.tokens_out * 5e-6
    assert found.estimate.cost_usd == pytest.approx(cost)


def test_one_part_is_merged_only_into_a_state(script: Any) -> None:
    history(script, 3)
    alone, joined = planned(script, ASKING), planned(script, ASKING, has_state=True)
    assert (alone.parts, alone.estimate.calls, joined.estimate.calls) == (1, 1, 2)
    assert joined.estimate.tokens_in > alone.estimate.tokens_in + 20_000


def test_without_a_model_nothing_is_asked(script: Any) -> None:
    history(script, 20)
    found = planned(script, None)
    assert (found.estimate.calls, found.estimate.tokens_in, found.estimate.cost_usd) == (0, 0, None)


def test_a_cost_is_none_where_no_price_is_known(script: Any) -> None:
    history(script, 3)
    assert planned(script, Asking(model_output_tokens=8_000, prompt_tokens=3_000)).estimate.cost_usd is None
