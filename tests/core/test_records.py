"""The memory files as records: each statement once, verbatim, with who said it, when, and whether it still holds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.inherited import TOLD
from worker.core.ledger import Ledger
from worker.core.recalling import Kind, Record, Trust
from worker.core.records import history_records, memory_records, session_records
from worker.core.summary import (
    Answered,
    Artifact,
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Lift,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
    with_id,
)

BEGIN = datetime(2026, 1, 23, 3, 7, tzinfo=UTC)
CREATED = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)

MEMORY = """# Memory

My own line about the staging box.

## Notes of mine
* use the blue theme
  at night
* token ghp_0123456789abcdefghijABCDEFGHIJ012345

## Preferences <!-- afterturn:section -->

- I use tabs. <!-- afterturn:memory id=M-000001 kind=preference date=2026-11-01 session=a/0f evidence= sum=00000000 -->
"""

HISTORY = """# History

A note of a person between entries.

## [2026-11-29 14:02 +08:00] claude-code/0f3a · checkpoint 3 · m120–m187

Begun with: rename the column. It ended well.

Decided: keep the queue; rule: never change the schema; and 2 more in the checkpoint
Open: T-101 write the migration (in progress)
Moved: K-1a2b3c an old concept (m3)
<!-- afterturn:checkpoint id=aa session=claude-code/0f3a number=3 -->

## [2026-11-30 03:30 +08:00] MEMORY.md · 1 moved out

Superseded: Use port 5432 (2026-11-28, claude-code/0f3a, m0)
<!-- afterturn:left ids=M-000001:00000000 -->

