"""What makes words a rule, a weakened rule, the end of one, or the end of some work.

Cue lists, in the languages that people write to agents in most. Where they are unsure they answer in the safe
direction: a rule that goes on.
"""

import re

from worker.core.summary import Constraint
from worker.core.wording import content_words, details, identifiers, sentences

_HARD = re.compile(
    r"\b(?:never|must(?:n't)?|do not|don't|does not|cannot|can't|may not|shall|only|always|under no circumstances|"
    r"no exceptions|forbidden|prohibited|required|nie|niemals|nicht|darf|immer|jamais|toujours|nunca|siempre|sempre)\b|"
    r"不要|禁止|必须|必須|不得|只能|不能|不可|不准|切勿|一定|しないで|しないこと|してはいけない|てはならない|必ず|절대|반드시|никогда|нельзя",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"^\W*(?:the )?(?:user|human|person|they|he|she)\b.{0,30}?\b(?:mention(?:s|ed)?|said|says|suggest(?:s|ed)?|"
    r"note[ds]?|express(?:es|ed)?|indicat(?:es|ed)|discuss(?:es|ed)?|talked|prefer(?:s|red)?|"
    r"would (?:like|prefer)|want(?:s|ed)?|hope[sd]?|asked|requested)\b|"
    r"^\W*(?:it|this|there) was (?:a )?(?:mention|discuss|suggest)|"
    r"^\W*(?:用户|使用者)(?:提到|希望|说|想)|^\W*ユーザーは",
    re.IGNORECASE,
)
_SOFT = re.compile(
    r"\b(?:prefer(?:s|red|ably)?|ideally|if possible|where possible|when possible|try (?:not )?to|tries (?:not )?to|"
    r"should probably|be careful|may want|might want|consider|generally|usually|"
    r"was (?:mentioned|discussed|suggested))\b|"
    r"尽量|最好|なるべく|できれば",
    re.IGNORECASE,
)
_RELEASE = re.compile(
    r"\b(?:you (?:can|may|are allowed|are free)|(?:it'?s|that'?s|is) (?:now )?(?:ok|okay|fine|allowed) (?:to|now|if)|"
    r"go ahead|feel free|"
    r"no longer|not (?:needed|necessary|required) any ?more|any ?more|forget|ignore|drop|lift(?:ed)?|revoke|cancel|"
    r"disregard|never ?mind|scratch that|instead|allowed (?:now|again)|(?:now|again) allowed|don't need to|"
    r"do not need to|doesn't matter|changed my mind|unless i|actually)\b|"
    r"可以|不用|不必|取消|忽略|允许|允許|没关系|不需要|もういい|しなくていい|してもいい|していい|許可|解除|やめて|"
    r"\b(?:du darfst|nicht mehr|tu peux|plus besoin|puedes|ya no)\b",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"\b(?:still (?:not|never|no)|still (?:may|must|can)(?: ?not|'t)|you (?:may|can|must) ?not|you (?:can't|mustn't)|"
    r"keep (?:to|following)|never(?! ?mind)|remember (?:to|not|that))\b|"
    r"\bdon't (?!need|have|worry)|\bdo not (?!need|have|worry)|"
    r"仍然|还是不|依然|まだ",
    re.IGNORECASE,
)


_FORBIDS = re.compile(
    r"\b(?:never|not|no|none|nothing|nobody|neither|nor|cannot|avoid\w*|refrain\w*|forbid\w*|forbidden|"
    r"prohibit\w*|off[- ]limits|hands off|taboo|clear of|spare|leave|stop|exclude\w*|"
    r"keep (?:out|away|off)|only|read[- ]only|"
    r"ask|refuse\w*|reject\w*|decline\w*|untouched|protect\w*|frozen|freeze|nie|niemals|"
    r"nicht|kein\w*|jamais|pas|nunca|não)\b|n['’]t\b|[不没沒禁勿别別非]|ない|ません|ずに|な[。.]?$|"
    r"금지|마세요|않|нельзя|никогда|\bне\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:(?:was|were|is|are|applied|applies) (?:only|just|merely)|(?:only|just) for|no longer|any ?more|"
    r"lifted|obsolete|outdated|optional(?:ly)?|unless|except(?: when| for)?|until|for now|at first|at the time|"
    r"initially|temporar(?:y|ily)|has ended|expired)\b|除非|暂时|可选|任意|当初",
    re.IGNORECASE,
)
"""What takes some of a rule back: a rule may say so only where the person did."""

