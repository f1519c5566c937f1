"""Old bytes or new bytes, never a mixture; and one line that says what is wrong with the disk."""

import errno
import multiprocessing
import os
import resource
import stat
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.files import (
    PIECE_BYTES,
    append_durably,
    locked,
    own_file,
    permissions,
    read_bounded,
    read_if_there,
    read_in_pieces,
    remove,
    storage_error,
    sweep_temporary,
    write_atomically,
)
from worker.errors import SessionBusy, StorageUnavailable, StoreError

Killer = Callable[[int, Callable[[], object]], bool]
FORK = multiprocessing.get_context("fork")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".afterturn-*")]


def test_files_are_private_and_their_folders_too(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "a" / "b" / "c", b"x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/c")]
    assert modes == [0o700, 0o700, 0o600]


def test_a_second_write_replaces_the_whole_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"a long first text")
    assert write_atomically(tmp_path / "f", b"short")
    assert (tmp_path / "f").read_bytes() == b"short"
    assert names(tmp_path) == ["f"]


def test_an_exclusive_write_leaves_what_is_there_alone(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "f", b"first", exclusive=True)
    assert not write_atomically(tmp_path / "f", b"second", exclusive=True)
    assert (tmp_path / "f").read_bytes() == b"first"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize(
    ("size", "first", "last"), [(0, b"", b""), (4, b"0123", b"6789"), (99, b"0123456789", b"0123456789")]
)
def test_a_bounded_read_gives_the_beginning_or_the_end(tmp_path: Path, size: int, first: bytes, last: bytes) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    assert read_bounded(tmp_path / "f", size) == first
    assert read_bounded(tmp_path / "f", size, from_end=True) == last
    assert read_bounded(tmp_path / "nothing", size) is None


def test_a_bounded_read_waits_for_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="no file"):
        read_bounded(tmp_path / "pipe", 10)
    for path in (Path("/dev/zero"), tmp_path):
        with pytest.raises(StoreError):
            read_bounded(path, 10)


@given(lines=st.lists(st.binary(max_size=PIECE_BYTES), max_size=8))
def test_pieces_are_whole_lines_and_give_the_file_back(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f")
        path.write_bytes(b"\n".join(lines))
        pieces = list(read_in_pieces(path))
    assert b"".join(pieces) == b"\n".join(lines)
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_a_file_that_is_not_there_has_no_pieces(tmp_path: Path) -> None:
    assert list(read_in_pieces(tmp_path / "nothing")) == []
    with pytest.raises(StoreError, match="directory"):
        list(read_in_pieces(tmp_path))


def test_a_link_in_a_circle_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").symlink_to(tmp_path / "MEMORY.md")
    with pytest.raises(StoreError, match="symbolic links"):
        read_if_there(own_file(tmp_path, "MEMORY.md"))


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("old", [None, b"old " * 500])
def test_a_kill_at_any_step_leaves_old_or_new(
    quick_path: Path, killed_at: Killer, old: bytes | None, exclusive: bool
) -> None:
    """O97, O99: never an empty file, never half of one."""
    new = b"new " * 500
    seen = set()
    for step in range(1, 50):
        path = quick_path / str(step) / "sub" / "f"
        if old is not None:
            write_atomically(path, old)
        was_killed = killed_at(step, partial(write_atomically, path, new, exclusive=exclusive))
        seen.add(read_if_there(path))
        if not was_killed:
            break
    assert not was_killed
    assert step > 5
    assert seen <= {old, new}
    assert old in seen
    assert (new in seen) == (old is None or not exclusive)


def _write(path: Path, text: bytes, won: "multiprocessing.Queue[bytes]") -> None:
    if write_atomically(path, text, exclusive=True):
        won.put(text)


def test_of_eight_exclusive_writers_one_wins(tmp_path: Path) -> None:
    """B39"""
    won: multiprocessing.Queue[bytes] = FORK.Queue()
    texts = [bytes([65 + n]) * 50_000 for n in range(8)]
    writers = [FORK.Process(target=_write, args=(tmp_path / "f", text, won)) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (tmp_path / "f").read_bytes() == won.get(timeout=5)
    assert won.empty()
    assert leftovers(tmp_path) == []


def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_behind(small_disk: Path) -> None:
    """C12"""
    write_atomically(small_disk / "f", b"old")
    with pytest.raises(StorageUnavailable, match="No space left on device; free some space"):
        write_atomically(small_disk / "f", b"x" * 1_000_000)
    assert (small_disk / "f").read_bytes() == b"old"
    assert leftovers(small_disk) == []


def test_a_file_size_limit_is_an_error_that_names_path_and_next_step(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(StorageUnavailable) as caught:
            write_atomically(tmp_path / "f", b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value) == (
        f"{tmp_path / 'f'}: File too large; files may not grow that large here: raise the limit and run it again"
    )
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO, errno.ENODEV, None])
def test_trouble_of_the_disk_is_worth_another_try(code: int | None) -> None:
    error = storage_error(Path("/w/f"), OSError(code, "bad luck") if code else OSError("bad luck"))
    assert isinstance(error, StorageUnavailable)
    assert str(error).startswith("/w/f: ")
    assert "\n" not in str(error)


def test_a_path_that_cannot_be_a_file_is_no_matter_of_waiting(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file" / "below", tmp_path / ("x" * 300)):
        with pytest.raises(StoreError):
            write_atomically(path, b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError):
        write_atomically(tmp_path / "folder", b"x")
    assert leftovers(tmp_path) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.binary(max_size=50), max_size=5))
