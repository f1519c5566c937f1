"""The shapes of both providers, one small request written out."""

from typing import Any

from worker.core.dialects import anthropic_messages, as_text, openai_messages, with_cache_marks
from worker.core.messages import Role
from worker.core.sending import Row, rows_of


def small(script: Any) -> list[Row]:
    script.human("fix it")
    script.calls(("a", "Bash", '{"command":"make"}'), ("b", "Read", "not json"), text="I look.  ")
    script.result("a", "no rule", is_error=True)
    script.result("b", "")
    script.says("Fixed. ")
    return [Row(role=Role.SYSTEM, text="Be brief."), *rows_of(script.messages)]


def test_openai_has_one_tool_message_per_call(script: Any) -> None:
    assert openai_messages(small(script)) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "fix it"},
        {
            "role": "assistant",
            "content": "I look.  ",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "Bash", "arguments": '{"command":"make"}'}},
                {"id": "b", "type": "function", "function": {"name": "Read", "arguments": "not json"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "[error]\nno rule"},
        {"role": "tool", "tool_call_id": "b", "content": "(no output)"},
        {"role": "assistant", "content": "Fixed. "},
    ]


def test_anthropic_has_the_results_in_the_next_user_message(script: Any) -> None:
    system, messages = anthropic_messages(small(script))
    assert system == [{"type": "text", "text": "Be brief."}]
    assert messages == [
        {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "make"}},
                {"type": "tool_use", "id": "b", "name": "Read", "input": {"arguments": "not json"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "no rule", "is_error": True},
                {"type": "tool_result", "tool_use_id": "b", "content": "(no output)"},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
    ]


def test_a_system_message_counts_wherever_it_stands_and_once() -> None:
    rows = [Row(role=Role.USER, text="hi")] + [Row(role=Role.SYSTEM, text=text) for text in ("a", "b", "a")]
    system, messages = anthropic_messages(rows)
    assert [block["text"] for block in system] == ["a", "b"]
    assert len(messages) == 1


def test_arguments_that_only_python_reads_go_as_text(script: Any) -> None:
    for number, arguments in enumerate(["[1]", "NaN", '{"a": NaN}', '{"a": "\\ud83d"}', "{" * 5_000, ""]):
        script.calls((f"c{number}", "Bash", arguments))
    inputs = [
        block["input"]
        for message in anthropic_messages(rows_of(script.messages))[1]
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    assert inputs[:-1] == [
        {"arguments": text} for text in ["[1]", "NaN", '{"a": NaN}', '{"a": "\\ud83d"}', "{" * 5_000]
    ]
    assert inputs[-1] == {}


def test_two_cache_marks_stand_behind_the_static_part_and_at_the_end(script: Any) -> None:
    system, messages = anthropic_messages(small(script))
    marked_system, marked = with_cache_marks(system, messages)
    assert marked_system[-1]["cache_control"] == {"type": "ephemeral"}
    assert marked[-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert str([marked_system, marked]).count("cache_control") == 2
    assert "cache_control" not in str([system, messages])


def test_a_person_reads_calls_and_results(script: Any) -> None:
    rows = small(script)
    for messages in (openai_messages(rows), anthropic_messages(rows)[1]):
        page = "\n".join(map(as_text, messages))
        assert "fix it" in page
        assert "call Bash" in page
        assert "no rule" in page
