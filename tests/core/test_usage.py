"""Every token of a session is counted once, under whoever wrote it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.messages import Message, Origin
from worker.core.tokens import estimate_tokens
from worker.core.usage import tokens_by_source


def test_each_text_counts_for_its_writer_and_each_result_for_its_tool(script: Any) -> None:
    script.human("please fix the build")
    script.harness("<system-reminder>be brief</system-reminder>")
    script.calls(("a", "Bash", {"command": "make"}), ("b", "Read", {"file_path": "x"}), text="I look.")
    script.result("a", "make: *** no rule")
    script.result("b", "one\ntwo", name="Read")
    script.result("nobody", "whose is this")
    assert tokens_by_source(script.messages) == {
        "people": estimate_tokens("please fix the build"),
        "harness": estimate_tokens("<system-reminder>be brief</system-reminder>"),
        "assistant": sum(map(estimate_tokens, ["I look.", 'Bash {"command": "make"}', 'Read {"file_path": "x"}'])),
        "tool:Bash": estimate_tokens("make: *** no rule"),
        "tool:Read": estimate_tokens("one\ntwo"),
        "tool:unknown": estimate_tokens("whose is this"),
    }


def test_what_no_request_carries_is_not_counted(script: Any) -> None:
    script.human("a question to a sub-agent", sidechain=True)
    assert tokens_by_source(script.messages) == {}
    assert tokens_by_source([]) == {}


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_the_largest_comes_first_and_counting_in_two_parts_adds_up(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = [message for message in data.draw(sessions) if message.origin is not Origin.TOOL]
    cut = data.draw(st.integers(0, len(messages)))
    whole, parts = (
        tokens_by_source(messages),
        (tokens_by_source(messages[:cut]), tokens_by_source(messages[cut:])),
    )
    assert list(whole.values()) == sorted(whole.values(), reverse=True)
    assert all(whole.values())
    assert whole == {name: sum(part.get(name, 0) for part in parts) for name in whole}
