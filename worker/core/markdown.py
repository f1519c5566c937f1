"""One line of Markdown per item, with texts that cannot pose as anything of ours.

What a person or a model wrote is untrusted: its headings, fences, list marks and tags must not become the page's.
"""

import re
from datetime import datetime

from worker.core.summary import (
    Artifact,
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Item,
    Memory,
    MemoryKind,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Task,
    TaskStatus,
)
from worker.core.wording import clean, clip, normal, one_line

_OUR_TAGS = re.compile(
    r"<(?=/?\s*(?:summary|analysis|transcript|system|afterturn|artifact|persisted-output|instructions?|memory|context|"
    r"conversation|human|assistant|user|tool|!--)\b|!--)",
    re.IGNORECASE,
)
_BLOCK_START = re.compile(r"^(?=#|>|```|~~~|---|===|\* |\+ |- |\|)")

_MARKS = {
    TaskStatus.OPEN: "[ ]",
    TaskStatus.IN_PROGRESS: "[~]",
    TaskStatus.BLOCKED: "[!]",
    TaskStatus.DONE: "[x]",
    TaskStatus.CANCELLED: "[-]",
}
_LABELS = {
    ProblemKind.DECISION: "Decision",
    ProblemKind.FACT: "Fact",
    ProblemKind.CLAIM: "Unverified claim",
    ProblemKind.HYPOTHESIS: "Hypothesis",
    ProblemKind.FAILED_ATTEMPT: "Failed attempt",
}
_MEMORY_LABELS = {
    MemoryKind.PREFERENCE: "Preference",
    MemoryKind.PROJECT: "To remember",
    MemoryKind.REFERENCE: "Reference",
    MemoryKind.CORRECTION: "Correction",
}
SNIPPET_LINES = 6
SHORT_CHARS = 120
LONG_CHARS = 1_200
"""How much of one text a line shows at most, and when there is hardly room."""


def safe(text: str) -> str:
    """The text on one line, with nothing in it that a reader could take for a part of the page."""
    return _BLOCK_START.sub(r"\\", _OUR_TAGS.sub("&lt;", one_line(text)))


def safe_lines(text: str) -> list[str]:
    """The lines of a text, each for a place behind "> ": a quote keeps headings and fences inside."""
    return [_OUR_TAGS.sub("&lt;", line.rstrip()) for line in clean(text).strip().splitlines()]


def day_and_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}Z" if at.utcoffset() is not None else f"{at:%Y-%m-%d %H:%M}"


def item_line(item: Item, chars: int = LONG_CHARS) -> str:
    """The item as a list entry of its section; texts longer than `chars` are cut."""
    return f"- {_body(item, chars)}{_cited(item.evidence)}"


def _cited(evidence: tuple[str, ...]) -> str:
    """At most four ids: the first two tell where it began, the last two where it stood."""
    if not evidence:
        return ""
    shown = evidence if len(evidence) <= 4 else (*evidence[:2], "…", *evidence[-2:])
    return f" ({', '.join(safe(one) for one in shown)})"


def _body(item: Item, chars: int) -> str:
    match item:
        case Constraint():
            return _constraint(item, chars)
        case Concept():
            return _cut(item.text, chars)
        case FileItem():
            return _file(item, chars)
        case Reference():
            kind = "" if item.kind is ReferenceKind.OTHER else f"{item.kind} "
            return f"{kind}{_code(item.value)}{_after(': ', item.note, chars)}"
        case ErrorItem():
            error = _cut(item.error, chars)
            return f"{error} → {_cut(item.fix, chars)}" if item.fix else f"unresolved: {error}"
        case Check():
            return f"check {_code(clip(item.command, 200))}: {item.result}{_after(', ', item.note, chars)}"
        case Problem():
            return f"{_LABELS[item.kind]}: {_cut(item.text, chars)}{_after('; to verify: ', item.verify or '', chars)}"
        case Task():
            return _task(item, chars)
        case Memory():
            return f"{_MEMORY_LABELS[item.kind]}: {_cut(item.text, chars)}"
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


def _cut(text: str, chars: int) -> str:
    return safe(clip(text, chars))


def _after(mark: str, text: str, chars: int) -> str:
    return f"{mark}{_cut(text, chars)}" if text.strip() else ""


def _code(text: str) -> str:
    """Inline code that a backtick inside cannot close."""
    plain = _OUR_TAGS.sub("&lt;", one_line(text))
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def _constraint(item: Constraint, chars: int) -> str:
    says_it_again = normal(item.quote).rstrip(".") == normal(item.rule).rstrip(".")
    quote = "" if says_it_again or chars < LONG_CHARS else f' — "{_cut(item.quote, chars)}"'
    given = " [given]" if item.given else ""
    lifted = f' [lifted: "{_cut(item.lifted.quote, SHORT_CHARS)}"]' if item.lifted else ""
    return f"{item.id} {_cut(item.rule, chars)}{quote}{given}{lifted}"


def _file(item: FileItem, chars: int) -> str:
    line = f"{_code(item.path)} {item.change}{_after(': ', item.note, chars)}"
    if not item.snippet or chars < LONG_CHARS:
        return line
    shown = [row[:160] for row in safe_lines(item.snippet)[:SNIPPET_LINES]]
    return "\n".join([line, *(f"      {row}" for row in shown), "  "])


def _task(item: Task, chars: int) -> str:
    also = f" [also {', '.join(safe(one) for one in item.refs)}]" if item.refs else ""
    status = f", {item.status.replace('_', ' ')}" if item.status in (TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED) else ""
    return f"{_MARKS[item.status]} {safe(item.id)}{status}: {_cut(item.text, chars)}{also}"


def artifact_line(artifact: Artifact) -> str:
    lines = "1 line" if artifact.lines == 1 else f"{artifact.lines:,} lines"
    of = (
        f"{safe(artifact.tool)} `{_cut(artifact.call, SHORT_CHARS)}`"
        if artifact.call
        else f"{safe(artifact.tool)} output"
    )
    return f"- {artifact.name} {of}, {lines}, {artifact.size:,} bytes ({artifact.message})"
