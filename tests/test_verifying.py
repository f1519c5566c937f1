"""Whatever contradicts something else in a workspace is found and named."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from worker.adapters.projections import FileProjections
from worker.adapters.sessions import FileArtifacts, FileCheckpoints, decode
from worker.core.checkpoint import Checkpoint
from worker.core.memory import Bullet, Section, add, parse
from worker.core.summary import Artifact, Memory, MemoryKind, Summary, UserMessage, with_id
from worker.errors import TranscriptError
from worker.testing import FakeClock
from worker.verifying import Problem, verify

KEY = "claude-code--0f3a"
NOW = datetime(2026, 11, 29, 6, 0, tzinfo=UTC)
TEXT = "a long output"
HANDLE = hashlib.sha256(TEXT.encode()).hexdigest()
ARTIFACT = Artifact(
    handle=HANDLE, message="m4", tool="Bash", media_type="text/plain", chars=13, lines=1, size=13, preview="a long"
)


def checkpoint(number: int, parent: str | None) -> Checkpoint:
    fields = {
        "number": number,
        "parent": parent,
        "created_at": (NOW + timedelta(hours=number)).isoformat(),
        "session": {"key": KEY, "agent": "claude-code", "id": "0f3a", "source": "s.jsonl"},
        "range": {"start": 10 * number - 10, "end": 10 * number, "sha256": f"{number:064d}"},
        "covered": 10 * number,
        "status": "ok",
        "summary": {},
        "ledger": {},
        "validation": {},
        "model": {},
        "savings": {},
        "tokens_before": 0,
        "tokens_after": 0,
        "cursor": {"format": "plain", "index": 10 * number},
    }
    name = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    made = decode(orjson.dumps(fields | {"id": name}), Path("f"))
    said = f"I prefer width {number}"
    message = UserMessage(id=f"m{10 * number - 5}", text=said)
    memory = with_id(Memory(kind=MemoryKind.PREFERENCE, text=said, evidence=(message.id,)))
    summary = Summary(memories=(memory,), user_messages=(message,), artifacts=(ARTIFACT,) if number == 1 else ())
    return replace(made, id="", summary=summary)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Three checkpoints, one artifact, both projections: all well."""
    store = FileCheckpoints(tmp_path)
    for number in (1, 2, 3):
        assert store.commit(checkpoint(number, store.id_of(KEY, number - 1)))
    FileArtifacts(tmp_path).put(KEY, TEXT, ARTIFACT)
    FileProjections(tmp_path, FakeClock(NOW), UTC).project(KEY)
    return tmp_path


def whats(problems: list[Problem]) -> str:
    return "\n".join(f"{problem.where}: {problem.what}" for problem in problems)


def test_a_sound_workspace_has_no_problem(workspace: Path) -> None:
    assert verify(workspace, read_range=lambda made: made.range.sha256) == []


