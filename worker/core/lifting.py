"""The end of a constraint: only later words of a person, found letter by letter and about that rule, lift it.

A model may propose which words do. Code finds those that do so plainly (`ending`) by itself, with and without a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

from worker.core import prose
from worker.core.checkpoint import Finding
from worker.core.ending import ends, is_narrower, restricts
from worker.core.items import newest_evidence
from worker.core.merging import Applied
from worker.core.messages import message_index
from worker.core.permitting import gives_leave
from worker.core.rules import releases
from worker.core.summary import Constraint, Lift, Summary, UserMessage
from worker.core.wording import find_verbatim, sentences


class ProposedLift(Protocol):
    """What a model gives as the end of a constraint."""

    @property
    def id(self) -> str: ...
    @property
    def quote(self) -> str: ...
    @property
    def evidence(self) -> tuple[str, ...]: ...


def lift(summary: Summary, lifts: Sequence[ProposedLift], *, human: Mapping[str, str]) -> Applied:
    """The summary with the constraints lifted that a person lifted: later, in words found there, about that rule."""
    refused: list[Finding] = []
    for proposed in lifts:
        constraint = next((one for one in summary.constraints if one.id == proposed.id), None)
        found = find_lift(constraint, proposed, human) if constraint else None
        if constraint is None or found is None:
            refused.append(_refused_lift(proposed))
            continue
        lifted = replace(constraint, lifted=constraint.lifted or found)
        summary = replace(
            summary, constraints=tuple(lifted if one is constraint else one for one in summary.constraints)
        )
    return Applied(summary=summary, refused=tuple(refused))


def lift_said(summary: Summary, said: Sequence[UserMessage]) -> Summary:
    """The summary with the constraints lifted that people plainly lifted, without anybody proposing it.

    said: the messages of the range, oldest first. What the agent itself was given is not a person's to lift.
    """
    lifting = list(_lifting_sentences(said))
    if not lifting:
        return summary
    return replace(summary, constraints=tuple(_after(constraint, lifting) for constraint in summary.constraints))


def _lifting_sentences(said: Sequence[UserMessage]) -> Iterator[tuple[UserMessage, prose.Sentence]]:
    for message in said:
        for sentence, following in pairwise([*prose.sentences(message.text), None]):
            if sentence is None or len(sentence.text) > SENTENCE_CHARS or not gives_leave(sentence.masked):
                continue
            if following is None or not restricts(following.masked):
                yield message, sentence


SENTENCE_CHARS = 400
"""A longer sentence is no statement that somebody typed."""


def _after(constraint: Constraint, lifting: Sequence[tuple[UserMessage, prose.Sentence]]) -> Constraint:
    if constraint.given or not constraint.in_force:
        return constraint
    begun = newest_evidence(constraint)
    for message, sentence in lifting:
        if (message_index(message.id) or 0) > begun and ends(sentence.masked, constraint.quote):
            return replace(constraint, lifted=Lift(quote=sentence.text, evidence=(message.id,)))
    return constraint


def find_lift(constraint: Constraint, proposed: ProposedLift | Lift, human: Mapping[str, str]) -> Lift | None:
    """The lift with its quote as the person wrote it, None when no later message of a person holds and means it."""
    begun = newest_evidence(constraint)
    for message_id in proposed.evidence:
        if message_id not in human or (message_index(message_id) or 0) <= begun:
            continue
        words = find_verbatim(proposed.quote, human[message_id])
        if words and _is_lifted(constraint, words, human[message_id]):
            return Lift(quote=words, evidence=(message_id,))
    return None


def _is_lifted(constraint: Constraint, words: str, text: str) -> bool:
    """True when the words, read in their sentence, plausibly end the rule, or plainly do."""
    sentence = _in_full(words, text)
    if releases(sentence, constraint.rule, constraint.quote) and not is_narrower(sentence, constraint.quote):
        return True
    return any(ends(one.masked, constraint.quote) for one in prose.sentences(text) if words in one.text)


def _in_full(words: str, text: str) -> str:
    """The sentence that holds the words: a quote may leave out the "never" in front of it."""
    return next((sentence for sentence in sentences(text) if words in sentence), words)


def _refused_lift(proposed: ProposedLift) -> Finding:
    return Finding(
        code="constraint_lifted_unsourced",
        where="constraints",
        ids=(proposed.id,),
        detail="no later words of a person lift it",
        mended=True,
    )
