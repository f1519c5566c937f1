"""Words, sentences and verbatim pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.wording import clean, clip, content_words, find_verbatim, one_line, says_the_same, sentences, wording


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=100)
def test_every_sentence_is_a_verbatim_piece_and_no_word_is_lost(text: str) -> None:
    pieces = sentences(text)
    assert all(piece in text for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(text=st.text(st.characters(codec=None), max_size=300), chars=st.integers(5, 100))
@settings(deadline=None, max_examples=100)
def test_a_clipped_text_is_one_line_within_its_length_and_can_be_written(text: str, chars: int) -> None:
    line = clip(text, chars)
    assert len(line) <= chars
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")


@given(text=st.text(max_size=100))
@settings(deadline=None, max_examples=100)
def test_the_same_text_says_the_same(text: str) -> None:
    said = wording(text)
    assert says_the_same(said, said) or not said.words


def test_terminal_escapes_and_directions_are_no_words() -> None:
    assert one_line("\x1b[31mred\x1b[0m \u202etext\u2066\x00 \x1b]0;title\x07end\r\nnext") == "red text end next"
    assert clean("a\u2028b") == "a\nb"


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("don't touch", "Don’t touch"),
        ('"don\'t  touch\nthe schema"', "Don’t touch the\tschema"),
        ("the schema…", "the\tschema"),
        ("touch a schema", None),
        ("", None),
        ("…", None),
    ],
)
def test_a_quote_is_found_as_it_stands_there(quote: str, found: str | None) -> None:
    assert find_verbatim(quote, "Please: Don’t touch the\tschema.") == found


def test_chinese_and_japanese_are_compared_by_pairs_of_signs() -> None:
    assert content_words("不要修改数据库") == ["不要", "要修", "修改", "改数", "数据", "据库"]
    assert says_the_same(wording("请不要修改数据库结构"), wording("不要修改数据库结构"))
    assert not says_the_same(wording("修改数据库结构"), wording("不要修改数据库结构"))


@pytest.mark.parametrize("hostile", ["a " * 100_000, "\x1b[" * 50_000, "\x1b]" * 50_000, "." * 100_000, "‘" * 50_000])
def test_hostile_texts_are_cut_in_linear_time(hostile: str) -> None:
    assert len(clip(hostile, 80)) <= 80
    assert len(sentences(hostile)) <= len(hostile)
    assert find_verbatim(hostile + "z", hostile) is None
    assert isinstance(one_line(hostile), str)
