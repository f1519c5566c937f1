"""Going on behind a covered range: never twice, never past something new."""

import json
import os
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Cursor
from worker.errors import TranscriptError
from worker.transcripts import cursor_behind, open_transcript, sources

Write = Callable[..., Path]


def chat(count: int, start: int = 0) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"text {n}", "id": f"r{n}"} for n in range(start, start + count)]


def cursor_after(path: Path, covered: int) -> Cursor:
    transcript = open_transcript(path)
    return cursor_behind(list(transcript.read())[:covered], transcript.info)


def texts(path: Path, cursor: Cursor | None = None) -> list[tuple[int, str]]:
    return [(message.index, message.text) for message in open_transcript(path).read(cursor)]


@settings(deadline=None, max_examples=30)
@given(count=st.integers(1, 12), data=st.data(), document=st.booleans())
def test_what_was_covered_and_what_follows_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, count: int, data: st.DataObject, document: bool
) -> None:
    path = tmp_path_factory.mktemp("cut") / "session"
    rows = [{**row, "content": data.draw(st.sampled_from(["yes", "no"]))} for row in chat(count)]
    for row in rows:
        del row["id"]
    path.write_text(json.dumps(rows) if document else "\n".join(map(json.dumps, rows)), "utf-8")
    cut = data.draw(st.integers(0, count))
    whole = list(open_transcript(path).read())
    reading = open_transcript(path).read(cursor_after(path, cut))
    assert whole[:cut] + list(reading) == whole
    assert reading.restarted is None


def test_what_is_appended_goes_on_with_the_next_index(write: Write) -> None:
    path = write(chat(4))
    cursor = cursor_after(path, 4)
    assert texts(path, cursor) == []
    with path.open("ab") as file:
        file.write(json.dumps(chat(1, 4)[0]).encode() + b"\n")
    assert texts(path, cursor) == [(4, "text 4")]


def test_only_the_new_bytes_are_counted(write: Write) -> None:
    path = write([{"role": "robot"}, *chat(3), {"role": "robot"}, *chat(1, 3)])
    reading = open_transcript(path).read(cursor_after(path, 3))
    assert [message.index for message in reading] == [3]
    assert reading.skipped == {"unknown_role": 1}


def test_a_cut_inside_a_row_loses_nothing(write: Write, claude: Any) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    path = write([claude.user("go"), claude.calls("t1"), claude.user([result, {"type": "text", "text": "now stop"}])])
    assert texts(path, cursor_after(path, 3)) == [(3, "now stop")]


def test_a_queued_prompt_across_the_cut_is_not_lost(write: Write, claude: Any) -> None:
    path = write([claude.user("go"), claude.queue("enqueue", "use tabs"), claude.says("ok"), claude.queue("remove")])
    assert texts(path, cursor_after(path, 2)) == [(2, "use tabs")]


def test_a_row_repeated_across_the_cut_is_not_read_again(write: Write, claude: Any) -> None:
    row = claude.says("once")
    path = write([claude.user("go"), row, row, claude.user("next")])
    assert texts(path, cursor_after(path, 2)) == [(2, "next")]


def test_a_rewind_to_before_the_cut_hides_nothing_behind_it(write: Write, claude: Any) -> None:
    path = write(
        [claude.user("a"), claude.says("b"), claude.user("c"), claude.says("d"), claude.user("e", parent="u2")]
    )
    reading = open_transcript(path).read(cursor_after(path, 4))
    assert [message.text for message in reading] == ["e"]
    assert reading.rewound == []


def test_a_call_before_the_cut_names_the_result_behind_it(write: Write, claude: Any) -> None:
    path = write([claude.user("go"), claude.calls("t1", "Edit"), claude.result("t1")])
    (result,) = open_transcript(path).read(cursor_after(path, 2))
    assert result.tool_result is not None
    assert result.tool_result.name == "Edit"


def test_the_cursor_names_the_row_of_the_last_covered_message(write: Write) -> None:
    path = write(chat(5))
    messages = list(open_transcript(path).read())
    cursor = cursor_after(path, 4)
    assert cursor.anchors == tuple(message.digest for message in messages[1:4])
    assert (cursor.format, cursor.index, cursor.anchor_offset) == ("openai", 4, messages[3].offset)
    assert cursor.offset == messages[3].end == messages[4].offset
    assert cursor_after(path, 0) == Cursor(format="openai", index=0)


def test_a_file_that_moved_its_rows_is_followed(write: Write) -> None:
    path = write(chat(8))
    cursor = cursor_after(path, 5)
    write([{"role": "system", "content": "a new prompt in front"}, *chat(8)])
    reading = open_transcript(path).read(cursor)
    assert [(message.index, message.text) for message in reading] == [(5, "text 5"), (6, "text 6"), (7, "text 7")]
    assert reading.restarted is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (chat(3, 100), "shorter"),
        (chat(9, 100), "no longer in the file"),
        ([{**row, "content": "edited"} for row in chat(6)], "no longer in the file"),
    ],
)
def test_a_file_without_what_was_covered_is_read_whole_with_indexes_that_go_on(
    write: Write, content: list[Any], reason: str
) -> None:
    path = write(chat(6))
    cursor = cursor_after(path, 6)
    write(content)
    reading = open_transcript(path).read(cursor)
    assert reading.restarted is not None
    assert reason in reading.restarted
    assert [message.index for message in reading] == [6 + n for n in range(len(content))]


