"""Calls and results find each other, groups cover everything, nothing is dropped."""

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.messages import Message
from worker.core.pairing import LATE_AFTER_RESPONSES, CallPlace, Group, bundles, pair


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_groups_cover_the_sequence_without_gap(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    messages = data.draw(sessions)
    groups = pair(messages).groups
    assert [group.end for group in groups[:-1]] == [group.start for group in groups[1:]]
    assert all(group.start < group.end for group in groups)
    assert (groups[0].start, groups[-1].end) == (0, len(messages)) if messages else groups == ()


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_no_cut_parts_a_call_from_a_result_that_came_in_time(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    """O11, P01, C20, B62."""
    messages = data.draw(sessions)
    pairing = pair(messages)
    group_of = {at: group for group in pairing.groups for at in range(group.start, group.end)}
    for place, result in pairing.result_of.items():
        assert place.position <= result
        between = {message.response_id for message in messages[place.position + 1 : result] if message.response_id}
        if len(between) < LATE_AFTER_RESPONSES:
            assert group_of[place.position] == group_of[result]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_call_is_answered_or_interrupted_and_every_result_matched_or_an_orphan(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    pairing = pair(messages)
    calls = {CallPlace(at, number) for at, message in enumerate(messages) for number in range(len(message.tool_calls))}
    interrupted = {CallPlace(at, number) for at, numbers in pairing.interrupted.items() for number in numbers}
    assert calls == set(pairing.result_of) | interrupted
    assert not set(pairing.result_of) & interrupted
    results = {at for at, message in enumerate(messages) if message.tool_result}
    assert results == set(pairing.call_of) | pairing.orphans
    assert not set(pairing.call_of) & pairing.orphans
    assert {place: at for at, place in pairing.call_of.items()} == pairing.result_of
    for at, place in pairing.call_of.items():
        result = messages[at].tool_result
        assert result is not None
        assert messages[place.position].tool_calls[place.number].id == result.call_id


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_bundles_hold_each_message_of_a_group_once_and_keep_calls_with_results(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    pairing = pair(messages)
    for group in pairing.groups:
        found = bundles(messages, pairing, group)
        assert sorted(at for bundle in found for at in bundle) == [*range(group.start, group.end)]
        assert all(before[0] < after[0] for before, after in pairwise(found))
        bundle_of = {at: tuple(bundle) for bundle in found for at in bundle}
        for place, result in pairing.result_of.items():
            if group.start <= place.position and result < group.end:
                assert bundle_of[place.position] == bundle_of[result]


def test_the_rows_of_one_response_stay_together_with_results_in_between(script: Any) -> None:
    script.human("look at both")
    script.says("I look.", response="r1")
    script.calls(("a", "Read", {}), response="r1")
    script.result("a", "one")
    script.calls(("b", "Read", {}), response="r1")
    script.result("b", "two")
    script.says("Done.", response="r2")
    assert pair(script.messages).groups == (Group(start=0, end=1), Group(start=1, end=6), Group(start=6, end=7))


def test_an_id_that_is_used_again_is_matched_in_order(script: Any) -> None:
    script.calls(("x", "Bash", "first"), ("x", "Bash", "second"))
    script.result("x", "one")
    script.result("x", "two")
    assert pair(script.messages).result_of == {CallPlace(0, 0): 1, CallPlace(0, 1): 2}


def test_a_new_call_takes_over_the_id_of_one_that_was_interrupted_turns_ago(script: Any) -> None:
    script.human("start")
    script.calls(("x", "Bash", "sleep 999"))
    script.human("stop, list instead")
    script.calls(("x", "Bash", "ls"))
    script.result("x", "a.py")
    pairing = pair(script.messages)
    assert pairing.result_of == {CallPlace(3, 0): 4}
    assert pairing.interrupted == {1: (0,)}


def test_p03_a_call_without_result_is_interrupted_not_dropped(script: Any) -> None:
    script.calls(("a", "Bash", "make"), ("b", "Bash", "make test"))
    script.result("b", "ok")
    script.human("go on")
    assert pair(script.messages).interrupted == {0: (0,)}


def test_p04_parallel_calls_in_rows_of_their_own_form_one_group(script: Any) -> None:
    for name in "abc":
        script.calls((name, "Read", {}), response="r1")
    for name in "cab":
        script.result(name, name)
    pairing = pair(script.messages)
    assert pairing.groups == (Group(start=0, end=6),)
    assert len(pairing.result_of) == 3


def test_a_note_typed_while_a_tool_runs_does_not_part_the_call_from_its_result(script: Any) -> None:
    script.human("run the tests")
    script.calls(("a", "Bash", "pytest"))
    script.human("also the slow ones")
    script.result("a", "3 passed")
    assert pair(script.messages).groups == (Group(start=0, end=1), Group(start=1, end=4))


def test_one_very_late_result_does_not_make_the_session_one_group(script: Any) -> None:
    script.calls(("background", "Task", {}), response="r0")
    for number in range(100):
        script.turn(f"request {number}", "done")
    script.result("background", "finished")
    pairing = pair(script.messages)
    assert pairing.result_of == {CallPlace(0, 0): 201}
    assert len(pairing.groups) == 202


def test_an_orphan_result_is_kept_and_marked(script: Any) -> None:
    script.result("nobody", "text")
    pairing = pair(script.messages)
    assert pairing.orphans == {0}
    assert pairing.groups == (Group(start=0, end=1),)
