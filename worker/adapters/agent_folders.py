"""Where agents keep their transcripts, by session id: for hooks that are told no path, a wrong one, or one too old.

Only names are looked at, and of Claude Code the first rows when nothing else tells the project. Nothing is opened for
writing, and no name that comes from a hook leads out of the agent's folder.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from worker.adapters.files import read_bounded
from worker.errors import AfterturnError

MAX_PATH_CHARS = 4_096
MAX_FOLDER_NAME_CHARS = 200
"""Claude Code cuts longer folder names and puts a hash behind them."""

LOOKED_AT_BYTES = 64 * 1024

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")
_UUID7_TIME = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7")


def session_id_or_none(value: object) -> str | None:
    """The value when it can be a session's id and a part of a file name."""
    return value if isinstance(value, str) and _SESSION_ID.fullmatch(value) else None


def path_or_none(value: object) -> Path | None:
    """The value when it can be the absolute path of a file on this machine."""
    if not isinstance(value, str) or not value.startswith("/") or len(value) > MAX_PATH_CHARS or "\0" in value:
        return None
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return None
    return Path(os.path.normpath(value))


def claude_transcript(given: Path | None, session_id: str, cwd: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The transcript of a session: the path that the hook was given, unless it is another session's or gone.

    Then the one found by the session's id. When there is none, the path at which it should be; None when nothing tells.
    """
    if given is not None and given.stem == session_id and _modified_ns(given) is not None:
        return given
    found = _newest(_claude_candidates(session_id, cwd, environ))
    if found is not None:
        return found
    if given is not None and not given.stem.startswith("agent-"):
        return given
    return _claude_projects(environ) / _folder_name(str(cwd)) / f"{session_id}.jsonl" if cwd else None


def claude_project(transcript: Path, session_id: str, cwd: Path | None, environ: Mapping[str, str]) -> str | None:
    """The directory in which the session began: its transcript lies in a folder named after it.

    A hook's `cwd` alone does not tell it, because an agent changes its directory; the rows do, and so do the
    directories above it when the folder's name is made of one of them.
    """
    started = path_or_none(environ.get("CLAUDE_PROJECT_DIR"))
    above = (cwd, *cwd.parents) if cwd else ()
    for directory in (started, *above):
        if directory and _folder_name(str(directory)) == transcript.parent.name:
            return str(directory)
    return _directory_in_head(transcript, session_id) or (str(started or cwd) if started or cwd else None)


def claude_ancestors(transcript: Path, session_id: str) -> list[str]:
    """The sessions that a transcript goes on from, newest first: a fork copies their rows and names them.

    Only rows at the beginning and at the end of the file are looked at.
    """
    rows = [*reversed(_rows_of(transcript, from_end=True)), *reversed(_rows_of(transcript))]
    named = [value for row in rows for value in (row.get("sessionId"), _forked_from(row))]
    return [name for name in dict.fromkeys(map(session_id_or_none, named)) if name and name != session_id]


def _forked_from(row: Mapping[str, object]) -> object:
    origin = row.get("forkedFrom")
    return origin.get("sessionId") if isinstance(origin, dict) else None


def codex_rollout(session_id: str, environ: Mapping[str, str]) -> Path | None:
    """The rollout of a session, None when there is none: they lie in folders by day, also those that go on for long."""
    home = path_or_none(environ.get("CODEX_HOME")) or Path(environ.get("HOME") or Path.home()) / ".codex"
    ending = f"-{session_id}.jsonl"
    for folder in _codex_folders(home, session_id):
        for name in _names(folder):
            if name.startswith("rollout-") and name.endswith(ending):
                return folder / name
    return None


def _claude_projects(environ: Mapping[str, str]) -> Path:
    configured = path_or_none(environ.get("CLAUDE_CONFIG_DIR"))
    return (configured or Path(environ.get("HOME") or Path.home()) / ".claude") / "projects"


def _claude_candidates(session_id: str, cwd: Path | None, environ: Mapping[str, str]) -> Iterator[Path]:
    """A session can be there twice, when a project was moved or a worktree entered."""
    projects = _claude_projects(environ)
    for name in {*_names(projects), *([_folder_name(str(cwd))] if cwd else [])}:
        yield projects / name / f"{session_id}.jsonl"


def _folder_name(directory: str) -> str:
    return _NOT_IN_FOLDER_NAMES.sub("-", directory)[:MAX_FOLDER_NAME_CHARS]


def _newest(paths: Iterator[Path]) -> Path | None:
    found = [(modified, path) for path in paths if (modified := _modified_ns(path)) is not None]
    return max(found)[1] if found else None


def _modified_ns(path: Path) -> int | None:
    """None when it is no file, or cannot be one: a hook may name anything."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns if stat.S_ISREG(found.st_mode) else None


def _directory_in_head(transcript: Path, session_id: str) -> str | None:
    """What the first rows of the session name, else the first of any: a resumed session begins with copied rows."""
    rows = _rows_of(transcript)
    own = [row for row in rows if row.get("sessionId") == session_id]
    named = [path_or_none(row.get("cwd")) for row in [*own, *rows]]
    return next((str(directory) for directory in named if directory), None)


def _rows_of(transcript: Path, *, from_end: bool = False) -> list[Mapping[str, object]]:
    """The whole rows among the first LOOKED_AT_BYTES of a file, or among its last."""
    try:
        lines = (read_bounded(transcript, LOOKED_AT_BYTES, from_end=from_end) or b"").split(b"\n")
    except AfterturnError:
        return []
    rows: list[Mapping[str, object]] = []
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _codex_folders(home: Path, session_id: str) -> Iterator[Path]:
    """The days around the session's birth, which its id tells, then all others from the newest on, then the archive."""
    sessions = home / "sessions"
    likely = [sessions / day for day in _days_around_birth(session_id)]
    yield from likely
    for year in _newest_first(sessions):
        for month in _newest_first(year):
            yield from (day for day in _newest_first(month) if day not in likely)
    yield home / "archived_sessions"


def _days_around_birth(session_id: str) -> list[str]:
    """Of a UUID of version 7, whose first 48 bits are milliseconds; folders are named in local time."""
    matched = _UUID7_TIME.match(session_id)
    if matched is None:
        return []
    try:
        born = datetime.fromtimestamp(int(matched[1] + matched[2], 16) / 1000, UTC)
        return [(born + timedelta(days=days)).strftime("%Y/%m/%d") for days in (0, -1, 1)]
    except (ValueError, OverflowError, OSError):
        return []


def _newest_first(folder: Path) -> list[Path]:
    return [folder / name for name in sorted(_names(folder), reverse=True) if name.isdigit()]


def _names(folder: Path) -> Sequence[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted, and there may be thousands
    except OSError:
        return []
