"""MEMORY.md and HISTORY.md on disk: complete after any interruption, never doubled, never over a person's words."""

import multiprocessing
import shutil
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import orjson
import pytest

from worker.adapters.files import PIECE_BYTES, locked
from worker.adapters.history_file import HistoryFile
from worker.adapters.memory_file import KEPT_VERSIONS, MemoryFile
from worker.adapters.projections import FileProjections
from worker.adapters.sessions import FileCheckpoints
from worker.core.checkpoint import Checkpoint
from worker.core.history import MAX_HISTORY_BYTES, Mark, marks
from worker.core.memory import MemoryOp, MemoryOperation, parse
from worker.errors import SessionBusy, StorageUnavailable, StoreError
from worker.testing import FakeClock

CheckpointMaker = Callable[..., Checkpoint]
CommitChain = Callable[..., list[Checkpoint]]
Killer = Callable[[int, Callable[[], object]], bool]
KEY = "claude-code--0f3a"
NOW = datetime(2026, 12, 24, 3, 0, tzinfo=UTC)
MY_PAGE = "".join(f"{line}. a line of my own\n" for line in range(800))
FORK = multiprocessing.get_context("fork")


def projections(workspace: Path, **options: float) -> FileProjections:
    return FileProjections(workspace, FakeClock(NOW), UTC, **options)  # type: ignore[arg-type]


def history(workspace: Path) -> str:
    return (workspace / "HISTORY.md").read_text("utf-8")


def bullets(workspace: Path) -> list[str]:
    return [bullet.text for bullet in parse(MemoryFile(workspace).text()).bullets]


def entries(workspace: Path) -> list[tuple[str, int]]:
    return [(mark.session, mark.number) for mark in HistoryFile(workspace).marks()]


def test_each_checkpoint_gets_one_entry_and_its_memories_a_bullet(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 2)
    written = projections(tmp_path).project(KEY)
    assert written == [
        "MEMORY.md: 2 added, 0 taken out",
        f"HISTORY.md: {KEY} checkpoint 1",
        f"HISTORY.md: {KEY} checkpoint 2",
    ]
    assert history(tmp_path).startswith(
        "# History\n\n## [2026-11-01 07:00 +00:00] claude-code/0f3a · checkpoint 1 · m10–m19\n"
    )
    assert bullets(tmp_path) == [f"I prefer theme t{n}x0f3a" for n in (1, 2)]


def test_a_second_run_writes_nothing(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 2)
    projections(tmp_path).project(KEY)
    before = snapshot(tmp_path)
    assert projections(tmp_path).project(KEY) == []
    assert snapshot(tmp_path) == before


