"""Claude Code: one JSONL row per content block, a tree by parentUuid that is read in file order.

Parallel calls fork the tree, so walking up from the last row loses most of a session. Rows hold more than messages
(progress, snapshots, hooks), and user rows hold what no person wrote. The other way round, words of a person stand
where none are expected: a prompt typed while the agent worked may exist only in the queue's rows, what is said when a
call is rejected only inside the tool result, and so do the answers to the agent's questions. These become human
messages.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from worker.core.messages import Origin, Role, digest_of
from worker.transcripts.blocks import assistant_drafts, read_content, user_drafts
from worker.transcripts.branches import Branches, links_in
from worker.transcripts.call_names import CallNames
from worker.transcripts.drafts import Draft, items, mapping, stamp_of, text_or_none
from worker.transcripts.formats import Fields, Format, Sample, State, TranscriptInfo, counted, first_text
from worker.transcripts.harness import Wording, pointed_at, without_continuation_orders, wording_of
from worker.transcripts.resuming import numbers_in, texts_in

MESSAGES = ("user", "assistant")
OTHER_ROWS = frozenset(
    {
        "agent-name",
        "agent_metadata",
        "ai-title",
        "content-replacement",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "tag",
        "worktree-state",
    }
)
ROW_TYPES = OTHER_ROWS | {"user", "assistant", "attachment"}
ROW_MARKS = ("sessionId", "uuid", "parentUuid", "leafUuid", "messageId", "snapshot")
PERSONAL_ORIGINS = ("human", "channel")
REJECTIONS = ("User rejected tool use", "Error: The user doesn't want to proceed")
REJECTION_OPENING = "The user doesn't want to proceed with this tool use."
REJECTION_WORDS = "the user said:\n"
QUEUE_MAX = 1_000
SUBAGENT_MARK = "/agent-"
SUBAGENT_ROWS = 10
"""A session's own file holds rows of several agents, or none; so many of either end tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queued:
    """A prompt that waits for its turn. offset: of its row, which is read again rather than its words kept."""

    text: str
    stamp: str | float | None
    offset: int


class ClaudeCodeReader:
    """is_subagent_file: every row is a side chain of one agent; then these rows are the main line."""

    def __init__(self, *, is_subagent_file: bool) -> None:
        self.skipped: Counter[str] = Counter()
        self._is_subagent_file = is_subagent_file
        self._branches = Branches()
        self._names = CallNames()
        self._queued: deque[_Queued] = deque(maxlen=QUEUE_MAX)
        self._taken_from_queue: deque[str] = deque(maxlen=QUEUE_MAX)

    def rewound(self) -> list[tuple[int, int]]:
        return self._branches.rewound()

    def state(self) -> State:
        return {
            "rows": self._branches.newest(),
            "queued": tuple(waiting.offset for waiting in self._queued) if self._queued else (),
            "taken_from_queue": tuple(self._taken_from_queue),
            **self._names.state(),
        }

    def resume(self, state: State, /) -> Sequence[int]:
        self._branches.resume(links_in(state, "rows"))
        self._names.resume(state)
        self._taken_from_queue.extend(texts_in(state, "taken_from_queue"))
        return numbers_in(state, "queued")

    def take(self, row: Fields, index: int | None, offset: int, /) -> list[Draft]:
        row_id = text_or_none(row.get("uuid"))
        if row_id is not None and row_id in self._branches:
            self.skipped["duplicate_row"] += 1
            return []
        if row.get("type") in MESSAGES and not isinstance(_content_of(row), str | list):
            # Its id stays free: the same row may follow whole.
            self.skipped["malformed_message"] += 1
            return []
        drafts = self._drafts(row, offset)
        if row_id is not None:
            human = any(draft.origin is Origin.HUMAN for draft in drafts)
            place = index if drafts else None
            self._branches.add(row_id, text_or_none(row.get("parentUuid")), place, human=human)
        return drafts

    def _drafts(self, row: Fields, offset: int) -> list[Draft]:
        match row.get("type"):
            case "assistant" | "user" as kind:
                return self._message(row, kind)
            case "queue-operation":
                return self._queue(row, offset)
            case "attachment":
                return self._attachment(row)
            case kind:
                self.skipped[counted(kind, OTHER_ROWS)] += 1
                return []

    def _message(self, row: Fields, kind: str) -> list[Draft]:
        message = mapping(row.get("message"))
        read = read_content(message.get("content"), self.skipped, self._names)
        shared = Draft(
            row_id=text_or_none(row.get("uuid")),
            response_id=text_or_none(message.get("id")) if kind == "assistant" else None,
            stamp=stamp_of(row),
            sidechain=row.get("isSidechain") is True and not self._is_subagent_file,
        )
        if kind == "assistant":
            self._names.learn(read.calls)
            return assistant_drafts(read, shared, _assistant_origin(row, message))
        said = _said(row, read.texts)
        drafts = user_drafts(read, shared, self.skipped, said)
        if self._repeats_queue(drafts):
            return []
        return drafts + _spoken_in_results(row, drafts)

    def _queue(self, row: Fields, offset: int) -> list[Draft]:
        """A queued prompt goes one of three ways: sent as a row of its own, taken back, or taken in mid-turn.

        The last leaves no other trace in older versions, and then the person's words are taken from here.
        """
        text = row.get("content")
        operation = row.get("operation")
        if operation == "enqueue" and isinstance(text, str):
            self._queued.append(_Queued(text=text, stamp=stamp_of(row), offset=offset))
        elif operation == "popAll":
            self._queued.clear()
        elif operation in ("dequeue", "remove") and self._queued:
            queued = self._queued.popleft()
            wording = wording_of([queued.text])
            if operation == "remove" and wording.origin is Origin.HUMAN:
                self._taken_from_queue.append(digest_of(wording.text))
                return [Draft(origin=Origin.HUMAN, text=wording.text, stamp=queued.stamp)]
        self.skipped["queue-operation"] += 1
        return []

    def _attachment(self, row: Fields) -> list[Draft]:
        """Hook output, changed files and the like are counted; only a queued prompt is somebody's words."""
        attachment = mapping(row.get("attachment"))
        prompt = attachment.get("prompt")
        if attachment.get("type") != "queued_command" or not isinstance(prompt, str | list):
            self.skipped["attachment" if attachment.get("type") else "malformed_attachment"] += 1
            return []
        read = read_content(prompt, self.skipped, self._names)
        said = _said({**row, "isMeta": attachment.get("commandMode") not in ("prompt", None)}, read.texts)
        shared = Draft(row_id=text_or_none(row.get("uuid")), stamp=stamp_of(row))
        drafts = user_drafts(read, shared, self.skipped, said)
        return [] if self._repeats_queue(drafts) else drafts

    def _repeats_queue(self, drafts: list[Draft]) -> bool:
        """True when this row says again what was taken from the queue already."""
        if not self._taken_from_queue or len(drafts) != 1:
            return False
        digest = digest_of(drafts[0].text)
        if digest not in self._taken_from_queue:
            return False
        self._taken_from_queue.remove(digest)
        self.skipped["queued_prompt_again"] += 1
        return True


