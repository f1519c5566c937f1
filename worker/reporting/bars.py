"""Tokens before and after: what a session weighs by who wrote it, and what is carried on by what it is for."""

import re
from collections.abc import Mapping
from itertools import pairwise

from worker.core.tokens import estimate_tokens
from worker.reporting.page import Bar, Share

MAX_TOOLS = 6
UNKNOWN = "not known by source"

_NAMES = {
    "people": ("People", "people"),
    "assistant": ("Assistant and its calls", "assistant"),
    "system": ("System prompt", "system"),
    "harness": ("The agent's program", "harness"),
    "summary": ("Earlier summaries", "summary"),
    "files": ("Files", "files"),
    "memory": ("Summary and memory", "rules"),
}
_TOOL = "tool:"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_SECTION_TONES = {
    "Constraints in force": "rules",
    "1. Primary request and intent": "request",
    "2. Key technical concepts": "concepts",
    "3. Files and code sections": "files",
    "4. Errors and fixes": "errors",
    "5. Problem solving": "solving",
    "6. All user messages": "people",
    "7. Pending tasks": "tasks",
    "8. Current work": "current",
    "9. Next step": "next",
    "Artifacts": "artifacts",
    "Source": "system",
}


def source_shares(sources: Mapping[str, int]) -> tuple[Share, ...]:
    """A share per source, largest first; beyond MAX_TOOLS tools the smallest are one."""
    tools = sorted(((name, tokens) for name, tokens in sources.items() if name.startswith(_TOOL)), key=_by_size)
    shares = [
        Share(name=_NAMES.get(name, (name, "system"))[0], tokens=tokens, tone=_NAMES.get(name, (name, "system"))[1])
        for name, tokens in sources.items()
        if not name.startswith(_TOOL) and tokens
    ]
    shares += [
        Share(name=f"Tool: {name.removeprefix(_TOOL)}", tokens=tokens, tone=f"tool-{min(at, MAX_TOOLS - 1)}")
        for at, (name, tokens) in enumerate(tools[:MAX_TOOLS])
        if tokens
    ]
    if rest := tools[MAX_TOOLS:]:
        total = sum(tokens for _, tokens in rest)
        shares.append(Share(name=f"{len(rest)} other tools", tokens=total, tone="tool-rest"))
    return tuple(sorted(shares, key=lambda share: -share.tokens))


def _by_size(each: tuple[str, int]) -> tuple[int, str]:
    return (-each[1], each[0])


def summary_shares(markdown: str) -> tuple[Share, ...]:
    """A share per section of a rendered summary that says anything, in its order; the lines above them count too."""
    marks = [*_HEADING.finditer(markdown)]
    ends = [*(mark.start() for mark in marks), len(markdown)]
    shares = []
    for mark, (start, end) in zip(marks, pairwise(ends), strict=True):
        body = markdown[mark.end() : end].strip()
        if body and body != "None.":
            name = mark[1]
            shares.append(
                Share(name=name, tokens=estimate_tokens(markdown[start:end]), tone=_SECTION_TONES.get(name, "request"))
            )
    return tuple(shares)


def bar(title: str, note: str, shares: tuple[Share, ...], scale: int) -> Bar:
    return Bar(title=title, note=note, shares=shares, scale=max(scale, sum(share.tokens for share in shares), 1))
