"""What a person puts right in other words is found, and what only sounds like it is left alone.

`golden/said_pairs.tsv` holds pairs of statements: with the value of the older one that is gone, or with none where both
hold. "tuned" was looked at while the code was made; the other sets were first run when they were written, and found 87
of 108 corrections then, and took 8 of 117 near misses for one. What is not found to this day is said there, too.
"""

import csv
from pathlib import Path

import pytest

from worker.core.correcting import mark_corrected
from worker.core.summary import UserMessage

GOLDEN = Path(__file__).parents[2] / "golden" / "said_pairs.tsv"
PAIRS = list(csv.DictReader(GOLDEN.read_text("utf-8").splitlines(), delimiter="\t"))
CORRECTIONS = [(row["old"], row["new"], row["gone"]) for row in PAIRS if row["found"] == "yes"]
NOT_FOUND = [(row["old"], row["new"]) for row in PAIRS if row["found"] == "no"]
NEAR_MISSES = [(row["old"], row["new"]) for row in PAIRS if not row["gone"]]


def gone(*texts: str) -> list[tuple[str, str, str]]:
    """Each value that is put right, the text that holds it and the text that puts it right."""
    said = [UserMessage(id=f"m{at}", text=text) for at, text in enumerate(texts)]
    by_id = {message.id: message.text for message in said}
    return [(one.text, by_id[one.message], by_id[one.by]) for one in mark_corrected(said).values]


@pytest.mark.parametrize(("old", "new", "value"), CORRECTIONS)
def test_a_value_that_is_put_right_in_other_words_is_found(old: str, new: str, value: str) -> None:
    assert gone(old, "Go on, please.", new) == [(value, old, new)]


@pytest.mark.parametrize(("old", "new"), NEAR_MISSES)
def test_a_statement_about_something_else_puts_nothing_right(old: str, new: str) -> None:
    assert gone(old, "Go on, please.", new) == []


@pytest.mark.parametrize(("old", "new"), NOT_FOUND)
def test_what_is_not_found_is_left_as_it_was_said(old: str, new: str) -> None:
    assert gone(old, "Go on, please.", new) == []


def test_there_are_as_many_near_misses_as_corrections() -> None:
    assert len(NEAR_MISSES) >= len(CORRECTIONS) >= 100
    assert len(NOT_FOUND) <= 5


def test_of_two_that_are_meant_alike_none_is_put_right() -> None:
    assert gone("The project budget is $800.", "The travel budget is $300.", "The budget is $500 now.") == []


def test_the_one_that_says_the_least_beside_is_meant() -> None:
    told = ("Our budget is $800.", "The travel budget is $300.", "The budget is $500 now.")
    assert gone(*told) == [("$800", told[0], told[2])]


def test_one_word_in_common_with_much_else_is_not_enough() -> None:
    old = "The invoice of the printer for the summer catalogue of the trip is $700."
    assert gone(old, "The trip is $500 now.") == []


def test_what_was_said_twice_is_put_right_twice() -> None:
    told = ("The launch date is 2027-05-04.", "Remember, launch is on May 4.", "The launch moved to May 11.")
    assert [(value, old) for value, old, _ in gone(*told)] == [("2027-05-04", told[0]), ("May 4", told[1])]


def test_a_narrower_order_does_not_end_a_wider_one() -> None:
    assert gone("Put every timestamp in UTC.", "For Anna's invoice, use Pacific time.") == []
    assert gone("Put every timestamp in UTC.", "In the weekly report for Anna, use Pacific time.") == []
    assert gone("Keep answers short.", "For status reports, be detailed.") == []


def test_an_order_for_all_that_is_shown_ends_another_one() -> None:
    told = ("Put every timestamp in UTC.", "For status reports, show clocks in Pacific Time.")
    assert gone(*told) == [("UTC", *told)]


def test_an_order_for_one_thing_at_hand_sets_nothing() -> None:
    for new in ("Write this in German, please.", "Please show it in German.", "Write the letter in German."):
        assert gone("Always answer in English.", new) == []
    assert gone("Keep answers terse.", "Please give me a long answer.") == []


