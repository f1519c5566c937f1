"""What an agent is told at the start of a session, read from one workspace while the agent waits.

Everything here is bounded: the newest checkpoint of a session and a few before it, the beginning of MEMORY.md, never
HISTORY.md, nothing of the network and no model. What cannot be read is left out and named in `problems`, for the log.
`worker.core.briefing` makes the text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from worker.adapters.files import own_file, read_bounded, storage_errors
from worker.adapters.quick_checkpoints import read_checkpoint
from worker.adapters.sessions import FileCheckpoints
from worker.core.briefing import DEFAULT_BUDGET_TOKENS, ProjectMemory, brief
from worker.core.checkpoint import Checkpoint
from worker.core.rebuilding import piled_up_ledgers, without_replaced
from worker.errors import AfterturnError, UsageError
from worker.locating import project_key

MAX_CHECKPOINT_BYTES = 4 * 2**20
OLDER_BYTES = 4 * 2**20
"""Of all the checkpoints before the newest together."""

MAX_MEMORY_BYTES = 64 * 2**10
"""More than twice what MEMORY.md grows to by itself; the rest of a longer one is a person's."""

MAX_CHARS = 9_500
"""Claude Code takes 10,000 characters from a hook; of more it shows the beginning and the name of a file."""

FALL_BACK = 2
"""Checkpoints before a damaged newest one that are tried."""

LOOKED_BACK = 12
"""Checkpoints in which it is looked for what still runs: what was started longer ago is hardly waited for."""

RECENT_SESSIONS = 4

_STATE = ("constraints", "tasks", "problem_solving", "errors", "references", "memories")
_NEWEST = {"summary": (*_STATE, "user_messages"), "ledger": ("background",)}
_OLDER = {"ledger": ("background",)}

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """key: of the session. goes_on_from: keys whose checkpoints may be told as its own, most likely first.

    begins: whether it may be told what another session left open. directory: in which it runs, None when nothing tells.
    """

    key: str
    goes_on_from: Sequence[str] = ()
    begins: bool = True
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class Briefing:
    """text: "" when there is nothing to tell. problems: what could not be read, one line each."""

    text: str
    problems: tuple[str, ...] = ()


def briefing(workspace: Path, start: Start, now: datetime, budget_tokens: int = DEFAULT_BUDGET_TOKENS) -> Briefing:
    """What the workspace has for a session that starts; it raises nothing that a file can cause."""
    reader = _Reader(workspace)
    own = reader.newest_of(start.goes_on_from)
    text = brief(
        own=own,
        newest=reader.newest_session(start) if start.begins and own is None else None,
        memory=reader.memory(),
        session=start.key,
        now=now,
        budget_tokens=budget_tokens,
        max_chars=MAX_CHARS,
    )
    return Briefing(text, tuple(reader.problems))


@dataclass(slots=True)
class _Reader:
    workspace: Path
    problems: list[str] = field(default_factory=list)

    def newest_of(self, keys: Sequence[str]) -> Checkpoint | None:
        """The newest checkpoint of the first of these sessions that has one, with what still counts of its chain."""
        for key in keys:
            numbers = self._or_none(self._store.numbers, key) or []
            for position in range(len(numbers) - 1, max(-1, len(numbers) - 2 - FALL_BACK), -1):
                newest = self._load(key, numbers[position], _NEWEST)
                if newest is not None:
                    return self._joined(newest, numbers[:position])
        return None

    def newest_session(self, start: Start) -> Checkpoint | None:
        """The newest checkpoint of the session of the same project in which somebody spoke last.

        A night summarizes old sessions anew, so the newest file is not always that of the newest session.
        """
        found = []
        for key in self._or_none(self._store.recent, RECENT_SESSIONS) or []:
            number = self._or_none(self._store.newest_number, key)
            checkpoint = self._load(key, number, _NEWEST) if number else None
            if checkpoint is not None and _is_of_project(checkpoint, start.directory):
                found.append(checkpoint)
        return max(found, key=_spoken_at, default=None)

    def memory(self) -> ProjectMemory | None:
        path = self._or_none(own_file, self.workspace, "MEMORY.md")
        data = self._or_none(read_bounded, path, MAX_MEMORY_BYTES + 1) if path else None
        if path is None or not data:
            return None
        return ProjectMemory(
            path=str(self.workspace / "MEMORY.md"),
            text=_whole_lines(data).decode("utf-8", "replace"),
            changed=self._or_none(_changed_at, path),
            is_cut=len(data) > MAX_MEMORY_BYTES,
        )

    def _joined(self, newest: Checkpoint, older: Sequence[int]) -> Checkpoint:
        """The newest state is that of the whole chain; what runs in the background is told only where it began."""
        chain = [newest]
        room = OLDER_BYTES
        for number in reversed(older[-LOOKED_BACK:]):
            room -= self._or_none(_size, self._store.path(newest.session.key, number)) or 0
            checkpoint = self._load(newest.session.key, number, _OLDER) if room >= 0 else None
            if checkpoint is None:
                break
            chain.insert(0, checkpoint)
        told = sorted(without_replaced(chain), key=lambda one: one.range.start)
        return replace(newest, ledger=piled_up_ledgers([one.ledger for one in told]))

    def _load(self, key: str, number: int, wanted: Mapping[str, Sequence[str]]) -> Checkpoint | None:
        path = self._store.path(key, number)
        return self._or_none(lambda: read_checkpoint(path, wanted, max_bytes=MAX_CHECKPOINT_BYTES))

    @property
    def _store(self) -> FileCheckpoints:
        return FileCheckpoints(self.workspace)

    def _or_none(self, read: Callable[..., Read], *arguments: object) -> Read | None:
        try:
            return read(*arguments)
        except AfterturnError as exc:
            self.problems.append(f"{exc.reason}: {exc}")
            return None


def _is_of_project(checkpoint: Checkpoint, directory: str | None) -> bool:
    """One workspace can be named for several projects: their tasks are not those of each other."""
    if checkpoint.session.cwd is None or directory is None:
        return True
    try:
        return project_key(checkpoint.session.cwd) == project_key(directory)
    except UsageError:
        return False


def _spoken_at(checkpoint: Checkpoint) -> datetime:
    spoken = [said.timestamp for said in checkpoint.summary.user_messages if said.timestamp]
    return max(map(_aware, spoken), default=checkpoint.created_at)


def _aware(moment: datetime) -> datetime:
    """Some agents write local time without its zone; an order within a few hours is all that is wanted."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _size(path: Path) -> int:
    with storage_errors(path):
        return path.stat().st_size


def _changed_at(path: Path) -> datetime:
    with storage_errors(path):
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _whole_lines(data: bytes) -> bytes:
    return data if len(data) <= MAX_MEMORY_BYTES else data[: data.rfind(b"\n", 0, MAX_MEMORY_BYTES) + 1]
