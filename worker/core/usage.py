"""Where the tokens of a session go: by who wrote them, and for results by the tool that printed them."""

from collections import Counter
from collections.abc import Iterable, Iterator

from worker.core.messages import Message, Origin
from worker.core.pairing import pair
from worker.core.tokens import estimate_tokens

UNKNOWN_TOOL = "unknown"

_SOURCES = {
    Origin.SYSTEM: "system",
    Origin.HUMAN: "people",
    Origin.ASSISTANT: "assistant",
    Origin.HARNESS: "harness",
    Origin.SUMMARY: "summary",
    Origin.TOOL: f"tool:{UNKNOWN_TOOL}",
}


def tokens_by_source(messages: Iterable[Message]) -> dict[str, int]:
    """Estimated tokens per source, largest first; sources without any are not there.

    Keys: "system", "people", "assistant" (its calls too), "harness", "summary", and "tool:<name>" for what each tool
    printed, "tool:unknown" where neither result nor call names it. Sidechains are not counted: no request carries them.
    """
    counted: Counter[str] = Counter()
    for source, text in _pieces([message for message in messages if not message.sidechain]):
        counted[source] += estimate_tokens(text)
    return {source: tokens for source, tokens in counted.most_common() if tokens}


def source_of(message: Message, called: str = "") -> str:
    """The key under which the text or result of a message counts. called: the name of the call that it answers."""
    if message.tool_result is None:
        return _SOURCES[message.origin]
    return f"tool:{message.tool_result.name or called or UNKNOWN_TOOL}"


def _pieces(messages: list[Message]) -> Iterator[tuple[str, str]]:
    """Every text of the messages with its source."""
    call_of = pair(messages).call_of
    for position, message in enumerate(messages):
        yield _SOURCES[message.origin], message.text
        for call in message.tool_calls:
            yield "assistant", f"{call.name} {call.arguments}"
        if message.tool_result is not None:
            place = call_of.get(position)
            called = messages[place.position].tool_calls[place.number].name if place else ""
            yield source_of(message, called), message.tool_result.text
