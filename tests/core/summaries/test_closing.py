"""How a range ended is told from what the tools show and, as words only, from what the assistant said."""

from dataclasses import replace
from typing import Protocol

import pytest

from worker.core.closing import claims, current_work, is_request
from worker.core.ledger import Background, Ledger
from worker.core.messages import Message
from worker.core.summary import Change, Check, CheckResult, FileItem, Reference, ReferenceKind


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002
    def ledger(self) -> Ledger: ...


def test_the_last_stretch_is_told_with_its_files_checks_commits_and_last_words(talk: Conversation) -> None:
    talk.human("Read the parser.")
    talk.assistant("It is small.")
    talk.human("Fix the parser.")
    talk.call("Edit", '{"file_path": "src/parser.py"}')
    talk.tool("edited")
    talk.assistant("The parser is fixed and committed.")
    ledger = replace(
        talk.ledger(),
        files=(
            FileItem(path="src/parser.py", change=Change.EDITED, evidence=("m3",)),
            FileItem(path="old.py", change=Change.EDITED, evidence=("m1",)),
        ),
        checks=(Check(command="pytest -q", result=CheckResult.PASSED, evidence=("m4",)),),
        references=(Reference(kind=ReferenceKind.COMMIT, value="7ac41d9", evidence=("m4",)),),
    )
    assert current_work(ledger, talk.messages) == (
        'Last asked (m2): "Fix the parser." Since then the assistant edited `src/parser.py`, ran `pytest -q` (passed) '
        'and committed `7ac41d9`. It ended with (m5): "The parser is fixed and committed."'
    )


def test_a_question_that_is_open_is_told_as_one(talk: Conversation) -> None:
    talk.human("Look at the comments.")
    talk.assistant("There are seven new comments on the branch.\n\n1. nil\n2. naming\n\nWhich ones should I address?")
    assert 'It waits for an answer to: "Which ones should I address?"' in current_work(talk.ledger(), talk.messages)


def test_what_nobody_answered_yet_is_said_and_so_is_what_came_before(talk: Conversation) -> None:
    talk.human("Look at the comments.")
    talk.assistant("There are seven new comments.")
    talk.human("Fix them all.")
    assert current_work(talk.ledger(), talk.messages) == (
        'Not answered yet (m2): "Fix them all." Before that the assistant said (m1): "There are seven new comments."'
    )


def test_thanks_do_not_begin_a_stretch(talk: Conversation) -> None:
    talk.human("Rename the flag.")
    talk.assistant("The flag is renamed everywhere.")
    talk.human("thanks!")
    assert current_work(talk.ledger(), talk.messages).startswith('Last asked (m0): "Rename the flag."')


def test_calls_without_a_trace_are_counted_and_running_processes_named(talk: Conversation) -> None:
    talk.human("How far is it?")
    talk.call("Bash", '{"command": "tail log"}')
    talk.tool("13 of 20")
    running = Background(id="bash_7", text="backfill", status="running", evidence=("m0",))
    work = current_work(replace(talk.ledger(), background=(running,)), talk.messages)
    assert "made 1 tool call, none known to have changed a file" in work
    assert work.endswith("Still running: backfill (bash_7)")


def test_a_claim_is_a_report_and_neither_a_question_nor_an_announcement(talk: Conversation) -> None:
    for closing in (
        "Fixed. The export now quotes names with commas.",
        "Understood, nothing under migrations will change from here on.",
        "Should I push the branch to the remote now?",
        "I'll look at the worker log before anything else happens.",
        "The rest is open.",
    ):
        talk.human("Go on with the export.")
        talk.assistant(closing)
    assert [one.text for one in claims(talk.messages)] == ["Fixed. The export now quotes names with commas."]


@pytest.mark.parametrize(
    ("text", "is_one"), [("thanks!", False), ("好的", False), ("ok", False), ("ok, push it", True)]
)
def test_a_nod_is_no_request(text: str, is_one: bool) -> None:
    assert is_request(text) is is_one


def test_nothing_happened_in_an_empty_range() -> None:
    assert (current_work(Ledger(), []), claims([])) == ("", ())
