"""One session, one model, so many consolidations: everything real but the model, in a folder of its own."""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from fidelity.leftovers import Leftovers, Verdict
from fidelity.models import scripted
from fidelity.story import TURNS, Story, Truth

from worker import wiring
from worker.adapters.prompts import PromptFiles
from worker.config import Settings
from worker.consolidate import Request, Tools, consolidate
from worker.core.rendering import render_summary, source_of
from worker.summarize import Asker
from worker.testing import MemoryParts

NO_MODEL = "no model"
PART_TOKENS = 3_000
"""Small, so that even one consolidation has several parts and a merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A truth and what became of it."""

    truth: Truth
    verdict: Verdict


def judge_run(story: Story, model: str, consolidations: int, folder: Path) -> list[Judged]:
    """What became of each truth after the session was consolidated so often, each time with as much new in it."""
    left = run(story, model, consolidations, folder)
    return [Judged(truth=truth, verdict=truth.verdict(left)) for truth in story.truths]


def run(story: Story, model: str, consolidations: int, folder: Path) -> Leftovers:
    """Lets the session grow and consolidates it each time; nothing is held back at its end."""
    folder.mkdir(parents=True)
    settings = Settings(workspace=folder / "workspace", part_tokens=PART_TOKENS, timezone="UTC")
    path = folder / "session.jsonl"
    bounds = [TURNS * step // consolidations for step in range(consolidations + 1)]
    tools: Tools | None = None
    for start, end in pairwise(bounds):
        story.write(path, start, end)
        tools = tools or _tools(settings, path, model)
        result = consolidate(Request(path=path), tools)
        assert result.outcome.value == "committed", result
    return _left(settings, path)


def _tools(settings: Settings, path: Path, model: str) -> Tools:
    place = wiring.ground_of(settings).place_of(path)
    tools = wiring.tools_for(place, settings, hold_back=False)
    if model == NO_MODEL:
        return tools
    asker = Asker(
        model=scripted(model),
        prompts=PromptFiles(),
        cache=MemoryParts(),
        progress=tools.progress,
        wait=lambda _: None,
        new_fence=lambda: "transcript-0f1e2d3c4b5a",
        concurrency=1,
        retries=0,
        summary_tokens=settings.summary_tokens,
    )
    return replace(tools, asker=asker)


def _left(settings: Settings, path: Path) -> Leftovers:
    place, key = wiring.find_session(settings, str(path))
    joined = wiring.joined(wiring.load_chain(place, key))
    rendering = render_summary(joined.summary, source=source_of(joined), budget_tokens=settings.show_tokens)
    files = [one for one in place.root.rglob("*") if one.is_file()]
    return Leftovers(
        checkpoint=joined,
        rendering=rendering.markdown,
        memory=_text(place.root / "MEMORY.md"),
        history=_text(place.root / "HISTORY.md"),
        disk=b"\n".join(one.read_bytes() for one in files),
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
