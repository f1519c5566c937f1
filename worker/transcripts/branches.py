"""Which stretches of a session the person went back behind, from the parent links of its rows.

Agents that keep a tree append: a rewind leaves the abandoned rows in the file, and the next human row names an earlier
parent. File order alone does not show it. The judgement is cautious, because a wrong one hides real content: unknown
parents, interleaved branches and branches that are continued later are never reported, and a missed rewind costs
nothing but tokens.
"""

from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from worker.transcripts.formats import State

Link = tuple[str, str | None, bool]
"""A row's id, its parent's, and whether a person wrote it."""
ROWS_KNOWN = 100_000
"""Parents further back are unknown: bounds memory, and nobody rewinds that far."""
ROWS_KEPT = 32
"""So many rows are known again where a later reading goes on: rows are repeated, and people go back, nearby."""
REWINDS_MAX = 200
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewind:
    """Slots and message indexes of an abandoned stretch, both half open."""

    first_slot: int
    end_slot: int
    first_index: int
    end_index: int


class Branches:
    """The rows of a session as a tree, fed in file order. A slot is the place of a row among those with an id."""

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}
        self._oldest_first: deque[str] = deque()
        self._parents = array("q")
        self._indexes = array("q")
        self._humans_below = array("q")
        self._rewinds: list[_Rewind] = []
        self._newest: deque[Link] = deque(maxlen=ROWS_KEPT)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._slots

    def add(self, row_id: str, parent_id: str | None, index: int | None, *, human: bool) -> None:
        """Takes a row. index: of its first message, None for rows that are none or lie before the reading."""
        self._newest.append((row_id, parent_id, human))
        slot = len(self._parents)
        parent = self._slots.get(parent_id, NONE) if parent_id is not None else NONE
        self._remember(row_id, slot)
        self._parents.append(parent)
        self._indexes.append(NONE if index is None else index)
        self._humans_below.append(NONE)
        if parent != NONE and parent != slot - 1:
            self._forgive_what_goes_on(parent)
        if human and parent != NONE:
            self._note_rewind(slot, parent)
            self._mark_human_below(slot, parent)

    def newest(self) -> tuple[Link, ...]:
        """The last rows, oldest first."""
        return tuple(self._newest)

    def resume(self, links: Iterable[Link]) -> None:
        """Takes rows that lie before the reading."""
        for row_id, parent_id, human in links:
            self.add(row_id, parent_id, None, human=human)

    def rewound(self) -> list[tuple[int, int]]:
        """The abandoned stretches as message indexes [start, end), ascending, overlapping ones joined."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted((rewind.first_index, rewind.end_index) for rewind in self._rewinds):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def _remember(self, row_id: str, slot: int) -> None:
        """Forgets the oldest row when there are too many. A dict alone finds its first key in linear time."""
        self._slots[row_id] = slot
        self._oldest_first.append(row_id)
        if len(self._oldest_first) > ROWS_KNOWN:
            self._slots.pop(self._oldest_first.popleft(), None)

    def _note_rewind(self, slot: int, parent: int) -> None:
        first = self._humans_below[parent]
        if first == NONE or len(self._rewinds) >= REWINDS_MAX:
            return
        start, end = self._indexes[first], self._indexes[slot]
        if NONE not in (start, end) and self._all_below(parent, first, slot):
            self._rewinds.append(_Rewind(first_slot=first, end_slot=slot, first_index=start, end_index=end))

    def _all_below(self, ancestor: int, first: int, end: int) -> bool:
        """True when every message among these slots descends from the ancestor."""
        below = {ancestor}
        for slot in range(first, end):
            if self._parents[slot] in below:
                below.add(slot)
            elif self._indexes[slot] != NONE:
                return False
        return True

    def _mark_human_below(self, slot: int, parent: int) -> None:
        """Remembers at every row above, up to the one that knows another, that a person went on from here."""
        known = self._humans_below[parent] != NONE
        self._humans_below[parent] = slot
        at = self._parents[parent]
        while not known and at != NONE and self._humans_below[at] == NONE:
            self._humans_below[at] = slot
            at = self._parents[at]

    def _forgive_what_goes_on(self, parent: int) -> None:
        """A branch that gets another row was not abandoned: two processes write to one session."""
        self._rewinds = [rewind for rewind in self._rewinds if not rewind.first_slot <= parent < rewind.end_slot]


def links_in(state: State, key: str) -> list[Link]:
    """The links under a key. Raises: KeyError, TypeError, ValueError when there are none."""
    links: list[Link] = []
    for row_id, parent_id, human in state[key]:
        if not isinstance(row_id, str) or not isinstance(parent_id, str | None) or not isinstance(human, bool):
            raise TypeError("not a row's id, its parent's and who wrote it")
        links.append((row_id, parent_id, human))
    return links
