"""Does a statement say the opposite of the sentence that it comes from, or give its number another unit?

"It works with 768Mi" out of "it does not work with 768Mi" has every word of its source and is a lie all the same. Only
near copies are judged: a paraphrase in other words is left alone, and so is what says one clause of its source.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce

from worker.core.clauses import clauses, meaning_stems
from worker.core.wording import content_words, numbers

NEAR_SHARE = 0.6
"""Of a statement's content words, that a sentence must hold to be where it comes from."""

CLAUSE_SHARE = 0.8
FEWEST_WORDS = 2

_NEGATES = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|cannot|without|nicht|kein\w*|nie|pas|jamais|nunca|não)\b|n['’]t\b|"
    r"[不没沒未别勿]|ない|なく|ません|ずに|せず|ていず",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})", re.IGNORECASE), re.compile(rf"\b(?:{other})", re.IGNORECASE))
    for one, other in (
        ("includ", "exclud"),
        ("accept", "reject"),
        ("enabl", "disabl"),
        ("before", "after|when|once"),
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


def negates(text: str) -> bool:
    return _NEGATES.search(text) is not None


def turned_sentence(text: str, said: Iterable[str]) -> str | None:
    """The sentence that the text turns round, None when there is none or another sentence says what the text says."""
    near = [sentence for sentence in said if _share(text, sentence) >= NEAR_SHARE]
    if any(not _is_turned(text, sentence) for sentence in near):
        return None
    words = set(content_words(text))
    return max(near, key=lambda sentence: len(words & set(content_words(sentence))), default=None)


def _share(text: str, sentence: str) -> float:
    wanted, there = _stems(text), _stems(sentence)
    return len(wanted & there) / len(wanted) if len(wanted) >= FEWEST_WORDS else 0.0


@lru_cache(maxsize=2_048)
def _stems(text: str) -> frozenset[str]:
    """Many items are compared with the same sentences of one message."""
    return frozenset(meaning_stems(_NEGATES.sub(" ", text)))


def _is_turned(text: str, sentence: str) -> bool:
    if any(_says_clause(text, clause) for clause in clauses(sentence)):
        return False
    parts = clauses(text)
    if len(parts) > 1 and any(_tells(part, sentence) for part in parts):
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


def _tells(part: str, sentence: str) -> bool:
    """True when one clause of a statement tells the sentence: the others tell other sentences."""
    return (
        _share(sentence, part) >= NEAR_SHARE
        and numbers(sentence) <= numbers(part)
        and bool(_NEGATES.search(part)) is bool(_NEGATES.search(sentence))
        and not _is_opposite(part, sentence)
    )


def _is_opposite(text: str, sentence: str) -> bool:
    return any(
        bool(one.search(text)) is not bool(one.search(sentence))
        and bool(other.search(text)) is not bool(other.search(sentence))
        and bool(one.search(text)) is not bool(other.search(text))
        for one, other in _OPPOSITES
    )


def refused_in(text: str, said: Iterable[str]) -> str | None:
    """The short refusal of a person whose every word the text takes up without the "no": "No buffet." of "a buffet"."""
    head = _COMPARES.split(text, maxsplit=1)[0]
    if _NEGATES.search(head) or _CONDITION.search(text):
        return None
    stems = _stems(head)
    return next((one for one in said if _is_refusal(one) and _stems(one) and _stems(one) <= stems), None)


_COMPARES = re.compile(r"(?i)\b(?:instead of|rather than|not|over|than|to an?|to the)\b|而不是|ではなく|より")
"""What stands behind these was not taken up."""

_CONDITION = re.compile(r"(?i)\b(?:until|before|after|unless|once|only)\b|まで|待|てから|前に|之前|除非")
_REFUSES = re.compile(
    r"(?i)^\W*(?:no|not|never|do not|don['’]t|kein\w*)\s+\w|しないで|するな|^\W*(?:不要|别|不)[\u4e00-\u9fff]"
)
_REFUSAL_STEMS = 3


def _is_refusal(sentence: str) -> bool:
    return len(_stems(sentence)) <= _REFUSAL_STEMS and _REFUSES.search(sentence) is not None


def turned_output(text: str, printed: Iterable[str]) -> str | None:
    """The line of an output that the text turns round, by a "not" or a failure that stands on one side alone."""
    near = [line for line in printed if _share(text, line) >= NEARLY_ALL]
    pieces = [piece for line in near for piece in (line, *clauses(line)) if _share(text, piece) >= NEARLY_ALL]
    if any(_is_negative(piece) is _is_negative(text) for piece in pieces):
        return None
    return max(near, key=lambda line: _share(text, line), default=None)


NEARLY_ALL = 0.75
"""Of a fact's words, that one line of an output must hold: what tools print is told freely."""

_FAILS = re.compile(
    r"(?i)\b(?:fail\w*|refus\w*|denied|reject\w*|unable|errors?|timed? ?out|unreachable)\b|失败|失敗|エラー|错误"
)


def _is_negative(words: str) -> bool:
    return bool(_NEGATES.search(words) or _FAILS.search(words))


def copied_from(text: str, said: Iterable[str], *, but_for: Sequence[str] = ()) -> str | None:
    """The sentence of which the text is a near copy, the nearest of several; None when there is none.

    but_for: names that are not compared.
    """
    bare = reduce(lambda words, name: words.replace(name, " "), but_for, text)
    best = max(said, key=lambda sentence: _share(bare, sentence), default=None)
    return best if best is not None and _share(bare, best) >= NEAR_SHARE else None


def has_other_number(text: str, sentence: str) -> bool:
    """True for a near copy that names no more numbers than its source and another one among them."""
    told, given = numbers(text), numbers(sentence)
    return len(told) <= len(given) and bool(told - given)


def mixes_clauses(text: str, sentence: str) -> bool:
    """True when one clause is made of the words of several: "them in English" of "them in French, me in English"."""
    parts = clauses(sentence)
    if len(parts) < 2 or len(clauses(text)) > 1 or len(_stems(text)) <= FEWEST_WORDS:
        return False
    return _share(text, sentence) >= CLAUSE_SHARE > max(_share(text, part) for part in parts)


def denied_state(text: str, shown: str) -> str | None:
    """The state that a text asserts and a short output denies in so many words: "was sent" and "saved, not sent"."""
    if _NEGATES.search(text) or len(shown) > _SHORT_OUTPUT_CHARS:
        return None
    states = (found[1] for found in _DENIED.finditer(shown))
    return next(
        (one for one in states if re.search(rf"(?i)\b(?:is|are|was|were|been|be) {re.escape(one)}\b", text)), None
    )


def denied_absence(text: str, shown: str) -> str | None:
    """What a text says there was none of, and an output tells: "without warnings" and "warning: unused variable"."""
    for found in _ABSENT.finditer(text):
        kind = found[1].casefold().rstrip("s")
        if re.search(rf"(?im)^\W*{kind}\b|(?<!no )(?<!0 )(?<!zero )\b{kind}\b: ", shown):
            return found.group()
    return None


_ABSENT = re.compile(r"(?i)\b(?:no|without(?: any)?|zero|0) (warnings?|errors?|failures?)\b")

_DENIED = re.compile(r"(?i)\bnot ([a-z]{3,})\b")
_SHORT_OUTPUT_CHARS = 600


def swapped_counts(text: str, shown: str) -> list[str]:
    """The lines of which the text gives one's number to what another one counts; empty when it does not.

    "35 confirmed and 74 without an answer" of "confirmed: 74" and "no answer: 35".
    """
    lines = [line.strip() for line in re.split(r"[\n;]", shown) if line.strip()]
    counted = [(clause, number) for clause in _counted(text) for number in numbers(clause)]
    known = {number: [line for line in lines if number in numbers(line)] for _, number in counted}
    if len(known) < FEWEST_WORDS or not all(known.values()):
        return []
    for clause, number in counted:
        words = _stems(clause) - {number}
        own = {stem for line in known[number] for stem in _stems(line)}
        other = {stem for one, those in known.items() if one != number for line in those for stem in _stems(line)}
        if words and not words & own and words & other:
            return list(dict.fromkeys(line for those in known.values() for line in those))[:4]
    return []


def _counted(text: str) -> list[str]:
    return [clause for clause in clauses(text) if len(numbers(clause)) == 1]


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
