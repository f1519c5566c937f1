"""By which words a person announces a change, gives an order, denies, asks or tells of the past: for `restating`.

Closed lists, in English, German, Chinese and Japanese; they are looked for in single sentences.
"""

import re
from dataclasses import dataclass


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_CHANGED = (
    "changed|moved|switched|rebased|rebooked|rescheduled|postponed|pushed|slipped|delayed|shifted|rotated|renamed|replaced"
    "|retired|upgraded|downgraded|updated|migrated|raised|increased|lowered|reduced|revised|bumped|extended"
)
_CHANGES = (
    "chang|mov|switch|rebook|reschedul|postpon|shift|renam|replac|upgrad|downgrad|updat|rais|increas|lower|reduc|bump"
    "|extend|rebas|slip|push"
)
ANNOUNCES = _any_of(
    r"\b(?:from \w+(?: \w+)? on|as of|starting|effective|no longer|any ?more|instead|rather)\b",
    rf"\b(?:has|have|had|is|are|was|were|got|gets|been|being|be|we|i|will|just) (?:now )?(?:{_CHANGED})\b",
    rf"\b(?:{_CHANGES})(?:e|es|ed|s|ped)? (?:[\w' -]{{1,40}} )?(?:to|by|with|onto|until)\b",
    r"\blet['’]?s \w+ [^.]{1,40} to\b|\brotat(?:ed?|ion)\b|\bgoes (?:up|down)\b",
    r"\b(?:takes?|took|taken|taking|handed|handing) over\b",
    r"(?<!\ba )(?<!\ban )(?<!any )(?<!no )(?<!something )(?<!every )\bnew\b",
    r"(?<=\w )(?<!\band )(?<!\bthen )(?<!\bright )now\b",
    r"^\W*(?:quick )?(?:correction|update|actually|change of plans?|korrektur)\b",
    r"\b(?:ab (?:jetzt|sofort)|von nun an|jetzt|nunmehr|künftig|nicht mehr|stattdessen)\b",
    r"\b(?:geändert|verschoben|umbenannt|neue[rsnm]?|ersetzt|übernimmt)\b",
    "改为|改成|改到|改用|改在|更改|换成|换到|换为|变成|变为|变更|调整|更新为",
    "推迟|提前到|延期|(?:提高|降低|增加|减少|上调|下调|升级|升|降)[到至为]|现在|今后|以后|不再|更正|纠正|新的",
    "変更|変わり|変わっ|に変え|これから|今後|今は|現在は|新しい|訂正|修正|延期",
)
DENIES = _any_of(
    rf"\b(?:not|never|n['’]t|without) (?:yet |been |being )*(?:{_CHANGES})|n['’]t (?:yet |been )*(?:{_CHANGES})",
    r"\bunchanged\b|没有?改|未改|変わらない|変更し?ない|変更なし",
)
NO_STATEMENT = _any_of(
    r"^\W*(?:there (?:is|are|was|were)|if|when|once|unless|why|what|how|who|where|which|whether)\b",
    r"^\W*(?:could|can|should|shall|would|do(?! not\b)|does|did|is|are|was|were|has|have)\b|[?？]\W*$",
    r"\b(?:maybe|perhaps|might|would it|what if|should we|suppos(?:e|ing)|consider(?:ing)?|propos(?:e|al)|suggest)\b",
    r"\b(?:thinking (?:about|of)|wonder|e\.g\.|for example|in case|assum(?:e|ing)|vielleicht)\b",
    "^\\W*(?:如果|假如|要是|もし)|也许|可能|例えば|かもしれ",
)
HISTORY = _any_of(
    r"\b(?:paid|spent|bought|sold|went|ran|took|fixed|shipped|born|happened|was|were|did|visited|met|saw|used to)\b",
    r"\b(?:broke|crashed|failed|reported|said|yesterday|ago|last (?:week|month|year|night|time))\b",
    "昨天|去年|上次|でした|ました",
)
IS_NOT = _any_of(r"(?:\bno longer|\bnot|n['’]t|\bnicht|\bkein\w*|不再是?|不是)(?:[^\w\n]+\w+){0,2}[^\w\n]*$")
"""In front of a value: it is not this one."""

FORMERLY = _any_of(r"(?:\bnot|\bno longer|\binstead of|\brather than|\bfrom|\bstatt|而不是|不再是?|ではなく)\W*$")
"""In front of a value: the one that held before."""

IS_GONE = re.compile(
    r"(?i)\W*(?:was|were|is (?:taken|gone|retired|out|over|no longer)|no longer|does(?: not|n['’]t))\b"
)
"""Behind a value: the one that held before."""

ORDERS = _any_of(
    r"^\W*(?:please |always |do |just |bitte )*"
    r"(?:use|write|keep|make|show|put|report|give|answer|reply|respond|speak|talk|stick|be|express|format|state|print"
    r"|display|switch|schreib|antworte)\b",
    r"\b(?:wants?|prefers?|(?:would|i['’]d) (?:like|rather)|you can|must|should|please|always|we use|uses)\b",
    r"\b(?:show|use|put|report|write|give|stick to) \w+|请|都用|要用|一律|必须|ください|して",
)
REFUSES = _any_of(r"\b(?:not?|never|without|avoid|stop|kein\w*|nicht)\b|n['’]t\b|不|别|禁止|ない")
ONE_TIME = _any_of(
    r"\bthis (?!session|project|chat|conversation|repo|week|month|year)\w+|\b(?:it|these|those|them|that one)\b",
    r"\ban? (?:\w+,? ){0,3}(?:answer|reply|response|summary|report|explanation|message|text|e-?mail|list)\b",
    r"\b(?:just|only) once\b|\bfor (?:now|once|the moment)\b|这次|今回",
)
"""An order for one thing at hand, which sets nothing."""

IS_ONE = re.compile(r"(?i)\ban? (?:\w+,? )?$")
"""In front of a value: one test is meant, not every test."""

WHOLE_OF_WHAT_IS_SHOWN = _any_of(
    r"\b(?:in|for|of|on) (?:all |every |any |your )?(?:status |progress )?"
    r"(?:reports|updates|replies|answers|responses|messages|summaries|outputs?)\b"
)
"""What somebody is shown, in general: reports, answers. The one report for Anna is a part of it."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What ends the piece of a sentence in which a value is said: in front of the value, and behind it."""

    front: re.Pattern[str]
    behind: re.Pattern[str]


_ORDER = _any_of(
    r"[;—。；：]|:(?=\s)|,? and (?=(?:use|stick|keep|make|write|show|put|never|don['’]t|no)\b)| with |, but "
)
_NEWS = r"[;—。；]|, (?:so|and|but|because|since|as|which|please|then)\b|(?<=\D)[，、]| because | since "
_CLAUSE = _any_of(
    r"[;—,。；，、](?!\d)| and (?=(?:must|never|should|may|will|is|are|has|we|it|they|use|do|don['’]t)\b)",
)
IN_ORDERS = Ends(_ORDER, _ORDER)
IN_NEWS = Ends(_any_of(_NEWS), _any_of(_NEWS, r", (?!(?:for|in|on|at|of)\b)"))
IN_STATEMENTS = Ends(_CLAUSE, _CLAUSE)
IT = re.compile(r"(?i)^\W*(?:it|that|this)(?:['’]s| is| will)\b")
STATES = _any_of(
    r"\b(?:is|are|be|will|to|at|by|with|onto|until|use[sd]?|called|calling|named|as)\b|['’]s\b|[:=是为在到は为を]|に"
)
IS_LABEL = re.compile(r"\W*[A-Z ]+: ?")
