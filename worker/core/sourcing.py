"""Does what a summary says have a source: messages that say it, a person who said it, a string that exists?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from worker.core.asserting import names_in
from worker.core.attitudes import is_refused_by_person
from worker.core.checkpoint import Finding
from worker.core.clauses import against, banned, forbidden_actions, is_careful, meaning_stems, orders, whole_clause
from worker.core.failures import tells_failure
from worker.core.founding import denied_value
from worker.core.grounds import SHARED_WORDS, Grounds
from worker.core.identifiers import contains_identifier, find_identifiers
from worker.core.items import EVIDENCE_KEPT, is_written_id, newest_evidence, prose_of, words_of
from worker.core.judging import finding_on, judged, texts_of
from worker.core.ledger import Background, Failure
from worker.core.lifting import ProposedLift, find_lift
from worker.core.messages import Origin, message_index
from worker.core.obligations import find_constraint, find_task
from worker.core.outcomes import failed_instead, was_done_by_call
from worker.core.rules import called_off_in, done_in, forbids, is_swapped, is_weakened, limits, speaks_of
from worker.core.showing import found_elsewhere
from worker.core.summary import (
    Check,
    CheckResult,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    NextStep,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Scope,
    Summary,
    Task,
    TaskStatus,
)
from worker.core.turning import (
    copied_from,
    denied_absence,
    denied_state,
    has_other_number,
    mixes_clauses,
    negates,
    refused_in,
    swapped_counts,
    turned_output,
    turned_sentence,
    wrong_measures,
)
from worker.core.wording import numbers, says_the_same, sentences, wording

_CHECKED_KINDS = frozenset({"url", "hash", "uuid", "ticket", "call", "host_port", "ip", "email", "path", "commit"})


def _constraints(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for constraint in summary.constraints:
        old = grounds.before.get(constraint.id)
        known = old.quote if isinstance(old, Constraint) else None
        if not constraint.given and constraint.quote != known and not _is_said(constraint.quote, grounds):
            yield finding_on("constraint_unsourced", "constraints", constraint, constraint.quote[:80])
        said = "\n".join(grounds.human.get(one, "") for one in constraint.evidence) or constraint.quote
        if (
            _is_turned(constraint, grounds)
            or _is_cut_short(constraint, grounds)
            or (known is None and not constraint.given and is_swapped(constraint.rule, constraint.quote, said))
        ):
            yield finding_on("constraint_weakened", "constraints", constraint, constraint.rule[:80])
        lifted_before = isinstance(old, Constraint) and old.lifted == constraint.lifted
        if constraint.lifted and not lifted_before and not find_lift(constraint, constraint.lifted, grounds.human):
            yield finding_on("constraint_lifted_unsourced", "constraints", constraint, constraint.lifted.quote[:80])


def _is_turned(constraint: Constraint, grounds: Grounds) -> bool:
    """True for a rule that is weaker than the person's words, or has a number that nobody named."""
    if is_weakened(constraint.rule, clause_of(constraint, grounds)):
        return True
    return not constraint.given and bool(grounds.invented_numbers(constraint.rule))


def clause_of(constraint: Constraint, grounds: Grounds) -> str:
    """The constraint's quote, with what its clause forbids or limits where the person said it."""
    said = next((text for text in grounds.human.values() if constraint.quote in text), "")
    return constraint.quote if constraint.given else whole_clause(constraint.quote, said)


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
    """What code saw decides; without it, a person must say so, or a call have done it: not the assistant's word.

    A call that came to nothing has done nothing, whatever else is cited.
    """
    seen = find_task(task, [one for one in grounds.ledger.tasks if one.from_ledger])
    if seen is not None:
        return seen.status is not task.status
    if any(process.status == "running" and _is_of_process(task, process) for process in grounds.ledger.background):
        return True
    before = find_task(task, grounds.previous.tasks)
    if before is not None and before.status is task.status:
        return False
    begun = find_task(task, grounds.ledger.tasks)
    old = {*(before.evidence if before and before.status.is_open else ())}
    old |= {one.evidence[0] for one in (before, begun) if one and one.evidence}
    known = before or begun
    worded = replace(task, text=f"{task.text} {known.text}") if known else task  # "all of it" speaks of every message
    new = [one for one in task.evidence if one not in old]
    if any(_says_end(worded, one, grounds) for one in new):
        return False
    if task.status is not TaskStatus.DONE or _failed(worded, grounds):
        return True
    if any(_was_worked_on(worded, one, grounds) for one in new if not grounds.is_of(one, Origin.HUMAN)):
        return False
    return not was_done_by_call(task, grounds.outcomes())


