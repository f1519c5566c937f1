"""A conversation in a few lines, and summaries of every shape."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st

from worker.core.joining import join
from worker.core.ledger import Ledger
from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult
from worker.core.summary import (
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
)

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


class Talk:
    """A transcript that grows by one message per call, one minute apart; each call gives the message's id."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def _say(self, role: Role, origin: Origin, text: str, **more: object) -> str:
        index = len(self.messages)
        message = Message(index=index, role=role, origin=origin, text=text, timestamp=START + timedelta(minutes=index))
        self.messages.append(replace(message, **more))  # type: ignore[arg-type]
        return message.id

    def human(self, text: str) -> str:
        return self._say(Role.USER, Origin.HUMAN, text)

    def assistant(self, text: str) -> str:
        return self._say(Role.ASSISTANT, Origin.ASSISTANT, text)

    def call(self, name: str, arguments: str, *, id: str = "c1") -> str:  # noqa: A002
        call = ToolCall(id=id, name=name, arguments=arguments)
        return self._say(Role.ASSISTANT, Origin.ASSISTANT, "", tool_calls=(call,))

    def tool(self, text: str, *, is_error: bool = False, id: str = "c1") -> str:  # noqa: A002
        result = ToolResult(call_id=id, name=None, text=text, is_error=is_error)
        return self._say(Role.TOOL, Origin.TOOL, "", tool_result=result)

    def ledger(self) -> Ledger:
        """What people said; tests add what else the ledger would have seen."""
        said = tuple(
            UserMessage(id=one.id, text=one.text, timestamp=one.timestamp) for one in self.messages if one.is_human
        )
        return Ledger(user_messages=said)


@pytest.fixture
def talk() -> Talk:
    return Talk()


WORDS = (
    "server", "cache", "schema", "login", "page", "port", "5432", "5433", "T-101", "OPS-7", "src/app.py", "not",
    "fixed", "9f3c2ab41d", "https://example.org/a", "报告", "データ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
IDS = st.lists(st.integers(0, 40).map(lambda index: f"m{index}"), max_size=2).map(tuple)


def _of(made: Callable[..., object], /, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(st.builds(made, evidence=IDS, **fields), max_size=2).map(tuple)


def _parts() -> st.SearchStrategy[Summary]:
    return st.builds(
        Summary,
        request=TEXTS,
        current_work=TEXTS,
        constraints=_of(Constraint, rule=TEXTS, quote=TEXTS),
        concepts=_of(Concept, text=TEXTS),
        files=_of(
            FileItem, path=st.sampled_from(["a.py", "./a.py", "b/c.py"]), change=st.sampled_from(Change), note=TEXTS
        ),
        references=_of(Reference, kind=st.sampled_from(ReferenceKind), value=st.sampled_from(WORDS), note=TEXTS),
        errors=_of(ErrorItem, error=TEXTS, fix=st.none() | TEXTS),
        checks=_of(Check, command=TEXTS, result=st.sampled_from(CheckResult)),
        problem_solving=_of(Problem, kind=st.sampled_from(ProblemKind), text=TEXTS),
        tasks=_of(
            Task, id=st.sampled_from(["", "T-101", "OPS-7", "1", "2"]), text=TEXTS, status=st.sampled_from(TaskStatus)
        ),
        memories=_of(Memory, kind=st.sampled_from(MemoryKind), text=TEXTS),
        user_messages=st.lists(
            st.builds(UserMessage, id=st.integers(0, 40).map(lambda i: f"m{i}"), text=TEXTS), max_size=2
        ).map(tuple),
    )


@pytest.fixture(scope="session")
def parts() -> st.SearchStrategy[Summary]:
    """What one answer may say: no ids but written ones, doubles and contradictions included."""
    return _parts()


@pytest.fixture(scope="session")
def states() -> st.SearchStrategy[Summary]:
    """What a checkpoint may hold: joined parts."""
    return st.lists(_parts(), min_size=1, max_size=2).map(lambda some: join(None, some, number=1))
