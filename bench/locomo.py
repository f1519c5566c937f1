"""Recall@5 over the gold evidence of a conversation memory set in LoCoMo's format, beside BM25 over the raw turns.

    python bench/locomo.py locomo10.json [--samples 2] [--json result.json] [--second-as-assistant]

The file is a list of samples, each with a `conversation` (session_1, session_1_date_time …; turns of speaker, dia_id,
text) and its `qa` (question, evidence, category). It is given by its path and never downloaded.

Everything is real: each session becomes a transcript in our own format and is consolidated (without a model, or with
AFTERTURN_MODEL), each question is asked of `recall`, and the first five answers are mapped back to turns through their
message ids. What the figure means: of the turns that hold an answer, how many are among the evidence of five answers.
Consolidation keeps what matters for work, people's messages whole and of an assistant's only what was found or decided,
so with --second-as-assistant much of what the second speaker said is not there to be found, and should not be.
"""

import argparse
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.session_key import session_label
from worker.locating import Place
from worker.recall import recall
from worker.wiring import tools_for

ANSWERS = 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_DIA_ID = re.compile(r"D\d+:\d+")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn. id: "D1:3"."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    words: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """sessions: (when, turns), in order."""

    id: str
    sessions: tuple[tuple[datetime, tuple[Turn, ...]], ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Of one question: the share of its evidence that was found, and how many turns the answers cited for that."""

    category: int
    share: float
    cited: int


@dataclass(slots=True)
class Result:
    """Scores by who answered: "recall" and "bm25"."""

    scores: dict[str, list[Score]] = field(default_factory=lambda: {"recall": [], "bm25": []})
    skipped: int = 0

    def as_object(self) -> dict[str, Any]:
        return {
            "answers": ANSWERS,
            "skipped_without_evidence": self.skipped,
            **{name: _summary(scores) for name, scores in self.scores.items()},
        }


def read_samples(path: Path) -> list[Sample]:
    """The samples of a file in LoCoMo's format; turns without words and evidence that names no turn are left out."""
    return [_sample(number, fields) for number, fields in enumerate(json.loads(path.read_text("utf-8")), start=1)]


def _sample(number: int, fields: dict[str, Any]) -> Sample:
    conversation = fields["conversation"]
    names = sorted((int(name[8:]), name) for name in conversation if re.fullmatch(r"session_\d+", name))
    sessions = tuple((_when(conversation, name), tuple(_turns(conversation[name]))) for _, name in names)
    known = {turn.id for _, turns in sessions for turn in turns}
    questions = (
        Question(
            words=one["question"],
            evidence=frozenset(_DIA_ID.findall(" ".join(map(str, one.get("evidence") or [])))) & known,
            category=int(one.get("category", 0)),
        )
        for one in fields["qa"]
    )
    return Sample(id=str(fields.get("sample_id", number)), sessions=sessions, questions=tuple(questions))


