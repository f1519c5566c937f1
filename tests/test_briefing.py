"""The start of a session: what is remembered comes back to the agent, and nothing ever delays or breaks the start."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.adapters.sessions import FileCheckpoints
from worker.briefing import MAX_CHARS
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.briefing import DEFAULT_BUDGET_TOKENS, NOTICE
from worker.core.checkpoint import Checkpoint, Cursor, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.ledger import Background, Ledger
from worker.core.messages import Origin
from worker.core.rendering import source_of
from worker.core.session_key import session_key
from worker.core.summary import Constraint, Summary, Task, TaskStatus, UserMessage, with_id
from worker.core.tokens import estimate_tokens
from worker.delivery import spooled_requests
from worker.hooks import Handled, HookOutcome, handle_claude_code
from worker.locating import Ground
from worker.transcripts import open_transcript

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
SESSION = "0f3a9c1e-1111-4222-8333-444455556666"
OTHER = "77777777-1111-4222-8333-444455556666"
CWD = "/home/u/app"
RULE = "Never change the database schema."
REQUEST = f"Work on T-101: rename qty to quantity. Then T-102: write the release notes. {RULE}"
GIB = 2**30
NOBODY = 65_534


class Session:
    """A Claude Code transcript in its project's folder; every method appends rows."""

    def __init__(self, home: Path, session: str = SESSION, cwd: str = CWD) -> None:
        self.id, self.cwd = session, cwd
        folder = "".join(char if char.isalnum() else "-" for char in cwd)
        self.path = home / ".claude" / "projects" / folder / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._count = 0

    def person(self, text: str) -> "Session":
        return self.append("user", {"role": "user", "content": text})

    def says(self, *blocks: dict[str, Any] | str) -> "Session":
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return self.append("assistant", {"id": f"msg{self._count}", "role": "assistant", "content": content})

    def bash(self, command: str, output: str, *, failed: bool = False) -> "Session":
        call = f"toolu_{self._count}"
        self.says({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}})
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        return self.append("user", {"role": "user", "content": [result]})

    def worked(self) -> "Session":
        """A rule, a task that is begun and one that is not, and a command that failed and stayed so."""
        self.person(REQUEST).says("I begin with T-101.")
        self.bash("make deploy-staging", "Exit code 2\nno route to 10.0.0.7", failed=True)
        return self.says("The deployment does not work from here, so T-101 is not finished.").person("Leave it then.")

    def compacts(self) -> "Session":
        """The agent's own compaction, whose summary knows nothing of the rule."""
        self.append("system", None, subtype="compact_boundary", content="Conversation compacted", parentUuid=None)
        words = "This session is being continued from a previous conversation.\nSummary: we looked at columns."
        return self.append("user", {"role": "user", "content": words}, isCompactSummary=True)

    def append(self, kind: str, message: dict[str, Any] | None, **more: Any) -> "Session":
        moment = datetime(2026, 11, 30, 8, tzinfo=UTC) + timedelta(seconds=9 * self._count)
        row = {
            "parentUuid": f"u{self._count - 1}" if self._count else None,
            "isSidechain": False,
            "cwd": self.cwd,
            "sessionId": self.id,
            "type": kind,
            **({"message": message} if message else {}),
            "uuid": f"u{self._count}",
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self._count += 1
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row | more) + "\n")
        return self


