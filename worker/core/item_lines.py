"""How a model is shown the items of a summary: one line each, with the id that it must use to speak of them."""

from collections.abc import Iterator

from worker.core.items import items_of
from worker.core.summary import (
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    Problem,
    Reference,
    Summary,
    Task,
)


def item_lines(summary: Summary) -> Iterator[str]:
    """One line per item, in the order of the sections; constraints that were lifted are not shown."""
    for _, item in items_of(summary):
        if not isinstance(item, Constraint) or item.in_force:
            yield item_line(item)


def item_line(item: Item) -> str:
    """`E-1a2b3c error: KeyError 'qty' | fix: alias added (m2, m3)`."""
    evidence = f" ({', '.join(item.evidence)})" if item.evidence else ""
    return f"{item.id} {_described(item)}{evidence}"


def _described(item: Item) -> str:
    match item:
        case Constraint():
            return f"constraint: {item.rule} | quote: {item.quote}"
        case Concept():
            return f"concept: {item.text}"
        case FileItem():
            return f"file {item.change}: {item.path}{_more('note', item.note)}"
        case Reference():
            return f"{item.kind}: {item.value}{_more('note', item.note)}"
        case ErrorItem():
            return f"error: {item.error} | fix: {item.fix or 'none yet'}"
        case Check():
            return f"check {item.result}: {item.command}{_more('note', item.note)}"
        case Problem():
            return f"{item.kind}: {item.text}{_more('verify', item.verify)}"
        case Task():
            return f"task {item.status}: {item.text}{_more('refs', ', '.join(item.refs))}"
        case Memory():
            return f"memory {item.kind}: {item.text}"
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


def _more(name: str, text: str | None) -> str:
    return f" | {name}: {text}" if text else ""