def _when(conversation: dict[str, Any], name: str) -> datetime:
    """Dates are written "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(conversation[f"{name}_date_time"].strip(), _DATE).replace(tzinfo=UTC)


def _turns(rows: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    for row in rows:
        caption = f" [shares a picture: {row['blip_caption']}]" if row.get("blip_caption") else ""
        text = f"{row.get('text') or ''}{caption}".strip()
        if text:
            yield Turn(id=row["dia_id"], speaker=row["speaker"], text=text)


class Memory:
    """A workspace in which every session of a sample was consolidated."""

    def __init__(self, sample: Sample, folder: Path, *, second_as_assistant: bool) -> None:
        self._place = Place(root=folder / "w", run=folder / "w" / ".afterturn")
        self._turns: dict[tuple[str, str], str] = {}
        first_speaker = next(turn.speaker for _, turns in sample.sessions for turn in turns)
        for number, (when, turns) in enumerate(sample.sessions, start=1):
            path = folder / f"{number}.jsonl"
            rows = []
            for turn in turns:
                role = "assistant" if second_as_assistant and turn.speaker != first_speaker else "user"
                rows.append({"role": role, "content": f"{turn.speaker}: {turn.text}", "timestamp": when.isoformat()})
            rows[0]["session_id"] = f"session-{number}"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            self._consolidate(path, turns)

    def _consolidate(self, path: Path, turns: Sequence[Turn]) -> None:
        settings = Settings.from_env(_environ()).model_copy(update={"workspace": self._place.root})
        result = consolidate(Request(path=path), tools_for(self._place, settings, hold_back=False))
        if result.messages != len(turns):
            raise RuntimeError(f"{path}: {len(turns)} turns became {result.messages} messages")
        label = session_label(result.session)
        self._turns |= {(label, f"m{index}"): turn.id for index, turn in enumerate(turns)}

    def answer(self, words: str) -> set[str]:
        """The turns that the first answers cite."""
        hits = recall(words, place=self._place).hits[:ANSWERS]
        records = (record for hit in hits for record in (hit.record, *hit.twins))
        cited = ((record.session, message) for record in records for message in record.evidence)
        return {self._turns[one] for one in cited if one in self._turns}


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "AFTERTURN_WORKSPACE"}


class Bm25:
    """The plain baseline: BM25 (k1 1.2, b 0.75) over the words of each raw turn."""

    def __init__(self, sample: Sample) -> None:
        self._ids = [turn.id for _, turns in sample.sessions for turn in turns]
        texts = [f"{turn.speaker}: {turn.text}" for _, turns in sample.sessions for turn in turns]
        self._words = [Counter(_words(text)) for text in texts]
        self._frequency = Counter(word for words in self._words for word in words)
        self._average = sum(words.total() for words in self._words) / max(1, len(self._words))

    def answer(self, words: str) -> set[str]:
        asked = _words(words)
        scores = [sum(self._score(word, words) for word in asked) for words in self._words]
        best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:ANSWERS]
        return {self._ids[at] for at in best if scores[at] > 0}

    def _score(self, word: str, words: Counter[str]) -> float:
        often = self._frequency[word]
        rarity = math.log(1 + (len(self._words) - often + 0.5) / (often + 0.5))
        norm = 1.2 * (0.25 + 0.75 * words.total() / self._average)
        return rarity * words[word] * 2.2 / (words[word] + norm)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def evaluate(samples: Sequence[Sample], folder: Path, *, second_as_assistant: bool = False) -> Result:
    """Both answer every question that has evidence."""
    result = Result()
    for number, sample in enumerate(samples):
        place = folder / str(number)
        place.mkdir(parents=True)
        memory, baseline = Memory(sample, place, second_as_assistant=second_as_assistant), Bm25(sample)
        for question in sample.questions:
            if not question.evidence:
                result.skipped += 1
                continue
            for name, answer in (("recall", memory.answer), ("bm25", baseline.answer)):
                cited = answer(question.words)
                share = len(cited & question.evidence) / len(question.evidence)
                result.scores[name].append(Score(category=question.category, share=share, cited=len(cited)))
    return result


def _summary(scores: Sequence[Score]) -> dict[str, Any]:
    every = [*scores, *(replace(score, category=0) for score in scores)]
    found: dict[str, Any] = {}
    for category in sorted({score.category for score in every}, key=lambda number: (number == 0, number)):
        mine = [score for score in every if score.category == category]
        found[CATEGORIES.get(category, "all" if category == 0 else str(category))] = {
            "questions": len(mine),
            f"recall@{ANSWERS}": round(sum(score.share for score in mine) / len(mine), 4),
            "turns_cited": round(sum(score.cited for score in mine) / len(mine), 2),
        }
    return found


def table(result: Result) -> str:
    """The result as text, a line per category."""
    told = result.as_object()
    lines = [f"{'category':12} {'questions':>9}   {'recall@5':>8} {'turns':>6}   {'BM25@5':>8} {'turns':>6}"]
    for name, mine in told["recall"].items():
        plain = told["bm25"][name]
        figures = [f"{one['recall@5']:8.3f} {one['turns_cited']:6.1f}" for one in (mine, plain)]
        lines.append(f"{name:12} {mine['questions']:9}   {'   '.join(figures)}")
    lines.append(f"turns: cited by the five answers, on average; {result.skipped} questions without evidence left out")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--samples", type=int, help="only the first so many conversations")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--second-as-assistant", action="store_true", help="the second speaker is the assistant")
    options = parser.parse_args()
    samples = read_samples(options.file)[: options.samples]
    with tempfile.TemporaryDirectory() as folder:
        result = evaluate(samples, Path(folder), second_as_assistant=options.second_as_assistant)
    print(f"{options.file.name}: {len(samples)} conversations, model {Settings.from_env(_environ()).model or 'none'}")
    print(table(result))
    if options.json:
        options.json.write_text(json.dumps(result.as_object(), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
