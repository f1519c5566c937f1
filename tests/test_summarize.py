"""From a sealed range to a checked summary: with a model, with half of one, without."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from worker.adapters.prompts import PromptFiles
from worker.core.checkpoint import Status
from worker.core.planning import Limits, limits_for
from worker.core.summary import Check, CheckResult, Summary
from worker.core.taking import take_ledger
from worker.errors import ModelRefused, ModelUnavailable, RateLimited
from worker.ports import Turn
from worker.ranges import Window
from worker.summarize import LONGEST_WAIT_SECONDS, Asker, Material, Summarized, share_out, summarize
from worker.testing import MemoryParts, RecordedProgress, ScriptedModel, in_form, part_answer
from worker.transcripts import open_transcript

RULE = "Never touch the schema."
LIMITS = limits_for(128_000, manual=True, hold_back=False, part_tokens=500)
TOPICS = ("alpha", "bravo", "charlie", "delta", "echo")


@pytest.fixture
def material(tmp_path: Path) -> Material:
    """Five parts, one for each topic, each with a task of its own."""
    rows: list[dict[str, Any]] = []
    for number, topic in enumerate(TOPICS):
        told = " ".join(f"{topic}{word}" for word in range(240))
        rows.append({"role": "user", "content": f"T-{number + 1}: look at {topic}. {RULE}", "origin": "human"})
        rows.append({"role": "assistant", "content": told})
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({**row, "timestamp": "2026-01-23T03:07:00Z"}) + "\n" for row in rows))
    sealed = Window(open_transcript(path), None, LIMITS, manual=True).next_range()
    assert sealed is not None
    return Material(
        messages=sealed.messages,
        tidied=sealed.tidied,
        ledger=take_ledger(sealed.messages),
        state=None,
        number=1,
        today=date(2026, 1, 23),
    )


def asker(model: ScriptedModel, **more: Any) -> tuple[Asker, list[float]]:
    waits: list[float] = []
    made = Asker(
        model=model,
        prompts=PromptFiles(),
        cache=MemoryParts(),
        progress=RecordedProgress(),
        wait=waits.append,
        new_fence=lambda: "transcript-9c41ab03",
        concurrency=1,
        retries=2,
        summary_tokens=4_000,
    )
    return replace(made, **more), waits


def run(material: Material, model: ScriptedModel, limits: Limits = LIMITS, **more: Any) -> Summarized:
    return summarize(material, limits, asker(model, **more)[0])


def topic_of(turns: Sequence[Turn]) -> str | None:
    """The topic of a part; None for the question about the merge."""
    if turns[0].content.startswith("You keep the memory"):
        return None
    return next(topic for topic in TOPICS if f"{topic}0" in turns[1].content)


def answers(turns: Sequence[Turn]) -> str:
    topic = topic_of(turns)
    if topic is None:
        return in_form({"request": "Look at the five", "current_work": "echo", "next_step": None, "changes": []})
    return part_answer(request=f"Look at {topic}", current_work=f"looked at {topic}1 and {topic}2")


def where(summarized: Summarized, code: str) -> list[str]:
    return [finding.where for finding in summarized.findings if finding.code == code]


def assert_whole(summary: Summary) -> None:
    assert [constraint.quote for constraint in summary.constraints] == [RULE]
    assert sorted(task.id for task in summary.tasks) == [f"T-{number + 1}" for number in range(5)]
    assert len(summary.user_messages) == 5


def test_every_part_is_asked_once_and_then_the_merge(material: Material) -> None:
    model = ScriptedModel(otherwise=answers)
    summarized = run(material, model)
    assert [topic_of(request.turns) for request in model.asked] == [*TOPICS, None]
    assert (summarized.status, summarized.parts, summarized.use.calls) == (Status.OK, 5, 6)
    assert summarized.summary.request == "Look at the five"
    assert_whole(summarized.summary)


def test_a_file_inside_the_project_is_named_from_its_folder_however_the_model_names_it(material: Material) -> None:
    (first, *others) = material.messages
    said = replace(first, text=f"{first.text} It is in /home/dana/app/src/alpha.py, like /etc/hosts.")
    material = replace(material, messages=(said, *others), cwd="/home/dana/app")

    def tells_paths(turns: Sequence[Turn]) -> str:
        if topic_of(turns) != "alpha":
            return answers(turns)
        paths = ("/home/dana/app/src/alpha.py", "/etc/hosts")
        files = [{"path": path, "change": "mentioned", "note": "", "evidence": ["m0"]} for path in paths]
        return part_answer(request="Look at alpha", current_work="looked at alpha1", files=files)

    files = run(material, ScriptedModel(otherwise=tells_paths)).summary.files
    assert sorted(file.path for file in files) == ["/etc/hosts", "src/alpha.py"]


def test_a_model_is_told_in_which_language_people_write(material: Material) -> None:
    model = ScriptedModel(otherwise=answers)
    run(material, model)
    assert all("write all texts in English" in request.turns[1].content for request in model.asked)


def test_a_merge_that_copies_the_texts_of_an_older_part_does_not_turn_the_clock_back(material: Material) -> None:
    """Measured with a small model: it gave the first of the pieces as the state of the work."""

    def copies_the_first(turns: Sequence[Turn]) -> str:
        if topic_of(turns) is not None:
            return answers(turns)
        texts = {"request": "Look at alpha", "current_work": "looked at alpha1 and alpha2"}
        return in_form({**texts, "next_step": None, "changes": []})

    summary = run(material, ScriptedModel(otherwise=copies_the_first)).summary
    assert (summary.request, summary.current_work) == ("Look at echo", "looked at echo1 and echo2")


def test_progress_names_the_parts_and_ends_with_the_merge(material: Material) -> None:
    progress = RecordedProgress()
    run(material, ScriptedModel(otherwise=answers), progress=progress)
    assert [(step.stage, step.done, step.total) for step in progress.steps] == [
        *(("asking", done, 5) for done in range(6)),
        ("merging", 0, 0),
    ]


def test_without_a_model_code_tells_it_all(material: Material) -> None:
    summarized = summarize(material, LIMITS, None)
    assert (summarized.status, summarized.parts, summarized.use.calls) == (Status.DETERMINISTIC, 0, 0)
    assert_whole(summarized.summary)


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_a_part_that_fails_for_good_costs_itself_alone(concurrency: int, material: Material) -> None:
    def cursed(turns: Sequence[Turn]) -> str:
        if topic_of(turns) == "charlie":
            raise ModelUnavailable("down")
        return answers(turns)

    summarized = run(material, ScriptedModel(otherwise=cursed), concurrency=concurrency)
    assert summarized.status is Status.DEGRADED
    assert where(summarized, "model_unavailable") == ["part m5-m6"]
    assert_whole(summarized.summary)


def test_an_outage_is_not_asked_part_by_part(material: Material) -> None:
    """O26 C13: three tries, one more part to see whether it was the part's fault, then code goes on alone."""
    model = ScriptedModel(otherwise=ModelUnavailable("down"))
    made, waits = asker(model)
    summarized = summarize(material, LIMITS, made)
    asked = [topic_of(request.turns) for request in model.asked]
    assert asked == ["alpha", "alpha", "alpha", "bravo"]
    assert waits == [1.0, 2.0]
    assert len(where(summarized, "model_unavailable")) == 5
    assert summarized.status is Status.DEGRADED
    assert_whole(summarized.summary)


