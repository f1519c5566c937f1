"""Recorded sessions go through pairing, sealing, tidying and splitting without losing a message."""

import os
from pathlib import Path

import pytest

from worker.core.material import shown_all, shown_tokens
from worker.core.offloading import restore
from worker.core.pairing import pair
from worker.core.planning import limits_for
from worker.core.sealing import seal
from worker.core.splitting import split
from worker.core.tidying import tidy
from worker.core.tokens import with_margin
from worker.transcripts import open_transcript

DATA = Path(os.environ.get("AFTERTURN_TEST_DATA", "."))
FOLDERS = ("claude-code", "pi", "gemini-cli", "openai-style")
PATHS = [path for folder in FOLDERS for path in sorted((DATA / folder).glob("*"))]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("AFTERTURN_TEST_DATA" not in os.environ, reason="AFTERTURN_TEST_DATA is not set"),
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_recorded_session_is_sealed_tidied_and_split(path: Path) -> None:
    messages = list(open_transcript(path).read())
    pairing = pair(messages)
    tokens = shown_tokens(messages, pairing)
    limits = limits_for(200_000)
    sealed = seal(
        messages,
        tokens,
        pairing,
        keep_recent_tokens=None,
        max_tokens=limits.range_tokens,
        turn_tokens=limits.usable_tokens,
    )
    assert sealed.end == len(messages)
    assert max(group.end - group.start for group in pairing.groups) < 50
    tidied = tidy(messages, pairing, tokens)
    again = tidy(tidied.messages, pairing, tidied.tokens)
    assert again.messages == tidied.messages
    assert not again.offloads
    restored = restore(tidied.messages, tidied.offloads)
    for offload in tidied.offloads:
        (position,) = (at for at, message in enumerate(messages) if message.index == offload.index)
        assert restored[position] == messages[position]
    parts = split(tidied.messages, pairing, budget=limits.part_tokens, tokens=tidied.tokens)
    assert all(with_margin(part.tokens) <= limits.part_tokens + 1 for part in parts)
    held = [message.index for part in parts for message in part.messages]
    assert sorted(held) == [message.index for message in messages]
    shown = {
        f"m{message.index}" for message, text in zip(messages, shown_all(tidied.messages, pairing), strict=True) if text
    }
    assert {piece.id for part in parts for piece in part.pieces} == shown
