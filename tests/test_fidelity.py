"""Planted truths survive consolidations by models that help, are weak, or work against us: the bench in its short form.

`make fidelity` runs it at 1, 10 and 50 consolidations and prints the table.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from worker.core.summary import ProblemKind, TaskStatus

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from fidelity.leftovers import Leftovers, Verdict
from fidelity.models import MODELS
from fidelity.running import NO_MODEL, judge_run, run
from fidelity.story import RULES, Story, make_story


@pytest.fixture(scope="module")
def story() -> Story:
    return make_story()


@pytest.mark.parametrize("model", [NO_MODEL, *MODELS])
def test_nothing_that_must_be_kept_is_lost_and_nothing_untrue_comes_in(
    story: Story, model: str, tmp_path: Path
) -> None:
    """O9, O80, O81, C19: rules, open tasks, people's words, corrections, identifiers, whatever a model answers."""
    judged = judge_run(story, model, 6, tmp_path / "run")
    assert [
        (one.truth.kind, one.truth.name, one.verdict)
        for one in judged
        if one.truth.must and one.verdict is not Verdict.KEPT
    ] == []


@pytest.mark.parametrize("model", ["faithful", "overconfident", "hostile"])
def test_one_consolidation_of_many_parts_keeps_as_much(story: Story, model: str, tmp_path: Path) -> None:
    judged = judge_run(story, model, 1, tmp_path / "run")
    assert [one.truth.name for one in judged if one.truth.must and one.verdict is not Verdict.KEPT] == []


@pytest.fixture(scope="module")
def left(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Leftovers:
    return run(story, "faithful", 2, tmp_path_factory.mktemp("fidelity") / "run")


def verdicts(story: Story, left: Leftovers) -> dict[str, Verdict]:
    return {truth.kind: truth.verdict(left) for truth in story.truths}


def test_a_faithful_model_has_a_rule_lifted_that_a_person_lifted_and_keeps_measured_facts(
    story: Story, left: Leftovers
) -> None:
    told = verdicts(story, left)
    assert told["constraint, lifted"] is Verdict.KEPT
    assert told["fact with evidence"] is Verdict.KEPT


def test_the_bench_sees_every_kind_of_damage(story: Story, left: Leftovers) -> None:
    summary = left.checkpoint.summary
    damaged = replace(
        summary,
        constraints=tuple(
            replace(one, rule="The user mentioned the schema.") if RULES["imperative"][1] in one.quote else one
            for one in summary.constraints
            if RULES["polite"][1] not in one.quote
        ),
        tasks=tuple(replace(task, status=TaskStatus.DONE) for task in summary.tasks),
        problem_solving=tuple(replace(one, kind=ProblemKind.FACT) for one in summary.problem_solving),
        errors=(),
        user_messages=summary.user_messages[:-1],
        current_work="Released as deadbeef4242",
    )
    told = verdicts(story, replace(left, checkpoint=replace(left.checkpoint, summary=damaged), memory=""))
    assert told["constraint, imperative"] is Verdict.DISTORTED
    assert told["constraint, polite"] is Verdict.LOST
    assert told["task, open"] is Verdict.DISTORTED
    assert told["guess"] is Verdict.DISTORTED
    assert told["failed attempt"] is Verdict.LOST
    assert told["correction at the end"] is Verdict.LOST
    assert told["correction in MEMORY.md"] is Verdict.LOST
    assert [
        one.verdict(replace(left, disk=b"AKIAQZ7NFAKE4FAKE2FA")) for one in story.truths if one.kind == "secret"
    ].count(Verdict.INVENTED) == 1
    invented = [one for one in story.truths if one.name == "deadbeef4242"]
    assert invented[0].verdict(replace(left, history="deadbeef4242")) is Verdict.INVENTED
