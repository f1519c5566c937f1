"""A session that grows row by row, a workspace on disk, and the tools to consolidate the one into the other.

Without a model unless a test names one; the clock moves only when told to.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from worker import wiring
from worker.adapters.projections import FileProjections
from worker.adapters.prompts import PromptFiles
from worker.adapters.sessions import FileCheckpoints
from worker.config import Settings
from worker.consolidate import Request, Result, Tools, consolidate
from worker.core.checkpoint import Checkpoint
from worker.locating import Place
from worker.ports import Model
from worker.summarize import Asker
from worker.testing import FakeClock, MemoryParts, RecordedProgress
from worker.verifying import verify

NOW = datetime(2026, 11, 29, 19, 30, tzinfo=UTC)
"""03:30 of the next day in Shanghai: local dates and UTC dates differ."""

Json = dict[str, Any]


class Session:
    """A Claude Code transcript on disk; every method appends rows and gives the id of the last message."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.id = session_id
        self.key = f"claude-code--{session_id}"
        self._count = 0

    def person(self, text: str) -> str:
        return self._append("user", {"role": "user", "content": text})

    def assistant(self, text: str) -> str:
        return self._append("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]})

    def bash(self, command: str, output: str, *, failed: bool = False) -> str:
        return self.tool("Bash", {"command": command}, output, failed=failed)

    def tool(self, name: str, given: Json, output: str, *, failed: bool = False) -> str:
        call = f"toolu_{self.id}_{self._count}"
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        self._append("assistant", {"role": "assistant", "content": [block]})
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        return self._append("user", {"role": "user", "content": [result]})

    def turn(self, request: str) -> "Session":
        """A person asks, a tool answers, the assistant says that it is done: four messages."""
        self.person(request)
        self.bash("make check", f"checked {self._count} files, all well")
        self.assistant("That is looked at.")
        return self

    def is_idle_since(self, moment: datetime) -> "Session":
        """Sets when the file was last written."""
        os.utime(self.path, (moment.timestamp(), moment.timestamp()))
        return self

    def _append(self, kind: str, message: Json) -> str:
        moment = datetime(2026, 11, 28, 3, 0, tzinfo=UTC) + timedelta(seconds=9 * self._count)
        row = {
            "parentUuid": f"u{self._count - 1}" if self._count else None,
            "isSidechain": False,
            "cwd": "/home/dana/orders",
            "sessionId": self.id,
            "type": kind,
            "message": message,
            "uuid": f"u{self._count}",
            "timestamp": moment.isoformat().replace("+00:00", "Z"),
        }
        with self.path.open("ab") as stream:
            stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self._count += 1
        return f"m{self._count - 1}"


@dataclass(slots=True, kw_only=True)
class Desk:
    """One workspace and what is done in it."""

    root: Path
    sources: Path
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    zone: tzinfo = field(default_factory=lambda: ZoneInfo("Asia/Shanghai"))
    progress: RecordedProgress = field(default_factory=RecordedProgress)

    @property
    def place(self) -> Place:
        return Place(root=self.root, run=self.root / ".afterturn")

    def session(self, session_id: str = "5e55") -> Session:
        return Session(self.sources / f"{session_id}.jsonl", session_id)

    def tools(self, model: Model | None = None, **changes: Any) -> Tools:
        settings = Settings.from_env({"AFTERTURN_WORKSPACE": str(self.root), "AFTERTURN_TIMEZONE": "Asia/Shanghai"})
        made = wiring.tools_for(self.place, settings, hold_back=False)
        return replace(
            made,
            clock=self.clock,
            today=lambda moment: moment.astimezone(self.zone).date(),
            projections=FileProjections(self.root, self.clock, self.zone),
            progress=self.progress,
            asker=self.asker(model) if model else None,
            **changes,
        )

    def asker(self, model: Model) -> Asker:
        return Asker(
            model=model,
            prompts=PromptFiles(),
            cache=MemoryParts(),
            progress=self.progress,
            wait=lambda seconds: None,
            new_fence=lambda: "transcript-0f3a",
            concurrency=1,
            retries=0,
            summary_tokens=8_000,
        )

    def run(self, session: Session, model: Model | None = None, **request: Any) -> Result:
        return consolidate(Request(path=session.path, **request), self.tools(model))

    def chain(self, session: Session) -> list[Checkpoint]:
        return FileCheckpoints(self.root).chain(session.key)

    def joined(self, session: Session) -> Checkpoint:
        return wiring.joined(self.chain(session))

    def problems(self) -> list[str]:
        found = verify(self.root, read_range=wiring.range_reader(self.place))
        return [f"{one.where}: {one.what}" for one in found]

    def text(self, name: str) -> str:
        path = self.root / name
        return path.read_text("utf-8") if path.exists() else ""

    def files(self) -> dict[str, bytes]:
        """Every file of the workspace but the locks."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A workspace without a model."""
    (tmp_path / "transcripts").mkdir()
    return Desk(root=tmp_path / "workspace", sources=tmp_path / "transcripts")


DeskMaker = Callable[[Path], Desk]


@pytest.fixture
def grown(desk: Desk) -> Session:
    """A session of three checkpoints: m0–m3, m4–m7, m8–m11; two rules and two tasks, one of them done."""
    session = desk.session()
    session.turn("Work on T-101: rename qty. Never change the database schema.")
    desk.run(session)
    session.turn("T-101 is done. T-102: write the release notes. Always use tabs in the Makefile.")
    desk.run(session)
    session.turn("Look at the billing module.")
    desk.run(session)
    return session
