"""Which of many sentences that people wrote a reader would miss most.

A summary can be reworded until no identifier, number or name is left in it. What people wrote stands verbatim in the
checkpoint; when there is no room for all of it, the sentences that hold such details and decisions are shown first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from worker.core.correcting import is_mark
from worker.core.rules import is_hard
from worker.core.summary import UserMessage
from worker.core.wording import content_words, identifiers, sentences

SENTENCE_CHARS = 420
"""A longer sentence is cut there: people who write without full stops still say one thing after the other."""

PASTED_CHARS = 3_000
PASTED_SHARE = 0.25
"""What somebody pasted is full of numbers that nobody told; its sentences count a quarter."""

PRINTED_LINES = 12
PRINTED_LETTERS = 0.85
PRINTED_SHARE = 0.1
"""In a message of more than 12 sentences those that are less than 85 % letters and spaces are lines of a log or of code
that somebody pasted: they are short and full of numbers, and would crowd out what was told."""

SENTENCES_PER_MESSAGE = 400

SHORTEST_SENTENCE = 3

_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_FIRST_WORD = re.compile(r"\W*([A-Z][\w'-]*)")
_QUOTED = re.compile(r"[`\"“「『]([^`\"”」』\n]{2,80})[`\"”」』]")
_CODE_WORD = re.compile(r"\b(?:\w+_\w+|[a-z]+[A-Z]\w*|[A-Z]{2,}[A-Z0-9]*|[a-z]{3,}(?:-[a-z]{3,})+)\b")
_COUNTED = re.compile(r"\d+(?:[.,:]\d+)*(?: ?[^\W\d_]+)?")
_SMALL = re.compile(r"\b[a-z][a-z'-]+")
_CUE = re.compile(
    r"\b(?:decided?|decision|agreed?|chose|choose|go(?:ing)? with|settled|approved?|instead|actually|prefer|remember|"
    r"let'?s (?:use|go|keep|call|name|skip)|we(?:'ll| will) (?:use|go|keep|ship|call|name|skip)|correction|was wrong|"
    r"deadline|due|owner|owns?|budget|limit|password|port|named?|called?|is responsible|lives? in|born|allergic|"
    r"favou?rite|must|never|always|only|because|(?:my|our) (?:\w+ )?(?:is|are)|should be|"
    r"it'?s (?:called|named|at|on))\b|"
    r"决定|決定|选择|采用|改成|必须|不要|禁止|截止|是我的|我叫|記住|记住|決め|必ず|しないで|締め切り|という名前|好き",
    re.IGNORECASE,
)
_USUAL_OPENERS = """
    add also check fix make run please let see look can could would should do does did is are was were why how what
    when where which who the this that these those there then now next first second finally ok okay yes no not if and
    but or so maybe just try use write read open close update change remove delete create keep show tell give explain
    thanks great good sorry hello hey hi actually instead remember note we you they he she it my our your for from in
    on at to of with without before after once while since until because however anyway still again
"""
_OPENERS = frozenset(["I", "I'm", "I'll", "I've", "I'd", "OK", "Ok", "TODO", "FYI", "PS", "PR", "ID"])


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a person. message: position in the list that was ranked. at: order within the message."""

    message: int
    at: int
    text: str
    details: frozenset[str]
    score: float


def rank_sentences(said: Sequence[UserMessage], known: frozenset[str] = frozenset()) -> list[Sentence]:
    """The sentences by how much would be missing without them, most first.

    known: identifiers that are shown anyway. Sentences whose details all stand in better ones come behind the others.
    """
    pieces = [
        (position, at, text[:SENTENCE_CHARS])
        for position, message in enumerate(said)
        for at, text in enumerate(sentences(message.text)[:SENTENCES_PER_MESSAGE])
        if len(text) >= SHORTEST_SENTENCE and not is_mark(text)
    ]
    words = [content_words(text) for _, _, text in pieces]
    often = Counter(word for some in words for word in some)
    small = _small_words(said)
    found = [
        _weighed(message, at, text, sum(often[word] == 1 for word in some), small, said[message])
        for (message, at, text), some in zip(pieces, words, strict=True)
    ]
    found.sort(key=lambda one: (-one.score / (8 + len(one.text) / 4), -one.message, one.at))
    return _new_details_first(found, known)


def _new_details_first(found: Sequence[Sentence], known: frozenset[str]) -> list[Sentence]:
    telling: list[Sentence] = []
    repeated: list[Sentence] = []
    shown = set(known)
    for sentence in found:
        (telling if sentence.details - shown or not sentence.details else repeated).append(sentence)
        shown |= sentence.details
    return telling + repeated


def _weighed(message: int, at: int, text: str, rare_words: int, small: frozenset[str], source: UserMessage) -> Sentence:
    """The weights say what is missed most: an identifier, then a number or a name, then words that nobody repeats."""
    named, counted, called = (
        frozenset(identifiers(text)),
        frozenset(_COUNTED.findall(text)),
        frozenset(_names(text, small)),
    )
    cues = min(sum(1 for _ in _CUE.finditer(text)), 3) + (1 if is_hard(text) else 0)
    score = 3 * min(len(named), 4) + 2 * min(len(counted), 4) + 2 * min(len(called), 4) + cues + min(rare_words, 4) / 2
    if text.endswith(("?", "？")):
        score -= 1
    share = PASTED_SHARE if len(source.text) > PASTED_CHARS else 1.0
    if source.text.count("\n") >= PRINTED_LINES and _is_printed(text):
        share = PRINTED_SHARE
    return Sentence(message=message, at=at, text=text, details=named | counted | called, score=score * share)


def _is_printed(text: str) -> bool:
    """Letters of any script: what people write is made of words."""
    return sum(char.isalpha() or char.isspace() for char in text) < PRINTED_LETTERS * len(text)


def _names(text: str, small: frozenset[str]) -> Iterator[str]:
    """Words that look like names: capitals inside a sentence, quoted words, code, a first word never written small."""
    yield from (name for name in _NAME.findall(text) if name not in _OPENERS)
    yield from _QUOTED.findall(text)
    yield from (word for word in _CODE_WORD.findall(text) if word not in _OPENERS)
    first = _FIRST_WORD.match(text)
    if first and first[1] not in _OPENERS and first[1].casefold() not in small and content_words(first[1]):
        yield first[1]


def _small_words(said: Iterable[UserMessage]) -> frozenset[str]:
    """Words that stand somewhere in small letters, and how English sentences like to begin."""
    words = {word for message in said for word in _SMALL.findall(message.text[:20_000])}
    return frozenset(words | set(_USUAL_OPENERS.split()))
