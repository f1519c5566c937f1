"""What a person gave a value to in a statement: an amount, a date, a person, a code …, with the place where it stands.

Kinds are told by their form and by closed lists of words. What is a value of nothing known, "5432", is a number. What a
statement speaks of is in `said_subjects`; whether a later one puts it right, in `restating`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from worker.core.said_words import (
    COUNTS,
    CURRENCIES,
    FINE_UNITS,
    LANGUAGES,
    MANNERS,
    MONTHS,
    NO_NAMES,
    NO_UNITS,
    OPPOSITES,
    SCALE_SIGNS,
    SCALES,
    SECONDS,
    SURNAMES,
    UNIT_SYSTEMS,
    WEEKDAYS,
    ZONES,
    each_word,
)
from worker.core.terms import fold, stem


class ValueKind(StrEnum):
    ADDRESS = "address"
    BRANCH = "branch"
    CLOCK = "clock"
    CODE = "code"
    DATE = "date"
    LANGUAGE = "language"
    MANNER = "manner"
    MEASURE = "measure"
    MONEY = "money"
    NUMBER = "number"
    PERSON = "person"
    UNITS = "units"
    VERSION = "version"
    ZONE = "zone"


SETTINGS = frozenset({ValueKind.LANGUAGE, ValueKind.MANNER, ValueKind.UNITS, ValueKind.ZONE})
"""Of these one holds at a time for what it is set for: an order is enough to change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """start, end: its place in the text. meaning: the same for "$500" and "five hundred dollars".

    family: what two values must have in common to stand for one another, a unit for instance; "" for any.
    """

    kind: ValueKind
    start: int
    end: int
    meaning: str
    family: str = ""


@lru_cache(maxsize=2_048)
def values_of(text: str) -> tuple[Value, ...]:
    """The values of a statement in their order; no two of them overlap, what is read first claims its place."""
    taken = bytearray(len(text))
    found: list[Value] = []
    for kind, pattern, read in _READERS:
        for match in pattern.finditer(text):
            start, end = match.span(match.lastgroup if match.lastgroup in _PART else 0)
            if any(taken[start:end]) or (meaning := read(match)) is None:
                continue
            taken[start:end] = b"\1" * (end - start)
            family, _, rest = meaning.rpartition("\0")
            found.append(Value(kind=kind, start=start, end=end, meaning=rest, family=family))
    return tuple(sorted(found, key=lambda value: value.start))


_PART = ("value", "han", "kana")
"""Groups of a pattern that hold the value alone, where more than it is looked at."""


def can_stand_for(new: Value, old: Value) -> bool:
    """True when the two are of one kind and cannot both hold."""
    if new.kind is not old.kind or new.family != old.family:
        return False
    if new.kind is ValueKind.MANNER:
        poles = set(old.meaning.split())
        return any(OPPOSITES.get(pole) in poles for pole in new.meaning.split())
    return not means_the_same(new, old)


def means_the_same(one: Value, other: Value) -> bool:
    """A day without its year is that day of any year."""
    if one.kind is ValueKind.DATE and len(one.meaning) != len(other.meaning):
        return one.meaning.endswith(other.meaning) or other.meaning.endswith(one.meaning)
    return one.kind is other.kind and one.meaning == other.meaning


_HAN = r"\u3400-\u9fff"
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_FIGURES = r"\d+(?:[.,]\d+)*"
_COUNTS = {word: int(count) for word, count in each_word(COUNTS)}
_NUMBER_WORD = "|".join(sorted((*_COUNTS, *SCALES), key=len, reverse=True))
_WORDED = rf"(?:(?:{_NUMBER_WORD})\b(?:[\s-]+(?:and\s+)?(?:{_NUMBER_WORD})\b)*)"