- [2026-11-30 03:30 +08:00] pi/5e55 · forgotten: 3 checkpoints, 12 messages <!-- afterturn:forgotten session=pi/5e55 -->
"""


def by_text(records: list[Record]) -> dict[str, Record]:
    return {record.text: record for record in records}


def test_a_persons_lines_are_records_under_their_headings() -> None:
    found = by_text(list(memory_records(MEMORY)))
    assert found["My own line about the staging box."].trust is Trust.OWN_LINE
    blue = found["* use the blue theme\n  at night"]
    assert (blue.kind, blue.heading, blue.at) == (Kind.NOTE, "Notes of mine", None)


def test_a_secret_in_a_persons_line_is_not_kept_again() -> None:
    assert not any("ghp_" in record.text for record in memory_records(MEMORY))


def test_a_bullet_that_a_person_edited_is_theirs() -> None:
    (edited,) = [record for record in memory_records(MEMORY) if "tabs" in record.text]
    assert (edited.kind, edited.trust) == (Kind.NOTE, Trust.OWN_LINE)
    assert "afterturn:" not in edited.text


def test_each_statement_of_an_entry_is_a_record() -> None:
    found = by_text(list(history_records(HISTORY, "HISTORY.md")))
    assert set(found) == {
        "A note of a person between entries.",
        "Begun with: rename the column. It ended well.",
        "keep the queue",
        "never change the schema",
        "T-101 write the migration (in progress)",
        "K-1a2b3c an old concept (m3)",
        "Use port 5432",
    }
    queue = found["keep the queue"]
    assert (queue.session, queue.at) == ("claude-code/0f3a", datetime(2026, 11, 29, 6, 2, tzinfo=UTC))
    assert found["A note of a person between entries."].trust is Trust.OWN_LINE


def test_what_left_memory_says_why_and_whose_it_was() -> None:
    gone = by_text(list(history_records(HISTORY, "HISTORY.md")))["Use port 5432"]
    assert (gone.status, gone.session, gone.evidence) == ("superseded", "claude-code/0f3a", ("m0",))
    assert gone.at == datetime(2026, 11, 28, tzinfo=UTC)


@given(st.text(), st.text())
def test_no_text_breaks_the_reading(memory: str, history: str) -> None:
    for record in [*memory_records(memory), *history_records(f"{HISTORY}{history}", "HISTORY.md")]:
        assert record.text.strip()


def checkpoint(number: int, summary: Summary, *, start: int, end: int, replaces: tuple[int, ...] = ()) -> Checkpoint:
    return Checkpoint(
        number=number,
        parent=None,
        created_at=CREATED + timedelta(hours=number),
        session=SessionRef(key="claude-code--0f3a", agent="claude-code", id="0f3a", source="s.jsonl"),
        range=SourceRange(start=start, end=end, sha256="0" * 64),
        covered=end,
        status=Status.OK,
        summary=summary,
        ledger=Ledger(),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=10,
        tokens_after=5,
        cursor=Cursor(format="plain", index=end),
        replaces=replaces,
    )


def said(number: int, text: str, answers: Answered | None = None) -> UserMessage:
    return UserMessage(id=f"m{number}", text=text, timestamp=BEGIN + timedelta(minutes=number), answers=answers)


SUMMARY = Summary(
    constraints=(
        with_id(Constraint(rule="Never change the schema.", quote="never touch the schema", evidence=("m0",), seen=1)),
        with_id(
            Constraint(
                rule="Ask first.", quote="Ask first.", evidence=("m0",), lifted=Lift(quote="no need", evidence=("m4",))
            )
        ),
    ),
    concepts=(with_id(Concept(text="token bucket", evidence=("m1",))),),
    files=(FileItem(path="src/app.py", change=Change.EDITED, evidence=("m2",)),),
    references=(
        Reference(kind=ReferenceKind.COMMIT, value="0f3a9c1", note="told by an earlier summary", evidence=("m9",)),
    ),
    errors=(with_id(ErrorItem(error="KeyError 'qty'", fix="alias added", evidence=("m2",))),),
    checks=(Check(command="pytest", result=CheckResult.PASSED, evidence=("m2",)),),
    problem_solving=(
        with_id(Problem(kind=ProblemKind.DECISION, text="Keep it in process", evidence=("m1", "m4"))),
        with_id(Problem(kind=ProblemKind.FACT, text="Port 5433", evidence=("m2",))),
        with_id(Problem(kind=ProblemKind.CLAIM, text=f"{TOLD}it was slow", evidence=("m9",))),
        with_id(Problem(kind=ProblemKind.CLAIM, text="All done", evidence=("m3",))),
    ),
    tasks=(Task(id="T-101", text="rename the column", status=TaskStatus.IN_PROGRESS, evidence=("m4",)),),
    memories=(with_id(Memory(kind=MemoryKind.PREFERENCE, text="I prefer tabs", evidence=("m4",))),),
    user_messages=(
        said(0, "never touch the schema. Ask first."),
        said(4, "yes, no need", Answered(id="m3", excerpt="Shall I?")),
    ),
    artifacts=(
        Artifact(
            handle="ab" * 32,
            message="m2",
            tool="Bash",
            media_type="text/plain",
            chars=9,
            lines=1,
            size=9,
            preview="[artifact x]\nECONNREFUSED",
            call="npm test",
        ),
    ),
)


def test_every_kind_says_who_vouches_for_it() -> None:
    found = by_text(list(session_records([checkpoint(1, SUMMARY, start=0, end=10)])))
    trust = {text: record.trust for text, record in found.items()}
    assert trust == {
        "Never change the schema.": Trust.PERSON,
        "Ask first.": Trust.PERSON,
        "token bucket": Trust.SUMMARY,
        "src/app.py": Trust.TOOL,
        "0f3a9c1": Trust.INHERITED,
        "KeyError 'qty'": Trust.TOOL,
        "pytest": Trust.TOOL,
        "Keep it in process": Trust.PERSON,
        "Port 5433": Trust.TOOL,
        f"{TOLD}it was slow": Trust.INHERITED,
        "All done": Trust.CLAIM,
        "rename the column": Trust.PERSON,
        "I prefer tabs": Trust.PERSON,
        "never touch the schema. Ask first.": Trust.PERSON,
        "yes, no need": Trust.PERSON,
        "npm test": Trust.TOOL,
    }
    assert found["Ask first."].status == "lifted"
    assert (found["rename the column"].name, found["rename the column"].status) == ("T-101", "open, in progress")
    assert found["npm test"].name == "ab" * 8
    assert found["yes, no need"].more == (("on m3", "Shall I?"),)


def test_an_item_is_as_old_as_the_words_before_it() -> None:
    found = by_text(list(session_records([checkpoint(1, SUMMARY, start=0, end=10)])))
    assert found["Port 5433"].at == BEGIN
    assert found["All done"].at == BEGIN
    assert found["rename the column"].at == BEGIN + timedelta(minutes=4)
    silent = Summary(problem_solving=(Problem(kind=ProblemKind.FACT, text="Port 1", evidence=("m2",), seen=1),))
    (record,) = session_records([checkpoint(1, silent, start=0, end=10)])
    assert record.at == CREATED + timedelta(hours=1)


def test_what_was_summarized_again_is_told_once() -> None:
    first = checkpoint(1, Summary(user_messages=(said(0, "the old reading"),)), start=0, end=10)
    again = checkpoint(2, Summary(user_messages=(said(0, "the new reading"),)), start=0, end=10, replaces=(1,))
    assert [record.text for record in session_records([first, again])] == ["the new reading"]


def test_items_that_outgrew_the_state_are_found_still() -> None:
    moved = Summary(concepts=(with_id(Concept(text="an old concept", evidence=("m1",))),))
    (record,) = session_records([replace(checkpoint(1, Summary(), start=0, end=10), moved=moved)])
    assert (record.text, record.status) == ("an old concept", "moved out")


def test_a_session_without_checkpoints_says_nothing() -> None:
    assert list(session_records([])) == []
