"""Questions that every room asks about an item, whatever its kind: its words, its worth, whether it may ever go."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from worker.core.messages import message_index
from worker.core.summary import (
    ITEM_LISTS,
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    Summary,
    Task,
)

PROSE: dict[type[Item], tuple[str, ...]] = {
    Constraint: ("rule",),
    Concept: ("text",),
    FileItem: ("note",),
    Reference: ("note",),
    ErrorItem: ("error", "fix"),
    Check: ("note",),
    Problem: ("text", "verify"),
    Task: ("text",),
    Memory: ("text",),
}
"""The fields that somebody worded. The first is the one that a rewrite changes."""

VERBATIM: dict[type[Item], tuple[str, ...]] = {
    Constraint: ("quote",),
    FileItem: ("path", "snippet"),
    Reference: ("value",),
    Check: ("command",),
}
"""The fields that copy something."""

EVIDENCE_KEPT = 12
"""Message ids per item: the first 4 tell where it began, the rest where it stood last. More would grow every round."""

_PROBLEM_WORTH = {
    ProblemKind.DECISION: 8,
    ProblemKind.FACT: 7,
    ProblemKind.FAILED_ATTEMPT: 6,
    ProblemKind.CLAIM: 3,
    ProblemKind.HYPOTHESIS: 3,
}
_CHANGE_WORTH = {Change.MENTIONED: 1, Change.READ: 2, Change.EDITED: 6, Change.CREATED: 6, Change.DELETED: 6}


def items_of(summary: Summary) -> Iterator[tuple[str, Item]]:
    """Every item with the field that holds it, in the order of the sections."""
    for field in ITEM_LISTS:
        for item in getattr(summary, field):
            yield field, item


def prose_of(item: Item) -> str:
    """What was worded, without what was copied."""
    return "\n".join(text for name in PROSE[type(item)] if (text := getattr(item, name)))


def words_of(item: Item) -> str:
    """All words of an item, copied ones and its written ids included."""
    names = PROSE[type(item)] + VERBATIM.get(type(item), ())
    refs = (item.id, *item.refs) if isinstance(item, Task) else ()
    return "\n".join([text for name in names if (text := getattr(item, name))] + list(refs))


def map_prose(item: Item, change: Callable[[str], str]) -> Item:
    """The item with `change` applied to each worded field; the same object when nothing changes."""
    return _mapped(item, PROSE[type(item)], change)


def map_all_texts(item: Item, change: Callable[[str], str]) -> Item:
    """As `map_prose`, for the copied fields too."""
    return _mapped(item, PROSE[type(item)] + VERBATIM.get(type(item), ()), change)


def _mapped(item: Item, names: Iterable[str], change: Callable[[str], str]) -> Item:
    changed: dict[str, Any] = {
        name: new for name in names if (old := getattr(item, name)) and (new := change(old)) != old
    }
    return replace(item, **changed) if changed else item


def reworded(item: Item, text: str) -> Item:
    """The item with other words: a task's text, a file's note, a constraint's rule."""
    words: dict[str, Any] = {PROSE[type(item)][0]: text}
    return replace(item, **words)


def with_items(summary: Summary, choose: Callable[[str, Item], Item | None]) -> Summary:
    """The summary with every item replaced by what `choose` gives for it; None takes it out."""
    lists: dict[str, Any] = {}
    for field in ITEM_LISTS:
        old = getattr(summary, field)
        new = tuple(kept for item in old if (kept := choose(field, item)) is not None)
        if any(one is not other for one, other in zip(old, new, strict=False)) or len(old) != len(new):
            lists[field] = new
    return replace(summary, **lists) if lists else summary


def is_protected(item: Item) -> bool:
    """True for what no shortage of room may remove: constraints in force, open tasks, unresolved errors."""
    match item:
        case Constraint():
            return item.in_force
        case Task():
            return item.status.is_open
        case ErrorItem():
            return item.fix is None
        case _:
            return False


def worth(item: Item) -> int:
    """How much an item is missed when it is gone, 0 to 10; of equal ones the older goes first."""
    match item:
        case Constraint():
            return 10 if item.in_force else 2
        case Task():
            return 10 if item.status.is_open else 4
        case ErrorItem():
            return 9 if item.fix is None else 5
        case Problem():
            return _PROBLEM_WORTH[item.kind]
        case FileItem():
            return _CHANGE_WORTH[item.change]
        case Memory():
            return 9 if item.kind is MemoryKind.CORRECTION else 7
        case Check():
            return 6 if item.result is CheckResult.FAILED else 3
        case Reference():
            return 5
        case _:
            return 2


def newest_evidence(item: Item) -> int:
    """Index of the newest message that the item cites, -1 when it cites none."""
    return max((index for cited in item.evidence if (index := message_index(cited)) is not None), default=-1)


def join_evidence(*cited: Iterable[str]) -> tuple[str, ...]:
    """All message ids, oldest first, without doubles, at most EVIDENCE_KEPT."""
    every = sorted(dict.fromkeys(one for some in cited for one in some), key=_by_index)
    return tuple(every if len(every) <= EVIDENCE_KEPT else every[:4] + every[4 - EVIDENCE_KEPT :])


def _by_index(message_id: str) -> tuple[int, str]:
    index = message_index(message_id)
    return (-1 if index is None else index, message_id)


def is_written_id(task: Task) -> bool:
    """True when the task's id came from somebody and was not made of its text."""
    return bool(task.id) and not _is_hash_id(task.id)


def _is_hash_id(task_id: str) -> bool:
    digits = task_id[2:8]
    return task_id.startswith("T-") and len(digits) == 6 and all(sign in "0123456789abcdef" for sign in digits)
