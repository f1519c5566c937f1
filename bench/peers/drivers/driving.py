"""What every driver does around the one call that it measures: reads its task, times the call, prints one line.

Drivers run in the environment of the library that they drive, so this imports nothing but the standard library.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]

RESULT = "RESULT "
"""Begins the one line on stdout that is meant for the bench."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """rows: of the chat API, oldest first. base_url: of the stand-in. keep_rows: the newest, to be left as they are."""

    rows: list[Row]
    base_url: str
    keep_rows: int
    variant: str

    @property
    def old(self) -> list[Row]:
        return self.rows[: -self.keep_rows]

    @property
    def tail(self) -> list[Row]:
        return self.rows[-self.keep_rows :]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the agent goes on with. text: what stands in for messages that are gone. kept: texts left as they were."""

    text: str
    kept: Sequence[str]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the bench is told. cpu_seconds: of this process. error: the call raised; the agent has it all."""

    version: str
    seconds: float
    cpu_seconds: float
    peak_mib: float
    text: str = ""
    kept: Sequence[str] = ()
    note: str = ""
    error: str = ""


def drive(package: str, call: Callable[[Task], Outcome]) -> None:
    """Runs the call on the task that the command line names, and prints the report.

    package: the distribution that is measured. Imports are outside of what is timed: an agent has done them.
    """
    task = Task(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    started, cpu_before = time.monotonic(), time.process_time()
    outcome, error = Outcome(text="", kept=()), ""
    try:
        outcome = call(task)
    except Exception as exc:  # noqa: BLE001 (what a library raises when its model fails is what is measured)
        traceback.print_exc()
        error = f"{type(exc).__name__}: {str(exc).splitlines()[0][:120] if str(exc) else ''}"
    report = Report(
        version=version(package),
        seconds=time.monotonic() - started,
        cpu_seconds=time.process_time() - cpu_before,
        peak_mib=_peak_mib(),
        error=error,
        **asdict(outcome),
    )
    print(RESULT + json.dumps(asdict(report), ensure_ascii=False), flush=True)


def _peak_mib() -> float:
    """Of this process since its program began. Linux tells it; elsewhere the process's maximum, in its units there."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text("ascii").split("VmHWM:")[1].split()[0]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def text_of(row: Row) -> str:
    return str(row.get("content") or "")
