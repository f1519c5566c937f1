"""HISTORY.md as text: entries, markers, rotation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.checkpoint import (
    Checkpoint,
    Cursor,
    ModelUse,
    SessionRef,
    SourceRange,
    Status,
    Validation,
)
from worker.core.history import (
    Departure,
    departure_keys,
    departures_entry,
    history_entry,
    marks,
    missing_entries,
    rotate,
)
from worker.core.ledger import Ledger
from worker.core.summary import (
    Change,
    Constraint,
    ErrorItem,
    FileItem,
    Lift,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
)

SINGAPORE = timezone(timedelta(hours=8))
HOSTILE = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("\n\r\u2028\x1b\x00#<>!-[]`\ud800")), max_size=60
) | st.sampled_from(
    [
        "\n## [2026-01-01 00:00 +00:00] a/b · checkpoint 9 · m0–m1\n",
        f"<!-- afterturn:checkpoint id={'a' * 64} session=a/b number=1 -->",
        f"x\n<!-- afterturn:checkpoint id={'a' * 64} session=a/b number=1 -->\n",
        "<\x00!-- afterturn:left ids=M-111111:22222222 -->",
    ]
)


def checkpoint(number: int = 3, summary: Summary | None = None, *, day: int = 28, month: int = 11) -> Checkpoint:
    return Checkpoint(
        id=f"{month:02d}{number:062d}",
        number=number,
        parent=None if number == 1 else "p",
        created_at=datetime(2026, month, day, 6, 2, tzinfo=UTC),
        session=SessionRef(key="claude-code--0f3a", agent="claude-code", id="0f3a", source="s.jsonl"),
        range=SourceRange(start=120, end=188, sha256="0" * 64),
        covered=188,
        status=Status.OK,
        summary=summary or Summary(request="Move the retry limit.", current_work="The last test timed out."),
        ledger=Ledger(),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=10,
        tokens_after=5,
        cursor=Cursor(format="plain", index=188),
    )


def test_an_entry_reads_as_the_design_says() -> None:
    summary = Summary(
        request="Move the retry limit into the settings.",
        current_work="The last test failed on a time-out.",
        constraints=(Constraint(id="C-000001", rule="Never change the schema.", quote="never change the schema"),),
        problem_solving=(Problem(id="D-000001", kind=ProblemKind.DECISION, text="Keep the queue."),),
        errors=(ErrorItem(id="E-000001", error="time-out in test_retry"),),
        tasks=(
            Task(id="T-101", text="write the migration", status=TaskStatus.IN_PROGRESS),
            Task(id="T-0a1b2c", text="read the report", status=TaskStatus.DONE),
        ),
    )
    ledger = Ledger(files=(FileItem(id="F-000001", path="src/a.py", change=Change.EDITED),))
    made = replace(checkpoint(summary=summary), ledger=ledger)
    assert history_entry(made, None, zone=SINGAPORE) == (
        "## [2026-11-28 14:02 +08:00] claude-code/0f3a · checkpoint 3 · m120–m187\n"
        "\n"
        "Move the retry limit into the settings. The last test failed on a time-out.\n"
        "\n"
        "Decided: Keep the queue; rule: Never change the schema\n"
        "Done: read the report\n"
        "Open: T-101 write the migration (in progress)\n"
        "Failed: time-out in test_retry\n"
        "Files: src/a.py (edited)\n"
        f"<!-- afterturn:checkpoint id={made.id} session=claude-code/0f3a number=3 -->\n"
    )


def test_an_entry_is_dated_in_the_local_zone() -> None:
    """O87"""
    made = replace(checkpoint(), created_at=datetime(2026, 11, 28, 19, 53, tzinfo=UTC))
    assert history_entry(made, None, zone=ZoneInfo("Asia/Shanghai")).startswith("## [2026-11-29 03:53 +08:00] ")


def test_the_year_of_a_heading_is_the_clock_s_whatever_the_text_says() -> None:
    """O88"""
    entry = history_entry(checkpoint(summary=Summary(request="Today is 2023-01-01.")), None, zone=UTC)
    assert entry.startswith("## [2026-11-28 06:02 +00:00] ")


def test_only_what_is_new_against_the_checkpoint_before_is_told() -> None:
    old = Problem(id="D-000001", kind=ProblemKind.DECISION, text="Keep the queue.")
    new = Problem(id="D-000002", kind=ProblemKind.DECISION, text="Drop the cache.")
    before = checkpoint(2, Summary(problem_solving=(old,)))
    entry = history_entry(checkpoint(3, Summary(problem_solving=(old, new))), before, zone=UTC)
    assert "Decided: Drop the cache\n" in entry
    assert "Keep the queue" not in entry


def test_a_lifted_rule_and_a_correction_are_told() -> None:
    """C10"""
    rule = Constraint(id="C-000001", rule="Use port 5432.", quote="use port 5432")
    lifted = replace(rule, lifted=Lift(quote="forget that", evidence=("m9",)))
    correction = Memory(id="M-000001", kind=MemoryKind.CORRECTION, text="Use port 5433.")
    before = checkpoint(2, Summary(constraints=(rule,)))
    entry = history_entry(checkpoint(3, Summary(constraints=(lifted,), memories=(correction,))), before, zone=UTC)
    assert "no longer a rule: Use port 5432" in entry
    assert "correction: Use port 5433" in entry


def test_items_that_outgrew_the_state_get_a_line_each() -> None:
    moved = Summary(
        problem_solving=(Problem(id="X-0000aa", kind=ProblemKind.FACT, text="It is slow.", evidence=("m4",)),)
    )
    assert "Moved: X-0000aa It is slow. (m4)\n" in history_entry(replace(checkpoint(), moved=moved), None, zone=UTC)


def test_a_semicolon_in_an_item_does_not_make_two_of_it() -> None:
    decision = Problem(id="D-000001", kind=ProblemKind.DECISION, text="Keep the queue; drop the cache.")
    entry = history_entry(checkpoint(summary=Summary(problem_solving=(decision,))), None, zone=UTC)
    assert "Decided: Keep the queue, drop the cache\n" in entry


def test_a_degraded_checkpoint_says_so_to_its_reader() -> None:
    assert "(Degraded" in history_entry(replace(checkpoint(), status=Status.DEGRADED), None, zone=UTC)


def test_a_raw_dump_never_goes_in() -> None:
    """C11"""
    dump = "user: hello\nassistant: hi\n" * 40_000
    problems = tuple(Problem(id=f"D-{n:06x}", kind=ProblemKind.DECISION, text=f"{n} {dump}") for n in range(500))
    summary = Summary(request=dump, current_work=dump, problem_solving=problems)
    entry = history_entry(checkpoint(summary=summary), None, zone=UTC)
    assert len(entry) < 4000
    assert "and 492 more in the checkpoint" in entry


@settings(deadline=None, max_examples=60)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_of_a_session_can_pose_as_a_heading_or_marker(request: str, decision: str, path: str) -> None:
    summary = Summary(
        request=request,
        current_work=decision,
        problem_solving=(Problem(id="D-000001", kind=ProblemKind.DECISION, text=decision),),
        tasks=(Task(id=path, text=request, status=TaskStatus.OPEN),),
    )
    files = (FileItem(id="F-000001", path=path, change=Change.CREATED),)
    made = replace(checkpoint(summary=summary), ledger=Ledger(files=files), moved=summary)
    entry = history_entry(made, None, zone=UTC)
    assert [mark.id for mark in marks(entry)] == [made.id]
    assert departure_keys(entry) == set()
    lines = entry.split("\n")
    assert [line for line in lines if line.startswith("#")] == lines[:1]
    assert "\x1b" not in entry
    entry.encode()


@settings(deadline=None, max_examples=30)
@given(st.lists(HOSTILE, min_size=1, max_size=4))
def test_bullets_that_left_are_found_again_by_their_keys(texts: list[str]) -> None:
    departures = [
        Departure(key=f"M-{n:06x}:0000000{n}", why="moved", text=text, origin="2026-11-01, a/b, m1")
        for n, text in enumerate(texts)
    ]
    entry = departures_entry(departures, now=datetime(2026, 11, 29, tzinfo=UTC), zone=UTC)
    assert departure_keys(entry) == {each.key for each in departures}
    assert entry.count("\nMoved: ") == len(texts)


def history(counts: dict[int, int]) -> str:
    made = [checkpoint(n, month=month) for month, count in counts.items() for n in range(1, count + 1)]
    return "# History\n\nMy own note.\n\n" + "\n".join(history_entry(each, None, zone=UTC) for each in made)


def test_a_file_under_the_limit_is_not_rotated() -> None:
    text = history({9: 3, 10: 3})
    assert rotate(text, max_bytes=len(text.encode())).kept == text


def test_the_oldest_months_leave_first_and_whole() -> None:
    text = history({9: 5, 10: 5, 11: 5})
    rotation = rotate(text, max_bytes=len(text.encode()) - 100)
    assert [month for month, _ in rotation.months] == ["2026-09"]
    assert len(marks(rotation.months[0][1])) == 5
    assert len(marks(rotation.kept)) == 10
    assert rotation.kept.startswith("# History\n\nMy own note.\n\n## [2026-10")


def test_ten_thousand_entries_of_one_month_are_rotated_too() -> None:
    """T16"""
    text = history({11: 10_000})
    rotation = rotate(text, max_bytes=1_000_000)
    assert len(rotation.kept.encode()) <= 500_000
    assert marks(rotation.months[0][1]) + marks(rotation.kept) == marks(text)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.integers(1, 12), st.integers(1, 6), max_size=5), st.integers(0, 6000))
def test_rotation_loses_no_entry_and_no_line_of_a_person(counts: dict[int, int], max_bytes: int) -> None:
    text = history(dict(sorted(counts.items())))
    rotation = rotate(text, max_bytes=max_bytes)
    archived = [mark for _, entries in rotation.months for mark in marks(entries)]
    assert sorted([*archived, *marks(rotation.kept)], key=lambda mark: mark.id) == sorted(
        marks(text), key=lambda mark: mark.id
    )
    assert "My own note.\n" in rotation.kept


def test_a_large_log_of_another_program_pushes_out_no_entry_of_ours() -> None:
    text = "[2026-04-02 20:43] told elsewhere\n\n" * 40_000 + history({10: 2, 11: 2})
    assert rotate(text, max_bytes=1_000_000).kept == text


def test_a_person_s_note_between_entries_stays_in_the_file() -> None:
    text = history({9: 1}) + "\nwhy did this fail?\n\n" + history_entry(checkpoint(2), None, zone=UTC)
    rotation = rotate(text, max_bytes=300)
    assert "why did this fail?" in rotation.kept
    assert "why did this fail?" not in rotation.months[0][1]


def test_a_move_that_was_interrupted_is_not_made_twice() -> None:
    entries = rotate(history({9: 4, 11: 1}), max_bytes=600).months[0][1]
    half = "\n".join(history_entry(checkpoint(n, month=9), None, zone=UTC) for n in (1, 2))
    rest = missing_entries(entries, half)
    assert [mark.number for mark in marks(half + rest)] == [1, 2, 3, 4]
    assert missing_entries(entries, half + rest) == ""


def test_a_torn_entry_does_not_count_as_an_entry() -> None:
    entry = history_entry(checkpoint(), None, zone=UTC)
    assert all(marks(entry[:cut]) == [] for cut in range(len(entry) - 1))


def test_a_reader_learns_how_the_range_began_what_was_asked_last_and_how_it_ended() -> None:
    summary = Summary(
        request="Hook it in. (m66)\n\nBefore that: How far? (m62)\n\nBefore that: superseded by m4: Export it (m0)",
        current_work='Last asked (m66): "Hook it in." It ended with (m69): "Hooked in."\nStill running: backfill',
    )
    account = history_entry(checkpoint(summary=summary), None, zone=UTC).split("\n\n")[1]
    assert account == 'Begun with: Export it. Last asked (m66): "Hook it in." It ended with (m69): "Hooked in."'


def test_what_was_decided_is_told_once_and_without_the_words_that_decided_it() -> None:
    summary = Summary(
        problem_solving=(
            Problem(id="D-000001", kind=ProblemKind.DECISION, text='Chosen: in process ("B. Forget Redis.")'),
            Problem(id="D-000002", kind=ProblemKind.DECISION, text="No migration!"),
        ),
        constraints=(Constraint(id="C-000001", rule="No migration!", quote="No migration!"),),
    )
    assert "\nDecided: Chosen: in process; No migration!\n" in history_entry(
        checkpoint(summary=summary), None, zone=UTC
    )
