"""What a summary of a range must hold, whoever wrote it: constraints, open tasks, errors, identifiers, true changes.

`validation` asks these; `mending` adds what they miss.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from worker.core.checkpoint import Finding
from worker.core.clauses import leaves_an_order
from worker.core.drafting import draft_errors
from worker.core.grounds import Grounds
from worker.core.identifiers import find_identifiers
from worker.core.items import words_of
from worker.core.judging import finding_on, summary_words
from worker.core.ledger import Identifier
from worker.core.messages import Origin
from worker.core.rules import speaks_of
from worker.core.summary import (
    Change,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    Problem,
    Summary,
    Task,
    with_id,
)
from worker.core.wording import content_words, normal, says_the_same, wording

REQUIRED_ERRORS = 12
"""Unresolved failures of a range that must appear, newest first; a session of failing greps has hundreds."""

REQUIRED_FILES = 60
"""Files that a range wrote and that must appear, newest first; a code generator writes hundreds, the ledger has all."""

REQUIRED_IDENTIFIERS = 40
"""Identifiers of calls that must appear; the ledger has all. A list without end starves the other sections."""

REQUIRED_DECISIONS = 12
"""Decisions of people in a range that must appear, newest first."""

_WRITTEN = frozenset({Change.CREATED, Change.EDITED, Change.DELETED})
_COLOUR = re.compile(r"#\d{6}")
"""As a ticket id of six digits looks: of the two, style sheets and themes are full of these."""

_REQUIRED_KINDS = frozenset({"uuid", "hash", "ticket", "url", "ip", "host_port", "commit"})
_REQUIRED_ONCE = frozenset({"uuid", "hash", "ticket", "commit"})


def find_task(wanted: Task, tasks: Sequence[Task]) -> Task | None:
    """The task of the list that is the wanted one: by a written id, else by its words."""
    ids = {one for one in (wanted.id, *wanted.refs) if one}
    named = next((task for task in tasks if ids & {task.id, *task.refs}), None)
    if named is not None:
        return named
    said = wording(wanted.text)
    return next((task for task in tasks if says_the_same(wording(task.text), said)), None)


def _missing_tasks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    before = [] if grounds.of_part else [task for task in grounds.previous.tasks if task.status.is_open]
    told = {one for task in summary.tasks for one in (task.id, *task.refs) if one}
    for task in (*grounds.ledger.tasks, *before):
        # Nearly every task is found by its id: only the others are looked for among all.
        if told.isdisjoint((task.id, *task.refs)) and find_task(task, summary.tasks) is None:
            yield Finding(code="task_missing", where="tasks", ids=(task.id,), detail=task.text[:80])


def find_constraint(wanted: Constraint, constraints: Sequence[Constraint]) -> Constraint | None:
    """The constraint of that id, else the one whose quote holds or is held by the wanted one's."""
    named = next((one for one in constraints if one.id == wanted.id), None)
    quote = _compared(wanted.quote)
    if named is not None or not quote:
        return named
    return next(
        (one for one in constraints if (other := _compared(one.quote)) and (quote in other or other in quote)), None
    )


@lru_cache(maxsize=4_096)
def _compared(quote: str) -> str:
    """Every constraint that is wanted is compared with every one that is there."""
    return normal(quote)


