"""One night per date: what is due is done once, what is left is told, and a night that died is gone on with."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from worker import wiring
from worker.core.checkpoint import Status
from worker.core.nightly import NightRules
from worker.errors import ModelUnavailable, SessionBusy, StoreError
from worker.forgetting import forget
from worker.hygiene import House
from worker.night_facts import Night
from worker.night_record import CLAIM_SECONDS, NightReport
from worker.nightly import nightly
from worker.ports import Turn
from worker.testing import ScriptedModel, in_form, part_answer

Desk = Any
Session = Any
DAY = date(2026, 11, 30)
MERGED: dict[str, Any] = {
    "request": "Look at the modules",
    "current_work": "All was looked at",
    "next_step": None,
    "changes": [],
}


def helpful(turns: Sequence[Turn]) -> str:
    if turns[0].content.startswith("You keep the memory"):
        return in_form(MERGED)
    if turns[0].content.startswith("You look after"):
        return in_form({"operations": []})
    return part_answer(current_work="The model has read it")


def night_of(desk: Desk, model: Any = None, transcripts: Sequence[Path] = (), **rules: Any) -> Night:
    tools = desk.tools(model)
    return Night(
        house=House(place=desk.place, clock=desk.clock, zone=desk.zone, asker=tools.asker),
        tools=tools,
        rules=NightRules(has_model=model is not None, **rules),
        transcripts=tuple(transcripts),
        read_range=wiring.range_reader(desk.place),
    )


def spend(desk: Desk, model: Any = None, *, day: date | None = None, **options: Any) -> NightReport:
    return nightly(night_of(desk, model, **options), day=day)


def steps(report: NightReport) -> list[tuple[str, str | None, str]]:
    return [(step.work.value, step.session, step.reason) for step in report.record.done]


def left(report: NightReport) -> list[tuple[str | None, str]]:
    return [(one.session, one.reason) for one in report.record.left]


def idle(session: Session, desk: Desk, hours: float = 8) -> Session:
    """The session was last written so many hours ago."""
    session.is_idle_since(desk.clock.now() - timedelta(hours=hours))
    return session


EVERY_NIGHT = [("hygiene", None, "nothing_to_do"), ("verify", None, "everything_holds")]


# What is due.


def test_a_session_that_went_on_and_is_idle_is_consolidated(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    report = spend(desk)
    assert report.outcome == "done"
    assert steps(report) == [("consolidate", grown.key, "deterministic"), *EVERY_NIGHT]
    assert desk.chain(grown)[-1].range.end == 16
    assert desk.problems() == []


def test_no_tail_is_held_back_at_night(desk: Desk) -> None:
    session = desk.session().turn("Hello.")
    desk.run(session)
    session.person("By the way: never change the database schema.")
    idle(session, desk)
    spend(desk)
    assert "Never change the database schema." in desk.text("MEMORY.md").replace("never", "Never")


def test_a_session_that_is_still_written_to_waits(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk, hours=0.1)
    report = spend(desk)
    assert left(report) == [(grown.key, "not_idle")]
    assert len(desk.chain(grown)) == 3


def test_when_nothing_is_new_nothing_is_asked_and_nothing_is_written(desk: Desk, grown: Session) -> None:
    """O92: hundreds of sessions were read by a model every night, for nothing."""
    model = ScriptedModel(otherwise=helpful)
    for _ in range(2):
        idle(grown, desk)
        spend(desk, model)
        desk.clock.advance(86_400)
    asked, before = len(model.asked), desk.files()
    idle(grown, desk)
    report = spend(desk, model)
    assert (len(model.asked), steps(report)) == (asked, EVERY_NIGHT)
    after = {name: data for name, data in desk.files().items() if not name.startswith(".afterturn/nightly/")}
    assert after == {name: data for name, data in before.items() if not name.startswith(".afterturn/nightly/")}


def test_what_a_model_was_not_used_for_is_redone_once_there_is_one(desk: Desk, grown: Session) -> None:
    idle(grown, desk)
    report = spend(desk, ScriptedModel(otherwise=helpful))
    assert ("redo", grown.key, "ok") in steps(report)
    newest = desk.chain(grown)[-1]
    assert (newest.status, newest.replaces, newest.summary.current_work) == (
        Status.OK,
        (1, 2, 3),
        "The model has read it",
    )
    assert report.record.tokens > 0
    assert desk.problems() == []


def test_only_the_range_that_needs_it_is_redone(desk: Desk) -> None:
    session = desk.session().turn("Look at billing.")
    desk.run(session, ScriptedModel(otherwise=helpful))
    desk.run(session.turn("Look at search."))
    idle(session, desk)
    spend(desk, ScriptedModel(otherwise=helpful))
    assert (desk.chain(session)[-1].range.start, desk.chain(session)[-1].range.end) == (4, 8)
    desk.clock.advance(86_400)
    assert steps(spend(desk, ScriptedModel(otherwise=helpful))) == EVERY_NIGHT


def test_after_so_many_checkpoints_a_session_is_rebuilt_from_its_transcript(desk: Desk) -> None:
    session = desk.session()
    model = ScriptedModel(otherwise=helpful)
    for number in range(4):
        desk.run(session.turn(f"Look at module {number}."), model)
    idle(session, desk)
    report = spend(desk, model, rebuild_every=4)
    assert ("rebuild", session.key, "ok") in steps(report)
    assert desk.chain(session)[-1].replaces == (1, 2, 3, 4)
    desk.clock.advance(86_400)
    idle(session, desk)
    assert steps(spend(desk, model, rebuild_every=4)) == EVERY_NIGHT


def test_what_could_not_be_made_better_rests_for_some_days(desk: Desk, grown: Session) -> None:
    model = ScriptedModel(otherwise="I am sorry, I cannot do that.")
    tried = []
    for _ in range(9):
        idle(grown, desk)
        tried.append(any(work == "redo" for work, _, _ in steps(spend(desk, model))))
        desk.clock.advance(86_400)
    assert tried == [True, False, False, False, False, False, False, True, False]


def test_a_transcript_that_was_handed_in_is_consolidated(desk: Desk) -> None:
    session = idle(desk.session("0new").turn("Look at the logs."), desk)
    report = spend(desk, transcripts=[session.path])
    assert steps(report)[0] == ("consolidate", session.key, "deterministic")


def test_a_forgotten_session_stays_forgotten(desk: Desk, grown: Session) -> None:
    """O84: deleted transcripts were ingested."""
    forget(desk.place, grown.key, clock=desk.clock, zone=desk.zone)
    idle(grown, desk)
    report = spend(desk, transcripts=[grown.path])
    assert left(report) == [(grown.key, "forgotten")]
    assert desk.chain(grown) == []


def test_a_deleted_transcript_is_skipped_and_its_memory_stays(desk: Desk, grown: Session) -> None:
    """O84: it is neither read nor recreated, and what was learned from it goes on."""
    grown.path.unlink()
    memory = desk.text("MEMORY.md")
    report = spend(desk, ScriptedModel(otherwise=helpful))
    assert left(report) == [(grown.key, "source_missing")]
    assert desk.text("MEMORY.md") == memory
    assert not grown.path.exists()


def test_what_is_no_transcript_is_left_and_told(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    assert left(spend(desk, transcripts=[path])) == [(str(path), "transcript_error")]


def test_sessions_of_one_workspace_stay_apart(desk: Desk) -> None:
    """C17: other chats' history appeared in a session."""
    one, two = desk.session("aaaa").turn("Look at the alpha module."), desk.session("bbbb").turn("Look at beta.")
    for session in (one, two):
        desk.run(session)
        idle(session.turn("Go on."), desk)
    model = ScriptedModel(otherwise=helpful)
    spend(desk, model)
    assert all(not ("alpha" in request.text and "beta" in request.text) for request in model.asked)
    for session, foreign in ((one, "beta"), (two, "alpha")):
        folder = desk.root / "sessions" / session.key
        assert all(foreign not in path.read_text("utf-8") for path in folder.rglob("*.json"))


