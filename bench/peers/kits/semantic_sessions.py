"""compaction-conformance-kit's sessions in which values are put right in other words, by its own probes.

    python semantic_sessions.py 20%,30% 1-4 5

Budgets as shares of the session's characters, seeds of the sessions, rounds. The kit's benchmark counts survival on its
other sessions alone; here it is counted on these: the newest statements and the pairs that only look alike.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from compaction_kit.cli import _parse_budgets, _parse_seeds  # type: ignore[import-not-found]
from compaction_kit.runner import run_conformance  # type: ignore[import-not-found]
from compaction_kit.semantic_corpus import (  # type: ignore[import-not-found]
    build_semantic_heldout_session,
    build_semantic_session,
)
from peers.kits.conformance import Afterturn

BUILDERS = (build_semantic_session, build_semantic_heldout_session)
COLUMNS = (("survived", "canaries"), ("newest", "conflicts"), ("stale", "conflicts"), ("both", "pairs"))
"""What is counted, and of how many."""


def main() -> None:
    budgets, seeds, rounds = _parse_budgets(sys.argv[1]), _parse_seeds(sys.argv[2]), int(sys.argv[3])
    print("| budget | survival | newest kept | stale present | distinct pairs |\n|---|---|---|---|---|")
    for budget in budgets:
        counts: Counter[str] = Counter()
        for build in BUILDERS:
            for seed in seeds:
                counts.update(_counted(*build(seed), budget=budget, rounds=rounds))
        shares = " | ".join(f"{counts[name]}/{counts[total]}" for name, total in COLUMNS)
        print(f"| {budget:.0%} | {shares} |", flush=True)


def _counted(session: Any, canaries: list[Any], meta: dict[str, Any], *, budget: float, rounds: int) -> Iterator[str]:
    """One name for each thing that counts, as the kit's benchmark counts them, after the last round."""
    run = run_conformance(session, Afterturn(), rounds=rounds, canaries=canaries, budget_fraction=budget)
    last = run.rounds[-1]
    text = last.context.text.lower()
    for canary in canaries:
        yield "canaries"
        if last.survived[canary.id]:
            yield "survived"
        if canary.id in meta["conflicts"]:
            yield "conflicts"
            if all(token.lower() in text for token in canary.required_tokens):
                yield "newest"
            if any(token.lower() in text for token in canary.superseded_tokens):
                yield "stale"
    for first, second in meta["distinct_pairs"]:
        yield "pairs"
        if last.survived[first] and last.survived[second]:
            yield "both"


if __name__ == "__main__":
    main()
