"""Part answers in files: private, checked, and a miss whenever anything is wrong with one."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.parts_cache import FileParts
from worker.errors import AfterturnError


def entry(workspace: Path) -> Path:
    (path,) = (workspace / ".afterturn" / "parts").iterdir()
    return path


def test_an_answer_survives_the_process(tmp_path: Path) -> None:
    FileParts(tmp_path).put("k", "answer \u2028 with lines\nand é")
    assert FileParts(tmp_path).get("k") == "answer \u2028 with lines\nand é"
    assert stat.S_IMODE(entry(tmp_path).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data.replace(b"answer", b"answeR"),
        lambda data: b"",
        lambda data: b"\xff\xfe\x00" * 50,
        lambda data: data[65:],
    ],
)
def test_a_damaged_entry_is_a_miss(tmp_path: Path, damage: object) -> None:
    parts = FileParts(tmp_path)
    parts.put("k", "answer")
    path = entry(tmp_path)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert parts.get("k") is None
    parts.put("k", "again")
    assert parts.get("k") == "again"


@pytest.mark.parametrize("key", ["../../escape", "/etc/passwd", "a/b", "", "x" * 5_000, "\ud800"])
def test_no_key_names_a_file_elsewhere(tmp_path: Path, key: str) -> None:
    parts = FileParts(tmp_path / "w")
    parts.put(key, "answer")
    assert parts.get(key) == "answer"
    assert entry(tmp_path / "w").parent == tmp_path / "w" / ".afterturn" / "parts"


def test_answers_that_nobody_came_back_for_are_swept(tmp_path: Path) -> None:
    parts = FileParts(tmp_path)
    assert parts.sweep() == 0
    parts.put("old", "a")
    os.utime(entry(tmp_path), (1, 1))
    parts.put("new", "b")
    assert parts.sweep() == 1
    assert (parts.get("old"), parts.get("new")) == (None, "b")


def test_a_workspace_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".afterturn").write_text("a file where a folder is due")
    with pytest.raises(AfterturnError, match=r"\.afterturn"):
        FileParts(tmp_path).put("k", "answer")


@settings(deadline=None, max_examples=25)
@given(text=st.text())
def test_every_answer_is_given_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    parts = FileParts(tmp_path_factory.mktemp("parts"))
    parts.put("k", text)
    assert parts.get("k") == text
