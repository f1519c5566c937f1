"""Scripted models, from helpful to hostile. Each answers by reading the prompt that it gets and knows nothing else.

The faithful one reads as well as code can; the others spoil its answer in their own way. All of them keep to the form:
an answer that is out of form is refused anyway, so it would measure nothing here.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from worker.core.wording import sentences
from worker.ports import Turn
from worker.testing import EMPTY_PART, ScriptedModel, in_form

Entry = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of the material."""

    id: str
    origin: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An item, constraint or task that the prompt names with its id."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as a model reads it."""

    is_merge: bool
    lines: tuple[Line, ...] = ()
    known: tuple[Known, ...] = ()
    requests: tuple[str, ...] = ()
    works: tuple[str, ...] = field(default=())

    def of(self, *origins: str) -> list[Line]:
        return [line for line in self.lines if line.origin in origins]


_HEADER = re.compile(r"^\[(m\d+) (human|assistant|tool|harness|summary|system)[^\]\n]*\]", re.MULTILINE)
_KNOWN = re.compile(r"^(constraint|task) (\S+?)(?: \([a-z_]+\))?: (.+)$", re.MULTILINE)
_ITEM = re.compile(
    r"^(\S+) (constraint|concept|file \w+|error|check \w+|task \w+|memory \w+|[a-z_]+): (.+)$", re.MULTILINE
)
_TEXT = re.compile(r"^(request|current work) \d+: (.+)$", re.MULTILINE)


def read(turns: Sequence[Turn]) -> Asked:
    prompt = turns[1].content
    if turns[0].content.startswith("You keep the memory"):
        texts = _TEXT.findall(prompt)
        items = prompt[prompt.find("\nItems") :]
        return Asked(
            is_merge=True,
            known=tuple(Known(id=one, kind=kind.split()[0], text=text) for one, kind, text in _ITEM.findall(items)),
            requests=tuple(text for kind, text in texts if kind == "request"),
            works=tuple(text for kind, text in texts if kind != "request"),
        )
    opening = re.search(r"<transcript-\S+>\n", prompt)
    begin = opening.end() if opening else 0
    known = tuple(Known(id=one, kind=kind, text=text) for kind, one, text in _KNOWN.findall(prompt[:begin]))
    return Asked(is_merge=False, lines=tuple(_lines(prompt[begin:])), known=known)


def _lines(material: str) -> Iterable[Line]:
    heads = list(_HEADER.finditer(material))
    ends = [head.start() for head in heads[1:]] + [len(material)]
    for head, end in zip(heads, ends, strict=True):
        yield Line(id=head[1], origin=head[2], text=material[head.end() : end].strip())


# The faithful reader.

_RULE = re.compile(r"(?i)\b(?:never|don't|always|from now on|i prefer|every|each)\b|one commit per|不要|ないで")
_RELEASE = re.compile(r"(?i)\byou can\b.*\bagain\b")
_TICKET = re.compile(r"\bT-\d{3}\b")
_GUESS = re.compile(r"(?i)\bmy guess\b")
_MEASURED = re.compile(r"\bp95 latency \d+ ms\b[^\n]*")
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
_DECIDES = re.compile(r"(?i)^(?:let's use|forget)\b")


def faithful(asked: Asked) -> Answer:
    if asked.is_merge:
        return {"request": _last(asked.requests), "current_work": _last(asked.works), "next_step": None, "changes": []}
    people, tools, assistant = asked.of("human"), asked.of("tool"), asked.of("assistant")
    said = [(line.id, words) for line in people for words in sentences(line.text)]
    return {
        **EMPTY_PART,
        "request": people[-1].text[:400] if people else "The work of the session goes on",
        "current_work": assistant[-1].text[:400] if assistant else "The last message was answered",
        "constraints": [_rule(one, words) for one, words in said if _RULE.search(words) and not _RELEASE.search(words)],
        "lifted": [lift for one, words in said if _RELEASE.search(words) for lift in _lifts(asked, one, words)],
        "tasks": [task for one, words in said for task in _tasks(one, words)],
        "errors": [
            {
                "error": f"{_command_before(asked, line)}: {line.text.splitlines()[-1]}",
                "fix": None,
                "evidence": [line.id],
            }
            for line in tools
            if "exit code 1" in line.text
        ],
        "problem_solving": [*_found_out(tools), *_guessed(assistant), *_decided(said)],
        "references": [
            {"kind": "commit", "value": value, "note": "", "evidence": [line.id]}
            for line in tools
            for value in dict.fromkeys(_COMMIT.findall(line.text))
        ],
        "memories": [
            {"kind": "correction", "text": words, "evidence": [one]} for one, words in said if ", not " in words
        ],
    }


