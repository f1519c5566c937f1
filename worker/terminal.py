"""What a command prints. Results on stdout as text or as one JSON object; progress on stderr, on a terminal only.

Every command comes through here, also those that must be quick: what only one of them needs is loaded by it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click
import orjson

from worker.core.checkpoint import Outcome

if TYPE_CHECKING:
    from worker.consolidate import Result
    from worker.core.checkpoint import Checkpoint
    from worker.core.planning import Plan
    from worker.diagnosis import Diagnosis
    from worker.errors import AfterturnError
    from worker.locating import Place
    from worker.ports import Progress
    from worker.verifying import Problem


class TerminalProgress:
    """One line that is written over: stage, part i of n, tokens, elapsed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started = time.monotonic()

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        elapsed = int(time.monotonic() - self._started)
        share = f" {_bar(done, total)} part {done} of {total}" if total else ""
        size = f" · {tokens:,} tokens" if tokens else ""
        self._write(f"{stage}{share}{size} · {elapsed // 60}:{elapsed % 60:02d}")

    def close(self) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()


@contextmanager
def progress(stream: TextIO) -> Iterator[Progress]:
    """A progress line where `stream` is a terminal, silence elsewhere; the line is gone at the end."""
    if not stream.isatty():
        from worker.wiring import SilentProgress

        yield SilentProgress()
        return
    line = TerminalProgress(stream)
    try:
        yield line
    finally:
        line.close()


def _bar(done: int, total: int, width: int = 20) -> str:
    filled = width * done // total
    return "█" * filled + "░" * (width - filled)


def print_result(result: Result, place: Place, *, as_json: bool) -> None:
    if as_json:
        _print_json(result.as_object())
        return
    click.echo(_headline(result))
    if result.outcome is Outcome.COMMITTED:
        click.echo(_sizes(result))
        click.echo(f"  memory   {place.root / 'MEMORY.md'}\n  history  {place.root / 'HISTORY.md'}")
        click.echo(f"  summary  afterturn show {result.session} --workspace {place.root}")
    for finding in result.findings:
        if not finding.mended:
            click.echo(f"  finding  {finding.code} at {finding.where}{_ids(finding.ids)} {finding.detail}".rstrip())


def _headline(result: Result) -> str:
    if result.outcome is not Outcome.COMMITTED:
        return f"{result.outcome.value.replace('_', ' ')}: {result.explanation}"
    start, end = result.range
    model = "" if result.llm_calls else " (no model)"
    return f"checkpoint {result.checkpoint} {result.status}{model}: messages m{start}–m{end - 1} of {result.messages}"


def _sizes(result: Result) -> str:
    mended = sum(finding.mended for finding in result.findings)
    calls = f" · {result.llm_calls} calls, {result.tokens_in:,} tokens in, {result.tokens_out:,} out"
    return (
        f"  tokens   {result.tokens_before:,} → {result.tokens_after:,}{calls if result.llm_calls else ''}"
        f"{_counted(result.artifacts, 'artifact')}{_counted(mended, 'mended finding')}"
    )


def _counted(number: int, what: str) -> str:
    """ " · 1 artifact", " · 2 artifacts"; nothing for none."""
    return f" · {number:,} {what}{'' if number == 1 else 's'}" if number else ""


def _ids(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if ids else ""


def print_plans(plans: Sequence[Plan], *, as_json: bool) -> None:
    """What `--dry-run` shows: one line per range that would become a checkpoint."""
    if as_json:
        _print_json({"plans": plans})
        return
    if not plans:
        click.echo("nothing to do: everything fits the tail; --keep-recent N or --all covers it")
    for plan in plans:
        cost = "" if plan.estimate.cost_usd is None else f", about ${plan.estimate.cost_usd:.2f}"
        click.echo(
            f"messages m{plan.start}–m{plan.end - 1}: {plan.tokens_before:,} tokens, {plan.tokens_after:,} after "
            f"tidying, {plan.artifacts} artifacts, {plan.parts} parts, {plan.estimate.calls} calls"
            f" ({plan.estimate.tokens_in:,} tokens in, up to {plan.estimate.tokens_out:,} out{cost})"
        )


def print_checkpoint(chain: Sequence[Checkpoint], budget_tokens: int, *, is_newest: bool, as_json: bool) -> None:
    """The last of the chain, joined with what only its ancestors hold."""
    from worker.core.rendering import render_summary, source_of
    from worker.wiring import checkpoint_object, joined

    if as_json:
        _print_json(checkpoint_object(chain))
        return
    whole = joined(chain)
    page = render_summary(whole.summary, source=source_of(whole), budget_tokens=budget_tokens, newest=is_newest)
    click.echo(page.markdown, nl=False)


def print_problems(problems: Sequence[Problem], *, as_json: bool) -> None:
    if as_json:
        _print_json({"problems": [{"where": problem.where, "what": problem.what} for problem in problems]})
        return
    for problem in problems:
        click.echo(f"{problem.where}: {problem.what}")
    if not problems:
        click.echo("everything holds")


def print_diagnosis(checks: Sequence[Diagnosis], *, as_json: bool) -> None:
    if as_json:
        _print_json({"checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]})
        return
    for check in checks:
        click.echo(f"{'ok ' if check.ok else 'NO '} {check.name:<12} {check.detail}")


def print_object(value: dict[str, Any], *, as_json: bool, text: str) -> None:
    if as_json:
        _print_json(value)
    else:
        click.echo(text)


def print_line(value: dict[str, Any], *, as_json: bool, text: str) -> None:
    """One of many, at once: a reader behind a pipe follows."""
    sys.stdout.write(f"{orjson.dumps(value).decode() if as_json else text}\n")
    sys.stdout.flush()


def print_failure(error: AfterturnError) -> None:
    """The object that `--json` promises, for a command that failed."""
    _print_json({"outcome": Outcome.FAILED.value, "reason": error.reason, "error": str(error)})


def _print_json(value: object) -> None:
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
