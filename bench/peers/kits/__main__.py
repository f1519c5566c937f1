"""Public kits that judge compaction, run on Afterturn with their own sessions and their own scoring.

    PYTHONPATH=bench python -m peers.kits [--budgets 10%,20%,30%] [--seeds 1-4] [--rounds 5]

compaction-conformance-kit (twenty canaries, so many rounds, budgets as shares of the session's characters; and its
sessions in which values are put right in other words), conpact
(fifteen side constraints), compaction-guard and distil-llm (second opinions on the planted sessions). The model is the
stand-in that words every identifier away; it also answers conpact's judge, YES when one line of the context holds all
words of the constraint. The tables go to bench/results/kits.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from peers.environments import Unavailable, python_of
from peers.planting import Kind, rows_of, sessions
from peers.running import BENCH
from peers.stand_in import StandIn, serving

HERE = Path(__file__).parent
RESULTS = BENCH / "results"
FAILED = 5


def main() -> int:
    wanted = _arguments()
    python = python_of("kits")
    if isinstance(python, Unavailable):
        print(f"the kits could not be installed: {python.reason}", file=sys.stderr)
        return FAILED
    with tempfile.TemporaryDirectory() as folder, serving(StandIn(())) as url:
        made = Path(folder) / "sessions.json"
        made.write_text(json.dumps(_planted(), ensure_ascii=False), "utf-8")
        conformance = [str(python.parent / "compaction-kit"), "benchmark", "--spec", "conformance.py:Afterturn"]
        budget = ["--budgets", wanted.budgets, "--seeds", wanted.seeds, "--rounds", str(wanted.rounds)]
        semantic = [str(python), "-m", "peers.kits.semantic_sessions", wanted.budgets, wanted.seeds, str(wanted.rounds)]
        runs = {
            "compaction-conformance-kit": [*conformance, *budget],
            "compaction-conformance-kit, values put right in other words": semantic,
            "conpact": [str(python), "-m", "peers.kits.side_constraints", str(made), url],
            "compaction-guard and distil-llm": [str(python), "-m", "peers.kits.second_opinions", str(made)],
        }
        told = {name: _told(command, folder) for name, command in runs.items()}
    text = "\n\n".join(f"## {name}\n\n{said}" for name, said in told.items())
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "kits.md").write_text(text + "\n", "utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budgets", default="10%,20%,30%", help="shares of the session, 10%% and so on")
    parser.add_argument("--seeds", default="1-4", help="of the kit's sessions")
    parser.add_argument("--rounds", type=int, default=5, help="how often each session is compacted")
    return parser.parse_args()


def _planted() -> dict[str, object]:
    return {
        session.name: {
            "rows": rows_of(session.old),
            "rules": [one.text for one in session.planted if one.kind in (Kind.RULE, Kind.LIMIT)],
        }
        for session in sessions().values()
    }


def _told(command: Sequence[str], home: str) -> str:
    """What the kit printed; when it failed, why."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "PYTHONPATH": os.pathsep.join([str(BENCH), str(BENCH.parent)]),
        "NO_PROXY": "127.0.0.1",
        "AFTERTURN_BENCH_PYTHON": sys.executable,
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
    }
    print(f"{' '.join(command)} …", file=sys.stderr)
    done = subprocess.run(command, cwd=HERE, env=environ, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    return done.stdout.strip() or f"failed: {(said or [f'exit code {done.returncode}'])[-1]}"


if __name__ == "__main__":
    sys.exit(main())
