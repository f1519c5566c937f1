"""What a transcript says, as values: one `Message` per canonical row, whatever the format of the file was.

Readers (`worker.transcripts`) make them, everything else only reads them. Nothing here knows a file format.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """The role that the file gives the row. It does not tell who wrote it: see `Origin`."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Origin(StrEnum):
    """Who really wrote the text."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HARNESS = "harness"
    SUMMARY = "summary"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call; `arguments` is the JSON text as it came, or a compact dump when the file holds an object.

    It may be invalid JSON: models write such, and the text is evidence.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to one call. `exit_code` is None where the format tells none."""

    call_id: str
    name: str | None
    text: str
    is_error: bool = False
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something that is not text: its bytes are never carried, `size` is their number or None."""

    kind: str
    media_type: str | None = None
    size: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One canonical row, in file order.

    index: position in the session, from 0, never reused; `id` ("m12") is made from it and is what evidence cites.
    row_id: the row's own id in the file, None where the format has none.
    response_id: shared by the rows that are one response of a model (Claude Code writes one row per block).
    text: what `origin` wrote, without harness pieces; "" for a row that only calls tools or only thinks.
    tool_calls: in the order of the file. tool_result: at most one; a row with several becomes several messages.
    digest: identity of the content as it stood in the file, 32 hex digits.
    offset, end: byte range of the row in the file; None in formats that are one document.
    sidechain: True for rows of a sub-agent or of a rewound branch: kept, but not part of the main line.
    """

    index: int
    role: Role
    origin: Origin
    text: str
    row_id: str | None = None
    response_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None
    timestamp: datetime | None = None
    attachments: tuple[Attachment, ...] = ()
    digest: str = ""
    offset: int | None = None
    end: int | None = None
    sidechain: bool = False

    @property
    def id(self) -> str:
        return f"m{self.index}"

    @property
    def is_human(self) -> bool:
        return self.origin is Origin.HUMAN


def message_index(message_id: str) -> int | None:
    """The index that an evidence id names, None when it is not of the form "m12"."""
    digits = message_id[1:]
    return int(digits) if message_id[:1] == "m" and digits.isascii() and digits.isdigit() else None


def digest_of(*pieces: str) -> str:
    """32 hex digits that change with any edit of any piece, and with where one piece ends."""
    sized: list[bytes] = []
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        sized += (len(data).to_bytes(8, "little"), data)
    return hashlib.blake2b(b"".join(sized), digest_size=16).hexdigest()


def range_sha256(messages: Iterable[Message]) -> str:
    """The hash by which a sealed range is recognised: it changes with any edit, insertion or reordering."""
    hasher = hashlib.sha256()
    for message in messages:
        hasher.update(f"{message.index}:{message.digest}\n".encode())
    return hasher.hexdigest()
