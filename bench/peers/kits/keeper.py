"""Afterturn for programs in other environments: one JSON object a line in, one out, until stdin ends.

    {"session": "s1", "rows": [{"role": "user", "content": "…"}], "budget_chars": 1600}  →  {"text": "…"}

Rows are appended to the transcript of the session, whose checkpoints are kept between requests as they would be on
disk. The model is the stand-in that words every identifier away.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from peers.drivers.driving import Task
from peers.drivers.ours import keep, load_model_code, settings_of, write
from peers.extracting import Policy
from peers.stand_in import StandIn, serving

from worker.core.correcting import without_corrected
from worker.core.rendering import render_summary, source_of
from worker.core.slip import slip

ROOMY_CHARS = 24_000
"""About the 6,000 tokens that the other benches give the rendering."""


def main() -> None:
    load_model_code()
    stand_in = StandIn((), policy=Policy.PROSE)
    with tempfile.TemporaryDirectory() as folder, serving(stand_in) as url:
        for line in sys.stdin:
            asked = json.loads(line)
            stand_in.learn(str(row["content"]) for row in asked["rows"])
            print(json.dumps({"text": _compacted(asked, Path(folder), url)}, ensure_ascii=False), flush=True)


def _compacted(asked: dict[str, Any], folder: Path, url: str) -> str:
    task = Task(rows=asked["rows"], base_url=url, keep_rows=0, variant="default")
    path = folder / f"{asked['session']}.jsonl"
    write(task.rows, path)
    checkpoint = keep(path, settings_of(task, folder / "workspace"))
    budget_chars = asked.get("budget_chars") or ROOMY_CHARS
    page = render_summary(
        checkpoint.summary, source=source_of(checkpoint), budget_tokens=budget_chars, token_estimator=len
    )
    if not page.left_out:
        return page.markdown
    return slip(without_corrected(checkpoint.summary), budget_tokens=budget_chars, token_estimator=len).markdown


if __name__ == "__main__":
    main()
