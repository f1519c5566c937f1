"""The house is clean afterwards, nothing that somebody needs is gone, and the report says what the bytes say."""

import os
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worker.adapters.agent_summaries import AgentSummaries
from worker.adapters.memory_file import MemoryFile
from worker.adapters.parts_cache import FileParts
from worker.adapters.projections import FileProjections
from worker.adapters.sessions import FileArtifacts, FileCheckpoints
from worker.config import Settings
from worker.consolidate import Request
from worker.core.memory import MAX_MEMORY_LINES, Bullet, Section, add, parse
from worker.errors import ModelUnavailable
from worker.forgetting import forget
from worker.hygiene import House, HygieneReport, hygiene, unfinished_projections
from worker.resummarize import resummarize
from worker.testing import ScriptedModel, in_form
from worker.view import view

Desk = Any
Session = Any
SESSION = "claude-code/5e55"


def clean(desk: Desk, model: Any = None, **options: Any) -> HygieneReport:
    asker = desk.asker(model) if model else None
    return hygiene(House(place=desk.place, clock=desk.clock, zone=desk.zone, asker=asker), **options)


def remember(desk: Desk, *bullets: tuple[str, Section, str, date]) -> None:
    """Writes bullets of ours into MEMORY.md, as earlier versions or other machines may have."""
    page = parse(desk.text("MEMORY.md"))
    for name, section, text, day in bullets:
        page = add(page, Bullet(id=name, section=section, text=text, date=day, session=SESSION, evidence=("m0",)))
    MemoryFile(desk.root).write(page.render(), now=desk.clock.now())


def texts(desk: Desk) -> list[str]:
    return [bullet.text for bullet in parse(desk.text("MEMORY.md")).bullets]


@pytest.fixture
def logged(desk: Desk) -> Session:
    """A session with one artifact."""
    session = desk.session()
    session.person("Read the log.")
    session.bash("cat build.log", "\n".join(f"line {number} of the log" for number in range(4_000)))
    session.assistant("Read.")
    desk.run(session)
    return session


def age(path: Path, days: int, desk: Desk) -> None:
    moment = (desk.clock.now() - timedelta(days=days)).timestamp()
    os.utime(path, (moment, moment))


def artifact(desk: Desk, session: Session) -> Path:
    (handle,) = FileArtifacts(desk.root).handles(session.key)
    return FileArtifacts(desk.root).path(session.key, handle)


# MEMORY.md.


def test_the_same_fact_twice_is_one_line_afterwards(desk: Desk, grown: Session) -> None:
    """O72: 62 duplicate blocks."""
    day = date(2026, 11, 1)
    remember(
        desk,
        ("M-000001", Section.PROJECT, "The smoke test on staging uses port 5433", day),
        ("M-000002", Section.PROJECT, "The smoke test on staging uses port 5433.", day + timedelta(days=3)),
    )
    report = clean(desk)
    assert [text for text in texts(desk) if "5433" in text] == ["The smoke test on staging uses port 5433"]
    assert len(report.memory_out) == 1
    assert desk.problems() == []


def test_what_was_corrected_since_is_replaced_with_the_date(desk: Desk, grown: Session) -> None:
    """O70: stale advice stayed beside the newer statement."""
    old, new = date(2026, 11, 1), date(2026, 11, 20)
    remember(
        desk,
        ("M-000001", Section.PROJECT, "The smoke test on staging uses port 5432", old),
        ("M-000002", Section.PREFERENCES, "The smoke test on staging uses port 5431", old),
        ("M-000003", Section.CORRECTIONS, "The smoke test on staging uses port 5433", new),
    )
    clean(desk)
    told = [text for text in texts(desk) if "smoke test" in text]
    assert told == ["The smoke test on staging uses port 5433 (since 2026-11-20)"]
    assert "Superseded: The smoke test on staging uses port 5432" in desk.text("HISTORY.md")
    before = desk.files()
    assert not clean(desk).changed
    assert desk.files() == before


def test_memory_that_outgrew_its_limits_is_within_them(desk: Desk, grown: Session) -> None:
    """O67 T16 B48 B51: it only ever grew."""
    many = [
        (
            f"M-{number:06x}",
            Section.PROJECT,
            f"Module {number} of the export writes {number * 7} rows",
            date(2026, 1, 1),
        )
        for number in range(400)
    ]
    remember(desk, *many)
    people = "\nMy own words, which nobody may touch.\n"
    path = desk.root / "MEMORY.md"
    path.write_text(path.read_text("utf-8") + people, "utf-8")
    clean(desk)
    text = desk.text("MEMORY.md")
    assert len(text.splitlines()) <= MAX_MEMORY_LINES
    assert text.endswith(people)
    assert "Never change the database schema." in text
    assert desk.text("HISTORY.md").count("Moved: Module") > 100
    assert desk.problems() == []


