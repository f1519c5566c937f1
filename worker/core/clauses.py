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
    r"(?<!\d)[,:]|[,:](?!\d)|[;!?，；：。、！？()\[\]\n]|\.(?=\s|$)|(?<=\s)[—–-](?=\s)|\b(?:and|but|then|und|aber|et|mais|y|pero|e|mas)\b"
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
_PROHIBITION_BEHIND = re.compile(
    r"(?:を|は|も)?(?:し)?(?:ないで|ないこと|てはいけない|てはならない|てはだめ|禁止)|するな"
)
"""In Japanese what is forbidden stands before the words that forbid it."""

_HOW = re.compile("絶対に?|決して|勝手に|今後|二度と|まだ|もう")
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
    named = (meaning_stems(next(iter(_BOUND.split(words)), "")) for words in behind)
    before = (
        meaning_stems(_HOW.sub(" ", clause[: cue.start()]))
        for clause in clauses(rule)
        for cue in _last_prohibition(clause)
    )
    actions = [*(stems[:_ACTION_WORDS] for stems in named), *(stems[-_ACTION_WORDS:] for stems in before)]
    return list(dict.fromkeys(tuple(stems) for stems in actions if len(stems) >= _ACTION_WORDS))


def _last_prohibition(clause: str) -> list[re.Match[str]]:
    return list(_PROHIBITION_BEHIND.finditer(clause))[-1:]


def orders(text: str, action: tuple[str, ...]) -> bool:
    """True when a clause names the action and neither forbids, limits nor speaks of leave for it."""
    return any(_is_named(action, clause) for clause in clauses(text) if not is_careful(clause))


def is_careful(clause: str) -> bool:
    """True when a clause forbids, limits, sets a condition or speaks of leave: it orders nothing outright."""
    return forbids(clause) or limits(clause) or bool(_CONDITION.search(clause) or _ALLOWS.search(clause))


def _is_named(action: tuple[str, ...], clause: str) -> bool:
    stems = iter(meaning_stems(clause))
    return all(word in stems for word in action)


def meaning_stems(text: str) -> list[str]:
    """The content words as they are compared, in order; of Japanese without the endings, which all sentences share."""
    plain = " ".join(_SENSE_RUN.findall(text)) if _KANA.search(text) else ""
    latin = _CJK.sub(" ", text) if plain else text
    return list(dict.fromkeys(stem(word) for word in content_words(f"{latin} {plain}")))


_CONTRASTS = (
    re.compile(r"(?i)^(?P<right>.+?),? (?:but )?not (?P<wrong>[^,.;]{1,30}?)\W*$"),
    re.compile(r"^(?P<right>.+?)[，,]?不是(?P<wrong>[^，。；]{1,20})\W*$"),
    re.compile(r"^(?P<topic>.*?)(?P<wrong>[^はがを、。]{1,20})(?:ではなく|じゃなくて)(?P<right>.+)$"),
)
_NO_VALUE = frozenset({"one", "ones", "yet", "now", "all", "any", "it", "earli", "later", "today", "here", "there"})


def contrasted(sentence: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """What a person says is so, and what is not, in stems: "the port is 5433, not 5432"; None for another sentence."""
    for pattern in _CONTRASTS:
        if found := pattern.match(sentence):
            named = found.groupdict()
            right = frozenset(meaning_stems(f"{named.get('topic') or ''} {named['right']}"))
            wrong = frozenset(meaning_stems(named["wrong"])) - right
            is_value = 0 < len(wrong) <= _ACTION_WORDS and not wrong & _NO_VALUE
            return (right, wrong) if is_value else None
    return None


_BANS_ONE = re.compile(
    r"(?i)\bno (\w+ing)\b|\b(?:don['’]t|do not|didn['’]t|never|not to) (\w+) (?:anything|anybody|anyone|it|them|that)\b"
)


def banned(sentence: str) -> list[tuple[str, ...]]:
    """What a sentence forbids to do, as `forbidden_actions`, also of one word: "no deleting"."""
    words = (found[1] or found[2] for found in _BANS_ONE.finditer(sentence))
    return [*forbidden_actions(sentence), *((stem(word.casefold()),) for word in words if len(word) > _ACTION_WORDS)]


_SENSE_RUN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf\u30a0-\u30ff々]+")
_KANA = re.compile(r"[\u3040-\u309f]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def against(text: str, rules: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Of rules as (rule, quote), the quotes of those that the text orders to break and does not tell of."""
    told = normal(text)
    for rule, quote in rules:
        if normal(quote) not in told and any(orders(text, action) for action in forbidden_actions(rule)):
            yield quote
