"""The page of memory in a view: the newest checkpoint, with what came behind it and no longer fits told by code.

Where a session was never consolidated, code tells all of it: the rules that people set, what they asked for, files and
failures are there without a model, and a rule of the first message is not lost because the window is small.
"""

from collections.abc import Sequence
from dataclasses import replace

from worker.core.checkpoint import Checkpoint, Status
from worker.core.drafting import draft
from worker.core.joining import join
from worker.core.messages import Message
from worker.core.rendering import Source, render_summary, source_of
from worker.core.summary import Summary
from worker.core.taking import take_ledger

_NO_CHECKPOINT = 0


def memory_page(
    known: Checkpoint | None, untold: Sequence[Message], *, session: str, cwd: str | None, budget_tokens: int
) -> str:
    """Markdown within the budget. known: the newest checkpoint, joined with its chain. untold: redacted messages that
    no checkpoint covers and that are not shown.
    """
    told = [message for message in untold if not message.sidechain]
    if known is not None and not told:
        return render_summary(
            known.summary, source=source_of(known), budget_tokens=budget_tokens, newest=False
        ).markdown
    summary = _with_untold(known.summary if known else None, told, cwd, number=known.number + 1 if known else 1)
    source = replace(source_of(known), covered=told[-1].index + 1) if known else _source(session, told)
    page = render_summary(summary, source=source, budget_tokens=budget_tokens, newest=False).markdown
    if known is None:
        return "\n".join(map(_without_checkpoint, page.split("\n")))
    return f"{page}Messages {told[0].id}–{told[-1].id} came behind this checkpoint and are told by code alone.\n"


def _without_checkpoint(line: str) -> str:
    """The lines of the page that speak of a checkpoint where there is none."""
    if line.startswith("Left out for length"):
        return line.replace("the checkpoint", "the transcript")
    if line.startswith("Session "):
        return line.replace(f", checkpoint {_NO_CHECKPOINT}:", ", no checkpoint yet:")
    return line


def _with_untold(known: Summary | None, told: Sequence[Message], cwd: str | None, *, number: int) -> Summary:
    drafted = draft(take_ledger(told, cwd=cwd), told)
    joined = join(known, [drafted], number=number)
    if known is None:
        return joined
    return replace(
        joined,
        user_messages=(*known.user_messages, *drafted.user_messages),
        artifacts=(*known.artifacts, *drafted.artifacts),
    )


def _source(session: str, told: Sequence[Message]) -> Source:
    return Source(
        session=session,
        number=_NO_CHECKPOINT,
        start=told[0].index if told else 0,
        end=told[-1].index + 1 if told else 0,
        covered=told[-1].index + 1 if told else 0,
        status=Status.DETERMINISTIC,
    )
