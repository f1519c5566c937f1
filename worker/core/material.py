"""What a model is shown of one message. The same text is counted and sent, so no budget is kept by one and broken by
the other. What is left out of the material at large (superseded reads, large outputs) is decided in `tidying`.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from worker.core.messages import Attachment, Message, ToolCall, ToolResult
from worker.core.pairing import Pairing
from worker.core.tokens import estimate_tokens

ARGUMENTS_CHARS = 2_000
"""Arguments up to here are shown as they are."""
VALUE_HEAD_CHARS = 400
VALUE_TAIL_CHARS = 150

_TIME_FORMAT = "%Y-%m-%d %H:%MZ"
_TIMED = re.compile(r"(?P<who>\[m\d+ \w+) (?P<when>\d{4}-\d\d-\d\d \d\d:\d\dZ)(?P<rest>[^\]]*\])")
_SAME_TIME = timedelta(minutes=10)

_CONTROLS = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0D, 0x20), 0x7F])
_SUSPECT_BYTES = (
    b"\xc2",  # where U+0080 … U+009F begin
    *(mark.encode() for mark in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
    b"\xf3\xa0",  # where the tags begin
)
_UNSHOWN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    "|[\ud800-\udfff]"  # lone halves cannot be sent
    "|[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"  # text that reads otherwise than it looks, or not at all
)


def clean(text: str) -> str:
    """The text without ANSI escapes, control characters and invisible directions; line breaks are "\\n"."""
    if _is_clean(text):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSHOWN.sub("", text)


def _is_clean(text: str) -> bool:
    """True when nothing can be unshown; False says only that the text has to be searched."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    if len(data.translate(None, _CONTROLS)) != len(data):
        return False
    return text.isascii() or not any(mark in data for mark in _SUSPECT_BYTES)


def shown(message: Message, *, interrupted: Collection[int] = (), orphan: bool = False) -> str:
    """ "[m12 human 2026-01-23 03:07Z]" and below it text, calls, result, attachments; "" when there is nothing to show.

    interrupted: numbers of the calls that have no result. orphan: the result answers no call that is known.
    """
    if message.sidechain:
        return ""
    lines = [clean(message.text)] if message.text.strip() else []
    lines += [_call(call, number in interrupted) for number, call in enumerate(message.tool_calls)]
    if message.tool_result is not None:
        lines += _result(message.tool_result, orphan)
    lines += [attachment_line(attachment) for attachment in message.attachments]
    return "\n".join([header(message), *lines]) if lines else ""


def header(message: Message) -> str:
    """The line that says who wrote what follows, and when."""
    when = f" {_minute(message.timestamp)}" if message.timestamp else ""
    return f"[{message.id} {message.origin}{when}]"


def listed(texts: Iterable[str]) -> str:
    """Shown messages, one below the other, a short one on the line of its header.

    A header says of the time only what is new: the day when it is another, the minute when ten have passed.
    """
    lines: list[str] = []
    told: datetime | None = None
    for text in texts:
        head, _, body = text.partition("\n")
        if timed := _TIMED.fullmatch(head):
            when = datetime.strptime(timed["when"], _TIME_FORMAT).replace(tzinfo=UTC)
            news = _since(told, when)
            head, told = timed["who"] + news + timed["rest"], when if news else told
        lines.append(f"{head}\n{body}" if "\n" in body else f"{head} {body}".rstrip())
    return "\n".join(lines)


def _since(told: datetime | None, when: datetime) -> str:
    """What is to be said of a time to somebody who knows the time that was told last."""
    if told is None or when.date() != told.date():
        return f" {when:{_TIME_FORMAT}}"
    return f" {when:%H:%MZ}" if abs(when - told) >= _SAME_TIME else ""


def shown_all(messages: Sequence[Message], pairing: Pairing) -> tuple[str, ...]:
    """What is shown of each message, "" where nothing is; `pairing` is that of the same sequence."""
    return tuple(
        shown(message, interrupted=pairing.interrupted.get(position, ()), orphan=position in pairing.orphans)
        for position, message in enumerate(messages)
    )


def shown_tokens(messages: Sequence[Message], pairing: Pairing) -> tuple[int, ...]:
    """The tokens of what is shown of each message."""
    return tuple(map(estimate_tokens, shown_all(messages, pairing)))


def shorten(text: str, head: int, tail: int) -> str:
    """Head … tail with the number of characters left out between; the text itself when that saves nothing."""
    left_out = len(text) - head - tail
    if left_out <= len(_left_out(left_out)):
        return text
    return f"{text[:head]}{_left_out(left_out)}{text[len(text) - tail :]}"


def _left_out(chars: int) -> str:
    return f"[… {chars:,} characters left out …]"


def _minute(when: datetime) -> str:
    return (when.astimezone(UTC) if when.tzinfo else when).strftime(_TIME_FORMAT)


def _call(call: ToolCall, interrupted: bool) -> str:
    mark = " (interrupted, no result)" if interrupted else ""
    return clean(f"call {call.name} {_arguments(call.arguments)}{mark}")


def _arguments(arguments: str) -> str:
    """File contents in a call are in the project; who reads the call needs its start, its end and the other fields."""
    if len(arguments) <= ARGUMENTS_CHARS:
        return arguments
    try:
        values = json.loads(arguments)
        short = json.dumps(_short_values(values), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        short = arguments
    return short if len(short) <= 2 * ARGUMENTS_CHARS else shorten(short, ARGUMENTS_CHARS, VALUE_TAIL_CHARS)


def _short_values(value: object) -> object:
    match value:
        case str():
            return shorten(value, VALUE_HEAD_CHARS, VALUE_TAIL_CHARS)
        case dict():
            return {key: _short_values(inner) for key, inner in value.items()}
        case list():
            return [_short_values(inner) for inner in value]
        case _:
            return value


def _result(result: ToolResult, orphan: bool) -> list[str]:
    facts = [
        "error" if result.is_error else "",
        "" if result.exit_code is None else f"exit code {result.exit_code}",
        "its call is not known" if orphan else "",
    ]
    told = ", ".join(filter(None, facts))
    first = f"result{' of ' + clean(result.name) if result.name else ''}{' (' + told + ')' if told else ''}:"
    return [first, clean(result.text)] if result.text.strip() else [f"{first} empty"]


def attachment_line(attachment: Attachment) -> str:
    """What stands for something that is not text: "[image image/png 12 KB]"."""
    facts = [attachment.kind, attachment.media_type or "", _size(attachment.size), attachment.name or ""]
    return clean(f"[{' '.join(filter(None, facts))}]")


def _size(size: int | None) -> str:
    if size is None:
        return ""
    return f"{size} B" if size < 1024 else f"{round(size / 1024):,} KB"
