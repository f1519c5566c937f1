"""`afterturn report`: what is kept of a session, or of a whole workspace, as one page for people.

Checkpoints are the truth of the page. The transcript is read again, for its weights and for the messages that evidence
cites; a page without it says so. Nothing is written but the page, and the same inputs give the same page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worker.accounting import usage
from worker.adapters import pages
from worker.adapters.files import write_atomically
from worker.adapters.memory_file import MemoryFile
from worker.adapters.sessions import FileCheckpoints
from worker.config import Settings
from worker.core.checkpoint import Checkpoint
from worker.core.memory import for_model, parse
from worker.core.planning import Limits, limits_for
from worker.core.rendering import Rendering, render_summary, source_of
from worker.core.session_key import key_of_label
from worker.core.tokens import estimate_tokens
from worker.errors import AfterturnError, UsageError
from worker.locating import Place
from worker.reporting.counting import counted
from worker.reporting.memory_page import memory_lines
from worker.reporting.page import Cite, SessionPage, SessionRow
from worker.reporting.quoting import MAX_QUOTED_BYTES, cited_ids
from worker.reporting.rereading import Standing, reread
from worker.reporting.session_page import Material, NextRequest, session_page
from worker.reporting.workspace_page import damaged_row, newest_first, session_row, workspace_page
from worker.wiring import WINDOW_WITHOUT_MODEL, find_session, ground_of, joined, load_chain, zone_of

MAX_PAGE_BYTES = 4_000_000
"""A page larger than this opens slowly; sessions behind it are rows."""

MAX_PARTS = 24
"""As many transcripts are read again for one page of a workspace."""

SMALLEST_QUOTED_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page, and how many of the sessions that it names it tells in full."""

    html: str
    sessions: int
    told: int

    def account(self) -> str:
        """ "1 session", "30 sessions, 24 of them in full"."""
        told = "" if self.told == self.sessions else f", {self.told:,} of them in full"
        return f"{counted(self.sessions, 'session')}{told}"


def report_session(settings: Settings, named: str) -> Report:
    """The page of one session. Raises: UsageError when it is not kept here, StoreError for a damaged checkpoint."""
    place, key = find_session(settings, named)
    page = session_page(_Shelf(settings, place).material(load_chain(place, key), is_alone=True), number=1)
    return Report(html=pages.session_report(page, pages.session_part(page, is_alone=True)), sessions=1, told=1)


