"""MEMORY.md after two hundred consolidations of twenty sessions, with a person editing it all the while."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worker import wiring
from worker.config import Settings
from worker.consolidate import Request, Tools, consolidate
from worker.core.memory import MAX_MEMORY_BYTES, MAX_MEMORY_LINES, parse

SESSIONS, ROUNDS = 20, 10
START = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
OURS = "<!-- afterturn:"
PREFERENCE = "I prefer small functions over long comments."
PLACES = ("billing", "search", "shipping", "returns", "catalogue", "vouchers", "invoices", "stock", "mail", "reports")


def statement(session: int, turn: int) -> str:
    """What is worth remembering of a turn: a rule of its own, the same preference again, a newer port."""
    if turn % 5 == 2:
        return PREFERENCE
    if session == 0 and turn % 5 == 4:
        return f"No, the staging database is on port {5400 + turn}, not {5395 + turn}."
    place = PLACES[(session + turn) % len(PLACES)]
    reason = f"the {place} team of region {session} owns everything there and wants to be asked by letter beforehand"
    return f"Never touch src/{place}/region_{session}/stage_{turn}.py, {reason}."


class Workspace:
    """Twenty transcripts that grow, one MEMORY.md."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.memory = root / "workspace" / "MEMORY.md"
        self._settings = Settings(workspace=root / "workspace", timezone="UTC")
        self._tools: Tools | None = None
        self._rows = 0

    @property
    def tools(self) -> Tools:
        if self._tools is None:
            place = wiring.ground_of(self._settings).place_of(self.root / "any.jsonl")
            self._tools = wiring.tools_for(place, self._settings, hold_back=False)
        return self._tools

    def consolidate_turn(self, session: int, turn: int) -> None:
        path = self.root / f"session-{session:02d}.jsonl"
        with path.open("a", encoding="utf-8") as stream:
            for role, text in (("user", statement(session, turn)), ("assistant", f"Noted in turn {turn}.")):
                self._rows += 1
                when = START + timedelta(minutes=self._rows)
                stream.write(json.dumps({"role": role, "content": text, "timestamp": when.isoformat()}) + "\n")
        assert consolidate(Request(path=path), self.tools).outcome.value == "committed"

    def text(self) -> str:
        return self.memory.read_bytes().decode() if self.memory.exists() else ""


def people_lines(text: str) -> list[str]:
    """The lines that are not ours, with their ends; blank ones stand for nobody."""
    return [line for line in text.splitlines(keepends=True) if OURS not in line and line.strip()]


def edited(text: str, rng: random.Random) -> str:
    """One edit of a person: something written, moved, deleted, pasted or left unfinished. Our bullets may go too."""
    lines = text.splitlines(keepends=True)
    own = [at for at, line in enumerate(lines) if OURS not in line and line.strip()]
    note = f"note {rng.randrange(10_000)}"
    edits: list[Callable[[], list[str]]] = [
        lambda: [*lines, f"\n{note} at the end\n"],
        lambda: [f"{note} on top\r\n", *lines],
        lambda: [*lines, f"\n| place | owner |\n|---|---|\n| {note} |\n"],
        lambda: [*lines, f"\n```sh\n- {note} in a fence\n```\n"],
        lambda: [line for at, line in enumerate(lines) if not own or at != rng.choice(own)],
        lambda: [*lines[: len(lines) // 2], f"{note} in the middle\n", *lines[len(lines) // 2 :]],
        lambda: [line for line in lines if OURS not in line or "region" not in line or rng.random() > 0.1],
        lambda: lines if text.startswith("---\n") else ["---\n", f"title: {note}\n", "---\n", *lines],
    ]
    return "".join(rng.choice(edits)())


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """After all of it; that people's lines stay as they were is checked each time."""
    workspace, rng = Workspace(tmp_path_factory.mktemp("memory")), random.Random(11)
    workspace.memory.parent.mkdir()
    workspace.memory.write_text("# What I know\n\nMira answers before ten.\n", encoding="utf-8")
    for turn in range(ROUNDS):
        for session in range(SESSIONS):
            if rng.random() < 0.3:
                workspace.memory.write_bytes(edited(workspace.text(), rng).encode())
            before = people_lines(workspace.text())
            workspace.consolidate_turn(session, turn)
            assert people_lines(workspace.text()) == before
    return workspace


def bullets(text: str) -> list[str]:
    return [line.bullet.text for line in parse(text).lines if line.bullet is not None]


def test_it_stays_within_its_limits_and_has_no_doubles(lived: Workspace) -> None:
    ours = [line for line in lived.text().splitlines() if OURS in line]
    assert 20 < len(ours) <= MAX_MEMORY_LINES
    assert len("\n".join(ours).encode()) <= MAX_MEMORY_BYTES
    said = bullets(lived.text())
    assert len(set(said)) == len(said)
    assert sum("small functions" in text for text in said) <= 1


def test_what_left_it_is_told_in_history(lived: Workspace) -> None:
    history = "".join(path.read_text(encoding="utf-8") for path in sorted(lived.memory.parent.rglob("H*ISTORY.md")))
    kept = "\n".join(bullets(lived.text()))
    for session in range(SESSIONS):
        for turn in (0, 5, 9):
            rule = f"src/{PLACES[(session + turn) % len(PLACES)]}/region_{session}/stage_{turn}.py"
            if statement(session, turn).startswith("Never"):
                assert rule in kept or rule in history


def test_the_newest_of_contradicting_statements_is_the_only_live_one(lived: Workspace) -> None:
    """O70: a newer statement takes the place of the older one."""
    lived.tools.projections.tidy(lambda _: (), sources={}, session="")  # type: ignore[attr-defined]
    ports = [text for text in bullets(lived.text()) if "staging database" in text]
    assert len(ports) == 1
    assert ports[0].startswith("The staging database is on port 5409, not 5404")


def test_it_can_be_rebuilt_from_the_checkpoints(lived: Workspace) -> None:
    before = bullets(lived.text())
    assert before
    lived.memory.unlink()
    lived.tools.projections.rebuild()  # type: ignore[attr-defined]
    after = bullets(lived.text())
    assert len(after) >= len(before) // 2
    assert any("5409" in text for text in after)
    assert any("region_19" in text for text in after)
