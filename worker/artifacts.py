"""Reads what was kept whole: `afterturn artifact`, and the same for agents from Python.

    from worker.artifacts import read

    read("1a2b3c4d", grep="ECONNREFUSED", context=2).text

A piece is shown only when the whole file is what its name says. What cannot be shown says why: never kept here, the
text is gone, taken away by retention, or changed since.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from worker.adapters.artifact_files import SEARCH_SECONDS, ArtifactFile, Match, open_artifact
from worker.adapters.files import storage_errors
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.config import Settings
from worker.core.checkpoint import Checkpoint
from worker.core.excerpts import Bounds, Line, byte_bounds, decoded, grep_lines, line_bounds, shown_line
from worker.core.markdown import day_and_time
from worker.core.rebuilding import without_replaced
from worker.core.session_key import is_session_key, session_label
from worker.core.summary import Artifact, short_handle
from worker.core.wording import one_line
from worker.errors import AfterturnError, StoreError, UsageError
from worker.locating import Ground, Place

SHOWN_LINES = 200
SHOWN_BYTES = 60_000
"""Of one answer, whatever was asked for: about what an agent's own tools let through."""

MIN_PREFIX = 4
MAX_CONTEXT = 100
MAX_CANDIDATES = 8

_HANDLE = re.compile(r"[0-9a-f]{4,64}")
_DRESS = re.compile(r"^\[?(?:artifact\s+|sha256:)?|(?:…|\.\.\.|\.txt|\.json|[\]:,].*)?$")


class OriginalMissing(StoreError):
    """A checkpoint or a description names it, and its text is not there."""


