"""The lines of a file that match a pattern; a program of its own, so that a hostile pattern costs no more than itself.

    python -I -S line_search.py '{"pattern": …, "context": 2, "most": 200, "seconds": 5.0, …}' < file

Python's `re` may need longer than the universe exists for "(a+)+b". The alarm's default action ends this process when
one stretch of the file takes too long; whoever started it sees the signal. It imports nothing of ours and writes one
JSON array per match: line number, its byte offset, number and offset of the first line before it that is wanted, and
the bytes of the first match in the line. The last array is ["end", number of matches].
"""

import json
import re
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

WINDOW_BYTES = 1 << 20
OVERLAP_BYTES = 1 << 10
"""A line longer than a window is searched window by window; matches of up to the overlap are found whole."""

STRETCH_LINES = 256

_LOOKS_ASIDE = re.compile(r"[$^]|\(\?|\\[AZ]|[*+?}]\+")
"""What may not match in a block of lines although it does in one of them: anchors, what looks ahead or behind, what
never gives back. Any other pattern that matches in no place of a block matches in none of its lines.
"""


def search(stream: BinaryIO, pattern: re.Pattern[str], *, context: int, awake: Callable[[], None]) -> Iterator[Any]:
    """(line, offset, first line, its offset, match start, match end) of every line with a match, ascending."""
    recent: deque[int] = deque(maxlen=context)
    number = offset = looked_through = 0
    can_look = _LOOKS_ASIDE.search(pattern.pattern) is None
    while True:
        if can_look and offset >= looked_through:
            awake()
            block = stream.read(WINDOW_BYTES)
            block += stream.readline(WINDOW_BYTES)
            looked_through = offset + len(block)
            if block.endswith(b"\n") and not pattern.search(block.decode("utf-8", "surrogateescape")):
                recent.extend(_last_lines(block, offset, context))
                number += block.count(b"\n")
                offset += len(block)
                continue
            stream.seek(offset)
        head = stream.readline(WINDOW_BYTES)
        if not head:
            return
        number += 1
        if number % STRETCH_LINES == 1 or len(head) > WINDOW_BYTES // 16:
            awake()
        found, length = _first_match(stream, head, pattern, awake)
        if found is not None:
            first = recent[0] if recent else offset
            yield number, offset, number - len(recent), first, *found
        if context:
            recent.append(offset)
        offset += length


def _last_lines(block: bytes, offset: int, count: int) -> list[int]:
    """Where the last `count` lines of a block begin in the file, ascending."""
    starts: list[int] = []
    end = len(block) - 1
    while len(starts) < count and end >= 0:
        start = block.rfind(b"\n", 0, end) + 1
        starts.append(offset + start)
        end = start - 1
    return starts[::-1]


def _first_match(
    stream: BinaryIO, head: bytes, pattern: re.Pattern[str], awake: Callable[[], None]
) -> tuple[tuple[int, int] | None, int]:
    """Where the line matches first, in bytes, and how long it is with its end; `head` is its beginning."""
    found, length, piece, known = None, len(head), head, 0
    while True:
        more = b"" if piece.endswith(b"\n") else stream.readline(WINDOW_BYTES)
        if found is None:
            found = _match_in(piece, pattern, known, is_last=not more)
        if not more:
            return found, length
        awake()
        kept = piece[-OVERLAP_BYTES:]
        known, length, piece = length - len(kept), length + len(more), kept + more


def _match_in(piece: bytes, pattern: re.Pattern[str], known: int, *, is_last: bool) -> tuple[int, int] | None:
    """The first match in a window that begins `known` bytes into its line.

    "^" and "$" match where the line begins and ends, not where a window does: so another begins at its second
    character, and one that others follow has a character more.
    """
    text = piece.decode("utf-8", "surrogateescape")
    text = text.rstrip("\r\n") if is_last else f"{text}\uffff"
    match = pattern.search(text, 1 if known else 0)
    if match is None:
        return None
    start = known + len(text[: match.start()].encode("utf-8", "surrogateescape"))
    return start, start + len(match[0].encode("utf-8", "surrogateescape"))


def main() -> None:
    wish = json.loads(sys.argv[1])
    text = re.escape(wish["pattern"]) if wish["fixed"] else wish["pattern"]
    pattern = re.compile(text, re.IGNORECASE if wish["ignore_case"] else 0)

    def awake() -> None:
        signal.setitimer(signal.ITIMER_REAL, wish["seconds"])

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sys.stdin.buffer.seek(0)
    count = 0
    for found in search(sys.stdin.buffer, pattern, context=wish["context"], awake=awake):
        count += 1
        if count <= wish["most"]:
            sys.stdout.write(json.dumps(found) + "\n")
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.write(json.dumps(["end", count]) + "\n")


if __name__ == "__main__":
    main()
