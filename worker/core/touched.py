"""Which files a session was working on last, and what it saw of them: the choice of what is shown again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from worker.core.filework import find_files
from worker.core.invocations import Invocation, invocations_of
from worker.core.messages import Message
from worker.core.summary import Change, FileItem

NEWEST = 5
LONGEST_WHOLE_READ = 1_990
"""Lines. Agents cut longer readings without a mark that could be relied on."""

_CONTENT_KEYS = ("content", "file_text", "contents")
_RANGE_KEYS = ("offset", "limit", "start_line", "end_line", "view_range", "pages", "lines")
_NUMBERED = re.compile(r" *\d+(?:→|\t)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """One file. path: as the project names it. content: the whole text as the session last saw or wrote it, None where
    it only saw or changed a part.
    """

    path: str
    content: str | None = None


def newest_touched(messages: Sequence[Message], cwd: str | None, most: int = NEWEST) -> list[Touched]:
    """The files that the messages read, made or changed last, newest first; deleted ones are not among them."""
    known: set[str] = set()
    found: list[Touched] = []
    main_line = [message for message in messages if not message.sidechain]
    for invocation in reversed(invocations_of(main_line)):
        for item in reversed(find_files([invocation], cwd)):
            if item.path in known:
                continue
            known.add(item.path)
            if item.change not in (Change.DELETED, Change.MENTIONED):
                found.append(Touched(path=item.path, content=_content(invocation, item)))
        if len(found) >= most:
            return found[:most]
    return found


def seen_whole(messages: Sequence[Message], cwd: str | None) -> frozenset[str]:
    """The files whose whole text the messages hold."""
    found = newest_touched(messages, cwd, most=len(messages))
    return frozenset(touched.path for touched in found if touched.content is not None)


def _content(invocation: Invocation, item: FileItem) -> str | None:
    if item.change in (Change.CREATED, Change.EDITED):
        written = (invocation.arguments.get(key) for key in _CONTENT_KEYS)
        is_writing = invocation.command is None and "old_string" not in invocation.arguments
        return next((text for text in written if isinstance(text, str)), None) if is_writing else None
    is_part = any(invocation.arguments.get(key) is not None for key in _RANGE_KEYS)
    return None if is_part or invocation.command is not None else _without_numbers(invocation.text)


def _without_numbers(text: str) -> str | None:
    """What a reading tool printed with a number before each line; None for any other form."""
    lines = text.rstrip("\n").split("\n")
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    if len(lines) > LONGEST_WHOLE_READ or not all(matches):
        return None
    return "\n".join(match[1] for match in matches if match)
