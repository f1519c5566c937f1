"""The steps by which a session that has outgrown the window becomes a request that fits, decided before they are done.

    estimate → unchanged → old successful outputs moved out → older messages replaced, the newest kept

Each step is taken late and then far: what it changes stands in the middle of what a provider has cached. So nothing
happens below the budget, and what happens above it goes down to `TARGET_SHARE`, which leaves room for many requests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from worker.core.decisions import Replacement
from worker.core.invocations import invocations_of
from worker.core.material import shorten
from worker.core.messages import Message, ToolCall
from worker.core.offloading import Offload, is_offloaded, offload, with_result_text
from worker.core.pairing import Pairing, opens_turn, pair
from worker.core.planning import Limits, limits_for
from worker.core.secrets import redact_messages
from worker.core.sending import message_tokens
from worker.core.summary import Artifact
from worker.core.superseding import SUPERSEDED_PREFIX, is_superseded, superseded

TARGET_SHARE = 0.6
"""Of the budget: how far down a step goes."""
ENOUGH_SHARE = 0.8
"""Of the budget: a step that leaves more than this was not worth its broken prefix, and the next one follows."""

RECENT_SHARE = 0.3
PAGE_SHARE = 0.2
FILES_SHARE = 0.125
FILES_TOKENS = 25_000
AROUND_TOKENS = 700
"""For the words around the memory."""

MOVED_TOKENS = 300
"""About what stands for an output that moved out."""

SMALLEST_SAVING = 100
GIANT_SHARE = 0.34
"""Of the room for the newest messages: a single output larger than this leaves no room for anything else."""

STUB_HEAD_CHARS = 500
STUB_TAIL_CHARS = 300
STUB_LINE_CHARS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens. total: for the whole view. page, files: of what stands in the place of older messages, at most.

    recent: of the newest messages, which stay as they are whatever is moved out or replaced.
    """

    total: int
    page: int
    files: int
    recent: int

    @property
    def target(self) -> int:
        return int(self.total * TARGET_SHARE)

    @property
    def enough(self) -> int:
        return int(self.total * ENOUGH_SHARE)


