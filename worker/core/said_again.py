"""Which earlier value a person puts right by saying the same again with another: "the budget is $340", later "$704".

Only values are compared (dates, amounts, versions, codes; not paths, of which there are many at a time), and only
statements. What is put right in other words is in `restating`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worker.core.said_values import Value, ValueKind, values_of
from worker.core.wording import content_words

_VALUE = re.compile(r"[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]*\d[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]*")
_EDGES = "\"'`“”‘’()[]{}<>*_.,;:!?"
_STATES = re.compile(
    r"(?i)\b(?:is|are|was|were|be|stays?|runs?|ships?|lives?|answers?|goes|costs?|takes?|equals?|named|called|capped"
    r"|limited|set|uses?|means)\b|[=:：是为為はを]"
)
_CLAUSE_END = re.compile(r"[,;]\s|[，；、]")
_NO_STATEMENT = re.compile(r"(?i)^\W*(?:there (?:is|are|was|were)|if|when|why|what|how|who|where|which)\b|[?？]\W*$")

_MOST_EARLIER = 50
"""So many earlier statements in the same words; who says one thing a thousand times says no more by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence of a person. at: index of the message that says it."""

    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRight:
    """A value that no longer holds. old: position of the statement that holds it; new: of the later one with `by`.

    is_all: True when the older statement says nothing else that the newer one does not say too.
    """

    old: int
    value: Value
    new: int
    by: Value
    is_all: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """values: as they are written, where they begin in `slots`."""

    position: int
    at: int
    text: str
    values: tuple[str, ...]
    slots: tuple[int, ...]


def put_right_by_saying_again(statements: Sequence[Statement]) -> Iterator[PutRight]:
    """Statements with the same words around their values, one value of which differs behind a word that states it.

    statements: in the order in which they were said. One value may be put right more than once.
    """
    same: defaultdict[str, list[_Read]] = defaultdict(list)
    for position, statement in enumerate(statements):
        new = _read(position, statement)
        if new is None:
            continue
        frame = _VALUE.sub(lambda match: match[0] if _is_path(match[0]) else "\0", statement.text)
        earlier = same[" ".join(frame.casefold().split())]
        for old in earlier[-_MOST_EARLIER:]:
            differing = [
                at for at, (one, other) in enumerate(zip(old.values, new.values, strict=False)) if one != other
            ]
            if old.at < new.at and len(differing) == 1 and _is_stated(old.text, old.slots[differing[0]]):
                values = (_value(one, differing[0]) for one in (old, new))
                yield PutRight(old=old.position, value=next(values), new=position, by=next(values), is_all=True)
        earlier.append(new)


def _is_stated(text: str, slot: int) -> bool:
    """True when the clause of the value says that it is so: "the page is slow, about 40 ms" tells of one time."""
    begun = max((match.end() for match in _CLAUSE_END.finditer(text, 0, slot)), default=0)
    return _STATES.search(text, begun, slot) is not None


def _read(position: int, statement: Statement) -> _Read | None:
    """The values of a statement; None for what is none, has none, or has nothing else."""
    text = statement.text
    if _NO_STATEMENT.search(text):
        return None
    matches = [(match, match[0].strip(_EDGES)) for match in _VALUE.finditer(text)]
    kept = [(match.start() + match[0].index(value), value) for match, value in matches if not _is_path(value)]
    inside = {word for _, value in kept for word in content_words(value)}
    if not kept or inside.issuperset(content_words(text)):
        return None
    slots, values = zip(*kept, strict=True)
    return _Read(position, statement.at, text, values, slots)


def _is_path(value: str) -> bool:
    return "/" in value and "://" not in value


def _value(read: _Read, slot: int) -> Value:
    """The value in the slot, whole: "30 days" for its "30". What is of no known kind is a number."""
    start, end = read.slots[slot], read.slots[slot] + len(read.values[slot])
    known = (value for value in values_of(read.text) if value.start <= start and value.end >= end)
    number = Value(kind=ValueKind.NUMBER, start=start, end=end, meaning=read.values[slot].casefold())
    return next(known, number)