def _amount(text: str) -> str:
    """The number that figures or words say, without needless zeros."""
    if text[0].isdigit():
        plain = re.sub(r"[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
        return re.sub(r"\.0+$", "", plain)
    total = current = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in SCALES:
            current = max(current, 1) * SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
        elif word in _COUNTS:
            current += _COUNTS[word]
    return str(total + current)


_CURRENCY_OF = dict(each_word(CURRENCIES))
_CURRENCY_WORDS = "|".join(sorted((re.escape(one) for one in _CURRENCY_OF if one[-1] not in "$€£¥"), key=len)[::-1])
_MONEY = re.compile(
    rf"(?:US)?[$€£¥]\s?{_FIGURES}(?:\s?(?:k|m|thousand|million)\b)?|"
    rf"{_START}(?:EUR|USD|GBP|CHF|JPY|CNY|RMB)\s?{_FIGURES}|"
    rf"(?:{_START}{_FIGURES}\s?(?:k\s|thousand\s|million\s|[万千百])?|{_START}{_WORDED}\s+)"
    rf"[€£¥]?(?:(?<=[€£¥])|(?:{_CURRENCY_WORDS})){_END}",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\b(?:k|m|thousand|million)\b|[万千百]")
_WORDED_AMOUNT = re.compile(rf"{_FIGURES}|{_WORDED}", re.IGNORECASE)


def _money(match: re.Match[str]) -> str | None:
    amount = _WORDED_AMOUNT.search(match[0])
    if amount is None:
        return None
    rest = f"{match[0][: amount.start()]} {match[0][amount.end() :]}".casefold()
    currency = next((_CURRENCY_OF[one] for one in sorted(_CURRENCY_OF, key=len)[::-1] if one in rest), "")
    scale = next((SCALE_SIGNS[one] for one in _SCALE.findall(rest)), 1)
    return f"{float(_amount(amount[0])) * scale:.12g} {currency}" if _is_plain(amount[0]) else None


_MONTH_OF = {name.casefold(): month for name, month in each_word(MONTHS)}
_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_DAY_OF = {name.casefold(): day for name, day in each_word(WEEKDAYS)}
_DATE = re.compile(
    r"(?<![\d-])(?:(?P<iso_year>\d{4})[-/](?P<iso_month>\d{1,2})[-/](?P<iso_day>\d{1,2})"
    rf"|(?:\d\d-\d\d \()?(?<![A-Za-z])(?P<month>(?i:{_MONTH}))\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"(?:,? (?P<year>\d{4}))?\)?"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<month2>(?i:{_MONTH}))\b(?:,? (?P<year2>\d{{4}}))?"
    r"|(?:(?P<year3>\d{4})年)?(?P<month3>\d{1,2})月(?P<day3>\d{1,2})[日号號]?"
    r"|(?:(?<=am )|(?<=den )|(?<=zum )|(?<=bis ))(?P<day4>\d{1,2})\.(?P<month4>\d{1,2})\.(?P<year4>\d{4})?)(?![\d-])"
    rf"|(?P<weekday>(?i:{'|'.join(_DAY_OF)}))(?!s)"
)


def _date(match: re.Match[str]) -> str | None:
    if match["weekday"]:
        return _DAY_OF[match["weekday"].casefold()]
    year = next((match[name] for name in ("iso_year", "year", "year2", "year3", "year4") if match[name]), "")
    month = next(match[name] for name in ("iso_month", "month", "month2", "month3", "month4") if match[name])
    day = next(match[name] for name in ("iso_day", "day", "day2", "day3", "day4") if match[name])
    return f"{f'{year}-' if year else ''}{_MONTH_OF.get(month.casefold()) or month.zfill(2)}-{day.zfill(2)}"


_ZONE_OF = dict(each_word(ZONES))
_ZONE = re.compile(
    rf"{_START}(?:(?:UTC|GMT)(?:[+-]\d{{1,2}}(?::\d\d)?)?|CES?T|EES?T|[PMCE][SD]T|JST|IST|KST|SGT|BST|AES?T)(?![A-Za-z0-9_-])"
    r"|\b(?:Pacific|Mountain|Central European|Central|Eastern European|Eastern|Berlin|London|Paris|Tokyo|Beijing|China"
    r"|Japan|Indian|Sydney|New York|British|[Ll]ocal|[Ss]erver)(?: (?:Standard|Daylight|Summer))? [Tt]ime\b(?!\s?zone)"
    r"|\b(?:Europe|America|Asia|Africa|Australia|Pacific|Atlantic|Etc)/[A-Z][A-Za-z_]+"
    r"|北京时间|东京时间|当地时间|本地时间|世界标准时间|太平洋时间|东部时间|日本時間|現地時間|協定世界時|世界時"
)


def _zone(match: re.Match[str]) -> str:
    name = re.sub(r"(?i)\s(?:standard |daylight |summer )?time$", "", match[0]).rpartition("/")[2].casefold()
    return _ZONE_OF.get(name, name)


_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>[012]?\d):(?P<minute>[0-5]\d)(?:\s?(?P<half>[ap])\.?m\b\.?)?(?![\d:])"
    r"|(?<![\d:.])(?P<hour2>1?\d)\s?(?P<half2>[ap])\.?m\b"
    r"|(?P<half3>[上下]午|午[前後])?(?<!\d)(?P<hour3>[012]?\d)(?:点|時(?!間))(?P<minute3>半|[0-5]?\d分)?"
    r"|(?<![\d:.])(?P<hour4>[012]?\d)(?P<minute4>)\s?Uhr\b"
)


