"""A real worker process for tests: `afterturn worker` with tools that can be slow, and that kill it at a named step.

AFTERTURN_TEST_FAULT      STEP:before or STEP:after; the process dies there by SIGKILL, the first time only.
                          Steps: reading asking merging validating writing artifact commit project
AFTERTURN_TEST_MARK       the file that remembers that it has died
AFTERTURN_TEST_SLOW       seconds that the stage `validating` takes
AFTERTURN_TEST_SILENT     seconds after which a worker that is not heard is taken for dead
AFTERTURN_TEST_QUEUES, AFTERTURN_TEST_THREADS
"""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from worker import wiring
from worker.app import QUEUES
from worker.config import Settings
from worker.consolidate import Tools
from worker.jobs import Staff, run_worker
from worker.log import configure_log
from worker.ports import Progress
from worker.service import Service

FAULT = os.environ.get("AFTERTURN_TEST_FAULT", "")
MARK = Path(os.environ.get("AFTERTURN_TEST_MARK", "died"))
SLOW_SECONDS = float(os.environ.get("AFTERTURN_TEST_SLOW", "0"))


def step(name: str, when: str) -> None:
    if f"{name}:{when}" == FAULT and not MARK.exists():
        MARK.write_text("here")
        os.kill(os.getpid(), signal.SIGKILL)


class FaultyProgress:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        step(stage, "before")
        self._progress.report(stage, done, total, tokens)
        if stage == "validating":
            self._dawdle()
        step(stage, "after")

    def _dawdle(self) -> None:
        until = time.monotonic() + SLOW_SECONDS
        while time.monotonic() < until:
            time.sleep(0.05)
            self._progress.report("validating")


class Faulty:
    """An adapter whose calls of one name are a step."""

    def __init__(self, inner: Any, call: str, name: str) -> None:
        self._inner = inner
        self._call = call
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._inner, attribute)
        if attribute != self._call:
            return found

        def called(*given: Any) -> Any:
            step(self._name, "before")
            result = found(*given)
            step(self._name, "after")
            return result

        return called


def make_tools(*given: Any, progress: Progress, **more: Any) -> Tools:
    tools = wiring.tools_for(*given, progress=FaultyProgress(progress), **more)
    return replace(
        tools,
        checkpoints=Faulty(tools.checkpoints, "commit", "commit"),
        artifacts=Faulty(tools.artifacts, "put", "artifact"),
        projections=Faulty(tools.projections, "project", "project"),
    )


def main() -> int:
    settings = Settings.from_env(os.environ)
    configure_log(settings.log_level)
    service = Service.over(
        Service.connect(settings).link,
        settings,
        make_tools=make_tools,
        silent_seconds=float(os.environ.get("AFTERTURN_TEST_SILENT", "30")),
    )
    queues = os.environ.get("AFTERTURN_TEST_QUEUES", ",".join(QUEUES)).split(",")
    return run_worker(service, Staff(queues=queues, threads=int(os.environ.get("AFTERTURN_TEST_THREADS", "4"))))


if __name__ == "__main__":
    sys.exit(main())