class Machine:
    """A user's machine, with Claude Code's folder in it and nobody who answers for Redis."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def session(self, session: str = SESSION, cwd: str = CWD) -> Session:
        return Session(self.home, session, cwd)

    def workspace(self, cwd: str = CWD) -> Path:
        return Ground.from_env(self.environ).place_of_project(cwd).root

    @property
    def settings(self) -> Settings:
        named = {name: value for name, value in self.environ.items() if name.startswith("AFTERTURN_")}
        return Settings.from_env({"AFTERTURN_HOME": str(self.home / ".afterturn"), **named})

    def consolidated(self, session: Session) -> Checkpoint:
        settings = self.settings
        place = wiring.ground_of(settings).place_of(session.path)
        consolidate(Request(path=session.path), wiring.tools_for(place, settings, hold_back=False))
        newest = FileCheckpoints(place.root).latest(session_key("claude-code", session.id))
        assert newest is not None
        return newest

    def starts(self, source: str | None = "startup", session: str = SESSION, **fields: object) -> HookOutcome:
        """As recorded: what Claude Code writes to the hook's stdin."""
        base = {
            "session_id": session,
            "transcript_path": str(self.home / ".claude" / "projects" / "-home-u-app" / f"{session}.jsonl"),
            "cwd": CWD,
            "permission_mode": "default",
            "hook_event_name": "SessionStart",
            "source": source,
            "model": "a-model",
        }
        return handle_claude_code(json.dumps({**base, **fields}), self.environ, NOW)

    def told(self, source: str | None = "startup", session: str = SESSION, **fields: object) -> str:
        outcome = self.starts(source, session, **fields)
        assert outcome.handled is Handled.ANSWERED, outcome
        return context(outcome.answer)

    def log(self) -> str:
        path = self.home / ".afterturn" / "run" / "hooks.log"
        return path.read_text("utf-8") if path.exists() else ""


def context(answer: str) -> str:
    """What the agent is given, "" for silence."""
    if not answer:
        return ""
    assert answer.isascii()
    (fields,) = json.loads(answer).values()
    assert list(json.loads(answer)) == ["hookSpecificOutput"]
    assert sorted(fields) == ["additionalContext", "hookEventName"]
    assert fields["hookEventName"] == "SessionStart"
    text: str = fields["additionalContext"]
    assert text.startswith(NOTICE)
    assert estimate_tokens(text) <= DEFAULT_BUDGET_TOKENS
    assert len(text) <= MAX_CHARS
    return text


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def kept(
    number: int, session: str, start: int, end: int, *, parent: str | None = None, cwd: str | None = CWD, **more: Any
) -> Checkpoint:
    """A checkpoint made by hand."""
    summary = more.pop("summary", Summary())
    return Checkpoint(
        number=number,
        parent=parent,
        created_at=more.pop("created_at", NOW - timedelta(hours=1)),
        session=SessionRef(
            key=session_key("claude-code", session), agent="claude-code", id=session, source="/s", cwd=cwd
        ),
        range=SourceRange(start=start, end=end, sha256="0" * 64),
        covered=more.pop("covered", end),
        status=Status.OK,
        summary=summary,
        ledger=more.pop("ledger", Ledger()),
        validation=Validation(),
        model=ModelUse(),
        savings={},
        tokens_before=0,
        tokens_after=0,
        cursor=Cursor(format="claude-code", index=end),
        **more,
    )


def committed(workspace: Path, *chain: Checkpoint) -> list[Checkpoint]:
    store, made = FileCheckpoints(workspace), list[Checkpoint]()
    for checkpoint in chain:
        done = store.commit(replace(checkpoint, parent=made[-1].id if made else None))
        assert done is not None
        made.append(done)
    return made


def rules(*texts: str, **more: Any) -> Summary:
    return Summary(constraints=tuple(with_id(Constraint(rule=text, quote=text)) for text in texts), **more)


def open_task(name: str) -> Task:
    return Task(id=name, text=f"work on {name}", status=TaskStatus.OPEN)


# What comes back.


def test_a_compacted_session_gets_its_rule_open_tasks_and_failed_ways_back_o9(machine: Machine) -> None:
    session = machine.session().worked()
    machine.consolidated(session)
    session.compacts()
    text = machine.told("compact")
    assert RULE in text
    assert "T-101" in text
    assert "T-102" in text
    assert "make deploy-staging" in text.split("## Tried and failed")[1]
    assert "checkpoint 1 of this session" in text
    assert "we looked at columns" not in text


