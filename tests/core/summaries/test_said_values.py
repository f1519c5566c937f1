"""Values are known by their form wherever they stand, and two ways to write one mean the same."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.said_values import Value, can_stand_for, means_the_same, values_of


def kinds(text: str) -> list[tuple[str, str]]:
    return [(value.kind.value, text[value.start : value.end]) for value in values_of(text)]


def only(text: str) -> Value:
    (value,) = values_of(text)
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cap is $1,200 a month.", [("money", "$1,200")]),
        ("Keep it under five hundred dollars.", [("money", "five hundred dollars")]),
        ("预算是5000元。", [("money", "5000元")]),
        ("予算は30万円です。", [("money", "30万円")]),
        ("It moved to 03-03 (March 3).", [("date", "03-03 (March 3)")]),
        ("Die Abgabe ist am 3. März.", [("date", "3. März")]),
        ("上线是3月3日。", [("date", "3月3日")]),
        ("We meet on Tuesday at 14:00.", [("date", "Tuesday"), ("clock", "14:00")]),
        ("Show times in Pacific time, not in Europe/Berlin.", [("zone", "Pacific time"), ("zone", "Europe/Berlin")]),
        ("所有时间用UTC显示。", [("zone", "UTC")]),
        ("Ask Priya Natarajan or Dr. Amir Khalil.", [("person", "Priya Natarajan"), ("person", "Amir Khalil")]),
        ("The tenant is Femke de Vries.", [("person", "Femke de Vries")]),
        ("负责人换成李雷。", [("person", "李雷")]),
        ("The codename is HERON-2 in eu-west-3.", [("code", "HERON-2"), ("code", "eu-west-3")]),
        ("We are on branch fix/login-7 now.", [("branch", "fix/login-7")]),
        ("Use v2.3.1, and Python 3.11 only.", [("version", "v2.3.1"), ("version", "3.11")]),
        ("It takes 30 seconds and 2.5 GB.", [("measure", "30 seconds"), ("measure", "2.5 GB")]),
        ("Use metric units.", [("units", "metric")]),
        ("I want terse, playful answers.", [("manner", "terse"), ("manner", "playful")]),
        ("Answer in American English.", [("language", "American English")]),
        ("The port is 5432.", [("number", "5432")]),
        (
            "It is at 10.0.0.4:80 and https://a.example/v2.",
            [("address", "10.0.0.4:80"), ("address", "https://a.example/v2")],
        ),
        ("Nothing of this is a value, Pacific Ocean or not.", []),
        ("In The End we ship on Monday's plan.", [("date", "Monday")]),
    ],
)
def test_a_value_is_known_by_its_form(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$500", "five hundred dollars"),
        ("1,200 EUR", "€1200"),
        ("twenty five dollars", "$25"),
        ("2k dollars", "two thousand dollars"),
        ("2027-03-03", "March 3"),
        ("3. März", "3月3日"),
        ("15:30", "3:30 pm"),
        ("下午3点", "15:00"),
        ("GMT", "UTC"),
        ("America/Los_Angeles", "Pacific time"),
        ("90 minutes", "5400 seconds"),
        ("thirty seconds", "30 s"),
        ("v2.3.1", "2.3.1"),
        ("miles", "imperial"),
    ],
)
def test_two_ways_to_write_a_value_mean_the_same(one: str, other: str) -> None:
    assert means_the_same(only(one), only(other))
    assert not can_stand_for(only(one), only(other))


@pytest.mark.parametrize(
    ("one", "other", "stands"),
    [
        ("$500", "$800", True),
        ("$500", "500 EUR", True),
        ("2027-03-03", "2028-03-03", True),
        ("30 seconds", "2 minutes", True),
        ("30 seconds", "30 requests", False),
        ("5432", "2027-03-03", False),
        ("short", "detailed", True),
        ("short", "friendly", False),
        ("terse", "friendly", True),
        ("terse", "detailed", True),
    ],
)
def test_a_value_can_stand_for_one_of_its_kind_only(one: str, other: str, stands: bool) -> None:
    assert can_stand_for(only(one), only(other)) is stands


PIECES = ["on", "3", "$", "5", "May", "4,", "a-1", "UTC", "at", "ten", "月", "元", "de", "Ann", "Lee", "v1.2", ":", "/"]


@given(text=st.text(max_size=120) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_values_stand_in_order_and_do_not_overlap(text: str) -> None:
    found = values_of(text)
    assert all(0 <= value.start < value.end <= len(text) for value in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(value.meaning for value in found)
