"""Commits, branches, pull requests, issues and addresses that a session made or was given, from output and people."""

import re
from collections.abc import Iterator, Sequence

from worker.core.identifiers import identifiers_in_redacted
from worker.core.invocations import Invocation
from worker.core.messages import Message
from worker.core.summary import Reference, ReferenceKind, with_id

_COMMITTED = re.compile(r"^\[([^\]\s]{1,200})(?: \([^)]{1,40}\))? ([0-9a-f]{7,40})\] (.{0,200})$", re.MULTILINE)
_NEW_BRANCH = re.compile(
    r"\bgit (?:checkout -[bB]|switch (?:-c|--create)|branch(?! -)|worktree add -b) ([\w./-]{1,200})"
)
_SWITCHED = re.compile(r"^Switched to (?:a new )?branch '([^']{1,200})'", re.MULTILINE)
_GH_NUMBER = re.compile(
    r"\bgh (pr|issue) (?:view|checkout|merge|close|comment|edit|diff|checks|review|ready|reopen) #?(\d{1,7})\b"
)
_MAKES_LINK = re.compile(
    r"\b(?:gh (?:pr|issue|release|gist) (?:create|comment|edit|merge|close|review)|glab (?:mr|issue) (?:create"
    r"|note)|git push)\b"
)
_MAX_LINKS = 5
_MAX_NOTE_CHARS = 200
_KINDS = (
    (
        ReferenceKind.COMMENT,
        re.compile(r"/(?:pull|issues|merge_requests)/\d+.*#(?:discussion_r|issuecomment|pullrequestreview|note_)"),
    ),
    (ReferenceKind.PR, re.compile(r"/(?:pull|merge_requests|pull-requests)/\d+")),
    (ReferenceKind.ISSUE, re.compile(r"/(?:issues|browse|issue)/[\w-]*\d+")),
    (ReferenceKind.COMMIT, re.compile(r"/commits?/[0-9a-f]{7,40}\b")),
)

Found = tuple[ReferenceKind, str, str, str]


def find_references(messages: Sequence[Message], invocations: Sequence[Invocation]) -> list[Reference]:
    """One per kind and value, in order of first appearance, with at most 4 messages as evidence."""
    found: dict[tuple[ReferenceKind, str], tuple[str, list[str]]] = {}
    for kind, value, note, evidence in [*_of_people(messages), *_of_tools(invocations)]:
        known_note, ids = found.setdefault((kind, value), (note, []))
        if evidence not in ids and len(ids) < 4:
            ids.append(evidence)
        found[kind, value] = (known_note or note, ids)
    references = [
        with_id(Reference(kind=kind, value=value, note=note, evidence=tuple(ids)))
        for (kind, value), (note, ids) in found.items()
    ]
    return sorted(references, key=lambda reference: int(reference.evidence[0][1:]))


def kind_of_url(url: str) -> ReferenceKind:
    """What an address leads to, by the paths of the usual forges."""
    return next((kind for kind, pattern in _KINDS if pattern.search(url)), ReferenceKind.URL)


def _of_people(messages: Sequence[Message]) -> Iterator[Found]:
    for message in messages:
        if message.is_human and not message.sidechain and "://" in message.text:
            for kind, value in identifiers_in_redacted(message.text):
                if kind == "url":
                    yield kind_of_url(value), value, "", message.id


def _of_tools(invocations: Sequence[Invocation]) -> Iterator[Found]:
    for invocation in invocations:
        command = invocation.command
        if command is None or not invocation.is_successful:
            continue
        if "git" in command:
            yield from _of_git(command, invocation)
        if "gh " in command or "glab " in command:
            yield from _of_forge(command, invocation)


def _of_git(command: str, invocation: Invocation) -> Iterator[Found]:
    evidence = invocation.evidence[-1]
    if "commit" in command or "cherry-pick" in command or "revert" in command or "merge" in command:
        for match in _COMMITTED.finditer(invocation.text):
            branch = "" if match[1] in ("detached", "HEAD") else match[1]
            yield ReferenceKind.COMMIT, match[2], match[3][:_MAX_NOTE_CHARS], evidence
            if branch:
                yield ReferenceKind.BRANCH, branch, "", evidence
    made = _NEW_BRANCH.search(command)
    switched = _SWITCHED.search(invocation.text)
    if made is not None or switched is not None:
        name = switched[1] if switched else made[1] if made else ""
        yield ReferenceKind.BRANCH, name, "", evidence


def _of_forge(command: str, invocation: Invocation) -> Iterator[Found]:
    evidence = invocation.evidence[-1]
    for match in _GH_NUMBER.finditer(command):
        kind = ReferenceKind.PR if match[1] == "pr" else ReferenceKind.ISSUE
        yield kind, f"#{match[2]}", "", evidence
    if _MAKES_LINK.search(command) and "://" in invocation.text:
        urls = [value for kind, value in identifiers_in_redacted(invocation.text[:4_000]) if kind == "url"]
        for url in urls[:_MAX_LINKS]:
            yield kind_of_url(url), url, "", evidence
