"""A session becomes rows in which every call has its result, and a session that grows only adds rows."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.dialects import anthropic_messages, openai_messages, units
from worker.core.messages import Attachment, Message, Origin, Role
from worker.core.sending import (
    COMMAND_MARK,
    HARNESS_MARK,
    OPEN_RESULT,
    SUMMARY_MARK,
    Row,
    Sealed,
    rows_of,
    settled,
)


def texts(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row.role.value, row.text) for row in rows]


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_every_session_is_a_valid_request_of_both_providers(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]], protocols: Any
) -> None:
    """O11, O12, O14, B62, P01, C20."""
    messages = data.draw(sessions)
    rows = [Row(role=Role.USER, text="begin"), *rows_of(messages)]
    protocols.check_openai(openai_messages(rows))
    protocols.check_anthropic(*anthropic_messages(rows))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_nothing_that_was_said_or_printed_is_left_out(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    sent = "\n".join(row.text for row in rows_of(messages))
    for message in messages:
        if message.sidechain:
            continue
        for text in (message.text, message.tool_result.text if message.tool_result else ""):
            assert text.replace("\ud83d", "\ufffd") in sent or not text.strip()


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_a_session_that_grows_row_by_row_changes_no_row_that_was_sent(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    sealed, end = Sealed(), 0
    before: list[Row] = []
    blocks: list[tuple[str, object]] = []
    for cut in data.draw(st.lists(st.integers(0, len(messages)), max_size=12).map(sorted)):
        shown = messages[:cut]
        sealed = settled(shown, end, sealed)
        rows = rows_of(shown, sealed)
        assert openai_messages(rows)[: len(before)] == openai_messages(before)
        now = list(units(anthropic_messages(rows)[1]))
        assert now[: len(blocks)] == blocks
        before, blocks, end = rows, now, cut


def test_results_stand_right_behind_their_calls_whatever_came_in_between(script: Any) -> None:
    script.human("look at both")
    script.calls(("a", "Read", {}), response="r1", text="I look.")
    script.calls(("b", "Grep", {}), response="r1")
    script.human("and hurry")
    script.result("b", "second")
    script.result("a", "first")
    script.says("Done.", response="r2")
    rows = rows_of(script.messages)
    assert texts(rows) == [
        ("user", "look at both"),
        ("assistant", "I look."),
        ("tool", "first"),
        ("tool", "second"),
        ("user", "and hurry"),
        ("assistant", "Done."),
    ]
    assert [call.name for call in rows[1].calls] == ["Read", "Grep"]


def test_a_call_that_was_interrupted_says_so(script: Any) -> None:
    """O14: a tool that was killed left a call without a result."""
    script.human("run it")
    script.calls(("a", "Bash", {"command": "make"}))
    script.human("go on")
    assert texts(rows_of(script.messages))[1:] == [("assistant", ""), ("tool", OPEN_RESULT), ("user", "go on")]


def test_a_result_that_came_after_the_conversation_had_gone_on_stays_where_it_came(script: Any) -> None:
    script.calls(("a", "Bash", {}), response="r1")
    script.says("Meanwhile …", response="r2")
    script.result("a", "finished")
    rows = rows_of(script.messages)
    assert texts(rows)[1] == ("tool", OPEN_RESULT)
    assert rows[-1].role is Role.USER
    assert rows[-1].text == "[late result of the call Bash (a) above]\nfinished"


def test_a_result_of_a_call_that_had_been_sent_open_does_not_change_it(script: Any) -> None:
    script.human("run it")
    script.calls(("a", "Bash", {}), response="r1")
    first = rows_of(script.messages)
    script.result("a", "finished")
    assert texts(rows_of(script.messages))[-1] == ("tool", "finished")
    sealed = settled(script.messages, 2, Sealed())
    assert rows_of(script.messages, sealed)[: len(first)] == first
    assert sealed.late == {2}


def test_a_result_without_its_call_is_kept_and_marked(script: Any) -> None:
    script.result("nobody", "whose is this", name="Read")
    assert texts(rows_of(script.messages)) == [("user", "[result of Read of a call that is not shown]\nwhose is this")]


def test_ids_that_are_used_again_or_that_no_provider_takes_are_made_unique(script: Any) -> None:
    for call_id in ("call 1!", "call 1!", "", "x" * 200, "x" * 200, "call_1_-2"):
        script.calls((call_id, "mcp.tool/run", {}))
        script.result(call_id, "done")
    calls = [call for row in rows_of(script.messages) for call in row.calls]
    assert len({call.id for call in calls}) == len(calls)
    assert all(0 < len(call.id) <= 64 for call in calls)
    assert {call.name for call in calls} == {"mcp_tool_run"}
    assert calls[0].id == "call_1_"


def test_who_wrote_a_row_under_the_users_role_is_told() -> None:
    def said(origin: Origin, text: str) -> Message:
        return Message(index=0, role=Role.USER, origin=origin, text=text)

    assert rows_of([said(Origin.HUMAN, "hello")])[0].text == "hello"
    assert rows_of([said(Origin.HARNESS, "be brief")])[0].text == f"{HARNESS_MARK}\nbe brief"
    assert rows_of([said(Origin.SUMMARY, "so far")])[0].text == f"{SUMMARY_MARK}\nso far"


def test_a_command_that_the_person_ran_is_no_call_of_the_model(script: Any) -> None:
    ran = script.calls(("a", "bash", {"command": "ls"}))
    script.result("a", "README.md")
    rows = rows_of([Message(index=0, role=Role.ASSISTANT, origin=Origin.HARNESS, text="", tool_calls=ran.tool_calls)])
    assert [row.role for row in rows] == [Role.USER]
    assert rows[0].text.startswith(COMMAND_MARK)


def test_an_attachment_is_a_line() -> None:
    """O42: bytes of an image are never sent."""
    picture = Attachment(kind="image", media_type="image/png", size=12_000)
    message = Message(index=0, role=Role.USER, origin=Origin.HUMAN, text="see", attachments=(picture,))
    assert rows_of([message])[0].text == "see\n[image image/png 12 KB]"


def test_half_a_surrogate_pair_is_sent_as_a_replacement_character() -> None:
    """T08: a request is UTF-8, and transcripts hold halves."""
    message = Message(index=0, role=Role.USER, origin=Origin.HUMAN, text="cut \ud83d and \ud83d\ude00")
    assert rows_of([message])[0].text == "cut \ufffd and 😀"
