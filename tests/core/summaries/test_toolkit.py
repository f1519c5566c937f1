"""Languages and tools are named from the names of files and from the checks that were run."""

from worker.core.ledger import Ledger
from worker.core.summary import Change, Check, CheckResult, FileItem
from worker.core.toolkit import concepts_seen


def file(path: str, change: Change = Change.EDITED, at: str = "m1") -> FileItem:
    return FileItem(path=path, change=change, evidence=(at,))


def test_the_languages_of_changed_files_come_first_the_most_used_of_them_ahead() -> None:
    ledger = Ledger(
        files=(file("a.py"), file("b.go", at="m2"), file("c.go", at="m3"), file("d.rb", Change.READ), file("README")),
        checks=(Check(command="uv run pytest -q && ruff check .", result=CheckResult.PASSED, evidence=("m4",)),),
    )
    assert [(one.text, one.evidence) for one in concepts_seen(ledger)] == [
        ("Go (.go files)", ("m2", "m3")),
        ("Python (.py files)", ("m1",)),
        ("pytest (Python tests)", ("m4",)),
        ("ruff (Python linter)", ("m4",)),
    ]


def test_of_a_session_that_only_read_the_files_that_were_read_tell() -> None:
    assert [one.text for one in concepts_seen(Ledger(files=(file("d.rb", Change.READ),)))] == ["Ruby (.rb files)"]


def test_the_name_of_a_tool_inside_another_word_is_none() -> None:
    check = Check(command="cat remake.txt ./tsc-notes", result=CheckResult.UNKNOWN, evidence=("m1",))
    assert concepts_seen(Ledger(checks=(check,))) == ()


def test_nothing_seen_is_nothing_told() -> None:
    assert concepts_seen(Ledger()) == ()
