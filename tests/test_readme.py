"""The README says what is true: its settings are those of the code, its commands exist, its example runs."""

import json
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


def given_back() -> str:
    """The section that says what the agent gets back."""
    return README.read_text("utf-8").split("### What the agent gets back\n")[1].split("\n## As a service\n")[0]


def environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(home), "PYTHONPATH": str(README.parent)}


def test_what_a_compacted_session_is_told_is_what_is_shown(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    environ = environment(tmp_path)
    for command in (f"python {README.parent}/examples/orders_session.py {session}", f"afterturn run {session} --all"):
        subprocess.run(command.split(), env=environ, capture_output=True, timeout=60, check=True)
    (key,) = (path.name for path in tmp_path.glob(".afterturn/workspaces/*/sessions/*"))
    called = {"hook_event_name": "SessionStart", "source": "compact", "session_id": key.partition("--")[2]}
    done = subprocess.run(
        ["afterturn", "hook", "claude-code"],
        input=json.dumps(called | {"transcript_path": str(session)}),
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"].splitlines()
    for line in given_back().split("```\n")[1].splitlines():
        if line != "…":
            assert line in told
            told = told[told.index(line) + 1 :]


def test_the_lines_for_agents_that_read_files_name_the_file_that_is_written(tmp_path: Path) -> None:
    session = tmp_path / "app" / "session.jsonl"
    session.parent.mkdir()
    (session.parent / "CLAUDE.md").write_text("# App")
    lines = given_back().split("```sh\n")[1].split("```")[0].splitlines()

    def shell(command: str) -> str:
        run = ["sh", "-ec", command]
        environ = environment(tmp_path)
        done = subprocess.run(
            run, cwd=session.parent, env=environ, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout.strip()

    shell("\n".join(line for line in lines if line.startswith("printf")))
    imported = (session.parent / "CLAUDE.md").read_text().splitlines()
    assert imported[0] == "# App"
    session.write_text(json.dumps({"role": "user", "content": "From now on, never touch the schema."}) + "\n")
    shell(f"afterturn run {session} --all")
    memory = Path(imported[1].removeprefix("@"))
    assert "never touch the schema" in memory.read_text()
    assert f"First read {memory}, as background." in (session.parent / "AGENTS.md").read_text()
    exports = [line for line in lines if line.startswith("export")]
    places = [shell(f"{line}\nafterturn where") for line in exports]
    assert places == [f"{tmp_path}/.openclaw/workspace", f"{tmp_path}/.nanobot/workspace/memory"]


def test_the_python_for_an_agent_of_ones_own_runs(tmp_path: Path) -> None:
    code = given_back().split("```python\n")[1].split("```")[0]
    (tmp_path / "chat.jsonl").write_text(json.dumps({"role": "user", "content": "hello"}) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(messages)"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == str([{"role": "user", "content": "hello"}])
    assert len(list(tmp_path.glob(".afterturn/run/spool/*.json"))) == 1


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
