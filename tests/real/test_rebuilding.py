"""Recorded sessions are consolidated in several ranges, then summarized again: nothing that must stay is lost."""

import os
from pathlib import Path

import pytest

from worker import upkeep, wiring
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.checkpoint import Checkpoint, Outcome

DATA = Path(os.environ.get("AFTERTURN_TEST_DATA", "."))
MAX_BYTES = 2_500_000
FOLDERS = ("claude-code", "codex", "pi", "gemini-cli", "openai-style")
PATHS = [
    path
    for folder in FOLDERS
    for path in sorted((DATA / folder).glob("*"))
    if path.is_file() and 20_000 < path.stat().st_size < MAX_BYTES
]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("AFTERTURN_TEST_DATA" not in os.environ, reason="AFTERTURN_TEST_DATA is not set"),
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_recorded_session_keeps_its_rules_tasks_and_messages(path: Path, tmp_path: Path) -> None:
    settings = Settings.from_env({"AFTERTURN_WORKSPACE": str(tmp_path / "w"), "AFTERTURN_PART_TOKENS": "500"})
    place = wiring.ground_of(settings).place_of(path)
    result = consolidate(Request(path=path), wiring.tools_for(place, settings, hold_back=False))
    before = wiring.joined(wiring.load_chain(place, result.session))
    third = before.covered // 3
    for start, end in ((third, 2 * third + 1), (None, None)):
        _, again = upkeep.resummarize_session(settings, result.session, start=start, end=end)
        assert again.outcome is Outcome.COMMITTED
        after = wiring.joined(wiring.load_chain(place, result.session))
        assert [said.id for said in after.summary.user_messages] == [said.id for said in before.summary.user_messages]
        assert rules(before) <= rules(after)
        assert open_tasks(before) <= {task.id for task in after.summary.tasks}
    assert wiring.verify_places(settings) == []


def rules(checkpoint: Checkpoint) -> set[str]:
    return {rule.quote for rule in checkpoint.summary.constraints if rule.in_force}


def open_tasks(checkpoint: Checkpoint) -> set[str]:
    return {task.id for task in checkpoint.summary.tasks if task.status.is_open}
