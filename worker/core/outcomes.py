"""What calls came to, where a task is told as done: was the work done, only looked at, refused, failed or interrupted?

A call counts as its result. One that failed shows no work done, nor does another call beside it that has less to do
with the task; the same call made again with success does.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from worker.core.asserting import asserts_done, grave_words
from worker.core.clauses import meaning_stems
from worker.core.commands import hides_exit_code
from worker.core.failures import tells_failure
from worker.core.identifiers import contains_identifier
from worker.core.invocations import Invocation, invocations_of
from worker.core.items import is_written_id
from worker.core.looking import looks_only
from worker.core.messages import Message
from worker.core.summary import Task
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
    r"(?i)\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:fail\w*|errors?|exceptions?)\b"
    r"|\b(?:fail\w*|errors?)\b\W{0,3}(?:0|none|null)\b"
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
    if result is None or invocation.is_failed:
        return True
    if not _is_exit_code_plain(invocation) and tells_failure(result):
        return True
    if len(result.text) > _SHORT_RESULT_CHARS:
        return False
    told = _NO_FAILURE.sub(" ", result.text)
    is_plain = invocation.command is None and invocation.path is None
    return bool(_ERROR_VALUE.search(told)) or (is_plain and _tells_no_success(told))


def _is_exit_code_plain(invocation: Invocation) -> bool:
    """True for a command that came back with 0, and that did not only come through a pipe so."""
    return invocation.exit_code == 0 and not hides_exit_code(invocation.command or "")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A call as it is compared with tasks. asked, told: its name and arguments, without and with its result, in one
    case. is_void: it came to nothing and was to do something. is_work: it did something.
    """

    name: str
    evidence: tuple[str, ...]
    asked: str
    told: str
    is_void: bool
    is_work: bool


def outcomes_of(messages: Sequence[Message]) -> list[Outcome]:
    """One per call of the range, in order."""
    return [_outcome(one) for one in invocations_of(messages)]


def _outcome(invocation: Invocation) -> Outcome:
    asked = f"{invocation.call.name} {invocation.call.arguments}".casefold()
    return Outcome(
        name=invocation.name,
        evidence=invocation.evidence,
        asked=asked,
        told=f"{asked}\n{invocation.text[:_READ_CHARS].casefold()}",
        is_void=came_to_nothing(invocation) and not (looks_only(invocation) or keeps_list(invocation)),
        is_work=shows_work(invocation),
    )


def failed_instead(task: Task, outcomes: Sequence[Outcome], resolved: Collection[str] = ()) -> Outcome | None:
    """The call that was to do the task and came to nothing, None when there is none or it was made good.

    It was made good by a call that speaks more of the task, or as much, later and of the same tool.
    outcomes: of the range, in order. resolved: messages of failures after which the same command passed.
    """
    sought = _sought(task)
    void = [
        (score, at, one)
        for at, one in enumerate(outcomes)
        if one.is_void
        and ((score := sought.score(one.asked)) >= max(1, sought.enough) or sought.deeds & _deeds(one))
        and not any(message_id in resolved for message_id in one.evidence)
    ]
    if not void:
        return None
    worked = [(sought.score(one.told), at, one.name) for at, one in enumerate(outcomes) if one.is_work]
    return next(
        (
            one
            for score, at, one in reversed(void)
            if not any(
                more > score or (more == score and later > at and name == one.name) for more, later, name in worked
            )
        ),
        None,
    )


def was_done_by_call(task: Task, outcomes: Sequence[Outcome]) -> bool:
    """True when a call did what the task names, in most of its words: for what is paid, sent, booked and the like."""
    sought = _sought(task)
    if not sought.deeds or len(sought.stems) < FEWEST_SAME_DEED:
        return False
    return any(
        sum(stem in one.told for stem in sought.stems) >= SAME_DEED_SHARE * len(sought.stems)
        for one in outcomes
        if one.is_work and sought.deeds <= _deeds(one)
    )


def _deeds(outcome: Outcome) -> set[str]:
    return grave_words(outcome.asked.replace("_", " "))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What a call must speak of to be about a task: the names it is written with, its words, its grave deeds."""

    names: tuple[str, ...]
    stems: tuple[str, ...]
    deeds: frozenset[str]

    @property
    def enough(self) -> float:
        return ABOUT_SHARE * len(self.stems)

    def score(self, told: str) -> int:
        named = sum(contains_identifier(told, name) for name in self.names)
        return IDENTIFIER_WEIGHT * named + sum(stem in told for stem in self.stems)


def _sought(task: Task) -> _Sought:
    names = dict.fromkeys([*([task.id] if is_written_id(task) else []), *task.refs, *identifiers(task.text)])
    words = task.text
    for name in names:
        words = words.replace(name, " ")
    return _Sought(
        names=tuple(name.casefold() for name in names),
        stems=tuple(stem for stem in meaning_stems(words) if not stem.isdigit()),
        deeds=frozenset(grave_words(task.text)),
    )
