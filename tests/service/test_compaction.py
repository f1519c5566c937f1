"""The loop closes: an agent that compacts hands in before it forgets, and is told afterwards what it was ordered."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from worker.core.checkpoint import Outcome
from worker.core.job import Trigger

RULE = "Never change the database schema."


def test_before_a_compaction_all_but_the_open_turn_is_covered_however_short(place: Any) -> None:
    """O15: the tail is held back for an agent that has it verbatim, and this one is about to lose it."""
    session = place.transcript().turns(3)
    turn = place.work(session, trigger=Trigger.TURN, seal_all=False)
    assert (turn.outcome, turn.reason) == (Outcome.NOTHING_TO_DO, "fits_tail")
    compaction = place.work(session, trigger=Trigger.COMPACTION, seal_all=False)
    assert (compaction.outcome, compaction.start, compaction.end) == (Outcome.COMMITTED, 0, 4)


@pytest.mark.parametrize(("trigger", "covered"), [("auto", 4), ("manual", 6)])
def test_what_the_agents_own_compaction_dropped_comes_back_with_its_next_start(
    factory: Any, until: Callable[..., None], trigger: str, covered: int
) -> None:
    """O9: from one hook of Claude Code to the other, with a real worker between them."""
    factory.redis.start()
    place = factory.place
    session = place.transcript().turns(3)
    factory.worker()

    def hook(event: str, **fields: object) -> str:
        called = {"hook_event_name": event, "session_id": "s1", "transcript_path": str(session.path)}
        done = subprocess.run(
            [sys.executable, "-m", "worker", "hook", "claude-code"],
            input=json.dumps({**called, "cwd": "/home/dana/orders", **fields}),
            env=factory.variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    assert hook("SessionStart", source="startup") == ""
    assert hook("PreCompact", trigger=trigger, custom_instructions=None) == ""
    until(lambda: place.chain())
    assert place.chain()[-1].covered == covered
    session.says("This session is being continued; we looked at some tasks.")
    told = json.loads(hook("SessionStart", source="compact"))["hookSpecificOutput"]["additionalContext"]
    assert f"covers its first {covered} messages" in told
    assert RULE in told.split("## Constraints in force")[1].split("\n## ")[0]
    assert "T-100" in told.split("## Open tasks")[1]
