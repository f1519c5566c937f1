"""Does what a summary says have a source: messages that say it, a person who said it, a string that exists?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from worker.core.checkpoint import Finding
from worker.core.grounds import SHARED_WORDS, Grounds
from worker.core.identifiers import find_identifiers
from worker.core.items import is_written_id, prose_of, words_of
from worker.core.judging import finding_on, judged, texts_of
from worker.core.lifting import ProposedLift, find_lift
from worker.core.messages import Origin, message_index
from worker.core.obligations import find_constraint, find_task
from worker.core.rules import called_off_in, done_in, is_weakened, speaks_of
from worker.core.summary import (
    Check,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    Scope,
    Summary,
    Task,
    TaskStatus,
)
from worker.core.wording import content_words

_CHECKED_KINDS = frozenset({"url", "hash", "uuid", "ticket", "call", "host_port", "ip", "email", "path", "commit"})


def _constraints(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for constraint in summary.constraints:
        old = grounds.before.get(constraint.id)
        known = old.quote if isinstance(old, Constraint) else None
        if not constraint.given and constraint.quote != known and not _is_said(constraint.quote, grounds):
            yield finding_on("constraint_unsourced", "constraints", constraint, constraint.quote[:80])
        if is_weakened(constraint.rule, constraint.quote) or _is_cut_short(constraint, grounds):
            yield finding_on("constraint_weakened", "constraints", constraint, constraint.rule[:80])
        lifted_before = isinstance(old, Constraint) and old.lifted == constraint.lifted
        if constraint.lifted and not lifted_before and not find_lift(constraint, constraint.lifted, grounds.human):
            yield finding_on("constraint_lifted_unsourced", "constraints", constraint, constraint.lifted.quote[:80])


def _is_cut_short(constraint: Constraint, grounds: Grounds) -> bool:
    """True when a rule that goes on is told as one that ends with a task."""
    seen = find_constraint(constraint, grounds.ledger.constraints)
    return constraint.scope is Scope.TASK and seen is not None and seen.scope is Scope.STANDING


def _is_said(quote: str, grounds: Grounds) -> bool:
    given = {one.quote for one in grounds.ledger.constraints if one.given}
    return bool(quote.strip()) and (quote in given or any(quote in text for text in grounds.human.values()))


def unsourced_lifts(summary: Summary, grounds: Grounds, lifts: Sequence[ProposedLift]) -> Iterator[Finding]:
    known = {one.id: one for one in (*grounds.previous.constraints, *grounds.ledger.constraints, *summary.constraints)}
    for lift in lifts:
        constraint = known.get(lift.id)
        if constraint is None or find_lift(constraint, lift, grounds.human) is None:
            yield Finding(
                code="constraint_lifted_unsourced", where="lifted", ids=(lift.id,), detail=lift.quote[:80], mended=True
            )


def _invented_tasks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for task in summary.tasks:
        if grounds.is_unchanged(task) or task.from_ledger:
            continue
        written = [task.id] if is_written_id(task) else []
        unseen = [one for one in (*written, *task.refs) if not grounds.holds(one, task.evidence)]
        if unseen:
            yield finding_on("task_invented", "tasks", task, ", ".join(unseen))


def _promoted_tasks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for task in summary.tasks:
        if not task.status.is_open and not grounds.is_unchanged(task) and _is_promoted(task, grounds):
            detail = f"{task.status} without a tool's or a person's evidence"
            yield finding_on("task_promoted", "tasks", task, detail)


def _is_promoted(task: Task, grounds: Grounds) -> bool:
    """What code saw decides; without it, a result or a person must show that it was done, not the assistant's word."""
    seen = find_task(task, [one for one in grounds.ledger.tasks if one.from_ledger])
    if seen is not None:
        return seen.status is not task.status
    if any(process.status == "running" and process.id in words_of(task) for process in grounds.ledger.background):
        return True
    before = find_task(task, grounds.previous.tasks)
    if before is not None and before.status is task.status:
        return False
    begun = find_task(task, grounds.ledger.tasks)
    old = {*(before.evidence if before and before.status.is_open else ())}
    old |= {one.evidence[0] for one in (before, begun) if one and one.evidence}
    known = before or begun
    worded = replace(task, text=f"{task.text} {known.text}") if known else task  # "all of it" speaks of every message
    return not any(_shows_end(worded, one, grounds) for one in task.evidence if one not in old)


