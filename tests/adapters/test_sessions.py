"""Checkpoints and artifacts on disk: numbered, chained, and found out when a byte changes."""

import hashlib
import multiprocessing
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.sessions import FileArtifacts, FileCheckpoints, decode, encode
from worker.core.checkpoint import Checkpoint
from worker.core.summary import Artifact, Summary, UserMessage
from worker.errors import StorageUnavailable, StoreError, UsageError

CheckpointMaker = Callable[..., Checkpoint]
CommitChain = Callable[..., list[Checkpoint]]
Killer = Callable[[int, Callable[[], object]], bool]
KEY = "claude-code--0f3a"
FORK = multiprocessing.get_context("fork")


def test_what_was_committed_is_read_again(tmp_path: Path, make_checkpoint: CheckpointMaker) -> None:
    store = FileCheckpoints(tmp_path)
    made = make_checkpoint()
    assert store.commit(made)
    assert store.latest(KEY) == encode(made)[0]
    assert store.path(KEY, 1) == tmp_path / "sessions" / KEY / "checkpoints" / "000001.json"
    assert store.sessions() == [KEY]


def test_a_new_session_has_no_checkpoint(tmp_path: Path) -> None:
    store = FileCheckpoints(tmp_path)
    assert (store.latest(KEY), store.chain(KEY), store.sessions()) == (None, [], [])


def test_the_chain_comes_oldest_first_whatever_the_number_of_digits(tmp_path: Path, commit_chain: CommitChain) -> None:
    made = commit_chain(tmp_path, 3)
    assert FileCheckpoints(tmp_path).chain(KEY) == made
    assert [each.parent for each in made] == [None, made[0].id, made[1].id]


def test_the_sessions_whose_chains_changed_last_are_named_newest_first(
    tmp_path: Path, commit_chain: CommitChain
) -> None:
    for age, key in enumerate(("codex--a", "codex--b", "codex--c")):
        commit_chain(tmp_path, 1, key)
        os.utime(tmp_path / "sessions" / key / "checkpoints", (1_000 - age, 1_000 - age))
    (tmp_path / "sessions" / "codex--empty").mkdir()
    (tmp_path / "sessions" / "not a key").mkdir()
    (tmp_path / "sessions" / "codex--file").write_text("x")
    store = FileCheckpoints(tmp_path)
    assert store.recent(9) == ["codex--a", "codex--b", "codex--c"]
    assert store.recent(2) == ["codex--a", "codex--b"]
    assert FileCheckpoints(tmp_path / "nowhere").recent(9) == []


def test_a_taken_number_is_superseded_and_stays_as_it_was(tmp_path: Path, make_checkpoint: CheckpointMaker) -> None:
    store = FileCheckpoints(tmp_path)
    store.commit(make_checkpoint(said="I prefer tabs"))
    before = store.path(KEY, 1).read_bytes()
    assert not store.commit(make_checkpoint(said="I prefer spaces"))
    assert store.path(KEY, 1).read_bytes() == before


def test_a_commit_that_did_not_hear_of_its_success_may_be_repeated(
    tmp_path: Path, make_checkpoint: CheckpointMaker
) -> None:
    """O36"""
    store = FileCheckpoints(tmp_path)
    assert store.commit(make_checkpoint())
    assert store.commit(make_checkpoint())
    assert store.numbers(KEY) == [1]


@pytest.mark.parametrize(("number", "parent"), [(2, "0" * 64), (2, None), (3, None), (1, "0" * 64)])
def test_a_checkpoint_that_does_not_continue_the_chain_is_not_written(
    tmp_path: Path, make_checkpoint: CheckpointMaker, number: int, parent: str | None
) -> None:
    store = FileCheckpoints(tmp_path)
    if number != 1:
        store.commit(make_checkpoint())
    before = store.numbers(KEY)
    assert not store.commit(make_checkpoint(number, parent=parent))
    assert store.numbers(KEY) == before


def _commit(workspace: Path, made: Checkpoint, won: "multiprocessing.Queue[str]") -> None:
    if FileCheckpoints(workspace).commit(made):
        won.put(encode(made)[0].id)


def test_of_eight_workers_that_finish_the_same_number_one_wins(
    tmp_path: Path, make_checkpoint: CheckpointMaker
) -> None:
    """B39"""
    won: multiprocessing.Queue[str] = FORK.Queue()
    made = [make_checkpoint(said=f"I prefer width {n}") for n in range(8)]
    workers = [FORK.Process(target=_commit, args=(tmp_path, each, won)) for each in made]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    latest = FileCheckpoints(tmp_path).latest(KEY)
    assert latest is not None
    assert latest.id == won.get(timeout=5)
    assert won.empty()


