"""What happened to files, read from tool calls that succeeded. A failed or unanswered write is no change."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from worker.core.commands import simple_commands
from worker.core.invocations import Invocation
from worker.core.summary import Change, FileItem, with_id

_READERS = frozenset({"read", "read_file", "readfile", "view", "open", "open_file", "view_file", "cat", "notebookread"})
_WRITERS = frozenset({"write", "write_file", "writefile", "create", "create_file", "save_file", "write_to_file"})
_EDITORS = frozenset(
    {
        "edit",
        "multiedit",
        "multi_edit",
        "replace",
        "str_replace",
        "notebookedit",
        "edit_file",
        "insert",
        "search_replace",
        "replace_in_file",
        "patch",
        "update_file",
    }
)
_DELETERS = frozenset({"delete", "delete_file", "remove_file", "rm"})
_COMMAND_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor", "memory"})
_EDITOR_COMMANDS = {
    "view": Change.READ,
    "create": Change.CREATED,
    "str_replace": Change.EDITED,
    "insert": Change.EDITED,
    "undo_edit": Change.EDITED,
    "delete": Change.DELETED,
}
_PATCH_LINE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.{1,500})$|^\*\*\* (Move) to: (.{1,500})$", re.MULTILINE)
_PATCH_CHANGES = {"Add": Change.CREATED, "Update": Change.EDITED, "Delete": Change.DELETED, "Move": Change.CREATED}
_UPDATED = re.compile(r"(?i)\b(?:has been updated|updated successfully|overwr(?:ote|itten)|successfully overwrote)\b")
_FILE_PROGRAMS = frozenset({"rm", "mv", "cp", "touch", "tee", "sed", "git", "cat", "head", "tail", "unlink"})
_TOUCHES_FILES = re.compile(r"\b(?:rm|mv|cp|touch|tee|sed|unlink|cat|head|tail)\b|>")
_MAX_EVIDENCE = 4

Touch = tuple[str, Change]


def find_files(invocations: Sequence[Invocation], cwd: str | None = None) -> list[FileItem]:
    """One item per path in order of first touch; paths inside `cwd` are relative to it.

    A later reading does not undo a change, an edit of a file made in this range leaves it made; else the later wins.
    """
    touched: dict[str, tuple[Change, list[str]]] = {}
    for invocation, path, change in _touches(invocations, cwd):
        before, evidence = touched.get(path, (None, []))
        after = _outcome(before, change)
        if after is not before or change is not Change.READ:
            evidence = [*evidence, *(i for i in invocation.evidence[:1] if i not in evidence)]
        touched[path] = (after, evidence)
    return [
        with_id(FileItem(path=path, change=change, evidence=_shown(evidence)))
        for path, (change, evidence) in touched.items()
    ]


def _shown(evidence: list[str]) -> tuple[str, ...]:
    """The first and the newest ones."""
    kept = evidence if len(evidence) <= _MAX_EVIDENCE else [evidence[0], *evidence[1 - _MAX_EVIDENCE :]]
    return tuple(kept)


def relative_path(path: str, cwd: str | None) -> str:
    """The path as a project names it: inside `cwd` relative, else as it is."""
    root = cwd.rstrip("/") if cwd else ""
    inside = path[len(root) + 1 :] if root and path.startswith(root + "/") else path
    return inside.removeprefix("./") or path


def _outcome(before: Change | None, change: Change) -> Change:
    if before is None or change is Change.DELETED:
        return change
    if change is Change.READ:
        return before
    if change is Change.CREATED:
        return Change.CREATED if before in (Change.DELETED, Change.CREATED) else Change.EDITED
    return Change.CREATED if before is Change.CREATED else Change.EDITED


def _touches(invocations: Sequence[Invocation], cwd: str | None) -> Iterator[tuple[Invocation, str, Change]]:
    for invocation in invocations:
        if invocation.is_successful:
            for path, change in _touches_of(invocation):
                yield invocation, relative_path(path, cwd), change


def _touches_of(invocation: Invocation) -> Iterator[Touch]:
    name, path = invocation.name, invocation.path
    if name == "apply_patch" or "*** Begin Patch" in invocation.call.arguments:
        yield from _patched(invocation)
    elif invocation.command is not None:
        yield from _touched_by_shell(invocation.command)
    elif name in _COMMAND_EDITORS and path:
        change = _EDITOR_COMMANDS.get(str(invocation.arguments.get("command")))
        if change is not None:
            yield path, change
    elif path:
        yield from _touched_by_tool(name, path, invocation.text)


def _touched_by_tool(name: str, path: str, result: str) -> Iterator[Touch]:
    if name in _READERS:
        yield path, Change.READ
    elif name in _EDITORS:
        yield path, Change.EDITED
    elif name in _WRITERS:
        yield path, Change.EDITED if _UPDATED.search(result[:400]) else Change.CREATED
    elif name in _DELETERS:
        yield path, Change.DELETED


def _patched(invocation: Invocation) -> Iterator[Touch]:
    texts = [text for text in invocation.arguments.values() if isinstance(text, str)] or [invocation.call.arguments]
    words = invocation.arguments.get("command")
    texts += [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    for text in texts:
        for match in _PATCH_LINE.finditer(text):
            kind, path = (match[1], match[2]) if match[1] else (match[3], match[4])
            yield path.strip(), _PATCH_CHANGES[kind]


def _touched_by_shell(command: str) -> Iterator[Touch]:
    if not _TOUCHES_FILES.search(command):
        return
    folder = ""
    for words in simple_commands(command):
        if words[0] == "cd" and len(words) > 1:
            folder = posixpath.join(folder, words[1])
            continue
        for path, change in (*_redirected(words), *_touched_by_program(words)):
            if _is_plain(path):
                yield posixpath.normpath(posixpath.join(folder, path)), change


def _is_plain(path: str) -> bool:
    """No variable, pattern or device: only what names one file."""
    return (
        bool(path)
        and not re.search(r"[$*?`{}<>|&\[\]]", path)
        and not path.startswith(("/dev/", "-"))
        and not path.isdigit()
    )


def _redirected(words: Sequence[str]) -> Iterator[Touch]:
    for operator, target in pairwise(words):
        if operator == ">":
            yield target, Change.CREATED
        elif operator == ">>":
            yield target, Change.EDITED


def _touched_by_program(words: Sequence[str]) -> Iterator[Touch]:
    program = words[0].rsplit("/", 1)[-1]
    if program == "git" and len(words) > 2 and words[1] in ("rm", "mv"):
        program, words = words[1], words[1:]
    if program not in _FILE_PROGRAMS:
        return
    names = _names(words[1:])
    if program in ("rm", "unlink"):
        yield from ((name, Change.DELETED) for name in names)
    elif program in ("mv", "cp") and len(names) > 1:
        yield from ((name, Change.DELETED) for name in names[:-1] if program == "mv")
        yield from ((name, Change.CREATED) for name in _arrived(names[:-1], names[-1]))
    elif program in ("touch", "tee"):
        yield from ((name, Change.EDITED if "-a" in words else Change.CREATED) for name in names)
    elif program == "sed" and any(word.startswith("-i") for word in words):
        yield from ((name, Change.EDITED) for name in names[1:])
    elif program in ("cat", "head", "tail") and not any(word in (">", "<<") or "$" in word for word in words):
        yield from ((name, Change.READ) for name in names)


def _arrived(sources: Sequence[str], target: str) -> list[str]:
    """Where they are then: several, or what goes to a path that ends like a folder, keep their names in it."""
    if len(sources) == 1 and not target.endswith("/") and posixpath.basename(target) not in (".", ".."):
        return [target]
    return [posixpath.join(target, posixpath.basename(source.rstrip("/"))) for source in sources]


def _names(words: Sequence[str]) -> list[str]:
    """The words that are no options and belong to no redirection."""
    names: list[str] = []
    for word in words:
        if word in (">", ">>", "<", "<<", ">&"):
            break
        if not word.startswith("-"):
            names.append(word)
    return names