def _shows_end(task: Task, message_id: str, grounds: Grounds) -> bool:
    """A person who says so of this task, or for a finished one a call that did something and speaks of it.

    What people say of a ticket by its id is read by code; a page or a file that was only looked at has ended nothing.
    """
    if not grounds.is_of(message_id, Origin.HUMAN):
        return task.status is TaskStatus.DONE and _was_worked_on(task, message_id, grounds)
    if is_written_id(task) and any(task.id in (one.id, *one.refs) for one in grounds.ledger.tasks):
        return False
    ended_in = done_in if task.status is TaskStatus.DONE else called_off_in
    said = ended_in(grounds.human.get(message_id, ""))
    return any(speaks_of(words, f"{task.id} {task.text}") for words in said)


_ANY_WORK = re.compile(
    r"(?i)\b(?:tests?|fix\w*|add\w*|updat\w*|files?|runs?|running|makes?|making|builds?|works?|working|checks?|code|"
    r"chang\w*|creat\w*|writ\w*|implement\w*|commits?|push\w*|reopen\w*|finish\w*|tasks?|issues?|fail\w*|start\w*)\b"
)
"""What the words of nearly every task and every call are: sharing them shows nothing."""


def _was_worked_on(task: Task, message_id: str, grounds: Grounds) -> bool:
    """By the call that is cited; or, where a report is cited, by a call of the turn that it closes."""
    own = replace(task, text=_ANY_WORK.sub(" ", task.text))
    if any(grounds.support(own, one) for one in grounds.acted(message_id)):
        return True
    acts = {act for one in grounds.turn_up_to(message_id) for act in grounds.acted(one)}
    return any(grounds.support(own, one) >= max(1, grounds.needed(own)) for one in acts)


