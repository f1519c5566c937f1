"""What a sentence asserts that only some can know: leave that was given, work that is done, a name, a measure.

Cue lists for English, Chinese and Japanese; where they see nothing, nothing is asserted. Whether somebody gave the
leave and something shows the work is asked in `founding`.
"""

import re

from worker.core.clauses import clauses
from worker.core.rules import stem

_LEAVE = re.compile(
    r"\b(?:approved|signed off|signed (?:contract|agreement)|authori[sz]ed|consented|green-?lit|"
    r"(?:gave|given|got|has|have) (?:the |their |an? |full )?"
    r"(?:go(?:-ahead)?|permission|green light|approval|consent))\b"
    r"|\b(?:user|human|person|client|customer|owner|manager|team|they|he|she|we|[A-Z][a-z]+) (?:has |have |had )?"
    r"(?:agreed|accepted|allowed|permitted)\b|\b(?:agreed|accepted|allowed|permitted|confirmed) by\b"
    r"|(?:批准|同意|授权|许可)了|(?:已|已经|被)(?:批准|同意|授权|许可)|用户(?:批准|同意|授权|许可)"
    r"|(?:承認|許可|同意|了承)(?:した|しました|され|済|を得|があ|が下り)"
)
_NO_LEAVE = re.compile(
    r"(?i)\b(?:not|never|no|without|until|unless|before|once|when|if|whether|after|await\w*|wait\w*|pending|needs?|"
    r"require[sd]?|requests?|ask(?:s|ed|ing)?|must|should|would|will|may|might|could|can|to be|only)\b|n['’]t\b"
    r"|[不没沒未无需待请請]|如果|之前|以前|ない|なく|ません|ずに|まで|待|てから|たら|れば|必要|前に|か[。？?]?$|吗"
)
"""What makes of a leave that was given one that is wanted, refused or asked for."""

_DONE = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful(?:ly)?)?|works|worked|green|fixed|resolved|completed?|"
    r"finished|done|deployed|released|shipped|published|merged|paid|booked|sent|delivered|updated|reachable|available|"
    r"valid|up and running|went through|met|deleted|cancell?ed|pushed|bought|sold|revoked|restarted|"
    r"uploaded|refunded|upgraded|granted|wiped)\b"
    r"|成功|通过|完成|正常|有效|解决了|搞定|已修复|已经|升级到了|推送了|删除了|发送了|支付了|重启了"
    r"|完了|合格|有効|できました|直りました|直った|終わ|送信した|削除した|支払った|再起動した|公開した|連絡した",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:fail\w*|errors?|not|never|no|none|nothing|cannot|without|refused?|denied|reject\w*|declin\w*|un\w+able|"
    r"unreachable|unavailable|timed? ?out|expired?|lost|missing|invalid|broken|crash\w*|killed|dropped|until|unless|"
    r"once|when|if|after|before|should|must|will|to be|would|could|want\w*|wait\w*|pending|still|yet|verify|whether|"
    r"instead of|rather than|partly|partially|some|half|next|then|ask\w*|only|but|except|previously|earlier|"
    r"was to|although|despite|forbidden|against)\b|\bon \d{4}-\d\d-\d\d"
    r"|n['’]t\b|[?？]|[不没沒未无待]|失败|失敗|错误|エラー|ない|なかった|ません|ずに|たら|れば|まで|未完|待ち|予定|つもり|中\b",
    re.IGNORECASE,
)
"""What makes of something done one that failed, is wanted, or is done in part: such a sentence asserts no success."""

_GRAVE = (
    ("pay", "pays", "paid", "payin", "payme"),
    ("delet", "dele", "remov", "wipe", "wiped", "purge", "drop", "dropp", "erase", "destr"),
    ("drain",),
    ("cance", "termi"),
    ("deplo", "relea", "publi", "ship", "shipp"),
    ("push", "pushe", "pushi"),
    ("send", "sent", "sends", "sendi", "mail", "maile", "email"),
    ("book", "booke", "booki"),
    ("buy", "buys", "bough", "purch"),
    ("sell", "sells", "sold"),
    ("revok",),
    ("resta", "reboo"),
    ("unins", "uninv"),
    ("refun",),
    ("grant",),
    ("force",),
    ("uploa",),
    ("reply", "repli"),
    ("upgra",),
)
_GRAVE_OF = {one: kind[0] for kind in _GRAVE for one in kind}
_NO_DEEDS = re.compile("public|publicly|publication|restaurants?|terminals?|destructur(?:e|ed|ing)")
"""Words that begin like a deed and are none."""

_GRAVE_ABROAD = re.compile(
    r"删除|取消|支付|付款|发布|发送|推送|重启|撤销|升级|购买|削除|送信|支払|公開|再起動|失効させ|解約|予約|購入|電話|返金"
)

