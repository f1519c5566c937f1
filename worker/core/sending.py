"""A session as the rows of a request: who says what, every call right before its results, in no provider's shape yet.

Files are less orderly than requests. Here calls without a result get one that says so, results that came after the
conversation had gone on stay where they came, and what the harness wrote goes out under the user's role with a mark.
Rows only follow from what stands before them in the file and from `Sealed`, so a session that grows adds rows behind
those that were sent and changes none of them.

Not carried: thinking (no transcript reader keeps it), bytes of attachments (a line stands for each), side chains.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker.core.material import attachment_line
from worker.core.messages import Message, Origin, Role, ToolCall
from worker.core.pairing import CallPlace, Pairing, pair
from worker.core.tokens import estimate_tokens
from worker.core.usage import source_of

ROW_TOKENS = 5
CALL_TOKENS = 8
"""What a provider adds around a message and around a call, tokens."""

CALL_ID_CHARS = 64
NAME_CHARS = 64
"""The shorter of what OpenAI and Anthropic take."""

HARNESS_MARK = "[written by the program around the session, not by the person]"
COMMAND_MARK = "[a command that the person ran beside the conversation]"
SUMMARY_MARK = "[an earlier summary by the agent itself: material, not instruction]"
OUTPUT_MARK = "[tool output]"
OPEN_RESULT = "[No result was recorded for this call: it was interrupted, or is still running.]"
NO_OUTPUT = "(no output)"
NO_TEXT = "(no text)"

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message of a request. role TOOL: the result of `call_id`. source: who it is from, as in `core.usage`."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    is_error: bool = False
    source: str = ""

    @property
    def tokens(self) -> int:
        called = sum(estimate_tokens(f"{call.name} {call.arguments}") + CALL_TOKENS for call in self.calls)
        return estimate_tokens(self.text) + called + ROW_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What earlier requests have settled, by message index.

    late: results that came when their call had been sent as open. breaks: rows of a response of which the beginning
    had been sent already: they do not go into that message any more.
    """

    late: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()


def message_tokens(message: Message) -> int:
    """What a message adds to a request, 0 for one that is not sent."""
    if message.sidechain:
        return 0
    called = sum(estimate_tokens(f"{call.name} {call.arguments}") + CALL_TOKENS for call in message.tool_calls)
    printed = estimate_tokens(message.tool_result.text) + ROW_TOKENS if message.tool_result else 0
    said = estimate_tokens(message.text) + ROW_TOKENS if message.text or not (called or printed) else 0
    return said + called + printed + 8 * len(message.attachments)


def rows_of(messages: Sequence[Message], sealed: Sealed | None = None) -> list[Row]:
    """The rows of the messages, in order; a row of a response holds all of its text and calls."""
    main_line = [message for message in messages if not message.sidechain]
    return _Sender(main_line, sealed or Sealed()).rows()


def settled(messages: Sequence[Message], sent_end: int, sealed: Sealed) -> Sealed:
    """`sealed` with what the request before this one settled; it had sent the messages below index `sent_end`."""
    main_line = [message for message in messages if not message.sidechain]
    sender = _Sender(main_line, sealed)
    late, breaks = set(sealed.late), set(sealed.breaks)
    for position, message in enumerate(main_line):
        if message.index < sent_end:
            continue
        if sender.answers_directly(position) and sender.call_index(position) < sent_end:
            late.add(message.index)
        if _is_response(message):
            if sender.begun_at(position) < sent_end:
                breaks.add(message.index)
            break
    return Sealed(late=frozenset(late), breaks=frozenset(breaks))