def snapshot(workspace: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(workspace).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in workspace.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def test_dates_are_those_of_the_configured_zone(tmp_path: Path, make_checkpoint: CheckpointMaker) -> None:
    """O87: 07:00 UTC is the next day twenty hours further east, in the log and in the bullet."""
    FileCheckpoints(tmp_path).commit(make_checkpoint())
    zone = timezone(timedelta(hours=20))
    FileProjections(tmp_path, FakeClock(NOW), zone).project(KEY)
    assert "## [2026-11-02 03:00 +20:00] " in history(tmp_path)
    assert "date=2026-11-02 " in MemoryFile(tmp_path).text()


def test_what_a_person_and_other_programs_wrote_stays_byte_for_byte(tmp_path: Path, commit_chain: CommitChain) -> None:
    """O63, O64, O66: existing content is a prefix, and no other file is touched."""
    (tmp_path / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# Mine\r\n\r\ncaf\xe9 | table\r\n")
    (tmp_path / "HISTORY.md").write_bytes(b"my own log\xff, no line end")
    (tmp_path / "2026-11-01.md").write_bytes(b"a daily note")
    (tmp_path / ".gitignore").write_bytes(b"node_modules\n")
    commit_chain(tmp_path, 3)
    projections(tmp_path).project(KEY)
    assert (tmp_path / "MEMORY.md").read_bytes().startswith(b"\xef\xbb\xbf# Mine\r\n\r\ncaf\xe9 | table\r\n")
    assert (tmp_path / "HISTORY.md").read_bytes().startswith(b"my own log\xff, no line end\n\n## [")
    assert (tmp_path / "2026-11-01.md").read_bytes() == b"a daily note"
    assert (tmp_path / ".gitignore").read_bytes() == b"node_modules\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".afterturn",
        ".gitignore",
        "2026-11-01.md",
        "HISTORY.md",
        "MEMORY.md",
        "sessions",
    ]


def test_a_repository_around_the_workspace_is_not_touched(tmp_path: Path, commit_chain: CommitChain) -> None:
    """T19"""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    commit_chain(tmp_path, 1)
    projections(tmp_path).project(KEY)
    assert {path.name: path.read_bytes() for path in (tmp_path / ".git").iterdir()} == {
        "HEAD": b"ref: refs/heads/main\n"
    }


@pytest.mark.parametrize("full", [False, True])
def test_a_kill_at_any_step_is_finished_by_the_next_run_of_any_session(
    quick_path: Path, commit_chain: CommitChain, killed_at: Killer, full: bool
) -> None:
    """T17, O97: nothing is lost, nothing doubled, no torn line stays; also while bullets have to move out."""
    start = quick_path / "start"
    commit_chain(start, 2)
    commit_chain(start, 1, "codex--1")
    if full:
        (start / "MEMORY.md").write_text("my own line\n" * 196)
    (start / "HISTORY.md").write_text("before\n")
    for step in range(1, 150):
        workspace = shutil.copytree(start, quick_path / str(step))
        was_killed = killed_at(step, partial(projections(workspace).project, KEY))
        projections(workspace).project("codex--1")
        projections(workspace).project(KEY)
        check_complete(workspace, full=full)
        if not was_killed:
            break
    assert not was_killed
    assert step > 25


def check_complete(workspace: Path, *, full: bool) -> None:
    text = history(workspace)
    assert text.startswith("before\n")
    assert Counter(entries(workspace)) == Counter(
        {("claude-code/0f3a", 1): 1, ("claude-code/0f3a", 2): 1, ("codex/1", 1): 1}
    )
    assert text.count("· checkpoint ") == 3
    kept, moved = bullets(workspace), [line for line in text.splitlines() if line.startswith("Moved: ")]
    assert len(kept) + len(moved) == 3
    assert bool(moved) == full
    assert not list((workspace / ".afterturn").glob("*append*"))


def _commit_and_project(workspace: Path, make: CheckpointMaker, session: str) -> None:
    store = FileCheckpoints(workspace)
    parent: str | None = None
    for number in range(1, 6):
        assert store.commit(make(number, parent=parent, session=session))
        parent = store.id_of(session, number)
        projections(workspace, lock_wait_seconds=60).project(session)


def test_eight_writers_of_one_workspace_lose_and_double_nothing(
    tmp_path: Path, make_checkpoint: CheckpointMaker
) -> None:
    """O73, T13, T14: every entry and every bullet once, the entries of a session in its order."""
    sessions = [f"claude-code--{n}" for n in range(8)]
    workers = [FORK.Process(target=_commit_and_project, args=(tmp_path, make_checkpoint, each)) for each in sessions]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 8
    found = entries(tmp_path)
    for n in range(8):
        assert [number for session, number in found if session == f"claude-code/{n}"] == [1, 2, 3, 4, 5]
    assert len(found) == 40
    assert len(set(bullets(tmp_path))) == len(bullets(tmp_path)) == 40


def test_a_workspace_that_is_held_too_long_is_busy(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 1)
    lock = tmp_path / ".afterturn" / "workspace.lock"
    with locked(lock, wait_seconds=1), pytest.raises(SessionBusy):
        projections(tmp_path, lock_wait_seconds=0.05).project(KEY)
    assert not (tmp_path / "HISTORY.md").exists()
    assert len(projections(tmp_path).project(KEY)) == 2


def test_a_full_disk_leaves_the_work_to_the_next_run(small_disk: Path, commit_chain: CommitChain) -> None:
    """C12: the checkpoint stays unmarked, so that a retry projects it."""
    commit_chain(small_disk, 1)
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space"), ballast.open("wb", buffering=0) as stream:
        for _ in range(1000):
            stream.write(b"x" * 4096)
    with pytest.raises(StorageUnavailable):
        projections(small_disk).project(KEY)
    ballast.unlink()
    projections(small_disk).project(KEY)
    assert entries(small_disk) == [("claude-code/0f3a", 1)]
    assert len(bullets(small_disk)) == 1


def test_an_append_that_the_disk_cut_off_is_completed(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 1)
    projections(tmp_path).project(KEY)
    whole = (tmp_path / "HISTORY.md").read_bytes()
    for cut in range(0, len(whole), 7):
        (tmp_path / "HISTORY.md").write_bytes(whole[:cut])
        announce(tmp_path, 0, whole.decode())
        projections(tmp_path).project(KEY)
        assert (tmp_path / "HISTORY.md").read_bytes() == whole


def test_another_program_may_append_while_ours_is_torn(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 1)
    projections(tmp_path).project(KEY)
    whole = (tmp_path / "HISTORY.md").read_bytes()
    for before, after in ((b"theirs\n", b""), (b"", b"theirs\n"), (b"theirs\n", b"theirs\n")):
        for torn in (b"", whole[:90], whole):
            (tmp_path / "HISTORY.md").write_bytes(before + torn + after)
            announce(tmp_path, 0, whole.decode())
            projections(tmp_path).project(KEY)
            assert entries(tmp_path) == [("claude-code/0f3a", 1)]
            assert history(tmp_path).count("theirs\n") == (before + after).count(b"theirs")


def announce(workspace: Path, offset: int, text: str) -> None:
    (workspace / ".afterturn" / "history-append.json").write_bytes(orjson.dumps({"offset": offset, "text": text}))


def test_a_damaged_announcement_or_record_is_named(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 1)
    for name in ("history-append.json", "memory/record.json"):
        path = tmp_path / ".afterturn" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{")
        with pytest.raises(StoreError, match=r"\.json: damaged; remove it"):
            projections(tmp_path).project(KEY)
        path.unlink()
    assert len(projections(tmp_path).project(KEY)) == 2


def test_months_move_out_and_their_entries_are_still_known(tmp_path: Path, commit_chain: CommitChain) -> None:
    """T16"""
    for _ in range(6):
        commit_chain(tmp_path, 3)
        projections(tmp_path, max_history_bytes=2000).project(KEY)
    archive = (tmp_path / "history" / "2026-11.md").read_text("utf-8")
    assert len(history(tmp_path)) < 4000
    assert [mark.number for mark in marks(archive)] + [mark.number for mark in marks(history(tmp_path))] == list(
        range(1, 19)
    )
    index = tmp_path / ".afterturn" / "history-index"
    for damage in (lambda: index.write_bytes(b"{"), index.unlink, lambda: None):
        damage()
        assert projections(tmp_path).project(KEY) == []


def test_a_long_history_takes_no_more_memory_than_a_short_one(tmp_path: Path, commit_chain: CommitChain) -> None:
    """A worker brings it up after every session, in many threads at once. Read as a whole it was each time a little
    too long for any hole in the heap that the last time had left, so that no memory was ever used again.
    """
    peaks = []
    for pages in (1, 40):
        workspace = tmp_path / str(pages)
        commit_chain(workspace, 1)
        projections(workspace).project(KEY)
        month = [Mark(id=f"{n:064x}", session="codex/1", number=n).line for n in range(100 * pages)]
        (workspace / "history").mkdir()
        (workspace / "history" / "2025-11.md").write_text("\n".join(month), "utf-8")
        (workspace / "HISTORY.md").write_text(f"{history(workspace)}{MY_PAGE * pages}", "utf-8")
        projections(workspace).project(KEY)
        commit_chain(workspace, 1)
        peaks.append(peak_bytes(partial(projections(workspace).project, KEY)))
        assert entries(workspace)[-2:] == [("claude-code/0f3a", 1), ("claude-code/0f3a", 2)]
    assert len(MY_PAGE) * 40 < MAX_HISTORY_BYTES
    assert peaks[1] < peaks[0] + 2 * PIECE_BYTES


def peak_bytes(act: Callable[[], object]) -> int:
    """How much more was held at a time than before."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_kill_while_months_move_out_loses_and_doubles_nothing(
    quick_path: Path, commit_chain: CommitChain, killed_at: Killer
) -> None:
    commit_chain(quick_path / "start", 6)
    for step in range(1, 150):
        workspace = shutil.copytree(quick_path / "start", quick_path / str(step))
        was_killed = killed_at(step, partial(projections(workspace, max_history_bytes=1000).project, KEY))
        commit_chain(workspace, 1)
        projections(workspace, max_history_bytes=1000).project(KEY)
        assert entries(workspace) == [("claude-code/0f3a", n) for n in range(1, 8)]
        if not was_killed:
            break
    assert not was_killed


def test_a_deleted_bullet_stays_deleted_and_a_deleted_file_comes_back(
    tmp_path: Path, commit_chain: CommitChain
) -> None:
    commit_chain(tmp_path, 2)
    projections(tmp_path).project(KEY)
    memory = tmp_path / "MEMORY.md"
    memory.write_text("".join(line for line in memory.read_text().splitlines(True) if "t1x0f3a " not in line))
    commit_chain(tmp_path, 1)
    projections(tmp_path).project(KEY)
    assert bullets(tmp_path) == [f"I prefer theme t{n}x0f3a" for n in (2, 3)]
    memory.unlink()
    commit_chain(tmp_path, 1, "codex--1")
    projections(tmp_path).project("codex--1")
    assert set(bullets(tmp_path)) == {*(f"I prefer theme t{n}x0f3a" for n in (2, 3)), "I prefer theme t1x1"}


def test_the_last_versions_of_the_file_are_kept_private(tmp_path: Path, commit_chain: CommitChain) -> None:
    clock = FakeClock(NOW)
    for _ in range(KEPT_VERSIONS + 5):
        commit_chain(tmp_path, 1)
        FileProjections(tmp_path, clock, UTC).project(KEY)
        clock.advance(60)
    versions = sorted((tmp_path / ".afterturn" / "memory").glob("*.md"))
    assert len(versions) == KEPT_VERSIONS
    assert "t24x" in versions[-1].read_text()
    assert "t25x" not in versions[-1].read_text()


def test_a_person_s_permissions_on_the_file_stay(tmp_path: Path, commit_chain: CommitChain) -> None:
    (tmp_path / "MEMORY.md").write_text("# Mine\n")
    (tmp_path / "MEMORY.md").chmod(0o644)
    commit_chain(tmp_path, 1)
    projections(tmp_path).project(KEY)
    assert (tmp_path / "MEMORY.md").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "HISTORY.md").stat().st_mode & 0o777 == 0o600


def test_a_link_out_of_the_workspace_is_refused_and_its_target_untouched(
    tmp_path: Path, commit_chain: CommitChain
) -> None:
    """O82"""
    workspace, outside = tmp_path / "w", tmp_path / "profile"
    outside.write_text("export A=1\n")
    commit_chain(workspace, 1)
    for name in ("MEMORY.md", "HISTORY.md"):
        (workspace / name).symlink_to(outside)
        with pytest.raises(StoreError, match="leads out of the workspace"):
            projections(workspace).project(KEY)
        (workspace / name).unlink()
    assert outside.read_text() == "export A=1\n"


def test_a_linked_workspace_with_a_unicode_name_works_as_any_other(tmp_path: Path, commit_chain: CommitChain) -> None:
    (tmp_path / "wörk 日本").mkdir()
    (tmp_path / "link").symlink_to("wörk 日本")
    commit_chain(tmp_path / "link", 1)
    projections(tmp_path / "link").project(KEY)
    assert entries(tmp_path / "wörk 日本") == [("claude-code/0f3a", 1)]


def test_a_session_that_was_forgotten_and_begun_anew_gets_its_entries(
    tmp_path: Path, commit_chain: CommitChain
) -> None:
    commit_chain(tmp_path, 2)
    projections(tmp_path).project(KEY)
    store = FileCheckpoints(tmp_path)
    for number in (1, 2):
        store.path(KEY, number).unlink()
    assert store.commit(_other(commit_chain, tmp_path))
    projections(tmp_path).project(KEY)
    assert entries(tmp_path) == [("claude-code/0f3a", n) for n in (1, 2, 1)]


def _other(commit_chain: CommitChain, workspace: Path) -> Checkpoint:
    elsewhere = commit_chain(workspace / "elsewhere", 1)[0]
    return replace(elsewhere, id="", covered=99)


def test_a_rebuild_adds_what_is_missing_and_rewrites_nothing(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 3)
    commit_chain(tmp_path, 1, "codex--1")
    projections(tmp_path).project(KEY)
    before = history(tmp_path)
    assert projections(tmp_path).rebuild() == ["MEMORY.md: 1 added, 0 taken out", "HISTORY.md: codex--1 checkpoint 1"]
    assert history(tmp_path).startswith(before)
    (tmp_path / "HISTORY.md").unlink()
    (tmp_path / "MEMORY.md").unlink()
    projections(tmp_path).rebuild()
    assert len(entries(tmp_path)) == len(bullets(tmp_path)) == 4
    assert projections(tmp_path).rebuild() == []


def test_tidying_applies_to_the_file_as_it_is_when_the_answer_comes(tmp_path: Path, commit_chain: CommitChain) -> None:
    commit_chain(tmp_path, 2)
    projections(tmp_path).project(KEY)
    memory = tmp_path / "MEMORY.md"

    def ask(text: str) -> list[MemoryOperation]:
        memory.write_text(f"{memory.read_text()}a line that came meanwhile\n")
        oldest = parse(text).bullets[0].id
        return [MemoryOperation(op=MemoryOp.RETIRE, ids=(oldest,), reason="obsolete", evidence=("m99",))]

    said = {"m99": "Theme t1x0f3a is gone."}
    revision = projections(tmp_path).tidy(ask, sources=said, session="claude-code/0f3a")
    assert len(revision.left) == 1
    assert bullets(tmp_path) == ["I prefer theme t2x0f3a"]
    assert memory.read_text().endswith("a line that came meanwhile\n")
    assert "Retired: I prefer theme t1x0f3a (2026-11-01, claude-code/0f3a, m10)\n" in history(tmp_path)


def test_a_long_chain_costs_two_files_to_project(tmp_path: Path, commit_chain: CommitChain) -> None:
    """The others are not even readable."""
    commit_chain(tmp_path, 12)
    projections(tmp_path).project(KEY)
    commit_chain(tmp_path, 1)
    store = FileCheckpoints(tmp_path)
    for number in range(1, 12):
        store.path(KEY, number).write_bytes(b"damaged")
    projections(tmp_path).project(KEY)
    assert entries(tmp_path)[-1] == ("claude-code/0f3a", 13)
