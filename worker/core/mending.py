"""Puts right what code can put right in a summary, and says so; the rest goes to the model, then to the draft.

The ledger adds what is missing, people's words give back quotes and rules, and what nothing supports goes. Which
findings there are is `validation`'s business.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from worker.core.checkpoint import Finding
from worker.core.citing import holders
from worker.core.clauses import meaning_stems
from worker.core.dates import absolute_dates
from worker.core.demoting import DEMOTIONS, with_text
from worker.core.drafting import draft
from worker.core.grounds import Grounds
from worker.core.items import (
    is_protected,
    is_written_id,
    items_of,
    join_evidence,
    map_all_texts,
    map_prose,
    with_items,
    words_of,
)
from worker.core.judging import texts_of
from worker.core.ledger import Identifier, Ledger
from worker.core.messages import Message
from worker.core.obligations import (
    find_constraint,
    find_task,
    is_told_whole,
    lost_identifiers,
    misjudged_files,
    missing_corrections,
    missing_decisions,
    missing_errors,
    missing_files,
)
from worker.core.phrasing import without_instructions
from worker.core.rules import as_rule, is_weakened
from worker.core.secrets import redact
from worker.core.showing import SAID_FIXED
from worker.core.sourcing import (
    LONGEST_QUOTE_CHARS,
    TOLD_WITH_RULE,
    broken_rule,
    clause_of,
    is_supported,
    turned_words,
    whole_sentence,
    words_instead,
)
from worker.core.summary import (
    Check,
    CheckResult,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    item_id,
    with_id,
)
from worker.core.validation import judge
from worker.core.wording import content_words, first_verbatim, normal, sentences

ROUNDS = 4
"""Mending one thing can uncover another: an item that goes takes an identifier with it. Four rounds end every chain."""

UNSUPPORTED_SHARE = 1 / 3
"""Of the items; from there on it is not the citations that are wrong but the answer."""

UNSUPPORTED_FLOOR = 4

SAME_RULE = 0.6
"""Share of a rule's content words that one sentence of a person must hold to be its source."""

BEST_CITED = 4

Mender = Callable[[Summary, Finding, Grounds], Summary | None]


def mend(
    summary: Summary,
    findings: Sequence[Finding],
    *,
    ledger: Ledger,
    messages: Sequence[Message],
    previous: Summary | None = None,
    grounds: Grounds | None = None,
) -> tuple[Summary, tuple[Finding, ...]]:
    """The summary with everything put right that code can, and all findings: those that were mended say so.

    Findings that mending brings to light are mended and reported too, so nothing mendable is left. grounds: those on
    which the findings were made, which remember what they have read.
    """
    grounds = grounds or Grounds(messages, ledger, previous)
    settled: dict[tuple[str, str, tuple[str, ...]], Finding] = {}
    for _ in range(ROUNDS):
        summary, judged = _mend_once(summary, findings, grounds)
        settled.update({(one.code, one.where, one.ids): one for one in judged})
        if not any(one.mended for one in judged):
            break
        again = judge(summary, grounds)
        findings = [one for one in again if (one.code, one.where, one.ids) not in settled or _was_mended(one, settled)]
    return summary, tuple(settled.values())


def _was_mended(finding: Finding, settled: dict[tuple[str, str, tuple[str, ...]], Finding]) -> bool:
    return settled[finding.code, finding.where, finding.ids].mended


def _mend_once(summary: Summary, findings: Sequence[Finding], grounds: Grounds) -> tuple[Summary, list[Finding]]:
    beyond = _beyond_citations(summary, findings)
    judged: list[Finding] = []
    for finding in findings:
        mender = (
            None
            if finding.mended or (beyond and finding.code == "evidence_unsupported")
            else _MENDERS.get(finding.code)
        )
        mended = mender(summary, finding, grounds) if mender else None
        summary = summary if mended is None else mended
        judged.append(finding if mended is None else replace(finding, mended=True))
    return summary, judged


def _beyond_citations(summary: Summary, findings: Sequence[Finding]) -> bool:
    """Whether so many items cite what has nothing to do with them. One that cites nothing may just lack the field."""
    citing = {item.id for _, item in items_of(summary) if item.evidence}
    accused = sum(one.code == "evidence_unsupported" and not citing.isdisjoint(one.ids) for one in findings)
    return accused >= UNSUPPORTED_FLOOR and accused > UNSUPPORTED_SHARE * sum(1 for _ in items_of(summary))


