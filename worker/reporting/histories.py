"""The life of rules and tasks over a chain of checkpoints: asked for, changed, lifted, done, and by which message."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from worker.core.checkpoint import Checkpoint
from worker.core.messages import message_index
from worker.core.summary import Constraint, Task, TaskStatus
from worker.core.wording import normal
from worker.reporting.citing import Citing
from worker.reporting.page import Event
from worker.reporting.steps import TaskStep

_SAID = {
    TaskStatus.OPEN: "open",
    TaskStatus.IN_PROGRESS: "in progress",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.DONE: "done",
    TaskStatus.CANCELLED: "cancelled",
}


def status_words(status: TaskStatus) -> str:
    return _SAID[status]


class Histories:
    """live: the checkpoints that still count, oldest first. steps: what the transcript shows of tasks, by number."""

    def __init__(self, live: Sequence[Checkpoint], steps: Mapping[int, Sequence[TaskStep]], citing: Citing) -> None:
        self._live = live
        self._rules = [{rule.id: rule for rule in one.summary.constraints} for one in live]
        self._tasks = [{task.id: task for task in one.summary.tasks} for one in live]
        self._steps: dict[tuple[int, str], list[TaskStep]] = defaultdict(list)
        for number, taken in steps.items():
            for step in taken:
                self._steps[number, step.task].append(step)
        self._citing = citing

    def of_rule(self, rule: Constraint) -> tuple[Event, ...]:
        """The events of a constraint, oldest first."""
        seen = [(one, rules[rule.id]) for one, rules in zip(self._live, self._rules, strict=True) if rule.id in rules]
        begun = "given by the agent" if rule.given else "said"
        events = [self._event(begun, "", rule.evidence[:1], seen[0][0].number if seen else rule.since)]
        for (_, old), (checkpoint, new) in pairwise(seen):
            events += self._rule_changes(old, new, checkpoint.number)
        if rule.lifted is not None:
            number = next((one.number for one, found in seen if found.lifted), rule.seen)
            events.append(self._event("lifted", rule.lifted.quote, rule.lifted.evidence, number))
        return tuple(events)

    def _rule_changes(self, old: Constraint, new: Constraint, number: int) -> Iterator[Event]:
        if normal(old.rule) != normal(new.rule):
            yield self._event("reworded from", old.rule, _new_evidence(old, new), number)
        if old.scope is not new.scope:
            yield self._event(f"{old.scope} → {new.scope}", "", _new_evidence(old, new), number)
        again = _new_evidence(old, new)
        if again and normal(old.rule) == normal(new.rule) and old.scope is new.scope:
            yield self._event("said again", "", again, number)

    def of_task(self, task: Task) -> tuple[Event, ...]:
        """The events of a task, oldest first: by the message where the transcript shows it, else by the checkpoint."""
        events: list[Event] = []
        status: TaskStatus | None = None
        told: Task | None = None
        for checkpoint, tasks in zip(self._live, self._tasks, strict=True):
            for step in self._steps.get((checkpoint.number, task.id), ()):
                if step.status is not status:
                    events.append(self._event(_turn(status, step.status), "", (step.message,), checkpoint.number))
                    status = step.status
            found = tasks.get(task.id)
            if found is None:
                continue
            if found.status is not status:
                cited = _evidence_in(found, checkpoint) or found.evidence[-1:]
                first = found.evidence[:1] if status is None else cited[-1:]
                events.append(self._event(_turn(status, found.status), "", first, checkpoint.number))
                status = found.status
            if told is not None and normal(told.text) != normal(found.text):
                cited = _new_evidence(told, found)
                events.append(self._event("reworded from", told.text, cited, checkpoint.number))
            told = found
        return tuple(events)

    def _event(self, what: str, detail: str, evidence: Sequence[str], number: int) -> Event:
        when = self._citing.said_at(evidence[0]) if evidence else ""
        return Event(what=what, detail=detail, when=when, checkpoint=number, cites=self._citing.cites(evidence))


def _turn(before: TaskStatus | None, after: TaskStatus) -> str:
    return _SAID[after] if before is None else f"{_SAID[before]} → {_SAID[after]}"


def _new_evidence(old: Constraint | Task, new: Constraint | Task) -> tuple[str, ...]:
    return tuple(one for one in new.evidence if one not in old.evidence)


def _evidence_in(task: Task, checkpoint: Checkpoint) -> tuple[str, ...]:
    start, end = checkpoint.range.start, checkpoint.range.end
    return tuple(one for one in task.evidence if start <= (message_index(one) or 0) < end)
