"""Content blocks in the manner of the Anthropic API, which Claude Code's rows and the plain message lists share.

A user row is taken apart in the order that the API prescribes: results first, then what is said beside them.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from worker.core.messages import Attachment, Origin, Role, ToolCall, ToolResult
from worker.transcripts.call_names import CallNames
from worker.transcripts.drafts import Draft, compact_json, items, mapping, text_or_none
from worker.transcripts.harness import Wording, without_trailing_reminders, wording_of

HARNESS_BLOCK = "harness_block"
REASONING = ("thinking", "redacted_thinking")
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
MEDIA = ("image", "document", "audio", "video", "file")
ENCRYPTED = "encrypted_content"
_EXIT_CODE = re.compile(r"Exit code (-?\d{1,6})\b")


@dataclass(slots=True, kw_only=True)
class Content:
    """The blocks of one row, sorted by kind, each kind in the order of the file."""

    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[tuple[ToolResult, tuple[Attachment, ...]]] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)


def read_content(content: object, skipped: Counter[str], names: CallNames) -> Content:
    """The content of a row, whatever shape it has. names: what is known of the calls that it answers."""
    read = Content()
    if isinstance(content, str):
        read.texts.append(content)
    for block in items(content):
        _take_block(block, read, skipped, names)
    return read


def _take_block(block: object, read: Content, skipped: Counter[str], names: CallNames) -> None:
    if isinstance(block, str):
        read.texts.append(block)
        return
    fields = mapping(block)
    kind = fields.get("type")
    if isinstance(text := fields.get("text"), str) and kind in ("text", None):
        read.texts.append(text)
    elif kind in CALLS:
        read.calls.append(_call(fields))
    elif isinstance(kind, str) and kind.endswith("tool_result"):
        read.results.append(_result(fields, skipped, names))
    elif kind in MEDIA:
        read.attachments.append(attachment_of(fields))
    elif kind not in REASONING:
        skipped["unknown_block"] += 1


def _call(block: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        id=text_or_none(block.get("id")) or "",
        name=text_or_none(block.get("name")) or "",
        arguments=compact_json(block.get("input", {})),
    )


def _result(
    block: Mapping[str, Any], skipped: Counter[str], names: CallNames
) -> tuple[ToolResult, tuple[Attachment, ...]]:
    text, attachments = result_text(block.get("content"))
    text, removed = without_trailing_reminders(text)
    skipped[HARNESS_BLOCK] += removed
    call_id = text_or_none(block.get("tool_use_id")) or ""
    is_error = block.get("is_error") is True
    code = _EXIT_CODE.match(text) if is_error else None
    result = ToolResult(
        call_id=call_id,
        name=names.answered(call_id),
        text=text,
        is_error=is_error,
        exit_code=int(code[1]) if code else None,
    )
    return result, attachments


def result_text(content: object) -> tuple[str, tuple[Attachment, ...]]:
    """The text of a tool's answer, which is a string, a list of blocks, or an object of a server's tool."""
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        return ("" if content is None else compact_json(content)), ()
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in content:
        fields = mapping(block)
        if isinstance(block, str) or isinstance(fields.get("text"), str):
            texts.append(block if isinstance(block, str) else fields["text"])
        elif fields.get("type") in MEDIA:
            attachments.append(attachment_of(fields))
        elif resource := mapping(fields.get("resource")):
            _take_resource(resource, texts, attachments)
        elif fields:
            texts.append(compact_json({key: value for key, value in fields.items() if key != ENCRYPTED}))
    return "\n".join(texts), tuple(attachments)


def _take_resource(resource: Mapping[str, Any], texts: list[str], attachments: list[Attachment]) -> None:
    """What an MCP server embeds: a text, or bytes as base64."""
    if isinstance(text := resource.get("text"), str):
        texts.append(text)
        return
    blob = resource.get("blob")
    attachments.append(
        Attachment(
            kind="resource",
            media_type=text_or_none(resource.get("mimeType")),
            size=len(blob) * 3 // 4 if isinstance(blob, str) else None,
            name=text_or_none(resource.get("uri")),
        )
    )


def attachment_of(block: Mapping[str, Any]) -> Attachment:
    """What is known of an image or document without its bytes; `size` is that of the decoded data."""
    source = mapping(block.get("source")) or block
    data = source.get("data")
    name = block.get("title") or block.get("filename") or source.get("url") or source.get("path")
    return Attachment(
        kind=text_or_none(block.get("type")) or "file",
        media_type=text_or_none(source.get("media_type") or source.get("mimeType")),
        size=len(data) * 3 // 4 if isinstance(data, str) else None,
        name=name[:500] if isinstance(name, str) and not name.startswith("data:") else None,
    )


def user_drafts(read: Content, row: Draft, skipped: Counter[str], said: Wording | None = None) -> list[Draft]:
    """The messages of a user row: one per tool result, then one for the text, if the row has any or nothing else.

    row: what all of them share. said: overrides who wrote the text, for rows whose fields tell it.
    """
    drafts = [result_draft(row, result, attachments) for result, attachments in read.results]
    wording = said or wording_of(read.texts)
    if drafts and not wording.text and not read.attachments:
        return drafts
    skipped[HARNESS_BLOCK] += wording.removed
    only_media = bool(read.attachments) and not wording.text and said is None
    drafts.append(
        row.with_content(
            role=Role.USER,
            origin=Origin.HUMAN if only_media else wording.origin,
            text=wording.text,
            attachments=tuple(read.attachments),
        )
    )
    return drafts


def result_draft(row: Draft, result: ToolResult, attachments: tuple[Attachment, ...] = ()) -> Draft:
    """One tool result as a message that shares id, time and place with its row."""
    return row.with_content(role=Role.TOOL, origin=Origin.TOOL, tool_result=result, attachments=attachments)


def assistant_drafts(read: Content, row: Draft, origin: Origin = Origin.ASSISTANT) -> list[Draft]:
    """The message of an assistant row, and the results of tools that the provider ran itself. Reasoning is left out."""
    said = row.with_content(
        role=Role.ASSISTANT,
        origin=origin,
        text="\n\n".join(text for text in read.texts if text),
        tool_calls=tuple(read.calls),
        attachments=tuple(read.attachments),
    )
    if not read.results:
        return [said]
    shared = replace(row, response_id=None)
    return [said, *(result_draft(shared, result, attachments) for result, attachments in read.results)]
