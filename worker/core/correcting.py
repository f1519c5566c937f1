"""Which statement of a person a later one puts right: the same said again with another value, or a correction of it.

A page that shows both leaves its reader to find out which of the two holds. Only values are compared (dates, amounts,
versions, codes; not paths, of which there are many at a time), only statements, and only what is certain by form:
what a later message says in other words altogether is for a model to see.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from worker.core.items import reworded, with_items
from worker.core.summary import Item, Memory, Problem, Summary, Task, UserMessage
from worker.core.wording import content_words, normal, sentences

_VALUE = re.compile(r"[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]*\d[^\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]*")
_EDGES = "\"'`“”‘’()[]{}<>*_.,;:!?"
_STATES = re.compile(
    r"(?i)\b(?:is|are|was|were|be|stays?|runs?|ships?|lives?|answers?|goes|costs?|takes?|equals?|named|called|capped"
    r"|limited|set|uses?|means)\b|[=:：是为為はを]"
)
_NO_STATEMENT = re.compile(r"(?i)^\W*(?:there (?:is|are|was|were)|if|when|why|what|how|who|where|which)\b|[?？]\W*$")
_CORRECTS = re.compile(
    r"(?i)^\W*(?:correction|update|quick update|actually|sorry|wait|no)\b|\b(?:moved to|changed to|instead of|no longer"
    r"|not .{1,40} but|(?:is|are|it['’]?s) now|now (?:is|are))\b|^\W*(?:更正|纠正|糾正|訂正|修正)"
)
_SHARED_WORDS = 3
"""A correction in other words speaks of the same when it shares so many, and half of its own."""

_MOST_STATEMENT_CHARS = 400
_MOST_EARLIER = 50
"""So many earlier statements a correction is compared with; who says one word a thousand times says no more by it."""


MOST_CHARS = 3_000
"""A longer message was pasted; what stands in it was not said to be true."""

_MARK = re.compile(r"\[put right in m\d+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """said: the messages, with a mark in the place of each sentence that is put right. by: normal form of such a
    sentence → the sentence that puts it right."""

    said: tuple[UserMessage, ...]
    by: Mapping[str, str]


def mark_corrected(said: Sequence[UserMessage]) -> Corrected:
    """People's messages without what a later one of them puts right; the mark names the message that does."""
    told = [
        (position, sentence)
        for position, message in enumerate(said)
        if len(message.text) <= MOST_CHARS
        for sentence in sentences(message.text)
    ]
    found = put_right([Statement(at=position, text=sentence) for position, sentence in told])
    texts = {position: said[position].text for position in {told[old][0] for old in found}}
    for old, new in found.items():
        position, sentence = told[old]
        texts[position] = texts[position].replace(sentence, f"[put right in {said[told[new][0]].id}]", 1)
    marked = tuple(
        replace(message, text=texts[position]) if position in texts else message
        for position, message in enumerate(said)
    )
    return Corrected(said=marked, by={normal(told[old][1]): told[new][1] for old, new in found.items()})


def without_corrected(summary: Summary) -> Summary:
    """The summary without the values that people put right later: a page with both makes its reader choose."""
    corrected = mark_corrected(summary.user_messages)
    if not corrected.by:
        return summary

    def as_it_holds(_: str, item: Item) -> Item | None:
        match item:
            case Problem() | Memory() if normal(item.text) in corrected.by:
                return None
            case Task() if normal(item.text) in corrected.by:
                return reworded(item, corrected.by[normal(item.text)])
            case _:
                return item

    return replace(with_items(summary, as_it_holds), user_messages=corrected.said)


def without_marks(text: str) -> str:
    """The text on one line, without the marks."""
    return " ".join(_MARK.sub("", text).split())


def is_mark(sentence: str) -> bool:
    return _MARK.fullmatch(sentence) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """at: index of the message that says it."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class _Read:
    position: int
    at: int
    values: tuple[str, ...]
    slots: tuple[int, ...]
    words: frozenset[str] = field(default_factory=frozenset)


def put_right(statements: Sequence[Statement]) -> dict[int, int]:
    """Position of each statement that a later message puts right → position of the one that does, the newest.

    statements: in the order in which they were said.
    """
    read = [one for position, statement in enumerate(statements) if (one := _read(position, statement)) is not None]
    found: dict[int, int] = {}
    for old, new in (*_said_again(read, statements), *_corrected(read, statements)):
        found[old.position] = max(new.position, found.get(old.position, -1))
    return {old: _newest(new, found) for old, new in found.items()}


def _newest(position: int, found: Mapping[int, int]) -> int:
    """Where the last of a chain of corrections stands; each leads to a later one, so it ends."""
    while position in found:
        position = found[position]
    return position


def _read(position: int, statement: Statement) -> _Read | None:
    """The values of a statement; None for what is none, or has none."""
    text = statement.text
    if len(text) > _MOST_STATEMENT_CHARS or _NO_STATEMENT.search(text):
        return None
    matches = [(match, match[0].strip(_EDGES)) for match in _VALUE.finditer(text)]
    kept = [(match.start(), value) for match, value in matches if not _is_path(value)]
    if not kept:
        return None
    values = tuple(value for _, value in kept)
    words = frozenset(content_words(text)) - frozenset(word for value in values for word in content_words(value))
    return _Read(position, statement.at, values, tuple(start for start, _ in kept), words)


def _is_path(value: str) -> bool:
    return "/" in value and "://" not in value


def _said_again(read: Iterable[_Read], statements: Sequence[Statement]) -> Iterable[tuple[_Read, _Read]]:
    """Statements with the same words around their values, one value of which differs behind a word that states it."""
    same: defaultdict[str, list[_Read]] = defaultdict(list)
    for new in read:
        if not new.words:
            continue
        frame = _VALUE.sub(lambda match: match[0] if _is_path(match[0]) else "\0", statements[new.position].text)
        earlier = same[" ".join(frame.casefold().split())]
        for old in earlier[-_MOST_EARLIER:]:
            differing = [
                at for at, (one, other) in enumerate(zip(old.values, new.values, strict=False)) if one != other
            ]
            if old.at < new.at and len(differing) == 1:
                slot = old.slots[differing[0]]
                if _STATES.search(statements[old.position].text, 0, slot):
                    yield old, new
        earlier.append(new)


def _corrected(read: Sequence[_Read], statements: Sequence[Statement]) -> Iterable[tuple[_Read, _Read]]:
    """Statements that speak of the same, with values of one shape, of which the later says that it corrects."""
    by_word: defaultdict[str, list[_Read]] = defaultdict(list)
    for new in read:
        terms = new.words | frozenset(new.values)
        if _CORRECTS.search(statements[new.position].text):
            candidates = {
                old.position: old for term in terms for old in by_word[term][-_MOST_EARLIER:] if old.at < new.at
            }
            yield from ((old, new) for old in candidates.values() if _is_about_the_same(old, new))
        for term in terms:
            by_word[term].append(new)


def _is_about_the_same(old: _Read, new: _Read) -> bool:
    """What the old one names beside the corrected value must stand in the new one too, else it says more."""
    gone = [value for value in old.values if value not in new.values]
    come = {_shape(value) for value in new.values if value not in old.values}
    if len(gone) != 1 or _shape(gone[0]) not in come:
        return False
    shared = old.words & new.words
    return bool(set(old.values) & set(new.values)) or (
        len(shared) >= _SHARED_WORDS and 2 * len(shared) >= min(len(old.words), len(new.words))
    )


def _shape(value: str) -> str:
    """A date has the shape of a date, an amount that of an amount."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", value))
