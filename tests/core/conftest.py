"""Sessions for the tests of the core: written step by step (`script`), or drawn by Hypothesis (`sessions`).

`sessions` draws what recorded files hold: several rows per response, parallel calls, ids used again, results that come
late or never, results without a call, side chains, harness rows, notes typed while a tool runs.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st

from worker.core.messages import Message, Origin, Role, ToolCall, ToolResult, digest_of

BEGIN = datetime(2026, 1, 23, 3, 7, tzinfo=UTC)


class Script:
    """Writes a session row by row; every method returns the message that it added."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def human(self, text: str, *, sidechain: bool = False) -> Message:
        return self._add(Role.USER, Origin.HUMAN, text, sidechain=sidechain)

    def harness(self, text: str) -> Message:
        return self._add(Role.USER, Origin.HARNESS, text)

    def says(self, text: str, *, response: str | None = None) -> Message:
        return self._add(Role.ASSISTANT, Origin.ASSISTANT, text, response_id=response)

    def calls(self, *calls: tuple[str, str, object], response: str | None = None, text: str = "") -> Message:
        """Each call is (id, name, arguments); arguments that are no text are dumped as JSON."""
        made = tuple(
            ToolCall(id=call_id, name=name, arguments=given if isinstance(given, str) else json.dumps(given))
            for call_id, name, given in calls
        )
        return self._add(Role.ASSISTANT, Origin.ASSISTANT, text, response_id=response, tool_calls=made)

    def result(
        self,
        call_id: str,
        text: str,
        *,
        name: str | None = None,
        is_error: bool = False,
        exit_code: int | None = None,
        sidechain: bool = False,
    ) -> Message:
        result = ToolResult(call_id=call_id, name=name, text=text, is_error=is_error, exit_code=exit_code)
        return self._add(Role.TOOL, Origin.TOOL, "", tool_result=result, sidechain=sidechain)

    def turn(self, request: str, *answers: str) -> None:
        self.human(request)
        for answer in answers:
            self.says(answer)

    def _add(
        self,
        role: Role,
        origin: Origin,
        text: str,
        *,
        response_id: str | None = None,
        tool_calls: tuple[ToolCall, ...] = (),
        tool_result: ToolResult | None = None,
        sidechain: bool = False,
    ) -> Message:
        index = len(self.messages)
        message = Message(
            index=index,
            role=role,
            origin=origin,
            text=text,
            response_id=response_id,
            tool_calls=tool_calls,
            tool_result=tool_result,
            timestamp=BEGIN + timedelta(minutes=index),
            digest=digest_of(str(index), text),
            sidechain=sidechain,
        )
        self.messages.append(message)
        return message


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture(scope="session")
def new_script() -> Callable[[], Script]:
    return Script


WORDS = st.sampled_from(
    [
        "ok",
        "please rename the table, keep the view",
        "never touch src/db/schema.sql",
        "不要修改数据库的表结构",
        "次のテストを直してください",
        "deploy failed: exit 1\nsee log\n",
        "\x1b[31mred\x1b[0m \x00 \ud83d \u2028 line",
        "[artifact 00] looks like ours",
        "</summary> [m3 human] not a header",
        "word " * 60,
        "x" * 900,
        " ",
    ]
)
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)
CALL_IDS = st.sampled_from(["a", "b", "c", "d", "e"])
NAMES = st.sampled_from(["Bash", "Read", "Grep", "Edit"])
PATHS = st.sampled_from([{"file_path": "src/a.py"}, {"file_path": "src/b.py", "offset": 10}, {"pattern": "x"}])
STEPS = st.sampled_from(
    ["human", "says", "call", "parallel", "rows", "result", "late", "orphan", "harness", "sidechain", "interrupt"]
)


@st.composite
def drawn_sessions(draw: st.DrawFn, max_steps: int = 25) -> list[Message]:
    """A session in file order, with all the disorder that files have."""
    script = Script()
    open_ids: list[str] = []
    for number, step in enumerate(draw(st.lists(STEPS, max_size=max_steps))):
        _play(draw, script, step, f"r{number}", open_ids)
    return script.messages


def _play(draw: st.DrawFn, script: Script, step: str, response: str, open_ids: list[str]) -> None:
    def call() -> tuple[str, str, object]:
        open_ids.append(draw(CALL_IDS))
        return open_ids[-1], draw(NAMES), draw(PATHS)

    match step:
        case "human":
            script.human(draw(TEXTS))
        case "says":
            script.says(draw(TEXTS), response=response)
        case "call":
            script.calls(call(), response=response)
            script.result(open_ids.pop(), draw(TEXTS))
        case "parallel":
            script.calls(*(call() for _ in range(draw(st.integers(2, 4)))), response=response, text=draw(TEXTS))
        case "rows":
            for _ in range(draw(st.integers(2, 4))):
                script.calls(call(), response=response)
        case "result" | "late" | "orphan":
            _play_result(draw, script, step, open_ids)
        case "harness":
            script.harness(draw(st.sampled_from(["<system-reminder>be brief</system-reminder>", "skill " * 700])))
        case "sidechain":
            script.human(draw(TEXTS), sidechain=True)
        case "interrupt":
            script.calls(call(), response=response)
            script.harness("[Request interrupted by user]")
        case _:
            script.says(draw(TEXTS))


def _play_result(draw: st.DrawFn, script: Script, step: str, open_ids: list[str]) -> None:
    if step == "orphan" or not open_ids:
        script.result("nobody", draw(TEXTS))
    elif step == "result":
        script.result(open_ids.pop(0), draw(TEXTS), is_error=draw(st.booleans()))
    else:
        script.result(open_ids.pop(), draw(TEXTS), exit_code=draw(st.sampled_from([None, 0, 1])))


@pytest.fixture(scope="session")
def sessions() -> st.SearchStrategy[list[Message]]:
    return drawn_sessions()
