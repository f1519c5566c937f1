"""A later reading knows what the reader knew, without a look at the rows before the place where it goes on."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import Cursor
from worker.core.messages import Message
from worker.transcripts import cursor_behind, open_transcript, transcript
from worker.transcripts.resuming import STATE_MAX_CHARS, ResumePoint, unpacked
from worker.transcripts.sources import BUFFER_BYTES, FileRows

Json = dict[str, Any]
Step = tuple[str, int]
Sessions = Callable[[list[Step]], Iterator[Json]]
CALL_IDS = tuple(f"call-{n}" for n in range(5))
WORDS = ("use tabs", "yes", "rename the table", "go on")


# Sessions of every format, in which rows refer to rows far before them.


def claude_code(steps: list[Step]) -> Iterator[Json]:
    newest: list[str] = []
    last: Json | None = None
    for at, (kind, pick) in enumerate(steps):
        above = newest[-1] if newest else None
        base = {"sessionId": "s", "cwd": "/app", "uuid": f"u{at}", "parentUuid": above}
        words, call = WORDS[pick % len(WORDS)], CALL_IDS[pick % len(CALL_IDS)]
        operations = {"enqueue": {"content": words}, "dequeue": {}, "remove": {}, "popAll": {}}
        if kind in operations:
            yield {"type": "queue-operation", "operation": kind, "sessionId": "s", "timestamp": "x", **operations[kind]}
            continue
        if kind == "again" and last is not None:
            yield last
            continue
        if kind == "person":
            parent = newest[-1 - pick % min(4, len(newest))] if newest and pick % 3 == 0 else above
            last = {**base, "parentUuid": parent, "type": "user", "message": {"role": "user", "content": words}}
        elif kind == "call":
            block = {"type": "tool_use", "id": call, "name": f"tool-{pick}", "input": {}}
            last = {**base, "type": "assistant", "message": {"id": f"m{at}", "content": [block]}}
        elif kind == "result":
            results = [
                {"type": "tool_result", "tool_use_id": each, "content": "ok"} for each in (call, CALL_IDS[0], call)
            ]
            last = {**base, "type": "user", "message": {"role": "user", "content": results[: 1 + pick % 3]}}
        elif kind == "told":
            last = {**base, "type": "attachment", "attachment": {"type": "queued_command", "prompt": words}}
        else:
            last = {**base, "type": "progress", "data": {"type": "x"}}
        newest.append(f"u{at}")
        yield last


def codex(steps: list[Step]) -> Iterator[Json]:
    yield {"type": "session_meta", "payload": {"id": "s", "cwd": "/app"}}
    last: Json | None = None
    for at, (kind, pick) in enumerate(steps):
        call, words = CALL_IDS[pick % len(CALL_IDS)], WORDS[pick % len(WORDS)]
        if kind == "again" and last is not None:
            yield last
            continue
        payloads: dict[str, Json] = {
            "person": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]},
            "call": {"type": "function_call", "call_id": call, "name": f"tool-{pick}", "arguments": "{}"},
            "result": {"type": "function_call_output", "call_id": call, "output": "ok"},
        }
        if kind in payloads:
            last = {"type": "response_item", "timestamp": f"t{at % 3}", "payload": payloads[kind]}
        else:
            last = {"type": "event_msg", "payload": {"type": "user_message", "message": words}}
        yield last


def bare_codex(steps: list[Step]) -> Iterator[Json]:
    yield {"id": "s", "timestamp": "t", "instructions": None}
    yield from (row["payload"] for row in codex(steps) if row["type"] == "response_item")


def pi(steps: list[Step]) -> Iterator[Json]:
    yield {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/app"}
    above: str | None = None
    last: Json | None = None
    for at, (kind, pick) in enumerate(steps):
        call, words = CALL_IDS[pick % len(CALL_IDS)], WORDS[pick % len(WORDS)]
        if kind == "again" and last is not None:
            yield last
            continue
        messages: dict[str, Json] = {
            "person": {"role": "user", "content": words},
            "call": {"role": "assistant", "content": [{"type": "toolCall", "id": call, "name": "bash"}]},
            "result": {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": "ok"},
            "told": {"role": "bashExecution", "command": "ls", "output": "a"},
        }
        if kind == "told":  # version 1 has no ids
            yield {"type": "message", "message": messages["told"]}
            continue
        last = {"type": "message", "id": f"e{at}", "parentId": above, "message": messages.get(kind, {"role": "x"})}
        above = last["id"]
        yield last


def chat(steps: list[Step]) -> Iterator[Json]:
    for kind, pick in steps:
        call, words = CALL_IDS[pick % len(CALL_IDS)], WORDS[pick % len(WORDS)]
        rows: dict[str, Json] = {
            "person": {"role": "user", "content": words},
            "call": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": call, "function": {"name": f"tool-{pick}", "arguments": "{}"}}],
            },
            "result": {"role": "tool", "tool_call_id": call, "content": "ok"},
            "told": {"role": "assistant", "content": "so", "action": f"open a{pick}.py"},
            "again": {"role": "user", "content": "seen", "message_type": "observation", "agent": "main"},
        }
        yield rows.get(kind, {"role": "robot"})


def request_log(steps: list[Step]) -> Iterator[Json]:
    messages: list[Json] = []
    yield {"messages": [], "request": "warm-up"}
    for row in chat(steps):
        messages = messages[1:] if row == {"role": "robot"} else [*messages, row]
        yield {"messages": list(messages)}


def nanobot(steps: list[Step]) -> Iterator[Json]:
    yield {"_type": "metadata", "key": "telegram:1", "metadata": {}}
    yield from chat(steps)


def anthropic(steps: list[Step]) -> Iterator[Json]:
    yield {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]}
    for row in claude_code([step for step in steps if step[0] in ("person", "call", "result")]):
        yield {"role": row["type"], "content": row["message"]["content"]}


def plain(steps: list[Step]) -> Iterator[Json]:
    yield {"role": "user", "content": "hi", "timestamp": "2026-01-01T00:00:00Z", "session_id": "s"}
    for at, (row, (_, pick)) in enumerate(zip(chat(steps), steps, strict=True)):
        yield {**row, "id": f"r{pick % 7 if at % 2 else at}"}


SESSIONS: list[Sessions] = [
    claude_code,
    codex,
    bare_codex,
    pi,
    chat,
    request_log,
    nanobot,
    anthropic,
    plain,
]
KINDS = ("person", "call", "result", "again", "told", "progress", "enqueue", "dequeue", "remove", "popAll")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), min_size=1, max_size=40)


def lines_of(rows: Sequence[Json], glued: frozenset[int]) -> bytes:
    """One row per line; behind a glued one the newline is lost."""
    return b"".join(json.dumps(row).encode() + (b"" if at in glued else b"\n") for at, row in enumerate(rows))


def read_with_points(path: Path) -> tuple[list[Message], list[ResumePoint | None], list[tuple[int, int]]]:
    reading = open_transcript(path).read()
    messages, points = [], []
    for message in reading:
        messages.append(message)
        points.append(reading.point)
    return messages, points, reading.rewound


def stored(cursor: Cursor) -> Cursor:
    """As it comes back out of a checkpoint's file."""
    return replace(cursor, state=json.loads(json.dumps(cursor.state)))


