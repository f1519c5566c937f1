"""What every store keeps to, the stand-in in memory as well as the one in files."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worker.adapters.parts_cache import FileParts
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.ledger import Ledger
from worker.core.summary import Artifact, Summary
from worker.errors import StoreError
from worker.ports import Artifacts, Checkpoints, Parts
from worker.testing import MemoryArtifacts, MemoryParts, MemoryStore

SESSION = "claude-code--0f3a"


def checkpoint(number: int, parent: str | None, *, request: str = "Go on", session: str = SESSION) -> Checkpoint:
    return Checkpoint(
        number=number,
        parent=parent,
        created_at=datetime(2026, 1, 23, tzinfo=UTC),
        session=SessionRef(key=session, agent="claude-code", id="0f3a", source="s.jsonl"),
        range=SourceRange(start=0, end=2, sha256="0" * 64),
        covered=2,
        status=Status.OK,
        summary=Summary(request=request),
        ledger=Ledger(),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=10,
        tokens_after=5,
        cursor=Cursor(format="plain", index=2),
    )


@pytest.fixture(params=[lambda folder: MemoryStore(), FileCheckpoints], ids=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Checkpoints:
    build: Callable[[Path], Checkpoints] = request.param
    return build(tmp_path)


def committed(store: Checkpoints, number: int, parent: str | None) -> Checkpoint:
    stored = store.commit(checkpoint(number, parent))
    assert stored is not None
    return stored


def test_a_new_session_has_no_checkpoint(store: Checkpoints) -> None:
    assert store.latest(SESSION) is None
    assert store.chain(SESSION) == []


def test_a_chain_grows_and_each_checkpoint_names_the_one_before(store: Checkpoints) -> None:
    first = committed(store, 1, None)
    second = committed(store, 2, first.id)
    assert second.parent == first.id != ""
    assert store.chain(SESSION) == [first, second]


@pytest.mark.parametrize("request_text", ["Fix the parser", "half a sign \ud83d", "日本語 \u2028 \x00"])
def test_a_commit_gives_the_checkpoint_as_it_is_read_again(store: Checkpoints, request_text: str) -> None:
    """B63"""
    stored = store.commit(checkpoint(1, None, request=request_text))
    assert stored is not None
    assert stored.id
    assert stored == store.latest(SESSION)


def test_sessions_do_not_see_each_other(store: Checkpoints) -> None:
    committed(store, 1, None)
    assert store.latest("claude-code--0f3b") is None


def test_of_two_that_finish_the_same_number_one_wins(store: Checkpoints) -> None:
    first = committed(store, 1, None)
    assert not store.commit(checkpoint(1, None, request="Something else"))
    assert store.latest(SESSION) == first
    with ThreadPoolExecutor(8) as pool:
        rivals = [checkpoint(2, first.id, request=f"rival {number}") for number in range(8)]
        won = [stored for stored in pool.map(store.commit, rivals) if stored is not None]
    assert won == [store.latest(SESSION)]


def test_a_commit_that_is_repeated_is_no_defeat(store: Checkpoints) -> None:
    first = committed(store, 1, None)
    assert store.commit(checkpoint(1, None)) == first
    assert store.chain(SESSION) == [first]


def test_what_does_not_continue_the_chain_is_not_taken(store: Checkpoints) -> None:
    first = committed(store, 1, None)
    assert not store.commit(checkpoint(3, first.id))
    assert not store.commit(checkpoint(2, "another"))
    assert not store.commit(checkpoint(2, None))
    assert store.chain(SESSION) == [first]


@pytest.mark.parametrize("build", [lambda folder: MemoryArtifacts(), FileArtifacts], ids=["memory", "files"])
def test_an_artifact_is_kept_once_under_the_hash_of_its_text(
    build: Callable[[Path], Artifacts], tmp_path: Path
) -> None:
    artifacts = build(tmp_path)
    text = "line\n" * 20
    handle = hashlib.sha256(text.encode()).hexdigest()
    artifact = Artifact(
        handle=handle, message="m1", tool="Bash", media_type="text/plain", chars=100, lines=20, size=100, preview="line"
    )
    artifacts.put(SESSION, text, artifact)
    artifacts.put(SESSION, text, artifact)
    with pytest.raises(StoreError):
        artifacts.put(SESSION, text, replace(artifact, handle="0" * 64))


@pytest.mark.parametrize("build", [lambda folder: MemoryParts(), FileParts], ids=["memory", "files"])
def test_a_part_answer_is_given_back_until_it_is_replaced(build: Callable[[Path], Parts], tmp_path: Path) -> None:
    parts = build(tmp_path)
    assert parts.get("k") is None
    parts.put("k", '{"request": "a"}')
    parts.put("other", "{}")
    assert parts.get("k") == '{"request": "a"}'
    parts.put("k", '{"request": "b"}')
    assert parts.get("k") == '{"request": "b"}'
