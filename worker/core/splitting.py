"""One sealed range shared out into parts by tokens, so that each part fits its prompt and none is much larger.

Whole groups only, every message in exactly one part, in order. Where one group is larger than a part it is cut between
its calls, each with its results beside it; where one message is, tool text is cut and says so, and everything else is
sliced and keeps every character: what people said and what tools printed never compete for one budget.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from worker.core.material import listed, shorten, shown_all
from worker.core.messages import Message
from worker.core.pairing import Group, Pairing, bundles, pair
from worker.core.tokens import SAFETY_MARGIN, estimate_tokens, with_margin

PROMPT_TOKENS = 4_096
"""What a part leaves of its share of the window to the prompt around it."""
LARGEST_WINDOW_SHARE = 0.4
SMALLEST_WINDOW_SHARE = 0.15
AVERAGE_MESSAGE_SHARE = 0.1
"""Messages larger than this share of the window on average fill parts unevenly: parts then get a smaller share."""
SMALLEST_BUDGET = 1_024
RESULTS_CUT_TOGETHER = 16
"""Up to so many large results are cut so that all stay with their calls in one part; more are shared out over parts."""
RESULT_SHARE_ALONE = 4
"""A result that is shared out takes at most a quarter of a part."""
_HEADER_TOKENS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a part shows of one message. slice, slices: "slice i of n" of a message that is larger than a part.

    left_out: characters of tool text that were cut. Slices lose none: below their headers, joined, stands the message.
    """

    id: str
    text: str
    tokens: int
    slice: int = 1
    slices: int = 1
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One share of a range, in order. index: from 0. tokens: of all pieces.

    messages: those that begin in this part; a sliced one goes on in pieces of the parts behind it.
    """

    index: int
    messages: tuple[Message, ...]
    pieces: tuple[Piece, ...]
    tokens: int

    @property
    def text(self) -> str:
        """What the prompt holds of this part."""
        return listed(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """What goes into one part or another as a whole."""

    messages: tuple[Message, ...]
    pieces: tuple[Piece, ...]
    tokens: int


def part_budget(*, window_tokens: int, part_tokens: int, average_message_tokens: float) -> int:
    """The tokens of material in one part: the setting, or less where the window is small or the messages are large."""
    excess = average_message_tokens / window_tokens - AVERAGE_MESSAGE_SHARE
    share = max(SMALLEST_WINDOW_SHARE, LARGEST_WINDOW_SHARE - 2 * max(0.0, excess))
    return max(SMALLEST_BUDGET, min(part_tokens, int(window_tokens * share) - PROMPT_TOKENS))


def part_count(tokens: int, budget: int) -> int:
    """How many parts to aim at; at least 1."""
    return max(1, ceil(with_margin(tokens) / budget))


def split(
    messages: Sequence[Message], pairing: Pairing, *, budget: int, tokens: Sequence[int] | None = None
) -> tuple[Part, ...]:
    """The parts of the tidied messages, ascending; none for an empty range.

    No part has more than `budget` tokens, the estimate's margin included. `pairing` is that of the same messages.
    tokens: what is shown of each, where that was counted already.
    """
    limit = _limit(budget)
    texts = shown_all(messages, pairing)
    counted = [*map(estimate_tokens, texts)] if tokens is None else tokens
    blocks = list(_blocks(_Material(messages=messages, texts=texts, tokens=counted), pairing, limit))
    if not blocks:
        return ()
    return _parts(blocks, budget)


def divide(part: Part, *, budget: int) -> tuple[Part, ...]:
    """A part that turned out too large for its model, as several; slices are sliced on. Indexes count from 0.

    The pieces decide, not the messages: a slice of a long message stands in a part whose messages do not hold it.
    """
    return _parts(list(_piece_blocks(part, _limit(budget))), budget)


def _limit(budget: int) -> int:
    """What the estimate may come to; small budgets are those of no real model, and would cut letter by letter."""
    return int(max(SMALLEST_BUDGET // 4, budget) / (1 + SAFETY_MARGIN))


def _parts(blocks: Sequence[_Block], budget: int) -> tuple[Part, ...]:
    total = sum(block.tokens for block in blocks)
    shares = _shares(blocks, total / part_count(total, budget), _limit(budget))
    return tuple(
        Part(
            index=index,
            messages=tuple(message for block in share for message in block.messages),
            pieces=tuple(piece for block in share for piece in block.pieces),
            tokens=sum(block.tokens for block in share),
        )
        for index, share in enumerate(shares)
    )


def _shares(blocks: Sequence[_Block], target: float, limit: int) -> Iterator[list[_Block]]:
    """Consecutive blocks, each share as near to `target` as whole blocks allow, none above `limit`."""
    share: list[_Block] = []
    size = done = 0
    number = 1
    for block in blocks:
        middle = done + size + block.tokens / 2
        if share and block.tokens and (size + block.tokens > limit or middle > number * target):
            yield share
            done += size
            share, size = [], 0
            number = max(number + 1, int(done / target) + 1)
        share.append(block)
        size += block.tokens
    yield share


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """The range with what is shown of each message."""

    messages: Sequence[Message]
    texts: Sequence[str]
    tokens: Sequence[int]

    def size(self, positions: Iterable[int]) -> int:
        return sum(self.tokens[at] for at in positions)

    def whole(self, positions: Sequence[int]) -> _Block:
        shown = [at for at in positions if self.texts[at]]
        return _Block(
            messages=tuple(self.messages[at] for at in positions),
            pieces=tuple(Piece(id=self.messages[at].id, text=self.texts[at], tokens=self.tokens[at]) for at in shown),
            tokens=self.size(positions),
        )


def _blocks(material: _Material, pairing: Pairing, limit: int) -> Iterator[_Block]:
    for group in pairing.groups:
        positions = range(group.start, group.end)
        if material.size(positions) <= limit:
            yield material.whole(positions)
        else:
            for bundle in bundles(material.messages, pairing, group):
                yield from _bundle_blocks(material, bundle, limit)


def _piece_blocks(part: Part, limit: int) -> Iterator[_Block]:
    """The pieces of a part, those of a call and its results together where they fit."""
    pairing = pair(part.messages)
    whole = Group(start=0, end=len(part.messages))
    bundled = enumerate(bundles(part.messages, pairing, whole))
    lots = {part.messages[at].id: f"bundle {number}" for number, bundle in bundled for at in bundle}
    messages = {message.id: message for message in part.messages}
    for _, run in groupby(part.pieces, lambda piece: lots.get(piece.id, piece.id)):
        pieces = [smaller for piece in run for smaller in _smaller(piece, limit)]
        fits = sum(piece.tokens for piece in pieces) <= limit
        for lot in [pieces] if fits else [[piece] for piece in pieces]:
            begun = tuple(messages.pop(piece.id) for piece in lot if piece.id in messages)
            yield _Block(messages=begun, pieces=tuple(lot), tokens=sum(piece.tokens for piece in lot))
    if messages:
        yield _Block(messages=tuple(messages.values()), pieces=(), tokens=0)


def _smaller(piece: Piece, limit: int) -> list[Piece]:
    """The piece in slices of at most `limit` tokens, each under its first line; a slice becomes slices of a slice."""
    if piece.tokens <= limit:
        return [piece]
    first, _, body = piece.text.partition("\n")
    return [
        replace(piece, text=text, tokens=estimate_tokens(text), slice=number, slices=count)
        for number, count, text in _sliced(body, limit, first.removesuffix("]"))
    ]


def _sliced(body: str, limit: int, opening: str) -> Iterator[tuple[int, int, str]]:
    """Number from 1, count, and text of each slice: the opening of its first line, the mark, its share of the body."""
    contents = list(_cut_to_fit(body, max(limit // 2, limit - _HEADER_TOKENS)))
    for number, content in enumerate(contents, start=1):
        yield number, len(contents), f"{opening}, slice {number} of {len(contents)}]\n{content}"


def _bundle_blocks(material: _Material, bundle: Sequence[int], limit: int) -> Iterator[_Block]:
    """A call and its results: whole, else with the results cut to fit, else message by message."""
    if material.size(bundle) <= limit:
        yield material.whole(bundle)
        return
    cap = _result_cap(material, bundle, limit)
    blocks = [block for at in bundle for block in _message_blocks(material, at, limit, cap)]
    tokens = sum(block.tokens for block in blocks)
    if tokens > limit:
        yield from blocks
        return
    yield _Block(
        messages=tuple(message for block in blocks for message in block.messages),
        pieces=tuple(piece for block in blocks for piece in block.pieces),
        tokens=tokens,
    )


def _result_cap(material: _Material, bundle: Sequence[int], limit: int) -> int:
    """How many tokens each result may have so that the bundle fits: the small ones keep what they have."""
    results = [at for at in bundle if material.messages[at].tool_result is not None]
    room = limit - material.size(at for at in bundle if material.messages[at].tool_result is None)
    sizes = sorted(material.tokens[at] for at in results)
    for number, size in enumerate(sizes):
        share = room // (len(sizes) - number)
        if size > share:
            return share if share >= limit // RESULTS_CUT_TOGETHER else limit // RESULT_SHARE_ALONE
        room -= size
    return limit


def _message_blocks(material: _Material, at: int, limit: int, result_cap: int) -> Iterator[_Block]:
    message, text = material.messages[at], material.texts[at]
    if message.tool_result is not None and material.tokens[at] > result_cap:
        piece = _cut(message, text, result_cap)
        yield _Block(messages=(message,), pieces=(piece,), tokens=piece.tokens)
    elif material.tokens[at] <= limit:
        yield material.whole([at])
    else:
        shown = Piece(id=message.id, text=text, tokens=material.tokens[at])
        for number, piece in enumerate(_smaller(shown, limit)):
            yield _Block(messages=() if number else (message,), pieces=(piece,), tokens=piece.tokens)


def _cut(message: Message, text: str, cap: int) -> Piece:
    """Head … tail of what a tool printed, in at most `cap` tokens; the start counts for more than the end."""
    head, tail = len(text), 0
    short, tokens = text, estimate_tokens(text)
    while tokens > cap and head + tail > 0:
        keep = min(head + tail - 1, int((head + tail) * cap / tokens * 0.95))
        head, tail = keep - keep // 3, keep // 3
        short = shorten(text, head, tail)
        tokens = estimate_tokens(short)
    return Piece(id=message.id, text=short, tokens=tokens, left_out=len(text) - head - tail)


def _cut_to_fit(text: str, limit: int) -> Iterator[str]:
    """The text in about as few pieces as fit, cut at a line's end or a space where one is near."""
    tokens = estimate_tokens(text) if len(text) > 1 else 0
    if tokens <= limit:
        yield text
        return
    count = max(2, ceil(tokens / (limit * 0.95)))
    point = max(1, len(text) * (count // 2) // count)
    near = point - point // 8
    at = text.rfind("\n", near, point) + 1 or text.rfind(" ", near, point) + 1 or point
    yield from _cut_to_fit(text[:at], limit)
    yield from _cut_to_fit(text[at:], limit)