def _failed(task: Task, grounds: Grounds) -> bool:
    resolved = {one for failure in grounds.ledger.failures if failure.resolved_by for one in failure.evidence}
    return failed_instead(task, grounds.outcomes(), resolved) is not None


def _is_of_process(task: Task, process: Background) -> bool:
    return process.id in words_of(task) or says_the_same(wording(task.text), wording(process.text))


def _says_end(task: Task, message_id: str, grounds: Grounds) -> bool:
    """A person says so of this task; what people say of a ticket by its id is read by code."""
    if not grounds.is_of(message_id, Origin.HUMAN):
        return False
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
    """By the call that is cited, which speaks of the task; or, where a report is cited, by a call of its turn.

    A page or a file that was only looked at has ended nothing.
    """
    cited = [one for one in grounds.outcomes() if message_id in one.evidence]
    worked = {one for outcome in cited if outcome.is_work for one in outcome.evidence}
    if any(_names_task(task, one, grounds) for one in worked):
        return True
    own = Problem(kind=ProblemKind.CLAIM, text=_ANY_WORK.sub(" ", _without_ids(task)))
    if any(grounds.support(own, one) for one in worked):
        return True
    if not worked and any(outcome.is_void for outcome in cited):
        return False
    turn = set(grounds.turn_up_to(message_id))
    acts = {
        one
        for outcome in grounds.outcomes()
        if outcome.is_work and turn.intersection(outcome.evidence)
        for one in outcome.evidence
        if one in turn
    }
    return any(grounds.support(own, one) >= max(1, grounds.needed(task)) for one in acts)


def _names_task(task: Task, message_id: str, grounds: Grounds) -> bool:
    """True for one of its own ids, whole: "GH-77" speaks of no "GH-78"."""
    return any(contains_identifier(grounds.folded(message_id), one.casefold()) for one in _written_ids(task))


def _written_ids(task: Task) -> tuple[str, ...]:
    return (task.id, *task.refs) if is_written_id(task) else task.refs


def _without_ids(task: Task) -> str:
    text = task.text
    for one in _written_ids(task):
        text = text.replace(one, " ")
    return text


