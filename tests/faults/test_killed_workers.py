"""kill -9 of a worker at each named step of a consolidation, before it and after it; another worker does the rest.

What has to hold afterwards is the same for every step: one checkpoint per range, one entry of HISTORY.md per
checkpoint, nothing that was answered is asked again, every hash is right, the transcript is untouched, and no person
was needed.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from worker.core.checkpoint import Outcome

pytestmark = pytest.mark.xdist_group("faults")

IS_FULL = os.environ.get("AFTERTURN_TEST_FAULTS") == "full"

STEPS = (
    "begin",
    "asking:2",
    "cache:2",
    "merging",
    "artifact",
    "commit",
    "link",
    "history",
    "announce",
    "append",
    "memory",
    "record",
    "finish",
)
STEPS_OF_FULL_FORM = ("lease", "reading", "validating", "writing", "event")
MOMENTS = [(step, when) for step in (*STEPS, *(STEPS_OF_FULL_FORM if IS_FULL else ())) for when in ("before", "after")]

UNHEARD_ANSWERS = {("asking:2", "after"), ("cache:2", "before")}
"""The answer was given and is not on disk yet: asking once more for that one part is what it costs."""

RECOVERY_SECONDS = 40.0
"""Silence of 30 s, a look every 5 s, a round of 1 s, and some time for the look itself: as the README has it."""

AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """ended: by which outcome. seconds: from the kill to the end of the job. faults: see `Site.faults`."""

    died: bool
    ended: Outcome
    attempts: int
    seconds: float
    faults: list[str]
    entries: int
    is_untouched: bool


Aftermaths = Callable[[str, str], Aftermath]


@pytest.fixture(scope="module")
def aftermath(make_site: Any) -> Iterator[Aftermaths]:
    """`aftermath(step, when)`: all kills are done side by side, as they mostly wait."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        kills: dict[tuple[str, str], Future[Aftermath]] = {
            moment: pool.submit(killed_and_replaced, make_site(), *moment) for moment in MOMENTS
        }
        yield lambda step, when: kills[step, when].result()


def killed_and_replaced(site: Any, step: str, when: str) -> Aftermath:
    session = site.session().turns(5).long_output().turns(1)
    before = (session.path.read_bytes(), session.path.stat())
    name, _, number = step.partition(":")
    job = site.hand_in(session)
    first = site.worker(AFTERTURN_TEST_FAULT=f"{name}:{when}:{number or 1}")
    site.until(lambda: not first.is_alive())
    died_at = time.monotonic()
    site.worker()
    site.until(lambda: site.is_done(job))
    seconds = time.monotonic() - died_at
    record = site.job(job)
    return Aftermath(
        died=site.mark.exists(),
        ended=record.ending.outcome,
        attempts=record.attempts,
        seconds=seconds,
        faults=site.faults(session, covered=15, asked_again=int((step, when) in UNHEARD_ANSWERS)),
        entries=site.history_entries(),
        is_untouched=before == (session.path.read_bytes(), session.path.stat()),
    )


@pytest.mark.parametrize(("step", "when"), MOMENTS)
def test_a_worker_that_is_killed_leaves_nothing_lost_and_nothing_doubled(
    aftermath: Aftermaths, step: str, when: str
) -> None:
    """O36 O53 B28 B36 T17 J04 F20"""
    after = aftermath(step, when)
    assert after.died
    assert after.faults == []
    assert after.entries == 1
    assert after.is_untouched
    assert after.attempts <= 2
    assert after.ended in (Outcome.COMMITTED, Outcome.NOTHING_TO_DO)
    assert after.seconds < RECOVERY_SECONDS
