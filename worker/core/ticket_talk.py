"""What a person's sentence says about ticket ids: how each stands, and whether work on it is asked for.

An id that is only mentioned ("like in OPS-12 last year") is a reference. One is a task when a person asks for work on
it, lists it, or says how it stands.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from worker.core.identifiers import identifiers_in_redacted
from worker.core.prose import Sentence
from worker.core.rule_guards import is_past, tells
from worker.core.summary import TaskStatus

_COLOUR = re.compile(r"#\d{6}")
_TICKET_WORDS = re.compile(r"(?i)\b(?:issue|pr|pull|bug|ticket|fix|close|task|merge)\b")
_MAX_TEXT_CHARS = 300
_CLAUSE_CHARS = 300
_LEAD_CHARS = 16
"""Where an id's clause is looked for: a line of thousands of ids costs no more than its length."""

_LISTS = re.compile(r"(?i)(?:[,;:(–—•-]|\b(?:and|then|also|plus|next|finally|do|start|begin|with))\s*$")
_TITLE = re.compile(
    r"(?i)[)\]]?(?:\s*[:–—-])?\s+((?![をはがにのもで])(?!(?:and|or|then|first|next|now|is|are|was|were|has|have"
    r"|had|as|it|in|on|to"
    r"|by|for|from"
    r"|because|since|before|after|when|if|please|again|too|also|instead|takes|needs|should|must|can"
    r"|will|would|could|may|might|do|does|did|done|not|never|looks?|seems?|works?|worked|fails?|failed|broke|breaks"
    r"|got|gets|went|goes|comes?|came|landed|shipped|still|already|just|only|like|than|so|but|with|at|into|of|about"
    r"|that|which|this|yes|no|ok|okay|thanks)\b)[^\s,.;:][^\n]*)"
)
_DANGLING = re.compile(r"(?i)(?:[\s,;&+/–—(-]|\b(?:and|or|then|und|plus|finally)\b)+$|[\s.!。]+$")
_CONNECTORS = re.compile(r"(?i)[\s,;&+/]*(?:and|or|und|oder|et|y|e|和|与|及|、|と|as well as)?[\s,;&+/]*")
_SAID_AFTER = (
    (
        TaskStatus.OPEN,
        (
            r"(?:is|are|was)?\s*(?:not|n['’]t|never)\b|isn['’]t|aren['’]t|(?:is|are|still"
            r"|remains?)\s+(?:still\s+)?(?:open"
            r"|pending|unfinished|missing)|needs? to be reopened|还没|沒|没|未|尚未|まだ"
        ),
    ),
    (TaskStatus.BLOCKED, r"(?:is|are)\s+(?:still\s+)?blocked\b|(?:is|are)\s+(?:on hold|waiting)|被?阻塞|被卡"),
    (
        TaskStatus.IN_PROGRESS,
        r"(?:is|are)\s+(?:already\s+|currently\s+)?(?:in progress|underway|being worked on)|进行中|進行中",
    ),
    (
        TaskStatus.DONE,
        (
            r"(?:is|are|was|were|has been|have been|got|['’]s)\s+(?:now\s+|already\s+|all\s+|both\s+|finally\s+"
            r"|also\s+)?(?:done|finished|completed?|closed|merged|fixed|resolved|shipped|deployed|released|solved"
            r"|implemented)\b|[:—–-]?\s*(?:done|finished|completed|fixed|merged|closed|✅"
            r"|✔|☑)(?:[.!,;\s]|$)"
            r"|已经?(?:完成|解决|修复"
            r"|关闭|合并|搞定)|(?:都|已)?(?:完成了|完成|做完了|搞定了?|解决了|修好了)|(?:は|が)?(?:完了|終わ|解決)"
        ),
    ),
    (
        TaskStatus.CANCELLED,
        (
            r"(?:is|are|was|has been)\s+(?:now\s+)?(?:cancell?ed|dropped|obsolete|off|no longer (?:needed|required"
            r"|relevant)|not needed|won['’]t ?fix|a duplicate)|(?:can|should) be (?:dropped|skipped|cancell?ed|closed)"
            r"|取消|不用做|不需要|不做了"
        ),
    ),
)
_SAID_BEFORE = (
    (
        TaskStatus.CANCELLED,
        (
            r"(?:skip|drop|cancel|forget(?: about)?|abandon|ignore|leave out|scrap|postpone|do not do|don['’]t do"
            r"|no longer do|never mind|取消|跳过|不要做|不用做|放弃|先不做)\s*$"
        ),
    ),
    (
        TaskStatus.DONE,
        (
            r"(?:(?:i|we)(?:['’]ve| have)? (?:already )?(?:finished|completed|closed|merged|fixed|resolved|shipped"
            r"|did)"
            r"|done with|finished with)\s*$"
        ),
    ),
    (TaskStatus.OPEN, r"(?:reopen|re-open|resume|go back to|continue (?:with)?|pick up)\s*$"),
    (TaskStatus.BLOCKED, r"blocked on\s*$"),
)
_AFTER = tuple((status, re.compile(rf"(?i)\s*(?:{words})")) for status, words in _SAID_AFTER)
_BEFORE = tuple((status, re.compile(rf"(?i)(?:^|\W)(?:{words})")) for status, words in _SAID_BEFORE)
_REFERRED = re.compile(
    r"(?i)(?:\b(?:like|see|as in|similar to|same as|cf\.?|compared?(?: (?:with|to))?|from|in|per|see also"
    r"|duplicate of|unlike"
    r"|after|before|since|until|blocked (?:by|on)|because of|due to|thanks to|read|part of|belongs? to|related to"
    r"|depends? on"
    r"|instead of|than|what|way (?:we|i|you|they) (?:did|do|handled|solved|built|made)|(?:approach|way|style"
    r"|pattern|solution|logic|code|idea|example|template|format|version|naming|mess"
    r"|discussion|comments?) (?:of|for|about)"
    r"|wie(?: in| bei)?|siehe|aus|laut|ähnlich(?: wie| zu)?)|参考|参见|類似|类似|像|跟|和|与|同|按照?|见)\s*(?:the )?$"
)
_REFERRED_AFTER = re.compile(
    r"(?i)\s?(?:那样|一样|同样|也是|里的|的做法|的时候|のように|のような|と同じ|と同様|の時|みたいに)"
    r"|,? (?:for (?:background|reference|context|comparison)|as (?:a |an )?(?:example|reference|model|template))\b"
)
"""What makes an id something to look at: what stands before it, and behind."""

