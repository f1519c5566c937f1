"""What leaves the state when it outgrows its room; it goes to HISTORY.md, never into nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from worker.core.items import is_protected, items_of, with_items, words_of, worth
from worker.core.summary import Item, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Shed:
    """A summary that fits, and the items that must go to HISTORY.md for it."""

    summary: Summary
    moved: tuple[Item, ...] = ()


def shed(summary: Summary, *, state_tokens: int, token_estimator: Callable[[str], int]) -> Shed:
    """Takes the least worthy, then oldest items out until the rest fits; protected items stay even when they do not."""
    sizes = {id(item): token_estimator(words_of(item)) for _, item in items_of(summary)}
    excess = sum(sizes.values()) - state_tokens
    loose = [item for _, item in items_of(summary) if not is_protected(item)]
    moved: list[Item] = []
    for item in sorted(loose, key=lambda item: (worth(item), item.seen, item.since)):
        if excess <= 0:
            break
        excess -= sizes[id(item)]
        moved.append(item)
    gone = {id(item) for item in moved}
    return Shed(summary=with_items(summary, lambda _, item: None if id(item) in gone else item), moved=tuple(moved))
