"""The forms that a model fills in, and how gently they are read.

Types here are the edge between a model's JSON and our values: text where a list is due, a number where a text is due
and an unknown word where one of ours is due are brought into form; what cannot be read without guessing is an error of
pydantic. An unknown word becomes the weakest one (a kind of problem nobody knows is a claim), never a stronger one.
Whether an answer counts at all is decided in `answers`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from worker.core.memory import MemoryOp
from worker.core.merging import MergeOp
from worker.core.summary import Change, CheckResult, MemoryKind, ProblemKind, ReferenceKind, Scope, TaskStatus

LIST_CAPS: Mapping[str, int] = {
    "concepts": 8,
    "files": 25,
    "references": 20,
    "errors": 15,
    "checks": 12,
    "problem_solving": 20,
    "tasks": 30,
    "constraints": 20,
    "memories": 8,
}
"""How many entries the prompt asks for per part. A longer list is read whole: leaving out is not a reader's job."""

_VOID_WORDS = ["none", "none.", "n/a", "na", "n.a.", "null", "nil", "nothing", "nothing.", "(none)", "(nothing)"]
_VOID = frozenset([*_VOID_WORDS, "not applicable", "-", "--", "—", "…", "...", "[]", "{}", "无", "没有", "なし"])
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_MESSAGE_NUMBERS = re.compile(r"(?<![A-Za-z0-9_])(?<![A-Za-z]-)[mM]?(\d{1,9})(?![A-Za-z0-9_])")
"""Not the digits of other ids: "X-344ce0" cites no message."""


def is_void(value: object) -> bool:
    """True for what models write where nothing is to be said: null, "", "None", "N/A", "…", [], {}."""
    if isinstance(value, str):
        return not value.strip() or value.strip().casefold() in _VOID
    return value is None or value in ([], {})


def _read_text(value: object) -> str:
    if is_void(value):
        return ""
    if isinstance(value, str):
        return _CONTROL.sub("\ufffd", value).strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(_read_text, value)))
    if isinstance(value, dict) and "text" in value:
        return _read_text(value["text"])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("a text is due here")


def _read_optional_text(value: object) -> str | None:
    return _read_text(value) or None


def _read_evidence(value: object) -> list[str]:
    """ "m12", "[m12 human]", 12 and "m12, m13" all cite messages; of a range "m3-m9" its two ends."""
    cited = value if isinstance(value, list) else [value]
    numbers = [int(number) for each in cited if not is_void(each) for number in _MESSAGE_NUMBERS.findall(str(each))]
    return [f"m{number}" for number in sorted(set(numbers))]


def _read_names(value: object) -> list[str]:
    """A list of ids or other short names, from a list or from one text that separates them by commas."""
    if isinstance(value, str):
        value = re.split(r"[,;\n]", value)
    names = [_read_text(each) for each in value] if isinstance(value, list) else [_read_text(value)]
    return [name for name in dict.fromkeys(names) if name]


def _read_items(main: str) -> Callable[[object], list[object]]:
    """Reads a list of entries whose telling field is `main`: void entries go, a bare text is that field."""

    def read(value: object) -> list[object]:
        entries = value if isinstance(value, list) else [value]
        items = [{main: entry} if isinstance(entry, str) else entry for entry in entries if not is_void(entry)]
        return [item for item in items if not (isinstance(item, dict) and main in item and is_void(item[main]))]

    return read


Word = TypeVar("Word", bound=StrEnum)


def _read_word(words: type[Word], weakest: Word, also: Mapping[str, Word]) -> Callable[[object], Word]:
    known: dict[str, Word] = {**{word.value: word for word in words}, **also}

    def read(value: object) -> Word:
        name = re.sub(r"[\s-]+", "_", value.strip().casefold()) if isinstance(value, str) else ""
        return known.get(name, weakest)

    return read


Text = Annotated[str, BeforeValidator(_read_text)]
OptionalText = Annotated[str | None, BeforeValidator(_read_optional_text)]
Evidence = Annotated[tuple[str, ...], BeforeValidator(_read_evidence)]
Names = Annotated[tuple[str, ...], BeforeValidator(_read_names)]

_CHANGES = {
    "modified": Change.EDITED,
    "updated": Change.EDITED,
    "changed": Change.EDITED,
    "renamed": Change.EDITED,
    "added": Change.CREATED,
    "new": Change.CREATED,
    "removed": Change.DELETED,
    "viewed": Change.READ,
}
_REFERENCES = {"pull_request": ReferenceKind.PR, "merge_request": ReferenceKind.PR, "link": ReferenceKind.URL}
_RESULTS = {
    "pass": CheckResult.PASSED,
    "ok": CheckResult.PASSED,
    "success": CheckResult.PASSED,
    "fail": CheckResult.FAILED,
    "error": CheckResult.FAILED,
}
_STATUSES = {
    "completed": TaskStatus.DONE,
    "complete": TaskStatus.DONE,
    "finished": TaskStatus.DONE,
    "started": TaskStatus.IN_PROGRESS,
    "ongoing": TaskStatus.IN_PROGRESS,
    "skipped": TaskStatus.CANCELLED,
    "canceled": TaskStatus.CANCELLED,
}
_PROBLEMS = {"failure": ProblemKind.FAILED_ATTEMPT, "attempt": ProblemKind.FAILED_ATTEMPT}


