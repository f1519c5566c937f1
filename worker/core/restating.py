"""Which earlier value a person puts right in other words: "the project codename is A", then "we are calling it B now".

A later statement does so when it announces a change, or is an order about something of which one holds at a time, and
speaks of the same as exactly one earlier value of the same kind. In doubt nothing is put right: two values on a page
cost its reader a moment, a rule that was hidden costs more.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from worker.core.said_again import PutRight, Statement
from worker.core.said_cues import (
    ANNOUNCES,
    DENIES,
    FORMERLY,
    HISTORY,
    IN_NEWS,
    IN_ORDERS,
    IN_STATEMENTS,
    IS_GONE,
    IS_LABEL,
    IS_NOT,
    IS_ONE,
    IT,
    NO_STATEMENT,
    ONE_TIME,
    ORDERS,
    REFUSES,
    STATES,
    WHOLE_OF_WHAT_IS_SHOWN,
    Ends,
)
from worker.core.said_subjects import Subject, is_subject, subject_of
from worker.core.said_values import SETTINGS, Value, ValueKind, can_stand_for, means_the_same, values_of
from worker.core.terms import stem

_OBJECTS = {
    ValueKind.ZONE: frozenset({"time", "reply"}),
    ValueKind.UNITS: frozenset({"unit", "reply"}),
    ValueKind.MANNER: frozenset({"reply"}),
    ValueKind.LANGUAGE: frozenset({"reply"}),
}
"""What a setting is for when it is for all; what else is named narrows it."""

_LABELS = frozenset({ValueKind.CODE, ValueKind.MEASURE, ValueKind.NUMBER, ValueKind.VERSION})
"""These may as well tell what is spoken of: "version 3 is now at …", "room 14 is now free"."""

_ADJECTIVES = frozenset({ValueKind.LANGUAGE, ValueKind.MANNER, ValueKind.UNITS})
"""Beside another value these say which one is meant: the short route, the metric gauge."""

_MOST_VALUES = 8
"""A sentence with more of them is a table."""

_MOST_EARLIER = 50
"""So many earlier statements of one word a later one is compared with."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A value where it is said. clause: the piece of the sentence around it; part: what that speaks of; whole: what all
    of the sentence does. beside: the other values of the sentence."""

    position: int
    at: int
    text: str
    clause: str
    value: Value
    part: Subject
    whole: Subject
    beside: tuple[Value, ...]


def put_right_in_other_words(statements: Sequence[Statement]) -> Iterator[PutRight]:
    """statements: in the order in which they were said. Each value is put right at most once."""
    earlier = _Earlier()
    for position, one in enumerate(statements):
        values = _values(one.text)
        if not 0 < len(values) <= _MOST_VALUES or NO_STATEMENT.search(one.text):
            continue
        before = statements[position - 1] if position and statements[position - 1].at == one.at else None
        for value in values:
            ends = IN_ORDERS if value.kind in SETTINGS else IN_NEWS
            new = _said(position, one, value, values, ends)
            yield from earlier.put_right_by(_with_antecedent(new, before) if before else new)
        if not HISTORY.search(one.text):
            for value in values:
                ends = IN_ORDERS if value.kind in SETTINGS else IN_STATEMENTS
                earlier.add(_said(position, one, value, values, ends))


def _values(text: str) -> tuple[Value, ...]:
    """ "Project Budget" is no person."""
    return tuple(
        value
        for value in values_of(text)
        if value.kind is not ValueKind.PERSON or not any(map(is_subject, value.meaning.split()))
    )


def _said(position: int, one: Statement, value: Value, values: tuple[Value, ...], ends: Ends) -> _Said:
    start, end = _clause(one.text, value, ends)
    blanked = [other for other in values if value.kind in SETTINGS or other.kind not in _ADJECTIVES]
    return _Said(
        position=position,
        at=one.at,
        text=one.text,
        clause=one.text[start:end],
        value=value,
        part=subject_of(one.text[start:end], blanked, offset=start),
        whole=subject_of(one.text, blanked),
        beside=tuple(other for other in values if other is not value),
    )


def _with_antecedent(new: _Said, before: Statement) -> _Said:
    """ "The password was rotated; it is B now": what "it" is stands in the sentence before, which has no value."""
    if new.part.all or not IT.search(new.clause) or NO_STATEMENT.search(before.text) or _values(before.text):
        return new
    subject = subject_of(before.text, ())
    return replace(new, part=subject, whole=subject)


def _clause(text: str, value: Value, ends: Ends) -> tuple[int, int]:
    """Where the piece of the sentence that holds the value begins and ends. A label in capitals ends none."""
    starts = (
        match.end()
        for match in ends.front.finditer(text, 0, value.start)
        if not IS_LABEL.fullmatch(text, 0, match.end())
    )
    behind = ends.behind.search(text, value.end)
    return max(starts, default=0), behind.start() if behind else len(text)


class _Earlier:
    """The values said so far that still stand, by their kind and by the words around them."""

    def __init__(self) -> None:
        self._by_word: defaultdict[tuple[ValueKind, str], list[_Said]] = defaultdict(list)
        self._gone: set[tuple[int, int]] = set()

    def add(self, said: _Said) -> None:
        if said.value.kind in SETTINGS and (REFUSES.search(said.clause) or not _sets(said)):
            return
        for word in {""} if said.value.kind in SETTINGS else said.whole.all:
            self._by_word[said.value.kind, word].append(said)

    def put_right_by(self, new: _Said) -> Iterator[PutRight]:
        """What the best matches say, when all of them say the same; and what others say that say it too."""
        if not _announces(new):
            return
        is_match = _is_set_for_the_same if new.value.kind in SETTINGS else _is_about_the_same
        former = _alike_beside(new) if new.value.kind is not ValueKind.MANNER else []
        rated = [
            (_likeness(new, old), old)
            for old in self._alike(new)
            if is_match(new, old) and (not former or any(means_the_same(one, old.value) for one in former))
        ]
        best = max((likeness for likeness, _ in rated), default=None)
        meant = [old for likeness, old in rated if likeness == best]
        if not meant or not all(_says_the_same(old, meant[0]) for old in meant):
            return
        for _, old in rated:
            if _says_the_same(old, meant[0]) and can_stand_for(new.value, old.value):
                self._gone.add((old.position, old.value.start))
                is_all = not old.beside and old.whole.all <= new.whole.all
                yield PutRight(old=old.position, value=old.value, new=new.position, by=new.value, is_all=is_all)

    def _alike(self, new: _Said) -> list[_Said]:
        """The newest earlier values of the kind that share a word with the new one; of a setting all."""
        found = {
            (old.position, old.value.start): old
            for word in (*_named(new), "")
            for old in self._by_word[new.value.kind, word][-_MOST_EARLIER:]
            if old.at < new.at and old.value.family == new.value.family
        }
        return [found[place] for place in sorted(found.keys() - self._gone)]


def _announces(new: _Said) -> bool:
    """True when the sentence says that this value holds from now on, and no other of its kind."""
    rivals = [value for value in _alike_beside(new) if not _is_former(value, new.text)]
    if DENIES.search(new.text) or (rivals and new.value.kind is not ValueKind.MANNER):
        return False
    if _is_former(new.value, new.text):
        return False
    is_news = ANNOUNCES.search(_around(new)) is not None
    if new.value.kind not in SETTINGS:
        ahead = new.text[: new.value.start]
        is_label = new.value.kind in _LABELS and not (STATES.search(ahead) or ANNOUNCES.search(ahead))
        return is_news and not is_label and not IS_NOT.search(ahead)
    if ONE_TIME.search(new.clause) or REFUSES.search(new.clause) or not _sets(new):
        return False
    is_for_replies = new.value.kind is not ValueKind.MANNER or "reply" in new.part.heads
    return is_news or (is_for_replies and ORDERS.search(new.text) is not None)


def _sets(said: _Said) -> bool:
    """True for an order about more than one thing, or what is said of answers: "the long route" tells no manner."""
    if said.value.kind not in _ADJECTIVES or "reply" in said.part.heads:
        return True
    return ORDERS.search(said.text) is not None and not IS_ONE.search(said.text, 0, said.value.start)


def _alike_beside(said: _Said) -> list[Value]:
    return [one for one in said.beside if one.kind is said.value.kind and one.family == said.value.family]


def _is_former(value: Value, text: str) -> bool:
    return bool(FORMERLY.search(text, 0, value.start) or IS_GONE.match(text, value.end))


def _says_the_same(one: _Said, other: _Said) -> bool:
    """The same value for the same thing; one may name it more closely."""
    topics, others = one.part.topics, other.part.topics
    return means_the_same(one.value, other.value) and (topics <= others or others <= topics)


def _around(new: _Said) -> str:
    """The sentence with the value blanked: its own words announce nothing."""
    return f"{new.text[: new.value.start]}0{new.text[new.value.end :]}"


def _likeness(new: _Said, old: _Said) -> tuple[int, int, int]:
    """How much the two have in common; of equal ones the one that says the least beside."""
    shared = _named(new) & old.whole.all
    return len(shared), len(new.part.words & old.whole.words), -len(old.part.all - new.part.all)


def _named(new: _Said) -> frozenset[str]:
    """A branch that somebody goes to says that it is one."""
    return new.part.all | {"branch"} if new.value.kind is ValueKind.BRANCH else new.part.all


def _words_of(value: Value) -> frozenset[str]:
    """ "Lea takes over from Jonas" may name who it was."""
    return frozenset(map(stem, value.meaning.split())) if value.kind is ValueKind.PERSON else frozenset()


def _is_about_the_same(new: _Said, old: _Said) -> bool:
    """The newer one names nothing that the older does not, and at least half of what the older says of its value."""
    known = old.part if old.beside else old.whole
    said, shared = _named(new), _named(new) & known.all
    if not shared or (new.part.heads and known.heads and not said & known.heads):
        return False
    if new.part.owners and known.owners and not new.part.owners & known.owners:
        return False
    if new.part.topics - known.topics - _words_of(old.value):
        return False
    if 2 * len(shared) < len(old.part.all - {old.value.family}):
        return False
    return not _alike_beside(old) and not _is_of_another(new, old)


def _is_of_another(new: _Said, old: _Said) -> bool:
    """True when what stands beside the values tells two things apart: room 12 and room 14, Monday and Tuesday."""
    for kind in {value.kind for value in new.beside} - SETTINGS - {new.value.kind}:
        named, before = ({one.meaning for one in said.beside if one.kind is kind} for said in (new, old))
        if not named & before if before else kind in _LABELS:
            return True
    return False


def _is_set_for_the_same(new: _Said, old: _Said) -> bool:
    """An order for one document does not end one for all, nor one for all that for a document."""
    kind = new.value.kind
    scope, before = (said.part.all - _OBJECTS[kind] for said in (new, old))
    if kind is ValueKind.ZONE and WHOLE_OF_WHAT_IS_SHOWN.search(new.text):
        scope = frozenset()
    if kind is ValueKind.MANNER and not scope and not new.part.heads & old.part.heads:
        return False
    return scope == before