def _missing_constraints(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    before = () if grounds.of_part else grounds.previous.constraints
    for constraint in (*grounds.ledger.constraints, *before):
        if not is_told_whole(constraint, summary.constraints):
            yield finding_on("constraint_missing", "constraints", constraint, constraint.rule[:80])


def is_told_whole(constraint: Constraint, told: Sequence[Constraint]) -> bool:
    """False for one of which only a piece is told: "never do A, and don't do B" is not told by its first half."""
    quote = _compared(constraint.quote)
    if not quote or any(one.id == constraint.id for one in told):
        return find_constraint(constraint, told) is not None
    quotes = [other for one in told if (other := _compared(one.quote))]
    if any(quote in other for other in quotes):
        return True
    rest = quote
    for piece in sorted(quotes, key=len, reverse=True):
        rest = rest.replace(piece, " ")
    return rest != quote and not leaves_an_order(rest)


def _missing_errors(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for error in missing_errors(summary, grounds):
        yield finding_on("error_missing", "errors", error, error.error[:80])


def missing_errors(summary: Summary, grounds: Grounds) -> list[ErrorItem]:
    """The newest unresolved failures of the ledger that nothing in the summary tells."""
    told = (*summary.errors, *summary.checks, *summary.problem_solving)
    unresolved = [error for error in draft_errors(grounds.ledger.failures) if error.fix is None][:REQUIRED_ERRORS]
    return [error for error in unresolved if not any(_tells(item, error) for item in told)]


_SHORT_WORD_CHARS = 3
"""A word of a command that is not longer tells none apart: py, src, run."""


def _tells(item: Item, error: ErrorItem) -> bool:
    """Cites the failure and names what failed, if only by a word: with another command it is another failure."""
    if set(item.evidence).isdisjoint(error.evidence):
        return False
    command = error.error.partition("` ")[0] if error.error.startswith("`") else ""
    telling = [word for word in content_words(command) if len(word) > _SHORT_WORD_CHARS]
    said = words_of(item).casefold()
    return not telling or any(word in said for word in telling)


def _lost_identifiers(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    lost = lost_identifiers(summary, grounds)
    if lost:
        values = tuple(one.value for one in lost)
        yield Finding(
            code="identifier_lost", where="references", ids=values, detail=f"{len(values)} not in the summary"
        )


def lost_identifiers(summary: Summary, grounds: Grounds) -> list[Identifier]:
    """Identifiers that must appear and do not: those of calls in the range, and those that earlier items named."""
    said = summary_words(summary)
    before = [
        Identifier(kind=kind, value=value, evidence=item.evidence)
        for item in ([] if grounds.of_part else grounds.before.values())
        for kind, value in find_identifiers(words_of(item))
        if kind in _REQUIRED_KINDS
    ]
    wanted = {one.value: one for one in (*before, *required_identifiers(grounds))}
    return [one for value, one in wanted.items() if value not in said]


def required_identifiers(grounds: Grounds) -> list[Identifier]:
    """Of the ledger's identifiers those that a call or the assistant used; people's stand verbatim in section 6."""
    named = [
        one
        for one in grounds.ledger.identifiers
        if one.kind in _REQUIRED_KINDS
        and not _COLOUR.fullmatch(one.value)
        and (one.kind in _REQUIRED_ONCE or len(one.evidence) > 1)
        and any(grounds.is_of(cited, Origin.ASSISTANT) for cited in one.evidence)
        and not any(grounds.is_of(cited, Origin.HUMAN) for cited in one.evidence)
    ]
    return sorted(named, key=lambda one: -len(one.evidence))[:REQUIRED_IDENTIFIERS]


def _files(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for file, seen in misjudged_files(summary, grounds):
        yield finding_on("file_change_unseen", "files", file, f"{file.change}, but the calls show {seen}")


def misjudged_files(summary: Summary, grounds: Grounds) -> Iterator[tuple[FileItem, Change]]:
    """Files whose told change is not the one that the calls show."""
    touched = _by_name(grounds.ledger.files)
    for file in summary.files:
        same_name = touched.get(_name(file.path), ())
        seen = next((one.change for one in same_name if is_same_path(one.path, file.path)), None)
        if seen is None and file.change in _WRITTEN and not _is_named(file, grounds):
            seen = Change.MENTIONED
        elif seen is Change.MENTIONED:
            seen = None
        if seen is not None and seen is not file.change:
            old = grounds.before.get(file.id)
            if not (isinstance(old, FileItem) and old.change is file.change):
                yield file, seen


def _is_named(file: FileItem, grounds: Grounds) -> bool:
    """True when a call can have made the change that is told."""
    name = _name(file.path)
    return grounds.is_deletion(name) if file.change is Change.DELETED else grounds.is_named_by_act(name)


def _missing_files(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    missing = missing_files(summary, grounds)
    if missing:
        ids = tuple(file.id for file in missing)
        yield Finding(code="file_missing", where="files", ids=ids, detail=f"{len(missing)} written and not told")


def missing_files(summary: Summary, grounds: Grounds) -> list[FileItem]:
    """The newest files that the calls wrote and the summary does not list."""
    written = [file for file in reversed(grounds.ledger.files) if file.change in _WRITTEN][:REQUIRED_FILES]
    told = _by_name(summary.files)
    return [
        with_id(file)
        for file in written
        if not any(is_same_path(file.path, one.path) for one in told.get(_name(file.path), ()))
    ]


def _by_name(files: Iterable[FileItem]) -> dict[str, list[FileItem]]:
    """The files by what stands behind the last slash: only those of one name can be the same file."""
    named: dict[str, list[FileItem]] = {}
    for file in files:
        named.setdefault(_name(file.path), []).append(file)
    return named


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _missing_corrections(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for memory in missing_corrections(summary, grounds):
        yield finding_on("correction_missing", "memories", memory, memory.text[:80])


def missing_corrections(summary: Summary, grounds: Grounds) -> list[Memory]:
    """What people put right in the range and no memory that cites them says, with all numbers and names of it."""
    return [memory for memory in grounds.put_right() if not any(_says_it(one, memory) for one in summary.memories)]


def _missing_decisions(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for decision in missing_decisions(summary, grounds):
        yield finding_on("decision_missing", "problem_solving", decision, decision.text[:80])


def missing_decisions(summary: Summary, grounds: Grounds) -> list[Problem]:
    """What people decided in the range and no item cites: without a reversal, what it reversed would stand."""
    items = (*summary.problem_solving, *summary.constraints, *summary.tasks, *summary.memories)
    cited = {one for item in items for one in item.evidence}
    return [one for one in grounds.decided()[-REQUIRED_DECISIONS:] if one.evidence[-1] not in cited]


def _says_it(told: Memory, correction: Memory) -> bool:
    if set(told.evidence).isdisjoint(correction.evidence):
        return False
    return wording(correction.text).details <= wording(told.text).details and speaks_of(told.text, correction.text)


def is_same_path(one: str, other: str) -> bool:
    """True for one file, named from the project and from the root."""
    short, long = sorted((one.removeprefix("./"), other.removeprefix("./")), key=len)
    return bool(short) and (short == long or long.endswith(f"/{short}"))


OBLIGATIONS = (
    _missing_constraints,
    _missing_tasks,
    _missing_files,
    _lost_identifiers,
    _missing_errors,
    _missing_corrections,
    _missing_decisions,
    _files,
)
