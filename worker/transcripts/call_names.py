"""Which tool a call is for: the results in most formats name only the call."""

from collections import deque
from collections.abc import Iterable

from worker.core.messages import ToolCall
from worker.transcripts.formats import State
from worker.transcripts.resuming import pairs_in

OPEN_KEPT = 64
ANSWERED_KEPT = 16
"""A call is rarely answered twice, and then soon."""


class CallNames:
    """All calls of a reading; of those before it the open ones, and the ones answered last."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._answered: deque[tuple[str, str]] = deque(maxlen=ANSWERED_KEPT)
        self._state: dict[str, tuple[tuple[str, str], ...]] | None = None

    def learn(self, calls: Iterable[ToolCall]) -> None:
        for call in calls:
            self._add(call.id, call.name)

    def answered(self, call_id: str) -> str | None:
        """The tool of a call that a result answers; None when no call of that id is known."""
        if call_id in self._open:
            self._answered.append((call_id, self._open.pop(call_id)))
            self._state = None
        return self._names.get(call_id)

    def state(self) -> State:
        if self._state is None:
            self._state = {"open": tuple(self._open.items()), "answered": tuple(self._answered)}
        return self._state

    def resume(self, state: State) -> None:
        for call_id, name in pairs_in(state, "answered"):
            self._add(call_id, name)
            self.answered(call_id)
        for call_id, name in pairs_in(state, "open"):
            self._add(call_id, name)

    def _add(self, call_id: str, name: str) -> None:
        self._names[call_id] = name
        self._open.pop(call_id, None)
        self._open[call_id] = name
        if len(self._open) > OPEN_KEPT:
            del self._open[next(iter(self._open))]
        self._state = None
