"""Words that must not stand in a summary: secrets, orders to its reader, the prompt, dates that rot, bare pointers."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from worker.core.checkpoint import Finding
from worker.core.dates import relative_date
from worker.core.grounds import Grounds
from worker.core.identifiers import find_identifiers
from worker.core.items import prose_of, words_of
from worker.core.judging import finding_on, judged, texts_of
from worker.core.rules import is_hard
from worker.core.secrets import contains_secret
from worker.core.summary import Check, Concept, Constraint, FileItem, Item, Memory, Problem, Reference, Summary, Task
from worker.core.wording import clean, content_words, first_verbatim, normal, sentences

ECHO_WORDS = 7
"""So many words in a row that stand in the prompt and not in the transcript are the prompt's."""

_PLACEHOLDER = re.compile(
    r"[\W_]*(?:none|n/?a|nil|null|unknown|tbd|todo|nothing|empty|"
    r"no (?:prior )?(?:history|data|content|items?|information)|"
    r"not (?:applicable|available|specified)|placeholder|string|text|summary unavailable.{0,60}|"
    r"无|暂无|なし|特になし)?[\W_]*",
    re.IGNORECASE,
)

_INSTRUCTS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |my )*(?:previous|prior|above|earlier|preceding|system)\b"
    r"[^.\n]{0,40}?\b(?:instruction|prompt|message|rule|context|direction)s?|"
    r"\b(?:continue|resume|proceed)\b[^.\n]{0,60}\bwithout (?:asking|acknowledging|confirm\w*|further)|"
    r"\b(?:do not|don't|never) (?:acknowledge|reveal|(?:tell|inform) (?:the )?(?:user|human))\b|"
    r"\byou (?:are now|must now|should now|have to now)\b|"
    r"\bas (?:the|an) (?:ai|assistant|agent),? you (?:must|should)\b|"
    r"\b(?:respond|answer|reply) with text only\b|\bdo not call (?:any )?tools?\b|\bpick up (?:the last task|where)\b"
    r"[^.\n]{0,60}\bas if\b|</?(?:system|system-reminder|instructions?|important)>|"
    r"(?:忽略|无视|無視)[^。\n]{0,10}(?:之前|以上|先前|上述|以前)[^。\n]{0,10}(?:指令|指示|提示|规则)|以前の指示を無視",
    re.IGNORECASE,
)

_POINTERS = re.compile(
    r"\b(?:skip|do|does|did|done|the|rest|others?|items?|points?|numbers?|options?|lists?|first|second|third|last|one|"
    r"two|three|both|all|them|these|those|this|that|it|remaining|above|below|latter|former|choose|chose|chosen|"
    r"pick(?:ed)?|select(?:ed)?|go|with|and|or|of|user|human|person|said|answered|yes|no|approved?|confirm(?:ed)?|except|"
    r"fix(?:ed)?|finish|complete|task|tasks|step|steps|issue|issues|comments?|part|parts|continue|proceed|[a-z]|"
    r"\d+(?:st|nd|rd|th)?)\b",
    re.IGNORECASE,
)

_POINTS = re.compile(
    r"\b\d{1,2}\b|\boption [a-z0-9]\b|\b(?:the|that) (?:list|rest|others?|latter|former)\b", re.IGNORECASE
)


def is_placeholder(text: str) -> bool:
    """True for what says nothing: blank, "None", "N/A", "No prior history"."""
    return len(text) < 200 and _PLACEHOLDER.fullmatch(text.strip()) is not None


