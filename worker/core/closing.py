"""How a range ended and what the assistant said at the end of its turns, told by code.

Actions come from the ledger, so they are what happened. The assistant's words stay its words: a report is a claim.
"""

import re
from collections.abc import Sequence

from worker.core.dates import absolute_dates
from worker.core.flattening import flat_lines, gist
from worker.core.items import newest_evidence
from worker.core.ledger import Ledger
from worker.core.messages import Message, Origin
from worker.core.prose import own_words
from worker.core.summary import Change, CheckResult, Problem, ProblemKind, ReferenceKind, with_id
from worker.core.wording import clip, sentences

CLAIMS = 12
CLAIM_CHARS = 160
ASKED_CHARS = 200
LAST_WORDS_CHARS = 360
_SHORTEST_CLAIM = 30
_NAMED = 6
_RUNNING = 6
_CHECKS = 3
_QUESTION_MARKS = ("?", "？")
_NO_REQUEST = re.compile(
    r"(?:yes|yep|yeah|yup|no|nope|ok(?:ay)?|k|sure|thanks?(?: you)?|thx|ty|go(?: ahead| on)?|continue|proceed|great|"
    r"nice|perfect|cool|good|lgtm|sounds good|looks good|do it|please do|right|correct|exactly|hi|hello|hey|"
    r"好的?|可以|继续|是的?|对|谢谢|嗯|はい|うん|お願いします|ありがとう|続けて|네|응|да|ja|oui|sí|si)[\s.!。！,，]*",
    re.IGNORECASE,
)
_ANNOUNCES = (
    "i'll ",
    "i’ll ",
    "i will ",
    "let me ",
    "now i",
    "now let",
    "understood",
    "i'm going",
    "looking ",
    "我来",
    "我会",
)


def is_request(text: str) -> bool:
    """False for a mere yes, thanks or greeting."""
    return bool(text.strip()) and _NO_REQUEST.fullmatch(text.strip()[:200]) is None


def claims(messages: Sequence[Message]) -> tuple[Problem, ...]:
    """How the assistant closed its turns, one short line each; the last one is told with the current work."""
    found = []
    for message in _closing_words(messages)[:-1]:
        words = gist(message.text, CLAIM_CHARS)
        if len(words) >= _SHORTEST_CLAIM and not words.lower().startswith(_ANNOUNCES) and not _asks(words):
            found.append(Problem(kind=ProblemKind.CLAIM, text=words, evidence=(message.id,)))
    return tuple(map(with_id, found[-CLAIMS:]))


def current_work(ledger: Ledger, messages: Sequence[Message]) -> str:
    """What the last stretch was about, what was done in it, how it ended, and what still runs."""
    main = [message for message in messages if not message.sidechain]
    people = [at for at, message in enumerate(main) if message.is_human and message.text.strip()]
    at = next((at for at in reversed(people) if is_request(main[at].text)), people[-1] if people else None)
    stretch = main if at is None else main[at + 1 :]
    asked = None if at is None else main[at]
    ending = _last_words(stretch, "It ended with") or _last_words(main, "Before that the assistant said")
    told = [_asked(asked, stretch), _done(ledger, stretch), ending]
    return "\n".join(line for line in (" ".join(filter(None, told)), _running(ledger)) if line)


def _asked(asked: Message | None, stretch: Sequence[Message]) -> str:
    if asked is None:
        return ""
    words = clip(own_words(asked.text, ASKED_CHARS), ASKED_CHARS)
    words = words if asked.timestamp is None else absolute_dates(words, asked.timestamp.date())
    lead = "Last asked" if _is_answered(stretch) else "Not answered yet"
    return f'{lead} ({asked.id}): "{words}"'


def _is_answered(stretch: Sequence[Message]) -> bool:
    return any(message.origin is Origin.ASSISTANT for message in stretch)


def _done(ledger: Ledger, stretch: Sequence[Message]) -> str:
    """What the tools show for these messages: files, checks, commits; else how many calls there were."""
    first = stretch[0].index if stretch else None
    if first is None:
        return ""
    done = [*_file_work(ledger, first), *_check_work(ledger, first), *_commits(ledger, first)]
    calls = sum(len(message.tool_calls) for message in stretch)
    if not done and calls:
        done = [f"made {calls} tool {'call' if calls == 1 else 'calls'}, none known to have changed a file"]
    return f"Since then the assistant {_listed(done)}." if done else ""


def _file_work(ledger: Ledger, first: int) -> list[str]:
    work = []
    for change in (Change.CREATED, Change.EDITED, Change.DELETED):
        paths = [file.path for file in ledger.files if file.change is change and newest_evidence(file) >= first]
        if paths:
            work.append(f"{change} {_few([f'`{path}`' for path in paths])}")
    return work


def _check_work(ledger: Ledger, first: int) -> list[str]:
    run = [check for check in ledger.checks if newest_evidence(check) >= first][-_CHECKS:]
    told = {CheckResult.PASSED: "passed", CheckResult.FAILED: "failed", CheckResult.UNKNOWN: "result not seen"}
    return [f"ran {_few([f'`{clip(check.command, 60)}` ({told[check.result]})' for check in run])}"] if run else []


def _commits(ledger: Ledger, first: int) -> list[str]:
    made = [one for one in ledger.references if one.kind is ReferenceKind.COMMIT and newest_evidence(one) >= first]
    return [f"committed {_few([f'`{one.value}`' for one in made])}"] if made else []


def _few(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _listed(done: Sequence[str]) -> str:
    return done[0] if len(done) == 1 else f"{', '.join(done[:-1])} and {done[-1]}"


def _last_words(stretch: Sequence[Message], lead: str) -> str:
    last = next((one for one in reversed(stretch) if one.origin is Origin.ASSISTANT and one.text.strip()), None)
    if last is None:
        return ""
    question = _closing_question(last.text)
    said = gist(last.text, LAST_WORDS_CHARS)
    waits = f' It waits for an answer to: "{clip(question, ASKED_CHARS)}"' if question else ""
    said = f'{lead} ({last.id}): "{said}"' if said else ""
    return f"{said}{waits}".strip()


def _closing_question(text: str) -> str:
    """The question with which the text ends, "" when it ends otherwise."""
    lines = [line.text for line in flat_lines(text[-4_000:])]
    ending = sentences(lines[-1]) if lines else []
    return ending[-1] if ending and _asks(ending[-1]) else ""


def _asks(words: str) -> bool:
    return words.endswith((":", "：", *_QUESTION_MARKS))


def _running(ledger: Ledger) -> str:
    running = [one for one in ledger.background if one.status == "running"][-_RUNNING:]
    return (
        f"Still running: {'; '.join(f'{clip(one.text or one.id, 120)} ({one.id})' for one in running)}"
        if running
        else ""
    )


def _closing_words(messages: Sequence[Message]) -> list[Message]:
    """The last text of the assistant in each turn."""
    closing: list[Message] = []
    last: Message | None = None
    for message in messages:
        if message.is_human and last is not None:
            closing.append(last)
            last = None
        elif message.origin is Origin.ASSISTANT and message.text.strip() and not message.sidechain:
            last = message
    return closing if last is None else [*closing, last]