def strike(
    summary: Summary,
    findings: Sequence[Finding],
    *,
    ledger: Ledger,
    messages: Sequence[Message],
    previous: Summary | None = None,
) -> tuple[Summary, tuple[Finding, ...]]:
    """After a repair that did not help: without the lies that are left, so that one invented hash costs one item.

    An accused item that the state or the ledger has stands again as it stood there, so nothing known is lost; an
    accused text becomes the draft's. Mere flaws of wording are kept and settled. Findings about the whole summary stay
    unmended.
    """
    left = [one for one in findings if not one.mended]
    lies = {(one.where, item) for one in left for item in one.ids if one.code not in FLAWS}
    known = _known_items(ledger, previous)
    summary = with_items(summary, lambda field, item: _struck(item, known) if (field, item.id) in lies else item)
    lying = [one.where for one in left if _is_of_text(one) and one.code not in FLAWS]
    safe = draft(ledger, messages) if lying else summary
    texts: dict[str, Any] = {name: getattr(safe, name) for name in lying}
    settled = [replace(one, mended=bool(one.ids) or _is_of_text(one)) for one in left]
    return replace(summary, **texts), (*(one for one in findings if one.mended), *settled)


FLAWS = frozenset({"reference_unresolved", "relative_date"})
"""What reads badly and is not untrue."""


def _is_of_text(finding: Finding) -> bool:
    return finding.where in _TEXTS and not finding.ids


def _known_items(ledger: Ledger, previous: Summary | None) -> dict[str, Item]:
    seen = (*ledger.tasks, *ledger.constraints, *ledger.files, *ledger.references, *ledger.checks)
    before = [item for _, item in items_of(previous)] if previous else []
    return {item.id: item for item in (*map(with_id, seen), *before)}


def _struck(item: Item, known: dict[str, Item]) -> Item | None:
    """The item as it was known before, else None; what came protected from an earlier checkpoint never goes."""
    if item.id in known:
        return known[item.id]
    return item if is_protected(item) and item.since < item.seen else None


_TEXTS = ("request", "current_work", "next_step")


# The single cures: each gives the mended summary, or None when it knows no cure.


def _change(summary: Summary, finding: Finding, change: Callable[[Item], Item | None]) -> Summary:
    """The summary with `change` made to the item that the finding names."""
    return with_items(
        summary, lambda field, item: change(item) if field == finding.where and item.id in finding.ids else item
    )


def _find(summary: Summary, finding: Finding) -> Item | None:
    return next((item for field, item in items_of(summary) if field == finding.where and item.id in finding.ids), None)


