"""One consolidation, readable top to bottom.

    read → redact → pair → seal → tidy and offload → ledger → summarize → commit → project

Everything that decides is in `worker.core`; everything that touches the world comes in through `Tools`. Reading and
sealing are in `worker.ranges`, what asks a model is in `worker.summarize`. A session larger than one range becomes
several checkpoints, one after the other, so that memory is bounded by a range and not by the file, and an interrupted
run goes on behind the last range that was committed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from worker.core.checkpoint import (
    Checkpoint,
    Finding,
    ModelUse,
    Outcome,
    SessionRef,
    SourceRange,
    Validation,
)
from worker.core.ledger import Ledger
from worker.core.messages import digest_of, range_sha256
from worker.core.planning import Asking, Limits, Plan, plan
from worker.core.rendering import render_summary, source_of
from worker.core.session_key import session_key
from worker.core.summary import Constraint, Task, TaskStatus
from worker.core.taking import take_ledger
from worker.core.tokens import estimate_tokens
from worker.errors import UsageError
from worker.log import log_event
from worker.ports import Artifacts, Checkpoints, Clock, Progress, Projections
from worker.ranges import SealedRange, Window, messages_between
from worker.summarize import Asker, Material, Summarized, share_out, summarize
from worker.transcripts import Transcript, cursor_behind, open_transcript

MAX_INSTRUCTION_CHARS = 800

WRITER_GONE_SECONDS = 600
"""A half row that nobody touched for so long will not be finished: its writer was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for.

    constraints, tasks: given by the agent, tasks as "ID: text". manual: a person waits. require_model: rather nothing
    than a summary without the model's words.
    """

    path: Path
    instructions: str = ""
    constraints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    require_model: bool = False
    manual: bool = True

    def __post_init__(self) -> None:
        if len(self.instructions) > MAX_INSTRUCTION_CHARS:
            raise UsageError(
                f"instructions: {len(self.instructions)} characters; shorten them to {MAX_INSTRUCTION_CHARS}"
            )

    def given_constraints(self) -> tuple[Constraint, ...]:
        return tuple(Constraint(rule=rule, quote=rule, given=True) for rule in self.constraints)

    def given_tasks(self) -> tuple[Task, ...]:
        return tuple(_given_task(text) for text in self.tasks)


def _given_task(text: str) -> Task:
    """ "T-101: rename the column" names its id; a text without a colon has none."""
    head, colon, rest = text.partition(":")
    named = bool(colon) and " " not in head.strip()
    return Task(
        id=head.strip() if named else "",
        text=rest.strip() if named else text.strip(),
        status=TaskStatus.OPEN,
        from_ledger=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a consolidation works with. asker: None works without a model. today: the date in the configured zone."""

    clock: Clock
    today: Callable[[datetime], date]
    checkpoints: Checkpoints
    artifacts: Artifacts
    projections: Projections
    progress: Progress
    asker: Asker | None
    limits: Limits
    show_tokens: int
    max_row_bytes: int
    asking: Asking | None = None
    batch_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run ended. Counts are sums over the checkpoints that it committed; `checkpoint` is the newest of them.

    messages: of the session so far, the tail included. range: of all that was committed, or where it would begin.
    """

    outcome: Outcome
    reason: str
    explanation: str
    session: str
    messages: int
    skipped: dict[str, int]
    range: tuple[int, int]
    checkpoint: int | None = None
    status: str | None = None
    checkpoints: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    parts: int = 0
    llm_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    findings: tuple[Finding, ...] = ()
    artifacts: int = 0
    savings: dict[str, int] = field(default_factory=dict)

    def as_object(self) -> dict[str, Any]:
        """The documented object of `afterturn run --json`."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"outcome": self.outcome.value, "range": list(self.range), "findings": list(self.findings)}


def consolidate(request: Request, tools: Tools) -> Result:
    """Consolidates what is new in a session; the result says how far it came and why it ended.

    Raises: TranscriptError, StoreError, ModelRefused (permanent), SessionBusy, StorageUnavailable, and with
        `require_model` ModelUnavailable. What was committed before stays; nothing else is written.
    """
    tools.progress.report("reading")
    transcript = open_transcript(request.path, max_row_bytes=tools.max_row_bytes)
    session, parent = find_chain(transcript, tools.checkpoints)
    if parent is not None:
        tools.projections.project(session.key)  # one that was interrupted is finished first
    window = _window(transcript, parent, request, tools)
    committed: list[Checkpoint] = []
    parts = 0
    while (sealed := window.next_range()) is not None:
        checkpoint, summarized = _make_checkpoint(sealed, parent, session, request, tools)
        tools.progress.report("writing")
        for offload in sealed.tidied.offloads:
            tools.artifacts.put(session.key, offload.text, offload.artifact)
        parent = tools.checkpoints.commit(checkpoint)
        if parent is None:
            return _superseded(session, window, checkpoint)
        tools.projections.project(session.key)
        log_event("checkpoint_committed", session=session.key, number=parent.number, status=parent.status)
        committed.append(parent)
        parts += summarized.parts
    return _result(session, window, committed, parts)


