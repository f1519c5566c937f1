"""Each step makes room and no more than it says: old outputs before messages, the newest messages never."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.decisions import LANES, Decisions, Lane, Replacement
from worker.core.messages import Message
from worker.core.sending import message_tokens
from worker.core.viewing import budget_for, moved_out, newest_kept, stretch_of, with_replacements


def long_session(script: Any, turns: int = 30) -> list[Message]:
    for number in range(turns):
        script.human(f"Please do step {number}.")
        script.calls((f"c{number}", "Bash", {"command": f"make step{number}"}))
        script.result(f"c{number}", f"output of step {number}\n" * 200, is_error=number == 3)
    return list(script.messages)


@pytest.mark.parametrize("window", [1_000, 4_000, 32_000, 128_000, 200_000, 1_000_000])
def test_a_budget_leaves_room_for_the_answer_and_for_what_estimates_miss(window: int) -> None:
    budget = budget_for(window, reserve_tokens=20_000, show_tokens=12_000)
    assert 0 < budget.target < budget.enough < budget.total < window
    assert budget.page + budget.files + budget.recent < budget.total
    assert budget_for(window, reserve_tokens=20_000, show_tokens=12_000, share=0.5).total <= budget.total // 2 + 1


def test_the_oldest_successful_outputs_move_out_and_no_more_than_needed(script: Any) -> None:
    stretch = stretch_of(long_session(script))
    budget = budget_for(24_000, reserve_tokens=2_000, show_tokens=2_000)
    step = moved_out(stretch, others=0, budget=budget)
    assert step is not None
    assert 0.5 * budget.total < step.tokens <= budget.enough
    moved = sorted(step.replaced)
    assert moved[0] == 2
    assert 11 not in moved, "the failure of step 3 keeps its words"
    assert moved == [index for index in range(2, moved[-1] + 1, 3) if index != 11]
    assert {one.index for one in step.offloads} == set(moved)


def test_moving_out_gives_way_where_it_would_not_be_enough(script: Any) -> None:
    script.human("word " * 5_000)
    script.calls(("c", "Bash", {}))
    script.result("c", "output " * 50)
    budget = budget_for(6_000, reserve_tokens=500, show_tokens=1_000)
    assert moved_out(stretch_of(script.messages), others=0, budget=budget) is None


def test_what_was_replaced_stays_replaced_with_the_same_words(script: Any) -> None:
    messages = long_session(script)
    budget = budget_for(24_000, reserve_tokens=2_000, show_tokens=2_000)
    first = moved_out(stretch_of(messages), others=0, budget=budget)
    assert first is not None
    again = moved_out(stretch_of(messages, first.replaced), others=500, budget=budget)
    assert again is not None
    assert all(again.replaced[index] == one for index, one in first.replaced.items())
    assert not {one.index for one in again.offloads} & set(first.replaced)


@settings(deadline=None, max_examples=80)
@given(data=st.data(), room=st.integers(200, 4_000), recent=st.integers(0, 1_000), moves_old=st.booleans())
def test_what_is_kept_is_the_end_of_the_session_and_its_size_is_told(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]], room: int, recent: int, moves_old: bool
) -> None:
    messages = data.draw(sessions)
    earliest = data.draw(st.integers(0, len(messages)))
    step = newest_kept(stretch_of(messages), earliest=earliest, room=room, recent=recent, moves_old=moves_old)
    assert 0 <= step.start <= len(messages)
    shown = with_replacements(messages[step.start :], step.replaced)
    assert step.tokens == sum(map(message_tokens, shown))
    assert step.replaced.keys() <= {message.index for message in shown}
    assert {one.index for one in step.offloads} <= step.replaced.keys()


def test_the_lane_that_was_used_longest_ago_goes_first() -> None:
    decisions = Decisions()
    for number in range(LANES + 3):
        decisions = decisions.with_lane(f"openai summarize {number}", Lane())
        decisions = decisions.with_lane("kept in use", Lane())
    assert len(decisions.lanes) == LANES
    assert "kept in use" in decisions.lanes
    assert "openai summarize 0" not in decisions.lanes


def test_savings_are_told_by_step() -> None:
    replaced = {
        1: Replacement(text="a", step="offloaded", saved=10),
        2: Replacement(text="b", step="superseded", saved=5),
        3: Replacement(text="c", step="offloaded", saved=1),
    }
    assert Lane(replaced=replaced).savings == {"offloaded": 11, "superseded": 5}
