"""What a statement speaks of is the same in everyday synonyms, and words that say nothing of it are left out."""

import pytest

from worker.core.said_subjects import is_subject, subject_of
from worker.core.said_values import values_of


def about(text: str) -> tuple[set[str], set[str]]:
    subject = subject_of(text, values_of(text))
    return set(subject.heads), set(subject.topics)


@pytest.mark.parametrize(
    ("text", "heads", "topics"),
    [
        ("HARD CONSTRAINT: Project budget cap is $800.", {"limit"}, {"project"}),
        ("Quick update: keep project spend under $500 from now on.", {"limit"}, {"project"}),
        ("Field-trip expenses must stay below $700.", {"limit"}, {"trip"}),
        ("The on-call rotation owner this week is Ann Lee.", {"owner"}, {"duty"}),
        ("Support duty now belongs to Ann Lee.", {"owner"}, {"duty"}),
        ("Release timing has changed: we now ship on May 4.", {"date"}, {"launch"}),
        ("项目预算是5000元。", {"limit"}, {"project"}),
        ("差旅预算改为3000元。", {"limit"}, {"trip"}),
        ("リリース日は4月10日です。", set(), {"launch"}),
        ("The write timeout was raised to 60 seconds.", set(), {"·write", "timeout"}),
        ("Team B meets on Monday.", set(), {"team", "meeting", "B"}),
        ("The publisher lowered the word limit to 700 words.", {"limit"}, {"word"}),
        ("Hotel check-out is now at 11:00.", set(), {"hotel", "checkout"}),
    ],
)
def test_what_it_speaks_of(text: str, heads: set[str], topics: set[str]) -> None:
    assert about(text) == (heads, topics)


def test_it_is_told_whose_it_is() -> None:
    assert subject_of("My number and our number", ()).owners == {"mine"}
    assert subject_of("Your number", ()).owners == {"yours"}


def test_a_word_of_the_tables_is_no_name() -> None:
    assert is_subject("Budget") and is_subject("releases") and not is_subject("Priya")