def test_a_kill_at_any_step_of_a_commit_leaves_the_chain_whole(
    quick_path: Path, make_checkpoint: CheckpointMaker, killed_at: Killer
) -> None:
    """B22, T17: the checkpoint is there or it is not, and the same commit again gives the same id once."""
    for step in range(1, 60):
        workspace = quick_path / str(step)
        store = FileCheckpoints(workspace)
        was_killed = killed_at(step, partial(store.commit, make_checkpoint()))
        assert len(store.chain(KEY)) <= 1
        assert store.commit(make_checkpoint())
        assert [each.id for each in store.chain(KEY)] == [encode(make_checkpoint())[0].id]
        if not was_killed:
            break
    assert not was_killed
    assert step > 8


def test_a_full_disk_commits_nothing(small_disk: Path, make_checkpoint: CheckpointMaker) -> None:
    """C12"""
    store = FileCheckpoints(small_disk)
    store.commit(make_checkpoint())
    with pytest.raises(StorageUnavailable):
        store.commit(make_checkpoint(2, parent=store.chain(KEY)[0].id, said="x" * 500_000))
    assert store.numbers(KEY) == [1]
    assert list(small_disk.rglob(".afterturn-*")) == []


def test_the_id_is_the_hash_of_the_stored_object_without_it(tmp_path: Path, make_checkpoint: CheckpointMaker) -> None:
    store = FileCheckpoints(tmp_path)
    store.commit(make_checkpoint())
    stored = orjson.loads(store.path(KEY, 1).read_bytes())
    name = stored.pop("id")
    assert name == hashlib.sha256(orjson.dumps(stored, option=orjson.OPT_SORT_KEYS)).hexdigest()


def test_reformatting_a_file_does_not_change_it_and_a_digit_does(
    tmp_path: Path, make_checkpoint: CheckpointMaker
) -> None:
    store = FileCheckpoints(tmp_path)
    store.commit(make_checkpoint())
    path = store.path(KEY, 1)
    stored = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps(stored, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    assert store.load(KEY, 1).number == 1
    path.write_bytes(orjson.dumps(stored | {"covered": stored["covered"] + 1}))
    with pytest.raises(StoreError, match="its content is not what was written") as caught:
        store.load(KEY, 1)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"schema":1}', b"\xff\xfe", b"\x00" * 100])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, make_checkpoint: CheckpointMaker, data: bytes) -> None:
    store = FileCheckpoints(tmp_path)
    store.commit(make_checkpoint())
    store.path(KEY, 1).write_bytes(data)
    with pytest.raises(StoreError, match=r"000001\.json: .*; ") as caught:
        store.latest(KEY)
    assert "\n" not in str(caught.value)


def test_a_file_of_a_newer_version_says_so() -> None:
    with pytest.raises(StoreError, match=r"newer Afterturn \(schema 99\); upgrade"):
        decode(b'{"schema": 99, "id": "x"}', Path("f"))


def test_a_field_that_an_older_version_did_not_write_is_filled_in(make_checkpoint: CheckpointMaker) -> None:
    fields = orjson.loads(encode(make_checkpoint())[1])
    del fields["id"], fields["moved"], fields["skipped"]
    fields["id"] = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    assert decode(orjson.dumps(fields), Path("f")).moved == Summary()


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\ud83d\ude00\udcff\x00\u2028")), max_size=40))
def test_any_text_of_a_transcript_can_be_stored(text: str) -> None:
    made = replace(_plain(), summary=Summary(user_messages=(UserMessage(id="m1", text=text),)))
    sealed, data = encode(made)
    stored = decode(data, Path("f"))
    assert stored.id == sealed.id
    words = stored.summary.user_messages[0].text
    assert words == text or any("\ud800" <= sign <= "\udfff" for sign in text)
    assert encode(stored)[1] == data


def _plain() -> Checkpoint:
    fields = {
        "number": 1,
        "parent": None,
        "created_at": "2026-11-29T06:00:00Z",
        "session": {"key": "a--b", "agent": "a", "id": "b", "source": "s"},
        "range": {"start": 0, "end": 1, "sha256": ""},
        "covered": 1,
        "status": "ok",
        "summary": {},
        "ledger": {},
        "validation": {},
        "model": {},
        "savings": {},
        "tokens_before": 0,
        "tokens_after": 0,
        "cursor": {"format": "plain", "index": 1},
    }
    name = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return decode(orjson.dumps(fields | {"id": name}), Path("f"))


def test_times_are_written_in_utc_with_a_z(make_checkpoint: CheckpointMaker) -> None:
    fields = orjson.loads(encode(make_checkpoint())[1])
    assert fields["created_at"] == "2026-11-01T07:00:00Z"
    there = datetime(2026, 11, 29, 14, 2, tzinfo=timezone(timedelta(hours=8)))
    read = decode(encode(replace(make_checkpoint(), created_at=there))[1], Path("f"))
    assert read.created_at == there.astimezone(UTC)


