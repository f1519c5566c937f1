"""A session that is forgotten leaves with everything it said; one line stays, and nothing of anybody else changes."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.agent_summaries import AgentSummaries
from worker.adapters.files import sweep_temporary
from worker.adapters.parts_cache import FileParts
from worker.config import Settings
from worker.core.history import without_session
from worker.core.memory import parse
from worker.errors import UsageError
from worker.forgetting import Forgotten, finish_forgetting, forget, is_forgotten
from worker.upkeep import forget_session
from worker.view import view

Desk = Any
Session = Any


def forget_it(desk: Desk, session: Session) -> Forgotten:
    return forget(desk.place, session.key, clock=desk.clock, zone=desk.zone)


@pytest.fixture
def other(desk: Desk) -> Session:
    session = desk.session("0f3a").turn("Never use spaces in file names.")
    desk.run(session)
    return session


def holding(desk: Desk, words: str) -> list[str]:
    return [name for name, data in desk.files().items() if words.encode() in data]


def test_nothing_that_it_said_stays_anywhere(desk: Desk, grown: Session) -> None:
    AgentSummaries(desk.root).keep(grown.key, "rename qty was done", desk.clock.now())
    FileParts(desk.root).put("a key", "rename qty")
    forget_it(desk, grown)
    for words in ("rename qty", "database schema", "release notes", "tabs in the Makefile"):
        assert holding(desk, words) == []
    assert not (desk.root / "sessions" / grown.key).exists()
    assert desk.problems() == []


@pytest.mark.parametrize("named", ["its key", "its transcript"])
def test_a_session_that_was_only_viewed_can_be_forgotten_too(desk: Desk, named: str) -> None:
    session = desk.session("0f3b").turn("Never use spaces in file names.")
    for number in range(200):
        session.turn(f"Look at part {number}, and at what it needs.")
    settings = Settings(workspace=desk.root)
    assert view(session.path, window=8_000, strategy="archive", settings=settings).outcome == "archive"
    forget_session(settings, session.key if named == "its key" else str(session.path))
    assert holding(desk, "spaces in file names") == []
    assert not (desk.root / "sessions" / session.key).exists()


def test_history_keeps_one_line_for_it(desk: Desk, grown: Session) -> None:
    forget_it(desk, grown)
    lines = [line for line in desk.text("HISTORY.md").splitlines() if "5e55" in line]
    assert len(lines) == 1
    assert lines[0].startswith("- [2026-11-30 03:30 +08:00] claude-code/5e55 · forgotten: 3 checkpoints, 12 messages")


def test_what_others_and_people_wrote_stays_byte_for_byte(desk: Desk, other: Session) -> None:
    memory, history = desk.text("MEMORY.md"), desk.text("HISTORY.md")
    (desk.root / "MEMORY.md").write_text(f"{memory}\nMy own line about 5e55.\n", "utf-8")
    before = desk.text("MEMORY.md")
    session = desk.session().turn("Never change the database schema.")
    desk.run(session)
    forget_it(desk, session)
    assert desk.text("MEMORY.md") == before
    assert desk.text("HISTORY.md").startswith(history)
    assert len(desk.chain(other)) == 1


def test_a_bullet_that_another_session_says_too_becomes_that_ones(desk: Desk) -> None:
    first, second = desk.session("aaaa"), desk.session("bbbb")
    for session in (first, second):
        session.turn("Never use spaces in file names.")
        desk.run(session)
    assert [bullet.session for bullet in parse(desk.text("MEMORY.md")).bullets] == ["claude-code/aaaa"]
    forget_it(desk, first)
    assert [bullet.session for bullet in parse(desk.text("MEMORY.md")).bullets] == ["claude-code/bbbb"]
    assert desk.problems() == []


def test_what_a_person_deleted_stays_deleted(desk: Desk) -> None:
    first, second = desk.session("aaaa"), desk.session("bbbb")
    for session in (first, second):
        session.turn("Never use spaces in file names.")
        desk.run(session)
    text = desk.text("MEMORY.md")
    (desk.root / "MEMORY.md").write_text("\n".join(line for line in text.split("\n") if "spaces" not in line), "utf-8")
    second.turn("Look at the logs.")
    desk.run(second)
    forget_it(desk, first)
    assert parse(desk.text("MEMORY.md")).bullets == ()


def test_its_bullets_that_were_moved_out_leave_history_too(desk: Desk, grown: Session) -> None:
    lines = (
        "\n## [2026-11-29 01:00 +00:00] MEMORY.md · 2 moved out\n\n"
        "Moved: Use port 5433 (really) (2026-11-28, claude-code/5e55, m0)\n"
        "Moved: Use port 5434 (2026-11-28, claude-code/0f3a, m0)\n"
        "<!-- afterturn:left ids=M-000001:00000000,M-000002:00000000 -->\n"
    )
    path = desk.root / "HISTORY.md"
    path.write_text(path.read_text("utf-8") + lines, "utf-8")
    forget_it(desk, grown)
    assert "port 5433" not in desk.text("HISTORY.md")
    assert "Moved: Use port 5434" in desk.text("HISTORY.md")


def test_a_later_run_is_a_new_beginning(desk: Desk, grown: Session) -> None:
    forget_it(desk, grown)
    assert is_forgotten(desk.place, grown.key)
    result = desk.run(grown)
    assert (result.checkpoint, result.range) == (1, (0, 12))
    assert not is_forgotten(desk.place, grown.key)
    assert "Never change the database schema." in desk.text("MEMORY.md")
    assert desk.problems() == []


def test_forgotten_twice_it_still_has_one_line(desk: Desk, grown: Session) -> None:
    forget_it(desk, grown)
    desk.run(grown)
    desk.clock.advance(3_600)
    forget_it(desk, grown)
    assert desk.text("HISTORY.md").count("afterturn:forgotten") == 1
    assert "04:30" in desk.text("HISTORY.md")


def test_a_session_that_is_not_kept_is_named(desk: Desk) -> None:
    with pytest.raises(UsageError, match="nothing of it is kept"):
        forget(desk.place, "claude-code--none", clock=desk.clock, zone=desk.zone)
    with pytest.raises(UsageError, match="no session key"):
        forget(desk.place, "../../etc", clock=desk.clock, zone=desk.zone)
    assert list(desk.root.rglob("*")) == []


def test_one_of_a_damaged_checkpoint_can_be_forgotten(desk: Desk, grown: Session) -> None:
    (desk.root / "sessions" / grown.key / "checkpoints" / "000002.json").write_bytes(b"{")
    forget_it(desk, grown)
    assert holding(desk, "database schema") == []


def _killed_at(step: int, act: Any) -> bool:
    """Runs `act` in a process that kills itself before its n-th change of the disk; False when it got through."""
    child = os.fork()
    if child == 0:
        _die_at(step)
        try:
            act()
        except BaseException:  # noqa: BLE001  the parent has to hear of it, whatever it is
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the act failed by itself"
    return os.WIFSIGNALED(status)


def _die_at(step: int) -> None:
    left = iter(range(step - 1, -1, -1))

    def counted(call: Any) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        return wrapped

    for name in ("replace", "link", "unlink", "rmdir", "fsync"):
        setattr(os, name, counted(getattr(os, name)))


def test_killed_at_any_step_it_is_finished_by_the_next_hygiene(desk: Desk, grown: Session, other: Session) -> None:
    kept = desk.chain(other)
    transcript = grown.path.read_bytes()
    for step in range(1, 200, 2):
        if not _killed_at(step, lambda: forget_it(desk, grown)):
            break
        finish_forgetting(desk.place, clock=desk.clock, zone=desk.zone)
        sweep_temporary(desk.root, older_than_seconds=-1)  # half a file of the one that died; any start does it later
        if is_forgotten(desk.place, grown.key):
            assert holding(desk, "database schema") == []
            assert desk.text("HISTORY.md").count("afterturn:forgotten") == 1
            assert desk.problems() == []
            desk.run(grown)
        assert "Never change the database schema." in desk.text("MEMORY.md")
    else:
        pytest.fail("it never got through")
    assert step > 10
    assert desk.chain(other) == kept
    assert grown.path.read_bytes() == transcript
    assert holding(desk, "database schema") == []


SESSIONS = ("claude-code/5e55", "claude-code/5e55-2", "codex/5e55")


def entry(session: str) -> tuple[str, str]:
    marker = f"<!-- afterturn:checkpoint id={64 * 'a'} session={session} number=1 -->"
    return session, f"## [2026-11-29 01:00 +00:00] {session} · checkpoint 1 · m0–m3\n\nLooked at it.\n\n{marker}\n\n"


def departure(session: str) -> tuple[str, str]:
    line = f"Moved: Words (of old) (2026-11-28, {session}, m0, m1)"
    marker = "<!-- afterturn:left ids=M-000001:00000000 -->"
    return "", f"## [2026-11-29 01:00 +00:00] MEMORY.md · 1 moved out\n\n{line}\n{marker}\n\n"


ENTRIES = st.sampled_from(SESSIONS).map(entry)
DEPARTURES = st.sampled_from(SESSIONS).map(departure)
NOTES = st.sampled_from(["A note about claude-code/5e55.\n", "\r\n", "## My heading\n", "Moved: house (2026)\n\n"]).map(
    lambda text: ("", text)
)


@settings(deadline=None, max_examples=60)
@given(pieces=st.lists(ENTRIES | DEPARTURES | NOTES, max_size=12))
def test_of_a_history_exactly_the_lines_of_the_session_leave(pieces: list[tuple[str, str]]) -> None:
    session = SESSIONS[0]
    text = "# History\n\n" + "".join(piece for _, piece in pieces)
    kept = "".join(piece for owner, piece in pieces if owner != session)
    expected = "# History\n\n" + kept.replace(f"Moved: Words (of old) (2026-11-28, {session}, m0, m1)\n", "")
    after = without_session(text, session)
    assert after == expected
    assert without_session(after, session) == after


@pytest.mark.parametrize("hostile", ["Moved: " + " (2026-11-28, x" * 20_000, "<!-- afterturn:forgotten" * 20_000])
def test_a_hostile_history_is_read_in_no_time(hostile: str) -> None:
    marker = "\n<!-- afterturn:left ids=M-000001:00000000 -->\n"
    text = f"## [2026-11-29 01:00 +00:00] MEMORY.md · 1 moved out\n\n{hostile}{marker}"
    assert without_session(text, SESSIONS[0]) == text


def test_months_that_moved_out_forget_as_well(desk: Desk, grown: Session) -> None:
    month = desk.root / "history" / "2026-11.md"
    month.parent.mkdir()
    Path(desk.root / "HISTORY.md").rename(month)
    forget_it(desk, grown)
    assert "5e55" not in month.read_text("utf-8")
    assert desk.problems() == []
