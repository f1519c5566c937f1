"""What all commands share: their exit codes, the options that most of them have, and the settings behind them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from worker.config import Settings

EXIT_DONE = 0
EXIT_BUG = 1
EXIT_USAGE = 2
EXIT_PROBLEMS = 5
EXIT_INTERRUPTED = 130


def workspace_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--workspace",
        "-w",
        type=click.Path(path_type=Path),
        help="Folder for MEMORY.md, HISTORY.md and sessions/. [env: AFTERTURN_WORKSPACE; else one per project]",
    )(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def settings_of(workspace: Path | None) -> "Settings":
    """The settings of the environment, with the workspace that the command line names."""
    from worker.config import Settings
    from worker.log import configure_log

    settings = Settings.from_env(os.environ)
    configure_log(settings.log_level)
    return settings.model_copy(update={"workspace": workspace}) if workspace else settings
