"""What a large model answered about a real session passes without a finding."""

import json
import os
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from worker.core.answers import PartAnswer, own_sentences, read_answer, to_summary
from worker.core.grounds import Grounds
from worker.core.ledger import Ledger
from worker.core.mending import mend, strike
from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult
from worker.core.summary import (
    Change,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Memory,
    MemoryKind,
    NextStep,
    Problem,
    ProblemKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
    with_id,
)
from worker.core.taking import take_ledger
from worker.core.validation import validate
from worker.ports import ModelAnswer

FOLDER = os.environ.get("AFTERTURN_TEST_DATA")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(FOLDER is None, reason="AFTERTURN_TEST_DATA names no folder of recorded sessions"),
]
HEAD = re.compile(r"(?m)^\[(m\d+) (\w+) (\d{4}-\d\d-\d\d \d\d:\d\dZ)\]\n")
PATH = re.compile(r'"(file_path)": "([^"]+)"')
ROLES = {"human": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "harness": Role.USER}


def asked() -> tuple[str, list[Message]]:
    """The instructions of the prompt, and the messages that it shows."""
    prompt = (Path(FOLDER or "") / "answers" / "large-model-1.prompt.txt").read_text("utf-8")
    instructions, _, body = prompt.partition("<transcript-")
    pieces = HEAD.split(body)[1:]
    waiting: list[str] = []
    return instructions, [message(pieces[at : at + 4], waiting) for at in range(0, len(pieces), 4)]


def message(row: list[Any], waiting: list[str]) -> Message:
    id, origin, at, text = map(str, row)  # noqa: A001
    made = Message(
        index=int(id[1:]),
        role=ROLES[origin],
        origin=Origin(origin),
        text="",
        timestamp=datetime.fromisoformat(at.replace("Z", "+00:00")),
    )
    if origin == "assistant" and text.startswith("call "):
        name, _, arguments = text.removeprefix("call ").partition(" ")
        waiting.append(id)
        return replace(made, tool_calls=(ToolCall(id=id, name=name, arguments=arguments),))
    if origin == "tool":
        call_id = waiting.pop(0) if waiting else "unknown"
        return replace(made, tool_result=ToolResult(call_id=call_id, name=None, text=text))
    return replace(made, text=text.strip())


def answered() -> Summary:
    """The answer, with its composite task ids as id and refs."""
    text = (Path(FOLDER or "") / "answers" / "large-model-1.answer.txt").read_text("utf-8")
    told: dict[str, Any] = json.loads(text.partition("<summary>")[2].rpartition("</summary>")[0])
    problems = [one | {"kind": ProblemKind(one["kind"])} for one in told["problem_solving"]]
    files = [one | {"change": Change(one["change"])} for one in told["files"]]
    return Summary(
        request=told["request"],
        current_work=told["current_work"],
        next_step=NextStep(**told["next_step"]),
        concepts=items(Concept, told["concepts"]),
        files=items(FileItem, files),
        errors=items(ErrorItem, told["errors"]),
        problem_solving=items(Problem, problems),
        tasks=tuple(map(task, told["tasks"])),
        constraints=items(Constraint, told["constraints"]),
        memories=items(Memory, [one | {"kind": MemoryKind(one["kind"])} for one in told["memories"]]),
    )


def items(kind: Any, rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    return tuple(with_id(kind(**row | {"evidence": tuple(row["evidence"])})) for row in rows)


def task(row: dict[str, Any]) -> Task:
    ids = [one.strip() for one in (row["id"] or "").split(",")]
    status, evidence = TaskStatus(row["status"]), tuple(row["evidence"])
    return with_id(Task(id=ids[0], refs=tuple(ids[1:]), text=row["text"], status=status, evidence=evidence))


def ledger_of(messages: list[Message]) -> Ledger:
    return Ledger(user_messages=tuple(UserMessage(id=one.id, text=one.text) for one in messages if one.is_human))


def test_a_large_models_true_answer_has_no_finding() -> None:
    instructions, messages = asked()
    assert validate(answered(), ledger=ledger_of(messages), messages=messages, echoes=(instructions,)) == ()


def test_the_same_answer_read_and_judged_like_any_other_has_no_finding() -> None:
    """All the way of an answer about a part: blocks, JSON, forms, and the ledger that code takes from the messages."""
    instructions, shown = asked()
    messages = [whole(one) for one in shown]
    text = (Path(FOLDER or "") / "answers" / "large-model-1.answer.txt").read_text("utf-8")
    told = "\n".join(one.text for one in messages)
    answer = read_answer(
        ModelAnswer(text=text, finish_reason="stop"),
        source_tokens=16_000,
        echoes=own_sentences(instructions, source=told),
    )
    assert isinstance(answer, PartAnswer), answer
    drafted = to_summary(answer)
    assert drafted.missing == ()
    ledger = take_ledger(messages, cwd="/Users/alex/workspace/cli/.worktrees/alex/ent-109-text-output-checkpoint-flag")
    grounds = Grounds(messages, ledger, Summary(), of_part=True)
    assert validate(drafted.summary, ledger=ledger, messages=messages, lifts=drafted.lifted, grounds=grounds) == ()


def whole(shown: Message) -> Message:
    """The message with calls that can be read: the prompt shows long ones with their middle cut out."""

    def readable(call: ToolCall) -> ToolCall:
        try:
            json.loads(call.arguments)
        except ValueError:
            return replace(call, arguments=json.dumps(dict(PATH.findall(call.arguments))))
        return call

    return replace(shown, tool_calls=tuple(map(readable, shown.tool_calls)))


def test_the_same_answer_with_lies_in_it_has_one_finding_for_each() -> None:
    _, messages = asked()
    true = answered()
    lies = replace(
        true,
        constraints=(
            *true.constraints,
            with_id(Constraint(rule="Push to main.", quote="always push to main", evidence=("m5",))),
        ),
        concepts=(*true.concepts, with_id(Concept(text="Rewrite in commit ab12cd34ef", evidence=("m0",)))),
        next_step=NextStep(text="Deploy", quote="deploy it now"),
    )
    findings = validate(lies, ledger=ledger_of(messages), messages=messages)
    assert sorted(one.code for one in findings) == [
        "constraint_unsourced",
        "evidence_unsupported",
        "identifier_invented",
        "quote_not_verbatim",
    ]
    mended, told = mend(lies, findings, ledger=ledger_of(messages), messages=messages)
    assert mended.constraints == true.constraints
    assert mended.next_step is None
    assert [one.code for one in told if not one.mended] == ["identifier_invented"]
    struck, _ = strike(mended, told, ledger=ledger_of(messages), messages=messages)
    assert struck.concepts == true.concepts