def _reopened_tasks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A task that a person ended by its id, told as open with no later message for it."""
    ended = {task.id: task for task in grounds.ledger.tasks if task.from_ledger and not task.status.is_open}
    for task in summary.tasks:
        seen = ended.get(task.id)
        if seen is not None and task.status.is_open and newest_evidence(task) <= newest_evidence(seen):
            yield finding_on("task_reopened", "tasks", task, f"{task.status}, but a person ended it")


def _unseen_fixes(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for error in summary.errors:
        if error.fix is None or grounds.is_settled(error) or found_elsewhere(error, grounds):
            continue  # wrong citations are mended first, and the fix is judged by the right ones
        is_forbidden = broken_rule(error.fix, grounds) is not None
        if not is_forbidden and _is_seen_fixed(error, grounds):
            continue
        if is_forbidden or _was_unresolved(error, grounds) or not _is_shown_later(error, grounds):
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


def _is_shown_later(error: ErrorItem, grounds: Grounds) -> bool:
    """For an error that code did not see: a message cited behind the first one shows something of the fix."""
    known = {message_index(one) or 0: one for one in error.evidence if grounds.has(one)}
    if len(known) < len(error.evidence) or any(failure.evidence[0] in error.evidence for failure in _seen(grounds)):
        return True
    fix = ErrorItem(error=error.fix or "")
    return any(grounds.shows(one) and grounds.support(fix, one) > 0 for at, one in known.items() if at > min(known))


def _seen(grounds: Grounds) -> list[Failure]:
    return [failure for failure in grounds.ledger.failures if failure.evidence]


def _is_seen_fixed(error: ErrorItem, grounds: Grounds) -> bool:
    """Something later was done about it, or a person says so: cited, or found by the words of the fix."""
    failed = [failure for failure in grounds.ledger.failures if not set(failure.evidence).isdisjoint(error.evidence)]
    cited_first = min((message_index(one) or 0 for one in error.evidence), default=-1)
    seen_last = max((message_index(one) or 0 for failure in failed for one in failure.evidence), default=cited_first)
    fix = ErrorItem(error=error.fix or "")
    later = [message for message in grounds.messages if message.index > seen_last]
    if any(speaks_of(words, error.error) for one in later for words in done_in(grounds.human.get(one.id, ""))):
        return True
    done = [message.id for message in later if grounds.acted(message.id)]
    return any(one in error.evidence or grounds.support(fix, one) > SHARED_WORDS for one in done)


def _no_references(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """The name of a tool is nothing that can be looked up again, and a statement has its own sections."""
    for reference in summary.references:
        is_none = reference.value in grounds.tools or _is_statement(reference)
        if is_none and not grounds.is_settled(reference):
            yield finding_on("reference_unusable", "references", reference, reference.value[:80])


def _is_statement(reference: Reference) -> bool:
    return reference.kind is ReferenceKind.OTHER and len(reference.value.split()) > MOST_REFERENCE_WORDS


def _turned_checks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for check in summary.checks:
        if check.result is CheckResult.PASSED and not grounds.is_settled(check) and is_seen_failed(check, grounds):
            yield finding_on("check_unseen", "checks", check, "passed, but the result that is cited says failed")


def is_seen_failed(check: Check, grounds: Grounds) -> bool:
    """True when the newest result that is cited for the check tells a failure, or else the newest run that code saw."""
    results = [result for one in check.evidence for result in grounds.results(one)]
    if results:
        return tells_failure(results[-1])
    known = [one for one in grounds.ledger.failures if one.command == check.command]
    return bool(known) and known[-1].resolved_by is None


def _against_rules(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        if name != "current_work" and (quote := broken_rule(text, grounds)):
            yield Finding(code="order_against_rule", where=name, detail=quote[:80])
    for field, item in judged(summary, grounds):
        is_order = isinstance(item, Task) and item.status.is_open and not item.from_ledger
        if (is_order or (isinstance(item, Problem) and item.kind is ProblemKind.DECISION)) and (
            quote := broken_rule(prose_of(item), grounds)
        ):
            yield finding_on("order_against_rule", field, item, quote[:80])


TOLD_WITH_RULE = '(but: "'
"""How a rule is put behind what breaks it."""


def broken_rule(text: str, grounds: Grounds) -> str | None:
    """The words of a person that the text turns round: it orders what they forbid, and no person ever ordered it."""
    known = (*grounds.ledger.constraints, *grounds.previous.constraints)
    rules = [(one.rule, one.quote) for one in known if one.in_force]
    return next((quote for quote in against(text, rules) if not _is_ordered(text, quote, grounds)), None)


def _is_ordered(text: str, quote: str, grounds: Grounds) -> bool:
    actions = [action for action in forbidden_actions(quote) if orders(text, action)]
    return any(orders(said, action) for said in grounds.human.values() for action in actions)


def _evidence(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        if not grounds.supports(text):
            yield Finding(code="evidence_unsupported", where=name, detail=text[:80])
    for field, item in judged(summary, grounds):
        unknown = [one for one in item.evidence if not grounds.knows(one)]
        if len(item.evidence) > EVIDENCE_KEPT:
            yield finding_on("evidence_runs_on", field, item, f"{len(item.evidence)} messages")
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
        if _is_denied_state(item, grounds):
            yield finding_on("success_denied", field, item, item.text[:80])
            continue
        unseen = [one for one in item.evidence if grounds.knows(one) and not grounds.has(one)]
        showing = [one for one in item.evidence if grounds.shows(one)]
        is_shown = bool(showing) and (
            grounds.shows_enough(item.text, showing) or not is_supported(item, showing, grounds)
        )  # wrong citations are mended first, and the item is judged again by the right ones
        if not unseen and not is_shown:
            yield finding_on("fact_without_evidence", field, item, item.text[:80])


LONGEST_QUOTE_CHARS = 400


def _turned(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A near copy that says the opposite of what it cites, or its number in another unit."""
    for field, item in judged(summary, grounds):
        if not isinstance(item, Memory | Problem):
            continue
        if _can_be_turned(item) and (
            turned_words(item, grounds) or _is_mismeasured(item, grounds) or words_instead(item, grounds)
        ):
            yield finding_on("statement_turned", field, item, item.text[:80])


