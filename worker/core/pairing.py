"""Which result answers which call, and which messages may not be parted. No text is judged here, only ids and order.

Files are less orderly than protocols: ids are used again, results come late or never, the rows of one response stand
apart. A result is matched to the oldest open call of its id; a new call takes the id over from calls of older turns
that nobody answered. Nothing is dropped: a call without a result is interrupted, a result without a call is an orphan.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from worker.core.messages import Message, Role

LATE_AFTER_RESPONSES = 8
"""A result behind this many other responses (a background task) answers its call, but no longer holds the messages in
between together: one late result must not make the whole session one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Positions [start, end) in the sequence that was paired."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class CallPlace:
    """A call: the position of its message and its number among the calls of that message."""

    position: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Everything in positions of the sequence that was paired, not in message indexes.

    groups: the whole sequence without gap: a response with its calls and results, or one other message.
    result_of: the result's position per answered call. call_of: the reverse.
    interrupted: calls without a result, by position. orphans: results without a call.
    """

    groups: tuple[Group, ...] = ()
    result_of: Mapping[CallPlace, int] = field(default_factory=dict)
    call_of: Mapping[int, CallPlace] = field(default_factory=dict)
    interrupted: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    orphans: frozenset[int] = frozenset()


def opens_turn(message: Message) -> bool:
    """True for what a person typed on the main line: there a turn begins, and nowhere else."""
    return message.is_human and not message.sidechain


def pair(messages: Sequence[Message]) -> Pairing:
    """Calls, results and groups of the sequence; empty for an empty one."""
    responses = _responses(messages)
    call_of = _match(messages)
    result_of = {place: position for position, place in call_of.items()}
    near = [
        (place.position, position)
        for position, place in call_of.items()
        if responses[position] - responses[place.position] <= LATE_AFTER_RESPONSES
    ]
    return Pairing(
        groups=_joined(len(messages), near + _response_spans(messages, responses)),
        result_of=result_of,
        call_of=call_of,
        interrupted=_interrupted(messages, result_of),
        orphans=frozenset(
            position
            for position, message in enumerate(messages)
            if message.tool_result is not None and position not in call_of
        ),
    )


def bundles(messages: Sequence[Message], pairing: Pairing, group: Group) -> list[list[int]]:
    """The positions of a group in the smallest lots that keep calls and results together, by their first message.

    Parallel calls stand apart from their results; here each is beside its own, so that a group can be cut between them.
    """
    found: list[list[int]] = []
    taken: set[int] = set()
    for position in range(group.start, group.end):
        if position in taken:
            continue
        places = [CallPlace(position, number) for number in range(len(messages[position].tool_calls))]
        results = [pairing.result_of[place] for place in places if place in pairing.result_of]
        bundle = [position, *sorted(at for at in results if at < group.end)]
        taken.update(bundle)
        found.append(bundle)
    return found


def _responses(messages: Sequence[Message]) -> list[int]:
    """Per position, how many responses have begun; a response id seen within the last few goes on with that one."""
    numbers: list[int] = []
    recent: dict[str, int] = {}
    begun = 0
    for message in messages:
        known = recent.get(message.response_id) if message.response_id is not None else None
        if message.role is Role.ASSISTANT and (known is None or begun - known > LATE_AFTER_RESPONSES):
            begun += 1
            if message.response_id is not None:
                recent[message.response_id] = begun
        numbers.append(begun)
    return numbers


def _response_spans(messages: Sequence[Message], responses: Sequence[int]) -> list[tuple[int, int]]:
    """First and last position of each response that has several rows."""
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    newest: dict[str, tuple[int, int]] = {}
    for position, message in enumerate(messages):
        if message.response_id is None or message.role is not Role.ASSISTANT:
            continue
        start, number = newest.get(message.response_id, (position, responses[position]))
        if responses[position] - number > LATE_AFTER_RESPONSES:
            start, number = position, responses[position]
        newest[message.response_id] = (start, number)
        spans[message.response_id, start] = (start, position)
    return list(spans.values())


def _match(messages: Sequence[Message]) -> dict[int, CallPlace]:
    open_calls: dict[str, deque[tuple[int, CallPlace]]] = {}
    call_of: dict[int, CallPlace] = {}
    turn = 0
    for position, message in enumerate(messages):
        turn += opens_turn(message)
        for number, call in enumerate(message.tool_calls):
            waiting = open_calls.setdefault(call.id, deque())
            while waiting and waiting[0][0] < turn:
                waiting.popleft()
            waiting.append((turn, CallPlace(position, number)))
        if message.tool_result is not None and open_calls.get(message.tool_result.call_id):
            _, call_of[position] = open_calls[message.tool_result.call_id].popleft()
    return call_of


def _interrupted(messages: Sequence[Message], result_of: Mapping[CallPlace, int]) -> dict[int, tuple[int, ...]]:
    missing: dict[int, tuple[int, ...]] = {}
    for position, message in enumerate(messages):
        numbers = tuple(
            number for number in range(len(message.tool_calls)) if CallPlace(position, number) not in result_of
        )
        if numbers:
            missing[position] = numbers
    return missing


def _joined(length: int, spans: Iterable[tuple[int, int]]) -> tuple[Group, ...]:
    """The positions 0 … length - 1 cut wherever no span (first, last) reaches across."""
    reach = list(range(length))
    for first, last in spans:
        reach[first] = max(reach[first], last)
    groups = []
    start = furthest = 0
    for position in range(length):
        furthest = max(furthest, reach[position])
        if furthest == position:
            groups.append(Group(start=start, end=position + 1))
            start = furthest = position + 1
    return tuple(groups)
