"""`afterturn resummarize`, `nightly` and `forget` as a person or a script runs them, in this process."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from worker import cli

Desk = Any
Session = Any


@pytest.fixture(autouse=True)
def workspace(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_WORKSPACE", str(desk.root))
    monkeypatch.setenv("AFTERTURN_TIMEZONE", "Asia/Shanghai")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    code = cli._run([*arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    fields: dict[str, Any] = json.loads(out)
    assert code in (0, 5)
    return fields


def test_a_session_is_summarized_again_by_its_id(
    desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = as_json(capsys, "resummarize", "5e55")
    assert (fields["outcome"], fields["checkpoint"], fields["range"]) == ("committed", 4, [0, 12])
    code, out, err = run(capsys, "resummarize", str(grown.path), "--from", "m4", "--to", "7")
    assert (code, err) == (0, "")
    assert "checkpoint 5 deterministic (no model): messages m4–m7 of 12" in out


def test_a_range_that_is_not_covered_is_a_usage_error(
    desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "resummarize", "5e55", "--from", "m40")
    assert (code, err) == (2, "afterturn: m40 to m11: no range of what can be read again, m0–m11\n")
    assert run(capsys, "resummarize", "5e55", "--from", "first")[0] == 2


def test_a_transcript_that_is_gone_is_told_and_ends_with_3(
    desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    grown.path.unlink()
    code, out, _ = run(capsys, "resummarize", "5e55")
    assert (code, out) == (3, "failed: the transcript is gone; the checkpoints stay as they are\n")


def test_a_night_is_done_once_and_shown_twice(desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]) -> None:
    grown.turn("Look at the search module.").is_idle_since(datetime.now(UTC) - timedelta(hours=2))
    fields = as_json(capsys, "nightly", "--date", "2026-11-30")
    (night,) = fields["nights"]
    assert (night["outcome"], night["day"], night["done"][0]["work"]) == ("done", "2026-11-30", "consolidate")
    code, out, _ = run(capsys, "nightly", "--date", "2026-11-30")
    assert code == 0
    assert "night of 2026-11-30: already done" in out
    assert len(desk.chain(grown)) == 4


def test_a_night_that_found_a_problem_ends_with_5(
    desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk.root / "sessions" / grown.key / "checkpoints" / "000001.json").write_bytes(b"{")
    code, out, _ = run(capsys, "nightly")
    assert code == 5
    assert "000001.json" in out


def test_a_session_is_forgotten_by_its_id(desk: Desk, grown: Session, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "forget", "5e55")
    assert (code, out) == (0, "claude-code--5e55 is forgotten: 3 checkpoints, 12 messages\n")
    code, _, err = run(capsys, "forget", "5e55")
    assert code == 2
    assert "no session '5e55' is kept here" in err
    assert run(capsys, "forget", grown.key)[0] == 2


def test_the_commands_and_their_examples_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("resummarize", "nightly", "forget"):
        assert f"afterturn {command}" in run(capsys, command, "--help")[1]