def _can_be_turned(item: Item) -> bool:
    return isinstance(item, Memory) or (
        isinstance(item, Problem) and item.kind in (ProblemKind.FACT, ProblemKind.DECISION)
    )


def turned_words(item: Memory | Problem, grounds: Grounds) -> str | None:
    """The sentence of a person that the item turns round, None when there is none.

    What tools print is not judged so: "could not upload" is true of "403 Forbidden", which holds no "not".
    """
    said = _sentences_of_people(item, grounds)
    is_wish = isinstance(item, Memory) or item.kind is ProblemKind.DECISION
    refused = (refused_in(item.text, said) or _banned_by(item.text, said)) if is_wish else None
    return turned_sentence(item.text, said) or refused


def _banned_by(text: str, said: Sequence[str]) -> str | None:
    """The sentence that forbids in one word what a text says is wanted; longer ones are told as rules it breaks."""
    head = re.split(r"(?i)\bwithout\b", text, maxsplit=1)[0]
    if is_careful(head) or negates(head):
        return None
    stems = set(meaning_stems(head))
    return next((words for words in said if any(len(ban) == 1 and set(ban) <= stems for ban in banned(words))), None)


def words_instead(item: Memory | Problem, grounds: Grounds) -> str | None:
    """The words to tell instead of a near copy of what is cited with another name, number or count, or a "not" gone."""
    said = _sentences_of_people(item, grounds)
    printed = [words for one in item.evidence for words in _printed_sentences(one, grounds)]
    turned = turned_output(item.text, printed)
    cited = "\n".join(text(one) for one in item.evidence for text in (grounds.folded, grounds.shown))
    if denied := denied_value(item.text, grounds):
        return denied
    strange = [name for name in names_in(item.text) if name.casefold() not in cited]
    source = copied_from(item.text, [*said, *printed], but_for=strange)
    if turned is not None or source is None:
        return turned or _recounted(item, grounds)
    wrong = has_other_number(item.text, source) and any(
        number not in cited for number in numbers(item.text) - numbers(source)
    )
    mixed = isinstance(item, Memory) and source in said and mixes_clauses(item.text, source)
    swapped = strange and (_OWN.search(source) or not set(names_in(source)) <= set(names_in(item.text)))
    return source if swapped or wrong or mixed else _recounted(item, grounds)


_OWN = re.compile(r"(?i)\b(?:my|our)\b|我的|我们的|私の|うちの")


def _recounted(item: Memory | Problem, grounds: Grounds) -> str | None:
    lines = (swapped_counts(item.text, result.text) for one in item.evidence for result in grounds.results(one))
    return next(("; ".join(found) for found in lines if found), None)


def _sentences_of_people(item: Item, grounds: Grounds) -> list[str]:
    return [words for one in item.evidence for words in sentences(grounds.human.get(one, ""))]


def _printed_sentences(message_id: str, grounds: Grounds) -> list[str]:
    return [
        words
        for result in grounds.results(message_id)
        for words in sentences(result.text[:LONGEST_READ_CHARS])
        if len(words) <= LONGEST_QUOTE_CHARS
    ]


LONGEST_READ_CHARS = 20_000


def _is_denied_state(item: Problem, grounds: Grounds) -> bool:
    """True for a state that a cited output denies in so many words."""
    shown = [result.text for one in item.evidence for result in grounds.results(one)]
    return any(denied_state(item.text, text) or denied_absence(item.text, text) for text in shown)


def _is_mismeasured(item: Memory | Problem, grounds: Grounds) -> bool:
    if isinstance(item, Problem) and item.kind is ProblemKind.DECISION:
        return False
    return bool(wrong_measures(item.text, _shown_by(item, grounds)))


def _shown_by(item: Item, grounds: Grounds) -> list[str]:
    return [grounds.shown(one) for one in item.evidence if grounds.shows(one)]


