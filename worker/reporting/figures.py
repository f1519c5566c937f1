"""The numbers at the head of a report: how large, what is kept, what was left out, what was found, what it cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.core.checkpoint import Checkpoint
from worker.core.items import items_of
from worker.core.summary import Summary
from worker.reporting.counting import counted
from worker.reporting.page import Bar, CheckpointRow, Figure, LeftOut, in_words, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much of what is kept; the numbers that are named in several places."""

    rules: int
    tasks: int
    errors: int
    items: int
    said: int


def counts_of(summary: Summary) -> Counts:
    return Counts(
        rules=sum(rule.in_force for rule in summary.constraints),
        tasks=sum(task.status.is_open for task in summary.tasks),
        errors=sum(error.fix is None for error in summary.errors),
        items=sum(1 for _ in items_of(summary)),
        said=len(summary.user_messages),
    )


def tokens_before(chain: Sequence[Checkpoint]) -> int:
    """Of everything that the chain covers, each range once."""
    return sum(one.tokens_before for one in chain if not one.replaces)


def binding_words(counts: Counts) -> list[str]:
    """What binds or is open, in words."""
    named = (
        (counts.rules, f"{counted(counts.rules, 'rule')} in force"),
        (counts.tasks, counted(counts.tasks, "open task")),
        (counts.errors, counted(counts.errors, "unresolved error")),
    )
    return [words for count, words in named if count]


def figure_of_size(before: Bar, after: Bar) -> Figure:
    share = percent(after.tokens, before.tokens)
    told = f"{share:.1f} %" if share < 10 else f"{share:.0f} %"
    value = f"{before.tokens:,} → {after.tokens:,}"
    return Figure(label="Size", value=value, note=f"tokens; {told} is carried on")


def figure_of_kept(counts: Counts) -> Figure:
    note = in_words([*binding_words(counts), f"{counted(counts.said, 'message')} of people, verbatim"])
    return Figure(label="Kept", value=counted(counts.items, "item").capitalize(), note=note)


def figure_of_left_out(rows: Sequence[LeftOut], whole: Summary, savings: Mapping[str, int]) -> Figure:
    moved = sum(len(row.entries) for row in rows if row.code == "moved")
    repeats = savings.get("superseded", 0) + savings.get("progress", 0)
    rest = [f"{repeats:,} tokens of outdated reads and progress"] if repeats else []
    if whole.artifacts:
        kept_as = "a file" if len(whole.artifacts) == 1 else "files"
        rest.append(f"{counted(len(whole.artifacts), 'tool output')} kept as {kept_as}")
    if any(row.code == "tail" for row in rows):
        rest.append("the tail stays verbatim")
    return Figure(
        label="Left out",
        value=counted(moved, "item").capitalize(),
        note=in_words(rest) or "nothing but rows that are no messages",
        tone="warn" if moved or any(row.code == "degraded" for row in rows) else "",
    )


def figure_of_findings(chain: Sequence[Checkpoint]) -> Figure:
    findings = [finding for one in chain for finding in one.validation.findings]
    standing = sum(not finding.mended for finding in findings)
    if not findings:
        return Figure(label="Checked", value="No findings", note="nothing had to be put right", tone="good")
    value = f"{counted(len(findings), 'finding')}"
    if not standing:
        return Figure(
            label="Checked", value=value, note="put right" if len(findings) == 1 else "all put right", tone="good"
        )
    return Figure(label="Checked", value=value, note=f"{standing:,} still stand", tone="warn")


def figure_of_cost(totals: CheckpointRow) -> Figure:
    if not totals.calls:
        return Figure(label="Cost", value="Nothing", note="no model was asked")
    note = f"{totals.tokens_in:,} tokens in, {totals.tokens_out:,} out, {totals.seconds}"
    return Figure(label="Cost", value=totals.cost, note=f"{counted(totals.calls, 'call')}; {note}")
