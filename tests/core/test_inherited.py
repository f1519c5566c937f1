"""A session may begin with what its agent wrote of the part that is gone: kept, and believed only as far as it goes."""

import json
import os
from pathlib import Path

import pytest

from worker.core.inherited import TOLD, inherit, inherited
from worker.core.items import items_of, words_of
from worker.core.messages import Message, Origin, Role
from worker.core.summary import Change, ProblemKind, Summary, TaskStatus

TEXT = """This session is being continued from a previous conversation that ran out of context.

Analysis:
1. **Current Work**: thinking aloud

Summary:
1. Primary Request and Intent:
   Rename qty to quantity in the order export.

2. Key Technical Concepts:
   - CSV quoting

3. Files and Code Sections:
   - `src/export.py`
     - Renamed the header
     ```
     9f2c4e1a commit of the rename
     ```
   - **Helpers:**
     - `src/quoting.py`: new

4. Errors and fixes:
   - **Comma in a name broke a row**: quoted the field
   - **Flaky import test**

5. Problem Solving:
   The exporter keeps every batch in memory.

6. All user messages:
   - "never touch the schema"

7. Pending Tasks:
   - T-102: add rate limiting (in progress)
   - [x] T-101: rename the column
   - No other tasks are pending

8. Current Work:
   Ran the tests, 3 passed.

9. Optional Next Step:
   Write the release notes.

Please continue the conversation from where we left it off without asking the user any further questions.
"""


def row(text: str = TEXT, *, index: int = 0, origin: Origin = Origin.SUMMARY) -> Message:
    role = Role.ASSISTANT if origin is Origin.ASSISTANT else Role.USER
    return Message(index=index, role=role, origin=origin, text=text)


def told(summary: Summary) -> list[str]:
    return [one.text for one in summary.problem_solving]


def test_every_section_becomes_items_that_cite_the_summary() -> None:
    summary = inherit(row(index=7))
    assert {item.evidence for _, item in items_of(summary)} == {("m7",)}
    assert summary.request == f"{TOLD}Rename qty to quantity in the order export."
    assert [one.text for one in summary.concepts] == ["CSV quoting"]
    assert [(one.path, one.change) for one in summary.files] == [
        ("src/export.py", Change.MENTIONED),
        ("src/quoting.py", Change.MENTIONED),
    ]
    assert [(one.error, one.fix) for one in summary.errors] == [
        ("Comma in a name broke a row", f"{TOLD}quoted the field")
    ]
    assert summary.current_work == f"{TOLD}Ran the tests, 3 passed."


def test_nothing_that_it_tells_is_a_fact_a_rule_or_a_memory() -> None:
    summary = inherit(row())
    assert {one.kind for one in summary.problem_solving} == {ProblemKind.CLAIM}
    assert summary.constraints == ()
    assert summary.memories == ()
    assert summary.user_messages == ()
    assert summary.next_step is None


def test_what_only_it_knows_is_kept_as_told() -> None:
    claims = told(inherit(row()))
    assert f'{TOLD}the person wrote "never touch the schema"' in claims
    assert f"{TOLD}The exporter keeps every batch in memory." in claims
    assert f"{TOLD}next step then: Write the release notes." in claims
    assert f"{TOLD}work then: Ran the tests, 3 passed." in claims
    assert [one.value for one in inherit(row()).references] == ["9f2c4e1a", "T-102", "T-101"]


def test_a_task_keeps_its_id_and_status_and_one_told_as_finished_is_a_claim() -> None:
    summary = inherit(row())
    assert [(one.id, one.status, one.from_ledger) for one in summary.tasks] == [
        ("T-102", TaskStatus.IN_PROGRESS, False)
    ]
    assert f"{TOLD}done: [x] T-101: rename the column" in told(summary)


def test_an_error_without_a_told_fix_is_no_open_error() -> None:
    assert f"{TOLD}Flaky import test" in told(inherit(row()))


def test_its_order_to_go_on_without_asking_is_not_taken_over() -> None:
    said = "\n".join(words_of(item) for _, item in items_of(inherit(row())))
    assert "without asking" not in said
    assert "continue the conversation" not in said


