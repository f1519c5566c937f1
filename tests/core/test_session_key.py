"""The names of sessions: safe, readable, never shared."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.session_key import is_session_key, key_of_label, session_key, session_label

NAMES = st.text(alphabet=st.sampled_from("ab-_.:/~ABÄ日\x00\ud800 "), max_size=12)


def test_a_plain_session_id_stays_readable() -> None:
    key = session_key("claude-code", "0f3a9c1e-1111-4222-8333-444455556666")
    assert key == "claude-code--0f3a9c1e-1111-4222-8333-444455556666"


def test_ids_that_differ_in_punctuation_only_have_different_keys() -> None:
    """T11"""
    keys = {session_key("nanobot", name) for name in ("telegram:a_b", "telegram:a:b", "telegram/a/b", "telegram-a-b")}
    assert len(keys) == 4


def test_ids_that_differ_in_case_only_differ_where_the_file_system_ignores_case() -> None:
    assert session_key("codex", "AbC").lower() != session_key("codex", "abc").lower()
    assert session_key("codex", "AbC").startswith("codex--abc~")


@settings(deadline=None)
@given(NAMES, NAMES, NAMES, NAMES)
def test_two_sessions_never_share_a_key(agent: str, name: str, other_agent: str, other_name: str) -> None:
    same = (agent, name) == (other_agent, other_name)
    assert (session_key(agent, name).lower() == session_key(other_agent, other_name).lower()) == same


@settings(deadline=None)
@given(st.text(max_size=400), st.text(max_size=400))
def test_every_key_is_one_safe_bounded_folder_name(agent: str, name: str) -> None:
    key = session_key(agent, name)
    assert is_session_key(key)
    assert len(key) <= 124
    assert key == key.lower()


@settings(deadline=None)
@given(NAMES, NAMES)
def test_a_label_gives_the_key_back_and_may_stand_in_a_comment(agent: str, name: str) -> None:
    key = session_key(agent, name)
    assert key_of_label(session_label(key)) == key
    assert "--" not in session_label(key)


def test_the_hyphens_of_one_name_cannot_imitate_the_separator() -> None:
    assert session_key("a", "b--c") != session_key("a--b", "c")


@pytest.mark.parametrize("text", ["", ".", "..", "../x", "a/b", "/etc", "a\x00", "-x", "A", "x" * 201, "a\n"])
def test_what_is_no_folder_name_is_no_key(text: str) -> None:
    assert not is_session_key(text)
