"""Settings to adapters: the one place where the parts of a consolidation are put together."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from worker.adapters.files import sweep_temporary
from worker.adapters.parts_cache import FileParts
from worker.adapters.projections import FileProjections
from worker.adapters.sessions import FileArtifacts, FileCheckpoints, encode
from worker.config import Settings
from worker.consolidate import Tools, find_chain, read_range_sha256
from worker.core.checkpoint import Checkpoint
from worker.core.messages import message_index
from worker.core.planning import Limits, limits_for
from worker.core.rebuilding import piled_up_ledgers, without_replaced
from worker.errors import StoreError, UsageError
from worker.locating import Ground, Place
from worker.ports import Model, Progress
from worker.summarize import Asker
from worker.verifying import Problem, verify

WINDOW_WITHOUT_MODEL = 200_000
"""The window that limits are made for when no model is configured: that of the agents whose sessions we read."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class SilentProgress:
    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        """Nobody is watching."""


def _as_it_is(model: Model) -> Model:
    return model


def ground_of(settings: Settings) -> Ground:
    """Where memory is kept, as the settings say."""
    home = settings.home.expanduser().absolute()
    return Ground(workspace=settings.workspace.absolute() if settings.workspace else None, home=home)


def zone_of(settings: Settings) -> tzinfo:
    """The configured zone, else the machine's. Raises: UsageError for a name that no zone has."""
    if settings.timezone is None:
        from tzlocal import get_localzone

        return get_localzone()
    try:
        return ZoneInfo(settings.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        raise UsageError(f"AFTERTURN_TIMEZONE={settings.timezone!r}: no such zone; 'Europe/Berlin' is one") from None


def tools_for(
    place: Place,
    settings: Settings,
    *,
    progress: Progress | None = None,
    hold_back: bool = True,
    keep_recent_tokens: int | None = None,
    manual: bool = True,
    around_model: Callable[[Model], Model] = _as_it_is,
) -> Tools:
    """Everything that `consolidate` works with, over one workspace.

    hold_back, keep_recent_tokens: how much of the session's end stays verbatim; see `core.planning.limits_for`.
    around_model: what each model, fallbacks too, is wrapped in.
    """
    clock, zone = SystemClock(), zone_of(settings)
    progress = progress or SilentProgress()
    _sweep_once(place.root)
    model = model_for(settings, around_model)
    return Tools(
        clock=clock,
        today=lambda moment: moment.astimezone(zone).date(),
        checkpoints=FileCheckpoints(place.root),
        artifacts=FileArtifacts(place.root),
        projections=FileProjections(place.root, clock, zone),
        progress=progress,
        asker=_asker(model, place, settings, progress) if model else None,
        limits=_limits(model, settings, hold_back=hold_back, keep_recent_tokens=keep_recent_tokens, manual=manual),
        show_tokens=settings.show_tokens,
        max_row_bytes=settings.max_row_bytes,
    )


@cache
def _sweep_once(root: Path) -> None:
    """At the first use of a workspace: to look through all of its files for each job costs more the more it holds."""
    sweep_temporary(root)


def model_for(settings: Settings, around_model: Callable[[Model], Model] = _as_it_is) -> Model | None:
    """The configured model with its fallbacks; None when none is configured. Nothing is asked here."""
    if settings.model is None:
        return None
    from worker.adapters.llm import FallbackModel, LiteLlm

    make = partial(
        LiteLlm,
        api_base=settings.api_base,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout_seconds=settings.llm_timeout_seconds,
        window_tokens=settings.window_tokens,
    )
    models = [around_model(make(name)) for name in (settings.model, *settings.fallback_models)]
    return FallbackModel(models) if len(models) > 1 else models[0]


def _asker(model: Model, place: Place, settings: Settings, progress: Progress) -> Asker:
    from worker.adapters.prompts import PromptFiles

    return Asker(
        model=model,
        prompts=PromptFiles(),
        cache=FileParts(place.root),
        progress=progress,
        wait=time.sleep,
        new_fence=lambda: secrets.token_hex(6),
        concurrency=settings.llm_concurrency,
        retries=settings.llm_retries,
        summary_tokens=settings.summary_tokens,
        stages=settings.stages,
    )


def _limits(
    model: Model | None, settings: Settings, *, hold_back: bool, keep_recent_tokens: int | None, manual: bool
) -> Limits:
    window = model.limits.window_tokens if model else settings.window_tokens or WINDOW_WITHOUT_MODEL
    return limits_for(
        window,
        manual=manual,
        hold_back=hold_back,
        keep_recent_tokens=settings.keep_recent_tokens if keep_recent_tokens is None else keep_recent_tokens,
        reserve_output_tokens=settings.summary_tokens,
        part_tokens=settings.part_tokens,
        state_tokens=settings.state_tokens,
    )


# Finding what is kept.


def _with_checkpoints(root: Path) -> list[str]:
    return FileCheckpoints(root).sessions()


def find_session(
    settings: Settings, named: str, keys_in: Callable[[Path], list[str]] = _with_checkpoints
) -> tuple[Place, str]:
    """The place and key of a session that a person names: its key, its id, the beginning of one, or its transcript.

    keys_in: the sessions of a workspace that can be meant; those with a checkpoint.

    Raises: UsageError when there is none, or more than one.
    """
    ground = ground_of(settings)
    path = Path(named)
    if path.is_file():
        return _session_of_transcript(ground, path)
    found = [(place, key) for place in ground.places() for key in keys_in(place.root) if _is_named(key, named)]
    exact = [(place, key) for place, key in found if key == named]
    match exact or found:
        case [(place, key)]:
            return place, key
        case []:
            raise UsageError(f"no session {named!r} is kept here; 'afterturn run FILE' consolidates one")
        case several:
            names = ", ".join(key for _, key in several[:5])
            raise UsageError(f"{named!r} names {len(several)} sessions ({names}); write more of its key")


def _session_of_transcript(ground: Ground, path: Path) -> tuple[Place, str]:
    from worker.transcripts import open_transcript

    place = ground.place_of(path)
    session, _ = find_chain(open_transcript(path), FileCheckpoints(place.root))
    return place, session.key


def _is_named(key: str, named: str) -> bool:
    _, _, session_id = key.partition("--")
    return named in (key, session_id) or key.startswith(named) or (bool(named) and session_id.startswith(named))


def load_chain(place: Place, key: str, number: int | None = None) -> list[Checkpoint]:
    """The session's checkpoints up to `number`, oldest first. Raises: UsageError when there is no such checkpoint."""
    chain = FileCheckpoints(place.root).chain(key)
    kept = [one for one in chain if number is None or one.number <= number]
    if not kept or (number is not None and kept[-1].number != number):
        raise UsageError(f"{key}: no checkpoint{'' if number is None else f' {number}'}; it has {len(chain)}")
    return kept


def joined(chain: Sequence[Checkpoint]) -> Checkpoint:
    """The newest checkpoint of a chain with what is stored only once, in the checkpoint whose range it came in.

    What a later checkpoint says anew of a range takes the place of what was said of it before.
    """
    told = sorted(without_replaced(chain), key=lambda one: one.range.start)
    said = [message for one in told for message in one.summary.user_messages]
    summary = replace(
        chain[-1].summary,
        user_messages=tuple(sorted(said, key=lambda message: message_index(message.id) or 0)),
        artifacts=tuple(artifact for one in told for artifact in one.summary.artifacts),
    )
    return replace(chain[-1], summary=summary, ledger=piled_up_ledgers([one.ledger for one in told]))


def checkpoint_object(chain: Sequence[Checkpoint]) -> dict[str, Any]:
    """The documented object of `afterturn show --json`; its id and hashes are those of the stored checkpoint."""
    _, data = encode(joined(chain))
    fields: dict[str, Any] = orjson.loads(data)
    return fields | {"id": chain[-1].id}


# Checking what is kept.


def verify_places(settings: Settings, named: str | None = None) -> list[Problem]:
    """The problems of one session, or of everything that is kept, with paths that a person can open."""
    if named is not None:
        place, key = find_session(settings, named)
        return _verify_place(place, [key])
    ground = ground_of(settings)
    if ground.workspace and not ground.workspace.is_dir():
        raise UsageError(f"{ground.workspace}: no such folder; 'afterturn where' prints the one of a project")
    places = ground.places()
    return [problem for place in places for problem in _verify_place(place, None)]


def _verify_place(place: Place, sessions: Sequence[str] | None) -> list[Problem]:
    problems = verify(place.root, sessions=sessions, read_range=range_reader(place))
    return [Problem(where=str(place.root / problem.where), what=problem.what) for problem in problems]


def range_reader(place: Place) -> Callable[[Checkpoint], str | None]:
    """Reads ranges again, each from behind its predecessor, so that a long chain reads its transcript once."""
    checkpoints = FileCheckpoints(place.root)

    def before(checkpoint: Checkpoint) -> list[Checkpoint]:
        key, number = checkpoint.session.key, checkpoint.number
        if checkpoint.replaces:
            return [checkpoints.load(key, each) for each in checkpoints.numbers(key) if each < number]
        return [checkpoints.load(key, number - 1)] if number > 1 else []

    def read_range(checkpoint: Checkpoint) -> str | None:
        path = Path(checkpoint.session.source)
        if not path.is_file():
            return None
        try:
            return read_range_sha256(checkpoint, before(checkpoint), path)
        except StoreError:
            return None

    return read_range
