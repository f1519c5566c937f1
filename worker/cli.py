"""The command `afterturn`: arguments in, results on stdout, everything else on stderr, an exit code that tells.

Nothing heavy is imported before a command needs it: `--help` costs what click costs.
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from worker import __version__
from worker.cli_options import (
    EXIT_BUG,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_PROBLEMS,
    EXIT_USAGE,
    json_option,
    settings_of,
    workspace_option,
)
from worker.errors import AfterturnError
from worker.reading_cli import COMMANDS as READING_COMMANDS
from worker.service_cli import COMMANDS
from worker.upkeep_cli import COMMANDS as UPKEEP_COMMANDS


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="afterturn")
def cli() -> None:
    """Consolidate what an agent session has said into a checkpoint, MEMORY.md and HISTORY.md.

    The LLM proposes, code decides, the transcript stays the truth.

    \b
    Exit codes: 0 done (also: nothing to do), 1 bug, 2 usage or setting, 3 permanent failure,
    4 try again later, 5 a check found problems, 130 interrupted.
    """


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@workspace_option
@click.option("--keep-recent", type=click.IntRange(min=0), metavar="TOKENS", help="Tail that stays verbatim.")
@click.option("--all", "seal_all", is_flag=True, help="Hold no tail back: the session has ended or is idle.")
@click.option("--instructions", default="", help="What to keep in full in this run, at most 800 characters.")
@click.option("--constraint", "constraints", multiple=True, metavar="RULE", help="A rule in force; may be repeated.")
@click.option("--task", "tasks", multiple=True, metavar="'ID: TEXT'", help="An open task; may be repeated.")
@click.option("--require-model", is_flag=True, help="Write nothing (exit 4) when the model stays unavailable.")
@click.option("--dry-run", is_flag=True, help="Print the plan; ask nothing, write nothing.")
@json_option
def run(
    file: Path,
    workspace: Path | None,
    as_json: bool,
    dry_run: bool,
    seal_all: bool,
    keep_recent: int | None,
    **options: Any,
) -> int:
    """Consolidate the session in FILE now, in this process.

    FILE is a transcript of Claude Code, Codex, OpenClaw, pi, nanobot, Gemini CLI, SWE-agent, or OpenAI or Anthropic
    messages; its format is found from its content. It is only ever read.

    \b
    Example:
      afterturn run ~/.claude/projects/-home-me-app/1f0c….jsonl
      afterturn run session.jsonl --workspace ./memory --all --json
    """
    from worker import terminal, wiring
    from worker.consolidate import Request, consolidate, plan_session

    settings = settings_of(workspace)
    request = Request(path=file, **options)
    place = wiring.ground_of(settings).place_of(file)
    tools_for = partial(wiring.tools_for, place, settings, hold_back=not seal_all, keep_recent_tokens=keep_recent)
    if dry_run:
        terminal.print_plans(plan_session(request, tools_for()), as_json=as_json)
        return EXIT_DONE
    with terminal.progress(sys.stderr) as progress:
        result = consolidate(request, tools_for(progress=progress))
    terminal.print_result(result, place, as_json=as_json)
    return EXIT_DONE


@cli.command()
@click.argument("session")
@workspace_option
@click.option("--number", type=click.IntRange(min=1), help="An older checkpoint than the newest.")
@click.option("--budget", type=click.IntRange(min=200), metavar="TOKENS", help="Size of the rendering. [12000]")
@json_option
def show(session: str, workspace: Path | None, number: int | None, budget: int | None, as_json: bool) -> int:
    """Show what is remembered of SESSION: the nine sections, as Markdown or as the checkpoint's JSON.

    SESSION is its key, its id, or the beginning of one; a transcript's path works too.

    \b
    Example:
      afterturn show 1f0c --workspace ./memory --budget 4000
    """
    from worker import terminal, wiring

    settings = settings_of(workspace)
    place, key = wiring.find_session(settings, session)
    chain = wiring.load_chain(place, key, number)
    terminal.print_checkpoint(chain, budget or settings.show_tokens, is_newest=number is None, as_json=as_json)
    return EXIT_DONE


@cli.command()
@click.argument("session", required=False)
@workspace_option
@json_option
def verify(session: str | None, workspace: Path | None, as_json: bool) -> int:
    """Check every hash again: checkpoints, their chain, source ranges, artifacts, HISTORY.md, MEMORY.md.

    Exit 5 and one line per problem when something does not hold.

    \b
    Example:
      afterturn verify --workspace ./memory
    """
    from worker import terminal, wiring

    problems = wiring.verify_places(settings_of(workspace), session)
    terminal.print_problems(problems, as_json=as_json)
    return EXIT_PROBLEMS if problems else EXIT_DONE


@cli.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@workspace_option
@json_option
def where(path: Path | None, workspace: Path | None, as_json: bool) -> int:
    """Print the folder in which the memory of a project is kept.

    PATH is a transcript or a project folder; without it, the current folder.

    \b
    Example:
      cat "$(afterturn where)/MEMORY.md"
    """
    from worker import terminal, wiring

    place = wiring.ground_of(settings_of(workspace)).place_of(path or Path.cwd())
    terminal.print_object({"workspace": str(place.root)}, as_json=as_json, text=str(place.root))
    return EXIT_DONE


@cli.command()
@workspace_option
@json_option
def doctor(workspace: Path | None, as_json: bool) -> int:
    """Check this installation: Python, settings, model, workspace, Redis.

    \b
    Example:
      AFTERTURN_MODEL=openai/gpt-5-mini afterturn doctor
    """
    from worker import diagnosis, terminal

    checks = diagnosis.diagnose(os.environ, workspace)
    terminal.print_diagnosis(checks, as_json=as_json)
    return EXIT_DONE if all(check.ok for check in checks) else EXIT_PROBLEMS


for command in (*COMMANDS, *UPKEEP_COMMANDS, *READING_COMMANDS):
    cli.add_command(command)


def main() -> None:
    """Entry point: turns every way a command can end into one line and an exit code."""
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    try:
        code = cli.main(arguments, prog_name="afterturn", standalone_mode=False)
    except click.ClickException as exc:
        exc.show()
        return EXIT_USAGE
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted; everything is as it was")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except AfterturnError as exc:
        _report_failure(exc, arguments)
        return exc.exit_code
    except Exception as exc:  # noqa: BLE001 - the boundary: a bug ends in one line, not in a traceback
        return _report_bug(exc)
    return code if isinstance(code, int) else EXIT_DONE


def _report_failure(error: AfterturnError, arguments: list[str]) -> None:
    from worker import terminal

    if "--json" in arguments:
        terminal.print_failure(error)
    _complain(str(error))


def _report_bug(error: Exception) -> int:
    _complain(f"this is a bug: {type(error).__name__}: {error}; AFTERTURN_LOG_LEVEL=debug shows where")
    if os.environ.get("AFTERTURN_LOG_LEVEL") == "debug":
        import traceback

        traceback.print_exception(error)
    return EXIT_BUG


def _complain(message: str) -> None:
    print(f"afterturn: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