# Budget and outages.


def test_the_longest_waiting_comes_first_and_the_budget_ends_the_night(desk: Desk) -> None:
    """O92: what a night may cost is bounded, and what was left is told."""
    sessions = []
    for number, hours in enumerate((5, 9, 7)):
        session = desk.session(f"s{number}").turn("Look at the logs.")
        desk.run(session, ScriptedModel(otherwise=helpful))
        sessions.append(idle(session.turn("Go on."), desk, hours))
    report = spend(desk, ScriptedModel(otherwise=helpful), budget_tokens=500)
    done = [session for work, session, _ in steps(report) if work == "consolidate"]
    assert done[0] == sessions[1].key
    assert len(done) == 1
    assert {reason for _, reason in left(report)} == {"night_budget_spent"}
    assert len(done) + len(left(report)) == 3
    assert steps(report)[-1][0] == "verify"


def test_a_model_that_is_down_is_not_asked_about_every_session(desk: Desk) -> None:
    for number in range(5):
        session = desk.session(f"s{number}").turn("Look at the logs.")
        desk.run(session, ScriptedModel(otherwise=helpful))
        idle(session.turn("Go on."), desk)
    model = ScriptedModel(otherwise=ModelUnavailable("503"))
    report = spend(desk, model)
    assert len(model.asked) == 2
    assert [step.reason for step in report.record.done if step.work == "consolidate"] == ["model_unavailable"] * 2
    assert [reason for _, reason in left(report)] == ["model_unavailable"] * 3
    assert all(len(desk.chain(desk.session(f"s{number}"))) == 1 for number in range(5))


