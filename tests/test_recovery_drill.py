"""The recovery drill: a session is consolidated, its process is killed, its transcript is gone. What is left must do.

Forty turns with a prohibition, two failed experiments, three open tasks, a log of 100 KB and one task that still runs
in the background; the model of the first process is sure that everything is done.
"""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.adapters.prompts import PromptFiles
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.config import Settings
from worker.consolidate import Request, Result, consolidate
from worker.core.checkpoint import Checkpoint
from worker.core.rendering import render_summary, source_of
from worker.core.summary import TaskStatus
from worker.summarize import Asker
from worker.testing import MemoryParts, ScriptedModel, part_answer

PROHIBITION = "Never write to the production database."
LOG = "\n".join(
    f"{number:05d} worker-{number % 7} took order {number * 31} in {number % 250} ms" for number in range(2_600)
)
START = datetime(2026, 2, 3, 9, 0, tzinfo=UTC)

CHILD = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from test_recovery_drill import consolidated_by, sure_of_everything
consolidated_by(sure_of_everything("old-model"), Path(sys.argv[1]), Path(sys.argv[2]))
os.kill(os.getpid(), signal.SIGKILL)
"""
"""Ends as a crashed worker ends: nothing is closed and nothing is said."""


class Session:
    """A transcript in our own plain format that grows row by row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0

    def person(self, text: str) -> None:
        self.append(role="user", content=text, origin="human")

    def assistant(self, text: str) -> None:
        self.append(role="assistant", content=text)

    def bash(self, command: str, output: str, *, exit_code: int = 0, behind: bool = False) -> None:
        call_id = f"call_{self._count}"
        given = json.dumps({"command": command, "run_in_background": behind})
        call = {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": given}}
        self.append(role="assistant", content="", tool_calls=[call])
        self.append(role="tool", content=output, tool_call_id=call_id, name="bash", exit_code=exit_code)

    def forty_turns(self) -> "Session":
        plan = {
            0: self._rule_and_tasks,
            9: lambda: self._experiment("python tune.py --pool 64", "OSError: too many connections"),
            14: lambda: self._experiment("python tune.py --batch 9000", "MemoryError: cannot allocate 3.1 GiB"),
            20: self._log,
            27: self._statuses,
            33: self._background,
        }
        for turn in range(40):
            if turn in plan:
                plan[turn]()
            else:
                self.person(f"Have a look at part {turn} of the importer.")
                self.bash(f"sed -n {turn},{turn + 9}p importer.py", f"def step_{turn}(rows): return rows[{turn}:]")
                self.assistant(f"Part {turn} slices its rows.")
        return self

    def _rule_and_tasks(self) -> None:
        self.person(
            f"T-201: speed up the importer. T-202: document the retry rules. T-203: retire the old queue. {PROHIBITION}"
        )
        self.assistant("I begin with T-201.")

    def _experiment(self, command: str, error: str) -> None:
        self.person(f"Try {command}.")
        self.bash(command, error, exit_code=1)
        self.assistant("That does not work here.")

    def _log(self) -> None:
        self.person("Show me the worker log.")
        self.bash("cat worker.log", LOG)
        self.assistant("The workers take turns.")

    def _statuses(self) -> None:
        self.person("T-203 is blocked, operations have to agree first. T-201 is in progress.")
        self.assistant("All three tasks are finished and deployed.")

    def _background(self) -> None:
        self.person("Start the load test in the background.")
        self.bash("make load-test", "Command running in background with ID: load_91c2", behind=True)
        self.assistant("The load test has passed.")

    def append(self, **fields: Any) -> None:
        when = START + timedelta(seconds=20 * self._count)
        row = {**fields, "timestamp": when.isoformat(), "cwd": "/home/mira/importer", "session_id": "drill"}
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        self._count += 1


def sure_of_everything(name: str) -> ScriptedModel:
    done = [
        {"id": one, "text": "done", "status": "done", "evidence": ["m0", "m1"]} for one in ("T-201", "T-202", "T-203")
    ]
    answer = part_answer(
        tasks=[*done, {"id": None, "text": "The load test", "status": "done", "evidence": ["m0"]}],
        errors=[{"error": "tune.py failed", "fix": "works now", "evidence": ["m0"]}],
    )
    return ScriptedModel(otherwise=answer, name=name)


def consolidated_by(model: ScriptedModel, path: Path, workspace: Path) -> Result:
    settings = Settings(workspace=workspace, part_tokens=4_000, timezone="UTC")
    tools = wiring.tools_for(wiring.ground_of(settings).place_of(path), settings, hold_back=False)
    asker = Asker(
        model=model,
        prompts=PromptFiles(),
        cache=MemoryParts(),
        progress=tools.progress,
        wait=lambda _: None,
        new_fence=lambda: "transcript-5a5a5a5a5a5a",
        concurrency=1,
        retries=0,
        summary_tokens=4_000,
    )
    return consolidate(Request(path=path), replace(tools, asker=asker))


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """All that a new process has: the workspace."""

    workspace: Path
    key: str
    checkpoint: Checkpoint
    page: str


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drill") / "session.jsonl"


@pytest.fixture(scope="module")
def restored(transcript: Path) -> Restored:
    Session(transcript).forty_turns()
    workspace = transcript.parent / "workspace"
    child = [sys.executable, "-c", CHILD, str(transcript), str(workspace), str(Path(__file__).parent)]
    ended = subprocess.run(child, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    transcript.rename(transcript.with_suffix(".gone"))
    store = FileCheckpoints(workspace)
    (key,) = store.sessions()
    checkpoint = wiring.joined(store.chain(key))
    page = render_summary(checkpoint.summary, source=source_of(checkpoint), budget_tokens=6_000).markdown
    return Restored(workspace=workspace, key=key, checkpoint=checkpoint, page=page)


def test_the_prohibition_is_still_an_order(restored: Restored) -> None:
    (rule,) = [one for one in restored.checkpoint.summary.constraints if one.in_force]
    assert (rule.rule, rule.quote) == (PROHIBITION, PROHIBITION)
    assert PROHIBITION in restored.page.partition("## 1.")[0]


def test_the_failed_ways_are_listed_as_failed(restored: Restored) -> None:
    unresolved = [error.error for error in restored.checkpoint.summary.errors if error.fix is None]
    for command in ("tune.py --pool 64", "tune.py --batch 9000"):
        assert any(command in error for error in unresolved)
        assert command in restored.page


def test_three_task_states_are_right(restored: Restored) -> None:
    statuses = {task.id: task.status for task in restored.checkpoint.summary.tasks}
    assert statuses["T-201"] is TaskStatus.IN_PROGRESS
    assert statuses["T-202"] is TaskStatus.OPEN
    assert statuses["T-203"] is TaskStatus.BLOCKED


def test_the_log_can_be_read_by_its_handle(restored: Restored) -> None:
    (artifact,) = restored.checkpoint.summary.artifacts
    assert len(LOG) > 100_000
    assert FileArtifacts(restored.workspace).get(restored.key, artifact.handle) == LOG
    assert artifact.handle[:12] in restored.page


def test_the_background_task_is_not_called_done(restored: Restored) -> None:
    assert [(one.id, one.status) for one in restored.checkpoint.ledger.background] == [("load_91c2", "running")]
    told = [task for task in restored.checkpoint.summary.tasks if "load" in task.text.lower()]
    assert all(task.status.is_open for task in told)
    assert "make load-test (load_91c2)" in restored.page


def test_what_is_kept_is_sound_without_the_transcript(restored: Restored) -> None:
    assert wiring.verify_places(Settings(workspace=restored.workspace)) == []


def test_the_model_of_the_new_process_decides_and_the_end_of_the_background_task_is_seen(
    restored: Restored, transcript: Path
) -> None:
    gone = transcript.with_suffix(".gone")
    if gone.exists():
        gone.rename(transcript)
    session = Session(transcript)
    session.person("Has the load test ended?")
    session.append(
        role="user",
        origin="harness",
        content="<task-notification><task-id>load_91c2</task-id><status>failed</status></task-notification>",
    )
    session.assistant("It failed.")
    model = ScriptedModel(otherwise=part_answer(request="Find out whether the load test has ended"), name="new-model")
    result = consolidated_by(model, transcript, restored.workspace)
    chain = FileCheckpoints(restored.workspace).chain(restored.key)
    newest = wiring.joined(chain)
    assert (result.status, newest.model.name, chain[0].model.name) == ("ok", "new-model", "old-model")
    assert model.asked
    assert "Find out whether the load test has ended" in newest.summary.request
    assert newest.ledger.background[-1].status == "failed"
    assert "load_91c2" not in render_summary(newest.summary, source=source_of(newest)).markdown.rpartition("## ")[2]
