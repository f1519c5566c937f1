"""What is sealed: closed turns before the tail, whole groups, and never a call that may still be answered."""

from itertools import accumulate
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.messages import Message
from worker.core.pairing import opens_turn, pair
from worker.core.sealing import Seal, SealReason, seal


def sealed(script: Any, tokens: list[int], **limits: Any) -> Seal:
    given_limits = {"keep_recent_tokens": 100, "max_tokens": 10**6, **limits}
    return seal(script.messages, tokens, pair(script.messages), **given_limits)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_seal_is_a_boundary_of_groups_and_the_rest_is_at_least_the_tail(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    tokens = data.draw(st.lists(st.integers(0, 500), min_size=len(messages), max_size=len(messages)))
    keep = data.draw(st.integers(0, 1_000))
    max_tokens = data.draw(st.sampled_from([200, 2_000, 10**6]))
    pairing = pair(messages)
    found = seal(messages, tokens, pairing, keep_recent_tokens=keep, max_tokens=max_tokens)
    assert found.end in {0, *(group.end for group in pairing.groups)}
    assert found.tokens == sum(tokens[: found.end])
    if found.end:
        assert sum(tokens[found.end :]) >= keep
    humans = [at for at, message in enumerate(messages) if opens_turn(message)]
    if found.reason is SealReason.TURN_CLOSED:
        assert found.end in humans
        assert found.end <= humans[-1]
    first_group = pairing.groups[0].end if pairing.groups else 0
    assert found.tokens <= max_tokens or found.end == first_group


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_sealing_again_and_again_comes_to_an_end_with_everything_covered_once(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    """O59, P08: every seal makes progress, and what was not sealed is there for the next one."""
    messages = data.draw(sessions)
    ends = [0]
    while ends[-1] < len(messages):
        rest = messages[ends[-1] :]
        found = seal(rest, [10] * len(rest), pair(rest), keep_recent_tokens=None, max_tokens=50)
        assert found.end > 0
        ends.append(ends[-1] + found.end)
    assert ends[-1] == len(messages)


def test_the_range_ends_where_a_turn_begins(script: Any) -> None:
    script.turn("first", "done")
    script.turn("second", "done")
    script.turn("third", "done")
    assert sealed(script, [50] * 6) == Seal(end=4, tokens=200, reason=SealReason.TURN_CLOSED)


def test_o15_results_of_the_turn_that_is_running_stay_outside(script: Any) -> None:
    script.turn("first", "done")
    script.human("second")
    script.calls(("a", "Bash", "x"))
    script.result("a", "y" * 50)
    assert sealed(script, [10, 10, 10, 10, 500]).end == 2


def test_o10_the_newest_human_message_is_always_in_the_tail(script: Any) -> None:
    script.turn("first", "done")
    script.human("see https://example.com/unique")
    for number in range(20):
        script.says(f"step {number}")
    assert sealed(script, [100] * 23, keep_recent_tokens=100).end == 2


def test_c10_when_the_session_ended_the_last_correction_is_sealed_too(script: Any) -> None:
    script.turn("use port 5432", "done")
    script.human("actually use port 5433")
    assert sealed(script, [5] * 3, keep_recent_tokens=None) == Seal(end=3, tokens=15, reason=SealReason.EVERYTHING)


def test_o14_a_trailing_call_without_result_is_sealed_when_the_session_ended(script: Any) -> None:
    script.human("deploy")
    script.calls(("a", "Bash", "make deploy"))
    assert sealed(script, [5, 5], keep_recent_tokens=None).end == 2


def test_o57_the_running_turn_of_a_file_that_is_being_written_is_excluded(script: Any) -> None:
    script.turn("first", "done")
    script.human("second")
    script.calls(("a", "Bash", "make"))
    assert sealed(script, [5] * 4, keep_recent_tokens=None, still_writing=True).end == 2
    assert sealed(script, [5] * 4, keep_recent_tokens=None, more_follows=True).end == 2


def test_c20_a_batch_of_results_is_whole_on_one_side(script: Any) -> None:
    script.turn("first", "done")
    script.human("second")
    for name in "abc":
        script.calls((name, "Read", {}), response="r")
    for name in "abc":
        script.result(name, "text")
    script.says("all read")
    found = sealed(script, [40] * 10, keep_recent_tokens=50, max_tokens=100, turn_tokens=100)
    assert found.end == 2
    assert sealed(script, [40] * 10, keep_recent_tokens=None, max_tokens=10**6).end == 10


def test_a_turn_larger_than_the_budget_is_cut_between_complete_groups(script: Any) -> None:
    script.human("do it all")
    for number in range(10):
        script.calls((f"c{number}", "Bash", "x"))
        script.result(f"c{number}", "y")
    found = sealed(script, [100] * 21, turn_tokens=1_000)
    assert found == Seal(end=19, tokens=1_900, reason=SealReason.CUT_INSIDE_TURN)


def test_a_cut_inside_the_running_turn_stops_before_an_open_call(script: Any) -> None:
    script.human("do it all")
    script.says("one")
    script.calls(("open", "Bash", "x"))
    for number in range(10):
        script.says(f"step {number}")
    assert sealed(script, [100] * 13, turn_tokens=1_000).end == 2


def test_a_range_larger_than_the_most_ends_at_a_turn(script: Any) -> None:
    for number in range(10):
        script.turn(f"request {number}", "done")
    assert sealed(script, [50] * 20, max_tokens=420) == Seal(end=8, tokens=400, reason=SealReason.TURN_CLOSED)


def test_one_group_larger_than_the_most_is_sealed_alone(script: Any) -> None:
    script.human("x")
    script.human("y")
    assert sealed(script, [900, 200], max_tokens=500).end == 1


def test_p08_what_fits_the_tail_is_left_with_a_reason(script: Any) -> None:
    script.turn("first", "done")
    assert sealed(script, [5, 5]) == Seal(end=0, tokens=0, reason=SealReason.FITS_TAIL)


def test_p09_tokens_decide_not_the_number_of_rows(script: Any) -> None:
    for number in range(300):
        script.human(f"word{number}")
    assert sealed(script, [1] * 300, keep_recent_tokens=20_000).end == 0
    del script.messages[10:]
    assert sealed(script, [50_000] * 10, keep_recent_tokens=20_000).end == 9


def test_b17_a_session_without_a_person_is_sealed_by_groups(script: Any) -> None:
    for number in range(5):
        script.calls((f"c{number}", "Bash", "x"))
        script.result(f"c{number}", "y")
    assert sealed(script, [50] * 10).end == 8


def test_nothing_new_is_nothing_to_seal() -> None:
    assert seal([], [], pair([]), keep_recent_tokens=None, max_tokens=1).reason is SealReason.NOTHING_NEW


def test_the_tail_is_no_longer_than_it_has_to_be(script: Any) -> None:
    for number in range(10):
        script.human(f"word{number}")
    tokens = [30] * 10
    found = sealed(script, tokens, keep_recent_tokens=100)
    sums = [*accumulate(reversed(tokens))]
    assert len(tokens) - found.end == next(count for count, total in enumerate(sums, 1) if total >= 100)
