"""Below the sentence: what a quote leaves out of its clause, what a rule forbids, and whether a text orders just that.

A model that copies "restart postgres without asking me" out of "never restart postgres without asking me" has copied
letter by letter and turned the rule round. Clauses are split by punctuation and by the words that join them; where the
split is wrong, more of the person's own words are kept, never fewer.
"""

import re
from collections.abc import Iterable, Iterator

from worker.core.rules import forbids, is_hard, limits, stem
from worker.core.wording import content_words, normal

_LONGEST_CLAUSE_CHARS = 400
_BOUND = re.compile(
    r"[,;:!?，；：。、！？()\[\]\n]|\.(?=\s|$)|(?<=\s)[—–-](?=\s)|\b(?:and|but|then|und|aber|et|mais|y|pero|e|mas)\b"
    r"|但是|然后|而且|并且",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:without|if|when|before|after|once|ohne|wenn|sans|si|sin)\b|除非|如果|之前|以前|のとき|場合", re.IGNORECASE
)
_PROHIBITION = re.compile(
    r"\b(?:never|(?:do|must|may|can|should|will|does|did) ?not|cannot|no|nie|niemals|jamais|nunca)\b|n['’]t\b"
    r"|不要|禁止|不得|不准|不能|不可|切勿|请勿|別|别",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:allow\w*|permit\w*|permission|approv\w*|confirm\w*|asked|agree\w*|lifted|whether)\b|允许|可以|批准|许可",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(r"\b(?:hold|holds|appl(?:y|ies)|rules?|things?|following|here)\b|规则|以下", re.IGNORECASE)
_ACTION_WORDS = 2


def clauses(text: str) -> list[str]:
    """The clauses of a text, in order, without what parts them."""
    return [piece for raw in _BOUND.split(text) if (piece := raw.strip())]


def whole_clause(quote: str, said: str) -> str:
    """The quote with what stands before or behind it in its clause where that forbids or limits; else the quote."""
    at = said.find(quote)
    if at < 0 or not quote.strip():
        return quote
    end = at + len(quote)
    before = said[max(0, at - _LONGEST_CLAUSE_CHARS) : at]
    behind = said[end : end + _LONGEST_CLAUSE_CHARS]
    head = before[max((bound.end() for bound in _BOUND.finditer(before)), default=0) :]
    bound = _BOUND.search(behind)
    tail = "" if _BOUND.fullmatch(quote.rstrip()[-1:]) else behind[: bound.start()] if bound else behind
    start = at - len(head) if forbids(head) else at
    stop = end + len(tail) if forbids(tail) or limits(tail) or _CONDITION.search(tail) else end
    return said[start:stop].strip()


def leaves_an_order(rest: str) -> bool:
    """True when what was not told of a person's sentence holds an order of its own."""
    return any(
        is_hard(clause) and not _INTRODUCES.search(clause) and len(content_words(clause)) > _ACTION_WORDS
        for clause in clauses(rest)
    )


def forbidden_actions(rule: str) -> list[tuple[str, ...]]:
    """What a rule forbids, each by the first content words behind the prohibition; empty when it forbids nothing."""
    behind = (rule[cue.end() : cue.end() + _LONGEST_CLAUSE_CHARS] for cue in _PROHIBITION.finditer(rule))
    named = (_stems(next(iter(_BOUND.split(words)), "")) for words in behind)
    return list(dict.fromkeys(tuple(stems[:_ACTION_WORDS]) for stems in named if len(stems) >= _ACTION_WORDS))


def orders(text: str, action: tuple[str, ...]) -> bool:
    """True when a clause names the action and neither forbids, limits nor speaks of leave for it."""
    return any(_is_named(action, clause) for clause in clauses(text) if not _is_careful(clause))


def _is_careful(clause: str) -> bool:
    return forbids(clause) or limits(clause) or bool(_CONDITION.search(clause) or _ALLOWS.search(clause))


def _is_named(action: tuple[str, ...], clause: str) -> bool:
    stems = iter(_stems(clause))
    return all(word in stems for word in action)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def against(text: str, rules: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Of rules as (rule, quote), the quotes of those that the text orders to break and does not tell of."""
    told = normal(text)
    for rule, quote in rules:
        if normal(quote) not in told and any(orders(text, action) for action in forbidden_actions(rule)):
            yield quote
