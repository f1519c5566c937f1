"""Does somebody give leave? "You may log it", "longer answers are fine by me", 不用每次都问我, 敬語でなくてもいい.

Leave is no rule, and it may end one (`lifting`). Where a sentence gives it and takes some of it back in the same breath
("you can push, but never to main"), it is not plain leave. A question gives none.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache


class LeaveKind(Enum):
    MAY = auto()
    NEED_NOT = auto()
    WITHDRAWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What somebody may do, need not do, or what they said of it that no longer counts.

    about: the rest of the clause. withdraws: the same sentence also takes back what was said before.
    """

    kind: LeaveKind
    about: str
    withdraws: bool = False


_LED = (
    r"(?:^|[;:–—]\s|\bso )\W{0,8}(?:(?:ok|okay|yes|sure|so|and|now|alright|also|then|actually|well|from now on"
    r"|of course"
    r"|as of today|please|again|from today)\b[\s,]{0,3}){0,4}"
)
"""Where a clause begins that stands alone: not behind a condition."""

_GRANT = r"(?:ok|okay|fine|allowed|permitted|all right|alright|acceptable|welcome)"
_AGAIN = r"(?:now|again|from now on|from here on|going forward|after all|any ?time)"
_SAID = r"(?:what|everything|all(?: that)?) i (?:said|told you|wrote|asked)(?: before| earlier)?"
_ORDER = r"(?:rules?|restrictions?|limits?|ban|freeze|constraints?|prohibition|requirement|instruction)"

_MAY = (
    (
        rf"{_LED}you(?:['’]re| are)?\s+(?:now |also |both |all |of course |again )?"
        r"(?:(?:may|can)(?! ?not| never|['’]t| only)|(?:allowed|free|welcome|permitted) to)\b"
    ),
    rf"{_LED}(?:\w+[\s,]{{1,2}}){{0,3}}(?:feel free to|feel free|by all means)\b",
    rf"\b(?:it|that)(?:['’]s| is)\s+(?:now |also |again |perfectly |totally )?{_GRANT}\s+(?:to|for you to|if you)\b",
    (
        rf"\b(?:is|are)\s+(?:now |also |perfectly |totally |once more |again )?{_GRANT}\s+"
        rf"(?:(?:by|with|for) (?:me|us)|{_AGAIN})\b"
    ),
    rf"\b(?:is|are)\s+(?:now|again)\s+{_GRANT}\b",
    r"^\W*(?:when|once|after|as soon as)\b[^.?!,]{3,120}, (?:then )?you (?:can|may)\b(?! ?not| never| only)",
    r"^\W{0,3}(?:好的?|行|那|嗯|现在|現在|以后|今后|你|您|也|就|都|[，,\s]){0,6}(?:可以(?!不)|随便|尽管|允许)",
    (
        r"(?:(?<!なく)ても|でも|(?<!な)って)も?(?:いい|良い|よい|構いません|かまいません|構わない|かまわない"
        r"|大丈夫|結構)(?:です)?[よね]{0,2}[。！!]?$"
    ),
    (
        r"^\W*(?:(?:ok|okay|ja|gut|also|jetzt|ab jetzt|ab sofort|künftig)\b[\s,]{0,3}){0,3}(?:(?:du|ihr"
        r"|Sie)\s(?:darfst|dürft"
        r"|dürfen|kannst|könnt|können)|(?:darfst|kannst) du)\b"
    ),
    r"\b(?:ist|sind)\s(?:jetzt |nun |wieder |ab jetzt |ab sofort |für mich ){0,2}(?:ok|okay|erlaubt|in Ordnung)\b",
)
_NEED_NOT = (
    rf"{_LED}you\s+(?:now )?(?:(?:do not|don['’]?t|no longer) (?:have|need) to|need ?n['’]?t|need not)\b",
    rf"{_LED}(?:there is |there['’]s )?no need (?:to|for)\b",
    (
        r"^\W{0,3}(?:好的?|行|那|嗯|现在|現在|以后|今后|你|您|也|就|都|[，,\s]){0,6}(?:不用|不必|不需要|无需|無需"
        r"|用不着|没必要|沒必要)"
    ),
    (
        r"(?:なくて)も?(?:いい|良い|よい|構いません|かまいません|構わない|かまわない|大丈夫"
        r"|結構)(?:です)?[よね]{0,2}[。！!]?$"
    ),
    r"必要(?:は|が)?(?:ない|ありません|なくなりました)(?:です)?[よね]{0,2}[。！!]?$",
    (
        r"^\W*(?:(?:ok|okay|ja|gut|also|jetzt|ab jetzt|ab sofort|künftig)\b[\s,]{0,3}){0,3}"
        r"(?:du|ihr|Sie)\s(?:musst|müsst|müssen|brauchst|braucht|brauchen)\s(?:[\w]+\s){0,2}(?:nicht"
        r"|kein\w*)(?: mehr)?\b"
    ),
)
_WITHDRAWN = (
    (
        rf"(?:{_LED}|[,.]\s)(?:you (?:can|may) )?(?:forget|ignore|disregard|scratch|scrap"
        rf"|never ?mind)\s+{_SAID}(?: (?:about|on|of))?\b"
    ),
    (
        rf"(?:{_LED}|[,.]\s)(?:you (?:can|may) )?(?:forget|ignore|disregard|drop|scrap|lift|cancel)\s+(?=(?:the|my"
        rf"|that|our)\s"
        rf"(?:[\w-]+\s){{0,4}}{_ORDER}\b)"
    ),
    (
        rf"\b{_ORDER}\b(?= |$)(?:[^.?!,]{{0,60}}?)\b(?:no longer (?:applies|apply|holds?|counts?)|(?:is"
        rf"|are) (?:now )?(?:lifted|gone|off|void"
        rf"|cancell?ed|over)|(?:does not|doesn['’]?t) (?:apply|hold|count) any ?more|has ended)\b"
    ),
    (
        r"\b(?:is|are) (?:no longer|not) (?:forbidden|prohibited|off[- ]limits|banned|frozen|taboo"
        r"|read[- ]only)(?: any ?more)?\b"
    ),
    r"(?:忘了|忘掉|忽略|不用管|别管)(?:我)?(?:之前|刚才|以前)?(?:说的|说过的|讲的)?(?:关于)?",
    r"(?:规定|规则|限制|要求|禁令)(?:已经|现在)?(?:取消|作废|解除|不再有效|不算)",
    (
        r"(?:という|の)?(?:ルール|制限|指示|制約|禁止)(?:は|を)(?:もう)?(?:忘れて|なし|撤回|解除|無効)(?:し|に|で"
        r"|と)?\w{0,8}"
    ),
    (
        r"^\W*(?:vergiss|vergesst|vergessen Sie)\b,?\s(?:was ich (?:zu[rm]?|über)\s)?(?=[^.?!]{0,80}\b(?:gesagt"
        r"|sagte|Regel)\b)"
        r"|\b(?:gilt|gelten) nicht mehr\b"
    ),
)


