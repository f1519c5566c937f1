"""Our own plain JSONL, for agents whose transcript has no format of its own.

One JSON object per line, UTF-8, appended and never rewritten:

    {"role": "user", "content": "Deploy on Friday.", "timestamp": "2026-01-23T03:07:00Z"}
    {"role": "user", "content": "build 4711 passed", "origin": "harness", "id": "n-7"}

`role` is system, user, assistant or tool, `content` a string (or parts, as in the chat API). Optional:

* `timestamp`: ISO 8601 with a zone, or seconds since the epoch.
* `origin`: who really wrote it: human, assistant, tool, harness, summary or system. It is believed as it stands: this
  is how an agent marks its reminders, cron turns and own summaries. Without it a user row is judged by its text.
* `id`: the row's own id; a row that comes a second time word for word is counted as `duplicate_row`.
* `cwd` and `session_id` (in one of the first rows): the project's folder and the session.
* `tool_calls` and `tool_call_id` as in the chat API; `exit_code` and `is_error` beside a tool's content.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from worker.core.messages import Origin, digest_of
from worker.transcripts.drafts import Draft, compact_json, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, first_text
from worker.transcripts.openai_chat import PLAIN_KEYS, ChatReader, is_message
from worker.transcripts.resuming import pairs_in

ROWS_KEPT = 32
"""So many rows are known again where a later reading goes on."""


class PlainReader(ChatReader):
    def __init__(self) -> None:
        super().__init__()
        self._read_rows: dict[str, str] = {}
        self._newest: deque[tuple[str, str]] = deque(maxlen=ROWS_KEPT)

    def state(self) -> State:
        return {**super().state(), "rows": tuple(self._newest)}

    def resume(self, state: State, /) -> Sequence[int]:
        self._newest.extend(pairs_in(state, "rows"))
        self._read_rows.update(self._newest)
        return super().resume(state)

    def take(self, row: Fields, index: int | None, offset: int, /) -> list[Draft]:
        if self._was_read(row):
            self.skipped["duplicate_row"] += 1
            return []
        return [_with_outcome(draft, row) for draft in super().take(row, index, offset)]

    def _was_read(self, row: Fields) -> bool:
        """Another row under the same id is no repetition: not every writer keeps its ids apart."""
        row_id = text_or_none(row.get("id"))
        if row_id is None:
            return False
        digest = digest_of(compact_json(row))
        known, self._read_rows[row_id] = self._read_rows.get(row_id), digest
        self._newest.append((row_id, digest))
        return known == digest


def _with_outcome(draft: Draft, row: Fields) -> Draft:
    result, code = draft.tool_result, row.get("exit_code")
    if draft.origin is not Origin.TOOL or result is None:
        return draft
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    is_error = row.get("is_error") is True or (exit_code or 0) != 0
    return replace(draft, tool_result=replace(result, exit_code=exit_code, is_error=result.is_error or is_error))


def recognises(row: Fields) -> bool:
    return is_message(row) and any(key in row for key in PLAIN_KEYS)


def describe(sample: Sample) -> TranscriptInfo:
    return TranscriptInfo(
        format="afterturn",
        agent="afterturn",
        session_id=first_text(sample.opening, "session_id") or sample.stem,
        cwd=first_text(sample.opening, "cwd"),
    )


PLAIN = Format(name="afterturn", recognises=recognises, describe=describe, reader=lambda _info, _: PlainReader())