def plan_session(request: Request, tools: Tools) -> list[Plan]:
    """What `consolidate` would do, one plan per checkpoint, in order; nothing is asked and nothing is written."""
    transcript = open_transcript(request.path, max_row_bytes=tools.max_row_bytes)
    _, parent = find_chain(transcript, tools.checkpoints)
    window = _window(transcript, parent, request, tools)
    plans: list[Plan] = []
    while (sealed := window.next_range()) is not None:
        plans.append(
            plan(
                start=sealed.start,
                seal=sealed.seal,
                tidied=sealed.tidied,
                parts=share_out(sealed.tidied, tools.limits),
                limits=tools.limits,
                has_state=parent is not None or bool(plans),
                asking=tools.asking,
            )
        )
    return plans


def _window(transcript: Transcript, parent: Checkpoint | None, request: Request, tools: Tools) -> Window:
    idle_seconds = tools.clock.now().timestamp() - transcript.path.stat().st_mtime
    return Window(
        transcript,
        parent,
        tools.limits,
        manual=request.manual,
        batch_tokens=tools.batch_tokens,
        writer_is_gone=idle_seconds > WRITER_GONE_SECONDS,
    )


def find_chain(transcript: Transcript, checkpoints: Checkpoints) -> tuple[SessionRef, Checkpoint | None]:
    """The session of a transcript and its newest checkpoint.

    A session without an id of its own is named by its file. Where another file had that name before, and its messages
    are not in this one, the folder makes the difference: two "messages.json" never share a chain.
    """
    session = _session_of(transcript, transcript.info.session_id)
    parent = checkpoints.latest(session.key)
    if parent is None or parent.session.source == session.source or session.id != transcript.path.stem:
        return session, parent
    if transcript.read(parent.cursor).restarted is None:
        return session, parent
    folder = digest_of(str(transcript.path.absolute().parent))[:8]
    session = _session_of(transcript, f"{session.id}-{folder}")
    return session, checkpoints.latest(session.key)


def _session_of(transcript: Transcript, session_id: str) -> SessionRef:
    info = transcript.info
    return SessionRef(
        key=session_key(info.agent, session_id),
        agent=info.agent,
        id=session_id,
        source=str(transcript.path.absolute()),
        cwd=info.cwd,
    )


def read_range_sha256(checkpoint: Checkpoint, chain: Sequence[Checkpoint], path: Path) -> str | None:
    """The hash of a checkpoint's range as its transcript reads now; None when the file was restarted since.

    chain: checkpoints of the session, oldest first; the range is read from behind the newest one that ends before it.
    """
    start, end = checkpoint.range.start, checkpoint.range.end
    before = [one for one in chain if one.number < checkpoint.number and one.covered <= start]
    reading = open_transcript(path).read(before[-1].cursor if before else None)
    if reading.restarted is not None:
        return None
    return range_sha256(messages_between(reading, start, end))


# The checkpoint.


