"""What a night has to know before it can plan: which sessions went on, which need a model, which must rest.

Files are looked at, not read, but for the chains of checkpoints: whether there is anything new is decided by whoever
reads it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from worker.adapters.sessions import FileCheckpoints
from worker.consolidate import Tools, find_chain
from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.nightly import RETRY_DAYS, LeftOut, NightRules, SessionFacts, Work, chain_needs
from worker.errors import StoreError, TranscriptError
from worker.forgetting import is_forgotten
from worker.hygiene import House
from worker.night_record import DoneStep, NightRecord
from worker.transcripts import open_transcript
from worker.verifying import RangeReader

BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a night works with. tools: without a tail and not manual. transcripts: of sessions that may be new here.

    read_range: how verification reads transcripts, None to leave them out. holding: keeps others from a session, given
    by its key, while a step works on it; it raises SessionBusy while another has it.
    """

    house: House
    tools: Tools
    rules: NightRules
    transcripts: tuple[Path, ...] = ()
    read_range: RangeReader | None = None
    holding: Callable[[str], AbstractContextManager[object]] = nullcontext


def gather(night: Night, earlier: Sequence[NightRecord]) -> tuple[list[SessionFacts], list[LeftOut]]:
    """What is known of every session of the workspace and of the transcripts that were handed in.

    earlier: records of the nights before. Sessions whose files cannot be read are left out, with the reason.
    """
    checkpoints = FileCheckpoints(night.house.root)
    handed_in, left = _handed_in(night)
    tried = _tried_again(earlier, night)
    tired = {step.session for step in tried if _is_no_better(step)}
    rebuilt = {step.session for step in tried if step.work is Work.REBUILD}
    facts = []
    for key in checkpoints.sessions():
        try:
            chain = checkpoints.chain(key)
        except StoreError:
            left.append(LeftOut(work=Work.CONSOLIDATE, session=key, reason="damaged"))
            continue
        known = _facts_of(chain, handed_in.pop(key, None), night)
        # A contradiction that the last rebuild left is one that the next leaves too.
        has_conflict = known.has_conflict and key not in rebuilt
        facts.append(replace(known, rests=key in tired, has_conflict=has_conflict))
    facts += [_facts_of_new(key, path, night) for key, path in handed_in.items()]
    return facts, left


def _handed_in(night: Night) -> tuple[dict[str, Path], list[LeftOut]]:
    found: dict[str, Path] = {}
    left: list[LeftOut] = []
    for path in night.transcripts:
        try:
            transcript = open_transcript(path, max_row_bytes=night.tools.max_row_bytes)
            session, _ = find_chain(transcript, FileCheckpoints(night.house.root))
        except (TranscriptError, StoreError) as exc:
            left.append(LeftOut(work=Work.CONSOLIDATE, session=str(path), reason=exc.reason))
        else:
            found[session.key] = path
    return found, left


def _tried_again(earlier: Sequence[NightRecord], night: Night) -> list[DoneStep]:
    """What was summarized again in the last nights."""
    limit = night.tools.today(night.house.clock.now()) - timedelta(days=RETRY_DAYS)
    steps = [step for record in earlier if record.day > limit for step in record.done]
    return [step for step in steps if step.work in (Work.REDO, Work.REBUILD)]


def _is_no_better(step: DoneStep) -> bool:
    """An outage says nothing about the session: that is tried again in the next night."""
    if step.outcome == Outcome.COMMITTED:
        return step.status != "ok"
    return step.reason not in ("model_unavailable", "rate_limited", "session_busy", "storage_unavailable")


def _facts_of(chain: Sequence[Checkpoint], handed_in: Path | None, night: Night) -> SessionFacts:
    newest = chain[-1]
    path = Path(newest.session.source)
    if handed_in is not None and not path.is_file():
        path = handed_in
    needs = chain_needs(chain)
    size, written_at = _size_and_time(path)
    return SessionFacts(
        session=newest.session.key,
        source=str(path),
        waiting_since=written_at or newest.created_at,
        unread_tokens=_unread_tokens(newest, size, written_at),
        idle_seconds=(night.house.clock.now() - written_at).total_seconds() if written_at else None,
        redo=needs.redo,
        redo_tokens=needs.redo_tokens,
        since_rebuild=needs.since_rebuild,
        has_conflict=needs.has_conflict,
        covered_tokens=needs.covered_tokens,
    )


def _facts_of_new(key: str, path: Path, night: Night) -> SessionFacts:
    size, written_at = _size_and_time(path)
    now = night.house.clock.now()
    return SessionFacts(
        session=key,
        source=str(path),
        waiting_since=written_at or now,
        unread_tokens=max(1, size // BYTES_PER_TOKEN),
        idle_seconds=(now - written_at).total_seconds() if written_at else None,
        forgotten=is_forgotten(night.house.place, key),
    )


def _unread_tokens(newest: Checkpoint, size: int, written_at: datetime | None) -> int | None:
    """Roughly what lies behind the cursor; None when nothing does. Documents only tell a time."""
    if written_at is None:
        return None
    offset = newest.cursor.offset
    if offset is None:
        return max(1, size // BYTES_PER_TOKEN) if written_at > newest.created_at else None
    if size == offset:
        return None
    return max(1, (size - offset if size > offset else size) // BYTES_PER_TOKEN)


def _size_and_time(path: Path) -> tuple[int, datetime | None]:
    """0 and None for a file that is gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, None
    return found.st_size, datetime.fromtimestamp(found.st_mtime, UTC)
