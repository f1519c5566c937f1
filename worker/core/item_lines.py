"""How a model is shown the items of a summary: one line each, with the id that it must use to speak of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from worker.core.items import items_of, words_of
from worker.core.rules import stem
from worker.core.summary import (
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    Problem,
    ProblemKind,
    Reference,
    Summary,
    Task,
)
from worker.core.wording import content_words, normal

NAMED_MESSAGES = 3

_ENDS = " .!。！"
_SETTLED = (ProblemKind.FACT, ProblemKind.CLAIM)
_RESEMBLING_WORDS = 2
_COMMON_SHARE = 0.2
_MOST_COMMON = 8
"""A word of so many items, or of a fifth of them, says nothing about two of them."""


def item_lines(summary: Summary) -> Iterator[str]:
    """One line per item, in the order of the sections; constraints that were lifted are not shown."""
    for _, item in items_of(summary):
        if not isinstance(item, Constraint) or item.in_force:
            yield item_line(item)


def lines_to_merge(summary: Summary) -> Iterator[str]:
    """The lines of what may have to be joined, reworded or dropped: what can be resolved, and what another resembles.

    What stands alone in its words has no duplicate and no successor among the items; it stays without being asked for.
    """
    items = [item for _, item in items_of(summary) if not isinstance(item, Constraint) or item.in_force]
    resembling = _resembling([frozenset(map(stem, content_words(words_of(item)))) for item in items])
    for item, is_alike in zip(items, resembling, strict=True):
        if is_alike or isinstance(item, Task | ErrorItem) or (isinstance(item, Problem) and item.kind not in _SETTLED):
            yield item_line(item)


def _resembling(worded: Sequence[frozenset[str]]) -> Iterator[bool]:
    """Of each item, whether another one shares words with it that few have."""
    having: defaultdict[str, list[int]] = defaultdict(list)
    for at, words in enumerate(worded):
        for word in words:
            having[word].append(at)
    most = max(_MOST_COMMON, int(len(worded) * _COMMON_SHARE))
    for at, words in enumerate(worded):
        shared = Counter(other for word in words if len(having[word]) <= most for other in having[word] if other != at)
        yield any(count >= min(_RESEMBLING_WORDS, len(words)) for count in shared.values())


def item_line(item: Item) -> str:
    """`E-1a2b3c error: KeyError 'qty' | fix: alias added (m2, m3)`; of many messages the newest are named."""
    named = item.evidence[-NAMED_MESSAGES:]
    more = "… " if len(named) < len(item.evidence) else ""
    evidence = f" ({more}{', '.join(named)})" if named else ""
    return f"{item.id} {_described(item)}{evidence}"


def _described(item: Item) -> str:
    match item:
        case Constraint():
            is_quoted = normal(item.quote).rstrip(_ENDS) in normal(item.rule)
            return f"constraint: {item.rule}{_more('quote', None if is_quoted else item.quote)}"
        case Concept():
            return f"concept: {item.text}"
        case FileItem():
            return f"file {item.change}: {item.path}{_more('note', item.note)}"
        case Reference():
            return f"{item.kind}: {item.value}{_more('note', item.note)}"
        case ErrorItem():
            return f"error: {item.error} | fix: {item.fix or 'none yet'}"
        case Check():
            return f"check {item.result}: {item.command}{_more('note', item.note)}"
        case Problem():
            return f"{item.kind}: {item.text}{_more('verify', item.verify)}"
        case Task():
            return f"task {item.status}: {item.text}{_more('refs', ', '.join(item.refs))}"
        case Memory():
            return f"memory {item.kind}: {item.text}"
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


def _more(name: str, text: str | None) -> str:
    return f" | {name}: {text}" if text else ""
