"""The nine sections of a report: every item that is kept, with what it rests on, in the order of `afterturn show`.

Nothing is left out for length here but the middle of very long texts, and that with a mark.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from worker.core.checkpoint import Checkpoint
from worker.core.summary import (
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
    Scope,
    Summary,
    Task,
)
from worker.core.wording import normal
from worker.reporting.citing import Citing
from worker.reporting.histories import Histories, status_words
from worker.reporting.page import Entry, Event, Quoted, Section
from worker.reporting.quoting import cut

ENTRY_CHARS = 1_600

_PROBLEM_KINDS = {
    ProblemKind.DECISION: "decision",
    ProblemKind.FACT: "fact",
    ProblemKind.CLAIM: "unverified claim",
    ProblemKind.HYPOTHESIS: "hypothesis",
    ProblemKind.FAILED_ATTEMPT: "failed attempt",
}
_MEMORY_KINDS = {
    MemoryKind.PREFERENCE: "preference",
    MemoryKind.PROJECT: "to remember",
    MemoryKind.REFERENCE: "reference",
    MemoryKind.CORRECTION: "correction",
}
_REFERENCE_KINDS = {ReferenceKind.PR: "pull request", ReferenceKind.URL: "URL", ReferenceKind.OTHER: "reference"}


class Sections:
    """Makes the sections of one session. several: the chain is longer than one, so that ages are worth telling."""

    def __init__(self, citing: Citing, histories: Histories, *, several: bool) -> None:
        self._citing = citing
        self._histories = histories
        self._several = several

    def of(self, whole: Checkpoint, messages: Sequence[Quoted], *, messages_left: int) -> tuple[Section, ...]:
        """The ten sections. whole: the joined checkpoint. messages: what people typed, as the page quotes it."""
        summary = whole.summary
        step = summary.next_step
        following = [f"{step.text}\n“{step.quote}”" if step.quote else step.text] if step else []
        return (
            self._constraints(summary),
            self._section(1, "1. Primary request and intent", texts=_paragraphs(summary.request)),
            self._section(2, "2. Key technical concepts", summary.concepts),
            self._section(3, "3. Files and code sections", (*summary.files, *summary.references)),
            self._section(4, "4. Errors and fixes", (*_unresolved_first(summary.errors), *summary.checks)),
            self._section(5, "5. Problem solving", (*summary.problem_solving, *summary.memories)),
            Section(
                anchor=self._anchor(6),
                heading="6. All user messages",
                messages=tuple(messages),
                not_shown=messages_left,
                empty="No person wrote in this session.",
            ),
            self._tasks(summary),
            self._section(8, "8. Current work", texts=_paragraphs(summary.current_work)),
            self._section(9, "9. Next step", texts=following, empty="No step was named."),
        )

    def _anchor(self, number: int) -> str:
        return f"{self._citing.prefix}-section-{number}"

    def _section(
        self, number: int, heading: str, items: Iterable[Item] = (), *, texts: Sequence[str] = (), empty: str = "None."
    ) -> Section:
        return Section(
            anchor=self._anchor(number),
            heading=heading,
            paragraphs=tuple(self._citing.linked(text) for text in texts),
            entries=tuple(map(self.entry, items)),
            empty=empty,
        )

    def _constraints(self, summary: Summary) -> Section:
        ended = tuple(self.entry(rule) for rule in summary.constraints if not rule.in_force)
        return Section(
            anchor=self._anchor(0),
            heading="Constraints in force",
            entries=tuple(self.entry(rule) for rule in summary.constraints if rule.in_force),
            ended=ended,
            ended_heading="Lifted",
            empty="None any more." if ended else "None: nobody said a rule that goes on.",
            lead="id",
        )

    def _tasks(self, summary: Summary) -> Section:
        return Section(
            anchor=self._anchor(7),
            heading="7. Pending tasks",
            entries=tuple(self.entry(task) for task in summary.tasks if task.status.is_open),
            ended=tuple(self.entry(task) for task in summary.tasks if not task.status.is_open),
            ended_heading="Done or cancelled",
            empty="None is open.",
            lead="id",
        )

    def entry(self, item: Item) -> Entry:
        """One item, whatever its kind."""
        bare = _bare(item)
        return replace(
            bare,
            text=_shortened(bare.text),
            code=_shortened(bare.code),
            notes=tuple((label, _shortened(note)) for label, note in bare.notes if note.strip()),
            cites=self._citing.cites(item.evidence),
            since=item.since if self._several else 0,
            history=self._history(item),
        )

    def _history(self, item: Item) -> tuple[Event, ...]:
        """Empty when all of it is that it began."""
        events: tuple[Event, ...] = ()
        if isinstance(item, Constraint):
            events = self._histories.of_rule(item)
        elif isinstance(item, Task):
            events = self._histories.of_task(item)
        return events if len(events) > 1 else ()


def _bare(item: Item) -> Entry:
    """The item's own words; where a text copies something letter by letter it is code."""
    match item:
        case Constraint():
            return _rule(item)
        case Concept():
            return Entry(id=item.id, kind="concept", text=item.text)
        case FileItem():
            return Entry(
                id=item.id,
                kind="file",
                text=item.path,
                status=item.change.value,
                is_code=True,
                notes=(("", item.note),),
                code=item.snippet or "",
            )
        case Reference():
            kind = _REFERENCE_KINDS.get(item.kind, item.kind.value)
            return Entry(id=item.id, kind=kind, text=item.value, is_code=True, notes=(("", item.note),))
        case ErrorItem():
            status = "resolved" if item.fix else "unresolved"
            return Entry(id=item.id, kind="error", text=item.error, status=status, notes=(("", item.fix or ""),))
        case Check():
            return Entry(
                id=item.id,
                kind="check",
                text=item.command,
                status=item.result.value,
                is_code=True,
                notes=(("", item.note),),
            )
        case Problem():
            notes = (("to verify", item.verify or ""),)
            return Entry(id=item.id, kind=_PROBLEM_KINDS[item.kind], text=item.text, notes=notes)
        case Task():
            also = (("also", ", ".join(item.refs)),)
            return Entry(id=item.id, kind="task", text=item.text, status=status_words(item.status), notes=also)
        case Memory():
            return Entry(id=item.id, kind=_MEMORY_KINDS[item.kind], text=item.text)
        case _:
            raise TypeError(f"no item: {type(item).__name__}")


def _rule(rule: Constraint) -> Entry:
    """The quote only where it says more than the rule, the scope only where the rule ends by itself."""
    says_it_again = normal(rule.quote).rstrip(".") == normal(rule.rule).rstrip(".")
    notes = (
        ("", "" if says_it_again else f"“{rule.quote}”"),
        ("lifted by", f"“{rule.lifted.quote}”" if rule.lifted else ""),
        ("", "given by the agent" if rule.given else ""),
        ("", "holds until its task ends" if rule.scope is Scope.TASK else ""),
    )
    status = "in force" if rule.in_force else "lifted"
    return Entry(id=rule.id, kind="constraint", text=rule.rule, status=status, notes=notes)


def _shortened(text: str) -> str:
    return cut(text, ENTRY_CHARS)[0]


def _unresolved_first(errors: Sequence[ErrorItem]) -> list[ErrorItem]:
    return sorted(errors, key=lambda error: error.fix is not None)


def _paragraphs(text: str) -> list[str]:
    return [piece.strip() for piece in text.split("\n") if piece.strip()]
