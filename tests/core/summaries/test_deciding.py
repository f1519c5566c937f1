"""Decisions, facts and memories come from what people wrote, and only when it is one."""

import pytest

from worker.core.deciding import decisions, facts, memories
from worker.core.summary import Answered, Constraint, MemoryKind, UserMessage


def said(text: str, answers: str = "", *, id: str = "m1") -> UserMessage:  # noqa: A002
    return UserMessage(id=id, text=text, answers=Answered(id="m0", excerpt=answers) if answers else None)


def decided(text: str, answers: str = "") -> list[str]:
    return [one.text for one in decisions([said(text, answers)])]


@pytest.mark.parametrize(
    ("text", "answers", "decision"),
    [
        (
            "B. Forget Redis.",
            "B) keep the bucket in process",
            'Chosen: keep the bucket in process ("B. Forget Redis.")',
        ),
        ("skip 5 and do the rest", "5. drop it\n6. keep it", 'Skip: drop it; do the rest ("skip 5 and do the rest")'),
        ("yes, fix it", "Want me to write the hook?", 'Approved: write the hook ("yes, fix it")'),
        ("no", "Should I push the branch?", "Rejected: push the branch"),
        ("no, squash it first", "Should I push the branch?", 'No to "push the branch": no, squash it first'),
        ("1でお願いします", "1. CSV", 'Chosen: CSV ("1でお願いします")'),
    ],
)
def test_an_answer_is_a_decision_with_the_words_that_it_picks(text: str, answers: str, decision: str) -> None:
    (found,) = decisions([said(text, answers)])
    assert found.text.startswith(decision)
    assert found.evidence == ("m0", "m1")


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("ok, make it brighter", "If you want it even brighter, let me know!"),
        ("ok", "Shall I go on, or would you prefer to test first?"),
        ("yes?", "Shall I push the branch?"),
        ("OK, hook it in next", "Missing: the hook in app/orders.py."),
    ],
)
def test_a_nod_to_what_was_no_clear_question_decides_nothing(text: str, answers: str) -> None:
    assert decided(text, answers) == []


@pytest.mark.parametrize(
    "text", ["Use pnpm instead of npm.", "Let's stick with tabs.", "We should use Postgres.", "No feature flags here!"]
)
def test_a_choice_and_a_rejection_are_decisions(text: str) -> None:
    assert decided(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "alright, let's do a new release",
        "How about a list instead of the sum, with a prompt per session?",
        "please write an example that smokes the context, instead of retaining the last turns",
        "commit, and reply to the PR comments",
        '{"text": "No fixes applied.\nWe should use it.',
        "> we decided to use tabs",
    ],
)
def test_an_order_a_question_and_pasted_text_are_no_decision(text: str) -> None:
    assert decided(text) == []


def test_o29_a_decision_that_was_taken_back_says_where() -> None:
    (first, _) = decisions([said("Let's use Redis for the bucket."), said("Forget Redis, one process.", id="m5")])
    assert first.text == "Let's use Redis for the bucket. (taken back in m5)"


def test_what_is_told_as_a_rule_is_not_told_again() -> None:
    rule = Constraint(rule="No feature flags here!", quote="No feature flags here!", evidence=("m1",))
    assert decisions([said("No feature flags here!")], [rule]) == ()


def test_a_fact_is_a_statement_and_stands_in_one_place() -> None:
    message = said("The bucket lives in memory. We run one process. The build is broken again.")
    assert [one.text for one in facts([message])] == ["The bucket lives in memory."]
    assert [(one.kind, one.text) for one in memories([message])] == [(MemoryKind.PROJECT, "We run one process.")]


@pytest.mark.parametrize(
    "text",
    [
        "I believe we have 4 new comments...",
        "No, that's horrible.",
        "it points at tool, not usr",
        "i reviewed what we have",
    ],
)
def test_what_nobody_understands_later_is_no_memory(text: str) -> None:
    assert memories([said(text)]) == ()


