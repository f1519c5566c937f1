"""Traps of recorded sessions that belong to no single field; TRAPS.md tells of every trap where it is tested."""

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.core.identifiers import find_identifiers
from worker.transcripts import cursor_behind, open_transcript
from worker.transcripts.detection import HEAD_BYTES, OPENING_BYTES

TESTS = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("TRAPS.md")
MEGABYTE = 2**20
META = {"type": "session_meta", "payload": {"id": "019-abc", "cwd": "/home/dana/app"}}
PI_HEADER = {"type": "session", "version": 3, "id": "5e55", "timestamp": "2026-01-23T03:00:00.000Z", "cwd": "/app"}

Read = Callable[..., Any]
Write = Callable[..., Path]


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-23T03:00:00.000Z", "type": "response_item", "payload": payload}


# Lines and bytes.


@pytest.mark.parametrize("where", ["first", "in the middle", "last"])
def test_a_row_of_more_than_a_megabyte_is_read_and_named_wherever_it_stands(
    write: Write, claude: Any, where: str
) -> None:
    assert HEAD_BYTES > OPENING_BYTES
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 400_000}}
    rows = [claude.user("look"), claude.calls("t1"), claude.user("go on"), claude.says("done")]
    at = {"first": 0, "in the middle": 2, "last": len(rows)}[where]
    rows.insert(at, claude.user([{"type": "text", "text": "see the picture"}, picture]))
    path = write(rows)
    assert path.stat().st_size > MEGABYTE
    transcript = open_transcript(path)
    assert (transcript.info.session_id, transcript.info.cwd) == ("5e5510", "/home/dana/app")
    whole = list(transcript.read())
    assert (len(whole), whole[at].text, whole[at].attachments[0].size) == (5, "see the picture", 1_200_000)
    for cut in range(1, 6):
        assert list(transcript.read(cursor_behind(whole[:cut], transcript.info))) == whole[cut:]


def test_a_markdown_log_of_many_sessions_is_refused(write: Write) -> None:
    log = (
        "notes before any session\n\n# aider chat started at 2024-08-09 10:21:11\n\n#### rename it\n\n> Applied edit\n"
    )
    with pytest.raises(Exception, match="known format"):
        open_transcript(write(log.encode() * 50, ".aider.chat.history.md"))


# Claude Code.


def test_the_rows_of_one_response_keep_their_id_with_results_between_them(read: Read, claude: Any) -> None:
    usage = {"message_id": "msg_1"}
    found = read(
        [
            claude.user("go"),
            claude.says("I look at both.", **usage),
            claude.calls("t1", **usage),
            claude.result("t1"),
            claude.calls("t2", **usage),
            claude.result("t2"),
        ]
    )
    assert [message.response_id for message in found.messages] == [None, "msg_1", "msg_1", None, "msg_1", None]


def test_what_a_compaction_cut_off_in_the_tree_is_still_read_in_file_order(read: Read, claude: Any) -> None:
    """The boundary has no parent, and the rows that say what was emptied are no messages."""
    emptied = {"trigger": "auto", "compactedToolIds": ["t1"]}
    found = read(
        [
            claude.user("before"),
            claude.calls("t1"),
            claude.result("t1", "still the whole output"),
            claude.row("system", subtype="microcompact_boundary", microcompactMetadata=emptied),
            claude.row("system", subtype="compact_boundary", parent=None, logicalParentUuid="u3"),
            claude.user("This session is being continued from …", isCompactSummary=True),
            claude.user("after"),
        ]
    )
    assert found.humans == ["before", "after"]
    assert found.messages[2].tool_result.text == "still the whole output"
    assert found.reading.skipped == {"system": 2}
    assert found.reading.rewound == []


def test_the_calls_of_a_sub_agent_in_progress_rows_are_not_of_this_session(read: Read, claude: Any) -> None:
    blocks = [{"type": "tool_use", "id": "inner", "name": "Write", "input": {}}]
    nested = {"type": "assistant", "message": {"role": "assistant", "content": blocks}}
    rows = [claude.row("progress", data={"type": "agent_progress", "message": nested}) for _ in range(99)]
    found = read([claude.user("go"), *rows, claude.says("done")])
    assert [message.text for message in found.messages] == ["go", "done"]
    assert found.reading.skipped == {"progress": 99}


@pytest.mark.parametrize("told", [{"stdout": "x"}, "x", ["x"], None, 7])
@pytest.mark.parametrize("content", ["ok", [{"type": "text", "text": "ok"}]])
def test_a_result_is_the_same_whatever_shape_it_has(read: Read, claude: Any, told: Any, content: Any) -> None:
    (message,) = read([claude.result("t1", content, toolUseResult=told)]).messages
    assert (message.tool_result.text, message.tool_result.call_id) == ("ok", "t1")


def test_a_session_that_lies_in_another_file_with_more_rows_goes_on_there(write: Write, claude: Any) -> None:
    rows = [claude.user("a"), claude.says("b"), claude.user("c")]
    older = open_transcript(write(rows, "one.jsonl"))
    covered = list(older.read())
    newer = open_transcript(write([*rows, claude.says("d")], "two.jsonl"))
    assert newer.info == older.info
    reading = newer.read(cursor_behind(covered, older.info))
    assert ([message.text for message in reading], reading.restarted) == (["d"], None)


