"""Finds what a short human message points at: "skip 5, 7, 8 and do the rest" is empty without the list it answers.

Only two kinds of messages answer something: one that replies in so many words (yes, the letter of an option, numbers of
a list, "do that"), and one that plausibly responds to the question with which the turn before it ended. Everything
else stands for itself, however short it is. The excerpt holds the lines meant, without their Markdown.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from worker.core.flattening import FlatLine, flat_lines
from worker.core.messages import Message, Origin
from worker.core.summary import Answered
from worker.core.wording import content_words, sentences

MAX_EXCERPT_CHARS = 400
_REPLY_CHARS = 600
_SHORT_CHARS = 200
_BARE_CHARS = 60
_READABLE_CHARS = 40
_READ_CHARS = 12_000
_CLOSING_LINES = 4
"""How many of the last lines of a turn may hold its question; one asked earlier was answered or dropped by itself."""

_SEARCHED_TEXTS = 3
"""How many assistant texts back a numbered list is looked for: people answer the list, not the remark after it."""

_INLINE_OPTION = re.compile(r"(?<=[.:;,?!) ]) (?=\(?[A-Ha-h]\)\s)")
_LABEL = re.compile(
    r"[ \t]*(?:[-*][ \t]+)?(?:\|[ \t]*)?[*_#(]{0,4}(?:(?:option|step|item|no\.?|nr\.?|选项|方案)[ \t]*)?#?(\d{1,3}"
    r"|[A-Za-z])(?:[.):\]|：、．]|\*\*|[ \t]*[|—–-]|(?=[ \t]\())(?![\w./])",
    re.IGNORECASE,
)
_PICK_WORDS = (
    r"skip|do|only|just|fix|take|use|pick|choose|chose|options?|items?|points?|numbers?|nos?|nr|and|or|except|not|drop"
    r"|leave|ignore|address|start with|begin with|go with|yes to|with|for|then|also|apply|implement|keep|maybe"
    r"|let'?s do"
)
_NUMBERS = re.compile(
    rf"(?i)(?:^\W*|\b(?:{_PICK_WORDS})\s+|(?<=[,&、，+/])\s*|[(#])#?(\d{{1,3}})(?:\s?[-–]\s?(\d{{1,3}}))?"
    r"(?![\w/%:-]|\.\d)(?!\s+(?!(?:and|or|first|then|please|is|are|now|too|only|as|but|should|can|looks?|sounds?"
    r"|from|in"
    r"|to|yes|no|ok|with|the|for|also|later|last|instead)\b)[A-Za-z])"
)
_LETTER = re.compile(
    r"(?i)\b(?:option|choice|variant|version|answer|plan|approach|alternative)\s+\(?([a-h])\b"
    r"|^\W{0,3}([a-h])(?:[).:,;!-]+(?=\s|$)|\W{0,3}$)|\(([a-h])\)|^([a-h])(?=[，。、．：でにが])|(?:选项"
    r"|方案)\s?([a-h])"
)
_NUMBER_ABROAD = re.compile(r"(?:^|[，、和と第])(\d{1,2})(?=[でのをがは番号个個項项，。、和と])")
_ORDINAL = re.compile(
    r"(?i)\b(?:(?:the|your|number) (first|second|third|fourth|fifth|last|latter|former)(?=\W*$|[,.!;]| (?:and|please|"
    r"one|option|item|point|choice|approach|suggestion|idea)\b)|(first|second|third|fourth|fifth|last) (?:one|option"
    r"|item|point|choice|approach|suggestion|idea))\b|第([一二三四五])"
)
_ORDINALS = {"first": 0, "former": 0, "second": 1, "latter": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_CHINESE_ORDINALS = "一二三四五"
_ALL = re.compile(
    r"(?i)\b(?:(?:the )?(?:rest|others)|all(?: of (?:them|these|those|it))?|everything|both|them all|the list|those"
    r"|these|the remaining)\b|全部|其余|剩下|其他|所有|残り|すべて|全て"
)
_NAMED_GROUP = re.compile(r"(?i)\b(?:the|those|these|all|only|just)(?: the)? ([a-z]{4,})\b")
_REPLY = re.compile(
    r"(?i)\W*(?:yes|yep|yeah|yup|nope|nah|no(?=\W*$|\s*[,.!:;–—]|,? thanks)|ok(?:ay)?|sure|fine|agreed?|correct|right"
    r"|exactly|go(?: ahead| on| for it)|do (?:it|that|so|both|all|them)|(?:yes )?please do|proceed|continue|keep going"
    r"|sounds? (?:good|great|right|fine)|lgtm|perfect|approved?|y|n|both|neither|either|that one|this one|the list|all"
    r"|ja|nein|oui|non|sí|sim|não|да|нет|네|아니요?|是的?|对|好的?|不用|不要|不|可以|行|嗯|都要|继续"
    r"|はい|いいえ|うん|お願い(?:します)?|続けて|両方)(?!\w)[\s,.!:;，。！、–—-]*"
)
_REFERS = re.compile(r"(?i)\b(?:it|that|this|them|these|those|so|both)\b|这个|那个|这样|那样|それ|これ|そう")
_NODS = re.compile(r"(?i)\W*(?:ok(?:ay)?|fine|right|correct|exactly|perfect|sure|lgtm|嗯|好的?|うん)(?!\w)")
_CHOICE = re.compile(r"(?i)\b(?:which|prefer|choose|pick|or)\b|哪|どれ|どの")
_QUESTION_WORD = re.compile(
    r"(?i)\b(?:which|what|how|who|where|when|anything|something|prefer|like)\b|哪|什么|怎么|どれ|どの|どう|何"
)
_OFFERS = re.compile(
    r"(?i)\b(?:let me know|tell me (?:if|which|what|whether)|your call|up to you|(?:when|if|whenever) you(?:['’]d like|"
    r" want| wish|['’]re ready)|say the word|waiting for your|options?:|either of|choose|pick one|i (?:can|could) "
    r"(?:also |either )?|i propose|i suggest|i recommend)|告诉我|请选择|教えてください|選んで"
)
_PLANS = re.compile(
    r"(?i)\b(?:i['’]ll|i will|i['’]m going to|next,? i|let me|we (?:can|could|should))\b|我会|我将|しましょう"
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of an assistant's text: the label by which it can be picked, and how it is quoted."""

    label: str
    text: str
    is_item: bool
    is_title: bool


