"""The rows of a run as tables in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from peers.planting import Kind
from peers.running import Row
from peers.stand_in import Fault

_HEAD = (
    "system", "version", "reach", *(kind.value for kind in Kind), "kept", "stale", "calls", "prompt / source",
    "s without model", "CPU s", "MiB", "tokens left", "note",
)  # fmt: skip


def session_table(rows: Iterable[Row]) -> Iterator[str]:
    """One line per system, of runs on one session."""
    yield from _lines([_HEAD, *map(_figures, rows)])


def _figures(row: Row) -> Sequence[str]:
    if row.failure:
        return (row.run.system, "", *[""] * (len(_HEAD) - 3), row.failure)
    by_kind = [f"{row.kept.get(kind.value, 0)}" for kind in Kind]
    return (
        row.run.system,
        row.version,
        f"{row.reach:.0%}",
        *by_kind,
        f"{row.kept_in_all}/{row.planted}",
        f"{row.stale}/{row.superseded}",
        str(row.calls),
        f"{row.prompt_ratio:.2f}",
        f"{row.seconds:.2f}",
        f"{row.cpu_seconds:.2f}",
        f"{row.peak_mib:.0f}",
        f"{row.left_tokens:,} ({row.left:.0%})",
        f"raised {row.error}" if row.error else row.note,
    )


def failure_table(rows: Iterable[Row]) -> Iterator[str]:
    """One line per system, one column per way to fail: items kept, and how much of the context is left."""
    columns: dict[str, dict[str, Row]] = {}
    for row in rows:
        columns.setdefault(_way(row), {})[row.run.system] = row
    systems = dict.fromkeys(name for column in columns.values() for name in column)
    body = [(name, *(_under_failure(column.get(name)) for column in columns.values())) for name in systems]
    yield from _lines([("system", *columns), *body])


def _way(row: Row) -> str:
    return row.run.fault.value if row.run.fault is not Fault.NONE else row.run.policy.value


def _under_failure(row: Row | None) -> str:
    if row is None:
        return ""
    if row.failure:
        return row.failure
    if row.error:
        return "raised, nothing freed"
    return f"{row.kept_in_all}/{row.planted}, {row.left:.0%} left"


def _lines(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for number, line in enumerate(table):
        cells = (cell.replace("|", "/").ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"
