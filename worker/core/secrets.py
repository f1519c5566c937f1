"""Takes secrets out of text before it is hashed, sent or written. Redact, then hash, then write.

A secret becomes a typed placeholder: ⟨secret:github-token:1a2b⟩. The same secret gives the same placeholder, so that a
reader still sees that two places hold the same one. The four digits are 16 bits of a hash, and only random secrets get
them: of a token with 80 bits and more they tell nothing, of a password they would let anybody strike out all but one
of 65,536 guesses. So passwords are all ⟨secret:password⟩.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from worker.core.messages import Message, ToolCall
from worker.core.secret_assignments import assigned_secrets, bits_of
from worker.core.secret_shapes import PLACEHOLDER, SecretSpan, shaped_secrets

_GUESSABLE_BITS = 64
_WEAK_KINDS = frozenset({"password", "url-password"})
_REACH = 512
"""How far from the seam of two messages a split secret is looked for, in characters."""

_RUN = re.compile(r"[A-Za-z0-9]{6,}")
_TAIL_BACKWARDS = re.compile(r"[A-Za-z0-9_\-./+=:\"'\\]{1,512}")


def redact(text: str) -> str:
    """The text with every secret that was recognised replaced by its placeholder; idempotent."""
    while text:
        redacted = _redact_once(text)
        if redacted == text:
            break
        text = redacted
    return text


def contains_secret(text: str) -> bool:
    """True when `redact` would change the text."""
    return redact(text) != text


def redact_messages(messages: Sequence[Message]) -> tuple[tuple[Message, ...], int]:
    """The messages with secrets replaced in texts, arguments and results, and how many were replaced.

    Digests and offsets stay: they identify the rows as they stand in the file.
    """
    joined = _without_split_results(_without_split_texts(list(messages)))
    redacted = tuple(_redact_message(message) for message in joined)
    return redacted, sum(_placeholders(message) for message in redacted) - sum(map(_placeholders, messages))


def _redact_once(text: str) -> str:
    spans = _disjoint(_spans(text))
    if not spans:
        return text
    pieces = []
    position = 0
    for span in spans:
        pieces += [text[position : span.start], _placeholder(text[span.start : span.end], span.kind)]
        position = span.end
    return "".join([*pieces, text[position:]])


def _spans(text: str) -> Iterable[SecretSpan]:
    """All secrets of the text, without those inside a placeholder that stands there already."""
    found = [*shaped_secrets(text), *assigned_secrets(text)]
    if not found or "⟨secret:" not in text:
        return found
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    return [span for span in found if not any(span.start < end and start < span.end for start, end in taken)]


def _disjoint(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Ascending and without overlap: of two that overlap the earlier one, of two that start together the longer."""
    chosen: list[SecretSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not chosen or span.start >= chosen[-1].end:
            chosen.append(span)
    return chosen


def _placeholder(secret: str, kind: str) -> str:
    if kind in _WEAK_KINDS or bits_of(secret) < _GUESSABLE_BITS:
        return f"⟨secret:{kind}⟩"
    tag = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=2).hexdigest()
    return f"⟨secret:{kind}:{tag}⟩"


def _redact_message(message: Message) -> Message:
    text = redact(message.text)
    calls = tuple(_redact_call(call) for call in message.tool_calls)
    result = message.tool_result
    result_text = redact(result.text) if result else ""
    if result is not None and result_text != result.text:
        return replace(message, text=text, tool_calls=calls, tool_result=replace(result, text=result_text))
    if text == message.text and calls == message.tool_calls:
        return message
    return replace(message, text=text, tool_calls=calls)


def _redact_call(call: ToolCall) -> ToolCall:
    arguments = redact(call.arguments)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _placeholders(message: Message) -> int:
    texts = [message.text, *(call.arguments for call in message.tool_calls)]
    texts += [message.tool_result.text] if message.tool_result else []
    return sum(len(PLACEHOLDER.findall(text)) for text in texts if "⟨secret:" in text)


def _without_split_texts(messages: list[Message]) -> list[Message]:
    return _without_split(messages, lambda message: message.text, lambda message, text: replace(message, text=text))


def _without_split_results(messages: list[Message]) -> list[Message]:
    def text_of(message: Message) -> str:
        return message.tool_result.text if message.tool_result else ""

    def with_text(message: Message, text: str) -> Message:
        result = message.tool_result
        return message if result is None else replace(message, tool_result=replace(result, text=text))

    return _without_split(messages, text_of, with_text)


def _without_split(
    messages: list[Message], text_of: Callable[[Message], str], with_text: Callable[[Message, str], Message]
) -> list[Message]:
    """Redacts a secret that begins at the end of one text and goes on at the start of the next one of its kind."""
    previous: int | None = None
    for position, message in enumerate(messages):
        text = text_of(message)
        if not text.strip():
            continue
        if previous is not None and (halves := _split_secret(text_of(messages[previous]), text)) is not None:
            messages[previous] = with_text(messages[previous], halves[0])
            messages[position] = with_text(message, halves[1])
        previous = position
    return messages


def _split_secret(first: str, second: str) -> tuple[str, str] | None:
    """Both texts with their half replaced, None when no secret lies across the seam.

    A first half that shows itself as a secret alone goes on only in what looks as random: a complete token must not
    swallow the first word of the next message.
    """
    head, tail = first.rstrip(), second.lstrip()
    if not tail[:1].isascii() or not tail[:1].isalnum():
        return None
    last = _TAIL_BACKWARDS.match(head[: -_REACH - 1 : -1])
    if last is None:
        return None
    seam, reach = last.end(), tail[:_REACH]
    start = len(head) - seam
    joined = head[start:] + reach
    for span in _disjoint(shaped_secrets(joined)):
        if span.start < seam < span.end:
            if _reaches_end(head[start:]) and not _looks_like_rest(tail):
                return None
            mark = _placeholder(joined[span.start : span.end], span.kind)
            return head[: start + span.start] + mark, mark + tail[span.end - seam :]
    return None


def _looks_like_rest(text: str) -> bool:
    run = _RUN.match(text)
    return run is not None and any(char.isdigit() for char in run[0]) and any(char.isalpha() for char in run[0])


def _reaches_end(text: str) -> bool:
    return any(span.end == len(text) for span in shaped_secrets(text))
