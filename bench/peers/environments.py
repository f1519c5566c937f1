"""One virtual environment per group of peers, made once, with the versions that `environments/*.txt` pins.

They are kept apart from the project's own, and outside of the repository. A peer that cannot be installed is a row of
the table that says why.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "environments"
INSTALL_SECONDS = 1_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """An environment that could not be made, and why."""

    reason: str


def home() -> Path:
    return Path(os.environ.get("AFTERTURN_BENCH_HOME") or "~/.cache/afterturn-peers").expanduser()


def python_of(name: str) -> Path | Unavailable:
    """The interpreter of an environment, which is made first where it is missing or was made for other versions."""
    requirements = REQUIREMENTS / f"{name}.txt"
    folder = home() / name
    made_for = folder / "made-for"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    python = folder / "bin" / "python"
    if made_for.is_file() and made_for.read_text("ascii") == digest and python.exists():
        return python
    print(f"installing {name} into {folder} …", file=sys.stderr)
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)])
    except (subprocess.SubprocessError, OSError) as exc:
        return Unavailable(reason=_reason(exc))
    made_for.write_text(digest, "ascii")
    return python


def _run(command: list[str]) -> None:
    """With low priority: what is measured elsewhere on the machine shall not suffer."""
    nice = ["nice", "-n", "10"] if shutil.which("nice") else []
    subprocess.run([*nice, *command], check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)


def _reason(error: Exception) -> str:
    """The last line in which pip says what went wrong."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    errors = [line for line in (said or "").splitlines() if line.lower().startswith("error")]
    return (errors or [str(error)])[-1].removeprefix("ERROR: ")[:160]