def _clock(match: re.Match[str]) -> str:
    hour = int(next(match[name] for name in ("hour", "hour2", "hour3", "hour4") if match[name]))
    minute = next((match[name] for name in ("minute", "minute3") if match[name]), "0")
    half = next((match[name] for name in ("half", "half2", "half3") if match[name]), "")
    if half in ("p", "下午", "午後") and hour < 12:
        hour += 12
    return f"{hour:02d}:{30 if minute == '半' else int(minute.rstrip('分')):02d}"


_BRANCH = re.compile(
    r"(?<![\w/.-])(?:feature|feat|fix|bugfix|hotfix|spike|release|chore|topic|dev|wip|experiment|user|refactor|poc)"
    r"/\w[\w./-]*\w(?![\w/])"
    r"|\b[Bb]ranch (?:is |named |called )?[`'\"]?"
    r"(?P<value>(?:main|master|develop|trunk|staging|(?=[\w.]*[-/_])\w[\w./-]*\w))"
    r"(?![\w/-])",
    re.ASCII,
)
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`)\]\u3000-\u303f\uff00-\uffef]*[^\s<>\"'`)\].,;:!?\u3000-\u303f\uff00-\uffef]"
    rf"|{_START}[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|{_START}(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d{{1,5}})?(?![\d.])"
    rf"|{_START}[A-Za-z][\w-]*(?:\.[\w-]+)*:\d{{2,5}}(?!\d)",
    re.ASCII,
)
_CODE = re.compile(
    r"(?<![\w/.-])(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])(?!\d+-[a-z]+(?![\w-]))[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+(?![\w/])"
    r"|(?<![\w/.-])[A-Za-z0-9]*(?:\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z])[A-Za-z0-9]*(?![\w/-])",
    re.ASCII,
)
_VERSION = re.compile(rf"{_START}(?:v\d+(?:\.\d+)*|\d+(?:\.\d+){{2,}}|\d+\.\d+)(?![\w.-]*[\w-])", re.ASCII)


def _written(match: re.Match[str]) -> str:
    """As it stands there, in one case."""
    return match[match.lastgroup if match.lastgroup in _PART else 0].casefold()


def _version(match: re.Match[str]) -> str:
    return match[0].removeprefix("v")


_SECONDS = {word: int(seconds) for word, seconds in each_word(SECONDS)}
_FINE_UNITS = frozenset(FINE_UNITS.split())
_NO_UNIT = frozenset(NO_UNITS.split())
_MEASURE = re.compile(
    rf"(?:{_START}(?<![.\w-])(?P<figures>{_FIGURES})[\s-]?|{_START}(?P<words>{_WORDED})\s+)(?P<unit>%|[A-Za-z]+){_END}"
    rf"|(?<![\d.])(?P<figures2>{_FIGURES})\s?(?P<unit2>秒|分钟|分|小时|時間|天|日間|周|週間|页|ページ|字|文字|人|个|個|件|次|回|条)"
)


def _measure(match: re.Match[str]) -> str | None:
    unit = (match["unit"] or match["unit2"]).casefold()
    number = match["figures"] or match["figures2"] or match["words"]
    if (
        unit in _NO_UNIT
        or unit.endswith("ing")
        or unit in _COUNTS
        or unit in SCALES
        or number.casefold() in ("a", "an", "one")
    ):
        return None
    if "." in number and unit not in _SECONDS and unit not in _FINE_UNITS:
        return None
    if unit in _SECONDS:
        return f"time\0{float(_amount(number)) * _SECONDS[unit]:g}" if _is_plain(number) else None
    return f"{stem(fold(unit))}\0{_amount(number)}"


