"""The commands of the service: submit, status, cancel, health, up, worker, beat. `worker.cli` adds them to `afterturn`.

`afterturn hook` is here for its help only: an agent waits for it, so `worker.cli.main` takes it before click is loaded.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from worker.cli_options import EXIT_DONE, EXIT_PROBLEMS, json_option, settings_of, workspace_option
from worker.errors import UsageError

WATCH_SECONDS = 1.0
SUBMIT_SECONDS = 1.0
"""A person can wait longer than an agent before the job is left on disk."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@workspace_option
@click.option("--all", "seal_all", is_flag=True, help="Hold no tail back: the session has ended or is idle.")
@click.option("--instructions", default="", help="What to keep in full in this run, at most 800 characters.")
@click.option("--priority", type=click.Choice(["interactive", "turn", "nightly"]), default="interactive")
@click.option(
    "--resummarize", "is_again", is_flag=True, help="Summarize again what was summarized, from the transcript."
)
@click.option("--wait", "wait_seconds", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait for the end.")
@json_option
def submit(
    file: Path,
    workspace: Path | None,
    as_json: bool,
    seal_all: bool,
    instructions: str,
    priority: str,
    is_again: bool,
    wait_seconds: float | None,
) -> int:
    """Queue the session in FILE and go on; `afterturn up` or a worker consolidates it.

    Without Redis the job waits on disk, and the next worker takes it.

    \b
    Example:
      afterturn submit ~/.claude/projects/-home-me-app/1f0c….jsonl
      afterturn submit session.jsonl --workspace ./memory --wait 120 --json
    """
    from worker import client, terminal

    settings_of(workspace)
    submission = client.submit(
        file,
        workspace=workspace,
        kind="resummarize" if is_again else "consolidate",
        trigger="manual",
        priority=priority,
        instructions=instructions,
        seal_all=seal_all,
        budget_seconds=SUBMIT_SECONDS,
    )
    if wait_seconds is not None:
        return _wait(submission.job, workspace, wait_seconds, as_json)
    found = {"job": submission.job, "spooled": submission.spooled, "reason": submission.reason}
    text = submission.job + (f" (on disk: {submission.reason}; a worker takes it)" if submission.spooled else "")
    terminal.print_object(found, as_json=as_json, text=text)
    return EXIT_DONE


def _wait(job_id: str, workspace: Path | None, seconds: float, as_json: bool) -> int:
    from worker import client, monitoring, terminal
    from worker.errors import Transient
    from worker.wiring import SystemClock

    job = client.wait(job_id, timeout=seconds, workspace=workspace)
    if job is None or job.ending is None:
        raise Transient(f"{job_id}: not done after {seconds:g} s; 'afterturn status {job_id}' shows where it is")
    text = monitoring.where_of(job, SystemClock().now())
    terminal.print_object(monitoring.job_object(job), as_json=as_json, text=text)
    return 3 if job.ending.outcome == "failed" else EXIT_DONE


@click.command()
@click.argument("named", metavar="[SESSION|JOB]", required=False)
@workspace_option
@click.option("--watch", is_flag=True, help="Show it again every second, until Ctrl-C.")
@click.option("--follow", is_flag=True, help="Print events as they happen, until Ctrl-C.")
@json_option
def status(named: str | None, workspace: Path | None, watch: bool, follow: bool, as_json: bool) -> int:
    """Show what is queued, what runs and how far it is, and what ended last.

    SESSION is a session's key or its transcript; JOB the id that `submit` printed.

    \b
    Example:
      afterturn status --watch
      afterturn status --follow --json | jq .name
    """
    from worker import terminal
    from worker.monitoring import event_line, event_object

    with _service(workspace) as service:
        if follow:
            for event in service.events.follow(service.events.last_id()):
                if event is not None:
                    terminal.print_line(event_object(event), as_json=as_json, text=event_line(event))
            return EXIT_DONE
        return _show_status(service, named, watch=watch, as_json=as_json)


def _show_status(service: Any, named: str | None, *, watch: bool, as_json: bool) -> int:
    from worker import monitoring, terminal

    shown = ""
    while True:
        jobs = _jobs(service, named)
        text = monitoring.table(jobs, service.clock.now())
        if as_json:
            terminal.print_line({"jobs": [monitoring.job_object(job) for job in jobs]}, as_json=True, text="")
        elif sys.stdout.isatty() and watch:
            click.echo(f"\x1b[H\x1b[2J{text}")
        elif text != shown:
            click.echo(text)
        shown = text
        if not watch:
            return EXIT_DONE
        time.sleep(WATCH_SECONDS)


def _jobs(service: Any, named: str | None) -> list[Any]:
    """Raises: UsageError when nothing is known under that name."""
    from worker import monitoring, wiring

    if named is None:
        return monitoring.known_jobs(service)
    job = service.desk.status(named)
    if job is not None:
        return [job]
    session = str(Path(named).absolute()) if Path(named).is_file() else named
    places = wiring.ground_of(service.settings).places()
    found = [job for place in places for job in service.desk.jobs_of(str(place.root), session)]
    if not found:
        raise UsageError(f"{named!r}: no job and no session of that name is known here; 'afterturn status' lists them")
    return sorted(found, key=lambda one: one.submitted_at, reverse=True)


@click.command()
@click.argument("named", metavar="SESSION|JOB")
@workspace_option
@json_option
def cancel(named: str, workspace: Path | None, as_json: bool) -> int:
    """Cancel a job, or all jobs of a session; one that runs stops at its next step, with what it committed kept.

    \b
    Example:
      afterturn cancel 4b1d6f0a2c3e5d77
    """
    from worker import terminal
    from worker.core.job import State

    with _service(workspace) as service:
        jobs = [job for job in _jobs(service, named) if job.state is not State.DONE]
        done = {job.id: service.desk.cancel(job.id, service.clock.now()) for job in jobs}
    text = "\n".join(f"{job} {what}" for job, what in done.items()) or "nothing to cancel: it has ended"
    terminal.print_object({"jobs": done}, as_json=as_json, text=text)
    return EXIT_DONE


@click.command()
@workspace_option
@json_option
def health(workspace: Path | None, as_json: bool) -> int:
    """Say whether work gets done: the oldest waiting job, the last success, breakers, the spool.

    Exit 5 when something has been stuck, 4 when Redis does not answer.

    \b
    Example:
      afterturn health --json
    """
    from worker import terminal
    from worker.monitoring import health_lines, health_object, health_of

    with _service(workspace) as service:
        found = health_of(service)
    terminal.print_object(health_object(found), as_json=as_json, text=health_lines(found))
    return EXIT_PROBLEMS if found.problems else EXIT_DONE


@click.command()
@workspace_option
def up(workspace: Path | None) -> int:
    """Start everything on this machine and stay: Redis, workers, beat. Ctrl-C stops it all.

    \b
    Example:
      afterturn up
      afterturn up --workspace ./memory
    """
    from worker import supervising

    supervising.serve(settings_of(workspace), os.environ, lambda line: click.echo(line, err=True))
    return EXIT_DONE


@click.command()
@workspace_option
@click.option("--queues", default="interactive,turn,nightly", help="Which queues. [interactive,turn,nightly]")
@click.option("--threads", type=click.IntRange(1, 256), help="Sessions at the same time. [AFTERTURN_WORKER_THREADS]")
@click.option("--name", default="worker", help="How monitoring names it. [worker]")
@click.option("--until-eof", is_flag=True, hidden=True)
def worker(workspace: Path | None, queues: str, threads: int | None, name: str, until_eof: bool) -> int:
    """Run one worker, for deployments; `afterturn up` starts its own.

    \b
    Example:
      AFTERTURN_REDIS_URL=redis://redis:6379/0 afterturn worker --threads 16
    """
    from worker.jobs import Staff, run_worker
    from worker.service import Service

    settings = settings_of(workspace)
    named = tuple(queue.strip() for queue in queues.split(",") if queue.strip())
    staff = Staff(queues=named, threads=threads or settings.worker_threads, name=name, until_eof=until_eof)
    return run_worker(Service.connect(settings), staff)


@click.command()
@workspace_option
@click.option("--until-eof", is_flag=True, hidden=True)
def beat(workspace: Path | None, until_eof: bool) -> int:
    """Run the clock that starts the nightly run, for deployments; one per Redis.

    \b
    Example:
      AFTERTURN_REDIS_URL=redis://redis:6379/0 AFTERTURN_NIGHTLY_AT=02:15 afterturn beat
    """
    from worker.jobs import run_beat

    run_beat(settings_of(workspace), until_eof=until_eof)
    return EXIT_DONE


@click.command()
@click.argument("agent", type=click.Choice(["claude-code", "codex"]))
@click.argument("notification", required=False)
@click.option("--install", is_flag=True, help="Show what to put into the agent's settings.")
@click.option("--write", is_flag=True, help="With --install: put it there; everything else in the file stays.")
def hook(agent: str, notification: str | None, install: bool, write: bool) -> int:
    """What AGENT calls when something happened: Claude Code with JSON on stdin, Codex with JSON as the last argument.

    It never fails and takes milliseconds; what went wrong is in hooks.log of the run folder. The start of a session of
    Claude Code is answered with what is remembered of it.

    \b
    Example:
      afterturn hook --install claude-code
      afterturn hook --install --write claude-code
    """
    if not install:
        from worker.hooks import main

        return main([agent, *([notification] if notification else [])])
    from datetime import UTC, datetime

    from worker import hook_settings

    if agent == "codex":
        click.echo('# ~/.codex/config.toml\nnotify = ["afterturn", "hook", "codex"]')
        return EXIT_DONE
    if not write:
        click.echo(hook_settings.settings_snippet())
        return EXIT_DONE
    merged = hook_settings.merge_into_settings(hook_settings.settings_path(os.environ), datetime.now(UTC))
    backup = f"; the old file is {merged.backup}" if merged.backup else ""
    click.echo(f"{merged.path}: {'hooks written' if merged.changed else 'hooks were there already'}{backup}")
    return EXIT_DONE


@contextmanager
def _service(workspace: Path | None) -> Iterator[Any]:
    """The service as a reader sees it."""
    from worker.service import Service

    service = Service.connect(settings_of(workspace))
    try:
        yield service
    finally:
        with suppress(OSError):
            service.link.close()


COMMANDS = (submit, status, cancel, health, up, worker, beat, hook)
