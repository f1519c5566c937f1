"""Words, sentences and exact details of a text: what two statements are compared by.

No judgement about summaries here; `merging`, `validation`, `drafting` and `rendering` share these measures so that they
agree on what "the same" and "verbatim" mean. All of it is linear in the text, which is untrusted.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]{0,32}[A-Za-z]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?)")
_BREAK = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[ \t]+|(?<=[。！？；])|[\r\n\v\f\x85\u2028\u2029]+")
_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
_QUOTE_CLASSES = {"'": "['‘’]", '"': '["“”]', "-": "[-–—]"}

_STOP_WORDS = """
    a about after all also an and any are as at be been before being but by can could did do does doing for from get
    had has have he her his how i if in into is it its just let's me more my now of on one or our out please she should
    so some than that the their them then there these they this those to too up us use used user using was we were what
    when where which while who will with would you your
"""
_POLAR_WORDS = """
    no not never none nor cannot without fail fails failed failing pass passes passed passing fixed unfixed resolved
    unresolved done undone open closed enabled disabled true false allowed forbidden before after only except skip
    increase decrease add remove added removed on off
"""
_STOP = frozenset(_STOP_WORDS.split())
_POLAR = frozenset(_POLAR_WORDS.split())
_POLAR_CJK = "不没沒未无無非禁勿别別ぬ"


MAX_REMEMBERED_CHARS = 500


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as it is compared. polarity: the words that turn its meaning round. details: exact strings and numbers."""

    words: frozenset[str]
    polarity: frozenset[str]
    details: frozenset[str]


def normal(text: str) -> str:
    """The text for verbatim comparison: one line, one case, plain quotes and dashes."""
    return " ".join(text.translate(_TYPOGRAPHY).casefold().split())


def clean(text: str) -> str:
    """The text without terminal escapes, control and direction characters; lone surrogates become "?"."""
    if text.isascii() and text.isprintable():
        return text
    plain = _CONTROL.sub("", _ANSI.sub("", _BREAK.sub("\n", text)))
    return plain.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """The cleaned text on a single line."""
    return " ".join(clean(text).split())


def clip(text: str, chars: int) -> str:
    """The text on one line, at most `chars` long, cut at a word with an ellipsis."""
    line = one_line(text[: chars * 4])
    if len(line) <= chars:
        return line
    head = line[: chars - 1]
    cut = head.rfind(" ", chars * 2 // 3)
    return (head[:cut] if cut > 0 else head).rstrip(" ,;:") + "…"


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order, each a verbatim piece of it without outer space."""
    return [piece for raw in _SENTENCE_END.split(text) if (piece := raw.strip())]


def content_words(text: str) -> list[str]:
    """The words that carry meaning, lower case, in order, each once; Chinese, Japanese, Korean as pairs of signs."""
    folded = text.translate(_TYPOGRAPHY).casefold()
    found = [word for word in _WORD.findall(folded) if word not in _STOP and (len(word) > 1 or word.isdigit())]
    return list(dict.fromkeys(piece for word in found for piece in _pieces(word)))


def _pieces(word: str) -> Iterator[str]:
    if word.isascii() or not _CJK.search(word):
        yield word
        return
    for run in _CJK_RUN.findall(word):
        yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
    yield from (rest for rest in _CJK_RUN.split(word) if len(rest) > 1)


def numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def identifiers(text: str) -> list[str]:
    """The values that must survive letter by letter, in order."""
    from worker.core.identifiers import identifiers_in_redacted  # a fifth of what an agent's start would load

    return [value for _, value in identifiers_in_redacted(text)]


def details(text: str) -> frozenset[str]:
    """Identifiers and numbers: what no rewording may lose."""
    return frozenset(identifiers(text)) | numbers(text)


def wording(text: str) -> Wording:
    """The text as it is compared. An item is remembered; what people said, which may be a log, is not."""
    return _remembered(text) if len(text) <= MAX_REMEMBERED_CHARS else _worded(text)


@lru_cache(maxsize=1_024)
def _remembered(text: str) -> Wording:
    """A join asks for each item once to find its like and once to be found."""
    return _worded(text)


def _worded(text: str) -> Wording:
    folded = text.translate(_TYPOGRAPHY).casefold()
    polar = {word for word in _WORD.findall(folded) if word in _POLAR or word.endswith("n't")}
    return Wording(
        words=frozenset(content_words(text)),
        polarity=frozenset(polar | {sign for sign in _POLAR_CJK if sign in text}),
        details=details(text),
    )


def says_the_same(one: Wording, other: Wording) -> bool:
    """True when both make one statement and at least one of them holds every exact detail of the other.

    "port 5432" and "port 5433" differ, "fixed" and "not fixed" differ, and so does what adds a second thing.
    """
    if one.polarity != other.polarity or not (one.details <= other.details or other.details <= one.details):
        return False
    shared, every = len(one.words & other.words), len(one.words | other.words)
    return every > 0 and shared / every >= SAME_WORDS


SAME_WORDS = 0.8
"""Share of common content words from which two texts of one kind are one statement."""


def find_verbatim(quote: str, text: str) -> str | None:
    """The piece of `text` that the quote copies, as it stands there; None when there is none.

    Case, white space and typographic quotes may differ: models normalise those. Words may not.
    """
    wanted = quote.strip().strip("\"“”'`…").strip()
    if not wanted:
        return None
    if wanted in text:
        return wanted
    if normal(wanted) not in normal(text):
        return None
    pattern = r"\s+".join(_pattern(word) for word in wanted.translate(_TYPOGRAPHY).split())
    found = re.search(pattern, text, re.IGNORECASE)
    return found.group() if found else None


def _pattern(word: str) -> str:
    return "".join(_QUOTE_CLASSES.get(sign) or re.escape(sign) for sign in word)


def first_verbatim(quote: str, texts: Iterable[str]) -> str | None:
    """As `find_verbatim`, in the first text that holds the quote."""
    return next((found for text in texts if (found := find_verbatim(quote, text)) is not None), None)
