"""Our hooks in somebody's settings file, and not a byte more."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.errors import StoreError
from worker.hook_settings import COMMAND, HOOKED_EVENTS, merge_into_settings, settings_path, settings_snippet
from worker.hooks import CLAUDE_CODE_EVENTS, SESSION_START

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

PERSONAL = """{
    "model": "opus",
    "env": { "LIMIT": 1.10, "EXP": 1E400, "NAME": "caf\\u00e9 é" },

    "hooks": {
        "PreToolUse": [ {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]} ],
        "Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 3}]}]
    },
    "permissions": {"allow": ["Bash(git *)",
                              "Read"]}
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8"))


def commands(file: Path, event: str) -> list[str]:
    groups = json.loads(file.read_bytes().decode("utf-8-sig"))["hooks"][event]
    return [entry["command"] for group in groups for entry in group["hooks"]]


def test_every_event_that_is_installed_is_understood() -> None:
    assert set(HOOKED_EVENTS) <= {*CLAUDE_CODE_EVENTS, SESSION_START}


def test_the_snippet_is_what_an_empty_file_becomes(file: Path) -> None:
    merged = merge_into_settings(file, NOW)
    assert (merged.changed, merged.backup) == (True, None)
    assert json.loads(file.read_text()) == json.loads(settings_snippet())
    assert set(json.loads(settings_snippet())["hooks"]) == set(HOOKED_EVENTS)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{ }\n", '{"hooks": {}}', "\ufeff{}"])
def test_an_empty_file_gets_our_hooks(file: Path, text: str) -> None:
    write(file, text)
    merge_into_settings(file, NOW)
    assert all(commands(file, event) == [COMMAND] for event in HOOKED_EVENTS)


def test_everything_else_keeps_its_bytes(file: Path) -> None:
    write(file, PERSONAL)
    merge_into_settings(file, NOW)
    lines = file.read_text("utf-8").split("\n")
    kept = [line for line in PERSONAL.split("\n") if '"Stop"' not in line]
    assert [line for line in kept if line not in lines and line + "," not in lines] == []
    assert commands(file, "PreToolUse") == ["guard.sh"]
    assert commands(file, "Stop") == ["say done", COMMAND]
    assert '        "SessionEnd": [\n            {\n' in file.read_text("utf-8")


def test_a_second_time_changes_nothing(file: Path) -> None:
    write(file, PERSONAL)
    merge_into_settings(file, NOW)
    before, names = file.read_bytes(), sorted(file.parent.iterdir())
    merged = merge_into_settings(file, NOW)
    assert not merged.changed
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == (before, names)


def test_an_event_that_an_older_version_did_not_know_is_added_and_nothing_else_touched(file: Path) -> None:
    write(file, PERSONAL)
    merge_into_settings(file, NOW)
    whole = json.loads(file.read_text("utf-8"))
    older = {**whole, "hooks": {name: groups for name, groups in whole["hooks"].items() if name != SESSION_START}}
    write(file, json.dumps(older, indent=4, ensure_ascii=False))
    before = file.read_text("utf-8")
    assert merge_into_settings(file, NOW).changed
    after = file.read_text("utf-8")
    assert commands(file, SESSION_START) == [COMMAND]
    assert {**json.loads(after)["hooks"], SESSION_START: None} == {**older["hooks"], SESSION_START: None}
    start = after.index(f',\n        "{SESSION_START}"')
    assert after[:start] == before[:start]
    assert after.endswith(before[start:])
    assert not merge_into_settings(file, NOW).changed


def test_the_start_of_a_session_is_hooked_whatever_started_it() -> None:
    (group,) = json.loads(settings_snippet())["hooks"][SESSION_START]
    assert "matcher" not in group


def test_the_old_file_is_kept_beside_the_new_one(file: Path) -> None:
    write(file, PERSONAL)
    backup = merge_into_settings(file, NOW).backup
    assert backup is not None
    assert backup.read_text("utf-8") == PERSONAL
    assert backup.parent == file.parent


@pytest.mark.parametrize(
    "older",
    [
        "/opt/bin/afterturn hook claude-code",
        "'/my tools/afterturn' hook claude-code",
        "afterturn -w ~/memory hook claude-code",
        "python3 -m worker.hooks claude-code",
    ],
)
def test_another_command_replaces_the_one_that_was_ours(file: Path, older: str) -> None:
    merge_into_settings(file, NOW, older)
    merge_into_settings(file, NOW)
    assert all(commands(file, event) == [COMMAND] for event in HOOKED_EVENTS)


