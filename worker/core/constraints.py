"""Finds the rules that people set: what is forbidden, what is due every time, how they like it.

A rule goes on. An order that is carried out once ("add a test", "fix the bug") is no rule but a request, and a
statement, a question, a log or a quotation is neither. Half of real rules hold neither "never" nor "must"; they are
told by "from now on", "when you …", "I like my …" or by their form alone ("use tabs", "respond in French").
Which words make rules is in `constraint_cues`, `prohibition_cues` and `constraint_cues_abroad`, which make none in
`rule_guards`; what is a person's own sentence in `prose`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from worker.core.constraint_cues import HABITS, NOUN_PHRASES, RULES, RULES_AT_CLAUSE
from worker.core.constraint_cues_abroad import OTHER_LANGUAGES, OTHER_SCRIPTS
from worker.core.messages import Message
from worker.core.prohibition_cues import PROHIBITIONS, PROHIBITIONS_AT_CLAUSE
from worker.core.prose import Sentence, sentences
from worker.core.rule_guards import (
    is_no_order,
    is_no_order_abroad,
    is_question,
    is_reported,
    states,
    tells,
    without_idioms,
)
from worker.core.rule_words import CLAUSE_BOUNDARY, HAS_VERB, LEAD_IN, TASK_SCOPE
from worker.core.summary import Constraint, Scope, with_id


def _compiled(cues: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(cue, re.IGNORECASE) for cue in cues)


def _one_of(*cues: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{cue})" for cue in cues), re.IGNORECASE)


_FORBIDS_AT_CLAUSE, _RULES_AT_CLAUSE = _one_of(*PROHIBITIONS_AT_CLAUSE), _one_of(*RULES_AT_CLAUSE)
_ORDERS = _one_of(*PROHIBITIONS_AT_CLAUSE, *RULES_AT_CLAUSE)
_NOUN_PHRASE = _one_of(*NOUN_PHRASES)
_FORBIDS, _RULES, _HABITS = _compiled(PROHIBITIONS), _compiled(RULES), _compiled(HABITS)
_IN_ASCII = tuple(re.compile(cue) for cue in OTHER_LANGUAGES)
_FOREIGN = (*(re.compile(cue) for cue in OTHER_SCRIPTS), *_IN_ASCII)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_ANNOUNCED = re.compile(
    r"(?i)(?:[^:：\n]{0,60}\b(?:rules?|things?|constraints?|conditions?|requirements?|conventions?|points?"
    r"|requests?|note"
    r"|important|remember|reminder|hold|keep in mind|always applies)\b[^:：\n]{0,40}[:：]|(?:note|remember"
    r"|mind)(?: however)? that|that(?= (?:you|we|it|all|no|the)\b))"
    r"\s+(?=\S)"
)
_JOINED = re.compile(r"(?i)\b(?:and|or|then)\s+$")
_PARTS = re.compile(r"(?i)[,;:–—]\s|\b(?:but|so)\s")
_CONJUNCTION = re.compile(r"(?i)^(?:but|and|so|then)\s+")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:it|them|those|these|there)\b|\b(?:never|not) (?:in|on|at|to|by|with|from|before|after|as|for|under"
    r"|via)\b"
)
_RULE_WORD = re.compile(r"(?i)\b(?:never|don['’]?t|do not|must|always|only|avoid|keep|use|prefer)\b")
_CONDITIONAL = re.compile(
    r"(?i)^\W*(?:please\s+)?(?:when|whenever|if|before|after|every|each|in|for|from|unless|until|while|once|as|at"
    r"|throughout|going|with|on)\b"
)
_MIN_CHARS, _MAX_CHARS = 4, 500
_MIN_WORDS = 2
_MAX_CLAUSES = 40
"""A sentence of 500 characters with more of them is a list or a log."""


def find_constraints(message: Message) -> list[Constraint]:
    """The rules of a human message in its order; none for a message that no person wrote.

    `quote` is a verbatim piece of the message, `rule` the same in one clean line. Scope is `task` when the words say
    how long ("for now", "until T-101 is done", "in this PR"), else `standing`.
    """
    if not message.is_human or message.sidechain:
        return []
    found: dict[str, Constraint] = {}
    for sentence in sentences(message.text):
        if _is_rule(sentence.masked):
            constraint = _constraint(sentence, message.id)
            found.setdefault(constraint.id, constraint)
    return list(found.values())


def _constraint(sentence: Sentence, message_id: str) -> Constraint:
    quote = _quoted_part(sentence)
    scope = Scope.TASK if TASK_SCOPE.search(sentence.masked) else Scope.STANDING
    return with_id(Constraint(rule=_rule(quote), quote=quote, scope=scope, evidence=(message_id,)))


@lru_cache(maxsize=4096)
def _is_rule(text: str) -> bool:
    """Remembered, since pasted logs repeat their lines a hundred thousand times."""
    if not _MIN_CHARS <= len(text.strip()) <= _MAX_CHARS:
        return False
    if _CJK.search(text) or not text.isascii():
        return _is_rule_abroad(text) or _is_rule_in_english(text)
    return _is_rule_in_english(text) or _is_rule_abroad(text)


def _is_rule_abroad(text: str) -> bool:
    cues = _IN_ASCII if text.isascii() else _FOREIGN
    return any(cue.search(text) for cue in cues) and not is_no_order_abroad(text)


def _is_rule_in_english(text: str) -> bool:
    if len(text.split()) < _MIN_WORDS or is_question(text):
        return False
    return any(not is_reported(text, end) for end in _cue_ends(without_idioms(text))) and not is_no_order(text)


def _cue_ends(text: str) -> Iterator[int]:
    """Where the cues that make a rule end."""
    is_statement = states(text)
    for start, begin in _clauses(text):
        if is_statement and (start == 0 or _JOINED.search(text, max(0, begin - 8), begin)):
            continue
        match = _ORDERS.match(text, begin) or _noun_phrase(text, start, begin)
        if match is not None:
            yield match.end()
    for cue in (*_FORBIDS, *_RULES):
        if (match := cue.search(text)) and not states(text, _clause_start(text, match.start())):
            yield match.end()
    for cue in _HABITS:
        if (match := cue.search(text)) and not tells(text, _clause_start(text, match.start())):
            yield match.end()


def _noun_phrase(text: str, start: int, begin: int) -> re.Match[str] | None:
    """A rule without a verb, unless it is an aside in brackets or the beginning of a statement."""
    if text.endswith("(", 0, start):
        return None
    match = _NOUN_PHRASE.match(text, begin)
    return match if match and not HAS_VERB.search(text, begin) else None


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """(start, where its order begins) of each clause: behind "please", "and", "for now" and the like."""
    starts = (0, *(match.end() for match in islice(CLAUSE_BOUNDARY.finditer(text), _MAX_CLAUSES)))
    begins: dict[int, int] = {}
    for start in starts:
        lead_in = LEAD_IN.match(text, start)
        begins.setdefault(lead_in.end() if lead_in else start, start)
        begins.setdefault(start, start)
    yield from ((start, begin) for begin, start in begins.items())


def _clause_start(text: str, at: int) -> int:
    """Where the clause begins that goes on at `at`."""
    return max((match.end() for match in _PARTS.finditer(text, 0, at)), default=0)


def _quoted_part(sentence: Sentence) -> str:
    """The clause with the prohibition when an order stands before it ("fix the login, but don't touch the schema")."""
    masked = sentence.masked
    if _CONDITIONAL.match(masked) or not masked.isascii():
        return sentence.text
    remaining = without_idioms(masked)
    for start, begin in _clauses(remaining):
        if _FORBIDS_AT_CLAUSE.match(remaining, begin):
            needs_more = _RULE_WORD.search(masked, 0, start) or _POINTS_BACK.search(masked, start)
            return sentence.text if needs_more else _clause(sentence.text, start)
        if _RULES_AT_CLAUSE.match(remaining, begin):
            return sentence.text
    return sentence.text


def _clause(text: str, start: int) -> str:
    """From there to the end; an aside in brackets ends with its bracket."""
    end = text.find(")", start) if text[:start].endswith("(") else -1
    return _CONJUNCTION.sub("", text[start : end if end >= 0 else None])


def _rule(quote: str) -> str:
    """One line, begun with a capital and ended with a full stop, without the words that only lead in."""
    line = " ".join(quote.split()).strip("\"'“”*_`-–— ")
    lead_in = LEAD_IN.match(line)
    line = line[lead_in.end() :] if lead_in and lead_in.end() < len(line) else line
    announced = _ANNOUNCED.match(line)
    line = line[announced.end() :] if announced and announced.end() < len(line) else line
    ended = line.rstrip(" ,;:")
    stop = "。" if _CJK.search(ended[-1:]) else "."
    return ended[:1].upper() + ended[1:] + ("" if ended[-1:] in ".!?。！？…" else stop)
