"""What holds at the desk after any sequence of what can happen there.

A wish is served when an attempt that began after it was handed in ended; a wish that is not served is never lost.
"""

import secrets
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from worker.adapters.job_desk import LONGEST_DEBOUNCE_SECONDS, Claim, JobDesk
from worker.adapters.redis_link import RedisLink
from worker.core.checkpoint import Outcome
from worker.core.job import Ending, JobRequest, Kind, Priority, State, Trigger

SESSIONS = ("/t/a", "/t/b")
DONE = Ending(outcome=Outcome.COMMITTED, reason="committed")


class Desk(RuleBasedStateMachine):
    """`unserved`: the number of the newest wish of each session that no attempt that ended began after."""

    link: RedisLink

    def __init__(self) -> None:
        super().__init__()
        self.desk = JobDesk(self.link)
        self.link.prefix = f"afterturn:law-{secrets.token_hex(6)}:"
        self.now = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)
        self.wishes: list[JobRequest] = []
        self.unserved: dict[str, int] = {}
        self.messages: list[Claim] = []
        self.attempts: dict[str, tuple[str, str, int]] = {}

    @rule(
        session=st.sampled_from(SESSIONS),
        trigger=st.sampled_from([Trigger.TURN, Trigger.NIGHTLY, Trigger.MANUAL]),
        priority=st.sampled_from(Priority),
        debounce=st.sampled_from([0.0, 5.0, 60.0]),
    )
    def submit(self, session: str, trigger: Trigger, priority: Priority, debounce: float) -> None:
        number = len(self.wishes)
        wish = JobRequest(
            submission=f"number-{number:04d}",
            kind=Kind.CONSOLIDATE,
            workspace="/w",
            transcript=session,
            submitted_at=self.now + timedelta(milliseconds=number),
            trigger=trigger,
            priority=priority,
            transcript_bytes=number,
        )
        self.wishes.append(wish)
        self.unserved[session] = number
        self.desk.submit(wish, self.now, debounce)

    @rule(place=st.integers(0, 30))
    def submit_again(self, place: int) -> None:
        if self.wishes:
            wish = self.wishes[place % len(self.wishes)]
            found = self.desk.status(wish.submission)
            assert found is not None
            self.desk.submit(wish, self.now, 0)
            assert self.desk.status(wish.submission) == found, "a wish that came twice changed something"

    @rule(seconds=st.sampled_from([1, 10, 60, 300]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(limit=st.integers(1, 2))
    def claim(self, limit: int) -> None:
        self.messages += self.desk.claim_due(self.now, limit)

    @rule(place=st.integers(0, 5), keep=st.booleans())
    def begin(self, place: int, keep: bool) -> None:
        """keep: the queue delivers the message once more."""
        if not self.messages:
            return
        message = self.messages[place % len(self.messages)]
        if not keep:
            self.messages.remove(message)
        owner = secrets.token_hex(4)
        job = self.desk.begin(message.job, owner, self.now)
        if job is not None:
            facts = job.request.transcript_bytes
            assert facts == self.newest(job.request.transcript), "an attempt began with old facts"
            self.attempts[owner] = (job.id, job.request.transcript, facts or 0)

    @rule(place=st.integers(0, 5), how=st.sampled_from(["finish", "retry", "die"]))
    def end(self, place: int, how: str) -> None:
        if not self.attempts:
            return
        owner = list(self.attempts)[place % len(self.attempts)]
        job, session, facts = self.attempts.pop(owner)
        if how == "finish" and self.desk.finish(job, owner, self.now, DONE):
            self.served(session, facts)
        elif how == "retry":
            self.desk.retry(job, owner, self.now, self.now + timedelta(seconds=60), "model_unavailable")

    @rule()
    def sweep(self) -> None:
        """Takes every worker for dead and every message for lost; those who live find that out."""
        self.desk.rescue(self.now, silent_seconds=0, unsent_seconds=0, most_attempts=10_000)

    @rule(place=st.integers(0, 5))
    def cancel_waiting(self, place: int) -> None:
        waiting = self.desk.waiting()
        if waiting:
            job = waiting[place % len(waiting)]
            assert self.desk.cancel(job.id, self.now) == "cancelled"
            self.served(job.request.transcript, len(self.wishes))

    @invariant()
    def each_session_has_at_most_one_job_that_waits_and_one_that_runs(self) -> None:
        for jobs in (self.desk.waiting(), self.desk.running()):
            sessions = [job.request.transcript for job in jobs]
            assert len(sessions) == len(set(sessions))

    @invariant()
    def an_unserved_wish_has_a_job_that_has_not_ended(self) -> None:
        alive = {job.request.transcript for job in [*self.desk.waiting(), *self.desk.running()]}
        assert alive >= set(self.unserved)

    @invariant()
    def every_ended_job_has_a_reason_and_waits_nowhere(self) -> None:
        health, ended = self.desk.health(self.now), self.desk.ended()
        assert all(job.ending and job.ending.reason and job.state is State.DONE for job in ended)
        ids = {job.id for job in [*ended, *self.desk.waiting(), *self.desk.running()]}
        assert len(ids) == len(ended) + health.waiting + health.running

    def teardown(self) -> None:
        """From any state, with working workers and no further wish, everything is served and the desk is empty."""
        self.attempts.clear()
        for _ in range(6):
            self.sweep()
            self.time_passes(round(LONGEST_DEBOUNCE_SECONDS) + 1)
            for claim in self.desk.claim_due(self.now):
                job = self.desk.begin(claim.job, "the last worker", self.now)
                assert job is not None
                assert self.desk.finish(job.id, "the last worker", self.now, DONE)
                self.served(job.request.transcript, job.request.transcript_bytes or 0)
        assert self.unserved == {}
        assert (self.desk.waiting(), self.desk.running()) == ([], [])

    def newest(self, session: str) -> int:
        return max(wish.transcript_bytes or 0 for wish in self.wishes if wish.transcript == session)

    def served(self, session: str, facts: int) -> None:
        if self.unserved.get(session, facts + 1) <= facts:
            del self.unserved[session]


def test_whatever_happens_no_wish_is_lost_and_none_is_done_side_by_side(redis_server: str) -> None:
    link = RedisLink(redis_server)
    machine = type("DeskOfThisTest", (Desk,), {"link": link})
    run_state_machine_as_test(machine, settings=settings(deadline=None, max_examples=12, stateful_step_count=25))
    link.close()
