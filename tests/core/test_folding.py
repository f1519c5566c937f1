"""Progress displays lose their middle, nothing else loses a line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.folding import fold


def test_a_line_that_comes_again_and_again_is_counted() -> None:
    assert fold("start\n" + "waiting\n" * 50 + "end") == "start\nwaiting\n[… the same line 49 times more …]\nend"


def test_of_a_progress_display_first_and_last_stay() -> None:
    lines = [f"Downloading {percent}% of 20 MB" for percent in range(0, 101, 5)]
    assert fold("\n".join(["$ pip install x", *lines, "done"])).split("\n") == [
        "$ pip install x",
        "Downloading 0% of 20 MB",
        "[… 19 lines of progress …]",
        "Downloading 100% of 20 MB",
        "done",
    ]


def test_counters_and_bars_are_progress() -> None:
    counters = fold("\n".join(f"[{step}/200] Building object" for step in range(1, 201)))
    assert counters.split("\n")[1] == "[… 198 lines of progress …]"
    bars = fold("\n".join(f"{'█' * step}{'░' * (20 - step)} fetching" for step in range(5, 16)))
    assert bars.count("\n") == 2


def test_what_a_terminal_painted_over_is_gone_unless_it_told_of_a_failure() -> None:
    assert fold("10%\r50%\r100% done\nok") == "100% done\nok"
    assert "upload failed" in fold("upload failed, retrying\r100% done\nok")
    assert fold("one\r\ntwo\r\n") == "one\ntwo\n"


@pytest.mark.parametrize(
    "line",
    [
        "test_{0} FAILED [ {0}%]",
        "error {0}/9: denied",
        "2026/01/{0} paid invoice",
        "src/{0}/a.py",
        "{0}: 17",
        "row {0}",
    ],
)
def test_failures_dates_paths_and_rows_of_numbers_are_no_progress(line: str) -> None:
    text = "\n".join(line.format(number) for number in range(10, 40))
    assert fold(text) == text


LINES = st.sampled_from(["a", "b", "", "10%", "20%", "[1/9] x", "[2/9] x", "=====", "a\r b", "failed 3%", "x" * 400])


@settings(deadline=None, max_examples=60)
@given(lines=st.lists(LINES, max_size=30))
def test_folding_twice_is_folding_once(lines: list[str]) -> None:
    once = fold("\n".join(lines))
    assert fold(once) == once
    assert len(once.split("\n")) <= max(1, len(lines))


@pytest.mark.parametrize(
    "text", ["%" * 500_000, "1/" * 300_000, "[1" * 300_000, "=" * 500_000, "5%\n" * 100_000, "\r" * 9**6]
)
def test_hostile_lines_cost_no_more_than_their_length(text: str) -> None:
    assert len(fold(text)) <= len(text)
