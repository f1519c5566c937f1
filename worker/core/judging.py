"""How a judgement walks through a summary: its texts, its items, and a finding on one of them."""

from collections.abc import Iterator

from worker.core.checkpoint import Finding
from worker.core.grounds import Grounds
from worker.core.items import items_of, words_of
from worker.core.summary import Item, Summary


def texts_of(summary: Summary) -> list[tuple[str, str]]:
    """The texts of the summary that are no items, with their names."""
    step = summary.next_step
    return [
        ("request", summary.request),
        ("current_work", summary.current_work),
        *([("next_step", step.text)] if step else []),
    ]


def judged(summary: Summary, grounds: Grounds) -> Iterator[tuple[str, Item]]:
    """The items that are new or changed since the last judgement."""
    return ((field, item) for field, item in items_of(summary) if not grounds.is_settled(item))


def finding_on(code: str, field: str, item: Item, detail: str = "") -> Finding:
    return Finding(code=code, where=field, ids=(item.id,), detail=detail)


def summary_words(summary: Summary) -> str:
    """Everything that the summary says, people's messages included."""
    said = [text for _, text in texts_of(summary)] + [words_of(item) for _, item in items_of(summary)]
    return "\n".join(said + [message.text for message in summary.user_messages])
