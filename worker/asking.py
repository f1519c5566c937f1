"""Asking a model about the parts of a range, about a merge, about MEMORY.md.

    part: cache → ask → judge → (repair once → judge → strike) → cache, or give up on that part alone

A part that was given up costs its own model-written summary and nothing else: code drafts it from the ledger. An answer
that was judged good is in the cache before the next step is taken, so whoever comes back after a fault asks only for
what is missing. How one question is asked and asked again: `conversation`.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

from worker.conversation import Conversation, Question, added_use
from worker.core.answer_forms import LIST_CAPS, map_texts
from worker.core.answers import (
    MEMORY_SCHEMA,
    MERGE_SCHEMA,
    PART_SCHEMA,
    Block,
    Draft,
    PartAnswer,
    Rejection,
    own_sentences,
    read_answer,
    read_memory,
    read_merge,
    stored_answer,
    to_summary,
)
from worker.core.checkpoint import Finding, ModelUse
from worker.core.item_lines import item_lines, lines_to_merge
from worker.core.items import newest_evidence
from worker.core.material import listed
from worker.core.memory import MemoryOperation
from worker.core.merging import MergeProposal
from worker.core.secrets import redact
from worker.core.splitting import Part
from worker.core.summary import Constraint, Summary, Task, UserMessage
from worker.errors import PromptTooLong
from worker.ports import Model, ModelAnswer, Parts, Prompts
from worker.threads import side_by_side

__all__ = [
    "AskContext",
    "Asked",
    "Judge",
    "Judgement",
    "Proposed",
    "Strike",
    "added_use",
    "ask_memory",
    "ask_merge",
    "ask_part",
    "ask_parts",
    "place_of",
]

MAX_INSTRUCTION_CHARS = 800
MAX_DIVISIONS = 3
"""How often a part that is too long for the model is divided before it is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskContext:
    """What a model is told besides the material. summary_tokens: how long one answer may be.

    constraints: those in force before the range, and those that code found in it; a part is told those set up to it.
    answered: human messages that point at another one ("the list", "5 and 7"), with the lines meant.
    stages: "auto" asks once and goes on where an answer stops; "2" has the analysis and the summary written in two
    turns, which small models need. Of instructions the first 800 characters count.
    """

    today: date
    constraints: tuple[Constraint, ...] = ()
    tasks: tuple[Task, ...] = ()
    answered: tuple[UserMessage, ...] = ()
    instructions: str = ""
    language: str | None = None
    stages: Literal["auto", "2"] = "auto"
    summary_tokens: int = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What code makes of a draft: the draft as mended, and what it found."""

    draft: Draft
    findings: tuple[Finding, ...] = ()

    @property
    def unmended(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.mended)


Judge = Callable[[Part, Draft], Judgement]
Strike = Callable[[Part, Judgement], Judgement]
"""After a repair that did not help: the judgement without what is still accused, as far as it can do without."""

Divide = Callable[[Part, int], Sequence[Part]]
"""The part as smaller parts of at most so many tokens each, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What asking about one part gave. draft is None when the model could not be used for it; then findings say why.

    part: what was asked about: the part itself, or a piece of it when it was too long for the model.
    """

    part: Part
    draft: Draft | None
    findings: tuple[Finding, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    use: ModelUse = field(default_factory=ModelUse)
    repairs: int = 0
    from_cache: bool = False


Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed(Generic[Said]):
    """A proposal beyond the parts; None when no answer counts: what it would have changed then stays as it is."""

    proposal: Said | None
    findings: tuple[Finding, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    use: ModelUse = field(default_factory=ModelUse)


def ask_parts(
    shares: Sequence[Part],
    *,
    model: Model,
    prompts: Prompts,
    cache: Parts,
    context: AskContext,
    fence: str,
    judge: Judge,
    strike: Strike,
    divide: Divide,
    concurrency: int,
    on_done: Callable[[int, int], None],
) -> tuple[Asked, ...]:
    """What each part gave, in the order of the parts, at most `concurrency` asked at a time.

    on_done is told in the caller's thread how many of how many parts are done. When one part fails, or on_done raises,
    those in flight are finished and kept in the cache, those not yet begun are not asked, and the error is raised.

    Raises: what `ask_part` raises; of several failures the one of the earliest part.
    """
    ask = partial(
        ask_part,
        model=model,
        prompts=prompts,
        cache=cache,
        context=context,
        fence=fence,
        judge=judge,
        strike=strike,
        divide=divide,
    )
    answered = side_by_side(ask, shares, at_once=concurrency, on_done=on_done)
    return tuple(asked for pieces in answered for asked in pieces)


def ask_part(
    part: Part,
    *,
    model: Model,
    prompts: Prompts,
    cache: Parts,
    context: AskContext,
    fence: str,
    judge: Judge,
    strike: Strike,
    divide: Divide,
) -> tuple[Asked, ...]:
    """What asking about the part gave: one result, or several in order when it had to be divided.

    fence: a fresh random name that the material cannot know.
    Raises: ModelUnavailable, RateLimited, ModelRefused; never PromptTooLong, which costs that part alone.
    """
    asking = _Asking(
        model=model, prompts=prompts, cache=cache, context=context, fence=fence, judge=judge, strike=strike
    )
    return _asked_in_pieces(asking, part, divide, divisions=MAX_DIVISIONS)


def ask_merge(
    joined: Summary,
    *,
    pieces: Sequence[Summary],
    model: Model,
    prompts: Prompts,
    context: AskContext,
    fence: str,
    target_tokens: int | None = None,
) -> Proposed[MergeProposal]:
    """What the model would join, reword or drop of the joined items, and the texts over all pieces.

    pieces: the previous state, if any, and what each part said, oldest first. target_tokens: room that the items have
    outgrown, None while they fit.
    Raises: ModelUnavailable, RateLimited, ModelRefused; a prompt that is too long is a finding.
    """
    system = prompts.render("merge_system")
    user = prompts.render(
        "merge",
        today=context.today.isoformat(),
        language=context.language,
        instructions=context.instructions[:MAX_INSTRUCTION_CHARS],
        fence=fence,
        pieces=pieces,
        items=list(lines_to_merge(joined) if target_tokens is None else item_lines(joined)),
        target_tokens=target_tokens,
    )
    asked = _Prompt(system=system, user=user, fence=fence, answer_tokens=context.summary_tokens)
    return _proposed(asked, read_merge, MERGE_SCHEMA, model=model, prompts=prompts, where="merge")


def ask_memory(
    *,
    entries: Sequence[str],
    news: Sequence[str],
    model: Model,
    prompts: Prompts,
    context: AskContext,
    fence: str,
    limit_lines: int | None = None,
) -> Proposed[tuple[MemoryOperation, ...]]:
    """The changes of MEMORY.md that the model proposes.

    entries, news: one line each, with the id that an operation must use. limit_lines: None while there is room.
    Raises: ModelUnavailable, RateLimited, ModelRefused; a prompt that is too long is a finding.
    """
    system = prompts.render("memory_system")
    today = context.today.isoformat()
    user = prompts.render("memory", today=today, entries=entries, news=news, fence=fence, limit_lines=limit_lines)
    asked = _Prompt(system=system, user=user, fence=fence, answer_tokens=context.summary_tokens)
    return _proposed(asked, read_memory, MEMORY_SCHEMA, model=model, prompts=prompts, where="memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """What a proposal beyond the parts is asked with."""

    system: str
    user: str
    fence: str
    answer_tokens: int


Told = TypeVar("Told", covariant=True)


class _Reader(Protocol[Told]):
    """`read_merge` or `read_memory`."""

    def __call__(self, answer: ModelAnswer, *, echoes: Sequence[str], block: Block) -> Told | Rejection: ...


def _proposed(
    asked: _Prompt, read: _Reader[Said], schema: Mapping[str, Any], *, model: Model, prompts: Prompts, where: str
) -> Proposed[Said]:
    """What the model proposes. A prompt that is too long and an answer that does not count are findings."""
    echoes = own_sentences(asked.system, source=asked.user)
    question = Question(
        system=asked.system,
        user=asked.user,
        read=lambda answer, block: read(answer, echoes=echoes, block=block),
        schema=schema,
        keys=tuple(schema["required"]),
        answer_tokens=asked.answer_tokens,
        fence=asked.fence,
    )
    talk = Conversation(question, model=model, prompts=prompts)
    try:
        proposal = talk.answer()
    except PromptTooLong:
        return Proposed(proposal=None, findings=(Finding(code="prompt_too_long", where=where),), use=talk.use)
    findings = () if proposal is not None else (Finding(code="no_usable_answer", where=where, detail=_last(talk)),)
    return Proposed(proposal=proposal, findings=findings, rejections=tuple(talk.rejections), use=talk.use)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """What all parts of a run have in common."""

    model: Model
    prompts: Prompts
    cache: Parts
    context: AskContext
    fence: str
    judge: Judge
    strike: Strike

    def key_of(self, part: Part) -> str:
        """Names an answer by all that decides it. Day and fence do not: who comes back tomorrow must find it."""
        context = self.context
        known = [f"{each.id} {each.rule}" for each in self._set_before(part)]
        known += [f"{each.id} {each.status} {each.text}" for each in context.tasks]
        known += [each.answers.excerpt for each in self._answered_in(part) if each.answers]
        said = [context.instructions, context.language or "", context.stages, *known]
        return _digest([self.prompts.sha256, self.model.name, part.text, *said])

    def judged(self, part: Part, answer: PartAnswer) -> Judgement:
        """What code makes of the answer; a section that it left out is a finding like any other."""
        draft = to_summary(answer)
        missing = tuple(Finding(code="section_missing", where=section) for section in draft.missing)
        judgement = self.judge(part, draft)
        return replace(judgement, findings=missing + judgement.findings)

    def conversation(self, part: Part) -> Conversation[PartAnswer]:
        system = self.prompts.render("system", caps=LIST_CAPS)
        user = self._user_text(part)
        echoes = own_sentences(system, source=user)

        def read(answer: ModelAnswer, block: Block) -> PartAnswer | Rejection:
            return read_answer(answer, source_tokens=part.tokens, echoes=echoes, block=block)

        question = Question(
            system=system,
            user=user,
            read=read,
            schema=PART_SCHEMA,
            keys=tuple(PART_SCHEMA["required"]),
            answer_tokens=self.context.summary_tokens,
            fence=self.fence,
            in_two_turns=self.context.stages == "2",
        )
        return Conversation(question, model=self.model, prompts=self.prompts)

    def _answered_in(self, part: Part) -> list[UserMessage]:
        """Answers to a message of an earlier part: a small model cannot know what "skip 5" skips."""
        ids = {message.id for message in part.messages}
        return [
            message
            for message in self.context.answered
            if message.answers and message.id in ids and message.answers.id not in ids
        ]

    def _set_before(self, part: Part) -> list[Constraint]:
        """The constraints that a part can speak of: those of later parts are not yet set there."""
        end = max((message.index for message in part.messages), default=-1)
        return [one for one in self.context.constraints if newest_evidence(one) <= end]

    def _user_text(self, part: Part) -> str:
        context = self.context
        shown = [piece.id for piece in part.pieces if piece.text] or [message.id for message in part.messages] or ["m0"]
        return self.prompts.render(
            "part",
            today=context.today.isoformat(),
            language=context.language,
            constraints=self._set_before(part),
            tasks=context.tasks,
            answered=self._answered_in(part),
            instructions=context.instructions[:MAX_INSTRUCTION_CHARS],
            fence=self.fence,
            material=_material(part),
            first=shown[0],
            last=shown[-1],
            analysis_only=context.stages == "2",
        )


def _asked_in_pieces(asking: _Asking, part: Part, divide: Divide, *, divisions: int) -> tuple[Asked, ...]:
    talk = asking.conversation(part)
    try:
        return (_asked(asking, part, talk),)
    except PromptTooLong as too_long:
        pieces = divide(part, _smaller_budget(part.tokens, too_long)) if divisions else ()
    if not pieces or max(piece.tokens for piece in pieces) >= part.tokens:
        return (_given_up(part, talk, (Finding(code="prompt_too_long", where=place_of(part)),)),)
    first, *others = (
        each for piece in pieces for each in _asked_in_pieces(asking, piece, divide, divisions=divisions - 1)
    )
    return replace(first, use=added_use(talk.use, first.use)), *others


def _smaller_budget(tokens: int, too_long: PromptTooLong) -> int:
    """Smaller by the gap that the provider names and a tenth more, as ours is an estimate; by half without one."""
    if too_long.limit is None or too_long.actual is None or too_long.actual <= too_long.limit:
        return tokens // 2
    return max(tokens // 4, tokens - (too_long.actual - too_long.limit) * 11 // 10)


def _asked(asking: _Asking, part: Part, talk: Conversation[PartAnswer]) -> Asked:
    """One part, asked as it is. Raises: PromptTooLong."""
    key = asking.key_of(part)
    kept = stored_answer(asking.cache.get(key))
    answer = kept or talk.answer()
    if answer is None:
        return _given_up(part, talk, ())
    judgement = asking.judged(part, answer)
    repairs = 0
    if judgement.unmended and kept is None:  # one that was kept has had its repair
        repairs = 1
        if repaired := talk.repaired(answer.model_dump_json(), judgement.unmended):
            answer, judgement = repaired, asking.judged(part, repaired)
    if judgement.unmended:
        judgement = asking.strike(part, _settled(judgement))
    if judgement.unmended:
        return _given_up(part, talk, judgement.unmended, repairs=repairs)
    if kept is None:
        asking.cache.put(key, map_texts(answer, redact).model_dump_json())
    return Asked(
        part=part,
        draft=judgement.draft,
        findings=judgement.findings,
        rejections=tuple(talk.rejections),
        use=talk.use,
        repairs=repairs,
        from_cache=kept is not None,
    )


def _settled(judgement: Judgement) -> Judgement:
    """A section that is missing a second time is taken as empty: the ledger adds what must not be left out."""
    findings = tuple(
        replace(finding, mended=True) if finding.code == "section_missing" else finding
        for finding in judgement.findings
    )
    return replace(judgement, findings=findings)


def _given_up(part: Part, talk: Conversation[PartAnswer], findings: tuple[Finding, ...], *, repairs: int = 0) -> Asked:
    degraded = Finding(code="part_degraded", where=place_of(part), detail=_last(talk))
    return Asked(
        part=part,
        draft=None,
        findings=(*findings, degraded),
        rejections=tuple(talk.rejections),
        use=talk.use,
        repairs=repairs,
    )


def _material(part: Part) -> str:
    """The text of the part, in which only our own lines look like the head of a message."""
    return listed(_POSING.sub("\\1\u00b7", piece.text) for piece in part.pieces if piece.text)


_POSING = re.compile(r"(\n\[)(?=m\d{1,9} (?:human|assistant|tool|harness|summary|system)\b)")


def _last(talk: Conversation[Said]) -> str:
    return f"{talk.rejections[-1].code}: {talk.rejections[-1].detail}" if talk.rejections else ""


def place_of(part: Part) -> str:
    """A part by its messages, which a person can look up; its number means nothing later."""
    return f"part {part.messages[0].id}-{part.messages[-1].id}" if part.messages else f"part {part.index}"


def _digest(pieces: Sequence[str]) -> str:
    hasher = hashlib.sha256()
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()