def _compiled(kind: LeaveKind, cues: tuple[str, ...]) -> tuple[tuple[LeaveKind, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(cue, re.IGNORECASE)) for cue in cues)


_GIVES = (
    *_compiled(LeaveKind.MAY, _MAY),
    *_compiled(LeaveKind.NEED_NOT, _NEED_NOT),
    *_compiled(LeaveKind.WITHDRAWN, _WITHDRAWN),
)
_WITHDRAWS = re.compile("|".join(f"(?:{cue})" for cue in _WITHDRAWN), re.IGNORECASE)

_TAKES_BACK = re.compile(
    r"\b(?:only|but|though|however|never|unless|as long as|provided|providing|except|not|without|until|cannot"
    r"|nur|aber|nie|niemals|nicht(?! mehr)|kein\w*|außer|solange|sofern|ohne)\b|n['’]t\b"
    r"|但|不过|不過|只|除非|必须|必須|不要|不能|不得|别|別|除了|ただし|だけ|のみ|以外|けど|ないで",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]|(?:吗|嗎|呢|か|かな)\W*$")
_BOUND = re.compile(r"[,;:，；：。、()–—]|\s-\s|[.!](?=\s|$)")


def gives_leave(sentence: str) -> bool:
    """True when the sentence permits something and takes nothing of it back."""
    return find_leave(sentence) is not None


@lru_cache(maxsize=4096)
def find_leave(sentence: str) -> Leave | None:
    """The leave that a sentence gives; None when it gives none, asks, or takes some of it back.

    Remembered, since a sentence is asked about as a rule and as the end of one, and pasted logs repeat their lines.
    """
    if _ASKS.search(sentence):
        return None
    for kind, cue in _GIVES:
        if (given := cue.search(sentence)) is not None:
            rest = sentence[given.end() :]
            withdrawn = _WITHDRAWS.search(rest) if kind is not LeaveKind.WITHDRAWN else None
            if _TAKES_BACK.search(rest[: withdrawn.start()] if withdrawn else rest):
                return None
            return Leave(kind=kind, about=_rest_of_clause(sentence, given), withdraws=withdrawn is not None)
    return None


def _rest_of_clause(sentence: str, given: re.Match[str]) -> str:
    inside = given.start() + len(given[0].rstrip("。.！! "))
    start = max((bound.end() for bound in _BOUND.finditer(sentence, 0, inside)), default=0)
    behind = _BOUND.search(sentence, given.end())
    end = behind.start() if behind else len(sentence)
    return f"{sentence[start : max(start, given.start())]} {sentence[given.end() : end]}".strip()
