"""Does a statement say the opposite of the sentence that it comes from, or give its number another unit?

"It works with 768Mi" out of "it does not work with 768Mi" has every word of its source and is a lie all the same. Only
near copies are judged: a paraphrase in other words is left alone, and so is what says one clause of its source.
"""

import re
from collections.abc import Iterable, Sequence

from worker.core.clauses import clauses
from worker.core.wording import content_words, numbers

NEAR_SHARE = 0.6
"""Of a statement's content words, that a sentence must hold to be where it comes from."""

CLAUSE_SHARE = 0.8
FEWEST_WORDS = 2

_NEGATES = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|cannot|without|nicht|kein\w*|nie|pas|jamais|nunca|não)\b|n['’]t\b|"
    r"[不没沒未别勿]|ない|なく|ません|ずに",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})", re.IGNORECASE), re.compile(rf"\b(?:{other})", re.IGNORECASE))
    for one, other in (
        ("includ", "exclud"),
        ("accept", "reject"),
        ("enabl", "disabl"),
        ("before", "after"),
        ("over|above", "under|below"),
        ("succe", "fail"),
        ("pass(?:es|ed)?", "fail"),
        ("increas", "decreas"),
        ("allow", "forbid"),
    )
)
_UNITS = {
    name: canonical
    for canonical, names in {
        "ms": "ms milliseconds millisecond",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hour hours",
        "d": "day days",
        "kb": "kb kib ki",
        "mb": "mb mib mi",
        "gb": "gb gib gi",
        "tb": "tb tib ti",
        "%": "% percent",
        "eur": "eur euro euros €",
        "usd": "usd dollar dollars",
        "passed": "passed passes pass",
        "failed": "failed fails fail failures failure",
        "skipped": "skipped",
    }.items()
    for name in names.split()
}
_FAMILIES = {
    unit: family
    for family in ("ms s min h d", "kb mb gb tb", "% eur usd", "passed failed skipped")
    for unit in family.split()
}
"""Units of which one is told for another; a number may well stand with one of each family."""

_MEASURE = re.compile(
    rf"(?<![\w.])(\d[\d,.]*)\s?(?:tests?\s)?({'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_TIME = re.compile(r"(?<![\d:.])[012]?\d:[0-5]\d(?![\d:.])")


def turned_sentence(text: str, said: Iterable[str]) -> str | None:
    """The sentence that the text turns round, None when there is none or another sentence says what the text says."""
    near = [sentence for sentence in said if _is_near(text, sentence)]
    if any(not _is_turned(text, sentence) for sentence in near):
        return None
    words = set(content_words(text))
    return max(near, key=lambda sentence: len(words & set(content_words(sentence))), default=None)


def _is_near(text: str, sentence: str) -> bool:
    return _share(text, sentence) >= NEAR_SHARE


def _share(text: str, sentence: str) -> float:
    wanted, there = _stems(text), _stems(sentence)
    return len(wanted & there) / len(wanted) if len(wanted) >= FEWEST_WORDS else 0.0


def _stems(text: str) -> set[str]:
    return {word[:5] if word.isascii() else word for word in content_words(_NEGATES.sub(" ", text))}


def _is_turned(text: str, sentence: str) -> bool:
    if any(_says_clause(text, clause) for clause in clauses(sentence)):
        return False
    if bool(_NEGATES.search(text)) is not bool(_NEGATES.search(sentence)):
        return True
    return _is_opposite(text, sentence) or (bool(_NEGATES.search(sentence)) and _is_swapped(text, sentence))


def _says_clause(text: str, clause: str) -> bool:
    return (
        _share(text, clause) >= CLAUSE_SHARE
        and numbers(text) <= numbers(clause)
        and bool(_NEGATES.search(text)) is bool(_NEGATES.search(clause))
        and not _is_opposite(text, clause)
    )


def _is_opposite(text: str, sentence: str) -> bool:
    return any(
        bool(one.search(text)) is not bool(one.search(sentence))
        and bool(other.search(text)) is not bool(other.search(sentence))
        and bool(one.search(text)) is not bool(other.search(text))
        for one, other in _OPPOSITES
    )


def _is_swapped(text: str, sentence: str) -> bool:
    """True when both name the same two numbers in another order: "5432, not 5433" for "5433, not 5432"."""
    told, said = (re.findall(r"\d+(?:[.,:]\d+)*", words) for words in (text, sentence))
    shared = set(told) & set(said)
    return len(shared) > 1 and [one for one in told if one in shared] != [one for one in said if one in shared]


def wrong_measures(text: str, shown: Sequence[str]) -> list[str]:
    """The measures of a text whose number the sources give with another unit or not at all, and its wrong dates.

    A number that was counted or worked out in no unit of the sources is left alone, and so is a date where the sources
    name none: it may have been worked out from "on Friday".
    """
    source = "\n".join(shown)
    given: dict[tuple[str, str], set[str]] = {}
    for number, unit in _measures(source):
        given.setdefault((number, _FAMILIES[unit]), set()).add(unit)
    units = {unit for known in given.values() for unit in known}
    wrong = []
    for number, unit in _measures(text):
        known = given.get((number, _FAMILIES[unit]))
        is_new = known is None and unit in units and not re.search(rf"(?<!\d){re.escape(number)}(?!\d)", source)
        if is_new or (known is not None and unit not in known):
            wrong.append(f"{number} {unit}")
    for pattern in (_DATE, _TIME):
        said = set(pattern.findall(source))
        wrong += [found for found in pattern.findall(text) if said and found not in said]
    return wrong


def _measures(text: str) -> list[tuple[str, str]]:
    return [(found[1].replace(",", "").rstrip("."), _UNITS[found[2].lower()]) for found in _MEASURE.finditer(text)]
