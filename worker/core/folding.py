"""Displays that repaint themselves, in a file one line per frame: the first and the last frame say it all."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

FOLD_LINES = 4
"""So many lines of one kind in a row are folded."""
_LINE_CHARS = 300
"""How much of a line is looked at: progress shows at once, and a line may be megabytes."""
_PERCENT = re.compile(r"\d%")
_COUNTER = re.compile(r"[\[(] *\d+ ?/ ?\d+ *[\])]")
_BARS = tuple(mark * 5 for mark in "=#█▓▒░━")
_CHANGING = re.compile(r"[\d#=█▓▒░━ .>-]+")
_FAILURE_WORDS = ("error", "fail", "denied", "forbidden", "refused", "exception", "panic", "abort")


def fold(text: str) -> str:
    """The text with repeated lines counted instead of repeated, and only first and last of a progress display."""
    lines = text.split("\n")
    if "\r" in text:
        lines = [_last_frame(line) for line in lines]
    if len(lines) < FOLD_LINES:
        return "\n".join(lines)
    return "\n".join(_folded(lines, _line_kind if _may_show_progress(text) else None))


def _may_show_progress(text: str) -> bool:
    """A cheap look at the whole text, because looking at each line is not."""
    if text.count("%") >= FOLD_LINES or any(bar in text for bar in _BARS):
        return True
    return text.count("/") >= FOLD_LINES and _COUNTER.search(text) is not None


def _last_frame(line: str) -> str:
    """What a terminal shows of a line that went back to its start, unless what it painted over tells of a failure."""
    frames = line.rstrip("\r")
    return frames.replace("\r", " ") if _mentions_failure(frames) else frames.rpartition("\r")[2]


def _folded(lines: Sequence[str], kind: Callable[[str], str] | None) -> Iterator[str]:
    for _, run in groupby(lines, kind):
        same = list(run)
        if len(same) < FOLD_LINES or not same[0].strip():
            yield from same
        elif same[0] == same[-1] and len(set(same)) == 1:
            yield same[0]
            yield f"[… the same line {len(same) - 1:,} times more …]"
        else:
            yield same[0]
            yield f"[… {len(same) - 2:,} lines of progress …]"
            yield same[-1]


def _line_kind(line: str) -> str:
    """Lines of one kind are one display: equal, or progress that differs in digits and bars only."""
    seen = line[:_LINE_CHARS]
    if not _shows_progress(seen) or _mentions_failure(seen):
        return line
    return "\0" + _CHANGING.sub("", seen)


def _shows_progress(line: str) -> bool:
    if "%" in line and _PERCENT.search(line):
        return True
    if "/" in line and ("[" in line or "(" in line) and _COUNTER.search(line):
        return True
    return any(bar in line for bar in _BARS)


def _mentions_failure(text: str) -> bool:
    small = text.lower()
    return any(word in small for word in _FAILURE_WORDS)
