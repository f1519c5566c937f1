"""Rules and tasks over several checkpoints without a model: a person ends a rule, a status is no title."""

from collections.abc import Sequence
from datetime import date

import pytest

from worker.core.messages import Message, Origin, Role, ToolResult
from worker.core.planning import limits_for
from worker.core.summary import Summary, TaskStatus
from worker.core.taking import take_ledger
from worker.core.tidying import Tidied
from worker.summarize import Material, summarize

LIMITS = limits_for(200_000)
LEAVE = "You may touch the schema now."

Row = tuple[Origin, str]
HUMAN, ASSISTANT = Origin.HUMAN, Origin.ASSISTANT
ROLES = {Origin.HUMAN: Role.USER, Origin.TOOL: Role.TOOL, Origin.SYSTEM: Role.SYSTEM, Origin.ASSISTANT: Role.ASSISTANT}


def over(*ranges: Sequence[Row]) -> Summary:
    """The state behind the last of these ranges, each consolidated on top of the ones before."""
    state: Summary | None = None
    index = 0
    for number, rows in enumerate(ranges, start=1):
        messages = []
        for origin, text in rows:
            messages.append(_message(index, origin, text))
            index += 1
        known = state.tasks if state else ()
        material = Material(
            messages=tuple(messages),
            tidied=Tidied(messages=tuple(messages), tokens=tuple(10 for _ in messages)),
            ledger=take_ledger(messages, known_tasks=known),
            state=state,
            number=number,
            today=date(2026, 3, 2),
        )
        state = summarize(material, LIMITS, None).summary
    assert state is not None
    return state


def _message(index: int, origin: Origin, text: str) -> Message:
    result = ToolResult(call_id="a", name="Bash", text=text) if origin is Origin.TOOL else None
    role = ROLES.get(origin, Role.USER)
    return Message(index=index, role=role, origin=origin, text="" if result else text, tool_result=result)


def in_force(state: Summary) -> list[str]:
    return [one.rule for one in state.constraints if one.in_force]


def test_a_person_lifts_a_rule_in_a_later_range_and_no_other() -> None:
    state = over([(HUMAN, "Never touch the schema. Never push to main."), (ASSISTANT, "ok")], [(HUMAN, LEAVE)])
    assert in_force(state) == ["Never push to main."]


def test_a_rule_that_is_set_and_lifted_in_one_range_is_lifted() -> None:
    assert in_force(over([(HUMAN, "Never touch the schema."), (ASSISTANT, "ok"), (HUMAN, LEAVE)])) == []


@pytest.mark.parametrize("origin", [one for one in Origin if one is not Origin.HUMAN])
def test_nobody_else_lifts_a_rule(origin: Origin) -> None:
    """O80, O81"""
    state = over([(HUMAN, "Never touch the schema."), (origin, LEAVE)], [(origin, LEAVE), (HUMAN, "Go on.")])
    assert in_force(state) == ["Never touch the schema."]


def test_a_lifted_rule_that_is_said_again_is_in_force_again() -> None:
    state = over([(HUMAN, "Never touch the schema.")], [(HUMAN, LEAVE)], [(HUMAN, "Never touch the schema.")])
    assert in_force(state) == ["Never touch the schema."]


def test_a_lifted_rule_stays_lifted() -> None:
    state = over([(HUMAN, "Never touch the schema.")], [(HUMAN, LEAVE)], [(HUMAN, "Go on.")])
    assert in_force(state) == []
    assert [one.lifted.evidence for one in state.constraints if one.lifted] == [("m1",)]


def test_a_status_in_a_later_range_leaves_the_title_alone() -> None:
    """C04"""
    state = over(
        [(HUMAN, "Two tickets: T-1 the importer, T-2 the exporter.")],
        [(HUMAN, "T-2 is done. T-1 is in progress, like OPS-12 last year.")],
        [(HUMAN, "Reopen T-2, the export failed twice.")],
    )
    assert {task.id: (task.text, task.status) for task in state.tasks} == {
        "T-1": ("the importer", TaskStatus.IN_PROGRESS),
        "T-2": ("the exporter", TaskStatus.OPEN),
    }
