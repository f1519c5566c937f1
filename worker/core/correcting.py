"""A summary as it holds now: without the values that a person put right later.

A page that shows both leaves its reader to find out which of the two holds. Which value is put right is found in
`said_again` and `restating`; here a mark takes its place, in people's messages and in the items made of them. The
transcript's words are the truth: checkpoints keep them, only a page within a budget is marked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from worker.core.items import map_all_texts, with_items
from worker.core.restating import put_right_in_other_words
from worker.core.rules import is_hard
from worker.core.said_again import PutRight, Statement, put_right_by_saying_again
from worker.core.said_values import ValueKind
from worker.core.summary import (
    Concept,
    Constraint,
    Item,
    Memory,
    NextStep,
    Problem,
    Reference,
    Summary,
    Task,
    UserMessage,
)
from worker.core.wording import normal, sentences

MOST_CHARS = 3_000
"""A longer message was pasted; what stands in it was not said to be true."""

MOST_STATEMENT_CHARS = 400

_ABBREVIATED = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Nr|No|approx|ca)\.$|\b(?:am|bis|dem|den|vom|zum) \d{1,2}\.$")

_MARK = re.compile(r"\[put right in (m\d+)\]")
_MARKED_SENTENCE = re.compile(rf"{_MARK.pattern}[.。]?")

_UNMISTAKABLE = frozenset(
    {
        ValueKind.ADDRESS,
        ValueKind.BRANCH,
        ValueKind.CODE,
        ValueKind.DATE,
        ValueKind.MONEY,
        ValueKind.PERSON,
    }
)
"""What means the same wherever it stands, also in a text that cites nothing; "short" and "30" do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneValue:
    """A value as it was written, in the sentence that is put right. new: the one that stands in its place.

    message, by: ids of the message that said it and of the one that puts it right. said_once: False where the same
    words still stand for something else in that message.
    """

    text: str
    kind: ValueKind
    sentence: str
    new: str
    message: str
    by: str
    said_once: bool = True

    @property
    def is_unmistakable(self) -> bool:
        """True for what means the same wherever it stands; of days "Friday" does not."""
        return self.kind in _UNMISTAKABLE and (self.kind is not ValueKind.DATE or bool(re.search(r"\d", self.text)))

    def found_in(self, text: str) -> list[re.Match[str]]:
        """Where it stands as a word of its own."""
        if self.text.casefold() not in text.casefold():
            return []
        before = r"(?<![A-Za-z0-9_])" if self.text[0].isascii() and self.text[0].isalnum() else ""
        after = r"(?![A-Za-z0-9_])" if self.text[-1].isascii() and self.text[-1].isalnum() else ""
        return list(re.finditer(f"{before}{re.escape(self.text)}{after}", text, flags=re.IGNORECASE))

    def marked_in(self, text: str) -> str:
        """The text with the mark in the place of the value, where it is certain that this one is meant."""
        places = self.found_in(text)
        if not (self.said_once or _is_piece(text, self.sentence)):
            return text
        if len(places) > 1 and not self.is_unmistakable:
            return text
        return _cut(text, [(*place.span(), _mark(self.by)) for place in places])


