"""Finds what a person wrote in their own words: the sentences of a message without code, logs and quotations.

Everything works on positions, so that a sentence can be quoted letter by letter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_TAGGED = re.compile(
    r"<(bash-\w{1,10}|system-reminder|command-\w{1,12}|local-command-\w{1,8}|stdout|stderr|output|logs?|code)>"
)
_LINE = re.compile(r"[^\n\r\u2028\u2029\x0b\x0c]+")
_BULLET = re.compile(r"[ \t]*(?:[-*•‣·+–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|[①-⑳]|\[[ xX]\])[ \t]+")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|[A-Z][\w ]{2,40}:[ \t]*$)")
_MARKDOWN_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]", re.MULTILINE)
_RULES_HEADING = re.compile(
    r"(?i)\b(?:constraints?|rules?|guidelines?|conventions?|requirements?|preferences?|instructions?|do not"
    r"|don'?ts?|never|always"
    r"|important|style)\b|约束|规则|要求|注意|规范|制約|ルール|注意事項|Regeln|règles|contraintes|reglas|regras|правила|규칙"
)
_TERMINATOR = re.compile(r"(?:[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？；]+[」』”）]*|;(?=\s))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|mr|mrs|dr|st|z\.B|d\.h|p\.ej)|(?<![-\w])[A-Za-z])\.$", re.IGNORECASE
)
_LOG_LINE = re.compile(
    r"\s*(?:\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE)|(?:INFO|WARN|WARNING"
    r"|ERROR|DEBUG|FATAL)\b[: ]"
    r"|--?\w[\w-]{0,40}(?:,| {2,}|=)|at [\w.$<>]+ ?\(|File \"|Traceback|[➜$%❯] |\w+@[\w-]+[:~]|\+\+\+|---|@@"
    r"|diff --git|(?:npm|go|cargo|pip|make)(?: ERR)?!|\^+$|[|│┌└├─═╔╚]"
    r"|[+-] ?\d+ |\w[\w ]{0,30}Error:|panic:|error(?:\[\w+\])?:|warning:)"
)
_CODE_LINE = re.compile(
    r"\s*(?:import |from \w+ import|def \w+\(|class \w+[(:]|func |const |let |var |return\b|#include|//|/\*|\*/"
    r"|</?\w+[ >])|.*(?:[{}]|\);)\s*$"
)
_INDENTED = re.compile(r"(?:\t| {4,})\S")
_MASKED = re.compile(
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」|『[^』\n]{1,300}』"
)
_UNFINISHED = re.compile(
    r"(?i)(?:^|\s)(?:the|a|an|to|in|on|of|or|with|for|at|by|from|your|my|our|any|never|not|don'?t|always|only|must"
    r"|please|into"
    r"|no|that|which|use|touch|der|die|das|nicht|de|la|le|el)\s*$|[,、，]\s*$"
)
_WRAP_WIDTH = 60
"""A line this long that ends in no punctuation goes on in the next one: somebody's editor wrapped it."""

_PASTED_LINES = 3
"""Fewer lines that look like code may be somebody's own words: "let the user choose"."""

_WRAPPED_LINES = 12
"""How far an object that nobody closes may hide what a person goes on to say."""

