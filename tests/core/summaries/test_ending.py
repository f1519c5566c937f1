"""Which words of a person end a rule, and which only look like it: losing a rule is worse than keeping one too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.ending import ends, is_narrower

LIFTED = [
    ("Never touch the schema.", "You may touch the schema now."),
    ("Don't touch the schema.", "You can change the schema now."),
    ("don't touch the schema", "ok, you may edit the schema again"),
    ("Never change the database schema.", "You may touch the schema now, forget what I said."),
    ("Never touch the schema, the DBA team owns it.", "You may touch the schema now, the DBA team agreed."),
    ("Never force push.", "Force pushing is fine from now on."),
    ("No emojis please.", "Emojis are fine again."),
    ("Don't use emojis in your replies.", "Emojis in your replies are okay from now on."),
    ("Don't push to the release branch for now.", "You can push to the release branch again."),
    ("Never touch the schema.", "Forget what I said about the schema."),
    ("Never change the database schema.", "Forget what I said about the database schema."),
    ("Never touch the schema.", "The schema rule no longer applies."),
    ("Never touch the schema.", "The migration is through, so you can touch the schema again."),
    ("The schema is off-limits.", "The schema is no longer off-limits."),
    ("The schema is off-limits.", "You may change the schema now."),
    ("Hands off the schema!", "You are free to touch the schema now."),
    ("Answer in French.", "You don't have to answer in French any more."),
    ("Always run the tests before every commit.", "You no longer need to run the tests before every commit."),
    ("Ask me before deleting anything.", "You no longer have to ask me before deleting anything."),
    ("不要修改数据库结构。", "现在可以修改数据库结构了。"),
    ("请不要动数据库结构", "你可以改数据库结构了"),
    ("回答只能用中文。", "不用再用中文回答了。"),
    ("スキーマは変更しないでください。", "スキーマを変更してもいいです。"),
    ("毎回テストを実行してください。", "もう毎回テストを実行しなくていいです。"),
    ("Bitte das Schema nicht ändern.", "Du darfst das Schema jetzt ändern."),
    ("Antworte immer auf Deutsch.", "Du musst nicht mehr auf Deutsch antworten."),
    ("Fass das Schema nicht an.", "Vergiss, was ich über das Schema gesagt habe."),
]
"""A rule, and later words that end it."""

KEPT = [
    ("Never touch the schema.", "Can I touch the schema now?"),
    ("Never touch the schema.", "You may touch the schema now?"),
    ("Never push to main.", "You may push to main in staging."),
    ("Never touch the schema.", "You may touch the staging schema now."),
    ("Never touch the production schema.", "You may touch the schema now."),
    ("Never touch the schema.", "You may touch the test data now."),
    ("Never touch the schema.", "You may not touch the schema."),
    ("Never touch the schema.", "You can touch the schema, but only the comments."),
    ("Never touch the schema.", "You may touch the schema for this ticket."),
    ("Never touch the schema.", "You can touch the schema just this once."),
    ("Never touch the schema.", "You may touch the schema today."),
    ("Never touch the schema.", "If the tests pass, you may touch the schema."),
    ("Never touch the schema.", "You may touch the schema if Mira agrees."),
    ("Never touch the schema.", "You may touch the schema once the tests are green."),
    ("Never touch the schema.", "Tom says you may touch the schema now."),
    ("Never touch the schema.", "I never said you may touch the schema."),
    ("Never touch the schema.", "Don't forget what I said about the schema."),
    ("Never touch the schema.", "The schema is fine."),
    ("Never touch the schema.", "The schema is fine now."),
    ("Never touch the schema.", "You can ignore the schema warnings in the log."),
    ("Never touch the schema.", "You may read the schema."),
    ("Never touch the schema.", "You can use the schema as a model."),
    ("Never touch the schema or the migrations.", "You may touch the schema now."),
    ("Never touch the schema and never push to main.", "You may touch the schema now."),
    ("Don't push to the release branch.", "Go ahead with the release notes."),
    ("Never deploy without asking me.", "You can deploy now."),
    ("Don't deploy unless I say so.", "You may deploy now."),
    ("Ask me before deleting anything.", "You may delete the old logs."),
    ("Always run the tests.", "You may run the tests now."),
    ("Always run the unit tests.", "You don't have to run the integration tests any more."),
    ("Don't run the integration tests.", "You can run the unit tests now."),
    ("Don't run the integration tests.", "You can run the tests now."),
    ("Never send drafts to Anna.", "You can send drafts to Ben now."),
    ("Answer in French.", "You don't have to answer my mother."),
    ("Answer in French.", "You don't have to answer."),
    ("Answer in French.", "You can answer now."),
    ("No emojis please.", "Long answers are fine from now on."),
    ("Never touch the schema.", "Forget what I said about the tests."),
    ("Always document schema changes in the changelog.", "Forget what I said about the schema."),
    ("Never touch the schema.", "Forget it."),
    ("Never touch the schema.", "Never mind."),
    ("Never touch the schema.", "You can see why nobody may touch the schema."),
    ("Never touch the product table.", "You may touch the production table now."),
    ("Never delete backups.", "You may delete the logs of the backups now."),
    ("不要修改数据库结构。", "可以修改数据库结构吗？"),
    ("不要修改数据库结构。", "现在可以修改测试数据库结构了。"),
    ("不要修改数据库结构。", "可以查看数据库结构。"),
    ("不要修改数据库结构。", "你可以改接口了。"),
    ("スキーマは変更しないでください。", "テストスキーマを変更してもいいです。"),
    ("スキーマは変更しないでください。", "スキーマを変更してもいいですか"),
    ("Bitte das Schema nicht ändern.", "Du darfst das Schema im Test ändern."),
    ("Bitte das Schema nicht ändern.", "Du darfst das Schema nicht ändern."),
    ("Never use eval.", "You may use the eval set."),
    ("Never commit generated files.", "You may commit the files now."),
    ("Don't mention the budget to the client.", "You may mention the client in the budget."),
    ("We don't eat pork.", "The children eat pork again."),
    ("Keep it quiet.", "It is fine now."),
    ("Never touch the schema.", "You may touch the schema now, in staging."),
    ("Never touch the schema.", "You may touch the schema now (in the test database)."),
    ("Never touch the schema.", "When the tests pass, you may touch the schema."),
    ("Never force push.", "If Mira agrees, force pushing is fine from now on."),
    ("Never touch the schema.", "Maybe you may touch the schema soon."),
    ("Never touch the schema.", "You may touch the schema before Mira sees it."),
    ("Never touch the schema.", "你可以改数据库结构了"),
    ("Don't do it.", "You may do that now."),
    ("Don't touch anything.", "You can edit now."),
    ("Never deploy before lunch.", "You may deploy after lunch."),
]
"""A rule, and later words that leave it in force."""


@pytest.mark.parametrize(("rule", "said"), LIFTED)
def test_leave_for_what_was_forbidden_and_words_that_take_it_back_end_a_rule(rule: str, said: str) -> None:
    assert ends(said, rule)


@pytest.mark.parametrize(("rule", "said"), KEPT)
def test_less_more_other_asked_reported_or_passing_words_end_nothing(rule: str, said: str) -> None:
    """O9"""
    assert not ends(said, rule)


@given(st.sampled_from(LIFTED), st.sampled_from(["?", "？", " ?", "?!"]))
def test_a_question_ends_nothing(pair: tuple[str, str], mark: str) -> None:
    rule, said = pair
    assert not ends(said.rstrip(".。!！") + mark, rule)


@given(
    st.sampled_from([pair for pair in LIFTED if pair[1].isascii() and "," not in pair[1]]),
    st.sampled_from(["in staging", "for the demo", "just this once", "today", "on Mira's branch", "until Friday"]),
)
def test_leave_for_a_place_or_an_occasion_ends_nothing(pair: tuple[str, str], narrower: str) -> None:
    rule, said = pair
    assert not ends(f"{said.rstrip('.')} {narrower}.", rule)


@given(
    st.sampled_from([pair for pair in LIFTED if pair[1].isascii()]),
    st.sampled_from(
        ["Tom says ", "The ticket says that ", "I wonder whether ", "If Mira agrees, ", "Nobody told me that "]
    ),
)
def test_what_others_say_and_what_might_be_ends_nothing(pair: tuple[str, str], lead: str) -> None:
    rule, said = pair
    assert not ends(lead + said[:1].lower() + said[1:], rule)


@given(st.sampled_from(LIFTED), st.sampled_from(LIFTED))
def test_no_other_rule_is_ended_with_it(one: tuple[str, str], other: tuple[str, str]) -> None:
    subjects = (
        "schema",
        "emoji",
        "push",
        "french",
        "test",
        "delet",
        "结构",
        "回答",
        "スキーマ",
        "テスト",
        "deutsch",
        "force",
    )

    def named(text: str) -> set[str]:
        return {subject for subject in subjects if subject in text.lower()}

    if not named(one[0]) & named(other[1]):
        assert not ends(other[1], one[0])


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_asked_about(rule: str, said: str) -> None:
    assert ends(said, rule) in (True, False)
    assert not ends(said, "")


@pytest.mark.parametrize(
    ("said", "narrower"),
    [
        ("You may push to main in staging.", True),
        ("You may push to main for the demo.", True),
        ("You may push to main just this once.", True),
        ("You may push to main now.", False),
        ("You may push to main from now on.", False),
    ],
)
def test_a_place_that_the_rule_does_not_name_is_narrower(said: str, narrower: bool) -> None:
    assert is_narrower(said, "Never push to main.") is narrower