_ENDS = re.compile(
    r"\b(?:again|no longer|any ?more|lifted|revoked?|rules?|restrictions?|constraints?|limits?|ban|freeze|instead|"
    r"changed my mind|scratch that|never ?mind that)\b|不用|不必|不需要|取消|解除|もういい|しなくていい|规则|限制|"
    r"\b(?:nicht mehr|plus besoin|ya no)\b",
    re.IGNORECASE,
)
"""Words that speak of the end of a rule, so that its subject alone tells which one is meant."""

_GENERIC = re.compile(
    r"\b(?:chang(?:e[sd]?|ing)|touch(?:ed|ing)?|modif(?:y|ied|ying)|edit(?:ed|ing)?|alter(?:ed|ing)?|updat(?:ed?|ing)|"
    r"us(?:ed?|ing)|mak(?:e|ing)|do|work(?:ing)?|new|way|thing|things|file|files|code)\b|修改|更改|改动|変更",
    re.IGNORECASE,
)
"""What nearly every rule is about: to share one of these words is not to speak of the same thing."""
_CHANGING = re.compile(r"(?i)chang|touch|modif|edit|alter|updat|修改|更改|改动|変更")


def is_weakened(rule: str, quote: str) -> bool:
    """True when a rule that a person gave as an order is told as a wish, a mention, a background, with its "never"
    gone, or with an end or an exception that the person did not name.
    """
    if _TOLD.search(rule):
        return not _TOLD.search(quote)
    if _FORBIDS.search(quote) and not _FORBIDS.search(rule):
        return True
    if _LIMITS.search(rule) and not _LIMITS.search(quote):
        return True
    soft = _SOFT.search(rule)
    return bool(soft and not _SOFT.search(quote) and _HARD.search(quote) and not _HARD.search(rule))


