"""`make demo`: one consolidation of the example session, without a model, and a look at what it leaves behind.

python examples/demo.py [FOLDER]        FOLDER is emptied first; demo/ without it
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from orders_session import write_session

ROOT = Path(__file__).parent.parent
PLACE = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo"
SESSION = PLACE / "orders-session.jsonl"
WORKSPACE = PLACE / "workspace"
SHOW_TOKENS = 2400
MARKER = re.compile(r" ?<!-- afterturn:.*?-->")


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    write_session(SESSION)
    result = json.loads(afterturn("run", str(SESSION), "--all", "--json"))
    title("An afternoon with an agent, consolidated without a model and without a key")
    print(
        f"{named(SESSION)}: {result['messages']} messages, {SESSION.stat().st_size:,} bytes\n"
        f"{result['tokens_before']:,} tokens → {result['tokens_after']:,} tokens; {result['artifacts']} large output "
        "kept as an artifact; the secret is in no file that was written"
    )
    title("What the agent is given instead of the transcript (afterturn show)")
    print(afterturn("show", result["session"], "--budget", str(SHOW_TOKENS)))
    for name in ("MEMORY.md", "HISTORY.md"):
        title(f"{named(WORKSPACE / name)}, without its marker comments")
        print(MARKER.sub("", (WORKSPACE / name).read_text("utf-8")))
    title("Where everything is")
    for path in sorted(path for path in WORKSPACE.rglob("*") if path.is_file() and ".afterturn" not in path.parts):
        print(f"{named(path)}  {path.stat().st_size:,} bytes")
    print(
        "\nThe same with a model:\n"
        f"  AFTERTURN_MODEL=openai/gpt-5-mini OPENAI_API_KEY=… .venv/bin/afterturn run {named(SESSION)} "
        f"--all --workspace {named(PLACE / 'with-model')}\n"
        "and on a session of yours:\n"
        "  .venv/bin/afterturn run ~/.claude/projects/<project>/<session>.jsonl"
    )


def afterturn(*arguments: str) -> str:
    """What the command prints; the demo's settings are the defaults, whatever the shell says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFTERTURN_")}
    command = [sys.executable, "-m", "worker", *arguments, "--workspace", str(WORKSPACE)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT).stdout


def named(path: Path) -> str:
    """The path as a person in the project's folder would type it."""
    return os.path.relpath(path, ROOT)


def title(text: str) -> None:
    print(f"\n── {text} {'─' * max(3, 100 - len(text))}\n")


if __name__ == "__main__":
    main()