def test_a_document_without_what_was_covered_is_read_whole(write: Write) -> None:
    path = write(json.dumps(chat(6)).encode())
    cursor = cursor_after(path, 4)
    write(json.dumps(chat(2, 100)).encode())
    reading = open_transcript(path).read(cursor)
    assert [message.index for message in reading] == [4, 5]
    assert reading.restarted == "the last covered message is no longer in the file"


def test_a_file_of_another_format_is_read_whole(write: Write, claude: Any) -> None:
    path = write(chat(3))
    cursor = cursor_after(path, 3)
    write([claude.user("hi")])
    reading = open_transcript(path).read(cursor)
    assert reading.restarted == "the file was openai and is claude-code now"
    assert [message.index for message in reading] == [3]


def test_the_same_first_words_do_not_make_a_new_session_the_old_one(write: Write) -> None:
    rows = [{key: row[key] for key in ("role", "content")} for row in chat(4)]
    path = write(rows)
    cursor = cursor_after(path, 3)
    write([rows[2], {"role": "user", "content": "another session"}])
    assert open_transcript(path).read(cursor).restarted is not None


@pytest.mark.parametrize(
    "change",
    [
        {"index": -1},
        {"anchor_offset": -1},
        {"anchor_offset": 10**9, "offset": 10**9},
        {"anchor_offset": 3},
        {"anchor_offset": None},
        {"offset": -5},
        {"offset": None},
    ],
)
def test_a_cursor_with_a_wrong_place_hides_nothing_t12(write: Write, change: dict[str, Any]) -> None:
    path = write(chat(6))
    cursor = replace(cursor_after(path, 4), **change)
    assert [text for _, text in texts(path, cursor)] == ["text 4", "text 5"]


def test_a_cursor_without_anchors_reads_everything_again_t12(write: Write) -> None:
    path = write(chat(3))
    reading = open_transcript(path).read(Cursor(format="openai", index=7, offset=5))
    assert reading.restarted is not None
    assert [message.index for message in reading] == [7, 8, 9]


def test_a_half_last_row_is_told_and_read_when_it_is_whole_t01_t07(write: Write) -> None:
    rows = chat(4)
    whole = json.dumps(rows[3]).encode()
    path = write([*rows[:3], whole[:20]])
    transcript = open_transcript(path)
    reading = transcript.read()
    covered = list(reading)
    assert [message.text for message in covered] == ["text 0", "text 1", "text 2"]
    assert reading.still_writing
    assert reading.skipped == {"unfinished_last_row": 1}
    assert (reading.end, reading.size) == (covered[-1].end, path.stat().st_size)
    write([*rows[:3], whole])
    again = transcript.read(cursor_behind(covered, transcript.info))
    assert [message.text for message in again] == ["text 3"]
    assert not again.still_writing


def test_a_file_deleted_between_two_readings_is_missing_t03(write: Write) -> None:
    path = write(chat(2))
    transcript = open_transcript(path)
    path.unlink()
    with pytest.raises(TranscriptError, match="no such file"):
        transcript.read()


def test_a_document_that_is_being_written_is_refused_not_misread(write: Write) -> None:
    path = write(json.dumps(chat(2)).encode())
    transcript = open_transcript(path)
    write(json.dumps(chat(2)).encode()[:-9])
    with pytest.raises(TranscriptError, match="no longer a JSON document"):
        transcript.read()
    write(b'{"a": 1}')
    with pytest.raises(TranscriptError, match="no longer holds messages"):
        transcript.read()


def test_a_document_beyond_the_limit_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(json.dumps(chat(200), indent=1).encode())
    monkeypatch.setattr(sources, "DOCUMENT_LIMIT_BYTES", 5_000)
    with pytest.raises(TranscriptError, match="the limit is"):
        open_transcript(path)


def test_a_session_is_never_opened_for_writing_t05_t22_j07(write: Write) -> None:
    path = write(chat(3))
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from worker.transcripts import cursor_behind, open_transcript
        path = Path(sys.argv[1])
        def record(event, arguments):
            if event.startswith(("os.remove", "os.rename", "os.truncate", "fcntl.")):
                print(event)
            if event == "open" and str(arguments[0]) == str(path):
                print("opened", arguments[1])
        sys.addaudithook(record)
        transcript = open_transcript(path)
        list(transcript.read(cursor_behind(list(transcript.read())[:2], transcript.info)))
    """)
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert set(run.stdout.splitlines()) == {"opened r"}
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_the_same_bytes_give_the_same_digests_in_any_time_zone(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([{"role": "user", "content": "hi", "timestamp": "2026-04-02T20:43:00"}])
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from worker.transcripts import open_transcript
        for message in open_transcript(Path(sys.argv[1])).read():
            print(message.digest, message.timestamp.isoformat())
    """)
    printed = set()
    for zone in ("UTC", "JST-9"):
        run = [sys.executable, "-c", script, str(path)]
        result = subprocess.run(run, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True)
        printed.add(tuple(result.stdout.split()))
    assert len({digest for digest, _ in printed}) == 1
    assert {time for _, time in printed} == {"2026-04-02T20:43:00+00:00", "2026-04-02T11:43:00+00:00"}


def test_memory_stays_bounded_while_a_large_file_streams_f23(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    row = json.dumps({"role": "assistant", "content": "x" * 20_000}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(2_000):
            file.write(row)
    tracemalloc.start()
    try:
        count = sum(1 for _ in open_transcript(path).read())
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 2_000
    # The head and the tail that detection looks at are the most that is ever held: about 1.3 MB and their objects.
    assert peak_bytes < path.stat().st_size // 4
