"""Sentences are found where they stand, and only those in the writer's own words."""

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.prose import mask, own_words, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_at_their_punctuation_in_any_script() -> None:
    assert texts("One. Two! Three? 四。五！") == ["One.", "Two!", "Three?", "四。", "五！"]


def test_an_abbreviation_or_a_version_ends_no_sentence() -> None:
    assert texts("Use e.g. version 1.2.3 here. Then stop.") == ["Use e.g. version 1.2.3 here.", "Then stop."]


def test_a_wrapped_line_goes_on_and_a_short_one_does_not() -> None:
    wrapped = "this line was wrapped by somebody's editor at a width of\nseventy characters"
    assert texts(wrapped) == [wrapped]
    assert texts("fix the bug\nno emojis") == ["fix the bug", "no emojis"]


def test_items_are_sentences_of_their_own() -> None:
    assert texts("- one\n- two\n3. three") == ["one", "two", "three"]


def test_pasted_command_output_in_tags_is_not_the_writers() -> None:
    assert texts("<bash-stdout>Never do this\nor that</bash-stdout>\nmine") == ["mine"]


def test_quotations_are_masked_in_place() -> None:
    assert mask('say "never" and `x`') == "say         and    "


@given(st.text(alphabet='ab .!?\n-"`>#。\u2028\ud800', max_size=120))
@settings(deadline=None, max_examples=80)
def test_a_sentence_is_the_text_between_its_positions(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert sentence.text == text[sentence.start : sentence.end]
        assert len(sentence.masked) == len(sentence.text)
        assert sentence.start >= end
        end = sentence.end


def test_what_was_typed_is_told_without_what_was_pasted() -> None:
    log = "\n".join(f"2026-01-01T00:00:{n:02d} INFO batch {n}" for n in range(9))
    assert own_words(f"This fails:\n{log}\nCan you fix it?", 200) == "This fails:\nCan you fix it?"
    assert own_words("Fix this:\n```\ncode()\n```\nplease", 200) == "Fix this:\nplease"


def test_a_line_or_two_that_look_like_code_may_be_words() -> None:
    assert own_words("First:\nlet the user choose\nthen stop", 200) == "First:\nlet the user choose\nthen stop"


def test_a_message_of_pasted_text_alone_is_told_as_it_is() -> None:
    assert own_words("```\ncode()\n```", 200) == "```\ncode()\n```"
