"""Tool outputs that are too large for any prompt: kept whole as artifacts, in the material only a preview.

The name of an artifact is the hash of its text, so offloading twice gives the same file.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from worker.core.invocations import subject_of
from worker.core.material import shorten
from worker.core.messages import Message, ToolCall, ToolResult
from worker.core.pairing import Pairing
from worker.core.summary import Artifact

OFFLOAD_CHARS = 30_000
GROUP_CHARS = 200_000
SMALLEST_CHARS = 2_000
"""Of results that are too large together, those smaller than this stay."""
ARTIFACT_PREFIX = "[artifact "
_FOREIGN_PREFIX = "<persisted-output>"

PREVIEW_CHARS = 6_000
PREVIEW_LINES = 12
PREVIEW_LINE_CHARS = 300
PREVIEW_FAILURES = 12
CALL_CHARS = 200
_STUB_CHARS = 10_000
"""Nothing longer stands for an artifact: a tool may print a line that looks like ours, and go on for megabytes."""
_FAILURE_LINE_CHARS = 2_000
_FAILURE_WORDS = (
    "error",
    "fail",
    "exception",
    "traceback",
    "panic",
    "fatal",
    "denied",
    "forbidden",
    "not allowed",
    "refused",
    "rejected",
    "blocked",
    "cannot",
    "unable",
    "错误",
    "失败",
    "拒绝",
    "禁止",
    "エラー",
    "失敗",
    "拒否",
    "오류",
    "실패",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offload:
    """A text that leaves the material. index: of the message whose result it was."""

    index: int
    text: str
    artifact: Artifact


def is_offloaded(text: str) -> bool:
    """True for what stands for an artifact already, ours or the agent's own."""
    return len(text) <= _STUB_CHARS and text.startswith((ARTIFACT_PREFIX, _FOREIGN_PREFIX))


def restore(messages: Sequence[Message], offloads: Sequence[Offload]) -> tuple[Message, ...]:
    """The messages with the offloaded texts back in their places."""
    texts = {offload.index: offload.text for offload in offloads}
    return tuple(
        with_result_text(message, texts[message.index]) if message.index in texts else message for message in messages
    )


def with_result_text(message: Message, text: str) -> Message:
    """The message with another text of its result; a message without a result stays as it is."""
    result = message.tool_result
    return message if result is None else replace(message, tool_result=replace(result, text=text))


def handle_of(text: str) -> str:
    """The name of an artifact: sha256 of its bytes, lone surrogates replaced."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def to_offload(
    messages: Sequence[Message],
    pairing: Pairing,
    stubbed: Collection[int],
    offload_chars: int,
    group_chars: int,
) -> frozenset[int]:
    """Results too large alone, then the largest of each response whose results are too large together."""
    sizes = {
        position: len(message.tool_result.text)
        for position, message in enumerate(messages)
        if message.tool_result is not None
        and not message.sidechain
        and position not in stubbed
        and not is_offloaded(message.tool_result.text)
    }
    chosen = {position for position, size in sizes.items() if size > offload_chars}
    for positions in _results_by_response(pairing, sizes).values():
        chosen.update(_largest_until(positions, sizes, chosen, group_chars))
    return frozenset(chosen)


def _results_by_response(pairing: Pairing, sizes: Mapping[int, int]) -> Mapping[int, list[int]]:
    """The results of each group, by where the group starts."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for group in pairing.groups:
        for position in range(group.start, group.end):
            if position in sizes:
                found[group.start].append(position)
    return found


def _largest_until(positions: Sequence[int], sizes: Mapping[int, int], chosen: set[int], limit: int) -> Iterator[int]:
    rest = sorted((position for position in positions if position not in chosen), key=lambda at: (-sizes[at], at))
    left = sum(sizes[position] for position in rest)
    for position in rest:
        if left <= limit or sizes[position] < SMALLEST_CHARS:
            return
        left -= sizes[position]
        yield position


def offload(message: Message, result: ToolResult, call: ToolCall | None = None) -> Offload:
    """What becomes of a message's result; the preview of its artifact is the text that stays."""
    artifact = _artifact(message, result, call)
    return Offload(index=message.index, text=result.text, artifact=artifact)


def _artifact(message: Message, result: ToolResult, call: ToolCall | None) -> Artifact:
    text = result.text
    handle = handle_of(text)
    lines = text.count("\n") + 1
    return Artifact(
        handle=handle,
        message=message.id,
        tool=result.name or (call.name if call else ""),
        media_type=_media_type(text),
        chars=len(text),
        lines=lines,
        size=len(text.encode("utf-8", "replace")),
        preview=f"{ARTIFACT_PREFIX}{handle}: {lines:,} lines, {len(text):,} characters]\n{preview(text)}",
        created=message.timestamp,
        call=subject_of(call)[:CALL_CHARS] if call else "",
    )


def _media_type(text: str) -> str:
    ends = text[:200].lstrip()[:1] + text[-200:].rstrip()[-1:]
    if ends in ("{}", "[]"):
        return "application/json"
    return "text/x-diff" if text.startswith(("diff --git ", "--- ")) else "text/plain"


def preview(text: str) -> str:
    """First and last lines, and those around words of failure; long lines are cut by characters.

    At most a quarter of the text, and about PREVIEW_CHARS.
    """
    lines = text.split("\n")
    wanted = {*range(PREVIEW_LINES), *range(len(lines) - PREVIEW_LINES, len(lines))}
    wanted.update(at + near for at in _failing_lines(lines) for near in (-1, 0, 1))
    out = []
    next_line = 0
    for at in sorted(line for line in wanted if 0 <= line < len(lines)):
        if at > next_line:
            out.append(f"[… {at - next_line:,} lines left out …]")
        out.append(shorten(lines[at], PREVIEW_LINE_CHARS * 2 // 3, PREVIEW_LINE_CHARS // 3))
        next_line = at + 1
    most = min(PREVIEW_CHARS, len(text) // 4)
    whole = "\n".join(out)
    return whole if len(whole) <= most else shorten(whole, most // 2, most // 2)


def _failing_lines(lines: Sequence[str]) -> list[int]:
    """The first and the last lines that tell a failure: the cause stands first, the verdict last."""
    small = "\n".join(line[:_FAILURE_LINE_CHARS] for line in lines).lower()
    words = [word for word in _FAILURE_WORDS if word in small]
    found = [at for at, line in enumerate(small.split("\n")) if any(word in line for word in words)] if words else []
    half = PREVIEW_FAILURES // 2
    return found if len(found) <= PREVIEW_FAILURES else found[:half] + found[-half:]
