"""Keep by default: state and parts become one summary without a model, and nothing is lost on the way.

The join alone is a valid summary. What a model then proposes to change is judged in `merging`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from worker.core.items import is_written_id, join_evidence, newest_evidence, words_of
from worker.core.messages import message_index
from worker.core.rules import speaks_of
from worker.core.summary import (
    ITEM_LISTS,
    Artifact,
    Change,
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Lift,
    Memory,
    Problem,
    Reference,
    Summary,
    Task,
    UserMessage,
    item_content,
    item_id,
    with_id,
)
from worker.core.wording import Wording, details, identifiers, normal, says_the_same, wording

EARLIER = "Before that: "
EARLIER_CHARS = 1_200


def join(state: Summary | None, new: Sequence[Summary], *, number: int) -> Summary:
    """State and parts as one summary: nothing is lost, the same is said once, what came last is newest.

    number: of the checkpoint being made; new items begin there, known ones were last seen there. Items of `state` are
    never joined with each other, so `join(s, [s])` is `s` up to `seen`. The newest part speaks for the end of the
    range. User messages and artifacts are of one range: those of `state` stay where they are stored.
    """
    base = state or Summary()
    lists: dict[str, Any] = {}
    for field in ITEM_LISTS:
        shelf = _Shelf(getattr(base, field), number)
        for part in new:
            shelf.add_all(getattr(part, field))
        lists[field] = tuple(shelf.items)
    if not new:
        return replace(base, **lists)
    return replace(
        base,
        **lists,
        request=_join_requests([base.request, *(part.request for part in new)]),
        current_work=_newest([base.current_work, *(part.current_work for part in new)]),
        next_step=new[-1].next_step,
        user_messages=_union_messages(new),
        artifacts=_union_artifacts(new),
    )


def _newest(texts: Sequence[str]) -> str:
    return next((text for text in reversed(texts) if text.strip()), "")


def _join_requests(texts: Sequence[str]) -> str:
    """The newest request whole; behind it what came before, newest first, each once and bounded."""
    said = [text for text in texts if text.strip()]
    if not said:
        return ""
    kept, known, room = [said[-1]], normal(said[-1]), EARLIER_CHARS
    for paragraph in _earlier_paragraphs(said[:-1]):
        if normal(paragraph) in known:
            continue
        room -= len(paragraph)
        if room < 0:
            break
        kept.append(EARLIER + paragraph)
        known = f"{known} {normal(paragraph)}"
    return "\n\n".join(kept)


def _earlier_paragraphs(texts: Sequence[str]) -> list[str]:
    return [
        bare
        for text in reversed(texts)
        for piece in text.split("\n\n")
        if (bare := piece.removeprefix(EARLIER).strip())
    ]


def _union_messages(parts: Sequence[Summary]) -> tuple[UserMessage, ...]:
    by_id = {message.id: message for part in parts for message in part.user_messages}
    return tuple(sorted(by_id.values(), key=lambda message: message_index(message.id) or 0))


def _union_artifacts(parts: Sequence[Summary]) -> tuple[Artifact, ...]:
    return tuple({artifact.handle: artifact for part in parts for artifact in part.artifacts}.values())


LIKELY = 20
"""How many items of the most common words are compared in full; a summary of a thousand look-alikes stays fast."""


class _Shelf:
    """The items of one list while new ones are put to it. Each lookup is by id, by what makes it the same, by words."""

    def __init__(self, items: Iterable[Item], number: int) -> None:
        self.items: list[Item] = []
        self._number = number
        self._by_id: dict[str, int] = {}
        self._by_key: dict[tuple[str, ...], int] = {}
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._wordings: dict[int, Wording] = {}
        for item in items:
            self._append(item)

    def add_all(self, items: Iterable[Item]) -> None:
        for item in items:
            at = self._find(item)
            if at is None:
                self._append(self._begun(item))
            else:
                self._replace(at, item)

    def _begun(self, item: Item) -> Item:
        fresh = with_id(replace(item, evidence=join_evidence(item.evidence)))
        if fresh.id in self._by_id and isinstance(fresh, Task):
            fresh = replace(fresh, id=item_id(fresh))
        # Two texts may share six digits of their hashes; a second one must not become the first.
        while fresh.id in self._by_id:
            fresh = replace(fresh, id=fresh.id + "x")
        return replace(fresh, since=self._number, seen=self._number)

    def _append(self, item: Item) -> None:
        self.items.append(item)
        self._index(len(self.items) - 1, item)

    def _replace(self, at: int, new: Item) -> None:
        old = self.items[at]
        joined = replace(
            combine(old, new),
            id=old.id,
            evidence=join_evidence(old.evidence, new.evidence),
            since=old.since,
            seen=self._number,
        )
        self.items[at] = joined
        self._index(at, joined)

    def _index(self, at: int, item: Item) -> None:
        self._by_id.setdefault(item.id, at)
        for key in _keys(item):
            self._by_key.setdefault(key, at)
        if isinstance(item, _WORDED):
            self._wordings[at] = said = wording(item_content(item))
            for word in said.words:
                if not self._by_word[word] or self._by_word[word][-1] != at:
                    self._by_word[word].append(at)

    def _find(self, item: Item) -> int | None:
        at = self._by_id.get(item.id or with_id(item).id)
        if at is not None and _is_same(self.items[at], item):
            return at
        for key in _keys(item):
            at = self._by_key.get(key)
            if at is not None and (not isinstance(item, Task) or _is_same(self.items[at], item)):
                return at
        return self._find_by_words(item)

    def _find_by_words(self, item: Item) -> int | None:
        if not isinstance(item, _WORDED):
            return None
        said, shared = wording(item_content(item)), defaultdict[int, int](int)
        for word in said.words:
            for at in self._by_word.get(word, ()):
                shared[at] += 1
        likely = sorted(
            (at for at, count in shared.items() if count * 2 > len(said.words)), key=lambda at: -shared[at]
        )[:LIKELY]
        return next((at for at in likely if self._is_near(at, item, said)), None)

    def _is_near(self, at: int, item: Item, said: Wording) -> bool:
        other = self.items[at]
        if isinstance(item, Problem) and isinstance(other, Problem) and item.kind is not other.kind:
            return False
        if isinstance(item, Task) and isinstance(other, Task) and is_written_id(item) and is_written_id(other):
            return False
        return says_the_same(self._wordings[at], said)


_WORDED = (Concept, ErrorItem, Problem, Task, Memory)
"""Kinds whose items are the same when they say nearly the same; the others are the same by what they name."""


def _keys(item: Item) -> list[tuple[str, ...]]:
    """What makes an item the same as another of its list, beside its id."""
    match item:
        case Task():
            written = [item.id] if is_written_id(item) else []
            return [("id", one) for one in (*written, *item.refs)]
        case FileItem():
            return [(item.path.removeprefix("./"),)]
        case Problem() | Memory():
            return [(item.kind, normal(item.text))]
        case Reference():
            return [(item.value,)]
        case _:
            return [(normal(item_content(item)),)]


def _is_same(old: Item, new: Item) -> bool:
    """True when one id means one thing: hashes of rewritten texts collide, and lists count their tasks from 1 anew."""
    if normal(item_content(old)) == normal(item_content(new)):
        return True
    if isinstance(new, Task) and is_written_id(new) and not new.id.isdigit():
        return True
    return speaks_of(item_content(new), words_of(old))


def combine(old: Item, new: Item) -> Item:
    """What two items that are the same say together; id and evidence are the caller's."""
    match old, new:
        case Constraint(), Constraint():
            return replace(old, given=old.given or new.given, lifted=_lifted(old, new))
        case FileItem(), FileItem():
            snippet = new.snippet or old.snippet
            return replace(
                old, change=_later(old.change, new.change), note=_latest(old.note, new.note), snippet=snippet
            )
        case Reference(), Reference():
            return replace(old, note=_latest(old.note, new.note))
        case ErrorItem(), ErrorItem():
            return _combine_errors(old, new)
        case Check(), Check():
            return replace(old, result=new.result, note=_latest(old.note, new.note))
        case Task(), Task():
            return _combine_tasks(old, new)
        case Problem(), Problem():
            return replace(old, text=_fuller(old.text, new.text), verify=new.verify or old.verify)
        case Concept(), Concept():
            return replace(old, text=_fuller(old.text, new.text))
        case Memory(), Memory():
            return replace(old, text=_fuller(old.text, new.text))
        case _:
            raise TypeError(f"not of one kind: {type(old).__name__} and {type(new).__name__}")


