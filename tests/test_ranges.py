"""Ranges are taken one after the other, in order, and together they are the transcript."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Outcome
from worker.core.messages import Message
from worker.core.planning import Limits, limits_for
from worker.ranges import SealedRange, Window
from worker.transcripts import open_transcript


def person(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": "2026-01-23T03:07:00Z", "origin": "human"}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def turns(number: int, words: int = 40) -> list[dict[str, Any]]:
    """So many turns of a question and an answer."""
    rows = [(person(f"Question {n}"), assistant(f"answer {n} " * words)) for n in range(number)]
    return [row for pair in rows for row in pair]


def write(folder: Path, rows: Sequence[dict[str, Any]], behind: bytes = b"") -> Path:
    path = folder / "session.jsonl"
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows) + behind)
    return path


def limits(*, tail: int | None = None, part_tokens: int = 500, window_tokens: int = 128_000) -> Limits:
    return limits_for(
        window_tokens, hold_back=tail is not None, keep_recent_tokens=tail, part_tokens=part_tokens, manual=True
    )


def ranges_of(window: Window) -> list[SealedRange]:
    return list(iter(window.next_range, None))


def whole(path: Path) -> list[Message]:
    return list(open_transcript(path).read())


@settings(deadline=None, max_examples=30)
@given(
    sizes=st.lists(st.integers(min_value=0, max_value=4_000), min_size=1, max_size=25),
    tail=st.one_of(st.none(), st.integers(min_value=0, max_value=3_000)),
    range_tokens=st.integers(min_value=200, max_value=4_000),
)
def test_the_ranges_and_the_tail_are_the_transcript(sizes: list[int], tail: int | None, range_tokens: int) -> None:
    rows = [row for n, size in enumerate(sizes) for row in (person(f"Q{n}"), assistant("ab " * (size // 3) or "ok"))]
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), rows)
        bounded = Limits(**{**fields_of(limits(tail=tail)), "range_tokens": range_tokens})
        taken = [
            one
            for each in ranges_of(Window(open_transcript(path), None, bounded, manual=True))
            for one in each.messages
        ]
        everything = whole(path)
    assert taken == everything[: len(taken)]
    if tail is None:
        assert taken == everything
    else:
        held = everything[len(taken) :]
        assert any(message.is_human for message in held)


def fields_of(value: Limits) -> dict[str, Any]:
    return {name: getattr(value, name) for name in Limits.__slots__}


def test_a_long_history_becomes_several_ranges_that_follow_on_each_other(tmp_path: Path) -> None:
    path = write(tmp_path, turns(120, words=200))
    window = Window(open_transcript(path), None, limits(), manual=True)
    taken = ranges_of(window)
    assert len(taken) > 1
    assert [each.start for each in taken[1:]] == [each.messages[-1].index + 1 for each in taken[:-1]]
    assert all(each.messages[0].is_human for each in taken)
    assert (window.covered, window.known_end) == (240, 240)
    assert (window.decision.outcome, window.decision.reason) == (Outcome.NOTHING_TO_DO, "nothing_new")


def test_no_more_is_held_in_memory_than_a_range_and_its_tail(tmp_path: Path) -> None:
    path = write(tmp_path, turns(3_000, words=200))
    window = Window(open_transcript(path), None, limits(tail=1_000), manual=True)
    assert window.next_range() is not None
    assert window.known_end < 1_000


def test_a_turn_larger_than_all_that_is_read_at_first_is_taken_up_to_its_end(tmp_path: Path) -> None:
    path = write(tmp_path, [person("Q"), *[assistant("ab " * 40_000)] * 3, person("Q2"), assistant("ok")])
    taken = ranges_of(Window(open_transcript(path), None, limits(tail=0), manual=True))
    assert [message.index for each in taken for message in each.messages] == [0, 1, 2, 3]


@pytest.mark.parametrize(("is_gone", "sealed"), [(False, 2), (True, 4)], ids=["written to", "abandoned"])
def test_a_half_row_at_the_end_holds_back_the_turn_that_is_being_written(
    is_gone: bool, sealed: int, tmp_path: Path
) -> None:
    path = write(tmp_path, turns(2), behind=b'{"role": "assistant", "content": "and al')
    window = Window(open_transcript(path), None, limits(), manual=True, writer_is_gone=is_gone)
    taken = ranges_of(window)
    assert sum(len(each.messages) for each in taken) == sealed


def test_a_secret_that_is_split_over_two_messages_is_redacted_in_both(tmp_path: Path) -> None:
    secret = "sk_live_" + "51NfakeFAKEfakeFAKEfake00"
    rows = [person(f"The key is {secret[:14]}"), person(f"{secret[14:]} and that is all"), assistant("ok")]
    (taken,) = ranges_of(Window(open_transcript(write(tmp_path, rows)), None, limits(), manual=True))
    assert secret[14:] not in "".join(message.text for message in taken.messages)


@pytest.mark.parametrize(
    ("rows", "tail", "batch_tokens", "manual", "outcome", "reason"),
    [
        ([], None, 0, True, "nothing_to_do", "nothing_new"),
        (turns(2), 5_000, 0, True, "nothing_to_do", "fits_tail"),
        (turns(1, 3_000), 1_000, 0, False, "deferred", "turn_open"),
        (turns(4), 0, 50_000, False, "deferred", "below_batch_size"),
    ],
    ids=["only a header", "all in the tail", "an open turn", "too little for a trigger"],
)
def test_where_nothing_is_taken_the_decision_says_why_p08(
    rows: list[Any],
    tail: int | None,
    batch_tokens: int,
    manual: bool,
    outcome: str,
    reason: str,
    tmp_path: Path,
) -> None:
    header = {"role": "assistant", "content": "", "session_id": "s-1", "timestamp": "2026-01-23T03:07:00Z"}
    path = write(tmp_path, rows or [header])
    window = Window(open_transcript(path), None, limits(tail=tail), manual=manual, batch_tokens=batch_tokens)
    if not rows:
        ranges_of(window)
    assert window.next_range() is None
    assert (window.decision.outcome, window.decision.reason) == (outcome, reason)
