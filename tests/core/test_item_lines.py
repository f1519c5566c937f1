"""How a model is shown the items of a summary."""

import pytest

from worker.core.item_lines import item_line, item_lines, lines_to_merge
from worker.core.summary import (
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
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
)


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (
            Constraint(id="C-1", rule="Never x", quote="no x", evidence=("m1",)),
            "C-1 constraint: Never x | quote: no x (m1)",
        ),
        (Concept(id="K-1", text="aliases", evidence=("m1", "m2")), "K-1 concept: aliases (m1, m2)"),
        (FileItem(id="F-1", path="a.py", change=Change.EDITED, note="alias"), "F-1 file edited: a.py | note: alias"),
        (Reference(id="R-1", kind=ReferenceKind.COMMIT, value="c2b0273"), "R-1 commit: c2b0273"),
        (ErrorItem(id="E-1", error="KeyError"), "E-1 error: KeyError | fix: none yet"),
        (Check(id="V-1", command="pytest", result=CheckResult.FAILED), "V-1 check failed: pytest"),
        (
            Problem(id="H-1", kind=ProblemKind.HYPOTHESIS, text="a cache", verify="clear it"),
            "H-1 hypothesis: a cache | verify: clear it",
        ),
        (Task(id="T-1", text="fix", status=TaskStatus.OPEN, refs=("#4", "#5")), "T-1 task open: fix | refs: #4, #5"),
        (Memory(id="M-1", kind=MemoryKind.PREFERENCE, text="tabs"), "M-1 memory preference: tabs"),
    ],
)
def test_a_line_names_id_kind_words_and_evidence(item: Item, line: str) -> None:
    assert item_line(item) == line


def test_a_rule_in_the_persons_own_words_is_told_once() -> None:
    rule = Constraint(id="C-1", rule="Never touch the schema.", quote="never touch the schema!", evidence=("m1",))
    assert item_line(rule) == "C-1 constraint: Never touch the schema. (m1)"


def test_of_many_messages_the_newest_are_named() -> None:
    concept = Concept(id="K-1", text="aliases", evidence=tuple(f"m{number}" for number in range(9)))
    assert item_line(concept) == "K-1 concept: aliases (… m6, m7, m8)"


def test_only_what_can_be_merged_or_settled_is_asked_about() -> None:
    """O46: the merge's prompt does not grow with items that stand alone."""

    def fact(number: int, text: str) -> Problem:
        return Problem(id=f"X-{number}", kind=ProblemKind.FACT, text=text)

    summary = Summary(
        problem_solving=(
            fact(1, "The importer reads 4,000 rows in one query"),
            fact(2, "Rows are read by the importer at once, 4,000 of them"),
            fact(3, "Zire approved the hall"),
            Problem(id="H-1", kind=ProblemKind.HYPOTHESIS, text="maybe a cache", verify="clear it"),
        ),
        errors=(ErrorItem(id="E-1", error="KeyError: 'qty'"),),
        tasks=(Task(id="T-1", text="Rename qty", status=TaskStatus.OPEN),),
    )
    assert {line.split()[0] for line in lines_to_merge(summary)} == {"X-1", "X-2", "H-1", "E-1", "T-1"}
    assert len(list(item_lines(summary))) == 6


def test_a_word_of_all_items_makes_none_of_them_alike() -> None:
    numbered = (Concept(id=f"K-{number}", text=f"importer parser {number:04d}") for number in range(60))
    assert list(lines_to_merge(Summary(concepts=tuple(numbered)))) == []


def test_a_constraint_that_was_lifted_is_not_shown() -> None:
    lift = Lift(quote="forget x", evidence=("m9",))
    summary = Summary(
        constraints=(Constraint(id="C-1", rule="a", quote="a"), Constraint(id="C-2", rule="b", quote="b", lifted=lift)),
        tasks=(Task(id="T-1", text="t", status=TaskStatus.DONE),),
    )
    assert [line.split()[0] for line in item_lines(summary)] == ["C-1", "T-1"]