def budget_for(window: int, *, reserve_tokens: int, show_tokens: int, share: float = 1.0) -> Budget:
    """What fits a window beside the answer and the safety that estimates need; `share` of it after a refusal."""
    limits: Limits = limits_for(window, reserve_output_tokens=reserve_tokens)
    total = int(limits.usable_tokens * share)
    return Budget(
        total=total,
        page=min(show_tokens, int(total * PAGE_SHARE)),
        files=min(FILES_TOKENS, int(total * FILES_SHARE)),
        recent=min(limits.keep_recent_tokens or 0, int(total * RECENT_SHARE)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive messages of a session. redacted: the same ones as they may be stored. sizes: tokens of each as it was
    said. replaced: by message index, the outputs that moved out. keeps: whether moved outputs can be stored.
    """

    messages: tuple[Message, ...]
    redacted: tuple[Message, ...]
    sizes: tuple[int, ...]
    replaced: Mapping[int, Replacement]
    keeps: bool = True

    def tokens(self) -> list[int]:
        """What each message costs with its replacement."""
        moved = self.replaced
        return [
            size - moved[message.index].saved if message.index in moved else size
            for message, size in zip(self.messages, self.sizes, strict=True)
        ]


def stretch_of(messages: Sequence[Message], replaced: Mapping[int, Replacement] | None = None) -> Stretch:
    redacted, _ = redact_messages(messages)
    sizes = tuple(map(message_tokens, messages))
    return Stretch(messages=tuple(messages), redacted=redacted, sizes=sizes, replaced=replaced or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is to be done. start: position of the first message that stays. replaced: old and new, by message index.

    offloads: outputs to store before anything refers to them. tokens: of the messages from start on.
    """

    start: int
    replaced: Mapping[int, Replacement]
    offloads: tuple[Offload, ...]
    tokens: int


def with_replacements(messages: Iterable[Message], replaced: Mapping[int, Replacement]) -> list[Message]:
    return [
        with_result_text(message, replaced[message.index].text) if message.index in replaced else message
        for message in messages
    ]


def moved_out(stretch: Stretch, *, others: int, budget: Budget) -> Step | None:
    """Old successful outputs moved out, the oldest first, until the target is met; None when that is not enough.

    others: tokens of the view beside these messages.
    """
    tokens = stretch.tokens()
    step = _move_out(stretch, tokens, recent=budget.recent, until=budget.target - others)
    return step if step.tokens + others <= budget.enough else None


def newest_kept(stretch: Stretch, *, earliest: int, room: int, recent: int, moves_old: bool) -> Step:
    """Which messages stay when the older ones are replaced: those from `earliest` on, or fewer when they do not fit.

    earliest: position from which on nothing is told elsewhere. room: tokens for what stays. recent: what is kept before
    `earliest` too, so that the newest messages are always there as they were. moves_old: whether old outputs move out
    before messages go.
    The step may be larger than the room; then nothing smaller has the newest group in it.
    """
    tokens = stretch.tokens()
    pairing = pair(stretch.messages)
    giant = int(room * GIANT_SHARE)
    sizes = [
        MOVED_TOKENS if size > giant and _can_go(one) else size
        for one, size in zip(stretch.messages, tokens, strict=True)
    ]
    wanted = min(earliest, _recent_start(stretch.messages, sizes, pairing, min(recent, room)))
    if sum(tokens[wanted:]) <= room:
        return Step(start=wanted, replaced=stretch.replaced, offloads=(), tokens=sum(tokens[wanted:]))
    behind = _from(stretch, wanted)
    step = Step(start=0, replaced=stretch.replaced, offloads=(), tokens=sum(tokens[wanted:]))
    if moves_old:
        step = _move_out(behind, tokens[wanted:], recent=recent, until=room)
    if step.tokens > room:
        step = _move_out_giants(behind, step, limit=giant)
    behind = replace(behind, replaced=step.replaced)
    left = behind.tokens()
    start = _start_that_fits(behind.messages, left, pair(behind.messages), room)
    step = replace(step, start=wanted + start, tokens=sum(left[start:]))
    if step.tokens > room:
        step = _move_out_giants(_from(behind, start), step, limit=room // 8)
    return _only_shown(stretch.messages, step)


def _only_shown(messages: Sequence[Message], step: Step) -> Step:
    """Nothing is stored or remembered of messages that are not shown."""
    shown = {message.index for message in messages[step.start :]}
    return replace(
        step,
        replaced={index: one for index, one in step.replaced.items() if index in shown},
        offloads=tuple(one for one in step.offloads if one.index in shown),
    )


def _from(stretch: Stretch, start: int) -> Stretch:
    return replace(
        stretch, messages=stretch.messages[start:], redacted=stretch.redacted[start:], sizes=stretch.sizes[start:]
    )


def _recent_start(messages: Sequence[Message], tokens: Sequence[int], pairing: Pairing, recent: int) -> int:
    """The earliest turn from which on no more than `recent` follows; the newest turn when it is larger alone."""
    behind = _sums_behind(tokens)
    group_starts = {group.start for group in pairing.groups}
    turns = [at for at, message in enumerate(messages) if opens_turn(message) and at in group_starts]
    fitting = [at for at in turns if behind[at] <= recent]
    newest = turns[-1] if turns else max(group_starts, default=0)
    return min(fitting, default=newest)


def _start_that_fits(messages: Sequence[Message], tokens: Sequence[int], pairing: Pairing, room: int) -> int:
    """The earliest turn that fits with all behind it, else the earliest group, else the last one."""
    behind = _sums_behind(tokens)
    starts = [group.start for group in pairing.groups]
    fitting = [at for at in starts if behind[at] <= room]
    turns = [at for at in fitting if opens_turn(messages[at])]
    return min(turns or fitting, default=starts[-1] if starts else 0)


def _sums_behind(tokens: Sequence[int]) -> list[int]:
    """Per position the tokens from there on."""
    return [*[*accumulate(reversed(tokens))][::-1], 0]


# Outputs.


def _move_out(stretch: Stretch, tokens: Sequence[int], *, recent: int, until: int) -> Step:
    """The oldest successful outputs first, none of the newest `recent` tokens."""
    behind = _sums_behind(tokens)
    failing = {
        invocation.result_message.index
        for invocation in invocations_of(stretch.messages)
        if invocation.result_message is not None and (invocation.is_failed or invocation.is_denied)
    }
    old = [at for at in range(len(tokens)) if behind[at + 1] >= recent]
    chosen = [at for at in old if stretch.messages[at].index not in failing]
    return _replaced(stretch, tokens, chosen, until=until)


def _move_out_giants(stretch: Stretch, step: Step, *, limit: int) -> Step:
    """Single outputs beyond the limit, whatever they say: a failure keeps its failing lines in the preview."""
    current = replace(stretch, replaced=step.replaced)
    tokens = current.tokens()
    giants = sorted((at for at, size in enumerate(tokens) if size > limit), key=lambda at: -tokens[at])
    more = _replaced(current, tokens, giants, until=0)
    return replace(more, start=step.start, offloads=(*step.offloads, *more.offloads))


def _replaced(stretch: Stretch, tokens: Sequence[int], chosen: Iterable[int], *, until: int) -> Step:
    pairing = pair(stretch.messages)
    again = superseded(stretch.redacted, pairing, old_after_messages=len(stretch.messages) + 1)
    replaced = dict(stretch.replaced)
    offloads: list[Offload] = []
    total = sum(tokens)
    for at in chosen:
        if total <= until:
            break
        message = stretch.redacted[at]
        result = message.tool_result
        if result is None or message.index in replaced or tokens[at] < SMALLEST_SAVING or not _can_go(message):
            continue
        moved = offload(message, result, _call_of(stretch, pairing, at))
        is_again = at in again
        text = _again_stub(moved.artifact) if is_again else _stub(moved, keeps=stretch.keeps)
        saved = tokens[at] - message_tokens(with_result_text(message, text))
        if saved < SMALLEST_SAVING:
            continue
        replaced[message.index] = Replacement(text=text, step="superseded" if is_again else "offloaded", saved=saved)
        offloads += [moved] if stretch.keeps and not is_again else []
        total -= saved
    return Step(start=0, replaced=replaced, offloads=tuple(offloads), tokens=total)


def _can_go(message: Message) -> bool:
    result = message.tool_result
    return result is not None and not is_offloaded(result.text) and not is_superseded(result.text)


def _call_of(stretch: Stretch, pairing: Pairing, at: int) -> ToolCall | None:
    place = pairing.call_of.get(at)
    return stretch.redacted[place.position].tool_calls[place.number] if place else None


def _again_stub(artifact: Artifact) -> str:
    return f"{SUPERSEDED_PREFIX}{artifact.chars:,} characters, the same was looked up again further down]"


def _stub(moved: Offload, *, keeps: bool) -> str:
    """What stands for an output: how to get it back, and how it began and ended."""
    artifact = moved.artifact
    size = f"{artifact.lines:,} lines, {artifact.chars:,} characters"
    handle = artifact.name
    told = (
        f"[artifact {handle}: {size}, moved out of the conversation; 'afterturn artifact {handle}' prints it]"
        if keeps
        else f"[{size} left out here; make the call again when they are needed]"
    )
    return f"{told}\n{_glimpse(moved.text)}"


def _glimpse(text: str) -> str:
    """Its first and last lines."""
    lines = text.split("\n")
    head = _within(lines, STUB_HEAD_CHARS)
    tail = _within(lines[len(head) :][::-1], STUB_TAIL_CHARS)[::-1]
    left_out = len(lines) - len(head) - len(tail)
    return "\n".join([*head, *([f"[… {left_out:,} lines left out …]"] if left_out else []), *tail])


def _within(lines: Iterable[str], chars: int) -> list[str]:
    """The first of the lines, each cut, that have so many characters together."""
    kept: list[str] = []
    for line in lines:
        short = shorten(line, STUB_LINE_CHARS * 2 // 3, STUB_LINE_CHARS // 3)
        chars -= len(short) + 1
        if chars < 0:
            break
        kept.append(short)
    return kept
