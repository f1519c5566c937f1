"""The whole pipeline with a real model at an OpenAI-compatible address, over six sessions.

    AFTERTURN_EVAL_MODEL=openai/qwen AFTERTURN_EVAL_API_BASE=http://127.0.0.1:8091/v1 make eval-local

Three sessions are made, three are recorded ones from the folder that AFTERTURN_TEST_DATA names (without it they are
left out, and the report says so). Leaves report.md, report.json and a folder per session in bench/results/eval-local/.
The defaults suit a model of one to eight billion parameters; AFTERTURN_EVAL_API_KEY is for an address that wants one.
Exit codes: 2 for a setting, 5 when a session has no summary or `verify` finds a problem.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from eval_local.report import as_markdown, as_object
from eval_local.running import Outcome, evaluate
from eval_local.sessions import RECORDED, Session, made_sessions, recorded_sessions

from worker.config import Settings

RESULTS = Path(__file__).parents[1] / "results" / "eval-local"
_OURS = ".eval-local"
USAGE, CHECK_FOUND_PROBLEMS = 2, 5


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code. The report is written anew after every session, as a small model takes its time."""
    wanted = _wanted(arguments)
    name, address = environment.get("AFTERTURN_EVAL_MODEL"), environment.get("AFTERTURN_EVAL_API_BASE")
    if not name or not address:
        return _refuse("set AFTERTURN_EVAL_MODEL (like openai/qwen) and AFTERTURN_EVAL_API_BASE (http://…/v1)")
    settings = Settings.from_env(
        {
            "AFTERTURN_MODEL": name,
            "AFTERTURN_API_BASE": address,
            "AFTERTURN_API_KEY": environment.get("AFTERTURN_EVAL_API_KEY", "none"),
            "AFTERTURN_WINDOW_TOKENS": str(wanted.window_tokens),
            "AFTERTURN_PART_TOKENS": str(wanted.part_tokens),
            "AFTERTURN_SUMMARY_TOKENS": str(wanted.summary_tokens),
            "AFTERTURN_STAGES": wanted.stages,
            "AFTERTURN_LLM_TIMEOUT_SECONDS": str(wanted.timeout_seconds),
            "AFTERTURN_TIMEZONE": "UTC",
        }
    )
    try:
        _empty(wanted.folder)
        sessions = _sessions(wanted, environment.get("AFTERTURN_TEST_DATA"))
    except (FileExistsError, FileNotFoundError) as exc:
        return _refuse(str(exc))
    return _evaluated(sessions, settings, wanted.folder)


def _empty(folder: Path) -> None:
    """A folder for a new report. Raises: FileExistsError for one that holds something other than an earlier report."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "sessions" / _OURS).exists():
        raise FileExistsError(f"{folder}: holds something else than an earlier report; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / _OURS).touch()


def _evaluated(sessions: Sequence[Session], settings: Settings, folder: Path) -> int:
    outcomes: list[Outcome] = []
    for session in sessions:
        print(f"{session.name} …", file=sys.stderr, flush=True)
        outcomes.append(evaluate(session, settings, folder / Path(session.name).stem))
        told = as_object(outcomes, settings, at=datetime.now(UTC))
        (folder / "report.json").write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
        (folder / "report.md").write_text(as_markdown(told), encoding="utf-8")
    print((folder / "report.md").read_text("utf-8"))
    return CHECK_FOUND_PROBLEMS if any(one.error or one.problems for one in outcomes) else 0


def _sessions(wanted: argparse.Namespace, recorded: str | None) -> list[Session]:
    """Raises: FileNotFoundError for a recorded session that is not there."""
    made = made_sessions(wanted.folder / "sessions")
    if not recorded:
        print("AFTERTURN_TEST_DATA names no folder: without recorded sessions", file=sys.stderr)
    sessions = [*made, *(recorded_sessions(Path(recorded), wanted.recorded) if recorded else ())]
    return [one for one in sessions if not wanted.only or any(name in one.name for name in wanted.only)]


def _wanted(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="eval_local", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=RESULTS,
        help="a new one or that of an earlier report; default bench/results/eval-local",
    )
    parser.add_argument("--recorded", nargs="*", default=RECORDED, help="recorded sessions, below AFTERTURN_TEST_DATA")
    parser.add_argument("--only", nargs="*", default=[], help="sessions to run, by name or a piece of it; default: all")
    parser.add_argument("--window-tokens", type=int, default=16_384)
    parser.add_argument("--part-tokens", type=int, default=3_000)
    parser.add_argument("--summary-tokens", type=int, default=1_500)
    parser.add_argument("--stages", choices=("auto", "2"), default="auto")
    parser.add_argument("--timeout-seconds", type=float, default=1_800.0)
    return parser.parse_args(arguments)


def _refuse(what: str) -> int:
    print(f"eval_local: {what}", file=sys.stderr)
    return USAGE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
