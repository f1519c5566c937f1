"""Pieces of a large text: which one is asked for, how much of it is shown, and what a terminal may safely be given.

    120:180   lines 120 to 180, the first line is 1           0:4096    bytes from 0 up to, not with, 4096
    120       that line alone                                 -2000:    the last 2,000 bytes
    -50:      the last 50 lines

No file is opened here; `adapters.artifact_files` reads and `worker.artifacts` puts the two together.
"""

import re
from dataclasses import dataclass

from worker.errors import UsageError

LINE_BYTES = 1_500
"""Of a longer line this much is shown, so that a minified file does not fill a context window."""

_NUMBERS = re.compile(r"(-?[0-9]{1,18})?:(-?[0-9]{1,18})?")
_ONE_NUMBER = re.compile(r"[0-9]{1,18}")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A half-open range that may count from the end: start -50 is the last 50, end None is everything behind start."""

    start: int = 0
    end: int | None = None

    def within(self, total: int) -> tuple[int, int]:
        """The range in a text that has `total` of them; empty (start = end) when it lies behind the end."""
        start = max(0, total + self.start) if self.start < 0 else min(self.start, total)
        return start, total if self.end is None else max(start, min(self.end, total))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line without its end. number: from 1. at: byte at which `text` begins in the file.

    before, behind: bytes of the line that are not in `text`. is_match: False for the lines around a match.
    """

    number: int
    text: str
    at: int
    before: int = 0
    behind: int = 0
    is_match: bool = False


def line_bounds(text: str) -> Bounds:
    """ "120:180", "120:", ":180", "120" or "-50:" as positions from 0. Raises: UsageError."""
    if _ONE_NUMBER.fullmatch(text):
        text = f"{text}:{text}"
    start, end = _numbers(text, "lines", "120:180, 120:, :180, 120 or -50:")
    if start == 0 or end == 0:
        raise UsageError(f"lines {text}: the first line is 1")
    bounds = Bounds(start=start if start is not None and start < 0 else (start or 1) - 1, end=end)
    return _sound(bounds, text, "lines")


def byte_bounds(text: str) -> Bounds:
    """ "0:4096", "4096:", ":4096" or "-2000:". Raises: UsageError."""
    start, end = _numbers(text, "bytes", "0:4096, 4096:, :4096 or -2000:")
    return _sound(Bounds(start=start or 0, end=end), text, "bytes")


def _numbers(text: str, what: str, forms: str) -> tuple[int | None, int | None]:
    found = _NUMBERS.fullmatch(text)
    if found is None or (found[1] is None and found[2] is None):
        raise UsageError(f"{what} {text[:80]!r}: no range; {forms} are understood")
    start, end = (int(number) if number else None for number in found.groups())
    if (start is not None and start < 0 and end is not None) or (end is not None and end < 0):
        raise UsageError(f"{what} {text[:80]}: only a beginning counts from the end, as in -50:")
    return start, end


def _sound(bounds: Bounds, text: str, what: str) -> Bounds:
    if bounds.end is not None and bounds.start >= 0 and bounds.end <= bounds.start:
        how = "is empty" if what == "bytes" and bounds.end == bounds.start else "ends before it begins"
        raise UsageError(f"{what} {text[:80]}: the range {how}")
    return bounds


def decoded(data: bytes) -> str:
    """The bytes as text; what is no UTF-8, as half of a character at a cut, shows as its bytes: "\\xe4"."""
    return data.decode("utf-8", "backslashreplace")


def torn_at_start(data: bytes) -> int:
    """How many bytes at the start are the rest of a character that began before."""
    return next((at for at in range(min(3, len(data))) if data[at] & 0xC0 != 0x80), min(3, len(data)))


def torn_at_end(data: bytes) -> int:
    """How many bytes at the end are the beginning of a character that goes on behind."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return back if needed > back else 0
    return 0


def visible(text: str) -> str:
    """The text for a terminal: what would move its cursor, change its colours or turn its direction stands as "\\x1b".

    Line ends and tabs stay.
    """
    return _UNSEEN.sub(lambda found: _escape(ord(found[0])), text.replace("\r\n", "\n"))


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shown_line(line: Line) -> str:
    """The text with what was cut off before and behind it, counted."""
    before = f"[… {line.before:,} bytes] " if line.before else ""
    behind = f" [… {line.behind:,} more bytes of this line, --bytes {line.at}: shows them]" if line.behind else ""
    return f"{before}{line.text}{behind}"


def grep_lines(lines: tuple[Line, ...]) -> list[str]:
    """As grep prints them: "12:a match", "13-a line near one", and "--" where lines are left out in between."""
    has_context = any(not line.is_match for line in lines)
    printed: list[str] = []
    last = None
    for line in lines:
        if has_context and last is not None and line.number > last + 1:
            printed.append("--")
        printed.append(f"{line.number}{':' if line.is_match else '-'}{shown_line(line)}")
        last = line.number
    return printed
