"""Markdown of an assistant becomes words that read well inside a Markdown page of ours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.flattening import flat_lines, gist, plain, prose

REPORT = """Done. All tests pass. Here's a summary:

## Summary of changes

| File | What |
|---|---|
| `a.py` | **new** parser |

1. **Nil check** added
2. Tree [hoisted](https://example.org/x)

```python
secret = "not prose"
```

Want me to push?"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("**Fixed** the *login* page", "Fixed the login page"),
        ("| 5 | `x.go` | slow |", "5 – `x.go` – slow"),
        ("see [the docs](https://example.org)", "see the docs"),
        ("call `__init__` of snake_case_name", "call `__init__` of snake_case_name"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_a_line_loses_its_marks_and_no_word(line: str, words: str) -> None:
    assert plain(line) == words


def test_code_rules_and_table_heads_are_no_prose() -> None:
    words = [line.text for line in flat_lines(REPORT)]
    assert "`a.py` – new parser" in words
    assert not any("secret" in one or "File" in one or "---" in one for one in words)


def test_a_list_is_told_in_one_sentence() -> None:
    assert prose("The refactor:\n- one\n- two\n- three", 100) == "The refactor: one; two; three"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Done. Fixed the grouping of temporary checkpoints by session id.\n\nMore.",
            "Fixed the grouping of temporary",
        ),
        ("All tests pass. Here's a summary:\n\n## Changes\n- Added the force flag to resume", "Added the force flag"),
        ("Both issues are fixed:\n1. nil check\n2. hoisted tree", "Both issues are fixed: nil check; hoisted tree"),
        (
            "There is no Redis in this deployment. A) add one\nB) keep it in process",
            "There is no Redis in this deployment",
        ),
    ],
)
def test_the_gist_is_what_was_found_or_done(text: str, told: str) -> None:
    assert told in gist(text, 160)


@pytest.mark.parametrize(
    "text", ["Shall I push?", "CSV or JSON?\n1. CSV\n2. JSON", "どちらにしますか？\n1. CSV\n2. JSON"]
)
def test_a_question_tells_nothing(text: str) -> None:
    assert gist(text, 160) == ""


def test_the_gist_does_not_end_in_an_announcement_of_what_was_cut() -> None:
    assert gist("The build works on all systems now. This is the line:\n```\ncode\n```", 160) == (
        "The build works on all systems now."
    )


@settings(deadline=None, max_examples=80)
@given(st.text(alphabet=st.sampled_from("ab *_`#|-[](){}\n.?:1)~>"), max_size=300), st.integers(20, 200))
def test_what_is_told_is_one_line_within_its_limit(text: str, chars: int) -> None:
    for told in (gist(text, chars), prose(text, chars)):
        assert len(told) <= chars
        assert "\n" not in told


@pytest.mark.parametrize(
    "hostile", ["*" * 60_000, "**a" * 20_000, "[x](" * 20_000, "|-" * 30_000, "_a" * 30_000, "```" * 9_000]
)
def test_hostile_markdown_is_flattened_in_linear_time(hostile: str) -> None:
    assert len(gist(hostile, 160)) <= 160
