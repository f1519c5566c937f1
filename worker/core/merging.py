"""A model proposes changes to the joined summary; code applies those that break no rule, each on its own.

What a proposal does not mention is kept: omission loses nothing. The join itself is in `joining`, the end of
constraints in `lifting`, asking in `worker.asking`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce

from worker.core.asserting import asserts_leave, grave_words, people_in
from worker.core.checkpoint import Finding
from worker.core.grounds import Grounds
from worker.core.items import (
    is_protected,
    is_written_id,
    items_of,
    join_evidence,
    newest_evidence,
    prose_of,
    reworded,
    with_items,
    words_of,
    worth,
)
from worker.core.joining import combine
from worker.core.ledger import Ledger
from worker.core.messages import message_index
from worker.core.rules import called_off_in, done_in, is_weakened, releases, speaks_of
from worker.core.summary import (
    Constraint,
    ErrorItem,
    Item,
    Lift,
    Memory,
    NextStep,
    Problem,
    Summary,
    Task,
    TaskStatus,
)
from worker.core.wording import content_words, details, identifiers, normal, numbers, sentences, wording


class MergeOp(StrEnum):
    MERGE = "merge"
    REWRITE = "rewrite"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeChange:
    """One proposed change. reason: duplicate, superseded, resolved or obsolete. by: the item that replaces."""

    op: MergeOp
    ids: tuple[str, ...]
    text: str | None = None
    reason: str = ""
    by: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeProposal:
    """What a merge answer says; what it does not mention is kept."""

    request: str
    current_work: str
    next_step: NextStep | None = None
    changes: tuple[MergeChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A summary after proposals, and a finding for each proposal that broke a rule and was not applied."""

    summary: Summary
    refused: tuple[Finding, ...] = ()


