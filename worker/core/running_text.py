"""Request and current work as a whole: in the language of the people, about what was said, and not done before it is.

Their sentences are judged one by one in `unfounded`. A text that fails here is told by code from the ledger: people's
last words and what the assistant did since are duller than prose, and true.
"""

import re
from collections.abc import Iterator

from worker.core.checkpoint import Finding
from worker.core.grounds import Grounds
from worker.core.judging import texts_of
from worker.core.language import language_of
from worker.core.ledger import still_running
from worker.core.rules import stem
from worker.core.summary import Summary
from worker.core.wording import content_words, sentences

SPOKEN_SHARE = 0.3
"""A request is about the session when so many of its words occur there, in a message or in what was known before."""

FEWEST_WORDS = 3

_FINISHED = re.compile(
    r"\b(?:is|are|was|were|been) (?:now |all |fully |successfully )*(?:complete|completed|done|finished|over)\b"
    r"|\b(?:no|nothing) (?:more |further |other |else )?(?:is |work |steps? |tasks? )*"
    r"(?:in work|left|remain\w*|to be done|to do)\b"
    r"|\bno (?:more|further|remaining) (?:work|steps?|tasks?)\b"
    r"|\ball (?:the )?(?:tasks?|work|steps?|requests?)\b[^.]{0,20}\b(?:done|complete\w*|finished)\b"
    r"|\b(?:ist|sind|wurde) (?:alles |nun |jetzt )?(?:fertig|erledigt|abgeschlossen)\b"
    r"|(?:已|已经|全部|都)(?:全部)?(?:完成|结束|做完)|没有(?:剩余|更多|其他)的?(?:工作|任务)|完了し(?:た|ました|てい)|終わりました",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not|until|once|when|after|before|if|unless|except|but|only|will|should|n['’]t)\b|[未没不]|後|たら|ない|まで",
    re.IGNORECASE,
)


def _foreign(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """A language that the people of the session do not use: nothing in it can be compared with what they said."""
    people = language_of(grounds.human.values())
    for name, text in _worded(summary) if people else ():
        languages = {language_of([words]) for words in sentences(text)} - {None}
        if languages and people not in languages and not grounds.has_said(text):
            told = ", ".join(sorted(filter(None, languages)))
            yield Finding(code="text_foreign", where=name, detail=f"{told}, the people write {people}")


def _unspoken_request(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    words = {stem(word) for word in content_words(summary.request)}
    if not grounds.human or len(words) < FEWEST_WORDS or not grounds.is_in_script_of_range(summary.request):
        return
    spoken = grounds.spoken()
    if sum(word in spoken for word in words) < SPOKEN_SHARE * len(words):
        yield Finding(code="request_unspoken", where="request", detail=summary.request[:80])


def _finished_early(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    """Work is called finished while a task, a failure or a process of the range is open, and none of them is named."""
    text = summary.current_work
    if not any(_FINISHED.search(words) and not _NOT_YET.search(words) for words in re.split(r"[.!。！;；]\s*", text)):
        return
    ledger = grounds.ledger
    tasks = [f"{task.id} {task.text}" for task in ledger.tasks if task.status.is_open]
    failures = [one.command or one.tool for one in ledger.failures if one.resolved_by is None and one.kind == "error"]
    left = [*tasks, *(one.text for one in still_running(ledger.background)), *failures]
    told = {stem(word) for word in content_words(text)}
    if left and not any(one.partition(" ")[0] in text or _shares(told, one) for one in left):
        yield Finding(code="work_unfinished", where="current_work", detail=left[0][:80])


def _shares(told: set[str], left: str) -> bool:
    words = {stem(word) for word in content_words(left)}
    return bool(words) and len(words & told) >= min(2, len(words))


def _worded(summary: Summary) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in texts_of(summary) if name in ("request", "current_work") and text.strip())


RUNNING_TEXTS = (_foreign, _unspoken_request, _finished_early)
