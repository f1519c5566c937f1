"""A 500 MB session: peak memory of the first run, bytes read by a second run after ten new messages.

    python bench/large_file.py [--megabytes 500]

Each run is a process of its own; its peak is set against the peak of an interpreter that does nothing. No tail is held
back, so all that is new is covered. The bytes are those that the kernel counted for the process (rchar) while it
consolidated: of the transcript, of the checkpoints, and of modules that are loaded late.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sessions import session_rows, write_rows

RUN = """
import resource, sys
from pathlib import Path
def read_bytes():
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])
{body}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, {measured})
"""
IDLE = RUN.format(body="", measured="0")
CONSOLIDATE = RUN.format(
    body="""
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.locating import Place
from worker.wiring import tools_for
root = Path(sys.argv[2])
tools = tools_for(Place(root=root, run=root), Settings(workspace=root), hold_back=False)
before = read_bytes()
result = consolidate(Request(path=Path(sys.argv[1])), tools)
print(result.outcome.value, result.checkpoints, result.messages, file=sys.stderr)
""",
    measured="read_bytes() - before",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session, workspace = Path(folder) / "session.jsonl", Path(folder) / "workspace"
        rows = session_rows()
        write_rows(session, options.megabytes * 2**20, rows)
        idle_kib, _ = _measure(IDLE)
        print(
            f"session {session.stat().st_size / 2**20:.0f} MiB; an idle interpreter peaks at {idle_kib / 1024:.0f} MiB"
        )
        for what, new_rows in (("first run", 0), ("ten new rows", 10)):
            grown = sum(write_rows(session, 1, rows) for _ in range(new_rows))
            started = time.perf_counter()
            peak_kib, read = _measure(CONSOLIDATE, str(session), str(workspace))
            print(
                f"{what}: {time.perf_counter() - started:.1f} s, {(peak_kib - idle_kib) / 1024:.0f} MiB above idle, "
                f"{read / 2**20:.2f} MiB read{f' after {grown} rows' if grown else ''}"
            )


def _measure(code: str, *arguments: str) -> tuple[int, int]:
    """(peak KiB, bytes read) that the process prints of itself."""
    command = [sys.executable, "-c", code, *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(output[0]), int(output[1])


if __name__ == "__main__":
    main()