_TELLS_AFTER = re.compile(
    r"(?i)\s(?:already |also |just |still |never |once )?(?:had|has|was|were|(?:is|are)"
    r"(?! (?:next|up|open|pending|left|missing|important|urgent|due|yours|first|still)\b)|did|does|looks?|looked"
    r"|seems?|takes?|took"
    r"|says?|said|shows?|showed|describes?|explains?|covers?|covered|broke|breaks|fails?|failed|works?|worked"
    r"|introduced"
    r"|caused|changed|added|got|came|comes|landed|shipped|went|mentions?|war|hatte|hat|ist)\b"
)
_WANTS = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|then|now|next|ok|okay|also|well)\W+){0,3}(?:i|we|you)(?:['’](?:d|ll|re))?\s(?:also "
    r"|really |still |now )?"
    r"(?:want|wanted|need|would|will|should|must|have to|has to|like|are going|am going|can|could|may)\b"
    r"|^\W*(?:(?:and|but|so|then|now|next|ok|okay|also|well)\W+){0,3}(?:i|we|you)['’](?:d|ll)\b"
)
"""A wish or an order in the form of a statement."""

_ASKS_FOR = re.compile(
    r"(?i)\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bshall we\b|\b(?:kannst|könntest) du\b|请|帮|能不能"
    r"|ください|もらえ|くれ"
)
_NOT_SO_YET = re.compile(
    r"(?i)\b(?:want|need|get|have|like|see|expect|when|once|if|until|till|after|as soon as|before|unless|whether"
    r"|wenn|sobald|falls|bis"
    r"|way|how|what|make sure(?: that)?)\s(?:\w+\s){0,3}$|(?:等|如果|要是|一旦|もし)\s*$"
)
_NOT_SO_YET_AFTER = re.compile(
    r"\s*(?:完成|做完|解决|搞定|合并|关闭)(?:之后|以后|后|了?再|的话)|\s*(?:が)?(?:終わ|完了し)(?:ったら|たら"
    r"|り次第|次第)"
)
"""A wish or a condition tells no status: "I want T-5 done", "when T-5 is done, start T-6"."""

_IS_ABOUT = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|well|ok|okay|yes|no|hm+)\W+){0,3}(?:thanks?|thank you|great|nice|good job|well done"
    r"|it|this|that|these|those"
    r"|he|she|they|there|i|we|my|our|his|her|their)\b|^(?:去年|上次|之前|昨天|上周)"
)
_PART = re.compile(r"[;:–—]\s|,\s|\s-\s|\b(?:but|so|then|because|since)\s|[，；：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSaid:
    """text: the title behind the id, else the sentence. is_asked: work on it is asked for, or it is listed."""

    ticket: str
    text: str
    status: TaskStatus | None
    is_asked: bool


def tickets_said(sentence: Sentence) -> list[TicketSaid]:
    """What the sentence says of each ticket id in it, in order; nothing of what looks like a colour."""
    spots = _spots(sentence.masked)
    found = []
    for at, (ticket, status, is_asked) in enumerate(_said(sentence.masked, spots)):
        if not _COLOUR.fullmatch(ticket) or _TICKET_WORDS.search(sentence.masked):
            text = _clause(sentence.text, spots, at)
            found.append(TicketSaid(ticket=ticket, text=text, status=status, is_asked=is_asked))
    return found


def says_more(text: str, known: str, ticket: str) -> bool:
    """True when a text tells what the work is and the known one does not: a title, in the place of "T-2 is done"."""
    return text != known and _worth(text, ticket) > _worth(known, ticket)


def _worth(text: str, ticket: str) -> int:
    """2 a title, 1 a sentence with the id that asks for something, 0 one that only says how it stands."""
    if ticket not in text:
        return 2
    return 0 if any(status for _, status, _ in _said(text, _spots(text))) else 1


def _clause(sentence: str, spots: Sequence[tuple[str, int, int]], at: int) -> str:
    """What stands behind the id when that is a title ("T-1 CSV export, T-2 …"), else the sentence."""
    _, start, end = spots[at]
    stop = spots[at + 1][1] if at + 1 < len(spots) else len(sentence)
    lead = sentence[max(0, start - _CLAUSE_CHARS) : start]
    leads = not lead.strip() or _LISTS.search(lead[-_LEAD_CHARS:]) is not None
    title = _TITLE.fullmatch(sentence[end:stop]) if leads else None
    if title is None or _status("", sentence[end:stop]) is not None:
        return " ".join(sentence[: 2 * _MAX_TEXT_CHARS].split())[:_MAX_TEXT_CHARS]
    return " ".join(_DANGLING.sub("", title[1]).split())[:_MAX_TEXT_CHARS]


def _said(sentence: str, spots: Sequence[tuple[str, int, int]]) -> list[tuple[str, TaskStatus | None, bool]]:
    """(ticket, status or None, work is asked for) for each ticket of a sentence."""
    is_question = sentence.rstrip().endswith(("?", "？")) or re.search(r"[吗嗎か]\W*$", sentence) is not None
    said: list[tuple[str, TaskStatus | None, bool]] = []
    following: tuple[TaskStatus | None, bool] = (None, False)
    for position in range(len(spots) - 1, -1, -1):
        ticket, start, end = spots[position]
        next_start = spots[position + 1][1] if position + 1 < len(spots) else len(sentence)
        before = sentence[spots[position - 1][2] if position else 0 : start]
        joined = position + 1 < len(spots) and _CONNECTORS.fullmatch(sentence, end, next_start) is not None
        status = None if is_question else _status(before, sentence[end:next_start])
        if joined and status is None:
            status = following[0]
        following = (status, False)
        said.append((ticket, status, _is_asked(sentence, before, start, end, is_question=is_question)))
    return _carried(list(reversed(said)), sentence, spots)


def _carried(
    said: list[tuple[str, TaskStatus | None, bool]], sentence: str, spots: Sequence[tuple[str, int, int]]
) -> list[tuple[str, TaskStatus | None, bool]]:
    """ "skip T-1 and T-2": what stands before the first of a row holds for all of it."""
    for position in range(1, len(said)):
        ticket, status, _ = said[position]
        joined = _CONNECTORS.fullmatch(sentence, spots[position - 1][2], spots[position][1]) is not None
        if joined and status is None:
            said[position] = (ticket, *said[position - 1][1:])
    return said


def _is_asked(sentence: str, before: str, start: int, end: int, *, is_question: bool) -> bool:
    """Whether the clause of an id asks for work on it or lists it."""
    if _REFERRED.search(before) or _REFERRED_AFTER.match(sentence, end) or is_past(sentence):
        return False
    if is_question:
        return _ASKS_FOR.search(sentence) is not None
    near = max(0, start - _CLAUSE_CHARS)
    clause = max((part.end() for part in _PART.finditer(sentence, near, start)), default=near)
    lead = sentence[clause:start]
    if not lead.strip(" -*[("):
        return not _TELLS_AFTER.match(sentence, end)
    return _WANTS.match(lead) is not None or not (tells(sentence, clause) or _IS_ABOUT.match(lead))


def _status(before: str, after: str) -> TaskStatus | None:
    if _NOT_SO_YET.search(before) or _NOT_SO_YET_AFTER.match(after):
        return None
    status = next((status for status, words in _AFTER if words.match(after)), None)
    return status or next((status for status, words in _BEFORE if words.search(before)), None)


def _spots(sentence: str) -> list[tuple[str, int, int]]:
    """Where the ticket ids of a sentence stand, ascending."""
    values = {value for kind, value in identifiers_in_redacted(sentence) if kind == "ticket"}
    pattern = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    if not pattern:
        return []
    found = re.finditer(rf"(?<![\w/-])(?:{pattern})(?![A-Za-z0-9_-])", sentence)
    return [(match[0], match.start(), match.end()) for match in found]