def test_an_empty_workspace_has_no_problem(tmp_path: Path) -> None:
    assert verify(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_changed_byte_of_a_checkpoint_is_found(workspace: Path) -> None:
    path = FileCheckpoints(workspace).path(KEY, 2)
    path.write_bytes(path.read_bytes().replace(b'"covered":20', b'"covered":21'))
    found = verify(workspace)
    assert [problem.where for problem in found] == [f"sessions/{KEY}/checkpoints/000002.json"]
    assert "its content is not what was written" in found[0].what


def test_a_missing_checkpoint_is_found(workspace: Path) -> None:
    FileCheckpoints(workspace).path(KEY, 2).unlink()
    assert "checkpoint 2 is missing" in whats(verify(workspace))


def test_a_checkpoint_of_another_chain_is_found(workspace: Path) -> None:
    store = FileCheckpoints(workspace)
    other = replace(checkpoint(2, store.id_of(KEY, 1)), covered=19)
    store.path(KEY, 2).unlink()
    assert store.commit(other)
    assert "000003.json: does not continue checkpoint 2: its parent is another" in whats(verify(workspace))


def test_a_gap_between_two_ranges_is_found(workspace: Path) -> None:
    store = FileCheckpoints(workspace)
    late = checkpoint(4, store.id_of(KEY, 3))
    store.commit(replace(late, range=replace(late.range, start=35)))
    assert "begins at m35, checkpoint 3 ends before m30" in whats(verify(workspace))


def test_a_restarted_transcript_is_no_gap(workspace: Path) -> None:
    store = FileCheckpoints(workspace)
    late = checkpoint(4, store.id_of(KEY, 3))
    store.commit(replace(late, range=replace(late.range, start=35, chain=2)))
    FileProjections(workspace, FakeClock(NOW), UTC).project(KEY)
    assert verify(workspace) == []


def test_a_copied_checkpoint_does_not_pass_for_another_session(workspace: Path) -> None:
    source, target = (FileCheckpoints(workspace).path(key, 1) for key in (KEY, "codex--1"))
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    assert f"belongs to session {KEY}" in whats(verify(workspace))


def test_a_transcript_that_changed_behind_a_checkpoint_is_found(workspace: Path) -> None:
    def read_range(made: Checkpoint) -> str | None:
        return "f" * 64 if made.number == 2 else None

    assert whats(verify(workspace, read_range=read_range)).endswith("s.jsonl changed in m10–m19 since this was written")


def test_a_transcript_that_cannot_be_read_is_found_and_the_rest_still_checked(workspace: Path) -> None:
    def read_range(made: Checkpoint) -> str | None:
        raise TranscriptError(f"{made.session.source}: no known format")

    assert len(verify(workspace, read_range=read_range)) == 3


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b"a long 0utput"), Path.unlink])
def test_a_damaged_or_missing_artifact_is_found(workspace: Path, harm: Callable[[Path], object]) -> None:
    harm(FileArtifacts(workspace).path(KEY, HANDLE))
    assert [problem.where for problem in verify(workspace)] == [f"sessions/{KEY}/artifacts/{HANDLE}.txt"]


def test_an_entry_that_stands_twice_or_not_at_all_is_found(workspace: Path) -> None:
    history = workspace / "HISTORY.md"
    pieces = history.read_text("utf-8").split("## [")
    history.write_text("## [".join([pieces[0], pieces[1], pieces[3], pieces[3]]), "utf-8")
    found = whats(verify(workspace))
    assert "stands 2 times" in found
    assert "000002.json: has no entry in HISTORY.md" in found


def test_a_memory_over_its_limits_or_without_a_source_is_found(workspace: Path) -> None:
    memory = workspace / "MEMORY.md"
    page = parse(memory.read_text("utf-8"))
    for number, (session, evidence) in enumerate([("codex/9", "m1"), ("claude-code/0f3a", "m999")]):
        stray = Bullet(
            id=f"M-00000{number}",
            section=Section.PROJECT,
            text=f"stray {number}",
            date=NOW.date(),
            session=session,
            evidence=(evidence,),
        )
        page = add(page, stray)
    memory.write_text(page.render() + "mine\n" * 200, "utf-8")
    found = whats(verify(workspace))
    assert "M-000000 cites session codex/9, which is not kept here" in found
    assert "M-000001 cites a message that claude-code/0f3a does not cover" in found
    assert "the limits are 200 and 25000" in found


def test_verifying_changes_nothing(workspace: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in workspace.rglob("*")}
    verify(workspace, read_range=lambda made: made.range.sha256)
    assert {path: path.stat().st_mtime_ns for path in workspace.rglob("*")} == before


def test_one_session_may_be_checked_alone(workspace: Path) -> None:
    path = FileCheckpoints(workspace).path(KEY, 2)
    path.write_bytes(b"{")
    assert verify(workspace, sessions=[]) == []
    assert len(verify(workspace, sessions=[KEY])) == 1