def _content_of(row: Fields) -> object:
    return mapping(row.get("message")).get("content")


def _assistant_origin(row: Fields, message: Fields) -> Origin:
    """Rows about failed requests stand in the model's place, but no model wrote them."""
    synthetic = message.get("model") == "<synthetic>" or row.get("isApiErrorMessage") is True
    return Origin.HARNESS if synthetic else Origin.ASSISTANT


def _said(row: Fields, texts: list[str]) -> Wording | None:
    """Who wrote a user row's text, when its fields tell; None when only the text itself can."""
    if not any(text.strip() for text in texts):
        return None
    joined = "\n\n".join(texts)
    if row.get("isCompactSummary") is True:
        return Wording(origin=Origin.SUMMARY, text=without_continuation_orders(joined.strip()))
    told_by = mapping(row.get("origin")).get("kind")
    not_human = (
        row.get("isMeta") is True
        or row.get("isSidechain") is True
        or row.get("isVisibleInTranscriptOnly") is True
        or (isinstance(told_by, str) and told_by not in PERSONAL_ORIGINS)
    )
    return Wording(origin=Origin.HARNESS, text=pointed_at(joined.strip())) if not_human else None


def _spoken_in_results(row: Fields, drafts: list[Draft]) -> list[Draft]:
    """What the person said while rejecting a call or answering the agent's questions."""
    words = _answers(row.get("toolUseResult")) or _rejection_words(row, drafts)
    if not words or row.get("isSidechain") is True:
        return []
    return [Draft(role=Role.USER, origin=Origin.HUMAN, text=words, row_id=drafts[0].row_id, stamp=drafts[0].stamp)]


def _rejection_words(row: Fields, drafts: list[Draft]) -> str:
    """Both places must agree that it is a rejection: tool output alone could imitate one."""
    told = row.get("toolUseResult")
    result = drafts[0].tool_result if drafts else None
    if not isinstance(told, str) or not told.startswith(REJECTIONS) or result is None or not result.is_error:
        return ""
    if not result.text.startswith(REJECTION_OPENING) or REJECTION_WORDS not in result.text:
        return ""
    return result.text.split(REJECTION_WORDS, 1)[1].strip()


def _answers(told: Any) -> str:
    """The answers to the agent's questions, one per line; the questions stand in the call."""
    fields = mapping(told)
    if not items(fields.get("questions")):
        return ""
    return "\n".join(answer for answer in mapping(fields.get("answers")).values() if text_or_none(answer))


def recognises(row: Fields) -> bool:
    return text_or_none(row.get("type")) in ROW_TYPES and any(mark in row for mark in ROW_MARKS)


def describe(sample: Sample) -> TranscriptInfo:
    """The session is that of the last row: resuming and forking copy rows of an older one to the front."""
    session_id = first_text(sample.newest_first(), "sessionId") or sample.stem
    own_rows = (row for row in sample.head if row.get("sessionId") == session_id)
    agent_id = _subagent(sample)
    return TranscriptInfo(
        format="claude-code",
        agent="claude-code",
        session_id=f"{session_id}{SUBAGENT_MARK}{agent_id}" if agent_id else session_id,
        cwd=first_text(own_rows, "cwd") or first_text(sample.head, "cwd") or first_text(sample.newest, "cwd"),
    )


def _subagent(sample: Sample) -> str | None:
    """The agent whose own file this is: then every row is a side chain of that one agent."""
    agents = chain(_agents(sample.head), _agents(sample.newest))
    first = next(agents, None)
    return first if first is not None and all(agent == first for agent in agents) else None


def _agents(rows: Iterable[Fields]) -> Iterator[str | None]:
    """The agents of the first few messages; None for one of the session's own."""
    messages = (row for row in rows if row.get("type") in MESSAGES)
    for row in islice(messages, SUBAGENT_ROWS):
        yield text_or_none(row.get("agentId")) if row.get("isSidechain") is True else None


CLAUDE_CODE = Format(
    name="claude-code",
    recognises=recognises,
    describe=describe,
    reader=lambda info, _: ClaudeCodeReader(is_subagent_file=SUBAGENT_MARK in info.session_id),
)
