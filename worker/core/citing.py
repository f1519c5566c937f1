"""Rules that cite another message than the one in which a person said them, or that a wider rule tells already."""

from collections.abc import Iterator

from worker.core.checkpoint import Finding
from worker.core.grounds import Grounds
from worker.core.judging import finding_on, judged
from worker.core.summary import Constraint, Summary
from worker.core.wording import normal


def holders(quote: str, grounds: Grounds) -> tuple[str, ...]:
    """The human messages that hold the quote, in the order of the session."""
    wanted = normal(quote)
    return tuple(one for one, said in grounds.human.items() if wanted and wanted in normal(said))


def _miscited(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if isinstance(item, Constraint) and not item.given:
            said_in = holders(item.quote, grounds)
            if said_in and not set(said_in) & set(item.evidence):
                yield finding_on("constraint_miscited", field, item, f"said in {said_in[0]}")


def _told_twice(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A new rule whose words are a piece of another one's: "never A" beside "never A, and don't B"."""
    in_force = [(one.id, normal(one.quote)) for one in summary.constraints if one.in_force and one.quote]
    for field, item in judged(summary, grounds):
        if not isinstance(item, Constraint) or item.given or not item.in_force or item.since != item.seen:
            continue
        quote = normal(item.quote).rstrip(_ENDS)
        if quote and any(one != item.id and quote in other and len(quote) < len(other) - 1 for one, other in in_force):
            yield finding_on("constraint_doubled", field, item, item.quote[:80])


_ENDS = " .!,;。！，；"
CITATIONS = (_miscited, _told_twice)