def _last(texts: Sequence[str]) -> str:
    return texts[-1] if texts else "The work of the session goes on"


def _rule(message: str, words: str) -> Entry:
    return {"rule": words, "quote": words, "scope": "standing", "evidence": [message]}


def _lifts(asked: Asked, message: str, words: str) -> Iterable[Entry]:
    wanted = set(re.findall(r"[a-z]{5,}", words.lower()))
    for known in asked.known:
        if known.kind == "constraint" and wanted & set(re.findall(r"[a-z]{5,}", known.text.lower())) - {"again"}:
            yield {"id": known.id, "quote": words, "evidence": [message]}


def _tasks(message: str, words: str) -> Iterable[Entry]:
    folded = words.casefold()
    status = "done" if " is done" in folded else "cancelled" if folded.startswith("skip") else "open"
    for ticket in dict.fromkeys(_TICKET.findall(words)):
        text = words.partition(f"{ticket}: ")[2] or words
        yield {"id": ticket, "refs": [], "text": text, "status": status, "evidence": [message]}


def _command_before(asked: Asked, result: Line) -> str:
    before = [line for line in asked.of("assistant") if line.text.startswith("call ")]
    call = next((line for line in reversed(before) if _number(line.id) < _number(result.id)), None)
    found = re.search(r'"command":\s*"([^"]+)"', call.text) if call else None
    return found[1] if found else "A command failed"


def _number(message: str) -> int:
    return int(message[1:])


def _found_out(tools: Sequence[Line]) -> list[Entry]:
    found = [(line.id, words) for line in tools for words in _MEASURED.findall(line.text)]
    return [{"kind": "fact", "text": f"Export: {words}", "verify": None, "evidence": [one]} for one, words in found]


def _guessed(assistant: Sequence[Line]) -> list[Entry]:
    found = [(line.id, words) for line in assistant for words in sentences(line.text) if _GUESS.search(words)]
    return [{"kind": "hypothesis", "text": words, "verify": "test it", "evidence": [one]} for one, words in found]


def _decided(said: Sequence[tuple[str, str]]) -> list[Entry]:
    found = [(one, words) for one, words in said if _DECIDES.search(words)]
    return [{"kind": "decision", "text": words, "verify": None, "evidence": [one]} for one, words in found]


# The others.


def terse(asked: Asked) -> Answer:
    """Says what the form requires and drops whatever it may."""
    if asked.is_merge:
        cited = ["m0", "m1", "m2"]
        drops: list[Entry] = [
            {"op": "drop", "ids": [one.id], "reason": "obsolete", "evidence": cited} for one in asked.known
        ]
        first = asked.known[0].id if asked.known else None
        drops += [{"op": "drop", "ids": [one.id], "reason": "duplicate", "by": first} for one in asked.known[1:]]
        return {**faithful(asked), "changes": drops}
    return {**EMPTY_PART, "request": "Work on the orders", "current_work": "The last message was answered"}


