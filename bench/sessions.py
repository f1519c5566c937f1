"""Makes Claude Code sessions of any size, the same every time: people, parallel calls, tool output, progress rows."""

import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

START = datetime(2026, 11, 1, tzinfo=UTC)
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "or", "pa", "que", "ri", "so", "tu", "ver", "xi")
WORDS = tuple(a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES[:4])


def session_rows(seed: int = 7) -> Iterator[dict[str, Any]]:
    """Rows without end, in turns of about 40 KB."""
    rng = random.Random(seed)
    number = 0

    def row(kind: str, message: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        clock = START + timedelta(seconds=7 * number)
        base = {
            "type": kind,
            "uuid": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            "parentUuid": None,
            "sessionId": "00000000-0000-4000-8000-0000000000be",
            "cwd": "/home/me/app",
            "timestamp": clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "isSidechain": False,
        }
        return base | ({"message": message} if message else {}) | more

    turn = 0
    while True:
        turn += 1
        yield row(
            "user", {"role": "user", "content": f"T-{turn % 40}: {_prose(rng, 40)} Never touch src/gen_{turn % 9}.py."}
        )
        for step in range(6):
            calls = [f"toolu_{turn:06d}{step}{n}" for n in range(1 + step % 3)]
            for call in calls:
                given = {"command": f"pytest tests/test_{step}.py -q", "description": _prose(rng, 6)}
                block = {"type": "tool_use", "id": call, "name": "Bash", "input": given}
                content = {"role": "assistant", "id": f"msg_{turn}_{step}", "content": [block]}
                yield row("assistant", content)
                yield row("progress", None, data={"type": "bash_progress", "output": _prose(rng, 60)})
            for call in calls:
                text = "\n".join(f"{n}\t{_prose(rng, 9)}" for n in range(rng.randrange(20, 60)))
                block = {"type": "tool_result", "tool_use_id": call, "content": text}
                yield row("user", {"role": "user", "content": [block]}, toolUseResult={"stdout": text})
        closing = {"type": "text", "text": f"Done with step {turn}. {_prose(rng, 50)}"}
        yield row("assistant", {"role": "assistant", "id": f"msg_{turn}_end", "content": [closing]})


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def write_rows(path: Path, size_bytes: int, rows: Iterator[dict[str, Any]]) -> int:
    """Appends whole rows until the file has grown by `size_bytes`; returns how many."""
    written = count = 0
    with path.open("ab") as file:
        while written < size_bytes:
            written += file.write(orjson.dumps(next(rows)) + b"\n")
            count += 1
    return count
