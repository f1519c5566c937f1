"""The summary that code writes alone: no model was configured, or its answer could not be used.

It says what the ledger saw and what people wrote, each with its evidence, and of the assistant's words only that they
were said. It is short enough to read; what it leaves out stands in the ledger and in the transcript.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from worker.core.closing import claims, current_work, is_request
from worker.core.commands import repeatable
from worker.core.dates import absolute_dates
from worker.core.deciding import decisions, facts, memories
from worker.core.items import newest_evidence
from worker.core.joining import EARLIER
from worker.core.ledger import Failure, Ledger
from worker.core.looking import only_looks
from worker.core.messages import Message, Origin
from worker.core.prose import own_words
from worker.core.summary import (
    Change,
    Check,
    ErrorItem,
    FileItem,
    NextStep,
    Summary,
    UserMessage,
    with_id,
)
from worker.core.toolkit import concepts_seen
from worker.core.wording import clip, normal, sentences

REQUEST_CHARS = 600
EARLIER_REQUESTS = 6
EARLIER_REQUEST_CHARS = 160
ABOUT_CHARS = 160
ERRORS = 20
CHANGED_FILES = 80
READ_FILES = 12
CHECKS = 20
REFERENCES = 60
SENTENCE_CHARS = 400
"""How much of each kind a draft holds. The rest is counted nowhere because it is kept: in the ledger."""

_NEEDS_CONTEXT_CHARS = 80
"""A longer request says itself what it is about."""

_SUPERSEDES = re.compile(
    r"(?i)(?:^|[.!;,]\s+)(?:\W*[a-h]\W\s*)?(?:(?:ok|okay|no|actually|wait|hmm|and|but|so|please)[\s,.]+){0,3}"
    r"(?:stop|forget|cancel|scrap|abandon|never ?mind|scratch that|drop (?:that|this|it|the)|revert|undo)\b|"
    r"\b(?:instead\s*(?:[.!,;]|$)|change of plans?|on second thought|leave (?:that|this|it) for)\b|\binstead[.!]|"
    r"改成|改为|算了|停下|停止|先不|取消|やめて|中止|代わりに",
)


def draft(ledger: Ledger, messages: Sequence[Message]) -> Summary:
    """The nine sections of a range from its ledger. Items have ids; `since` and `seen` are set by the join."""
    said, rules = ledger.user_messages, ledger.constraints
    return Summary(
        constraints=tuple(map(with_id, ledger.constraints)),
        request=_request(said),
        files=_files(ledger),
        concepts=concepts_seen(ledger),
        references=tuple(map(with_id, ledger.references[-REFERENCES:])),
        errors=draft_errors(ledger.failures),
        checks=draft_checks(ledger.checks),
        problem_solving=(*decisions(said, rules), *facts(said, rules), *claims(messages)),
        user_messages=said,
        tasks=tuple(map(with_id, ledger.tasks)),
        current_work=current_work(ledger, messages),
        next_step=_next_step(said, messages),
        artifacts=ledger.artifacts,
        memories=memories(said, rules),
    )


def _request(said: Sequence[UserMessage]) -> str:
    """The newest request whole, then the earlier ones, newest first and the very first always; replaced ones say so."""
    requests = [message for message in said if is_request(message.text)] or list(said)
    if not requests:
        return ""
    newest, earlier = requests[-1], [one for one, later in pairwise(requests) if not _is_resent(one, later)]
    shown = earlier if len(earlier) <= EARLIER_REQUESTS else [earlier[0], *earlier[1 - EARLIER_REQUESTS :]]
    replaced = _superseded(requests)
    return "\n\n".join([_asked(newest, REQUEST_CHARS), *(EARLIER + _told(one, replaced) for one in reversed(shown))])


def _is_resent(message: UserMessage, later: UserMessage) -> bool:
    """Whether the next message says the same again, perhaps with more behind it."""
    return normal(later.text[: len(message.text) + 8]).startswith(normal(message.text).rstrip(" .?!"))


def _superseded(requests: Sequence[UserMessage]) -> dict[str, str]:
    """Which request a later one replaced: the one right before words like "stop" or "forget"."""
    return {
        before.id: after.id for before, after in pairwise(requests) if _SUPERSEDES.search(after.text[:SENTENCE_CHARS])
    }


def _asked(message: UserMessage, chars: int) -> str:
    """The request in the person's words, without what they pasted behind them; days get their date."""
    words = clip(own_words(message.text, chars * 4), chars)
    if message.timestamp is not None:
        words = absolute_dates(words, message.timestamp.date())
    short = len(message.text) <= _NEEDS_CONTEXT_CHARS and message.answers is not None
    about = f" [on: {clip(message.answers.excerpt, ABOUT_CHARS)}]" if short and message.answers else ""
    return f"{words}{about} ({message.id})"


