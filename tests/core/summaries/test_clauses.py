"""Below the sentence: a quote without its prohibition, a rule told by half, a text that orders what is forbidden.

Each is what a small model makes of a person's words while it copies them letter by letter.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.clauses import against, forbidden_actions, leaves_an_order, orders, whole_clause

SAID = (
    "Find out why. Never restart postgres on that host without asking me first, and don't delete anything under /srv."
)


@pytest.mark.parametrize(
    ("quote", "whole"),
    [
        (
            "restart postgres on that host without asking me first",
            "Never restart postgres on that host without asking me first",
        ),
        ("Never restart postgres on that host", "Never restart postgres on that host without asking me first"),
        ("delete anything under /srv", "don't delete anything under /srv"),
        ("Find out why", "Find out why"),
        ("Find out why.", "Find out why."),
        (SAID, SAID),
        ("not said", "not said"),
        ("", ""),
    ],
)
def test_a_quote_is_given_back_what_forbids_or_limits_in_its_clause(quote: str, whole: str) -> None:
    assert whole_clause(quote, SAID) == whole


def test_clauses_of_chinese_are_told_by_their_signs() -> None:
    said = "她膝盖不好，不要安排爬坡多的路线，每天步行最多 3 公里。"
    assert whole_clause("安排爬坡多的路线", said) == "不要安排爬坡多的路线"
    assert whole_clause("每天步行最多 3 公里", said) == "每天步行最多 3 公里"


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_a_clause_is_a_piece_of_what_was_said_and_holds_the_quote(before: str, quote: str, behind: str) -> None:
    said = f"{before}{quote}{behind}"
    whole = whole_clause(quote, said)
    assert whole in said
    assert quote.strip() in whole or not quote.strip()


def test_what_a_rule_forbids_is_known_by_its_verb_and_its_object() -> None:
    assert forbidden_actions(SAID) == [("resta", "postg"), ("delet", "anyth")]
    assert forbidden_actions("Run the formatter before every commit.") == []
    assert forbidden_actions("No!") == []


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("Restart postgres on db-ams-2", True),
        ("Free the disk, then restart the postgres service", True),
        ("Never restart postgres", False),
        ("Ask before restarting postgres", False),
        ("Restart postgres once it is approved", False),
        ("Restart walpush; postgres is left alone", False),
        ("Look at postgres", False),
    ],
)
def test_a_text_orders_an_action_when_a_clause_names_it_without_a_word_of_care(text: str, ordered: bool) -> None:
    assert orders(text, ("resta", "postg")) is ordered


def test_a_rule_that_the_text_tells_itself_is_not_held_against_it() -> None:
    rules = [("Never restart postgres.", "Never restart postgres")]
    assert list(against("Restart postgres", rules)) == ["Never restart postgres"]
    assert list(against('Restart postgres (but: "Never restart postgres")', rules)) == []


@pytest.mark.parametrize(
    ("rest", "left"),
    [
        (", and don't delete anything under /srv.", True),
        ("Two things that always hold here: , the DBA team owns migrations/.", False),
        (" . ", False),
        ("please", False),
        ("，每天必须写一份报告。", True),
    ],
)
def test_a_rest_is_an_order_when_a_clause_of_it_commands_something(rest: str, left: bool) -> None:
    assert leaves_an_order(rest) is left