def _make_checkpoint(
    sealed: SealedRange, parent: Checkpoint | None, session: SessionRef, request: Request, tools: Tools
) -> tuple[Checkpoint, Summarized]:
    ledger = take_ledger(
        sealed.messages,
        artifacts=[offload.artifact for offload in sealed.tidied.offloads],
        given_constraints=request.given_constraints(),
        given_tasks=request.given_tasks(),
        known_tasks=parent.summary.tasks if parent else (),
        cwd=session.cwd,
    )
    now = tools.clock.now()
    material = Material(
        messages=sealed.messages,
        tidied=sealed.tidied,
        ledger=ledger,
        state=parent.summary if parent else None,
        number=parent.number + 1 if parent else 1,
        today=tools.today(now),
        cwd=session.cwd,
        instructions=request.instructions,
    )
    summarized = summarize(material, tools.limits, tools.asker, require_model=request.require_model)
    tools.progress.report("validating")
    checkpoint = Checkpoint(
        number=material.number,
        parent=parent.id if parent else None,
        created_at=now,
        session=session,
        range=SourceRange(
            start=sealed.start,
            end=sealed.messages[-1].index + 1,
            sha256=range_sha256(sealed.messages),
            chain=sealed.chain,
        ),
        covered=sealed.messages[-1].index + 1,
        status=summarized.status,
        summary=summarized.summary,
        ledger=_stored_ledger(ledger),
        validation=Validation(findings=_findings(sealed, summarized), repairs=summarized.repairs),
        model=summarized.use if tools.asker else ModelUse(),
        savings=dict(sealed.tidied.savings),
        tokens_before=sealed.seal.tokens,
        tokens_after=0,
        cursor=cursor_behind(sealed.messages, sealed.info, sealed.point),
        skipped=sealed.skipped,
        moved=summarized.moved,
    )
    rendering = render_summary(checkpoint.summary, source=source_of(checkpoint), budget_tokens=tools.show_tokens)
    return replace(checkpoint, tokens_after=estimate_tokens(rendering.markdown)), summarized


def _stored_ledger(ledger: Ledger) -> Ledger:
    """Without what the summary of the same checkpoint holds word for word."""
    return replace(ledger, user_messages=(), artifacts=())


def _findings(sealed: SealedRange, summarized: Summarized) -> tuple[Finding, ...]:
    if sealed.restarted is None:
        return summarized.findings
    restarted = Finding(code="source_restarted", where=f"chain {sealed.chain}", detail=sealed.restarted, mended=True)
    return (restarted, *summarized.findings)


# The result.


_EXPLANATIONS = {
    "nothing_new": "no message is new since the last checkpoint",
    "fits_tail": "everything new fits the tail of {tail:,} tokens; --keep-recent N or --all covers more of it",
    "turn_open": "the newest turn is still open; --all covers it when the session has ended",
    "still_writing": "the agent is still writing the last row; try again when its turn has ended",
    "below_batch_size": "too little is new for an automatic run",
    "breaker_open": "too many runs of this session failed; a manual run is let through",
    "daily_budget_spent": "the token budget of the day is spent",
}


def _result(session: SessionRef, window: Window, committed: Sequence[Checkpoint], parts: int) -> Result:
    skipped = window.reading.skipped
    if not committed:
        return Result(
            outcome=window.decision.outcome,
            reason=window.decision.reason,
            explanation=_EXPLANATIONS[window.decision.reason].format(tail=window.limits.keep_recent_tokens or 0),
            session=session.key,
            messages=window.known_end,
            skipped=skipped,
            range=(window.covered, window.covered),
        )
    newest = committed[-1]
    savings: Counter[str] = Counter()
    for one in committed:
        savings.update(one.savings)
    costs = [one.model.cost_usd for one in committed if one.model.calls]
    return Result(
        outcome=Outcome.COMMITTED,
        reason=newest.status.value,
        explanation=f"checkpoint {newest.number}",
        session=session.key,
        messages=window.known_end,
        skipped=skipped,
        range=(committed[0].range.start, newest.range.end),
        checkpoint=newest.number,
        status=_worst_status(committed),
        checkpoints=len(committed),
        tokens_before=sum(one.tokens_before for one in committed),
        tokens_after=newest.tokens_after,
        parts=parts,
        llm_calls=sum(one.model.calls for one in committed),
        tokens_in=sum(one.model.tokens_in for one in committed),
        tokens_out=sum(one.model.tokens_out for one in committed),
        cost_usd=sum(cost for cost in costs if cost is not None) if costs and None not in costs else None,
        findings=tuple(finding for one in committed for finding in one.validation.findings),
        artifacts=sum(len(one.summary.artifacts) for one in committed),
        savings=dict(savings),
    )


def _worst_status(committed: Sequence[Checkpoint]) -> str:
    statuses = {one.status.value for one in committed}
    return next(status for status in ("degraded", "deterministic", "ok") if status in statuses)


def _superseded(session: SessionRef, window: Window, lost: Checkpoint) -> Result:
    return Result(
        outcome=Outcome.SUPERSEDED,
        reason="another_run_committed_first",
        explanation=f"another run committed checkpoint {lost.number} first; its result stands",
        session=session.key,
        messages=window.known_end,
        skipped=window.reading.skipped,
        range=(lost.range.start, lost.range.start),
    )