def _is_plain(number: str) -> bool:
    return not number[0].isdigit() or re.fullmatch(r"\d+(?:\.\d+)?", _amount(number)) is not None


_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĖĘĚĜĞĠĢĤĦĪĮİĴĶĹĻĽŁŃŅŇŌŐŒŔŖŘŚŜŞŠŢŤŦŪŮŰŲŴŶŸŹŻŽ"
_NAME = (
    rf"[{_CAPITAL}](?:[^\W\d_{_CAPITAL}\u3000-\u9fff]|['’](?=[{_CAPITAL}])|(?<=['’c])[{_CAPITAL}]|-(?=[{_CAPITAL}])"
    rf"|(?<=-)[{_CAPITAL}])+"
)
_NO_OPENER = rf"(?!(?:{'|'.join(word.title() for word in NO_NAMES.split())}) )"
_PARTICLES = "(?:(?:de|van|von|der|den|la|al|bin|di|da|del) )*"
_PERSON = re.compile(
    r"(?<![\w.])(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?"
    rf"(?P<value>{_NO_OPENER}{_NAME}(?: {_PARTICLES}{_NAME}){{1,2}})(?!\w)"
    rf"|(?<=[是为由给成])(?P<han>[{SURNAMES}][{_HAN}]{{1,2}})(?=[。，,；;！\s]|$|负责|值班)"
)
_NO_NAME = frozenset(NO_NAMES.split())


def _person(match: re.Match[str]) -> str | None:
    """Two or three words with capitals, none of which is a common one."""
    words = _written(match).split()
    return None if any(word in _NO_NAME for word in words) else " ".join(words)


_UNITS_OF = dict(each_word(UNIT_SYSTEMS))
_POLES_OF = dict(each_word(MANNERS))
_LANGUAGE = re.compile(
    r"\b(?:[Ii]n|[Aa]uf|[Uu]se|(?:[Ss]witch|[Cc]hange|[Bb]ack) to)\s"
    rf"(?P<value>(?:(?i:British|American|Brazilian|European) )?(?:Polish|(?i:{'|'.join(LANGUAGES.split())})))\b"
    r"|(?:用|改用|使用)\s?(?P<han>[中英日韩德法俄]文|[汉英日韩德法俄]语)"
    r"|(?P<kana>(?:日本|英|中国|韓国|フランス|ドイツ)語)(?=で)"
)


def _listed(words: dict[str, str]) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    longest = sorted(map(re.escape, words), key=len, reverse=True)
    pattern = re.compile(rf"(?<![A-Za-z0-9-])(?<!\d )(?:{'|'.join(longest)})(?![A-Za-z0-9]|-(?! ))", re.I)
    return pattern, lambda match: words[match[0].casefold()]


_NUMBER = re.compile(r"(?<![\w.])(?<!-)\d+(?:[-.,]\d+)*(?![A-Za-z0-9/])|(?<=[\u3000-\u9fff])\d+(?:[-.,]\d+)*")

_Reader = tuple[ValueKind, re.Pattern[str], Callable[[re.Match[str]], "str | None"]]


def _readers() -> Iterator[_Reader]:
    yield ValueKind.ADDRESS, _ADDRESS, _written
    yield ValueKind.DATE, _DATE, _date
    yield ValueKind.MONEY, _MONEY, _money
    yield ValueKind.ZONE, _ZONE, _zone
    yield ValueKind.CLOCK, _CLOCK, _clock
    yield ValueKind.BRANCH, _BRANCH, _written
    yield ValueKind.CODE, _CODE, _written
    yield ValueKind.MEASURE, _MEASURE, _measure
    yield ValueKind.VERSION, _VERSION, _version
    yield ValueKind.PERSON, _PERSON, _person
    yield ValueKind.LANGUAGE, _LANGUAGE, _written
    yield (ValueKind.UNITS, *_listed(_UNITS_OF))
    yield (ValueKind.MANNER, *_listed(_POLES_OF))
    yield ValueKind.NUMBER, _NUMBER, _written


_READERS: tuple[_Reader, ...] = tuple(_readers())