_DECIDES_FOR_PERSON = re.compile(
    r"\b(?:user|human|person|they|he|she|client|customer) (?:has |have )?(?:decided|approved|confirmed|chose|agreed|"
    r"accepted|allowed|wants?|asked|told)\b|\b(?:approved|confirmed|decided|requested) by (?:the )?"
    r"(?:user|human|person)\b|用户(?:决定|同意|批准|确认|选择|要求)|ユーザー(?:が|は).{0,20}(?:決|承認|同意|選)",
    re.IGNORECASE,
)


def _decisions(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A decision that is told as a person's, and that no message of a person shows."""
    for field, item in judged(summary, grounds):
        if not isinstance(item, Problem) or item.kind is not ProblemKind.DECISION:
            continue
        people = [one for one in item.evidence if grounds.is_of(one, Origin.HUMAN)]
        told = _DECIDES_FOR_PERSON.sub(" ", item.text)
        said = replace(item, text=told)
        shows = bool(people) and (not grounds.can_judge(said, people) or is_supported(said, people, grounds))
        if told != item.text and not shows:
            yield finding_on("decision_unsourced", field, item, item.text[:80])


MOST_REFERENCE_WORDS = 8

FOREIGN_SHARE = 0.25
"""Of a memory's content words, that may stand nowhere: what other sessions will believe is told in this one's words."""


def _memories(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """How a person wants things and what they put right is known from that person alone; no memory is made up."""
    for field, item in judged(summary, grounds):
        if not isinstance(item, Memory):
            continue
        people = [one for one in item.evidence if grounds.is_of(one, Origin.HUMAN)]
        is_of_person = item.kind in (MemoryKind.PREFERENCE, MemoryKind.CORRECTION)
        foreign = len(grounds.foreign(item.text, of_person=is_of_person)) > FOREIGN_SHARE * len(
            meaning_stems(item.text)
        )
        turned = item.kind is MemoryKind.PREFERENCE and is_refused_by_person(item, grounds)
        if foreign or turned or (is_of_person and not is_supported(item, people, grounds)):
            yield finding_on("memory_unsourced", field, item, item.text[:80])


def _quotes(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    step = summary.next_step
    if step is not None and not (step.quote.strip() and any(step.quote in said for said in grounds.human.values())):
        yield Finding(code="quote_not_verbatim", where="next_step", detail=step.quote[:80])
    elif step is not None and not _serves(step, grounds):
        yield Finding(code="next_step_unasked", where="next_step", detail=step.text[:80])
    elif step is not None and whole_sentence(step.quote, grounds) != step.quote:
        yield Finding(code="quote_cut_short", where="next_step", detail=step.quote[:80])
    for message in summary.user_messages:
        said = grounds.human.get(message.id)
        if said is None or (message.text != said and grounds.has(message.id)):
            yield Finding(code="quote_not_verbatim", where="user_messages", ids=(message.id,))


def _serves(step: NextStep, grounds: Grounds) -> bool:
    """False when the step shares no word with the message that it quotes, nor with what that message answers."""
    quoted = [one for one, text in grounds.human.items() if step.quote in text]
    told = Problem(kind=ProblemKind.CLAIM, text=step.text)
    return not grounds.can_judge(told, quoted) or any(grounds.support(told, one) for one in quoted)


def whole_sentence(quote: str, grounds: Grounds) -> str:
    """The sentence of a person from which a quote leaves out what forbids or limits; else the quote."""
    said = next((text for text in grounds.human.values() if quote in text), "")
    sentence = next((words for words in sentences(said) if quote in words), quote)
    turned = (forbids(sentence) or limits(sentence)) and not (forbids(quote) or limits(quote))
    return sentence if turned and len(sentence) <= LONGEST_QUOTE_CHARS else quote


def _invented_identifiers(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        invented = invented_in(text, (), grounds) or grounds.invented_numbers(text)
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
        and not (kind == "ticket" and grounds.numbers_a_ticket(value))
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
    _reopened_tasks,
    _unseen_fixes,
    _no_references,
    _turned_checks,
    _against_rules,
    _evidence,
    _turned,
    _facts,
    _decisions,
    _memories,
    _quotes,
    _invented_identifiers,
)
