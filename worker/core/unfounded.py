"""What a summary asserts and the session does not found: leave, success, tasks, decisions, errors, notes, numbers.

The second half of `sourcing`: there it is asked whether what is cited speaks of the item, here whether what is asserted
can be so. What becomes of it is in `demoting`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from worker.core.asserting import asserts_done, grave_words, measures_in, proposes
from worker.core.checkpoint import Finding
from worker.core.clauses import banned, clauses, forbidden_actions, meaning_stems, orders
from worker.core.failures import tells_failure
from worker.core.founding import (
    breaks_a_ban,
    denied_success,
    denied_value,
    ordered_by_tools,
    share_printed,
    unfounded_leave,
    unsaid_names,
)
from worker.core.grounds import FEWEST_DIGITS, Grounds, numbers_of
from worker.core.identifiers import contains_identifier, find_identifiers
from worker.core.items import is_written_id, newest_evidence, prose_of
from worker.core.judging import finding_on, judged, texts_of
from worker.core.messages import Origin, message_index
from worker.core.obligations import find_task
from worker.core.rules import done_in, forbids
from worker.core.showing import bare_error, is_told_by_ledger, is_told_where_cited, message_showing
from worker.core.sourcing import TOLD_WITH_RULE, broken_rule
from worker.core.summary import (
    Check,
    Concept,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    Problem,
    ProblemKind,
    Reference,
    Summary,
    Task,
)
from worker.core.turning import negates
from worker.core.wording import content_words, normal, sentences

HALF = 0.5
NAMED_SHARE = 0.3
FEWEST_STEMS = 2

_ATTRIBUTED = re.compile(r"\((m\d+)\): \"([^\"]*)\"")
_QUESTION_MARKS = ("?", "？", "吗", "か。", "か")
_AGREES = re.compile(
    r"(?i)\W*(?!good (?:to know|question|point))(?:yes|yep|yeah|yup|ok(?:ay)?|sure|fine|good|great|nice|"
    r"agreed?|correct|exactly|perfect|approved?|lgtm|go|do|please do|sounds|looks|both|all|let['’]?s|"
    r"ja|oui|是的?|对|好的?|可以|行|はい|うん|お願い|いいね|進めて)(?!\w)"
)
_CHOSEN = re.compile(r"(?i)\b(?:chosen|decided|selected|agreed|settled)\b|采用|选定|決定|採用")
_ANY_WORK = re.compile(
    r"(?i)\b(?:tests?|fix\w*|add\w*|updat\w*|files?|runs?|running|mak(?:e|es|ing)|builds?|works?|working|checks?|code|"
    r"chang\w*|creat\w*|writ\w*|implement\w*|commits?|finish\w*|tasks?|issues?|fail\w*|start\w*|continu\w*|complet\w*|"
    r"review\w*|verif\w*|investigat\w*|find out|look\w*|handl\w*|pending|remaining|next|ensur\w*|support\w*|tell|"
    r"inform|wait\w*|follow\w*|resolv\w*|address\w*|refactor\w*|clean\w*|mov(?:e|es|ing)|set ?up|prepar\w*|improv\w*)\b"
)
"""What the words of nearly every task are: that a person did not use them shows nothing."""

_BREAKS = re.compile(
    r"(?i)\b(?:fail\w*|errors?|exception|panic\w*|refused|denied|unreachable|unavailable|timed? ?out|expired|missing|"
    r"broken|breaks?|crash\w*|died|killed|wrong|bugs?|cannot|hangs?|stuck|leak\w*|"
    r"(?:does|did|is|are|was|were) ?n(?:['’]t|ot))\b"
    r"|失败|失敗|错误|エラー|崩溃|坏|壊|落ち|切れ"
)
"""What makes of a person's sentence the report of an error, also where it says "never" or "don't" as an order does."""

_WENT_WELL = re.compile(r"(?i)\b(?:ok|pass(?:ed|es)?|success\w*|0 (?:failed|errors?)|no errors?|done)\b|成功|通过|完了")
_SPACE = re.compile(r"\s+")

FEWEST_NOTE_STEMS = 3
FOREIGN_NOTE = 2 / 3