def find_answered(messages: Sequence[Message], position: int) -> Answered | None:
    """What the human message at `position` answers, None when it stands for itself.

    The excerpt holds the lines meant, at most 400 characters: the items picked by number, letter or order, else the
    question that was asked, else what the assistant said it would do.
    """
    message = messages[position]
    text = message.text.strip()
    if not message.is_human or not 0 < len(text) <= _REPLY_CHARS or _is_list(text):
        return None
    candidates = _assistant_texts(messages, position)
    for candidate in candidates:
        lines = _picked(text, _lines(candidate.text[-_READ_CHARS:]))
        if lines:
            return Answered(id=candidate.id, excerpt=_fitted(lines))
    if not candidates or not _is_turn_before(messages, candidates[0], position):
        return None
    lines = _replied(text, _lines(candidates[0].text[-_READ_CHARS:]))
    return Answered(id=candidates[0].id, excerpt=_fitted(lines)) if lines else None


def _assistant_texts(messages: Sequence[Message], position: int) -> list[Message]:
    """The last assistant messages with text before the position, newest first."""
    found: list[Message] = []
    for index in range(position - 1, -1, -1):
        message = messages[index]
        if message.origin is Origin.ASSISTANT and message.text.strip() and not message.sidechain:
            found.append(message)
            if len(found) == _SEARCHED_TEXTS:
                break
    return found


def _is_turn_before(messages: Sequence[Message], answered: Message, position: int) -> bool:
    """False when a person spoke in between: what they said then stands nearer."""
    for index in range(position - 1, -1, -1):
        if messages[index] is answered:
            return True
        if messages[index].is_human:
            return False
    return False


@lru_cache(maxsize=2 * _SEARCHED_TEXTS)
def _lines(text: str) -> tuple[_Line, ...]:
    """The text line by line; options that stand in one line ("A) wait B) go on") are lines of their own.

    Of two messages in a row the second looks at most of the texts that the first has looked at.
    """
    return tuple(map(_line, flat_lines(_INLINE_OPTION.sub("\n", text))))


def _line(line: FlatLine) -> _Line:
    match = _LABEL.match(line.labelled[:200])
    label = match[1].lower() if match else ""
    return _Line(label, line.labelled, line.is_item or bool(label), line.is_title)


def _is_list(text: str) -> bool:
    """Somebody's own list is no pick from another one."""
    return sum(1 for line in text.splitlines() if _LABEL.match(line[:200])) > 1


def _picked(text: str, lines: Sequence[_Line]) -> list[str]:
    """The items that the message names; empty when it names none that is there."""
    items = {line.label: line.text for line in reversed(lines) if line.label}
    order = list(dict.fromkeys(line.label for line in lines if line.label))
    labels = labels_of(text)
    picked = [items[label] for label in order if label in labels]
    if picked and len(order) > 1:
        rest = [items[label] for label in order if label not in labels]
        return picked + (rest if _ALL.search(text) and _is_readable(len(order)) else [])
    listed = [line.text for line in lines if line.is_item]
    if len(listed) < 2 or len(text) > _SHORT_CHARS or text.endswith(("?", "？")):
        return []
    return _by_order(text, listed) or _under_heading(text, lines)


