"""Finds the rules that people set: what is forbidden, what is due every time, how they like it.

A rule goes on. An order that is carried out once ("add a test", "fix the bug") is no rule but a request, and a
statement, a question, a log or a quotation is neither. Half of real rules hold neither "never" nor "must"; they are
told by "from now on", "when you …", "I like my …" or by their form alone ("use tabs", "respond in French").
Which words make rules is in `constraint_cues`; what is a person's own sentence in `prose`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from worker.core.constraint_cues import (
    CLAUSE_BOUNDARY,
    LEAD_IN,
    OTHER_LANGUAGES,
    OTHER_SCRIPTS,
    PROHIBITIONS,
    PROHIBITIONS_AT_CLAUSE,
    RULES,
    RULES_AT_CLAUSE,
    TASK_SCOPE,
)
from worker.core.messages import Message
from worker.core.prose import Sentence, sentences
from worker.core.summary import Constraint, Scope, with_id


def _compiled(cues: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(cue, re.IGNORECASE) for cue in cues)


_FORBIDS_AT_CLAUSE, _FORBIDS = _compiled(PROHIBITIONS_AT_CLAUSE), _compiled(PROHIBITIONS)
_RULES_AT_CLAUSE, _RULES = _compiled(RULES_AT_CLAUSE), _compiled(RULES)
_IN_ASCII = tuple(re.compile(cue) for cue in OTHER_LANGUAGES)
_FOREIGN = (*(re.compile(cue) for cue in OTHER_SCRIPTS), *_IN_ASCII)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_QUESTION_WORDS = re.compile(
    r"(?i)^\W*(?:(?:and|so|but|ok|okay|hm+|well|wait|also|oh|actually|sorry|then)\W+)*(?:why|what|how|who|where"
    r"|which|when (?:do|does|did|is|was|will|should|can)|(?:do|have) (?:we|you|i|they|it|there)|(?:does|did|is|are"
    r"|was|were|has|had|should|shall) (?:we|you|i|it|they|he|she|there|this|that|these|those|the|my|your|our|all"
    r"|any)"
    r"|can (?:we|i|it)|could (?:we|i|it)|would (?:it|that|this)|won['’]?t|isn['’]?t|aren['’]?t|doesn['’]?t"
    r"|don['’]?t (?:we|you|they)|any idea)\b"
)
_POLITE = re.compile(
    r"(?i)\b(?:would|do) you mind (?:not|always|never|keeping|using|avoiding|leaving)\b"
    r"|\b(?:can|could|would|will) (?:you|we)(?: all)?(?: please| kindly| just)*,? (?:not|never|always|avoid"
    r"|refrain|stop \w+ing|keep \w+ (?:short|brief|concise|out)|leave .{1,60} alone)\b"
    r"|\b(?:can|could|would|will) (?:you|we)\b.{0,160}\b(?:from now on|in future|in the future|every time|whenever"
    r"|going forward|always)\b"
)
_ASKS = re.compile(r"[?？]\W*$|(?:吗|嗎|呢|か|ですかね|까|나요|니까|까요)[。.]?$")
_IDIOM = re.compile(
    r"(?i)\b(?:never ?mind|(?:do not|don['’]?t) (?:worry|bother(?: with (?:it|that))?|know|think|see|understand"
    r"|remember|have|get (?:it|me wrong|why)|care|believe|recall|mind|you think|sweat|panic|ask me why"
    r"|forget to (?:add|fix|update|commit|push|run|check|remove|delete|rename)|hesitate"
    r"|let me|give up|feel|expect (?:it|this|that)|show|seem|look|matter|wait for me|we|you (?:know|agree|see|have"
    r"|want)|need|exist|apply|work|mean)\b"
    r"|no (?:problem|worries|idea|need|luck|rush|hurry|longer|more questions|more (?:errors|failures))\b"
    r"|only (?:\d|one |two )|as always|not only|if only|better late than never|it never|never (?:seen|heard|been"
    r"|worked|had|got|knew|mind)"
    r"|that should never happen|must be (?:a|an|the|some|something|because|due)\b|must have (?:been|had|seen|gone"
    r"|lost|got|\w+ed)\b)"
)
_IDIOM_ABROAD = re.compile(
    r"不要紧|不要緊|不要担心|没关系|沒關係|别担心|别急|別擔心|別急"
    r"|气にしないで|気にしないで|心配しないで|걱정하지|신경 ?쓰지"
    r"|(?i:keine Ahnung|kein Problem"
    r"|keine Sorge|nicht schlimm|macht nichts|n(?:e t)?['’]inqui[eè]te|vous inqui[eé]tez"
    r"|no te preocupes|não se preocupe|не волнуй|не беспокой|не переживай|не знаю)"
)
_REPORTED = re.compile(
    r"(?i)\b(?:says?|said|claims?|claimed|complains?|states?|stated|reads|according to|(?<=\w )(?<!please )reports?"
    r"|reported"
    r"|the (?:docs?|error|warning|linter|message|log|output|compiler|article|issue|ticket)\b[^.?!]{0,30}(?:that|:"
    r"|says?|tells?))\s"
)
_STATEMENT = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|because|since|well|hm+|actually|also|ok|yeah|yes|no|maybe|perhaps|looks? like"
    r"|i think|i guess|i believe|it seems|apparently|turns out|i (?:just )?noticed|i (?:just )?saw|i (?:just )?had"
    r"|i got)\W+)*"
    r"(?:it|this|that|there|he|she|they|i|the (?:tests?|build|server|app|script|page|function|method|job|ci"
    r"|pipeline|log|error|cache|problem|bug|issue))(?:['’](?:s|re|m|ve|ll|d))?\s+(?:just |still |also |always "
    r"|never |only |actually |probably |really )*"
    r"(?:am|is|are|was|were|has|have|had|does|do|did|doesn|didn|don|isn|wasn|can|can['’]t|cannot|could|couldn|won"
    r"|will|would|fails?|failed|works?|worked|shows?|returns?|crash\w*|keeps|goes|gets?|got|seems?|looks?|takes?"
    r"|uses?|used|runs?|ran|says?|throws?|prints?|always|never|only|must be)\b"
)
_SPEAKS_OF_RULES = re.compile(
    r"(?i)\bI(?:['’]d)?\s+(?:\w+ ){0,2}(?:do not|don['’]?t|never|prefer|like|love|want|hate|dislike|need|expect"
    r"|rather|can['’]?t stand)\b|\bthat (?:\w+ )?(?:is|are) (?:forbidden|prohibited|off[- ]limits|not allowed)"
    r"|\b(?:from now on|going forward|whenever|off[- ]limits|forbidden|prohibited|not allowed|read[- ]only"
    r"|confidential|without asking|mandatory|important (?:that|to))\b"
)
_OPINION = re.compile(
    r"(?i)^\W*(?:(?:ok|okay|hm+|so|and|but|well|yeah|also)\W+)*(?:i (?:think|guess|believe|suspect|wonder)"
    r"|it (?:seems|looks)"
    r"|looks? like|apparently)\b.{0,200}\b(?:does ?n['’]?t|is ?n['’]?t|do ?n['’]?t|does not|is not|are not"
    r"|violates?|breaks?)\b"
)
_NO_RULE = re.compile(r"(?i)\bit(?:['’]s| is) (?:very |too )?(?:easy|tempting|common|possible) to\b")
_ANNOUNCED = re.compile(
    r"(?i)(?:[^:：\n]{0,60}\b(?:rules?|things?|constraints?|conditions?|requirements?|conventions?|points?"
    r"|requests?|note"
    r"|important|remember|reminder|hold|keep in mind|always applies)\b[^:：\n]{0,40}[:：]|(?:note|remember"
    r"|mind)(?: however)? that|that(?= (?:you|we|it|all|no|the)\b))"
    r"\s+(?=\S)"
)
_CONJUNCTION = re.compile(r"(?i)^(?:but|and|so|then)\s+")
_RULE_WORD = re.compile(r"(?i)\b(?:never|don['’]?t|do not|must|always|only|avoid|keep|use|prefer)\b")
_CONDITIONAL = re.compile(
    r"(?i)^\W*(?:please\s+)?(?:when|whenever|if|before|after|every|each|in|for|from|unless|until|while|once|as|at"
    r"|throughout|going|with|on)\b"
)
_MIN_CHARS, _MAX_CHARS = 4, 500
_MIN_WORDS = 2


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
    return not _ASKS.search(text) and not _IDIOM_ABROAD.search(text) and any(cue.search(text) for cue in cues)


def _is_rule_in_english(text: str) -> bool:
    if len(text.split()) < _MIN_WORDS or _is_question(text):
        return False
    remaining = _without_idioms(text)
    cue_end = _cue_end(remaining)
    if cue_end is None or _REPORTED.search(text, 0, cue_end) or _OPINION.match(text) or _NO_RULE.search(text):
        return False
    return not _STATEMENT.match(text) or _SPEAKS_OF_RULES.search(text) is not None


def _without_idioms(text: str) -> str:
    return _IDIOM.sub(lambda match: " " * len(match[0]), text)


def _is_question(text: str) -> bool:
    if _POLITE.search(text):
        return False
    return _ASKS.search(text) is not None or _QUESTION_WORDS.match(text) is not None


def _cue_end(text: str) -> int | None:
    """Where the first cue that is found ends, None when there is none."""
    for start in dict.fromkeys(begin for _, begin in _clauses(text)):
        for cue in (*_FORBIDS_AT_CLAUSE, *_RULES_AT_CLAUSE):
            if (match := cue.match(text, start)) is not None:
                return match.end()
    found = (match.end() for cue in (*_FORBIDS, *_RULES) if (match := cue.search(text)) is not None)
    return next(found, None)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """(start, where its order begins) of each clause: behind "please", "and", "for now" and the like."""
    for start in (0, *(match.end() for match in CLAUSE_BOUNDARY.finditer(text))):
        lead_in = LEAD_IN.match(text, start)
        yield start, lead_in.end() if lead_in else start
        yield start, start


def _quoted_part(sentence: Sentence) -> str:
    """The clause with the prohibition when an order stands before it ("fix the login, but don't touch the schema")."""
    masked = sentence.masked
    if _CONDITIONAL.match(masked) or not masked.isascii():
        return sentence.text
    remaining = _without_idioms(masked)
    for start, begin in _clauses(remaining):
        if any(cue.match(remaining, begin) for cue in _FORBIDS_AT_CLAUSE):
            return sentence.text if _RULE_WORD.search(masked, 0, start) else _clause(sentence.text, start)
        if any(cue.match(remaining, begin) for cue in _RULES_AT_CLAUSE):
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
