"""The stand-in's idea of a summary: whole lines of the session, chosen by a policy until the output budget is spent.

It is a meter, not a model. It may only take lines of the session that stand in the prompt (or that it wrote before), so
that no prompt of anybody's can be summarized by accident, a line that is never sent cannot survive, and a line that is
sent survives only where it wins a place. What differs between systems under test is then their pipeline.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import chain

from worker.core.tokens import estimate_tokens
from worker.core.wording import normal, sentences

OUTPUT_TOKENS = 600
"""What one answer may hold, whatever the question allows: models asked for a summary write about so much."""

SHORTEST_LINE = 12
LONGEST_LINE = 320


class Policy(StrEnum):
    """What kind of summarizer answers.

    SALIENT takes the lines with identifiers and rules first. PROSE does too and then words every identifier away.
    POSITIONAL takes the beginning and the end. BLANK answers nothing, EMPTY says there is nothing, ECHO repeats it all.
    """

    SALIENT = "salient"
    PROSE = "prose"
    POSITIONAL = "positional"
    BLANK = "blank"
    EMPTY = "empty"
    ECHO = "echo"


_EXACT = re.compile(r"[^\s,;()]*(?:\d|\w[/_@]\w|\w\.[a-z]|[a-z][A-Z])[^\s,;()]*")
_CUE = re.compile(
    r"(?i)\b(?:must|never|only|always|do(?:n['’]t| not)|nothing|prefer|like|budget|correction|bound|still|owe|put)\b"
)


def lines_of(text: str) -> list[str]:
    """The lines and sentences of a text that are long enough to say something."""
    return [line[:LONGEST_LINE] for line in sentences(text) if len(line) >= SHORTEST_LINE]


def salience(line: str) -> int:
    return 3 * len(_EXACT.findall(line)) + 4 * len(_CUE.findall(line))


def worded_away(line: str) -> str:
    """The line without its identifiers, numbers and paths, as a summarizer that paraphrases writes it."""
    return _EXACT.sub("it", line)


def chosen(lines: Sequence[str], policy: Policy, budget_tokens: int = OUTPUT_TOKENS) -> list[str]:
    """What a summarizer of that kind writes of these lines, in their order."""
    if policy in (Policy.BLANK, Policy.EMPTY):
        return []
    if policy is Policy.ECHO:
        return list(lines)
    order = sorted(range(len(lines)), key=_ranking(lines, policy))
    kept: set[int] = set()
    for at in order:
        written = worded_away(lines[at]) if policy is Policy.PROSE else lines[at]
        budget_tokens -= estimate_tokens(f"- {written}\n")
        if budget_tokens < 0:
            break
        kept.add(at)
    taken = [lines[at] for at in sorted(kept)]
    return [worded_away(line) for line in taken] if policy is Policy.PROSE else taken


def _ranking(lines: Sequence[str], policy: Policy) -> Callable[[int], tuple[int, int]]:
    if policy is Policy.POSITIONAL:
        return lambda at: (min(at, len(lines) - 1 - at), at)
    return lambda at: (-salience(lines[at]), at)


class KnownLines:
    """The lines of a session, and those that the stand-in wrote itself; finds them again in a prompt."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines: dict[str, str] = {}
        self.learn(texts)

    def learn(self, texts: Iterable[str]) -> None:
        self.add(chain.from_iterable(map(lines_of, texts)))

    def add(self, lines: Iterable[str]) -> None:
        """Not while another thread adds; one that looks may."""
        for line in lines:
            self._lines.setdefault(normal(line), line)

    def among(self, lines: Iterable[str]) -> list[str]:
        """Those of the lines that are known, each once."""
        return list(dict.fromkeys(line for line in lines if normal(line) in self._lines))

    def found_in(self, prompt: str) -> list[str]:
        """Those that stand in the prompt, in its order, each once. JSON in the prompt may have escaped them."""
        text = normal(prompt.replace("\\n", "\n").replace('\\"', '"'))
        known = list(self._lines.items())
        places = {place: line for wanted, line in known if (place := text.find(wanted)) >= 0}
        return [places[place] for place in sorted(places)]
