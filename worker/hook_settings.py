"""Putting our hooks into Claude Code's settings file, and nothing else into it.

The file belongs to a person: only the lists of the events that we hook are written anew, everything else keeps its
bytes. The file is written whole or not at all, with the old one beside it; one that is not understood is not touched.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from worker.adapters.files import read_if_there, storage_errors, write_atomically
from worker.errors import StoreError

HOOKED_EVENTS: Sequence[str] = ("Stop", "SubagentStop", "SessionEnd", "PreCompact", "PostCompact", "SessionStart")
COMMAND = "afterturn hook claude-code"
HOOK_TIMEOUT_SECONDS = 10

_OURS = re.compile(
    r"(?:^|[\s/'\"])afterturn['\"]?\s+(?:\S+\s+)*?hook\s+claude-code(?:\s|$)|worker\.hooks\s+claude-code(?:\s|$)"
)
_INDENT = re.compile(r"\{\r?\n([ \t]+)\"")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

_Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """changed: False when our hooks were there already. backup: where the old file is, None when there was none."""

    path: Path
    changed: bool
    backup: Path | None = None


def settings_snippet(command: str = COMMAND) -> str:
    """What a person can paste into settings.json by hand."""
    return json.dumps({"hooks": {event: [_group(command)] for event in HOOKED_EVENTS}}, indent=2)


def settings_path(environ: Mapping[str, str]) -> Path:
    """The user's own settings of Claude Code."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME") or Path.home(), ".claude")  # noqa: PTH118
    return Path(folder) / "settings.json"


def merge_into_settings(path: Path, now: datetime, command: str = COMMAND) -> Merged:
    """Our hooks in the file, once per event. A second time changes nothing; another command replaces our old one.

    Raises: StoreError when the file is not what Claude Code reads, StorageUnavailable; then it is untouched.
    """
    target = _behind_links(path)
    old = read_if_there(target)
    text = _text_of(old, path)
    wanted = _wanted(_settings_in(text, path), command, path)
    if not wanted:
        return Merged(path=path, changed=False)
    backup = _back_up(target, old, now) if old is not None else None
    write_atomically(target, _with_lists(text, wanted).encode("utf-8"), mode=_mode_of(target))
    return Merged(path=path, changed=True, backup=backup)


def _text_of(data: bytes | None, path: Path) -> str:
    try:
        text = (data or b"").decode("utf-8")
    except UnicodeDecodeError as exc:
        raise StoreError(f"{path}: not UTF-8; mend it or move it away, then run it again") from exc
    return text if text.strip("\ufeff \t\r\n") else "{}\n"


def _settings_in(text: str, path: Path) -> _Json:
    try:
        settings = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as exc:
        raise StoreError(f"{path}: not JSON ({exc}); mend it or move it away, then run it again") from exc
    if not isinstance(settings, dict):
        raise StoreError(f"{path}: not a JSON object; mend it or move it away, then run it again")
    return settings


def _without_repeats(pairs: list[tuple[str, Any]]) -> _Json:
    """A name that stands twice would lose one of its values when the file is written again."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _wanted(settings: _Json, command: str, path: Path) -> Mapping[str, list[Any]]:
    """The groups of each event whose list has to change."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise StoreError(f"{path}: 'hooks' is not an object; mend it, then run it again")
    wanted = {}
    for event in HOOKED_EVENTS:
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise StoreError(f"{path}: hooks.{event} is not a list; mend it, then run it again")
        with_ours = _with_ours_once(groups, command)
        if with_ours != groups:
            wanted[event] = with_ours
    return wanted


def _with_ours_once(groups: list[Any], command: str) -> list[Any]:
    """The groups with our command where an older one of ours was, else in a group of its own at the end."""
    place = next((index for index, group in enumerate(groups) if _is_ours(group, command)), None)
    if place is None:
        return [*groups, _group(command)]
    return [*groups[:place], _renamed(groups[place], command), *groups[place + 1 :]]


def _is_ours(group: Any, command: str) -> bool:
    return any(_is_our_entry(entry, command) for entry in _entries(group))


def _is_our_entry(entry: Any, command: str) -> bool:
    named = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(named, str) and (named == command or _OURS.search(named) is not None)


def _entries(group: Any) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _renamed(group: _Json, command: str) -> _Json:
    entries = [{**entry, "command": command} if _is_our_entry(entry, command) else entry for entry in _entries(group)]
    return {**group, "hooks": entries}


def _group(command: str) -> _Json:
    return {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECONDS}]}


def _with_lists(text: str, lists: Mapping[str, list[Any]]) -> str:
    """The text of the settings with the lists of these events in it, and every other character as it was."""
    style = _Style.of(text)
    root = text.index("{")
    if "hooks" not in _members(text, root):
        text = _with_member(text, root, "hooks", "{}", style, depth=1)
    for event, groups in lists.items():
        hooks, _ = _members(text, text.index("{"))["hooks"]
        text = _with_member(text, hooks, event, style.dumps(groups, depth=2), style, depth=2)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """indent: of one level, None for a file on one line."""

    indent: str | None
    newline: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        found = _INDENT.search(text)
        is_one_line = "\n" not in text.strip() and len(text.strip()) > len("{}")
        indent = found[1] if found else (None if is_one_line else "  ")
        return cls(indent=indent, newline="\r\n" if "\r\n" in text else "\n")

    def line(self, depth: int) -> str:
        """What starts a new line of that depth."""
        return "" if self.indent is None else self.newline + self.indent * depth

    def dumps(self, value: object, depth: int) -> str:
        """ASCII, for what stands in the file escaped may not be writable otherwise."""
        return json.dumps(value, indent=self.indent).replace("\n", self.line(depth))


def _with_member(text: str, start: int, name: str, value: str, style: _Style, depth: int) -> str:
    """The text with the member in the object that begins at `start`: in its old place, else behind all others."""
    members = _members(text, start)
    if name in members:
        at, end = members[name]
        return text[:at] + value + text[end:]
    written = f"{json.dumps(name)}: {value}"
    if members:
        _, end = list(members.values())[-1]
        return text[:end] + "," + (style.line(depth) or " ") + written + text[end:]
    _, end = _DECODER.raw_decode(text, start)
    return text[:start] + "{" + style.line(depth) + written + style.line(depth - 1) + "}" + text[end:]


def _members(text: str, start: int) -> dict[str, tuple[int, int]]:
    """Where the values stand of the object that begins at `start`, in their order; the text is known to be JSON."""
    members = {}
    at = _behind_space(text, start + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _behind_space(text, _behind_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        members[name] = (at, end)
        at = _behind_space(text, end)
        if text[at] == ",":
            at = _behind_space(text, at + 1)
    return members


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _back_up(path: Path, data: bytes, now: datetime) -> Path:
    backup = path.with_name(f"{path.name}.before-afterturn-{now:%Y%m%d-%H%M%S-%f}")
    write_atomically(backup, data)
    return backup


def _behind_links(path: Path) -> Path:
    """People keep their settings in a folder under version control and link to it: the link stays."""
    with storage_errors(path):
        return path.resolve()


def _mode_of(path: Path) -> int:
    with storage_errors(path):
        try:
            return path.stat().st_mode & 0o777
        except FileNotFoundError:
            return 0o600
