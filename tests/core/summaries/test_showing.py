"""An error stays one where any message shows it; orders of people and doubles of what is known are none."""

from dataclasses import replace
from typing import Protocol

import pytest

from worker.core.grounds import Grounds
from worker.core.mending import mend
from worker.core.messages import Message
from worker.core.showing import message_showing
from worker.core.summary import ErrorItem, ProblemKind, Summary, Task, TaskStatus, with_id
from worker.core.taking import take_ledger
from worker.core.validation import validate


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002


UPLOAD = "kilnpush[811]: upload failed: 403 Forbidden (bucket pottery-eu)"


@pytest.fixture
def pottery(talk: Conversation) -> Conversation:
    """m0 rules and a ticket, m1–m2 a log with a failure, m3 a report of it, m4 a correction, m5–m6 a start,
    m7–m8 a call that failed, m9 a report of that.
    """
    talk.human(
        "KL-12: rate limiting of the kiln endpoint. Never restart the oven on that host without asking me. "
        "The glaze shop page crashed at noon."
    )
    talk.call("Bash", '{"command": "systemctl status kilnpush; true"}', id="a")
    talk.tool(f"kilnpush.service - push firings to storage\n{UPLOAD}", id="a")
    talk.assistant("kilnpush failed with 403 Forbidden on bucket pottery-eu.")
    talk.human("No migration! The port is 5433, not 5432.")
    talk.call("Bash", '{"command": "systemctl start kilnpush"}', id="b")
    talk.tool("kilnpush[99]: uploaded 212 firings", id="b")
    talk.call("order_clay", '{"kilos": 40}', id="c")
    talk.tool("error: customer 2: delivery address is missing", id="c")
    talk.assistant("The clay is not ordered yet: the delivery address is missing.")
    return talk


def mended(talk: Conversation, **told: object) -> tuple[Summary, list[str]]:
    """The mended summary with these sections, and the codes of what was found but for what was left out of it."""
    ledger = take_ledger(talk.messages)
    base = Summary(request="Rate limiting of the kiln endpoint", current_work="The delivery address is missing")
    summary = replace(base, **told)  # type: ignore[arg-type]
    findings = validate(summary, ledger=ledger, messages=talk.messages)
    fixed, settled = mend(summary, findings, ledger=ledger, messages=talk.messages)
    assert [one for one in settled if not one.mended and one.code != "inflated"] == []
    return fixed, sorted(
        {one.code for one in settled if one.where in ("errors", "tasks")} - {"error_missing", "task_missing"}
    )


def error(text: str, *cited: str, fix: str | None = None) -> tuple[ErrorItem, ...]:
    return (with_id(ErrorItem(error=text, fix=fix, evidence=cited)),)


def claims(summary: Summary) -> list[str]:
    return [one.text for one in summary.problem_solving if one.kind is ProblemKind.CLAIM]


@pytest.mark.parametrize("cited", ["m5", "m6", "m0", "m4", "m9"])
def test_an_error_that_another_message_shows_stays_an_error_and_cites_it(pottery: Conversation, cited: str) -> None:
    told = "kilnpush failed with 403 Forbidden on bucket pottery-eu"
    fixed, _ = mended(pottery, errors=error(told, cited))
    (kept,) = [one for one in fixed.errors if one.error == told]
    assert "m2" in kept.evidence or "m3" in kept.evidence
    assert not any("Told as an error" in one for one in claims(fixed))


def test_a_fix_is_judged_by_the_right_citation(pottery: Conversation) -> None:
    """The call that is cited comes behind the message that shows the error, so it can be the fix."""
    told = "kilnpush failed with 403 Forbidden on bucket pottery-eu"
    fixed, codes = mended(pottery, errors=error(told, "m5", fix="start kilnpush again"))
    (kept,) = [one for one in fixed.errors if one.error == told]
    assert (codes, kept.fix, kept.evidence) == (["error_miscited"], "start kilnpush again", ("m2", "m5"))


