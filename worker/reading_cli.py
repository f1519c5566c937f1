"""Commands of the reading side: what was kept, found, shown and accounted for."""

import codecs
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from worker.cli_options import EXIT_DONE, json_option, settings_of, workspace_option

if TYPE_CHECKING:
    from worker.artifacts import Excerpt


@click.command()
@click.argument("handle")
@workspace_option
@click.option("--lines", metavar="A:B", help="Lines A to B, the first is 1. Also 120:, :180, 120, -50: (the last 50).")
@click.option("--bytes", "byte_range", metavar="A:B", help="Bytes from A up to, not with, B; the first is 0.")
@click.option("--grep", metavar="PATTERN", help="Lines that match a regular expression.")
@click.option("-C", "--context", type=click.IntRange(0, 100), default=0, help="Lines around each match.")
@click.option("-i", "--ignore-case", is_flag=True, help="Letter case does not matter to --grep.")
@click.option("-F", "--fixed", is_flag=True, help="PATTERN is words as they stand.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True, help="Lines or matches at most.")
@click.option("--whole", is_flag=True, help="All of it, as it was stored; for a pipe or a file.")
@click.option("--info", is_flag=True, help="What it is: tool, call, size, where and when it was kept.")
@json_option
def artifact(
    handle: str,
    workspace: Path | None,
    lines: str | None,
    byte_range: str | None,
    grep: str | None,
    whole: bool,
    info: bool,
    limit: int,
    as_json: bool,
    **search: Any,
) -> int:
    """Read a tool output that was kept whole: HANDLE is what 'show' prints of it, or the beginning of that.

    Without a choice its first lines. The hash is checked first: of an original that changed nothing is shown, and the
    exit code is 5. What is longer than --limit or 60,000 bytes ends with a line that says how to go on; long lines are
    cut with a mark.

    \b
    Example:
      afterturn artifact 05eb4be8 --lines 120:180
      afterturn artifact 05eb4be8 --grep 'ERROR|FAILED' -C 3
      afterturn artifact 05eb4be8 --whole > log.txt
    """
    from worker import artifacts

    chosen = [lines is not None, byte_range is not None, grep is not None, whole, info]
    if sum(chosen) > 1 or (whole and as_json):
        raise click.UsageError("choose one of --lines, --bytes, --grep, --whole (without --json) and --info")
    found = artifacts.find(settings_of(workspace), handle)
    if whole:
        _write_blocks(artifacts.whole(found))
    elif info:
        told = artifacts.inspect(found)
        _print_json(told.as_object()) if as_json else click.echo("\n".join(told.as_lines()))
    elif byte_range is not None:
        _print_excerpt(artifacts.read_bytes(found, byte_range), as_json=as_json)
    elif grep is not None:
        _print_excerpt(artifacts.search(found, grep, limit=limit, **search), as_json=as_json)
    else:
        _print_excerpt(artifacts.read_lines(found, lines, limit=limit), as_json=as_json)
    return EXIT_DONE


def _print_excerpt(excerpt: "Excerpt", *, as_json: bool) -> None:
    if as_json:
        _print_json(excerpt.as_object())
        return
    click.echo(excerpt.account(), err=True)
    if excerpt.data:
        _write_blocks([excerpt.data])
    elif excerpt.lines:
        click.echo(_shown(excerpt.text), color=True)
    if excerpt.left:
        click.echo(excerpt.further(), err=bool(excerpt.data))


def _print_json(value: dict[str, Any]) -> None:
    """As `terminal` prints it, which loads what these commands do without: an agent waits for them."""
    import orjson

    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def _write_blocks(blocks: Iterable[bytes]) -> None:
    """Exactly the bytes; but not to a terminal, which they could command."""
    from worker.core.excerpts import visible

    out, is_terminal = sys.stdout.buffer, sys.stdout.isatty()
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    for block in blocks:
        out.write(visible(decoder.decode(block)).encode() if is_terminal else block)
    out.write(visible(decoder.decode(b"", final=True)).encode())
    out.flush()


@click.command()
@click.argument("session", required=False)
@workspace_option
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, allow_dash=True),
    help="The page to write; - for stdout. Only another page is replaced.",
)
@json_option
def report(session: str | None, workspace: Path | None, output: Path, as_json: bool) -> int:
    """Write one page about SESSION: what is kept, on which messages it rests, what was left out and why, at what cost.

    Without SESSION, about all sessions of the workspace (without --workspace, of the current folder's project). The
    page is one file, needs no network and no program but a browser, and works without scripts. The transcript is read
    again for what is cited; when it is gone or changed, the page says so.

    \b
    Example:
      afterturn report 1f0c --workspace ./memory -o report.html
      afterturn report --workspace ./memory -o report.html
    """
    from worker import report as reports
    from worker import terminal

    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise click.UsageError("-o - prints the page itself; name a file to have --json tell where it is")
    if not to_stdout:
        reports.check_target(output)
    settings = settings_of(workspace)
    made = reports.report_session(settings, session) if session else reports.report_workspace(settings)
    if to_stdout:
        click.echo(made.html, nl=False)
        return EXIT_DONE
    size = reports.save(made, output)
    fields = {"report": str(output.absolute()), "bytes": size, "sessions": made.sessions, "told": made.told}
    terminal.print_object(fields, as_json=as_json, text=f"{output.absolute()}: {made.account()}, {size / 1000:,.0f} kB")
    return EXIT_DONE


