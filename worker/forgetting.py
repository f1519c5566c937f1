"""`afterturn forget`: a session leaves with all that was kept of it; HISTORY.md keeps one line that there was one.

    announce → put the session's folder away and take its lines out → delete → mark as done

The announcement comes first and the mark last, and no step minds being done twice: so what a kill interrupts is
finished by the next `forget` or by the nightly hygiene. The transcript is the agent's, and stays. A run of it later,
asked for by a person, is a new beginning; the nightly job does not make one by itself.
"""

import shutil
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from worker.adapters.agent_summaries import AgentSummaries
from worker.adapters.files import make_folder, read_if_there, storage_errors, write_atomically
from worker.adapters.parts_cache import FileParts
from worker.adapters.projections import FileProjections
from worker.adapters.recall_index import RecallIndex
from worker.adapters.sessions import FileCheckpoints
from worker.core.history import tombstone
from worker.core.session_key import is_session_key, session_label
from worker.errors import StoreError, UsageError
from worker.locating import Place
from worker.log import log_event
from worker.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What is known of a session that is gone. checkpoints, covered: how many there were, and of how many messages.

    ids: of the items that its lines in MEMORY.md can have come from; empty once done.
    """

    session: str
    at: datetime
    checkpoints: int
    covered: int
    ids: tuple[str, ...] = ()
    done: bool = False


def forget(place: Place, session_key: str, *, clock: Clock, zone: tzinfo) -> Forgotten:
    """Takes a session out of the workspace; a second time only finishes what the first could not.

    Answers of models that were kept for a retry go as well, those of all sessions: they do not say whose they are.

    Raises: UsageError when nothing of the session is kept, SessionBusy, StorageUnavailable, StoreError.
    """
    if not is_session_key(session_key):
        raise UsageError(f"{session_key[:80]!r} is no session key; 'afterturn status' lists them")
    if not _is_kept(place, session_key):
        raise UsageError(f"{session_key}: nothing of it is kept here")
    going = _record(place, session_key)
    if going is None or going.done or FileCheckpoints(place.root).numbers(session_key):
        going = _announced(place, session_key, clock)
    return _finished(place, going, clock, zone)


def finish_forgetting(place: Place, *, clock: Clock, zone: tzinfo) -> list[str]:
    """Finishes what was interrupted; the keys of those sessions."""
    records = [_read(path) for path in sorted(_folder(place).glob("*.json"))]
    open_ones = [record for record in records if not record.done]
    for record in open_ones:
        _finished(place, record, clock, zone)
    return [record.session for record in open_ones]


def is_forgotten(place: Place, session_key: str) -> bool:
    """Whether the session was forgotten and nobody began it anew."""
    return _record(place, session_key) is not None and not FileCheckpoints(place.root).numbers(session_key)


def _announced(place: Place, session_key: str, clock: Clock) -> Forgotten:
    checkpoints = FileCheckpoints(place.root)
    numbers = checkpoints.numbers(session_key)
    ids: set[str] = set()
    covered = 0
    for number in numbers:
        try:
            checkpoint = checkpoints.load(session_key, number)
        except StoreError:
            continue  # damaged: it goes like the others, and its lines are known by their session
        covered = max(covered, checkpoint.covered)
        ids |= {item.id for item in (*checkpoint.summary.constraints, *checkpoint.summary.memories)}
    going = Forgotten(
        session=session_key, at=clock.now(), checkpoints=len(numbers), covered=covered, ids=tuple(sorted(ids))
    )
    _write(place, going)
    return going


def _finished(place: Place, going: Forgotten, clock: Clock, zone: tzinfo) -> Forgotten:
    key = going.session
    line = tombstone(session_label(key), at=going.at, zone=zone, checkpoints=going.checkpoints, covered=going.covered)
    projections = FileProjections(place.root, clock, zone)
    projections.forget(key, line, ids=going.ids, put_away=lambda: _put_away(place, key))
    AgentSummaries(place.root).forget(key)
    RecallIndex(place.root).remove()
    FileParts(place.root).clear()
    _delete(_trash(place, key))
    done = replace(going, ids=(), done=True)
    _write(place, done)
    log_event("session_forgotten", session=key, checkpoints=going.checkpoints)
    return done


def _put_away(place: Place, session_key: str) -> None:
    """One rename: from then on there is no such session, for nobody."""
    folder, trash = place.root / "sessions" / session_key, _trash(place, session_key)
    if not folder.exists():
        return
    _delete(trash)
    with storage_errors(folder):
        make_folder(trash.parent)
        folder.replace(trash)


def _delete(folder: Path) -> None:
    with storage_errors(folder):
        if folder.exists():
            shutil.rmtree(folder)


def _is_kept(place: Place, session_key: str) -> bool:
    record = _record(place, session_key)
    is_open = record is not None and not record.done
    return is_open or (place.root / "sessions" / session_key).exists()


def _folder(place: Place) -> Path:
    return place.root / ".afterturn" / "forgotten"


def _trash(place: Place, session_key: str) -> Path:
    return _folder(place) / f"{session_key}.going"


def _record_path(place: Place, session_key: str) -> Path:
    return _folder(place) / f"{session_key}.json"


def _record(place: Place, session_key: str) -> Forgotten | None:
    path = _record_path(place, session_key)
    return None if read_if_there(path) is None else _read(path)


def _read(path: Path) -> Forgotten:
    try:
        return _record_type().validate_json(read_if_there(path) or b"")
    except ValidationError as exc:
        raise StoreError(f"{path}: damaged; remove it and run 'afterturn forget' again") from exc


def _write(place: Place, record: Forgotten) -> None:
    write_atomically(_record_path(place, record.session), _record_type().dump_json(record))


@cache
def _record_type() -> TypeAdapter[Forgotten]:
    return TypeAdapter(Forgotten)
