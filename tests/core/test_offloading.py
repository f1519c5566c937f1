"""What of a large output stays in the material, and by what name the rest is found."""

import hashlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.messages import ToolCall
from worker.core.offloading import PREVIEW_CHARS, handle_of, is_offloaded, offload, preview


@settings(deadline=None, max_examples=60)
@given(text=st.text())
def test_the_handle_is_the_hash_of_the_bytes_that_are_stored(text: str) -> None:
    assert handle_of(text) == hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@settings(deadline=None, max_examples=60)
@given(lines=st.lists(st.sampled_from(["fine", "an error", "x" * 5_000, "中" * 900, ""]), min_size=200, max_size=400))
def test_a_preview_is_bounded_and_stands_for_its_artifact(lines: list[str], new_script: Any) -> None:
    script = new_script()
    message = script.result("a", "\n".join(lines), name="Bash")
    assert message.tool_result is not None
    shown = offload(message, message.tool_result).artifact.preview
    assert len(shown) <= PREVIEW_CHARS + 300
    assert is_offloaded(shown)


def test_an_artifact_names_what_the_tool_was_asked_for(new_script: Any) -> None:
    message = new_script().result("a", "x", name="Bash")
    call = ToolCall(id="a", name="Bash", arguments='{"command": "cat  logs/\\nworker.log"}')
    assert offload(message, message.tool_result, call).artifact.call == "cat logs/ worker.log"
    assert offload(message, message.tool_result).artifact.call == ""


def test_one_giant_line_is_cut_by_characters() -> None:
    shown = preview("a" * 500_000 + "END")
    assert len(shown) < 1_000
    assert shown.endswith("END")
    assert "characters left out" in shown


def test_a_preview_has_the_first_and_the_last_failures_of_many() -> None:
    lines = [f"{number} {'error' if number % 3 == 0 and 100 < number < 2_900 else 'fine'}" for number in range(3_000)]
    shown = preview("\n".join(lines))
    assert "102 error" in shown
    assert "2898 error" in shown
    assert len(shown) < 7_000
