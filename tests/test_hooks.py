"""The hooks: whatever an agent sends, it is not troubled, and the right session is asked for."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worker.adapters.agent_summaries import KEPT_PER_SESSION, AgentSummaries
from worker.adapters.redis_server import EmbeddedRedis
from worker.core.job import JobRequest, Priority, Trigger
from worker.core.session_key import session_key
from worker.delivery import connected, spool_of, spooled_requests
from worker.hooks import (
    MAX_LOG_BYTES,
    MAX_STDIN_BYTES,
    Handled,
    HookOutcome,
    handle_claude_code,
    handle_codex,
    read_stdin,
    said_sha256,
)
from worker.locating import Ground
from worker.transcripts import open_transcript

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
SESSION = "0f3a9c1e-1111-4222-8333-444455556666"
THREAD = "019a2b3c-4d5e-7f00-8123-456789abcdef"
CWD = "/home/u/app"


class Machine:
    """A user's machine: a home, the agents' folders in it, and nobody who answers for Redis."""

    def __init__(self, root: Path) -> None:
        self.home = root
        self.environ = {"HOME": str(root), "PATH": os.environ["PATH"]}

    @property
    def run(self) -> Path:
        return self.home / ".afterturn" / "run"

    @property
    def requests(self) -> list[JobRequest]:
        return spooled_requests(self.run)

    @property
    def log(self) -> list[dict[str, Any]]:
        path = self.run / "hooks.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def transcript(self, session: str = SESSION, folder: str = "-home-u-app", cwd: str | None = CWD) -> Path:
        path = self.home / ".claude" / "projects" / folder / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        row = {"type": "user", "uuid": "u1", "sessionId": session, "message": {"role": "user", "content": "hello"}}
        path.write_text(json.dumps({**row, **({"cwd": cwd} if cwd else {})}) + "\n", "utf-8")
        return path

    def rollout(self, day: str, thread: str = THREAD) -> Path:
        path = self.home / ".codex" / "sessions" / day / f"rollout-2026-01-01T10-00-00-{thread}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n", "utf-8")
        return path

    def claude(self, **fields: object) -> HookOutcome:
        return handle_claude_code(json.dumps(fields), self.environ, NOW)

    def stop(self, **fields: object) -> HookOutcome:
        base: dict[str, object] = {"hook_event_name": "Stop", "session_id": SESSION, "cwd": CWD}
        return self.claude(**{**base, **fields})

    def codex(self, **fields: object) -> HookOutcome:
        return handle_codex(json.dumps(fields), self.environ, NOW)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def only(machine: Machine) -> JobRequest:
    (request,) = machine.requests
    return request


def test_a_turn_end_asks_for_its_session_with_the_facts_to_wait_for_t01(machine: Machine) -> None:
    path = machine.transcript()
    outcome = machine.stop(transcript_path=str(path), last_assistant_message=" Done. ")
    request = only(machine)
    assert (outcome.handled, outcome.session) == (Handled.SPOOLED, f"claude-code--{SESSION}")
    assert outcome.job == request.submission
    assert (request.trigger, request.priority, request.seal_all) == (Trigger.TURN, Priority.TURN, False)
    assert (request.transcript, request.transcript_bytes) == (str(path), path.stat().st_size)
    assert request.transcript_modified_at == datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert request.last_message_sha256 == said_sha256("Done.")
    assert "Done" not in (next((machine.run / "spool").glob("*.json"))).read_text()


def test_the_workspace_is_that_of_the_directory_in_which_the_session_began(machine: Machine) -> None:
    path = machine.transcript()
    expected = Ground.from_env(machine.environ).place_of(path).root
    for cwd in (CWD, f"{CWD}/src/deep", "/somewhere/else", None):
        machine.stop(transcript_path=str(path), cwd=cwd)
    assert {request.workspace for request in machine.requests} == {str(expected)}


def test_the_project_folder_that_claude_code_names_wins_over_a_changed_directory(machine: Machine) -> None:
    path = machine.transcript(cwd=None)
    machine.environ["CLAUDE_PROJECT_DIR"] = CWD
    machine.stop(transcript_path=str(path), cwd="/elsewhere")
    assert Path(only(machine).workspace) == Ground.from_env(machine.environ).place_of_project(CWD).root


def test_a_named_workspace_is_used_for_everything(machine: Machine, tmp_path: Path) -> None:
    machine.environ["AFTERTURN_WORKSPACE"] = str(tmp_path / "w")
    machine.stop(transcript_path=str(machine.transcript()))
    (request,) = spooled_requests(tmp_path / "w" / ".afterturn")
    assert request.workspace == str(tmp_path / "w")


@pytest.mark.parametrize(
    "given_path", ["", None, "relative.jsonl", "/gone/{session}.jsonl", 7, "/\0", "/" + "x" * 5000]
)
def test_an_empty_or_wrong_path_is_replaced_by_a_search_for_the_session_t02(
    machine: Machine, given_path: object
) -> None:
    path = machine.transcript(folder="-home-u-other")
    fields = given_path.format(session=SESSION) if isinstance(given_path, str) else given_path
    machine.stop(transcript_path=fields)
    assert only(machine).transcript == str(path)


def test_the_path_of_another_session_is_replaced_by_a_search_t02(machine: Machine) -> None:
    old, new = machine.transcript("old-session"), machine.transcript()
    machine.stop(transcript_path=str(old))
    assert only(machine).transcript == str(new)


def test_a_path_of_another_session_is_passed_on_when_nothing_better_is_found_t02(machine: Machine) -> None:
    old = machine.transcript("old-session")
    machine.stop(transcript_path=str(old))
    assert (only(machine).transcript, only(machine).session_id) == (str(old), SESSION)


def test_of_two_files_of_a_session_the_newer_is_taken(machine: Machine) -> None:
    older, newer = machine.transcript(folder="-home-u-a"), machine.transcript(folder="-home-u-b")
    os.utime(older, (1_000, 1_000))
    machine.stop(transcript_path="")
    assert only(machine).transcript == str(newer)


def test_a_file_that_is_gone_at_the_end_is_still_a_job_t03(machine: Machine) -> None:
    gone = machine.home / ".claude" / "projects" / "-home-u-app" / f"{SESSION}.jsonl"
    outcome = machine.stop(hook_event_name="SessionEnd", transcript_path=str(gone), reason="other")
    request = only(machine)
    assert outcome.handled is Handled.SPOOLED
    assert (request.transcript, request.transcript_bytes, request.transcript_modified_at) == (str(gone), None, None)


def test_a_transcript_that_was_never_written_is_asked_for_where_it_should_be_t04(machine: Machine) -> None:
    machine.stop(transcript_path="")
    assert only(machine).transcript == str(machine.home / f".claude/projects/-home-u-app/{SESSION}.jsonl")


def test_a_configured_folder_of_claude_code_is_searched(machine: Machine) -> None:
    path = machine.transcript()
    moved = machine.home / "elsewhere"
    (machine.home / ".claude").rename(moved)
    machine.environ["CLAUDE_CONFIG_DIR"] = str(moved)
    machine.stop(transcript_path=str(path))
    assert only(machine).transcript == str(moved / "projects" / "-home-u-app" / path.name)


def test_what_is_no_file_is_not_taken_for_a_transcript(machine: Machine) -> None:
    real = machine.transcript(folder="-home-u-other")
    pipe = machine.home / ".claude" / "projects" / "-home-u-app" / f"{SESSION}.jsonl"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    machine.stop(transcript_path=str(pipe))
    assert only(machine).transcript == str(real)


def test_a_pipe_in_the_transcripts_place_is_not_waited_for(machine: Machine) -> None:
    """Its folder is not that of the directory, so the first rows would have to tell the project."""
    pipe = machine.home / ".claude" / "projects" / "-elsewhere" / f"{SESSION}.jsonl"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    assert machine.stop(transcript_path=str(pipe)).handled is Handled.SPOOLED


def test_an_ended_session_is_sealed_to_its_end(machine: Machine) -> None:
    machine.stop(hook_event_name="SessionEnd", transcript_path=str(machine.transcript()), reason="prompt_input_exit")
    assert (only(machine).trigger, only(machine).seal_all) == (Trigger.SESSION_END, True)


def test_before_a_compaction_the_job_goes_first_with_what_the_person_typed(machine: Machine) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    machine.stop(
        hook_event_name="PreCompact",
        transcript_path=str(machine.transcript()),
        trigger="manual",
        custom_instructions=f"keep the schema rule {secret} " + "x" * 5_000,
    )
    request = only(machine)
    assert (request.trigger, request.priority) == (Trigger.COMPACTION, Priority.INTERACTIVE)
    assert request.seal_all
    assert request.instructions.startswith("keep the schema rule")
    assert secret not in request.instructions
    assert len(request.instructions) <= 800


def test_a_compaction_that_comes_by_itself_may_come_in_the_middle_of_a_turn_o15(machine: Machine) -> None:
    machine.stop(hook_event_name="PreCompact", transcript_path=str(machine.transcript()), trigger="auto")
    assert not only(machine).seal_all


def test_after_a_compaction_the_agents_own_summary_is_kept_as_evidence(machine: Machine) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = machine.transcript()
    for _ in range(2):
        machine.stop(
            hook_event_name="PostCompact", transcript_path=str(path), compact_summary=f"We did X with {secret}"
        )
    request = machine.requests[0]
    (kept,) = AgentSummaries(Path(request.workspace)).of_session(f"claude-code--{SESSION}")
    assert kept.taken_at == NOW
    assert kept.text.startswith("We did X with")
    assert secret not in kept.text
    assert "We did X" not in (next((machine.run / "spool").glob("*.json"))).read_text()


@pytest.mark.parametrize("summary", [None, "", " \n", 7, ["x"]])
def test_a_compaction_without_a_summary_is_a_job_all_the_same(machine: Machine, summary: object) -> None:
    machine.stop(hook_event_name="PostCompact", transcript_path=str(machine.transcript()), compact_summary=summary)
    assert AgentSummaries(Path(only(machine).workspace)).of_session(f"claude-code--{SESSION}") == []


def test_only_the_newest_summaries_of_a_session_stay(tmp_path: Path) -> None:
    store = AgentSummaries(tmp_path)
    for number in range(KEPT_PER_SESSION + 3):
        assert store.keep("a--s", f"summary {number}", NOW.replace(minute=number))
    kept = [summary.text for summary in store.of_session("a--s")]
    assert kept == [f"summary {number}" for number in reversed(range(3, KEPT_PER_SESSION + 3))]


def test_a_damaged_summary_is_not_shown(tmp_path: Path) -> None:
    store = AgentSummaries(tmp_path)
    store.keep("a--s", "first", NOW)
    (path,) = tmp_path.rglob("*.txt")
    path.write_text("other words")
    assert store.of_session("a--s") == []


def test_a_failed_turn_is_asked_for_like_another(machine: Machine) -> None:
    machine.stop(hook_event_name="StopFailure", transcript_path=str(machine.transcript()), error="rate_limit")
    assert only(machine).trigger is Trigger.TURN


def test_a_subagents_end_asks_for_its_parents_session(machine: Machine) -> None:
    parent = machine.transcript()
    child = parent.with_suffix("") / "subagents" / "agent-a1.jsonl"
    child.parent.mkdir(parents=True)
    child.write_text("{}\n")
    for given_path in (parent, child):
        machine.stop(
            hook_event_name="SubagentStop",
            transcript_path=str(given_path),
            agent_id="a1",
            agent_transcript_path=str(child),
            last_assistant_message="the sub-agent's words",
        )
    assert {request.transcript for request in machine.requests} == {str(parent)}
    assert {request.last_message_sha256 for request in machine.requests} == {None}


def test_a_stop_inside_a_subagent_says_nothing_of_its_last_message(machine: Machine) -> None:
    machine.stop(transcript_path=str(machine.transcript()), agent_id="a1", last_assistant_message="inner")
    assert only(machine).last_message_sha256 is None


def test_running_background_tasks_are_passed_on_by_their_ids(machine: Machine) -> None:
    tasks = [
        {"id": "b1", "type": "shell", "status": "running", "command": "make secret-thing"},
        {"id": "b2", "type": "shell", "status": "completed"},
        {"id": "no/such\nid"},
        "not a task",
    ]
    machine.stop(transcript_path=str(machine.transcript()), background_tasks=tasks)
    assert only(machine).background == ("b1", "unnamed")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Notification", "", None, 7, "x" * 10_000, "Stop\nStop"])
def test_an_event_that_is_not_ours_is_ignored_and_logged(machine: Machine, event: object) -> None:
    outcome = machine.stop(hook_event_name=event, transcript_path=str(machine.transcript()))
    assert (outcome.handled, outcome.reason) == (Handled.IGNORED, "unknown_event")
    assert machine.requests == []
    assert [(line["event"], line["reason"]) for line in machine.log] == [("hook_ignored", "unknown_event")]


@pytest.mark.parametrize("text", ["", " ", "null", "[]", "7", "{", '{"a"', "\ufeff{}", "[" * 100_000, "\0", "\ud83d"])
def test_garbage_is_ignored_and_logged_j16(machine: Machine, text: str) -> None:
    for handle in (handle_claude_code, handle_codex):
        outcome = handle(text, machine.environ, NOW)
        assert (outcome.handled, outcome.reason) == (Handled.IGNORED, "no_json_object")
    assert len(machine.log) == 2
    assert machine.requests == []


@pytest.mark.parametrize("session", [None, "", "../../etc/passwd", "a/b", "x" * 129, 7, "\ud83d"])
def test_a_session_that_has_no_usable_name_is_ignored(machine: Machine, session: object) -> None:
    outcome = machine.stop(session_id=session, transcript_path="")
    assert (outcome.handled, outcome.reason) == (Handled.IGNORED, "no_session")


def test_a_path_that_no_file_system_takes_is_not_passed_on(machine: Machine) -> None:
    path = machine.transcript()
    machine.stop(transcript_path="/home/\ud83d/x.jsonl", cwd="/home/\udfff")
    assert only(machine).transcript == str(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
known_fields = st.sampled_from(
    [
        *("session_id", "transcript_path", "cwd", "agent_id", "background_tasks", "custom_instructions"),
        *("source", "compact_summary", "last_assistant_message", "thread-id", "thread_id", "last-assistant-message"),
    ]
)
events = st.sampled_from(
    ["Stop", "SessionEnd", "PreCompact", "PostCompact", "SubagentStop", "SessionStart", "agent-turn-complete"]
)


@given(st.dictionaries(known_fields, json_values), events, st.booleans())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_any_field_makes_a_hook_fail(
    machine: Machine, fields: dict[str, Any], event: str, named: bool
) -> None:
    base = {"session_id": SESSION, "thread-id": THREAD} if named else {}
    text = json.dumps({**base, **fields, "hook_event_name": event, "type": event})
    for handle in (handle_claude_code, handle_codex):
        assert handle(text, machine.environ, NOW).handled is not Handled.FAILED


def test_a_home_that_cannot_be_written_is_a_failure_that_stops_nobody(machine: Machine) -> None:
    path = machine.transcript()
    (machine.home / ".afterturn").write_text("in the way")
    outcome = machine.stop(transcript_path=str(path))
    assert outcome.handled is Handled.FAILED
    assert "storage_unavailable" in (outcome.reason or "")


def test_the_log_does_not_grow_without_end(machine: Machine) -> None:
    machine.run.mkdir(parents=True)
    (machine.run / "hooks.log").write_bytes(b"x" * (MAX_LOG_BYTES + 1))
    machine.claude(hook_event_name="Unknown")
    assert len(machine.log) == 1
    assert (machine.run / "hooks.log.1").stat().st_size == MAX_LOG_BYTES + 1


def test_the_log_holds_nothing_that_was_said(machine: Machine) -> None:
    machine.claude(hook_event_name="Unknown", last_assistant_message="the-unspeakable")
    machine.claude(hook_event_name="the unspeakable thing, a whole sentence of it" * 5)
    assert all(len(line["hook"]) <= 64 and " " not in line["hook"] for line in machine.log)
    assert "the-unspeakable" not in (machine.run / "hooks.log").read_text()


@pytest.mark.parametrize("day", ["2025/10/28", "2025/10/29", "2026/11/01"])
def test_a_codex_turn_finds_its_rollout_by_the_threads_id(machine: Machine, day: str) -> None:
    other = machine.rollout("2026/11/02", thread=THREAD.replace("a", "b"))
    path = machine.rollout(day)
    outcome = machine.codex(
        **{
            "type": "agent-turn-complete",
            "thread-id": THREAD,
            "turn-id": "1",
            "cwd": CWD,
            "input-messages": ["secret words"],
            "last-assistant-message": "Done.",
        }
    )
    request = only(machine)
    assert outcome.session == f"codex--{THREAD}"
    assert (request.transcript, request.agent, request.session_id) == (str(path), "codex", THREAD)
    assert request.transcript != str(other)
    assert request.last_message_sha256 == said_sha256("Done.")
    assert Path(request.workspace) == Ground.from_env(machine.environ).place_of_project(CWD).root


def test_a_codex_home_of_ones_own_and_names_with_underscores_are_understood(machine: Machine) -> None:
    path = machine.rollout("2026/11/01")
    (machine.home / ".codex").rename(machine.home / "cx")
    machine.environ["CODEX_HOME"] = str(machine.home / "cx")
    machine.codex(type="agent-turn-complete", thread_id=THREAD)
    assert only(machine).transcript == str(machine.home / "cx" / "sessions" / "2026/11/01" / path.name)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"type": "agent-turn-complete", "thread-id": THREAD}, "no_transcript"),
        ({"type": "agent-turn-complete"}, "no_session"),
        ({"type": "approval-requested", "thread-id": THREAD}, "unknown_event"),
    ],
)
def test_a_codex_notice_without_a_session_is_ignored_and_says_why(
    machine: Machine, fields: Mapping[str, str], reason: str
) -> None:
    outcome = machine.codex(**fields)
    assert (outcome.handled, outcome.reason) == (Handled.IGNORED, reason)


def test_with_a_redis_that_answers_the_job_is_enqueued(machine: Machine, redis_server: str) -> None:
    server = EmbeddedRedis(machine.run)
    server.start()
    try:
        outcome = machine.stop(transcript_path=str(machine.transcript()))
        assert (outcome.handled, outcome.reason) == (Handled.ENQUEUED, None)
        with connected(machine.run, None, read_timeout_seconds=5.0) as desk:
            assert [job.id for job in desk.waiting()] == [outcome.job]
    finally:
        server.stop()


def test_with_a_worker_that_watches_the_job_is_left_to_it(machine: Machine) -> None:
    spool_of(machine.run).watch()
    outcome = machine.stop(transcript_path=str(machine.transcript()))
    assert (outcome.handled, outcome.reason) == (Handled.SPOOLED, "left_to_worker")


@pytest.mark.real
def test_a_hook_and_a_reader_find_one_workspace_and_one_name_for_a_recorded_session(machine: Machine) -> None:
    data = os.environ.get("AFTERTURN_TEST_DATA")
    if not data:
        pytest.skip("AFTERTURN_TEST_DATA names no folder")
    recorded = sorted(Path(data, "claude-code").glob("entire-*.jsonl"))
    assert recorded
    for source in recorded:
        info = open_transcript(source).info
        path = machine.transcript(info.session_id, re.sub(r"[^A-Za-z0-9]", "-", info.cwd or ""))
        path.write_bytes(source.read_bytes())
        for cwd in (f"{info.cwd}/src", "/elsewhere"):
            machine.stop(session_id=info.session_id, transcript_path=str(path), cwd=cwd)
            request = machine.requests[-1]
            assert request.workspace == str(Ground.from_env(machine.environ).place_of(path).root)
            assert request.session == session_key(info.agent, info.session_id)


Runner = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run_hook(machine: Machine) -> Runner:
    """The hook as an agent runs it: a process."""

    def run(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        program = [sys.executable, "-m", "worker.hooks", *arguments]
        return subprocess.run(program, input=stdin, capture_output=True, env=machine.environ, timeout=60, check=False)

    return run


@pytest.mark.parametrize(
    "stdin",
    [b"", b"garbage", b"\xff\xfe\x00", b'{"hook_event_name": "Stop"}', b"[" * 200_000],
    ids=["empty", "garbage", "binary", "no session", "deep"],
)
def test_the_process_ends_with_0_and_says_nothing_j16(run_hook: Runner, machine: Machine, stdin: bytes) -> None:
    done = run_hook("claude-code", stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(machine.log) == 1


@pytest.mark.parametrize("arguments", [(), ("claude",), ("codex",), ("codex", "{"), ("codex", "--x", "[]")])
def test_wrong_arguments_trouble_nobody(run_hook: Runner, machine: Machine, arguments: tuple[str, ...]) -> None:
    done = run_hook(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(machine.log) == 1


def test_a_turn_end_of_a_process_is_a_job(run_hook: Runner, machine: Machine) -> None:
    event = {"hook_event_name": "Stop", "session_id": SESSION, "cwd": CWD, "transcript_path": str(machine.transcript())}
    done = run_hook("claude-code", stdin=json.dumps(event).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert only(machine).session_id == SESSION


def test_a_frozen_redis_does_not_hold_up_the_process_j02_j16(
    run_hook: Runner, machine: Machine, redis_server: str
) -> None:
    server = EmbeddedRedis(machine.run)
    server.start()
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        event = {"hook_event_name": "SessionEnd", "session_id": SESSION, "cwd": CWD}
        done = run_hook("claude-code", stdin=json.dumps(event).encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert only(machine).seal_all
    finally:
        os.kill(server.pid, signal.SIGCONT)
        server.stop()


def test_a_huge_message_is_read_and_not_kept(run_hook: Runner, machine: Machine) -> None:
    event = {"hook_event_name": "Stop", "session_id": SESSION, "cwd": CWD, "transcript_path": str(machine.transcript())}
    text = json.dumps({**event, "last_assistant_message": "x" * (MAX_STDIN_BYTES // 2)})
    assert run_hook("claude-code", stdin=text.encode()).returncode == 0
    assert only(machine).last_message_sha256 is not None
    (entry,) = (machine.run / "spool").glob("*.json")
    assert entry.stat().st_size < 4_096


def test_a_pipe_that_nobody_closes_is_not_waited_for_j16() -> None:
    read_end, write_end = os.pipe()
    started = time.monotonic()
    try:
        assert read_stdin(read_end, wait_seconds=0.05) == ""
        os.write(write_end, b'{"half": ')
        assert read_stdin(read_end, wait_seconds=0.05) == '{"half": '
    finally:
        os.close(read_end)
        os.close(write_end)
    assert time.monotonic() - started < 5


def test_a_terminal_is_not_waited_for() -> None:
    controller, terminal = pty.openpty()
    try:
        assert read_stdin(terminal, wait_seconds=60) == ""
    finally:
        os.close(controller)
        os.close(terminal)


def test_a_hook_that_leaves_its_job_to_the_worker_loads_no_redis(machine: Machine) -> None:
    spool_of(machine.run).watch()
    event = {"hook_event_name": "Stop", "session_id": SESSION, "cwd": CWD, "transcript_path": str(machine.transcript())}
    heavy = "{'redis', 'pydantic', 'celery', 'litellm', 'click', 'orjson', 'worker.transcripts', 'worker.core.secrets'}"
    code = f"import sys; from worker.hooks import main; main(['claude-code']); print(*{heavy} & set(sys.modules))"
    program = [sys.executable, "-c", code]
    done = subprocess.run(
        program, input=json.dumps(event).encode(), capture_output=True, env=machine.environ, check=True
    )
    assert done.stdout.split() == []
    assert len(machine.requests) == 1