def _told(message: UserMessage, replaced: dict[str, str]) -> str:
    by = replaced.get(message.id)
    part = "in part " if by and len(sentences(message.text)) > 1 else ""
    return (f"superseded {part}by {by}: " if by else "") + _asked(message, EARLIER_REQUEST_CHARS)


def _files(ledger: Ledger) -> tuple[FileItem, ...]:
    newest_first = sorted(ledger.files, key=newest_evidence, reverse=True)
    changed = [file for file in newest_first if file.change not in (Change.READ, Change.MENTIONED)]
    read = [file for file in newest_first if file.change is Change.READ]
    return tuple(map(with_id, changed[:CHANGED_FILES] + read[:READ_FILES]))


def draft_errors(failures: Sequence[Failure]) -> tuple[ErrorItem, ...]:
    """One error per command that failed, its last failure; unresolved ones first, then newest first.

    A look-up that found nothing and a call that somebody refused leave nothing to fix, and say so.
    """
    last = {
        (failure.tool, normal(failure.command)) if failure.command else (failure.id,): failure for failure in failures
    }
    errors = [(_error(failure), only_looks(failure.command)) for failure in last.values()]
    errors.sort(key=lambda one: (one[0].fix is not None, one[1], -newest_evidence(one[0])))
    return tuple(error for error, _ in errors[:ERRORS])


def _error(failure: Failure) -> ErrorItem:
    what = f"`{clip(repeatable(failure.command), 120)}`" if failure.command else failure.tool
    evidence = failure.evidence + ((failure.resolved_by,) if failure.resolved_by else ())
    return with_id(ErrorItem(error=f"{what} {_outcome(failure)}", fix=_fix(failure), evidence=evidence))


def _outcome(failure: Failure) -> str:
    if failure.kind == "denial":
        reason = failure.message.removeprefix("refused: ") if failure.message.startswith("refused: ") else ""
        return f'was refused by the person: "{clip(reason, 240)}"' if reason else "was refused by the person"
    code = "" if failure.exit_code is None else f" (exit {failure.exit_code})"
    said = clip(failure.message, 240)
    return f"failed{code}{': ' if said else ''}{said}"


def _fix(failure: Failure) -> str | None:
    if failure.resolved_by:
        return f"resolved: the same command passed later ({failure.resolved_by})"
    if failure.kind == "denial":
        return "not done"
    return "a look-up only, not repeated since" if only_looks(failure.command) else None


def draft_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    newest = {normal(check.command): check for check in checks}
    return tuple(map(with_id, sorted(newest.values(), key=newest_evidence, reverse=True)[:CHECKS]))


def _next_step(said: Sequence[UserMessage], messages: Sequence[Message]) -> NextStep | None:
    """Only a person's message that nobody answered yet names a next step."""
    if not said:
        return None
    newest = said[-1]
    answered = False
    for message in reversed(messages):
        if message.id == newest.id:
            break
        answered = answered or message.origin is Origin.ASSISTANT
    if answered or not is_request(newest.text):
        return None
    quote = next(iter(sentences(newest.text)), newest.text.strip())[:SENTENCE_CHARS]
    return NextStep(text=f"Answer {newest.id}: {clip(newest.text, SENTENCE_CHARS)}", quote=quote)
