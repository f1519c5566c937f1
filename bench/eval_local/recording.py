"""A model that remembers what it was asked and what it answered, for people who want to know why an answer was refused.

What is recorded is what was sent: the redacted material and the prompts, never a key.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from worker.adapters.prompts import PromptFiles
from worker.ports import Model, ModelAnswer, ModelLimits, Turn

_HEAD = re.compile(r"(?m)^\[m(\d{1,9}) (?:human|assistant|tool|harness|summary|system)\b")


class Kind(StrEnum):
    """What was asked. The first question about a part, and that about a merge, begin something new."""

    PART = "part"
    MERGE = "merge"
    CONTINUE = "continue"
    AGAIN = "again"
    REPAIR = "repair"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its answer. first_message: the index of the first message that the question shows, if any."""

    kind: Kind
    turns: tuple[Turn, ...]
    answer: ModelAnswer
    first_message: int | None = None


class RecordedModel:
    """`worker.ports.Model` around another one, for one question at a time. `exchanges`: all answered, oldest first."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.name = model.name
        self.exchanges: list[Exchange] = []
        self._model = model
        self._folder = folder
        self._merge_system = PromptFiles().render("merge_system")
        self._repair_opening = PromptFiles().render("repair", findings=[], fence="", bare=False).splitlines()[0]

    @property
    def limits(self) -> ModelLimits:
        return self._model.limits

    @property
    def supports_schema(self) -> bool:
        return self._model.supports_schema

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        answer = self._model.ask(turns, max_tokens=max_tokens, schema=schema)
        shown = _HEAD.search(turns[1].content)
        exchange = Exchange(
            kind=self._kind_of(turns),
            turns=tuple(turns),
            answer=answer,
            first_message=int(shown[1]) if shown else None,
        )
        self.exchanges.append(exchange)
        self._write(exchange)
        return answer

    def _kind_of(self, turns: Sequence[Turn]) -> Kind:
        if len(turns) > len(("system", "user")):
            return Kind.REPAIR if turns[-1].content.startswith(self._repair_opening) else Kind.CONTINUE
        if any(turns[1].content.startswith(f"{one.turns[1].content}\n") for one in self.exchanges):
            return Kind.AGAIN
        return Kind.MERGE if turns[0].content == self._merge_system else Kind.PART

    def _write(self, exchange: Exchange) -> None:
        """For a person to read. A file for each exchange, in the order in which they were."""
        self._folder.mkdir(parents=True, exist_ok=True)
        answer = exchange.answer
        figures = f"{answer.finish_reason}, {answer.tokens_in} in, {answer.tokens_out} out, {answer.seconds:.0f} s"
        told = [
            *(f"=== {turn.role}\n{turn.content}" for turn in exchange.turns),
            f"=== answer ({figures})\n{answer.text}",
        ]
        path = self._folder / f"{len(self.exchanges):02d}-{exchange.kind}.txt"
        path.write_text("\n\n".join(told) + "\n", encoding="utf-8", errors="replace")
