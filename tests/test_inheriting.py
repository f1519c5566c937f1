"""A whole consolidation of a session that begins with its agent's own summary, without a model and with one."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.adapters.prompts import PromptFiles
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.checkpoint import Checkpoint
from worker.core.inherited import TOLD
from worker.core.items import items_of, words_of
from worker.core.summary import ProblemKind, TaskStatus
from worker.summarize import Asker
from worker.testing import MemoryParts, ScriptedModel, part_answer

SUMMARY = """This session is being continued from a previous conversation that ran out of context.

Summary:
1. Primary Request and Intent:
   Move the nightly totals to the new ledger service.

2. Key Technical Concepts:
   - Idempotent booking keys

3. Files and Code Sections:
   - `src/ledger/booking.py`
     - Added the key to every booking

4. Errors and fixes:
   - **Totals were booked twice**: a key per night and region

5. Problem Solving:
   - The old service rounds half up, the new one half even.

6. All user messages:
   - "never book anything before the auditors have answered"
   - "never delete bookings"

7. Pending Tasks:
   - LED-12: move the eastern region
   - LED-11: western region (completed)

8. Current Work:
   Compared both services for March.

9. Optional Next Step:
   Ask the auditors.

If you need specific details from before compaction (like exact code snippets), read the full transcript at: /x.jsonl
Please continue the conversation from where we left it off without asking the user any further questions.
"""

ROWS: list[dict[str, Any]] = [
    {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": SUMMARY}},
    {"type": "user", "message": {"role": "user", "content": "Go on with LED-12. Never delete bookings."}},
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "I look at the eastern region first."}]},
    },
]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number, row in enumerate(ROWS):
            fields = {"uuid": f"u{number}", "sessionId": "s-1", "cwd": "/home/mira/ledger", "isSidechain": False}
            stream.write(json.dumps({**fields, "timestamp": f"2026-03-02T08:0{number}:00.000Z", **row}) + "\n")
    return path


@pytest.fixture(params=["without a model", "with a model that says nothing of it"])
def checkpoint(request: pytest.FixtureRequest, transcript: Path) -> Checkpoint:
    settings = Settings(workspace=transcript.parent / "workspace", timezone="UTC")
    place = wiring.ground_of(settings).place_of(transcript)
    tools = wiring.tools_for(place, settings, hold_back=False)
    if request.param != "without a model":
        asker = Asker(
            model=ScriptedModel(otherwise=part_answer(request="Go on with LED-12")),
            prompts=PromptFiles(),
            cache=MemoryParts(),
            progress=tools.progress,
            wait=lambda _: None,
            new_fence=lambda: "transcript-0f1e2d3c4b5a",
            concurrency=1,
            retries=0,
            summary_tokens=4_000,
        )
        tools = replace(tools, asker=asker)
    assert consolidate(Request(path=transcript), tools).outcome.value == "committed"
    place, key = wiring.find_session(settings, str(transcript))
    return wiring.joined(wiring.load_chain(place, key))


def test_it_is_neither_counted_as_human_nor_lost(checkpoint: Checkpoint) -> None:
    summary = checkpoint.summary
    assert [said.text for said in summary.user_messages] == ["Go on with LED-12. Never delete bookings."]
    words = "\n".join(words_of(item) for _, item in items_of(summary))
    for known in (
        "nightly totals to the new ledger service",
        "Idempotent booking keys",
        "src/ledger/booking.py",
        "Totals were booked twice",
        "rounds half up",
        "before the auditors have answered",
        "LED-11",
        "Compared both services for March",
        "Ask the auditors",
    ):
        assert known in words


def test_its_claims_are_claims_and_its_tasks_are_as_told(checkpoint: Checkpoint) -> None:
    told = [one for one in checkpoint.summary.problem_solving if one.text.startswith(TOLD)]
    assert told
    assert {one.kind for one in told} == {ProblemKind.CLAIM}
    statuses = {task.id: task.status for task in checkpoint.summary.tasks}
    assert statuses["LED-12"] is TaskStatus.OPEN
    assert "LED-11" not in statuses


def test_its_rules_are_rules_only_where_a_person_says_them_here(checkpoint: Checkpoint) -> None:
    assert [one.quote for one in checkpoint.summary.constraints] == ["Never delete bookings."]


def test_its_order_to_go_on_without_asking_is_in_no_item_and_no_text(checkpoint: Checkpoint) -> None:
    summary = checkpoint.summary
    step = summary.next_step.text if summary.next_step else ""
    said = "\n".join([summary.request, summary.current_work, step, *(words_of(item) for _, item in items_of(summary))])
    assert "without asking" not in said
    assert "before compaction" not in said
