"""MEMORY.md and HISTORY.md of one workspace, brought up to the checkpoints that its sessions have.

The order makes every kill harmless: what leaves MEMORY.md is told in HISTORY.md first, then MEMORY.md is written, then
the record of it, and last the entries whose markers say that a checkpoint is projected. No step does anything twice.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import chain
from pathlib import Path

from worker.adapters.files import locked, storage_errors
from worker.adapters.history_file import HistoryFile
from worker.adapters.memory_file import MemoryFile
from worker.adapters.sessions import FileCheckpoints
from worker.core.checkpoint import Checkpoint
from worker.core.history import MAX_HISTORY_BYTES, departures_entry, history_entry
from worker.core.memory import MemoryOperation, MemoryRecord
from worker.core.remembering import Proposals, Revision, propose, revise, tidy_memory
from worker.core.session_key import session_label
from worker.ports import Clock

LOCK_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """What one checkpoint brings for both files."""

    id: str
    name: str
    proposals: Proposals
    entry: str


class FileProjections:
    """`ports.Projections` over a workspace folder."""

    def __init__(
        self,
        workspace: Path,
        clock: Clock,
        zone: tzinfo,
        *,
        max_history_bytes: int = MAX_HISTORY_BYTES,
        lock_wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> None:
        self._clock = clock
        self._zone = zone
        self._checkpoints = FileCheckpoints(workspace)
        self._history = HistoryFile(workspace, max_bytes=max_history_bytes)
        self._memory = MemoryFile(workspace)
        self._lock = workspace / ".afterturn" / "workspace.lock"
        self._lock_wait_seconds = lock_wait_seconds

    def project(self, session_key: str) -> list[str]:
        """Brings both files up to the newest checkpoint of the session; names what was written, one line each.

        Raises: SessionBusy when another process holds the workspace too long, StorageUnavailable; a next run goes on.
        """
        with self._locked():
            self._history.finish_append()
            news = list(self._news(session_key, behind=self._newest_projected(session_key)))
            return self._bring_up(news) if news else []

    def rebuild(self) -> list[str]:
        """Adds every entry and bullet that any checkpoint of the workspace should have and the files lack.

        What a person deleted from MEMORY.md stays out. Nothing that stands is rewritten.
        """
        with self._locked():
            self._history.finish_append()
            return self._bring_up(list(self._all_news()))

    def tidy(
        self, ask: Callable[[str], Sequence[MemoryOperation]], *, sources: Mapping[str, str], session: str
    ) -> Revision:
        """MEMORY.md after what `ask` proposes for its text: asked without the lock, applied to the file as it is then.

        sources: message id → what a person said there; session: the label of the session whose ids those are.
        """
        operations = ask(self._memory.text())
        with self._locked():
            self._history.finish_append()
            revision = tidy_memory(
                self._memory.text(),
                operations,
                self._memory.record(),
                sources=sources,
                session=session,
                now=self._clock.now(),
                zone=self._zone,
            )
            self._write_memory(revision)
            return revision

    def forget(self, session_key: str, tombstone: str, *, ids: Iterable[str], put_away: Callable[[], None]) -> None:
        """Takes all that a session said out of both files; HISTORY.md keeps the tombstone.

        put_away: takes the checkpoints away, in the same lock, so that nobody projects them in between. ids: of all
        items that the session had. What another session says too is written again as that one's.
        """
        label = session_label(session_key)
        with self._locked():
            self._history.finish_append()
            put_away()
            self._memory.forget(label, ids, now=self._clock.now())
            self._history.forget(label, tombstone)
            self._bring_up(list(self._all_news()))

    def _bring_up(self, news: Sequence[_News]) -> list[str]:
        written = self._write_memory(self._revised(news))
        missing = {each.id: each for each in news}
        for mark in self._history.marks():
            missing.pop(mark.id, None)
        self._history.append([each.entry for each in missing.values()])
        return [*written, *(f"HISTORY.md: {each.name}" for each in missing.values())]

    def _revised(self, news: Sequence[_News]) -> Revision:
        text, record = self._memory.text(), self._memory.record()
        if not text and record.written:
            # The whole file is gone: that says nothing about any single bullet, so all of them come back.
            record = MemoryRecord(gone=record.gone)
            news = list(self._all_news())
        proposals = sorted((each.proposals for each in news), key=lambda each: each.stated_at)
        return revise(text, proposals, record, now=self._clock.now(), told=self._history.departure_keys())

    def _write_memory(self, revision: Revision) -> list[str]:
        departures = revision.departures()
        told = self._history.departure_keys() if departures else set()
        untold = [each for each in departures if each.key not in told]
        now = self._clock.now()
        if untold:
            self._history.append([departures_entry(untold, now=now, zone=self._zone)])
        has_changed = self._memory.write(revision.text, now=now)
        self._memory.write_record(revision.record)
        return [f"MEMORY.md: {len(revision.added)} added, {len(revision.left)} taken out"] if has_changed else []

    def _newest_projected(self, session_key: str) -> int:
        """The newest checkpoint that has an entry, 0 for none; entries of a forgotten chain do not count."""
        label = session_label(session_key)
        ids = {mark.number: mark.id for mark in self._history.marks() if mark.session == label}
        held = (number for number in sorted(ids, reverse=True) if self._is(session_key, number, ids[number]))
        return next(held, 0)

    def _is(self, session_key: str, number: int, checkpoint_id: str) -> bool:
        return self._checkpoints.id_of(session_key, number) == checkpoint_id

    def _all_news(self) -> Iterator[_News]:
        return chain.from_iterable(self._news(key, behind=0) for key in self._checkpoints.sessions())

    def _news(self, session_key: str, *, behind: int) -> Iterator[_News]:
        """What the checkpoints behind a number bring, oldest first; two checkpoints are held at a time."""
        previous: Checkpoint | None = None
        for number in self._checkpoints.numbers(session_key):
            if number < behind:
                continue
            checkpoint = self._checkpoints.load(session_key, number)
            if number > behind:
                yield self._news_of(checkpoint, previous)
            previous = checkpoint

    def _news_of(self, checkpoint: Checkpoint, previous: Checkpoint | None) -> _News:
        return _News(
            id=checkpoint.id,
            name=f"{checkpoint.session.key} checkpoint {checkpoint.number}",
            proposals=propose(checkpoint, previous, zone=self._zone),
            entry=history_entry(checkpoint, previous, zone=self._zone),
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with storage_errors(self._lock.parent), locked(self._lock, wait_seconds=self._lock_wait_seconds):
            yield