class OriginalExpired(StoreError):
    """Retention took it away, because no checkpoint named it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where an artifact is kept. known: its description, None when that file is missing or damaged."""

    place: Place
    session: str
    handle: str
    known: Artifact | None = None

    @property
    def path(self) -> Path:
        return FileArtifacts(self.place.root).path(self.session, self.handle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of an artifact. lines: what was asked for by line or pattern, data: by byte.

    start, end: of the piece, in lines from 1 with the last, or in bytes [start, end). size, total_lines: of the whole
    artifact. matches: lines that match, None without a pattern. left: how much of what was asked for is not here, in
    lines, bytes or matches; `next` says how to get it.
    """

    found: Found
    size: int
    total_lines: int
    start: int
    end: int
    lines: tuple[Line, ...] = ()
    data: bytes = b""
    matches: int | None = None
    left: int = 0
    next: str = ""

    @property
    def text(self) -> str:
        """The piece as text: lines, with numbers where a pattern chose them; the mark of what is left is not in it."""
        if self.matches is not None:
            return "\n".join(grep_lines(self.lines))
        return "\n".join(map(shown_line, self.lines)) if self.lines else decoded(self.data)

    def account(self) -> str:
        """What this is, in one line: "05eb4be8a0be9f46: lines 120–180 of 4,210"."""
        name = short_handle(self.found.handle)
        if self.matches is not None:
            return f"{name}: {_counted(self.matches, 'matching line')} of {self.total_lines:,}"
        if self.data:
            return f"{name}: bytes {self.start:,}–{self.end - 1:,} of {self.size:,}"
        return f"{name}: lines {self.start:,}–{self.end:,} of {self.total_lines:,}" if self.lines else f"{name}: empty"

    def further(self) -> str:
        """How much is left, and how to see it."""
        what = "byte" if self.data else "line" if self.matches is None else "matching line"
        return f"… {self.left:,} more {what}{'' if self.left == 1 else 's'}: {self.next}"

    def as_object(self) -> dict[str, Any]:
        """The documented object of `afterturn artifact --json`."""
        return {
            "handle": self.found.handle,
            "session": self.found.session,
            "size": self.size,
            "total_lines": self.total_lines,
            "start": self.start,
            "end": self.end,
            "matches": self.matches,
            "lines": [_line_object(line) for line in self.lines],
            "text": self.text,
            "left": self.left,
            "next": self.next,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What is known about an artifact whose text is whole."""

    found: Found
    size: int
    total_lines: int
    stored_at: datetime

    def as_object(self) -> dict[str, Any]:
        known = self.found.known
        return {
            "handle": self.found.handle,
            "session": self.found.session,
            "path": str(self.found.path),
            "size": self.size,
            "total_lines": self.total_lines,
            "stored_at": self.stored_at,
            "message": known and known.message,
            "tool": known and known.tool,
            "call": known and known.call,
            "media_type": known and known.media_type,
            "created": known and known.created,
            "preview": known and known.preview,
        }

    def as_lines(self) -> list[str]:
        """The same for a person."""
        known, found = self.found.known, self.found
        media_type = f", {known.media_type}" if known else ""
        lines = [
            f"artifact  {found.handle}, its hash holds",
            f"session   {session_label(found.session)}{f', message {known.message}' if known else ''}",
            f"size      {_counted(self.size, 'byte')}, {_counted(self.total_lines, 'line')}{media_type}",
            f"kept      {day_and_time(self.stored_at)}",
            f"file      {found.path}",
        ]
        if known is None:
            return [*lines, "          its description is missing or damaged, the text is whole"]
        call = f"{known.tool} {known.call}".strip()
        created = [f"created   {day_and_time(known.created)}"] if known.created else []
        return [lines[0], f"output of {one_line(call)}", *lines[1:3], *created, *lines[3:]]


def read(
    handle: str,
    *,
    lines: str | None = None,
    byte_range: str | None = None,
    grep: str | None = None,
    context: int = 0,
    ignore_case: bool = False,
    fixed: bool = False,
    limit: int = SHOWN_LINES,
    workspace: Path | None = None,
) -> Excerpt:
    """A piece of the artifact that the handle, or its beginning, names; without a choice its first lines.

    lines: "120:180", "120:", "-50:". byte_range: "0:4096". grep: a regular expression of Python, or the words as they
    stand when `fixed`. workspace: None for the environment's.

    Raises: UsageError (no such artifact, no such range, no such pattern), OriginalChanged, OriginalMissing,
    OriginalExpired, StorageUnavailable.
    """
    settings = Settings.from_env(os.environ)
    found = find(settings.model_copy(update={"workspace": workspace}) if workspace else settings, handle)
    if grep is not None:
        return search(found, grep, context=context, ignore_case=ignore_case, fixed=fixed, limit=limit)
    return read_lines(found, lines, limit=limit) if byte_range is None else read_bytes(found, byte_range)


def read_lines(found: Found, wanted: str | None = None, *, limit: int = SHOWN_LINES) -> Excerpt:
    """At most `limit` of the lines that are wanted ("120:180"; None for all), and at most SHOWN_BYTES of them."""
    bounds = line_bounds(wanted) if wanted is not None else Bounds()
    with open_artifact(found.path, found.handle) as file:
        first, end = bounds.within(file.lines)
        if first == end and wanted is not None:
            raise UsageError(f"lines {wanted}: it has {_counted(file.lines, 'line')}")
        shown = _within(file.read_lines(first, min(end, first + limit)))
        last = first + len(shown)
        return Excerpt(
            found=found,
            size=file.size,
            total_lines=file.lines,
            start=first + 1,
            end=last,
            lines=shown,
            left=end - last,
            next=f"--lines {last + 1}:{end}" if end > last else "",
        )


def read_bytes(found: Found, wanted: str) -> Excerpt:
    """The bytes of a range ("0:4096"), at most SHOWN_BYTES of them."""
    bounds = byte_bounds(wanted)
    with open_artifact(found.path, found.handle) as file:
        start, end = bounds.within(file.size)
        if start == end:
            raise UsageError(f"bytes {wanted}: it has {_counted(file.size, 'byte')}")
        last = min(end, start + SHOWN_BYTES)
        return Excerpt(
            found=found,
            size=file.size,
            total_lines=file.lines,
            start=start,
            end=last,
            data=b"".join(file.read(start, last)),
            left=end - last,
            next=f"--bytes {last}:{end}" if end > last else "",
        )


def search(
    found: Found,
    pattern: str,
    *,
    context: int = 0,
    ignore_case: bool = False,
    fixed: bool = False,
    limit: int = SHOWN_LINES,
    seconds: float = SEARCH_SECONDS,
) -> Excerpt:
    """The lines that match, with `context` lines around each; at most `limit` matches and SHOWN_BYTES.

    Raises: UsageError for a pattern that is none, or that takes longer than `seconds` for a few lines.
    """
    _check(pattern, fixed=fixed)
    context = min(context, MAX_CONTEXT)
    with open_artifact(found.path, found.handle) as file:
        matches, count = file.search(
            pattern, context=context, most=limit, ignore_case=ignore_case, fixed=fixed, seconds=seconds
        )
        lines = _within(_around(file, matches, context))
        shown = sum(line.is_match for line in lines)
        return Excerpt(
            found=found,
            size=file.size,
            total_lines=file.lines,
            start=lines[0].number if lines else 0,
            end=lines[-1].number if lines else 0,
            lines=lines,
            matches=count,
            left=count - shown,
            next=_further(lines, count, limit) if count > shown else "",
        )


def whole(found: Found) -> Iterator[bytes]:
    """All of it, block by block, exactly as it was stored; nothing comes before the hash holds."""
    with open_artifact(found.path, found.handle) as file:
        yield from file.read(0, file.size)


def inspect(found: Found) -> Info:
    """What is known about it, once its hash holds."""
    with open_artifact(found.path, found.handle) as file:
        stored_at = FileArtifacts(found.place.root).stored_at(found.session, found.handle)
        return Info(found=found, size=file.size, total_lines=file.lines, stored_at=stored_at)


def _check(pattern: str, *, fixed: bool) -> None:
    if "\x00" in pattern:
        raise UsageError("the pattern holds a NUL; a text has none")
    try:
        re.compile(re.escape(pattern) if fixed else pattern)
    except (re.error, RecursionError, OverflowError) as exc:
        raise UsageError(f"pattern {pattern[:80]!r}: {exc}; --fixed takes it as it stands") from None


def _around(file: ArtifactFile, matches: Sequence[Match], context: int) -> Iterator[Line]:
    """The lines of all matches and around them, ascending, each once."""
    behind = 0
    for at, match in enumerate(matches):
        until = matches[at + 1].line - 1 if at + 1 < len(matches) else file.lines
        for line in file.read_around(match, context, behind=behind):
            if line.number > until:
                break
            behind = line.number
            yield line


def _within(lines: Iterator[Line]) -> tuple[Line, ...]:
    """The first lines, up to SHOWN_BYTES; at least one."""
    shown: list[Line] = []
    room = SHOWN_BYTES
    for line in lines:
        room -= len(line.text.encode("utf-8", "replace")) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    return tuple(shown)


def _further(lines: Sequence[Line], count: int, limit: int) -> str:
    return f"--limit {count}" if count > limit else f"--lines {lines[-1].number + 1}: or a narrower pattern"


def _line_object(line: Line) -> dict[str, Any]:
    return {
        "number": line.number,
        "text": line.text,
        "at": line.at,
        "before": line.before,
        "behind": line.behind,
        "is_match": line.is_match,
    }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# Finding it.


def find(settings: Settings, named: str) -> Found:
    """The artifact that a handle names, or the beginning of one, as it is shown anywhere ("sha256:1a2b…").

    Raises: UsageError when there is none or more than one, OriginalMissing and OriginalExpired when it was here.
    """
    prefix = _DRESS.sub("", named.strip().lower())
    if _HANDLE.fullmatch(prefix) is None:
        raise UsageError(
            f"{named[:80]!r} is no artifact handle; {MIN_PREFIX} to 64 hex digits are expected, "
            "as 'afterturn show' prints them"
        )
    places = Ground.from_env(os.environ, settings.workspace).places()
    kept = [found for place in places for found in _kept(place, prefix)]
    handles = sorted({found.handle for found in kept})
    if len(handles) > 1:
        names = ", ".join(_candidate(handle, kept) for handle in handles[:MAX_CANDIDATES])
        raise UsageError(f"{prefix} names {len(handles)} artifacts ({names}); write more of its handle")
    whole_ones = [found for found in kept if found.path.is_file()]
    if whole_ones:
        return _described(whole_ones[0])
    if kept:
        raise _gone(_described(kept[0]))
    raise _never_here(places, prefix, settings)


def _kept(place: Place, prefix: str) -> Iterator[Found]:
    """All whose text or description is there. The names are looked at, nothing is opened."""
    folder = place.root / "sessions"
    with storage_errors(folder):
        sessions = sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208 - names only, of many
        for session in filter(is_session_key, sessions):
            artifacts = folder / session / "artifacts"
            names = os.listdir(artifacts) if artifacts.is_dir() else []  # noqa: PTH208 - as above
            handles = {name.partition(".")[0] for name in names if name.startswith(prefix)}
            for handle in sorted(handles):
                if len(handle) == 64 and _HANDLE.fullmatch(handle):
                    yield Found(place=place, session=session, handle=handle)


def _described(found: Found) -> Found:
    try:
        return replace(found, known=FileArtifacts(found.place.root).info(found.session, found.handle))
    except AfterturnError:
        return found


def _candidate(handle: str, kept: Sequence[Found]) -> str:
    found = _described(next(each for each in kept if each.handle == handle))
    name = short_handle(handle)
    return f"{name} {found.known.tool} {found.known.message}" if found.known else name


def _gone(found: Found) -> OriginalMissing:
    known = found.known
    what = f" ({known.tool} output of {known.message}, {_counted(known.size, 'byte')})" if known else ""
    return OriginalMissing(
        f"{found.path}: the text is gone, only its description{what} is left; restore it from a backup, "
        "or run the tool again"
    )


def _never_here(places: Sequence[Place], prefix: str, settings: Settings) -> AfterturnError:
    """Why nothing of that name is there: what checkpoints still know of it decides."""
    for place in places:
        checkpoints = FileCheckpoints(place.root)
        for key in checkpoints.sessions():
            try:
                error = _named_by(checkpoints.chain(key), prefix, settings)
            except StoreError:
                continue  # damaged: 'afterturn verify' tells, and another session may know
            if error is not None:
                return error
    return UsageError(f"no artifact {prefix} is kept here; {_hint(places)}")


def _named_by(chain: Sequence[Checkpoint], prefix: str, settings: Settings) -> AfterturnError | None:
    if not any(_names(one, prefix) for one in chain):
        return None
    session = session_label(chain[-1].session.key)
    live = [one for one in without_replaced(chain) if _names(one, prefix)]
    if live:
        return OriginalMissing(
            f"{prefix}: checkpoint {live[0].number} of {session} names it and its file is missing; "
            "restore it from a backup"
        )
    return OriginalExpired(
        f"{prefix}: taken away by retention (AFTERTURN_ARTIFACT_DAYS={settings.artifact_days}), for {session} was "
        "summarized again and no checkpoint names it any more; run the tool again"
    )


def _names(checkpoint: Checkpoint, prefix: str) -> bool:
    artifacts = checkpoint.summary.artifacts + checkpoint.ledger.artifacts
    return any(artifact.handle.startswith(prefix) for artifact in artifacts)


def _hint(places: Sequence[Place]) -> str:
    """Artifacts of a forgotten session are not known by name: that there was such a session is all that can be said."""
    records = (path for place in places for path in (place.root / ".afterturn" / "forgotten").glob("*.json"))
    gone = sorted({session_label(path.stem) for path in records})
    if gone:
        return f"forgotten sessions took theirs with them: {', '.join(gone[:3])}{' …' if len(gone) > 3 else ''}"
    return "'afterturn show SESSION' lists those of a session"