def _is_readable(count: int) -> bool:
    """Whether there is room to tell so many items apart."""
    return count * _READABLE_CHARS <= MAX_EXCERPT_CHARS


def labels_of(text: str) -> set[str]:
    """The numbers ("5, 7", "2-4") and letters ("option b", "B. …") by which a message picks."""
    labels = {next(group for group in match.groups() if group).lower() for match in _LETTER.finditer(text)}
    labels |= set(_NUMBER_ABROAD.findall(text))
    for match in _NUMBERS.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        labels |= {str(number) for number in range(first, min(last, first + 100) + 1)}
    return labels


def is_proposal(words: str) -> bool:
    """Whether the assistant says what it would or could do."""
    return _OFFERS.search(words) is not None or _PLANS.search(words) is not None


def _by_order(text: str, listed: Sequence[str]) -> list[str]:
    match = _ORDINAL.search(text)
    if match is None:
        return []
    english = match[1] or match[2]
    place = _ORDINALS[english.lower()] if english else _CHINESE_ORDINALS.index(match[3])
    return [listed[place]] if place < len(listed) else []


def _under_heading(text: str, lines: Sequence[_Line]) -> list[str]:
    """The items below a heading that the message names: "let's do the mediums first"."""
    wanted = {word.lower().rstrip("s") for word in _NAMED_GROUP.findall(text)} if len(text) <= _BARE_CHARS else set()
    found: list[str] = []
    inside = False
    for line in lines:
        if line.is_title:
            inside = bool(wanted & {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", line.text.lower())})
        elif inside and line.is_item:
            found.append(line.text)
    return found


def _replied(text: str, lines: Sequence[_Line]) -> list[str]:
    """What a reply replies to: the closing question with its options, else what was offered or announced."""
    reply = _REPLY.match(text)
    closing = _closing(lines)
    questions = [words for line in closing for words in sentences(line.text) if words.endswith(("?", "？"))]
    options = [line.text for line in _options(lines)]
    if questions and _responds(text, questions, options, is_reply=reply is not None):
        wants_all = _ALL.search(text) is not None or any(_CHOICE.search(words) for words in questions)
        return questions[-2:] + (options if options and wants_all and _is_readable(len(options)) else [])
    said = [words for line in closing for words in sentences(line.text)]
    if reply is None or not said:
        return []
    if options and _ALL.match(text):
        return options
    offered = [words for words in said if is_proposal(words)]
    rest = text[reply.end() :]
    says_yes = not content_words(rest) and not _NODS.match(text)
    points = says_yes or _REFERS.search(rest[:_BARE_CHARS]) is not None or _REFERS.search(reply[0])
    return (offered or said)[-1:] if points or offered else []


def _closing(lines: Sequence[_Line]) -> list[_Line]:
    """The last lines, and the line that introduces the options when those stand last."""
    end = len(lines)
    while end > 0 and lines[end - 1].is_item and len(lines) - end < 12:
        end -= 1
    behind = lines[end:] if len(lines) - end <= 2 else []
    return [*lines[max(0, end - _CLOSING_LINES) : end], *behind]


def _options(lines: Sequence[_Line]) -> list[_Line]:
    """The list items of the last lines, when there are several."""
    end = len(lines)
    while end > 0 and not lines[end - 1].is_item and len(lines) - end < 3:
        end -= 1
    start = end
    while start > 0 and lines[start - 1].is_item:
        start -= 1
    return list(lines[start:end]) if end - start > 1 else []


def _responds(text: str, questions: Sequence[str], options: Sequence[str], *, is_reply: bool) -> bool:
    """Whether a message behind a question is an answer to it and not the next order or a question back."""
    if is_reply:
        return True
    if len(text) > _SHORT_CHARS or "?" in text or "？" in text:
        return False
    asked = {word[:5] for words in (*questions, *options) for word in content_words(words)}
    if any(word[:5] in asked for word in content_words(text)):
        return True
    return any(_QUESTION_WORD.search(words) for words in questions)


def _fitted(lines: Iterable[str]) -> str:
    """The lines within the limit: when they are too long together, each keeps its beginning."""
    kept = [line.strip() for line in lines if line.strip()]
    excerpt = "\n".join(kept)
    if len(excerpt) <= MAX_EXCERPT_CHARS:
        return excerpt
    share = max(24, MAX_EXCERPT_CHARS // len(kept) - 2)
    shortened = "\n".join(line if len(line) <= share else line[:share].rstrip() + "…" for line in kept)
    return shortened[:MAX_EXCERPT_CHARS]
