"""No task is done by a call that failed, was refused or never came back, nor by another call beside it."""

import json
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.core.invocations import invocations_of
from worker.core.mending import mend
from worker.core.messages import Message
from worker.core.outcomes import came_to_nothing, failed_instead, outcomes_of, shows_work, was_done_by_call
from worker.core.summary import Summary, Task, TaskStatus, with_id
from worker.core.taking import take_ledger
from worker.core.validation import validate


class Conversation(Protocol):
    messages: list[Message]

    def human(self, text: str) -> str: ...
    def assistant(self, text: str) -> str: ...
    def call(self, name: str, arguments: str, *, id: str = "c1") -> str: ...  # noqa: A002
    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str: ...  # noqa: A002


FERRY = {"route": "Piraeus-Naxos", "cabin": 2}
CABIN = {"hotel": "Grotta", "nights": 3}


@pytest.fixture
def trip(talk: Conversation) -> Conversation:
    """m0 a request, m1–m2 a hotel that is booked; the ferry is each test's own."""
    talk.human("Book the hotel Grotta for three nights and the ferry from Piraeus to Naxos.")
    talk.call("book_hotel", json.dumps(CABIN), id="h")
    talk.tool("confirmed, booking HG-88", id="h")
    return talk


def task(text: str) -> Task:
    return Task(id="", text=text, status=TaskStatus.DONE)


def ferry(trip: Conversation, result: str | None, *, is_error: bool = False, number: int = 1) -> tuple[str, ...]:
    call = trip.call("book_ferry", json.dumps({**FERRY, "try": number}), id=f"f{number}")
    return (call,) if result is None else (call, trip.tool(result, is_error=is_error, id=f"f{number}"))


def status(talk: Conversation, text: str, *cited: str, own: str = "") -> TaskStatus:
    """What is stored of a task that an answer calls done on these messages."""
    told = with_id(Task(id=own, text=text, status=TaskStatus.DONE, evidence=cited))
    summary = Summary(request="Book the hotel and the ferry", current_work="The hotel is booked", tasks=(told,))
    ledger = take_ledger(talk.messages)
    fixed, _ = mend(
        summary, validate(summary, ledger=ledger, messages=talk.messages), ledger=ledger, messages=talk.messages
    )
    (kept,) = [one for one in fixed.tasks if one.text == text]
    return kept.status


NOTHING = [
    ("error: passenger 2: passport number is missing", False),
    ("no seats left", True),
    ('{"success": false, "reason": "sold out"}', False),
    ('{"error": {"code": 402}}', False),
    ('{"status": "pending_payment"}', False),
    ("Payment declined by the bank", False),
    ("The ferry is not available on that day", False),
    ("saved as a draft, not booked yet", False),
    ("awaiting confirmation of the operator", False),
    ("预订失败：缺少护照号码", False),
    ("予約できませんでした。エラー 12", False),
    (None, False),
]
"""What came of a call, and its error flag; None for one that was interrupted."""


@pytest.mark.parametrize(("result", "is_error"), NOTHING)
@pytest.mark.parametrize("cites", ["the call", "both", "the other call", "the report", "all"])
@pytest.mark.parametrize("text", ["Book the ferry from Piraeus to Naxos", "Book the trip to Naxos"])
def test_a_task_whose_call_came_to_nothing_stays_open_whatever_is_cited(
    trip: Conversation, result: str | None, is_error: bool, cites: str, text: str
) -> None:
    called = ferry(trip, result, is_error=is_error)
    report = trip.assistant("The hotel is booked, the ferry is done as well.")
    cited = {"the call": called[:1], "both": called, "the other call": ("m1", "m2"), "the report": (report,)}
    assert status(trip, text, *cited.get(cites, ("m0", "m1", "m2", *called, report))) is TaskStatus.OPEN


def test_a_failure_before_a_success_of_another_call_leaves_the_task_open(talk: Conversation) -> None:
    talk.human("Book the ferry from Piraeus to Naxos and the hotel Grotta.")
    ferry(talk, "error: no passport")
    talk.call("book_hotel", json.dumps(CABIN), id="h")
    talk.tool("confirmed, booking HG-88", id="h")
    assert status(talk, "Book the ferry from Piraeus to Naxos", "m3", "m4") is TaskStatus.OPEN
    assert status(talk, "Book the trip to Naxos", "m3", "m4") is TaskStatus.OPEN


def test_the_call_that_succeeded_is_done_beside_the_one_that_failed(trip: Conversation) -> None:
    ferry(trip, "error: no passport")
    assert status(trip, "Book the hotel Grotta for three nights", "m1", "m2") is TaskStatus.DONE


def test_a_later_try_that_succeeded_counts(trip: Conversation) -> None:
    first = ferry(trip, "error: no passport")
    again = ferry(trip, "confirmed, ticket F-7", number=2)
    assert status(trip, "Book the ferry from Piraeus to Naxos", *again) is TaskStatus.DONE
    assert status(trip, "Book the ferry from Piraeus to Naxos", *first, *again) is TaskStatus.DONE


def test_a_later_try_that_failed_counts_too(trip: Conversation) -> None:
    ferry(trip, "confirmed, ticket F-7")
    again = ferry(trip, "error: the ticket was refunded, no seats", number=2)
    assert status(trip, "Book the ferry from Piraeus to Naxos", *again) is TaskStatus.OPEN


def test_a_person_may_say_that_it_is_done(trip: Conversation) -> None:
    ferry(trip, "error: no passport")
    said = trip.human("I did it myself at the counter: the ferry to Naxos is done.")
    assert status(trip, "Book the ferry from Piraeus to Naxos", said) is TaskStatus.DONE