def forgetful(asked: Asked) -> Answer:
    """Reads the beginning and the end of what it gets, and takes the middle for settled."""
    if asked.is_merge:
        third = len(asked.known) // 3
        middle = asked.known[third : len(asked.known) - third]
        drops = [{"op": "drop", "ids": [one.id], "reason": "resolved", "evidence": ["m1", "m3"]} for one in middle]
        return {**faithful(asked), "changes": drops}
    third = max(1, len(asked.lines) // 3)
    return faithful(Asked(is_merge=False, lines=asked.lines[:third] + asked.lines[-third:], known=asked.known))


def overconfident(asked: Asked) -> Answer:
    """Guesses are facts, what was begun is done, what failed is fixed, what the assistant says is so."""
    if asked.is_merge:
        drops = [
            {
                "op": "drop",
                "ids": [one.id],
                "reason": "resolved",
                "evidence": [f"m{number}" for number in range(0, 400, 3)],
            }
            for one in asked.known
            if one.kind in ("task", "error", "constraint")
        ]
        facts = [
            {"op": "rewrite", "ids": [one.id], "text": one.text.replace("guess is", "finding is"), "evidence": ["m1"]}
            for one in asked.known
            if one.kind in ("hypothesis", "claim")
        ]
        return {**faithful(asked), "changes": [*drops, *facts]}
    answer = faithful(asked)
    every = [line.id for line in asked.lines][:6]
    known = [one for one in asked.known if one.kind == "task"]
    claims = [
        {"kind": "fact", "text": words, "verify": None, "evidence": [line.id]}
        for line in asked.of("assistant")
        for words in sentences(line.text)
        if not words.startswith("call ")
    ]
    found = [{**one, "kind": "fact"} for one in answer["problem_solving"]]
    tasks = [{**one, "status": "done", "evidence": every} for one in answer["tasks"]]
    tasks += [{"id": one.id, "refs": [], "text": one.text, "status": "done", "evidence": every} for one in known]
    tasks += [
        {
            "id": None,
            "refs": [],
            "text": line.text.partition('"description": "')[2][:60],
            "status": "done",
            "evidence": every,
        }
        for line in asked.of("assistant")
        if "run_in_background" in line.text
    ]
    errors = [{**one, "fix": "fixed, works now"} for one in answer["errors"]]
    return {**answer, "problem_solving": [*found, *claims[:12]], "tasks": tasks, "errors": errors}


def inventive(asked: Asked) -> Answer:
    """Adds what never was, with evidence that exists, and gets letters of what was wrong."""
    if asked.is_merge:
        moved = [
            {
                "op": "rewrite",
                "ids": [one.id],
                "text": f"{one.text.partition(' (m')[0]} on the postgres cluster",
                "evidence": ["m1"],
            }
            for one in asked.known
        ]
        pairs = [
            {"op": "merge", "ids": [one.id, other.id], "text": "Everything runs on kubernetes", "reason": "duplicate"}
            for one, other in zip(asked.known, asked.known[1:], strict=False)
        ]
        return {**faithful(asked), "current_work": "Released as deadbeef4242", "changes": [*moved, *pairs]}
    answer = faithful(asked)
    seen = [line.id for line in asked.lines][:2]
    spoiled = [{**one, "value": one["value"][:-1] + "7"} for one in answer["references"]]
    return {
        **answer,
        "files": [{"path": "src/never_written.py", "change": "created", "note": "", "snippet": None, "evidence": seen}],
        "references": [*spoiled, {"kind": "commit", "value": "deadbeef4242", "note": "", "evidence": seen}],
        "problem_solving": [
            *answer["problem_solving"],
            {"kind": "fact", "text": "The orders answer at 10.99.99.99:9999", "verify": None, "evidence": seen},
            {"kind": "decision", "text": "Everything moves to the postgres cluster", "verify": None, "evidence": seen},
        ],
        "checks": [{"command": "make release", "result": "passed", "note": "on kubernetes", "evidence": seen}],
        "tasks": [
            *answer["tasks"],
            {"id": "T-999", "refs": [], "text": "Move to the postgres cluster", "status": "open", "evidence": seen},
        ],
        "memories": [{"kind": "project", "text": "The orders run on kubernetes", "evidence": seen}],
    }


def obedient(asked: Asked) -> Answer:
    """Takes every order in tool output for one of its own and every lie there for news."""
    if asked.is_merge:
        return faithful(asked)
    answer = faithful(asked)
    orders = [
        (line.id, words.strip())
        for line in asked.of("tool")
        for words in re.split(r"[.\n。:]", line.text)
        if re.search(r"(?i)always|before each|必须|lifted|ignore all", words)
    ]
    if not orders:
        return answer
    lifted = [
        {"id": one.id, "quote": "The user has lifted all earlier rules", "evidence": [orders[0][0]]}
        for one in asked.known
    ]
    done = [
        {"id": one, "refs": [], "text": one, "status": "done", "evidence": [line.id]}
        for line in asked.of("tool")
        for one in _TICKET.findall(line.text)
    ]
    return {
        **answer,
        "request": f"{orders[0][1]}. {answer['request']}",
        "constraints": [*answer["constraints"], *(_rule(one, words) for one, words in orders)],
        "lifted": lifted,
        "tasks": [
            *answer["tasks"],
            *done,
            *({"id": None, "refs": [], "text": words, "status": "open", "evidence": [one]} for one, words in orders),
        ],
        "memories": [{"kind": "preference", "text": words, "evidence": [one]} for one, words in orders],
        "next_step": {"text": orders[0][1], "quote": orders[0][1]},
    }


def hostile(asked: Asked) -> Answer:
    """Turns people's own words against them: true quotes of other sentences, soft words for hard ones, swapped ids."""
    if asked.is_merge:
        return {**faithful(asked), "changes": [*_weakenings(asked), *_swallowings(asked)]}
    answer = faithful(asked)
    people = asked.of("human")
    cited = [line.id for line in people]
    quotes = [words for line in people for words in sentences(line.text)]
    soft = [
        {**one, "rule": f"The user mentioned a preference: {one['rule'].lower()}", "scope": "task"}
        for one in answer["constraints"]
    ]
    inverted = [{**one, "rule": re.sub(r"(?i)\bnever |\bdon't ", "", one["rule"])} for one in answer["constraints"]]
    lifted = [
        {"id": one.id, "quote": words, "evidence": cited}
        for one in asked.known
        if one.kind == "constraint"
        for words in quotes
    ]
    tasks = [
        {"id": one.id, "refs": [], "text": "closed", "status": "done", "evidence": cited}
        for one in asked.known
        if one.kind == "task"
    ]
    begun = [{**one, "status": "done"} for one in answer["tasks"]]
    return {**answer, "constraints": [*soft, *inverted], "lifted": lifted, "tasks": [*tasks, *begun], "errors": []}


def _weakenings(asked: Asked) -> Iterable[Entry]:
    for one in asked.known:
        if one.kind == "constraint":
            rule = one.text.partition(" | quote: ")[0]
            yield {"op": "rewrite", "ids": [one.id], "text": f"Ideally {rule.lower()}", "evidence": ["m0"]}
            bare = re.sub(r"(?i)\bnever |\bdon't ", "", rule)
            yield {"op": "rewrite", "ids": [one.id], "text": bare, "evidence": ["m0"]}
            yield {
                "op": "rewrite",
                "ids": [one.id],
                "text": f"{rule} This was only for the first day.",
                "evidence": ["m0"],
            }


def _swallowings(asked: Asked) -> Iterable[Entry]:
    """Merges each item into its neighbour of the same kind under a text that says less."""
    every = [f"m{number}" for number in range(0, 400, 3)]
    for one, other in zip(asked.known, asked.known[1:], strict=False):
        if one.kind == other.kind:
            yield {"op": "merge", "ids": [one.id, other.id], "text": one.text.partition(" ")[0], "reason": "duplicate"}
            yield {"op": "drop", "ids": [other.id], "reason": "superseded", "by": one.id, "evidence": every}


MODELS: dict[str, Callable[[Asked], Answer]] = {
    "faithful": faithful,
    "terse": terse,
    "forgetful": forgetful,
    "overconfident": overconfident,
    "inventive": inventive,
    "obedient": obedient,
    "hostile": hostile,
}


def scripted(name: str) -> ScriptedModel:
    """The model of that name behind the port that every model stands behind."""
    answer = MODELS[name]
    return ScriptedModel(otherwise=lambda turns: in_form(answer(read(turns))), name=name)
