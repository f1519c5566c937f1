"""Bars add up: what is shown by source is all that was counted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.tokens import estimate_tokens
from worker.reporting.bars import MAX_TOOLS, bar, source_shares, summary_shares

SOURCES = st.dictionaries(
    st.sampled_from(["people", "assistant", "system", "harness", "summary", "novel"])
    | st.integers(0, 30).map(lambda number: f"tool:t{number}"),
    st.integers(0, 10_000),
)


@settings(deadline=None)
@given(SOURCES)
def test_no_token_is_lost_between_sources_and_bar(sources: dict[str, int]) -> None:
    shares = source_shares(sources)
    assert sum(share.tokens for share in shares) == sum(sources.values())
    assert [share.tokens for share in shares] == sorted((share.tokens for share in shares), reverse=True)


@settings(deadline=None)
@given(SOURCES)
def test_tools_beyond_the_largest_are_one(sources: dict[str, int]) -> None:
    tools = [share for share in source_shares(sources) if share.name.startswith("Tool: ")]
    assert len(tools) <= MAX_TOOLS


def test_a_summary_is_shared_out_by_its_sections() -> None:
    sections = ("Constraints in force\n- C-1 rule", "2. Key technical concepts\nNone.", "Source\nSession s")
    markdown = "> notice\n" + "".join(f"\n## {section}\n" for section in sections)
    shares = summary_shares(markdown)
    assert [share.name for share in shares] == ["Constraints in force", "Source"]
    assert sum(share.tokens for share in shares) <= estimate_tokens(markdown)


def test_a_bar_is_never_longer_than_its_scale() -> None:
    shares = summary_shares("## Source\n" + "word " * 500)
    assert bar("After", "", shares, scale=10).scale == shares[0].tokens
    assert bar("Before", "", (), scale=0).scale == 1