_DONE = re.compile(
    r"\b(?:done|finished|completed?|closed|merged|fixed|resolved|shipped|deployed|released|solved|"
    r"works now|it works|is working|fertig|erledigt|terminé|готово)\b|"
    r"完成|搞定|好了|解决了|修好|完了|終わ|できました|直りました",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not|never|no|isn['’]t|aren['’]t|wasn['’]t|hasn['’]t|haven['’]t|until|when|once|if|after|before|"
    r"as soon as|unless|(?:to|should|must|can|will|could|might) (?:be|get)|needs? to|want|please|nicht|noch)\b|"
    r"[?？]|还没|未|没有|まだ|吗|か[。.]?$",
    re.IGNORECASE,
)


def done_in(text: str) -> list[str]:
    """The sentences of a text that say that something is done: no question, no wish, no condition."""
    if not _DONE.search(text):
        return []
    return [words for words in sentences(text) if _DONE.search(words) and not _NOT_YET.search(words)]


_CALLED_OFF = re.compile(
    r"\b(?:skip|drop|cancel(?:led|ed)?|forget|abandon|ignore|leave (?:it |that |this )?out|scrap|postpone|obsolete|"
    r"no longer|not? (?:needed|necessary|required|relevant)|isn['’]t (?:needed|necessary|required)|never ?mind|"
    r"(?:don['’]t|do not) (?:need|bother|do|want)|won['’]t (?:do|fix)|any ?more)\b|"
    r"取消|跳过|不用|不需要|不做|やめ|不要です",
    re.IGNORECASE,
)


def called_off_in(text: str) -> list[str]:
    """The sentences of a text that say that something need not be done."""
    if not _CALLED_OFF.search(text):
        return []
    return [words for words in sentences(text) if _CALLED_OFF.search(words) and not words.endswith(("?", "？"))]


def is_hard(text: str) -> bool:
    """True when the words command or forbid."""
    return _HARD.search(text) is not None


def forbids(text: str) -> bool:
    """True when the words forbid something, or keep it for somebody or to something."""
    return _FORBIDS.search(text) is not None


def limits(text: str) -> bool:
    """True when the words take some of a rule back, or let it end."""
    return _LIMITS.search(text) is not None


def releases(words: str, rule: str, quote: str) -> bool:
    """True when a person's words plausibly end the rule: they permit, forbid nothing again, and speak of the same.

    One word in common is not enough: "go ahead with the release notes" does not end "don't push to the release
    branch". They name what was forbidden by two words or by half of its words, or they speak of the end of a rule.
    """
    if not _RELEASE.search(words) or _STILL.search(words):
        return False
    if not speaks_of(_GENERIC.sub(" ", words), f"{rule}\n{quote}"):
        return False
    return _ENDS.search(words) is not None or any(_names(words, subject) for subject in (rule, quote))


def _names(words: str, subject: str) -> bool:
    said, meant = _subject_stems(words), _subject_stems(subject)
    shared = len(said & meant)
    return shared >= 2 or (shared > 0 and 2 * shared >= len(meant))


def _subject_stems(text: str) -> set[str]:
    """What a text is about; "touch", "edit" and the like are one verb, and "use" or "thing" say nothing."""
    folded = _GENERIC.sub(lambda word: " change " if _CHANGING.match(word[0]) else " ", text)
    return {stem(word) for word in content_words(_CUES.sub(" ", folded))}


def speaks_of(words: str, subject: str) -> bool:
    """True when two texts share an identifier or a content word that is not itself a cue."""
    if set(identifiers(words)) & set(identifiers(subject)):
        return True
    stems = {stem(word) for word in content_words(_CUES.sub(" ", subject))}
    return any(stem(word) in stems for word in content_words(_CUES.sub(" ", words)))


def stem(word: str) -> str:
    """A word as it is compared: inflections of one verb are one."""
    return word[:5] if word.isascii() and len(word) > 5 else word


_CUES = re.compile(f"{_HARD.pattern}|{_RELEASE.pattern}", re.IGNORECASE)


def is_swapped(rule: str, quote: str, message: str) -> bool:
    """True when a rule speaks of something that the person's message does not name, in the place of what it names."""
    told, meant = _subject_stems(_FORBIDS.sub(" ", rule)), _subject_stems(_FORBIDS.sub(" ", quote))
    other = told - _subject_stems(message) - _OF_PEOPLE
    return len(meant - told) > SWAPPED_SHARE * len(meant) and len(other) > SWAPPED_SHARE * len(told)


SWAPPED_SHARE = 0.2
"""Of what either names has to be missing in the other: other words for a long rule bring in one or two."""


_OF_PEOPLE = frozenset(
    {"user", "users", "human", "perso", "peopl", "agent", "assis", "asks", "asked", "expli", "permi", "appro", "confi"}
)
"""Stems in which a person's "I", "you" and "my ok" are told."""


def as_rule(quote: str) -> str:
    """The quote as a rule of its own: one line, a capital letter, a full stop."""
    line = " ".join(quote.split()).strip()
    line = line[:1].upper() + line[1:]
    stop = "。" if "\u3040" <= line[-1:] <= "\u9fff" else "."
    return line if line[-1:] in ".!?。！？" else f"{line}{stop}"


def told_rule(constraint: Constraint) -> str:
    """The rule as it was put into words, or as the person said it when those words say more than theirs, or less of
    when it holds.

    Where a rule stands without its quote nobody could see what was put in, or what was left out.
    """
    rule, quote = constraint.rule, constraint.quote
    if constraint.given:
        return rule
    meant = {stem(word) for word in content_words(quote)}
    adds = any(stem(word) not in meant for word in content_words(rule)) or not details(rule) <= details(quote)
    drops = {word.casefold() for word in _CONDITIONS.findall(quote)} - {
        word.casefold() for word in _CONDITIONS.findall(rule)
    }
    return as_rule(quote) if adds or drops else rule


_CONDITIONS = re.compile(
    r"\b(?:except|unless|until|but|only|without|besides|other than|if|when|while|before|after)\b"
    r"|除了|除非|以外|だけ|まで|只",
    re.IGNORECASE,
)
