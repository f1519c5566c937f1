"""The messages that a report quotes: which ones are cited, in what form the page holds them, how much of each."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.core.checkpoint import Checkpoint
from worker.core.items import is_protected, items_of
from worker.core.material import shorten, shown
from worker.core.messages import Message, message_index
from worker.core.summary import Constraint, Summary

MAX_QUOTED_MESSAGES = 3_000
MAX_QUOTED_BYTES = 2_200_000
"""As they stand on the page; with the markup around them about two thirds of what it may weigh."""

SHOWN_CHARS = (6_000, 3_000, 1_500, 700, 300)
"""How much of one message is shown; the page takes the first that all of them together have room for."""

_MENTIONED = re.compile(r"(?<![\w/.-])m\d{1,9}(?![\w/-])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A message before it is cut for the page. is_note: `text` is said about the message and not in it."""

    id: str
    author: str
    text: str
    at: datetime | None = None
    is_note: bool = False


def mentioned_in(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, id) of every message that a text of ours names, in order."""
    return ((found.start(), found.end(), found[0]) for found in _MENTIONED.finditer(text))


def cited_ids(chain: Sequence[Checkpoint], whole: Summary, also: Iterable[str] = ()) -> list[str]:
    """Every message that a report of the chain could point at, the most needed first, at most MAX_QUOTED_MESSAGES.

    also: what something outside of the session cites.

    First what rules, open tasks and open errors rest on, then the rest from the newest message back.
    """
    summaries = [whole, *(summary for one in chain for summary in (one.summary, one.moved))]
    first = dict.fromkeys(_of_items(summaries, only_protected=True))
    rest = {
        *also,
        *_of_items(summaries, only_protected=False),
        *(name for summary in summaries for text in _texts(summary) for _, _, name in mentioned_in(text)),
        *(artifact.message for artifact in whole.artifacts),
        *(said.answers.id for said in whole.user_messages if said.answers),
        *(name for one in chain for finding in one.validation.findings for name in finding.ids),
    }
    indexes = {name: index for name in rest if (index := message_index(name)) is not None}
    newest_first = sorted(indexes, key=lambda name: indexes[name], reverse=True)
    return list(dict.fromkeys([*first, *newest_first]))[:MAX_QUOTED_MESSAGES]


def _of_items(summaries: Iterable[Summary], *, only_protected: bool) -> Iterator[str]:
    for summary in summaries:
        for _, item in items_of(summary):
            if only_protected and not is_protected(item):
                continue
            yield from item.evidence
            if isinstance(item, Constraint) and item.lifted:
                yield from item.lifted.evidence


def _texts(summary: Summary) -> Iterator[str]:
    yield from (summary.request, summary.current_work, summary.next_step.text if summary.next_step else "")


def saying_of(message: Message) -> Saying:
    """What a message says, its calls and its result included, long call arguments shortened as the model sees them."""
    author = _AUTHORS.get(message.origin.value, message.origin.value)
    _, _, body = shown(message).partition("\n")
    if body:
        return Saying(id=message.id, author=author, text=body, at=message.timestamp)
    why = (
        "of a sub-agent or of a branch that was taken back" if message.sidechain else "no text: the model only thought"
    )
    return Saying(id=message.id, author=author, text=why, at=message.timestamp, is_note=True)


_AUTHORS = {"human": "person", "harness": "the agent's program", "summary": "an earlier summary"}


def shown_chars(sayings: Mapping[str, Saying], all_bytes: int = MAX_QUOTED_BYTES) -> int:
    """How much of each message the page shows, so that all of them together stay within `all_bytes`."""
    sizes = [(len(saying.text), _page_bytes(saying.text)) for saying in sayings.values()]
    fitting = (chars for chars in SHOWN_CHARS if sum(_shown_bytes(*size, chars) for size in sizes) <= all_bytes)
    return next(fitting, SHOWN_CHARS[-1])


def _page_bytes(text: str) -> int:
    """Of the text in UTF-8, with its markup escaped."""
    return len(text.encode("utf-8", "replace")) + 4 * sum(map(text.count, "<>&\"'"))


def _shown_bytes(length: int, size: int, chars: int) -> float:
    return size if length <= chars else size * chars / length


def cut(text: str, chars: int) -> tuple[str, int]:
    """The text as head … tail of about `chars` characters with a mark between, and how many characters are left out."""
    if len(text) <= chars:
        return text, 0
    head, tail = chars * 2 // 3, chars // 3
    shorter = shorten(text, head, tail)
    return (text, 0) if shorter == text else (shorter, len(text) - head - tail)
