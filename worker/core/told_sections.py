"""Takes apart the text of a summary that an agent wrote itself: its sections, and the entries of each.

Agents write nine numbered sections in many dresses ("4. Errors and fixes:", "### 4. Errors and Fixes", "4. **Errors
and fixes**:"), often behind an analysis with a numbered list of its own, or a handful of sections of their own choice.
What a section is about is read from its title. What the entries mean is `inherited`'s business.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from worker.core.flattening import plain


class About(StrEnum):
    """What a section is about."""

    REQUEST = "request"
    CONCEPTS = "concepts"
    FILES = "files"
    ERRORS = "errors"
    FINDINGS = "findings"
    MESSAGES = "messages"
    TASKS = "tasks"
    DONE = "done"
    WORK = "work"
    NEXT = "next"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bullet, numbered point or paragraph of a section, without marks. details: what is indented under it."""

    text: str
    details: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " ".join((self.text, *self.details))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    about: About
    entries: tuple[Entry, ...]


_TITLES = (
    (About.REQUEST, r"primary requests?\b.*|(?:user'?s? )?(?:goals?|requests?|objectives?|intent)(?: and intent)?"),
    (About.CONCEPTS, r"(?:key )?(?:technical )?concepts?|(?:key )?technical (?:context|details)"),
    (About.FILES, r"(?:key |relevant )?files?(?: and code(?: sections?)?|[ /]+\w+(?:[ /]\w+)*)?"),
    (
        About.ERRORS,
        r"errors?(?:,? (?:and|&) (?:their )?(?:fixes|solutions|resolutions?))?|(?:known )?(?:problems|issues)",
    ),
    (About.FINDINGS, r"problem[- ]solving|(?:key )?(?:decisions?|findings|learnings)(?: made)?|(?:critical )?context"),
    (About.MESSAGES, r"(?:all )?user (?:messages?|feedback|requests)"),
    (About.DONE, r"(?:completed?|done|finished)(?: (?:work|tasks?|steps?))?|progress"),
    (About.TASKS, r"(?:pending|open|remaining|outstanding) (?:tasks?|work|items?)|to-?dos?|in progress|blocked"),
    (About.WORK, r"current (?:work|state|status)|work (?:completed|in progress)"),
    (About.NEXT, r"(?:optional |suggested )?next steps?|context for continuing"),
)
_ABOUT = tuple((about, re.compile(rf"(?:{title})(?: \(.{{0,80}}\))?", re.IGNORECASE)) for about, title in _TITLES)
_NUMBERED = re.compile(r"(?:#{1,4} )?(?:\*\*)?\d{1,2}[.)] ?(?:\*\*)?([^:*]{3,60}?)(?:\*\*)?(?::(?:\*\*)?(.*))?")
_TITLED = re.compile(r"#{1,4} (?:\*\*)?(.{2,80}?)(?:\*\*)?:?()")
_BEGINS = re.compile(r"^\W{0,4}summary\W{0,4}$", re.IGNORECASE | re.MULTILINE)
_ENTRY = re.compile(r"(?:[-*•+]|\d{1,2}[.)])\s+(?=\S)")
_FENCES = ("```", "~~~")
_WIDE = 200
"""A longer line is no heading, and no pattern needs to look at it."""


def sections_of(text: str) -> tuple[Section, ...]:
    """The sections in the order of the text; a text without headings is one section of findings.

    What an agent thought before it wrote ("Analysis: …") is left out where the summary behind it is marked.
    """
    begin = _BEGINS.search(text)
    lines = (text[begin.end() :] if begin else text).splitlines()
    about, opening, gathered, found = About.FINDINGS, "", list[str](), list[Section]()
    for line in _without_code(lines):
        heading = _heading(line)
        if heading is None:
            gathered.append(line)
            continue
        found += _section(about, opening, gathered)
        (about, opening), gathered = heading, []
    return (*found, *_section(about, opening, gathered))


def _without_code(lines: Sequence[str]) -> Iterator[str]:
    """Code is in the files that are named; a fence that is never closed ends with the text."""
    is_open = False
    for line in lines:
        if line.lstrip().startswith(_FENCES):
            is_open = not is_open
        elif not is_open:
            yield line.replace("\t", "    ").rstrip()


def _heading(line: str) -> tuple[About, str] | None:
    """What a heading is about and the words behind it on its line; None for any other line.

    A number makes a heading only of a title that is known: sections hold numbered lists. A "#" makes one of any.
    """
    if not line or line[0] == " " or len(line) > _WIDE:
        return None
    if (numbered := _NUMBERED.fullmatch(line)) and (about := _about(numbered[1])):
        return about, (numbered[2] or "").strip()
    if titled := _TITLED.fullmatch(line):
        return _about(titled[1]) or About.FINDINGS, titled[2]
    return None


def _about(title: str) -> About | None:
    words = title.strip().rstrip(":").strip("* ")
    return next((about for about, pattern in _ABOUT if pattern.fullmatch(words)), None)


def _section(about: About, opening: str, lines: Sequence[str]) -> list[Section]:
    first = [Entry(text=plain(opening))] if opening else []
    entries = (*first, *_entries(lines))
    return [Section(about=about, entries=entries)] if entries else []


def _entries(lines: Sequence[str]) -> Iterator[Entry]:
    """Points and paragraphs at the section's margin begin an entry; deeper lines and running ones belong to it.

    So do the points right under a line that is no point: it is their head, whatever their margin.
    """
    margin = min((_indent(line) for line in lines if line), default=0)
    text, details = "", list[str]()
    heads, was_blank = False, True
    for line in lines:
        bare = line.strip()
        point = _ENTRY.match(bare)
        words = plain(bare[point.end() :] if point else bare)
        heads = heads and bool(bare)
        if words and _indent(line) <= margin and (not heads if point else was_blank or bare.endswith(":")):
            if text:
                yield Entry(text=text, details=tuple(details))
            text, details, heads = words, [], point is None
        elif words:
            details.append(words)
        was_blank = not bare
    if text:
        yield Entry(text=text, details=tuple(details))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