REASONS = frozenset({"duplicate", "superseded", "resolved", "obsolete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grounds:
    """What a change is judged by: what people said, which messages exist, which strings are real."""

    human: Mapping[str, str]
    source_end: int
    real: frozenset[str]
    source: Grounds | None

    def known(self, evidence: Iterable[str]) -> tuple[str, ...]:
        return tuple(one for one in evidence if 0 <= _index(one) < self.source_end)


class _RefusedChange(Exception):
    """How one change ends inside this file; `apply_changes` makes a finding of it."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


def apply_changes(
    summary: Summary,
    proposal: MergeProposal,
    *,
    human: Mapping[str, str],
    ledger: Ledger,
    source_end: int,
    source: Grounds | None = None,
) -> Applied:
    """The summary with every change that breaks no rule; the others are refused, one finding each.

    human: message id → what a person wrote, of all that is covered. source_end: index behind the last covered message;
    only messages before it can be evidence. source: what the range says; without it new words cannot be judged and
    none are refused. Texts that the proposal leaves blank are kept.
    """
    real = frozenset(one.value for one in ledger.identifiers)
    grounds = _Grounds(human=human, source_end=source_end, real=real, source=source)
    refused: list[Finding] = []
    for change in proposal.changes:
        try:
            summary = _OPERATIONS[change.op](summary, change, _named(summary, change), grounds)
        except _RefusedChange as refusal:
            refused.append(
                Finding(
                    code=refusal.code, where=f"merge {change.op}", ids=change.ids, detail=refusal.detail, mended=True
                )
            )
    return Applied(summary=_with_texts(summary, proposal), refused=tuple(refused))


def _with_texts(summary: Summary, proposal: MergeProposal) -> Summary:
    return replace(
        summary,
        request=proposal.request if proposal.request.strip() else summary.request,
        current_work=proposal.current_work if proposal.current_work.strip() else summary.current_work,
        next_step=proposal.next_step,
    )


def _named(summary: Summary, change: MergeChange) -> list[tuple[str, Item]]:
    """The items that a change names, in its order, with the lists they are in."""
    by_id = {item.id: (field, item) for field, item in items_of(summary)}
    unknown = [one for one in change.ids if one not in by_id]
    if unknown or not change.ids:
        raise _RefusedChange("change_unknown_id", f"no item {', '.join(unknown) or 'is named'}")
    return [by_id[one] for one in dict.fromkeys(change.ids)]


def _merge(summary: Summary, change: MergeChange, named: list[tuple[str, Item]], grounds: _Grounds) -> Summary:
    items = [item for _, item in named]
    _refuse_mixed(items)
    first, others = items[0], items[1:]
    if not others:
        raise _RefusedChange("change_invalid", "a merge needs two items")
    joined = reduce(combine, others, first)
    if change.text and change.text.strip() and not isinstance(first, Constraint):
        joined = reworded(joined, change.text.strip())
    before = "\n".join(map(words_of, items))
    _refuse_loss(before, words_of(joined))
    for item in items:
        _refuse_lost_sense(item, words_of(joined))
    _refuse_growth(words_of(joined), before)
    _refuse_invention(words_of(joined), before, grounds)
    _refuse_turn(prose_of(joined), "\n".join(map(prose_of, items)))
    evidence = join_evidence(*(item.evidence for item in items), grounds.known(change.evidence))
    since, seen = min(item.since for item in items), max(item.seen for item in items)
    joined = replace(joined, evidence=evidence, since=since, seen=seen)
    gone = {item.id for item in others}
    return with_items(summary, lambda _, item: joined if item is first else None if item.id in gone else item)


def _refuse_mixed(items: Sequence[Item]) -> None:
    kinds = {(type(item), item.kind if isinstance(item, Problem | Memory) else "") for item in items}
    if len(kinds) > 1:
        raise _RefusedChange("change_mixes_kinds", "items of different kinds stay apart")
    rules = {normal(item.quote) for item in items if isinstance(item, Constraint)}
    if len(rules) > 1:
        raise _RefusedChange("constraint_missing", "constraints with different quotes are different rules")
    tasks = [item for item in items if isinstance(item, Task)]
    if len({task.id for task in tasks if is_written_id(task)}) > 1:
        raise _RefusedChange("task_missing", "tasks with ids of their own are different tasks")
    if len({task.status.is_open for task in tasks}) > 1:
        raise _RefusedChange("task_missing", "an open task cannot vanish in a finished one")
    if any(task.status.is_open and not speaks_of(task.text, tasks[0].text) for task in tasks[1:]):
        raise _RefusedChange("task_missing", "the open tasks have nothing in common")
    errors = [item for item in items if isinstance(item, ErrorItem)]
    if len({error.fix is None for error in errors}) > 1:
        raise _RefusedChange("error_missing", "an unresolved error cannot vanish in a resolved one")


def _rewrite(summary: Summary, change: MergeChange, named: list[tuple[str, Item]], grounds: _Grounds) -> Summary:
    text = (change.text or "").strip()
    if len(named) != 1 or not text:
        raise _RefusedChange("change_invalid", "a rewrite names one item and gives its text")
    item = named[0][1]
    known = grounds.known(change.evidence)
    if isinstance(item, Problem) and not known:
        raise _RefusedChange("fact_without_evidence", "a rewrite of what was found out needs evidence")
    if isinstance(item, Constraint) and not speaks_of(text, item.quote):
        raise _RefusedChange("constraint_missing", "the new words are another rule")
    if isinstance(item, Constraint) and (is_weakened(text, item.quote) or is_weakened(text, item.rule)):
        raise _RefusedChange("constraint_weakened", "a rule stays an order")
    if not speaks_of(text, words_of(item)):
        raise _RefusedChange("change_invalid", "the new words are another item")
    rewritten = replace(reworded(item, text), evidence=join_evidence(item.evidence, known))
    _refuse_loss(words_of(item), words_of(rewritten))
    _refuse_lost_sense(item, words_of(rewritten))
    _refuse_growth(text, prose_of(item), most=2 * len(item.quote) if isinstance(item, Constraint) else MOST_CHARS)
    _refuse_invention(text, words_of(item), grounds)
    _refuse_turn(prose_of(rewritten), prose_of(item))
    return with_items(summary, lambda _, one: rewritten if one is item else one)


def _drop(summary: Summary, change: MergeChange, named: list[tuple[str, Item]], grounds: _Grounds) -> Summary:
    if change.reason not in REASONS:
        raise _RefusedChange("change_invalid", "a drop needs one of the four reasons")
    items = [item for _, item in named]
    closed = {item.id: _closed(item, change, grounds) for item in items if is_protected(item)}
    gone = {item.id for item in items} - closed.keys()
    rest = with_items(summary, lambda _, item: None if item.id in gone else closed.get(item.id, item))
    _refuse_loss("\n".join(words_of(item) for item in items if item.id in gone), _all_words(rest))
    _refuse_unfounded(rest, change, [item for item in items if item.id in gone], grounds)
    return rest


def _closed(item: Item, change: MergeChange, grounds: _Grounds) -> Item:
    """A protected item is not dropped: it is closed, and stays as closed, when a person's later words say so."""
    said = _later_words(item, change.evidence, grounds)
    if isinstance(item, Constraint):
        lift = next((Lift(quote=words, evidence=(one,)) for one, words in _ending(item, said)), None)
        if lift is None:
            raise _RefusedChange("constraint_missing", f"{item.id}: no later words of a person lift it")
        return replace(item, lifted=lift)
    ended = done_in if change.reason == "resolved" else called_off_in
    if isinstance(item, Task) and (about := [one for one, text in said if _ends(item, ended(text))]):
        status = TaskStatus.DONE if change.reason == "resolved" else TaskStatus.CANCELLED
        return replace(item, status=status, evidence=join_evidence(item.evidence, about))
    if isinstance(item, Task):
        raise _RefusedChange("task_missing", f"{item.id} is open and no later words of a person end it")
    raise _RefusedChange("error_missing", f"{item.id} is unresolved")


def _ends(task: Task, said: Iterable[str]) -> bool:
    """True when one of the sentences speaks of the task. What is said of it by its id was read by code already."""
    return any(task.id not in words and speaks_of(words, task.text) for words in said)


def _ending(constraint: Constraint, said: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The sentences that end the constraint, with the messages that hold them."""
    return [
        (one, words)
        for one, text in said
        for words in sentences(text)
        if releases(words, constraint.rule, constraint.quote)
    ]


def _later_words(item: Item, evidence: Iterable[str], grounds: _Grounds) -> list[tuple[str, str]]:
    begun = newest_evidence(item)
    return [(one, grounds.human[one]) for one in evidence if one in grounds.human and _index(one) > begun]


def _refuse_unfounded(rest: Summary, change: MergeChange, dropped: Sequence[Item], grounds: _Grounds) -> None:
    """What goes is replaced by an item that stays and speaks of it, or ended by messages that exist."""
    if not dropped:
        return
    if change.reason in ("resolved", "obsolete"):
        known = grounds.known(change.evidence)
        if not known:
            raise _RefusedChange("evidence_unknown", "no message shows that it ended")
        for item in dropped:
            if worth(item) >= WORTH_EVIDENCE and not _is_spoken_of_later(item, known, grounds):
                raise _RefusedChange("evidence_unsupported", f"{item.id}: no later message speaks of it")
        return
    by = next((item for _, item in items_of(rest) if item.id == change.by), None)
    if by is None:
        raise _RefusedChange("change_unknown_id", "nothing that stays replaces it")
    if not all(speaks_of(words_of(by), words_of(item)) for item in dropped):
        raise _RefusedChange("evidence_unsupported", f"{by.id} speaks of something else")
    for item in dropped:
        if worth(item) >= WORTH_EVIDENCE and not _takes_its_place(by, item, change.reason):
            raise _RefusedChange("change_invalid", f"{by.id} does not say what {item.id} says")


TOLD_AGAIN = 2 / 3
"""Share of an item's content words that its double must hold."""

WORTH_EVIDENCE = 7
"""From this worth on (facts, decisions, memories) an item goes only for what is newer and about the same."""


def _is_spoken_of_later(item: Item, cited: Sequence[str], grounds: _Grounds) -> bool:
    """True when a cited message behind all that the item cites is about the same; without the source: names it."""
    later = [one for one in cited if _index(one) > newest_evidence(item)]
    source = grounds.source
    if source is None:
        return any(speaks_of(grounds.human.get(one, ""), words_of(item)) for one in later)
    return any(source.support(item, one) >= max(2, source.needed(item)) for one in later if source.has(one))


def _takes_its_place(by: Item, item: Item, reason: str) -> bool:
    """True when an item says most of another, with all its numbers, or, being newer, with others in their place."""
    wanted = content_words(prose_of(item))
    said = set(content_words(prose_of(by)))
    told = sum(word in said for word in wanted) / max(1, len(wanted))
    if reason == "superseded":
        return told >= KEPT_SENSE and newest_evidence(by) > newest_evidence(item)
    same = wording(prose_of(by)).polarity == wording(prose_of(item)).polarity
    return told >= TOLD_AGAIN and same and details(prose_of(item)) <= details(prose_of(by))


KEPT_SENSE = 0.5
"""Share of an item's content words that must stand in what takes its place; a paraphrase keeps more, a lie fewer."""

MOST_CHARS = 600
"""A rewrite may make a short text longer, up to here; else a few words more each round would never end."""


def _refuse_lost_sense(item: Item, after: str) -> None:
    wanted = content_words(words_of(item))
    kept = set(content_words(after))
    if sum(word in kept for word in wanted) < KEPT_SENSE * len(wanted):
        raise _RefusedChange(_LOSS.get(type(item), "change_invalid"), f"{item.id}: hardly a word of it is left")


_LOSS: dict[type[Item], str] = {Task: "task_missing", ErrorItem: "error_missing", Constraint: "constraint_missing"}


def _refuse_turn(after: str, before: str) -> None:
    """What takes the place of items says no more and no less "not", counts the same, and lets nobody else do more.

    A wording that is refused for want of likeness costs nothing: the item stays as it is.
    """
    if wording(after).polarity - _NO_POLES != wording(before).polarity - _NO_POLES:
        raise _RefusedChange("statement_turned", "says yes where it said no, or leaves out an only")
    was, is_now = numbers(_without_identifiers(before)), numbers(_without_identifiers(after))
    if was != is_now:
        raise _RefusedChange("statement_turned", f"other numbers: {', '.join(sorted(was ^ is_now)[:5])}")
    more = [*(grave_words(after) - grave_words(before)), *(set(people_in(after)) - set(_WORD.findall(before)))]
    if more or (asserts_leave(after) and not asserts_leave(before)):
        raise _RefusedChange("statement_turned", f"says more: {', '.join(more) or 'leave'}")


_NO_POLES = frozenset({"on", "off", "add", "added", "open", "done"})
"""Of the words that turn a meaning round those that stand in most sentences for something else."""

_WORD = re.compile(r"[^\W_]+")


def _without_identifiers(text: str) -> str:
    return reduce(
        lambda words, value: words.replace(value, " "), sorted(identifiers(text), key=len, reverse=True), text
    )


def _refuse_growth(after: str, before: str, *, most: int = MOST_CHARS) -> None:
    if len(after) > max(len(before), most):
        raise _RefusedChange("inflated", f"{len(after)} characters for {len(before)}")


def _refuse_loss(before: str, after: str) -> None:
    lost = [value for value in identifiers(before) if value not in after]
    if lost:
        raise _RefusedChange("identifier_lost", ", ".join(lost[:5]))


def _refuse_invention(text: str, before: str, grounds: _Grounds) -> None:
    invented = [value for value in identifiers(text) if value not in before and not _is_real(value, grounds)]
    if invented:
        raise _RefusedChange("identifier_invented", ", ".join(invented[:5]))
    known = before.casefold()
    foreign = [word for word in grounds.source.foreign(text) if word not in known] if grounds.source else []
    if foreign:
        raise _RefusedChange("evidence_unsupported", f"stands nowhere: {', '.join(foreign[:5])}")


def _is_real(value: str, grounds: _Grounds) -> bool:
    return value in grounds.real or any(value in text for text in grounds.human.values())


def _all_words(summary: Summary) -> str:
    return "\n".join(words_of(item) for _, item in items_of(summary))


def _index(message_id: str) -> int:
    index = message_index(message_id)
    return -1 if index is None else index


_OPERATIONS: dict[MergeOp, Callable[[Summary, MergeChange, list[tuple[str, Item]], _Grounds], Summary]] = {
    MergeOp.MERGE: _merge,
    MergeOp.REWRITE: _rewrite,
    MergeOp.DROP: _drop,
}
