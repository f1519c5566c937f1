"""Runs one system under test on one session: a process, an environment and a stand-in of its own."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from peers import scoring
from peers.drivers.driving import RESULT, Report
from peers.environments import Unavailable, python_of
from peers.extracting import Policy
from peers.planting import Session, rows_of
from peers.stand_in import Fault, Meter, StandIn, serving

from worker.core.tokens import estimate_tokens

BENCH = Path(__file__).parents[1]
TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """driver: module of `peers.drivers`. environment: None is the project's own."""

    name: str
    driver: str
    environment: str | None
    variant: str = "default"


OURS = System(name="afterturn", driver="ours", environment=None)
SYSTEMS = (
    OURS,
    System(name="afterturn, no model", driver="ours", environment=None, variant="no model"),
    System(name="langchain", driver="langchain_summarization", environment="langchain"),
    System(name="langchain, untrimmed", driver="langchain_summarization", environment="langchain", variant="untrimmed"),
    System(name="langmem", driver="langmem_summaries", environment="langchain"),
    System(name="langmem, wide", driver="langmem_summaries", environment="langchain", variant="wide"),
    System(name="compact-middleware", driver="compact_middleware", environment="langchain"),
    System(name="nanobot", driver="nanobot_consolidator", environment="nanobot"),
    System(name="nanobot, small", driver="nanobot_consolidator", environment="nanobot", variant="small"),
    System(name="crewai", driver="crewai_window", environment="crewai"),
    System(name="crewai, small", driver="crewai_window", environment="crewai", variant="small"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was run."""

    system: str
    session: str
    policy: Policy
    fault: Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one run gave. failure: why there are no figures. error: what the call raised; its agent still has it all.

    reach, left: shares, of the old messages and of the context's tokens. prompt_ratio: prompt tokens per token of the
    old messages. seconds, cpu_seconds: without the model. kept: items by kind, in what the agent goes on with.
    """

    run: Run
    version: str = ""
    failure: str = ""
    error: str = ""
    reach: float = 0.0
    kept: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    planted: int = 0
    stale: int = 0
    superseded: int = 0
    calls: int = 0
    prompt_ratio: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0
    left_tokens: int = 0
    left: float = 0.0
    note: str = ""

    @property
    def kept_in_all(self) -> int:
        return sum(self.kept.values())


def measure(system: System, session: Session, *, policy: Policy = Policy.PROSE, fault: Fault = Fault.NONE) -> Row:
    """One run of the system on the session. What cannot be installed, hangs or dies is a row that says so."""
    run = Run(system=system.name, session=session.name, policy=policy, fault=fault)
    python = python_of(system.environment) if system.environment else Path(sys.executable)
    if isinstance(python, Unavailable):
        return Row(run=run, failure=f"not installed: {python.reason}")
    stand_in = StandIn((message.text for message in session.messages), policy=policy, fault=fault)
    with serving(stand_in) as url, tempfile.TemporaryDirectory() as folder:
        task = {
            "rows": rows_of(session.messages),
            "base_url": url,
            "keep_rows": len(rows_of(session.tail)),
            "variant": system.variant,
        }
        report = _driven(system, python, task, Path(folder))
    if isinstance(report, str):
        return Row(run=run, failure=report)
    return judged(session, report, stand_in.meter, run)


def judged(session: Session, report: Report, meter: Meter, run: Run) -> Row:
    """The figures of a run that told its outcome."""
    whole = [message.text for message in session.messages]
    left = whole if report.error else [report.text, *report.kept]
    context = "\n".join(left)
    found = scoring.kept(session.planted, context)
    before = sum(map(estimate_tokens, whole))
    left_tokens = sum(map(estimate_tokens, left))
    return Row(
        run=run,
        version=report.version,
        error=report.error,
        reach=scoring.reach(session.old, (one.prompt for one in meter.asked)),
        kept={kind.value: count for kind, count in scoring.by_kind(found).items()},
        lost=tuple(f"{one.kind}: {one.name}" for one in session.planted if one not in found),
        planted=len(session.planted),
        stale=len(scoring.stale(session.planted, context)),
        superseded=sum(bool(one.superseded) for one in session.planted),
        calls=meter.calls,
        prompt_ratio=meter.prompt_tokens / sum(estimate_tokens(message.text) for message in session.old),
        seconds=max(0.0, report.seconds - meter.seconds),
        cpu_seconds=report.cpu_seconds,
        peak_mib=report.peak_mib,
        left_tokens=left_tokens,
        left=left_tokens / before,
        note=report.note,
    )


def _driven(system: System, python: Path, task: Mapping[str, object], folder: Path) -> Report | str:
    """What the driver reported, else why it did not."""
    path = folder / "task.json"
    path.write_text(json.dumps(task, ensure_ascii=False), "utf-8")
    command = [str(python), "-m", f"peers.drivers.{system.driver}", str(path)]
    try:
        done = subprocess.run(
            command,
            env=_environment(str(task["base_url"]), folder),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"gave no result within {TIMEOUT_SECONDS} s"
    told = [line for line in done.stdout.splitlines() if line.startswith(RESULT)]
    if not told:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return f"failed: {said[-1][:160]}"
    return Report(**json.loads(told[-1].removeprefix(RESULT)))


def _environment(base_url: str, folder: Path) -> dict[str, str]:
    """Nothing of the caller's own, no home to read settings from, no telemetry, no way around the stand-in."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join([str(BENCH), str(BENCH.parent)]),
        "NO_PROXY": "127.0.0.1",
        "OPENAI_API_KEY": "not-a-key",
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_BASE": base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "TIKTOKEN_CACHE_DIR": _tokenizers(),
        "ANONYMIZED_TELEMETRY": "False",
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CREWAI_DISABLE_TRACKING": "true",
        "CREWAI_TRACING_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "OTEL_SDK_DISABLED": "true",
    }


def _tokenizers() -> str:
    """The folder of tokenizer files that LiteLLM brings, so that nobody fetches them."""
    spec = importlib.util.find_spec("litellm")
    return str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers") if spec and spec.origin else ""
