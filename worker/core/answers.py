"""From what a model wrote to values: an answer counts, or it is rejected with the reason.

An answer counts only when it ended by itself, calls no tool and closes both blocks (`answer_blocks`), holds readable
JSON of our form (`answer_forms`) with the required texts filled in, repeats nothing of the prompt, and is smaller than
what it summarizes. The analysis and any reasoning are dropped here and exist nowhere else. Whether what an answer says
is true is decided in `validation`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import json_repair
from pydantic import ValidationError

from worker.core.answer_blocks import (
    AnswerLike,
    Block,
    Rejection,
    Unusable,
    bare_object,
    summary_block,
    what_is_wrong_with,
)
from worker.core.answer_forms import (
    ALL_FORMS,
    MEMORY_SCHEMA,
    MERGE_SCHEMA,
    PART_SCHEMA,
    Form,
    MemoryAnswer,
    MergeAnswer,
    NextStepForm,
    PartAnswer,
    TaskForm,
    texts_of,
)
from worker.core.identifiers import find_identifiers
from worker.core.memory import MemoryOp, MemoryOperation
from worker.core.merging import MergeChange, MergeOp, MergeProposal
from worker.core.messages import message_index
from worker.core.summary import (
    Check,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Memory,
    NextStep,
    Problem,
    Reference,
    Summary,
    Task,
    with_id,
)
from worker.core.tokens import estimate_tokens

__all__ = [
    "MEMORY_SCHEMA",
    "MERGE_SCHEMA",
    "PART_SCHEMA",
    "AnswerLike",
    "Block",
    "Draft",
    "PartAnswer",
    "ProposedLift",
    "Rejection",
    "bare_object",
    "own_sentences",
    "read_answer",
    "read_memory",
    "read_merge",
    "stored_answer",
    "summary_block",
    "to_summary",
]

SMALLEST_SOURCE_TOKENS = 400
"""Below this a true summary may be as long as its source: two lines of talk have a request, a task and a next step."""

_LONGEST_REPAIR_CHARS = 100_000
"""A strong model's answer has 15,000; repairing a hostile text of this length takes half a second."""
_SHORTEST_ECHO_CHARS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedLift:
    """The claim that a person ended a known constraint; code looks for the words before it believes it."""

    id: str
    quote: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What one answer says, unverified. missing: sections that the answer left out altogether."""

    summary: Summary
    lifted: tuple[ProposedLift, ...] = ()
    missing: tuple[str, ...] = ()


def read_answer(
    answer: AnswerLike, *, source_tokens: int, echoes: Sequence[str] = (), block: Block = summary_block
) -> PartAnswer | Rejection:
    """What the answer says about a part. echoes: from `own_sentences`."""
    try:
        return _checked_part(_filled_in(PartAnswer, block(answer)), source_tokens, echoes)
    except Unusable as unusable:
        return unusable.rejection


def read_merge(
    answer: AnswerLike, *, echoes: Sequence[str] = (), block: Block = summary_block
) -> MergeProposal | Rejection:
    """What the answer would join, reword or drop; a change of an unknown kind proposes nothing."""
    try:
        form = _filled_in(MergeAnswer, block(answer))
        _check_texts(form, {"request": form.request, "current_work": form.current_work}, echoes)
        return _merge_proposal(form)
    except Unusable as unusable:
        return unusable.rejection


def read_memory(
    answer: AnswerLike, *, echoes: Sequence[str] = (), block: Block = summary_block
) -> tuple[MemoryOperation, ...] | Rejection:
    """The operations on MEMORY.md that the answer proposes; one of an unknown kind proposes nothing."""
    try:
        form = _filled_in(MemoryAnswer, block(answer))
        _check_texts(form, {}, echoes)
        return tuple(_memory_operations(form))
    except Unusable as unusable:
        return unusable.rejection


def stored_answer(text: str | None) -> PartAnswer | None:
    """An answer as it was put into the part cache (its own JSON); anything else is no answer."""
    try:
        return None if text is None else PartAnswer.model_validate_json(text)
    except ValidationError:
        return None


def own_sentences(*prompts: str, source: str) -> tuple[str, ...]:
    """What of the prompts an answer must not repeat: each sentence of some length that the source does not hold.

    A session about this very prompt may quote it, hence the look into the source.
    """
    known = _normal(source)
    pieces = (_normal(piece) for prompt in prompts for piece in _SENTENCE_END.split(prompt))
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _SHORTEST_ECHO_CHARS and piece not in known))


Filled = TypeVar("Filled", bound=Form)


def _filled_in(form: type[Filled], block: str) -> Filled:
    content = _unwrapped(_parsed(block))
    if not isinstance(content, dict):
        raise Unusable("not_json", "the summary is no JSON object")
    try:
        return form.model_validate(content)
    except ValidationError as exc:
        raise Unusable("wrong_shape", _places(exc)) from None
    except RecursionError:
        raise Unusable("wrong_shape", "nested too deeply") from None


def _unwrapped(content: object) -> object:
    """Some models put the object under the name of the block."""
    if isinstance(content, dict) and list(content) == ["summary"]:
        return content["summary"]
    return content


def _parsed(block: str) -> object:
    start, end = block.find("{"), block.rfind("}")
    if start < 0 or end < start:
        raise Unusable("not_json", "the summary is no JSON object")
    text = block[start : end + 1]
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _repaired(text)


def _repaired(text: str) -> object:
    """The object with commas and quotes put right, and nothing else: letters and brackets must stay what they were."""
    if len(text) > _LONGEST_REPAIR_CHARS:
        raise Unusable("not_json", "the JSON is broken")
    try:
        content = json_repair.loads(text, skip_json_loads=True)
        same = "".join(_letters_of(content)) == _letters(_UNESCAPED.sub(_unescape, text))
    except (ValueError, RecursionError):
        same = False
    if not same or not _has_known_keys(content):
        raise Unusable("not_json", "the JSON is broken")
    return content


_ESSENCE = re.compile(r"[^\w{}\[\]]")
_UNESCAPED = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SPACES = frozenset("ntrbf")
_LITERALS = {"True": "true", "False": "false", "None": "null"}


def _letters(text: str) -> str:
    return _ESSENCE.sub("", re.sub(r"\b(?:True|False|None)\b", lambda word: _LITERALS[word[0]], text))


def _unescape(escape: re.Match[str]) -> str:
    code = escape[0][1:]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return " " if code in _SPACES else code


def _letters_of(content: object) -> Iterator[str]:
    """Letters and brackets of a value, in the order in which JSON writes them."""
    if isinstance(content, dict):
        yield "{"
        for key, value in content.items():
            yield _letters(str(key))
            yield from _letters_of(value)
        yield "}"
    elif isinstance(content, list):
        yield "["
        for value in content:
            yield from _letters_of(value)
        yield "]"
    else:
        yield _letters(content if isinstance(content, str) else json.dumps(content))


_KNOWN_KEYS = frozenset(name for form in ALL_FORMS for name in form.model_fields)


def _has_known_keys(content: object) -> bool:
    """A quote inside a text can end it early and make a key of the rest: then nobody knows what was meant."""
    if isinstance(content, dict):
        return content.keys() <= _KNOWN_KEYS and all(map(_has_known_keys, content.values()))
    return not isinstance(content, list) or all(map(_has_known_keys, content))


def _places(exc: ValidationError) -> str:
    """Where the form was not followed, without the values: they are the model's words."""
    places = [".".join(map(str, error["loc"])) for error in exc.errors(include_input=False, include_url=False)]
    return f"not of the form at {', '.join(places[:5])}"


