"""Afterturn as its command line runs it: consolidate the old part, then the rendering within a budget."""

import json
import tempfile
from pathlib import Path

from peers.drivers.driving import Outcome, Row, Task, drive, text_of

from worker import wiring
from worker.adapters.llm import LiteLlm
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.checkpoint import Checkpoint, Status
from worker.core.rendering import render_summary, source_of

BUDGET_TOKENS = 6_000
"""Of the rendering, as `afterturn show --budget 6000` gives it."""


def settings_of(task: Task, workspace: Path) -> Settings:
    """Everything as it comes, but for the model's name, address and key. Variant `no model`: nothing is asked."""
    asked = {"model": "openai/gpt-4o-mini", "api_base": task.base_url, "api_key": "not-a-key"}
    return Settings.model_validate(
        {"workspace": workspace, "timezone": "UTC", **({} if task.variant == "no model" else asked)}
    )


def consolidated(task: Task) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        write(task.old, path)
        text, status = remembered(path, settings_of(task, Path(folder) / "workspace"), BUDGET_TOKENS)
    return Outcome(text=text, kept=[text_of(row) for row in task.tail], note=status.value)


def write(rows: list[Row], path: Path) -> None:
    """Appends the rows to a transcript."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def remembered(path: Path, settings: Settings, budget_tokens: int) -> tuple[str, Status]:
    """What is rendered of all that is kept of the session, once what is new in it was consolidated."""
    checkpoint = keep(path, settings)
    rendering = render_summary(checkpoint.summary, source=source_of(checkpoint), budget_tokens=budget_tokens)
    return rendering.markdown, checkpoint.status


def keep(path: Path, settings: Settings) -> Checkpoint:
    """All that is kept of the session, once what is new in it was consolidated."""
    place = wiring.ground_of(settings).place_of(path)
    result = consolidate(Request(path=path), wiring.tools_for(place, settings, hold_back=False))
    return wiring.joined(wiring.load_chain(place, result.session))


def load_model_code() -> None:
    """LiteLLM is loaded by the first question; a worker that has run once has it, and so have the others here."""
    _ = LiteLlm("openai/gpt-4o-mini").limits


if __name__ == "__main__":
    load_model_code()
    drive("afterturn", consolidated)
