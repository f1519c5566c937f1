"""`make demo`: one consolidation of the example session, without a model, and a look at what it leaves behind.

python examples/demo.py [FOLDER]        FOLDER is emptied first; demo/ without it
"""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

from orders_session import write_session

ROOT = Path(__file__).parent.parent
PLACE = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo"
SESSION = PLACE / "orders-session.jsonl"
WORKSPACE = PLACE / "workspace"
SHOW_TOKENS = 2400
SECRET = re.compile(r"⟨secret:[^⟩]+⟩")
MARKER = re.compile(r" ?<!-- afterturn:.*?-->")


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    write_session(SESSION)
    result = json.loads(afterturn("run", str(SESSION), "--all", "--json"))
    title("What the agent is given instead of the transcript (afterturn show)")
    print(afterturn("show", result["session"], "--budget", str(SHOW_TOKENS)).strip())
    for name in ("MEMORY.md", "HISTORY.md"):
        title(f"{named(WORKSPACE / name)}, without its marker comments")
        print(MARKER.sub("", (WORKSPACE / name).read_text("utf-8")).strip())
    title("In one screen")
    print(digest(json.loads(afterturn("show", result["session"], "--json"))))
    print(
        f"\nAll of it lies in {named(WORKSPACE)}; the transcript is as it was.\nThe same with a model:\n"
        f"  AFTERTURN_MODEL=openai/gpt-5-mini OPENAI_API_KEY=… .venv/bin/afterturn run {named(SESSION)} "
        f"--all --workspace {named(PLACE / 'with-model')}\n"
        "On a session of yours:\n"
        "  .venv/bin/afterturn run ~/.claude/projects/<project>/<session>.jsonl"
    )


def digest(checkpoint: dict[str, Any]) -> str:
    """What came through, a line or two for each kind."""
    summary = checkpoint["summary"]
    running = {entry["id"]: entry["text"] for entry in checkpoint["ledger"]["background"]}
    log = summary["artifacts"][0]
    kinds = {
        "rules in force": [said(rule, "rule") for rule in summary["constraints"]],
        "tasks": [f"{task['id']} {task['status'].replace('_', ' ')}: {task['text']}" for task in summary["tasks"]],
        "still running": [f"{text} ({handle})" for handle, text in running.items()],
        "decisions": [said(one, "text") for one in summary["problem_solving"] if one["kind"] == "decision"],
        "corrections": [said(memory, "text") for memory in summary["memories"] if memory["kind"] == "correction"],
        "went wrong": [said(error, "error") for error in summary["errors"]],
        "100 KB log": [f"{log['lines']:,} lines became one and a handle: {log['handle'][:16]}"],
        "tokens": [f"{checkpoint['tokens_before']:,} became {checkpoint['tokens_after']:,}"],
        "a pasted key": [
            f"was kept as {found[0]}"
            for message in summary["user_messages"]
            if (found := SECRET.search(message["text"]))
        ],
    }
    lines = [
        f"An afternoon with an agent: {checkpoint['covered']} messages, {SESSION.stat().st_size:,} bytes. Consolidated",
        "without a model and without a key. What came through, and where it was said:\n",
    ]
    for kind, told in kinds.items():
        lines += [f"  {name:<15} {cut(text)}" for name, text in zip_longest([kind], told, fillvalue="")]
    return "\n".join(lines)


def said(item: dict[str, Any], field: str) -> str:
    return f"{cut(item[field], 84)} ({', '.join(item['evidence'])})"


def cut(text: str, chars: int = 104) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


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