def _running_text(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """One finding for each kind of sentence that a text holds and nothing founds."""
    for name, text in texts_of(summary):
        found: dict[str, str] = {}
        for words in sentences(_unattributed(text, grounds)):
            if (why := unfounded_sentence(name, words, grounds)) is not None:
                found.setdefault(why, words)
        for code, words in found.items():
            yield Finding(code=code, where=name, detail=words[:80])


def _next_steps(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A step that cannot be taken back and that nobody asked for."""
    step = summary.next_step
    if step is None or not any(step.quote in said for said in grounds.human.values()):
        return  # a step without a person's words is accused of that
    if not all(_is_spoken_of(grave, step.text, grounds) for grave in grave_words(step.text)):
        yield Finding(code="next_step_unasked", where="next_step", detail=step.text[:80])


def _unattributed(text: str, grounds: Grounds) -> str:
    """The text without what it quotes of a message that it names and that says so."""

    def quoted(found: re.Match[str]) -> str:
        words = content_words(found[2])
        said = grounds.folded(found[1])
        return " " if sum(word in said for word in words) > HALF * len(words) else found.group()

    return _ATTRIBUTED.sub(quoted, text)


def unfounded_sentence(name: str, words: str, grounds: Grounds) -> str | None:
    """The code of what a sentence of a running text asserts without ground; None for one that stood there before, or
    that a person wrote.
    """
    if grounds.has_said(words):
        return None
    if unfounded_leave(words, grounds):
        return "leave_unsourced"
    if denied_success(words, grounds) or breaks_a_ban(words, grounds):
        return "success_denied"
    if denied_value(words, grounds):
        return "value_denied"
    if name == "request" and _is_unasked_deed(words, grounds):
        return "request_unasked"
    if unsaid_names(words, grounds) and grounds.is_in_script_of_range(words):
        return "name_unsaid"
    if unseen_versions(words, grounds):
        return "number_unseen"
    if name != "current_work" and ordered_by_tools(words, grounds):
        return "order_of_tool"
    return None


def _is_unasked_deed(words: str, grounds: Grounds) -> bool:
    """True for a request to do what cannot be taken back, which nobody speaks of doing."""
    if asserts_done(words) or negates(words) or _is_told_with_rule(words, grounds):
        return False
    return not all(_is_spoken_of(grave, words, grounds) for grave in grave_words(words))


def _leave(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if isinstance(item, Problem | Concept | Task | Memory | ErrorItem):
            clause = next(
                (one for words in sentences(prose_of(item)) if (one := unfounded_leave(words, grounds))), None
            )
            if clause:
                yield finding_on("leave_unsourced", field, item, clause[:80])


def _success(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if not isinstance(item, Problem | Concept) or _is_guess(item):
            continue
        against = _against_success(item, grounds)
        if against:
            yield finding_on("success_denied", field, item, against[:80])


def _is_guess(item: Item) -> bool:
    return isinstance(item, Problem) and item.kind in (ProblemKind.HYPOTHESIS, ProblemKind.FAILED_ATTEMPT)


def _against_success(item: Problem | Concept, grounds: Grounds) -> str | None:
    said = [text for one in item.evidence if (text := grounds.human.get(one))]
    if any(done_in(text) for text in said):
        return None
    if asserts_done(item.text) and _cites_only_failures(item, grounds):
        return "what it cites failed"
    until = newest_evidence(item)
    found = (denied_success(words, grounds, until=until) for words in sentences(item.text))
    return next((one for one in found if one), None)


def _cites_only_failures(item: Item, grounds: Grounds) -> bool:
    results = [result for one in item.evidence for result in grounds.results(one)]
    failed = {one for failure in grounds.ledger.failures for one in failure.evidence}
    if any(grounds.is_of(one, Origin.HUMAN) for one in item.evidence) or not results:
        return False
    if all(one in failed for one in item.evidence if grounds.results(one)):
        return True
    return all(
        tells_failure(result) or (_loud_failure(result.text) and not _WENT_WELL.search(result.text))
        for result in results
    )


def _loud_failure(text: str) -> bool:
    return re.search(r"(?i)\b(?:failed|expired|refused|denied|unreachable|timed out|100% loss)\b", text) is not None


# Tasks.


def _unasked_tasks(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Open tasks in words that nobody used, or that are to do what nobody spoke of doing; orders and doubles."""
    for task in summary.tasks:
        if task.from_ledger or grounds.is_settled(task):
            continue
        known = _known_task(task, grounds)
        if known is None and (_has_known_id(task, grounds) or _is_umbrella(task, grounds)):
            yield finding_on("task_doubled", "tasks", task, task.text[:80])
        elif known is None and _only_forbids(task.text) and _is_one_of(_orders_of_people(summary, grounds), task.text):
            yield finding_on("order_mistaken", "tasks", task, task.text[:80])
        elif known is not None and task.status.is_open and not _is_worded_as(task, known, grounds):
            yield finding_on("task_reworded", "tasks", task, task.text[:80])
        elif known is None and task.status.is_open and _is_unasked(task, grounds):
            code = "task_doubled" if _is_about_known(task, grounds) else "task_unasked"
            yield finding_on(code, "tasks", task, task.text[:80])


def _is_unasked(task: Task, grounds: Grounds) -> bool:
    return _is_refused_offer(task, grounds) or not (
        _is_told_with_rule(task.text, grounds) or is_asked_for(task.text, grounds)
    )


def _only_forbids(text: str) -> bool:
    """True when there is nothing to do in it: "ask for an offer, but don't book" is a task all the same."""
    pieces = [one for one in clauses(text) if len(meaning_stems(one)) >= FEWEST_STEMS]
    return bool(pieces) and TOLD_WITH_RULE not in text and all(forbidden_actions(one) or banned(one) for one in pieces)


def _has_known_id(task: Task, grounds: Grounds) -> bool:
    """True for an id that is a known one with words behind it: "T-101 CSV export"."""
    return is_written_id(task) and any(
        one.id != task.id and is_written_id(one) and not one.id.isdigit() and contains_identifier(task.id, one.id)
        for one in _known_tasks(grounds)
    )


def _is_umbrella(task: Task, grounds: Grounds) -> bool:
    """True for a task of a model's own that names several known ones: each is told by itself."""
    if is_written_id(task):
        return False
    told = f"{task.text} {' '.join(task.refs)}"
    named = {one.id for one in _known_tasks(grounds) if is_written_id(one) and contains_identifier(told, one.id)}
    return len(named) > 1


def _is_about_known(task: Task, grounds: Grounds) -> bool:
    """True when a task shares the words of a known one: then that one was asked for, and is told already."""
    stems = set(_telling(meaning_stems(_ANY_WORK.sub(" ", task.text))))
    return any(
        len(shared := stems & known) >= min(FEWEST_STEMS, len(known)) > 0 and len(shared) >= HALF * len(known)
        for one in _known_tasks(grounds)
        if (known := set(_telling(meaning_stems(_ANY_WORK.sub(" ", one.text.replace(one.id, " "))))))
    )


def _known_tasks(grounds: Grounds) -> tuple[Task, ...]:
    return (*grounds.ledger.tasks, *grounds.previous.tasks)


def _is_refused_offer(task: Task, grounds: Grounds) -> bool:
    """True for what only the assistant offered, in a question, and a person said no to."""
    stems = _telling(meaning_stems(task.text))
    found = _nearest(stems, [message.id for message in grounds.messages if message.text], OFFERED_SHARE, grounds)
    near = [(one, words) for one, words in found if one not in grounds.human or words in grounds.human[one]]
    return bool(near) and all(
        words.endswith(_QUESTION_MARKS)
        and grounds.is_of(one, Origin.ASSISTANT)
        and _REFUSES.match(grounds.next_words_of_person(message_index(one) or 0) or "") is not None
        for one, words in near
    )


OFFERED_SHARE = 0.8

_REFUSES = re.compile(r"(?i)\W*(?:no|nope|nah|nein|non|not|don['’]t|不|不要|不用|别|いいえ|нет)(?!\w)")


def _is_told_with_rule(text: str, grounds: Grounds) -> bool:
    """True for what breaks a rule in force: it is told with the rule, and nobody follows it unwarned."""
    return TOLD_WITH_RULE in text or broken_rule(text, grounds) is not None


def _known_task(task: Task, grounds: Grounds) -> Task | None:
    """The task of that written id as it was known before; of a list that is counted anew nothing is known."""
    if not is_written_id(task) or task.id.isdigit():
        return None
    return find_task(replace(task, text=""), _known_tasks(grounds))


def _is_worded_as(task: Task, known: Task, grounds: Grounds) -> bool:
    """True when a task of a known id keeps to what is known of it, or to what is said where its id is named."""
    said = "\n".join([known.text, *_named_in(task.id, grounds)]).casefold()
    if not grounds.is_in_script_of_people(task.text) or not grounds.is_in_script_of_people(known.text):
        return True
    if grave_words(task.text) - grave_words(said):
        return False
    stems = [stem for stem in meaning_stems(_ANY_WORK.sub(" ", task.text.replace(task.id, " "))) if stem]
    return len(stems) < FEWEST_STEMS or any(stem in said for stem in stems)


def _named_in(task_id: str, grounds: Grounds) -> Iterator[str]:
    """The sentences that name the task: what stands beside another ticket of the same message is another task."""
    for message in grounds.messages:
        if task_id in message.text:
            pieces = sentences(message.text)
            for at, words in enumerate(pieces):
                if task_id in words:
                    yield from pieces[at : at + 1] if message.is_human else pieces
        elif message.tool_result and task_id in message.tool_result.text:
            yield message.tool_result.text
        else:
            yield from (call.arguments for call in message.tool_calls if task_id in call.arguments)


def is_asked_for(text: str, grounds: Grounds) -> bool:
    """True when people or the assistant spoke of most of what the task is about, and of every grave thing in it."""
    to_do = " ".join(clause for clause in clauses(text) if not forbids(clause))
    if not all(_is_spoken_of(one, text, grounds) or _is_tried(one, text, grounds) for one in grave_words(to_do)):
        return False
    if _is_forbidden(text, grounds):
        return False
    stems = _telling(meaning_stems(_ANY_WORK.sub(" ", text)))
    if len(stems) < FEWEST_STEMS or not grounds.is_in_script_of_people(text):
        return True
    return sum(stem in grounds.spoken() for stem in stems) >= HALF * len(stems)


def _is_tried(grave: str, text: str, grounds: Grounds) -> bool:
    """True when a call of the range does the deed to the same, for a text in a language that people do not write."""
    if grounds.is_in_script_of_people(text):
        return False
    stems = {stem for stem in meaning_stems(text) if not grave_words(stem)}
    acts = (one.asked.replace("_", " ") for one in grounds.outcomes())
    return any(grave in grave_words(act) and any(stem in act for stem in stems) for act in acts)


def _is_forbidden(text: str, grounds: Grounds) -> bool:
    """True for what a sentence of a person forbids and none orders."""
    forbidden = [action for action in grounds.forbidden() if orders(text, action)]
    if not forbidden:
        return False
    said = [words for text in grounds.human.values() for words in sentences(text)]
    return not all(any(orders(words, action) for words in said) for action in forbidden)


def _is_spoken_of(grave: str, text: str, grounds: Grounds) -> bool:
    """True when people or the assistant name the deed in a clause about the same, and do not forbid it there.

    What waits for a condition is no order to do it now.
    """
    if _WAITS.search(text):
        return True
    about = [
        words
        for origin, words in grounds.sentences_with(grave)
        if _is_about(text, words) and not (origin is Origin.ASSISTANT and proposes(words))
    ]
    return any(grave in grave_words(clause) and not forbids(clause) for words in about for clause in clauses(words))


_WAITS = re.compile(r"(?i)\b(?:once|after|when|if|until|before|unless|as soon as)\b|之后|如果|まで|たら|てから")


def _is_about(text: str, words: str) -> bool:
    shared = {stem for stem in set(meaning_stems(text)) & set(meaning_stems(words)) if not grave_words(stem)}
    return bool(shared) or len(_telling(meaning_stems(text))) <= FEWEST_STEMS


def _telling(stems: Sequence[str]) -> list[str]:
    """Without the small numbers, which stand everywhere."""
    return [stem for stem in stems if not (stem.isdigit() and len(stem) < FEWEST_STEMS)]


# Decisions.


def _proposed_only(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """What is told as decided and was only proposed or asked, or stands in tool output alone."""
    for field, item in judged(summary, grounds):
        is_decision = isinstance(item, Problem) and item.kind is ProblemKind.DECISION
        is_decided = is_decision or (isinstance(item, Concept) and _CHOSEN.search(item.text))
        if is_decided and _is_proposed_only(item, grounds):
            yield finding_on("decision_unsourced", field, item, prose_of(item)[:80])


def _is_proposed_only(item: Item, grounds: Grounds) -> bool:
    cited = [one for one in item.evidence if grounds.has(one)]
    if not cited or len(cited) < len(item.evidence):
        return False
    stems = meaning_stems(_CHOSEN.sub(" ", prose_of(item)))
    if len(stems) < FEWEST_STEMS:
        return False
    speaking = [one for one in cited if not grounds.is_of(one, Origin.TOOL)]
    enough = HALF if isinstance(item, Problem) else NAMED_SHARE
    near = _nearest(stems, speaking, enough, grounds)
    if not near and not _nearest(stems, speaking, NAMED_SHARE, grounds):
        near = _nearest(stems, [message.id for message in grounds.messages if message.text], enough, grounds)
    if not near:
        return not speaking and not _is_spoken(stems, grounds)
    no = negates(prose_of(item))
    return all(negates(words) is no and _is_proposal(one, words, grounds) for one, words in near)


def _nearest(stems: Sequence[str], ids: Sequence[str], enough: float, grounds: Grounds) -> list[tuple[str, str]]:
    """The sentences that hold most of the stems, with the messages that say them; none where that is not enough."""
    said = [(_share(stems, words), one, words) for one in ids for words in sentences(grounds.spoken_in(one))]
    most = max((share for share, _, _ in said), default=0.0)
    return [(one, words) for share, one, words in said if share == most >= enough]


def _is_spoken(stems: Sequence[str], grounds: Grounds) -> bool:
    telling = _telling(stems)
    return sum(stem in grounds.spoken() for stem in telling) > HALF * len(telling)


def _is_proposal(message_id: str, words: str, grounds: Grounds) -> bool:
    if grounds.is_of(message_id, Origin.HUMAN):
        return words.endswith(_QUESTION_MARKS)
    if words.endswith(_QUESTION_MARKS):
        return not _is_agreed_to(message_id, grounds)
    return proposes(words) and not _is_agreed_to(message_id, grounds)


def _is_agreed_to(message_id: str, grounds: Grounds) -> bool:
    """True when the next words of a person agree."""
    index = message_index(message_id)
    said = grounds.next_words_of_person(-1 if index is None else index)
    return said is not None and _AGREES.match(said) is not None


def _share(stems: Sequence[str], words: str) -> float:
    there = set(meaning_stems(words))
    return sum(stem in there for stem in stems) / len(stems)


# Errors, notes, numbers.


def _unseen_errors(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Errors that are orders of people, doubles of what code saw, in another message than the cited one, or nowhere."""
    new = [error for error in summary.errors if not grounds.is_settled(error)]
    given = _orders_of_people(summary, grounds) if new else []
    for error in new:
        if _is_one_of(given, bare_error(error)):
            yield finding_on("order_mistaken", "errors", error, error.error[:80])
        elif is_told_by_ledger(error, summary.errors, grounds):
            yield finding_on("error_doubled", "errors", error, error.error[:80])
        elif not is_told_where_cited(error, grounds):
            code = "error_miscited" if message_showing(error, grounds) else "error_unseen"
            yield finding_on(code, "errors", error, error.error[:80])


def _is_one_of(given: Sequence[str], text: str) -> bool:
    """True for the words of a rule, of a correction or of a prohibition: nothing that went wrong, and nothing to do."""
    stems, told = meaning_stems(text), normal(text)
    return not _BREAKS.search(text) and any(
        told in normal(words) or (len(stems) >= FEWEST_STEMS and _share(stems, words) >= SAME_ORDER_SHARE)
        for words in given
    )


SAME_ORDER_SHARE = 0.8

_ORDERS_NOT_TO = re.compile(r"(?i)^\W*(?:never|don['’]t|do not|不要|别|禁止)|^\W*no [^.!?]{1,40}!$|しないで|するな")


def _orders_of_people(summary: Summary, grounds: Grounds) -> list[str]:
    rules = (*grounds.ledger.constraints, *grounds.previous.constraints, *summary.constraints)
    said = (words for text in grounds.human.values() for words in sentences(text) if _ORDERS_NOT_TO.search(words))
    given = [words for rule in rules for words in (rule.rule, rule.quote)]
    return list(dict.fromkeys([*given, *(one.text for one in grounds.put_right()), *said]))


def _unseen_notes(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if isinstance(item, FileItem | Reference | Check) and sound_note(item, grounds) != item:
            yield finding_on("note_unseen", field, item, item.note[:80])


def sound_note(item: FileItem | Reference | Check, grounds: Grounds) -> FileItem | Reference | Check:
    """The item with the sentences of its note that something founds, and its snippet where it stands somewhere."""
    kept = [words for words in sentences(item.note) if not _is_unseen_note(item, words, grounds)]
    note = item.note if len(kept) == len(sentences(item.note)) else " ".join(kept)
    if isinstance(item, FileItem) and item.snippet and not _stands(item.snippet, grounds):
        return replace(item, note=note, snippet=None)
    return item if note == item.note else replace(item, note=note)


def _is_unseen_note(item: Item, words: str, grounds: Grounds) -> bool:
    if unfounded_leave(words, grounds) or unseen_numbers(words, grounds):
        return True
    if denied_success(words, grounds, until=newest_evidence(item)):
        return True
    stems = meaning_stems(words)
    if len(stems) < FEWEST_NOTE_STEMS or not grounds.is_in_script_of_range(words):
        return False
    return sum(not grounds.holds_words(stem) for stem in stems) > FOREIGN_NOTE * len(stems)


def _stands(snippet: str, grounds: Grounds) -> bool:
    """True when every line of a snippet stands in the range, white space apart; one that leaves lines out is whole."""
    lines = [plain for line in snippet.splitlines() if len(plain := _SPACE.sub("", line).strip(".…").casefold()) > 1]
    text = grounds.packed()
    return sum(line in text for line in lines) >= HALF * len(lines)


def unseen_numbers(text: str, grounds: Grounds) -> list[str]:
    """The numbers, versions and measures of a text that stand nowhere in the range and were not known before."""
    exact = unseen_versions(text, grounds)
    told = [number for number in numbers_of(text) if len(number) >= FEWEST_DIGITS and number not in exact]
    return list(dict.fromkeys([*exact, *(one for one in told if one in grounds.invented_numbers(text))]))


def unseen_versions(text: str, grounds: Grounds) -> list[str]:
    """The versions and measures among them: nobody works these out."""
    versions = [value for kind, value in find_identifiers(text) if kind == "version"]
    return [one for one in (*versions, *measures_in(text)) if not _is_held(one, grounds)]


def _is_held(value: str, grounds: Grounds) -> bool:
    bare = value.casefold().removeprefix("v")
    return grounds.holds_words(bare) or _SPACE.sub("", bare) in grounds.packed()


def _unseen_numbers(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if not isinstance(item, Problem | Concept | ErrorItem | Task) or (isinstance(item, Task) and item.from_ledger):
            continue
        if isinstance(item, Problem) and item.kind is ProblemKind.HYPOTHESIS:
            continue
        unseen = [*unseen_numbers(prose_of(item), grounds), *unsaid_names_of(item, grounds)]
        unseen = [] if NOT_SEEN in prose_of(item) else unseen
        if unseen:
            yield finding_on("number_unseen", field, item, ", ".join(unseen))


def unsaid_names_of(item: Item, grounds: Grounds) -> list[str]:
    """The names of a fact or a decision that nobody says anywhere."""
    is_judged = isinstance(item, Problem) and item.kind in (ProblemKind.FACT, ProblemKind.DECISION)
    return unsaid_names(prose_of(item), grounds) if is_judged and grounds.is_in_script_of_range(prose_of(item)) else []


NOT_SEEN = "not in the transcript: "


def _said_too_often(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Memories and decisions beyond what the clauses of the cited messages can hold: doubles would push others out."""
    counted: dict[tuple[str, ...], int] = {}
    for field, item in judged(summary, grounds):
        is_decision = isinstance(item, Problem) and item.kind is ProblemKind.DECISION
        if not (is_decision or isinstance(item, Memory)):
            continue
        people = tuple(one for one in item.evidence if one in grounds.human)
        if not people or len(people) < len(item.evidence):
            continue
        counted[people] = counted.get(people, 0) + 1
        if counted[people] > SPARE_CLAUSES + sum(len(clauses(grounds.spoken_in(one))) for one in people):
            yield finding_on("said_too_often", field, item, prose_of(item)[:80])


SPARE_CLAUSES = 2


def _orders_of_tools(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Decisions, tasks and memories whose words only tools printed."""
    for field, item in judged(summary, grounds):
        is_decision = isinstance(item, Problem) and item.kind is ProblemKind.DECISION
        is_open = isinstance(item, Task) and item.status.is_open and not item.from_ledger
        if not (is_decision or is_open or isinstance(item, Memory)):
            continue
        stems = meaning_stems(prose_of(item))
        is_printed = (
            len(stems) > FEWEST_STEMS and share_printed(stems, grounds) > HALF and not _is_spoken(stems, grounds)
        )
        if is_printed and (is_decision or ordered_by_tools(prose_of(item), grounds)):
            yield finding_on("order_of_tool", field, item, prose_of(item)[:80])


FOUNDATIONS: tuple[Callable[[Summary, Grounds], Iterator[Finding]], ...] = (
    _running_text,
    _next_steps,
    _leave,
    _success,
    _orders_of_tools,
    _unasked_tasks,
    _proposed_only,
    _unseen_errors,
    _unseen_notes,
    _unseen_numbers,
    _said_too_often,
)
