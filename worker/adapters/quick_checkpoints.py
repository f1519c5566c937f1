"""Stored checkpoints for a process that counts milliseconds: no pydantic, and only the fields that it needs.

What is read is what `sessions.decode` reads: the same file, the same hash over all of it, the same values. Where a
checkpoint's parts are not asked for, they are as if there were none.
"""

from collections.abc import Collection, Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from worker.adapters.files import read_bounded
from worker.adapters.sessions import sealed_fields
from worker.core.checkpoint import Checkpoint
from worker.errors import StoreError

_LISTS = ("summary", "ledger", "moved", "validation")
"""The parts of a checkpoint that are large; every field of theirs has a default."""


def read_checkpoint(path: Path, wanted: Mapping[str, Collection[str]], *, max_bytes: int) -> Checkpoint | None:
    """The checkpoint with those fields of its summary and ledger that are wanted, e.g. {"summary": ["tasks"]}.

    None when there is no such file. Raises: StoreError when it is damaged, written by a newer version, or larger than
    `max_bytes`; StorageUnavailable.
    """
    data = read_bounded(path, max_bytes + 1)
    if data is None:
        return None
    if len(data) > max_bytes:
        raise StoreError(f"{path}: more than {max_bytes:,} bytes; too large to be read while somebody waits")
    return checkpoint_of(sealed_fields(data, path), path, wanted)


def checkpoint_of(
    fields: dict[str, Any], path: Path, wanted: Mapping[str, Collection[str]] | None = None
) -> Checkpoint:
    """As `read_checkpoint`, from the object that the file holds; wanted: None for all of it."""
    try:
        made: Checkpoint = _made(Checkpoint, fields if wanted is None else _only(fields, wanted))
    except (KeyError, TypeError, ValueError) as exc:
        raise StoreError(f"{path}: not a checkpoint ({type(exc).__name__}: {exc}); restore it from a backup") from exc
    return made


def _only(fields: dict[str, Any], wanted: Mapping[str, Collection[str]]) -> dict[str, Any]:
    lists = {
        name: {inner: value for inner, value in fields[name].items() if inner in wanted.get(name, ())}
        for name in _LISTS
        if isinstance(fields.get(name), dict)
    }
    return fields | lists


def _made(kind: Any, value: Any) -> Any:
    """The value as the annotation `kind` of a field says. Raises: KeyError, TypeError, ValueError."""
    arguments = get_args(kind)
    origin = get_origin(kind)
    if origin is UnionType:
        return None if value is None and NoneType in arguments else _made(arguments[0], value)
    if origin is tuple:
        return tuple(_made(arguments[0], each) for each in _checked(list, value))
    if origin is dict:
        return {_made(arguments[0], name): _made(arguments[1], each) for name, each in _checked(dict, value).items()}
    if is_dataclass(kind):
        return _made_dataclass(kind, _checked(dict, value))
    if issubclass(kind, Enum):
        return kind(value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    return float(_checked(int | float, value)) if kind is float else _checked(kind, value)


def _made_dataclass(kind: Any, value: dict[str, Any]) -> Any:
    return kind(**{name: _made(inner, value[name]) for name, inner in _annotations(kind) if name in value})


@cache
def _annotations(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.type) for field in fields_of(kind))


def _checked(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} where {kind} is expected")
    return value