def test_a_path_in_which_a_publisher_struck_something_out_is_still_a_path() -> None:
    found = find_identifiers("edited /home/REDACTED/app/src/export.py")
    assert list(found) == [("path", "/home/REDACTED/app/src/export.py")]


# Codex.


def test_calls_that_an_abort_left_without_output_stay_and_later_ones_are_answered(read: Read) -> None:
    call = {"type": "function_call", "name": "shell", "arguments": "{}"}
    found = read(
        [
            META,
            item(type="message", role="user", content=[{"type": "input_text", "text": "go"}]),
            item(**call, call_id="c1"),
            item(**call, call_id="c2"),
            {"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}},
            item(type="message", role="user", content=[{"type": "input_text", "text": "again"}]),
            item(**call, call_id="c3"),
            item(type="function_call_output", call_id="c3", output="ok … 120 tokens truncated … end"),
        ]
    )
    assert found.origins == ["human", "assistant", "assistant", "human", "assistant", "tool"]
    assert found.messages[-1].tool_result.text == "ok … 120 tokens truncated … end"
    assert found.reading.skipped == {"event_msg": 1, "session_meta": 1}


# pi and OpenClaw.


def test_a_fork_keeps_rows_older_than_its_header_and_its_time_is_that_of_the_row(read: Read) -> None:
    fork = {**PI_HEADER, "branchedFrom": "/Users/other/.pi/agent/sessions/x.jsonl", "parentSession": "gone"}
    said = {"role": "user", "content": "from before", "timestamp": 1_700_000_000_000}
    row = {"type": "message", "id": "a1", "parentId": None, "timestamp": "2025-12-01T10:00:00.000Z", "message": said}
    found = read([fork, row])
    assert found.humans == ["from before"]
    assert found.messages[0].timestamp.isoformat() == "2025-12-01T10:00:00+00:00"
    assert (found.transcript.info.session_id, found.transcript.info.cwd) == ("5e55", "/app")


def test_more_settings_than_words_hide_no_word(read: Read) -> None:
    changes = [{"type": "thinking_level_change", "thinkingLevel": "high"} for _ in range(103)]
    found = read([PI_HEADER, *changes, {"type": "message", "id": "1", "message": {"role": "user", "content": "hi"}}])
    assert found.humans == ["hi"]
    assert found.reading.skipped == {"session": 1, "thinking_level_change": 103}


# nanobot.


def test_a_nanobot_session_that_began_anew_is_read_whole(write: Write) -> None:
    def rows(words: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": f"{words} {n}", "timestamp": f"2026-04-02T20:43:0{n}"} for n in range(4)]

    head = {"_type": "metadata", "key": "telegram:1", "last_consolidated": 3}
    transcript = open_transcript(write([head, *rows("old")]))
    cursor = cursor_behind(list(transcript.read()), transcript.info)
    reading = open_transcript(write([{**head, "last_consolidated": 0}, *rows("new")])).read(cursor)
    assert reading.restarted is not None
    assert [(message.index, message.text) for message in reading] == [(n + 4, f"new {n}") for n in range(4)]


def test_the_same_word_at_the_same_microsecond_is_as_many_messages_as_it_is_rows(write: Write) -> None:
    row = {"role": "user", "content": "ok", "timestamp": "2026-04-02T20:43:00.123456"}
    transcript = open_transcript(write([{"_type": "metadata", "key": "telegram:1"}, *[row] * 5]))
    whole = list(transcript.read())
    assert [message.text for message in whole] == ["ok"] * 5
    for cut in range(1, 6):
        rest = list(transcript.read(cursor_behind(whole[:cut], transcript.info)))
        assert [message.index for message in rest] == list(range(cut, 5))


# The table.


def test_every_trap_of_the_table_names_tests_that_are_there() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", TABLE.read_text("utf-8"), re.MULTILINE)[2:]
    assert len(rows) > 40
    for trap, where in rows:
        named = re.findall(r"`([\w/]+)\.py::(test_\w+)`", where)
        assert named or "not read" in where, trap
        for module, test in named:
            tree = ast.parse((TESTS / f"{module}.py").read_text("utf-8"))
            assert test in {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}, (trap, test)


def test_a_session_of_every_trap_at_once_goes_on_from_anywhere(write: Write, claude: Any) -> None:
    """Glued rows, a repeated row, a torn one in the middle, Windows line ends, no newline at the end."""
    twice = claude.says("twice")
    lines = [
        json.dumps(row).encode() for row in (claude.user("a"), twice, twice, claude.result("t1"), claude.says("z"))
    ]
    body = lines[0] + lines[1] + b"\r\n" + lines[2] + b'\n{"torn": \n' + lines[3] + b"\r\n\r\n" + lines[4]
    transcript = open_transcript(write(body))
    reading = transcript.read()
    whole, points = [], []
    for message in reading:
        whole.append(message)
        points.append(reading.point)
    assert [message.text for message in whole] == ["a", "twice", "", "z"]
    assert reading.skipped == {"duplicate_row": 1, "not_json": 1}
    for cut in range(1, 5):
        for point in (points[cut - 1], None):
            assert list(transcript.read(cursor_behind(whole[:cut], transcript.info, point))) == whole[cut:]