_SENTENCE_END = re.compile(r"[\n\"]|(?<=[.!?:;])\s")


def _checked_part(answer: PartAnswer, source_tokens: int, echoes: Sequence[str]) -> PartAnswer:
    _check_texts(answer, {"request": answer.request, "current_work": answer.current_work}, echoes)
    tokens = estimate_tokens("\n".join(texts_of(answer)))
    if tokens > max(source_tokens, SMALLEST_SOURCE_TOKENS):
        raise Unusable("larger_than_source", f"{tokens} tokens about {source_tokens}")
    return answer


def _check_texts(form: Form, required: dict[str, str], echoes: Sequence[str]) -> None:
    for name, text in required.items():
        if not text:
            raise Unusable("blank", f"{name} is blank")
        if fault := what_is_wrong_with(text):
            raise Unusable(*fault)
    said = _normal("\n".join(texts_of(form)))
    if any(echo in said for echo in echoes):
        raise Unusable("template_echo", "the answer repeats the prompt or its example")


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


_SECTIONS = ("concepts", "files", "errors", "problem_solving", "tasks", "constraints")
"""Lists that every answer must have; `references`, `checks`, `lifted` and `memories` may be left out."""


def to_summary(answer: PartAnswer) -> Draft:
    """The answer as values, every item with an id."""
    summary = Summary(
        request=answer.request,
        constraints=tuple(
            with_id(Constraint(rule=each.rule, quote=each.quote, scope=each.scope, evidence=each.evidence))
            for each in answer.constraints
        ),
        concepts=tuple(with_id(Concept(text=each.text, evidence=each.evidence)) for each in answer.concepts),
        files=tuple(with_id(FileItem(**dict(each))) for each in answer.files if not _is_citation(each.path)),
        references=tuple(with_id(Reference(**dict(each))) for each in answer.references),
        errors=tuple(with_id(ErrorItem(**dict(each))) for each in answer.errors),
        checks=tuple(with_id(Check(**dict(each))) for each in answer.checks),
        problem_solving=tuple(with_id(Problem(**dict(each))) for each in answer.problem_solving),
        tasks=tuple(map(_task, answer.tasks)),
        current_work=answer.current_work,
        next_step=_next_step(answer.next_step),
        memories=tuple(with_id(Memory(**dict(each))) for each in answer.memories),
    )
    lifted = tuple(ProposedLift(id=each.id, quote=each.quote, evidence=each.evidence) for each in answer.lifted)
    missing = tuple(name for name in _SECTIONS if name not in answer.model_fields_set)
    return Draft(summary=summary, lifted=lifted, missing=missing)