def test_manners_that_go_together_both_hold() -> None:
    assert gone("Keep answers short.", "From now on keep answers friendly.") == []
    assert [value for value, *_ in gone("Keep answers terse.", "From now on keep answers friendly.")] == ["terse"]


def test_the_same_value_in_other_words_puts_nothing_right() -> None:
    assert gone("The project budget is $500.", "From now on the project budget is five hundred dollars.") == []
    assert gone("The launch is on 2027-05-04.", "The launch is now on May 4.") == []


def test_a_refusal_names_what_does_not_hold() -> None:
    assert gone("The port is 5431.", "The port is no longer 5432.") == []
    assert gone("The server is reachable at 5431.", "The server is not reachable at 5432 now.") == []
    assert gone("Answer in English.", "Never answer in German.") == []


def test_the_value_that_held_before_may_be_named_beside() -> None:
    new = "The launch moved from May 4 to May 11."
    assert gone("The launch is on May 4.", new) == [("May 4", "The launch is on May 4.", new)]
    assert gone("The launch is on May 2.", new) == []


def test_it_is_what_the_sentence_before_says() -> None:
    new = "The wifi password was rotated. It's orchid-9027 now."
    assert gone("The wifi password is tulip-4411.", new) == [("tulip-4411", "The wifi password is tulip-4411.", new)]


def test_a_manner_is_told_of_answers_or_by_an_order_for_more_than_one_thing() -> None:
    for old, new in (
        ("The long route takes 40 minutes.", "The short route now takes 30 minutes."),
        ("Please add a short test.", "Please add a detailed test now."),
        ("The formal dinner is on May 4.", "The casual dinner is now on May 6."),
    ):
        assert gone(old, new) == []


def test_what_is_said_of_one_of_two_things_in_a_sentence_is_no_word_of_the_other() -> None:
    told = "Prod db is postgres 15.4, staging db is postgres 14.1."
    assert gone(told, "Staging is now on postgres 15.6.") == []
    assert gone("Prod db is postgres 15.4, staging db is mysql 8.", "Staging is now on postgres 15.6.") == []
    new = "We upgraded prod to postgres 16.1."
    assert gone("Prod db is postgres 15.4, staging db is mysql.", new)[0][0] == "15.4"


def test_a_branch_needs_no_other_word() -> None:
    told, new = "The hotfix branch is hotfix/cart-1.", "Actually let's do it on hotfix/cart-2, the other is a mess."
    assert gone(told, new) == [("hotfix/cart-1", told, new)]
    assert gone("Merge feature/cart-1 into main.", new) == []


def test_a_table_says_nothing_that_could_be_put_right() -> None:
    row = " ".join(f"${amount}" for amount in range(100, 110))
    assert gone(f"The budgets are {row}.", "The budget is now $50.") == []


def test_leave_to_answer_otherwise_is_an_order() -> None:
    told = ("Always talk to me in german please.", "You can switch to english now.")
    assert [value for value, *_ in gone(*told)] == ["german"]


def test_who_hands_over_may_be_named() -> None:
    told, new = "Jonas Weber is on call until friday.", "Lea Hoffmann took over the on-call from Jonas."
    assert gone(told, new) == [("Jonas Weber", told, new)]


def test_my_number_is_not_yours() -> None:
    assert gone("My number is 555-0142.", "Your number is now 555-0199.") == []


def test_a_plan_a_question_and_a_denial_put_nothing_right() -> None:
    for new in (
        "Should the launch be moved to May 11?",
        "Maybe the launch is moved to May 11.",
        "If the launch is moved to May 11, tell Ann.",
        "The launch has not moved to May 11.",
    ):
        assert gone("The launch is on May 4.", new) == []


def test_what_happened_is_no_plan() -> None:
    assert gone("The meeting on 2027-03-02 was cancelled.", "The meeting is now on 2027-03-16.") == []
