"""Transcripts written by tests, row by row, and what reading them gives."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from worker.core.messages import Message, Origin
from worker.transcripts import Reading, Transcript, open_transcript

Json = dict[str, Any]
Write = Callable[..., Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A file that was read to its end."""

    transcript: Transcript
    reading: Reading
    messages: list[Message]

    @property
    def humans(self) -> list[str]:
        return [message.text for message in self.messages if message.origin is Origin.HUMAN]

    @property
    def origins(self) -> list[str]:
        return [message.origin.value for message in self.messages]


def lines(rows: Iterable[Any]) -> bytes:
    """JSONL of the rows; bytes are lines already."""
    return b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows as JSONL (or bytes as they are) and gives the path."""

    def write_file(content: Any, name: str = "session.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else lines(content))
        return path

    return write_file


@pytest.fixture
def read(write: Write) -> Callable[..., Read]:
    """Reads rows, bytes, or a JSON document (`document=`) from a file of their own."""

    def read_file(content: Any = None, *, document: Any = None, name: str = "session.jsonl") -> Read:
        path = write(json.dumps(document, indent=2).encode() if document is not None else content, name)
        transcript = open_transcript(path)
        reading = transcript.read()
        return Read(transcript=transcript, reading=reading, messages=list(reading))

    return read_file


class ClaudeRows:
    """Rows as Claude Code writes them: each is the child of the one before, unless `parent` says otherwise."""

    def __init__(self) -> None:
        self.count = 0
        self.last: str | None = None

    def row(self, kind: str, *, parent: str | None = "", **fields: Any) -> Json:
        self.count += 1
        row_id = fields.pop("uuid", f"u{self.count}")
        above = self.last if parent == "" else parent
        self.last = row_id
        return {
            "parentUuid": above,
            "isSidechain": False,
            "cwd": "/home/dana/app",
            "sessionId": "5e5510",
            "version": "2.1.20",
            "type": kind,
            "uuid": row_id,
            "timestamp": f"2026-01-23T03:{self.count // 60:02}:{self.count % 60:02}.000Z",
            **fields,
        }

    def user(self, content: Any, **fields: Any) -> Json:
        return self.row("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: Json, message_id: str = "msg_1", model: str = "a-model", **fields: Any) -> Json:
        message = {"id": message_id, "role": "assistant", "model": model, "content": list(blocks)}
        return self.row("assistant", message=message, **fields)

    def says(self, text: str, **fields: Any) -> Json:
        return self.assistant({"type": "text", "text": text}, **fields)

    def calls(self, call_id: str, name: str = "Bash", **fields: Any) -> Json:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {"command": "make test"}}
        return self.assistant(block, **fields)

    def result(self, call_id: str, content: Any = "ok", *, is_error: bool = False, **fields: Any) -> Json:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
        return self.user([block], **fields)

    def queue(self, operation: str, content: str | None = None) -> Json:
        told = {} if content is None else {"content": content}
        return {"type": "queue-operation", "operation": operation, "sessionId": "5e5510", "timestamp": "x", **told}


@pytest.fixture
def claude() -> ClaudeRows:
    return ClaudeRows()
