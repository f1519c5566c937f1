"""Numbers as people read them."""

from collections.abc import Sequence

from worker.core.checkpoint import ModelUse


def counted(count: int, noun: str) -> str:
    """ "1 rule", "2 rules", "no rules"."""
    if count == 0:
        return f"no {noun}s"
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def dollars(cost: float | None) -> str:
    """Small sums with four digits, for most are."""
    if cost is None:
        return "price unknown"
    return f"${cost:,.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.4f}"


def duration(seconds: float) -> str:
    """ "42.0 s", "3 min 5 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{seconds:.1f} s"


def file_size(size: int) -> str:
    """Bytes in thousands."""
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:,.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:,.1f} MB"


def total_cost(uses: Sequence[ModelUse]) -> float | None:
    """None as soon as one price is not known."""
    costs = [use.cost_usd for use in uses if use.calls]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
