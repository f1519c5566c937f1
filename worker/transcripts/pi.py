"""pi and OpenClaw: a header row, then entries that form a tree by parentId (version 3) or a plain list (version 1)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from worker.core.messages import Origin, Role, ToolCall, ToolResult
from worker.transcripts.blocks import HARNESS_BLOCK, Content, assistant_drafts, attachment_of, result_draft
from worker.transcripts.branches import Branches, links_in
from worker.transcripts.drafts import Draft, compact_json, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, counted, first_text
from worker.transcripts.harness import Wording, without_continuation_orders, without_trailing_reminders, wording_of
from worker.transcripts.resuming import number_in

COUNTED = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "label",
        "message",
        "model_change",
        "session",
        "session_info",
        "thinking_level_change",
    }
)
SUMMARIES = ("compaction", "branch_summary")
HARNESS_ROLES = ("custom", "hookMessage", "system")
REASONING = ("thinking", "redacted_thinking")
PERSONAL_PROVENANCE = ("external_user", "user", "human")
OPENCLAW_MARKS = ("openclaw", "model-snapshot")


class PiReader:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._branches = Branches()
        self._unnamed_runs = 0

    def rewound(self) -> list[tuple[int, int]]:
        return self._branches.rewound()

    def state(self) -> State:
        return {"rows": self._branches.newest(), "unnamed_runs": self._unnamed_runs}

    def resume(self, state: State, /) -> Sequence[int]:
        self._branches.resume(links_in(state, "rows"))
        self._unnamed_runs = number_in(state, "unnamed_runs")
        return ()

    def take(self, row: Fields, index: int | None, _offset: int, /) -> list[Draft]:
        row_id = text_or_none(row.get("id")) if row.get("type") != "session" else None
        if row_id is not None and row_id in self._branches:
            self.skipped["duplicate_row"] += 1
            return []
        drafts = self._drafts(row, row_id)
        if row_id is not None:
            human = any(draft.origin is Origin.HUMAN for draft in drafts)
            place = index if drafts else None
            self._branches.add(row_id, text_or_none(row.get("parentId")), place, human=human)
        return drafts

    def _drafts(self, row: Fields, row_id: str | None) -> list[Draft]:
        shared = Draft(row_id=row_id, stamp=stamp_of(row))
        kind = row.get("type")
        if kind == "message":
            return self._message(mapping(row.get("message")), shared)
        if kind in SUMMARIES and (summary := text_or_none(row.get("summary"))):
            return [replace(shared, origin=Origin.SUMMARY, text=without_continuation_orders(summary.strip()))]
        if kind == "custom_message":
            read = self._content(row.get("content"))
            return [_harness(read, shared)]
        self.skipped[counted(kind, COUNTED)] += 1
        return []

    def _message(self, message: Fields, shared: Draft) -> list[Draft]:
        role = message.get("role")
        if role == "bashExecution":
            return self._bash(message, shared)
        if role in ("compactionSummary", "branchSummary") and (summary := text_or_none(message.get("summary"))):
            return [replace(shared, origin=Origin.SUMMARY, text=without_continuation_orders(summary.strip()))]
        if not isinstance(message.get("content"), str | list):
            self.skipped["malformed_message"] += 1
            return []
        read = self._content(message["content"])
        if role == "user":
            return [self._user(message, read, shared)]
        if role == "assistant":
            return _assistant(message, read, shared)
        if role == "toolResult":
            return [self._result(message, read, shared)]
        if role in HARNESS_ROLES:
            return [_harness(read, shared)]
        self.skipped["unknown_role"] += 1
        return []

    def _content(self, content: object) -> Content:
        read = Content()
        if isinstance(content, str):
            read.texts.append(content)
        for block in map(mapping, items(content)):
            kind = block.get("type")
            if isinstance(text := block.get("text"), str):
                read.texts.append(text)
            elif kind == "toolCall":
                read.calls.append(_call(block))
            elif kind == "image":
                read.attachments.append(attachment_of({**block, "media_type": block.get("mimeType")}))
            elif kind not in REASONING:
                self.skipped["unknown_block"] += 1
        return read

    def _user(self, message: Fields, read: Content, shared: Draft) -> Draft:
        """Heartbeats, cron turns and words of other agents are told apart by their provenance, not by their text."""
        provenance = mapping(message.get("provenance")).get("kind")
        if isinstance(provenance, str) and provenance not in PERSONAL_PROVENANCE:
            return _harness(read, shared)
        wording = wording_of(read.texts)
        if read.attachments and not wording.text:
            wording = Wording(origin=Origin.HUMAN, text="")
        self.skipped[HARNESS_BLOCK] += wording.removed
        return replace(
            shared, role=Role.USER, origin=wording.origin, text=wording.text, attachments=tuple(read.attachments)
        )

    def _result(self, message: Fields, read: Content, shared: Draft) -> Draft:
        text, removed = without_trailing_reminders("\n".join(read.texts))
        self.skipped[HARNESS_BLOCK] += removed
        result = ToolResult(
            call_id=text_or_none(message.get("toolCallId")) or "",
            name=text_or_none(message.get("toolName")),
            text=text,
            is_error=message.get("isError") is True,
            exit_code=_whole(mapping(message.get("details")).get("exitCode")),
        )
        return result_draft(shared, result, tuple(read.attachments))

    def _bash(self, message: Fields, shared: Draft) -> list[Draft]:
        """A command that the person ran at the prompt: a call that no model made, and its result."""
        call_id = shared.row_id
        if call_id is None:
            self._unnamed_runs += 1
            call_id = f"bash-{shared.stamp or self._unnamed_runs}"
        command = text_or_none(message.get("command")) or ""
        exit_code = _whole(message.get("exitCode"))
        call = ToolCall(id=call_id, name="bash", arguments=compact_json({"command": command}))
        result = ToolResult(
            call_id=call_id,
            name="bash",
            text=text_or_none(message.get("output")) or "",
            is_error=message.get("cancelled") is True or (exit_code or 0) != 0,
            exit_code=exit_code,
        )
        return [replace(shared, origin=Origin.HARNESS, tool_calls=(call,)), result_draft(shared, result)]


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _harness(read: Content, shared: Draft) -> Draft:
    text = "\n\n".join(text.strip() for text in read.texts)
    return replace(shared, origin=Origin.HARNESS, text=text, attachments=tuple(read.attachments))


def _assistant(message: Fields, read: Content, shared: Draft) -> list[Draft]:
    """A request that failed before the model said anything leaves a row that only the harness wrote."""
    failed = message.get("stopReason") == "error" and not read.texts and not read.calls
    if failed and (error := text_or_none(message.get("errorMessage"))):
        return [replace(shared, role=Role.ASSISTANT, origin=Origin.HARNESS, text=error)]
    response_id = text_or_none(message.get("responseId"))
    return assistant_drafts(read, replace(shared, response_id=response_id))


def _call(block: Fields) -> ToolCall:
    return ToolCall(
        id=text_or_none(block.get("id")) or "",
        name=text_or_none(block.get("name")) or "",
        arguments=compact_json(block.get("arguments", {})),
    )


def recognises(row: Fields) -> bool:
    if row.get("type") == "session":
        return "id" in row and ("version" in row or "timestamp" in row)
    role = mapping(row.get("message")).get("role")
    return row.get("type") == "message" and role in ("user", "assistant", "toolResult", "bashExecution")


def describe(sample: Sample) -> TranscriptInfo:
    headers = [row for row in sample.opening if row.get("type") == "session"]
    return TranscriptInfo(
        format="pi",
        agent="openclaw" if any(map(_is_openclaw, sample.opening)) else "pi",
        session_id=first_text(headers, "id") or sample.stem,
        cwd=first_text(headers, "cwd"),
    )


def _is_openclaw(row: Fields) -> bool:
    """OpenClaw writes pi's rows; its own custom rows and its home folder give it away."""
    named = str(row.get("customType") or "")
    return named.startswith(OPENCLAW_MARKS) or "/.openclaw" in str(row.get("cwd") or "")


PI = Format(name="pi", recognises=recognises, describe=describe, reader=lambda _info, _: PiReader())