def report_workspace(settings: Settings) -> Report:
    """The page of everything that one workspace keeps: the named one, else that of the current folder.

    Raises: UsageError when nothing is kept there.
    """
    place = ground_of(settings).place_of(Path.cwd())
    shelf = _Shelf(settings, place)
    chains = newest_first(shelf.chains())
    if not chains and not shelf.damaged:
        raise UsageError(f"{place.root}: no session is kept here; 'afterturn run FILE' consolidates one")
    made: list[SessionPage] = []
    parts: list[str] = []
    size = 0
    quoted_bytes = max(SMALLEST_QUOTED_BYTES, MAX_QUOTED_BYTES // max(1, len(chains)))
    for chain in chains[:MAX_PARTS]:
        page = session_page(shelf.material(chain, quoted_bytes=quoted_bytes), number=len(made) + 1)
        part = pages.session_part(page, is_alone=False)
        if size + len(part.encode()) <= MAX_PAGE_BYTES:
            made.append(page)
            parts.append(part)
            size += len(part.encode())
    return _workspace_report(shelf, made, parts)


def _workspace_report(shelf: "_Shelf", made: Sequence[SessionPage], parts: Sequence[str]) -> Report:
    targets = {page.key: page.anchor for page in made}
    quoted = {page.key: page.anchors for page in made}
    chains = newest_first(shelf.chains())
    rows = [shelf.row(chain, targets.get(chain[-1].session.key)) for chain in chains] + shelf.damaged

    def cite_in(key: str, message_id: str) -> Cite:
        anchor = f"{targets.get(key, '')}-{message_id}"
        return Cite(id=message_id, anchor=anchor if anchor in quoted.get(key, ()) else None)

    page = workspace_page(
        name=shelf.place.root.absolute().name,
        path=str(shelf.place.root.absolute()),
        rows=rows,
        chains=chains,
        memory=memory_lines(shelf.memory, targets, cite_in),
        memory_tokens=shelf.memory_tokens,
    )
    return Report(html=pages.workspace_report(page, made, parts), sessions=len(rows), told=len(made))


class _Shelf:
    """What one workspace keeps, read once. damaged: a row per session whose checkpoints cannot be read."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self.place = place
        self.damaged: list[SessionRow] = []
        self.memory = MemoryFile(place.root).text()
        self.memory_tokens = estimate_tokens(for_model(self.memory))
        self._bullets = parse(self.memory).bullets
        self._settings = settings
        self._zone = zone_of(settings)
        self._chains: list[list[Checkpoint]] | None = None

    def chains(self) -> list[list[Checkpoint]]:
        """Of every session that can be read, oldest checkpoint first."""
        if self._chains is None:
            self._chains = []
            for key in FileCheckpoints(self.place.root).sessions():
                try:
                    self._chains.append(load_chain(self.place, key))
                except AfterturnError as exc:
                    self.damaged.append(damaged_row(key, str(exc)))
        return self._chains

    def row(self, chain: Sequence[Checkpoint], target: str | None) -> SessionRow:
        whole = joined(chain)
        return session_row(chain, whole, self._rendering(whole), zone=self._zone, target=target)

    def material(
        self, chain: Sequence[Checkpoint], *, quoted_bytes: int = MAX_QUOTED_BYTES, is_alone: bool = False
    ) -> Material:
        """Everything that a session's page is made of; its transcript is read here.

        is_alone: the page tells this session only, and may take the time to make its next request.
        """
        whole = joined(chain)
        limits = self._limits()
        cited = cited_ids(chain, whole.summary, self._remembered(whole.session.key))
        read = reread(Path(whole.session.source), chain, cited, limits, max_row_bytes=self._settings.max_row_bytes)
        return Material(
            chain=chain,
            whole=whole,
            rendering=self._rendering(whole),
            read=read,
            zone=self._zone,
            show_tokens=self._settings.show_tokens,
            memory_tokens=self.memory_tokens,
            following=self._following(whole.session.key) if is_alone and read.standing is Standing.READ else None,
            cited=cited,
            quoted_bytes=quoted_bytes,
        )

    def _following(self, key: str) -> NextRequest | None:
        """Looking settles nothing. A session that cannot be viewed has a page all the same."""
        try:
            used = usage(key, settings=self._settings)
        except AfterturnError:
            return None
        return NextRequest(
            window=used.window,
            reserve=used.reserve,
            safety=used.safety,
            outcome=used.outcome,
            sources=used.after,
            over_budget=used.over_budget,
        )

    def _rendering(self, whole: Checkpoint) -> Rendering:
        return render_summary(whole.summary, source=source_of(whole), budget_tokens=self._settings.show_tokens)

    def _remembered(self, key: str) -> list[str]:
        """The messages that MEMORY.md cites of a session."""
        return [one for bullet in self._bullets if key_of_label(bullet.session) == key for one in bullet.evidence]

    def _limits(self) -> Limits:
        """Without asking what a model can: its library takes seconds to load, and a page needs a close number only."""
        settings = self._settings
        return limits_for(
            settings.window_tokens or WINDOW_WITHOUT_MODEL,
            manual=True,
            reserve_output_tokens=settings.summary_tokens,
            part_tokens=settings.part_tokens,
            state_tokens=settings.state_tokens,
        )


# Writing the page.


def save(report: Report, path: Path) -> int:
    """Writes the page and gives its size in bytes. What stood there is replaced only if it is a page too.

    Raises: UsageError for a folder, or a file that is no page; StorageUnavailable, with nothing left behind.
    """
    check_target(path)
    data = report.html.encode("utf-8")
    write_atomically(path, data)
    return len(data)


def check_target(path: Path) -> None:
    """Raises: UsageError when no page may be written there: better before the work than behind it."""
    if path.is_dir():
        raise UsageError(f"{path}: a folder; name a file in it, as {path / 'report.html'}")
    if path.exists() and not _is_page(path):
        raise UsageError(f"{path}: exists and is no page; name another file, or remove it")


def _is_page(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(64).lstrip().lower()
    return not head or head.startswith((b"<!doctype html", b"<html"))
