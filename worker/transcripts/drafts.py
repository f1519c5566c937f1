"""What a format's reader makes of one row: a message without its place in the file.

The reading (`worker.transcripts.reading`) gives it index, offsets and digest. Also here: the small conversions that
every format needs, so that none of them does it its own way.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from worker.core.messages import Attachment, Message, Origin, Role, ToolCall, ToolResult, digest_of

EPOCH_MILLISECONDS_FROM = 100_000_000_000
"""Larger numbers are milliseconds: as seconds they would be after the year 5138."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One message to be. stamp: the time as the file has it, an ISO text or a number since the epoch."""

    role: Role = Role.USER
    origin: Origin = Origin.HARNESS
    text: str = ""
    row_id: str | None = None
    response_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None
    stamp: str | float | None = None
    attachments: tuple[Attachment, ...] = ()
    sidechain: bool = False

    def with_content(
        self,
        *,
        role: Role,
        origin: Origin,
        text: str = "",
        tool_calls: tuple[ToolCall, ...] = (),
        tool_result: ToolResult | None = None,
        attachments: tuple[Attachment, ...] = (),
    ) -> "Draft":
        """This row's id, response, time and chain around a content; `dataclasses.replace` takes four times as long."""
        return Draft(
            role=role,
            origin=origin,
            text=text,
            row_id=self.row_id,
            response_id=self.response_id,
            tool_calls=tool_calls,
            tool_result=tool_result,
            stamp=self.stamp,
            attachments=attachments,
            sidechain=self.sidechain,
        )


def placed(draft: Draft, index: int, offset: int | None, end: int | None) -> Message:
    """The message that the draft becomes at this place."""
    return Message(
        index=index,
        role=draft.role,
        origin=draft.origin,
        text=draft.text,
        row_id=draft.row_id,
        response_id=draft.response_id,
        tool_calls=draft.tool_calls,
        tool_result=draft.tool_result,
        timestamp=time_of(draft.stamp),
        attachments=draft.attachments,
        digest=digest_of_draft(draft),
        offset=offset,
        end=end,
        sidechain=draft.sidechain,
    )


def digest_of_draft(draft: Draft) -> str:
    """Over the content alone. The time goes in as it is written: read as local time it depends on the machine."""
    pieces = [draft.role.value, draft.text, draft.row_id or "", str(draft.stamp or "")]
    for call in draft.tool_calls:
        pieces += ["call", call.id, call.name, call.arguments]
    if (result := draft.tool_result) is not None:
        pieces += ["result", result.call_id, result.text, str(result.is_error), str(result.exit_code)]
    for attachment in draft.attachments:
        pieces += ["attachment", attachment.kind, str(attachment.size), attachment.name or ""]
    return digest_of(*pieces)


def time_of(stamp: object) -> datetime | None:
    """Aware UTC; None for what is no time. A time without a zone is local: the machine that wrote it is this one."""
    try:
        if isinstance(stamp, str):
            return datetime.fromisoformat(stamp).astimezone(UTC)
        if isinstance(stamp, int | float) and not isinstance(stamp, bool):
            return datetime.fromtimestamp(stamp / 1000 if stamp >= EPOCH_MILLISECONDS_FROM else stamp, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def stamp_of(row: Mapping[str, Any]) -> str | float | None:
    """The row's `timestamp`, when it is a text or a number."""
    value = row.get("timestamp")
    return value if isinstance(value, str | float | int) and not isinstance(value, bool) else None


def text_or_none(value: object) -> str | None:
    """The value when it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def mapping(value: object) -> Mapping[str, Any]:
    """The value when it is a JSON object, else an empty one: rows hold strings and null where objects are due."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def compact_json(value: object) -> str:
    """JSON text of a parsed value, letters unescaped; a text is taken as it is."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
