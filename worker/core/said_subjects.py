"""What a statement speaks of: the words around its values, folded to what everyday synonyms have in common.

"The budget cap of the project" and "project spend" speak of a limit of a project. A head is the thing that has a value
(a limit, a date, a name, an owner); a topic says of what. Words that say nothing of it, "keep", "now", "this week", are
left out, and Chinese and Japanese are read by the words of the tables and what stands between them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from worker.core.said_values import Value
from worker.core.said_words import ALSO_NOUNS, HEADS, IDLE, OWNERS, STOP, TOPICS, each_word
from worker.core.terms import fold, stem

_CHANGING = "chang|mov|rais|lower|reduc|increas|extend|shorten|postpon|push|bump|cut|set"
_ALIKE = (
    (re.compile(r"\bon[- ]call\b"), "oncall"),
    (re.compile(r"\bgo(?:es)?[- ]live\b"), "golive"),
    (re.compile(r"\broll(?:s|ed)?[- ]out\b"), "rollout"),
    (re.compile(r"\bpick(?:s|ed)?[- ]up\b"), "pickup"),
    (re.compile(r"\btime[- ]?zones?\b"), "time"),
    (re.compile(r"\bsign(?:ed)?[- ]off\b"), "signoff"),
    (re.compile(r"\bcode[- ]name"), "codename"),
    (re.compile(r"\bfield[- ]trip"), "trip"),
    (re.compile(r"\b([a-z]+)-(in|out|on|off|up|down)\b"), r"\1\2"),
    (re.compile(r"\b(chapter|part|phase|step|stage|round|level|group|team|option|room|day|week) one\b"), r"\1 ·one"),
)
"""What is written in several ways."""

_SAYS_NOTHING = (
    re.compile(r"^\W*(?:quick |short |small )?(?:update|correction|note|reminder|fyi)\b:?"),
    re.compile(
        r"^[^:]{0,60}\b(?:got back|told|tells|wrote|writes|confirmed|confirms|says|said|decided|called|answered|replied"
        r"|news|heads[- ]up)\b[^:]{0,30}: "
    ),
    re.compile(r"\blet's (?!go\b)\w+"),
    re.compile(
        r"\b(?:this|next|last) (?:week|month|year|quarter|time|night)\b|\bfrom (?:\w+ ){1,2}on\b|\bchange of plans?\b"
    ),
    re.compile(r"\b(?:the )?(?:user|assistant)s? (?=(?:want|prefer|like|would|need)s?\b)"),
    re.compile(
        r"\b(?:go|goes|went|push|pushed|bring|brought|move|moved|switch|switched|put|set|turn|turned|scale|scaled|cut|take"
        r"|takes|taken|took|hand|handed|change|changed) (?:up|down|out|back|forward|over|off)\b"
    ),
    re.compile(rf"^\W*(?:[a-z'.-]+ ){{1,4}}?(?:{_CHANGING})(?:e?d|ped)? (?=(?:the|our|my|your|his|her|their)\b)"),
)
"""Who changes something and how: "the publisher lowered" in front of the limit."""

_IN_FRONT_OF_A_NOUN = re.compile(
    rf"\b(the|our|my|your|their|his|her|an?|each|every) (?=(?:{'|'.join(ALSO_NOUNS.split())})s? [a-z])"
)
_HAN_IDLE = re.compile(
    r"从现在起|从今以后|今后|以后|现在|之前|已经|仍然|必须|应该|需要|所有|全部|一律|每个|请|把|被|将|都|也|的|地|得|了|着|过|是|为|在|到|"
    r"于|由|给|用|让|要|会|有|我们|我|你们|你|它|这个|那个|改为|改成|改到|改用|改在|更改|换成|换到|换为|变成|变更|"
    r"调整|推迟|提前|延期|提高|升级|降低|增加|减少|上调|下调|"
    r"更新|更正|纠正|定在|设为|设置|使用|显示|采用|保持|一点|一些|尽量|元|新|旧|写|说|地址|现行|当前|和|与|以|内|不|再|"
    r"変更|訂正|修正|今度|今後|これから|現在|以前|全て|毎回|必要|新し|古い|使用|表示|円"
)
_LABEL = re.compile(r"^\W*[A-Z][A-Z ]{2,24}: (?=\S)")
_WORD = re.compile(r"·?[a-z]+(?:'[a-z]+)?")
_LETTER = re.compile(r"(?<=\w )[A-HJ-Z]\b(?![.'’]\w)")
"""Team B, option C: a letter that tells one from another."""

_RUN = re.compile(r"[\u3400-\u9fff]+|[\u30a0-\u30ff]+")


def _read_table(rows: dict[str, str]) -> Iterator[tuple[str, str]]:
    for word, meaning in each_word(rows):
        yield fold(word), meaning
        yield stem(fold(word)), meaning


_HEAD_OF = dict(_read_table(HEADS))
_TOPIC_OF = dict(_read_table(TOPICS))
_OWNER_OF = dict(each_word(OWNERS))
_STOP = frozenset(STOP.split())
_IDLE = frozenset(form for word in IDLE.split() for form in (fold(word), stem(fold(word))))
_KNOWN_RUN = re.compile(
    "|".join(sorted((re.escape(one) for one in (*_HEAD_OF, *_TOPIC_OF) if not one.isascii()), key=len, reverse=True))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """heads, topics: names of what the words mean. words: the words themselves, without their endings.

    owners: whose it is, as far as "my", "your" and the like tell. all: heads and topics.
    """

    heads: frozenset[str]
    topics: frozenset[str]
    words: frozenset[str]
    owners: frozenset[str]

    all: frozenset[str]


def subject_of(text: str, values: Iterable[Value], *, offset: int = 0) -> Subject:
    """What a statement, or the piece of one that begins at `offset`, speaks of beside its values."""
    signs = list(text)
    for value in values:
        start, end = max(0, value.start - offset), max(0, value.end - offset)
        signs[start:end] = " " * len(signs[start:end])
    return _subject("".join(signs))


@lru_cache(maxsize=4_096)
def _subject(text: str) -> Subject:
    """Remembered: a statement is looked at once for each of its values, and most pieces are the whole of it."""
    folded = fold(_LABEL.sub(" ", text).replace("’", "'"))
    for pattern, word in _ALIKE:
        folded = pattern.sub(word, folded)
    for pattern in _SAYS_NOTHING:
        folded = pattern.sub(" ", folded)
    found = _WORD.findall(_IN_FRONT_OF_A_NOUN.sub(r"\1 ·", folded))
    words = frozenset(filter(None, (*map(_meant, found), *_signs(folded), *_LETTER.findall(text))))
    heads = frozenset(_HEAD_OF[word] for word in words if word in _HEAD_OF)
    topics = frozenset(_TOPIC_OF.get(word, word) for word in words if word not in _HEAD_OF)
    owners = frozenset(_OWNER_OF[word] for word in found if word in _OWNER_OF)
    return Subject(heads=heads, topics=topics, words=words, owners=owners, all=heads | topics)


def is_subject(word: str) -> bool:
    """True for a word of the tables, which is no name of a person."""
    return any(one in table for one in (fold(word), stem(fold(word))) for table in (_HEAD_OF, _TOPIC_OF))


@lru_cache(maxsize=1 << 14)
def _meant(word: str) -> str:
    """The word without its ending; "" for one that says nothing of the subject."""
    plain = word.removesuffix("'s")
    ended = stem(plain)
    if len(plain) < 2 or word in _STOP or plain in _STOP:
        return ""
    for one in (ended, plain):
        if one in _HEAD_OF or one in _TOPIC_OF:
            return one
    return "" if plain in _IDLE or ended in _IDLE else ended


def _signs(folded: str) -> Iterator[str]:
    """Known words of Chinese and Japanese; then what is left of runs without what says nothing."""
    if folded.isascii():
        return
    yield from _KNOWN_RUN.findall(folded)
    for run in _RUN.findall(_HAN_IDLE.sub(" ", _KNOWN_RUN.sub(" ", folded))):
        if len(run) > 1:
            yield run