def _read_result(value: object) -> CheckResult:
    """The word, or that a text begins with "failed"; a text that begins with "passed" may go on with what did not."""
    if isinstance(value, str) and value.strip().casefold().startswith("failed"):
        return CheckResult.FAILED
    return _read_word(CheckResult, CheckResult.UNKNOWN, _RESULTS)(value)


ChangeWord = Annotated[Change, BeforeValidator(_read_word(Change, Change.MENTIONED, _CHANGES))]
ReferenceWord = Annotated[ReferenceKind, BeforeValidator(_read_word(ReferenceKind, ReferenceKind.OTHER, _REFERENCES))]
ResultWord = Annotated[CheckResult, BeforeValidator(_read_result)]
ProblemWord = Annotated[ProblemKind, BeforeValidator(_read_word(ProblemKind, ProblemKind.CLAIM, _PROBLEMS))]
StatusWord = Annotated[TaskStatus, BeforeValidator(_read_word(TaskStatus, TaskStatus.OPEN, _STATUSES))]
ScopeWord = Annotated[Scope, BeforeValidator(_read_word(Scope, Scope.STANDING, {}))]
MemoryWord = Annotated[MemoryKind, BeforeValidator(_read_word(MemoryKind, MemoryKind.PROJECT, {}))]


class Form(BaseModel):
    """A form as a model filled it in; keys that it does not have are ignored."""

    model_config = ConfigDict(frozen=True)


class ConceptForm(Form):
    text: Text
    evidence: Evidence = ()


class FileForm(Form):
    path: Text
    change: ChangeWord = Change.MENTIONED
    note: Text = ""
    snippet: OptionalText = None
    evidence: Evidence = ()


class ReferenceForm(Form):
    kind: ReferenceWord = ReferenceKind.OTHER
    value: Text
    note: Text = ""
    evidence: Evidence = ()


class ErrorForm(Form):
    error: Text
    fix: OptionalText = None
    evidence: Evidence = ()


class CheckForm(Form):
    command: Text
    result: ResultWord = CheckResult.UNKNOWN
    note: Text = ""
    evidence: Evidence = ()


class ProblemForm(Form):
    kind: ProblemWord = ProblemKind.CLAIM
    text: Text
    verify: OptionalText = None
    evidence: Evidence = ()


class TaskForm(Form):
    id: Names = ()
    refs: Names = ()
    text: Text
    status: StatusWord = TaskStatus.OPEN
    evidence: Evidence = ()


class NextStepForm(Form):
    text: Text
    quote: Text = ""


class ConstraintForm(Form):
    rule: Text
    quote: Text = ""
    scope: ScopeWord = Scope.STANDING
    evidence: Evidence = ()


class LiftForm(Form):
    id: Text
    quote: Text = ""
    evidence: Evidence = ()


class MemoryForm(Form):
    kind: MemoryWord = MemoryKind.PROJECT
    text: Text
    evidence: Evidence = ()


def _read_next_step(value: object) -> object:
    if is_void(value) or (isinstance(value, dict) and is_void(value.get("text"))):
        return None
    return {"text": value} if isinstance(value, str) else value


NextStepField = Annotated[NextStepForm | None, BeforeValidator(_read_next_step)]


class PartAnswer(Form):
    """A readable answer about one part, in the words of the form."""

    request: Text = ""
    concepts: Annotated[tuple[ConceptForm, ...], BeforeValidator(_read_items("text"))] = ()
    files: Annotated[tuple[FileForm, ...], BeforeValidator(_read_items("path"))] = ()
    references: Annotated[tuple[ReferenceForm, ...], BeforeValidator(_read_items("value"))] = ()
    errors: Annotated[tuple[ErrorForm, ...], BeforeValidator(_read_items("error"))] = ()
    checks: Annotated[tuple[CheckForm, ...], BeforeValidator(_read_items("command"))] = ()
    problem_solving: Annotated[tuple[ProblemForm, ...], BeforeValidator(_read_items("text"))] = ()
    tasks: Annotated[tuple[TaskForm, ...], BeforeValidator(_read_items("text"))] = ()
    current_work: Text = ""
    next_step: NextStepField = None
    constraints: Annotated[tuple[ConstraintForm, ...], BeforeValidator(_read_items("rule"))] = ()
    lifted: Annotated[tuple[LiftForm, ...], BeforeValidator(_read_items("id"))] = ()
    memories: Annotated[tuple[MemoryForm, ...], BeforeValidator(_read_items("text"))] = ()


