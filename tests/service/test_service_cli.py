"""The commands of the service, as a shell sees them."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from worker.adapters.events import Event
from worker.delivery import spooled_requests

Factory = Any
Until = Any


def shell(factory: Factory, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "worker", *arguments],
        env=factory.variables,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=60,
        check=False,
    )


@pytest.fixture
def started(factory: Factory) -> Factory:
    factory.redis.start()
    return factory


def test_submit_prints_a_job_that_status_knows_and_cancel_ends(started: Factory) -> None:
    session = started.place.transcript().turns(2)
    job = shell(started, "submit", str(session.path)).stdout.strip()
    shown = json.loads(shell(started, "status", job, "--json").stdout)["jobs"][0]
    assert (shown["state"], shown["priority"], shown["manual"]) == ("queued", "interactive", True)
    by_session = json.loads(shell(started, "status", str(session.path), "--json").stdout)["jobs"][0]
    assert by_session["id"] == job
    assert shell(started, "cancel", "claude-code--s1").stdout == f"{job} cancelled\n"
    assert shell(started, "cancel", job).stdout == "nothing to cancel: it has ended\n"
    ended = json.loads(shell(started, "status", "--json").stdout)["jobs"][0]["ending"]
    assert (ended["outcome"], ended["reason"]) == ("cancelled", "asked")


def test_without_redis_submit_keeps_the_job_and_the_others_say_what_to_do(factory: Factory) -> None:
    path = factory.root.parent / "s1.jsonl"
    path.write_text('{"role": "user", "content": "hello"}\n')
    found = shell(factory, "submit", str(path), "--json")
    assert found.returncode == 0
    assert json.loads(found.stdout)["spooled"] is True
    assert len(spooled_requests(factory.run)) == 1
    health = shell(factory, "health")
    assert health.returncode == 4
    assert "start 'afterturn up'" in health.stderr


def test_health_has_an_exit_code_for_work_that_is_stuck(started: Factory) -> None:
    """B26, J06."""
    assert shell(started, "health").returncode == 0
    place = started.place
    place.clock.advance(-1_000)
    place.hand_in(place.transcript().turns(1))
    found = shell(started, "health", "--json")
    assert found.returncode == 5
    assert json.loads(found.stdout)["problems"]


def test_a_name_that_nobody_knows_is_a_mistake_of_the_caller(started: Factory) -> None:
    found = shell(started, "status", "no-such-thing")
    assert found.returncode == 2
    assert "no job and no session of that name" in found.stderr


def test_follow_prints_events_as_they_happen(started: Factory, until: Until) -> None:
    follower = started.afterturn("status", "--follow", "--json")
    place = started.place

    def seen() -> bool:
        place.service.events.append(Event(name="committed", at=place.clock.now(), session="claude-code--s1"))
        time.sleep(0.1)
        return "committed" in follower.said()

    until(seen)
    assert json.loads(follower.said().splitlines()[0])["session"] == "claude-code--s1"


def test_watch_shows_the_table_again_when_it_changes(started: Factory, until: Until) -> None:
    watcher = started.afterturn("status", "--watch")
    until(lambda: "no jobs" in watcher.said())
    place = started.place
    job = place.hand_in(place.transcript().turns(1))
    until(lambda: job in watcher.said())


def test_the_hook_goes_past_the_command_line(factory: Factory) -> None:
    """J16, J02: nothing on stdout, exit 0, the job on disk; neither click nor Redis was loaded for an empty call."""
    script = (
        "import sys; sys.argv = ['afterturn', 'hook', 'claude-code']\n"
        "from worker.__main__ import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n"
        "    print(end.code, [name for name in ('click', 'redis', 'litellm') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], env=factory.variables, input="", capture_output=True, text=True, check=True
    )
    assert found.stdout == "0 []\n"
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": "/none/s1.jsonl", "cwd": "/none"}
    said = shell(factory, "hook", "claude-code", stdin=json.dumps(stop))
    assert (said.returncode, said.stdout) == (0, "")


def test_the_hook_shows_and_writes_its_settings(factory: Factory) -> None:
    shown = shell(factory, "hook", "--install", "claude-code")
    assert "afterturn hook claude-code" in json.loads(shown.stdout)["hooks"]["Stop"][0]["hooks"][0]["command"]
    settings = Path(factory.root.parent) / ".claude" / "settings.json"
    assert not settings.exists()
    assert "hooks written" in shell(factory, "hook", "claude-code", "--install", "--write").stdout
    assert "Stop" in json.loads(settings.read_text())["hooks"]
    assert "there already" in shell(factory, "hook", "claude-code", "--install", "--write").stdout
    assert 'notify = ["afterturn", "hook", "codex"]' in shell(factory, "hook", "codex", "--install").stdout
