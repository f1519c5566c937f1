"""What is remembered of a question: which statements are found, in which order, and what is said of each.

A record is one statement of MEMORY.md, HISTORY.md or a checkpoint, verbatim, with where it stands, when it was said and
who vouches for it. Ranking is BM25 over `terms`, weighed by how much of the question a record answers and by who said
it. Of statements that contradict each other the newest comes first, and the older says that there is one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import product
from math import log

from worker.core.terms import Wanted, fold, terms_of, wanted_of
from worker.core.wording import Wording, normal, says_the_same, wording

K1 = 1.2
B = 0.5
"""The usual saturation; length counts less than usual, for a long message is no worse a source than a short line."""

MAX_PASSAGE_CHARS = 1_500
MAX_HITS = 60
"""Of an answer: each is compared with each, and nobody reads on to the next."""

MAX_COMPARED_CHARS = 1_500
UNCOVERED_WEIGHT = 0.25
"""Of the score stays when hardly a word of the question is answered; all of it when every word is."""

PHRASE_WEIGHT = 1.25
LEAST_SHARE = 0.25
"""Of the best score: what is below it is noise, and would only use up the budget …"""

ALWAYS_FIRST = 6
"""… but for the first few: the words of a question are not always those of its answer."""

KIND_WORD_WEIGHT = 0.3
"""Of a word that names a kind of record, beside one that says what it is about."""


RETOLD_SHARE = 0.7
"""Of a log line's terms stand in the record that it retells."""

SAME_SUBJECT = 0.5
"""Share of common terms from which two statements speak of one thing."""

STAND_IN_WEIGHT = 0.6
"""Of a term that was taken for one that stands nowhere: a longer word that begins so, or one with a typing error."""


class Kind(StrEnum):
    """What a record is; the value is what a reader is shown."""

    NOTE = "note"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    PROJECT = "project memory"
    REFERENCE = "reference"
    CORRECTION = "correction"
    DECISION = "decision"
    FACT = "fact"
    CLAIM = "claim"
    HYPOTHESIS = "hypothesis"
    FAILED_ATTEMPT = "failed attempt"
    TASK = "task"
    ERROR = "error"
    CHECK = "check"
    FILE = "file"
    CONCEPT = "concept"
    MESSAGE = "message"
    REQUEST = "request"
    WORK = "work"
    ARTIFACT = "artifact"
    LOG = "log"


