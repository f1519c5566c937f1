"""Which tasks there are and how they stand: from the agent's own lists, and from what people say about ticket ids.

The assistant's prose counts for nothing here: "T-101 is done" by a person ends a task, by the assistant it is a claim.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from worker.core.identifiers import identifiers_in_redacted
from worker.core.invocations import Invocation
from worker.core.messages import Message
from worker.core.prose import sentences
from worker.core.summary import Task, TaskStatus, item_id

_STATUSES = {
    "pending": TaskStatus.OPEN,
    "open": TaskStatus.OPEN,
    "todo": TaskStatus.OPEN,
    "not_started": TaskStatus.OPEN,
    "not-started": TaskStatus.OPEN,
    "in_progress": TaskStatus.IN_PROGRESS,
    "in-progress": TaskStatus.IN_PROGRESS,
    "inprogress": TaskStatus.IN_PROGRESS,
    "active": TaskStatus.IN_PROGRESS,
    "doing": TaskStatus.IN_PROGRESS,
    "blocked": TaskStatus.BLOCKED,
    "completed": TaskStatus.DONE,
    "complete": TaskStatus.DONE,
    "done": TaskStatus.DONE,
    "finished": TaskStatus.DONE,
    "cancelled": TaskStatus.CANCELLED,
    "canceled": TaskStatus.CANCELLED,
    "deleted": TaskStatus.CANCELLED,
    "skipped": TaskStatus.CANCELLED,
}
_LIST_KEYS = ("todos", "plan", "tasks", "items", "todo_list", "todoList", "newTodos")
_TEXT_KEYS = ("content", "step", "subject", "text", "title", "description", "task", "name")
_LIST_TOOL = re.compile(r"todo|plan|task")
_CREATED_ID = re.compile(r"#(\d{1,6})\b")
_COLOUR = re.compile(r"#\d{6}")
_TICKET_WORDS = re.compile(r"(?i)\b(?:issue|pr|pull|bug|ticket|fix|close|task|merge)\b")
_LEADING_TICKET = re.compile(r"\[?([A-Z][A-Z0-9]{0,9}-\d{1,7}|#\d{2,7})\]?(?=[\s:.,)–—-]|$)")
_MAX_TEXT_CHARS = 300
_MAX_EVIDENCE = 4

_LISTS = re.compile(r"(?i)(?:[,;:(–—•-]|\b(?:and|then|also|plus|next|finally|do|start|begin|with))\s*$")
_TITLE = re.compile(
    r"(?i)[)\]]?(?:\s*[:–—-])?\s+((?!(?:and|or|then|first|next|now|is|are|was|were|has|have|had|as|it|in|on|to"
    r"|by|for|from"
    r"|because|since|before|after|when|if|please|again|too|also|instead|takes|needs|should|must|can"
    r"|will)\b)[^\s,.;:][^\n]*)"
)
_DANGLING = re.compile(r"(?i)(?:[\s,;&+/–—(-]|\b(?:and|or|then|und|plus|finally)\b)+$|[\s.!。]+$")
_CONNECTORS = re.compile(r"(?i)[\s,;&+/]*(?:and|or|und|oder|et|y|e|和|与|及|、|と|as well as)?[\s,;&+/]*")
_SAID_AFTER = (
    (
        TaskStatus.OPEN,
        (
            r"(?:is|are|was)?\s*(?:not|n['’]t|never)\b|isn['’]t|aren['’]t|(?:is|are|still"
            r"|remains?)\s+(?:still\s+)?(?:open"
            r"|pending|unfinished|missing)|needs? to be reopened|还没|沒|没|未|尚未|まだ"
        ),
    ),
    (TaskStatus.BLOCKED, r"(?:is|are)\s+(?:still\s+)?blocked\b|(?:is|are)\s+(?:on hold|waiting)|被?阻塞|被卡"),
    (
        TaskStatus.IN_PROGRESS,
        r"(?:is|are)\s+(?:already\s+|currently\s+)?(?:in progress|underway|being worked on)|进行中|進行中",
    ),
    (
        TaskStatus.DONE,
        (
            r"(?:is|are|was|were|has been|have been|got|['’]s)\s+(?:now\s+|already\s+|all\s+|both\s+|finally\s+"
            r"|also\s+)?(?:done|finished|completed?|closed|merged|fixed|resolved|shipped|deployed|released|solved"
            r"|implemented)\b|[:—–-]?\s*(?:done|finished|completed|fixed|merged|closed|✅"
            r"|✔|☑)(?:[.!,;\s]|$)"
            r"|已经?(?:完成|解决|修复"
            r"|关闭|合并|搞定)|(?:都|已)?(?:完成了|完成|做完了|搞定了?|解决了|修好了)|(?:は|が)?(?:完了|終わ|解決)"
        ),
    ),
    (
        TaskStatus.CANCELLED,
        (
            r"(?:is|are|was|has been)\s+(?:now\s+)?(?:cancell?ed|dropped|obsolete|off|no longer (?:needed|required"
            r"|relevant)|not needed|won['’]t ?fix|a duplicate)|(?:can|should) be (?:dropped|skipped|cancell?ed|closed)"
            r"|取消|不用做|不需要|不做了"
        ),
    ),
)
_SAID_BEFORE = (
    (
        TaskStatus.CANCELLED,
        (
            r"(?:skip|drop|cancel|forget(?: about)?|abandon|ignore|leave out|scrap|postpone|do not do|don['’]t do"
            r"|no longer do|never mind|取消|跳过|不要做|不用做|放弃|先不做)\s*$"
        ),
    ),
    (
        TaskStatus.DONE,
        (
            r"(?:(?:i|we)(?:['’]ve| have)? (?:already )?(?:finished|completed|closed|merged|fixed|resolved|shipped|did)"
            r"|done with|finished with)\s*$"
        ),
    ),
    (TaskStatus.OPEN, r"(?:reopen|re-open|resume|go back to|continue (?:with)?|pick up)\s*$"),
    (TaskStatus.BLOCKED, r"blocked on\s*$"),
)
_AFTER = tuple((status, re.compile(rf"(?i)\s*(?:{words})")) for status, words in _SAID_AFTER)
_BEFORE = tuple((status, re.compile(rf"(?i)(?:^|\W)(?:{words})")) for status, words in _SAID_BEFORE)
_REFERRED = re.compile(
    r"(?i)(?:\b(?:like|see|as in|similar to|same as|cf\.?|compare|from|in|per|see also|duplicate of|unlike|after"
    r"|before|since|until|blocked (?:by|on)|because of|thanks to)|参考|参见|类似)\s*$"
)
_TASK_OF_TICKET_TOOL = re.compile(r"\bgh (issue|pr) (close|merge|reopen) (?:\S+ )?#?(\d{1,7})\b")


def find_tasks(
    messages: Sequence[Message], invocations: Sequence[Invocation], given: Sequence[Task] = ()
) -> list[Task]:
    """All tasks of a range in order of first appearance, each with its newest status; given ones come first.

    A task that is gone from a newer list of the agent keeps its last status: a list is rewritten for new work, and
    silence is no evidence that the old one was done.
    """
    board = _Board(given)
    by_message: dict[int, list[Invocation]] = {}
    for invocation in invocations:
        by_message.setdefault(invocation.message.index, []).append(invocation)
    for message in messages:
        if message.is_human and not message.sidechain:
            board.hear(message)
        for invocation in by_message.get(message.index, ()):
            if invocation.result is None or invocation.is_successful:
                board.take(invocation)
    return list(board.tasks.values())


class _Board:
    """The tasks while a range is read, by id; agent_ids: what TaskCreate numbered."""

    def __init__(self, given: Sequence[Task]) -> None:
        self.tasks: dict[str, Task] = {}
        self.agent_ids: dict[str, str] = {}
        for task in given:
            self.tasks[task.id or item_id(task)] = task if task.id else replace(task, id=item_id(task))

    def hear(self, message: Message) -> None:
        """What a person says about ticket ids, in their own words."""
        for sentence in sentences(message.text):
            spots = _spots(sentence.masked)
            for at, (ticket, status, is_mention) in enumerate(_said(sentence.masked, spots)):
                if _COLOUR.fullmatch(ticket) and not _TICKET_WORDS.search(sentence.masked):
                    continue
                known = self._find(ticket)
                if known is not None:
                    if status is not None:
                        self._put(replace(known, status=status, from_ledger=True), message.id)
                elif not is_mention or status is not None:
                    text = _clause(sentence.text, spots, at)
                    seen = status is not None
                    self._put(
                        Task(id=ticket, text=text, status=status or TaskStatus.OPEN, from_ledger=seen), message.id
                    )

    def take(self, invocation: Invocation) -> None:
        """What a task tool, the agent's list or `gh issue close` says."""
        evidence = invocation.evidence[-1]
        if invocation.name in ("taskcreate", "task_create"):
            self._create(invocation, evidence)
        elif invocation.name in ("taskupdate", "task_update"):
            self._update(invocation, evidence)
        elif _LIST_TOOL.search(invocation.name):
            for row in _rows(invocation.arguments):
                self._list(row, evidence)
        elif invocation.command is not None and "gh " in invocation.command:
            self._close(invocation.command, evidence)

    def _create(self, invocation: Invocation, evidence: str) -> None:
        text = _text_of(invocation.arguments)
        number = _CREATED_ID.search(invocation.text)
        if text:
            task = self._list({"content": text, "status": "pending"}, evidence)
            if number is not None:
                self.agent_ids[number[1]] = task.id

    def _update(self, invocation: Invocation, evidence: str) -> None:
        number = str(invocation.arguments.get("taskId", invocation.arguments.get("task_id", ""))).lstrip("#")
        task = self.tasks.get(self.agent_ids.get(number, ""))
        status = _STATUSES.get(str(invocation.arguments.get("status", "")).lower())
        if task is None and number:
            text = _text_of(invocation.arguments) or f"Task #{number}"
            task = Task(id=f"task-{number}", text=text, status=TaskStatus.OPEN, from_ledger=True)
            self.agent_ids[number] = task.id
        if task is not None:
            text = _text_of({"subject": invocation.arguments.get("subject")}) or task.text
            self._put(replace(task, text=text, status=status or task.status, from_ledger=True), evidence)

    def _list(self, row: Mapping[str, Any], evidence: str) -> Task:
        text = _text_of(row)
        status = _STATUSES.get(str(row.get("status", "pending")).lower(), TaskStatus.OPEN)
        if row.get("done") is True or row.get("completed") is True:
            status = TaskStatus.DONE
        leading = _LEADING_TICKET.match(text)
        draft = Task(id=leading[1] if leading else "", text=text, status=status, from_ledger=True)
        task = replace(draft, id=draft.id or item_id(draft), refs=_tickets(text, draft.id))
        known = self._find(task.id)
        if leading and (title := text[leading.end() :].strip(" :.)–—-")):
            task = replace(task, text=title)
        if known:
            said_more = known.from_ledger or known.id not in known.text
            task = replace(known, text=known.text if said_more else task.text, status=status, from_ledger=True)
        self._put(task, evidence)
        return task

    def _close(self, command: str, evidence: str) -> None:
        for match in _TASK_OF_TICKET_TOOL.finditer(command):
            known = self._find(f"#{match[3]}")
            if known is not None:
                status = TaskStatus.OPEN if match[2] == "reopen" else TaskStatus.DONE
                self._put(replace(known, status=status, from_ledger=True), evidence)

    def _find(self, ticket: str) -> Task | None:
        if ticket in self.tasks:
            return self.tasks[ticket]
        return next((task for task in self.tasks.values() if ticket in task.refs), None)

    def _put(self, task: Task, evidence: str) -> None:
        ids = (*(i for i in task.evidence if i != evidence), evidence)
        shown = ids if len(ids) <= _MAX_EVIDENCE else (ids[0], *ids[1 - _MAX_EVIDENCE :])
        self.tasks[task.id] = replace(task, evidence=shown)


