"""What a night finds out by looking at files, before it plans."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from worker.adapters.sessions import FileCheckpoints
from worker.consolidate import Request, consolidate
from worker.core.checkpoint import Finding, Validation
from worker.core.nightly import NightRules, SessionFacts, Work
from worker.hygiene import House
from worker.night_facts import Night, gather
from worker.night_record import DoneStep, NightRecord

Desk = Any
Session = Any


def look(desk: Desk, *earlier: NightRecord) -> list[SessionFacts]:
    night = Night(
        house=House(place=desk.place, clock=desk.clock, zone=desk.zone),
        tools=desk.tools(),
        rules=NightRules(has_model=True),
    )
    return gather(night, earlier)[0]


def record(desk: Desk, session: str, *, days_ago: int, **step: Any) -> NightRecord:
    known = {"outcome": "committed", "reason": "ok", "status": "ok"} | step
    done = DoneStep(name=f"rebuild:{session}", work=Work.REBUILD, session=session, **known)
    moment = desk.clock.now() - timedelta(days=days_ago)
    day = desk.tools().today(moment)
    assert isinstance(day, date)
    return NightRecord(day=day, started_at=moment, beat_at=moment, finished_at=moment, done=(done,))


def test_a_session_that_was_read_to_its_end_has_nothing_unread(desk: Desk, grown: Session) -> None:
    (facts,) = look(desk)
    assert (facts.session, facts.unread_tokens, facts.since_rebuild) == (grown.key, None, 3)


def test_new_rows_and_a_file_that_was_cut_are_unread(desk: Desk, grown: Session) -> None:
    size = grown.path.stat().st_size
    grown.turn("Look at the search module.")
    (facts,) = look(desk)
    assert facts.unread_tokens == (grown.path.stat().st_size - size) // 4
    grown.path.write_bytes(grown.path.read_bytes()[:400])
    (facts,) = look(desk)
    assert facts.unread_tokens == 100


def test_a_document_is_unread_when_it_was_written_since(desk: Desk) -> None:
    path = desk.sources / "messages.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]), "utf-8")
    consolidate(Request(path=path), desk.tools())
    session = desk.session()
    session.path = path
    session.is_idle_since(desk.clock.now() - timedelta(hours=1))
    assert [facts.unread_tokens for facts in look(desk)] == [None]
    session.is_idle_since(desk.clock.now() + timedelta(hours=1))
    assert [facts.unread_tokens is not None for facts in look(desk)] == [True]


def test_a_transcript_that_moved_is_found_where_it_was_handed_in(desk: Desk, grown: Session) -> None:
    moved = desk.sources / "archive" / grown.path.name
    moved.parent.mkdir()
    grown.turn("Look at the search module.")
    grown.path.rename(moved)
    night = Night(
        house=House(place=desk.place, clock=desk.clock, zone=desk.zone),
        tools=desk.tools(),
        rules=NightRules(has_model=True),
        transcripts=(moved,),
    )
    (facts,) = gather(night, ())[0]
    assert (facts.source, facts.unread_tokens is not None) == (str(moved), True)


def test_an_outage_of_last_night_does_not_make_a_session_rest(desk: Desk, grown: Session) -> None:
    out = record(desk, grown.key, days_ago=1, outcome="failed", reason="model_unavailable", status=None)
    worse = record(desk, grown.key, days_ago=1, outcome="refused", reason="worse_than_before", status=None)
    assert [facts.rests for facts in look(desk, out)] == [False]
    assert [facts.rests for facts in look(desk, worse)] == [True]
    long_ago = record(desk, grown.key, days_ago=7, outcome="refused", reason="worse_than_before", status=None)
    assert [facts.rests for facts in look(desk, long_ago)] == [False]


def test_a_contradiction_that_a_rebuild_left_asks_for_none_for_some_days(desk: Desk, grown: Session) -> None:
    newest = desk.chain(grown)[-1]
    conflict = Validation(findings=(Finding(code="task_promoted", where="tasks"),))
    rebuilt = replace(
        newest,
        id="",
        number=4,
        parent=newest.id,
        replaces=(1, 2, 3),
        range=replace(newest.range, start=0, end=12),
        validation=conflict,
    )
    assert FileCheckpoints(desk.root).commit(rebuilt)
    assert [facts.has_conflict for facts in look(desk)] == [True]
    assert [facts.has_conflict for facts in look(desk, record(desk, grown.key, days_ago=1))] == [False]
