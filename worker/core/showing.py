"""Where an error of a summary stands in the range: in what is cited, in another message, as a failure of the ledger.

A weak model cites the message beside the right one. Whether an error is told at all is decided here by its words.
"""

import re
from collections.abc import Sequence

from worker.core.clauses import meaning_stems
from worker.core.grounds import Grounds, numbers_of
from worker.core.messages import Message, Origin
from worker.core.summary import ErrorItem
from worker.core.wording import identifiers

SAID_FIXED = "(said to be fixed, not seen: "
"""How a fix that nothing shows is put behind an error."""

TOLD_SHARE = 0.5
"""Of an error's words, that what it cites must hold."""

FOUND_SHARE = 2 / 3
"""Of an error's words, that a message must hold to be where it stands although another one is cited."""

SAME_SHARE = 0.8
"""Of an error's words, that another error must hold to be the same."""

FEWEST_WORDS = 2

_FAILS = re.compile(
    r"(?i)\b(?:fail\w*|errors?|exception|panic\w*|refused|denied|reject\w*|unreachable|unavailable|timed? ?out|expired|"
    r"lost|missing|invalid|broken|breaks?|crash\w*|killed|dropped|wrong|bug\w*|not|never|cannot|unable|stale|slow|"
    r"leak\w*|conflict\w*|warning\w*|mismatch\w*|duplicate\w*|outdated|unused|unnecessary|should|doesn|isn|don|didn|"
    r"\w+n['’]t|issues?|problem\w*|low|medium|high|severity|nit|flaky|hang\w*|stuck|differ\w*|too)\b"
    r"|失败|失敗|错误|错|エラー|不|没|未|ない|ません|切れ|落ち|壊"
)
_ORIGINS = (Origin.TOOL, Origin.HARNESS, Origin.HUMAN, Origin.ASSISTANT, Origin.SUMMARY, Origin.SYSTEM)
"""Whose message is cited, of several that show an error: what was printed before what was said of it."""


def bare_error(error: ErrorItem) -> str:
    """The error without what is said of its fix."""
    return error.error.partition(SAID_FIXED)[0].strip()


def tells_error(error: ErrorItem, cited: Sequence[str], grounds: Grounds) -> bool:
    """True when the messages tell most of the error's words, and of something that goes wrong; or all of the words."""
    told = "\n".join(map(grounds.folded, cited))
    share = _share(error, told)
    return share >= TOLD_SHARE and (share == 1 or _FAILS.search(told) is not None)


def is_told_where_cited(error: ErrorItem, grounds: Grounds) -> bool:
    """True for a failure of the ledger, for what cannot be judged, and when the cited messages tell the error."""
    failed = {one for failure in grounds.ledger.failures for one in failure.evidence}
    cited = [one for one in error.evidence if grounds.has(one)]
    if not failed.isdisjoint(error.evidence) or not cited or len(cited) < len(error.evidence):
        return True
    return not grounds.can_judge(error, cited) or tells_error(error, cited, grounds)


def found_elsewhere(error: ErrorItem, grounds: Grounds) -> str | None:
    """The message that shows an error which the cited ones do not; None when they do, and when none shows it."""
    return None if is_told_where_cited(error, grounds) else message_showing(error, grounds)


def message_showing(error: ErrorItem, grounds: Grounds) -> str | None:
    """The message of the range that holds most words of the error and all its names and numbers; output comes first."""
    named = {*map(str.casefold, identifiers(bare_error(error))), *numbers_of(bare_error(error))}
    shares = [
        (_share(error, told), message)
        for message in grounds.messages
        if _FAILS.search(told := grounds.folded(message.id)) and all(one in told for one in named)
    ]
    found = [(share, message) for share, message in shares if share >= FOUND_SHARE]
    best = max(found, key=lambda one: (-_ORIGINS.index(_speaker(one[1])), one[0]), default=None)
    return best[1].id if best else None


def is_told_by_ledger(error: ErrorItem, told: Sequence[ErrorItem], grounds: Grounds) -> bool:
    """True for an error that says no more than another one that is told, which code saw or an earlier checkpoint has.

    One with a fix that the other lacks says more.
    """
    text = bare_error(error)
    return len(meaning_stems(text)) >= FEWEST_WORDS and any(
        _share(error, other.error.casefold()) >= SAME_SHARE
        and all(number in other.error for number in numbers_of(text))
        and (error.fix is None or other.fix is not None)
        for other in told
        if other is not error and grounds.is_settled(other)
    )


def _share(error: ErrorItem, told: str) -> float:
    stems = meaning_stems(bare_error(error))
    return sum(stem in told for stem in stems) / max(1, len(stems))


def _speaker(message: Message) -> Origin:
    return Origin.TOOL if message.tool_result else message.origin
