"""The spool: nothing is lost, nothing comes out of order."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters.files import locked
from worker.adapters.spool import MAX_ENTRY_BYTES, STUCK_SECONDS, WATCHED_SECONDS, Drained, Spool, SpoolEntry
from worker.errors import BrokerUnavailable, SessionBusy, StorageUnavailable, StoreError

Killer = Callable[[int, Callable[[], object]], bool]

WRITER = """
import sys
from pathlib import Path
from worker.adapters.spool import Spool
spool = Spool(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    spool.put({"writer": sys.argv[2], "number": number}, about=sys.argv[2])
"""


def start_writer(folder: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), name, str(count)])


class Taker:
    """Takes entries, up to a number of them; then the other side is down."""

    def __init__(self, limit: int | None = None) -> None:
        self.taken: list[SpoolEntry] = []
        self._limit = limit

    def __call__(self, entry: SpoolEntry) -> bool:
        if self._limit is not None and len(self.taken) >= self._limit:
            raise BrokerUnavailable("down; try again")
        self.taken.append(entry)
        return True

    @property
    def numbers(self) -> list[Any]:
        return [entry.payload["number"] for entry in self.taken]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


@pytest.fixture
def frozen_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Sets the wall clock, nanoseconds."""

    def set_clock(nanoseconds: int) -> None:
        monkeypatch.setattr("worker.adapters.spool.time.time_ns", lambda: nanoseconds)

    yield set_clock


def put_numbers(spool: Spool, *numbers: int, about: str = "s") -> list[SpoolEntry]:
    return [spool.put({"number": number}, about=f"{about}{number}") for number in numbers]


def test_entries_come_out_in_the_order_in_which_they_went_in(spool: Spool) -> None:
    entries = put_numbers(spool, 3, 1, 2)
    taker = Taker()
    assert spool.drain(taker) == Drained(handled=3)
    assert taker.taken == entries
    assert len(spool) == 0


def test_draining_what_is_not_there_makes_no_folder(spool: Spool, tmp_path: Path) -> None:
    assert spool.drain(Taker()) == Drained()
    assert list(tmp_path.iterdir()) == []


def test_the_order_holds_when_the_clock_goes_back(spool: Spool, frozen_time: Callable[[int], None]) -> None:
    frozen_time(2_000_000_000_000_000_000)
    put_numbers(spool, 1)
    frozen_time(1_000_000_000_000_000_000)
    put_numbers(spool, 2, 3)
    taker = Taker()
    spool.drain(taker)
    assert taker.numbers == [1, 2, 3]


def test_the_order_holds_within_one_tick_of_the_clock(spool: Spool, frozen_time: Callable[[int], None]) -> None:
    frozen_time(1_764_460_800_000_000_000)
    put_numbers(spool, *range(20))
    taker = Taker()
    spool.drain(taker)
    assert taker.numbers == list(range(20))


def test_two_processes_writing_at_once_lose_nothing_and_keep_their_own_order(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, name, 40) for name in ("a", "b", "c")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    taker = Taker()
    assert Spool(tmp_path).drain(taker).handled == 120
    for name in ("a", "b", "c"):
        assert [e.payload["number"] for e in taker.taken if e.payload["writer"] == name] == list(range(40))
    assert len({entry.id for entry in taker.taken}) == 120


def test_an_entry_that_arrives_while_others_are_drained_is_drained_too(spool: Spool) -> None:
    put_numbers(spool, 1)
    taken: list[Any] = []

    def take(entry: SpoolEntry) -> bool:
        taken.append(entry.payload["number"])
        if len(taken) < 4:
            put_numbers(spool, taken[-1] + 1)
        return True

    assert spool.drain(take).handled == 4
    assert taken == [1, 2, 3, 4]


def test_what_was_not_taken_stays_in_order_for_the_next(spool: Spool) -> None:
    put_numbers(spool, 1, 2, 3)
    first = Taker(limit=1)
    with pytest.raises(BrokerUnavailable):
        spool.drain(first)
    second = Taker()
    spool.drain(second)
    assert (first.numbers, second.numbers) == ([1], [2, 3])


def test_a_drainer_that_is_killed_loses_nothing_and_an_id_tells_the_second_time(
    tmp_path: Path, killed_at: Killer
) -> None:
    log = tmp_path / "taken"

    def act() -> None:
        def take(entry: SpoolEntry) -> bool:
            with log.open("a") as stream:
                stream.write(f"{entry.id} {entry.payload['number']}\n")
            return True

        Spool(folder).drain(take)

    died = False
    for step in range(1, 12):
        folder = tmp_path / f"spool{step}"
        log.write_text("")
        put_numbers(Spool(folder), 1, 2, 3)
        died = killed_at(step, act) or died
        act()
        lines = log.read_text().splitlines()
        assert sorted(set(lines)) == list(dict.fromkeys(lines))
        assert [line.split()[1] for line in sorted(set(lines))] == ["1", "2", "3"]
    assert died


def test_a_writer_that_is_killed_leaves_a_whole_entry_or_none(tmp_path: Path, killed_at: Killer) -> None:
    outcomes = set()
    for step in range(1, 12):
        folder = tmp_path / f"spool{step}"
        lived = not killed_at(step, lambda: put_numbers(Spool(folder), 1))  # noqa: B023 - called at once
        taker = Taker()
        drained = Spool(folder).drain(taker)
        assert drained.set_aside == 0
        assert taker.numbers in ([], [1])
        assert taker.numbers == [1] or not lived
        outcomes.add(len(taker.numbers))
    assert outcomes == {0, 1}


@pytest.mark.parametrize(
    "damage",
    [b"", b"{}", b"\x00" * 200, b"0" * 64 + b'\n{"number":1}', b"\xff\xfe not ours"],
    ids=["empty", "no checksum", "zeros", "wrong checksum", "binary"],
)
def test_a_damaged_entry_is_set_aside_and_does_not_hold_up_the_others(
    spool: Spool, tmp_path: Path, damage: bytes
) -> None:
    first, *_ = put_numbers(spool, 1, 2)
    (tmp_path / "spool" / f"{first.id}.json").write_bytes(damage)
    taker = Taker()
    assert spool.drain(taker) == Drained(handled=1, set_aside=1)
    assert taker.numbers == [2]
    assert (tmp_path / "spool" / "aside" / f"{first.id}.json").read_bytes() == damage
    assert spool.set_aside_count() == 1


def test_an_entry_that_cannot_be_opened_does_not_hold_up_the_others(spool: Spool, tmp_path: Path) -> None:
    first, *_ = put_numbers(spool, 1, 2)
    path = tmp_path / "spool" / f"{first.id}.json"
    path.unlink()
    path.mkdir()
    taker = Taker()
    assert spool.drain(taker) == Drained(handled=1, set_aside=1)
    assert taker.numbers == [2]


def test_an_entry_that_the_handler_does_not_understand_is_set_aside(spool: Spool) -> None:
    put_numbers(spool, 1, 2)
    assert spool.drain(lambda entry: entry.payload["number"] == 2) == Drained(handled=1, set_aside=1)
    assert spool.set_aside_count() == 1


def test_other_files_in_the_folder_are_left_alone(spool: Spool, tmp_path: Path) -> None:
    put_numbers(spool, 1)
    stranger = tmp_path / "spool" / ".afterturn-1-0123456789abcdef.tmp"
    stranger.write_bytes(b"half")
    assert spool.drain(Taker()) == Drained(handled=1)
    assert stranger.exists()


def test_one_drains_at_a_time(spool: Spool, tmp_path: Path) -> None:
    put_numbers(spool, 1)
    with locked(tmp_path / "spool" / ".lock", wait_seconds=0), pytest.raises(SessionBusy):
        spool.drain(Taker())
    assert len(spool) == 1


def test_two_drainers_hand_each_entry_on_once_and_in_order(spool: Spool) -> None:
    put_numbers(spool, *range(60))
    taker = Taker()
    threads = [threading.Thread(target=spool.drain, args=(taker,), kwargs={"wait_seconds": 30}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taker.numbers == list(range(60))


def test_a_suspended_drainer_does_not_block_the_spool_for_ever(spool: Spool, tmp_path: Path) -> None:
    put_numbers(spool, 1)
    lock = tmp_path / "spool" / ".lock"
    hold = "import sys, time; from pathlib import Path; from worker.adapters.files import locked\n"
    hold += "with locked(Path(sys.argv[1]), wait_seconds=0): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold, str(lock)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(SessionBusy):
            spool.drain(Taker())
        long_ago = time.time() - STUCK_SECONDS - 1
        os.utime(lock, (long_ago, long_ago))
        assert spool.drain(Taker()) == Drained(handled=1)
        holder.kill()


def test_a_full_spool_keeps_the_newest_entry_about_each_thing(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_entries=6)
    for number in range(6):
        spool.put({"number": number}, about="one" if number % 2 else "two")
    spool.put({"number": 6}, about="three")
    taker = Taker()
    spool.drain(taker)
    assert taker.numbers == [4, 5, 6]


def test_a_spool_full_of_different_things_refuses_and_says_what_to_do(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_entries=3)
    put_numbers(spool, 1, 2, 3)
    with pytest.raises(StorageUnavailable, match="afterturn up"):
        put_numbers(spool, 4)
    assert len(spool) == 3


def test_an_entry_beyond_the_limit_is_refused(spool: Spool) -> None:
    with pytest.raises(StoreError, match="bytes"):
        spool.put({"text": "x" * MAX_ENTRY_BYTES}, about="s")


def test_a_full_disk_is_told_and_leaves_nothing_behind(small_disk: Path) -> None:
    spool = Spool(small_disk / "spool")
    count = 0
    with pytest.raises(StorageUnavailable):
        while True:
            spool.put({"text": "x" * 10_000, "number": count}, about=str(count))
            count += 1
    taker = Taker()
    assert spool.drain(taker) == Drained(handled=count)
    assert taker.numbers == list(range(count))


def test_files_and_folder_are_private(spool: Spool, tmp_path: Path) -> None:
    (entry,) = put_numbers(spool, 1)
    assert (tmp_path / "spool").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "spool" / f"{entry.id}.json").stat().st_mode & 0o777 == 0o600


def test_a_spool_is_watched_for_some_seconds_after_somebody_said_so(spool: Spool, tmp_path: Path) -> None:
    assert not spool.is_watched()
    spool.watch()
    assert spool.is_watched()
    for away in (-WATCHED_SECONDS - 1, WATCHED_SECONDS + 1):
        moment = time.time() + away
        os.utime(tmp_path / "spool" / ".watched", (moment, moment))
        assert not spool.is_watched()
    spool.watch()
    spool.unwatch()
    assert not spool.is_watched()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters()), json_values, max_size=4), st.text(st.characters()))
@settings(deadline=None, max_examples=40)
def test_a_payload_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, payload: Any, about: str) -> None:
    spool = Spool(tmp_path_factory.mktemp("spool"))
    entry = spool.put(payload, about=about)
    taker = Taker()
    spool.drain(taker)
    assert [e.id for e in taker.taken] == [entry.id]
    assert json.dumps(taker.taken[0].payload) == json.dumps(payload)