def _blank_sections(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in (("request", summary.request), ("current_work", summary.current_work)):
        if not text.strip():
            yield Finding(code="section_missing", where=name)
        elif is_placeholder(text):
            yield Finding(code="section_blank", where=name, detail=text[:40])
    for field, item in judged(summary, grounds):
        if is_placeholder(_first_words(item)):
            yield finding_on("section_blank", field, item)


def _first_words(item: Item) -> str:
    match item:
        case FileItem():
            return item.path
        case Reference():
            return item.value
        case Check():
            return item.command
        case _:
            return prose_of(item).partition("\n")[0]


def _unresolved_references(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for field, item in judged(summary, grounds):
        if isinstance(item, Task | Problem | Constraint | Memory | Concept) and only_points(prose_of(item)):
            yield finding_on("reference_unresolved", field, item, prose_of(item)[:80])
    for name, text in texts_of(summary):
        if only_points(text):
            yield Finding(code="reference_unresolved", where=name, detail=text[:80])


def only_points(text: str) -> bool:
    """True for a text that says "5, 7, 8" or "the rest" and not of what."""
    if len(text) > 160 or not _POINTS.search(text):
        return False
    return not content_words(_POINTERS.sub(" ", text)) and not find_identifiers(text)


def _relative_dates(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    if not any(message.timestamp for message in grounds.messages):
        return
    for name, text in texts_of(summary):
        if relative_date(text):
            yield Finding(code="relative_date", where=name, detail=relative_date(text))
    for field, item in judged(summary, grounds):
        if not _quotes_a_person(item) and relative_date(prose_of(item)):
            yield finding_on("relative_date", field, item, relative_date(prose_of(item)))


def _quotes_a_person(item: Item) -> bool:
    return isinstance(item, Constraint) and normal(item.rule).rstrip(".") == normal(item.quote).rstrip(".")


def _instructions(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        if words := instruction_in(text, grounds, is_to_do=name != "current_work"):
            yield Finding(code="instruction_in_summary", where=name, detail=words)
    for field, item in judged(summary, grounds):
        if words := instruction_in(prose_of(item), grounds, is_to_do=isinstance(item, Task | Memory)):
            yield finding_on("instruction_in_summary", field, item, words)


def instruction_in(text: str, grounds: Grounds, *, is_to_do: bool = False) -> str:
    """Words that order the reader about and that no person wrote, "" when there are none.

    is_to_do: the text says what is wanted, so an order that only tool output gives would be taken for a person's.
    """
    for found in _INSTRUCTS.finditer(_as_read(text)):
        if first_verbatim(found.group(), grounds.human.values()) is None:
            return found.group()
    ordered = (words for words in sentences(text) if is_hard(words) and grounds.is_only_printed(words))
    return next(ordered, "") if is_to_do else ""


def _as_read(text: str) -> str:
    """The text as a reader takes it: no signs that hide, and full-width letters as plain ones."""
    return text if text.isascii() else unicodedata.normalize("NFKC", clean(text))


def without_instructions(text: str, grounds: Grounds, *, is_to_do: bool = False) -> str:
    """The text without the sentences that order the reader about."""
    kept = (words for words in sentences(text) if not instruction_in(words, grounds, is_to_do=is_to_do))
    return " ".join(kept).strip()


def _secrets(summary: Summary, grounds: Grounds) -> Iterator[Finding]:
    for name, text in texts_of(summary):
        if contains_secret(text):
            yield Finding(code="secret", where=name)
    for field, item in judged(summary, grounds):
        if contains_secret(words_of(item)):
            yield Finding(code="secret", where=field, ids=(item.id,))
    for message in summary.user_messages:
        if contains_secret(message.text):
            yield Finding(code="secret", where="user_messages", ids=(message.id,))


def echoed(summary: Summary, grounds: Grounds, echoes: Sequence[str]) -> Iterator[Finding]:
    """A text that repeats the prompt or its example, unless the session itself is about that text."""
    if not echoes:
        return
    runs = {run for echo in echoes for run in _word_runs(echo)}
    whole = {normal(line).strip(" .") for echo in echoes for line in _echo_lines(echo)}
    for name, text in texts_of(summary):
        if _is_echo(text, runs, whole, grounds):
            yield Finding(code="template_echo", where=name, detail=text[:80])
    for field, item in judged(summary, grounds):
        if _is_echo(prose_of(item), runs, whole, grounds):
            yield finding_on("template_echo", field, item, prose_of(item)[:80])


def _echo_lines(echo: str) -> Iterator[str]:
    for line in (*re.findall(r'"([^"\\]{8,400})"', echo), *sentences(echo)):
        if len(line.split()) >= 3:
            yield line


def _word_runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.casefold())
    return (tuple(words[at : at + ECHO_WORDS]) for at in range(len(words) - ECHO_WORDS + 1))


def _is_echo(text: str, runs: set[tuple[str, ...]], whole: set[str], grounds: Grounds) -> bool:
    if normal(text).strip(" .") in whole:
        return not grounds.says(text)
    return any(run in runs and not grounds.says(" ".join(run)) for run in _word_runs(text))


PHRASINGS = (_secrets, _instructions, _blank_sections, _unresolved_references, _relative_dates)
