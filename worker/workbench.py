"""The work of a job, by its kind, with all around it that workers have agreed on: a model that is shared, checkpoints
that are committed only while the watch allows it, the budget of the day. How an attempt ends is known by `attempts`.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from worker import upkeep
from worker.adapters.sessions import FileCheckpoints
from worker.awaiting import has_arrived
from worker.consolidate import Request, Result, Tools, consolidate, plan_session
from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.job import Ending, Job, JobRequest, Kind, Trigger
from worker.hygiene import hygiene
from worker.locating import Place
from worker.nightly import nightly
from worker.providers import Meter
from worker.resummarize import resummarize
from worker.service import Service
from worker.spending import day_budget, tokens_of_chain, tokens_of_plans
from worker.watching import Again, GuardedCheckpoints, Stopped, Watch

NIGHT_TAKEN_SECONDS = 300.0


@dataclass(slots=True, kw_only=True)
class Workbench:
    """session: its key, "" for a job about the workspace. holding: leases another session for a step of a night.

    committed: so far, oldest first. is_complete: False when the transcript had not reached what the request names.
    """

    service: Service
    job: Job
    place: Place
    session: str
    meter: Meter
    watch: Watch
    holding: Callable[[str], AbstractContextManager[object]]
    tell_commit: Callable[[Checkpoint], None]
    is_last_attempt: bool
    committed: list[Checkpoint] = field(default_factory=list)
    is_complete: bool = True

    def work(self) -> Ending:
        """Raises: Stopped, AfterturnError."""
        return _WORK[self.job.request.kind](self)

    def consolidate(self) -> Ending:
        request = self.job.request
        self.watch.report("reading")
        self.is_complete = has_arrived(request, FileCheckpoints(self.place.root), self.session, self.watch.check)
        content, wish = content_of(request), self._wish()
        tools = self._tools(hold_back=not request.seal_all, keep_recent_tokens=_kept_at(request))
        if request.trigger is Trigger.TURN and not request.seal_all:
            tools = replace(tools, batch_tokens=self.service.settings.batch_tokens)

        def work() -> Ending:
            result = consolidate(wish, tools)
            self._note_standstill(result, content)
            return ending_of(result)

        return self._within_budget(lambda: tokens_of_plans(plan_session(wish, tools)), work)

    def resummarize(self) -> Ending:
        request, wish, tools = self.job.request, self._wish(), self._tools()

        def work() -> Ending:
            return ending_of(resummarize(wish, tools, session=self.session, start=request.start, end=request.end))

        return self._within_budget(lambda: tokens_of_chain(tools.checkpoints.chain(self.session)), work)

    def nightly(self) -> Ending:
        """A night has a budget of its own, and leases each session that it works on."""
        day = date.fromisoformat(self.job.request.date) if self.job.request.date else None
        tools = self._tools(hold_back=False)
        night = upkeep.night_of(self.place, self.service.settings)
        house = replace(night.house, asker=tools.asker)
        report = nightly(replace(night, tools=tools, house=house, holding=self.holding), day=day)
        if report.outcome == "running" and not self.is_last_attempt:
            raise Stopped(Again(seconds=NIGHT_TAKEN_SECONDS, error="another process has this night"))
        return self._housework(f"night_{report.outcome}", has_changed=bool(self.committed))

    def hygiene(self) -> Ending:
        house = upkeep.house_of(self.place, self.service.settings)
        report = hygiene(replace(house, asker=self._tools().asker))
        return self._housework("cleaned" if report.changed else "nothing_to_clean", has_changed=report.changed)

    def _housework(self, reason: str, *, has_changed: bool) -> Ending:
        return Ending(
            outcome=Outcome.COMMITTED if has_changed else Outcome.NOTHING_TO_DO,
            reason=reason,
            llm_calls=self.meter.calls,
            tokens_in=self.meter.tokens_in,
            tokens_out=self.meter.tokens_out,
        )

    def _wish(self) -> Request:
        return Request(
            path=Path(self.job.request.transcript),
            instructions=self.job.request.instructions,
            require_model=not self.is_last_attempt,
            manual=self.job.is_manual,
        )

    def _within_budget(self, likely_tokens: Callable[[], int], work: Callable[[], Ending]) -> Ending:
        with day_budget(self.service, self.job, self.meter, likely_tokens) as refusal:
            return refusal or work()

    def _tools(self, *, hold_back: bool = True, keep_recent_tokens: int | None = None) -> Tools:
        manual, providers = self.job.is_manual, self.service.providers
        tools = self.service.make_tools(
            self.place,
            self.service.settings,
            progress=self.watch,
            hold_back=hold_back,
            keep_recent_tokens=keep_recent_tokens,
            manual=manual,
            around_model=lambda model: providers.shared(model, self.meter, is_manual=manual),
        )
        return replace(
            tools,
            checkpoints=GuardedCheckpoints(tools.checkpoints, self.watch, self._note_commit),
            asker=replace(tools.asker, wait=self.watch.wait) if tools.asker else None,
        )

    def _note_commit(self, checkpoint: Checkpoint) -> None:
        self.committed.append(checkpoint)
        self.tell_commit(checkpoint)

    def _note_standstill(self, result: Result, content: str) -> None:
        subject = f"{self.place.root}\n{self.session}"
        if result.outcome is Outcome.NOTHING_TO_DO and self.is_complete:
            self.service.standstill.nothing_there(subject, content)
        elif result.outcome is Outcome.COMMITTED:
            self.service.standstill.fruitful(subject)


def content_of(request: JobRequest) -> str:
    """Changes with whatever makes another run over the transcript worth it."""
    with suppress(OSError):
        found = Path(request.transcript).stat()
        return f"{found.st_size}:{found.st_mtime_ns}:{request.seal_all}:{_kept_at(request)}"
    return ""


def _kept_at(request: JobRequest) -> int | None:
    """The tail is held back because the agent has it verbatim. One that compacts has the open turn at most."""
    return 0 if request.trigger is Trigger.COMPACTION else None


def ending_of(result: Result) -> Ending:
    """What the record of a job keeps of a result: no text, no ids of messages."""
    return Ending(
        outcome=result.outcome,
        reason=result.reason,
        checkpoint=result.checkpoint,
        status=result.status,
        start=result.range[0],
        end=result.range[1],
        messages=result.messages,
        parts=result.parts,
        llm_calls=result.llm_calls,
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        cost_usd=result.cost_usd,
    )


_WORK: Mapping[Kind, Callable[[Workbench], Ending]] = {
    Kind.CONSOLIDATE: Workbench.consolidate,
    Kind.RESUMMARIZE: Workbench.resummarize,
    Kind.NIGHTLY: Workbench.nightly,
    Kind.HYGIENE: Workbench.hygiene,
}
