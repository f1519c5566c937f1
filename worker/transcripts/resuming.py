"""What is kept with a checkpoint so that a later reading goes on without a look at the rows before it.

The state of the format's reader just before the row of the last covered message: that row is read again anyhow, to see
whether it is still the same, and it teaches the rest. A state that is missing, damaged or too large is none; what was
taught by the rows before is then read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from worker.core.secrets import contains_secret
from worker.transcripts.formats import State

VERSION = "1"
STATE_MAX_CHARS = 16_384
"""Names and ids of a few dozen rows are a fifth of it."""

_OWN_KEYS = ("version", "taken")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """state: before the row of a message. taken: how many messages of that row are behind, this one included."""

    state: State
    taken: int

    def packed(self) -> dict[str, str]:
        """For a checkpoint's cursor; empty when it is too large, or when an id in it looks like a secret."""
        fields = {"version": VERSION, "taken": str(self.taken)}
        try:
            fields |= {key: orjson.dumps(value).decode() for key, value in self.state.items()}
        except (TypeError, UnicodeEncodeError):
            return {}
        if sum(map(len, fields.values())) > STATE_MAX_CHARS or any(map(contains_secret, fields.values())):
            return {}
        return fields


def unpacked(fields: Mapping[str, str]) -> ResumePoint | None:
    """The point that was packed; None when nothing usable is there."""
    if fields.get("version") != VERSION or sum(map(len, fields.values())) > STATE_MAX_CHARS:
        return None
    try:
        taken = int(fields["taken"])
        state = {key: orjson.loads(value) for key, value in fields.items() if key not in _OWN_KEYS}
    except (KeyError, ValueError):
        return None
    return ResumePoint(state=state, taken=taken) if taken > 0 else None


def texts_in(state: State, key: str) -> list[str]:
    """The texts under a key. Raises: KeyError, TypeError when there are none."""
    return [_text(value) for value in _list(state[key])]


def numbers_in(state: State, key: str) -> list[int]:
    """The whole numbers under a key. Raises: KeyError, TypeError when there are none."""
    return [_number(value) for value in _list(state[key])]


def number_in(state: State, key: str) -> int:
    """The whole number under a key. Raises: KeyError, TypeError when there is none."""
    return _number(state[key])


def pairs_in(state: State, key: str) -> list[tuple[str, str]]:
    """The pairs of texts under a key. Raises: KeyError, TypeError, ValueError when there are none."""
    pairs = [_list(value) for value in _list(state[key])]
    return [(_text(first), _text(second)) for first, second in pairs]


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {type(value).__name__}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not a text: {type(value).__name__}")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"not a count: {value!r}")
    return value