@pytest.mark.parametrize(
    "other",
    [
        "echo afterturn",
        "my-afterturn-wrapper hook claude-code",
        "afterturn run x",
        "afterturn hook codex",
        "hook claude-code",
    ],
)
def test_a_command_of_somebody_else_is_kept(file: Path, other: str) -> None:
    write(file, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": other}]}]}}))
    merge_into_settings(file, NOW)
    assert commands(file, "Stop") == [other, COMMAND]


def test_our_command_in_a_group_of_theirs_stays_where_they_put_it(file: Path) -> None:
    group = {"matcher": "*", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": COMMAND}]}
    write(file, json.dumps({"hooks": {"Stop": [group]}}))
    merge_into_settings(file, NOW)
    assert commands(file, "Stop") == ["a", COMMAND]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"a": 1, "a": 2}',
        '{"hooks": {"Stop": []}, "hooks": {}}',
        '// a comment\n{"model": "opus"}',
        "[" * 100_000,
    ],
    ids=["cut", "list", "number", "hooks a list", "event an object", "twice", "hooks twice", "comment", "deep"],
)
def test_a_file_that_is_not_understood_is_not_touched(file: Path, text: str) -> None:
    write(file, text)
    with pytest.raises(StoreError, match=r"settings\.json: .*run it again"):
        merge_into_settings(file, NOW)
    assert file.read_text("utf-8") == text
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_is_not_text_is_not_touched(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(StoreError, match="UTF-8"):
        merge_into_settings(file, NOW)
    assert file.read_bytes() == b'{"a": "\xff"}'


def test_windows_line_ends_tabs_and_a_mark_at_the_start_stay(file: Path) -> None:
    write(file, '\ufeff{\r\n\t"model": "opus"\r\n}\r\n')
    merge_into_settings(file, NOW)
    text = file.read_bytes().decode("utf-8")
    assert text.startswith('\ufeff{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Stop": [')
    assert text.count("\n") == text.count("\r\n")


def test_a_file_on_one_line_stays_on_one_line(file: Path) -> None:
    write(file, '{"model":"opus"}')
    merge_into_settings(file, NOW)
    assert "\n" not in file.read_text()
    assert file.read_text().startswith('{"model":"opus", "hooks": {"Stop"')


def test_half_of_an_emoji_in_their_settings_stays_as_it_was_written(file: Path) -> None:
    write(file, '{"statusLine": "\\ud83d", "hooks": {"Stop": [{"hooks": [], "note": "\\ud83d"}]}}')
    merge_into_settings(file, NOW)
    assert file.read_text("utf-8").startswith('{"statusLine": "\\ud83d", ')
    assert json.loads(file.read_text("utf-8"))["hooks"]["Stop"][0]["note"] == "\ud83d"


def test_a_link_to_the_settings_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    write(real, '{"model": "opus"}')
    file.parent.mkdir()
    file.symlink_to(real)
    merge_into_settings(file, NOW)
    assert file.is_symlink()
    assert commands(real, "Stop") == [COMMAND]


def test_the_rights_of_the_file_stay(file: Path) -> None:
    write(file, "{}")
    file.chmod(0o644)
    merge_into_settings(file, NOW)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_the_settings_are_those_of_the_user_whose_environment_it_is() -> None:
    assert settings_path({"HOME": "/home/u"}) == Path("/home/u/.claude/settings.json")
    assert settings_path({"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/c"}) == Path("/c/settings.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)
groups = st.lists(st.fixed_dictionaries({"hooks": st.lists(json_values, max_size=2)}) | json_values, max_size=3)
hook_lists = st.dictionaries(st.sampled_from([*HOOKED_EVENTS, "PreToolUse", "Other"]), groups, max_size=5)
styles = st.sampled_from([None, 1, 2, 4, "\t"])


@given(st.dictionaries(st.text(st.characters()), json_values, max_size=3), hook_lists, styles, st.booleans())
@settings(deadline=None, max_examples=60)
def test_whatever_stands_in_the_file_stays_and_ours_comes_behind(
    tmp_path_factory: pytest.TempPathFactory, others: dict[str, Any], hooks: dict[str, Any], indent: Any, last: bool
) -> None:
    before = {**others, "hooks": hooks} if last else {"hooks": hooks, **others, "z": 1}
    before["hooks"] = hooks
    file = tmp_path_factory.mktemp("claude") / "settings.json"
    file.write_text(json.dumps(before, indent=indent), "utf-8")
    merge_into_settings(file, NOW)
    after = json.loads(file.read_text("utf-8"))
    ours = json.loads(settings_snippet())["hooks"]
    assert list(after)[: len(before)] == list(before)
    assert {name: value for name, value in after.items() if name != "hooks"} == {
        name: value for name, value in before.items() if name != "hooks"
    }
    assert after["hooks"] == {**hooks, **{event: [*hooks.get(event, []), *ours[event]] for event in HOOKED_EVENTS}}
    assert list(after["hooks"])[: len(hooks)] == list(hooks)
    assert not merge_into_settings(file, NOW).changed
