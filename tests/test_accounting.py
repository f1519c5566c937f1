"""Where the tokens of the next request go; looking at it settles nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from worker.accounting import usage
from worker.cli import cli
from worker.config import Settings
from worker.view import view


def write(path: Path, turns: int) -> Path:
    rows: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        rows += [
            {"role": "user", "content": f"Please do step {number}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"output {number} " * 300},
            {"role": "assistant", "content": f"Step {number} is done."},
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Settings:
    return Settings(workspace=tmp_path / "memory")


def test_before_and_after_add_up_by_source(tmp_path: Path, memory: Settings) -> None:
    path = write(tmp_path / "session.jsonl", 40)
    counted = usage(path, window=16_000, settings=memory)
    made = view(path, window=16_000, settings=memory)
    assert counted.before.keys() == {"system", "people", "assistant", "tool:bash"}
    assert counted.after == made.sources
    assert counted.tokens_after == made.tokens_after
    assert counted.savings == made.savings
    assert counted.outcome == made.outcome
    assert counted.tokens_before > 16_000 > counted.tokens_after
    assert counted.tokens_before - sum(counted.savings.values()) == pytest.approx(counted.tokens_after, rel=0.05)


def test_looking_writes_nothing(tmp_path: Path, memory: Settings) -> None:
    path = write(tmp_path / "session.jsonl", 40)
    for strategy in ("summarize", "truncate", "archive"):
        usage(path, window=8_000, strategy=strategy, settings=memory)
    assert not (tmp_path / "memory").exists()


def test_the_commands_print_the_documented_objects(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", 40)
    where = ["--workspace", str(tmp_path / "memory"), "--window", "8000"]
    made = json.loads(CliRunner().invoke(cli, ["view", str(path), *where, "--format", "anthropic", "--json"]).stdout)
    assert made.keys() == {
        "messages",
        "system",
        "outcome",
        "tokens_before",
        "tokens_after",
        "budget",
        "over_budget",
        "prefix_kept",
        "sources",
        "savings",
        "notes",
    }
    counted = json.loads(CliRunner().invoke(cli, ["usage", str(path), *where, "--json"]).stdout)
    assert counted.keys() >= {"window", "reserve", "safety", "before", "after", "savings", "tokens_before"}
    assert counted["outcome"] == made["outcome"] == "window"


def test_a_person_reads_a_table_and_the_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", 2)
    where = ["--workspace", str(tmp_path / "memory"), "--window", "8000"]
    table = CliRunner().invoke(cli, ["usage", str(path), *where]).stdout
    assert "tool:bash" in table
    assert "free for the answer" in table
    page = CliRunner().invoke(cli, ["view", str(path), *where]).stdout
    assert page.startswith("unchanged: ")
    assert "── user ──\nPlease do step 0." in page


def test_a_session_that_nobody_knows_is_an_error_of_usage(tmp_path: Path) -> None:
    for command in ("view", "usage"):
        done = CliRunner().invoke(cli, [command, "nobody", "--workspace", str(tmp_path)])
        assert done.exception is not None
        assert "no session 'nobody'" in str(done.exception)