def nothing_is_read_twice() -> Any:
    """Fails a reading that looks at rows before the place where it goes on."""
    return patch.object(FileRows, "warm_start", side_effect=AssertionError("rows before the place were read"))


@pytest.mark.parametrize("make", SESSIONS, ids=lambda make: make.__name__)
@settings(deadline=None, max_examples=40)
@given(steps=STEPS, glued=st.frozensets(st.integers(0, 40), max_size=4))
def test_what_follows_any_message_is_read_as_in_one_pass(
    tmp_path_factory: pytest.TempPathFactory, make: Sessions, steps: list[Step], glued: frozenset[int]
) -> None:
    path = tmp_path_factory.mktemp("session") / "s.jsonl"
    path.write_bytes(lines_of(list(make(steps)), glued))
    if not any(step[0] in ("person", "call", "result") for step in steps):
        return  # of no known format, or of events alone
    whole, points, rewound = read_with_points(path)
    info = open_transcript(path).info
    for cut in range(1, len(whole) + 1):
        cursor = stored(cursor_behind(whole[:cut], info, points[cut - 1]))
        assert cursor.state
        with nothing_is_read_twice():
            reading = open_transcript(path).read(cursor)
            rest = list(reading)
        assert rest == whole[cut:]
        assert reading.restarted is None
        assert all(any(start <= a and b <= end for start, end in rewound) for a, b in reading.rewound)


