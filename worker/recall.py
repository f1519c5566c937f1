"""Finds what is remembered: `afterturn recall`, and the same for agents from Python.

    from worker.recall import recall

    print(recall("which port does the database use", budget=1_000).text)

It reads MEMORY.md, HISTORY.md and the checkpoints of one place, never a raw transcript, and asks no model. What it
gives is material: the workspace as it is now outranks every memory of it.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import Any

from worker.adapters.recall_index import OpenIndex, RecallIndex
from worker.core.recall_page import RecallPage, Shown, recall_page
from worker.core.recalling import Hit, Question, place_of, question_of, rank, score
from worker.core.wording import one_line
from worker.errors import UsageError
from worker.locating import Ground, Place
from worker.memories import read_unit, unit_stamps

DEFAULT_BUDGET_TOKENS = 2_000
MAX_CANDIDATES = 120
"""Judged with their texts; the terms alone choose them."""

MAX_WORDS_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """An answer. hits: all that were found, best first; those of `page` fit the budget. notes: one line each."""

    place: Place
    question: Question
    hits: tuple[Hit, ...]
    page: RecallPage
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The answer as an agent or a person reads it, within the budget."""
        return self.page.text

    def as_object(self) -> dict[str, Any]:
        """The documented object of `afterturn recall --json`."""
        return {
            "query": self.question.words,
            "workspace": str(self.place.root),
            "found": self.page.found,
            "tokens": self.page.tokens,
            "notes": list(self.notes),
            "results": [_result(shown) for shown in self.page.shown],
        }


def recall(
    words: str,
    *,
    budget: int = DEFAULT_BUDGET_TOKENS,
    place: Place | None = None,
    workspace: Path | None = None,
    now: datetime | None = None,
) -> Recalled:
    """What is remembered of the words, best first, within `budget` tokens.

    place: None for that of `workspace`, and without one for that of the current folder, as `afterturn where` finds it.
    now: what ages are counted from, None for the clock.

    Raises: UsageError when there is nothing to look for, StorageUnavailable.
    """
    if not words.strip():
        raise UsageError("nothing to look for; 'afterturn recall \"retry limit\"' names it")
    place = place or Ground.from_env(os.environ, workspace).place_of(Path.cwd())
    question = question_of(one_line(words[:MAX_WORDS_CHARS]))
    hits, notes = _found(place.root, question)
    page = recall_page(question, hits, now=now or datetime.now(UTC), budget_tokens=budget, notes=notes)
    return Recalled(place=place, question=question, hits=tuple(hits), page=page, notes=notes)


def _found(root: Path, question: Question) -> tuple[list[Hit], tuple[str, ...]]:
    stamps = unit_stamps(root)
    if not stamps:
        RecallIndex(root).remove()
        return [], (f"nothing is kept in {root} yet; 'afterturn run FILE' begins, --workspace names another place",)
    return RecallIndex(root).ask(stamps, partial(read_unit, root), partial(_search, question))


def _search(question: Question, index: OpenIndex) -> tuple[list[Hit], tuple[str, ...]]:
    found = index.search(question)
    scores = score(question, found.stock)
    best = nsmallest(MAX_CANDIDATES, scores, key=lambda number: (-scores[number], number))
    return rank(question, index.records(best), scores), found.notes


def _result(shown: Shown) -> dict[str, Any]:
    record = shown.hit.record
    return {
        "number": shown.number,
        "kind": record.kind,
        "status": record.status,
        "trust": record.trust,
        "at": record.at,
        "source": record.source,
        "place": place_of(record),
        "session": record.session,
        "evidence": list(record.evidence),
        "name": record.name,
        "heading": record.heading,
        "title": shown.title,
        "body": shown.body,
        "cut_lines": shown.cut,
        "more": [{"what": what, "text": text} for what, text in shown.more],
        "also": list(shown.hit.also),
        "contradicted_by": shown.hit.newer,
        "score": round(shown.hit.score, 4),
    }
