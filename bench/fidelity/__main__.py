"""What fifty consolidations leave of planted truths, with models that help, are weak, or work against us.

    PYTHONPATH=bench python -m fidelity [--models faithful,terse] [--consolidations 1,10,50]

Prints one table and writes it with the verdicts to bench/results/fidelity.{txt,json}. Exit code 5 when a truth that
every model must keep is not kept.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fidelity.leftovers import Verdict
from fidelity.models import MODELS
from fidelity.running import NO_MODEL, Judged, judge_run
from fidelity.story import make_story

RESULTS = Path(__file__).parents[1] / "results"
CHECK_FOUND_PROBLEMS = 5

Outcome = tuple[str, int, Judged]
"""Model, number of consolidations, what became of one truth."""


def main() -> int:
    wanted = _arguments()
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder:
        outcomes = list(
            _outcomes(wanted.models.split(","), list(map(int, wanted.consolidations.split(","))), Path(folder))
        )
    table = "\n".join(table_lines(outcomes))
    print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fidelity.txt").write_text(table + "\n", encoding="utf-8")
    (RESULTS / "fidelity.json").write_text(
        json.dumps(_as_objects(outcomes), ensure_ascii=False, indent=1), encoding="utf-8"
    )
    return CHECK_FOUND_PROBLEMS if any(_is_missed(judged) for _, _, judged in outcomes) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join([NO_MODEL, *MODELS]), help="names, separated by commas")
    parser.add_argument("--consolidations", default="1,10,50", help="how often the session is consolidated")
    return parser.parse_args()


def _outcomes(models: Iterable[str], counts: Iterable[int], folder: Path) -> Iterator[Outcome]:
    story = make_story()
    for model in models:
        for count in counts:
            print(f"{model} × {count} …", file=sys.stderr)
            for judged in judge_run(story, model, count, folder / f"{model}-{count}"):
                yield model, count, judged


def table_lines(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """One line per kind, model and number of consolidations; marked where a truth that must be kept is not."""
    counts: dict[tuple[str, str, int], Counter[Verdict]] = {}
    missed: dict[tuple[str, str, int], list[str]] = {}
    for model, count, judged in outcomes:
        key = (judged.truth.kind, model, count)
        counts.setdefault(key, Counter())[judged.verdict] += 1
        if _is_missed(judged):
            missed.setdefault(key, []).append(judged.truth.name)
    yield f"{'kind':34} {'model':14} {'n':>3}  " + "  ".join(f"{verdict.value:>9}" for verdict in Verdict)
    for kind, model, count in sorted(counts, key=lambda key: (list_position(key[0]), key[1], key[2])):
        key = (kind, model, count)
        numbers = "  ".join(f"{counts[key][verdict]:>9}" for verdict in Verdict)
        mark = f"  MISSED {', '.join(missed[key][:6])}" if key in missed else ""
        yield f"{kind:34} {model:14} {count:>3}  {numbers}{mark}"


def list_position(kind: str) -> int:
    """Kinds in the order of the story's truths."""
    return _KINDS.index(kind)


_KINDS = list(dict.fromkeys(truth.kind for truth in make_story().truths))


def _is_missed(judged: Judged) -> bool:
    return judged.truth.must and judged.verdict is not Verdict.KEPT


def _as_objects(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "consolidations": count,
            "kind": judged.truth.kind,
            "name": judged.truth.name,
            "must": judged.truth.must,
            "verdict": judged.verdict.value,
        }
        for model, count, judged in outcomes
    ]


if __name__ == "__main__":
    sys.exit(main())
