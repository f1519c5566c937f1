"""Only a person ends a rule: later, in words that are there, about that rule."""

from dataclasses import dataclass, replace

import pytest

from worker.core.lifting import lift, lift_said
from worker.core.summary import Constraint, Summary, UserMessage

RULE = Constraint(id="C-1", rule="Never change the schema.", quote="don't touch the schema", evidence=("m3",))


@dataclass(frozen=True)
class Proposed:
    quote: str
    evidence: tuple[str, ...] = ("m9",)
    id: str = "C-1"


def lifted(proposed: Proposed, text: str, at: str = "m9") -> bool:
    result = lift(Summary(constraints=(RULE,)), [proposed], human={"m3": "don't touch the schema", at: text})
    (rule,) = result.summary.constraints
    assert rule.in_force == bool(result.refused)
    return not rule.in_force


@pytest.mark.parametrize(
    "text",
    [
        "You can change the schema now.",
        "ok, go ahead and touch the schema",
        "Forget what I said about the schema.",
        "The schema rule no longer applies, is that clear?",
        "Never mind the schema rule.",
        "You don't need to keep the schema as it was.",
    ],
)
def test_words_that_permit_what_was_forbidden_lift_it(text: str) -> None:
    assert lifted(Proposed(quote=text), text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("You can change the schema", "What does the schema look like?"),
        ("the schema", "The schema still must not change."),
        ("change the schema", "You may not change the schema."),
        ("go ahead", "Go ahead with the login page."),
        ("you can change the schema", "I never said you can change the schema!"),
        ("schema", "The schema is fine."),
        ("don't touch the schema", "As I said, don't touch the schema, you can touch the rest"),
        ("", "You can change the schema now."),
    ],
)
def test_words_that_are_not_there_or_do_not_permit_lift_nothing(quote: str, text: str) -> None:
    assert not lifted(Proposed(quote=quote), text)


def test_o81_words_of_no_person_lift_nothing() -> None:
    assert not lifted(Proposed(quote="You can change the schema", evidence=("m8",)), "You can change the schema")


def test_earlier_words_lift_nothing() -> None:
    text = "You can change the schema"
    assert not lifted(Proposed(quote=text, evidence=("m2",)), text, at="m2")


def test_an_unknown_constraint_is_refused() -> None:
    result = lift(Summary(constraints=(RULE,)), [Proposed(id="C-9", quote="x")], human={})
    assert [(one.code, one.ids) for one in result.refused] == [("constraint_lifted_unsourced", ("C-9",))]


def test_the_quote_is_kept_as_the_person_wrote_it() -> None:
    result = lift(
        Summary(constraints=(RULE,)),
        [Proposed(quote="you can CHANGE the  schema")],
        human={"m9": "Well, you can change the schema."},
    )
    assert result.summary.constraints[0].lifted is not None
    assert result.summary.constraints[0].lifted.quote == "you can change the schema"


def after(*said: str, rule: Constraint = RULE) -> Constraint:
    """The rule, set in m3, behind these messages m4, m5 …"""
    messages = [UserMessage(id=f"m{index}", text=text) for index, text in enumerate(said, start=4)]
    return lift_said(Summary(constraints=(rule,)), messages).constraints[0]


def test_plain_words_of_a_person_lift_a_rule_without_a_model() -> None:
    lifted_by = after("Thanks.", "Good news. You may touch the schema now, forget what I said.").lifted
    assert lifted_by is not None
    assert (lifted_by.evidence, lifted_by.quote) == (("m5",), "You may touch the schema now, forget what I said.")


@pytest.mark.parametrize(
    "said",
    [
        "You may touch the schema now. Only in staging, though.",
        "You may touch the schema now. But not the indexes.",
        "> You may touch the schema now.",
        "```\nYou may touch the schema now.\n```",
        'Mira wrote "You may touch the schema now."',
        "May I tell them that you may touch the schema now?",
    ],
)
def test_what_the_next_sentence_takes_back_and_what_is_quoted_lifts_nothing(said: str) -> None:
    assert after(said).in_force


def test_words_before_the_rule_was_said_again_lift_nothing() -> None:
    again = replace(RULE, evidence=("m3", "m7"))
    assert after("You may touch the schema now.", rule=again).in_force
    assert not after("-", "-", "-", "-", "You may touch the schema now.", rule=again).in_force


def test_what_the_agent_was_given_is_not_a_persons_to_lift() -> None:
    assert after("You may touch the schema now.", rule=replace(RULE, given=True)).in_force


def test_only_the_rule_that_is_meant_is_lifted() -> None:
    rules = (RULE, Constraint(id="C-2", rule="Never push to main.", quote="never push to main", evidence=("m2",)))
    said = UserMessage(id="m9", text="You may push to main again.")
    found = lift_said(Summary(constraints=rules), [said]).constraints
    assert [one.in_force for one in found] == [True, False]


def test_what_a_model_proposes_for_a_place_that_the_rule_does_not_name_lifts_nothing() -> None:
    text = "You can change the schema in staging."
    assert not lifted(Proposed(quote=text), text)