class _Sender:
    """Which response a row belongs to, and which results go right behind their calls."""

    def __init__(self, messages: Sequence[Message], sealed: Sealed) -> None:
        self._messages = messages
        self._sealed = sealed
        self._pairing: Pairing = pair(messages)
        self._responses = _responses(messages, sealed.breaks)
        self._begun = {number: at for at, number in reversed(list(enumerate(self._responses)))}
        self._ids = _Ids()

    def begun_at(self, position: int) -> int:
        """The index of the message with which the response at this position begins."""
        return self._messages[self._begun[self._responses[position]]].index

    def call_index(self, position: int) -> int:
        return self._messages[self._pairing.call_of[position].position].index

    def answers_directly(self, position: int) -> bool:
        """Whether a result goes right behind its call: it came before the next response, and nobody sent the call."""
        place = self._pairing.call_of.get(position)
        if place is None or not _is_response(self._messages[place.position]):
            return False
        came_in_time = self._responses[place.position] == self._responses[position]
        return came_in_time and self._messages[position].index not in self._sealed.late

    def rows(self) -> list[Row]:
        members: defaultdict[int, list[int]] = defaultdict(list)
        for position, message in enumerate(self._messages):
            if _is_response(message):
                members[self._responses[position]].append(position)
        rows: list[Row] = []
        for position, message in enumerate(self._messages):
            if not _is_response(message):
                rows += [] if self.answers_directly(position) else self._aside(position)
            elif members[self._responses[position]][0] == position:
                rows += self._response(members[self._responses[position]])
        return rows

    def _response(self, positions: Sequence[int]) -> Iterator[Row]:
        texts = [self._messages[at].text for at in positions]
        texts += [attachment_line(one) for at in positions for one in self._messages[at].attachments]
        places = [CallPlace(at, number) for at in positions for number in range(len(self._messages[at].tool_calls))]
        calls = tuple(self._call(place) for place in places)
        text = "\n\n".join(text for text in texts if text.strip())
        if not text and not calls:
            return
        yield Row(role=Role.ASSISTANT, text=_sendable(text), calls=calls, source="assistant")
        for place, call in zip(places, calls, strict=True):
            yield self._result(place, call)

    def _call(self, place: CallPlace) -> ToolCall:
        call = self._messages[place.position].tool_calls[place.number]
        name = _NOT_IN_IDS.sub("_", call.name)[:NAME_CHARS] or "unknown"
        return ToolCall(id=self._ids.unique(call.id), name=name, arguments=_sendable(call.arguments))

    def _result(self, place: CallPlace, call: ToolCall) -> Row:
        position = self._pairing.result_of.get(place)
        if position is None or not self.answers_directly(position):
            return Row(role=Role.TOOL, text=OPEN_RESULT, call_id=call.id, source="harness")
        message = self._messages[position]
        result = message.tool_result
        is_error = result is not None and result.is_error
        source = source_of(message, call.name)
        return Row(role=Role.TOOL, text=_printed(message), call_id=call.id, is_error=is_error, source=source)

    def _aside(self, position: int) -> Iterator[Row]:
        """Everything that is no response and no result in its place."""
        message = self._messages[position]
        if message.role is Role.SYSTEM:
            if message.text.strip():
                yield system_row(message)
            return
        text = self._late(position) if message.tool_result is not None else _said(message)
        if text:
            place = self._pairing.call_of.get(position)
            called = self._messages[place.position].tool_calls[place.number].name if place else ""
            yield Row(role=Role.USER, text=_sendable(text), source=source_of(message, called))

    def _late(self, position: int) -> str:
        message = self._messages[position]
        result = message.tool_result
        place = self._pairing.call_of.get(position)
        if place is None:
            name = f" of {result.name}" if result is not None and result.name else ""
            return f"[result{name} of a call that is not shown]\n{_printed(message)}"
        call = self._messages[place.position].tool_calls[place.number]
        if not _is_response(self._messages[place.position]):
            return f"{OUTPUT_MARK}\n{_printed(message)}"
        return f"[late result of the call {call.name} ({call.id}) above]\n{_printed(message)}"


class _Ids:
    """Call ids that providers take and that occur once: files use ids again, and some have letters of their own."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._times: defaultdict[str, int] = defaultdict(int)

    def unique(self, call_id: str) -> str:
        plain = _NOT_IN_IDS.sub("_", call_id)[:CALL_ID_CHARS] or "call"
        while True:
            self._times[plain] += 1
            again = self._times[plain]
            name = plain if again == 1 else f"{plain[: CALL_ID_CHARS - 8]}-{again}"
            if name not in self._given:
                self._given.add(name)
                return name


def _is_response(message: Message) -> bool:
    """A row that the model wrote. Rows about failed requests stand in its place, and a command that the person ran
    is a call by nobody.
    """
    return message.role is Role.ASSISTANT and message.origin not in (Origin.HARNESS, Origin.SUMMARY)


def _responses(messages: Sequence[Message], breaks: frozenset[int]) -> list[int]:
    """Per position the number of the response that is the newest there, 0 before the first.

    Rows are of one response when they share its id, or have none and stand side by side.
    """
    numbers: list[int] = []
    number, newest, newest_at = 0, None, -2
    for position, message in enumerate(messages):
        if _is_response(message):
            is_same = number > 0 and message.response_id == newest
            is_beside = message.response_id is not None or newest_at == position - 1
            if not (is_same and is_beside) or message.index in breaks:
                number += 1
            newest, newest_at = message.response_id, position
        numbers.append(number)
    return numbers


def _said(message: Message) -> str:
    ran = [f"{call.name} {call.arguments}" for call in message.tool_calls]
    text = "\n".join(filter(None, [message.text, *ran, *map(attachment_line, message.attachments)]))
    if message.is_human:
        return text if text.strip() else NO_TEXT
    if not text.strip():
        return ""
    if message.tool_calls:
        return f"{COMMAND_MARK}\n{text}"
    marks = {Origin.SUMMARY: SUMMARY_MARK, Origin.TOOL: OUTPUT_MARK}
    return f"{marks.get(message.origin, HARNESS_MARK)}\n{text}"


def _printed(message: Message) -> str:
    result = message.tool_result
    lines = [result.text if result else "", message.text, *map(attachment_line, message.attachments)]
    return _sendable("\n".join(line for line in lines if line.strip())) or NO_OUTPUT


def _sendable(text: str) -> str:
    """No request can carry half a surrogate pair; two that belong together are one character."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def system_row(message: Message) -> Row:
    return Row(role=Role.SYSTEM, text=_sendable(message.text), source="system")
