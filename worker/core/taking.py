"""Takes the ledger of a range: everything that code finds there without an LLM, put together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from worker.core.answering import find_answered
from worker.core.background import find_background
from worker.core.constraints import find_constraints
from worker.core.failures import find_checks, find_failures
from worker.core.filework import find_files
from worker.core.identifiers import take_identifiers
from worker.core.invocations import invocations_of
from worker.core.ledger import Ledger
from worker.core.messages import Attachment, Message
from worker.core.references import find_references
from worker.core.summary import Artifact, Constraint, Scope, Task, UserMessage, with_id
from worker.core.tasks import find_tasks

_MAX_EVIDENCE = 4


def take_ledger(
    messages: Sequence[Message],
    *,
    artifacts: Sequence[Artifact] = (),
    given_constraints: Sequence[Constraint | str] = (),
    given_tasks: Sequence[Task] = (),
    known_tasks: Sequence[Task] = (),
    cwd: str | None = None,
) -> Ledger:
    """The ledger of the messages, which are redacted and whole; an empty range gives an empty ledger.

    Given constraints and tasks (the agent's own) come first and keep their ids. known_tasks: those of earlier ranges;
    the ledger holds the ones that are spoken of here.
    Rows of sub-agents and rewound branches count for files only: what was written there was written.
    """
    main_line = [message for message in messages if not message.sidechain]
    invocations = invocations_of(main_line)
    everywhere = invocations if len(main_line) == len(messages) else invocations_of(messages)
    return Ledger(
        user_messages=_user_messages(main_line),
        constraints=_constraints(main_line, given_constraints),
        tasks=tuple(find_tasks(main_line, invocations, given_tasks, known_tasks)),
        files=tuple(find_files(everywhere, cwd)),
        failures=tuple(find_failures(invocations)),
        identifiers=take_identifiers(main_line),
        references=tuple(find_references(main_line, invocations)),
        checks=tuple(find_checks(invocations)),
        background=tuple(find_background(main_line, invocations)),
        artifacts=tuple(artifacts),
    )


def _user_messages(messages: Sequence[Message]) -> tuple[UserMessage, ...]:
    """What people wrote, verbatim; a message of pictures alone says so instead of being an empty line."""
    found = []
    # Only what is spoken can be answered: looking back over thousands of tool rows for each message is quadratic.
    spoken = [message for message in messages if message.is_human or message.text.strip()]
    for position, message in enumerate(spoken):
        text = message.text if message.text.strip() else _attached(message.attachments)
        if message.is_human and text:
            answers = find_answered(spoken, position)
            found.append(UserMessage(id=message.id, text=text, timestamp=message.timestamp, answers=answers))
    return tuple(found)


def _attached(attachments: Iterable[Attachment]) -> str:
    return " ".join(f"[{each.kind}: {each.name}]" if each.name else f"[{each.kind}]" for each in attachments)


def _constraints(messages: Sequence[Message], given: Sequence[Constraint | str]) -> tuple[Constraint, ...]:
    """Given ones, then those that people set; the same words said again are one rule with more evidence."""
    found: dict[str, Constraint] = {}
    for constraint in (*map(_given, given), *(each for message in messages for each in find_constraints(message))):
        words = _words(constraint.quote)
        known = found.get(words)
        found[words] = _said_again(known, constraint) if known else constraint
    return tuple(found.values())


def _given(constraint: Constraint | str) -> Constraint:
    if isinstance(constraint, Constraint):
        return with_id(constraint)
    return with_id(Constraint(rule=constraint, quote=constraint, given=True))


def _said_again(known: Constraint, again: Constraint) -> Constraint:
    """A rule that was for a task and is said without an end goes on; a lifted one that is said again is in force."""
    cited = tuple(dict.fromkeys((*known.evidence, *again.evidence)))
    # The newest is kept: what was said before it lifts nothing.
    evidence = cited if len(cited) <= _MAX_EVIDENCE else (*cited[: _MAX_EVIDENCE - 1], cited[-1])
    scope = Scope.STANDING if Scope.STANDING in (known.scope, again.scope) else Scope.TASK
    return replace(known, evidence=evidence, scope=scope, lifted=None if again.evidence else known.lifted)


def _words(quote: str) -> str:
    return " ".join(quote.lower().split()).strip(" .!,;:。！")
