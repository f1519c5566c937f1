"""The terms that a text is found by: words without endings, parts of identifiers, pairs of signs where no spaces are.

    "Renamed getUserById in src/user_service.py"   renam get user by id getuserbyid in src user servic py …
    "用户表不能改"                                    用户 户表 表不 不能 能改, and each sign for itself

The same function makes the terms of what is kept and of what is asked, so both fold case, accents and endings alike.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from worker.core.wording import content_words

MAX_COMPOUND_CHARS = 80
MAX_TERM_CHARS = 64
MAX_WANTED = 40
"""Words of a question; of a longer one the rest is not looked for."""

_TOKEN = re.compile(r"\w+(?:[-./:@#]\w+)*")
_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HAS_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts that do not part words by spaces, or whose words take endings that no list covers: Thai, Lao, Burmese, Khmer,
kana, Han, Hangul."""

_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}ー々]+")
_PARTS = re.compile(rf"[{_UNSPACED}ー々]+|[^{_UNSPACED}ー々]+")
_ASKING = frozenset(
    {"why", "not", "no", "yes", "know", "remember", "recall", "remind"}
    | {"tell", "show", "find", "look", "anything", "something", "ever"}
)
"""What questions are made of, beside the words without meaning: in an answer it stands by chance only."""

_MARKS = re.compile("[\u0300-\u036f]")
_VOWEL = re.compile("[aeiouy]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One word of a question. terms: its parts as the index has them. compound: the whole word, if it has parts.

    weight: how much it counts beside the other words.
    """

    word: str
    terms: tuple[str, ...]
    compound: str | None = None
    weight: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """All terms that the word is looked for by."""
        return (*self.terms, self.compound) if self.compound else self.terms


def terms_of(text: str) -> list[str]:
    """All terms of a text, in its order, each as often as it stands there."""
    return [term for token in _TOKEN.findall(_composed(text)) for term in _terms_of_token(token)]


def wanted_of(words: str) -> list[Wanted]:
    """What a question asks for, each word once; words that carry no meaning are left out, unless there is no other."""
    tokens = list(dict.fromkeys(_TOKEN.findall(_composed(words))))
    telling = [token for token in tokens if _tells(token)] or tokens
    found: dict[tuple[tuple[str, ...], str | None], Wanted] = {}
    for token in telling:
        wanted = _wanted(token)
        if wanted.terms or wanted.compound:
            found.setdefault((wanted.terms, wanted.compound), wanted)
    return list(found.values())[:MAX_WANTED]


def _tells(token: str) -> bool:
    return not token.isascii() or (bool(content_words(token)) and token.lower() not in _ASKING)


def _wanted(token: str) -> Wanted:
    pieces = tuple(dict.fromkeys(piece for word in _words_of(token) for piece in _asked(word)))
    compound = _compound(token)
    return Wanted(word=token, terms=pieces, compound=compound if compound and compound not in pieces else None)


def _asked(word: str) -> Iterator[str]:
    """As `_terms_of_word`; of a run of signs only the pairs, for each sign alone stands nearly everywhere."""
    for part in _PARTS.findall(word):
        yield from _pairs(part) if _UNSPACED_RUN.fullmatch(part) else _plain(part)


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=1 << 16)
def _terms_of_token(token: str) -> tuple[str, ...]:
    words = _words_of(token)
    terms = [term for word in words for term in _terms_of_word(word)]
    compound = _compound(token)
    return (*terms, compound) if compound and compound not in terms else tuple(terms)


def _words_of(token: str) -> list[str]:
    """The token's parts: between "-", "/", "_" …, and at the humps of camelCase."""
    words = []
    for word in _WORD.findall(token):
        words += _HUMPS.findall(word) if word.isascii() and _HAS_HUMP.search(word) else [word]
    return words


def _compound(token: str) -> str | None:
    """The token without its joints, when it has any: "T-101" is found by "t101", getUserById by get_user_by_id."""
    if len(token) > MAX_COMPOUND_CHARS or _UNSPACED_RUN.search(token):
        return None
    is_joint = not token.isalnum() or (token.isascii() and _HAS_HUMP.search(token) is not None)
    folded = "".join(map(fold, _WORD.findall(token))) if is_joint else ""
    return folded[:MAX_TERM_CHARS] or None


def _terms_of_word(word: str) -> Iterator[str]:
    for part in _PARTS.findall(word):
        if _UNSPACED_RUN.fullmatch(part):
            yield from _pairs(part)
            if len(part) > 1:
                yield from part
        else:
            yield from _plain(part)


def _plain(word: str) -> Iterator[str]:
    term = stem(fold(word))[:MAX_TERM_CHARS]
    if term:
        yield term


def _pairs(run: str) -> Iterator[str]:
    yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))


def fold(word: str) -> str:
    """One case, no accents; the marks of kana are no accents and stay."""
    if word.isascii():
        return word.lower()
    apart = _MARKS.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", apart)


def stem(word: str) -> str:
    """An English word without its usual endings: "renames", "renamed", "renaming" and "rename" are "renam".

    What is no lower-case word of ASCII letters stays. Over-eager on purpose: it is only compared with its like.
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    word = _singular(word)
    for ending, shortest in (("ing", 6), ("ed", 5), ("ly", 6)):
        if word.endswith(ending) and len(word) >= shortest and _VOWEL.search(word[: -len(ending)]):
            word = _single_end(word[: -len(ending)])
            break
    if len(word) >= 7 and word.endswith(("sion", "tion")):
        word = word[:-3]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _single_end(word: str) -> str:
    """ "committ" is "commit"; "add" and "install" stay what they are often enough."""
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouylsz"
    return word[:-1] if doubled else word


def is_near(one: str, other: str) -> bool:
    """Whether one typing error parts two terms: a sign changed, left out, added, or two neighbours exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, other_rest = one[start:], other[start:]
    if rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]:
        return True
    return rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
