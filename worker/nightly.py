"""The night: what went on by day is consolidated, what a model could not be used for is redone, the house is cleaned.

    claim the date → gather facts → plan → step by step, each written down → report

A night belongs to the local date on which it began. What is due is decided in `core.nightly`; every effect is one of
`consolidate`, `resummarize` or `hygiene`, none of which does anything twice, so a night that died is just gone on with.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from worker.consolidate import Request, Result, consolidate
from worker.core.checkpoint import Outcome
from worker.core.nightly import LeftOut, NightStep, Work, plan_night
from worker.errors import AfterturnError, ModelUnavailable
from worker.hygiene import hygiene
from worker.log import log_event
from worker.night_facts import Night, gather
from worker.night_record import Claim, ClaimLost, DoneStep, NightRecord, NightReport
from worker.ports import Model, ModelAnswer, Progress, Turn
from worker.resummarize import resummarize
from worker.summarize import Asker
from worker.verifying import verify

MAX_TRIES = 2
"""How often a step is begun in one night: one that kills its process is not begun for ever."""

MAX_OUTAGES = 2
"""After so many steps in a row that the model was not there for, the others are left for another night."""


def nightly(night: Night, *, day: date | None = None) -> NightReport:
    """Does what is due and tells what it did, what was left and why; the second run of a date does nothing.

    day: the local date that the night belongs to, None for today.
    Raises: StorageUnavailable, StoreError for a damaged record, and what `tools.progress` raises to stop; what a step
        raises is told in the report.
    """
    clock = night.house.clock
    claim = Claim(night.house.root, day or night.tools.today(clock.now()), clock)
    outcome = claim.take()
    if outcome is not None:
        return NightReport(outcome=outcome, record=claim.record)
    try:
        record = _Run(night, claim).through()
    except ClaimLost:
        return NightReport(outcome="running", record=claim.record)
    except BaseException:
        claim.release()
        raise
    log_event("night_finished", day=record.day, steps=len(record.done), left=len(record.left), tokens=record.tokens)
    return NightReport(outcome="done", record=record)


class _Run:
    """One process's share of a night: every step is written down before it begins and after it ended."""

    def __init__(self, night: Night, claim: Claim) -> None:
        self._claim = claim
        self._record = claim.record
        self._meter = _Meter(claim)
        self._rules = night.rules
        self._house = replace(night.house, asker=self._meter.asker(night.house.asker))
        self._tools = replace(
            night.tools,
            progress=_Beating(night.tools.progress, claim),
            asker=self._meter.asker(night.tools.asker),
        )
        self._night = night
        self._outages = 0
        self._since = self._last_night()

    def through(self) -> NightRecord:
        facts, unreadable = gather(self._night, self._claim.earlier())
        plan = plan_night(facts, self._rules, spent_tokens=self._record.tokens)
        self._record = replace(self._record, left=(*unreadable, *plan.left))
        finished = {step.name for step in self._record.done}
        for step in plan.steps:
            if step.name not in finished:
                self._take(step)
        self._save(finished_at=self._night.house.clock.now())
        self._claim.sweep()
        return self._record

    def _take(self, step: NightStep) -> None:
        obstacle = self._obstacle(step)
        if obstacle is not None:
            left = LeftOut(work=step.work, session=step.session, reason=obstacle)
            self._save(left=(*self._record.left, left))
            return
        tries = self._record.begun.get(step.name, 0)
        if tries >= MAX_TRIES:
            self._save(done=(*self._record.done, _died(step)))
            return
        self._save(begun={**self._record.begun, step.name: tries + 1})
        spent_before = self._meter.tokens
        try:
            done = self._done(step)
        except BaseException:
            # Stopped, not dead: who lives to tell is not what the count is for.
            self._save(begun={**self._record.begun, step.name: tries})
            raise
        spent = self._meter.tokens - spent_before
        done = replace(done, tokens=spent)
        self._save(done=(*self._record.done, done), tokens=self._record.tokens + spent)

    def _obstacle(self, step: NightStep) -> str | None:
        """What the plan could not know: what the steps before really took, and that the model is gone."""
        if not step.tokens:
            return None
        if self._outages >= MAX_OUTAGES:
            return "model_unavailable"
        return "night_budget_spent" if self._is_spent() else None

    def _is_spent(self) -> bool:
        budget = self._rules.budget_tokens
        return budget is not None and self._record.tokens >= budget

    def _done(self, step: NightStep) -> DoneStep:
        try:
            done = self._do(step)
        except ModelUnavailable as exc:
            self._outages += 1
            return _failed(step, exc)
        except AfterturnError as exc:
            return _failed(step, exc)
        if step.tokens:
            self._outages = 0
        return done

    def _do(self, step: NightStep) -> DoneStep:
        match step.work:
            case Work.HYGIENE:
                return self._clean(step)
            case Work.VERIFY:
                return self._verify(step)
        with self._night.holding(step.session or ""):
            return _told(step, self._work_on_session(step))

    def _work_on_session(self, step: NightStep) -> Result:
        request = Request(path=Path(step.source), manual=False, require_model=self._rules.has_model)
        if step.work is Work.CONSOLIDATE:
            return consolidate(request, self._tools)
        span = {"start": step.span.start, "end": step.span.end} if step.span else {}
        return resummarize(request, self._tools, session=step.session, **span)

    def _clean(self, step: NightStep) -> DoneStep:
        asks = not self._is_spent() and self._outages < MAX_OUTAGES
        report = hygiene(self._house, since=self._since, asks=asks)
        self._record = replace(self._record, hygiene=report)
        return _made(step, "done", "changed" if report.changed else "nothing_to_do")

    def _verify(self, step: NightStep) -> DoneStep:
        found = verify(self._house.root, read_range=self._night.read_range)
        problems = tuple(f"{one.where}: {one.what}" for one in found)
        self._record = replace(self._record, problems=problems)
        return _made(step, "done", "problems_found" if problems else "everything_holds")

    def _last_night(self) -> datetime | None:
        earlier = [record for record in self._claim.earlier() if record.finished_at is not None]
        return earlier[-1].started_at if earlier else None

    def _save(self, **changes: Any) -> None:
        self._record = replace(self._record, **changes)
        self._claim.write(self._record)


