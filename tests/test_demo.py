"""`make demo`: what a newcomer sees, and that nothing of the example's secret stays anywhere."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECRET = b"sk_live_" + b"51NfakeFAKEfakeFAKEfake00"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo prints, made in a folder of its own."""
    place = tmp_path_factory.mktemp("demo")
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), str(place)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_the_rules_come_first_also_the_chinese_one(shown: str) -> None:
    rules = shown.split("## Constraints in force")[1].split("## 1.")[0]
    assert "ever touch the database schema" in rules
    assert "所有面向客户的错误信息必须用中文" in rules


def test_what_still_runs_is_not_called_done(shown: str) -> None:
    tasks = shown.split("## 7. Pending tasks")[1].split("## 8.")[0]
    assert "[~] T-103, in progress" in tasks
    assert "[x] T-101" in tasks


def test_the_changed_mind_is_told(shown: str) -> None:
    assert "Forget Redis" in shown
    assert "5433" in shown


def test_the_order_in_the_log_became_no_rule(shown: str) -> None:
    assert "rm -rf" not in shown


def test_the_log_is_named_as_an_artifact(shown: str) -> None:
    assert "cat logs/worker.log" in shown.split("## Artifacts")[1].split("## Source")[0]


def test_the_newcomer_is_told_where_things_are_and_how_to_go_on(shown: str) -> None:
    assert "AFTERTURN_MODEL=" in shown
    assert "MEMORY.md" in shown
    assert "HISTORY.md" in shown


def test_it_ends_with_one_screen_that_says_what_it_is_good_for(shown: str) -> None:
    screen = shown.split("── In one screen ")[1]
    assert screen.count("\n") <= 36
    for told in (
        "Never touch the database schema",
        "所有面向客户的错误信息必须用中文",
        "T-101 done",
        "T-103 in progress",
        "(bash_7)",
        "keep the bucket in process",
        "port 5433, not 5432",
        "was refused by the person",
        "1,150 lines became one and a handle",
        "⟨secret:stripe-key:",
        "AFTERTURN_MODEL=",
    ):
        assert told in screen


def test_the_secret_is_in_no_file_but_the_transcript(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "examples" / "demo.py"), str(tmp_path)], check=True, capture_output=True)
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET in path.read_bytes()]
    assert [path.name for path in holding] == ["orders-session.jsonl"]