def _is_piece(text: str, sentence: str) -> bool:
    """True when one holds the other word for word."""
    one, other = normal(text), normal(sentence)
    return one in other or other in one


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """said: the messages, with a mark in the place of what is put right. by: normal form of each sentence that says
    nothing beside it → the sentence that puts it right."""

    said: tuple[UserMessage, ...]
    by: Mapping[str, str] = field(default_factory=dict)
    values: tuple[GoneValue, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """message: position of the message that holds it from `start` on."""

    message: int
    start: int
    text: str
    is_alone: bool


def mark_corrected(said: Sequence[UserMessage]) -> Corrected:
    """People's messages without what a later one of them puts right; the mark names the message that does.

    A sentence that was said again with another value goes as a whole, and so does a message that says nothing but what
    the newer one says; of every other sentence the value goes. Messages that are marked already stay as they are.
    """
    if _are_marked(said):
        return Corrected(said=tuple(said))
    told = list(_sentences(said))
    found = put_right([Statement(at=one.message, text=one.text) for one in told])
    by: dict[str, str] = {}
    cuts: dict[int, list[tuple[int, int, str]]] = {}
    for one in found:
        old, new = told[one.old], told[one.new]
        mark = _mark(said[new.message].id)
        start, end = old.start + one.value.start, old.start + one.value.end
        if _goes_whole(one, old, new):
            by[normal(old.text)] = new.text
            start, end = old.start, old.start + len(old.text)
            mark += "。" if old.text.endswith("。") else "."
        cuts.setdefault(old.message, []).append((start, end, mark))
    marked = tuple(
        replace(message, text=_cut(message.text, cuts[position])) if position in cuts else message
        for position, message in enumerate(said)
    )
    values = tuple(_gone(one, told[one.old], told[one.new], said, marked) for one in found)
    return Corrected(said=marked, by=by, values=values)


def _gone(
    one: PutRight, old: _Sentence, new: _Sentence, said: Sequence[UserMessage], marked: Sequence[UserMessage]
) -> GoneValue:
    value = GoneValue(
        text=old.text[one.value.start : one.value.end],
        kind=one.value.kind,
        sentence=old.text,
        new=new.text[one.by.start : one.by.end],
        message=said[old.message].id,
        by=said[new.message].id,
    )
    return replace(value, said_once=not value.found_in(marked[old.message].text))


def put_right(statements: Sequence[Statement]) -> tuple[PutRight, ...]:
    """Every value that a later message puts right, each once, by the newest one that does.

    statements: in the order in which they were said.
    """
    found: dict[tuple[int, int], PutRight] = {}
    for one in (*put_right_by_saying_again(statements), *put_right_in_other_words(statements)):
        place = (one.old, one.value.start)
        known = found.get(place)
        if known is None or (one.new, one.is_all) > (known.new, known.is_all):
            found[place] = one
    return tuple(_by_newest(found[place], found) for place in sorted(found))


def _by_newest(one: PutRight, found: Mapping[tuple[int, int], PutRight]) -> PutRight:
    """As the last of a chain of corrections has it; each leads to a later one, so it ends."""
    last = one
    while (later := found.get((last.new, last.by.start))) is not None:
        last = later
    return replace(one, new=last.new, by=last.by)


def _are_marked(said: Sequence[UserMessage]) -> bool:
    """True when a mark names a message behind it: pages that people paste speak of other messages or stand later."""
    later: set[str] = set()
    for message in reversed(said):
        if len(message.text) <= MOST_CHARS and later & set(_MARK.findall(message.text)):
            return True
        later.add(message.id)
    return False


def _sentences(said: Sequence[UserMessage]) -> Iterator[_Sentence]:
    for position, message in enumerate(said):
        if len(message.text) > MOST_CHARS:
            continue
        places = list(_places(message.text))
        for start, end in places:
            if end - start <= MOST_STATEMENT_CHARS:
                yield _Sentence(position, start, message.text[start:end], len(places) == 1)


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends; "Dr." ends none."""
    begun, at = None, 0
    for piece in sentences(text):
        start = text.index(piece, at)
        at = start + len(piece)
        begun = start if begun is None else begun
        if not _ABBREVIATED.search(piece):
            yield begun, at
            begun = None
    if begun is not None:
        yield begun, at


def _goes_whole(one: PutRight, old: _Sentence, new: _Sentence) -> bool:
    """A rule beside the value must stay to be seen, and what follows needs the sentence before it."""
    if not one.is_all:
        return False
    return _frame(one.value.start, one.value.end, old.text) == _frame(one.by.start, one.by.end, new.text) or (
        old.is_alone and (not is_hard(old.text) or is_hard(new.text))
    )


def _frame(start: int, end: int, text: str) -> str:
    return normal(f"{text[:start]}\0{text[end:]}")


def _mark(message_id: str) -> str:
    return f"[put right in {message_id}]"


def _cut(text: str, cuts: Iterable[tuple[int, int, str]]) -> str:
    """The text with the marks in the places; of two that overlap the longer one."""
    taken: list[tuple[int, int, str]] = []
    for start, end, mark in sorted(cuts, key=lambda cut: cut[0] - cut[1]):
        if all(end <= other or start >= behind for other, behind, _ in taken):
            taken.append((start, end, mark))
    for start, end, mark in sorted(taken, reverse=True):
        text = f"{text[:start]}{mark}{text[end:]}"
    return text


def without_corrected(summary: Summary) -> Summary:
    """The summary without the values that people put right later: a page with both makes its reader choose."""
    corrected = mark_corrected(summary.user_messages)
    if not corrected.values:
        return summary
    known = frozenset(task.id.casefold() for task in summary.tasks)
    marked = replace(
        with_items(summary, lambda _, item: _as_it_holds(item, corrected, known)),
        user_messages=corrected.said,
        request=_as_told(summary.request, corrected.values),
        current_work=_as_told(summary.current_work, corrected.values),
    )
    return replace(marked, next_step=_step(marked.next_step, corrected.values)) if marked.next_step else marked


def _as_it_holds(item: Item, corrected: Corrected, tasks: frozenset[str]) -> Item | None:
    """The item as the page shows it. Constraints stay whatever their words are. tasks: the ids of all of them."""
    match item:
        case Problem() | Memory() if normal(item.text) in corrected.by:
            return None
        case Task():
            return _task_as_it_holds(item, corrected, tasks)
        case Constraint() | Problem() | Memory() | Reference() | Concept():
            return _marked_item(item, corrected.values)
        case _:
            return item


def _task_as_it_holds(task: Task, corrected: Corrected, tasks: frozenset[str]) -> Item | None:
    """With the words that hold now, and with the new value for its id where the old one, a codename for instance, was
    taken for one; None when there is a task of that id."""
    held = corrected.by.get(normal(task.text))
    made_of = (value for value in corrected.values if _is_piece(task.text, value.sentence))
    new = next((value.new for value in made_of if normal(value.text) == normal(task.id)), task.id)
    if new != task.id and new.casefold() in tasks:
        return None
    task = replace(task, id=new)
    return replace(task, text=held) if held else _marked_item(task, corrected.values)


def _marked_item(item: Item, values: Iterable[GoneValue]) -> Item | None:
    """None for a reference that was the old value and nothing else."""
    for value in values:
        if value.message not in item.evidence or value.by in item.evidence:
            continue
        if isinstance(item, Reference) and normal(item.value) == normal(value.text):
            return None
        item = map_all_texts(item, value.marked_in)
    return item


def _as_told(text: str, values: Iterable[GoneValue]) -> str:
    """A text that cites nothing, marked line by line where it tells an old value and not the new one."""
    return "".join(_line_as_told(line, values) for line in text.splitlines(keepends=True))


def _line_as_told(line: str, values: Iterable[GoneValue]) -> str:
    told = normal(line)
    for value in values:
        is_meant = value.is_unmistakable or normal(value.sentence) in told
        if is_meant and normal(value.new) not in told:
            line = value.marked_in(line)
    return line


def _step(step: NextStep, values: Iterable[GoneValue]) -> NextStep:
    text, quote = (_as_told(words, values) for words in (step.text, step.quote))
    return replace(step, text=text, quote=quote)


def without_marks(text: str) -> str:
    """The text on one line, without the sentences that are a mark; one inside a sentence is as short as it can be."""
    told = [one for one in sentences(text) if not is_mark(one)] if _MARK.search(text) else [text]
    return _MARK.sub(r"[see \1]", " ".join(" ".join(told).split()))


def is_mark(sentence: str) -> bool:
    return _MARKED_SENTENCE.fullmatch(sentence) is not None
