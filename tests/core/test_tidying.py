"""What leaves the material, what must not, and that everything can be had back."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.material import shown_tokens
from worker.core.messages import Message
from worker.core.offloading import handle_of, restore
from worker.core.pairing import pair
from worker.core.tidying import Tidied, tidy


def tidied(messages: list[Message], **thresholds: int) -> Tidied:
    pairing = pair(messages)
    return tidy(messages, pairing, shown_tokens(messages, pairing), **thresholds)


def result_text(message: Message) -> str:
    assert message.tool_result is not None
    return message.tool_result.text


SMALL = {"offload_chars": 400, "group_chars": 1_200, "old_after_messages": 5}


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_tidying_twice_is_tidying_once(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    once = tidied(data.draw(sessions), **SMALL)
    twice = tidied([*once.messages], **SMALL)
    assert twice.messages == once.messages
    assert (twice.savings, twice.offloads) == ({}, ())


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_index_stays_and_the_tokens_are_those_of_what_is_shown_now(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    found = tidied(messages, **SMALL)
    pairing = pair(messages)
    assert [message.id for message in found.messages] == [message.id for message in messages]
    main_line = [at for at, message in enumerate(messages) if not message.sidechain]
    now = shown_tokens(found.messages, pairing)
    assert [found.tokens[at] for at in main_line] == [now[at] for at in main_line]
    assert sum(found.savings.values()) == sum(shown_tokens(messages, pairing)) - sum(found.tokens)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_people_and_the_assistant_said_is_never_touched(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    for before, after in zip(messages, tidied(messages, **SMALL).messages, strict=True):
        if not before.sidechain and before.origin in ("human", "assistant"):
            assert after == before


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(st.text(max_size=2_000), min_size=1, max_size=6))
def test_offload_then_restore_is_the_identity(texts: list[str], new_script: Any) -> None:
    script = new_script()
    for number, text in enumerate(texts):
        script.calls((f"c{number}", "Bash", "x"))
        script.result(f"c{number}", text + "\n" + "y" * 500)
    found = tidied(script.messages, offload_chars=400)
    assert restore(found.messages, found.offloads) == tuple(script.messages)
    for offload in found.offloads:
        assert offload.artifact.handle == hashlib.sha256(offload.text.encode("utf-8", "replace")).hexdigest()


def large(lines: int = 4_000) -> str:
    return "\n".join(f"line {number}: nothing of note" for number in range(lines))


def test_a_large_result_becomes_an_artifact_with_a_preview(script: Any) -> None:
    script.calls(("a", "Bash", "make"))
    text = large().replace("line 2000: nothing", "line 2000: FATAL error in the linker")
    script.result("a", text, name="Bash")
    found = tidied(script.messages)
    artifact = found.offloads[0].artifact
    assert (artifact.message, artifact.tool, artifact.chars, artifact.lines) == ("m1", "Bash", len(text), 4_000)
    assert artifact.created == script.messages[1].timestamp
    shown = result_text(found.messages[1])
    assert shown.startswith(f"[artifact {handle_of(text)}: 4,000 lines, ")
    for line in ("line 0: nothing", "line 1999: nothing", "FATAL error in the linker", "line 3999: nothing"):
        assert line in shown
    assert "line 500:" not in shown
    assert found.savings["offloaded"] > 10_000


def test_results_of_one_response_that_are_large_together_are_offloaded_largest_first(script: Any) -> None:
    sizes = [20_000, 29_000, 28_000, 1_000]
    for number in range(len(sizes)):
        script.calls((f"c{number}", "Bash", "x"), response="r")
    for number, size in enumerate(sizes):
        script.result(f"c{number}", str(number) * size)
    found = tidied(script.messages, group_chars=50_000)
    assert [offload.index for offload in found.offloads] == [5]


@pytest.mark.parametrize("start", ["<persisted-output>\n", "[artifact 12ab: 3 lines]\n"])
def test_what_stands_for_an_artifact_already_is_left_alone(start: str, script: Any) -> None:
    script.calls(("a", "Bash", "x"))
    script.result("a", start + "same line\n" * 60)
    assert tidied(script.messages, offload_chars=100).messages == tuple(script.messages)


def test_a_megabyte_that_only_looks_like_a_stub_of_ours_is_offloaded(script: Any) -> None:
    script.calls(("a", "Bash", "x"))
    script.result("a", "[artifact 12ab: 3 lines]\n" + "x" * 1_000_000)
    assert len(tidied(script.messages).offloads) == 1


def test_failures_and_denials_are_never_shortened_away(script: Any) -> None:
    denial = "The user doesn't want to proceed: rm -rf is forbidden here"
    outcomes: list[tuple[str, dict[str, Any]]] = [
        (denial, {"is_error": True}),
        ("retry\n" * 200, {"exit_code": 1}),
        (denial + "\n" + "x" * 300, {}),
    ]
    for number, (text, how) in enumerate(outcomes):
        script.calls((f"c{number}", "Bash", "rm -rf build"))
        script.result(f"c{number}", text, **how)
    assert tidied(script.messages).messages == tuple(script.messages)


def test_a_failure_too_large_for_any_prompt_keeps_its_failing_lines(script: Any) -> None:
    script.calls(("a", "Bash", "make"))
    script.result("a", large().replace("line 1234: nothing", "line 1234: permission denied"), is_error=True)
    assert "permission denied" in result_text(tidied(script.messages).messages[1])


def test_transient_harness_rows_go_and_the_others_stay(script: Any) -> None:
    script.harness("<system-reminder>\nbe brief\n</system-reminder>")
    script.harness("[Request interrupted by user]")
    script.harness("<task-notification>\n<status>completed</status>\n</task-notification>")
    reminder, interrupted, notification = tidied(script.messages).messages
    assert reminder.text == ""
    assert interrupted == script.messages[1]
    assert notification == script.messages[2]


def test_c24_the_body_of_a_skill_is_shortened(script: Any) -> None:
    script.harness("Base directory for this skill: /skills/review\n" + "Do this next. " * 1_000)
    text = tidied(script.messages).messages[0].text
    assert text.startswith("Base directory for this skill: /skills/review")
    assert len(text) < 2_000


def test_side_chains_are_emptied_not_removed(script: Any) -> None:
    script.calls(("a", "Task", {}))
    script.human("prompt of a sub-agent", sidechain=True)
    script.result("x", "its reading", sidechain=True)
    found = tidied(script.messages)
    assert found.messages[1] == replace(script.messages[1], text="")
    assert found.messages[2] == replace(script.messages[2], tool_result=None)


def test_every_step_reports_the_tokens_it_saves(script: Any) -> None:
    script.harness("<system-reminder>" + "be brief " * 50)
    for number in range(2):
        script.calls((f"r{number}", "Read", {"file_path": "a.py"}))
        script.result(f"r{number}", "x = 1\ny = 2\n" * 100)
    script.calls(("p", "Bash", "pip install x"))
    script.result("p", "\n".join(f"downloading {percent}%" for percent in range(100)))
    script.calls(("big", "Bash", "make"))
    script.result("big", large())
    savings = tidied(script.messages).savings
    assert {step for step, saved in savings.items() if saved > 50} == {"harness", "superseded", "progress", "offloaded"}


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ('{"a": ' + "1" * 300 + "}", "application/json"),
        ("diff --git a b\n" + "+x\n" * 200, "text/x-diff"),
        ("z" * 300, "text/plain"),
    ],
)
def test_an_artifact_knows_its_kind(text: str, media_type: str, script: Any) -> None:
    script.calls(("a", "Bash", "x"))
    script.result("a", text)
    assert tidied(script.messages, offload_chars=100).offloads[0].artifact.media_type == media_type
