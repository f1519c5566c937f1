"""What became of the planted items, and how much of the session ever reached the model."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from peers.planting import Kind, Message, Planted

REACH_CHARS = 200
"""So much of a message's beginning must stand in some prompt."""

_NOT_WORD = re.compile(r"\W+")


def kept(planted: Iterable[Planted], context: str) -> list[Planted]:
    """The items of which every needed piece stands in the context, letter case aside."""
    folded = context.lower()
    return [one for one in planted if all(piece in folded for piece in one.needed)]


def by_kind(planted: Iterable[Planted]) -> Counter[Kind]:
    return Counter(one.kind for one in planted)


def stale(planted: Iterable[Planted], context: str) -> list[Planted]:
    """The items of which the context still holds a value that was put right."""
    folded = context.lower()
    return [one for one in planted if any(piece in folded for piece in one.superseded)]


def reach(messages: Sequence[Message], prompts: Iterable[str]) -> float:
    """Share of the messages whose beginning stands in a prompt, however it is quoted, escaped or wrapped there."""
    sent = "\n".join(_bare(prompt) for prompt in prompts)
    wanted = [_bare(message.text)[:REACH_CHARS].strip() for message in messages]
    return sum(text in sent for text in wanted) / len(wanted)


def _bare(text: str) -> str:
    return _NOT_WORD.sub(" ", text.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"')).lower()