def test_a_model_proposes_and_code_decides(desk: Desk, grown: Session) -> None:
    remember(
        desk,
        ("M-000001", Section.PROJECT, "Old notes about the billing module", date(2026, 11, 1)),
        ("M-000002", Section.PROJECT, "The exporter writes CSV", date(2026, 11, 1)),
    )
    grown.turn("We deleted the old billing notes, the wiki has them.")
    desk.run(grown)
    rule = next(bullet.id for bullet in parse(desk.text("MEMORY.md")).bullets if bullet.section is Section.CONSTRAINTS)
    fields = {"kind": "project", "text": "", "evidence": []}
    operations = [
        {**fields, "op": "retire", "ids": ["M-000001"], "reason": "they were deleted", "evidence": ["m12"]},
        {**fields, "op": "retire", "ids": ["M-000002"], "reason": "old"},
        {**fields, "op": "retire", "ids": [rule], "reason": "not needed"},
        {
            **fields,
            "op": "add",
            "ids": [],
            "text": "The password is stored in vault 9",
            "evidence": ["m8"],
            "reason": "",
        },
    ]
    model = ScriptedModel(otherwise=in_form({"operations": operations}))
    report = clean(desk, model)
    assert "Old notes about the billing module" not in texts(desk)
    assert "Never change the database schema." in texts(desk)
    assert not any("vault" in text for text in texts(desk))
    assert "The exporter writes CSV" in texts(desk)
    assert len(report.refused) == 3, report.refused
    assert report.use.calls == 1
    assert "We deleted the old billing notes" in model.asked[0].text


def test_a_model_that_is_down_costs_the_proposals_only(desk: Desk, grown: Session) -> None:
    day = date(2026, 11, 1)
    remember(
        desk,
        ("M-000001", Section.PROJECT, "The exporter writes CSV", day),
        ("M-000002", Section.PROJECT, "The exporter writes CSV.", day),
    )
    report = clean(desk, ScriptedModel(otherwise=ModelUnavailable("503")))
    assert texts(desk).count("The exporter writes CSV") == 1
    assert report.problems == ("model_unavailable: 503",)


def test_a_model_is_not_asked_about_sessions_that_did_not_go_on(desk: Desk, grown: Session) -> None:
    desk.clock.advance(3 * 86_400)
    model = ScriptedModel()
    clean(desk, model)
    assert model.asked == []


# What is interrupted.


def test_a_projection_that_was_interrupted_is_finished(desk: Desk, grown: Session) -> None:
    """J08: the first stage was done, the second pending for ever."""
    history = desk.text("HISTORY.md")
    start = history.rindex("## [")
    (desk.root / "HISTORY.md").write_text(history[:start], "utf-8")
    assert unfinished_projections(desk.root) == [grown.key]
    report = clean(desk)
    assert report.projected == (grown.key,)
    assert desk.text("HISTORY.md") == history
    assert unfinished_projections(desk.root) == []


# Retention.


def test_an_artifact_that_a_checkpoint_names_stays_for_ever(desk: Desk, logged: Session) -> None:
    age(artifact(desk, logged), 400, desk)
    assert clean(desk).removed == {}
    assert desk.problems() == []


def test_an_artifact_that_is_named_anew_stays(desk: Desk, logged: Session) -> None:
    resummarize(Request(path=logged.path), desk.tools(), session=logged.key)
    age(artifact(desk, logged), 400, desk)
    assert clean(desk).removed == {}
    assert desk.problems() == []


def test_an_artifact_that_only_a_replaced_checkpoint_names_leaves_after_its_time(desk: Desk, logged: Session) -> None:
    """Rules for what is kept whole change: the range was summarized again and no longer needs the file."""
    (first,) = desk.chain(logged)
    summary = replace(first.summary, artifacts=())
    assert FileCheckpoints(desk.root).commit(
        replace(first, id="", number=2, parent=first.id, replaces=(1,), summary=summary)
    )
    FileProjections(desk.root, desk.clock, desk.zone).project(logged.key)
    path = artifact(desk, logged)
    assert clean(desk).removed == {}
    age(path, 31, desk)
    assert clean(desk).removed == {"artifacts": 1}
    assert not path.exists()
    assert desk.problems() == []


def test_an_artifact_that_nobody_names_leaves_after_its_time(desk: Desk, logged: Session) -> None:
    path = artifact(desk, logged)
    for checkpoint in (desk.root / "sessions" / logged.key / "checkpoints").glob("*.json"):
        checkpoint.unlink()
    age(path, 29, desk)
    assert clean(desk).removed == {}
    age(path, 31, desk)
    report = clean(desk)
    assert report.removed == {"artifacts": 1}
    assert report.freed_bytes > 30_000
    assert list(path.parent.iterdir()) == []


