"""What becomes a bullet of MEMORY.md: code decides over what checkpoints say and over what a model proposes.

Only what a person said, or what code saw a tool do, makes a memory; text that a tool or the web gave never does by
itself. What leaves the file is named, so that HISTORY.md gets it. The file itself is `memory`.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from worker.core.checkpoint import Checkpoint
from worker.core.correcting import put_right
from worker.core.history import Departure
from worker.core.memory import (
    MAX_MEMORY_BYTES,
    MAX_MEMORY_LINES,
    Bullet,
    Left,
    MemoryOp,
    MemoryOperation,
    MemoryRecord,
    Page,
    Refused,
    Section,
    Why,
    add,
    after_write,
    departed,
    exchange,
    ids_in,
    made_bullet,
    parse,
    shrinks_unnamed,
    statements_of_others,
    within_limits,
    without,
)
from worker.core.messages import message_index
from worker.core.rules import is_hard, speaks_of, told_rule
from worker.core.said_again import Statement
from worker.core.session_key import session_label
from worker.core.summary import (
    CheckResult,
    Constraint,
    Item,
    Memory,
    MemoryKind,
    Scope,
    Summary,
    item_id,
)
from worker.core.turning import turned_sentence
from worker.core.wording import (
    SAME_WORDS,
    Wording,
    content_words,
    details,
    first_verbatim,
    says_the_same,
    sentences,
    wording,
)

MAX_JUDGED_CHARS = 2_000
SHARED_WORDS_MIN = 0.25
"""Share of a memory's content words that its evidence has to hold: below it, the two are about different things."""
COVERED_WORDS_MIN = 0.5
"""Share of a merged bullet's content words that the joined text has to keep."""

