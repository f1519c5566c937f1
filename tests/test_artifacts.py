"""Tool outputs that were kept whole: found by the beginning of a handle, checked, and read piece by piece."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worker.adapters import line_search
from worker.adapters.artifact_files import OriginalChanged, open_artifact
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.artifacts import OriginalExpired, OriginalMissing, find, inspect, read, read_lines, search, whole
from worker.config import Settings
from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.ledger import Ledger
from worker.core.summary import Artifact, Summary
from worker.errors import UsageError

SESSION = "claude-code--0f3a"
Keep = Callable[..., str]


def artifact(data: bytes, message: str = "m3") -> Artifact:
    return Artifact(
        handle=hashlib.sha256(data).hexdigest(),
        message=message,
        tool="Bash",
        media_type="text/plain",
        chars=len(data),
        lines=data.count(b"\n") + 1,
        size=len(data),
        preview=data[:40].decode("utf-8", "replace"),
        created=datetime(2026, 11, 1, 6, 0, tzinfo=UTC),
        call="npm test",
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def keep(workspace: Path) -> Keep:
    """Stores bytes, any bytes, as an artifact; gives the handle."""

    def store(data: bytes, session: str = SESSION) -> str:
        one = artifact(data)
        path = FileArtifacts(workspace).path(session, one.handle)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        FileArtifacts(workspace).put(session, "", replace(one, handle=hashlib.sha256(b"").hexdigest()))
        empty = path.with_name(f"{hashlib.sha256(b'').hexdigest()}.json")
        path.with_suffix(".json").write_bytes(empty.read_bytes().replace(empty.stem.encode(), one.handle.encode()))
        if data:
            FileArtifacts(workspace).remove(session, empty.stem)
        return one.handle

    return store


def commit(workspace: Path, number: int, *, parent: str | None, named: tuple[Artifact, ...], replaces: bool) -> str:
    checkpoint = Checkpoint(
        number=number,
        parent=parent,
        created_at=datetime(2026, 11, 1, 6, number, tzinfo=UTC),
        session=SessionRef(key=SESSION, agent="claude-code", id="0f3a", source="s.jsonl"),
        range=SourceRange(start=0, end=10, sha256="0" * 64),
        covered=10,
        status=Status.OK,
        summary=Summary(artifacts=named),
        ledger=Ledger(),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=10,
        tokens_after=5,
        cursor=Cursor(format="plain", index=10),
        replaces=(1,) if replaces else (),
    )
    stored = FileCheckpoints(workspace).commit(checkpoint)
    assert stored
    return stored.id


def afterturn(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "worker", "artifact", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


# Lines, bytes, patterns.


def test_lines_come_as_they_are_and_say_what_is_left(keep: Keep, workspace: Path) -> None:
    handle = keep("".join(f"line {n} 日本\n" for n in range(1, 501)).encode())
    part = read(handle, lines="120:180", workspace=workspace)
    assert part.text.split("\n") == [f"line {n} 日本" for n in range(120, 181)]
    assert (part.start, part.end, part.total_lines, part.left) == (120, 180, 500, 0)
    first = read(handle, workspace=workspace)
    assert (first.end, first.left, first.next) == (200, 300, "--lines 201:500")
    assert first.further() == "… 300 more lines: --lines 201:500"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb\r\nc", ["a", "b", "c"]),
        (b"a\nb\n", ["a", "b"]),
        (b"\n\n", ["", ""]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xff\xfe\x00\n\x80", ["\\xff\\xfe\x00", "\\x80"]),
        (b"", []),
    ],
)
def test_line_ends_and_bytes_of_any_kind(keep: Keep, workspace: Path, data: bytes, lines: list[str]) -> None:
    part = read(keep(data), workspace=workspace)
    assert [line.text for line in part.lines] == lines
    assert part.total_lines == len(lines)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=400).map(lambda data: data.replace(b"\r", b"\n")),
    first=st.integers(1, 8),
    more=st.integers(0, 8),
)
def test_the_lines_are_those_of_the_file(keep: Keep, workspace: Path, data: bytes, first: int, more: int) -> None:
    every = data.removesuffix(b"\n").split(b"\n") if data else []
    handle = keep(data)
    with open_artifact(FileArtifacts(workspace).path(SESSION, handle), handle) as file:
        shown = [line.text for line in file.read_lines(first - 1, min(first + more, file.lines))]
        assert file.lines == len(every)
    assert shown == [line.decode("utf-8", "backslashreplace") for line in every[first - 1 : first + more]]


def test_lines_are_found_behind_any_block(keep: Keep, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.adapters.artifact_files.BLOCK_BYTES", 64)
    handle = keep(b"".join(b"%d" % n + b"x" * (n % 150) + b"\n" for n in range(300)))
    for number in (1, 2, 63, 64, 65, 299, 300):
        part = read(handle, lines=str(number), workspace=workspace)
        assert part.text == f"{number - 1}" + "x" * ((number - 1) % 150)


def test_bytes_keep_to_the_range_even_inside_a_character(keep: Keep, workspace: Path) -> None:
    handle = keep("日本語".encode())
    part = read(handle, byte_range="1:6", workspace=workspace)
    assert part.data == "日本語".encode()[1:6]
    assert part.text == "\\x97\\xa5本"


@pytest.mark.parametrize("lines", ["4:9", "-0:"])
def test_a_range_behind_the_end_says_how_long_it_is(keep: Keep, workspace: Path, lines: str) -> None:
    handle = keep(b"a\nb\nc\n")
    with pytest.raises(UsageError, match=r"it has 3 lines|first line is 1"):
        read(handle, lines=lines, workspace=workspace)
    assert read(handle, lines="3:9", workspace=workspace).text == "c"
    with pytest.raises(UsageError, match="it has 6 bytes"):
        read(handle, byte_range="6:8", workspace=workspace)


def test_a_pattern_finds_its_lines_with_what_stands_around(keep: Keep, workspace: Path) -> None:
    handle = keep("".join(f"row {n}\n" for n in range(1, 31)).encode() + "ERREUR: détruit\r\n".encode())
    part = read(handle, grep=r"row (7|9|20)$", context=1, workspace=workspace)
    assert part.text.split("\n") == [
        *["6-row 6", "7:row 7", "8-row 8", "9:row 9", "10-row 10"],
        *["--", "19-row 19", "20:row 20", "21-row 21"],
    ]
    assert (part.matches, part.left) == (3, 0)
    assert read(handle, grep="détruit$", workspace=workspace).text == "31:ERREUR: détruit"
    assert read(handle, grep="erreur", ignore_case=True, workspace=workspace).matches == 1
    assert read(handle, grep="row (", fixed=True, workspace=workspace).matches == 0
    assert read(handle, grep="nothing", workspace=workspace).text == ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(
    rows=st.lists(st.sampled_from(["hit", "a", "b hit", ""]), max_size=25),
    context=st.integers(0, 4),
    limit=st.integers(1, 5),
)
def test_every_shown_line_is_once_there_and_verbatim(
    keep: Keep, workspace: Path, rows: list[str], context: int, limit: int
) -> None:
    handle = keep("".join(f"{row}\n" for row in rows).encode())
    part = read(handle, grep="hit", context=context, limit=limit, workspace=workspace)
    matching = [at + 1 for at, row in enumerate(rows) if "hit" in row]
    near = {n for at in matching[:limit] for n in range(at - context, at + context + 1) if 1 <= n <= len(rows)}
    assert [line.number for line in part.lines] == sorted(near)
    assert all(line.text == rows[line.number - 1] for line in part.lines)
    assert part.matches == len(matching)
    assert part.left == max(0, len(matching) - limit)


def test_a_match_far_inside_a_long_line_is_in_sight(keep: Keep, workspace: Path) -> None:
    long = "é" * 900_000 + "NEEDLE" + "語" * 700_000
    handle = keep(f"short\n{long}\nlast NEEDLE".encode())
    part = read(handle, grep="NEEDLE", workspace=workspace)
    assert [line.number for line in part.lines] == [2, 3]
    line = part.lines[0]
    assert "NEEDLE語" in line.text
    assert line.before + len(line.text.encode()) + line.behind == len(long.encode())
    assert "more bytes of this line" in part.text
    here = read(handle, byte_range=f"{line.at}:{line.at + 20}", workspace=workspace)
    assert here.text == line.text[:10]


def test_anchors_hold_for_lines_and_not_for_windows(keep: Keep, workspace: Path) -> None:
    handle = keep(b"a" * 3_000_000 + b"b\n")
    assert read(handle, grep="a$", workspace=workspace).matches == 0
    assert read(handle, grep="^b", workspace=workspace).matches == 0
    assert read(handle, grep="b$", workspace=workspace).matches == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(
    rows=st.lists(st.sampled_from(["hit one", "a", "one hit", "", "ab", "x" * 40, "hit\r"]), max_size=30),
    pattern=st.sampled_from(
        ["hit", "^hit", "hit$", r"hit\s", r"hit(?!\s)", "[^x]+", "a|b", "hit[^z]*+one", r"\Aa", "zz"]
    ),
    context=st.integers(0, 3),
    window=st.integers(1, 60),
)
def test_a_search_by_blocks_finds_what_a_search_by_lines_finds(
    rows: list[str], pattern: str, context: int, window: int
) -> None:
    data = "".join(f"{row}\n" for row in rows).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "WINDOW_BYTES", max(window, 45))
        patch.setattr(line_search, "OVERLAP_BYTES", 4)
        compiled = re.compile(pattern)
        found = list(line_search.search(io.BytesIO(data), compiled, context=context, awake=lambda: None))
    lines = [line.rstrip("\r") for line in rows]
    assert [row[0] for row in found] == [at + 1 for at, line in enumerate(lines) if compiled.search(line)]
    starts = [0, *accumulate(len(f"{row}\n".encode()) for row in rows)]
    for number, offset, first, first_offset, *_ in found:
        assert offset == starts[number - 1]
        assert (first, first_offset) == (max(1, number - context), starts[max(1, number - context) - 1])


def test_a_pattern_that_never_ends_is_stopped(keep: Keep, workspace: Path) -> None:
    handle = keep(b"a" * 60 + b"!\n")
    found = find(Settings(workspace=workspace), handle)
    with pytest.raises(UsageError, match="nested repeats"):
        search(found, "(a+)+$", seconds=0.3)
    assert search(found, "a+").matches == 1


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "a{3,1}", "\x00"])
def test_a_pattern_that_is_none_is_refused(keep: Keep, workspace: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="pattern"):
        read(keep(b"x"), grep=pattern, workspace=workspace)


def test_a_large_file_is_not_held(keep: Keep, workspace: Path) -> None:
    row = b"0123456789abcdef " * 6 + b"\n"
    handle = keep(row * 320_000)
    found = find(Settings(workspace=workspace), handle)
    tracemalloc.start()
    assert read_lines(found, "300000:300002").end == 300_002
    assert search(found, "f 0", limit=3).matches == 320_000
    assert sum(map(len, whole(found))) == 320_000 * len(row)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2**20


# Which one, and whether it is still what it was.


def test_the_beginning_of_a_handle_in_any_dress_is_enough(keep: Keep, workspace: Path) -> None:
    handle = keep(b"some text")
    dresses = [handle, handle[:16], handle[:4].upper(), f"sha256:{handle[:12]}…", f"[artifact {handle}: 1 lines"]
    for named in dresses:
        assert find(Settings(workspace=workspace), named).handle == handle


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(length=st.integers(4, 64), texts=st.sets(st.integers(0, 400), min_size=1, max_size=12))
def test_a_prefix_names_what_begins_so_or_is_refused_with_the_candidates(
    workspace: Path, keep: Keep, length: int, texts: set[int]
) -> None:
    handles = sorted(keep(b"%d" % text) for text in texts)
    kept = FileArtifacts(workspace).handles(SESSION)
    for handle in handles:
        same = [other for other in kept if other.startswith(handle[:length])]
        if len(same) == 1:
            assert find(Settings(workspace=workspace), handle[:length]).handle == handle
        else:
            with pytest.raises(UsageError, match=f"names {len(same)} artifacts"):
                find(Settings(workspace=workspace), handle[:length])


def test_several_that_begin_alike_are_named(keep: Keep, workspace: Path) -> None:
    first = keep(b"one")
    other = FileArtifacts(workspace).path(SESSION, first[:8] + "0" * 56)
    other.write_bytes(b"two")
    with pytest.raises(UsageError) as caught:
        find(Settings(workspace=workspace), first[:8])
    assert first[:16] in str(caught.value)
    assert "Bash m3" in str(caught.value)


@pytest.mark.parametrize("named", ["", "12", "xyz1", "../../etc/passwd", "a" * 65])
def test_what_is_no_handle_is_refused(workspace: Path, named: str) -> None:
    with pytest.raises(UsageError, match="no artifact handle"):
        find(Settings(workspace=workspace), named)


def test_the_same_text_of_two_sessions_is_one_artifact(keep: Keep, workspace: Path) -> None:
    handle = keep(b"same")
    assert keep(b"same", "claude-code--ffff") == handle
    FileArtifacts(workspace).path(SESSION, handle).unlink()
    assert find(Settings(workspace=workspace), handle[:8]).session == "claude-code--ffff"


def test_an_original_that_changed_is_not_shown(keep: Keep, workspace: Path) -> None:
    handle = keep(b"true\n")
    FileArtifacts(workspace).path(SESSION, handle).write_bytes(b"fake\n")
    for reading in (
        lambda: read(handle, workspace=workspace),
        lambda: inspect(find(Settings(workspace=workspace), handle)),
        lambda: list(whole(find(Settings(workspace=workspace), handle))),
    ):
        with pytest.raises(OriginalChanged, match="the original changed"):
            reading()
    done = afterturn(handle[:8], "-w", str(workspace), "--json")
    assert done.returncode == 5
    assert json.loads(done.stdout)["reason"] == "original_changed"
    assert b"fake" not in done.stdout


def test_a_description_without_its_text_says_what_it_was(keep: Keep, workspace: Path) -> None:
    handle = keep(b"text")
    FileArtifacts(workspace).path(SESSION, handle).unlink()
    with pytest.raises(OriginalMissing, match=r"text is gone.*Bash output of m3, 4 bytes"):
        read(handle[:8], workspace=workspace)
    assert afterturn(handle[:8], "-w", str(workspace)).returncode == 3


def test_a_text_without_its_description_is_read(keep: Keep, workspace: Path) -> None:
    handle = keep(b"text")
    path = FileArtifacts(workspace).path(SESSION, handle).with_suffix(".json")
    for damaged in (True, False):
        path.write_bytes(b"{") if damaged else path.unlink()
        assert read(handle[:8], workspace=workspace).text == "text"
        assert "missing or damaged" in "\n".join(inspect(find(Settings(workspace=workspace), handle)).as_lines())


def test_one_that_a_checkpoint_names_and_nobody_has(keep: Keep, workspace: Path) -> None:
    handle = keep(b"text")
    commit(workspace, 1, parent=None, named=(artifact(b"text"),), replaces=False)
    FileArtifacts(workspace).remove(SESSION, handle)
    with pytest.raises(OriginalMissing, match=r"checkpoint 1 of claude-code/0f3a names it"):
        read(handle[:8], workspace=workspace)


def test_one_that_retention_took_says_so(keep: Keep, workspace: Path) -> None:
    handle = keep(b"text")
    first = commit(workspace, 1, parent=None, named=(artifact(b"text"),), replaces=False)
    commit(workspace, 2, parent=first, named=(), replaces=True)
    FileArtifacts(workspace).remove(SESSION, handle)
    with pytest.raises(OriginalExpired, match=r"retention \(AFTERTURN_ARTIFACT_DAYS=30\)"):
        read(handle[:8], workspace=workspace)


def test_one_of_a_forgotten_session_is_unknown_and_the_session_is_named(workspace: Path) -> None:
    record = workspace / ".afterturn" / "forgotten" / f"{SESSION}.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    with pytest.raises(UsageError, match=r"no artifact abcd1234 is kept here; forgotten sessions .*claude-code/0f3a"):
        read("abcd1234", workspace=workspace)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_one_that_may_not_be_read_is_tried_later(keep: Keep, workspace: Path) -> None:
    handle = keep(b"text")
    FileArtifacts(workspace).path(SESSION, handle).chmod(0)
    assert afterturn(handle[:8], "-w", str(workspace)).returncode == 4


# The command.


def test_the_command_prints_lines_on_stdout_and_the_rest_on_stderr(keep: Keep, workspace: Path) -> None:
    handle = keep(b"a\x1b[31m\nb\nc\n")
    done = afterturn(handle[:8], "--limit", "2", "-w", str(workspace))
    assert done.stdout == "a\x1b[31m\nb\n… 1 more line: --lines 3:3\n".encode()
    assert done.stderr == f"{handle[:16]}: lines 1–2 of 3\n".encode()


def test_a_pipe_gets_every_byte(keep: Keep, workspace: Path) -> None:
    data = bytes(range(256)) * 3_000
    handle = keep(data)
    assert afterturn(handle, "--whole", "-w", str(workspace)).stdout == data
    assert afterturn(handle, "--bytes", "250:260", "-w", str(workspace)).stdout == data[250:260]


def test_a_terminal_gets_no_escape(keep: Keep, workspace: Path) -> None:
    pty = pytest.importorskip("pty")
    handle = keep(b"a\x1b]0;owned\x07b\n")
    for choice in ([], ["--whole"], ["--grep", "a"], ["--bytes", "0:"]):
        primary, secondary = pty.openpty()
        command = [sys.executable, "-m", "worker", "artifact", handle, *choice, "-w", str(workspace)]
        subprocess.run(command, stdout=secondary, stderr=subprocess.DEVNULL, timeout=60, check=True)
        os.close(secondary)
        assert b"a\\x1b]0;owned\\x07b" in os.read(primary, 1_000)
        os.close(primary)


def test_json_is_one_object_with_the_documented_fields(keep: Keep, workspace: Path) -> None:
    handle = keep(b"a\nb\nc\n")
    told = json.loads(afterturn(handle, "--grep", "b", "-C", "1", "--json", "-w", str(workspace)).stdout)
    documented = "handle session size total_lines start end matches lines text left next"
    assert set(documented.split()) <= told.keys()
    assert told["text"] == "1-a\n2:b\n3-c"
    told = json.loads(afterturn(handle, "--info", "--json", "-w", str(workspace)).stdout)
    assert (told["tool"], told["call"], told["size"]) == ("Bash", "npm test", 6)


def test_two_choices_at_once_are_refused(keep: Keep, workspace: Path) -> None:
    done = afterturn(keep(b"x"), "--lines", "1", "--grep", "x", "-w", str(workspace))
    assert done.returncode == 2
    assert b"choose one of" in done.stderr