class Trust(StrEnum):
    """Who vouches for a record, most first."""

    OWN_LINE = "a person's own line"
    PERSON = "a person said it"
    VOUCHED = "a person or a tool vouched for it"
    TOOL = "a tool showed it"
    SUMMARY = "summarized from the session"
    CLAIM = "the assistant said it, unverified"
    INHERITED = "inherited from an agent's own summary, unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One statement. text: verbatim. more: further verbatim texts by what they are ("fix", "quote").

    source: the file or session and checkpoint it stands in. session: its label, "" for none. evidence: message ids of
    that session. at: when it was said, None when nobody knows. status: "lifted", "done", "superseded" …, "" for in
    force. name: a task's id, an artifact's handle. heading: what it stands under. subject: what another record of the
    same subject is about too, "" for none. part: (n, of) for a piece of a text.
    """

    kind: Kind
    trust: Trust
    text: str
    source: str
    session: str = ""
    evidence: tuple[str, ...] = ()
    at: datetime | None = None
    status: str = ""
    more: tuple[tuple[str, str], ...] = ()
    heading: str = ""
    name: str = ""
    subject: str = ""
    part: tuple[int, int] | None = None

    @property
    def words(self) -> str:
        """Everything that the record is found by."""
        more = (text for _, text in self.more)
        return "\n".join([self.text, *more, self.name, self.heading, str(self.kind), self.status])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """wanted: its words. kinds: those that it names ("which errors", "决定"). folded: for a verbatim match."""

    words: str
    wanted: tuple[Wanted, ...]
    kinds: frozenset[Kind] = frozenset()
    folded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What the index holds for a question. Records are numbers here.

    postings: term → record → how often it stands there. lengths: record → how many terms it has.

    count, average: of all records of the index. instead: what a term that stands nowhere was taken for.
    """

    postings: Mapping[str, Mapping[int, int]]
    lengths: Mapping[int, int]
    count: int
    average: float
    instead: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A record that was found. twins: others that say the same. newer: the place in the answer, from 1, of a newer
    record that says otherwise.
    """

    record: Record
    score: float
    twins: tuple[Record, ...] = ()
    newer: int | None = None

    @property
    def also(self) -> tuple[str, ...]:
        """Where else it is said, each place once."""
        places = (_other_place(self.record, twin) for twin in self.twins)
        return tuple(dict.fromkeys(place for place in places if place))


_KIND_WEIGHTS = {
    Kind.NOTE: 1.3,
    Kind.CONSTRAINT: 1.25,
    Kind.PREFERENCE: 1.25,
    Kind.CORRECTION: 1.25,
    Kind.PROJECT: 1.15,
    Kind.DECISION: 1.2,
    Kind.TASK: 1.1,
    Kind.FACT: 1.1,
    Kind.FAILED_ATTEMPT: 1.05,
    Kind.MESSAGE: 1.0,
    Kind.ERROR: 0.95,
    Kind.CLAIM: 0.9,
    Kind.HYPOTHESIS: 0.85,
    Kind.CONCEPT: 0.8,
    Kind.REQUEST: 0.7,
    Kind.WORK: 0.7,
    Kind.REFERENCE: 0.8,
    Kind.ARTIFACT: 0.75,
    Kind.CHECK: 0.7,
    Kind.LOG: 0.55,
    Kind.FILE: 0.6,
}
_NAMED_WEIGHT = 1.5
_PAST_WEIGHT = 0.8
_PAST = frozenset({"lifted", "superseded", "retired", "merged", "cancelled"})
_NEW_BONUS = 0.12
_HALF_LIFE_DAYS = 45.0
_KIND_WORDS: tuple[tuple[str, frozenset[Kind]], ...] = (
    (r"deci(?:de|ded|sions?)|chose|chosen|agreed|决定|決定|选择|決めた|결정", frozenset({Kind.DECISION})),
    (
        r"rules?|constraints?|allowed|forbidden|must|never|always|规则|规定|禁止|约束|ルール|制約|規則|규칙",
        frozenset({Kind.CONSTRAINT, Kind.CORRECTION, Kind.NOTE}),
    ),
    (r"prefer(?:s|red|ence|ences)?|likes?|偏好|喜欢|好み|선호", frozenset({Kind.PREFERENCE, Kind.NOTE})),
    (r"tasks?|todos?|pending|left to do|unfinished|任务|待办|タスク|未完了|작업", frozenset({Kind.TASK})),
    (
        r"errors?|fail(?:s|ed|ure|ures|ing)?|bugs?|crash(?:ed|es)?|broken|错误|报错|失败|エラー|失敗|오류",
        frozenset({Kind.ERROR, Kind.FAILED_ATTEMPT}),
    ),
    (r"tried|attempts?|did not work|didn't work|尝试|試した", frozenset({Kind.FAILED_ATTEMPT, Kind.ERROR})),
    (r"files?|文件|ファイル|파일", frozenset({Kind.FILE})),
    (r"commits?|branch(?:es)?|pull requests?|prs?|urls?|links?|链接|リンク", frozenset({Kind.REFERENCE})),
    (r"tests?|lint|checks?|测试|テスト", frozenset({Kind.CHECK})),
    (r"logs?|outputs?|日志|ログ", frozenset({Kind.ARTIFACT})),
    (
        r"users?|persons?|people|ask(?:ed)?|sa(?:id|y)|told|wrote|request(?:ed)?|说过|要求|言った",
        frozenset({Kind.MESSAGE, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.CORRECTION}),
    ),
    (r"correct(?:ed|ion|ions)|更正|纠正|訂正", frozenset({Kind.CORRECTION})),
)
_KIND_PATTERNS = tuple(
    (re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE), kinds) for words, kinds in _KIND_WORDS
)
_RETELLING = frozenset({Kind.LOG, Kind.REQUEST, Kind.WORK})
_STATEMENTS = frozenset(
    {Kind.NOTE, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.PROJECT, Kind.CORRECTION, Kind.DECISION, Kind.FACT, Kind.CLAIM}
)


def question_of(words: str) -> Question:
    """What is asked. Words that name a kind of record ("which errors …") choose among records rather than find them."""
    kinds = frozenset(kind for pattern, named in _KIND_PATTERNS if pattern.search(words) for kind in named)
    wanted = [
        replace(one, weight=KIND_WORD_WEIGHT)
        if any(pattern.fullmatch(one.word) for pattern, _ in _KIND_PATTERNS)
        else one
        for one in wanted_of(words)
    ]
    return Question(words=words, wanted=tuple(wanted), kinds=kinds, folded=_folded(words))


def passages(text: str, max_chars: int = MAX_PASSAGE_CHARS) -> list[str]:
    """The text in verbatim pieces of whole lines, each at most about `max_chars`; joined they are the text.

    A longer line is cut where it has to be.
    """
    pieces: list[str] = []
    room = 0
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), max_chars):
            piece = line[start : start + max_chars]
            if len(piece) <= room:
                pieces[-1] += piece
            else:
                pieces.append(piece)
                room = max_chars
            room -= len(piece)
    return pieces


def score(question: Question, stock: Stock) -> dict[int, float]:
    """Record → how well it answers by its terms: BM25, times the share of the question that it answers."""
    sums: dict[int, float] = {}
    covered: dict[int, float] = {}
    total = 0.0
    for wanted in question.wanted:
        worth = _worth(wanted, stock) * wanted.weight
        total += worth
        for record, (value, share) in _answers(wanted, stock).items():
            sums[record] = sums.get(record, 0.0) + value * wanted.weight
            covered[record] = covered.get(record, 0.0) + worth * share
    return {
        record: value * (UNCOVERED_WEIGHT + (1 - UNCOVERED_WEIGHT) * covered[record] / total)
        for record, value in sums.items()
    }


def _worth(wanted: Wanted, stock: Stock) -> float:
    """What the word counts in the question: the rarest of what it may stand as; one that stands nowhere is rarest."""
    found = [name for name in wanted.names if stock.postings.get(name)]
    return max((_rarity(name, stock) for name in found or wanted.names), default=0.0)


def _rarity(term: str, stock: Stock) -> float:
    often = len(stock.postings.get(term, ()))
    return log(1 + (stock.count - often + 0.5) / (often + 0.5))


def _answers(wanted: Wanted, stock: Stock) -> dict[int, tuple[float, float]]:
    """Record → (value, share of the word that it holds): each part counts once, the whole word counts as all parts."""
    answers: dict[int, tuple[float, float]] = {}
    for part in wanted.terms:
        for record, value in _best_of((part, *stock.instead.get(part, ())), stock).items():
            known, share = answers.get(record, (0.0, 0.0))
            answers[record] = (known + value, share + 1 / len(wanted.terms))
    if wanted.compound:
        for record, value in _best_of((wanted.compound, *stock.instead.get(wanted.compound, ())), stock).items():
            answers[record] = (answers.get(record, (0.0, 0.0))[0] + value, 1.0)
    return answers


def _best_of(terms: Sequence[str], stock: Stock) -> dict[int, float]:
    """Record → the value of the best of the terms in it; the first is asked for, the others stand in for it."""
    best: dict[int, float] = {}
    for at, term in enumerate(terms):
        rarity = _rarity(term, stock) * (1.0 if at == 0 else STAND_IN_WEIGHT)
        for record, times in stock.postings.get(term, {}).items():
            norm = 1 - B + B * stock.lengths[record] / stock.average
            value = rarity * times * (K1 + 1) / (times + K1 * norm)
            if value > best.get(record, 0.0):
                best[record] = value
    return best


def rank(question: Question, records: Mapping[int, Record], scores: Mapping[int, float]) -> list[Hit]:
    """The records as an answer, best first: weighed, each statement once, the newest of contradicting ones first."""
    newest = max((record.at for record in records.values() if record.at), default=None)
    weighed = sorted(
        (
            Hit(record=record, score=scores[number] * _weight(record, question, newest))
            for number, record in records.items()
        ),
        key=_order,
    )
    hits = _each_once(weighed[:MAX_HITS])
    least = LEAST_SHARE * hits[0].score if hits else 0.0
    return _newest_first([hit for at, hit in enumerate(hits) if at < ALWAYS_FIRST or hit.score >= least])


def _order(hit: Hit) -> tuple[object, ...]:
    """By score, of equal ones the newest; all else only so that the same records always stand in the same order."""
    record = hit.record
    moment = -record.at.timestamp() if record.at else 0.0
    return -hit.score, moment, record.source, record.text, record.kind, record.status, record.session, record.more


def _weight(record: Record, question: Question, newest: datetime | None) -> float:
    weight = _KIND_WEIGHTS[record.kind]
    if record.kind in question.kinds:
        weight *= _NAMED_WEIGHT
    if record.status in _PAST:
        weight *= _PAST_WEIGHT
    if record.at and newest:
        days = max(0.0, (newest - record.at).total_seconds() / 86_400)
        weight *= 1 + _NEW_BONUS * 0.5 ** (days / _HALF_LIFE_DAYS)
    if len(question.wanted) > 1 and question.folded in _folded(record.text):
        weight *= PHRASE_WEIGHT
    return weight


def _folded(text: str) -> str:
    return fold(normal(text)).strip(" ?!.。？！")


# One statement, once.


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """Without those that a better one says already; it names where else it stands.

    What only retells (the log, the account of a request) gives way to what it retells, whatever its place.
    """
    kept: dict[int, tuple[Hit, _Saying]] = {}
    for at in sorted(range(len(hits)), key=lambda at: (hits[at].record.kind in _RETELLING, at)):
        saying = _Saying(hits[at].record)
        twin = next((one for one, (_, known) in kept.items() if known.says(saying)), None)
        if twin is None:
            kept[at] = (hits[at], saying)
        else:
            known, words = kept[twin]
            kept[twin] = (_joined(known, hits[at].record), words)
    return [kept[at][0] for at in sorted(kept)]


def _joined(hit: Hit, twin: Record) -> Hit:
    """The hit with its twin; a bullet of MEMORY.md was said when the session says, not when it was written."""
    record = hit.record
    if record.source == "MEMORY.md" and _is_of_same_session(record, twin) and twin.kind not in _RETELLING:
        record = replace(record, at=twin.at)
    return replace(hit, record=record, twins=(*hit.twins, twin))


def _other_place(record: Record, twin: Record) -> str:
    """Where the twin stands, "" when that tells nothing new."""
    if not _is_of_same_session(record, twin):
        return place_of(twin)
    if not _is_checkpoint(twin):
        return twin.source
    return "" if set(twin.evidence) <= set(record.evidence) else place_of(twin)


def _is_of_same_session(record: Record, twin: Record) -> bool:
    return bool(record.session) and twin.session == record.session


def _is_checkpoint(record: Record) -> bool:
    return bool(record.session) and record.source.startswith(_session_name(record))


def _session_name(record: Record) -> str:
    agent, _, session = record.session.partition("/")
    return f"{agent}/{session[:8]}"


def place_of(record: Record) -> str:
    """Where a record stands, as short as it can be looked up: "claude-code/70d782f7 m12, m13", "MEMORY.md"."""
    if not record.session:
        return record.source
    where = f"{_session_name(record)} {', '.join(record.evidence[-2:])}".strip()
    return where if _is_checkpoint(record) else f"{record.source} ({where})"


class _Saying:
    """A record as it is compared."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.plain = _folded(record.text[:MAX_COMPARED_CHARS])
        more = " ".join(text[:MAX_COMPARED_CHARS] for _, text in record.more)
        self.terms = frozenset(terms_of(f"{record.text[:MAX_COMPARED_CHARS]} {more}"))

    def says(self, other: "_Saying") -> bool:
        """Whether this one says all that the other says, in about as many words, and does not leave a detail out."""
        mine, theirs = self.record, other.record
        if theirs.kind in _RETELLING and theirs.status not in _PAST:
            return len(self.terms & other.terms) >= RETOLD_SHARE * len(other.terms)
        if mine.subject and mine.subject == theirs.subject:
            return mine.kind is theirs.kind and mine.status == theirs.status
        if (mine.status in _PAST) != (theirs.status in _PAST):
            return False
        if self.plain == other.plain:
            return True
        if 2 * len(other.plain) < len(self.plain) or not self._shares(other, SAME_SUBJECT):
            return False
        return other.plain in self.plain or self._says_the_same(other)

    def _shares(self, other: "_Saying", share: float) -> bool:
        shared = len(self.terms & other.terms)
        return shared > 0 and shared >= share * len(self.terms | other.terms)

    def _says_the_same(self, other: "_Saying") -> bool:
        mine, theirs = self._wording(), other._wording()
        return theirs.details <= mine.details and says_the_same(mine, theirs)

    def _wording(self) -> Wording:
        return wording(self.record.text[:MAX_COMPARED_CHARS])

    def contradicts(self, other: "_Saying") -> bool:
        """Whether both speak of one thing and not alike: one subject, or nearly the same words with other details."""
        mine, theirs = self.record, other.record
        if mine.subject and mine.subject == theirs.subject:
            return mine.status != theirs.status
        if not {mine.kind, theirs.kind} <= _STATEMENTS:
            return False
        if self.plain == other.plain:
            return (mine.status in _PAST) != (theirs.status in _PAST)
        if not self._shares(other, SAME_SUBJECT):
            return False
        one, two = self._wording(), other._wording()
        return one.polarity != two.polarity or not (one.details <= two.details or two.details <= one.details)


def _newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """The same hits; before one that a newer one contradicts stands the newer one, and the older names its place."""
    newer = _newer_ones([_Saying(hit.record) for hit in hits])
    placed: dict[int, int] = {}

    def place(at: int) -> None:
        if at in newer:
            place(newer[at])
        placed.setdefault(at, len(placed) + 1)

    for at in range(len(hits)):
        place(at)
    return [replace(hits[at], newer=placed[newer[at]] if at in newer else None) for at in placed]


def _newer_ones(sayings: Sequence[_Saying]) -> dict[int, int]:
    """For each that a newer one contradicts the newest that does."""
    newer: dict[int, int] = {}
    for old, new in product(range(len(sayings)), repeat=2):
        latest = sayings[newer.get(old, old)].record
        if _is_newer(sayings[new].record, latest) and sayings[new].contradicts(sayings[old]):
            newer[old] = new
    return newer


def _is_newer(one: Record, other: Record) -> bool:
    return one.at is not None and other.at is not None and one.at > other.at
