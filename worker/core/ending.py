"""Does a person's sentence plainly end a rule? Leave against a prohibition, "need not" against a duty, or words that
take the rule back; about the same thing, all of it and nothing narrower.

A rule that is dropped without being lifted gets broken; one that is kept too long is only asked about again. So where a
sentence names less than the rule, more than it, or something beside it, the rule stays.
"""

import re

from worker.core.permitting import Leave, LeaveKind, find_leave
from worker.core.rule_guards import is_reported
from worker.core.rule_words import TASK_SCOPE
from worker.core.wording import content_words

WITHDRAWN_SHARE = 0.5
"""Of what a rule is about, how much words must name that take it back: "forget what I said about the schema"."""

_FORBIDS = re.compile(
    r"\b(?:never|not|no|nothing|nobody|cannot|avoid|refrain|stop|off[- ]limits|hands off|forbidden|prohibited|taboo"
    r"|read[- ]only|frozen|leave|stay (?:away|out|clear)|keep (?:away|out|off)|untouched|nicht|nie|niemals|kein\w*"
    r"|tabu"
    r"|verboten|Finger)\b|n['’]t\b|\bdont\b|[不别別勿]|禁止|严禁|ない|厳禁",
    re.IGNORECASE,
)
_KEEPS_A_SAY = re.compile(
    r"\b(?:ask(?:ing)?|approv\w+|permission|consent|confirm\w*|consult\w*|go[- ]ahead|sign-off|check(?:ing)? with"
    r"|unless i"
    r"|(?:my|our) (?:ok|okay|word|go)|frag\w*|Rückfrage|Zustimmung|Freigabe)\b|问|问过|同意|批准|确认|許可|確認|相談",
    re.IGNORECASE,
)
"""A rule that foresees leave is kept when leave is given: that was one case of it."""

_REASON = re.compile(
    r"\b(?:because|since|so that|otherwise|or else|weil|sonst|denn)\b|因为|否则|ので|から、"
    r"|[,;:(–—]\s?(?=(?:the|it|they|that|this|we|i|as|he|she|my|our|there|else)\b)|\s-\s",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"(?i)\b(?:once|just this|this one|for (?:a|this|one|the) \w+|einmal|ausnahmsweise)\b|一次|一回だけ|今回"
)
_CONDITIONED = re.compile(
    r"(?i)\b(?:if|unless|in case|provided|once|when|as soon as|after|before|while|whether|assuming|maybe|perhaps"
    r"|wenn|falls|sobald"
    r"|vielleicht)\b|如果|要是|假如|等.{1,12}(?:后|再)|也许|もし|たら|れば|かもしれ"
)
_ADDS = re.compile(
    r"(?i)[,;(–—]\s?(?:(?:but|at least|just|well|i mean)\s)?(?:in|on|for|at|during|within|under|inside|with"
    r"|outside)\s(?!(?:it|that|this)\b)"
)
_RESTRICTS = re.compile(
    r"(?i)^\W*(?:(?:ok|okay|and|well|so)\W+)*(?:but|only|except|not|just|though|however|unless|until|as long as"
    r"|provided|never|in|on"
    r"|for|within|at least|for now|aber|nur|außer|nicht|solange)\b|^\W*(?:但|不过|只|除了|仅|ただし|ただ|でも)"
)
_WHERE = re.compile(
    r"(?i)\b(?:in|on|for|at|during|within|under|from|inside|to|via|with)\s(?:the |a |an |my |our |this |that "
    r"|your )?([\w-]+)"
)
_CHANGES = re.compile(
    r"\b(?:chang(?:e[sd]?|ing)|touch(?:ed|ing)?|modif(?:y|ied|ying)|edit(?:s|ed|ing)?|alter(?:ed|ing)?"
    r"|updat(?:e[sd]?|ing)"
    r"|(?:ver)?änder[nt]?e?|bearbeite[nt]?|anfassen|anzufassen|fasst?)\b|修改|更改|改动|变更|改变|[动動碰]|変更"
    r"|修正|編集|触"
    r"|(?<=[\u4e00-\u9fff])改|^改",
    re.IGNORECASE,
)
_CHANGE = "change"
_CUES = re.compile(
    r"只能|只可以|只|不要|不得|不准|不许|不能|不可以?|禁止|严禁|请勿|切勿|务必|必须|一定|千万|绝对|可以|不用|不必"
    r"|请|别|別|再|都|了|吧|也|就|已经|现在|以后|今后|之前|那条|这条|这个|那个|的|把"
    r"|規則|规定|规则|限制|要求|[\u3040-\u309f]+|今後|絶対|必要|禁止|厳禁|大丈夫|結構|構"
)
"""What Chinese and Japanese wrap around what is meant; of Japanese only characters and katakana name something."""

