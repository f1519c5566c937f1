"""What did not go on is named with its reason, and every finding says whether it was put right."""

import re
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

from worker.core.checkpoint import Checkpoint, Finding, Validation
from worker.core.item_lines import item_line
from worker.core.summary import Artifact, Concept, Item, Summary
from worker.reporting import leftovers
from worker.reporting.citing import Citing
from worker.reporting.leftovers import (
    checked,
    degraded_parts,
    kept,
    moved_entry,
    saved_entries,
    skipped_entries,
    skipped_in,
    unshown_entry,
)
from worker.reporting.page import Entry

Made = Callable[..., Checkpoint]


def found(made: Made, number: int, *findings: Finding) -> Checkpoint:
    return made(number, number, number + 1, validation=Validation(findings=findings))


def test_findings_of_one_code_are_one_row_and_those_that_stand_come_first(made: Made) -> None:
    mended = Finding(code="identifier_lost", where="references", ids=("R-1",), detail="1 not in", mended=True)
    standing = Finding(code="relative_date", where="request", detail="tomorrow")
    rows = checked([found(made, 1, mended, mended), found(made, 2, standing, mended)])
    assert [(row.code, row.settled, row.standing) for row in rows] == [
        ("relative_date", 0, 1),
        ("identifier_lost", 3, 0),
    ]
    assert rows[0].places == ("checkpoint 2 · request · tomorrow",)


def test_a_code_that_nobody_explained_is_named_all_the_same(made: Made) -> None:
    (row,) = checked([found(made, 1, Finding(code="brand_new", where="summary"))])
    assert (row.meaning, row.done) == ("Brand new", "")


def test_many_places_are_counted_and_not_listed(made: Made) -> None:
    many = [Finding(code="secret", where="request", mended=True)] * 30
    (row,) = checked([found(made, 1, *many)])
    assert row.places[-1] == "and 22 more"


def test_every_code_that_validation_can_find_is_explained() -> None:
    worker = Path(leftovers.__file__).parent.parent
    sources = [path.read_text("utf-8") for path in worker.rglob("*.py") if path.parent.name != "reporting"]
    codes = set(re.findall(r'(?:code=|finding_on\(\s*)"([a-z_]+)"', "\n".join(sources)))
    assert {"task_missing", "constraint_unsourced"} <= codes
    assert codes - leftovers.FINDINGS.keys() == set()


def test_skipped_rows_of_a_chain_are_the_most_that_one_run_saw(made: Made) -> None:
    chain = [made(1, 0, 5, skipped={"progress": 3}), made(2, 5, 9, skipped={"progress": 7, "not_json": 1})]
    assert skipped_in(chain) == {"progress": 7, "not_json": 1}
    rows = list(skipped_entries(skipped_in(chain), is_exact=False))
    assert [(row.code, row.amount) for row in rows] == [("progress", "at least 7"), ("not_json", "at least 1")]


def test_a_reason_that_nobody_explained_is_shown_with_its_name() -> None:
    (row,) = skipped_entries({"novel-row_kind": 2}, is_exact=True)
    assert (row.what, row.amount) == ("Novel row kind", "2")


def test_savings_are_told_most_first_and_nothing_is_no_saving() -> None:
    rows = list(saved_entries({"superseded": 10, "offloaded": 500, "progress": 0}))
    assert [(row.code, row.amount) for row in rows] == [("offloaded", "500 tokens"), ("superseded", "10 tokens")]


def test_items_that_outgrew_the_state_can_each_be_read(made: Made) -> None:
    def entry(item: Item) -> Entry:
        return Entry(id=item.id, kind="concept", text=item_line(item))

    moved = Summary(concepts=(Concept(id="K-1", text="Go"), Concept(id="K-2", text="mise")))
    row = moved_entry([made(1, 0, 5, moved=moved)], entry)
    assert row is not None
    assert (row.amount, [each.id for each in row.entries]) == ("2 items", ["K-1", "K-2"])
    assert moved_entry([made(1, 0, 5)], entry) is None


def test_what_the_short_form_leaves_out_is_counted() -> None:
    row = unshown_entry({"files": 30, "checks": 2}, 12_000)
    assert row is not None
    assert row.amount == "2 checks, 30 files"
    assert unshown_entry({}, 12_000) is None


def test_degraded_parts_are_counted_by_what_findings_say(made: Made) -> None:
    degraded = Finding(code="part_degraded", where="part 3")
    down = Finding(code="model_unavailable", where="summary")
    assert degraded_parts([found(made, 1, degraded, degraded)]) == 2
    assert degraded_parts([found(made, 1, down)]) == 1
    assert degraded_parts([found(made, 1)]) == 0


def test_an_artifact_is_named_by_what_made_it_and_its_preview_is_bare() -> None:
    artifact = Artifact(
        handle="ab" * 32,
        message="m4",
        tool="Bash",
        media_type="text/plain",
        chars=90_000,
        lines=1_200,
        size=97_066,
        preview=f"[artifact {'ab' * 32}: 1,200 lines]\nfirst line\n",
        call="cat worker.log",
    )
    (row,) = kept([artifact], Citing(prefix="s1", quoted={"m4"}, zone=UTC))
    assert (row.handle, row.what, row.size, row.preview) == (
        "abababababababab",
        "Bash cat worker.log",
        "97 kB",
        "first line\n",
    )
    assert row.cites[0].anchor == "s1-m4"
