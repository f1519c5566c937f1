"""Where the sealed range ends: what lies before can no longer change, what lies behind stays verbatim as the tail.

Decided from positions and tokens alone; whether it is worth a model's call is the gate's question (`planning`).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from worker.core.messages import Message
from worker.core.pairing import Pairing, opens_turn


class SealReason(StrEnum):
    """Why the range ends where it ends. The first three seal something, the others nothing."""

    TURN_CLOSED = "turn_closed"
    CUT_INSIDE_TURN = "cut_inside_turn"
    EVERYTHING = "everything"
    NOTHING_NEW = "nothing_new"
    FITS_TAIL = "fits_tail"
    TURN_OPEN = "turn_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """end: position behind the last sealed message, 0 when nothing is sealed. tokens: of the sealed messages."""

    end: int
    tokens: int
    reason: SealReason


def seal(
    messages: Sequence[Message],
    tokens: Sequence[int],
    pairing: Pairing,
    *,
    keep_recent_tokens: int | None,
    max_tokens: int,
    turn_tokens: int | None = None,
    more_follows: bool = False,
    still_writing: bool = False,
) -> Seal:
    """The sealed range of messages that follow the last checkpoint; `tokens` are those of each message.

    keep_recent_tokens: None holds nothing back (the session ended, or sleeps). max_tokens: of one range; at least one
    group is sealed even if it is larger. turn_tokens: an open turn larger than this is cut between complete groups,
    None for max_tokens. more_follows: the file goes on behind `messages`. still_writing: its writer is at work.
    """
    if not messages:
        return Seal(end=0, tokens=0, reason=SealReason.NOTHING_NEW)
    sums = [0, *accumulate(tokens)]
    group_ends = [group.end for group in pairing.groups]
    if keep_recent_tokens is None and not still_writing and not more_follows:
        return _bounded(len(messages), SealReason.EVERYTHING, messages, sums, group_ends, max_tokens)
    tail = _tail_start(sums, keep_recent_tokens or 0)
    end = _last_turn_boundary(messages, set(group_ends), tail)
    if end:
        return _bounded(end, SealReason.TURN_CLOSED, messages, sums, group_ends, max_tokens)
    end = _inside_turn(messages, pairing, group_ends, tail, still_writing)
    turn_is_too_large = sums[-1] > (max_tokens if turn_tokens is None else turn_tokens)
    if end and (turn_is_too_large or not any(map(opens_turn, messages))):
        return _bounded(end, SealReason.CUT_INSIDE_TURN, messages, sums, group_ends, max_tokens)
    fits = sums[-1] <= (keep_recent_tokens or 0)
    return Seal(end=0, tokens=0, reason=SealReason.FITS_TAIL if fits else SealReason.TURN_OPEN)


def _tail_start(sums: Sequence[int], keep_recent_tokens: int) -> int:
    """The last position from which on at least keep_recent_tokens follow; 0 when there are fewer in all."""
    return max(0, bisect_right(sums, sums[-1] - keep_recent_tokens) - 1)


def _last_turn_boundary(messages: Sequence[Message], group_ends: set[int], tail: int) -> int:
    """The newest human message is never sealed without its turn: a boundary is where one begins, at or before the tail.

    A group that reaches over the boundary (a message typed while a tool ran) makes it none.
    """
    starts = [position for position in range(1, len(messages)) if opens_turn(messages[position])]
    return max((position for position in starts if position <= tail and position in group_ends), default=0)


def _inside_turn(
    messages: Sequence[Message], pairing: Pairing, group_ends: Sequence[int], tail: int, still_writing: bool
) -> int:
    """The last end of a group before the tail with no open call before it that the running turn may still answer."""
    limit = min(tail, len(messages) - 1 if still_writing else len(messages))
    turn_starts = [position for position, message in enumerate(messages) if opens_turn(message)]
    newest_turn = turn_starts[-1] if turn_starts else 0
    open_calls = [position for position in pairing.interrupted if position >= newest_turn]
    return _last_at_most(group_ends, min([limit, *open_calls]))


def _bounded(
    end: int,
    reason: SealReason,
    messages: Sequence[Message],
    sums: Sequence[int],
    group_ends: Sequence[int],
    max_tokens: int,
) -> Seal:
    """The range up to `end`, or as much of it as max_tokens allow: whole turns, else whole groups, else one group."""
    if sums[end] <= max_tokens:
        return Seal(end=end, tokens=sums[end], reason=reason)
    within = bisect_right(sums, max_tokens) - 1
    turn_end = _last_turn_boundary(messages, set(group_ends), within)
    if turn_end:
        return Seal(end=turn_end, tokens=sums[turn_end], reason=SealReason.TURN_CLOSED)
    cut = _last_at_most(group_ends, within) or group_ends[0]
    return Seal(end=cut, tokens=sums[cut], reason=SealReason.CUT_INSIDE_TURN if cut < end else reason)


def _last_at_most(ends: Sequence[int], limit: int) -> int:
    found = bisect_right(ends, limit)
    return ends[found - 1] if found else 0
