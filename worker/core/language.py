"""In which language people write, as a word that a model understands ("Chinese"); nothing where that is not plain.

By script where the script decides, else by the small words that every sentence has. Code, addresses and pasted output
say nothing about a person's language and are left out as far as they can be told.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

MOST_WORDS = 80
"""Of one message: a long one is often pasted, and must not outvote what was typed."""

MOST_CHARS = 20_000
FEWEST_WORDS = 3
FEWEST_SMALL_WORDS = 2
"""In all: "git push to main" is no English."""

CLEAR_LEAD = 1.4
"""Times as many small words as the next language has: Spanish and Portuguese share a third of theirs."""


CLEAR_SHARE = 0.7
"""Of all words counted. Below it two languages are in use, and naming one would translate the other."""

_CODE = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{1,200}`", re.DOTALL)
_OF_MACHINES = frozenset("/\\_=<>{}|")
_LATIN_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CJK_CHARS_PER_WORD = 2

_SCRIPTS = (
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fc]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_KANA_SHARE = 0.1

_SMALL_WORDS = {
    "English": "the and is are was to of it that this for with not don't please you i we have on be can should do",
    "German": "der die das und ist nicht ein eine bitte ich wir mit auf zu für den dem es auch noch wie kann sie",
    "French": "le la les et est pas une des du que pour avec je nous vous dans ce sur plus ne il faut dois peux",
    "Spanish": "el los las y es una por con para que no se lo del está favor como más hay puedes pero yo",
    "Portuguese": "o os as e é um uma não por com para que se do da está favor mais você pode isso mas",
    "Italian": "il lo gli e è una non per con che di della sono come più puoi questo anche ma ho fare",
    "Dutch": "de het een en is niet van ik we met op te voor dat dit ook nog kan graag maar je",
}
_LANGUAGES_OF: dict[str, set[str]] = {}
for _name, _words in _SMALL_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, set()).add(_name)


def language_of(texts: Iterable[str]) -> str | None:
    """The English name of the language that these messages of people are in, None when no one is clearly ahead."""
    weights: Counter[str] = Counter()
    latin: list[str] = []
    for text in texts:
        prose = _prose_of(text[:MOST_CHARS])
        script, count = _by_script(prose)
        words = [word.casefold().replace("’", "'") for word in _LATIN_WORD.findall(prose) if word[0] < "\u0250"]
        if count * 2 >= len(words):
            weights[script] += min(count, MOST_WORDS)
        else:
            latin += words[:MOST_WORDS]
    weights[_by_small_words(latin)] += len(latin)
    del weights[""]
    name, words_of_it = max(weights.items(), key=lambda each: each[1], default=("", 0))
    return name if words_of_it >= max(FEWEST_WORDS, CLEAR_SHARE * weights.total()) else None


def _prose_of(text: str) -> str:
    """Without code, options, paths and addresses."""
    words = _CODE.sub(" ", text).split()
    return " ".join(word for word in words if word[0] != "-" and _OF_MACHINES.isdisjoint(word))


def _by_script(text: str) -> tuple[str, int]:
    """The language whose script most of the text is in, "" for one that several languages write, and its words."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    han, kana = len(_HAN.findall(text)), len(_KANA.findall(text))
    counts["Japanese" if kana > _KANA_SHARE * (han + kana) else "Chinese"] = (han + kana) // _CJK_CHARS_PER_WORD
    counts[""] = len(_CYRILLIC.findall(text)) // 5
    return max(counts.items(), key=lambda each: each[1])


def _by_small_words(words: Sequence[str]) -> str:
    """The language of words in Latin letters, "" when none is clearly ahead; a word of several counts for each."""
    votes: Counter[str] = Counter()
    for word in words:
        votes.update(_LANGUAGES_OF.get(word, ()))
    (first, most), (_, next_most) = [*votes.most_common(2), ("", 0), ("", 0)][:2]
    return first if most >= max(FEWEST_SMALL_WORDS, CLEAR_LEAD * next_most) else ""