@pytest.mark.real
@pytest.mark.parametrize("name", ["entire-25-730c662552-0", "entire-b0-2936744f3b-0"])
def test_a_recorded_session_that_was_compacted_gets_back_what_its_person_ordered(machine: Machine, name: str) -> None:
    data = os.environ.get("AFTERTURN_TEST_DATA")
    if not data:
        pytest.skip("AFTERTURN_TEST_DATA names no folder")
    rows = Path(data, "claude-code", f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    info = open_transcript(Path(data, "claude-code", f"{name}.jsonl")).info
    boundary = next(at for at, row in enumerate(rows) if b'"subtype":"compact_boundary"' in row)
    session = machine.session(info.session_id, info.cwd or CWD)
    session.person(REQUEST).says("Understood.")
    own = session.path.read_bytes()
    session.path.write_bytes(own + b"".join(rows[:boundary]))
    machine.consolidated(session)
    session.path.write_bytes(own + b"".join(rows[: boundary + 2]))
    assert any(message.origin is Origin.SUMMARY for message in open_transcript(session.path).read())
    outcome = machine.starts("compact", info.session_id, transcript_path=str(session.path), cwd=f"{info.cwd}/src")
    text = context(outcome.answer)
    assert RULE in text
    assert "T-101" in text
    assert "T-102" in text
    checkpoint = machine.consolidated(session)
    unresolved = [error for error in checkpoint.summary.errors if error.fix is None]
    assert ("## Tried and failed" in text) == bool(unresolved)


@pytest.mark.parametrize("source", ["startup", "clear", None, "a new one"])
def test_a_fresh_start_gets_the_projects_memory_and_what_the_newest_session_left_open(
    machine: Machine, source: str | None
) -> None:
    machine.consolidated(machine.session(OTHER).worked())
    with (machine.workspace() / "MEMORY.md").open("a") as memory:
        memory.write("\n## Build\n- `make build`, then wait\n")
    text = machine.told(source)
    assert f"{RULE} (MEMORY.md, 20" in text
    assert "> - `make build`, then wait" in text
    assert "another session, claude-code/" in text
    assert "T-102" in text
    assert "## Tried and failed" not in text


def test_who_cleared_the_conversation_does_not_get_it_back(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    text = machine.told("clear")
    assert "make deploy-staging" not in text
    assert "of this session" not in text


def test_a_resumed_session_that_the_project_knows_gets_its_own_state(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    assert "checkpoint 1 of this session" in machine.told("resume")
    assert "checkpoint 1 of this session" in machine.told("startup")


@pytest.mark.parametrize("row", [{"sessionId": OTHER}, {"forkedFrom": {"sessionId": OTHER, "messageUuid": "u1"}}])
@pytest.mark.parametrize("source", ["resume", "fork", "compact"])
def test_a_session_that_goes_on_under_another_id_is_known_by_the_rows_that_it_copied(
    machine: Machine, row: dict[str, Any], source: str
) -> None:
    """Two ids in one file: a fork, or a resume by an older version, begins with rows of the session it continues."""
    machine.consolidated(machine.session(OTHER).worked())
    new = machine.session()
    new.append("user", {"role": "user", "content": REQUEST}, **row)
    for _ in range(40):
        new.says("x" * 4_000)
    text = machine.told(source)
    assert RULE in text
    assert f"checkpoint 1 of claude-code/{OTHER}, which this session goes on from" in text


def test_a_session_that_was_handed_the_path_of_the_one_it_continues_is_known_by_it(machine: Machine) -> None:
    old = machine.session(OTHER).worked()
    machine.consolidated(old)
    assert "make deploy-staging" in machine.told("resume", transcript_path=str(old.path))
    assert "make deploy-staging" not in machine.told("clear", transcript_path=str(old.path))


def test_its_own_checkpoint_counts_more_than_that_of_the_session_it_came_from(machine: Machine) -> None:
    committed(machine.workspace(), kept(1, OTHER, 0, 5, summary=rules("Never do old things.")))
    committed(machine.workspace(), kept(1, SESSION, 0, 9, summary=rules("Never do new things.")))
    machine.session().append("user", {"role": "user", "content": "go"}, sessionId=OTHER)
    text = machine.told("resume")
    assert "new things" in text
    assert "old things" not in text


def test_a_session_of_another_project_gets_nothing_of_it(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    other = machine.session(OTHER, "/home/u/elsewhere").person("hello")
    for source in ("startup", "resume", "compact"):
        assert machine.told(source, OTHER, cwd="/home/u/elsewhere", transcript_path=str(other.path)) == ""
        assert (
            machine.told(source, SESSION, cwd="/home/u/elsewhere", transcript_path="") != ""
        )  # it lies where it began


def test_in_one_workspace_for_all_projects_tasks_of_one_are_not_told_in_another(machine: Machine) -> None:
    machine.environ["AFTERTURN_WORKSPACE"] = str(machine.home / "w")
    machine.consolidated(machine.session().worked())
    text = machine.told("startup", OTHER, cwd="/home/u/elsewhere", transcript_path="")
    assert RULE in text
    assert "T-102" not in text
    assert "T-102" in machine.told("startup", OTHER)


def test_a_rule_from_the_first_checkpoint_is_told_from_the_fifth(machine: Machine) -> None:
    """O9: the state is that of the whole chain."""
    session = machine.session().worked()
    machine.consolidated(session)
    for number in range(4):
        session.person(f"Now look at module {number}.").says(f"Module {number} is fine.")
        checkpoint = machine.consolidated(session)
    assert checkpoint.number == 5
    text = machine.told("compact")
    assert RULE in text
    assert "checkpoint 5 of this session" in text


def ran(name: str, status: str, *evidence: str) -> Ledger:
    return Ledger(background=(Background(id=name, text=f"make {name}", status=status, evidence=evidence),))


CHAINS: dict[str, list[Checkpoint]] = {
    "still runs": [kept(1, SESSION, 0, 10, ledger=ran("b1", "running", "m1")), kept(2, SESSION, 10, 20)],
    "ended later": [
        kept(1, SESSION, 0, 10, ledger=ran("b1", "running", "m1")),
        kept(2, SESSION, 10, 20, ledger=ran("b1", "completed", "m12")),
    ],
    "summarized again": [
        kept(1, SESSION, 0, 10, ledger=ran("b1", "running", "m1")),
        kept(2, SESSION, 10, 20, ledger=ran("b2", "running", "m12")),
        kept(3, SESSION, 0, 10, covered=20, replaces=(1,), ledger=ran("b3", "running", "m2")),
    ],
    "all of it again": [
        kept(1, SESSION, 0, 10, ledger=ran("b1", "running", "m1")),
        kept(2, SESSION, 10, 20, ledger=ran("b2", "running", "m12")),
        kept(3, SESSION, 0, 20, replaces=(1, 2), ledger=ran("b2", "killed", "m12", "m14")),
    ],
}


@pytest.mark.parametrize("name", CHAINS)
def test_what_runs_in_the_background_is_told_as_the_joined_chain_tells_it(machine: Machine, name: str) -> None:
    chain = [replace(one, summary=rules("Never stop.")) for one in CHAINS[name]]
    whole = wiring.joined(committed(machine.workspace(), *chain))
    text = machine.told("compact")
    running = [line for line in text.splitlines() if line.startswith("- Started in the background")]
    assert [line.rpartition(": ")[2] for line in running] == list(source_of(whole).running)


def test_the_newest_session_is_the_one_in_which_somebody_spoke_last(machine: Machine) -> None:
    """A night that summarizes an old session anew makes its file the newest."""
    spoken = {OTHER: NOW - timedelta(days=9), SESSION: NOW - timedelta(hours=2)}
    for session in (SESSION, OTHER):
        said = UserMessage(id="m0", text="hello", timestamp=spoken[session])
        summary = Summary(user_messages=(said,), tasks=(open_task(f"T-{session[:2]}"),))
        committed(machine.workspace(), kept(1, session, 0, 10, summary=summary, created_at=NOW))
    os.utime(machine.workspace() / "sessions" / f"claude-code--{OTHER}" / "checkpoints", (2e9, 2e9))
    text = machine.told("startup", "new-session")
    assert "T-0f" in text
    assert "T-77" not in text


def test_a_session_that_goes_on_and_is_not_known_is_not_told_what_another_left_open(machine: Machine) -> None:
    machine.consolidated(machine.session(OTHER).worked())
    machine.session().person("Something else.")
    for source in ("resume", "compact", "fork"):
        text = machine.told(source)
        assert RULE in text
        assert "T-102" not in text


def test_with_nothing_kept_it_says_nothing(machine: Machine) -> None:
    machine.session().person("hello")
    for source in ("startup", "resume", "clear", "compact", "fork"):
        assert machine.starts(source) == HookOutcome(
            handled=Handled.ANSWERED, event="SessionStart", session=f"claude-code--{SESSION}"
        )
    assert machine.log() == ""


def test_a_start_asks_for_nothing(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    machine.told("compact")
    assert spooled_requests(machine.home / ".afterturn" / "run") == []
    assert not (machine.home / ".afterturn" / "run" / "spool").exists()


def test_a_subagents_start_is_not_answered(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    outcome = machine.starts("startup", agent_id="a1")
    assert (outcome.handled, outcome.reason, outcome.answer) == (Handled.IGNORED, "subagent", "")


def test_the_budget_is_a_setting_and_0_is_silence(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    assert Settings.model_fields["briefing_tokens"].default == DEFAULT_BUDGET_TOKENS
    whole = machine.told("compact")
    machine.environ["AFTERTURN_BRIEFING_TOKENS"] = "0"
    assert machine.told("compact") == ""
    machine.environ["AFTERTURN_BRIEFING_TOKENS"] = "260"
    assert RULE in machine.told("compact")
    assert estimate_tokens(machine.told("compact")) <= 260
    for wrong in ("-7 apples", "9" * 5_000, "٣"):
        machine.environ["AFTERTURN_BRIEFING_TOKENS"] = wrong
        assert machine.told("compact") == whole


@pytest.mark.parametrize(
    "row",
    [
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "hookEvent": "SessionStart"}},
        {"type": "user", "isMeta": True},
        {"type": "user"},
    ],
    ids=["attachment", "meta", "reminder"],
)
def test_what_was_told_is_not_read_back_as_a_persons_words(machine: Machine, row: dict[str, Any]) -> None:
    """O39: memory does not feed itself. An agent records in its transcript what its hooks answered."""
    session = machine.session().worked()
    machine.consolidated(session)
    text = machine.told("compact")
    if "attachment" in row:
        row = {**row, "attachment": {**row["attachment"], "content": [text]}}
    words = f"<system-reminder>\nSessionStart hook additional context: {text}\n</system-reminder>"
    session.append(str(row["type"]), {"role": "user", "content": words}, **row)
    said = [message.text for message in open_transcript(session.path).read() if message.is_human]
    assert said == [REQUEST, "Leave it then."]


# What may be broken.

Breaks = Callable[[Path], None]


def newest_damaged(workspace: Path) -> None:
    path = FileCheckpoints(workspace).path(f"claude-code--{SESSION}", 1)
    path.write_bytes(path.read_bytes().replace(b"schema.", b"scheme."))


def replaced(name: str, make: Callable[[Path], object]) -> Breaks:
    """Breaks a workspace by putting something else where a file or folder of it was."""

    def act(workspace: Path) -> None:
        path = workspace / name.format(key=f"claude-code--{SESSION}")
        if path.exists():
            path.rename(workspace / "moved-away")
        make(path)

    return act


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2 * GIB)


CHECKPOINT = "sessions/{key}/checkpoints/000001.json"
BREAKS: dict[str, tuple[Breaks, bool]] = {
    "a damaged checkpoint": (newest_damaged, True),
    "a huge checkpoint": (replaced(CHECKPOINT, sparse), True),
    "a checkpoint is a pipe": (replaced(CHECKPOINT, os.mkfifo), True),
    "a checkpoint is a folder": (replaced(CHECKPOINT, Path.mkdir), True),
    "no folder of checkpoints": (replaced("sessions/{key}/checkpoints", lambda path: path.write_text("x")), False),
    "sessions is a file": (replaced("sessions", lambda path: path.write_text("x")), True),
    "sessions is a pipe": (replaced("sessions", os.mkfifo), True),
    "memory is a folder": (replaced("MEMORY.md", Path.mkdir), True),
    "memory is a pipe": (replaced("MEMORY.md", os.mkfifo), True),
    "memory leads out": (replaced("MEMORY.md", lambda path: path.symlink_to("/etc/passwd")), True),
    "memory leads in circles": (replaced("MEMORY.md", lambda path: path.symlink_to(path)), True),
    "a huge memory": (replaced("MEMORY.md", sparse), False),
    "memory is no text": (replaced("MEMORY.md", lambda path: path.write_bytes(b"\xff\xfe\0\n" * 99)), False),
    "a huge history": (replaced("HISTORY.md", sparse), False),
    "history is a pipe": (replaced("HISTORY.md", os.mkfifo), False),
}


@pytest.fixture
def run_hook(machine: Machine) -> Callable[..., "subprocess.CompletedProcess[bytes]"]:
    """The hook as Claude Code runs it: a process, with the JSON on its stdin."""

    def run(source: str = "compact", **more: Any) -> "subprocess.CompletedProcess[bytes]":
        called = {"hook_event_name": "SessionStart", "session_id": SESSION, "cwd": CWD, "source": source}
        return subprocess.run(
            [sys.executable, "-m", "worker", "hook", "claude-code"],
            input=json.dumps({**called, **more}).encode(),
            capture_output=True,
            env={**machine.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize("name", BREAKS)
def test_nothing_that_is_broken_in_a_workspace_delays_or_breaks_a_start(
    machine: Machine, run_hook: Callable[..., "subprocess.CompletedProcess[bytes]"], name: str
) -> None:
    """O54: what can be read is told all the same, and what cannot is a line in the log and not in the conversation."""
    machine.consolidated(machine.session().worked())
    act, is_logged = BREAKS[name]
    act(machine.workspace())
    done = run_hook("compact")
    assert (done.returncode, done.stderr) == (0, b"")
    for text in (context(done.stdout.decode()), context(machine.starts("startup").answer)):
        assert "root:" not in text
        assert RULE in text or "memory" not in name
    assert ("hook_failed" in machine.log()) == is_logged


def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before_which_is_named(machine: Machine) -> None:
    chain = [
        kept(number, SESSION, 10 * number - 10, 10 * number, summary=rules(f"Never {number}.")) for number in (1, 2, 3)
    ]
    committed(machine.workspace(), *chain)
    path = FileCheckpoints(machine.workspace()).path(f"claude-code--{SESSION}", 3)
    path.write_bytes(path.read_bytes()[:-40])
    outcome = machine.starts("compact")
    assert outcome.handled is Handled.FAILED
    assert "checkpoint 2 of this session" in context(outcome.answer)
    assert "000003.json" in machine.log()


@pytest.mark.parametrize("name", ["sessions", "MEMORY.md", "."])
def test_what_may_not_be_read_is_left_out(machine: Machine, name: str) -> None:
    machine.consolidated(machine.session().worked())
    path = machine.workspace() / name
    path.chmod(0)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.seteuid(NOBODY)
        assert machine.starts("compact").handled is Handled.FAILED
    finally:
        if is_root:
            os.seteuid(0)
        path.chmod(0o700)


def test_a_redis_that_nobody_can_reach_is_not_asked(
    machine: Machine, run_hook: Callable[..., "subprocess.CompletedProcess[bytes]"]
) -> None:
    machine.consolidated(machine.session().worked())
    machine.environ["AFTERTURN_REDIS_URL"] = "redis://192.0.2.1:6379/0"
    done = run_hook()
    assert RULE in context(done.stdout.decode())
    assert (done.returncode, done.stderr, machine.log()) == (0, b"", "")


def test_an_agent_that_has_gone_does_not_make_the_hook_fail(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    read_end, write_end = os.pipe()
    os.close(read_end)
    called = {"hook_event_name": "SessionStart", "session_id": SESSION, "cwd": CWD, "source": "compact"}
    done = subprocess.run(
        [sys.executable, "-m", "worker.hooks", "claude-code"],
        input=json.dumps(called).encode(),
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=machine.environ,
        timeout=60,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_start_loads_nothing_heavy(machine: Machine) -> None:
    machine.consolidated(machine.session().worked())
    called = {"hook_event_name": "SessionStart", "session_id": SESSION, "cwd": CWD, "source": "compact"}
    heavy = "{'redis', 'pydantic', 'celery', 'litellm', 'click', 'filelock', 'worker.transcripts', 'worker.config'}"
    code = f"import sys; from worker.hooks import main; main(['claude-code']); print(*{heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(called).encode(),
        capture_output=True,
        env=machine.environ,
        check=True,
    )
    answer, loaded = done.stdout.decode().splitlines()
    assert RULE in context(answer)
    assert loaded == ""