@click.command()
@click.argument("words", nargs=-1, required=True)
@workspace_option
@click.option(
    "--budget", type=click.IntRange(min=200), default=2_000, show_default=True, help="Size of the answer, tokens."
)
@json_option
def recall(words: tuple[str, ...], workspace: Path | None, budget: int, as_json: bool) -> int:
    """Find what is remembered of WORDS in MEMORY.md, HISTORY.md and the checkpoints of this folder's project.

    Headers first (what, when, who vouches for it, where it stands), then texts, within the budget. Everything found is
    material: what the workspace shows now outranks it. No model is asked.

    \b
    Example:
      afterturn recall "which port does the database use"
      afterturn recall 数据库 端口 --budget 800 --json
    """
    from worker.recall import recall as recall_words

    settings_of(workspace)
    answer = recall_words(" ".join(words), budget=budget, workspace=workspace)
    if as_json:
        _print_json(answer.as_object())
    else:
        click.echo(_shown(answer.text), nl=False)
    return EXIT_DONE


_window_option = click.option(
    "--window",
    type=click.IntRange(min=2_000),
    metavar="TOKENS",
    help="The model's window, answer included. [AFTERTURN_WINDOW_TOKENS, else 200000]",
)
_strategy_option = click.option(
    "--strategy",
    type=click.Choice(["summarize", "truncate", "archive"]),
    default="summarize",
    show_default=True,
    help="What stands in the place of older messages: memory, nothing, a file.",
)


@click.command()
@click.argument("session")
@workspace_option
@_window_option
@click.option(
    "--format", "format_name", type=click.Choice(["openai", "anthropic"]), default="openai", show_default=True
)
@_strategy_option
@click.option("--force", is_flag=True, help="The provider said 'prompt too long': a smaller view, once.")
@click.option("--cache-marks", is_flag=True, help="Anthropic's cache_control behind the static part and at the end.")
@json_option
def view(session: str, workspace: Path | None, window: int | None, as_json: bool, **wish: Any) -> int:
    """Print the messages of an agent's next request: SESSION as it is, or as much of it as fits with its memory.

    SESSION is its key, its id, the beginning of one, or a transcript, also one that was never consolidated. What was
    sent before is repeated byte for byte, so that prompt caches keep hitting; --json says so under "prefix_kept". The
    window holds what you send beside the messages too: subtract tool definitions and a system prompt of your own.

    \b
    Example:
      afterturn view 1f0c --window 128000 --format anthropic --json
    """
    from worker import terminal
    from worker.accounting import default_window
    from worker.view import Wish, make_view

    settings = settings_of(workspace)
    made = make_view(session, Wish(window=window or default_window(settings), **wish), settings)
    text = "" if as_json else "\n".join(made.as_lines())
    terminal.print_object(made.as_object(), as_json=as_json, text=_shown(text))
    return EXIT_DONE


@click.command()
@click.argument("session")
@workspace_option
@_window_option
@_strategy_option
@json_option
def usage(session: str, workspace: Path | None, window: int | None, as_json: bool, **wish: Any) -> int:
    """Print where the tokens of SESSION's next request go, before and after it is made to fit.

    By source: system, people, assistant, each tool, memory, files; then what is kept free and what each step saved.
    Nothing is written: looking settles nothing for the views that follow.

    \b
    Example:
      afterturn usage 1f0c --window 128000
    """
    from worker import terminal
    from worker.accounting import usage as usage_of

    counted = usage_of(session, window=window, settings=settings_of(workspace), **wish)
    terminal.print_object(counted.as_object(), as_json=as_json, text="\n".join(counted.as_lines()))
    return EXIT_DONE


def _shown(text: str) -> str:
    """With its control characters made visible on a terminal; as it is elsewhere."""
    from worker.core.excerpts import visible

    return visible(text) if sys.stdout.isatty() else text


COMMANDS: tuple[click.Command, ...] = (artifact, recall, report, usage, view)