def test_a_rate_limit_is_waited_for_and_never_tested_with_another_part(material: Material) -> None:
    model = ScriptedModel(otherwise=RateLimited("slow down", 7.0))
    made, waits = asker(model)
    summarize(material, LIMITS, made)
    assert [topic_of(request.turns) for request in model.asked] == ["alpha"] * 3
    assert waits == [7.0, 7.0]


def test_nobody_waits_an_hour_for_a_provider(material: Material) -> None:
    model = ScriptedModel(otherwise=RateLimited("come back later", LONGEST_WAIT_SECONDS + 1))
    made, waits = asker(model)
    with pytest.raises(RateLimited):
        summarize(material, LIMITS, made, require_model=True)
    assert (waits, len(model.asked)) == ([], 1)


def test_a_merge_that_fails_leaves_what_code_joined(material: Material) -> None:
    def no_merge(turns: Sequence[Turn]) -> str:
        if topic_of(turns) is None:
            raise ModelUnavailable("down")
        return answers(turns)

    summarized = run(material, ScriptedModel(otherwise=no_merge))
    assert where(summarized, "merge_unavailable") == ["merge"]
    assert summarized.status is Status.OK
    assert_whole(summarized.summary)


def test_a_refusal_is_raised_and_answered_parts_are_not_asked_again(material: Material) -> None:
    cache = MemoryParts()

    def refused_at_delta(turns: Sequence[Turn]) -> str:
        if topic_of(turns) == "delta":
            raise ModelRefused("wrong key")
        return answers(turns)

    with pytest.raises(ModelRefused):
        run(material, ScriptedModel(otherwise=refused_at_delta), cache=cache)
    model = ScriptedModel(otherwise=answers)
    run(material, model, cache=cache)
    assert [topic_of(request.turns) for request in model.asked] == ["delta", "echo", None]


