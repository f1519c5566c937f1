"""What becomes of what nothing founds: a sentence is struck, an item goes down in trust, a note loses what it adds.

Only what the session speaks against goes altogether; what is merely not seen stays as a claim, or says what is unseen.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from worker.core.checkpoint import Finding
from worker.core.drafting import draft
from worker.core.grounds import Grounds
from worker.core.items import is_protected, items_of, join_evidence, map_prose, with_items
from worker.core.judging import texts_of
from worker.core.obligations import find_task
from worker.core.showing import message_showing
from worker.core.summary import (
    Check,
    Concept,
    ErrorItem,
    FileItem,
    Item,
    Problem,
    ProblemKind,
    Reference,
    Summary,
    Task,
    item_id,
    with_id,
)
from worker.core.unfounded import NOT_SEEN, sound_note, unfounded_sentence, unsaid_names_of, unseen_numbers
from worker.core.wording import sentences

_PARAGRAPH = re.compile(r"(\n+)")


def strike_sentences(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A text without the sentences that the session speaks against; the draft's where none is left. An item goes."""
    if finding.ids:
        return _without(summary, finding)
    if finding.where == "next_step":
        return replace(summary, next_step=None)
    name = finding.where
    return with_text(
        summary,
        name,
        without_sentences(dict(texts_of(summary)).get(name, ""), lambda one: unfounded_sentence(name, one, grounds)),
        grounds,
    )


def without_sentences(text: str, is_out: Callable[[str], Any]) -> str:
    """The text, in its paragraphs, without the sentences that are out."""
    pieces = _PARAGRAPH.split(text)
    kept = [
        piece if piece.startswith("\n") else " ".join(s for s in sentences(piece) if not is_out(s)) for piece in pieces
    ]
    return re.sub(r"\n{3,}", "\n\n", "".join(kept)).strip()


def with_text(summary: Summary, name: str, text: str, grounds: Grounds) -> Summary | None:
    """The summary with that text, or the draft's or the state's where it is blank; None where those are blank too."""
    words = text or getattr(draft(grounds.ledger, grounds.messages), name) or getattr(grounds.previous, name)
    told: dict[str, Any] = {name: words}
    return replace(summary, **told) if words.strip() else None


def _change(summary: Summary, finding: Finding, change: Callable[[Item], Item | None]) -> Summary:
    return with_items(
        summary, lambda field, item: change(item) if field == finding.where and item.id in finding.ids else item
    )


def _without(summary: Summary, finding: Finding) -> Summary:
    return _change(summary, finding, lambda item: item if is_protected(item) and item.since < item.seen else None)


def claim_instead(summary: Summary, finding: Finding, _: Grounds) -> Summary:
    """A task or an error that is not seen, as something that is said: not to be done, and not to be feared."""
    said = [item for field, item in items_of(summary) if field == finding.where and item.id in finding.ids]
    claims = [_claim(item) for item in said]
    rest = _without(summary, finding)
    known = {one.id for one in rest.problem_solving}
    new = tuple(one for one in claims if one is not None and one.id not in known)
    return replace(rest, problem_solving=(*rest.problem_solving, *new))


def _claim(item: Item) -> Problem | None:
    match item:
        case Task():
            text = f"Told as a task, asked for by nobody: {item.text}"
        case ErrorItem():
            text = f"Told as an error, not seen: {item.error}"
        case _:
            return None
    return with_id(Problem(kind=ProblemKind.CLAIM, text=text, evidence=item.evidence))


def cite_showing(summary: Summary, finding: Finding, grounds: Grounds) -> Summary:
    """An error cites the message that shows it, and of what it cited before what speaks of it or of its fix."""

    def cited(item: Item) -> Item:
        showing = message_showing(item, grounds) if isinstance(item, ErrorItem) else None
        rest = [one for one in item.evidence if grounds.support(item, one)]
        return replace(item, evidence=join_evidence([showing], rest)) if showing else item

    return _change(summary, finding, cited)


def word_as_known(summary: Summary, finding: Finding, grounds: Grounds) -> Summary:
    def worded(item: Item) -> Item:
        known = find_task(item, (*grounds.ledger.tasks, *grounds.previous.tasks)) if isinstance(item, Task) else None
        return replace(item, text=known.text) if isinstance(item, Task) and known else item

    return _change(summary, finding, worded)


def mark_unseen(summary: Summary, finding: Finding, grounds: Grounds) -> Summary | None:
    """A number that stands nowhere may have been worked out: the reader is told, and a fact or decision is a claim."""

    if not finding.ids:
        return strike_sentences(summary, finding, grounds)

    def marked(item: Item) -> Item | None:
        if isinstance(item, Concept):
            return None
        unsaid = unsaid_names_of(item, grounds)
        named = map_prose(item, lambda text: _marked(text, [*unseen_numbers(text, grounds), *unsaid]))
        if isinstance(named, Problem) and named.kind is not ProblemKind.CLAIM:
            named = replace(named, kind=ProblemKind.CLAIM)
        return replace(named, id=item_id(named)) if isinstance(named, Problem) else named

    return _change(summary, finding, marked)


def _marked(text: str, unseen: list[str]) -> str:
    return f"{text} ({NOT_SEEN}{', '.join(unseen)})" if unseen and NOT_SEEN not in text else text


def sound_notes(summary: Summary, finding: Finding, grounds: Grounds) -> Summary:
    return _change(
        summary,
        finding,
        lambda item: sound_note(item, grounds) if isinstance(item, FileItem | Reference | Check) else item,
    )


DEMOTIONS: dict[str, Callable[[Summary, Finding, Grounds], Summary | None]] = {
    "leave_unsourced": strike_sentences,
    "success_denied": strike_sentences,
    "order_of_tool": strike_sentences,
    "name_unsaid": strike_sentences,
    "value_denied": strike_sentences,
    "request_unasked": strike_sentences,
    "said_too_often": strike_sentences,
    "order_mistaken": strike_sentences,
    "task_doubled": strike_sentences,
    "error_doubled": strike_sentences,
    "error_miscited": cite_showing,
    "task_unasked": claim_instead,
    "task_reworded": word_as_known,
    "error_unseen": claim_instead,
    "note_unseen": sound_notes,
    "number_unseen": mark_unseen,
}
