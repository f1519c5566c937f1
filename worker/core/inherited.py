"""What a session inherits from a summary that its agent wrote before the transcript began: a state of lower trust.

The messages that it tells of are gone, so nothing in it can be checked. What only it knows is kept, and kept as what it
is: a claim, a file that was mentioned, a task that was told. Its rules are rules only where a person's message in the
transcript says them too, then code has found them there; its order to go on without asking is not taken over.
"""

import re
from collections.abc import Iterator, Sequence

from worker.core.identifiers import identifiers_in_redacted
from worker.core.items import is_written_id
from worker.core.messages import Message, Origin
from worker.core.summary import (
    Change,
    Concept,
    ErrorItem,
    FileItem,
    Item,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Summary,
    Task,
    TaskStatus,
    with_id,
)
from worker.core.told_sections import About, Entry, Section, sections_of
from worker.core.wording import clip

TOLD = "Told by an earlier summary: "
TEXT_CHARS = 300
REQUEST_CHARS = 900
WORK_CHARS = 600
MOST_REFERENCES = 60
MOST_ENTRIES = 120
"""Of one section; the longest real ones have forty."""

_REFERENCE_KINDS = {
    "commit": ReferenceKind.COMMIT,
    "hash": ReferenceKind.COMMIT,
    "ticket": ReferenceKind.ISSUE,
    "url": ReferenceKind.URL,
}

_NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|no\b.{0,60}\b(?:pending|tasks?|steps?|remaining|errors?|left)|"
    r"all (?:tasks?|work|items)?.{0,30}\b(?:done|complete[d]?)|not applicable)\b.*",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"[✅✔☑✓]|\[x\]|~~|\b(?:completed?|done|finished|merged)\b\W*$|\((?:completed?|done)\b", re.IGNORECASE
)
_BEGUN = re.compile(r"\bin[ _-]progress\b|\bstarted\b|\bpartially\b", re.IGNORECASE)
_BLOCKED = re.compile(r"\bblocked\b|\bon hold\b|\bwaiting (?:for|on)\b", re.IGNORECASE)
_LEADING_ID = re.compile(
    r"(?:task |issue |pr )?\[?([A-Z][A-Z0-9]{0,9}-\d{1,7}|#\d{1,7})\]?(?=[\s:.,)–—-]|$)", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"(?i)\b(?:continue|resume|proceed|pick up|go on)\b[^.\n]{0,160}\b(?:without (?:asking|further|any|confirm)|as if|"
    r"where (?:we|you|it) (?:left|stopped))[^.\n]{0,160}\.?|if you need specific details from before compaction[^\n]*|"
    r"please continue (?:the|with)\b[^\n]*"
)
_PART = re.compile(r"(?i)(error|issue|problem|symptom|cause|root cause|fix(?:ed)?|solution|resolution|resolved): ")
_FIXES = ("fix", "solution", "resol")


def inherited(messages: Sequence[Message], state: Summary | None) -> Summary | None:
    """The lower state that the range's messages begin with; None when a person or the chain came before it.

    Items cite the message that holds the summary. A later summary of the agent tells of messages that are here.
    """
    if state is not None:
        return None
    main_line = (message for message in messages if not message.sidechain)
    first = next((one for one in main_line if one.origin in (Origin.SUMMARY, Origin.HUMAN, Origin.ASSISTANT)), None)
    if first is None or first.origin is not Origin.SUMMARY:
        return None
    return inherit(first)


def inherit(message: Message) -> Summary:
    """The summary that a message of the agent holds, as items that cite the message and claim no more than it."""
    sections = sections_of(_GOES_ON.sub("", message.text))
    cited = (message.id,)
    items = [with_id(item) for section in sections for item in _items(section, cited)]
    return Summary(
        request=_text(sections, About.REQUEST, REQUEST_CHARS),
        concepts=tuple(item for item in items if isinstance(item, Concept)),
        files=tuple(item for item in items if isinstance(item, FileItem)),
        references=tuple(map(with_id, _references(message.text, cited)))[:MOST_REFERENCES],
        errors=tuple(item for item in items if isinstance(item, ErrorItem)),
        problem_solving=tuple(item for item in items if isinstance(item, Problem)),
        tasks=_once(item for item in items if isinstance(item, Task)),
        current_work=_text(sections, About.WORK, WORK_CHARS),
    )


def _text(sections: Sequence[Section], about: About, chars: int) -> str:
    words = " ".join(entry.words for section in sections if section.about is about for entry in section.entries)
    return f"{TOLD}{clip(words, chars)}" if words.strip() else ""


