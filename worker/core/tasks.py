"""Which tasks there are and how they stand: from the agent's own lists, and from what people say about ticket ids.

The assistant's prose counts for nothing here: "T-101 is done" by a person ends a task, by the assistant it is a claim.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from worker.core.identifiers import identifiers_in_redacted
from worker.core.invocations import Invocation
from worker.core.items import is_written_id, join_evidence
from worker.core.messages import Message
from worker.core.prose import sentences
from worker.core.summary import Summary, Task, TaskStatus, item_id
from worker.core.ticket_talk import TicketSaid, says_more, tickets_said

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
_LEADING_TICKET = re.compile(r"\[?([A-Z][A-Z0-9]{0,9}-\d{1,7}|#\d{2,7})\]?(?=[\s:.,)–—-]|$)")
_MAX_TEXT_CHARS = 300
_MAX_EVIDENCE = 4

_WORKS_ON = re.compile(
    r"\bgit (?:-\S+ \S+ )?(?:commit|checkout|switch|branch|worktree|push|merge)\b|\bgh (?:pr|issue) \w+"
)
_TASK_OF_TICKET_TOOL = re.compile(r"\bgh (issue|pr) (close|merge|reopen) (?:\S+ )?#?(\d{1,7})\b")


def find_tasks(
    messages: Sequence[Message],
    invocations: Sequence[Invocation],
    given: Sequence[Task] = (),
    known: Sequence[Task] = (),
) -> list[Task]:
    """All tasks of a range in order of first appearance, each with its newest status; given ones come first.

    known: those of earlier ranges. One that is spoken of here keeps its text, so that "T-2 is done" is no title.

    A task that is gone from a newer list of the agent keeps its last status: a list is rewritten for new work, and
    silence is no evidence that the old one was done.
    """
    board = _Board(given, known)
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


def with_statuses_seen(summary: Summary, seen: Sequence[Task]) -> Summary:
    """The summary in which each task stands as code saw it last, whoever said something else of it.

    seen: the tasks of the range's ledger.
    """
    statuses = {one: task for task in seen if task.from_ledger for one in (task.id, *task.refs) if one}
    tasks = tuple(_as_seen(task, statuses) for task in summary.tasks)
    return summary if tasks == summary.tasks else replace(summary, tasks=tasks)


def _as_seen(task: Task, statuses: Mapping[str, Task]) -> Task:
    seen = next((statuses[one] for one in (task.id, *task.refs) if one in statuses), None)
    if seen is None:
        return task
    evidence = join_evidence(task.evidence, seen.evidence)
    return replace(task, status=seen.status, evidence=evidence, from_ledger=True)


class _Board:
    """The tasks while a range is read, by id. agent_ids: what TaskCreate numbered. mentioned: ids that are none yet.

    known: tasks of earlier ranges, by each of their written ids; one is a task of this range when it is spoken of.
    """

    def __init__(self, given: Sequence[Task], known: Sequence[Task]) -> None:
        self.tasks: dict[str, Task] = {}
        self.agent_ids: dict[str, str] = {}
        self.mentioned: dict[str, tuple[TicketSaid, str]] = {}
        self.known = {
            ticket: replace(task, evidence=(), since=0, seen=0)
            for task in known
            if is_written_id(task)
            for ticket in (task.id, *task.refs)
            if not ticket.isdigit()
        }
        for task in given:
            self.tasks[task.id or item_id(task)] = task if task.id else replace(task, id=item_id(task))

    def hear(self, message: Message) -> None:
        """What a person says about ticket ids, in their own words."""
        for sentence in sentences(message.text):
            for said in tickets_said(sentence):
                known = self._find(said.ticket)
                if known is not None:
                    self._hear_again(known, said, message.id)
                elif said.is_asked or said.status is not None:
                    self._put(_as_task(said), message.id)
                else:
                    self.mentioned.setdefault(said.ticket, (said, message.id))

    def _hear_again(self, known: Task, said: TicketSaid, message_id: str) -> None:
        """The status is the newest; the text stays what first told what the work is."""
        text = said.text if says_more(said.text, known.text, said.ticket) else known.text
        if said.status is not None:
            self._put(replace(known, text=text, status=said.status, from_ledger=True), message_id)
        elif text != known.text and said.is_asked:
            self._put(replace(known, text=text), message_id)

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
        elif invocation.command is not None:
            self._work(invocation.command, evidence)
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

    def _work(self, command: str, evidence: str) -> None:
        """A commit or a branch with an id in its name that a person mentioned is work on it."""
        if not self.mentioned or not _WORKS_ON.search(command):
            return
        for ticket in [one for one in self.mentioned if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", command)]:
            said, message_id = self.mentioned.pop(ticket)
            if self._find(ticket) is None:
                self._put(replace(_as_task(said), evidence=(message_id,)), evidence)

    def _close(self, command: str, evidence: str) -> None:
        for match in _TASK_OF_TICKET_TOOL.finditer(command):
            known = self._find(f"#{match[3]}")
            if known is not None:
                status = TaskStatus.OPEN if match[2] == "reopen" else TaskStatus.DONE
                self._put(replace(known, status=status, from_ledger=True), evidence)

    def _find(self, ticket: str) -> Task | None:
        if ticket in self.tasks:
            return self.tasks[ticket]
        of_range = next((task for task in self.tasks.values() if ticket in task.refs), None)
        return of_range or self.known.get(ticket)

    def _put(self, task: Task, evidence: str) -> None:
        ids = (*(i for i in task.evidence if i != evidence), evidence)
        shown = ids if len(ids) <= _MAX_EVIDENCE else (ids[0], *ids[1 - _MAX_EVIDENCE :])
        self.tasks[task.id] = replace(task, evidence=shown)


def _as_task(said: TicketSaid) -> Task:
    status = said.status or TaskStatus.OPEN
    return Task(id=said.ticket, text=said.text, status=status, from_ledger=said.status is not None)


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
