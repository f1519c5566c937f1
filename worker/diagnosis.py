"""`afterturn doctor`: is this installation fit to work, one line per question."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.config import PREFIX, Settings
from worker.errors import AfterturnError
from worker.ports import Model, Turn

REDIS_SERVERS = ("redis-server", "valkey-server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    name: str
    ok: bool
    detail: str


def diagnose(environ: Mapping[str, str], workspace: Path | None) -> list[Diagnosis]:
    """Every check, in the order in which a person would look; one that cannot be made is named as such."""
    checks = [_python()]
    try:
        settings = Settings.from_env(environ)
    except AfterturnError as exc:
        known = ", ".join(PREFIX + name.upper() for name in Settings.model_fields)
        return [*checks, Diagnosis(name="settings", ok=False, detail=f"{exc}; known: {known}")]
    checks.append(_settings(environ))
    checks.append(_folder(workspace or settings.workspace or settings.home.expanduser()))
    checks.append(_model(settings))
    checks.append(_redis())
    return checks


def _python() -> Diagnosis:
    return Diagnosis(name="python", ok=sys.version_info >= (3, 11), detail=platform.python_version())


def _settings(environ: Mapping[str, str]) -> Diagnosis:
    given = sorted(name for name in environ if name.startswith(PREFIX))
    return Diagnosis(name="settings", ok=True, detail=", ".join(given) or "all at their defaults")


def _folder(path: Path) -> Diagnosis:
    """Whether we could write there, found without writing."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    ok = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return Diagnosis(name="workspace", ok=ok, detail=f"{path}{'' if ok else f': {existing} is not ours to write'}")


def _model(settings: Settings) -> Diagnosis:
    from worker.wiring import model_for

    model = model_for(settings)
    if model is None:
        return Diagnosis(name="model", ok=True, detail="none (AFTERTURN_MODEL unset): summaries are deterministic")
    try:
        return _ask_once(model)
    except AfterturnError as exc:
        return Diagnosis(name="model", ok=False, detail=f"{settings.model}: {exc}")


def _ask_once(model: Model) -> Diagnosis:
    started = time.monotonic()
    model.ask([Turn(role="user", content="Answer with the word ready.")], max_tokens=16)
    seconds = time.monotonic() - started
    limits = model.limits
    window = f"window {limits.window_tokens:,} tokens" + (
        ", assumed: the model is in no list, AFTERTURN_WINDOW_TOKENS tells its own" if limits.assumed else ""
    )
    return Diagnosis(name="model", ok=True, detail=f"{model.name} answers in {seconds:.1f} s, {window}")


def _redis() -> Diagnosis:
    found = next((path for name in REDIS_SERVERS if (path := shutil.which(name))), None)
    return Diagnosis(name="redis", ok=True, detail=found or "no redis-server found; 'afterturn run' needs none")