_ENDINGS = re.compile(r"(?:ings?|ed|en|es|s|e)$")
_WORDS_OF_RULES = """
    never not no nothing nobody cannot avoid refrain stop allowed off limits limit hands hand forbidden
    prohibited taboo read-only frozen leave alone stay away out clear keep untouched must shall may might dont
    don't do any anything anyone all at ever again please anymore too anyway freely okay ok fine longer right
    really just still want like need needs required on under circumstances circumstance use uses used using
    make sure always only of course from here going forward as before after kindly rule rules restriction ban
    constraint instruction freeze applies apply holds everything every said told nicht nie niemals kein keine
    keinen tabu verboten finger weg von die der das den dem du darfst bitte wieder jetzt mehr immer auf mit in
    ab sofort ich mir dich gesagt habe regel musst
"""
_SAYS_NOTHING = frozenset(_WORDS_OF_RULES.split())
_ROOT_CHARS = 8


def ends(sentence: str, rule: str) -> bool:
    """True when the sentence of a later message plainly ends the rule, given as the person put it.

    sentence: with quotations blanked, as what is quoted lifts nothing.
    """
    leave = find_leave(sentence)
    if leave is None or is_reported(sentence, len(sentence)):
        return False
    if any(limits.search(sentence) for limits in (TASK_SCOPE, _ONCE, _ADDS)):
        return False
    if any(found[0].casefold() not in rule.casefold() for found in _CONDITIONED.finditer(sentence)):
        return False
    meant, said = _subject(_REASON.split(rule, maxsplit=1)[0]), _subject(leave.about)
    if leave.kind is LeaveKind.WITHDRAWN or leave.withdraws:
        return _is_taken_back(said, meant)
    named = said - {_CHANGE}
    return _answers(leave, rule) and bool(named) and (said == meant or (_CHANGE not in meant and named == meant))


def restricts(following: str) -> bool:
    """True when a sentence goes on by taking back some of what the one before it gave: "Only in staging, though."."""
    return _RESTRICTS.match(following) is not None


def is_narrower(sentence: str, rule: str) -> bool:
    """True when the sentence speaks of a place, an occasion or a time that the rule does not name: "in staging"."""
    if _ONCE.search(sentence):
        return True
    meant = _subject(rule)
    return any(_subject(found[1]) - meant for found in _WHERE.finditer(sentence))


def _is_taken_back(said: frozenset[str], meant: frozenset[str]) -> bool:
    named, object_of_rule = said - {_CHANGE}, meant - {_CHANGE}
    return bool(named) and said <= meant | {_CHANGE} and len(named) >= WITHDRAWN_SHARE * len(object_of_rule)


def _answers(leave: Leave, rule: str) -> bool:
    """Whether the leave is to do what the rule forbids, or not to do what it asks for."""
    forbids = _FORBIDS.search(rule) is not None
    if leave.kind is LeaveKind.MAY:
        return forbids and not _KEEPS_A_SAY.search(rule)
    return not forbids or _KEEPS_A_SAY.search(rule) is not None


def _subject(text: str) -> frozenset[str]:
    """What a text is about: the roots of its words, and of Chinese and Japanese its characters, without cues."""
    folded = _CHANGES.sub(f" {_CHANGE} ", text.casefold())
    words = [word for word in content_words(folded) if word.isascii() and word not in _SAYS_NOTHING]
    signs = [sign for sign in _CUES.sub(" ", folded) if "\u3040" <= sign <= "\u9fff"]
    other = [word for word in content_words(folded) if not word.isascii() and not _is_cjk(word)]
    return frozenset((*map(_root, words), *signs, *(word for word in other if word not in _SAYS_NOTHING)))


def _is_cjk(word: str) -> bool:
    return any("\u3040" <= sign <= "\u9fff" for sign in word)


def _root(word: str) -> str:
    """A word without its ending: pushing and push, commits and committing."""
    if len(word) <= 3 or word == _CHANGE:
        return word
    root = _ENDINGS.sub("", word)
    root = root[:-1] if len(root) > 3 and root[-1] == root[-2] else root
    return root[:_ROOT_CHARS]
