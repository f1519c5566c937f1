"""Recorded sessions read without loss. The folder is named by AFTERTURN_TEST_DATA."""

import os
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from worker.core.messages import Message, Origin
from worker.transcripts import cursor_behind, open_transcript
from worker.transcripts.harness import without_continuation_orders
from worker.transcripts.jsonl import read_rows
from worker.transcripts.sources import FileRows

DATA = Path(os.environ.get("AFTERTURN_TEST_DATA", "."))
FOLDERS = ("claude-code", "pi", "gemini-cli", "openai-style")
PATHS = [path for folder in FOLDERS for path in sorted((DATA / folder).glob("*"))]
CLAUDE_PATHS = [path for path in PATHS if path.parent.name == "claude-code" and path.name.startswith("entire")]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("AFTERTURN_TEST_DATA" not in os.environ, reason="AFTERTURN_TEST_DATA is not set"),
]
HARNESS = re.compile(
    r"<(system-reminder|task-notification|local-command|command-name|bash-|ide_|environment_context)"
    r"|^\[Request interrupted|^Caveat:|^This session is being continued|^Base directory for this skill"
)


def read_all(path: Path) -> list[Message]:
    return list(open_transcript(path).read())


def expected_messages() -> dict[str, int]:
    """File name to messages, as the folder's README counts them."""
    readme = DATA / "README.md"
    text = readme.read_text("utf-8") if readme.is_file() else ""
    return {m[1]: int(m[2]) for m in re.finditer(r"^\| [\w-]+/(\S+) \|[^|]*\|[^|]*\|[^|]*\| (\d+) \|", text, re.M)}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_row_is_a_message_or_counted(path: Path) -> None:
    reading = open_transcript(path).read()
    messages = list(reading)
    assert messages
    assert not reading.still_writing
    assert reading.restarted is None
    assert [message.index for message in messages] == list(range(len(messages)))
    if messages[0].offset is None:
        return
    with path.open("rb") as file:
        rows = [(row.offset, len(row.values) + len(row.problems)) for row in read_rows(file)]
    places = {message.offset for message in messages}
    counted = sum(count for reason, count in reading.skipped.items() if reason != "harness_block")
    assert len(places) <= sum(count for _, count in rows) <= len(messages) + counted
    assert reading.end == path.stat().st_size


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_as_many_messages_are_read_as_an_independent_reader_counted(path: Path) -> None:
    reading = open_transcript(path).read()
    messages = list(reading)
    if path.parent.name == "claude-code":
        # Words that a person typed outside of user rows are messages of ours, and results share a row.
        rows = {message.row_id or message.offset for message in messages if message.row_id or not message.is_human}
        found = len(rows)
    else:
        # A command that a person ran is one row and two messages, a compaction is no message to the other reader.
        found = sum(
            m.origin is not Origin.SUMMARY and not (m.tool_calls and m.origin is Origin.HARNESS) for m in messages
        )
    given_up = reading.skipped.get("duplicate_row", 0) + reading.skipped.get("malformed_message", 0)
    assert 0 <= expected_messages()[path.name] - found <= given_up


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_nothing_that_a_harness_wrote_is_human(path: Path) -> None:
    assert [m.text[:80] for m in read_all(path) if m.is_human and HARNESS.search(m.text)] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_going_on_from_any_place_gives_the_rest(path: Path) -> None:
    """With what the reader knew there, word for word; without it, as far as the rows before tell."""
    transcript = open_transcript(path)
    reading = transcript.read()
    whole, points = [], []
    for message in reading:
        whole.append(message)
        points.append(reading.point)
    middle = random.Random(path.name).choices(range(1, len(whole) + 1), k=8)
    for cut in {1, len(whole) - 1, len(whole), *middle} - {0}:
        known = transcript.read(cursor_behind(whole[:cut], transcript.info, points[cut - 1]))
        assert list(known) == whole[cut:]
        warmed = transcript.read(cursor_behind(whole[:cut], transcript.info))
        assert [(m.index, m.digest) for m in warmed] == [(m.index, m.digest) for m in whole[cut:]]
        assert (known.restarted, warmed.restarted) == (None, None)


@pytest.mark.parametrize("path", [path for path in PATHS if path.suffix == ".jsonl"], ids=lambda path: path.name)
def test_what_is_kept_to_go_on_is_small_and_enough(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = open_transcript(path)
    reading = transcript.read()
    places = [(message, reading.point) for message in reading]
    monkeypatch.setattr(FileRows, "warm_start", lambda *_: pytest.fail("rows before the place were read"))
    for message, point in random.Random(path.name).choices(places, k=5):
        cursor = cursor_behind([message], transcript.info, point)
        assert 0 < sum(map(len, cursor.state.values())) < 8_000
        assert transcript.read(cursor).restarted is None


@pytest.mark.parametrize("path", CLAUDE_PATHS, ids=lambda path: path.name)
def test_no_branch_of_these_sessions_is_taken_for_a_rewind(path: Path) -> None:
    reading = open_transcript(path).read()
    assert list(reading)
    assert reading.rewound == []


@pytest.mark.parametrize("path", CLAUDE_PATHS, ids=lambda path: path.name)
def test_no_summary_carries_an_order(path: Path) -> None:
    for message in read_all(path):
        if message.origin is Origin.SUMMARY:
            assert "without asking the user" not in message.text[-600:]
            assert "read the full transcript at" not in message.text


def test_recorded_summaries_end_with_their_last_sentence() -> None:
    path = DATA / "reference-summaries" / "claude-code-compact-summaries.jsonl"
    with path.open("rb") as file:
        texts = [value["text"] for row in read_rows(file) for value in row.values]
    assert len(texts) > 40
    for text in texts:
        kept = without_continuation_orders(text)
        assert "read the full transcript at" not in kept[-1500:]
        assert "without asking" not in kept[-400:]
        assert len(text) - len(kept) < 800


def test_a_growing_session_goes_on_from_file_to_file() -> None:
    steps = ["entire-8e-ce5fc12e98-0", "entire-2c-1a2a1e88ce-0", "entire-bd-e5096363d6-2", "entire-ba-59c426c910-0"]
    paths = [DATA / "claude-code" / f"{step}.jsonl" for step in steps]
    for older, newer in pairwise(paths):
        covered = read_all(older)
        transcript = open_transcript(newer)
        reading = transcript.read(cursor_behind(covered, transcript.info))
        assert reading.restarted is None
        assert [message.digest for message in [*covered, *reading]] == [message.digest for message in read_all(newer)]
