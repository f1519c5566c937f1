"""The evaluation with a real model, run with the scripted provider in the model's place: what it counts is so."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.testing import part_answer

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("bench", "examples")]

from eval_local.__main__ import main
from eval_local.sessions import made_sessions

pytestmark = pytest.mark.xdist_group("litellm")

GOOD = part_answer(
    request="Find out what fills the disk of db-ams-2", current_work="walpush uploads the segments again"
)
INVENTED = part_answer(
    request="Find out what fills the disk of db-ams-2",
    current_work="walpush uploads the segments again",
    concepts=[{"text": "walpush was repaired in commit ab12cd34ef", "evidence": ["m15"]}],
)
SORRY = "I'm sorry, but I can't help with that."
Evaluated = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluated(provider: Any, tmp_path: Path) -> Evaluated:
    """Evaluates the operations session as one part with these answers, and gives the report."""

    def evaluate(*answers: str, only: str = "operations", exit_code: int = 0) -> dict[str, Any]:
        provider.script(*map(provider.says, answers))
        environment = {"AFTERTURN_EVAL_MODEL": "openai/test", "AFTERTURN_EVAL_API_BASE": provider.url}
        folder = tmp_path / "report"
        assert main(["--folder", str(folder), "--only", only, "--part-tokens", "8000"], environment) == exit_code
        told: dict[str, Any] = json.loads((folder / "report.json").read_text("utf-8"))
        return told

    return evaluate


def parts(told: dict[str, Any]) -> dict[str, int]:
    return {verdict: count for verdict, count in told["total"]["parts"].items() if count}


def test_an_answer_that_is_taken_at_once_is_counted_with_its_tokens(evaluated: Evaluated, tmp_path: Path) -> None:
    told = evaluated(GOOD)
    assert (parts(told), told["total"]["requests"]) == ({"accepted": 1}, 1)
    assert (told["total"]["tokens_in"], told["total"]["tokens_out"]) == (120, 30)
    assert told["total"]["answers_refused"] == {}
    assert [(one["name"], one["status"], one["problems"]) for one in told["sessions"]] == [("operations", "ok", [])]
    folder = tmp_path / "report" / "operations"
    assert "INC-2041" in (folder / "summary.md").read_text("utf-8")
    asked = (folder / "asked" / "01-part.txt").read_text("utf-8")
    assert "db-ams-2" in asked
    assert GOOD in asked
    assert "| operations | ok | 1 | 0 | 0 | 0 | 1 |" in (tmp_path / "report" / "report.md").read_text("utf-8")


def test_a_refused_answer_is_counted_by_the_reason_and_the_part_as_accepted_later(evaluated: Evaluated) -> None:
    told = evaluated(SORRY, GOOD)
    assert (parts(told), told["total"]["answers_refused"]) == ({"accepted later": 1}, {"apology": 1})


def test_a_repair_is_counted_with_what_it_was_about(evaluated: Evaluated) -> None:
    told = evaluated(INVENTED, GOOD)
    assert (parts(told), told["total"]["requests"]) == ({"repaired": 1}, 2)


def test_a_part_that_the_ledger_had_to_tell_is_degraded(evaluated: Evaluated) -> None:
    told = evaluated(SORRY, SORRY, SORRY)
    assert parts(told) == {"degraded": 1}
    assert told["sessions"][0]["status"] == "degraded"
    assert told["total"]["findings_standing"]["part_degraded"] == 1


def test_a_session_that_ends_without_a_summary_is_told_with_the_reason(provider: Any, evaluated: Evaluated) -> None:
    provider.script(provider.fails(401, "no such key"))
    told = evaluated(exit_code=5)
    assert told["sessions"][0]["status"] == "failed"
    assert "AFTERTURN_API_KEY" in told["sessions"][0]["error"]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    environment = {"AFTERTURN_EVAL_MODEL": "openai/test", "AFTERTURN_EVAL_API_BASE": "http://127.0.0.1:1/v1"}
    assert main(["--folder", str(tmp_path)], environment) == 2
    assert "name another folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_without_a_model_it_says_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], {}) == 2
    assert "AFTERTURN_EVAL_MODEL" in capsys.readouterr().err


def test_a_recorded_session_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {
        "AFTERTURN_EVAL_MODEL": "openai/test",
        "AFTERTURN_EVAL_API_BASE": "http://127.0.0.1:1/v1",
        "AFTERTURN_TEST_DATA": str(tmp_path),
    }
    assert main(["--folder", str(tmp_path / "report"), "--recorded", "a.jsonl"], environment) == 2
    assert "no a.jsonl" in capsys.readouterr().err


def test_the_made_sessions_are_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = made_sessions(tmp_path / "one"), made_sessions(tmp_path / "two")
    assert [one.path.read_bytes() for one in first] == [one.path.read_bytes() for one in second]
    assert len({one.path.read_bytes() for one in first}) == 3