def test_appends_come_one_behind_the_other(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("append") / "log"
    for piece in pieces:
        append_durably(path, piece)
    assert (read_if_there(path) or b"") == b"".join(pieces)


def test_unicode_names_and_a_linked_folder_are_paths_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "wörk 日本").mkdir()
    (tmp_path / "link").symlink_to("wörk 日本")
    write_atomically(tmp_path / "link" / "ü" / "f", b"x")
    assert (tmp_path / "wörk 日本" / "ü" / "f").read_bytes() == b"x"


def test_a_link_is_followed_inside_the_workspace_and_refused_when_it_leads_out(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    (workspace / "docs").mkdir(parents=True)
    (workspace / "MEMORY.md").symlink_to("docs/notes.md")
    (workspace / "HISTORY.md").symlink_to("../outside.txt")
    assert own_file(workspace, "MEMORY.md") == (workspace / "docs" / "notes.md").resolve()
    with pytest.raises(StoreError, match="leads out of the workspace"):
        own_file(workspace, "HISTORY.md")


def test_the_permissions_that_a_person_gave_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    (tmp_path / "f").chmod(0o644)
    assert permissions(tmp_path / "f") == 0o644
    assert permissions(tmp_path / "new") == 0o600
    write_atomically(tmp_path / "f", b"x", mode=0o644)
    assert permissions(tmp_path / "f") == 0o644


def test_the_sweep_takes_the_temporary_files_of_dead_writers_only(tmp_path: Path) -> None:
    """O93: nobody's unfinished work is cleaned up by another who is done."""
    old, young, foreign = (tmp_path / "s" / name for name in _temporary_names())
    for path in (old, young, foreign):
        write_atomically(path, b"x")
    for path in (old, foreign):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert sweep_temporary(tmp_path) == 1
    assert names(tmp_path / "s") == sorted([young.name, foreign.name])
    assert sweep_temporary(tmp_path / "missing") == 0


def _temporary_names() -> tuple[str, str, str]:
    return ".afterturn-7-0123456789abcdef.tmp", ".afterturn-8-0123456789abcdef.tmp", ".afterturn-mine.tmp"


def _hold(path: Path, ready: "multiprocessing.Queue[int]", seconds: float) -> None:
    with locked(path, wait_seconds=5):
        ready.put(1)
        time.sleep(seconds)


def test_a_lock_that_another_process_holds_is_waited_for_a_bounded_time(tmp_path: Path) -> None:
    ready: multiprocessing.Queue[int] = FORK.Queue()
    holder = FORK.Process(target=_hold, args=(tmp_path / "lock", ready, 30))
    holder.start()
    ready.get(timeout=5)
    with pytest.raises(SessionBusy, match="held by another process"), locked(tmp_path / "lock", wait_seconds=0.1):
        pass
    holder.kill()
    holder.join()
    with locked(tmp_path / "lock", wait_seconds=1):
        pass


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")
    assert read_if_there(tmp_path / "nothing") is None
