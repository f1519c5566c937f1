"""What calls came to, where a task is told as done: was the work done, only looked at, refused, failed or interrupted?

A call counts as its result. One that failed shows no work done, nor does another call beside it that has less to do
with the task; the same call made again with success does.
"""

import re
from collections.abc import Sequence

from worker.core.asserting import asserts_done, grave_words
from worker.core.clauses import meaning_stems
from worker.core.failures import telling_line, tells_failure
from worker.core.identifiers import contains_identifier
from worker.core.invocations import Invocation
from worker.core.looking import looks_only
from worker.core.wording import identifiers

IDENTIFIER_WEIGHT = 10
ABOUT_SHARE = 0.5
"""Of a task's words, that a call must hold to be the one that was to do it; one of its identifiers will do as well."""

SAME_DEED_SHARE = 2 / 3
"""Of a task's words, that a call must hold to have done it although another message is cited."""

FEWEST_SAME_DEED = 3
_SHORT_RESULT_CHARS = 600
_READ_CHARS = 20_000

_ERROR_VALUE = re.compile(
    r'"(?:success|ok|succeeded)"\s*:\s*false\b|"error(?:_?(?:code|message))?"\s*:\s*(?:"[^"]|\{|[1-9])'
    r'|"(?:status|state|result|outcome)"\s*:\s*"(?:error|fail\w*|rejected|declined|denied|cancell?ed|timeout|timed_out'
    r'|pending\w*|queued|waiting\w*)"',
    re.IGNORECASE,
)
"""How the answers of services say in JSON that nothing came of a call, or not yet."""

_SAYS_FAILURE = re.compile(
    r"\b(?:fail\w*|errors?|exception|refused|denied|reject\w*|declin\w*|unreachable|unavailable|timed? ?out|expired|"
    r"missing|invalid|unable|cannot|can['’]t|could ?n[o'’]t|could not|forbidden|unauthori[sz]ed|insufficient|sold out|"
    r"no longer available|aborted|interrupted|cancell?ed by)\b"
    r"|失败|错误|缺少|未能|无法|拒绝|不足|失敗|エラー|できません|できなかった|不可|拒否",
    re.IGNORECASE,
)
_SAYS_SUCCESS = re.compile(
    r"(?<!un)(?:\b(?:ok|success\w*|confirmed|created|updated|added|fixed|saved|sent|booked|paid|done|completed|"
    r"delivered|accepted|applied|deployed|merged|published|wrote|written)\b|成功|已|完了|しました)",
    re.IGNORECASE,
)
"""Of a failure and a success in one short result, the one that is told first is what came of the call."""

_SAYS_NOT_DONE = re.compile(
    r"\b(?:not|n['’]t) (?:yet |been |be )*(?:sent|booked|paid|available|found|possible|allowed|permitted|done|"
    r"completed?|confirmed|created|deployed|merged|published|supported|accepted|processed|delivered|authori[sz]ed)\b"
    r"|\b(?:awaiting|waiting for|pending) (?:\w+ )?(?:approval|confirmation|payment|review)\b",
    re.IGNORECASE,
)
_NO_FAILURE = re.compile(
    r"(?i)\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:fail\w*|errors?|exceptions?)\b|\b(?:fail\w*|errors?)\b\W{0,3}0\b"
    r"|0 ?(?:个|件の?)?(?:错误|失败|エラー|失敗)"
)
_KEEPS_LIST = re.compile(r"todo|update_?plan|task_?(?:create|update|list|get)|(?:create|update|add|list)_?tasks?$")
_ASKS = re.compile(
    r"(?:get|list|search|fetch|find|read|view|show|look_?up|browse|query|check|quote|compare|suggest|recommend)"
    r"(?=[_\-.A-Z]|$)"
)


def came_to_nothing(invocation: Invocation) -> bool:
    """True for a call without result, a refused one, and one whose result tells a failure or that it waits."""
    result = invocation.result
    if result is None or invocation.is_failed or tells_failure(result):
        return True
    if len(result.text) > _SHORT_RESULT_CHARS:
        return False
    told = _NO_FAILURE.sub(" ", result.text)
    is_plain = invocation.command is None and invocation.path is None
    return bool(_ERROR_VALUE.search(told)) or (is_plain and _tells_no_success(told))


def _tells_no_success(result: str) -> bool:
    failure, success = _SAYS_FAILURE.search(result), _SAYS_SUCCESS.search(result)
    if _SAYS_NOT_DONE.search(result):
        return True
    return failure is not None and (success is None or failure.start() < success.start())


def keeps_list(invocation: Invocation) -> bool:
    """True for the agent's own list of tasks, which is its word and has its say in the ledger."""
    return _KEEPS_LIST.search(invocation.name) is not None


def shows_work(invocation: Invocation) -> bool:
    """True for a call that did something and succeeded; a question shows only what its answer calls done."""
    if came_to_nothing(invocation) or looks_only(invocation) or keeps_list(invocation):
        return False
    asks = _ASKS.match(invocation.call.name.rsplit("__", 1)[-1]) is not None
    return not asks or any(asserts_done(line) for line in invocation.text[:_READ_CHARS].splitlines())


def failed_instead(task: str, invocations: Sequence[Invocation]) -> Invocation | None:
    """The call that was to do the task and came to nothing, None when there is none or it was made good.

    It was made good by a call that speaks more of the task, or as much and later. task: its text and its ids.
    invocations: of the range, in order.
    """
    spoken = [(_score(task, one), at, one) for at, one in enumerate(invocations)]
    worked = [(score, at) for score, at, one in spoken if score and shows_work(one)]
    enough = ABOUT_SHARE * max(1, len(meaning_stems(task)))
    for score, at, one in reversed(spoken):
        if score < max(1, enough) or not came_to_nothing(one) or looks_only(one) or keeps_list(one):
            continue
        if not any(better > score or (better == score and later > at) for better, later in worked):
            return one
    return None


def was_done_by_call(task: str, invocations: Sequence[Invocation]) -> bool:
    """True when a call did what the task names, in most of its words: for what is paid, sent, booked and the like."""
    deeds, stems = grave_words(task), meaning_stems(task)
    if not deeds or len(stems) < FEWEST_SAME_DEED:
        return False
    return any(
        deeds <= grave_words(_asked(one).replace("_", " "))
        and sum(stem in _told(one) for stem in stems) >= SAME_DEED_SHARE * len(stems)
        for one in invocations
        if shows_work(one)
    )


def _score(task: str, invocation: Invocation) -> int:
    """How much a call and what came of it speak of a task: 10 for each identifier, 1 for each word."""
    told = _told(invocation)
    named = sum(contains_identifier(told, value.casefold()) for value in identifiers(task))
    return IDENTIFIER_WEIGHT * named + sum(stem in told for stem in meaning_stems(task))


def _told(invocation: Invocation) -> str:
    """In one case; of a failure only the line that tells it, for a log of it may speak of everything."""
    result = telling_line(invocation.text) if came_to_nothing(invocation) else invocation.text[:_READ_CHARS]
    return f"{_asked(invocation)}\n{result}".casefold()


def _asked(invocation: Invocation) -> str:
    return f"{invocation.call.name} {invocation.call.arguments}".casefold()
