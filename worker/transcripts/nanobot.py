"""nanobot: a metadata row, then chat messages. The whole file is rewritten at every save, and cut at its head."""

from dataclasses import replace

from worker.core.messages import Attachment, Origin, Role
from worker.transcripts.drafts import Draft, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, TranscriptInfo
from worker.transcripts.harness import is_prose
from worker.transcripts.openai_chat import ChatReader

COUNTED = ("metadata", "provider_state")
UNATTENDED_SESSIONS = ("cron:", "heartbeat")
"""Keys of sessions in which a schedule talks to the agent and no person does."""
HARNESS_MARKS = ("_hidden_history", "injected_event")


class NanobotReader(ChatReader):
    """unattended: a schedule asks in this session, so no user row is a person's."""

    def __init__(self, *, unattended: bool) -> None:
        super().__init__()
        self._unattended = unattended

    def take(self, row: Fields, index: int | None, offset: int, /) -> list[Draft]:
        kind = row.get("_type")
        if kind is not None:
            return self._head(row, kind)
        return [self._judged(draft, row) for draft in super().take(row, index, offset)]

    def _head(self, row: Fields, kind: object) -> list[Draft]:
        """The agent's own summary of what it cut off stands in the metadata."""
        self.skipped[str(kind) if kind in COUNTED else "unknown_row"] += 1
        summary = mapping(mapping(row.get("metadata")).get("_last_summary"))
        if text := text_or_none(summary.get("text")):
            stamp = stamp_of({"timestamp": summary.get("last_active")})
            return [Draft(origin=Origin.SUMMARY, text=text.strip(), stamp=stamp)]
        return []

    def _judged(self, draft: Draft, row: Fields) -> Draft:
        if draft.role is not Role.USER:
            return draft
        media = tuple(
            Attachment(kind="file", name=path[:500]) for path in items(row.get("media")) if isinstance(path, str)
        )
        draft = replace(draft, attachments=draft.attachments + media)
        if self._unattended or any(row.get(mark) for mark in HARNESS_MARKS):
            return replace(draft, origin=Origin.HARNESS)
        if row.get("_command") and not is_prose(draft.text.partition(" ")[2]):
            return replace(draft, origin=Origin.HARNESS, text=f"invoked {draft.text.strip()}")
        says_nothing = draft.origin is Origin.HARNESS and not draft.text
        return replace(draft, origin=Origin.HUMAN) if media and says_nothing else draft


def recognises(row: Fields) -> bool:
    return row.get("_type") in COUNTED


def describe(sample: Sample) -> TranscriptInfo:
    heads = [row for row in sample.opening if row.get("_type") == "metadata"]
    keys = [text_or_none(row.get("key")) for row in heads]
    folders = [text_or_none(mapping(row.get("metadata")).get("cwd")) for row in heads]
    return TranscriptInfo(
        format="nanobot",
        agent="nanobot",
        session_id=next((key for key in keys if key), sample.stem),
        cwd=next((folder for folder in folders if folder), None),
    )


NANOBOT = Format(
    name="nanobot",
    recognises=recognises,
    describe=describe,
    reader=lambda info, _: NanobotReader(unattended=info.session_id.startswith(UNATTENDED_SESSIONS)),
)
