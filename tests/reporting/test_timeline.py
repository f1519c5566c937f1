"""The time line shows every message once, whatever was consolidated of it and how often."""

from collections.abc import Callable
from datetime import UTC
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Checkpoint
from worker.reporting.citing import Citing
from worker.reporting.page import Timeline
from worker.reporting.rereading import Reread, Standing, Weight
from worker.reporting.timeline import MAX_COLUMNS, MAX_PEOPLE_MARKS, timeline

Made = Callable[..., Checkpoint]
ORIGINS = ("human", "assistant", "tool", "harness")


def drawn(made: Made, ends: list[int], end: int, *, replaced: set[int] | None = None) -> Timeline:
    starts = [0, *ends[:-1]]
    chain = [made(number, start, stop) for number, (start, stop) in enumerate(zip(starts, ends, strict=True), 1)]
    weights = tuple(Weight(index=at, origin=ORIGINS[at % 4], tokens=1 + at % 7) for at in range(end))
    read = Reread(standing=Standing.READ, end=end, weights=weights, tail_known=True)
    return timeline(chain, replaced or set(), read, Citing(prefix="s1", quoted=(), zone=UTC))


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=8),
    st.integers(0, 300),
)
def test_ranges_and_tail_cover_the_line_without_a_gap(made: Made, sizes: list[int], tail: int) -> None:
    ends = [sum(sizes[: at + 1]) for at in range(len(sizes))]
    line = drawn(made, ends, ends[-1] + tail)
    blocks = [*line.lane("range"), *line.lane("tail")]
    assert len(line.lane("tail")) == (tail > 0)
    assert abs(sum(block.width for block in blocks) - 100) < 0.1
    for block, after in pairwise(blocks):
        assert abs(block.left + block.width - after.left) < 0.05


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 3_000))
def test_columns_are_few_and_none_is_higher_than_the_line(made: Made, end: int) -> None:
    line = drawn(made, [end], end)
    assert len(line.columns) <= MAX_COLUMNS
    assert len(line.people) <= MAX_PEOPLE_MARKS + 1
    heights = [sum(height for _, height in column.heights) for column in line.columns]
    assert max(heights) > 99
    assert all(height < 100.5 for height in heights)


def test_a_transcript_that_is_gone_leaves_the_ranges(made: Made) -> None:
    chain = [made(1, 0, 40), made(2, 40, 60)]
    line = timeline(chain, set(), Reread(standing=Standing.GONE), Citing(prefix="s1", quoted=(), zone=UTC))
    assert line.columns == ()
    assert [(block.label, block.left, block.width) for block in line.blocks] == [("1", 0, 66.67), ("2", 66.67, 33.33)]
    assert (line.start, line.end) == ("m0", "m59")


def test_what_was_summarized_again_lies_in_a_lane_of_its_own(made: Made) -> None:
    chain = [made(1, 0, 40), made(2, 40, 60), made(3, 0, 40, replaces=(1,), covered=60)]
    line = timeline(chain, {1}, Reread(standing=Standing.GONE), Citing(prefix="s1", quoted=(), zone=UTC))
    assert [block.tone for block in line.lane("range")] == ["replaced", "ok"]
    assert [(block.label, block.width) for block in line.lane("again")] == [("3", 66.67)]
    assert "summarized again since" in line.lane("range")[0].title


def test_parts_lie_under_their_range(made: Made) -> None:
    read = Reread(standing=Standing.GONE, parts={1: (0, 10, 30)})
    line = timeline([made(1, 0, 40)], set(), read, Citing(prefix="s1", quoted=(), zone=UTC))
    assert [block.title for block in line.lane("part")] == [
        "part 1 of 3: m0–m9",
        "part 2 of 3: m10–m29",
        "part 3 of 3: m30–m39",
    ]