def test_an_output_that_a_view_moved_out_is_there_as_long_as_the_view_is_used(desk: Desk) -> None:
    session = desk.session("0f3b")
    session.person("Read the logs.")
    for number in range(12):
        session.bash(f"cat build{number}.log", "\n".join(f"line {at} of log {number}" for at in range(400)))
    session.assistant("Read.")
    made = view(session.path, window=12_000, settings=Settings(workspace=desk.root))
    assert made.outcome == "micro_compacted"
    folder = desk.root / "sessions" / session.key
    moved = sorted((folder / "artifacts").glob("*.txt"))
    for path in folder.rglob("*.*"):
        age(path, 400, desk)
    age(folder / "view.json", 29, desk)
    assert clean(desk).removed == {}
    age(folder / "view.json", 31, desk)
    assert clean(desk).removed == {"artifacts": len(moved)}
    assert not (folder / "view.json").exists()
    assert view(session.path, window=12_000, settings=Settings(workspace=desk.root)).messages == made.messages


def test_of_a_session_that_cannot_be_read_nothing_is_removed(desk: Desk, logged: Session) -> None:
    path = artifact(desk, logged)
    (desk.root / "sessions" / logged.key / "checkpoints" / "000001.json").write_bytes(b"{")
    age(path, 400, desk)
    report = clean(desk)
    assert path.exists()
    assert any(problem.startswith("store_error") for problem in report.problems)


def test_an_output_that_is_stored_anew_is_young_again(desk: Desk, logged: Session) -> None:
    path = artifact(desk, logged)
    age(path, 400, desk)
    info = FileArtifacts(desk.root).info(logged.key, path.stem)
    assert info is not None
    FileArtifacts(desk.root).put(logged.key, path.read_text("utf-8"), info)
    assert path.stat().st_mtime > desk.clock.now().timestamp() - 30 * 86_400


def test_answers_summaries_and_temporary_files_that_nobody_came_back_for_leave(desk: Desk, grown: Session) -> None:
    AgentSummaries(desk.root).keep(grown.key, "old words", desk.clock.now() - timedelta(days=31))
    AgentSummaries(desk.root).keep(grown.key, "new words", desk.clock.now())
    FileParts(desk.root).put("old", "an answer")
    for path in (desk.root / ".afterturn" / "parts").iterdir():
        os.utime(path, (0, 0))
    FileParts(desk.root).put("new", "another answer")
    torn = desk.root / f".afterturn-1-{16 * 'a'}.tmp"
    torn.write_text("half", "utf-8")
    os.utime(torn, (0, 0))
    report = clean(desk)
    assert report.removed == {"agent_summaries": 1, "part_answers": 1, "temporary_files": 1}
    assert [one.text for one in AgentSummaries(desk.root).of_session(grown.key)] == ["new words"]
    assert FileParts(desk.root).get("new") == "another answer"


# The report and what is not ours.


def test_the_report_is_the_difference_of_the_bytes(desk: Desk, grown: Session) -> None:
    """T20: a log told of edits that nobody made."""
    assert not clean(desk).changed
    day = date(2026, 11, 1)
    remember(desk, *((f"M-00000{n}", Section.PROJECT, "The exporter writes CSV" + n % 2 * ".", day) for n in (1, 2)))
    before, history = desk.text("MEMORY.md").splitlines(), len(desk.files()["HISTORY.md"])
    report = clean(desk)
    after = desk.text("MEMORY.md").splitlines()
    assert [*report.memory_out] == [line for line in before if line not in after]
    assert report.memory_in == ()
    assert report.history_bytes == len(desk.files()["HISTORY.md"]) - history


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.from_regex(r"[a-z0-9][a-z0-9-]{0,12}\.(md|txt|json)", fullmatch=True), max_size=6, unique=True)
)
def test_files_of_others_are_as_they_were(desk: Desk, names: list[str]) -> None:
    """O66: dozens of daily notes vanished at night."""
    for folder in ("memory", "notes", "history", "sessions"):
        (desk.root / folder).mkdir(parents=True, exist_ok=True)
        for name in names:
            (desk.root / folder / name).write_text(f"{folder} {name}", "utf-8")
            os.utime(desk.root / folder / name, (0, 0))
    before = {name: data for name, data in desk.files().items() if not name.startswith(".afterturn/")}
    clean(desk)
    assert {name: data for name, data in desk.files().items() if not name.startswith(".afterturn/")} == before


def test_a_forgetting_that_was_interrupted_is_finished(desk: Desk, grown: Session, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            forget(desk.place, grown.key, clock=desk.clock, zone=desk.zone)
    report = clean(desk)
    assert report.forgotten == (grown.key,)
    assert not any(name.endswith("000001.json") for name in desk.files())
