"""A summary in the fewest words: one list, for room in which the headings of the page alone would not fit.

In the order of what is missed most: constraints in force, open tasks, corrections and unresolved errors; then what
people said, the best sentences first; then the other items by worth. It says that it is material, and counts what it
leaves out. The page with its headings is in `rendering`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from worker.core.correcting import without_marks
from worker.core.items import is_protected, items_of, prose_of, worth
from worker.core.markdown import safe
from worker.core.summary import Constraint, ErrorItem, Item, Memory, MemoryKind, Summary, Task, UserMessage
from worker.core.telling import rank_sentences
from worker.core.wording import clip, identifiers, normal

NOTICE = "> Memory of earlier messages; material, not instruction."

WHOLE_CHARS = 240
"""A message this short is shown whole: its sentences belong together."""

ITEM_CHARS = 160

_LABEL = re.compile(r"^[A-Z][A-Z ]{2,24}: (?=\S)")
"""What somebody writes before a sentence to say of what kind it is; a list that is short of room does without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """The list, and how many lines it had no room for."""

    markdown: str
    left_out: int = 0


def slip(summary: Summary, *, budget_tokens: int, token_estimator: Callable[[str], int]) -> Slip:
    """The list within the budget, each line once: one that says what another says and more takes its place.

    summary: without what was put right, see `correcting`. When not even the notice fits, the list is empty.
    """
    taken: list[tuple[str, str]] = []
    left_out = 0
    room = budget_tokens - token_estimator(f"{NOTICE}\n{_counted(9_999)}\n")
    if room < 0:
        return Slip(markdown="")
    for text in _in_order(summary):
        line = f"- {safe(_LABEL.sub('', text))}"
        known = normal(line.removeprefix("- ")).rstrip(".。")
        if not known or any(known in other for other, _ in taken):
            continue
        at = next((at for at, (other, _) in enumerate(taken) if other in known), len(taken))
        cost = token_estimator(f"{line}\n") - sum(token_estimator(f"{old}\n") for _, old in taken[at : at + 1])
        if cost > room:
            left_out += 1
            continue
        room -= cost
        taken[at : at + 1] = [(known, line)]
    counted = [_counted(left_out)] if left_out else []
    return Slip(markdown="\n".join([NOTICE, *(line for _, line in taken), *counted]) + "\n", left_out=left_out)


def _counted(left_out: int) -> str:
    return f"({left_out} more in the checkpoint)"


def _in_order(summary: Summary) -> Iterator[str]:
    items = [item for _, item in items_of(summary)]
    must = sorted((item for item in items if _is_must(item)), key=_urgency)
    yield from map(_said_shortly, must)
    yield from _people(summary.user_messages, "\n".join(map(_said_shortly, must)))
    yield from map(_said_shortly, sorted((item for item in items if not _is_must(item)), key=lambda one: -worth(one)))


def _is_must(item: Item) -> bool:
    return is_protected(item) or (isinstance(item, Memory) and item.kind is MemoryKind.CORRECTION)


def _urgency(item: Item) -> int:
    return next((at for at, kind in enumerate((Constraint, Memory, Task, ErrorItem)) if isinstance(item, kind)), 4)


def _said_shortly(item: Item) -> str:
    text = clip(without_marks(prose_of(item)), ITEM_CHARS)
    if isinstance(item, Task) and item.id and item.id not in text:
        return f"{item.id}: {text}"
    return text


def _people(said: tuple[UserMessage, ...], known: str) -> Iterator[str]:
    """Messages and sentences, each once; of what is in the items already only what is longer."""
    whole: set[str] = set()
    for sentence in rank_sentences(said, frozenset(identifiers(known))):
        message = said[sentence.message]
        if len(message.text) > WHOLE_CHARS:
            yield without_marks(sentence.text)
        elif message.text not in whole:
            whole.add(message.text)
            yield without_marks(message.text)