@pytest.mark.parametrize("key", ["../outside", "", "/etc", "a/b", "x\x00"])
def test_a_key_that_is_no_folder_name_reaches_no_file(tmp_path: Path, key: str) -> None:
    """O82, C17"""
    with pytest.raises(UsageError):
        FileCheckpoints(tmp_path).latest(key)
    with pytest.raises(UsageError):
        FileArtifacts(tmp_path).get(key, "0" * 64)


def test_two_sessions_of_one_workspace_share_no_file(tmp_path: Path, commit_chain: CommitChain) -> None:
    """C17"""
    commit_chain(tmp_path, 2, "claude-code--one")
    commit_chain(tmp_path, 1, "claude-code--two")
    store = FileCheckpoints(tmp_path)
    assert store.sessions() == ["claude-code--one", "claude-code--two"]
    assert {each.session.key for each in store.chain("claude-code--two")} == {"claude-code--two"}


def test_the_newest_of_many_is_found_without_opening_the_others(
    tmp_path: Path, make_checkpoint: CheckpointMaker
) -> None:
    store = FileCheckpoints(tmp_path)
    folder = store.path(KEY, 1).parent
    folder.mkdir(parents=True)
    for number in range(1, 2_000):
        (folder / f"{number:06d}.json").touch()
    (folder / "10000.json.bak").touch()
    store.path(KEY, 2_000).write_bytes(encode(make_checkpoint(2_000, parent="p"))[1])
    latest = store.latest(KEY)
    assert latest is not None
    assert latest.number == 2_000


def artifact_of(text: str) -> Artifact:
    data = text.encode("utf-8", "replace")
    return Artifact(
        handle=hashlib.sha256(data).hexdigest(),
        message="m4",
        tool="Bash",
        media_type="text/plain",
        chars=len(text),
        lines=text.count("\n") + 1,
        size=len(data),
        preview=text[:20],
        created=datetime(2026, 11, 29, 6, 0, tzinfo=UTC),
    )


@settings(deadline=None, max_examples=30)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\r\n\ud800\x00")), max_size=80))
def test_an_artifact_comes_back_whole(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    store = FileArtifacts(tmp_path_factory.mktemp("artifacts"))
    artifact = artifact_of(text)
    store.put(KEY, text, artifact)
    assert store.get(KEY, artifact.handle) == text.encode("utf-8", "replace").decode()
    stored = store.info(KEY, artifact.handle)
    assert stored is not None
    assert (stored.handle, stored.size, stored.created) == (artifact.handle, artifact.size, artifact.created)


def test_the_same_output_twice_is_one_file(tmp_path: Path) -> None:
    """T23, O90"""
    store = FileArtifacts(tmp_path)
    artifact = artifact_of("a long output")
    for _ in range(3):
        store.put(KEY, "a long output", artifact)
    store.put(KEY, "a long output", replace(artifact, message="m9"))
    assert store.handles(KEY) == [artifact.handle]
    assert sorted(path.suffix for path in tmp_path.rglob("*.*") if path.is_file()) == [".json", ".txt"]
    info = store.info(KEY, artifact.handle)
    assert info is not None
    assert info.message == "m4"


def test_a_handle_that_is_not_the_hash_of_the_text_is_refused(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    with pytest.raises(StoreError, match="not the hash of the text"):
        store.put(KEY, "other", artifact_of("a long output"))
    assert store.handles(KEY) == []


def test_an_artifact_that_changed_says_so_and_the_next_put_mends_it(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    artifact = artifact_of("a long output")
    store.put(KEY, "a long output", artifact)
    store.path(KEY, artifact.handle).write_bytes(b"a long 0utput")
    with pytest.raises(StoreError, match="the original changed"):
        store.get(KEY, artifact.handle)
    store.put(KEY, "a long output", artifact)
    assert store.get(KEY, artifact.handle) == "a long output"


def test_what_is_not_kept_is_named(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    assert store.info(KEY, "0" * 64) is None
    with pytest.raises(StoreError, match="no such artifact"):
        store.get(KEY, "0" * 64)
    with pytest.raises(UsageError, match="64 hex digits"):
        store.get(KEY, "../../etc/passwd")


def test_a_kill_at_any_step_of_an_artifact_leaves_none_that_lies(quick_path: Path, killed_at: Killer) -> None:
    artifact = artifact_of("a long output")
    for step in range(1, 60):
        store = FileArtifacts(quick_path / str(step))
        was_killed = killed_at(step, partial(store.put, KEY, "a long output", artifact))
        assert all(store.get(KEY, handle) == "a long output" for handle in store.handles(KEY))
        assert store.info(KEY, artifact.handle) is None or store.handles(KEY)
        store.put(KEY, "a long output", artifact)
        assert store.info(KEY, artifact.handle) == artifact
        if not was_killed:
            break
    assert not was_killed