# One night per date.


def test_a_second_run_of_the_date_does_nothing(desk: Desk, grown: Session) -> None:
    """J12: the beat fired twice."""
    idle(grown.turn("Look at the search module."), desk)
    first = spend(desk)
    idle(grown.turn("Look at the billing module."), desk)
    before = desk.files()
    second = spend(desk)
    assert (second.outcome, second.record) == ("already_done", first.record)
    assert desk.files() == before


def test_of_two_at_once_one_runs(desk: Desk, grown: Session) -> None:
    """J12: claimed before anything is done."""
    idle(grown.turn("Look at the search module."), desk)
    begin = threading.Barrier(2)
    outcomes: list[str] = []

    def run() -> None:
        night = night_of(desk)
        begin.wait(10)
        outcomes.append(nightly(night).outcome)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("done") == 1
    assert len(desk.chain(grown)) == 4


def test_the_date_is_the_local_one(desk: Desk) -> None:
    """O87 O88: 19:30 in UTC is the next day in Shanghai; the date comes from the clock and nowhere else."""
    assert spend(desk).record.day == DAY
    assert (desk.root / ".afterturn" / "nightly" / "2026-11-30.json").exists()


def test_a_run_past_midnight_belongs_to_the_date_on_which_it_began(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    model = ScriptedModel(otherwise=lambda turns: (desk.clock.advance(86_400), helpful(turns))[1])
    report = spend(desk, model)
    assert report.record.day == DAY
    assert report.record.finished_at is not None
    assert report.record.finished_at.astimezone(desk.zone).date() > DAY
    assert [path.name for path in (desk.root / ".afterturn" / "nightly").iterdir()] == ["2026-11-30.json"]


class _Acting:
    """Progress that does something at the first report of a night's work."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        self._act()


def acting(desk: Desk, act: Callable[[], object]) -> Night:
    night = night_of(desk)
    return replace(night, tools=replace(night.tools, progress=_Acting(act)))


def die(desk: Desk) -> None:
    """A night whose process is killed while it reads the session."""
    child = os.fork()
    if child == 0:
        nightly(acting(desk, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


class Stopped(Exception):
    """How a worker ends a job that it may not go on with."""


def stop() -> None:
    raise Stopped


def test_a_night_that_was_stopped_is_gone_on_with_at_once(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    for _ in range(3):
        with pytest.raises(Stopped):
            nightly(acting(desk, stop))
    report = spend(desk)
    assert (report.outcome, report.record.generation) == ("done", 4)
    assert steps(report)[0] == ("consolidate", grown.key, "deterministic")


def test_a_night_that_died_is_gone_on_with(desk: Desk, grown: Session) -> None:
    """T17: after a kill the rest is done, and nothing twice."""
    idle(grown.turn("Look at the search module."), desk)
    die(desk)
    assert spend(desk).outcome == "running"
    desk.clock.advance(CLAIM_SECONDS)
    report = spend(desk, day=DAY)
    assert report.outcome == "done"
    assert report.record.generation == 2
    assert len(desk.chain(grown)) == 4
    assert desk.text("HISTORY.md").count("checkpoint 4") == 1
    assert spend(desk, day=DAY).outcome == "already_done"


def test_a_step_that_kills_its_process_is_not_begun_for_ever(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    for _ in range(2):
        die(desk)
        desk.clock.advance(CLAIM_SECONDS)
    report = spend(desk, day=DAY)
    assert steps(report)[0] == ("consolidate", grown.key, "process_died")
    assert report.outcome == "done"


def test_a_night_that_lost_its_claim_writes_nothing_more(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    taken: list[NightReport] = []

    def sleep() -> None:
        if not taken:
            desk.clock.advance(CLAIM_SECONDS)
            taken.append(spend(desk, day=DAY))

    slow = nightly(acting(desk, sleep), day=DAY)
    assert (taken[0].outcome, slow.outcome) == ("done", "running")
    assert len(desk.chain(grown)) == 4
    assert desk.text("HISTORY.md").count("checkpoint 4") == 1


def test_a_session_that_somebody_else_is_at_is_left_to_them(desk: Desk, grown: Session) -> None:
    """J15: a turn that ends at night and the night itself do not consolidate one session twice."""
    idle(grown.turn("Look at the search module."), desk)
    held: list[str] = []

    def busy(session: str) -> AbstractContextManager[None]:
        held.append(session)
        raise SessionBusy(f"{session}: a turn has just ended")

    report = nightly(replace(night_of(desk), holding=busy))
    assert held == [grown.key]
    assert steps(report) == [("consolidate", grown.key, "session_busy"), *EVERY_NIGHT]
    assert len(desk.chain(grown)) == 3


def test_a_clock_that_jumps_back_repeats_nothing(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    spend(desk)
    before = desk.files()
    desk.clock.advance(-3_600)
    assert spend(desk).outcome == "already_done"
    assert desk.files() == before


def test_a_dead_night_is_taken_over_although_its_clock_ran_ahead(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    desk.clock.advance(4 * 3_600)
    die(desk)
    desk.clock.advance(-4 * 3_600)
    assert spend(desk, day=DAY).outcome == "done"


def test_nights_that_were_missed_are_told(desk: Desk) -> None:
    """O94: a run that never happened counts as missed, not as done."""
    spend(desk)
    desk.clock.advance(3 * 86_400)
    report = spend(desk)
    assert report.record.missed == (date(2026, 12, 1), date(2026, 12, 2))
    assert "missed   2026-12-01" in "\n".join(report.lines())


def test_a_night_counts_as_done_only_once_it_ended(desk: Desk, grown: Session) -> None:
    """O94: marked as run and never executed."""
    idle(grown.turn("Look at the search module."), desk)
    die(desk)
    record = orjson.loads((desk.root / ".afterturn" / "nightly" / "2026-11-30.json").read_bytes())
    assert (record["finished_at"], record["done"]) == (None, [])


def test_a_damaged_record_is_named(desk: Desk) -> None:
    spend(desk)
    (desk.root / ".afterturn" / "nightly" / "2026-11-30.json").write_bytes(b"{")
    with pytest.raises(StoreError, match=r"2026-11-30\.json: damaged; remove it"):
        spend(desk)


def test_records_of_long_ago_leave(desk: Desk) -> None:
    spend(desk)
    desk.clock.advance(61 * 86_400)
    spend(desk)
    assert [path.name for path in (desk.root / ".afterturn" / "nightly").iterdir()] == ["2027-01-30.json"]


# The report.


def test_the_report_tells_what_was_done_left_and_found(desk: Desk, grown: Session) -> None:
    idle(grown.turn("Look at the search module."), desk)
    busy = desk.session("busy").turn("Look at the logs.")
    desk.run(busy)
    idle(busy.turn("Go on."), desk, hours=0)
    history = desk.text("HISTORY.md")
    (desk.root / "HISTORY.md").write_text(history + history, "utf-8")
    report = spend(desk)
    lines = "\n".join(report.lines())
    assert "night of 2026-11-30: done" in lines
    assert f"consolidate  {grown.key}: committed, deterministic, checkpoint 4 deterministic" in lines
    assert f"left     consolidate {busy.key}: not_idle" in lines
    assert "stands 2 times" in lines
    fields = orjson.loads(orjson.dumps(report.as_object()))
    assert (fields["outcome"], fields["day"], fields["done"][0]["checkpoint"]) == ("done", "2026-11-30", 4)


def test_a_damaged_session_does_not_end_the_night(desk: Desk, grown: Session) -> None:
    other = desk.session("0f3a").turn("Look at the logs.")
    desk.run(other)
    idle(other.turn("Go on."), desk)
    (desk.root / "sessions" / grown.key / "checkpoints" / "000002.json").write_bytes(b"{")
    report = spend(desk)
    assert (grown.key, "damaged") in left(report)
    assert ("consolidate", other.key, "deterministic") in steps(report)
    assert any("000002.json" in problem for problem in report.record.problems)


def test_files_of_others_are_as_they_were(desk: Desk, grown: Session) -> None:
    """O66: dozens of daily notes vanished at night."""
    notes = {f"memory/2026-11-{day:02d}.md": f"note {day}".encode() for day in range(1, 29)}
    for name, data in notes.items():
        (desk.root / name).parent.mkdir(exist_ok=True)
        (desk.root / name).write_bytes(data)
        os.utime(desk.root / name, (0, 0))
    idle(grown.turn("Look at the search module."), desk)
    transcript = grown.path.read_bytes()
    spend(desk, ScriptedModel(otherwise=helpful))
    assert {name: data for name, data in desk.files().items() if name in notes} == notes
    assert grown.path.read_bytes() == transcript


def test_the_zone_decides_which_night_it_is(desk: Desk) -> None:
    desk.zone = ZoneInfo("America/Los_Angeles")
    assert spend(desk).record.day == date(2026, 11, 29)