def test_only_a_summary_that_comes_before_everybody_else_is_inherited() -> None:
    person = row("Never touch the schema.", index=1, origin=Origin.HUMAN)
    assert inherited([row(), person], None) is not None
    assert inherited([row("[hook]", origin=Origin.HARNESS), row(index=1), person], None) is not None
    assert inherited([row("Hi", origin=Origin.HUMAN), row(index=1)], None) is None
    assert inherited([row("Done.", origin=Origin.ASSISTANT), row(index=1)], None) is None
    assert inherited([row()], Summary(request="known")) is None
    assert inherited([], None) is None


SECTIONS = {
    "Primary Request and Intent": "Rename it.",
    "Key Technical Concepts": "- CSV quoting",
    "Files and Code Sections": "- `src/export.py`: new",
    "Errors and Fixes": "- **A comma broke a row**: quoted",
    "Problem Solving": "The exporter keeps every batch in memory.",
    "All User Messages": '- "never touch the schema"',
    "Pending Tasks (from task list)": "- T-102: add rate limiting",
    "Current Work": "Ran the tests.",
    "Optional Next Step": "Write the release notes.",
}


@pytest.mark.parametrize("heading", ["{n}. {t}:", "## {n}. {t}", "### {n}. {t}:", "{n}. **{t}**:", "{n}. {t}"])
def test_the_nine_headings_are_known_in_every_spelling(heading: str) -> None:
    numbered = enumerate(SECTIONS.items(), start=1)
    text = "\n\n".join(f"{heading.format(n=n, t=title)}\n   {body}" for n, (title, body) in numbered)
    summary = inherit(row(f"Summary:\n{text}"))
    assert summary.request == f"{TOLD}Rename it."
    assert [one.text for one in summary.concepts] == ["CSV quoting"]
    assert [one.path for one in summary.files] == ["src/export.py"]
    assert [one.error for one in summary.errors] == ["A comma broke a row"]
    assert f'{TOLD}the person wrote "never touch the schema"' in told(summary)
    assert [one.id for one in summary.tasks] == ["T-102"]
    assert summary.current_work == f"{TOLD}Ran the tests."


def test_the_numbered_analysis_in_front_and_the_word_in_code_are_not_the_summary() -> None:
    analysis = "Analysis:\n1. **Primary Request and Intent**: thought\n8. Current Work: thought\n\n"
    code = "3. Files and Code Sections:\n   - `a.go`\n```go\nsummary := Checkpoint{\nSummary: 1,\n}\n```\n"
    summary = inherit(
        row(f"{analysis}Summary:\n1. Primary Request and Intent:\n   Right.\n{code}8. Current Work:\n   Too.")
    )
    assert (summary.request, summary.current_work) == (f"{TOLD}Right.", f"{TOLD}Too.")
    assert [one.path for one in summary.files] == ["a.go"]
    assert "thought" not in "".join(words_of(item) for _, item in items_of(summary))


def test_numbered_lines_in_a_code_block_begin_no_section() -> None:
    block = "```\n1. Primary Request and Intent:\n   of the code\n8. Current Work: of the code\n```\n"
    text = f"1. Primary Request and Intent:\n   Right.\n4. Errors and fixes:\n   - **It broke**: mended\n{block}"
    summary = inherit(row(f"Summary:\n{text}8. Current Work:\n   Right too."))
    assert (summary.request, summary.current_work) == (f"{TOLD}Right.", f"{TOLD}Right too.")
    assert [one.error for one in summary.errors] == ["It broke"]


@pytest.mark.real
def test_all_recorded_nine_section_summaries_give_every_section() -> None:
    folder = os.environ.get("AFTERTURN_TEST_DATA")
    if not folder:
        pytest.skip("AFTERTURN_TEST_DATA names no folder of recorded sessions")
    path = Path(folder) / "reference-summaries" / "claude-code-compact-summaries.jsonl"
    rows = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 44
    for text in rows:
        summary = inherit(row(text))
        assert summary.request
        assert summary.current_work
        assert summary.concepts
        assert summary.files
        assert summary.problem_solving
        said = "\n".join(words_of(item) for _, item in items_of(summary)).casefold()
        assert "without asking the user any further" not in said
        assert "before compaction (like exact" not in said
