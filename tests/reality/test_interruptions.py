"""Killed, interrupted, raced, out of space: what was there stays, what is half done is finished by the next run.

A process that is killed is a real one: a child that ends itself at the n-th change it makes to the workspace, for every
n that there is.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from worker.core.checkpoint import Outcome
from worker.errors import StorageUnavailable
from worker.testing import ScriptedModel, part_answer

KILLED = 137
CHANGES = frozenset({"os.rename", "os.link", "os.remove", "os.mkdir", "os.truncate"})
"""Audit events of a change on disk; opening for writing is one more."""


def in_a_child(work: Callable[[], object]) -> int:
    """The exit code of a forked process that does the work: 0, or that with which it ended itself; 1 for an error."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child tells by its exit code
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at_change(number: int, folder: Path) -> None:
    """Ends this process, as kill -9 would, just before its n-th change below the folder."""
    changes = count(1)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if is_change(event, arguments) and str(arguments[0]).startswith(str(folder)) and next(changes) == number:
            os._exit(KILLED)

    sys.addaudithook(hook)


def is_change(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "open":
        path, _, flags = arguments
        return isinstance(path, str) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    return event in CHANGES


@pytest.fixture
def long_afternoon(afternoon: Any) -> Any:
    """With an output that becomes an artifact."""
    afternoon.bash("make logs", "\n".join(f"line {number}: level {number * 37}" for number in range(2_500)))
    afternoon.assistant("The logs are long.")
    return afternoon


def test_killed_at_any_change_the_next_run_finishes_and_doubles_nothing(
    desk: Any, long_afternoon: Any, tmp_path: Path
) -> None:
    """T17 O36 O97 B22 B36"""
    desk.run(long_afternoon)
    expected = contents(desk)
    for number in count(1):
        killed = replace(desk, root=tmp_path / f"killed-{number}")

        def run(number: int = number, killed: Any = killed) -> None:
            die_at_change(number, killed.root)
            killed.run(long_afternoon)

        code = in_a_child(run)
        assert code in (0, KILLED)
        again = killed.run(long_afternoon)
        assert again.outcome in (Outcome.COMMITTED, Outcome.NOTHING_TO_DO)
        assert contents(killed) == expected, number
        assert killed.problems() == []
        if code == 0:
            break
    assert number > 10


def contents(desk: Any) -> dict[str, int]:
    """What is kept, and how often; the time of a checkpoint and what follows from it is left out."""
    history = (desk.root / "HISTORY.md").read_text("utf-8")
    (checkpoint,) = desk.chain()
    assert len(re.findall(r"^## \[", history, re.MULTILINE)) == 1
    bullets = [line for line in (desk.root / "MEMORY.md").read_text("utf-8").splitlines() if line.startswith("- ")]
    names = [path.name for path in desk.kept() if path.suffix != ".tmp"]
    return Counter([*names, *(bullet.partition("<!--")[0] for bullet in bullets), str(checkpoint.summary)])


def test_of_two_runs_at_once_one_commits_and_the_other_gives_way(desk: Any, afternoon: Any) -> None:
    """B40 B22: both have read, asked and are about to commit; the chain holds one of them."""
    both = get_context("fork").Barrier(2)

    def answer(_: object) -> str:
        both.wait(timeout=20)
        return part_answer()

    context = get_context("fork")
    outcomes = context.SimpleQueue()

    def run() -> None:
        outcomes.put(desk.run(afternoon, model=ScriptedModel(otherwise=answer)).outcome.value)

    runs = [context.Process(target=run) for _ in range(2)]
    for each in runs:
        each.start()
    for each in runs:
        each.join(timeout=30)
    assert sorted([outcomes.get(), outcomes.get()]) == ["committed", "superseded"]
    assert [checkpoint.number for checkpoint in desk.chain()] == [1]
    assert desk.problems() == []
    assert desk.run(afternoon).outcome == "nothing_to_do"


def test_a_disk_that_takes_no_more_leaves_nothing_behind_and_the_next_run_finishes_c12(
    desk: Any, afternoon: Any
) -> None:
    def run() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
        try:
            desk.run(afternoon)
        except StorageUnavailable as exc:
            os._exit(exc.exit_code)

    assert in_a_child(run) == 4
    assert desk.chain() == []
    assert desk.kept() == []
    desk.run(afternoon)
    assert desk.problems() == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_file_system_is_told_and_what_was_kept_stays_c12(small_disk: Path, desk: Any, new_session: Any) -> None:
    full = replace(desk, root=small_disk / "workspace")
    session = new_session().turn("orders")
    full.run(session)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (free_bytes(small_disk) - 4_096))
    session.turn("billing")
    before = [path.read_bytes() for path in full.kept()]
    with pytest.raises(StorageUnavailable, match="free some space"):
        full.run(session)
    assert [path.read_bytes() for path in full.kept()] == before
    full.check_that_nothing_leaked()
    ballast.unlink()
    assert full.run(session).checkpoint == 2
    assert full.problems() == []


def test_a_file_system_that_is_read_only_is_told_and_the_next_run_finishes_c12(
    small_disk: Path, desk: Any, new_session: Any
) -> None:
    locked = replace(desk, root=small_disk / "workspace")
    session = new_session().turn("orders")
    locked.run(session)
    session.turn("billing")
    before = locked.bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StorageUnavailable, match="writable"):
        locked.run(session)
    assert locked.bytes() == before
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert locked.run(session).checkpoint == 2
    assert locked.problems() == []


def free_bytes(folder: Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_bsize


@pytest.mark.xdist_group("litellm")
def test_ctrl_c_while_the_provider_hangs_ends_at_once_with_130_and_leaves_nothing(
    provider: Any, online: Any, afternoon: Any, subprocess_environment: Any
) -> None:
    """F14 J14"""
    provider.otherwise = lambda _: provider.hangs()
    before = afternoon.path.read_bytes()
    environment = {**subprocess_environment, **online.variables, "AFTERTURN_LLM_TIMEOUT_SECONDS": "300"}
    command = [sys.executable, "-m", "worker", "run", str(afternoon.path), "--all"]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background ignores it
    )
    deadline = time.monotonic() + 90
    while not provider.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)  # far below what the provider is waited for
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "afterturn: interrupted; everything is as it was"
    assert online.kept() == []
    assert afternoon.path.read_bytes() == before
    assert online.run(afternoon, model=ScriptedModel(otherwise=part_answer())).status == "ok"
