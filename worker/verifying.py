"""Checks everything that a workspace keeps against what it was made from; changes nothing.

Checkpoints against their own hashes and each other, transcripts against the hashes of their ranges, artifacts against
their names, HISTORY.md and MEMORY.md against the checkpoints.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from worker.adapters.history_file import HistoryFile
from worker.adapters.memory_file import MemoryFile
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.core.checkpoint import Checkpoint
from worker.core.memory import MAX_MEMORY_BYTES, MAX_MEMORY_LINES, parse
from worker.core.messages import message_index
from worker.core.rebuilding import span_of
from worker.core.session_key import key_of_label
from worker.errors import AfterturnError, StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One contradiction. where: a file, relative to the workspace. what: one line for a person."""

    where: str
    what: str


RangeReader = Callable[[Checkpoint], str | None]
"""Gives the hash of a checkpoint's range as its transcript reads now, None when the transcript is gone."""


def verify(
    workspace: Path, *, sessions: Sequence[str] | None = None, read_range: RangeReader | None = None
) -> list[Problem]:
    """Every problem of the workspace, or of the named sessions and the files that all share; none when all is well."""
    checkpoints = FileCheckpoints(workspace)
    every_session = checkpoints.sessions()
    covered: dict[str, int] = {}
    problems: list[Problem] = []
    ids: dict[str, str] = {}
    for key in every_session if sessions is None else sessions:
        check = _SessionCheck(workspace, key, read_range)
        problems += check.problems()
        covered[key] = check.covered
        ids |= check.ids
    problems += _history_problems(workspace, ids)
    problems += _memory_problems(workspace, set(every_session), covered)
    return problems


class _SessionCheck:
    """One session's chain, walked once from its beginning; one checkpoint is held at a time."""

    def __init__(self, workspace: Path, session_key: str, read_range: RangeReader | None) -> None:
        self._workspace = workspace
        self._key = session_key
        self._read_range = read_range
        self._checkpoints = FileCheckpoints(workspace)
        self._artifacts = FileArtifacts(workspace)
        self.covered = 0
        self.ids: dict[str, str] = {}

    def problems(self) -> Iterator[Problem]:
        """The problems of the session. `ids` (id → file) and `covered` are complete once all were taken."""
        previous: Checkpoint | None = None
        named: set[tuple[str, int]] = set()
        for position, number in enumerate(self._checkpoints.numbers(self._key), start=1):
            where = self._where(self._checkpoints.path(self._key, number))
            if number != position:
                yield Problem(where=where, what=f"checkpoint {position} is missing; restore it from a backup")
                return
            try:
                checkpoint = self._checkpoints.load(self._key, number)
            except AfterturnError as exc:
                yield Problem(where=where, what=str(exc))
                previous = None
                continue
            self.ids[checkpoint.id] = where
            self.covered = checkpoint.covered
            named = _still_named(named, checkpoint)
            yield from (Problem(where=where, what=what) for what in self._contradictions(checkpoint, previous))
            previous = checkpoint
        yield from self._artifact_problems({handle for handle, _ in named})

    def _contradictions(self, checkpoint: Checkpoint, previous: Checkpoint | None) -> Iterator[str]:
        if checkpoint.session.key != self._key:
            yield f"belongs to session {checkpoint.session.key}"
        if self._checkpoints.path(self._key, checkpoint.number).stem != f"{checkpoint.number:06d}":
            yield f"calls itself number {checkpoint.number}"
        if previous is None:
            if checkpoint.number == 1 and checkpoint.parent is not None:
                yield "is the first and names a parent"
        else:
            yield from _breaks(checkpoint, previous)
        if self._read_range is not None:
            yield from self._range_problems(checkpoint, self._read_range)

    def _range_problems(self, checkpoint: Checkpoint, read_range: RangeReader) -> Iterator[str]:
        try:
            found = read_range(checkpoint)
        except AfterturnError as exc:
            yield f"its transcript cannot be read: {exc}"
            return
        if found is not None and found != checkpoint.range.sha256:
            span = f"m{checkpoint.range.start}–m{checkpoint.range.end - 1}"
            yield f"{checkpoint.session.source} changed in {span} since this was written"

    def _artifact_problems(self, named: set[str]) -> Iterator[Problem]:
        for handle in sorted(named | set(self._artifacts.handles(self._key))):
            where = self._where(self._artifacts.path(self._key, handle))
            try:
                self._artifacts.get(self._key, handle)
            except StoreError as exc:
                yield Problem(where=where, what=str(exc))

    def _where(self, path: Path) -> str:
        return path.relative_to(self._workspace).as_posix()


def _still_named(named: set[tuple[str, int]], checkpoint: Checkpoint) -> set[tuple[str, int]]:
    """(handle, index of its message) of all that the chain names so far; what is replaced may leave with retention."""
    span = span_of(checkpoint)
    kept = {one for one in named if not (checkpoint.replaces and span.start <= one[1] < span.end)}
    artifacts = checkpoint.summary.artifacts + checkpoint.ledger.artifacts
    return kept | {(artifact.handle, message_index(artifact.message) or 0) for artifact in artifacts}


def _breaks(checkpoint: Checkpoint, previous: Checkpoint) -> Iterator[str]:
    """How a checkpoint fails to continue the one before; one that was summarized again covers what that one covers."""
    if checkpoint.parent != previous.id:
        yield f"does not continue checkpoint {previous.number}: its parent is another"
    if checkpoint.replaces:
        if checkpoint.covered != previous.covered or checkpoint.range.end > previous.covered:
            yield f"summarizes again, and does not cover what checkpoint {previous.number} covers"
    elif checkpoint.range.chain == previous.range.chain and checkpoint.range.start != previous.covered:
        yield f"begins at m{checkpoint.range.start}, checkpoint {previous.number} ends before m{previous.covered}"


def _history_problems(workspace: Path, ids: dict[str, str]) -> Iterator[Problem]:
    """Entries that stand twice, and checkpoints that have none. ids: checkpoint id → its file."""
    entries = HistoryFile(workspace).every_mark()
    counts = Counter(mark.id for _, mark in entries)
    files = {mark.id: path for path, mark in entries}
    for name, count in counts.items():
        if count > 1:
            where = f"history/{files[name].name}" if files[name].parent.name == "history" else "HISTORY.md"
            yield Problem(where=where, what=f"the entry of checkpoint {name[:12]} stands {count} times")
    for name, where in ids.items():
        if name not in counts:
            yield Problem(where=where, what="has no entry in HISTORY.md; the next run adds it")


def _memory_problems(workspace: Path, sessions: set[str], covered: dict[str, int]) -> Iterator[Problem]:
    """A file over its limits, and bullets of ours whose source does not exist."""
    text = MemoryFile(workspace).text()
    page = parse(text)
    size = len(text.encode("utf-8", "surrogateescape"))
    if page.bullets and (len(page.lines) > MAX_MEMORY_LINES or size > MAX_MEMORY_BYTES):
        what = f"{len(page.lines)} lines, {size} bytes; the limits are {MAX_MEMORY_LINES} and {MAX_MEMORY_BYTES}"
        yield Problem(where="MEMORY.md", what=what)
    for bullet in page.bullets:
        key = key_of_label(bullet.session)
        if key not in sessions:
            yield Problem(where="MEMORY.md", what=f"{bullet.id} cites session {bullet.session}, which is not kept here")
        elif any((message_index(name) or 0) >= covered.get(key, 0) for name in bullet.evidence if key in covered):
            yield Problem(where="MEMORY.md", what=f"{bullet.id} cites a message that {bullet.session} does not cover")
