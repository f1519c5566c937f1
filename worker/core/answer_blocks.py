"""From an answer as it came to the text of its summary block: it ended by itself, calls no tool and closes its blocks.

Providers call almost everything a success: a text that was cut off, an apology, an error page. Each has a code here.
What stands inside the block is read in `answers`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


class AnswerLike(Protocol):
    """What is looked at of an answer, whoever gave it."""

    @property
    def text(self) -> str: ...
    @property
    def finish_reason(self) -> str: ...
    @property
    def has_tool_calls(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why an answer does not count.

    code: cut_off, tool_call, refusal, blank, reasoning_only, apology, error_page, placeholder, no_summary, unclosed,
    not_json, wrong_shape, template_echo or larger_than_source. detail: for a person, never text of the answer.
    """

    code: str
    detail: str


Block = Callable[[AnswerLike], str]
"""Where the object stands: `summary_block` in a whole answer, `bare_object` in one that goes on or repairs."""


class Unusable(Exception):
    """How the reading functions stop; it never leaves `answers`, whose public functions return the rejection."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.rejection = Rejection(code=code, detail=detail)


_FINISHED = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token"})
_TOOL_REASONS = frozenset({"tool_calls", "tool_use", "function_call"})
_REFUSALS = frozenset({"content_filter", "refusal", "safety"})

_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}(analysis|summary)\s{0,4}>", re.IGNORECASE)
_THINK_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</(think|thinking|thought|reasoning)>", re.IGNORECASE)
_TOOL_PROTOCOL = re.compile(
    r"<tool_calls?>|<function_calls?>|<function=|<invoke\b|\[TOOL_CALLS\]|<\|?tool|<\|python_tag\|>|```tool_code|<\uff5ctool",
    re.IGNORECASE,
)


def _ended_text(answer: AnswerLike) -> str:
    """The text of an answer that ended by itself, without reasoning in front."""
    reason = answer.finish_reason.casefold()
    if answer.has_tool_calls or reason in _TOOL_REASONS:
        raise Unusable("tool_call", "the answer calls a tool")
    if reason in _REFUSALS:
        raise Unusable("refusal", f"the provider ended the answer: {reason}")
    if reason not in _FINISHED:
        raise Unusable("cut_off", _how_it_was_cut(answer))
    text = without_reasoning(answer.text)
    if not text.strip():
        code = "reasoning_only" if answer.text.strip() else "blank"
        raise Unusable(code, "the answer has no text")
    return text


def _how_it_was_cut(answer: AnswerLike) -> str:
    if answer.finish_reason.casefold() not in ("length", "max_tokens"):
        return f"the answer did not end by itself: {answer.finish_reason[:40] or 'no reason given'}"
    if not without_reasoning(answer.text).strip():
        return "the whole budget of the answer went into reasoning"
    return "the answer was longer than its budget"


def without_reasoning(text: str) -> str:
    """Reasoning stands in front, in tags; templates that open the tag themselves leave only the closing one."""
    close = _THINK_CLOSE.search(text)
    if _THINK_OPEN.match(text):
        return text[close.end() :] if close else ""
    first_block = _TAG.search(text)
    if close and (first_block is None or close.start() < first_block.start()):
        return text[close.end() :]
    return text


def summary_block(answer: AnswerLike) -> str:
    """What stands in the summary block; the last closing tag ends it, so one quoted in a text does not."""
    text = _ended_text(answer)
    tags = list(_TAG.finditer(text))
    analysis_end = next((tag for tag in tags if _closes(tag, "analysis")), None)
    if analysis_end is None:
        raise _without_blocks(text, bool(tags))
    start = next((tag for tag in tags if _opens(tag, "summary") and tag.start() >= analysis_end.end()), None)
    if start is None:
        raise Unusable("no_summary", "the answer stops after the analysis")
    end = next((tag for tag in reversed(tags) if _closes(tag, "summary") and tag.start() >= start.end()), None)
    if end is None:
        raise Unusable("unclosed", "the summary block is not closed")
    _check_no_tool_protocol(_before_analysis(text, tags) + text[analysis_end.end() : start.start()] + text[end.end() :])
    return text[start.end() : end.start()]


def bare_object(answer: AnswerLike) -> str:
    """The summary block, or all of an answer that is nothing but an object."""
    text = _ended_text(answer)
    tags = list(_TAG.finditer(text))
    start = next((tag for tag in tags if _opens(tag, "summary")), None)
    opens_with_object = text.lstrip("` \n\r\tjsonJSON").startswith("{")
    if start is None or opens_with_object:
        if not opens_with_object:
            raise _without_blocks(text, bool(tags))
        return text
    end = next((tag for tag in reversed(tags) if _closes(tag, "summary") and tag.start() >= start.end()), None)
    if end is None:
        raise Unusable("unclosed", "the summary block is not closed")
    return text[start.end() : end.start()]


def _opens(tag: re.Match[str], name: str) -> bool:
    return not tag[1] and tag[2].casefold() == name


def _closes(tag: re.Match[str], name: str) -> bool:
    return bool(tag[1]) and tag[2].casefold() == name


def _before_analysis(text: str, tags: Sequence[re.Match[str]]) -> str:
    return text[: tags[0].start()] if _opens(tags[0], "analysis") else ""


def _without_blocks(text: str, has_tags: bool) -> Unusable:
    """Why a text without our blocks is none of our answers."""
    if has_tags:
        return Unusable("unclosed", "the analysis block is missing or not closed")
    _check_no_tool_protocol(text)
    if fault := what_is_wrong_with(text):
        return Unusable(*fault)
    return Unusable("no_summary", "the answer has no summary block")


def _check_no_tool_protocol(outside: str) -> None:
    if _TOOL_PROTOCOL.search(outside):
        raise Unusable("tool_call", "the answer writes a tool call as text")


_APOLOGY = re.compile(
    r"\W{0,3}(?:i['\u2019]?m sorry|i am sorry|sorry, (?:but )?i|i apologi[sz]e"
    r"|i can(?:no|['\u2019])t (?:help|assist|comply|do that)"
    r"|i(?:['\u2019]m| am) (?:unable|not able) to|i won['\u2019]t be able|as an ai\b|抱歉|对不起|申し訳)",
    re.IGNORECASE,
)
_ERROR_PAGE = re.compile(
    r"\s{0,9}(?:<!doctype html|<html\b|\{\s{0,4}[\"']error[\"']\s{0,4}:|error code: \d{3} - |error: \d{3} )",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\W{0,3}(?:summary (?:is )?(?:unavailable|not available|failed|could not)|no summary (?:available|generated)"
    r"|(?:failed|unable) to (?:generate|create|produce) (?:a |the )?summary|compaction (?:failed|complete)"
    r"|(?:your |insert |the )?(?:summary|request|text) (?:goes )?here\b|todo\W{0,3}$|tbd\W{0,3}$|lorem ipsum"
    r"|string\W{0,3}$|text\W{0,3}$|placeholder\b)",
    re.IGNORECASE,
)
_FAULTS = (
    ("apology", _APOLOGY, "the model apologizes instead of answering"),
    ("error_page", _ERROR_PAGE, "an error page stands in the place of the answer"),
    ("placeholder", _PLACEHOLDER, "a placeholder stands in the place of the answer"),
)


def what_is_wrong_with(text: str) -> tuple[str, str] | None:
    return next(((code, detail) for code, pattern, detail in _FAULTS if pattern.match(text)), None)
