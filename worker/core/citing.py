"""Rules that cite another message than the one in which a person said them."""

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


CITATIONS = (_miscited,)