def _rows(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows of a list tool: objects with a text, most also with a status."""
    for key in _LIST_KEYS:
        rows = arguments.get(key)
        if isinstance(rows, list):
            yield from (row for row in rows if isinstance(row, dict) and _text_of(row))
            return


def _text_of(row: Mapping[str, Any]) -> str:
    value = next((row[key] for key in _TEXT_KEYS if isinstance(row.get(key), str) and row[key].strip()), "")
    return " ".join(str(value).split())[:_MAX_TEXT_CHARS]


def _tickets(text: str, own: str) -> tuple[str, ...]:
    return tuple(value for kind, value in identifiers_in_redacted(text) if kind == "ticket" and value != own)


def _clause(sentence: str, spots: Sequence[tuple[str, int, int]], at: int) -> str:
    """What stands behind the id when that is a title ("T-1 CSV export, T-2 …"), else the sentence."""
    _, start, end = spots[at]
    stop = spots[at + 1][1] if at + 1 < len(spots) else len(sentence)
    leads = not sentence[:start].strip() or _LISTS.search(sentence, 0, start) is not None
    title = _TITLE.fullmatch(sentence[end:stop]) if leads else None
    if title is None or _status("", sentence[end:stop]) is not None:
        return " ".join(sentence.split())[:_MAX_TEXT_CHARS]
    return " ".join(_DANGLING.sub("", title[1]).split())[:_MAX_TEXT_CHARS]


def _said(sentence: str, spots: Sequence[tuple[str, int, int]]) -> list[tuple[str, TaskStatus | None, bool]]:
    """(ticket, status or None, is only referred to) for each ticket of a sentence."""
    asked = sentence.rstrip().endswith(("?", "？")) or re.search(r"[吗嗎か]\W*$", sentence) is not None
    said: list[tuple[str, TaskStatus | None, bool]] = []
    following: tuple[TaskStatus | None, bool] = (None, False)
    for position in range(len(spots) - 1, -1, -1):
        ticket, start, end = spots[position]
        next_start = spots[position + 1][1] if position + 1 < len(spots) else len(sentence)
        before = sentence[spots[position - 1][2] if position else 0 : start]
        joined = position + 1 < len(spots) and _CONNECTORS.fullmatch(sentence, end, next_start) is not None
        status = None if asked else _status(before, sentence[end:next_start])
        if joined and status is None:
            status = following[0]
        following = (status, False)
        said.append((ticket, status, _REFERRED.search(before) is not None))
    return _carried(list(reversed(said)), sentence, spots)


def _carried(
    said: list[tuple[str, TaskStatus | None, bool]], sentence: str, spots: Sequence[tuple[str, int, int]]
) -> list[tuple[str, TaskStatus | None, bool]]:
    """ "skip T-1 and T-2": what stands before the first of a row holds for all of it."""
    for position in range(1, len(said)):
        ticket, status, mention = said[position]
        joined = _CONNECTORS.fullmatch(sentence, spots[position - 1][2], spots[position][1]) is not None
        if joined and status is None:
            said[position] = (ticket, said[position - 1][1], mention or said[position - 1][2])
    return said


def _status(before: str, after: str) -> TaskStatus | None:
    status = next((status for status, words in _AFTER if words.match(after)), None)
    return status or next((status for status, words in _BEFORE if words.search(before)), None)


def _spots(sentence: str) -> list[tuple[str, int, int]]:
    """Where the ticket ids of a sentence stand, ascending."""
    values = {value for kind, value in identifiers_in_redacted(sentence) if kind == "ticket"}
    pattern = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    if not pattern:
        return []
    found = re.finditer(rf"(?<![\w/-])(?:{pattern})(?![A-Za-z0-9_-])", sentence)
    return [(match[0], match.start(), match.end()) for match in found]
