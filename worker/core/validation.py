"""Does the summary tell the truth about its range, and all that it must? Findings come out, nothing is changed here.

Used twice: on the answer for one part (messages = the part) and on the merged summary before it is stored (messages =
the range, previous = the state). What was judged in an earlier checkpoint and is unchanged is not judged again. The
rules are in `phrasing`, `sourcing`, `unfounded`, `running_text`, `citing`, `obligations`; `mending` puts things right.
"""

from collections.abc import Iterator, Sequence

from worker.core.checkpoint import Finding
from worker.core.citing import CITATIONS
from worker.core.grounds import Grounds
from worker.core.items import is_protected, items_of, words_of
from worker.core.judging import judged, texts_of
from worker.core.ledger import Ledger
from worker.core.lifting import ProposedLift
from worker.core.messages import Message
from worker.core.obligations import OBLIGATIONS
from worker.core.phrasing import PHRASINGS, echoed
from worker.core.running_text import RUNNING_TEXTS
from worker.core.sourcing import SOURCES, unsourced_lifts
from worker.core.summary import Summary
from worker.core.tokens import estimate_tokens
from worker.core.unfounded import FOUNDATIONS

INFLATION_FLOOR_TOKENS = 400
"""Below this a summary may be longer than its source: nine sections of two messages are."""


def validate(
    summary: Summary,
    *,
    ledger: Ledger,
    messages: Sequence[Message],
    previous: Summary | None = None,
    echoes: Sequence[str] = (),
    lifts: Sequence[ProposedLift] = (),
    state_tokens: int | None = None,
    grounds: Grounds | None = None,
) -> tuple[Finding, ...]:
    """Every violation that is found, in the order of the checks; empty when nothing is wrong.

    ledger: of the messages. echoes: prompt and example texts that must not come back. lifts: ends of constraints that
    the answer proposes. state_tokens: None when the size does not matter yet. grounds: of these messages, this ledger
    and this state, for a caller that asks several questions about them.
    """
    grounds = grounds or Grounds(messages, ledger, previous)
    findings = judge(summary, grounds)
    findings += unsourced_lifts(summary, grounds, lifts)
    findings += echoed(summary, grounds, echoes)
    findings += _inflated(summary, grounds)
    findings += _over_budget(summary, state_tokens)
    return tuple(findings)


def judge(summary: Summary, grounds: Grounds) -> list[Finding]:
    """What can be judged from the range alone; `mend` asks again with the grounds that it has."""
    return [
        finding
        for rule in (*PHRASINGS, *SOURCES, *FOUNDATIONS, *RUNNING_TEXTS, *CITATIONS, *OBLIGATIONS)
        for finding in rule(summary, grounds)
    ]


def _inflated(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Measured in characters first: only a summary of that order is worth counting tokens for."""
    new = "\n".join([text for _, text in texts_of(summary)] + [words_of(item) for _, item in judged(summary, grounds)])
    if len(new) * 4 < grounds.chars:
        return
    told = estimate_tokens(new)
    source = sum(estimate_tokens(grounds.folded(message.id)) for message in grounds.messages)
    if told > max(source, INFLATION_FLOOR_TOKENS):
        yield Finding(code="inflated", where="summary", detail=f"{told} tokens about {source}")


def _over_budget(summary: Summary, state_tokens: int | None) -> Iterator[Finding]:
    if state_tokens is None:
        return
    tokens = sum(estimate_tokens(words_of(item)) for _, item in items_of(summary))
    if tokens > state_tokens and any(not is_protected(item) for _, item in items_of(summary)):
        yield Finding(code="over_budget", where="summary", detail=f"{tokens} tokens, {state_tokens} allowed")
