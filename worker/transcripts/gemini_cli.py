"""Gemini CLI: one JSON document per session. A row of the model holds its calls together with their results."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worker.core.messages import Attachment, Origin, Role, ToolCall, ToolResult
from worker.transcripts.blocks import HARNESS_BLOCK, result_draft
from worker.transcripts.drafts import Draft, compact_json, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, first_text
from worker.transcripts.harness import without_trailing_reminders, wording_of

MODEL_TYPES = ("gemini", "assistant", "model")
NOTICE_TYPES = ("info", "warning", "error")
FAILED = ("error", "cancelled")


class GeminiReader:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()

    def rewound(self) -> list[tuple[int, int]]:
        return []

    def state(self) -> State:
        return {}

    def resume(self, _state: State, /) -> Sequence[int]:
        return ()

    def take(self, row: Fields, _index: int | None, _offset: int, /) -> list[Draft]:
        kind = row.get("type")
        shared = Draft(row_id=text_or_none(row.get("id")), stamp=stamp_of(row))
        texts, attachments = _content(row.get("content"))
        shared = replace(shared, attachments=attachments)
        if kind == "user":
            return [self._user(texts, shared)]
        if kind in NOTICE_TYPES:
            return [replace(shared, origin=Origin.HARNESS, text="\n".join(texts).strip())]
        if kind in MODEL_TYPES:
            return self._model(row, texts, shared)
        self.skipped["unknown_row"] += 1
        return []

    def _user(self, texts: list[str], shared: Draft) -> Draft:
        wording = wording_of(texts)
        self.skipped[HARNESS_BLOCK] += wording.removed
        origin = Origin.HUMAN if shared.attachments and not wording.text else wording.origin
        return replace(shared, role=Role.USER, origin=origin, text=wording.text)

    def _model(self, row: Fields, texts: list[str], shared: Draft) -> list[Draft]:
        calls = [mapping(call) for call in items(row.get("toolCalls"))]
        said = replace(
            shared,
            role=Role.ASSISTANT,
            origin=Origin.ASSISTANT,
            text="\n".join(texts),
            tool_calls=tuple(_call(call) for call in calls),
        )
        return [said, *(self._result(call, shared) for call in calls if "result" in call or "status" in call)]

    def _result(self, call: Fields, shared: Draft) -> Draft:
        text, is_error = _result_text(call)
        text, removed = without_trailing_reminders(text)
        self.skipped[HARNESS_BLOCK] += removed
        result = ToolResult(
            call_id=text_or_none(call.get("id")) or "",
            name=text_or_none(call.get("name")),
            text=text,
            is_error=is_error,
        )
        return result_draft(replace(shared, stamp=stamp_of(call) or shared.stamp), result)


def _call(call: Fields) -> ToolCall:
    return ToolCall(
        id=text_or_none(call.get("id")) or "",
        name=text_or_none(call.get("name")) or "",
        arguments=compact_json(call.get("args", {})),
    )


def _result_text(call: Fields) -> tuple[str, bool]:
    """What the tool answered; where nothing is recorded, how the call ended."""
    texts = []
    is_error = call.get("status") in FAILED
    for part in map(mapping, items(call.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        error = text_or_none(response.get("error"))
        is_error = is_error or error is not None
        text = error or text_or_none(response.get("output")) or text_or_none(part.get("text"))
        texts.append(text if text is not None else compact_json(dict(response)) if response else "")
    told = "\n".join(text for text in texts if text)
    return told or text_or_none(call.get("resultDisplay")) or f"({call.get('status') or 'no output'})", is_error


def _content(content: object) -> tuple[list[str], tuple[Attachment, ...]]:
    """A string, or parts; inline data is only measured."""
    if isinstance(content, str):
        return ([content] if content else []), ()
    texts = []
    attachments = []
    for part in content if isinstance(content, list) else [content]:
        fields = mapping(part)
        if isinstance(part, str) or isinstance(fields.get("text"), str):
            texts.append(part if isinstance(part, str) else fields["text"])
        elif source := mapping(fields.get("inlineData")) or mapping(fields.get("fileData")):
            data = source.get("data")
            attachments.append(
                Attachment(
                    kind="file",
                    media_type=text_or_none(source.get("mimeType")),
                    size=len(data) * 3 // 4 if isinstance(data, str) else None,
                    name=text_or_none(source.get("fileUri")),
                )
            )
    return texts, tuple(attachments)


def elements(document: Any) -> list[Any] | None:
    fields = mapping(document)
    messages = items(fields.get("messages"))
    is_session = "projectHash" in fields or any(
        mapping(message).get("type") in MODEL_TYPES for message in messages[:50]
    )
    return messages if "sessionId" in fields and is_session else None


def describe(sample: Sample) -> TranscriptInfo:
    """The document itself is the first row of the sample: its messages name no session."""
    return TranscriptInfo(
        format="gemini-cli",
        agent="gemini-cli",
        session_id=first_text(sample.head, "sessionId") or sample.stem,
        cwd=first_text(sample.head, "cwd", "projectRoot"),
    )


GEMINI_CLI = Format(
    name="gemini-cli",
    recognises=lambda _row: False,  # never a line of a JSONL file
    describe=describe,
    reader=lambda _info, _: GeminiReader(),
    elements=elements,
)
