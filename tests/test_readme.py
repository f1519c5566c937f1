"""The README says what is true: its settings are those of the code, its commands exist, its example runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

from worker.cli import cli
from worker.config import PREFIX, Settings

README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- settings: made from worker/config.py -->\n", "<!-- /settings -->"


def settings_table() -> str:
    """The table as the README must hold it."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, ()) else f"`{field.default}`"
        rows.append(f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def example() -> list[tuple[str, list[str]]]:
    """The commands of the first console block, each with the lines that it is said to print."""
    block = README.read_text("utf-8").split("```console\n")[1].split("```")[0]
    commands = block.split("$ ")[1:]
    return [(command.splitlines()[0], command.splitlines()[1:]) for command in commands]


def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, shown in example():
        words = [word.replace("examples/", f"{README.parent}/examples/") for word in command.split()]
        done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        printed = done.stdout.splitlines()
        for line in shown:
            if line != "…":
                assert line in printed, command
                printed = printed[printed.index(line) + 1 :]


def test_the_settings_table_is_that_of_the_code() -> None:
    text = README.read_text("utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == settings_table()


def test_every_command_is_in_the_table() -> None:
    text = README.read_text("utf-8")
    for name in cli.commands:
        assert f"| `afterturn {name}" in text, name


def test_every_command_that_is_shown_exists() -> None:
    shown = set(re.findall(r"afterturn ([a-z]+)", README.read_text("utf-8")))
    assert shown <= set(cli.commands), shown - set(cli.commands)
