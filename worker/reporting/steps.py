"""How tasks came to stand as they do: what each message that is cited for one did to it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from worker.core.invocations import Invocation, invocations_of
from worker.core.messages import Message, message_index
from worker.core.summary import Task, TaskStatus
from worker.core.tasks import find_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """A message after which a task stood otherwise. before: None when it was not known."""

    task: str
    message: str
    before: TaskStatus | None
    status: TaskStatus


def task_steps(messages: Sequence[Message], tasks: Sequence[Task]) -> tuple[TaskStep, ...]:
    """The steps of a range's tasks, in the order of the tasks, each task's in that of the transcript.

    tasks: as the ledger of the range has them. For each, its finder is run again over the messages that it cites, one
    more each time. A task that does not end as the ledger says has no steps: better none than wrong ones.
    """
    by_id = {message.id: message for message in messages}
    invocations: dict[str, list[Invocation]] = defaultdict(list)
    for invocation in invocations_of(messages):
        invocations[invocation.evidence[-1]].append(invocation)
    steps: list[TaskStep] = []
    for task in tasks:
        cited = [by_id[name] for name in task.evidence if name in by_id]
        if len(cited) == len(task.evidence) == 1:
            steps.append(TaskStep(task=task.id, message=task.evidence[0], before=None, status=task.status))
        elif cited:
            steps += _steps_of(task, cited, [one for message in cited for one in invocations[message.id]])
    return tuple(steps)


def _steps_of(task: Task, cited: Sequence[Message], invocations: Sequence[Invocation]) -> list[TaskStep]:
    steps: list[TaskStep] = []
    status: TaskStatus | None = None
    for message in cited:
        now = _status_after(message.index, task, cited, invocations)
        if now is not None and now is not status:
            steps.append(TaskStep(task=task.id, message=message.id, before=status, status=now))
            status = now
    return steps if status is task.status else []


def _status_after(
    end: int, task: Task, cited: Sequence[Message], invocations: Sequence[Invocation]
) -> TaskStatus | None:
    """The status once all was read up to the message `end`. A call stands where its result came."""
    ended = [one for one in invocations if (message_index(one.evidence[-1]) or 0) <= end]
    read = {message.index: message for message in cited if message.index <= end}
    read |= {one.message.index: one.message for one in ended}
    found = find_tasks([message for _, message in sorted(read.items())], ended)
    return next((one.status for one in found if one.id == task.id), None)