_OWN_OUTPUT = re.compile(
    r"afterturn:|^\s*candidate:|\bconfidence: ?[0-9.]|^\s*\[?m[0-9]+ (?:human|assistant|tool)\b", re.I
)
_COMMAND = re.compile(r"\s*(?:\$ |> |```|sudo |export [A-Z])")
_SINCE = re.compile(r" \(since [0-9]{4}-[0-9]{2}-[0-9]{2}\)$")
_DATE = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b")
_ITEM_ID = re.compile(r"[A-Z]-[0-9a-f]{6}")
_FILLER = frozenset({"actually", "instead", "rather", "now", "no", "not", "longer", "wait", "sorry", "please"})
_SECTION_OF_KIND = {
    MemoryKind.PREFERENCE: Section.PREFERENCES,
    MemoryKind.PROJECT: Section.PROJECT,
    MemoryKind.REFERENCE: Section.REFERENCES,
    MemoryKind.CORRECTION: Section.CORRECTIONS,
}
_TOOLS_CAN_SHOW = {MemoryKind.PROJECT, MemoryKind.REFERENCE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What one checkpoint brings: bullets to add, rules that a person lifted, and what was refused with its reason."""

    bullets: tuple[Bullet, ...]
    lifted: tuple[Constraint, ...]
    refused: tuple[Refused, ...]
    stated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What MEMORY.md becomes. added, left: derived from the difference of the two texts, so they claim nothing else."""

    text: str
    record: MemoryRecord
    added: tuple[Bullet, ...]
    left: tuple[Left, ...]
    refused: tuple[Refused, ...]

    def departures(self) -> tuple[Departure, ...]:
        """What HISTORY.md has to say about the bullets that left."""
        return tuple(_departure(each) for each in self.left if each.why is not Why.DUPLICATE)


def propose(checkpoint: Checkpoint, previous: Checkpoint | None, *, zone: tzinfo) -> Proposals:
    """What is new in a checkpoint for MEMORY.md; items that an earlier checkpoint had were judged with that one."""
    before = previous.summary if previous else Summary()
    sources = _human_sources(checkpoint)
    bullets: list[Bullet] = []
    refused: list[Refused] = []
    for item in _new_items(checkpoint.summary, before):
        reason = _refusal(item, sources, checkpoint)
        if reason:
            refused.append(Refused(id=item.id, reason=reason))
        else:
            bullets.append(_bullet_of(item, checkpoint, zone))
    return Proposals(
        bullets=tuple(bullets),
        lifted=_newly_lifted(checkpoint.summary, before),
        refused=tuple(refused),
        stated_at=checkpoint.created_at,
    )


def revise(
    text: str,
    proposals: Sequence[Proposals],
    record: MemoryRecord,
    *,
    now: datetime,
    told: Container[str] = (),
    max_lines: int = MAX_MEMORY_LINES,
    max_bytes: int = MAX_MEMORY_BYTES,
) -> Revision:
    """MEMORY.md with the proposals of the checkpoints, oldest first; a second time it changes nothing.

    told: keys of bullets that HISTORY.md says have left.
    """
    known = departed(record, text, now=now)
    work = _Work(page=parse(text), text=text, record=known)
    for each in proposals:
        for rule in each.lifted:
            work.lift(rule)
        for bullet in each.bullets:
            work.take(bullet, stated_at=each.stated_at)
    page, moved = within_limits(work.page, told=told, max_lines=max_lines, max_bytes=max_bytes)
    refused = [refusal for each in proposals for refusal in each.refused]
    return _revision(text, page, [*work.left, *moved], [*refused, *work.refused], known, now)


def tidy_memory(
    text: str,
    operations: Sequence[MemoryOperation],
    record: MemoryRecord,
    *,
    sources: Mapping[str, str],
    session: str,
    now: datetime,
    zone: tzinfo,
    max_lines: int = MAX_MEMORY_LINES,
    max_bytes: int = MAX_MEMORY_BYTES,
) -> Revision:
    """MEMORY.md after the nightly tidying: doubles and what was corrected since go, then each operation of the model
    that breaks no rule is applied.

    sources: message id → what a person said there, for the evidence that operations cite; session: whose ids they are.
    """
    known = departed(record, text, now=now)
    work = _Work(page=parse(text), text=text, record=known)
    work.drop_duplicates()
    work.settle_contradictions()
    for operation in operations:
        reason = _apply(work, operation, sources, session, now, zone)
        if reason:
            work.refused.append(Refused(id=",".join(operation.ids) or operation.op.value, reason=reason))
    page, moved = within_limits(work.page, max_lines=max_lines, max_bytes=max_bytes)
    return _revision(text, page, [*work.left, *moved], work.refused, known, now)


class _Work:
    """A page being revised, with the wordings that every proposal is compared to, each made once."""

    def __init__(self, *, page: Page, text: str, record: MemoryRecord) -> None:
        self.page = page
        self.left: list[Left] = []
        self.refused: list[Refused] = []
        self._taken = ids_in(text)
        self._record = record
        self._words: dict[str, Wording] = {}
        self._content: dict[str, frozenset[str]] = {}
        self._others = statements_of_others(self.page)

    def words(self, text: str) -> Wording:
        """How a bullet's text is compared: without the date that `supersede` put behind it."""
        if text not in self._words:
            self._words[text] = wording(_SINCE.sub("", text))
        return self._words[text]

    def say_the_same(self, one: str, other: str) -> bool:
        """Whether they make one statement about the same exact values: of two that differ there, none may be dropped.

        Most pairs share so few words that looking for their values would be wasted.
        """
        words, others = self._content_words(one), self._content_words(other)
        shorter, longer = sorted((len(words), len(others)))
        if shorter < SAME_WORDS * longer or len(words & others) < SAME_WORDS * len(words | others):
            return False
        return self.words(one).details == self.words(other).details and says_the_same(
            self.words(one), self.words(other)
        )

    def _content_words(self, text: str) -> frozenset[str]:
        if text not in self._content:
            self._content[text] = frozenset(content_words(_SINCE.sub("", text)))
        return self._content[text]

    def bullet(self, bullet_id: str) -> Bullet | None:
        return next((bullet for bullet in self.page.bullets if bullet.id == bullet_id), None)

    def take(self, bullet: Bullet, *, stated_at: datetime) -> None:
        """Adds the bullet, in the place of one that it contradicts, unless it is known or a person took it out."""
        if bullet.id in self._taken or self._says_already(bullet) or self._is_gone(bullet, stated_at):
            return
        if any(other.date > bullet.date and self._contradicts(other, bullet) for other in self.page.bullets):
            return
        if self._is_put_right(bullet):
            return
        outdated = next((old for old in self.page.bullets if self._contradicts(bullet, old)), None)
        outdated = outdated or self._put_right_by(bullet)
        if outdated is None:
            self.page = add(self.page, bullet)
        else:
            self.supersede((outdated,), bullet)
        self._taken.add(bullet.id)

    def supersede(self, old: Sequence[Bullet], new: Bullet) -> None:
        """Puts `new` where the first of `old` stood, with the date since when it holds."""
        text = _SINCE.sub("", new.text).rstrip(".")
        dated = made_bullet(replace(new, text=f"{text} (since {new.date.isoformat()})"))
        self.replace(old, dated, Why.SUPERSEDED)

    def replace(self, old: Sequence[Bullet], new: Bullet, why: Why) -> None:
        self.page = exchange(without(self.page, (each.id for each in old[1:])), old[0].id, new)
        self.left += [Left(bullet=each, why=why, by=new.id) for each in old if each.id != new.id]

    def lift(self, rule: Constraint) -> None:
        """Takes out the rule that a person lifted, also where it stands in other words from another session."""
        rules = [bullet for bullet in self.page.bullets if bullet.section is Section.CONSTRAINTS]
        self.retire([each.id for each in rules if each.id == rule.id or self.say_the_same(each.text, rule.rule)])

    def retire(self, ids: Iterable[str], why: Why = Why.RETIRED) -> None:
        named = set(ids)
        going = [bullet for bullet in self.page.bullets if bullet.id in named]
        self.page = without(self.page, (bullet.id for bullet in going))
        self.left += [Left(bullet=bullet, why=why) for bullet in going]

    def drop_duplicates(self) -> None:
        """Leaves every statement once: a person's own line before ours, the older bullet before the newer."""
        kept = [*self._others]
        for bullet in sorted(self.page.bullets, key=lambda bullet: bullet.date):
            if any(self.say_the_same(bullet.text, other) for other in kept):
                self.retire([bullet.id], Why.DUPLICATE)
            else:
                kept.append(bullet.text)

    def settle_contradictions(self) -> None:
        """Puts each correction in the place of all that it corrects: what came in before it, or from other sessions."""
        for new in (bullet for bullet in self.page.bullets if bullet.section is Section.CORRECTIONS):
            outdated = [old for old in self.page.bullets if old.date < new.date and self._contradicts(new, old)]
            if outdated and self.bullet(new.id):
                self.supersede([*outdated, new], new)

    def _says_already(self, bullet: Bullet) -> bool:
        texts = [other.text for other in self.page.bullets] + self._others
        return any(self.say_the_same(bullet.text, text) for text in texts)

    def _is_gone(self, bullet: Bullet, stated_at: datetime) -> bool:
        """A person's deletion holds for ever; what code took out may be said anew."""
        return any(
            (each.why is Why.DELETED or each.at >= stated_at)
            and (each.id == bullet.id or self.say_the_same(each.text, bullet.text))
            for each in self._record.gone
        )

    def _contradicts(self, new: Bullet, old: Bullet) -> bool:
        """Whether `new` corrects `old`: the same words about another value ("use port 5433" after "use port 5432")."""
        if new.section is not Section.CORRECTIONS or old.section is Section.CONSTRAINTS or new.date < old.date:
            return False
        one, other = self.words(new.text), self.words(old.text)
        has_other_value = bool(one.details and other.details and one.details != other.details)
        return has_other_value and _topic(one) == _topic(other) != set()

    def _put_right_by(self, new: Bullet, *besides: Bullet) -> Bullet | None:
        """The one bullet that says nothing but what `new` says otherwise: "times in UTC", then "times in Pacific time".

        All are read together, as a value is put right only where it is plain which one is meant. besides: those that
        are no part of the page yet.
        """
        earlier = [old for old in (*self.page.bullets, *besides) if _is_of_one_kind(old, new) and _is_earlier(old, new)]
        told = [Statement(at=at, text=_SINCE.sub("", each.text)) for at, each in enumerate([*earlier, new])]
        gone = {one.old for one in put_right(told) if one.new == len(earlier) and one.is_all}
        found = [earlier[at] for at in gone if is_hard(new.text) or not is_hard(earlier[at].text)]
        return found[0] if len(found) == 1 else None

    def _is_put_right(self, old: Bullet) -> bool:
        """Whether a later statement is on the page already, when `old` is read behind it."""
        later = (new for new in self.page.bullets if _is_of_one_kind(old, new) and _is_earlier(old, new))
        return any(self._put_right_by(new, old) is old for new in later)


def _is_of_one_kind(old: Bullet, new: Bullet) -> bool:
    return (old.section is Section.CONSTRAINTS) is (new.section is Section.CONSTRAINTS)


def _is_earlier(old: Bullet, new: Bullet) -> bool:
    """By the day, and in one session by the messages that they cite."""
    if old.session != new.session:
        return old.date < new.date
    return _newest_message(old) < _newest_message(new)


def _newest_message(bullet: Bullet) -> int:
    return max((message_index(one) or 0 for one in bullet.evidence), default=-1)


def _topic(words: Wording) -> set[str]:
    return set(words.words - words.details - _FILLER)


def _new_items(summary: Summary, before: Summary) -> list[Constraint | Memory]:
    known = {item.id for item in (*before.constraints, *before.memories)}
    rules = [rule for rule in summary.constraints if rule.in_force and rule.scope is Scope.STANDING]
    items: tuple[Constraint | Memory, ...] = (*rules, *summary.memories)
    return [item for item in items if item.id not in known]


def _newly_lifted(summary: Summary, before: Summary) -> tuple[Constraint, ...]:
    lifted_before = {rule.id for rule in before.constraints if not rule.in_force}
    return tuple(rule for rule in summary.constraints if not rule.in_force and rule.id not in lifted_before)


def _human_sources(checkpoint: Checkpoint) -> dict[str, str]:
    """Message id → what a person said there, with the lines that a short answer pointed at."""
    return {
        message.id: f"{message.text}\n{message.answers.excerpt}" if message.answers else message.text
        for message in (*checkpoint.ledger.user_messages, *checkpoint.summary.user_messages)
    }


def _refusal(item: Constraint | Memory, sources: Mapping[str, str], checkpoint: Checkpoint) -> str | None:
    """The code of the rule that the item breaks, None when it may become a bullet."""
    text = item.rule if isinstance(item, Constraint) else item.text
    if _OWN_OUTPUT.search(text[:MAX_JUDGED_CHARS]):
        return "own_output"
    if isinstance(item, Constraint):
        return None if item.given or _is_quoted(item, sources) else "unsourced"
    if _is_fragment(text) or _COMMAND.match(text):
        return "fragment"
    heard = _heard(item.evidence, sources)
    if heard:
        if not _is_supported(text, heard):
            return "unsupported"
        return "turned" if turned_sentence(text, sentences(heard)) else None
    return None if _is_shown_by_tools(item, checkpoint) else "no_human_evidence"


def _is_quoted(rule: Constraint, sources: Mapping[str, str]) -> bool:
    said = [sources[name] for name in rule.evidence if name in sources]
    return first_verbatim(rule.quote, said) is not None


def _heard(evidence: Iterable[str], sources: Mapping[str, str]) -> str:
    return "\n".join(sources[name] for name in evidence if name in sources)


def _is_fragment(text: str) -> bool:
    words = wording(text[:MAX_JUDGED_CHARS]).words
    return not words or (len(words) < 2 and len(text.split()) < 2)


def _is_supported(text: str, heard: str) -> bool:
    """Whether what people said is about the same thing and holds every exact value, so that none was slipped in.

    Dates may differ: a summary writes out what a person called "Friday".
    """
    words, said = wording(_DATE.sub("", text[:MAX_JUDGED_CHARS])), wording(heard)
    folded = heard.casefold()
    if any(detail.casefold() not in folded for detail in words.details):
        return False
    return len(words.words & said.words) >= SHARED_WORDS_MIN * len(words.words)


def _is_shown_by_tools(memory: Memory, checkpoint: Checkpoint) -> bool:
    """Whether code saw what the memory names: a check that passed, a file that changed, a reference."""
    if memory.kind not in _TOOLS_CAN_SHOW:
        return False
    evidence = set(memory.evidence)
    ledger = checkpoint.ledger
    shown: list[tuple[Item, str]] = [(file, file.path) for file in ledger.files]
    shown += [(check, check.command) for check in ledger.checks if check.result is CheckResult.PASSED]
    shown += [(reference, reference.value) for reference in ledger.references]
    values = [value for item, value in shown if evidence & set(item.evidence) and value in memory.text]
    return bool(values) and all(any(detail in value for value in values) for detail in details(memory.text))


def _bullet_of(item: Constraint | Memory, checkpoint: Checkpoint, zone: tzinfo) -> Bullet:
    section = Section.CONSTRAINTS if isinstance(item, Constraint) else _SECTION_OF_KIND[item.kind]
    return made_bullet(
        Bullet(
            id=item.id if _ITEM_ID.fullmatch(item.id) else item_id(item),
            section=section,
            text=told_rule(item) if isinstance(item, Constraint) else item.text,
            date=checkpoint.created_at.astimezone(zone).date(),
            session=session_label(checkpoint.session.key),
            evidence=item.evidence,
        )
    )


def _apply(
    work: _Work, operation: MemoryOperation, sources: Mapping[str, str], session: str, now: datetime, zone: tzinfo
) -> str | None:
    """Applies one operation to the page, or gives the code of the rule that it breaks."""
    named = [bullet for name in operation.ids if (bullet := work.bullet(name)) is not None]
    if len(named) != len(operation.ids):
        return "unknown_id"
    if operation.op is not MemoryOp.ADD and (not named or any(each.section is Section.CONSTRAINTS for each in named)):
        return "constraint_protected" if named else "no_ids"
    heard = _heard(operation.evidence, sources)
    if operation.op is MemoryOp.RETIRE:
        return _retire(work, operation, named, heard)
    if _OWN_OUTPUT.search(operation.text[:MAX_JUDGED_CHARS]) or _is_fragment(operation.text):
        return "fragment"
    new = _bullet_of_operation(operation, named, session, now, zone)
    match operation.op:
        case MemoryOp.MERGE:
            return _merge(work, named, new)
        case MemoryOp.SUPERSEDE:
            return _supersede(work, named, new, heard)
        case MemoryOp.ADD:
            if not heard or not _is_supported(new.text, heard):
                return "no_human_evidence"
            if turned_sentence(new.text, sentences(heard)):
                return "turned"
            work.take(new, stated_at=now)
    return None


def _retire(work: _Work, operation: MemoryOperation, named: Sequence[Bullet], heard: str) -> str | None:
    """Takes out what a person's words, in the evidence, say something newer of: a reason alone is a model's word."""
    if not operation.reason.strip():
        return "no_reason"
    if not all(_is_outdated(bullet, heard, work) for bullet in named):
        return "no_human_evidence"
    work.retire([each.id for each in named])
    return None


def _is_outdated(bullet: Bullet, heard: str, work: _Work) -> bool:
    """True when a sentence of a person is about the same and does not say the same."""
    words = work.words(bullet.text)
    return any(
        speaks_of(said, bullet.text)
        and len(words.words & wording(said).words) >= COVERED_WORDS_MIN * len(words.words)
        and not says_the_same(words, wording(said))
        for said in sentences(heard)
    )


def _merge(work: _Work, named: Sequence[Bullet], new: Bullet) -> str | None:
    """One bullet for several: it has to keep every exact value and the words of each, and may add no value."""
    if len(named) < 2 or len({each.section for each in named}) > 1:
        return "nothing_to_merge"
    joined = wording(new.text)
    if joined.details - frozenset().union(*(work.words(each.text).details for each in named)):
        return "value_invented"
    if not all(_covers(joined, work.words(each.text)) for each in named):
        return "content_lost"
    if joined.polarity != frozenset().union(*(work.words(each.text).polarity for each in named)):
        return "turned"
    work.replace(named, new, Why.MERGED)
    return None


def _supersede(work: _Work, named: Sequence[Bullet], new: Bullet, heard: str) -> str | None:
    """A newer statement for older ones: a person said it, or the newest of the bullets themselves does."""
    newest = max(named, key=lambda each: each.date)
    oldest = min(named, key=lambda each: each.date)
    by_bullet = newest.date > oldest.date and _covers(wording(new.text), work.words(newest.text))
    source = f"{heard}\n{newest.text}" if by_bullet else heard
    if not source.strip() or not _is_supported(new.text, source):
        return "no_human_evidence"
    if turned_sentence(new.text, sentences(source)):
        return "turned"
    work.supersede(named, new)
    return None


def _covers(text: Wording, part: Wording) -> bool:
    return part.details <= text.details and len(text.words & part.words) >= COVERED_WORDS_MIN * len(part.words)


def _bullet_of_operation(
    operation: MemoryOperation, named: Sequence[Bullet], session: str, now: datetime, zone: tzinfo
) -> Bullet:
    kind = operation.kind or MemoryKind.PROJECT
    newest = max(named, key=lambda each: each.date, default=None)
    is_said_now = newest is None or bool(operation.evidence)
    return made_bullet(
        Bullet(
            id=item_id(Memory(kind=kind, text=operation.text)),
            section=newest.section if newest else _SECTION_OF_KIND[kind],
            text=operation.text,
            date=now.astimezone(zone).date() if newest is None or is_said_now else newest.date,
            session=session if newest is None or is_said_now else newest.session,
            evidence=operation.evidence if newest is None or is_said_now else newest.evidence,
        )
    )


def _revision(
    text: str, page: Page, left: Sequence[Left], refused: Sequence[Refused], record: MemoryRecord, now: datetime
) -> Revision:
    before = parse(text)
    if shrinks_unnamed(before, page, (each.bullet.id for each in left)):
        refusal = Refused(id="MEMORY.md", reason="shrinks")
        return Revision(text=text, record=record, added=(), left=(), refused=(*refused, refusal))
    after = page.render()
    now_there = {bullet.id for bullet in parse(after).bullets}
    was_there = {bullet.id: bullet for bullet in before.bullets}
    really_left = tuple(
        each
        for each in left
        if each.bullet.id not in now_there and (each.bullet.id in was_there or each.why is Why.MOVED)
    )
    return Revision(
        text=after,
        record=after_write(record, page, left, now=now),
        added=tuple(bullet for bullet in page.bullets if bullet.id not in was_there),
        left=really_left,
        refused=tuple(refused),
    )


def _departure(left: Left) -> Departure:
    bullet = left.bullet
    evidence = f", {', '.join(bullet.evidence)}" if bullet.evidence else ""
    origin = f"{bullet.date.isoformat()}, {bullet.session}{evidence}"
    return Departure(key=bullet.key, why=left.why.value, text=bullet.text, origin=origin)
