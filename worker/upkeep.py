"""Settings to the works that keep a workspace: summarizing again, the night, hygiene, forgetting.

What `wiring` is for a consolidation; nothing is decided here.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from worker import wiring
from worker.adapters.sessions import FileCheckpoints, session_folders
from worker.config import Settings
from worker.consolidate import Request, Result, Tools
from worker.core.nightly import NightRules
from worker.errors import UsageError
from worker.forgetting import Forgotten, forget
from worker.hygiene import House
from worker.locating import Place
from worker.night_facts import Night
from worker.night_record import NightReport
from worker.nightly import nightly
from worker.ports import Progress
from worker.resummarize import resummarize


def resummarize_session(
    settings: Settings,
    named: str,
    *,
    start: int | None = None,
    end: int | None = None,
    instructions: str = "",
    progress: Progress | None = None,
) -> tuple[Place, Result]:
    """Summarizes a session again; `named` is its key, its id, the beginning of one, or its transcript.

    Raises: UsageError when no session or several are so named, and what `resummarize` raises.
    """
    place, key = wiring.find_session(settings, named)
    newest = FileCheckpoints(place.root).latest(key)
    if newest is None:
        raise UsageError(f"{named}: nothing of it is summarized yet; 'afterturn run FILE' begins")
    path = Path(named) if Path(named).is_file() else Path(newest.session.source)
    tools = wiring.tools_for(place, settings, progress=progress, hold_back=False)
    return place, resummarize(Request(path=path, instructions=instructions), tools, session=key, start=start, end=end)


def house_of(place: Place, settings: Settings) -> House:
    """A workspace with what hygiene needs."""
    return _house(place, settings, wiring.tools_for(place, settings, hold_back=False, manual=False))


def _house(place: Place, settings: Settings, tools: Tools) -> House:
    return House(
        place=place,
        clock=tools.clock,
        zone=wiring.zone_of(settings),
        asker=tools.asker,
        artifact_days=settings.artifact_days,
    )


def night_of(
    place: Place, settings: Settings, *, transcripts: Sequence[Path] = (), progress: Progress | None = None
) -> Night:
    """A workspace with what a night needs. transcripts: of sessions that it may not know yet."""
    tools = wiring.tools_for(place, settings, progress=progress, hold_back=False, manual=False)
    return Night(
        house=_house(place, settings, tools),
        tools=tools,
        rules=NightRules(
            has_model=tools.asker is not None,
            budget_tokens=settings.nightly_tokens,
            rebuild_every=settings.rebuild_every,
            idle_minutes=settings.idle_minutes,
        ),
        transcripts=tuple(transcripts),
        read_range=wiring.range_reader(place),
    )


def nights(
    settings: Settings,
    *,
    day: date | None = None,
    transcripts: Sequence[Path] = (),
    progress: Progress | None = None,
) -> list[tuple[Place, NightReport]]:
    """The night of every workspace that there is, and of those that the transcripts belong to."""
    ground = wiring.ground_of(settings)
    handed_in: dict[Place, list[Path]] = {place: [] for place in ground.places()}
    for path in transcripts:
        handed_in.setdefault(ground.place_of(path), []).append(path)
    return [
        (place, nightly(night_of(place, settings, transcripts=paths, progress=progress), day=day))
        for place, paths in handed_in.items()
    ]


def forget_session(settings: Settings, named: str) -> tuple[Place, Forgotten]:
    """Raises: UsageError when no session or several are so named, SessionBusy, StorageUnavailable, StoreError."""
    place, key = _kept_session(settings, named)
    return place, forget(place, key, clock=wiring.SystemClock(), zone=wiring.zone_of(settings))


def _kept_session(settings: Settings, named: str) -> tuple[Place, str]:
    """Also one without a checkpoint: half forgotten, killed before its first one, or only ever viewed."""
    for place in wiring.ground_of(settings).places():
        if (place.root / ".afterturn" / "forgotten" / f"{named}.json").is_file():
            return place, named
    return wiring.find_session(settings, named, session_folders)
