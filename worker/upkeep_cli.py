"""Commands that keep a workspace: `resummarize`, `nightly`, `forget`. They work in this process, without a broker."""

import sys
from datetime import datetime
from pathlib import Path

import click

from worker.cli_options import EXIT_DONE, EXIT_PROBLEMS, json_option, settings_of, workspace_option
from worker.core.messages import message_index
from worker.errors import Permanent, Transient

_EXITS = {
    "failed": Permanent.exit_code,
    "refused": Permanent.exit_code,
    "superseded": Transient.exit_code,
}
"""By outcome: a person asked for something that was not done."""


class _MessageId(click.ParamType[int]):
    """ "m12", or the bare number."""

    name = "message"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        index = message_index(text if text.startswith("m") else f"m{text}")
        if index is None:
            self.fail(f"{text!r} is no message; m12 is one", param, ctx)
        return index


@click.command()
@click.argument("session")
@workspace_option
@click.option("--from", "first", type=_MessageId(), metavar="MESSAGE", help="First message, as m12. [the beginning]")
@click.option("--to", "last", type=_MessageId(), metavar="MESSAGE", help="Last message. [the last that is covered]")
@click.option("--instructions", default="", help="What to keep in full in this run, at most 800 characters.")
@json_option
def resummarize(
    session: str, workspace: Path | None, first: int | None, last: int | None, instructions: str, as_json: bool
) -> int:
    """Summarize SESSION, or a range of it, again from its transcript and not from the last summary.

    The result is one more checkpoint, which names those that it replaces; older ones stay on disk. A range is widened
    to whole turns.

    \b
    Example:
      afterturn resummarize 1f0c --workspace ./memory
      afterturn resummarize 1f0c --from m120 --to m187 --json
    """
    from worker import terminal, upkeep

    settings = settings_of(workspace)
    end = None if last is None else last + 1
    with terminal.progress(sys.stderr) as progress:
        place, result = upkeep.resummarize_session(
            settings, session, start=first, end=end, instructions=instructions, progress=progress
        )
    terminal.print_result(result, place, as_json=as_json)
    return _EXITS.get(result.outcome, EXIT_DONE)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@workspace_option
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="The local date that it belongs to. [today]")
@json_option
def nightly(files: tuple[Path, ...], workspace: Path | None, day: datetime | None, as_json: bool) -> int:
    """Do the work of a night now: idle sessions, degraded checkpoints, rebuilds, hygiene, retention, verification.

    A date is done once: a second run of it prints what the first one did. FILES are transcripts of sessions that were
    never consolidated. Exit 5 when verification found a problem.

    \b
    Example:
      afterturn nightly --workspace ./memory
    """
    from worker import terminal, upkeep

    settings = settings_of(workspace)
    with terminal.progress(sys.stderr) as progress:
        reports = upkeep.nights(settings, day=day.date() if day else None, transcripts=files, progress=progress)
    fields = {"nights": [{"workspace": str(place.root), **report.as_object()} for place, report in reports]}
    lines = [line for place, report in reports for line in (str(place.root), *report.lines())]
    terminal.print_object(fields, as_json=as_json, text="\n".join(lines) or "no workspace yet")
    return EXIT_PROBLEMS if any(report.record.problems for _, report in reports) else EXIT_DONE


@click.command()
@click.argument("session")
@workspace_option
@json_option
def forget(session: str, workspace: Path | None, as_json: bool) -> int:
    """Delete what is kept of SESSION: checkpoints, artifacts, its lines in MEMORY.md and HISTORY.md.

    HISTORY.md keeps one line that there was such a session. The transcript is not touched; a later run of it begins
    anew, the nightly job does not.

    \b
    Example:
      afterturn forget 1f0c --workspace ./memory
    """
    from worker import terminal, upkeep

    place, gone = upkeep.forget_session(settings_of(workspace), session)
    fields = {"workspace": str(place.root), "session": gone.session, "checkpoints": gone.checkpoints}
    text = f"{gone.session} is forgotten: {gone.checkpoints} checkpoints, {gone.covered} messages"
    terminal.print_object(fields, as_json=as_json, text=text)
    return EXIT_DONE


COMMANDS = (resummarize, nightly, forget)
