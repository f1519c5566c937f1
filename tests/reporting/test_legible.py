"""Nothing that a page shows acts unseen, and nothing that can be seen is changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.reporting.legible import legible

HOSTILE = st.text(
    st.sampled_from("ab<>&\n\t\x00\x07\x1b[31m\x9f\u2028\u2029\u202e\u2066\u200b\ufeff\U000e0041\ud83d\r")
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202egnp.exe", "‹U+202E›gnp.exe"),
        ("a\u2028b\r\nc\rd", "a\nb\nc\nd"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07", "red "),
        ("bell\x07", "bell‹U+0007›"),
        ("\ud83d", "\ufffd"),
        ("👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"),
        ("<script>", "<script>"),
    ],
)
def test_what_acts_unseen_is_a_mark(text: str, shown: str) -> None:
    assert legible(text) == shown


@settings(deadline=None)
@given(HOSTILE)
def test_what_is_shown_can_be_shown_again_and_written_as_utf_8(text: str) -> None:
    shown = legible(text)
    assert legible(shown) == shown
    assert shown.encode("utf-8").decode("utf-8") == shown


@settings(deadline=None)
@given(HOSTILE)
def test_no_direction_control_or_escape_is_left(text: str) -> None:
    assert not set(legible(text)) & set("\x00\x07\x1b\x9f\r\u2028\u2029\u202e\u2066\u200b\ufeff\U000e0041\ud83d")
