"""A sealed range in, a checked summary out: with a model where one is configured, deterministic where none is.

    split → ask per part → join → lift → merge → validate and mend → shed

A part that the model could not be used for is told by the ledger instead. The ledger is carried around the model's
answers, never through them, so what an answer leaves out is not lost and what it makes up is not kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import reduce
from typing import Any, Literal

from worker.asking import AskContext, Asked, Judgement, Proposed, added_use, ask_merge, ask_part, ask_parts, place_of
from worker.core.answers import Draft
from worker.core.checkpoint import Finding, ModelUse, Status
from worker.core.drafting import draft, draft_checks
from worker.core.filework import relative_path
from worker.core.grounds import Grounds
from worker.core.inherited import inherited
from worker.core.items import items_of, with_items
from worker.core.joining import join
from worker.core.language import language_of
from worker.core.ledger import Ledger
from worker.core.lifting import lift, lift_said
from worker.core.mending import mend, strike
from worker.core.merging import MergeProposal, apply_changes
from worker.core.messages import Message
from worker.core.pairing import pair
from worker.core.planning import Limits
from worker.core.shedding import shed
from worker.core.splitting import Part, divide, part_budget, split
from worker.core.summary import Constraint, FileItem, Item, Summary, with_id
from worker.core.taking import take_ledger
from worker.core.tasks import with_statuses_seen
from worker.core.tidying import Tidied
from worker.core.tokens import estimate_tokens
from worker.core.validation import validate
from worker.errors import ModelUnavailable, RateLimited
from worker.log import log_event
from worker.ports import Model, ModelAnswer, Parts, Progress, Prompts, Turn

CHECKS_OF_LEDGER = 8
"""The newest of a range that are told whatever a model says of them."""

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
"""Where a provider asks for more, coming back is the job's business: nobody sits out an hour here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A sealed range as the summary is made from it.

    messages: redacted and whole. tidied: the same messages as a model is shown them. state: what the chain knew before.
    number: of the checkpoint in the making. cwd: the project's folder, from which paths are told.
    """

    messages: tuple[Message, ...]
    tidied: Tidied
    ledger: Ledger
    state: Summary | None
    number: int
    today: date
    cwd: str | None = None
    instructions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarized:
    """moved: items that outgrew the state and leave for HISTORY.md."""

    summary: Summary
    moved: Summary
    status: Status
    findings: tuple[Finding, ...]
    repairs: int
    use: ModelUse
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The model and what is needed to ask it. wait: sleeps so many seconds; new_fence: a fresh random name."""

    model: Model
    prompts: Prompts
    cache: Parts
    progress: Progress
    wait: Callable[[float], None]
    new_fence: Callable[[], str]
    concurrency: int
    retries: int
    summary_tokens: int
    stages: Literal["auto", "2"] = "auto"


def summarize(material: Material, limits: Limits, asker: Asker | None, *, require_model: bool = False) -> Summarized:
    """The summary of a range, joined with the state.

    Raises: ModelRefused, and with `require_model` also ModelUnavailable, after the last retry; nothing was written then
        but answered parts into the cache.
    """
    if asker is None:
        told = [*_inherited(material), draft(material.ledger, material.messages)]
        joined = join(material.state, told, number=material.number)
        return _checked(material, limits, joined, Status.DETERMINISTIC, _Told())
    shares = share_out(material.tidied, limits)
    try:
        asked = _ask_all(material, shares, asker)
    except ModelUnavailable as exc:
        if require_model:
            raise
        asked = _ask_rest(material, shares, asker, exc)
    return _joined(material, limits, asker, asked, len(shares))


