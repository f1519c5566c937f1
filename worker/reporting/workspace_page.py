"""All sessions of one workspace as values of a page: a row each, and what they come to together."""

from collections.abc import Sequence
from datetime import tzinfo

from worker.core.checkpoint import Checkpoint
from worker.core.rendering import Rendering
from worker.core.session_key import session_label
from worker.core.tokens import estimate_tokens
from worker.reporting.citing import Citing, span
from worker.reporting.counting import counted, dollars, total_cost
from worker.reporting.figures import counts_of, tokens_before
from worker.reporting.page import Figure, MemoryLine, SessionRow, WorkspacePage, in_words
from worker.reporting.session_page import title_of


def newest_first(chains: Sequence[Sequence[Checkpoint]]) -> list[Sequence[Checkpoint]]:
    """The sessions, the one that was consolidated last first."""
    by_key = sorted(chains, key=lambda chain: chain[-1].session.key)
    return sorted(by_key, key=lambda chain: chain[-1].created_at, reverse=True)


def session_row(
    chain: Sequence[Checkpoint], whole: Checkpoint, rendering: Rendering, *, zone: tzinfo, target: str | None
) -> SessionRow:
    """The key figures of a session, all from its checkpoints."""
    counts = counts_of(whole.summary)
    said = [one.timestamp for one in whole.summary.user_messages if one.timestamp]
    uses = [one.model for one in chain]
    session = whole.session
    return SessionRow(
        name=session_label(session.key).partition("/")[2],
        agent=session.agent,
        title=title_of(whole),
        span=span(Citing(prefix="", quoted=(), zone=zone), min(said, default=None), max(said, default=None)),
        messages=whole.covered,
        tokens_before=tokens_before(chain),
        tokens_after=estimate_tokens(rendering.markdown),
        rules=counts.rules,
        tasks=counts.tasks,
        errors=counts.errors,
        status=whole.status.value,
        cost=dollars(total_cost(uses)) if any(use.calls for use in uses) else "",
        command=f"afterturn report {session.key} -o report.html",
        target=target,
    )


def damaged_row(key: str, problem: str) -> SessionRow:
    """A session whose checkpoints cannot be read."""
    agent, _, name = session_label(key).partition("/")
    return SessionRow(
        name=name,
        agent=agent,
        title=session_label(key),
        span="",
        messages=0,
        tokens_before=0,
        tokens_after=0,
        rules=0,
        tasks=0,
        errors=0,
        status="",
        cost="",
        command="",
        problem=problem,
    )


def workspace_page(
    *,
    name: str,
    path: str,
    rows: Sequence[SessionRow],
    chains: Sequence[Sequence[Checkpoint]],
    memory: Sequence[MemoryLine],
    memory_tokens: int,
) -> WorkspacePage:
    """The head of a workspace's page. rows: in the order of the page. memory: the lines of MEMORY.md."""
    sound = [row for row in rows if not row.problem]
    ours = sum(bool(line.source) for line in memory)
    theirs = sum(not line.source and not line.is_heading for line in memory)
    rules, tasks = sum(row.rules for row in sound), sum(row.tasks for row in sound)
    before, after = sum(row.tokens_before for row in sound), sum(row.tokens_after for row in sound)
    lede = (
        f"{counted(len(rows), 'session').capitalize()}, {counted(sum(row.messages for row in sound), 'message')}. In "
        f"force: {counted(rules, 'rule')}. Open: "
        f"{in_words([counted(tasks, 'task'), counted(sum(row.errors for row in sound), 'error')])}."
    )
    return WorkspacePage(
        name=name,
        path=path,
        lede=lede,
        figures=(
            Figure(label="Size", value=f"{before:,} → {after:,}", note="tokens of all sessions, as said and as kept"),
            Figure(
                label="MEMORY.md",
                value=counted(ours, "line"),
                note=f"from sessions, {counted(theirs, 'line')} of people; {memory_tokens:,} tokens",
            ),
            _unsound(rows),
            _cost(chains),
        ),
        rows=tuple(rows),
        memory=tuple(memory),
        memory_note=(
            "What agents are given at a fresh start. Each line of ours names where it came from; the rest is people's."
            if memory
            else "Nothing is remembered yet."
        ),
    )


def _unsound(rows: Sequence[SessionRow]) -> Figure:
    damaged, degraded = sum(bool(row.problem) for row in rows), sum(row.status == "degraded" for row in rows)
    if damaged:
        return Figure(
            label="Checked", value=f"{damaged:,} damaged", note="'afterturn verify' says what is wrong", tone="warn"
        )
    if degraded:
        return Figure(
            label="Checked", value=f"{degraded:,} degraded", note="the nightly run does them again", tone="warn"
        )
    return Figure(label="Checked", value="All sound", note="every checkpoint reads as it was written", tone="good")


def _cost(chains: Sequence[Sequence[Checkpoint]]) -> Figure:
    uses = [one.model for chain in chains for one in chain]
    calls = sum(use.calls for use in uses)
    if not calls:
        return Figure(label="Cost", value="Nothing", note="no model was asked")
    tokens_in, tokens_out = sum(use.tokens_in for use in uses), sum(use.tokens_out for use in uses)
    note = f"{counted(calls, 'call')}; {tokens_in:,} tokens in, {tokens_out:,} out"
    return Figure(label="Cost", value=dollars(total_cost(uses)), note=note)
