"""Does a person like what a memory says they like? Words of liking and of refusal in the sentences that it cites."""

import re

from worker.core.clauses import is_careful, meaning_stems
from worker.core.grounds import Grounds
from worker.core.rules import forbids, limits
from worker.core.summary import Memory
from worker.core.wording import sentences

_LIKES = re.compile(
    r"(?i)\b(?:accept\w*|fine|happy|ok(?:ay)?|likes?|prefers?|welcome|agrees?|glad)\b|好き|希望|ほしい|欲しい"
)
_DISLIKES = re.compile(
    r"(?i)\b(?:too (?:much|many|late|expensive|long)|declin\w*|refus\w*|reject\w*|hate|dislike)\b"
    r"|なくても|いらない|不要"
)


def is_refused_by_person(memory: Memory, grounds: Grounds) -> bool:
    """True for a liking of what a person refuses in every cited sentence that speaks of it."""
    if not _LIKES.search(memory.text) or is_careful(memory.text):
        return False
    stems = {stem for stem in meaning_stems(_LIKES.sub(" ", memory.text)) if not (stem.isdigit() and len(stem) < 2)}
    about = [
        words
        for one in memory.evidence
        for words in sentences(grounds.human.get(one, ""))
        if stems & set(meaning_stems(words))
    ]
    return bool(about) and all(_refuses(words) for words in about)


def _refuses(words: str) -> bool:
    return forbids(words) or limits(words) or _DISLIKES.search(words) is not None