# What is kept.


STEPS_OF_ALL = [(kind, number) for number in range(12) for kind in KINDS]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines_of(list(claude_code(STEPS_OF_ALL)), frozenset({5})))
    return path


@pytest.mark.parametrize("make", SESSIONS, ids=lambda make: make.__name__)
def test_no_word_of_a_message_is_kept(tmp_path: Path, make: Sessions) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines_of(list(make(STEPS_OF_ALL)), frozenset()))
    _, points, _ = read_with_points(path)
    kept = "".join(text for point in points if point for text in point.packed().values())
    assert kept
    assert not [words for words in (*WORDS, "seen", "a1.py") if words in kept.replace('"yes"', "")]


@pytest.mark.parametrize("make", SESSIONS, ids=lambda make: make.__name__)
def test_what_is_kept_does_not_grow_with_the_session(tmp_path: Path, make: Sessions) -> None:
    path = tmp_path / "s.jsonl"
    steps = [(kind, number) for number in range(400) for kind in ("person", "call", "again", "result", "progress")]
    path.write_bytes(lines_of(list(make(steps))[: 120 if make is request_log else None], frozenset()))
    _, points, _ = read_with_points(path)
    sizes = [sum(map(len, point.packed().values())) for point in points if point]
    assert 0 < max(sizes) <= STATE_MAX_CHARS


def test_more_than_may_be_kept_is_not_kept_and_the_rest_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines_of(list(request_log([("person", number) for number in range(700)])), frozenset()))
    whole, points, _ = read_with_points(path)
    cursor = cursor_behind(whole[:-1], open_transcript(path).info, points[-2])
    assert cursor.state == {}
    assert list(open_transcript(path).read(cursor)) == whole[-1:]


def test_an_id_that_looks_like_a_secret_is_not_kept(tmp_path: Path) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    path = tmp_path / "s.jsonl"
    call = {"role": "assistant", "tool_calls": [{"id": secret, "function": {"name": "ls", "arguments": "{}"}}]}
    path.write_bytes(lines_of([call, {"role": "assistant", "content": "so"}], frozenset()))
    whole, points, _ = read_with_points(path)
    assert [point.packed() if point else None for point in points][1:] == [{}]
    assert secret not in repr(cursor_behind(whole, open_transcript(path).info, points[-1]))


@pytest.mark.parametrize(
    "damage",
    [
        {},
        {"version": "0"},
        {"taken": "0"},
        {"taken": "99"},
        {"taken": "x"},
        {"rows": "{"},
        {"rows": "[7]"},
        {"rows": '[["u1", 2, true]]'},
        {"queued": '["x"]'},
        {"queued": "[-1]"},
        {"queued": "[3]"},
        {"queued": "[999999999]"},
        {"open": '[["call-1"]]'},
        {"taken_from_queue": "null"},
        {"answered": f'["{"x" * STATE_MAX_CHARS}"]'},
    ],
    ids=str,
)
def test_a_state_that_is_damaged_is_none_and_the_rest_is_read_all_the_same(session: Path, damage: Json) -> None:
    whole, points, _ = read_with_points(session)
    info = open_transcript(session).info
    for cut in range(1, len(whole), 3):
        cursor = cursor_behind(whole[:cut], info, points[cut - 1])
        cursor = replace(cursor, state={**cursor.state, **damage} if damage else {})
        reading = open_transcript(session).read(cursor)
        assert list(reading) == whole[cut:]
        assert reading.restarted is None


