"""Message ids as links into one session's part of a page, and moments as people read them."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from worker.reporting.page import Cite
from worker.reporting.quoting import mentioned_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Citing:
    """prefix: of the session's anchors. quoted: the ids of the messages on the page. told: when each was said."""

    prefix: str
    quoted: Collection[str]
    zone: tzinfo
    told: Callable[[str], datetime | None] = lambda _: None

    def anchor(self, message_id: str) -> str:
        return f"{self.prefix}-{message_id}"

    def cite(self, message_id: str) -> Cite:
        return Cite(id=message_id, anchor=self.anchor(message_id) if message_id in self.quoted else None)

    def cites(self, message_ids: Iterable[str]) -> tuple[Cite, ...]:
        return tuple(self.cite(one) for one in dict.fromkeys(message_ids))

    def linked(self, text: str) -> tuple[str | Cite, ...]:
        """The text with each message that it names as a cite, when the page holds that message."""
        pieces: list[str | Cite] = []
        behind = 0
        for start, end, name in mentioned_in(text):
            if name in self.quoted:
                in_brackets = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
                pieces += [text[behind : start - in_brackets], self.cite(name)]
                behind = end + in_brackets
        return tuple(piece for piece in (*pieces, text[behind:]) if piece)

    def when(self, at: datetime | None) -> str:
        """ "2026-11-27 14:05", "" when nobody knows."""
        if at is None:
            return ""
        return f"{at.astimezone(self.zone) if at.tzinfo else at:%Y-%m-%d %H:%M}"

    def said_at(self, message_id: str) -> str:
        return self.when(self.told(message_id))


def span(citing: Citing, first: datetime | None, last: datetime | None) -> str:
    """ "2026-11-27 14:05 – 14:41": the day is named once when it is one day."""
    start, end = citing.when(first), citing.when(last)
    if not start or start == end:
        return start or end
    return f"{start} – {end[11:] if end[:10] == start[:10] else end}"
