"""Codex rollouts: {timestamp, type, payload} per line, and the older bare format without the wrapper.

Everything is there twice, as response item and as event. Response items are read; events only in a file that has no
response item at all.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from worker.core.messages import Attachment, Origin, Role, ToolCall, ToolResult, digest_of
from worker.transcripts.blocks import HARNESS_BLOCK, attachment_of, result_draft
from worker.transcripts.call_names import CallNames
from worker.transcripts.drafts import Draft, compact_json, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, counted
from worker.transcripts.harness import without_continuation_orders, wording_of
from worker.transcripts.resuming import texts_in

WRAPPED_TYPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "inter_agent_communication",
    }
)
BARE_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
    }
)
COUNTED = WRAPPED_TYPES | BARE_TYPES | {"compaction", "context_compaction", "ghost_snapshot"}
SELF_ANSWERED = ("web_search_call", "image_generation_call")
RESPONSE_ITEM = b'"response_item"'
OUTPUT_HEADER_CHARS = 600
ROWS_KNOWN = 200_000
ROWS_KEPT = 32
"""So many rows are known again where a later reading goes on."""

_ENVIRONMENT_CWD = re.compile(r"<cwd>([^<\n]{1,1000})</cwd>")
_EXIT_CODE = re.compile(r"(?:exit code:|exited with code) *(-?\d{1,6})\b", re.IGNORECASE)


class CodexReader:
    """holds: whether some bytes stand anywhere in the file, which tells whether its events are all there is."""

    def __init__(self, holds: Callable[[bytes], bool]) -> None:
        self.skipped: Counter[str] = Counter()
        self._holds = holds
        self._has_items: bool | None = None
        self._names = CallNames()
        self._human_indexes: list[int] = []
        self._rewound: list[tuple[int, int]] = []
        self._seen: set[str] = set()
        self._newest: deque[str] = deque(maxlen=ROWS_KEPT)

    def rewound(self) -> list[tuple[int, int]]:
        return list(self._rewound)

    def state(self) -> State:
        return {"has_items": self._has_items, "rows": tuple(self._newest), **self._names.state()}

    def resume(self, state: State, /) -> Sequence[int]:
        """A file that had no response items may have some by now: that is for its bytes to tell, and not for memory."""
        if state["has_items"] is False:
            raise ValueError("read from events")
        self._has_items = state["has_items"]
        self._newest.extend(texts_in(state, "rows"))
        self._seen.update(self._newest)
        self._names.resume(state)
        return ()

    def take(self, row: Fields, index: int | None, _offset: int, /) -> list[Draft]:
        payload = row.get("payload")
        kind = text_or_none(row.get("type"))
        if isinstance(payload, dict):
            drafts = self._wrapped(row, kind, payload, index)
        elif kind in BARE_TYPES:
            drafts = self._item(row, row)
        else:
            self._skip("session_meta" if "instructions" in row else kind)
            drafts = []
        if index is not None:
            self._human_indexes += [index + n for n, draft in enumerate(drafts) if draft.origin is Origin.HUMAN]
        return drafts

    def _wrapped(self, row: Fields, kind: object, payload: Fields, index: int | None) -> list[Draft]:
        if kind == "response_item":
            self._has_items = True
            return [] if self._is_copy(row, payload) else self._item(payload, row)
        if kind == "event_msg":
            return self._event(row, payload, index)
        if kind == "compacted" and (text := text_or_none(payload.get("message"))):
            summary = without_continuation_orders(text.strip())
            return [Draft(origin=Origin.SUMMARY, text=summary, stamp=stamp_of(row))]
        self._skip(kind)
        return []

    def _is_copy(self, row: Fields, payload: Fields) -> bool:
        """A forked thread can repeat its parent's lines: the very same row, with its time, counts once."""
        identity = digest_of(str(row.get("timestamp")), str(row.get("ordinal")), compact_json(payload))
        if identity in self._seen:
            self.skipped["duplicate_row"] += 1
            return True
        if len(self._seen) < ROWS_KNOWN:
            self._seen.add(identity)
        self._newest.append(identity)
        return False

    def _event(self, row: Fields, payload: Fields, index: int | None) -> list[Draft]:
        kind = payload.get("type")
        if kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"), index)
        text = text_or_none(payload.get("message"))
        if text is not None and kind in ("user_message", "agent_message") and not self._items_are_there():
            shared = Draft(stamp=stamp_of(row))
            return [self._user([text], shared) if kind == "user_message" else _assistant(text, shared)]
        self._skip("event_msg")
        return []

    def _items_are_there(self) -> bool:
        if self._has_items is None:
            self._has_items = self._holds(RESPONSE_ITEM)
        return self._has_items

    def _roll_back(self, turns: object, index: int | None) -> None:
        """The last so many turns were taken back; they cannot reach behind what this reading began with."""
        if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1:
            return
        if index is None or not self._human_indexes:
            return
        start = self._human_indexes[-turns] if turns <= len(self._human_indexes) else self._human_indexes[0]
        del self._human_indexes[-turns:]
        self._rewound = [span for span in self._rewound if span[0] < start]
        self._rewound.append((start, index))

    def _item(self, item: Fields, row: Fields) -> list[Draft]:
        shared = Draft(row_id=text_or_none(item.get("id")), stamp=stamp_of(row))
        kind = item.get("type")
        if kind == "message":
            return self._message(item, shared)
        if isinstance(kind, str) and kind.endswith("_output") and "call_id" in item:
            return [self._output(item, shared)]
        if isinstance(kind, str) and kind.endswith("_call"):
            return self._call(item, kind, shared)
        self._skip(kind)
        return []

    def _message(self, item: Fields, shared: Draft) -> list[Draft]:
        texts, attachments = _content(item.get("content"))
        match item.get("role"):
            case "user":
                return [replace(self._user(texts, shared, attachments), attachments=attachments)]
            case "assistant":
                return [_assistant("\n\n".join(texts), shared)]
            case "developer" | "system":
                return [replace(shared, role=Role.SYSTEM, origin=Origin.SYSTEM, text="\n\n".join(texts))]
            case _:
                self.skipped["unknown_role"] += 1
                return []

    def _user(self, texts: list[str], shared: Draft, attachments: tuple[Attachment, ...] = ()) -> Draft:
        wording = wording_of(texts)
        self.skipped[HARNESS_BLOCK] += wording.removed
        origin = Origin.HUMAN if attachments and not wording.text else wording.origin
        return replace(shared, role=Role.USER, origin=origin, text=wording.text)

    def _call(self, item: Fields, kind: str, shared: Draft) -> list[Draft]:
        """A call; with a result when the provider ran it itself and the item tells how that ended."""
        name = text_or_none(item.get("name")) or kind.removesuffix("_call")
        call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id")) or ""
        arguments: object = next((item[key] for key in ("arguments", "input", "action") if key in item), {})
        call = ToolCall(id=call_id, name=name, arguments=compact_json(arguments))
        self._names.learn([call])
        drafts = [replace(shared, role=Role.ASSISTANT, origin=Origin.ASSISTANT, tool_calls=(call,))]
        status = text_or_none(item.get("status"))
        if kind in SELF_ANSWERED and status in ("completed", "failed"):
            image = item.get("result")
            made = (Attachment(kind="image", size=len(image) * 3 // 4),) if isinstance(image, str) else ()
            result = ToolResult(call_id=call_id, name=name, text=f"({status})", is_error=status == "failed")
            drafts.append(result_draft(shared, result, made))
        return drafts

    def _output(self, item: Fields, shared: Draft) -> Draft:
        call_id = text_or_none(item.get("call_id")) or ""
        text, attachments, fields = _output_text(item.get("output"))
        exit_code = _exit_code(text, fields)
        result = ToolResult(
            call_id=call_id,
            name=self._names.answered(call_id),
            text=text,
            is_error=fields.get("success") is False or (exit_code or 0) != 0,
            exit_code=exit_code,
        )
        return result_draft(shared, result, attachments)

    def _skip(self, kind: object) -> None:
        self.skipped[counted(kind, COUNTED)] += 1


def _assistant(text: str, shared: Draft) -> Draft:
    return replace(shared, role=Role.ASSISTANT, origin=Origin.ASSISTANT, text=text)


def _content(content: object) -> tuple[list[str], tuple[Attachment, ...]]:
    if isinstance(content, str):
        return [content], ()
    texts = []
    attachments = []
    for block in map(mapping, items(content)):
        if isinstance(text := block.get("text"), str):
            texts.append(text)
        elif "image" in str(block.get("type")):
            attachments.append(_image(block))
    return texts, tuple(attachments)


def _image(block: Fields) -> Attachment:
    """An image is a data URL or a link; of the first only the size is kept."""
    url = block.get("image_url")
    url = mapping(url).get("url") if isinstance(url, dict) else url
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        return Attachment(kind="image", media_type=head[5:].split(";")[0][:100] or None, size=len(data) * 3 // 4)
    return replace(attachment_of(block), kind="image", name=url[:500] if isinstance(url, str) else None)


def _output_text(output: object) -> tuple[str, tuple[Attachment, ...], Mapping[str, Any]]:
    """A tool's answer as text, and the fields around it: it is a string, JSON in a string, blocks or an object."""
    if isinstance(output, list):
        texts, attachments = _content(output)
        return "\n".join(texts), attachments, {}
    fields = mapping(output)
    if isinstance(output, str):
        fields = _wrapping(output)
        if not fields:
            return output, (), {}
    text = fields.get("output", fields.get("content"))
    if isinstance(text, list):
        texts, attachments = _content(text)
        return "\n".join(texts), attachments, fields
    return (text if isinstance(text, str) else compact_json(output or "")), (), fields


def _wrapping(output: str) -> Mapping[str, Any]:
    """The object that a string holds as JSON, when it is {"output", "metadata"} and not a tool's own JSON."""
    if not output.startswith("{") or '"metadata"' not in output[-OUTPUT_HEADER_CHARS:]:
        return {}
    try:
        fields = mapping(orjson.loads(output))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return {}
    return fields if isinstance(fields.get("output"), str) else {}


def _exit_code(text: str, fields: Mapping[str, Any]) -> int | None:
    """From the metadata, or from the header that stands in front of the output; never from the output itself."""
    code = mapping(fields.get("metadata")).get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    if fields or not text.startswith(("Chunk ID:", "Exit code:", "Wall time:", "Process exited")):
        return None
    header = text[:OUTPUT_HEADER_CHARS].split("\nOutput:", 1)[0]
    found = _EXIT_CODE.search(header)
    return int(found[1]) if found else None


def recognises(row: Fields) -> bool:
    kind = text_or_none(row.get("type"))
    if kind in WRAPPED_TYPES and isinstance(row.get("payload"), dict):
        return True
    if row.get("record_type") == "state" or ("instructions" in row and "id" in row and "timestamp" in row):
        return True
    if kind == "message":
        return any(mapping(block).get("type") in ("input_text", "output_text") for block in items(row.get("content")))
    return kind in BARE_TYPES and ("call_id" in row or "encrypted_content" in row)


def describe(sample: Sample) -> TranscriptInfo:
    """The first header names the session: a fork's parent comes second."""
    ids = (text_or_none(_header(row, is_first=at == 0).get("id")) for at, row in enumerate(sample.opening))
    folders = map(_folder, sample.opening)
    return TranscriptInfo(
        format="codex",
        agent="codex",
        session_id=next(filter(None, ids), sample.stem),
        cwd=next(filter(None, folders), None),
    )


def _header(row: Fields, *, is_first: bool) -> Fields:
    """What the row says of the session, empty when it is no header. The older format's is known by its place alone."""
    if row.get("type") == "session_meta":
        return mapping(row.get("payload"))
    return row if is_first and "payload" not in row and "instructions" in row else {}


def _folder(row: Fields) -> str | None:
    """The folder that a row names: a header, a turn's context, or the environment block of the first messages."""
    payload = mapping(row.get("payload"))
    if row.get("type") in ("session_meta", "turn_context"):
        return text_or_none(payload.get("cwd"))
    texts, _ = _content(row.get("content") or payload.get("content"))
    for text in texts:
        if "<environment_context>" in text and (found := _ENVIRONMENT_CWD.search(text)):
            return found[1]
    return text_or_none(row.get("cwd")) if "instructions" in row else None


CODEX = Format(name="codex", recognises=recognises, describe=describe, reader=lambda _info, holds: CodexReader(holds))