@pytest.mark.parametrize(
    "text",
    ["kilnpush failed with 502 Bad Gateway on bucket pottery-eu", "The fan of the chimney is broken and smokes"],
)
def test_an_error_that_no_message_shows_goes_down(pottery: Conversation, text: str) -> None:
    fixed, codes = mended(pottery, errors=error(text, "m6"))
    assert codes and text not in [one.error for one in fixed.errors]


@pytest.mark.parametrize(
    "text", ["no migration!", "Never restart the oven on that host without asking me", "The port is 5433, not 5432"]
)
def test_an_order_of_a_person_is_neither_an_error_nor_a_claim(pottery: Conversation, text: str) -> None:
    fixed, codes = mended(pottery, errors=error(text, "m4"))
    assert "order_mistaken" in codes
    assert text not in [one.error for one in fixed.errors]
    assert not any(text in one for one in claims(fixed))


def test_a_failure_that_a_person_reports_stays_an_error(pottery: Conversation) -> None:
    fixed, codes = mended(pottery, errors=error("The glaze shop page crashed at noon", "m0"))
    assert (codes, fixed.errors[-1].error) == ([], "The glaze shop page crashed at noon")


@pytest.mark.parametrize("cited", [("m9",), ("m7", "m8"), ("m8",)])
def test_a_failure_of_the_ledger_is_told_once(pottery: Conversation, cited: tuple[str, ...]) -> None:
    fixed, _ = mended(pottery, errors=error("customer 2: delivery address is missing", *cited))
    (kept,) = [one.error for one in fixed.errors if "delivery address" in one.error]
    assert "order_clay" in kept


def task(text: str, own: str = "", status: TaskStatus = TaskStatus.OPEN) -> tuple[Task, ...]:
    return (with_id(Task(id=own, text=text, status=status, evidence=("m3",))),)


@pytest.mark.parametrize("status", [TaskStatus.OPEN, TaskStatus.DONE])
@pytest.mark.parametrize(
    ("text", "own"),
    [("Implement rate limiting for the public gateway service", ""), ("Run it at once", "KL-12: rate limiting")],
)
def test_a_task_that_is_known_under_its_id_is_told_once(
    pottery: Conversation, text: str, own: str, status: TaskStatus
) -> None:
    fixed, _ = mended(pottery, tasks=task(text, own, status))
    assert [one.id for one in fixed.tasks] == ["KL-12"]
    assert not any("asked for by nobody" in one for one in claims(fixed))


def test_a_rule_is_no_task_and_no_claim(pottery: Conversation) -> None:
    fixed, codes = mended(pottery, tasks=task("Never restart the oven on that host without asking me"))
    assert "order_mistaken" in codes
    assert ([one.id for one in fixed.tasks], claims(fixed)) == (["KL-12"], [])


def test_a_task_with_a_ban_beside_it_stays_a_task(talk: Conversation) -> None:
    talk.human("Ask Studio Weber for an offer, but don't book them.")
    talk.assistant("I write to them.")
    told = task("Ask Studio Weber for an offer, but don't book them")
    ledger = take_ledger(talk.messages)
    summary = Summary(request="Ask Studio Weber", current_work="I write to them", tasks=told)
    fixed, _ = mend(
        summary, validate(summary, ledger=ledger, messages=talk.messages), ledger=ledger, messages=talk.messages
    )
    assert [one.text for one in fixed.tasks] == [told[0].text]


def test_output_is_cited_before_what_was_said_of_it(pottery: Conversation) -> None:
    grounds = Grounds(pottery.messages, take_ledger(pottery.messages), None)
    (shown,) = error("kilnpush failed with 403 Forbidden on bucket pottery-eu")
    assert message_showing(shown, grounds) == "m2"
    assert message_showing(replace(shown, error="kilnpush failed with 404 on bucket pottery-eu"), grounds) is None
