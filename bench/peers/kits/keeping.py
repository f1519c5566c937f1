"""The other end of `peers.kits.keeper`, for the environment of the kits: the standard library alone."""

import itertools
import json
import os
import subprocess
from collections.abc import Iterable, Mapping

_SESSIONS = itertools.count()
_KEEPERS: "list[subprocess.Popen[str]]" = []


def new_session() -> str:
    return f"s{next(_SESSIONS)}"


def compacted(session: str, rows: Iterable[Mapping[str, object]], budget_chars: int | None = None) -> str:
    """What Afterturn gives in the place of all rows of the session so far. One caller at a time."""
    if not _KEEPERS:  # one for all sessions: it takes seconds to load
        command = [os.environ["AFTERTURN_BENCH_PYTHON"], "-m", "peers.kits.keeper"]
        _KEEPERS.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    keeper = _KEEPERS[0]
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    question = {"session": session, "rows": list(rows), "budget_chars": budget_chars}
    print(json.dumps(question), file=keeper.stdin, flush=True)
    return str(json.loads(keeper.stdout.readline())["text"])
