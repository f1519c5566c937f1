"""Summaries that agents wrote, in the dresses that real ones wear: their sections and entries are found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.told_sections import About, Section, sections_of

NINE = [
    (About.REQUEST, "Primary Request and Intent"),
    (About.CONCEPTS, "Key Technical Concepts"),
    (About.FILES, "Files and Code Sections"),
    (About.ERRORS, "Errors and fixes"),
    (About.FINDINGS, "Problem Solving"),
    (About.MESSAGES, "All user messages"),
    (About.TASKS, "Pending Tasks"),
    (About.WORK, "Current Work"),
    (About.NEXT, "Optional Next Step"),
]


def words(sections: tuple[Section, ...]) -> list[tuple[About, list[str]]]:
    return [(section.about, [entry.words for entry in section.entries]) for section in sections]


@pytest.mark.parametrize(
    "dress",
    ["{n}. {title}:", "## {n}. {title}", "### {n}. {title}", "{n}. **{title}**:", "**{n}. {title}**", "## {title}"],
)
def test_the_nine_sections_are_found_in_every_dress(dress: str) -> None:
    text = "\n\n".join(
        f"{dress.format(n=n, title=title)}\n   - what stands in {n}" for n, (_, title) in enumerate(NINE, start=1)
    )
    expected = [(about, [f"what stands in {n}"]) for n, (about, _) in enumerate(NINE, start=1)]
    assert words(sections_of(text)) == expected


def test_a_title_may_be_written_in_another_case_and_with_words_behind_it() -> None:
    text = "4. ERRORS AND FIXES:\n- a\n\n7. Pending Tasks (from task list):\n- b\n\n9. Optional Next Step: none left\n"
    assert words(sections_of(text)) == [
        (About.ERRORS, ["a"]),
        (About.TASKS, ["b"]),
        (About.NEXT, ["none left"]),
    ]


def test_what_was_thought_before_the_summary_is_left_out() -> None:
    text = "Analysis:\n1. **Current Work**:\n   - an early thought\n\nSummary:\n8. Current Work:\n   It is tested."
    assert words(sections_of(text)) == [(About.WORK, ["It is tested."])]


def test_numbered_lists_and_code_inside_a_section_are_no_headings() -> None:
    text = (
        "3. Files and Code Sections:\n   - src/a.py\n```go\n4. Errors and fixes:\nsummary := 1\n```\n"
        "5. Problem Solving:\n1. first found\n2. then fixed\n"
    )
    assert words(sections_of(text)) == [
        (About.FILES, ["src/a.py"]),
        (About.FINDINGS, ["first found", "then fixed"]),
    ]


def test_points_belong_to_the_line_above_them() -> None:
    text = (
        "4. Errors and fixes:\n   **Import cycle:**\n   - Error: a imports b\n   - Fix: moved c\n\n"
        "   - **Lint**: fixed\n"
    )
    (section,) = sections_of(text)
    assert [(entry.text, entry.details) for entry in section.entries] == [
        ("Import cycle:", ("Error: a imports b", "Fix: moved c")),
        ("Lint: fixed", ()),
    ]


def test_a_text_without_headings_is_one_section_of_findings() -> None:
    assert words(sections_of("The exporter was split.\n\nThe tests pass.")) == [
        (About.FINDINGS, ["The exporter was split.", "The tests pass."])
    ]
    assert sections_of("") == ()


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from("1.:#*-` \n\taSumry9é"), max_size=400))
def test_any_text_is_taken_apart_and_every_entry_says_something(text: str) -> None:
    for section in sections_of(text):
        assert section.entries
        assert all(entry.text.strip() for entry in section.entries)


def test_a_hostile_text_takes_no_longer_than_a_true_one() -> None:
    """Half a megabyte of what headings and points are made of."""
    assert [section.about for section in sections_of("1. " * 200_000)] == [About.FINDINGS]
    assert len(sections_of("# " * 100_000 + "\n" + "- **" * 50_000 + "\n" + "**" * 100_000)) == 1