def test_c10_b55_a_correction_in_chinese_is_remembered() -> None:
    assert [one.kind for one in memories([said("测试库的端口不是5432而是5433。")])] == [MemoryKind.CORRECTION]


def test_a_secret_never_becomes_a_memory() -> None:
    assert memories([said("Remember that our key is ⟨secret:stripe-key:600b⟩ now.")]) == ()


@pytest.mark.parametrize(
    "hostile", ["no, " * 700, "we should " * 290, "the a b c " * 290, "not x, " * 400, "不是" * 1_400]
)
def test_hostile_texts_are_judged_in_linear_time(hostile: str) -> None:
    messages = [said(hostile)] * 20
    assert len(decisions(messages)) + len(facts(messages)) + len(memories(messages)) < 100


CHOICES = [
    "Let's use Redis for the rate limiter.",
    "We'll go with Postgres.",
    "Postgres it is.",
    "I've decided on the blue sofa.",
    "We decided against the balcony.",
    "Okay, we take the night train.",
    "Let's go for option B then.",
    "I settled on the title The Long Winter.",
    "Forget Redis, we keep the bucket in process.",
    "On second thought, keep the old name.",
    "Drop the export, nobody needs it.",
    "Let's not book the tour.",
    "We chose Lisbon over Porto.",
    "Use uv instead of pip.",
    "I'm going with the cheaper flight.",
    "The decision is final: no dark mode.",
    "We agreed to ship on Friday.",
    "Change of plans: we fly on Tuesday.",
    "Scrap the second chapter.",
    "就用 Postgres 吧",
    "我们决定去京都",
    "还是用方案二",
    "不做导出了",
    "Postgres でいきましょう",
    "京都に決めました",
    "やっぱり電車にします",
    "Wir nehmen den Nachtzug.",
    "Wir haben uns für Postgres entschieden.",
    "Dann eben die blaue Variante.",
]
NO_CHOICES = [
    "Should we use Redis?",
    "Run the tests.",
    "Postgres is slow today.",
    "No, that's not it, both use the dark theme.",
    "No, that's the wrong file.",
    "The tests use Redis.",
    "I don't know which one to take.",
    "Add a retry to the upload.",
    "We used to go with the night train.",
    "What did we decide about the name?",
    "No problem, we can wait.",
    "He decided to leave.",
    "Not sure we should go.",
    "The docs say we should use uv.",
    "We keep getting the same error.",
    "No luck, we still see it.",
    "We stay until Sunday.",
    "We should use the lift, my knee hurts, or should we?",
    "Use the smaller image for the header.",
    "我不知道用哪个",
    "为什么用 Redis？",
    "还没决定",
    "まだ決めていません",
    "どちらにしますか？",
    "Sollen wir den Zug nehmen?",
    "Wir nehmen an, dass es stimmt.",
    "Maybe we go with Postgres.",
    "If we go with Postgres, it gets slower.",
    "We drop about two percent of the packets.",
]


@pytest.mark.parametrize("text", CHOICES)
def test_a_choice_is_told_in_many_wordings(text: str) -> None:
    assert len(decided(text)) == 1


@pytest.mark.parametrize("text", NO_CHOICES)
def test_what_was_might_be_is_asked_or_said_by_others_decides_nothing(text: str) -> None:
    assert decided(text) == []


def test_an_answer_that_names_one_of_two_options_chooses_it() -> None:
    answers = Answered(id="m1", excerpt="Do you want a patch release, or a minor one?")
    (one,) = decisions([UserMessage(id="m2", text="minor, this is a big change", answers=answers)])
    assert one.text.startswith('Chosen: minor, asked "Do you want a patch release, or a minor one?"')
    assert decisions([UserMessage(id="m2", text="what is a minor one?", answers=answers)]) == ()
    assert decisions([UserMessage(id="m2", text="later, I have to go", answers=answers)]) == ()