def share_out(tidied: Tidied, limits: Limits) -> tuple[Part, ...]:
    """The parts of a tidied range, each small enough for the model's window and for its attention."""
    average = sum(tidied.tokens) / max(1, len(tidied.messages))
    budget = part_budget(
        window_tokens=limits.window_tokens, part_tokens=limits.part_tokens, average_message_tokens=average
    )
    return split(tidied.messages, pair(tidied.messages), budget=budget, tokens=tidied.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is to be told about how a summary came about."""

    findings: tuple[Finding, ...] = ()
    repairs: int = 0
    use: ModelUse = field(default_factory=ModelUse)
    parts: int = 0


# Asking.


def _ask_all(material: Material, shares: Sequence[Part], asker: Asker) -> tuple[Asked, ...]:
    tokens = sum(part.tokens for part in shares)

    def on_done(done: int, total: int) -> None:
        asker.progress.report("asking", done, total, tokens)

    on_done(0, len(shares))
    means = _means(material, asker)
    asked: tuple[Asked, ...] = _with_retries(
        asker, lambda: ask_parts(shares, **means, concurrency=asker.concurrency, on_done=on_done)
    )
    return asked


def _ask_rest(
    material: Material, shares: Sequence[Part], asker: Asker, unavailable: ModelUnavailable
) -> tuple[Asked, ...]:
    """What is still to be had when a part failed for good; the others are given up, each by itself."""
    means = _means(material, replace(asker, model=_Failing(asker.model, unavailable)))
    asked: list[Asked] = []
    for part in shares:
        try:
            asked += ask_part(part, **means)
        except ModelUnavailable as exc:
            finding = Finding(code="model_unavailable", where=place_of(part), detail=str(exc))
            asked.append(Asked(part=part, draft=None, findings=(finding,)))
    return tuple(asked)


class _Failing:
    """A model that failed for good on one part, which may be that part's fault: what was paid for is found under its
    name, and the parts behind are asked until one fails too. Then, as after a rate limit, it is the model's fault.
    """

    def __init__(self, model: Model, unavailable: ModelUnavailable) -> None:
        self.name = model.name
        self.limits = model.limits
        self.supports_schema = model.supports_schema
        self._model = model
        self._unavailable = unavailable
        self._is_down = isinstance(unavailable, RateLimited)
        self._has_skipped = False

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        if self._is_down or not self._has_skipped:
            self._has_skipped = True  # parts are taken in order, so the first without an answer is the one that failed
            raise self._unavailable
        try:
            return self._model.ask(turns, max_tokens=max_tokens, schema=schema)
        except ModelUnavailable:
            self._is_down = True
            raise


def _means(material: Material, asker: Asker) -> dict[str, Any]:
    judge = _Judge(material)
    return {
        "model": asker.model,
        "prompts": asker.prompts,
        "cache": asker.cache,
        "context": _context(material, asker),
        "fence": asker.new_fence(),
        "judge": judge,
        "strike": judge.strike,
        "divide": lambda part, tokens: divide(part, budget=max(1, tokens)),
    }


def _context(material: Material, asker: Asker) -> AskContext:
    state = material.state or Summary()
    return AskContext(
        today=material.today,
        constraints=_in_force(state, material.ledger),
        tasks=tuple(one for one in state.tasks if one.status.is_open),
        answered=tuple(said for said in material.ledger.user_messages if said.answers),
        instructions=material.instructions,
        language=language_of(said.text for said in material.ledger.user_messages),
        stages=asker.stages,
        summary_tokens=asker.summary_tokens,
    )


def _in_force(state: Summary, ledger: Ledger) -> tuple[Constraint, ...]:
    """What a person may lift in this range: the rules of the state, and those set and lifted in the same range."""
    known = {one.id: one for one in ledger.constraints}
    known |= {one.id: one for one in state.constraints if one.in_force}
    return tuple(known.values())


def _with_retries(asker: Asker, ask: Callable[[], Any]) -> Any:
    """What `ask` gives; a passing fault of the provider is waited out `retries` times. The cache keeps what came."""
    for tried in range(asker.retries + 1):
        try:
            return ask()
        except ModelUnavailable as exc:
            seconds = _wait_seconds(exc, tried)
            if tried == asker.retries or seconds > LONGEST_WAIT_SECONDS:
                raise
            log_event("model_retried", level="warning", reason=exc.reason, tried=tried + 1, wait_seconds=seconds)
            asker.wait(seconds)
    raise AssertionError("unreachable: the last try returns or raises")


def _wait_seconds(error: ModelUnavailable, tried: int) -> float:
    """What the provider asks for, else twice as long each time."""
    if isinstance(error, RateLimited) and error.retry_after_seconds is not None:
        return error.retry_after_seconds
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0**tried)


class _Judge:
    """Checks the answer for a part against that part's own messages and ledger."""

    def __init__(self, material: Material) -> None:
        self._cwd = material.cwd
        self._whole = {message.id: message for message in material.messages}
        state = material.state or Summary()
        self._known = Summary(constraints=state.constraints, tasks=state.tasks)

    def __call__(self, part: Part, answered: Draft) -> Judgement:
        messages, ledger = self.source(part)
        answered = replace(answered, summary=_from_the_project(answered.summary, self._cwd))
        source: dict[str, Any] = {"ledger": ledger, "messages": messages, "previous": self._known}
        grounds = Grounds(messages, ledger, self._known, of_part=True)
        findings = validate(answered.summary, **source, lifts=answered.lifted, grounds=grounds)
        summary, judged = mend(answered.summary, findings, **source, grounds=grounds)
        return Judgement(draft=replace(answered, summary=summary), findings=judged)

    def strike(self, part: Part, judgement: Judgement) -> Judgement:
        """After a repair that did not help: without what is still accused."""
        messages, ledger = self.source(part)
        summary, findings = strike(
            judgement.draft.summary, judgement.findings, ledger=ledger, messages=messages, previous=self._known
        )
        return Judgement(draft=replace(judgement.draft, summary=summary), findings=findings)

    def source(self, part: Part) -> tuple[tuple[Message, ...], Ledger]:
        """The messages of which the part shows something, whole, and their ledger."""
        shown = dict.fromkeys(piece.id for piece in part.pieces)
        messages = tuple(self._whole[one] for one in shown if one in self._whole)
        return messages, take_ledger(messages, known_tasks=self._known.tasks, cwd=self._cwd)


def _from_the_project(summary: Summary, cwd: str | None) -> Summary:
    """With the files inside the project named from its folder, as the ledger names them."""

    def named(_: str, item: Item) -> Item:
        path = relative_path(item.path, cwd) if isinstance(item, FileItem) else ""
        return with_id(replace(item, id="", path=path)) if isinstance(item, FileItem) and path != item.path else item

    return with_items(summary, named)


# From drafts to the summary that is kept.


def _joined(material: Material, limits: Limits, asker: Asker, asked: Sequence[Asked], parts: int) -> Summarized:
    source = _Judge(material).source
    degraded = any(one.draft is None for one in asked)
    drafts = [one.draft.summary if one.draft else _draft_of(*source(one.part)) for one in asked]
    told = _Told(
        findings=tuple(finding for one in asked for finding in one.findings),
        repairs=sum(one.repairs for one in asked),
        use=reduce(added_use, (one.use for one in asked), ModelUse(name=asker.model.name)),
        parts=parts,
    )
    lifts = [proposed for one in asked if one.draft for proposed in one.draft.lifted]
    joined = join(
        material.state, [*_inherited(material), *drafts, _seen_by_code(material, drafts)], number=material.number
    )
    lifted = lift(joined, lifts, human=_human(material))
    told = replace(told, findings=told.findings + lifted.refused)
    merged = lifted.summary
    if any(one.draft for one in asked):  # a model that answered about no part is not asked about all of them
        merged, told = _merge(material, limits, asker, merged, drafts, told)
    status = Status.DEGRADED if degraded else Status.OK
    return _checked(material, limits, merged, status, told)


def _seen_by_code(material: Material, drafts: Sequence[Summary]) -> Summary:
    """What was run and how it ended, as the ledger saw it: no answer can leave a result out or turn it round."""
    checks = draft_checks(material.ledger.checks)[:CHECKS_OF_LEDGER]
    return Summary(checks=checks, next_step=drafts[-1].next_step if drafts else None)


def _merge(
    material: Material, limits: Limits, asker: Asker, joined: Summary, drafts: Sequence[Summary], told: _Told
) -> tuple[Summary, _Told]:
    """The joined items with the changes that the model proposes and code allows; the join alone when there are none."""
    if len(drafts) == 1 and material.state is None:
        return joined, told
    asker.progress.report("merging")
    size = sum(estimate_tokens(str(item)) for _, item in items_of(joined))
    try:
        proposed: Proposed[MergeProposal] = _with_retries(
            asker,
            lambda: ask_merge(
                joined,
                pieces=[*([material.state] if material.state else []), *drafts],
                model=asker.model,
                prompts=asker.prompts,
                context=_context(material, asker),
                fence=asker.new_fence(),
                target_tokens=limits.state_tokens if size > limits.state_tokens else None,
            ),
        )
    except ModelUnavailable as exc:
        # The parts are answered and joined by code; a merge is an improvement that the next run proposes again.
        unavailable = Finding(code="merge_unavailable", where="merge", detail=str(exc))
        return joined, replace(told, findings=(*told.findings, unavailable))
    told = replace(told, findings=told.findings + proposed.findings, use=added_use(told.use, proposed.use))
    if proposed.proposal is None:
        return joined, told
    applied = apply_changes(
        joined,
        _without_stale_texts(proposed.proposal, drafts),
        human=_human(material),
        ledger=material.ledger,
        source_end=_end(material),
        source=Grounds(material.messages, material.ledger, material.state),
    )
    return applied.summary, replace(told, findings=told.findings + applied.refused)


def _without_stale_texts(proposal: MergeProposal, pieces: Sequence[Summary]) -> MergeProposal:
    """With the newest piece's text where the proposal repeats that of an older one: a weak model copies the first."""
    *older, newest = pieces
    is_old_request = proposal.request in {one.request for one in older} - {newest.request}
    is_old_work = proposal.current_work in {one.current_work for one in older} - {newest.current_work}
    return replace(
        proposal,
        request=newest.request if is_old_request else proposal.request,
        current_work=newest.current_work if is_old_work else proposal.current_work,
    )


def _inherited(material: Material) -> list[Summary]:
    """What the agent's own summary of a transcript that is gone tells, before everything else."""
    told = inherited(material.messages, material.state)
    return [told] if told else []


def _draft_of(messages: Sequence[Message], ledger: Ledger) -> Summary:
    return draft(ledger, messages)


def _checked(material: Material, limits: Limits, summary: Summary, status: Status, told: _Told) -> Summarized:
    """The summary as it is stored: validated against the whole range, mended, within the size of the state."""
    summary = replace(summary, user_messages=material.ledger.user_messages, artifacts=material.ledger.artifacts)
    source: dict[str, Any] = {"ledger": material.ledger, "messages": material.messages, "previous": material.state}
    grounds = Grounds(material.messages, material.ledger, material.state)
    findings = validate(summary, **source, grounds=grounds)
    summary, judged = mend(summary, findings, **source, grounds=grounds)
    summary, judged = strike(summary, judged, **source)
    summary = with_statuses_seen(lift_said(summary, material.ledger.user_messages), material.ledger.tasks)
    summary = _numbered(summary, material.number)
    shrunk = shed(summary, state_tokens=limits.state_tokens, token_estimator=estimate_tokens)
    return Summarized(
        summary=shrunk.summary,
        moved=_only(summary, shrunk.moved),
        status=status,
        findings=(*told.findings, *judged),
        repairs=told.repairs,
        use=told.use,
        parts=told.parts,
    )


def _numbered(summary: Summary, number: int) -> Summary:
    """Items that the check added begin with this checkpoint."""
    return with_items(summary, lambda _, item: item if item.since else replace(item, since=number, seen=number))


def _only(summary: Summary, kept: Sequence[Item]) -> Summary:
    """The items that moved out, as a summary of their own."""
    ids = {id(item) for item in kept}
    return replace(
        with_items(summary, lambda _, item: item if id(item) in ids else None),
        request="",
        current_work="",
        next_step=None,
        user_messages=(),
        artifacts=(),
    )


def _human(material: Material) -> dict[str, str]:
    return {said.id: said.text for said in material.ledger.user_messages}


def _end(material: Material) -> int:
    return material.messages[-1].index + 1
