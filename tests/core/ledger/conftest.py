"""A small session in the making: `session.human("…")`, `session.call("Bash", command="…")`, `session.result("…")`."""

import json
from collections.abc import Sequence

import pytest

from worker.core.invocations import Invocation, invocations_of
from worker.core.messages import Attachment, Message, Origin, Role, ToolCall, ToolResult


class Session:
    """Messages in file order; every method appends one and gives it back."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def human(self, text: str, attachments: tuple[Attachment, ...] = (), sidechain: bool = False) -> Message:
        return self._add(
            Message(
                index=len(self.messages),
                role=Role.USER,
                origin=Origin.HUMAN,
                text=text,
                attachments=attachments,
                sidechain=sidechain,
            )
        )

    def assistant(self, text: str) -> Message:
        return self._add(Message(index=len(self.messages), role=Role.ASSISTANT, origin=Origin.ASSISTANT, text=text))

    def harness(self, text: str) -> Message:
        return self._add(Message(index=len(self.messages), role=Role.USER, origin=Origin.HARNESS, text=text))

    def call(self, name: str, call_id: str = "", raw: str | None = None, **arguments: object) -> Message:
        index = len(self.messages)
        text = json.dumps(arguments) if raw is None else raw
        call = ToolCall(id=call_id or f"call_{index}", name=name, arguments=text)
        return self._add(
            Message(index=index, role=Role.ASSISTANT, origin=Origin.ASSISTANT, text="", tool_calls=(call,))
        )

    def result(
        self, text: str = "", *, is_error: bool = False, exit_code: int | None = None, call_id: str = ""
    ) -> Message:
        """The result of the newest call, or of the call with that id."""
        last = next(message for message in reversed(self.messages) if message.tool_calls).tool_calls[0]
        result = ToolResult(
            call_id=call_id or last.id, name=last.name, text=text, is_error=is_error, exit_code=exit_code
        )
        return self._add(
            Message(index=len(self.messages), role=Role.TOOL, origin=Origin.TOOL, text="", tool_result=result)
        )

    def run(self, command: str, output: str = "", *, exit_code: int | None = None, is_error: bool = False) -> Message:
        """A shell command with its output."""
        self.call("Bash", command=command)
        return self.result(output, exit_code=exit_code, is_error=is_error)

    @property
    def invocations(self) -> Sequence[Invocation]:
        return invocations_of(self.messages)

    def _add(self, message: Message) -> Message:
        self.messages.append(message)
        return message


@pytest.fixture
def session() -> Session:
    return Session()