def _made(step: NightStep, outcome: str, reason: str, **fields: Any) -> DoneStep:
    return DoneStep(name=step.name, work=step.work, session=step.session, outcome=outcome, reason=reason, **fields)


def _failed(step: NightStep, error: AfterturnError) -> DoneStep:
    return _made(step, Outcome.FAILED.value, error.reason, detail=str(error))


def _died(step: NightStep) -> DoneStep:
    return _made(step, Outcome.FAILED.value, "process_died", detail=f"begun {MAX_TRIES} times and never ended")


def _told(step: NightStep, result: Result) -> DoneStep:
    is_new = result.outcome is Outcome.COMMITTED
    return _made(
        step,
        result.outcome.value,
        result.reason,
        checkpoint=result.checkpoint,
        status=result.status,
        detail="" if is_new else result.explanation,
    )


class _Beating:
    """Progress that is also a sign of life of the night."""

    def __init__(self, progress: Progress, claim: Claim) -> None:
        self._progress = progress
        self._claim = claim

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        self._claim.beat()
        self._progress.report(stage, done, total, tokens)


class _Meter:
    """Counts what models really take, also in steps that fail."""

    def __init__(self, claim: Claim) -> None:
        self.tokens = 0
        self._claim = claim
        self._lock = threading.Lock()

    def asker(self, asker: Asker | None) -> Asker | None:
        """The asker with its model counted; None stays None."""
        if asker is None:
            return None
        return replace(asker, model=_Metered(asker.model, self), progress=_Beating(asker.progress, self._claim))

    def add(self, answer: ModelAnswer) -> None:
        with self._lock:
            self.tokens += answer.tokens_in + answer.tokens_out


class _Metered:
    """A model whose answers are counted."""

    def __init__(self, model: Model, meter: _Meter) -> None:
        self.name = model.name
        self.limits = model.limits
        self.supports_schema = model.supports_schema
        self._model = model
        self._meter = meter

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        answer = self._model.ask(turns, max_tokens=max_tokens, schema=schema)
        self._meter.add(answer)
        return answer
