"""The life of a rule or a task is told from the chain: who began it, who changed it, who ended it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from worker.core.checkpoint import Checkpoint
from worker.core.summary import Constraint, Lift, Scope, Summary, Task, TaskStatus
from worker.reporting.citing import Citing
from worker.reporting.histories import Histories
from worker.reporting.page import Event
from worker.reporting.steps import TaskStep

Made = Callable[..., Checkpoint]
SAID_AT = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)


@pytest.fixture
def citing() -> Citing:
    return Citing(prefix="s1", quoted={"m0", "m5", "m12"}, zone=UTC, told={"m0": SAID_AT}.get)


def told(events: Sequence[Event]) -> list[tuple[str, str, int, list[str]]]:
    return [(event.what, event.detail, event.checkpoint, [cite.id for cite in event.cites]) for event in events]


def rule(**fields: object) -> Constraint:
    plain: dict[str, object] = {"id": "C-1", "rule": "Never touch the schema.", "quote": "q", "evidence": ("m0",)}
    return Constraint(**(plain | fields))  # type: ignore[arg-type]


def task(status: TaskStatus, *evidence: str, text: str = "export") -> Task:
    return Task(id="T-1", text=text, status=status, evidence=evidence)


def test_a_rule_is_said_reworded_and_lifted_by_name(made: Made, citing: Citing) -> None:
    reworded = rule(rule="Never touch the schema of orders.", evidence=("m0", "m5"))
    lifted = rule(
        rule="Never touch the schema of orders.",
        evidence=("m0", "m5"),
        lifted=Lift(quote="you may touch it now", evidence=("m12",)),
    )
    chain = [
        made(number, (number - 1) * 5, number * 5, Summary(constraints=(one,)))
        for number, one in enumerate((rule(), reworded, lifted), 1)
    ]
    events = Histories(chain, {}, citing).of_rule(lifted)
    assert told(events) == [
        ("said", "", 1, ["m0"]),
        ("reworded from", "Never touch the schema.", 2, ["m5"]),
        ("lifted", "you may touch it now", 3, ["m12"]),
    ]
    assert events[0].when == "2026-11-27 09:30"
    assert [cite.anchor for event in events for cite in event.cites] == ["s1-m0", "s1-m5", "s1-m12"]


def test_a_rule_that_is_said_again_and_bound_to_a_task(made: Made, citing: Citing) -> None:
    again = rule(evidence=("m0", "m5"))
    bound = rule(evidence=("m0", "m5", "m12"), scope=Scope.TASK)
    chain = [
        made(number, 0, number, Summary(constraints=(one,))) for number, one in enumerate((rule(), again, bound), 1)
    ]
    assert [event.what for event in Histories(chain, {}, citing).of_rule(bound)] == [
        "said",
        "said again",
        "standing → task",
    ]


def test_a_rule_of_the_agent_was_given_and_not_said(made: Made, citing: Citing) -> None:
    given = rule(given=True, evidence=())
    chain = [made(1, 0, 5, Summary(constraints=(given,)))]
    assert told(Histories(chain, {}, citing).of_rule(given)) == [("given by the agent", "", 1, [])]


def test_a_task_moves_by_the_messages_of_each_range(made: Made, citing: Citing) -> None:
    chain = [
        made(1, 0, 5, Summary(tasks=(task(TaskStatus.OPEN, "m0"),))),
        made(2, 5, 10, Summary(tasks=(task(TaskStatus.IN_PROGRESS, "m0", "m5"),))),
        made(3, 10, 15, Summary(tasks=(task(TaskStatus.DONE, "m0", "m5", "m12"),))),
    ]
    assert told(Histories(chain, {}, citing).of_task(chain[-1].summary.tasks[0])) == [
        ("open", "", 1, ["m0"]),
        ("open → in progress", "", 2, ["m5"]),
        ("in progress → done", "", 3, ["m12"]),
    ]


def test_what_the_transcript_shows_is_finer_than_the_checkpoints(made: Made, citing: Citing) -> None:
    chain = [made(1, 0, 15, Summary(tasks=(task(TaskStatus.DONE, "m0", "m5", "m12"),)))]
    steps = [
        TaskStep(task="T-1", message="m0", before=None, status=TaskStatus.OPEN),
        TaskStep(task="T-1", message="m5", before=TaskStatus.OPEN, status=TaskStatus.BLOCKED),
        TaskStep(task="T-1", message="m12", before=TaskStatus.BLOCKED, status=TaskStatus.DONE),
    ]
    assert [event.what for event in Histories(chain, {1: steps}, citing).of_task(chain[0].summary.tasks[0])] == [
        "open",
        "open → blocked",
        "blocked → done",
    ]


def test_a_task_whose_words_changed_says_what_they_were(made: Made, citing: Citing) -> None:
    chain = [
        made(1, 0, 5, Summary(tasks=(task(TaskStatus.OPEN, "m0"),))),
        made(2, 5, 10, Summary(tasks=(task(TaskStatus.OPEN, "m0", "m5", text="CSV export"),))),
    ]
    assert told(Histories(chain, {}, citing).of_task(chain[-1].summary.tasks[0])) == [
        ("open", "", 1, ["m0"]),
        ("reworded from", "export", 2, ["m5"]),
    ]
