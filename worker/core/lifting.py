"""The end of a constraint: only later words of a person, found letter by letter and about that rule, lift it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from worker.core.checkpoint import Finding
from worker.core.items import newest_evidence
from worker.core.merging import Applied
from worker.core.messages import message_index
from worker.core.rules import releases
from worker.core.summary import Constraint, Lift, Summary
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


def find_lift(constraint: Constraint, proposed: ProposedLift | Lift, human: Mapping[str, str]) -> Lift | None:
    """The lift with its quote as the person wrote it, None when no later message of a person holds and means it."""
    begun = newest_evidence(constraint)
    for message_id in proposed.evidence:
        if message_id not in human or (message_index(message_id) or 0) <= begun:
            continue
        words = find_verbatim(proposed.quote, human[message_id])
        if words and releases(_in_full(words, human[message_id]), constraint.rule, constraint.quote):
            return Lift(quote=words, evidence=(message_id,))
    return None


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