def _items(section: Section, cited: tuple[str, ...]) -> Iterator[Item]:
    entries = [entry for entry in section.entries[:MOST_ENTRIES] if not _NOTHING.fullmatch(entry.words)]
    if section.about in _TEXTS:
        yield from _claim(Entry(text=" ".join(entry.words for entry in entries)), cited, lead=_TEXTS[section.about])
        return
    for entry in entries:
        yield from _ITEMS[section.about](entry, cited)


def _references(text: str, cited: tuple[str, ...]) -> Iterator[Reference]:
    """Commits, tickets and addresses, also of code blocks: nobody can look them up in a transcript that is gone."""
    for kind, value in identifiers_in_redacted(text):
        if kind in _REFERENCE_KINDS:
            yield Reference(kind=_REFERENCE_KINDS[kind], value=value, note=TOLD.rstrip(": ").lower(), evidence=cited)


def _claim(entry: Entry, cited: tuple[str, ...], *, lead: str = "") -> Iterator[Item]:
    words = clip(entry.words, WORK_CHARS if lead in _TEXTS.values() else TEXT_CHARS)
    if words:
        yield Problem(kind=ProblemKind.CLAIM, text=f"{TOLD}{lead}{words}", evidence=cited)


def _concept(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    yield Concept(text=clip(entry.words, TEXT_CHARS), evidence=cited)


def _files(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    """The file that an entry names first; of an entry that only heads a list, the files of the list."""
    if path := _path_in(entry.text):
        note = clip(" ".join((entry.text.replace(path, "", 1).strip("` :-–—"), *entry.details)), TEXT_CHARS)
        yield FileItem(path=path, change=Change.MENTIONED, note=note, evidence=cited)
        return
    named = [(detail, path) for detail in entry.details if (path := _path_in(detail))]
    for detail, path in named:
        note = clip(detail.replace(path, "", 1).strip("` :-–—"), TEXT_CHARS)
        yield FileItem(path=path, change=Change.MENTIONED, note=note, evidence=cited)
    if not named:
        yield from _claim(entry, cited)


def _path_in(text: str) -> str | None:
    return next((value for kind, value in identifiers_in_redacted(text) if kind == "path"), None)


def _error(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    """An error with the fix that is told; one without is a claim: whether it still stands nobody can say."""
    head, _, rest = entry.text.partition(": ")
    parts = [part for part in (rest, *entry.details) if part]
    fixes = [part for part in parts if part.lower().startswith(_FIXES)] or parts
    if not fixes:
        yield from _claim(entry, cited)
        return
    seen = "; ".join(part for part in parts if part not in fixes)
    error = f"{head.rstrip(':')}: {seen}" if seen else head.rstrip(":")
    fix = _PART.sub("", " ".join(fixes))
    yield ErrorItem(error=clip(error, TEXT_CHARS), fix=f"{TOLD}{clip(fix, TEXT_CHARS)}", evidence=cited)


def _said(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    yield from _claim(entry, cited, lead="the person wrote ")


def _tasks(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    """A task as it was told; one that was told as finished is a claim, for nothing here shows that it is."""
    heads_a_list = entry.text.endswith(":") and entry.details
    for words in entry.details if heads_a_list else (entry.text,):
        if _NOTHING.fullmatch(words):
            continue
        if _DONE.search(words):
            yield from _done(Entry(text=words), cited)
            continue
        found = _LEADING_ID.match(words)
        yield Task(
            id=found[1] if found else "",
            text=clip(words, TEXT_CHARS),
            status=_status(words),
            evidence=cited,
        )


def _status(words: str) -> TaskStatus:
    if _BLOCKED.search(words):
        return TaskStatus.BLOCKED
    return TaskStatus.IN_PROGRESS if _BEGUN.search(words) else TaskStatus.OPEN


def _done(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    yield from _claim(entry, cited, lead="done: ")


def _next(entry: Entry, cited: tuple[str, ...]) -> Iterator[Item]:
    yield from _claim(entry, cited, lead="done: " if _DONE.search(entry.text) else "next step then: ")


_TEXTS = {About.REQUEST: "wanted: ", About.WORK: "work then: "}
"""Sections that are one text; as a claim it outlives the texts of the state, which only tell of the newest range."""

_ITEMS = {
    About.CONCEPTS: _concept,
    About.FILES: _files,
    About.ERRORS: _error,
    About.FINDINGS: _claim,
    About.MESSAGES: _said,
    About.TASKS: _tasks,
    About.DONE: _done,
    About.NEXT: _next,
}


def _once(tasks: Iterator[Task]) -> tuple[Task, ...]:
    """The first of tasks with one id; lists count from 1 anew, so a second one is known by its text."""
    kept: dict[str, Task] = {}
    for task in tasks:
        kept.setdefault(task.id if is_written_id(task) else task.text, task)
    return tuple(kept.values())
