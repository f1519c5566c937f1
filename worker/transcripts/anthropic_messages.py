"""Anthropic messages: a JSON array, {"system", "messages"}, or one message per line. Content is strings or blocks."""

from dataclasses import replace
from typing import Any

from worker.transcripts import openai_chat
from worker.transcripts.blocks import CALLS, REASONING
from worker.transcripts.drafts import items, mapping, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, TranscriptInfo

OWN_BLOCKS = frozenset({*CALLS, *REASONING, "tool_result", "document"})


def recognises(row: Fields) -> bool:
    """Only what the chat API does not have: its blocks. A list of plain texts could be either."""
    blocks = [mapping(block) for block in items(row.get("content"))]
    own = any(text_or_none(block.get("type")) in OWN_BLOCKS or "source" in block for block in blocks)
    return row.get("role") in ("user", "assistant") and own


def elements(document: Any) -> list[Any] | None:
    """The messages of a document, with the system prompt that stands beside them in front."""
    messages = openai_chat.elements(document)
    if messages is None:
        return None
    fields = mapping(document)
    system = fields.get("system")
    if not (system or any(recognises(mapping(message)) for message in messages)):
        return None
    prompt = [{"role": "system", "content": system}] if isinstance(system, str | list) and system else []
    return [*prompt, *messages]


def describe(sample: Sample) -> TranscriptInfo:
    told = openai_chat.describe(sample)
    return replace(told, format="anthropic", agent="anthropic", session_id=text_or_none(told.session_id) or sample.stem)


ANTHROPIC = Format(
    name="anthropic",
    recognises=recognises,
    describe=describe,
    reader=lambda _info, _: openai_chat.ChatReader(),
    elements=elements,
)
