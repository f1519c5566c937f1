"""The tokens of a workspace's day: set aside before a job asks a model, and what it really took put in their place."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from worker.adapters.budgets import local_day
from worker.core.checkpoint import Checkpoint, Outcome
from worker.core.job import Ending, Job
from worker.core.planning import Plan
from worker.errors import AfterturnError
from worker.log import log_event
from worker.providers import Meter
from worker.service import Service

PROMPT_TOKENS_PER_PART = 2_000
ANSWER_SHARE = 0.25


@contextmanager
def day_budget(service: Service, job: Job, meter: Meter, likely_tokens: Callable[[], int]) -> Iterator[Ending | None]:
    """None when the job may spend; its ending when there is not enough left of the day. A person's job may always.

    likely_tokens: asked only where there is a limit and a model, as estimating costs a reading of the transcript.
    """
    if service.settings.daily_tokens is None or service.settings.model is None:
        yield None
        return
    budget, tokens = service.day_budget(job.request.workspace), likely_tokens()
    day = local_day(service.clock.now(), service.zone)
    grant = budget.reserve(day, job.id, tokens, is_manual=job.is_manual)
    if not grant.granted:
        detail = f"{tokens} tokens wanted, {grant.left_tokens} of {service.settings.daily_tokens} left today"
        yield Ending(outcome=Outcome.REFUSED, reason="daily_budget_spent", error=detail)
        return
    try:
        yield None
    finally:
        with lost_is_bearable("spending", job):
            budget.settle(day, job.id, meter.tokens)


def tokens_of_plans(plans: Sequence[Plan]) -> int:
    """In and out, before anything is asked."""
    material = sum(plan.tokens_after for plan in plans)
    return round(material * (1 + ANSWER_SHARE)) + sum(plan.parts for plan in plans) * PROMPT_TOKENS_PER_PART


def tokens_of_chain(chain: Sequence[Checkpoint]) -> int:
    """For summarizing again all that a chain covers."""
    return round(sum(one.tokens_before for one in chain) * (1 + ANSWER_SHARE))


@contextmanager
def lost_is_bearable(what: str, job: Job) -> Iterator[None]:
    """For notes beside the work: when one cannot be made, a line in the log says so and the work stands."""
    try:
        yield
    except AfterturnError as exc:
        log_event("note_lost", level="warning", what=what, job=job.id, reason=exc.reason)