@pytest.mark.parametrize("key", ["taken", "rows", "queued", "taken_from_queue", "open", "answered"])
def test_a_state_that_lacks_something_is_none(session: Path, key: str) -> None:
    whole, points, _ = read_with_points(session)
    cursor = cursor_behind(whole[:20], open_transcript(session).info, points[19])
    kept = {name: text for name, text in cursor.state.items() if name != key}
    assert list(open_transcript(session).read(replace(cursor, state=kept))) == whole[20:]
    with nothing_is_read_twice(), pytest.raises(AssertionError, match="rows before"):
        open_transcript(session).read(replace(cursor, state=kept))


def test_a_point_comes_back_as_it_was_packed(session: Path) -> None:
    _, points, _ = read_with_points(session)
    for point in filter(None, points):
        again = unpacked(json.loads(json.dumps(point.packed())))
        assert again is not None
        assert again.packed() == point.packed()


def test_a_rewritten_file_is_recognised_whatever_was_kept(session: Path) -> None:
    whole, points, _ = read_with_points(session)
    cursor = cursor_behind(whole[:20], open_transcript(session).info, points[19])
    body = session.read_bytes()
    offset = cursor.anchor_offset or 0
    session.write_bytes(body[:offset] + body[offset:].replace(b'"uuid": "u', b'"uuid": "U'))
    assert open_transcript(session).read(cursor).restarted is not None
    session.write_bytes(body[body.index(b"\n") + 1 :])
    moved = open_transcript(session).read(cursor)
    assert moved.restarted is None
    assert [message.digest for message in moved] == [message.digest for message in whole[20:]]
    session.write_bytes(body[: offset - 1])
    assert open_transcript(session).read(cursor).restarted is not None


# What it costs.


class CountedFile(FileIO):
    """A file that adds up the bytes that were read from it, of all files of the class."""

    bytes_read = 0

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        CountedFile.bytes_read += count or 0
        return count

    def readall(self) -> bytes:
        data = super().readall()
        CountedFile.bytes_read += len(data)
        return data


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many bytes of transcripts were read since it was asked last."""

    def open_counted(path: Path) -> BinaryIO:
        return BufferedReader(CountedFile(path), buffer_size=BUFFER_BYTES)

    def since_last() -> int:
        count, CountedFile.bytes_read = CountedFile.bytes_read, 0
        return count

    monkeypatch.setattr(transcript, "open_binary", open_counted)
    since_last()
    return since_last


def large_session(make: Sessions, size_bytes: int) -> bytes:
    """Rows of the format with outputs of 4 KB, cut off where they are so many bytes."""
    steps = [(kind, number) for number in range(size_bytes // 2_500) for kind in ("person", "call", "result", "told")]
    body = lines_of(list(make(steps)), frozenset()).replace(b'"ok"', b'"' + b"ok " * 1_300 + b'"')
    return body[: body.rindex(b"\n", 0, size_bytes) + 1]


@pytest.mark.parametrize("make", [one for one in SESSIONS if one is not request_log], ids=lambda make: make.__name__)
def test_a_later_reading_reads_the_new_bytes_and_a_little_whatever_the_size_f23(
    tmp_path: Path, make: Sessions, bytes_read: Callable[[], int]
) -> None:
    costs = []
    for size in (1_500_000, 5_000_000):
        path = tmp_path / f"{size}.jsonl"
        path.write_bytes(large_session(make, size))
        whole, points, _ = read_with_points(path)
        assert bytes_read() >= path.stat().st_size > size * 0.9
        known = open_transcript(path)
        with path.open("ab") as file:
            new_bytes = file.write(b"".join(large_session(make, 60_000).splitlines(keepends=True)[1:11]))
        bytes_read()
        rest = list(open_transcript(path).read(stored(cursor_behind(whole, known.info, points[-1]))))
        assert rest
        costs.append(bytes_read() - new_bytes)
    assert max(costs) < 80 * 1024
    assert abs(costs[1] - costs[0]) < 20 * 1024
