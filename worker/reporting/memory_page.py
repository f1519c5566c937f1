"""MEMORY.md and the sessions of a workspace as values of a page."""

from collections.abc import Callable, Iterator, Mapping

from worker.core.memory import Line, parse
from worker.core.session_key import key_of_label
from worker.reporting.page import Cite, MemoryLine

OWN_TITLE = "# Memory"
"""What a MEMORY.md of ours begins with; the page has said so already."""

CiteIn = Callable[[str, str], Cite]


def memory_lines(text: str, targets: Mapping[str, str], cite_in: CiteIn) -> tuple[MemoryLine, ...]:
    """The lines of MEMORY.md that say anything, each with where it came from.

    targets: the anchors of the sessions on the page, by key. cite_in: makes a cite of a session's key and a message id.
    """
    return tuple(_lines(text, targets, cite_in))


def _lines(text: str, targets: Mapping[str, str], cite_in: CiteIn) -> Iterator[MemoryLine]:
    for line in parse(text).lines:
        if line.bullet is not None:
            key = key_of_label(line.bullet.session)
            yield MemoryLine(
                text=line.bullet.text,
                source=line.bullet.session,
                date=line.bullet.date.isoformat(),
                cites=tuple(cite_in(key, one) for one in line.bullet.evidence),
                target=targets.get(key, ""),
            )
        elif words := _words(line):
            heading = words.lstrip("#")
            is_heading = heading != words and heading.startswith(" ")
            if words == OWN_TITLE:
                continue
            yield MemoryLine(text=heading.strip() if is_heading else words, is_heading=is_heading)


def _words(line: Line) -> str:
    if line.heading is not None:
        return f"## {line.heading.heading}"
    return line.text.strip()
