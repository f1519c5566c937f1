"""A range summarized again from the transcript: what of the chain stays, and how the two become one summary.

A rebuild is one checkpoint behind the newest that covers no new message. It names the checkpoints that its range
touches, and from then on nothing counts that those say of the range. What lies outside of it is never touched, and
what a person ordered or asked for stays until the transcript itself shows that it ended.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worker.core.checkpoint import Checkpoint
from worker.core.items import is_written_id, items_of, newest_evidence, with_items
from worker.core.joining import join
from worker.core.ledger import Ledger
from worker.core.messages import message_index
from worker.core.summary import ITEM_LISTS, Artifact, Constraint, Item, Summary, Task, UserMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Message indexes [start, end)."""

    start: int
    end: int

    def holds(self, message_id: str) -> bool:
        index = message_index(message_id)
        return index is not None and self.start <= index < self.end

    def touches(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end

    def contains(self, other: "Span") -> bool:
        return self.start <= other.start and other.end <= self.end

    def rests_on(self, evidence: Iterable[str]) -> bool:
        """Whether the evidence lies wholly inside; what cites nothing rests on nothing."""
        cited = list(evidence)
        return bool(cited) and all(map(self.holds, cited))


def span_of(checkpoint: Checkpoint) -> Span:
    return Span(start=checkpoint.range.start, end=checkpoint.range.end)


def in_runs(numbers: Sequence[int]) -> str:
    """ "checkpoint 3", or "checkpoints 1–3, 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    said = ", ".join("–".join(map(str, run)) for run in runs)
    return f"checkpoint{'s' if len(numbers) > 1 else ''} {said}"


# What still counts of a chain.


def without_replaced(chain: Sequence[Checkpoint]) -> list[Checkpoint]:
    """The chain, each checkpoint without what a later one says anew; one that is replaced wholly is not there, unless
    an agent had handed it something that no transcript holds. Oldest first.
    """
    spans: list[Span] = []
    kept: list[Checkpoint] = []
    for checkpoint in reversed(chain):
        if not any(span.contains(span_of(checkpoint)) for span in spans):
            kept.append(_outside(checkpoint, spans) if spans else checkpoint)
        elif given := _given_of(checkpoint):
            kept.append(_bare(checkpoint, given))
        if checkpoint.replaces:
            spans.append(span_of(checkpoint))
    return kept[::-1]


def live_numbers(chain: Sequence[Checkpoint]) -> set[int]:
    """The checkpoints that no later one replaces wholly."""
    return {one.number for one in chain if not _is_replaced(one, chain)}


def _is_replaced(checkpoint: Checkpoint, chain: Sequence[Checkpoint]) -> bool:
    return any(
        one.replaces and one.number > checkpoint.number and span_of(one).contains(span_of(checkpoint)) for one in chain
    )


def _outside(checkpoint: Checkpoint, spans: Sequence[Span]) -> Checkpoint:
    def is_inside(entry: object) -> bool:
        cited = _cited(entry)
        return bool(cited) and all(any(span.holds(one) for span in spans) for one in cited)

    lists: dict[str, Any] = {
        name: tuple(entry for entry in getattr(checkpoint.ledger, name) if not is_inside(entry))
        for name in Ledger.__slots__
    }
    summary = replace(
        checkpoint.summary,
        user_messages=tuple(said for said in checkpoint.summary.user_messages if not is_inside(said)),
        artifacts=tuple(kept for kept in checkpoint.summary.artifacts if not is_inside(kept)),
    )
    return replace(checkpoint, summary=summary, ledger=Ledger(**lists))


def _cited(entry: object) -> tuple[str, ...]:
    match entry:
        case UserMessage():
            return (entry.id,)
        case Artifact():
            return (entry.message,)
        case _:
            return tuple(getattr(entry, "evidence", ()))


def _given_of(checkpoint: Checkpoint) -> Ledger | None:
    """What an agent handed over with the job: it is in no transcript, so no reading of one can find it again."""
    ledger = Ledger(
        constraints=tuple(rule for rule in checkpoint.ledger.constraints if rule.given and not rule.evidence),
        tasks=tuple(task for task in checkpoint.ledger.tasks if not task.evidence),
    )
    return ledger if ledger != Ledger() else None


def _bare(checkpoint: Checkpoint, ledger: Ledger) -> Checkpoint:
    return replace(checkpoint, summary=replace(checkpoint.summary, user_messages=(), artifacts=()), ledger=ledger)


# What of the state stays while a range is summarized again.


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """before: what was known when the range began, None when nothing was. protected: of the range, and kept until the
    transcript ends it. after: what came behind the range and has the last word; None when nothing lies behind it.
    """

    before: Summary | None
    protected: Summary
    after: Summary | None


def take_out(state: Summary, span: Span, *, covered: int, base: Summary | None, human: Collection[str]) -> Remains:
    """Parts the newest state by where its items come from; what rests on the span alone is gone but for the protected.

    covered: index behind the last covered message. base: the summary of the checkpoint before the span, for its texts.
    human: ids of all messages that people wrote.
    """
    is_whole = span.start == 0 and span.end >= covered
    places: dict[int, str] = {}
    for _, item in items_of(state):
        places[id(item)] = _place_of(item, span, human, is_whole=is_whole)
    before = _only(state, "before", places)
    texts: dict[str, Any] = {"request": base.request, "current_work": base.current_work} if base else {}
    known = replace(before, **texts)
    after = _only(state, "after", places)
    if span.end < covered:
        after = replace(after, request=state.request, current_work=state.current_work, next_step=state.next_step)
    return Remains(
        before=known if known != Summary() else None,
        protected=_only(state, "protected", places),
        after=after if span.end < covered else None,
    )


def _place_of(item: Item, span: Span, human: Collection[str], *, is_whole: bool) -> str:
    if span.rests_on(item.evidence):
        return "protected" if _is_protected(item, human) else "gone"
    if not item.evidence:
        return "gone" if is_whole and not _is_given(item) else "before"
    return "after" if newest_evidence(item) >= span.end else "before"


def _is_protected(item: Item, human: Collection[str]) -> bool:
    """Rules are a person's own words, and so is their end: a model that overlooks it must not bring them back. An open
    task stays if more than a model's word speaks for it.
    """
    return isinstance(item, Constraint) or (
        isinstance(item, Task)
        and item.status.is_open
        and (item.from_ledger or is_written_id(item) or any(cited in human for cited in item.evidence))
    )


def _is_given(item: Item) -> bool:
    return isinstance(item, Task) or (isinstance(item, Constraint) and item.given)


def _only(state: Summary, place: str, places: dict[int, str]) -> Summary:
    return piled_up([with_items(state, lambda _, item: item if places[id(item)] == place else None)])


def put_together(rebuilt: Summary, remains: Remains, state: Summary, *, span: Span, number: int) -> Summary:
    """The summary of the rebuild: the range as it was found again, with what stayed, each item as old as it is.

    The order is that of the transcript: what is protected gives way to what the range itself says of it, and what came
    behind the range to nothing.
    """
    summary = join(remains.protected, [rebuilt], number=number)
    if remains.after is not None:
        summary = join(summary, [remains.after], number=number)
    known = {item.id: item for _, item in items_of(state)}
    summary = with_items(summary, lambda _, item: _as_old_as(item, known.get(item.id), span))
    return replace(summary, user_messages=rebuilt.user_messages, artifacts=rebuilt.artifacts)


def _as_old_as(item: Item, known: Item | None, span: Span) -> Item:
    if known is None:
        return item
    is_untouched = not span.rests_on(known.evidence) and item.evidence == known.evidence
    return replace(item, since=known.since, seen=known.seen if is_untouched else item.seen)


# Adding up.


def piled_up(summaries: Sequence[Summary]) -> Summary:
    """All items of the summaries, one behind the other; their texts are left out."""
    lists: dict[str, Any] = {
        name: tuple(item for summary in summaries for item in getattr(summary, name)) for name in ITEM_LISTS
    }
    return Summary(**lists)


def piled_up_ledgers(ledgers: Sequence[Ledger]) -> Ledger:
    lists: dict[str, Any] = {
        name: tuple(entry for ledger in ledgers for entry in getattr(ledger, name)) for name in Ledger.__slots__
    }
    return Ledger(**lists)


def only_items(summary: Summary, kept: Sequence[Item]) -> Summary:
    """Those items of the summary, the very same objects, and nothing else."""
    ids = {id(item) for item in kept}
    return piled_up([with_items(summary, lambda _, item: item if id(item) in ids else None)])
