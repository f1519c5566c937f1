"""What can be left out of the material without asking a model, each step with the tokens it saves.

Texts are replaced, messages never removed: every index stays, so evidence still points at what it pointed at. What
leaves the material is in the transcript (`superseding`, `folding`) or in an artifact (`offloading`), and the text says
that it left. A failure keeps its words: only one too large for any prompt is moved, with the failing lines shown.
Tidying twice gives what tidying once gave.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from worker.core.folding import fold
from worker.core.material import shorten, shown
from worker.core.messages import Message, Origin, ToolCall
from worker.core.offloading import (
    GROUP_CHARS,
    OFFLOAD_CHARS,
    Offload,
    is_offloaded,
    offload,
    to_offload,
    with_result_text,
)
from worker.core.pairing import CallPlace, Pairing
from worker.core.superseding import OLD_AFTER_MESSAGES, failed, is_superseded, superseded
from worker.core.tokens import estimate_tokens

HARNESS_CHARS = 2_000
FOLD_CHARS = 400
"""A shorter result is not worth looking for progress in it."""

_TRANSIENT = (
    "<system-reminder>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<ide_opened_file>",
    "<ide_selection>",
    "<session-start-hook>",
    "<user-prompt-submit-hook>",
    "<environment_context>",
    "<tick>",
)
"""How rows begin that were true for one request only. Notifications of tasks and interruptions are not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """messages: same indexes, some texts replaced. tokens: what is shown of each now. savings: tokens per step."""

    messages: tuple[Message, ...]
    tokens: tuple[int, ...]
    savings: Mapping[str, int] = field(default_factory=dict)
    offloads: tuple[Offload, ...] = ()


def tidy(
    messages: Sequence[Message],
    pairing: Pairing,
    tokens: Sequence[int],
    *,
    offload_chars: int = OFFLOAD_CHARS,
    group_chars: int = GROUP_CHARS,
    old_after_messages: int = OLD_AFTER_MESSAGES,
) -> Tidied:
    """The messages with shorter texts; `tokens` are those of each message as it is shown now.

    Each message is changed by one step at most, the first that applies.
    """
    stubs = superseded(messages, pairing, old_after_messages)
    offloads = {
        position: offload(messages[position], result, _call_at(messages, pairing.call_of.get(position)))
        for position in to_offload(messages, pairing, stubs, offload_chars, group_chars)
        if (result := messages[position].tool_result) is not None
    }
    kept, counts = list(messages), list(tokens)
    savings: Counter[str] = Counter()
    for position, message in enumerate(messages):
        step, changed = _tidied(message, stubs.get(position), offloads.get(position))
        if changed is message:
            continue
        kept[position] = changed
        counts[position] = _tokens_of(changed, position, pairing)
        savings[step] += tokens[position] - counts[position]
    return Tidied(
        messages=tuple(kept),
        tokens=tuple(counts),
        savings=dict(savings),
        offloads=tuple(offloads[position] for position in sorted(offloads)),
    )


def _call_at(messages: Sequence[Message], place: CallPlace | None) -> ToolCall | None:
    return messages[place.position].tool_calls[place.number] if place else None


def _tokens_of(message: Message, position: int, pairing: Pairing) -> int:
    interrupted = pairing.interrupted.get(position, ())
    return estimate_tokens(shown(message, interrupted=interrupted, orphan=position in pairing.orphans))


def _tidied(message: Message, stub: str | None, moved: Offload | None) -> tuple[str, Message]:
    """The step that applies and the message it leaves; the same object when none does."""
    if message.sidechain:
        return "sidechains", _emptied(message)
    if message.origin is Origin.HARNESS and message.text:
        return "harness", _tidied_harness(message)
    if stub is not None:
        return "superseded", with_result_text(message, stub)
    if moved is not None:
        return "offloaded", with_result_text(message, moved.artifact.preview)
    return "progress", _folded(message)


def _tidied_harness(message: Message) -> Message:
    if message.text.lstrip().startswith(_TRANSIENT):
        return replace(message, text="")
    if len(message.text) <= HARNESS_CHARS:
        return message
    return replace(message, text=shorten(message.text, HARNESS_CHARS * 2 // 3, HARNESS_CHARS // 4))


def _emptied(message: Message) -> Message:
    if not (message.text or message.tool_calls or message.tool_result or message.attachments):
        return message
    return replace(message, text="", tool_calls=(), tool_result=None, attachments=())


def _folded(message: Message) -> Message:
    result = message.tool_result
    if result is None or len(result.text) < FOLD_CHARS or failed(result):
        return message
    if is_offloaded(result.text) or is_superseded(result.text):
        return message
    folded = fold(result.text)
    return message if len(result.text) - len(folded) < FOLD_CHARS // 10 else with_result_text(message, folded)
