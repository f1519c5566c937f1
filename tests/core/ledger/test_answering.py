"""A short answer is kept with what it answers."""

from typing import Any

import pytest

from worker.core.answering import MAX_EXCERPT_CHARS, find_answered

LIST = """Here is the list again:

1. Missing nil check in `ReadCommitted`
2. Unused parameter
5. O(N*M) lookup in the branch walk
7. Wrapper functions
8. Exported but unused helper

Which ones should I address?"""


def answered(session: Any, text: str) -> tuple[str, str] | None:
    message = session.human(text)
    found = find_answered(session.messages, message.index)
    return (found.id, found.excerpt) if found else None


def test_numbers_are_resolved_to_the_items_they_pick(session: Any) -> None:
    session.human("give me the list again")
    session.assistant(LIST)
    found = answered(session, "skip 5, 7, 8 and do the rest")
    assert found is not None
    assert found[0] == "m1"
    assert found[1].splitlines()[:3] == [
        "5. O(N*M) lookup in the branch walk",
        "7. Wrapper functions",
        "8. Exported but unused helper",
    ]
    assert "2. Unused parameter" in found[1]


def test_a_range_of_numbers_picks_all_between(session: Any) -> None:
    session.assistant(LIST)
    assert answered(session, "only 1-2") == ("m0", "1. Missing nil check in `ReadCommitted`\n2. Unused parameter")


def test_a_table_is_a_list_too(session: Any) -> None:
    session.assistant("| # | what |\n|---|---|\n| 1 | lint |\n| 2 | docs |\n")
    assert answered(session, "do 2") == ("m0", "2 – docs")


@pytest.mark.parametrize("text", ["option b", "b", "B)", "let's take option B please"])
def test_an_option_is_picked_by_its_letter(session: Any, text: str) -> None:
    session.assistant("We could:\na) keep the cache\nb) drop the cache\nc) ask again\nWhat do you prefer?")
    assert answered(session, text) == ("m0", "b) drop the cache")


def test_an_option_is_picked_by_its_place(session: Any) -> None:
    session.assistant("Two ways:\n- rebase\n- merge\n")
    assert answered(session, "the second one") == ("m0", "merge")


def test_yes_answers_the_question(session: Any) -> None:
    session.assistant("The hook is missing.\n\nWant me to go ahead and implement the fix?")
    session.call("Bash", command="ls")
    session.result("a")
    assert answered(session, "yes, fix it") == ("m0", "Want me to go ahead and implement the fix?")


def test_what_a_heading_names_is_its_items(session: Any) -> None:
    session.assistant("## Medium\n1. nil check\n2. hoist the tree\n## Low\n3. naming\n")
    assert answered(session, "let's do the mediums first.") == ("m0", "1. nil check\n2. hoist the tree")


def test_the_list_is_found_behind_a_later_remark(session: Any) -> None:
    session.assistant(LIST)
    session.assistant("I have pushed the branch.")
    found = answered(session, "5 and 7")
    assert found == ("m0", "5. O(N*M) lookup in the branch walk\n7. Wrapper functions")


def test_a_message_that_stands_for_itself_answers_nothing(session: Any) -> None:
    assert answered(session, "let's begin") is None
    session.assistant("Done, all tests pass.")
    assert answered(session, "Add an endpoint that returns the order with its lines and totals. " * 12) is None
    assert answered(session, "1. lint failing\n2. update from main") is None


def test_the_excerpt_is_never_longer_than_its_limit(session: Any) -> None:
    session.assistant("\n".join(f"{number}. {'long words ' * 30}" for number in range(1, 30)) + "\nOk?")
    found = answered(session, "all of them, 1 2 3 4 5 6 7 8 9")
    assert found is not None
    assert 0 < len(found[1]) <= MAX_EXCERPT_CHARS


def test_only_people_answer(session: Any) -> None:
    session.assistant("Shall I?")
    note = session.harness("yes")
    assert find_answered(session.messages, note.index) is None


@pytest.mark.parametrize(
    "text",
    [
        "The export worker died at noon on staging, have a look at logs/worker.log.",
        "Start T-103 now, it takes hours. The staging database is on port 5433, not 5432.",
        "How far is T-102?",
        "let's start working our way through the PR feedback",
        "commit, and reply to the PR comments referencing fix commit shas",
        "No migration! I said the schema stays as it is.",
        "give me the list again",
        "Good. Commit that as T-101, then T-102: use a Redis token bucket, 10 requests a minute per customer.",
        "fix lint",
        "10 requests a minute",
        "我们先看日志",
    ],
)
def test_an_order_of_its_own_answers_nothing_however_short_it_is(session: Any, text: str) -> None:
    session.assistant("The parser is done.\n\n- tests pass\n- lint is clean\n10. requests are counted\n11. rows too")
    assert answered(session, text) is None


def test_an_option_that_stands_inside_a_line_is_picked_and_the_reason_may_follow(session: Any) -> None:
    session.assistant("There is no Redis here. A) add one to the compose file\nB) keep the bucket in process")
    assert answered(session, "B. Forget Redis, we run one process anyway.") == ("m0", "B) keep the bucket in process")


def test_yes_do_that_answers_what_was_announced_and_not_what_was_found(session: Any) -> None:
    session.assistant("The fields are joined by hand; names with commas break. I'll use the csv module.")
    assert answered(session, "Yes, do that. And write it as UTF-8.") == ("m0", "I'll use the csv module.")


def test_a_question_is_answered_in_plain_words_without_its_markdown(session: Any) -> None:
    session.assistant("## Plan\n\nFixed.\n\n**Should I update my [reply](https://example.org/1), or is it a `bug`?**")
    found = answered(session, "hmm, perhaps the fix is to update it and show them grouped")
    assert found == ("m0", "Should I update my reply, or is it a `bug`?")


def test_an_order_behind_a_question_does_not_answer_it(session: Any) -> None:
    session.assistant("Renamed. Want me to push the branch?")
    assert answered(session, "run the linter first") is None
    assert answered(session, "do we have tests for these scenarios?") is None


def test_a_question_in_printed_output_was_asked_by_a_program(session: Any) -> None:
    session.assistant("It prints:\n```\nOverwrite local logs?\n```\nAll good now.")
    assert answered(session, "ok, list a prompt per session") is None


def test_what_a_person_said_in_between_stands_nearer(session: Any) -> None:
    session.assistant("Shall I rename it?")
    session.human("wait")
    assert answered(session, "yes") is None


@pytest.mark.parametrize(("text", "meant"), [("好的", "要我继续吗？"), ("はい、お願いします", "要我继续吗？")])
def test_b55_a_reply_in_another_language_is_one_too(session: Any, text: str, meant: str) -> None:
    session.assistant(f"解析器已完成。{meant}")
    assert answered(session, text) == ("m0", meant)


@pytest.mark.parametrize("hostile", ["*" * 50_000, "[a" * 30_000 + "](b", "| " * 30_000, "A) " * 20_000, "?" * 50_000])
def test_hostile_texts_are_resolved_in_linear_time(session: Any, hostile: str) -> None:
    session.assistant(hostile)
    answered(session, "yes, the second one, 5-7")