def _lifted(old: Constraint, new: Constraint) -> Lift | None:
    """A rule that was lifted and is said again later is in force again."""
    if old.lifted is None or new.lifted is not None:
        return new.lifted or old.lifted
    lifted_at = max((message_index(one) or 0 for one in old.lifted.evidence), default=0)
    return None if newest_evidence(new) > lifted_at else old.lifted


_CHANGED = (Change.EDITED, Change.CREATED, Change.DELETED)


def _later(old: Change, new: Change) -> Change:
    if old in _CHANGED and new not in _CHANGED:
        return old
    return old if new is Change.MENTIONED else new


def _combine_errors(old: ErrorItem, new: ErrorItem) -> ErrorItem:
    came_back = old.fix is not None and new.fix is None and newest_evidence(new) > newest_evidence(old)
    if came_back:
        return replace(old, error=f"{old.error} (came back after: {old.fix})", fix=None)
    return replace(old, error=_fuller(old.error, new.error), fix=_latest(old.fix or "", new.fix or "") or None)


def _combine_tasks(old: Task, new: Task) -> Task:
    """The newest words and status, but a status that code saw is not overruled by one that a model says."""
    keeps_status = old.from_ledger and not new.from_ledger
    return replace(
        old,
        text=_latest(old.text, new.text, besides=(old.id, *old.refs)),
        status=old.status if keeps_status else new.status,
        refs=tuple(dict.fromkeys([*old.refs, *_other_ids(old, new)])),
        from_ledger=old.from_ledger or new.from_ledger,
    )


def _other_ids(old: Task, new: Task) -> list[str]:
    written = [new.id] if is_written_id(new) else []
    return [one for one in (*written, *new.refs) if one != old.id]


def _fuller(old: str, new: str) -> str:
    """Of two texts that say the same the one with more exact details, then the longer one."""
    if normal(old) == normal(new):
        return old
    held, said = details(old), details(new)
    if held != said and (held <= said or said <= held):
        return new if held < said else old
    return _with_identifiers_of(old, new) if len(old) >= len(new) else _with_identifiers_of(new, old)


def _latest(old: str, new: str, *, besides: Collection[str] = ()) -> str:
    """The newer text, with what only the older one names letter by letter, but for what is told `besides`."""
    if not new.strip() or normal(old) == normal(new):
        return old
    return _with_identifiers_of(new, old, besides=besides)


def _with_identifiers_of(kept: str, lost: str, *, besides: Collection[str] = ()) -> str:
    missing = [value for value in identifiers(lost) if value not in kept and value not in besides]
    return f"{kept} (also: {', '.join(missing)})" if missing else kept