def test_an_offer_that_was_searched_for_is_not_booked(talk: Conversation) -> None:
    talk.human("Book the ferry from Piraeus to Naxos.")
    talk.call("search_ferries", json.dumps(FERRY))
    talk.tool("Blue Star: Piraeus 07:30, Naxos 12:40, 92 EUR for 2")
    assert status(talk, "Book the ferry from Piraeus to Naxos", "m1", "m2") is TaskStatus.OPEN


def test_in_another_language_than_the_session_a_failed_call_is_one_too(talk: Conversation) -> None:
    talk.human("订这家酒店。船票也一起订了。")
    talk.call("book_hotel", json.dumps(CABIN), id="h")
    talk.tool("confirmed, booking HG-88", id="h")
    ferry(talk, "error: no passport")
    talk.assistant("酒店已订好。船票还没订成。")
    text = "Book the ferry from Piraeus to Naxos"
    assert status(talk, text, "m3") is TaskStatus.OPEN
    assert status(talk, text, "m2", "m5") is TaskStatus.OPEN
    assert status(talk, text, "m0") is TaskStatus.OPEN


def test_of_parallel_calls_each_counts_for_itself(talk: Conversation) -> None:
    talk.human("Book the hotel Grotta for three nights and the ferry from Piraeus to Naxos.")
    talk.call("book_hotel", json.dumps(CABIN), id="h")
    talk.call("book_ferry", json.dumps(FERRY), id="f")
    talk.tool("error: no passport", id="f")
    talk.tool("confirmed, booking HG-88", id="h")
    assert status(talk, "Book the hotel Grotta for three nights", "m4") is TaskStatus.DONE
    assert status(talk, "Book the ferry from Piraeus to Naxos", "m3", "m4") is TaskStatus.OPEN


def test_a_wrong_citation_does_not_open_what_a_call_did(trip: Conversation) -> None:
    report = trip.assistant("One moment, please.")
    trip.human("Now the ferry.")
    assert status(trip, "Book the hotel Grotta for three nights", report) is TaskStatus.DONE


def test_a_command_that_failed_and_passed_when_run_again_is_made_good(talk: Conversation) -> None:
    talk.human("OPS-4: push the branch orchard.")
    talk.call("Bash", '{"command": "git push origin orchard"}', id="p1")
    talk.tool("error: failed to push some refs", is_error=True, id="p1")
    talk.call("Bash", '{"command": "git push origin orchard"}', id="p2")
    talk.tool("orchard -> orchard", id="p2")
    assert failed_instead(task("push the branch orchard"), outcomes_of(talk.messages)) is None


def test_work_is_no_failure_because_it_speaks_of_one(talk: Conversation) -> None:
    talk.call("agent", '{"prompt": "fix the errors"}')
    talk.tool("Fixed 3 errors in the parser, added the missing test.")
    (call,) = invocations_of(talk.messages)
    assert shows_work(call) and not came_to_nothing(call)


@pytest.mark.parametrize("result", ["0 errors, 212 segments uploaded", "done without errors", "errors: 0, ok", "完了"])
def test_no_failures_are_no_failure(talk: Conversation, result: str) -> None:
    talk.call("upload_segments", "{}")
    talk.tool(result)
    assert not came_to_nothing(invocations_of(talk.messages)[0])


@pytest.mark.parametrize(("code", "is_void"), [(0, False), (1, True)])
def test_the_error_line_of_a_command_that_tells_its_exit_code_is_none(
    talk: Conversation, code: int, is_void: bool
) -> None:
    """One agent puts "Error: (none)" under every command that went well."""
    talk.call("run_shell_command", '{"command": "git add docs/color.md"}')
    talk.tool(f"Command: git add docs/color.md\nOutput: (empty)\nError: (none)\nExit Code: {code}\nSignal: 0")
    (call,) = invocations_of(talk.messages)
    assert (came_to_nothing(call), shows_work(call)) == (is_void, not is_void)


def test_a_question_shows_what_its_answer_calls_done(talk: Conversation) -> None:
    talk.call("get_order", '{"id": "O-5"}', id="a")
    talk.tool("order O-5: paid and delivered", id="a")
    talk.call("get_order", '{"id": "O-6"}', id="b")
    talk.tool("order O-6: 3 items", id="b")
    assert [shows_work(one) for one in invocations_of(talk.messages)] == [True, False]


def test_what_can_be_taken_back_is_done_by_no_call_that_nobody_cites(trip: Conversation) -> None:
    calls = outcomes_of(trip.messages)
    assert was_done_by_call(task("Book the hotel Grotta, nights: 3"), calls)
    assert not was_done_by_call(task("Describe the hotel Grotta, nights: 3"), calls)
    assert not was_done_by_call(task("Cancel the hotel Grotta, nights: 3"), calls)


@given(
    results=st.lists(st.sampled_from([*(one for one, flag in NOTHING if not flag), "confirmed"]), min_size=1),
    cited=st.data(),
)
def test_a_task_is_done_only_behind_a_try_that_succeeded(results: list[str | None], cited: st.DataObject) -> None:
    """Whatever messages are cited, in whatever order tries succeed and fail: without any success it stays open."""
    from tests.core.summaries.conftest import Talk

    talk = Talk()
    talk.human("Book the ferry from Piraeus to Naxos.")
    for number, result in enumerate(results):
        ferry(talk, result, number=number)
    ids = cited.draw(st.lists(st.sampled_from([one.id for one in talk.messages]), min_size=1, unique=True))
    kept = status(talk, "Book the ferry from Piraeus to Naxos", *ids)
    if "confirmed" not in results:
        assert kept is TaskStatus.OPEN
    last_worked = results[-1] == "confirmed"
    if last_worked and talk.messages[-1].id in ids:
        assert kept is TaskStatus.DONE