_DOCUMENT_CHARS = 2_000
_DOCUMENT_HEADINGS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """Where a sentence stands: [start, end) of the message. masked: same length, quotations and code blanked."""

    start: int
    end: int
    text: str
    masked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    start: int
    end: int
    text: str
    is_item: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences in the writer's own words, ascending.

    A message of more than 2,000 characters with several headings is a pasted document: of it only what stands before
    the first heading counts, and what stands under a heading that announces rules.
    """
    for start, end in _blocks(_own_lines(text)):
        yield from _sentences_between(text, start, end)


def own_words(text: str, chars: int) -> str:
    """About the first `chars` that the writer typed, without the code and logs that they pasted between."""
    typed: list[str] = []
    pasted: list[str] = []
    room, fenced = chars, False
    for match in _LINE.finditer(text):
        line = match[0].strip()
        is_fence = _FENCE.match(line) is not None
        fenced = fenced is not is_fence
        if is_fence or fenced:
            continue
        if _is_foreign(match[0]):
            pasted.append(line)
            continue
        room -= len(line)
        typed += [*(pasted if len(pasted) < _PASTED_LINES else ()), line]
        pasted = []
        if room <= 0:
            break
    return "\n".join(typed) or text


def mask(text: str) -> str:
    """The text with quotations and inline code blanked, in the same length."""
    return _MASKED.sub(lambda match: " " * len(match[0]), text)


def _own_lines(text: str) -> Iterator[_Line]:
    """Lines that are neither code nor log nor quotation nor part of a pasted document."""
    is_document = len(text) > _DOCUMENT_CHARS and len(_MARKDOWN_HEADING.findall(text)) >= _DOCUMENT_HEADINGS
    fenced = reads = False
    tag: str | None = None
    under_heading = False
    wrapped = 0
    for match in _LINE.finditer(text):
        line = match[0]
        if wrapped or _opens_json(line):
            wrapped = 0 if "}" in line else (wrapped or _WRAPPED_LINES) - 1
            continue
        if _FENCE.match(line):
            fenced = not fenced
            continue
        inside = tag is not None or _TAGGED.search(line) is not None
        tag = _open_tag(line, tag)
        if fenced or inside:
            continue
        if _HEADING.match(line):
            under_heading, reads = True, _RULES_HEADING.search(line) is not None
            continue
        if (is_document and under_heading and not reads) or _is_foreign(line):
            continue
        bullet = _BULLET.match(line)
        yield _Line(
            start=bullet.end() + match.start() if bullet else match.start(),
            end=match.end(),
            text=line,
            is_item=bool(bullet),
        )


def _opens_json(line: str) -> bool:
    """Whether a pasted object begins here and goes on in the next lines, as terminals wrap them."""
    return '{"' in line and line.count("{") > line.count("}")


def _open_tag(line: str, tag: str | None) -> str | None:
    """The tag that is open behind the line."""
    opened = _TAGGED.search(line)
    name = tag or (opened[1] if opened else None)
    return None if name is None or f"</{name}>" in line else name


def _is_foreign(line: str) -> bool:
    """Quoted, logged, printed or code. A list item is none of these for its indentation alone."""
    stripped = line.lstrip()
    if not stripped or stripped.startswith(">") or _LOG_LINE.match(line) or _CODE_LINE.match(line):
        return True
    return bool(_INDENTED.match(line)) and not _BULLET.match(line)


def _blocks(lines: Iterator[_Line]) -> Iterator[tuple[int, int]]:
    """Lines that belong together: one that was wrapped or breaks off goes on in the next."""
    start: int | None = None
    previous: _Line | None = None
    for line in lines:
        if previous is not None and start is not None:
            if _goes_on(previous, line):
                previous = line
                continue
            yield start, previous.end
        start, previous = line.start, line
    if previous is not None and start is not None:
        yield start, previous.end


def _goes_on(line: _Line, following: _Line) -> bool:
    """True when the following line continues the sentence of this one."""
    if following.is_item or following.start - line.end > 3:
        return False
    text = line.text.rstrip()
    if not text or text[-1] in ".!?:;。！？：；…":
        return False
    return len(text) >= _WRAP_WIDTH or _UNFINISHED.search(text) is not None


def _sentences_between(text: str, start: int, end: int) -> Iterator[Sentence]:
    position = start
    masked = mask(text[start:end])
    for match in _TERMINATOR.finditer(masked):
        stop = start + match.end()
        if match[0] == "." and _ABBREVIATION.search(text, position, stop):
            continue
        yield from _sentence(text, masked, start, position, stop)
        position = stop
    yield from _sentence(text, masked, start, position, end)


def _sentence(text: str, masked: str, offset: int, start: int, end: int) -> Iterator[Sentence]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Sentence(start=start, end=end, text=text[start:end], masked=masked[start - offset : end - offset])
