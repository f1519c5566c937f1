"""The time line of a session: what its messages weigh, where people spoke, which stretch is in which checkpoint.

Its axis is the messages and not the clock: a night without a word takes no room, and every range is as wide as what it
holds.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import sqrt

from worker.core.checkpoint import Checkpoint
from worker.core.messages import Origin
from worker.reporting.citing import Citing
from worker.reporting.page import Block, Column, Timeline, percent
from worker.reporting.rereading import Reread, Weight

MAX_COLUMNS = 120
MAX_PEOPLE_MARKS = 240

_TONES = {Origin.HUMAN.value: "people", Origin.ASSISTANT.value: "assistant", Origin.TOOL.value: "tool"}
_TONE_ORDER = ("people", "assistant", "tool", "other")


def timeline(chain: Sequence[Checkpoint], replaced: set[int], read: Reread, citing: Citing) -> Timeline:
    """chain: all checkpoints, oldest first. replaced: numbers of those that a later one says anew."""
    covered = max(one.covered for one in chain)
    end = max(covered, read.end)
    per_column = max(1, -(-end // MAX_COLUMNS))
    return Timeline(
        start=_mark("m0", read.first_at, citing),
        end=_mark(f"m{end - 1}", read.last_at, citing),
        columns=tuple(_columns(read.weights, end, per_column)),
        people=tuple(_people(read.weights, end)),
        blocks=tuple(_blocks(chain, replaced, read, end, citing)),
        per_column=per_column,
    )


def _mark(message: str, at: datetime | None, citing: Citing) -> str:
    return " · ".join(filter(None, [message, citing.when(at)]))


def _columns(weights: Sequence[Weight], end: int, per_column: int) -> Iterator[Column]:
    if not weights:
        return
    sums: list[dict[str, int]] = [dict.fromkeys(_TONE_ORDER, 0) for _ in range(-(-end // per_column))]
    for weight in weights:
        sums[weight.index // per_column][_TONES.get(weight.origin, "other")] += weight.tokens
    tallest = max(sum(tones.values()) for tones in sums)
    for at, tones in enumerate(sums):
        first, last = at * per_column, min(end, (at + 1) * per_column) - 1
        named = f"m{first}" if first == last else f"m{first}–m{last}"
        yield Column(
            title=f"{named}: {sum(tones.values()):,} tokens",
            heights=tuple(
                (tone, _height(tones[tone], sum(tones.values()), tallest)) for tone in _TONE_ORDER if tones[tone]
            ),
        )


def _height(tokens: int, column: int, tallest: int) -> float:
    """Columns grow with the square root: beside one log of 50,000 tokens, what people say would not be seen."""
    return round(100 * sqrt(column / tallest) * tokens / column, 2)


def _people(weights: Sequence[Weight], end: int) -> list[float]:
    """Where people spoke; marks that would lie on each other are one."""
    spoken = [weight.index for weight in weights if weight.origin == Origin.HUMAN.value]
    marks = {index * MAX_PEOPLE_MARKS // end: index for index in reversed(spoken)}
    return [percent(index + 0.5, end) for index in sorted(marks.values())]


def _blocks(chain: Sequence[Checkpoint], replaced: set[int], read: Reread, end: int, citing: Citing) -> Iterator[Block]:
    for one in chain:
        start, stop = one.range.start, one.range.end
        lane = "again" if one.replaces else "range"
        state = " · summarized again since" if one.number in replaced else ""
        yield Block(
            lane=lane,
            left=percent(start, end),
            width=percent(stop - start, end),
            label=str(one.number),
            title=f"checkpoint {one.number}: m{start}–m{stop - 1}, {one.status}{state}",
            tone="replaced" if one.number in replaced else one.status.value,
            target=f"{citing.prefix}-checkpoint-{one.number}",
        )
        yield from _parts(read.parts.get(one.number, ()), stop, end)
    covered = max(one.covered for one in chain)
    if end > covered:
        yield Block(
            lane="tail",
            left=percent(covered, end),
            width=percent(end - covered, end),
            label="tail",
            title=f"tail: m{covered}–m{end - 1}, verbatim, in no checkpoint yet",
        )


def _parts(starts: Sequence[int], stop: int, end: int) -> Iterator[Block]:
    if len(starts) < 2:
        return
    for number, (first, behind) in enumerate(zip(starts, (*starts[1:], stop), strict=True), 1):
        yield Block(
            lane="part",
            left=percent(first, end),
            width=percent(behind - first, end),
            label=str(number),
            title=f"part {number} of {len(starts)}: m{first}–m{behind - 1}",
        )
