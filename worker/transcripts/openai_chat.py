"""OpenAI chat messages: a JSON array, {"messages": …}, one message per line, request logs, SWE-agent trajectories.

One reader for all of them, and for our own plain JSONL, because people mix them: content in the manner of the
Anthropic API inside a chat list is read as such. In request logs every request repeats the list so far; only what is
new in each is read.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from worker.core.messages import Attachment, Origin, Role, ToolCall, ToolResult, digest_of
from worker.transcripts.blocks import (
    HARNESS_BLOCK,
    Content,
    assistant_drafts,
    read_content,
    result_draft,
    result_text,
    user_drafts,
)
from worker.transcripts.call_names import CallNames
from worker.transcripts.drafts import Draft, compact_json, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, first_text
from worker.transcripts.harness import Wording, pointed_at, without_trailing_reminders
from worker.transcripts.resuming import number_in, texts_in

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
LIST_KEYS = ("messages", "history")
SWE_AGENT_KEYS = ("message_type", "agent")
PLAIN_KEYS = ("origin", "timestamp")
ORIGINS = {origin.value: origin for origin in Origin}
PART_TEXTS = ("text", "refusal")
EDITOR_ACTIONS = frozenset(
    {"open", "create", "edit", "goto", "scroll_down", "scroll_up", "search_dir", "search_file", "find_file", "submit"}
)
"""The commands of SWE-agent's own interface; whatever else an action holds is for the shell."""
NAMES_A_FILE = frozenset({"open", "create"})
MEDIA_PARTS = ("image_url", "input_audio", "file", "video_url")


class ChatReader:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._names = CallNames()
        self._listed: tuple[str, ...] = ()
        self._action: tuple[str, str] | None = None
        self._actions = 0
        self._was_asked = False

    def rewound(self) -> list[tuple[int, int]]:
        return []

    def state(self) -> State:
        return {
            "listed": self._listed,
            "action": self._action or (),
            "actions": self._actions,
            "was_asked": int(self._was_asked),
            **self._names.state(),
        }

    def resume(self, state: State, /) -> Sequence[int]:
        self._listed = tuple(texts_in(state, "listed"))
        call = texts_in(state, "action")
        self._action = (call[0], call[1]) if call else None
        self._actions = number_in(state, "actions")
        self._was_asked = bool(number_in(state, "was_asked"))
        self._names.resume(state)
        return ()

    def take(self, row: Fields, _index: int | None, _offset: int, /) -> list[Draft]:
        for key in LIST_KEYS:
            if isinstance(listed := row.get(key), list) and "role" not in row:
                return self._new_of(listed)
        return self._message(row)

    def _new_of(self, listed: list[Any]) -> list[Draft]:
        """What a request's list has beyond the list before it: what both begin with was read already."""
        identities = tuple(digest_of(compact_json(message)) for message in listed)
        known = 0
        while known < min(len(identities), len(self._listed)) and identities[known] == self._listed[known]:
            known += 1
        self._listed = identities
        self.skipped["repeated_message"] += known
        return [draft for message in listed[known:] for draft in self._message(mapping(message))]

    def _message(self, row: Fields) -> list[Draft]:
        role = text_or_none(row.get("role"))
        if role not in ROLES:
            self.skipped["unknown_role" if "role" in row else "not_a_message"] += 1
            return []
        shared = Draft(row_id=text_or_none(row.get("id")), stamp=stamp_of(row))
        read = self._content(row.get("content"))
        if role == "assistant":
            return self._assistant(row, read, shared)
        if role in ("tool", "function"):
            return [self._result(row, read, shared)]
        if role in ("system", "developer"):
            text = "\n\n".join(read.texts)
            return [replace(shared, role=Role.SYSTEM, origin=_origin(row) or Origin.SYSTEM, text=text)]
        return self._user(row, read, shared)

    def _content(self, content: object) -> Content:
        """Parts of either API; those that only the chat API has are taken here."""
        if not isinstance(content, list):
            return read_content(content, self.skipped, self._names)
        rest = []
        texts: list[str] = []
        media: list[Attachment] = []
        for part in content:
            fields = mapping(part)
            if fields.get("type") in PART_TEXTS and isinstance(text := fields.get(fields["type"]), str):
                texts.append(text)
            elif fields.get("type") in MEDIA_PARTS:
                media.append(_media(fields))
            else:
                rest.append(part)
        read = read_content(rest, self.skipped, self._names)
        read.texts[:0] = texts
        read.attachments[:0] = media
        return read

    def _assistant(self, row: Fields, read: Content, shared: Draft) -> list[Draft]:
        read.calls += [_call(mapping(call)) for call in items(row.get("tool_calls"))]
        if legacy := mapping(row.get("function_call")):
            read.calls.append(_call({"id": legacy.get("name"), "function": legacy}))
        if (refusal := text_or_none(row.get("refusal"))) is not None:
            read.texts.append(refusal)
        self._action = None
        if not read.calls and (action := text_or_none(row.get("action"))):
            read.calls.append(self._acted(action))
        self._names.learn(read.calls)
        return assistant_drafts(read, shared, _origin(row) or Origin.ASSISTANT)

    def _acted(self, action: str) -> ToolCall:
        """Older SWE-agent files hold the command as a field of its own, and its output as the next user row."""
        self._actions += 1
        words = action.split(None, 2)
        name = words[0] if words and words[0] in EDITOR_ACTIONS else "bash"
        arguments = {"command": action}
        if name in NAMES_A_FILE and len(words) > 1:
            arguments["path"] = words[1].strip("\"'")
        call = ToolCall(id=f"action-{self._actions}", name=name, arguments=compact_json(arguments))
        self._action = (call.id, call.name)
        return call

    def _result(self, row: Fields, read: Content, shared: Draft) -> Draft:
        """SWE-agent names the answered call in a list of one."""
        call_id = text_or_none(row.get("tool_call_id"))
        if call_id is None:
            call_id = next((item for item in items(row.get("tool_call_ids")) if isinstance(item, str)), None)
        text = "\n".join(read.texts) if read.texts else result_text(row.get("content"))[0]
        name = text_or_none(row.get("name"))
        return self._answer(call_id or name or "", name, text, shared, tuple(read.attachments))

    def _answer(
        self, call_id: str, name: str | None, text: str, shared: Draft, attachments: tuple[Attachment, ...] = ()
    ) -> Draft:
        text, removed = without_trailing_reminders(text)
        self.skipped[HARNESS_BLOCK] += removed
        called = self._names.answered(call_id)
        return result_draft(shared, ToolResult(call_id=call_id, name=name or called, text=text), attachments)

    def _user(self, row: Fields, read: Content, shared: Draft) -> list[Draft]:
        action, self._action = self._action, None
        text = "\n\n".join(read.texts)
        if row.get("message_type") == "observation" and self._was_asked and row.get("is_demo") is not True:
            call_id, name = action or ("", None)
            return [self._answer(call_id, name, text, shared, tuple(read.attachments))]
        origin = Origin.HARNESS if row.get("is_demo") is True else _origin(row)
        said = Wording(origin=origin, text=pointed_at(text.strip())) if origin not in (None, Origin.HUMAN) else None
        if origin is Origin.HUMAN:
            said = Wording(origin=origin, text=text)
        drafts = user_drafts(read, shared, self.skipped, said)
        self._was_asked = self._was_asked or any(draft.origin is Origin.HUMAN for draft in drafts)
        return drafts


