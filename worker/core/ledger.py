"""What code takes from a range without an LLM: the part of a consolidation that cannot be argued with.

The types are here. `taking.take_ledger` fills them; what it finds where is in `constraints`, `tasks`,
`filework`, `failures`, `references`, `background`, `identifiers` and `answering`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from worker.core.summary import Artifact, Check, Constraint, FileItem, Reference, Task, UserMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A tool call that failed. resolved_by: the message in which the same command later succeeded.

    kind: "error", or "denial" when a person or a permission refused the call.
    """

    id: str
    tool: str
    command: str
    message: str
    exit_code: int | None = None
    evidence: tuple[str, ...] = ()
    resolved_by: str | None = None
    kind: str = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A string that must survive letter by letter. evidence: the first messages that hold it, at most 4."""

    kind: str
    value: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A process or agent that the session started and did not wait for. status: running, completed, failed, killed."""

    id: str
    text: str
    status: str
    evidence: tuple[str, ...]


def still_running(processes: Sequence[Background]) -> list[Background]:
    """Those whose last word is that they run, newest first, each with what it was called when it started."""
    last = {one.id: one for one in processes}
    named = {one.id: one.text for one in reversed(processes) if one.text}
    return [replace(one, text=named.get(one.id, "")) for one in reversed(last.values()) if one.status == "running"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Everything that code found in one range, each list in the order of the transcript."""

    user_messages: tuple[UserMessage, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    tasks: tuple[Task, ...] = ()
    files: tuple[FileItem, ...] = ()
    failures: tuple[Failure, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    references: tuple[Reference, ...] = ()
    checks: tuple[Check, ...] = ()
    background: tuple[Background, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