class ChangeForm(Form):
    op: Text
    ids: Names = ()
    text: OptionalText = None
    reason: Text = ""
    by: OptionalText = None
    evidence: Evidence = ()


class MergeAnswer(Form):
    """A readable answer about joining items."""

    request: Text = ""
    current_work: Text = ""
    next_step: NextStepField = None
    changes: Annotated[tuple[ChangeForm, ...], BeforeValidator(_read_items("op"))] = ()


class OperationForm(Form):
    op: Text
    ids: Names = ()
    kind: MemoryWord = MemoryKind.PROJECT
    text: Text = ""
    evidence: Evidence = ()
    reason: Text = ""


class MemoryAnswer(Form):
    """A readable answer about MEMORY.md. The list must be there: an answer without it says nothing at all."""

    operations: Annotated[tuple[OperationForm, ...], BeforeValidator(_read_items("op"))]


ALL_FORMS: tuple[type[Form], ...] = (
    PartAnswer,
    ConceptForm,
    FileForm,
    ReferenceForm,
    ErrorForm,
    CheckForm,
    ProblemForm,
    TaskForm,
    NextStepForm,
    ConstraintForm,
    LiftForm,
    MemoryForm,
    MergeAnswer,
    ChangeForm,
    MemoryAnswer,
    OperationForm,
)


Filled = TypeVar("Filled", bound=Form)


def texts_of(value: object) -> Iterator[str]:
    """Every text of a form, without ids, evidence and the words of our own lists."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            if name not in ("evidence", "id", "ids", "refs", "by", "op"):
                yield from texts_of(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from texts_of(each)
    elif isinstance(value, str) and not isinstance(value, StrEnum):
        yield value


def map_texts(form: Filled, change: Callable[[str], str]) -> Filled:
    """The form with every text changed; words of our own lists stay."""
    content = _map_strings(form.model_dump(mode="json", exclude_unset=True), change)
    return type(form).model_validate(content)


def _map_strings(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, dict):
        return {key: each if key == "evidence" else _map_strings(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [_map_strings(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


# The same forms as JSON schemas for providers that can hold a model to one. Written out, because strict modes want
# every key required and no other allowed, while the readers above are lenient on purpose.

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_OPTIONAL: Schema = {"type": ["string", "null"]}
_NAMES: Schema = {"type": "array", "items": _TEXT}


def _word(words: type[StrEnum]) -> Schema:
    return {"type": "string", "enum": [word.value for word in words]}


def _record(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _entries(**fields: Schema) -> Schema:
    return {"type": "array", "items": _record(**fields, evidence=_NAMES)}


_NEXT_STEP: Schema = {"anyOf": [_record(text=_TEXT, quote=_TEXT), {"type": "null"}]}

PART_SCHEMA: Schema = {
    "title": "part_summary",
    **_record(
        request=_TEXT,
        concepts=_entries(text=_TEXT),
        files=_entries(path=_TEXT, change=_word(Change), note=_TEXT, snippet=_OPTIONAL),
        references=_entries(kind=_word(ReferenceKind), value=_TEXT, note=_TEXT),
        errors=_entries(error=_TEXT, fix=_OPTIONAL),
        checks=_entries(command=_TEXT, result=_word(CheckResult), note=_TEXT),
        problem_solving=_entries(kind=_word(ProblemKind), text=_TEXT, verify=_OPTIONAL),
        tasks=_entries(id=_OPTIONAL, refs=_NAMES, text=_TEXT, status=_word(TaskStatus)),
        current_work=_TEXT,
        next_step=_NEXT_STEP,
        constraints=_entries(rule=_TEXT, quote=_TEXT, scope=_word(Scope)),
        lifted=_entries(id=_TEXT, quote=_TEXT),
        memories=_entries(kind=_word(MemoryKind), text=_TEXT),
    ),
}
MERGE_SCHEMA: Schema = {
    "title": "merge_proposal",
    **_record(
        request=_TEXT,
        current_work=_TEXT,
        next_step=_NEXT_STEP,
        changes=_entries(op=_word(MergeOp), ids=_NAMES, text=_OPTIONAL, reason=_TEXT, by=_OPTIONAL),
    ),
}
MEMORY_SCHEMA: Schema = {
    "title": "memory_operations",
    **_record(
        operations=_entries(op=_word(MemoryOp), ids=_NAMES, kind=_word(MemoryKind), text=_TEXT, reason=_TEXT),
    ),
}
