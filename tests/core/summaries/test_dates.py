"""Days that were named from where the speaker stood."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.dates import absolute_dates, relative_date

SUNDAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("due Tomorrow.", "due Tomorrow (2026-03-02)."),
        ("since last night", "since last night (2026-02-28)"),
        ("2 weeks ago", "2 weeks ago (the week of 2026-02-09)"),
        ("this month", "this month (2026-03)"),
        ("next month", "next month (2026-04)"),
        ("last friday", "last friday (2026-02-27)"),
        ("next sunday", "next sunday (2026-03-08)"),
        ("last sunday", "last sunday (2026-02-22)"),
        ("截止后天", "截止后天 (2026-03-03)"),
        ("来週の会議", "来週 (the week of 2026-03-02)の会議"),
        ("tomorrow.py and `today` stay", "tomorrow.py and `today` stay"),
    ],
)
def test_a_day_gets_its_date(said: str, dated: str) -> None:
    assert absolute_dates(said, SUNDAY) == dated


@given(text=st.text(max_size=80), day=st.dates())
@settings(deadline=None, max_examples=60)
def test_afterwards_no_day_is_left_without_its_date(text: str, day: date) -> None:
    assert relative_date(absolute_dates(f"{text} tomorrow, 999 days ago, next week", day)) == ""


def test_a_day_that_has_its_date_is_left_alone() -> None:
    dated = absolute_dates("out today", SUNDAY)
    assert absolute_dates(dated, SUNDAY) == dated == "out today (2026-03-01)"