def _unseen_fixes(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for error in summary.errors:
        is_new = error.fix is not None and not grounds.is_settled(error)
        if is_new and _was_unresolved(error, grounds) and not _is_seen_fixed(error, grounds):
            yield finding_on("fix_unseen", "errors", error, (error.fix or "")[:80])


def _was_unresolved(error: ErrorItem, grounds: Grounds) -> bool:
    """True for an error that the state holds as unresolved, or a failure after which code saw no success."""
    old = grounds.before.get(error.id)
    if isinstance(old, ErrorItem) and old.fix is None:
        return True
    return any(
        failure.resolved_by is None and not set(failure.evidence).isdisjoint(error.evidence)
        for failure in grounds.ledger.failures
    )


def _is_seen_fixed(error: ErrorItem, grounds: Grounds) -> bool:
    """Something later was done about it, or a person says so: cited, or found by the words of the fix."""
    failed = [failure for failure in grounds.ledger.failures if not set(failure.evidence).isdisjoint(error.evidence)]
    seen_last = max((message_index(one) or 0 for failure in failed for one in failure.evidence), default=-1)
    fix = ErrorItem(error=error.fix or "")
    later = [message for message in grounds.messages if message.index > seen_last]
    if any(speaks_of(words, error.error) for one in later for words in done_in(grounds.human.get(one.id, ""))):
        return True
    done = [message.id for message in later if grounds.acted(message.id)]
    return any(one in error.evidence or grounds.support(fix, one) > SHARED_WORDS for one in done)


def _evidence(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        if not grounds.supports(text):
            yield Finding(code="evidence_unsupported", where=name, detail=text[:80])
    for field, item in judged(summary, grounds):
        unknown = [one for one in item.evidence if not grounds.knows(one)]
        if unknown:
            yield finding_on("evidence_unknown", field, item, ", ".join(unknown[:5]))
        known = [one for one in item.evidence if grounds.knows(one)]
        if not is_supported(item, known, grounds):
            yield finding_on("evidence_unsupported", field, item, prose_of(item)[:80])


def is_supported(item: Item, cited: Sequence[str], grounds: Grounds) -> bool:
    """False when an item cites nothing, or messages that have nothing to do with it."""
    if isinstance(item, Constraint | FileItem | Reference):
        return True  # these copy something, and copies are checked letter by letter
    if isinstance(item, Check):
        if grounds.says(item.command):
            return True
        cited = [one for one in cited if not grounds.is_of(one, Origin.HUMAN)]  # an order is no run
        return any(grounds.holds_most(item.command, one) for one in cited)
    if isinstance(item, Task) and item.from_ledger:
        return True
    if not cited:
        return False
    if not grounds.can_judge(item, cited):
        return True
    return sum(grounds.support(item, one) for one in cited) >= grounds.needed(item)


def _facts(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if not isinstance(item, Problem) or item.kind is not ProblemKind.FACT:
            continue
        unseen = [one for one in item.evidence if grounds.knows(one) and not grounds.has(one)]
        if not any(grounds.shows(one) for one in item.evidence) and not unseen:
            yield finding_on("fact_without_evidence", field, item, item.text[:80])


FOREIGN_SHARE = 0.25
"""Of a memory's content words, that may stand nowhere: what other sessions will believe is told in this one's words."""


def _memories(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """How a person wants things and what they put right is known from that person alone; no memory is made up."""
    for field, item in judged(summary, grounds):
        if not isinstance(item, Memory):
            continue
        people = [one for one in item.evidence if grounds.is_of(one, Origin.HUMAN)]
        is_of_person = item.kind in (MemoryKind.PREFERENCE, MemoryKind.CORRECTION)
        foreign = len(grounds.foreign(item.text)) > FOREIGN_SHARE * len(content_words(item.text))
        if foreign or (is_of_person and not is_supported(item, people, grounds)):
            yield finding_on("memory_unsourced", field, item, item.text[:80])


def _quotes(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    step = summary.next_step
    if step is not None and not (step.quote.strip() and any(step.quote in said for said in grounds.human.values())):
        yield Finding(code="quote_not_verbatim", where="next_step", detail=step.quote[:80])
    for message in summary.user_messages:
        said = grounds.human.get(message.id)
        if said is None or (message.text != said and grounds.has(message.id)):
            yield Finding(code="quote_not_verbatim", where="user_messages", ids=(message.id,))


def _invented_identifiers(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        invented = invented_in(text, (), grounds)
        if invented:
            yield Finding(code="identifier_invented", where=name, detail=", ".join(invented))
    for field, item in judged(summary, grounds):
        if isinstance(item, Task) and item.from_ledger:
            continue
        text = prose_of(item) if isinstance(item, Task) else words_of(item)
        invented = invented_in(text, item.evidence, grounds)
        if invented:
            yield finding_on("identifier_invented", field, item, ", ".join(invented))


def invented_in(text: str, cited: Sequence[str], grounds: Grounds) -> list[str]:
    """The identifiers of a text that stand nowhere in the transcript; a path may have its root added."""
    return [
        value
        for kind, value in find_identifiers(text)
        if kind in _CHECKED_KINDS
        and not grounds.holds(value, cited)
        and not grounds.holds(_core_of(kind, value), cited)
    ]


def _core_of(kind: str, value: str) -> str:
    """What must be there of a value that a writer may have joined: the file of a path, a location without its line."""
    if kind == "path":
        return value.rstrip("/").rpartition("/")[2].partition(":")[0] or value
    return value.rstrip("/") if kind == "url" else value


SOURCES = (
    _constraints,
    _invented_tasks,
    _promoted_tasks,
    _unseen_fixes,
    _evidence,
    _facts,
    _memories,
    _quotes,
    _invented_identifiers,
)
