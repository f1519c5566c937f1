"""The quick reader gives what `sessions.decode` gives, refuses what that refuses, and loads no pydantic."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson
import pytest

from worker.adapters.quick_checkpoints import checkpoint_of, read_checkpoint
from worker.adapters.sessions import FileCheckpoints, decode, encode, sealed_fields
from worker.core.checkpoint import Checkpoint, Finding, ModelUse, Validation
from worker.core.ledger import Background, Failure, Identifier, Ledger
from worker.core.summary import (
    Answered,
    Artifact,
    Change,
    Check,
    CheckResult,
    Concept,
    Constraint,
    ErrorItem,
    FileItem,
    Lift,
    NextStep,
    Problem,
    ProblemKind,
    Reference,
    ReferenceKind,
    Scope,
    Summary,
    Task,
    TaskStatus,
    UserMessage,
)
from worker.errors import StoreError

CheckpointMaker = Callable[..., Checkpoint]
MOMENT = datetime(2026, 11, 1, 6, 0, 0, 123_000, tzinfo=timezone(timedelta(hours=8)))
EVERYTHING = Summary(
    constraints=(
        Constraint(rule="r", quote="q", scope=Scope.TASK, given=True, lifted=Lift(quote="l", evidence=("m3",))),
        Constraint(rule="不要", quote="", evidence=("m1", "m2"), since=1, seen=2),
    ),
    request="the request",
    concepts=(Concept(text="c"),),
    files=(FileItem(path="a.py", change=Change.CREATED, snippet="x"), FileItem(path="b", change=Change.READ)),
    references=(Reference(kind=ReferenceKind.PR, value="#4", note="n"),),
    errors=(ErrorItem(error="e", fix="f"), ErrorItem(error="g")),
    checks=(Check(command="pytest", result=CheckResult.FAILED),),
    problem_solving=(Problem(kind=ProblemKind.HYPOTHESIS, text="h", verify="v"),),
    user_messages=(UserMessage(id="m0", text="t", timestamp=MOMENT, answers=Answered(id="m1", excerpt="e")),),
    tasks=(Task(id="T-1", text="t", status=TaskStatus.BLOCKED, refs=("#4",), from_ledger=True),),
    next_step=NextStep(text="n", quote="q"),
    artifacts=(
        Artifact(
            handle="0" * 64,
            message="m1",
            tool="Bash",
            media_type="t",
            chars=1,
            lines=2,
            size=3,
            preview="p",
            created=MOMENT,
        ),
    ),
)


@pytest.fixture
def whole(make_checkpoint: CheckpointMaker) -> Checkpoint:
    """One in which every field of every part says something."""
    return replace(
        make_checkpoint(),
        summary=EVERYTHING,
        moved=Summary(concepts=(Concept(text="moved"),)),
        ledger=Ledger(
            failures=(Failure(id="f", tool="Bash", command="c", message="m", exit_code=1, resolved_by="m4"),),
            identifiers=(Identifier(kind="url", value="u", evidence=("m1",)),),
            background=(Background(id="b", text="t", status="running", evidence=("m1",)),),
        ),
        validation=Validation(findings=(Finding(code="c", where="w", ids=("i",), mended=True),), repairs=1),
        model=ModelUse(name="m", calls=2, cost_usd=0.25, seconds=1.5),
        savings={"folded": 3},
        skipped={"progress": 7},
        replaces=(1, 2),
    )


def stored(checkpoint: Checkpoint, folder: Path) -> Path:
    path = folder / "000001.json"
    path.write_bytes(encode(checkpoint)[1])
    return path


def test_it_gives_what_decode_gives(whole: Checkpoint, tmp_path: Path) -> None:
    path = stored(whole, tmp_path)
    data = path.read_bytes()
    assert checkpoint_of(sealed_fields(data, path), path) == decode(data, path)
    assert checkpoint_of(sealed_fields(data, path), path) == encode(whole)[0]


@pytest.mark.real
def test_it_gives_what_decode_gives_for_recorded_sessions(tmp_path: Path) -> None:
    data = os.environ.get("AFTERTURN_TEST_DATA")
    if not data:
        pytest.skip("AFTERTURN_TEST_DATA names no folder")
    from worker.config import Settings
    from worker.consolidate import Request, consolidate
    from worker.wiring import ground_of, tools_for

    settings = Settings(workspace=tmp_path)
    sources = [Path(data, "claude-code", "entire-f9-f6f611b469-0.jsonl"), *sorted(Path(data, "pi").glob("*.jsonl"))[:1]]
    for source in sources:
        consolidate(Request(path=source), tools_for(ground_of(settings).place_of(source), settings, hold_back=False))
    store = FileCheckpoints(tmp_path)
    assert len(store.sessions()) == len(sources)
    for key in store.sessions():
        for number in store.numbers(key):
            path = store.path(key, number)
            assert checkpoint_of(sealed_fields(path.read_bytes(), path), path) == store.load(key, number)


def test_only_what_is_wanted_is_made(whole: Checkpoint, tmp_path: Path) -> None:
    path = stored(whole, tmp_path)
    read = read_checkpoint(path, {"summary": ["tasks"], "ledger": ["background"]}, max_bytes=2**20)
    assert read is not None
    assert read.summary == Summary(tasks=EVERYTHING.tasks)
    assert read.ledger == Ledger(background=whole.ledger.background)
    assert (read.number, read.covered, read.session, read.replaces) == (1, whole.covered, whole.session, (1, 2))


def test_no_file_is_no_checkpoint(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path / "000001.json", {}, max_bytes=100) is None


@pytest.mark.parametrize("change", [b"  ", b"", b"x"], ids=["more", "less", "other"])
def test_a_changed_byte_is_refused(whole: Checkpoint, tmp_path: Path, change: bytes) -> None:
    path = stored(whole, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"the request", b"the" + change + b"request", 1))
    with pytest.raises(StoreError, match="restore it from a backup"):
        read_checkpoint(path, {}, max_bytes=2**20)


@pytest.mark.parametrize(
    "change",
    [
        {"summary": []},
        {"created_at": "yesterday"},
        {"status": "great"},
        {"session": {"key": "k"}},
        {"summary": {"tasks": [{"id": "T-1", "text": 7, "status": "open"}]}},
        {"summary": {"tasks": {"id": "T-1"}}},
        {"summary": {"next_step": "go on"}},
    ],
    ids=lambda change: json.dumps(change),
)
def test_another_shape_under_a_right_hash_is_refused_as_decode_refuses_it(
    whole: Checkpoint, tmp_path: Path, change: dict[str, Any]
) -> None:
    fields = orjson.loads(encode(whole)[1]) | change
    fields.pop("id")
    path = tmp_path / "000001.json"
    resealed = {**fields, "id": _resealed(fields)}
    path.write_bytes(orjson.dumps(resealed))
    wanted = {"summary": ["tasks", "next_step"], "ledger": ["background"]}
    with pytest.raises(StoreError, match="not a checkpoint"):
        read_checkpoint(path, wanted, max_bytes=2**20)
    with pytest.raises(StoreError, match="not a checkpoint"):
        decode(path.read_bytes(), path)


def _resealed(fields: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()


def test_a_newer_version_is_named(whole: Checkpoint, tmp_path: Path) -> None:
    path = stored(replace(whole, schema=99), tmp_path)
    with pytest.raises(StoreError, match="newer Afterturn"):
        read_checkpoint(path, {}, max_bytes=2**20)


def test_one_that_is_too_large_or_no_file_is_refused_at_once(whole: Checkpoint, tmp_path: Path) -> None:
    path = stored(whole, tmp_path)
    with pytest.raises(StoreError, match="too large"):
        read_checkpoint(path, {}, max_bytes=path.stat().st_size - 1)
    assert read_checkpoint(path, {}, max_bytes=path.stat().st_size) is not None
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(StoreError, match="no file"):
        read_checkpoint(tmp_path / "pipe.json", {}, max_bytes=100)
    with pytest.raises(StoreError, match="Is a directory"):
        read_checkpoint(tmp_path, {}, max_bytes=100)


def test_times_without_a_zone_stay_without_one(make_checkpoint: CheckpointMaker, tmp_path: Path) -> None:
    """Whatever `encode` makes of them, both readers agree."""
    said = UserMessage(id="m0", text="t", timestamp=datetime(2026, 1, 1, 9))  # noqa: DTZ001 - nanobot writes such
    aware = UserMessage(id="m1", text="t", timestamp=datetime(2026, 1, 1, 9, tzinfo=UTC))
    path = stored(replace(make_checkpoint(), summary=Summary(user_messages=(said, aware))), tmp_path)
    data = path.read_bytes()
    assert checkpoint_of(sealed_fields(data, path), path) == decode(data, path)


def test_it_loads_no_pydantic(whole: Checkpoint, tmp_path: Path) -> None:
    path = stored(whole, tmp_path)
    code = (
        "import sys; from pathlib import Path; from worker.adapters.quick_checkpoints import read_checkpoint; "
        f"read_checkpoint(Path({str(path)!r}), {{}}, max_bytes=2**20); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
