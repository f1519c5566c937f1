"""Which piece of a text a range names, and what a terminal is given of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.excerpts import (
    Bounds,
    Line,
    byte_bounds,
    decoded,
    grep_lines,
    line_bounds,
    shown_line,
    torn_at_end,
    torn_at_start,
    visible,
)
from worker.errors import UsageError


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("2:3", [2, 3]), ("4:", [4, 5]), (":2", [1, 2]), ("3", [3]), ("-2:", [4, 5]), ("-9:", [1, 2, 3, 4, 5])],
)
def test_a_range_of_lines_counts_from_one_and_holds_its_last(text: str, chosen: list[int]) -> None:
    start, end = line_bounds(text).within(5)
    assert [1, 2, 3, 4, 5][start:end] == chosen


@pytest.mark.parametrize("text", ["3:2", "0:4", "0", ":0", "a:b", "", ":", "1:-2", "-5:-2", "1.5:2", "9" * 30 + ":"])
def test_a_range_of_lines_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="lines"):
        line_bounds(text)


@pytest.mark.parametrize("text", ["5:5", "5:4", "12", "-3", ":-3", "x:"])
def test_a_range_of_bytes_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="bytes"):
        byte_bounds(text)


@given(st.integers(0, 50), st.integers(1, 50), st.binary(max_size=60))
def test_bytes_are_those_that_a_slice_gives(start: int, length: int, data: bytes) -> None:
    begin, end = byte_bounds(f"{start}:{start + length}").within(len(data))
    assert data[begin:end] == data[start : start + length]


@given(st.integers(-60, 60), st.none() | st.integers(0, 60), st.integers(0, 50))
def test_bounds_never_leave_the_text(start: int, end: int | None, total: int) -> None:
    first, behind = Bounds(start=start, end=end).within(total)
    assert 0 <= first <= behind <= total


@given(st.text(min_size=1), st.data())
def test_a_torn_character_is_found_at_either_side(text: str, data: st.DataObject) -> None:
    whole = text.encode("utf-8", "replace")
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    piece = whole[start:end]
    kept = piece[torn_at_start(piece) :]
    kept = kept[: len(kept) - torn_at_end(kept)]
    assert kept.decode("utf-8") in text.encode("utf-8", "replace").decode("utf-8")
    assert len(piece) - len(kept) <= 6


def test_bytes_that_are_no_text_show_as_what_they_are() -> None:
    assert decoded(b"\xb8\xadok\xff") == "\\xb8\\xadok\\xff"


@given(st.text())
def test_no_terminal_can_be_commanded(text: str) -> None:
    shown = visible(text)
    assert "\x1b" not in shown
    assert not any(0x80 <= ord(sign) < 0xA0 or (ord(sign) < 0x20 and sign not in "\n\t") for sign in shown)
    assert visible(shown) == shown


def test_escapes_and_direction_marks_are_made_visible_and_lines_stay_lines() -> None:
    assert visible("a\x1b[31mred\r\nb\u202ec\r") == "a\\x1b[31mred\nb\\u202ec\\x0d"


def test_a_long_line_says_how_much_is_cut_and_how_to_see_it() -> None:
    line = Line(number=3, text="abc", at=500, before=12, behind=4_000)
    assert shown_line(line) == "[… 12 bytes] abc [… 4,000 more bytes of this line, --bytes 500: shows them]"


def test_matches_are_printed_as_grep_does() -> None:
    lines = tuple(Line(number=n, text=f"l{n}", at=0, is_match=n in (2, 7)) for n in (1, 2, 3, 6, 7))
    assert grep_lines(lines) == ["1-l1", "2:l2", "3-l3", "--", "6-l6", "7:l7"]
    assert grep_lines(lines[1:2] + lines[4:]) == ["2:l2", "7:l7"]
