"""The command line: what is printed where, which exit code, and what is loaded for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worker import cli
from worker.errors import ModelUnavailable, StoreError, UsageError

HEAVY = ("pydantic", "orjson", "litellm", "celery", "redis", "jinja2")


def session(path: Path, messages: int = 2) -> Path:
    """A session of our own format in which a person names a rule and a task."""
    rows = [{"role": "user", "content": "Never touch the schema. T-101: rename the column."}]
    rows += [{"role": "assistant", "content": f"Step {number} done."} for number in range(messages - 1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def afterturn(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from worker import cli
sys.argv = ["afterturn", "--help"]
try:
    cli.main()
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_a_run_tells_a_person_where_everything_is(tmp_path: Path) -> None:
    done = afterturn("run", str(session(tmp_path / "s.jsonl")), "--all", "--workspace", str(tmp_path / "w"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("checkpoint 1 deterministic")
    assert str(tmp_path / "w" / "MEMORY.md") in done.stdout
    assert done.stderr == ""


def test_json_is_one_object_with_the_documented_fields(tmp_path: Path) -> None:
    done = afterturn("run", str(session(tmp_path / "s.jsonl")), "--all", "-w", str(tmp_path / "w"), "--json")
    told = json.loads(done.stdout)
    documented = (
        "outcome reason session checkpoint status range messages skipped tokens_before tokens_after parts llm_calls "
        "tokens_in tokens_out findings artifacts savings"
    )
    assert set(documented.split()) <= told.keys()
    assert told["outcome"] == "committed"
    assert told["range"] == [0, 2]


def test_show_gives_the_checkpoint_with_the_documented_fields(tmp_path: Path) -> None:
    path, workspace = session(tmp_path / "s.jsonl"), str(tmp_path / "w")
    afterturn("run", str(path), "--all", "-w", workspace)
    told = json.loads(afterturn("show", "s", "-w", workspace, "--json").stdout)
    documented = (
        "schema id number parent created_at session range covered status summary ledger validation model savings"
    )
    assert set(documented.split()) <= told.keys()
    assert [rule["rule"] for rule in told["summary"]["constraints"]] == ["Never touch the schema."]
    assert [task["id"] for task in told["summary"]["tasks"]] == ["T-101"]
    assert [said["text"] for said in told["summary"]["user_messages"]] == [
        "Never touch the schema. T-101: rename the column."
    ]


def test_a_dry_run_prints_the_plan_and_writes_nothing(tmp_path: Path) -> None:
    done = afterturn("run", str(session(tmp_path / "s.jsonl")), "--all", "-w", str(tmp_path / "w"), "--dry-run")
    assert done.stdout.startswith("messages m0–m1: ")
    assert not (tmp_path / "w").exists()


def test_a_short_session_says_what_would_cover_it(tmp_path: Path) -> None:
    done = afterturn("run", str(session(tmp_path / "s.jsonl")), "-w", str(tmp_path / "w"))
    assert done.returncode == 0
    assert "--keep-recent" in done.stdout
    assert "--all" in done.stdout


def test_a_given_rule_and_task_are_kept(tmp_path: Path) -> None:
    path, workspace = session(tmp_path / "s.jsonl"), str(tmp_path / "w")
    afterturn("run", str(path), "--all", "-w", workspace, "--constraint", "Ask before a push", "--task", "X-7: ship it")
    summary = json.loads(afterturn("show", "s", "-w", workspace, "--json").stdout)["summary"]
    assert "Ask before a push" in [rule["rule"] for rule in summary["constraints"]]
    assert ("X-7", "ship it") in [(task["id"], task["text"]) for task in summary["tasks"]]


def test_an_unknown_session_is_a_usage_error_that_says_what_to_do(tmp_path: Path) -> None:
    done = afterturn("show", "nobody", "-w", str(tmp_path))
    assert done.returncode == UsageError.exit_code
    assert done.stderr.startswith("afterturn: no session 'nobody'")
    assert len(done.stderr.splitlines()) == 1


def test_a_workspace_that_is_not_there_does_not_pass_for_a_sound_one(tmp_path: Path) -> None:
    done = afterturn("verify", "-w", str(tmp_path / "nowhere"))
    assert done.returncode == UsageError.exit_code
    assert "no such folder" in done.stderr


def test_too_long_instructions_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    done = afterturn("run", str(session(tmp_path / "s.jsonl")), "-w", str(tmp_path / "w"), "--instructions", "x" * 801)
    assert done.returncode == UsageError.exit_code
    assert not (tmp_path / "w").exists()


def test_an_unknown_setting_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_MODLE", "x")
    done = afterturn("verify", "-w", str(tmp_path))
    assert done.returncode == UsageError.exit_code
    assert "AFTERTURN_MODLE" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (StoreError("a: damaged"), 3, "store_error"),
        (ModelUnavailable("m: down"), 4, "model_unavailable"),
        (UsageError("x"), 2, "usage_error"),
    ],
)
def test_an_error_ends_in_one_line_its_code_and_with_json_an_object(
    error: Exception, code: int, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object, **options: object) -> int:
        raise error

    monkeypatch.setattr(cli.cli, "main", fail)
    assert cli._run(["run", "f", "--json"]) == code
    printed = capsys.readouterr()
    assert printed.err == f"afterturn: {error}\n"
    assert json.loads(printed.out) == {"outcome": "failed", "reason": reason, "error": str(error)}


def test_a_bug_is_one_line_and_exit_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*arguments: object, **options: object) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(cli.cli, "main", fail)
    assert cli._run(["run"]) == 1
    assert capsys.readouterr().err.startswith("afterturn: this is a bug: ZeroDivisionError")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path, workspace = session(tmp_path / "s.jsonl"), str(tmp_path / "w")
    afterturn("run", str(path), "--all", "-w", workspace)
    command = f"{sys.executable} -m worker show s -w {workspace} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
