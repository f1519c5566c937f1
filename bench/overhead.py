"""What a consolidation without a model costs, beside the bare cost of decoding the same lines.

    python bench/overhead.py [SESSION.jsonl] [--runs 7]

Both sides run in turn in one process on one file; the medians and their relation are printed. The aim: at most three
times the decoding plus half a second, for a 4 MB session.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson
from sessions import session_rows, write_rows

from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.locating import Place
from worker.wiring import tools_for

ALLOWED_FACTOR = 3
ALLOWED_SECONDS = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("session", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = options.session or _made(Path(folder))
        decoding, consolidating = [], []
        for number in range(options.runs + 1):
            decoding.append(_seconds(lambda: _decode(session)))
            consolidating.append(_seconds(partial(_consolidate, session, Path(folder) / f"w{number}")))
        _print(session, decoding[1:], consolidating[1:], consolidating[0])


def _made(folder: Path) -> Path:
    session = folder / "session.jsonl"
    write_rows(session, 4 * 2**20, session_rows())
    return session


def _decode(session: Path) -> None:
    with session.open("rb") as file:
        for line in file:
            orjson.loads(line)


def _consolidate(session: Path, workspace: Path) -> None:
    place = Place(root=workspace, run=workspace / ".afterturn")
    result = consolidate(Request(path=session), tools_for(place, Settings(workspace=workspace)))
    assert result.checkpoint, result


def _seconds(act: Callable[[], None]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _print(session: Path, decoding: list[float], consolidating: list[float], first: float) -> None:
    bare, whole = statistics.median(decoding), statistics.median(consolidating)
    allowed = ALLOWED_FACTOR * bare + ALLOWED_SECONDS
    print(f"{session.name}: {session.stat().st_size / 2**20:.1f} MiB, {len(decoding)} runs after one warm-up")
    print(f"decoding       median {bare * 1000:8.1f} ms   (min {min(decoding) * 1000:.1f})")
    print(f"consolidating  median {whole * 1000:8.1f} ms   (min {min(consolidating) * 1000:.1f})")
    print(f"  first run, with the imports: {first * 1000:8.1f} ms")
    print(f"allowed        {ALLOWED_FACTOR} x decoding + {ALLOWED_SECONDS} s = {allowed * 1000:.1f} ms")
    print(f"share of it    {whole / allowed:.2f}")


if __name__ == "__main__":
    main()