def test_what_outgrows_the_state_leaves_for_the_history_and_is_not_lost(material: Material) -> None:
    def talkative(turns: Sequence[Turn]) -> str:
        topic = topic_of(turns)
        if topic is None:
            return answers(turns)
        cited = f"m{2 * TOPICS.index(topic) + 1}"
        claims = [
            {"kind": "claim", "text": f"{topic}{n} {topic}{n + 1} {topic}{n + 2} are related", "evidence": [cited]}
            for n in range(0, 24, 3)
        ]
        return part_answer(request=f"Look at {topic}", problem_solving=claims)

    whole = run(material, ScriptedModel(otherwise=talkative))
    small = run(material, ScriptedModel(otherwise=talkative), limits=replace(LIMITS, state_tokens=500))
    assert not whole.moved.problem_solving
    assert small.moved.problem_solving
    kept = {item.text for item in (*small.summary.problem_solving, *small.moved.problem_solving)}
    assert kept == {item.text for item in whole.summary.problem_solving}
    assert_whole(small.summary)


def test_what_the_chain_knows_is_told_to_the_model_and_kept(material: Material) -> None:
    first = run(material, ScriptedModel(otherwise=answers))
    model = ScriptedModel(otherwise=answers)
    second = run(replace(material, state=first.summary, number=2), model)
    assert RULE.rstrip(".") in model.asked[0].turns[1].content
    assert_whole(second.summary)
    assert {item.since for item in second.summary.constraints} == {1}


def test_the_parts_are_shared_out_whole_and_in_order(material: Material) -> None:
    shares = share_out(material.tidied, LIMITS)
    assert [message.id for part in shares for message in part.messages] == [one.id for one in material.messages]


def test_how_a_check_ended_is_told_by_code_whatever_the_model_says_of_it(material: Material) -> None:
    seen = Check(command="pytest -q", result=CheckResult.FAILED, note="2 failed", evidence=("m1",))
    material = replace(material, ledger=replace(material.ledger, checks=(seen,)))

    def turned_round(turns: Sequence[Turn]) -> str:
        claimed = [{"command": "pytest -q", "result": "passed", "note": "all green", "evidence": ["m1"]}]
        return in_form(json.loads(answers(turns).split("<summary>")[1].split("</summary>")[0]) | {"checks": claimed})

    for model in (ScriptedModel(otherwise=answers), ScriptedModel(otherwise=turned_round)):
        checks = run(material, model).summary.checks
        assert [(one.command, one.result) for one in checks] == [("pytest -q", CheckResult.FAILED)]
