"""Sessions that grow message by message, consolidated for real without a model, and checkpoints made by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.adapters.sessions import FileCheckpoints
from worker.config import Settings
from worker.consolidate import Request, Result, consolidate
from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.ledger import Ledger
from worker.core.summary import Summary
from worker.locating import Place
from worker.report import Report, report_session

BEGIN = datetime(2026, 11, 27, 10, 0, tzinfo=UTC)
PLANTED = "<script>window.planted = 1</script></script><!-- \u2028 \u202egnp.exe"


class Diary:
    """A transcript of our own format in a folder of its own, and the workspace that keeps it."""

    def __init__(self, folder: Path, name: str = "diary") -> None:
        self.path = folder / f"{name}.jsonl"
        self.workspace = folder / "memory"
        self.settings = Settings(workspace=self.workspace, timezone="Europe/Berlin")
        self.key = f"afterturn--{name}"
        self._rows: list[dict[str, Any]] = []

    @property
    def place(self) -> Place:
        return Place(root=self.workspace, run=self.workspace / ".afterturn")

    def person(self, text: str) -> str:
        return self._add({"role": "user", "content": text})

    def assistant(self, text: str) -> str:
        return self._add({"role": "assistant", "content": text})

    def tool(self, command: str, output: str, name: str = "bash") -> str:
        """A call and its result; the id is the result's."""
        call = f"call-{len(self._rows)}"
        function = {"name": name, "arguments": json.dumps({"command": command})}
        self._add({"role": "assistant", "content": "", "tool_calls": [{"id": call, "function": function}]})
        return self._add({"role": "tool", "content": output, "tool_call_id": call})

    def _add(self, row: dict[str, Any]) -> str:
        at = BEGIN + timedelta(minutes=len(self._rows))
        self._rows.append({**row, "timestamp": at.isoformat()})
        self.write()
        return f"m{len(self._rows) - 1}"

    def write(self) -> None:
        self.path.write_text("".join(json.dumps(row) + "\n" for row in self._rows), encoding="utf-8")

    def change(self, message_id: str, text: str) -> None:
        """What somebody else does to a file that we have read already."""
        self._rows[int(message_id[1:])]["content"] = text
        self.write()

    def consolidate(self, *, hold_back: bool = False) -> Result:
        tools = wiring.tools_for(self.place, self.settings, hold_back=hold_back)
        return consolidate(Request(path=self.path), tools)

    def chain(self) -> list[Checkpoint]:
        return FileCheckpoints(self.workspace).chain(self.key)

    def report(self) -> Report:
        return report_session(self.settings, self.key)


@pytest.fixture
def diary(tmp_path: Path) -> Diary:
    return Diary(tmp_path)


@pytest.fixture
def told(diary: Diary) -> Diary:
    """A diary of two checkpoints and a tail, with a rule, tasks, a failure, a large output and planted text."""
    diary.person(f"Never touch the database schema. T-1: add the export. T-2: rate limit. {PLANTED}")
    diary.assistant("I start with T-1.")
    diary.tool("pytest -q", "E   AssertionError: assert 1 == 2\n1 failed\nexit code: 1")
    diary.tool("cat worker.log", "\n".join(f"line {number}: nothing of note" for number in range(3_000)))
    diary.assistant("The log shows nothing.")
    diary.consolidate()
    diary.person("T-1 is done. Use port 5433, not 5432.")
    diary.tool("pytest -q", "2 passed")
    diary.assistant("Noted, port 5433.")
    diary.consolidate()
    diary.person("What is next?")
    diary.assistant("T-2 is next.")
    return diary


@pytest.fixture(scope="session")
def made() -> Callable[..., Checkpoint]:
    """Makes a checkpoint of the range [start, end); everything else can be given."""

    def make(number: int, start: int, end: int, summary: Summary | None = None, **fields: Any) -> Checkpoint:
        checkpoint = Checkpoint(
            number=number,
            parent=None,
            created_at=BEGIN + timedelta(hours=number),
            session=SessionRef(key="afterturn--made", agent="afterturn", id="made", source="/nowhere/made.jsonl"),
            range=SourceRange(start=start, end=end, sha256=""),
            covered=end,
            status=Status.OK,
            summary=summary or Summary(),
            ledger=Ledger(),
            validation=Validation(),
            model=ModelUse(),
            savings={},
            tokens_before=0,
            tokens_after=0,
            cursor=Cursor(format="plain", index=end),
        )
        return replace(checkpoint, **fields)

    return make
