"""The report of an evaluation, for people (Markdown) and for programs (JSON)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from eval_local.running import Outcome, Verdict

from worker.config import Settings


def as_object(outcomes: Sequence[Outcome], settings: Settings, *, at: datetime) -> dict[str, Any]:
    """What the JSON file holds: the settings that matter, the sums, and one entry per session."""
    return {
        "at": at.isoformat(timespec="seconds"),
        "model": settings.model,
        "settings": {
            name: getattr(settings, name) for name in ("window_tokens", "part_tokens", "summary_tokens", "stages")
        },
        "total": _figures(outcomes),
        "sessions": [
            {
                "name": one.session.name,
                "status": one.status,
                "error": one.error,
                "problems": list(one.problems),
                "tokens_before": one.tokens_before,
                "tokens_after": one.tokens_after,
                "folder": str(one.folder),
                **_figures([one]),
            }
            for one in outcomes
        ],
    }


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    verdicts = Counter(verdict for one in outcomes for verdict in one.verdicts)
    return {
        "parts": {verdict.value: verdicts[verdict] for verdict in Verdict},
        "answers_refused": _sum(one.refused for one in outcomes),
        "findings_mended": _sum(one.mended for one in outcomes),
        "findings_standing": _sum(one.standing for one in outcomes),
        "requests": sum(one.requests for one in outcomes),
        "tokens_in": sum(one.tokens_in for one in outcomes),
        "tokens_out": sum(one.tokens_out for one in outcomes),
        "seconds": round(sum(one.seconds for one in outcomes), 1),
    }


def _sum(counters: Iterator[Counter[str]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counters:
        total.update(one)
    return dict(total.most_common())


def as_markdown(told: dict[str, Any]) -> str:
    """The report of the JSON object, one table and what is to be read."""
    return "\n".join(_lines(told)) + "\n"


def _lines(told: dict[str, Any]) -> Iterator[str]:
    settings = ", ".join(f"{name} {value}" for name, value in told["settings"].items() if value is not None)
    yield f"# {told['model']}, {told['at']}"
    yield ""
    yield settings
    yield ""
    yield f"| session | status | {' | '.join(Verdict)} | requests | tokens in | out | seconds | session → summary |"
    yield f"|---|---|{'---:|' * len(Verdict)}---:|---:|---:|---:|---|"
    for one in told["sessions"]:
        yield _row(one["name"], one["status"], one, f"{one['tokens_before']:,} → {one['tokens_after']:,}")
    yield _row("all", "", told["total"], "")
    for title, name in _COUNTS.items():
        yield ""
        yield f"{title}: " + (", ".join(f"{code} {count}" for code, count in told["total"][name].items()) or "none")
    yield ""
    yield "To read, in each folder: `summary.md`, `asked/` (every question with its answer), `workspace/`:"
    yield ""
    for one in told["sessions"]:
        yield f"- {one['name']}: {one['folder']}"
        yield from (f"  - {line}" for line in ([one["error"]] if one["error"] else []) + one["problems"])


_COUNTS = {
    "Answers refused": "answers_refused",
    "Findings that code put right": "findings_mended",
    "Findings that stood": "findings_standing",
}


def _row(name: str, status: str, figures: dict[str, Any], sizes: str) -> str:
    parts = " | ".join(str(figures["parts"][verdict.value]) for verdict in Verdict)
    tokens = f"{figures['tokens_in']:,} | {figures['tokens_out']:,} | {figures['seconds']:,.0f}"
    return f"| {name} | {status} | {parts} | {figures['requests']} | {tokens} | {sizes} |"