def _origin(row: Fields) -> Origin | None:
    """What the row itself says about who wrote it; only our plain format does."""
    told = row.get("origin")
    return ORIGINS.get(told) if isinstance(told, str) else None


def _call(call: Fields) -> ToolCall:
    """Arguments stay the text they are: models write invalid JSON, and that is evidence."""
    function = mapping(call.get("function")) or mapping(call.get("custom")) or call
    arguments = next((function[key] for key in ("arguments", "input") if key in function), "")
    return ToolCall(
        id=text_or_none(call.get("id")) or "",
        name=text_or_none(function.get("name")) or "",
        arguments=compact_json(arguments),
    )


def _media(part: Fields) -> Attachment:
    """A data URL or inline data is only measured, a link is kept."""
    kind = str(part["type"])
    inner = mapping(part.get(kind))
    source = inner.get("url") or inner.get("data") or inner.get("file_data") or part.get(kind)
    name = inner.get("filename")
    if not isinstance(source, str):
        return Attachment(kind=kind.removesuffix("_url"), name=text_or_none(name))
    head, comma, data = source.partition(",") if source.startswith("data:") else ("", "", source)
    is_link = not comma and source.startswith(("http://", "https://"))
    return Attachment(
        kind=kind.removesuffix("_url"),
        media_type=head[5:].split(";")[0][:100] or None,
        size=None if is_link else len(data) * 3 // 4,
        name=source[:500] if is_link else text_or_none(name),
    )


def is_message(row: Fields) -> bool:
    return text_or_none(row.get("role")) in ROLES and (
        "content" in row or "tool_calls" in row or "function_call" in row
    )


def recognises(row: Fields) -> bool:
    listed = next((items(row.get(key)) for key in LIST_KEYS if key in row), [])
    return is_message(row) or any(is_message(mapping(message)) for message in listed[:20])


def elements(document: Any) -> list[Any] | None:
    """The messages of a document: a list, or the list under a well-known key."""
    listed = document if isinstance(document, list) else None
    for key in LIST_KEYS:
        listed = listed if listed is not None else mapping(document).get(key)
    messages = items(listed)
    return messages if any(is_message(mapping(message)) for message in messages[:50]) else None


def describe(sample: Sample) -> TranscriptInfo:
    is_swe_agent = any(all(key in row for key in SWE_AGENT_KEYS) for row in sample.opening)
    return TranscriptInfo(
        format="openai",
        agent="swe-agent" if is_swe_agent else "openai",
        session_id=sample.stem,
        cwd=first_text(sample.opening, "cwd"),
    )


OPENAI = Format(
    name="openai", recognises=recognises, describe=describe, reader=lambda _info, _: ChatReader(), elements=elements
)
