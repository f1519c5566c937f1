"""One session with a real model: all as `afterturn run` does it, in a folder of its own, and what became of it."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from eval_local.recording import Exchange, Kind, RecordedModel
from eval_local.sessions import Session

from worker import wiring
from worker.config import Settings
from worker.consolidate import Request, Result, consolidate
from worker.core.rendering import render_summary, source_of
from worker.errors import AfterturnError
from worker.ports import Model


class Verdict(StrEnum):
    """What became of the question about a part."""

    ACCEPTED = "accepted"
    ACCEPTED_LATER = "accepted later"
    REPAIRED = "repaired"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one session gave. verdicts: one per part that was asked, in order. refused: answers by the code of why.

    findings: by code, those that code put right and those that stood. error: of a session that ended without a result.
    """

    session: Session
    folder: Path
    status: str
    verdicts: tuple[Verdict, ...] = ()
    refused: Counter[str]
    mended: Counter[str]
    standing: Counter[str]
    requests: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    problems: tuple[str, ...] = ()
    error: str | None = None


def evaluate(session: Session, settings: Settings, folder: Path) -> Outcome:
    """Consolidates the whole session; the checkpoint, its rendering and every answer are left in the folder."""
    settings = settings.model_copy(update={"workspace": folder / "workspace", "llm_concurrency": 1})
    models: list[RecordedModel] = []

    def recorded(model: Model) -> Model:
        models.append(RecordedModel(model, folder / "asked"))
        return models[-1]

    place = wiring.ground_of(settings).place_of(session.path)
    tools = wiring.tools_for(place, settings, hold_back=False, around_model=recorded)
    with _refusals() as refused:
        try:
            result = consolidate(Request(path=session.path), tools)
        except AfterturnError as exc:
            exchanges = [one for model in models for one in model.exchanges]
            outcome = Outcome(
                session=session,
                folder=folder,
                status="failed",
                refused=Counter(refused),
                mended=Counter(),
                standing=Counter(),
                error=str(exc),
            )
            return _with_cost(outcome, exchanges)
    exchanges = [one for model in models for one in model.exchanges]
    if result.checkpoint is not None:
        _render(session, settings, folder)
    outcome = Outcome(
        session=session,
        folder=folder,
        status=result.status or result.outcome.value,
        verdicts=tuple(_verdicts(exchanges, result)),
        refused=Counter(refused),
        mended=Counter(one.code for one in result.findings if one.mended),
        standing=Counter(one.code for one in result.findings if not one.mended),
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        problems=tuple(f"{one.where}: {one.what}" for one in wiring.verify_places(settings)),
    )
    return _with_cost(outcome, exchanges)


def _with_cost(outcome: Outcome, exchanges: Sequence[Exchange]) -> Outcome:
    return replace(
        outcome,
        requests=len(exchanges),
        tokens_in=sum(one.answer.tokens_in for one in exchanges),
        tokens_out=sum(one.answer.tokens_out for one in exchanges),
        seconds=sum(one.answer.seconds for one in exchanges),
    )


def _render(session: Session, settings: Settings, folder: Path) -> None:
    place, key = wiring.find_session(settings, str(session.path))
    checkpoint = wiring.joined(wiring.load_chain(place, key))
    rendering = render_summary(checkpoint.summary, source=source_of(checkpoint), budget_tokens=settings.show_tokens)
    (folder / "summary.md").write_text(rendering.markdown, encoding="utf-8")


_PLACE = re.compile(r"part m(\d+)-m(\d+)")


def _verdicts(exchanges: Iterable[Exchange], result: Result) -> Iterator[Verdict]:
    degraded = [_PLACE.fullmatch(one.where) for one in result.findings if one.code == "part_degraded"]
    ranges = [range(int(place[1]), int(place[2]) + 1) for place in degraded if place]
    for first, *further in _by_part(exchanges):
        if any(first.first_message in one for one in ranges):
            yield Verdict.DEGRADED
        elif any(one.kind is Kind.REPAIR for one in further):
            yield Verdict.REPAIRED
        else:
            yield Verdict.ACCEPTED_LATER if further else Verdict.ACCEPTED


def _by_part(exchanges: Iterable[Exchange]) -> list[list[Exchange]]:
    """The exchanges about each part, without those about a merge."""
    groups: list[list[Exchange]] = []
    for one in exchanges:
        if one.kind in (Kind.PART, Kind.MERGE):
            groups.append([])
        groups[-1].append(one)
    return [group for group in groups if group[0].kind is Kind.PART]


class _Refusals(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.codes: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "answer_rejected":
            self.codes.append(record.__dict__["fields"]["code"])


@contextmanager
def _refusals() -> Iterator[list[str]]:
    """The codes of the answers that are refused meanwhile, from the events that tell of them."""
    logger, handler = logging.getLogger("afterturn"), _Refusals()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler.codes
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
