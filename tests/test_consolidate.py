"""The steps of one consolidation, in their order, over stand-in stores: what is written when, and what never is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from worker.consolidate import Request, Tools, consolidate, plan_session, read_range_sha256
from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.planning import limits_for
from worker.core.summary import Artifact, TaskStatus
from worker.errors import StorageUnavailable, UsageError
from worker.testing import FakeClock, MemoryArtifacts, MemoryProjections, MemoryStore, RecordedProgress

RULE = "Never touch the schema."
LONG_OUTPUT = "\n".join(f"line {number}: value {number * 31}" for number in range(3_000))


@dataclass(slots=True)
class Stores:
    """The three stores, and the order in which they were written to. refuses: the step that fails, as a full disk."""

    steps: list[str] = field(default_factory=list)
    refuses: str = ""
    store: MemoryStore = field(default_factory=MemoryStore)
    kept: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    projections: MemoryProjections = field(default_factory=MemoryProjections)

    def _step(self, name: str) -> None:
        if name == self.refuses:
            raise StorageUnavailable("the disk is full; free some space and run it again")
        self.steps.append(name)

    def latest(self, session_key: str) -> Checkpoint | None:
        return self.store.latest(session_key)

    def chain(self, session_key: str) -> list[Checkpoint]:
        return self.store.chain(session_key)

    def commit(self, checkpoint: Checkpoint) -> Any:
        self._step("commit")
        return self.store.commit(checkpoint)

    def put(self, session_key: str, text: str, artifact: Artifact) -> None:
        self._step("artifact")
        self.kept.put(session_key, text, artifact)

    def project(self, session_key: str) -> list[str]:
        self._step("project")
        return self.projections.project(session_key)


def tools_over(stores: Stores, **more: Any) -> Tools:
    tools = Tools(
        clock=FakeClock(),
        today=lambda moment: date(moment.year, moment.month, moment.day),
        checkpoints=stores,
        artifacts=stores,
        projections=stores,
        progress=RecordedProgress(),
        asker=None,
        limits=limits_for(128_000, manual=True, hold_back=False),
        show_tokens=4_000,
        max_row_bytes=2**20,
    )
    return replace(tools, **more)


def rows() -> list[dict[str, Any]]:
    call = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make logs"}'}}
    return [
        {"role": "user", "content": f"T-1: read the logs. {RULE}", "session_id": "s-1", "origin": "human"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": LONG_OUTPUT},
        {"role": "assistant", "content": "They are long."},
    ]


def write(path: Path, messages: Sequence[dict[str, Any]]) -> Path:
    told = [{"timestamp": "2026-01-23T03:07:00Z", **message} for message in messages]
    path.write_text("".join(json.dumps(message) + "\n" for message in told), "utf-8")
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write(tmp_path / "session.jsonl", rows())


KEY = "afterturn--s-1"


def test_artifacts_come_before_the_checkpoint_that_names_them_and_projections_behind_it(session: Path) -> None:
    stores = Stores()
    result = consolidate(Request(path=session), tools_over(stores))
    assert stores.steps == ["artifact", "commit", "project"]
    assert (result.outcome, result.artifacts, result.range) == (Outcome.COMMITTED, 1, (0, 4))
    (checkpoint,) = stores.chain(result.session)
    (artifact,) = checkpoint.summary.artifacts
    assert stores.kept.entries[result.session, artifact.handle][0] == LONG_OUTPUT


@pytest.mark.parametrize(
    ("refuses", "steps"),
    [("artifact", []), ("commit", ["artifact"]), ("project", ["artifact", "commit"])],
)
def test_what_fails_on_the_way_is_finished_by_the_next_run(refuses: str, steps: list[str], session: Path) -> None:
    """O36 T17 C12 B22: nothing is committed twice, no cursor moves past work that is not done."""
    stores = Stores(refuses=refuses)
    with pytest.raises(StorageUnavailable):
        consolidate(Request(path=session), tools_over(stores))
    assert stores.steps == steps
    stores.refuses = ""
    consolidate(Request(path=session), tools_over(stores))
    assert len(stores.chain(KEY)) == 1
    assert stores.projections.projected == [KEY]


def test_who_loses_the_race_writes_no_projection(session: Path) -> None:
    stores, others = Stores(), Stores()
    result = consolidate(Request(path=session), tools_over(others))
    (winner,) = others.chain(result.session)

    class Beaten(Stores):
        def commit(self, checkpoint: Checkpoint) -> Any:
            self.store.commit(winner)
            return super().commit(checkpoint)

    beaten = Beaten()
    late = tools_over(beaten, clock=FakeClock(datetime(2026, 1, 24, tzinfo=UTC)))
    lost = consolidate(Request(path=session), late)
    assert (lost.outcome, lost.reason) == (Outcome.SUPERSEDED, "another_run_committed_first")
    assert beaten.steps == ["artifact", "commit"]
    assert beaten.chain(result.session) == [winner]
    assert stores.steps == []


def test_what_the_agent_gives_is_in_the_checkpoint_and_outlives_the_run(session: Path) -> None:
    stores = Stores()
    given = Request(path=session, constraints=("Only deploy on Mondays.",), tasks=("OPS-9: rotate the keys", "tidy up"))
    consolidate(given, tools_over(stores))
    write(session, [*rows(), {"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Nothing."}])
    consolidate(Request(path=session), tools_over(stores))
    summary = stores.chain(KEY)[-1].summary
    assert {constraint.quote for constraint in summary.constraints} == {RULE, "Only deploy on Mondays."}
    tasks = {task.text: task for task in summary.tasks}
    assert tasks["rotate the keys"].id == "OPS-9"
    assert all(task.status is TaskStatus.OPEN for task in tasks.values())
    assert "tidy up" in tasks


def test_instructions_have_a_length(session: Path) -> None:
    assert len(Request(path=session, instructions="x" * 800).instructions) == 800
    with pytest.raises(UsageError, match="800"):
        Request(path=session, instructions="x" * 801)


def test_a_plan_names_what_the_run_then_does_and_does_nothing(session: Path) -> None:
    stores = Stores()
    tools = tools_over(stores)
    (planned,) = plan_session(Request(path=session), tools)
    assert stores.steps == []
    result = consolidate(Request(path=session), tools)
    assert (planned.start, planned.end) == result.range
    assert (planned.messages, planned.tokens_before, planned.artifacts) == (4, result.tokens_before, result.artifacts)
    assert plan_session(Request(path=session), tools) == []


def test_the_hash_of_a_range_changes_with_any_edit_of_it_and_with_nothing_behind_it(session: Path) -> None:
    stores = Stores()
    consolidate(Request(path=session), tools_over(stores))
    chain = stores.chain(KEY)
    (checkpoint,) = chain
    later = [*rows(), {"role": "user", "content": "And now?"}]
    write(session, later)
    assert read_range_sha256(checkpoint, chain, session) == checkpoint.range.sha256
    later[1] = {**later[1], "content": "I look!"}
    write(session, later)
    assert read_range_sha256(checkpoint, chain, session) != checkpoint.range.sha256


def test_the_result_is_the_promised_object(session: Path) -> None:
    result = consolidate(Request(path=session), tools_over(Stores())).as_object()
    promised = (
        "outcome reason session checkpoint status range messages skipped tokens_before tokens_after parts llm_calls "
        "tokens_in tokens_out findings artifacts savings"
    )
    assert set(promised.split()) <= set(result)
    assert json.loads(json.dumps({**result, "findings": []}))["range"] == [0, 4]
    assert result["tokens_after"] < result["tokens_before"]


def test_progress_goes_from_reading_to_writing(session: Path) -> None:
    progress = RecordedProgress()
    consolidate(Request(path=session), tools_over(Stores(), progress=progress))
    assert [step.stage for step in progress.steps] == ["reading", "validating", "writing"]