_NAME = re.compile(r"(?<![.!?:;] )(?<![\w/\\.@#'’-])(?<!^)[A-Z][a-z]{2,}(?:-[A-Z][a-z]+)?\b(?![/\\@(_.]\w)")
_HONOURED = re.compile(r"([\u4e00-\u9fff\u30a0-\u30ff]{1,8})(?:さん|様|氏|先生)")
_CAPITALS = """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday english chinese japanese german french spanish user users human assistant agent
    person the this that task tasks file files test tests list item items note step option python java git github
    readme todo http json latest overall medium high low
"""
_NO_NAMES = frozenset(_CAPITALS.split())

_MEASURE = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*\s?(?:[KMGT]i?B?|ms|[KMGT]?bps)\b(?![\w/-])")


def asserts_leave(sentence: str) -> list[str]:
    """The clauses that say that somebody gave leave: no wish for it, no refusal, no question."""
    if not _LEAVE.search(sentence) or sentence.rstrip().endswith(("?", "？")):
        return []
    return [one for one in clauses(sentence) if _LEAVE.search(one) and not _NO_LEAVE.search(_LEAVE.sub(" ", one))]


def who_gave_leave(clause: str) -> list[str]:
    """The people that a clause names as those who gave leave; no "user" and the like."""
    found = (name for match in _LEAVE_BY.finditer(clause) for name in match.groups() if name)
    return [name for name in found if name.casefold() not in _NO_NAMES] + _honoured(clause)


_LEAVE_BY = re.compile(
    r"\b([A-Z][a-z]+) (?:has |have |had |also |already )?(?:approved|agreed|accepted|allowed|permitted|authori[sz]ed|"
    r"consented|signed off|gave)\b|\bby ([A-Z][a-z]+)\b"
)


def without_leave(clause: str) -> str:
    """The clause without the words that give the leave: what it was given for, and by whom."""
    return _LEAVE.sub(" ", clause)


def asserts_done(sentence: str) -> bool:
    """True when the sentence says that something went well or is done, and takes nothing of it back."""
    return bool(_DONE.search(sentence)) and not _UNDONE.search(_DONE.sub(" ", sentence))


def without_done(sentence: str) -> str:
    return _DONE.sub(" ", sentence)


_PROPOSES = re.compile(
    r"(?i)\b(?:options?|could|should|would|might|may|perhaps|maybe|suggest\w*|recommend\w*|propos\w*|consider|shall|"
    r"i think|i believe|alternativ\w*|one way|if you)\b"
    r"|建议|应该|觉得|可以考虑|不妨|提案|思います|思う|方がいい|ほうがいい|どうでしょう"
)


def proposes(words: str) -> bool:
    """True for words that offer something, or that are unsure of it."""
    return _PROPOSES.search(words) is not None


def grave_words(text: str) -> set[str]:
    """What the text speaks of that cannot be taken back: paying, deleting, sending and the like, each as one word."""
    words = re.findall(r"[a-z]+", text.casefold())
    found = {kind for word in words if not _NO_DEEDS.fullmatch(word) and (kind := _GRAVE_OF.get(stem(word)))}
    return found | set(_GRAVE_ABROAD.findall(text))


def names_in(text: str) -> list[str]:
    """Proper names inside its sentences and people by their honorifics, in order; the first word of a sentence is none.

    Words that are written with a capital anyway (months, languages, "User") are left out.
    """
    latin = [found.group() for found in _NAME.finditer(text) if found.group().casefold() not in _NO_NAMES]
    return list(dict.fromkeys([*latin, *_honoured(text)]))


_PERSON = re.compile(
    r"\b(?:with|by|for|from|to|and|asks?|asked|told|called|named|is|was|Mr\.?|Mrs\.?|Ms\.?|Dr\.?) "
    r"([A-Z][a-z]{2,})(?= [a-z(]|[,.;:'’)]|$| [A-Z][a-z]+(?:[ ,.;:)]|$))(?![/\\@(_.]\w)"
)


def people_in(text: str) -> list[str]:
    """Names where sentences have people: "with Ines", "for Otto to send it"; and people by their honorifics."""
    latin = [name for name in _PERSON.findall(text) if name.casefold() not in _NO_NAMES]
    return list(dict.fromkeys([*latin, *_honoured(text)]))


def _honoured(text: str) -> list[str]:
    return [name for name in _HONOURED.findall(text) if name not in _NOBODY]


_NOBODY = frozenset({"客", "皆", "神", "奥", "子", "何", "王"})
"""What has an honorific and is no name: "お客様", "皆さん"."""


def measures_in(text: str) -> list[str]:
    """Numbers with a unit of size or time that is written to them ("4Gi", "800ms"), without white space."""
    return list(dict.fromkeys("".join(found.split()) for found in _MEASURE.findall(text)))
