"""Submitting, asking and waiting, against a real Redis: up, down, full, frozen, refusing."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from worker.adapters.job_desk import JobDesk
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis, socket_url
from worker.adapters.spool import MAX_ENTRIES
from worker.client import status, submit, wait
from worker.core.checkpoint import Outcome
from worker.core.job import Ending, Job, Priority, State, Trigger
from worker.delivery import connected, drain, hand_in, leave, spool_of, spooled_requests
from worker.errors import BrokerUnavailable, StorageUnavailable, StoreError, TranscriptError, UsageError

PATIENCE_SECONDS = 3.0
"""What a call takes that ends by itself, on a busy machine; one that hangs takes for ever. `bench/` measures."""

TranscriptMaker = Callable[..., Path]


@pytest.fixture
def transcript(tmp_path: Path) -> TranscriptMaker:
    """`transcript("s1")`: the file of a session of Claude Code."""

    def make(session: str = "s1", cwd: str = "/home/u/app") -> Path:
        row = {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "sessionId": session,
            "cwd": cwd,
            "timestamp": "2026-11-29T10:00:00Z",
            "message": {"role": "user", "content": "hello"},
        }
        path = tmp_path / f"{session}.jsonl"
        path.write_text(json.dumps(row) + "\n", "utf-8")
        return path

    return make


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def run(workspace: Path) -> Path:
    return workspace / ".afterturn"


@pytest.fixture
def server(redis_server: str, run: Path) -> Iterator[EmbeddedRedis]:
    """The Redis of the workspace, started. (redis_server: without a server program the test is skipped.)"""
    embedded = EmbeddedRedis(run)
    embedded.start()
    yield embedded
    if embedded.pid is not None:
        os.kill(embedded.pid, signal.SIGCONT)
    embedded.stop()


@pytest.fixture
def desk(server: EmbeddedRedis, run: Path) -> Iterator[JobDesk]:
    with connected(run, None, read_timeout_seconds=5.0) as opened:
        yield opened


@pytest.fixture
def link(server: EmbeddedRedis, run: Path) -> Iterator[RedisLink]:
    url = socket_url(run)
    assert url is not None
    opened = RedisLink(url)
    yield opened
    opened.close()


def waiting(desk: JobDesk) -> list[Job]:
    return desk.waiting()


def run_to_the_end(desk: JobDesk, job_id: str) -> None:
    now = datetime.now(UTC)
    desk.claim_due(now + timedelta(minutes=5))
    begun = desk.begin(job_id, "test", now)
    assert begun is not None
    assert desk.finish(job_id, "test", now, Ending(outcome=Outcome.NOTHING_TO_DO, reason="nothing_new"))


def test_a_submitted_session_is_a_job_with_the_facts_of_its_file(
    desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    path = transcript("s1")
    submission = submit(path, workspace=workspace)
    assert not submission.spooled
    assert submission.reason is None
    (job,) = waiting(desk)
    assert job.id == submission.job
    assert (job.request.workspace, job.request.transcript) == (str(workspace), str(path))
    assert (job.request.agent, job.request.session_id, job.request.session) == ("claude-code", "s1", "claude-code--s1")
    assert job.request.transcript_bytes == path.stat().st_size
    assert job.request.priority is Priority.TURN


def test_six_submissions_of_one_session_are_one_job_j01_b30(
    desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    jobs = {submit(transcript("s1"), workspace=workspace).job for _ in range(6)}
    assert len(jobs) == 1
    assert [job.coalesced for job in waiting(desk)] == [6]


def test_a_manual_submission_goes_first_and_is_due_at_once(
    desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    submission = submit(transcript(), workspace=workspace, trigger="manual")
    (claim,) = desk.claim_due(datetime.now(UTC))
    assert (claim.job, claim.priority) == (submission.job, Priority.INTERACTIVE)


def test_instructions_travel_without_their_secrets(desk: JobDesk, workspace: Path, transcript: TranscriptMaker) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    submit(transcript(), workspace=workspace, trigger="manual", instructions=f"keep the table; token {key}")
    (job,) = waiting(desk)
    assert "keep the table" in job.request.instructions
    assert key not in job.request.instructions


def test_nothing_that_was_said_reaches_redis_or_the_spool(
    server: EmbeddedRedis, run: Path, workspace: Path, transcript: TranscriptMaker
) -> None:
    path = transcript()
    path.write_text(path.read_text().replace("hello", "the-unspeakable"), "utf-8")
    submit(path, workspace=workspace)
    server.stop()
    submit(path, workspace=workspace)
    kept = [file.read_bytes() for file in run.rglob("*") if file.is_file() and not file.is_socket()]
    assert any(b"s1.jsonl" in data for data in kept)
    assert not any(b"unspeakable" in data for data in kept)


@pytest.mark.parametrize(
    "wrong",
    [{"trigger": "whenever"}, {"kind": "guess"}, {"priority": "urgent"}, {"instructions": "x" * 801}],
    ids=["trigger", "kind", "priority", "instructions"],
)
def test_a_value_that_is_none_is_refused_by_name(
    workspace: Path, transcript: TranscriptMaker, wrong: dict[str, str]
) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        submit(transcript(), workspace=workspace, **wrong)  # type: ignore[arg-type]
    assert spooled_requests(workspace / ".afterturn") == []


def test_what_is_no_transcript_is_refused_at_once(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(TranscriptError):
        submit(tmp_path / "missing.jsonl", workspace=workspace)


def test_without_a_workspace_projects_share_one_redis_and_no_folder(
    tmp_path: Path, transcript: TranscriptMaker, redis_server: str
) -> None:
    environ = {"AFTERTURN_HOME": str(tmp_path / "home")}
    server = EmbeddedRedis(tmp_path / "home" / "run")
    server.start()
    try:
        submit(transcript("s1", "/home/u/app"), environ=environ)
        submit(transcript("s2", "/home/u/lib"), environ=environ)
        with connected(tmp_path / "home" / "run", None, read_timeout_seconds=5.0) as desk:
            folders = {Path(job.request.workspace).name.rsplit("-", 1)[0] for job in waiting(desk)}
        assert folders == {"app", "lib"}
    finally:
        server.stop()


def test_with_no_redis_a_submission_is_on_disk_and_says_so_j02_b34(
    workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    submission = submit(transcript(), workspace=workspace)
    assert submission.spooled
    (request,) = spooled_requests(run)
    assert request.submission == submission.job
    job = status(submission.job, workspace=workspace)
    assert job is not None
    assert (job.state, job.stage) == (State.QUEUED, "spooled")


def test_a_redis_that_died_leaves_the_submission_on_disk_j02(
    server: EmbeddedRedis, workspace: Path, transcript: TranscriptMaker
) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    submission = submit(transcript(), workspace=workspace)
    assert (submission.spooled, submission.reason) == (True, "broker_unavailable")


def test_a_frozen_redis_is_not_waited_for_and_gets_the_job_once_when_it_thaws_j02(
    server: EmbeddedRedis, run: Path, workspace: Path, transcript: TranscriptMaker
) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    started = time.monotonic()
    submission = submit(transcript("s1"), workspace=workspace)
    assert time.monotonic() - started < PATIENCE_SECONDS
    assert submission.spooled
    os.kill(server.pid, signal.SIGCONT)
    submit(transcript("s2"), workspace=workspace, budget_seconds=PATIENCE_SECONDS)
    with connected(run, None, read_timeout_seconds=5.0) as desk:
        assert sorted(job.request.session_id or "" for job in waiting(desk)) == ["s1", "s2"]
        assert [job.coalesced for job in waiting(desk)] == [1, 1]
    assert len(spool_of(run)) == 0


def test_a_full_redis_leaves_the_submission_on_disk_j02(
    server: EmbeddedRedis, link: RedisLink, desk: JobDesk, run: Path, workspace: Path, transcript: TranscriptMaker
) -> None:
    link.call("CONFIG", "SET", "maxmemory", "1")
    submission = submit(transcript(), workspace=workspace, budget_seconds=PATIENCE_SECONDS)
    assert (submission.spooled, submission.reason) == (True, "broker_unavailable")
    link.call("CONFIG", "SET", "maxmemory", "0")
    assert drain(spool_of(run), desk).handled == 1
    assert [job.id for job in waiting(desk)] == [submission.job]


def test_a_redis_that_does_not_let_us_in_loses_nothing(
    server: EmbeddedRedis, link: RedisLink, desk: JobDesk, run: Path, workspace: Path, transcript: TranscriptMaker
) -> None:
    assert waiting(desk) == []
    link.call("CONFIG", "SET", "requirepass", "secret")
    assert submit(transcript(), workspace=workspace, budget_seconds=PATIENCE_SECONDS).spooled
    assert len(spool_of(run)) == 1
    link.call("CONFIG", "SET", "requirepass", "")
    assert drain(spool_of(run), desk).handled == 1


def test_an_address_that_nobody_answers_is_not_waited_for_j02(workspace: Path, transcript: TranscriptMaker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environ = {"AFTERTURN_REDIS_URL": f"redis://127.0.0.1:{silent.getsockname()[1]}/0"}
        started = time.monotonic()
        submission = submit(transcript(), workspace=workspace, environ=environ)
        assert time.monotonic() - started < PATIENCE_SECONDS
        assert submission.spooled


def test_a_name_look_up_that_hangs_is_not_waited_for(
    workspace: Path, transcript: TranscriptMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        released.wait(30)
        raise OSError("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    started = time.monotonic()
    submission = submit(transcript(), workspace=workspace, environ={"AFTERTURN_REDIS_URL": "redis://far.invalid/0"})
    assert time.monotonic() - started < PATIENCE_SECONDS
    released.set()
    assert (submission.spooled, submission.reason) == (True, "timeout")


def test_a_malformed_address_loses_nothing(workspace: Path, run: Path, transcript: TranscriptMaker) -> None:
    submission = submit(transcript(), workspace=workspace, environ={"AFTERTURN_REDIS_URL": "postgres://x"})
    assert (submission.spooled, submission.reason) == (True, "usage_error")
    assert len(spool_of(run)) == 1


def test_what_was_spooled_reaches_the_desk_in_order_with_the_next_submission(
    workspace: Path, run: Path, transcript: TranscriptMaker, redis_server: str
) -> None:
    for number in range(5):
        submit(transcript(f"s{number}"), workspace=workspace)
    server = EmbeddedRedis(run)
    server.start()
    try:
        submit(transcript("s5"), workspace=workspace, budget_seconds=PATIENCE_SECONDS)
        with connected(run, None, read_timeout_seconds=5.0) as desk:
            assert [job.request.session_id for job in waiting(desk)] == [f"s{number}" for number in range(6)]
    finally:
        server.stop()
    assert len(spool_of(run)) == 0


def test_a_spool_that_is_drained_twice_is_one_job(
    desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker, tmp_path: Path
) -> None:
    aside = tmp_path / "copy"
    submit(transcript(), workspace=workspace, environ={"AFTERTURN_REDIS_URL": "unix:///nowhere"})
    (entry,) = [path for path in (run / "spool").iterdir() if path.suffix == ".json"]
    aside.write_bytes(entry.read_bytes())
    drain(spool_of(run), desk)
    entry.write_bytes(aside.read_bytes())
    drain(spool_of(run), desk)
    assert [job.coalesced for job in waiting(desk)] == [1]


def test_a_late_submission_for_a_session_that_is_done_is_a_new_job_j05_b27(
    desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    first = submit(transcript(), workspace=workspace, trigger="session_end", seal_all=True)
    run_to_the_end(desk, first.job)
    second = submit(transcript(), workspace=workspace)
    assert second.job != first.job
    assert [job.id for job in waiting(desk)] == [second.job]


def test_an_entry_of_a_stranger_is_set_aside_and_the_others_arrive(
    desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    spool_of(run).put({"surprise": True}, about="x")
    submission = submit(transcript(), workspace=workspace, budget_seconds=PATIENCE_SECONDS)
    assert not submission.spooled
    assert spool_of(run).set_aside_count() == 1


def test_a_disk_that_takes_nothing_is_bypassed(
    server: EmbeddedRedis, desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    (run / "spool").write_text("in the way")
    with pytest.raises(StoreError):
        spool_of(run).put({}, about="x")
    submission = submit(transcript(), workspace=workspace, budget_seconds=PATIENCE_SECONDS)
    assert not submission.spooled
    assert [job.id for job in waiting(desk)] == [submission.job]


def test_when_neither_disk_nor_redis_takes_it_the_caller_is_told(
    workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    run.mkdir(parents=True)
    (run / "spool").write_text("in the way")
    with pytest.raises(StorageUnavailable, match="Redis"):
        submit(transcript(), workspace=workspace)


def test_a_watched_spool_is_left_to_the_worker(
    desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    submit(transcript(), workspace=workspace)
    request = waiting(desk)[0].request
    spool = spool_of(run)
    assert leave(request, run) is None
    spool.watch()
    left = leave(request, run)
    assert left is not None
    assert left.spooled
    assert drain(spool, desk).handled == 1


def test_a_watched_spool_that_takes_nothing_more_is_passed_by(
    desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    submit(transcript("s1"), workspace=workspace)
    request = replace(waiting(desk)[0].request, submission="another-one", transcript="/another.jsonl")
    spool_of(run).watch()
    for number in range(MAX_ENTRIES):
        (run / "spool" / f"{number:020d}-{number:012x}-00000000.json").touch()
    assert leave(request, run) is None
    submission = hand_in(request, run, None, budget_seconds=PATIENCE_SECONDS)
    assert (submission.job, submission.spooled) == ("another-one", False)


def test_an_asker_that_is_killed_loses_nothing_that_it_was_promised(
    workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    code = "import sys, os; from worker.client import submit\n"
    code += "print(submit(sys.argv[1], workspace=sys.argv[2]).job, flush=True)\nos.kill(os.getpid(), 9)"
    program = [sys.executable, "-c", code, str(transcript()), str(workspace)]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [request.submission for request in spooled_requests(run)] == [done.stdout.strip()]


def test_processes_that_submit_at_once_lose_nothing_and_double_nothing(
    desk: JobDesk, workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    paths = [transcript(f"s{number}") for number in range(12)]
    code = "import sys; from worker.client import submit\nfor path in sys.argv[2:]: submit(path, workspace=sys.argv[1])"
    shares = [paths[:4], paths[4:8], paths[8:]]
    programs = [subprocess.Popen([sys.executable, "-c", code, workspace, *share]) for share in shares]
    assert [program.wait() for program in programs] == [0, 0, 0]
    drain(spool_of(run), desk, wait_seconds=PATIENCE_SECONDS)
    assert sorted(job.request.transcript for job in waiting(desk)) == sorted(map(str, paths))
    assert {job.coalesced for job in waiting(desk)} == {1}


def test_a_job_is_found_by_id_session_key_and_path(desk: JobDesk, workspace: Path, transcript: TranscriptMaker) -> None:
    path = transcript("s1")
    workspace.mkdir(exist_ok=True)
    submission = submit(path, workspace=workspace)
    for name in (submission.job, "claude-code--s1", str(path)):
        found = status(name, workspace=workspace)
        assert found is not None
        assert found.id == submission.job
    assert status("claude-code--other", workspace=workspace) is None


def test_status_without_redis_says_so(workspace: Path) -> None:
    with pytest.raises(BrokerUnavailable, match="afterturn up"):
        status("a-job-of-old", workspace=workspace)


def test_waiting_ends_with_the_job(desk: JobDesk, workspace: Path, transcript: TranscriptMaker) -> None:
    submission = submit(transcript(), workspace=workspace, trigger="manual")
    worker = threading.Timer(0.2, run_to_the_end, (desk, submission.job))
    worker.start()
    job = wait(submission.job, timeout=30, workspace=workspace)
    worker.join()
    assert job is not None
    assert job.state is State.DONE
    assert job.ending is not None
    assert job.ending.reason == "nothing_new"


def test_waiting_gives_up_with_the_job_as_it_is(desk: JobDesk, workspace: Path, transcript: TranscriptMaker) -> None:
    submission = submit(transcript(), workspace=workspace)
    job = wait(submission.job, timeout=0.1, workspace=workspace)
    assert job is not None
    assert job.state is State.QUEUED


def test_a_job_that_became_part_of_another_is_waited_for_there(
    desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    now = datetime.now(UTC)
    first = submit(transcript(), workspace=workspace, trigger="manual")
    desk.claim_due(now + timedelta(minutes=1))
    assert desk.begin(first.job, "worker", now) is not None
    second = submit(transcript(), workspace=workspace, trigger="manual")
    assert second.job != first.job
    assert desk.retry(first.job, "worker", now, now, "the provider is down")
    worker = threading.Timer(0.2, run_to_the_end, (desk, first.job))
    worker.start()
    job = wait(second.job, timeout=30, workspace=workspace)
    worker.join()
    assert job is not None
    assert (job.id, job.state) == (first.job, State.DONE)


def test_waiting_outlives_an_outage(
    server: EmbeddedRedis, desk: JobDesk, workspace: Path, transcript: TranscriptMaker
) -> None:
    submission = submit(transcript(), workspace=workspace, trigger="manual")
    run_to_the_end(desk, submission.job)
    server.stop()
    restart = threading.Timer(0.3, server.start)
    restart.start()
    job = wait(submission.job, timeout=30, workspace=workspace)
    restart.join()
    assert job is not None
    assert job.state is State.DONE


def test_a_request_that_waits_keeps_its_trigger_on_the_way_through_the_spool(
    workspace: Path, run: Path, transcript: TranscriptMaker
) -> None:
    submit(transcript(), workspace=workspace, trigger="session_end", seal_all=True)
    (request,) = spooled_requests(run)
    assert (request.trigger, request.seal_all) == (Trigger.SESSION_END, True)
    again = hand_in(request, run, None)
    assert again.job == request.submission


def test_importing_the_client_loads_no_model_code_and_no_celery() -> None:
    heavy = "{'litellm', 'celery', 'kombu', 'pydantic', 'jinja2', 'click', 'tiktoken', 'worker.config'}"
    code = f"import sys, worker.client; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
