"""What a text is found by: one spelling for case, accents and endings; parts of identifiers; pairs of signs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.terms import fold, is_near, stem, terms_of, wanted_of


def found(question: str, text: str) -> bool:
    """Whether every word of the question stands in the text."""
    terms = set(terms_of(text))
    return all((one.compound in terms) or set(one.terms) <= terms for one in wanted_of(question))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("rename columns", "The column was renamed."),
        ("migrations", "Write the migration"),
        ("committing", "we committed it"),
        ("policies", "the retention policy"),
        ("CAFE resume", "Café résumé"),
        ("STRASSE", "Lange Straße 5"),
        ("user id", "call getUserById()"),
        ("getUserById", "call get_user_by_id()"),
        ("get_user_by_id", "call getUserById()"),
        ("HTTPServer", "the http server"),
        ("user_service.py", "edited src/app/user_service.py"),
        ("src/app/user_service.py", "edited src/app/user_service.py"),
        ("T-101", "T-101: rename"),
        ("t101", "T-101: rename"),
        ("AFTERTURN_MODEL", "set afterturn_model"),
        ("5433", "localhost:5433"),
        ("0f3a9c1e", "commit 0f3a9c1e done"),
        ("数据库", "不要改数据库的表"),
        ("データベース", "本番のデータベースに触らないで"),
        ("表", "不要改数据库的表"),
        ("pytest运行", "用pytest运行测试"),
        ("ＡＰＩ", "the api key"),
        ("데이터베이스", "데이터베이스를 바꾸지 마세요"),
        ("ひらがな", "ひらがなで書いて"),
    ],
)
def test_a_text_is_found_by_what_it_says(question: str, text: str) -> None:
    assert found(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [("が", "か"), ("schema", "schedule"), ("5432", "5433"), ("库据", "数据库")],
)
def test_what_is_something_else_is_not_found(question: str, text: str) -> None:
    assert not found(question, text)


def test_words_without_meaning_are_left_out_unless_there_is_no_other() -> None:
    assert [one.word for one in wanted_of("what is the retry limit that we use")] == ["retry", "limit"]
    assert [one.word for one in wanted_of("what is it")] == ["what", "is", "it"]
    assert wanted_of("?! …") == []


@given(st.text(max_size=200))
def test_a_text_is_found_by_itself(text: str) -> None:
    terms = set(terms_of(text))
    for one in wanted_of(text):
        assert one.compound in terms or terms.intersection(one.terms)


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
def test_case_never_matters_to_a_word(word: str) -> None:
    assert fold(word.upper()) == fold(word.lower())


@given(st.text(max_size=12), st.integers(0, 11), st.characters(codec="utf-8"))
def test_one_typing_error_is_near(word: str, at: int, sign: str) -> None:
    at = min(at, len(word))
    assert is_near(word, word[:at] + sign + word[at:])
    assert is_near(word, word[:at] + sign + word[at + 1 :])
    assert is_near(word, word[:at] + word[at + 1 :])
    if at + 1 < len(word):
        assert is_near(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :])


@given(st.text(alphabet="ab", max_size=6), st.text(alphabet="ab", max_size=6))
def test_near_is_the_same_from_both_sides(one: str, other: str) -> None:
    assert is_near(one, other) == is_near(other, one)


@pytest.mark.parametrize("words", ["abcd dcba", "limit lemmt", "a abc"])
def test_two_errors_are_too_many(words: str) -> None:
    one, other = words.split()
    assert not is_near(one, other)


def test_a_stem_is_never_empty() -> None:
    assert all(map(stem, ["ings", "eded", "ies", "sses", "ting", "a", "seeing", "string", "bed", "need", "fly"]))