def _task(form: TaskForm) -> Task:
    """Where a model writes two ids into one field, the first is the id and the others are references."""
    own, *others = [*map(_written_id, form.id), *form.refs] if form.id else ["", *form.refs]
    refs = tuple(dict.fromkeys(others))
    return with_id(Task(id=own, refs=refs, text=form.text, status=form.status, evidence=form.evidence))


def _is_citation(value: str) -> bool:
    """A weak model lists the messages that it cites where files belong."""
    return message_index(value) is not None


_MOST_ID_WORDS = 2


def _written_id(name: str) -> str:
    """ "T-101 CSV export endpoint" is T-101; a name of several words is a title, a path is a file."""
    words, found = len(name.split()), find_identifiers(name)
    if any(kind == "path" for kind, _ in found):
        return ""
    tickets = [value for kind, value in found if kind == "ticket"]
    if words > 1 and len(tickets) == 1:
        return tickets[0]
    return name if words <= _MOST_ID_WORDS else ""


def _next_step(form: NextStepForm | None) -> NextStep | None:
    return NextStep(text=form.text, quote=form.quote) if form else None


def _merge_proposal(form: MergeAnswer) -> MergeProposal:
    known = {op.value: op for op in MergeOp}
    changes = tuple(
        MergeChange(
            op=known[each.op.casefold()],
            ids=each.ids,
            text=each.text,
            reason=each.reason,
            by=each.by,
            evidence=each.evidence,
        )
        for each in form.changes
        if each.op.casefold() in known
    )
    next_step = _next_step(form.next_step)
    return MergeProposal(request=form.request, current_work=form.current_work, next_step=next_step, changes=changes)


def _memory_operations(form: MemoryAnswer) -> Iterator[MemoryOperation]:
    known = {op.value: op for op in MemoryOp}
    for each in form.operations:
        if each.op.casefold() in known:
            yield MemoryOperation(
                op=known[each.op.casefold()],
                ids=each.ids,
                kind=each.kind,
                text=each.text,
                evidence=each.evidence,
                reason=each.reason,
            )
