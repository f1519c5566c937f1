"""Parts fit their budget, hold every message once and in order, and lose nothing that a person said."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.material import shown_all
from worker.core.messages import Message
from worker.core.pairing import pair
from worker.core.splitting import Part, Piece, divide, part_budget, part_count, split
from worker.core.tokens import estimate_tokens, with_margin


def parts_of(messages: Sequence[Message], budget: int) -> tuple[Part, ...]:
    return split(messages, pair(messages), budget=budget)


def pieces_of(parts: Sequence[Part]) -> list[Piece]:
    return [piece for part in parts for piece in part.pieces]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_message_is_in_exactly_one_part(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    messages = data.draw(sessions)
    parts = parts_of(messages, data.draw(st.sampled_from([300, 600, 4_000])))
    assert [part.index for part in parts] == [*range(len(parts))]
    ids = [message.id for part in parts for message in part.messages]
    assert sorted(ids) == sorted(message.id for message in messages)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_no_part_exceeds_the_budget(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    """O46, F12: the estimate's margin included, and counted over the very text that is sent."""
    messages = data.draw(sessions)
    budget = data.draw(st.sampled_from([300, 600, 4_000]))
    for part in parts_of(messages, budget):
        assert with_margin(part.tokens) <= budget + 1
        assert estimate_tokens(part.text) <= part.tokens
        assert part.tokens == sum(piece.tokens for piece in part.pieces)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_parts_joined_give_the_range_back(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    messages = data.draw(sessions)
    texts = shown_all(messages, pair(messages))
    parts = parts_of(messages, 10**6)
    assert len(parts) == bool(messages)
    assert [piece.text for piece in pieces_of(parts)] == [text for text in texts if text]
    whole = {piece.id: piece.text for piece in pieces_of(parts_of(messages, 400)) if piece.slices == 1}
    for message, text in zip(messages, texts, strict=True):
        if text and message.tool_result is None and estimate_tokens(text) < 300:
            assert whole[message.id] == text


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_p01_a_part_holds_calls_with_their_results(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    """O11 too: also where a group is larger than a part, as long as one call with its results is not."""
    messages = data.draw(sessions)
    pairing = pair(messages)
    part_of = {message.index: part.index for part in parts_of(messages, 4_000) for message in part.messages}
    group_of = {at: group for group in pairing.groups for at in range(group.start, group.end)}
    for place, result in pairing.result_of.items():
        if group_of[place.position] == group_of[result]:
            assert part_of[place.position] == part_of[result]


def test_nothing_gives_no_part() -> None:
    assert parts_of([], 4_000) == ()


def test_parts_are_balanced(script: Any) -> None:
    for number in range(100):
        script.turn(f"request {number} " + "word " * 40, "done " * 60)
    parts = parts_of(script.messages, 4_000)
    sizes = [part.tokens for part in parts]
    assert len(parts) == part_count(sum(sizes), 4_000)
    assert max(sizes) - min(sizes) < 400


def test_o46_chinese_is_counted_by_its_true_weight(script: Any) -> None:
    for _ in range(64):
        script.human("的一是在不了有和人这中大为上个国我以要他" * 200)
    parts = parts_of(script.messages, 16_000)
    assert len(parts) >= 64 * 4_000 / 16_000
    assert all(with_margin(part.tokens) <= 16_000 for part in parts)


def test_o27_a_huge_result_counts_as_what_is_sent_of_it(script: Any) -> None:
    """B25: one result is the whole overflow; it is cut in its middle, and the mark says how much is missing."""
    script.human("read the log")
    script.calls(("a", "Bash", "cat log"))
    script.result("a", "FIRST\n" + "a line of the log\n" * 25_000 + "LAST")
    parts = parts_of(script.messages, 4_000)
    piece = pieces_of(parts)[-1]
    assert len(parts) <= 2
    assert piece.text.startswith("[m2 tool")
    assert "FIRST" in piece.text
    assert piece.text.endswith("LAST")
    assert f"{piece.left_out:,} characters left out" in piece.text
    assert piece.tokens == estimate_tokens(piece.text)


def test_a_long_human_message_is_sliced_and_keeps_every_character(script: Any) -> None:
    """C11, P10: what people wrote is never cut, only shared out."""
    text = "\n".join(f"requirement {number}: keep the old behaviour of module {number * 7}" for number in range(2_000))
    script.human(text)
    script.says("understood")
    parts = parts_of(script.messages, 4_000)
    slices = [piece for piece in pieces_of(parts) if piece.id == "m0"]
    assert [piece.slice for piece in slices] == [*range(1, len(slices) + 1)]
    assert {piece.slices for piece in slices} == {len(slices)}
    assert len(parts) >= 4
    bodies = []
    for piece in slices:
        first, _, body = piece.text.partition("\n")
        assert first.endswith(f", slice {piece.slice} of {len(slices)}]")
        bodies.append(body)
    assert "".join(bodies) == text


@settings(deadline=None, max_examples=40)
@given(text=st.text(alphabet="ab \n中é😀", min_size=1_000, max_size=3_000).filter(str.strip))
def test_slices_of_any_text_joined_give_it_back(text: str, new_script: Any) -> None:
    script = new_script()
    script.human(text)
    pieces = pieces_of(parts_of(script.messages, 400))
    assert "".join(piece.text.partition("\n")[2] for piece in pieces) == text


def test_p10_a_history_of_text_only_is_split(script: Any) -> None:
    for number in range(20):
        script.turn(f"question {number}", "an answer of several sentences. " * 200)
    parts = parts_of(script.messages, 4_000)
    assert len(parts) > 5
    assert all(piece.left_out == 0 for piece in pieces_of(parts))


def test_p07_two_hundred_calls_in_one_turn_become_several_parts(script: Any) -> None:
    script.human("fix every file")
    for number in range(200):
        script.calls((f"c{number}", "Edit", {"file_path": f"src/{number}.py"}), response="one response")
    for number in range(200):
        script.result(f"c{number}", f"edited {number}\n" + "context " * 40)
    parts = parts_of(script.messages, 4_000)
    assert len(parts) > 3
    for part in parts:
        ids = [message.index for message in part.messages if message.index]
        assert {index + 200 if index <= 200 else index - 200 for index in ids} == set(ids)
    assert all(piece.left_out == 0 for piece in pieces_of(parts))


def test_many_results_of_one_row_are_each_capped(script: Any) -> None:
    script.calls(*((f"c{number}", "Bash", "x") for number in range(40)))
    for number in range(40):
        script.result(f"c{number}", f"begin {number}\n" + "some output\n" * 1_000)
    parts = parts_of(script.messages, 4_000)
    pieces = pieces_of(parts)
    assert all(piece.left_out for piece in pieces[1:])
    assert all(with_margin(part.tokens) <= 4_000 for part in parts)
    assert [piece.id for piece in pieces] == [message.id for message in script.messages]


def test_tool_text_is_cut_before_what_the_assistant_said_beside_it(script: Any) -> None:
    said = "I compare both versions now. " * 100
    script.calls(("a", "Read", {"file_path": "x"}), text=said)
    script.result("a", "content of the file\n" * 3_000)
    (part,) = parts_of(script.messages, 4_000)
    assert said in part.pieces[0].text
    assert part.pieces[1].left_out > 0


@pytest.mark.parametrize(
    ("window_tokens", "part_tokens", "average", "budget"),
    [
        (200_000, 16_000, 500, 16_000),
        (32_000, 16_000, 500, 8_704),
        (32_000, 16_000, 4_800, 5_504),
        (32_000, 16_000, 30_000, 1_024),
        (8_000, 16_000, 100, 1_024),
        (1_000_000, 900_000, 0, 395_904),
    ],
)
def test_the_budget_is_the_setting_or_a_share_of_the_window(
    window_tokens: int, part_tokens: int, average: int, budget: int
) -> None:
    found = part_budget(window_tokens=window_tokens, part_tokens=part_tokens, average_message_tokens=average)
    assert found == budget


def test_f12_material_of_twice_the_window_is_split_before_anything_is_asked(script: Any) -> None:
    for number in range(60):
        script.turn(f"request {number}", "the answer goes on and on. " * 80)
    total = sum(map(estimate_tokens, shown_all(script.messages, pair(script.messages))))
    budget = part_budget(window_tokens=total // 2, part_tokens=16_000, average_message_tokens=total / 120)
    parts = parts_of(script.messages, budget)
    assert len(parts) > 2
    assert all(with_margin(part.tokens) < total // 2 for part in parts)
    assert sum(len(part.messages) for part in parts) == 120


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_part_divided_holds_the_same_and_each_share_fits(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    """F12: after "prompt too long" no message is lost."""
    messages = data.draw(sessions)
    for part in parts_of(messages, 1_200):
        shares = divide(part, budget=400)
        assert sorted(message.index for share in shares for message in share.messages) == sorted(
            message.index for message in part.messages
        )
        assert all(with_margin(share.tokens) <= 401 for share in shares)
        bodies = [
            "".join(piece.text.partition("\n")[2] for piece in group) for group in (part.pieces, pieces_of(shares))
        ]
        assert bodies[0] == bodies[1]


def test_a_slice_can_be_divided_though_its_part_holds_no_message(script: Any) -> None:
    script.human("keep every word of this requirement. " * 2_000)
    part = parts_of(script.messages, 4_000)[1]
    assert part.messages == ()
    shares = divide(part, budget=1_000)
    assert len(shares) > 3
    assert (
        "".join(piece.text.partition("\n")[2] for piece in pieces_of(shares)) == part.pieces[0].text.partition("\n")[2]
    )


def test_a_budget_of_next_to_nothing_does_not_cut_letter_by_letter(script: Any) -> None:
    script.human("word " * 3_000)
    assert len(parts_of(script.messages, 1)) < 100
