"""Views of recorded sessions: valid for both providers, within the window, and the same again as a session grows."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.messages import Message
from worker.transcripts import open_transcript
from worker.view import Format, View, view
from worker.wiring import ground_of, tools_for

DATA = Path(os.environ.get("AFTERTURN_TEST_DATA", "."))
FOLDERS = ("claude-code", "pi", "gemini-cli", "openai-style")
PATHS = [path for folder in FOLDERS for path in sorted((DATA / folder).glob("*"))]
TWO_SESSIONS = ("entire-8c-fa910f8ef9-5.jsonl", "ccl-edge_cases.jsonl")
"""Their rows name two sessions, so that the file is one or the other, depending on where it ends."""
GROWING = [path for path in PATHS if path.suffix == ".jsonl" and path.name not in TWO_SESSIONS]
STEPS = 30

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("AFTERTURN_TEST_DATA" not in os.environ, reason="AFTERTURN_TEST_DATA is not set"),
]


def settings_in(folder: Path) -> Settings:
    return Settings(workspace=folder / "memory")


def newest_request(path: Path) -> Message | None:
    reading = open_transcript(path).read()
    messages = list(reading)
    rewound = reading.rewound
    humans = [
        message
        for message in messages
        if message.is_human and not message.sidechain and not any(a <= message.index < b for a, b in rewound)
    ]
    return humans[-1] if humans else None


def check(made: View, protocols: Any, request: Message | None) -> None:
    if made.system is None:
        protocols.check_openai(made.messages)
    else:
        protocols.check_anthropic(made.system, made.messages)
    assert made.tokens_after <= made.budget or made.over_budget
    assert made.tokens_after == sum(made.sources.values())
    if request is not None and request.text.strip():
        first_line = json.dumps(request.text.strip().split("\n")[0], ensure_ascii=False)[1:-1]
        assert first_line in json.dumps(made.messages, ensure_ascii=False)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_session_that_was_never_consolidated(path: Path, tmp_path: Path, protocols: Any) -> None:
    settings, request = settings_in(tmp_path), newest_request(path)
    for format_name in ("openai", "anthropic"):
        for window in (4_000, 32_000, 200_000):
            made = view(path, window=window, format=format_name, settings=settings)
            check(made, protocols, request)
            assert made.over_budget is None
            again = view(path, window=window, format=format_name, settings=settings)
            assert (again.messages, again.system, again.prefix_kept) == (made.messages, made.system, True)
        for strategy in ("truncate", "archive"):
            made = view(path, window=16_000, format=format_name, strategy=strategy, settings=settings)
            check(made, protocols, request)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_session_that_was_consolidated(path: Path, tmp_path: Path, protocols: Any) -> None:
    settings, request = settings_in(tmp_path), newest_request(path)
    place = ground_of(settings).place_of(path)
    done = consolidate(Request(path=path), tools_for(place, settings, hold_back=False))
    for format_name in ("openai", "anthropic"):
        for window in (4_000, 32_000, 200_000):
            made = view(path, window=window, format=format_name, settings=settings)
            check(made, protocols, request)
            assert made.over_budget is None
            assert made.outcome in ("unchanged", "micro_compacted", "checkpoint") or done.checkpoint is None


@pytest.mark.parametrize("path", GROWING, ids=lambda path: path.name)
def test_the_prefix_holds_while_a_session_grows(path: Path, tmp_path: Path) -> None:
    """B44: cut anywhere between two rows, also in the middle of a response."""
    grow(path, tmp_path, STEPS, window=64_000, format_name="openai")


@pytest.mark.parametrize("format_name", ["openai", "anthropic"])
@pytest.mark.parametrize("name", ["pi/large-session.jsonl", "claude-code/entire-ad-a8171575ce-0.jsonl"])
def test_the_prefix_holds_over_a_hundred_steps(name: str, format_name: Format, tmp_path: Path) -> None:
    grow(DATA / name, tmp_path, 100, window=64_000, format_name=format_name)


def grow(path: Path, folder: Path, steps: int, *, window: int, format_name: Format) -> None:
    """Each view is the beginning of the next, or says that it is not and made room for many more."""
    lines = path.read_bytes().split(b"\n")
    growing = folder / path.name
    settings = settings_in(folder)
    sent: list[Any] = []
    breaks = 0
    for step in range(1, steps + 1):
        growing.write_bytes(b"\n".join(lines[: max(1, len(lines) * step // steps)]) + b"\n")
        made = view(growing, window=window, format=format_name, settings=settings)
        pieces = [piece for message in made.messages for piece in pieces_of(message)]
        kept = pieces[: len(sent)] == sent
        assert made.prefix_kept == kept
        if not kept:
            breaks += 1
            assert made.notes
        sent = pieces
    assert breaks <= 1 + made.tokens_before / (0.2 * made.budget)


def pieces_of(message: dict[str, Any]) -> list[Any]:
    """What a prompt cache sees: Anthropic's blocks, OpenAI's messages."""
    content = message["content"]
    return [(message["role"], block) for block in content] if isinstance(content, list) else [message]