def _remove(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    return _change(summary, finding, lambda _: None) if finding.ids else None


def _reword(
    summary: Summary, finding: Finding, change: Callable[[str], str], *, copied_too: bool = False
) -> Summary | None:
    """Changes the words of a text or of an item; an item that has none left goes, a text then has no cure."""
    if finding.ids:
        mapped = map_all_texts if copied_too else map_prose
        return _change(summary, finding, lambda item: new if words_of(new := mapped(item, change)).strip() else None)
    if finding.where == "next_step":
        step = summary.next_step
        return replace(summary, next_step=replace(step, text=change(step.text)) if step and change(step.text) else None)
    old = dict(texts_of(summary)).get(finding.where, "")
    new: dict[str, Any] = {finding.where: change(old)}
    return replace(summary, **new) if change(old).strip() else None


def _redact(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    if finding.where == "user_messages":
        said = tuple(replace(one, text=redact(one.text)) for one in summary.user_messages)
        return replace(summary, user_messages=said)
    return _reword(summary, finding, redact, copied_too=True)


def _disarm(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    is_to_do = finding.where in ("request", "next_step", "tasks", "memories")
    mended = _reword(summary, finding, lambda text: without_instructions(text, grounds, is_to_do=is_to_do))
    return mended or _from_draft(summary, finding, grounds)


def _from_draft(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    if finding.ids:
        return _remove(summary, finding, grounds)
    if finding.where == "next_step":
        return _drop_step(summary, finding, grounds)
    return with_text(summary, finding.where, "", grounds)


def _add_constraint(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    known = (*grounds.previous.constraints, *grounds.ledger.constraints)
    missing = next((one for one in known if one.id in finding.ids), None)
    if missing is None:
        return None
    if is_told_whole(missing, summary.constraints):  # another cure has told it meanwhile
        return summary
    others = (one for one in summary.constraints if not _is_piece_of(one, missing))
    return replace(summary, constraints=(*others, with_id(missing)))


def _is_piece_of(told: Constraint, missing: Constraint) -> bool:
    """True for a new rule that is a part of the one that was missing: "never do A" of "never do A, and don't do B"."""
    return (
        told.since == told.seen
        and not told.given
        and len(told.quote) > 0
        and normal(told.quote) in normal(missing.quote)
    )


def _cite_the_person(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    def cited(item: Item) -> Item:
        return replace(item, evidence=holders(item.quote, grounds)) if isinstance(item, Constraint) else item

    return _change(summary, finding, cited)


def _source_constraint(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """The person's own words as the quote; a rule that nobody said is no rule."""

    def sourced(item: Item) -> Item | None:
        if not isinstance(item, Constraint):
            return item
        quote = first_verbatim(item.quote, grounds.human.values()) or _source_of(item, grounds)
        return replace(item, quote=quote) if quote else None

    return _change(summary, finding, sourced)


def _source_of(constraint: Constraint, grounds: Grounds) -> str | None:
    """The sentence of a cited human message that holds most of the rule's words."""
    wanted = set(content_words(f"{constraint.rule} {constraint.quote}"))
    said = [words for one in constraint.evidence if one in grounds.human for words in sentences(grounds.human[one])]
    best = max(said, key=lambda words: len(wanted & set(content_words(words))), default=None)
    if best is None or len(wanted & set(content_words(best))) < SAME_RULE * len(set(content_words(constraint.rule))):
        return None
    return best


def _strengthen(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    def strong(item: Item) -> Item:
        if not isinstance(item, Constraint):
            return item
        known = find_constraint(item, (*grounds.ledger.constraints, *grounds.previous.constraints))
        quote = clause_of(item, grounds)
        if known and quote in known.quote and not is_weakened(known.rule, quote):
            quote = known.quote
        rules = [known.rule] if known else []
        rule = next((one for one in rules if not is_weakened(one, quote)), as_rule(quote))
        seen = find_constraint(item, grounds.ledger.constraints)
        return replace(item, rule=rule, quote=quote, scope=seen.scope if seen else item.scope)

    return _change(summary, finding, strong)


def _unlift(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    return _change(summary, finding, lambda item: replace(item, lifted=None) if isinstance(item, Constraint) else item)


def _add_task(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    missing = next((one for one in (*grounds.ledger.tasks, *grounds.previous.tasks) if one.id in finding.ids), None)
    return None if missing is None else replace(summary, tasks=(*summary.tasks, with_id(missing)))


def _unname_task(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """Keeps the row and takes away the ids that nobody wrote."""

    def unnamed(item: Item) -> Item:
        if not isinstance(item, Task):
            return item
        refs = tuple(one for one in item.refs if grounds.holds(one, item.evidence))
        keeps_id = not is_written_id(item) or grounds.holds(item.id, item.evidence)
        return replace(item, refs=refs, id=item.id if keeps_id else item_id(item))

    return _change(summary, finding, unnamed)


def _demote_task(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    def demoted(item: Item) -> Item:
        if not isinstance(item, Task):
            return item
        seen = find_task(item, grounds.ledger.tasks) or find_task(item, grounds.previous.tasks)
        status = seen.status if seen and (seen.status.is_open or seen.from_ledger) else TaskStatus.OPEN
        return replace(item, status=status)

    return _change(summary, finding, demoted)


def _end_task(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    def ended(item: Item) -> Item:
        seen = find_task(item, grounds.ledger.tasks) if isinstance(item, Task) else None
        return replace(item, status=seen.status) if isinstance(item, Task) and seen else item

    return _change(summary, finding, ended)


def _unfix(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    """What only the answer says stays readable, and the error stays unresolved."""

    def unfixed(item: Item) -> Item:
        if not isinstance(item, ErrorItem) or not item.fix:
            return item
        return replace(item, error=f"{item.error} {SAID_FIXED}{item.fix})", fix=None)

    return _change(summary, finding, unfixed)


def _cite_known(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    return _change(
        summary, finding, lambda item: replace(item, evidence=tuple(one for one in item.evidence if grounds.knows(one)))
    )


def _cite_best(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """Of a list that runs on through all messages, the few that speak most of the item: else it would cite nothing."""

    def cited(item: Item) -> Item:
        ranked = sorted(filter(grounds.knows, item.evidence), key=lambda one: -grounds.support(item, one))
        return replace(item, evidence=join_evidence(ranked[:BEST_CITED]))

    return _change(summary, finding, cited)


def _cite_better(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """The messages that do speak of the item; an item that none speaks of was made up, and goes. So does a text."""
    if not finding.ids:
        return _from_draft(summary, finding, grounds)

    def supported(item: Item) -> Item | None:
        best = max(grounds.messages, key=lambda message: grounds.support(item, message.id), default=None)
        if best is not None and grounds.support(item, best.id) > 0 and is_supported(item, [best.id], grounds):
            return replace(item, evidence=join_evidence([best.id]))
        return None

    return _change(summary, finding, supported)


def _fail_check(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    def failed(item: Item) -> Item:
        return replace(item, result=CheckResult.FAILED, note="") if isinstance(item, Check) else item

    return _change(summary, finding, failed)


def _tell_rule(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """Puts a person's words behind an order that turns them round, so that nobody follows it unwarned."""

    def warned(text: str) -> str:
        quote = broken_rule(text, grounds)
        return f'{text} {TOLD_WITH_RULE}{quote}")' if quote else text

    return _reword(summary, finding, warned)


def _show_or_claim(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A fact is given the message that shows it, where one does: a weak model cites the one beside it. Else a claim."""

    def settled(item: Item) -> Item:
        if not isinstance(item, Problem):
            return item
        showing = _showing(item, grounds)
        if showing is not None:
            return replace(item, evidence=join_evidence(item.evidence, [showing]))
        claim = replace(item, kind=ProblemKind.CLAIM)
        return replace(claim, id=item_id(claim)) if item.id == item_id(item) else claim

    return _change(summary, finding, settled)


def _restore_words(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A person's sentence instead of what turned it round; a fact that tools show otherwise is a claim."""

    def restored(item: Item) -> Item | None:
        if not isinstance(item, Problem | Memory):
            return item
        said = turned_words(item, grounds) or words_instead(item, grounds)
        if said is not None and len(said) <= LONGEST_QUOTE_CHARS:
            return _renamed(item, replace(item, text=said))
        return _as_claim(item) if isinstance(item, Problem) else None

    return _change(summary, finding, restored)


def _renamed(old: Item, new: Item) -> Item:
    return replace(new, id=item_id(new)) if old.id == item_id(old) else new


def _as_claim(item: Problem) -> Item:
    return _renamed(item, replace(item, kind=ProblemKind.CLAIM))


def _decision_to_claim(summary: Summary, finding: Finding, _: Grounds) -> Summary | None:
    return _change(summary, finding, lambda item: _as_claim(item) if isinstance(item, Problem) else None)


def _say_or_remove(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A memory in words that nobody used is told in the person's own sentence, where one is about the same."""

    def said(item: Item) -> Item | None:
        stems = set(meaning_stems(words_of(item)))
        spoken = [words for one in item.evidence for words in sentences(grounds.human.get(one, ""))]
        best = max(spoken, key=lambda words: len(stems & set(meaning_stems(words))), default="")
        is_about = len(stems & set(meaning_stems(best))) >= SHARED_WITH_MEMORY and len(best) <= LONGEST_QUOTE_CHARS
        if not isinstance(item, Memory) or not is_about or best.endswith(("?", "？")) or best == item.text:
            return None
        return _renamed(item, replace(item, text=best))

    return _change(summary, finding, said)


SHARED_WITH_MEMORY = 2


def _drop_step(summary: Summary, _: Finding, __: Grounds) -> Summary | None:
    """Every step that is not asked for is one too many; without one the reader asks."""
    return replace(summary, next_step=None)


def _showing(item: Problem, grounds: Grounds) -> str | None:
    """The message that speaks most of the item and shows enough of it by itself, None when none does."""
    shown = [message.id for message in grounds.messages if grounds.shows(message.id)]
    best = max(shown, key=lambda one: grounds.support(item, one), default=None)
    if best is None or not grounds.is_judged(item.text) or not grounds.can_judge(item, [best]):
        return None
    return best if is_supported(item, [best], grounds) and grounds.shows_enough(item.text, [best]) else None


def _requote(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    if finding.where == "user_messages":
        return replace(summary, user_messages=grounds.ledger.user_messages)
    step = summary.next_step
    quote = first_verbatim(step.quote, grounds.human.values()) if step else None
    return replace(summary, next_step=replace(step, quote=quote) if step and quote else None)


def _quote_whole(summary: Summary, _: Finding, grounds: Grounds) -> Summary | None:
    step = summary.next_step
    return replace(summary, next_step=replace(step, quote=whole_sentence(step.quote, grounds))) if step else None


def _remove_named(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A path, reference or command that stands nowhere; in running words only the model can tell what was meant."""
    item = _find(summary, finding)
    return _remove(summary, finding, grounds) if isinstance(item, FileItem | Reference | Check) else None


_REFERENCE_KINDS = {"url": ReferenceKind.URL, "commit": ReferenceKind.COMMIT, "ticket": ReferenceKind.ISSUE}


def _append_identifiers(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """As the ledger tells them: a commit with its subject, not the bare hash."""
    told = {reference.value: with_id(reference) for reference in grounds.ledger.references}
    lost = [one for one in lost_identifiers(summary, grounds) if one.value in finding.ids]
    found = [told.get(one.value) or _as_reference(one) for one in lost]
    return replace(summary, references=(*summary.references, *found))


def _as_reference(identifier: Identifier) -> Reference:
    kind = _REFERENCE_KINDS.get(identifier.kind, ReferenceKind.OTHER)
    note = "" if kind is not ReferenceKind.OTHER else identifier.kind
    return with_id(Reference(kind=kind, value=identifier.value, note=note, evidence=identifier.evidence))


def _append_error(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    errors = [one for one in missing_errors(summary, grounds) if one.id in finding.ids]
    return replace(summary, errors=(*errors, *summary.errors))


def _append_files(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    files = [one for one in missing_files(summary, grounds) if one.id in finding.ids]
    return replace(summary, files=(*summary.files, *files))


def _add_correction(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    missing = [one for one in missing_corrections(summary, grounds) if one.id in finding.ids]
    return replace(summary, memories=(*summary.memories, *missing))


def _add_decision(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    missing = [one for one in missing_decisions(summary, grounds) if one.id in finding.ids]
    return replace(summary, problem_solving=(*summary.problem_solving, *missing))


def _correct_change(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    seen = {file.id: change for file, change in misjudged_files(summary, grounds)}
    return _change(
        summary,
        finding,
        lambda item: replace(item, change=seen.get(item.id, item.change)) if isinstance(item, FileItem) else item,
    )


def _resolve(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """Writes behind a bare pointer the lines that it points at."""
    item = _find(summary, finding)
    cited: Iterable[str] = item.evidence if item else [said.id for said in reversed(grounds.ledger.user_messages)]
    meant = next((lines for one in cited if (lines := grounds.answered_by(one))), None)
    return None if meant is None else _reword(summary, finding, lambda text: f"{text} (of: {' '.join(meant.split())})")


def _date(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """From the day on which the cited message was written, for the texts the newest of the range."""
    item = _find(summary, finding)
    cited = [*item.evidence] if item else []
    cited += [message.id for message in reversed(grounds.messages)]
    said_at = next((at for one in cited if (at := grounds.said_at(one))), None)
    return None if said_at is None else _reword(summary, finding, lambda text: absolute_dates(text, said_at.date()))


_MENDERS: dict[str, Mender] = {
    "secret": _redact,
    "instruction_in_summary": _disarm,
    "section_missing": _from_draft,
    "section_blank": _from_draft,
    "constraint_miscited": _cite_the_person,
    "constraint_doubled": _remove,
    "text_foreign": _from_draft,
    "request_unspoken": _from_draft,
    "work_unfinished": _from_draft,
    "constraint_missing": _add_constraint,
    "constraint_unsourced": _source_constraint,
    "constraint_weakened": _strengthen,
    "constraint_lifted_unsourced": _unlift,
    "task_missing": _add_task,
    "task_invented": _unname_task,
    "task_promoted": _demote_task,
    "task_reopened": _end_task,
    "fix_unseen": _unfix,
    "reference_unusable": _remove,
    "check_unseen": _fail_check,
    "order_against_rule": _tell_rule,
    "evidence_runs_on": _cite_best,
    "evidence_unknown": _cite_known,
    "evidence_unsupported": _cite_better,
    "fact_without_evidence": _show_or_claim,
    "statement_turned": _restore_words,
    "decision_unsourced": _decision_to_claim,
    "next_step_unasked": _drop_step,
    "memory_unsourced": _say_or_remove,
    "correction_missing": _add_correction,
    "decision_missing": _add_decision,
    "quote_not_verbatim": _requote,
    "quote_cut_short": _quote_whole,
    "identifier_invented": _remove_named,
    "identifier_lost": _append_identifiers,
    "error_missing": _append_error,
    "file_missing": _append_files,
    "file_change_unseen": _correct_change,
    "reference_unresolved": _resolve,
    "relative_date": _date,
    "template_echo": _remove,
    **DEMOTIONS,
}

MENDABLE = frozenset(_MENDERS)
"""Codes for which there is a cure; whether it helps in a case shows only when it is tried."""
