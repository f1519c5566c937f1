"""Orders, weakened orders, and their end."""

import pytest

from worker.core.rules import as_rule, called_off_in, done_in, is_hard, is_weakened, releases

QUOTE = "never push to main without asking"


@pytest.mark.parametrize(
    "text", ["Never push.", "you must ask", "不要推送", "禁止删除", "必ず確認して", "触らないで、変更しないで"]
)
def test_orders_are_hard_in_several_languages(text: str) -> None:
    assert is_hard(text)


@pytest.mark.parametrize("text", ["Look at the page.", "看一下页面", "ページを見て"])
def test_a_request_is_not(text: str) -> None:
    assert not is_hard(text)


@pytest.mark.parametrize(
    "rule",
    [
        "The user mentioned pushing to main.",
        "Prefers not to push to main.",
        "用户提到推送",
        "Consider asking before pushing",
    ],
)
def test_a_mention_is_weaker_than_an_order(rule: str) -> None:
    assert is_weakened(rule, QUOTE)


@pytest.mark.parametrize(
    "rule",
    ["Never push to main without asking.", "Ask before each push to main.", "Do not push; ideally use a branch."],
)
def test_an_order_in_other_words_is_not_weaker(rule: str) -> None:
    assert not is_weakened(rule, QUOTE)


def test_a_wish_may_be_told_as_a_wish() -> None:
    assert not is_weakened("Prefer tabs.", "I'd prefer tabs")
    assert not is_weakened("The user wants short answers", "the user wants short answers")


def test_a_permission_for_something_else_releases_nothing() -> None:
    assert not releases("You may change the colours.", "Never change the schema.", "don't touch the schema")


def test_a_quote_becomes_a_sentence() -> None:
    assert as_rule("don't touch\n the schema") == "Don't touch the schema."
    assert as_rule("不要推送。") == "不要推送。"


@pytest.mark.parametrize(
    "rule",
    [
        "Push to main without asking.",
        "Never push to main without asking. This was only for the first day.",
        "Never push to main without asking, unless it is urgent.",
        "Never push to main without asking; no longer needed.",
    ],
)
def test_a_rule_turned_round_or_given_an_end_is_weakened(rule: str) -> None:
    assert is_weakened(rule, QUOTE)
    assert not is_weakened("Never push to main without asking, not even once.", QUOTE)


def test_an_end_that_the_person_named_is_no_weakening() -> None:
    assert not is_weakened("Don't push to main until Friday.", "don't push to main until Friday")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("Go ahead with the release notes when you have time.", "Don't push to the release branch."),
        ("You can ignore the schema warnings in the log.", "Never change the database schema."),
    ],
)
def test_one_word_in_common_ends_no_rule(words: str, rule: str) -> None:
    assert not releases(words, rule, rule)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("You can push to the release branch again.", "Don't push to the release branch."),
        ("Feel free to touch the schema now.", "Never change the database schema."),
        ("Forget the schema rule.", "Never change the database schema."),
        ("现在可以修改公共接口的字段名了。", "不要修改公共接口的字段名。"),
    ],
)
def test_words_that_name_what_was_forbidden_end_it(words: str, rule: str) -> None:
    assert releases(words, rule, rule)


def test_who_says_that_something_is_done_says_so_and_does_not_wish_or_ask_it() -> None:
    assert done_in("The login page is fixed. Go on with the rest.") == ["The login page is fixed."]
    assert done_in("登录页修好了。") == ["登录页修好了。"]
    for words in ("Is it done?", "Tell me when it is done.", "It should be fixed.", "It is not finished.", "Go on."):
        assert done_in(words) == []


def test_who_calls_something_off_says_so() -> None:
    assert called_off_in("Skip the login page. The rest stays.") == ["Skip the login page."]
    assert called_off_in("Shall we skip it?") == []
    assert called_off_in("Go on with the login page.") == []
