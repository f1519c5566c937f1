"""Other people's text as one harmless line of a Markdown file of ours.

Projections are lines that are found again by their markers. So no text may end its line early, open a heading, move a
terminal's cursor or look like a marker.
"""

import re

from worker.core.wording import clip

_BLOCK_START = re.compile(r"[#>\-*+=|~`<]|[0-9]{1,9}[.)]")


def marked_line(text: str, max_chars: int) -> str:
    """The text in one line of about `max_chars` characters that may stand before a marker; a cut is shown by "…"."""
    return clip(text, max_chars).replace("<!--", "<! --").replace("-->", "-- >")


def paragraph(text: str, max_chars: int) -> str:
    """A line that can stand by itself: one that would open a heading, list or quote is escaped."""
    line = marked_line(text, max_chars)
    return f"\\{line}" if _BLOCK_START.match(line) else line
