"""The nine sections as values, and the identity of their items.

One class per kind of item, named as the checkpoint names its keys. How a summary is asked for, joined, checked and
shown lives in `answers`, `merging`, `validation` and `rendering`.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar


class Scope(StrEnum):
    """How long a constraint goes on: until it is lifted, or until the task it belongs to ends."""

    STANDING = "standing"
    TASK = "task"


class Change(StrEnum):
    """What happened to a file, weakest first; of two the later one in the session wins, a mention never does."""

    MENTIONED = "mentioned"
    READ = "read"
    EDITED = "edited"
    CREATED = "created"
    DELETED = "deleted"


class ReferenceKind(StrEnum):
    COMMIT = "commit"
    BRANCH = "branch"
    PR = "pr"
    ISSUE = "issue"
    COMMENT = "comment"
    URL = "url"
    COMMAND = "command"
    OTHER = "other"


class CheckResult(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


class ProblemKind(StrEnum):
    """A fact was shown by a tool or said by a person; a claim was said by the assistant; a hypothesis is a guess."""

    DECISION = "decision"
    FACT = "fact"
    CLAIM = "claim"
    HYPOTHESIS = "hypothesis"
    FAILED_ATTEMPT = "failed_attempt"


class TaskStatus(StrEnum):
    OPEN = "open"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self not in (TaskStatus.DONE, TaskStatus.CANCELLED)


class MemoryKind(StrEnum):
    PREFERENCE = "preference"
    PROJECT = "project"
    REFERENCE = "reference"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What all items carry. evidence: message ids, oldest first. since, seen: first and last checkpoint number."""

    id: str = ""
    evidence: tuple[str, ...] = ()
    since: int = 0
    seen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A person's words that ended a constraint."""

    quote: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint(Item):
    """A rule that goes on. quote: verbatim from a human message, or from the agent's own list when `given`."""

    rule: str
    quote: str
    scope: Scope = Scope.STANDING
    given: bool = False
    lifted: Lift | None = None

    @property
    def in_force(self) -> bool:
        return self.lifted is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept(Item):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem(Item):
    """A file of the session; `path` as the tools used it, relative to the project when it is inside."""

    path: str
    change: Change
    note: str = ""
    snippet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Item):
    kind: ReferenceKind
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorItem(Item):
    """An observed failure or a confirmed defect; `fix` is None while it is unresolved."""

    error: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Item):
    """Something that was run to see whether it holds, with the result that was seen."""

    command: str
    result: CheckResult
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Item):
    """One entry of section 5; `verify` says how to test a hypothesis."""

    kind: ProblemKind
    text: str
    verify: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Item):
    """`id` is the id as it was written ("T-101") or T- and six hex digits; `refs` are its other ids.

    from_ledger: its status was seen by code (a task tool, the agent's list, a process); no model overrides it.
    """

    text: str
    status: TaskStatus
    refs: tuple[str, ...] = ()
    from_ledger: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Item):
    """A proposal for MEMORY.md; `core.memory` decides."""

    kind: MemoryKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a short human message points at: the message it answers and the lines meant, at most 400 characters."""

    id: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """One message that a person typed, verbatim."""

    id: str
    text: str
    timestamp: datetime | None = None
    answers: Answered | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """`quote` is verbatim from the human message that it serves."""

    text: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A large tool output that is kept whole in a file. handle: sha256 of its stored (redacted) bytes.

    call: what the tool was asked for, in one line, "" where no call is known.
    """

    handle: str
    message: str
    tool: str
    media_type: str
    chars: int
    lines: int
    size: int
    preview: str
    created: datetime | None = None
    call: str = ""

    @property
    def name(self) -> str:
        """The handle as people and agents are shown it; every command takes it."""
        return short_handle(self.handle)


HANDLE_CHARS = 16


def short_handle(handle: str) -> str:
    return handle[:HANDLE_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The nine sections. Items, constraints and tasks are cumulative over the chain; the rest is of one range."""

    constraints: tuple[Constraint, ...] = ()
    request: str = ""
    concepts: tuple[Concept, ...] = ()
    files: tuple[FileItem, ...] = ()
    references: tuple[Reference, ...] = ()
    errors: tuple[ErrorItem, ...] = ()
    checks: tuple[Check, ...] = ()
    problem_solving: tuple[Problem, ...] = ()
    user_messages: tuple[UserMessage, ...] = ()
    tasks: tuple[Task, ...] = ()
    current_work: str = ""
    next_step: NextStep | None = None
    artifacts: tuple[Artifact, ...] = ()
    memories: tuple[Memory, ...] = ()


ITEM_LISTS = (
    "constraints",
    "concepts",
    "files",
    "references",
    "errors",
    "checks",
    "problem_solving",
    "tasks",
    "memories",
)
"""The fields of `Summary` that hold items, in the order of the sections."""


def item_content(item: Item) -> str:
    """The words of an item that make it what it is: those its id is made from and similarity is judged by."""
    match item:
        case Constraint():
            return item.quote or item.rule
        case FileItem():
            return item.path
        case Reference():
            return item.value
        case ErrorItem():
            return item.error
        case Check():
            return item.command
        case Concept() | Problem() | Task() | Memory():
            return item.text
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


_LETTERS: dict[type[Item], str] = {
    Constraint: "C",
    Concept: "K",
    FileItem: "F",
    Reference: "R",
    ErrorItem: "E",
    Check: "V",
    Task: "T",
    Memory: "M",
}
_PROBLEM_LETTERS = {
    ProblemKind.DECISION: "D",
    ProblemKind.FACT: "X",
    ProblemKind.CLAIM: "L",
    ProblemKind.HYPOTHESIS: "H",
    ProblemKind.FAILED_ATTEMPT: "A",
}


def item_id(item: Item) -> str:
    """The kind's letter and six hex digits of the item's content: "C-1a2b3c". Same content, same id."""
    letter = _PROBLEM_LETTERS[item.kind] if isinstance(item, Problem) else _LETTERS[type(item)]
    content = " ".join(item_content(item).split())
    return f"{letter}-{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:6]}"


AnyItem = TypeVar("AnyItem", bound=Item)


def with_id(item: AnyItem) -> AnyItem:
    """The item with an id; one that it has already (a ticket's, an earlier checkpoint's) stays."""
    return item if item.id else replace(item, id=item_id(item))
