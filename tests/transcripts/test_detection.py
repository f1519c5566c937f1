import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.errors import TranscriptError
from worker.transcripts import open_transcript

Write = Callable[..., Path]
USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "x"}}, "claude-code"),
        ({"type": "session_meta", "payload": {"id": "x"}}, "codex"),
        ({"type": "session", "version": 3, "id": "x"}, "pi"),
        ({"_type": "metadata", "key": "k"}, "nanobot"),
        (USER, "openai"),
        ({**USER, "timestamp": "2026-01-01T00:00:00Z"}, "afterturn"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "anthropic"),
        ({"sessionId": "s", "projectHash": "p", "messages": []}, "gemini-cli"),
        ({"messages": [USER]}, "openai"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "x.jsonl.deleted.1769", "full.jsonl", "noname"])
def test_the_content_decides_and_the_name_does_not(write: Write, row: Any, expected: str, name: str) -> None:
    for opening in (b"", b"\xef\xbb\xbf", b"\n\n"):
        path = write(opening + json.dumps(row).encode(), name)
        assert open_transcript(path).info.format == expected


@pytest.mark.parametrize("torn", [b'"oken":1}', b'{"type":"session","ver', b"\x00\x00\x00", b"]", b"garbage"])
def test_a_torn_first_line_does_not_hide_the_format_o96(write: Write, torn: bytes) -> None:
    row = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hi"}}
    path = write([torn + b"\n", row])
    before = path.read_bytes()
    transcript = open_transcript(path)
    assert transcript.info.format == "claude-code"
    assert [message.text for message in transcript.read()] == ["hi"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \n\r\n\x00\x00", "empty"),
        (b"%PDF-1.7\n%...", "PDF"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd"),
        (b"\x7fELF\x00\x00\x01", "binary"),
        (bytes(range(128, 256)) * 10, "binary"),
        ("{".encode("utf-16"), "binary"),
        (b"# HISTORY\n\n[2026-01-01] hello\n", "known format"),
        (b'{"a": 1}\n{"b": 2}\n', "known format"),
        (b"[1, 2, 3]", "no messages"),
        (b'[{"role": "user", "content": "cut of', "cut off"),
        (b'{\n  "messages": [\n', "cut off"),
        (b"{}", "known format"),
    ],
)
def test_what_is_no_transcript_is_refused_in_one_line(write: Write, content: bytes, reason: str) -> None:
    path = write(content)
    with pytest.raises(TranscriptError) as refused:
        open_transcript(path)
    assert reason in str(refused.value)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_directory_are_refused_in_one_line_t03(tmp_path: Path) -> None:
    for path, reason in [
        (tmp_path / "gone.jsonl", "no such file"),
        (tmp_path, "directory"),
        (Path("a\x00b"), "opened"),
    ]:
        with pytest.raises(TranscriptError, match=reason):
            open_transcript(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TranscriptError, match="pipe"):
        open_transcript(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(write: Write) -> None:
    path = write([USER])
    path.chmod(0)
    with pytest.raises(TranscriptError, match="permission"):
        open_transcript(path)


def test_a_file_of_one_row_beyond_the_limit_is_refused(write: Write) -> None:
    path = write([{"role": "user", "content": "x" * 5000}])
    with pytest.raises(TranscriptError, match="longer than 1000 bytes"):
        open_transcript(path, max_row_bytes=1000)


def test_a_row_beyond_the_limit_among_others_is_counted(write: Write) -> None:
    path = write([{"role": "user", "content": "x" * 5000}, USER])
    reading = open_transcript(path, max_row_bytes=1000).read()
    assert [message.text for message in reading] == ["hi"]
    assert reading.skipped == {"row_too_long": 1}


def test_only_the_head_and_the_tail_are_looked_at(write: Write) -> None:
    rows = [{"role": "user", "content": "x" * 900} for _ in range(5000)]
    foreign = {"type": "session_meta", "payload": {"id": "in the middle"}}
    assert open_transcript(write([*rows[:2500], foreign, *rows[2500:]])).info.format == "openai"
