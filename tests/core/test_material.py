"""What is shown of a message: who said it and when, nothing that a terminal would hide, no file contents at length."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.material import clean, listed, shorten, shown, shown_all, shown_tokens
from worker.core.messages import Attachment, Message, Origin, Role
from worker.core.pairing import pair
from worker.core.tokens import estimate_tokens


def test_the_first_line_says_who_and_when(script: Any) -> None:
    message = script.human("Rename it.\nKeep the view.")
    assert shown(message) == "[m0 human 2026-01-23 03:07Z]\nRename it.\nKeep the view."


def test_a_call_shows_its_name_and_arguments(script: Any) -> None:
    message = script.calls(("a", "Bash", {"command": "ls"}), text="I look.")
    assert shown(message).split("\n", 1)[1] == 'I look.\ncall Bash {"command": "ls"}'


def test_p03_an_interrupted_call_says_that_it_has_no_result(script: Any) -> None:
    script.calls(("a", "Bash", "x"), ("b", "Bash", "y"))
    script.result("a", "ok")
    first, _ = shown_all(script.messages, pair(script.messages))
    assert "call Bash x\n" in first
    assert first.endswith("call Bash y (interrupted, no result)")


def test_a_result_shows_its_tool_and_how_it_failed(script: Any) -> None:
    message = script.result("a", "boom", name="Bash", is_error=True, exit_code=2)
    assert shown(message).split("\n", 1)[1] == "result of Bash (error, exit code 2):\nboom"


def test_an_orphan_result_says_that_its_call_is_not_known(script: Any) -> None:
    script.result("nobody", "text")
    assert "(its call is not known)" in shown_all(script.messages, pair(script.messages))[0]


def test_an_empty_result_says_so(script: Any) -> None:
    assert shown(script.result("a", " \n")).endswith("result: empty")


def test_o42_an_attachment_is_named_not_sent() -> None:
    image = Attachment(kind="image", media_type="image/png", size=12_300)
    message = Message(index=3, role=Role.USER, origin=Origin.HUMAN, text="see", attachments=(image,))
    assert shown(message) == "[m3 human]\nsee\n[image image/png 12 KB]"


def test_side_chains_and_rows_that_only_think_show_nothing(script: Any) -> None:
    script.human("of a sub-agent", sidechain=True)
    script.says("")
    assert shown_all(script.messages, pair(script.messages)) == ("", "")
    assert shown_tokens(script.messages, pair(script.messages)) == (0, 0)


def test_file_contents_in_a_call_are_shortened_and_the_other_fields_stay(script: Any) -> None:
    content = "first line\n" + "x" * 50_000 + "\nlast line"
    message = script.calls(("a", "Write", {"file_path": "src/new.py", "content": content}))
    text = shown(message)
    arguments = json.loads(text.split("call Write ", 1)[1])
    assert arguments["file_path"] == "src/new.py"
    assert arguments["content"].startswith("first line\n")
    assert arguments["content"].endswith("last line")
    assert f"{len(content) - 550:,} characters left out" in text


@pytest.mark.parametrize("arguments", ["{not json " + "x" * 90_000, "[" * 90_000, '{"a":' * 30_000, '"' + "y" * 90_000])
def test_arguments_that_are_no_json_are_shortened_as_text(arguments: str, script: Any) -> None:
    assert len(shown(script.calls(("a", "Bash", arguments)))) < 5_000


def test_what_a_person_wrote_is_never_shortened(script: Any) -> None:
    text = "\n".join(f"requirement {number}: keep it" for number in range(20_000))
    assert shown(script.human(text)).endswith(text)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("\x1b[31mred\x1b[0m and \x1b[1;4mbold\x1b[m", "red and bold"),
        ("\x1b]0;window title\x07text", "text"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x08c\x7fd\x9be", "abcde"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tand\nbreak", "tab\tand\nbreak"),
        ("half \ud83d emoji", "half  emoji"),
        ("abc\u202edef\u2069", "abcdef"),
        ("plain\U000e0041\U000e0042", "plain"),
        ("中文\u2028保留", "中文\u2028保留"),
    ],
)
def test_escapes_and_control_characters_are_not_shown(raw: str, seen: str) -> None:
    assert clean(raw) == seen


@settings(deadline=None, max_examples=60)
@given(text=st.text() | st.text(alphabet="\x1b[]0;m\x07\\\r\na"))
def test_cleaning_twice_is_cleaning_once_and_the_result_can_be_sent(text: str) -> None:
    once = clean(text)
    once.encode("utf-8")
    assert clean(once) == once


@pytest.mark.parametrize("unit", ["\x1b[", "\x1b]", "\x1b", "\x1b[0;", "\r", "\x1b] "])
def test_hostile_escapes_cost_no_more_than_their_length(unit: str) -> None:
    assert "\x1b" not in clean(unit * 200_000)


@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=400), head=st.integers(0, 60), tail=st.integers(0, 60))
def test_shortening_keeps_both_ends_and_never_makes_longer(text: str, head: int, tail: int) -> None:
    short = shorten(text, head, tail)
    assert len(short) <= len(text)
    assert short.startswith(text[:head])
    assert short.endswith(text[len(text) - tail :] if tail < len(text) else text)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_o27_the_same_text_is_counted_and_sent(data: st.DataObject, sessions: st.SearchStrategy[list[Message]]) -> None:
    """O43 too: what is counted is what is shown, not what the file holds."""
    messages = data.draw(sessions)
    pairing = pair(messages)
    texts = shown_all(messages, pairing)
    assert shown_tokens(messages, pairing) == tuple(map(estimate_tokens, texts))
    for message, text in zip(messages, texts, strict=True):
        assert not text or text.startswith(f"[{message.id} {message.origin} ")


def test_a_time_is_told_when_it_is_another_than_above() -> None:
    texts = [
        "[m1 human 2026-01-23 23:50Z]\nRename qty.",
        "[m2 assistant 2026-01-23 23:52Z]\nDone.\nAll tests pass.",
        "[m3 human]\nThanks.",
        "[m4 human 2026-01-23 23:59Z, slice 1 of 2]\n[m9 human] is not me",
        "[m5 tool 2026-01-24 00:01Z]\nexit 0",
        "[m6 human 2026-01-24 00:20Z]\nNext.",
    ]
    assert listed(texts).splitlines() == [
        "[m1 human 2026-01-23 23:50Z] Rename qty.",
        "[m2 assistant]",
        "Done.",
        "All tests pass.",
        "[m3 human] Thanks.",
        "[m4 human, slice 1 of 2] [m9 human] is not me",
        "[m5 tool 2026-01-24 00:01Z] exit 0",
        "[m6 human 00:20Z] Next.",
    ]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_listed_holds_every_message_and_no_more_tokens(
    data: st.DataObject, sessions: st.SearchStrategy[list[Message]]
) -> None:
    messages = data.draw(sessions)
    texts = [text for text in shown_all(messages, pair(messages)) if text]
    together = listed(texts)
    assert all(text.partition("\n")[2].rstrip() in together for text in texts)
    assert estimate_tokens(together) <= sum(map(estimate_tokens, texts))
