"""Adapter for compaction-conformance-kit: `compaction-kit benchmark --spec conformance.py:Afterturn`.

The kit compacts what came out of the round before, as one system message. Here that is one more message of the same
session, whose checkpoints are there already: as in an agent, a summary is not summarized again.
"""

from typing import Any

from compaction_kit.compacted import CompactedContext  # type: ignore[import-not-found]
from peers.kits.keeping import compacted, new_session


class Afterturn:
    """One session. The kit makes one of these per session, and calls it once per round."""

    name = "afterturn"

    def __init__(self) -> None:
        self._session = new_session()

    def compact(self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None) -> Any:
        rows = [{"role": turn.role, "content": turn.text} for turn in turns]
        text = compacted(self._session, rows, budget_chars)
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)
