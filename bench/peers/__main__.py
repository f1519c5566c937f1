"""The same sessions, the same stand-in for a model, Afterturn and other libraries: what each of them keeps.

    PYTHONPATH=bench python -m peers [--sessions talk,tool-logs] [--systems afterturn,langchain] [--policy prose]
                                     [--no-failures]

Makes an environment per library under ~/.cache/afterturn-peers (AFTERTURN_BENCH_HOME) with the pinned versions, prints
one table per session and one of failures, and writes all rows to bench/results/peers.{md,json}. What cannot be
installed is a row that says so. Times are of this run on this machine: compare them with each other only.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from peers.extracting import Policy
from peers.planting import Session, sessions
from peers.running import OURS, SYSTEMS, Row, System, measure
from peers.stand_in import Fault
from peers.tables import failure_table, session_table

from worker.core.tokens import estimate_tokens

RESULTS = Path(__file__).parents[1] / "results"
FAILURES = (
    (Policy.PROSE, Fault.ONCE_500),
    (Policy.PROSE, Fault.ALWAYS_500),
    (Policy.PROSE, Fault.CUT_OFF),
    (Policy.PROSE, Fault.TOOL_CALL),
    (Policy.BLANK, Fault.NONE),
)


def main() -> int:
    wanted = _arguments()
    made = sessions()
    chosen = [made[name] for name in wanted.sessions.split(",")] if wanted.sessions else list(made.values())
    systems = _systems(wanted.systems)
    rows: list[Row] = []
    text: list[str] = [_heading(wanted.policy)]
    for session in chosen:
        measured = list(_measured(systems, session, Policy(wanted.policy), Fault.NONE))
        rows += measured
        text += ["", _about(session), "", *session_table(measured)]
        print("\n".join(text[-len(measured) - 5 :]), flush=True)
    if not wanted.no_failures:
        failed = [row for policy, fault in FAILURES for row in _measured(systems, chosen[0], policy, fault)]
        rows += failed
        about = f"Failures of the model, on {chosen[0].name}: planted items kept, and the share of the context left"
        text += ["", about, "", *failure_table(failed)]
        print("\n".join(["", *text[-len(systems) - 4 :]]))
    _write(rows, text)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", default="", help="names, separated by commas; failures are tried on the first")
    parser.add_argument("--systems", default="", help="names, separated by semicolons")
    parser.add_argument("--policy", default=Policy.PROSE.value, choices=[policy.value for policy in Policy])
    parser.add_argument("--no-failures", action="store_true", help="leave the table of failures out")
    return parser.parse_args()


def _systems(named: str) -> Sequence[System]:
    names = named.split(";") if named else [system.name for system in SYSTEMS]
    return [system for system in SYSTEMS if system.name in names] or [OURS]


def _measured(systems: Sequence[System], session: Session, policy: Policy, fault: Fault) -> Iterator[Row]:
    for system in systems:
        print(f"{system.name} on {session.name}, {policy.value}, {fault.value} …", file=sys.stderr)
        yield measure(system, session, policy=policy, fault=fault)


def _heading(policy: str) -> str:
    now = datetime.now(UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    return f"Measured {now} on {machine}; summarizer: {policy}."


def _about(session: Session) -> str:
    tokens = sum(estimate_tokens(message.text) for message in session.old)
    return f"{session.name}: {session.about}; {len(session.old)} old messages of {tokens:,} tokens"


def _write(rows: Sequence[Row], text: Sequence[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "peers.md").write_text("\n".join(text) + "\n", "utf-8")
    (RESULTS / "peers.json").write_text(json.dumps(list(map(asdict, rows)), ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
