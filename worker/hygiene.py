"""Keeping a workspace clean: what is interrupted is finished, MEMORY.md is tidied, what nobody names any more leaves.

Nothing here can change what a session is known by: checkpoints are not touched, people's lines neither, nor an artifact
that a checkpoint still names. The report says what the bytes on disk say, before and after; no step reports its own
success.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from worker.adapters.agent_summaries import AgentSummaries
from worker.adapters.files import storage_errors, sweep_temporary
from worker.adapters.history_file import HistoryFile
from worker.adapters.memory_file import MemoryFile
from worker.adapters.parts_cache import FileParts
from worker.adapters.projections import FileProjections
from worker.adapters.sessions import FileArtifacts, FileCheckpoints, session_folders
from worker.adapters.view_file import ViewFile
from worker.asking import AskContext, added_use, ask_memory
from worker.core.checkpoint import Checkpoint, ModelUse
from worker.core.memory import MAX_MEMORY_LINES, MemoryOperation, parse
from worker.core.rebuilding import without_replaced
from worker.core.session_key import session_label
from worker.core.summary import short_handle
from worker.errors import AfterturnError
from worker.forgetting import finish_forgetting
from worker.locating import Place
from worker.log import log_event
from worker.ports import Clock
from worker.summarize import Asker

ARTIFACT_DAYS = 30
MAX_NEWS_SESSIONS = 8
"""Of one night: each is a question of its own, for message ids mean something within one session only."""

MAX_NEWS_CHARS = 12_000
MAX_NEWS_LINE_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A workspace and what is needed to keep it. asker: None tidies without a model."""

    place: Place
    clock: Clock
    zone: tzinfo
    asker: Asker | None = None
    artifact_days: int = ARTIFACT_DAYS

    @property
    def root(self) -> Path:
        return self.place.root

    def projections(self) -> FileProjections:
        return FileProjections(self.root, self.clock, self.zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneReport:
    """What changed on disk. memory_in, memory_out: lines of MEMORY.md. removed: files by kind, freed_bytes in all.

    projected, forgotten: sessions of which something was finished. refused: proposals of the model that broke a rule.
    problems: steps that could not be done, one line each.
    """

    memory_in: tuple[str, ...] = ()
    memory_out: tuple[str, ...] = ()
    history_bytes: int = 0
    removed: dict[str, int] = field(default_factory=dict)
    freed_bytes: int = 0
    projected: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    use: ModelUse = field(default_factory=ModelUse)

    @property
    def changed(self) -> bool:
        return bool(self.memory_in or self.memory_out or self.history_bytes or self.removed)


def hygiene(house: House, *, since: datetime | None = None, asks: bool = True) -> HygieneReport:
    """Cleans the workspace; a step that fails is named and does not keep the others from being done.

    since: a model is asked about sessions with checkpoints from then on, None for those of the last day. asks: False
    leaves the model out.
    """
    before = _Snapshot(house.root)
    steps = _Steps(house)
    sweep_temporary(house.root)
    steps.take("forgotten", lambda: finish_forgetting(house.place, clock=house.clock, zone=house.zone))
    steps.take("projected", lambda: finish_projections(house))
    steps.take("refused", lambda: _tidy(house))
    if asks and house.asker is not None:
        asking = _Asking(house, house.asker)
        steps.take("refused", lambda: asking.tidy(since or house.clock.now() - timedelta(days=1)))
        steps.use = asking.use
    steps.take("problems", lambda: _retain_artifacts(house))
    steps.take("problems", lambda: _retain_others(house))
    return steps.report(before, _Snapshot(house.root))


def unfinished_projections(root: Path) -> list[str]:
    """The sessions whose newest checkpoint has no entry in HISTORY.md: a run was killed between the two."""
    told = {mark.id for _, mark in HistoryFile(root).every_mark()}
    checkpoints = FileCheckpoints(root)
    newest = ((key, checkpoints.newest_number(key)) for key in checkpoints.sessions())
    return [key for key, number in newest if number is not None and checkpoints.id_of(key, number) not in told]


def finish_projections(house: House) -> list[str]:
    """Writes what is missing; the sessions concerned."""
    unfinished = unfinished_projections(house.root)
    for key in unfinished:
        house.projections().project(key)
    return unfinished


class _Steps:
    """Does the steps one by one and collects what they say."""

    def __init__(self, house: House) -> None:
        self.use = ModelUse()
        self._root = house.root
        self._said: dict[str, list[str]] = {"forgotten": [], "projected": [], "refused": [], "problems": []}

    def take(self, name: str, step: Callable[[], Sequence[str]]) -> None:
        try:
            self._said[name] += step()
        except AfterturnError as exc:
            self._said["problems"].append(f"{exc.reason}: {exc}")

    def report(self, before: "_Snapshot", after: "_Snapshot") -> HygieneReport:
        said: dict[str, Any] = {name: tuple(lines) for name, lines in self._said.items()}
        report = replace(difference(before, after), use=self.use, **said)
        log_event("workspace_cleaned", removed=report.removed, problems=len(report.problems))
        return report


# MEMORY.md.


def _tidy(house: House) -> list[str]:
    """Without a model: doubles out, corrections in the place of what they correct, within the limits."""
    revision = house.projections().tidy(lambda _: (), sources={}, session="")
    return [f"{each.id}: {each.reason}" for each in revision.refused]


class _Asking:
    """Asks the model about what is new, one session at a time, and has the answer applied by rule."""

    def __init__(self, house: House, asker: Asker) -> None:
        self.use = ModelUse()
        self._house = house
        self._asker = asker

    def tidy(self, since: datetime) -> list[str]:
        refused = []
        for checkpoint in self._news(since):
            sources = {said.id: said.text for said in checkpoint.summary.user_messages}
            revision = self._house.projections().tidy(
                lambda text, sources=sources: self._ask(text, sources),  # type: ignore[misc]
                sources=sources,
                session=session_label(checkpoint.session.key),
            )
            refused += [f"{each.id}: {each.reason}" for each in revision.refused]
        return refused

    def _news(self, since: datetime) -> list[Checkpoint]:
        """The newest checkpoints of the sessions that came on since then, newest first."""
        checkpoints = FileCheckpoints(self._house.root)
        newest = (checkpoints.latest(key) for key in checkpoints.sessions())
        fresh = [one for one in newest if one is not None and one.created_at >= since and one.summary.user_messages]
        return sorted(fresh, key=lambda one: one.created_at, reverse=True)[:MAX_NEWS_SESSIONS]

    def _ask(self, text: str, sources: dict[str, str]) -> Sequence[MemoryOperation]:
        bullets = parse(text).bullets
        lines = len(parse(text).lines)
        proposed = ask_memory(
            entries=[f"{one.id} [{one.section}] {one.text} ({one.date.isoformat()})" for one in bullets],
            news=list(_news_lines(sources)),
            model=self._asker.model,
            prompts=self._asker.prompts,
            context=AskContext(
                today=self._house.clock.now().astimezone(self._house.zone).date(),
                summary_tokens=self._asker.summary_tokens,
            ),
            fence=self._asker.new_fence(),
            limit_lines=len(bullets) if lines >= MAX_MEMORY_LINES else None,
        )
        self.use = added_use(self.use, proposed.use)
        return proposed.proposal or ()


def _news_lines(sources: dict[str, str]) -> Iterator[str]:
    """What people said, newest first, within bounds; each with the id that an operation cites."""
    room = MAX_NEWS_CHARS
    for name, text in reversed(sources.items()):
        line = f"{name}: {' '.join(text.split())[:MAX_NEWS_LINE_CHARS]}"
        room -= len(line)
        if room < 0:
            return
        yield line


# What nobody names any more.


def _retain_artifacts(house: House) -> list[str]:
    """Removes old artifacts that no live checkpoint and no view names; of a session that cannot be read none."""
    problems = []
    for key in session_folders(house.root):
        try:
            _retain_artifacts_of(house, key)
        except AfterturnError as exc:
            problems.append(f"{exc.reason}: {exc}")
    return problems


def _retain_artifacts_of(house: House, key: str) -> None:
    artifacts = FileArtifacts(house.root)
    limit = house.clock.now() - timedelta(days=house.artifact_days)
    ViewFile(house.root, key).retire(older_than=limit)
    old = [handle for handle in artifacts.handles(key) if artifacts.stored_at(key, handle) < limit]
    if not old:
        return
    live = _named_handles(FileCheckpoints(house.root).chain(key))
    shown = ViewFile(house.root, key).named_handles()
    for handle in old:
        if handle not in live and short_handle(handle) not in shown:
            artifacts.remove(key, handle)


def _named_handles(chain: Sequence[Checkpoint]) -> set[str]:
    told = without_replaced(chain)
    return {artifact.handle for one in told for artifact in one.summary.artifacts + one.ledger.artifacts}


def _retain_others(house: House) -> list[str]:
    FileParts(house.root).sweep()
    AgentSummaries(house.root).sweep(older_than=house.clock.now() - timedelta(days=house.artifact_days))
    return []


# What the bytes say.


class _Snapshot:
    """The files of a workspace with their sizes, and the texts that people read."""

    def __init__(self, root: Path) -> None:
        with storage_errors(root):
            self.sizes = dict(_sizes(root))
        self.memory = MemoryFile(root).text()
        self.history_bytes = sum(size for name, size in self.sizes.items() if _is_history(name))


def _sizes(root: Path) -> Iterator[tuple[str, int]]:
    """Other processes write while we look: a temporary file that is gone by now was never there."""
    for path in root.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path.relative_to(root).as_posix(), path.stat().st_size


def _is_history(name: str) -> bool:
    return name == "HISTORY.md" or name.startswith("history/")


def difference(before: _Snapshot, after: _Snapshot) -> HygieneReport:
    """What was done to the files between two looks at them."""
    gone = {name: size for name, size in before.sizes.items() if name not in after.sizes}
    lines_before, lines_after = Counter(before.memory.splitlines()), Counter(after.memory.splitlines())
    kinds = Counter(kind for name in gone if (kind := _kind_of(name)))
    return HygieneReport(
        memory_in=tuple(line for line in (lines_after - lines_before).elements() if line.strip()),
        memory_out=tuple(line for line in (lines_before - lines_after).elements() if line.strip()),
        history_bytes=after.history_bytes - before.history_bytes,
        removed=dict(sorted(kinds.items())),
        freed_bytes=sum(size for name, size in gone.items() if _kind_of(name)),
    )


def _kind_of(name: str) -> str | None:
    """What a file of the workspace is; None for those whose coming and going is nobody's concern (locks, records)."""
    if name.endswith(".tmp"):
        return "temporary_files"
    if "/artifacts/" in name:
        return "artifacts" if name.endswith(".txt") else None
    if "/checkpoints/" in name:
        return "checkpoints"
    if name.startswith(".afterturn/parts/"):
        return "part_answers"
    return "agent_summaries" if name.startswith(".afterturn/agent-summaries/") else None
