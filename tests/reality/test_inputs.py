"""What people hand to `afterturn run`: every bad file ends in one line and an exit code, and nothing is ever written to
a transcript, good or bad.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from worker import cli
from worker.errors import TranscriptError

HUGE_BYTES = 2**29


def write_huge_line(path: Path) -> None:
    """A JSON string without end: half a gigabyte that takes no room on disk."""
    with path.open("wb") as stream:
        stream.write(b'{"type":"user","message":"')
        stream.truncate(HUGE_BYTES)


BAD_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "no such file"),
    "a directory": (lambda path: path.mkdir(), "is a directory"),
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "blank lines": (lambda path: path.write_bytes(b"\n\n  \n"), "empty"),
    "binary": (lambda path: path.write_bytes(bytes(range(256)) * 40), "binary"),
    "a PDF": (lambda path: path.write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\n" * 50), ""),
    "prose": (lambda path: path.write_text("Dear diary,\ntoday we shipped.\n"), "known format"),
    "another JSON": (lambda path: path.write_text(json.dumps({"name": "x", "version": 1})), "known"),
    "a CSV": (lambda path: path.write_text("a,b\n1,2\n"), "known format"),
    "one line of half a gigabyte": (write_huge_line, ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def afterturn(desk: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., Ended]:
    """The command line in this process, in the workspace of the test."""
    for name, value in desk.variables.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object) -> Ended:
        code = cli._run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code=code, out=out, err=err)

    return run


@pytest.mark.parametrize(("write", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_ends_in_one_line_and_writes_nothing(
    write: Callable[[Path], object], words: str, afterturn: Callable[..., Ended], desk: Any, tmp_path: Path
) -> None:
    """T03 O95 O41"""
    path = tmp_path / "session.jsonl"
    write(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = afterturn("run", path)
    assert (ended.code, ended.out) == (3, "")
    (line,) = ended.err.splitlines()
    assert line.startswith(f"afterturn: {path}: ")
    assert words in line.lower() or words in line
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000  # kilobytes: some 64 MB rows
    assert desk.files() == []


def test_a_bad_file_is_told_in_the_promised_object_too(afterturn: Callable[..., Ended], tmp_path: Path) -> None:
    ended = afterturn("run", tmp_path / "missing.jsonl", "--json")
    told = json.loads(ended.out)
    assert (told["outcome"], told["reason"]) == ("failed", "transcript_error")
    assert told["error"] in ended.err


def test_a_file_that_may_not_be_read_is_told(desk: Any, afternoon: Any, tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root may read everything")
    afternoon.path.chmod(0)
    with pytest.raises(TranscriptError):
        desk.run(afternoon)
    assert desk.files() == []


def test_a_workspace_that_may_not_be_written_is_told(
    afterturn: Callable[..., Ended], afternoon: Any, tmp_path: Path
) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_bytes(b"mine")
    ended = afterturn("run", afternoon.path, "--all", "--workspace", blocked / "workspace")
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)
    assert str(blocked) in ended.err
    assert blocked.read_bytes() == b"mine"


def test_a_good_file_that_grows_is_consolidated_shown_and_verified(
    afterturn: Callable[..., Ended], afternoon: Any
) -> None:
    first = json.loads(afterturn("run", afternoon.path, "--all", "--json").out)
    assert (first["outcome"], first["status"], first["range"]) == ("committed", "deterministic", [0, 19])
    again = json.loads(afterturn("run", afternoon.path, "--all", "--json").out)
    assert (again["outcome"], again["reason"]) == ("nothing_to_do", "nothing_new")
    assert afternoon.rule in afterturn("show", first["session"]).out
    assert afterturn("verify").code == 0


# Transcripts are only ever read.


def test_a_transcript_is_never_opened_for_writing(desk: Any, afternoon: Any) -> None:
    """T05 T22: seen by the interpreter, which tells every open, rename and removal before it happens."""
    touched: list[tuple[str, Any]] = []
    watching = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and arguments and str(arguments[0]) == str(afternoon.path):
            touched.append((event, arguments[2] if event == "open" else None))

    sys.addaudithook(watch)
    desk.run(afternoon)
    afternoon_problems = desk.problems()
    watching = False
    assert afternoon_problems == []
    assert touched
    assert {event for event, _ in touched} <= {"open", "os.stat", "os.listxattr"}
    assert not any(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) for _, flags in touched if flags)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_system_call_writes_to_a_transcript(
    desk: Any, afternoon: Any, tmp_path: Path, subprocess_environment: Any
) -> None:
    """T05 T22: seen by the kernel, for the whole process and its threads."""
    before = afternoon.path.stat()
    trace = tmp_path / "trace"
    calls = "open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,truncate,link,linkat,chmod,fchmodat,utimensat"
    strace = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={calls}"]
    command = [sys.executable, "-m", "worker", "run", str(afternoon.path), "--all"]
    environment = {**subprocess_environment, **desk.variables}
    ended = subprocess.run([*strace, *command], env=environment, check=False, capture_output=True, text=True)
    if "ptrace" in ended.stderr:
        pytest.skip("this machine lets nobody trace")
    assert ended.returncode == 0, ended.stderr
    lines = [line for line in trace.read_text("utf-8", "replace").splitlines() if str(afternoon.path) in line]
    assert lines
    assert all("open" in line and "O_RDONLY" in line for line in lines), lines
    after = afternoon.path.stat()
    assert (after.st_mtime_ns, after.st_mode, after.st_ino) == (before.st_mtime_ns, before.st_mode, before.st_ino)
    assert len(desk.chain()) == 1


# What a provider does to the command.


@pytest.mark.xdist_group("litellm")
@pytest.mark.parametrize(
    ("status", "options", "code", "words"),
    [
        (401, (), 3, "check AFTERTURN_API_KEY"),
        (503, ("--require-model",), 4, "try again later"),
        (503, (), 0, ""),
    ],
    ids=["a wrong key", "down and required", "down"],
)
def test_the_exit_code_tells_what_the_provider_did(
    status: int,
    options: tuple[str, ...],
    code: int,
    words: str,
    provider: Any,
    online: Any,
    afternoon: Any,
    afterturn: Callable[..., Ended],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {**online.variables, "AFTERTURN_LLM_RETRIES": "0"}.items():
        monkeypatch.setenv(name, value)
    provider.otherwise = lambda _: provider.fails(status, "no such luck")
    ended = afterturn("run", afternoon.path, "--all", *options)
    assert ended.code == code
    assert words in ended.err
    assert len(ended.err.splitlines()) == (1 if code else 0)
    assert online.environment["AFTERTURN_API_KEY"] not in ended.out + ended.err
    assert bool(online.kept()) is (code == 0)
