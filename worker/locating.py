"""Where the memory of a project is kept, and where the one Redis and the one worker that serve it run.

    --workspace W or AFTERTURN_WORKSPACE    W, self-contained:                     W/.afterturn
    neither                                 AFTERTURN_HOME/workspaces/<project>    AFTERTURN_HOME/run

The project is the working directory that the transcript names: the agents' own folder names for it are ambiguous. No
folder is made here, and none is looked into but that of the workspaces.
"""

import hashlib
import os
import posixpath
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.errors import UsageError

DEFAULT_HOME = "~/.afterturn"
MAX_NAME_CHARS = 40
PROJECT_HASH_CHARS = 16

_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]")
_NOT_READABLE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """root: MEMORY.md, HISTORY.md and sessions/ of one project. run: Redis, spool and log, shared under one home."""

    root: Path
    run: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What decides about all places: one workspace for everything, or a home with a workspace per project."""

    workspace: Path | None
    home: Path

    @classmethod
    def from_env(cls, environ: Mapping[str, str], workspace: Path | None = None) -> "Ground":
        """What the environment says; a `workspace` of the command line wins."""
        named = str(workspace) if workspace else environ.get("AFTERTURN_WORKSPACE", "").strip()
        home = environ.get("AFTERTURN_HOME", "").strip() or DEFAULT_HOME
        return cls(workspace=_absolute(named, environ) if named else None, home=_absolute(home, environ))

    @property
    def run(self) -> Path:
        """Where Redis, spool and log are, whatever the project."""
        return self.workspace / ".afterturn" if self.workspace else self.home / "run"

    def place_of_project(self, directory: str) -> Place:
        """The place for sessions that ran in the directory, which need not exist on this machine.

        Raises: UsageError for a directory that is not absolute: it would be another one for everybody who asks.
        """
        return Place(root=self.workspace or self.home / "workspaces" / project_key(directory), run=self.run)

    def place_of(self, path: Path) -> Place:
        """The place for a project's folder, or for a transcript by the directory that it names.

        A transcript that names none (a list of chat messages) belongs to the folder that it lies in.

        Raises: TranscriptError when a file is no transcript and no workspace was named.
        """
        here = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links and change the project
        if self.workspace or here.is_dir():
            return self.place_of_project(str(here))
        return self.place_of_transcript(here, _directory_named_in(here))

    def place_of_transcript(self, path: Path, directory: str | None) -> Place:
        """The same for a transcript of which somebody knows already which directory it names, or that it names none."""
        if directory and _is_absolute(directory):
            return self.place_of_project(directory)
        return self.place_of_project(os.path.abspath(path.parent))  # noqa: PTH100 - as above

    def places(self) -> list[Place]:
        """All places in which something may have been kept, by name; one that was never written to is not there."""
        if self.workspace:
            return [Place(root=self.workspace, run=self.run)]
        try:
            with os.scandir(self.home / "workspaces") as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [Place(root=self.home / "workspaces" / name, run=self.run) for name in names]


def project_key(directory: str) -> str:
    """The folder name for a project: its own name and a hash of its whole path, "app-1a2b3c4d5e6f7a8b".

    Two directories never share one, also where letter case is ignored; spellings of one directory (trailing slash,
    "./", composed or decomposed accents, either slash and drive letter on Windows) do.

    Raises: UsageError when the directory is not absolute.
    """
    path = _spelled_once(directory)
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:PROJECT_HASH_CHARS]
    return f"{_readable(path)}-{digest}"


def _spelled_once(directory: str) -> str:
    path = unicodedata.normalize("NFC", directory)
    if _WINDOWS_PATH.match(path):
        path = path[0].upper() + path[1:].replace("\\", "/")
    elif not path.startswith("/"):
        raise UsageError(f"{directory[:200]!r}: not an absolute directory; name the workspace with --workspace")
    return "/" + posixpath.normpath(path).lstrip("/")


def _readable(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2][: 4 * MAX_NAME_CHARS]
    return _NOT_READABLE.sub("-", name.lower())[:MAX_NAME_CHARS].strip("-") or "project"


def _absolute(path: str, environ: Mapping[str, str]) -> Path:
    """Absolute, "~" by the environment's own HOME. Links stay: they are how people name their folders."""
    if path == "~" or path.startswith("~/"):
        path = os.path.join(environ.get("HOME") or str(Path.home()), path[2:])  # noqa: PTH118 - one expression of text
    return Path(os.path.abspath(path))  # noqa: PTH100 - as above


def _directory_named_in(transcript: Path) -> str | None:
    from worker.transcripts import open_transcript

    return open_transcript(transcript).info.cwd


def _is_absolute(directory: str) -> bool:
    return directory.startswith("/") or _WINDOWS_PATH.match(directory) is not None
