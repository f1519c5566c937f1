"""Work in threads that hold nobody back.

The threads of `concurrent.futures` are joined when the interpreter ends: a request that hangs would keep a person's
Ctrl-C waiting for as long as the provider likes. These are daemons. Whoever gives up goes on, and they end with what
they wait for.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Given = TypeVar("Given")
Got = TypeVar("Got")


def within(seconds: float, work: Callable[[], Got]) -> Got:
    """What the work gives. It cannot be stopped: when time is up it is left to end by itself.

    Raises: TimeoutError when time is up; what the work raises.
    """
    outcome: SimpleQueue[Got | _Raised] = SimpleQueue()
    threading.Thread(target=lambda: outcome.put(_attempted(work)), name="within", daemon=True).start()
    try:
        came = outcome.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"nothing came in {seconds:g} seconds") from None
    return _unpacked(came)


def side_by_side(
    work: Callable[[Given], Got],
    over: Sequence[Given],
    *,
    at_once: int,
    on_done: Callable[[int, int], None],
) -> list[Got]:
    """What the work gives for each, in order, with at most `at_once` of them worked on at a time.

    on_done is told in the caller's thread how many of how many are done. When one fails, or on_done raises an
    Exception, those begun are finished, those not begun are left, and the error is raised: of several the one of the
    earliest. An interrupt (KeyboardInterrupt) waits for nothing.
    """
    crew = _Crew(work, over)
    for _ in range(min(at_once, len(over))):
        crew.add_thread()
    try:
        crew.wait(on_done)
    except Exception:
        crew.finish()
        raise
    finally:
        crew.stopped.set()
    return crew.results()


class _Raised:
    """An error on its way from one thread to another."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _attempted(work: Callable[[], Got]) -> Got | _Raised:
    try:
        return work()
    except BaseException as exc:  # noqa: BLE001 - raised again where somebody waits for it
        return _Raised(exc)


def _unpacked(came: Got | _Raised) -> Got:
    if isinstance(came, _Raised):
        raise came.error
    return came


class _Crew(Generic[Given, Got]):
    def __init__(self, work: Callable[[Given], Got], over: Sequence[Given]) -> None:
        self.stopped = threading.Event()
        self._work = work
        self._total = len(over)
        self._waiting: SimpleQueue[tuple[int, Given]] = SimpleQueue()
        self._finished: SimpleQueue[tuple[int, Got | _Raised] | None] = SimpleQueue()
        self._came: dict[int, Got | _Raised] = {}
        self._threads: list[threading.Thread] = []
        for place in enumerate(over):
            self._waiting.put(place)

    def add_thread(self) -> None:
        thread = threading.Thread(target=self._labour, name=f"side-{len(self._threads) + 1}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self, on_done: Callable[[int, int], None]) -> None:
        """Until every thread has ended; None in the queue is the last word of one."""
        running = len(self._threads)
        while running:
            told = self._finished.get()
            if told is None:
                running -= 1
                continue
            self._came[told[0]] = told[1]
            if not self.stopped.is_set():
                on_done(len(self._came), self._total)

    def finish(self) -> None:
        self.stopped.set()
        for thread in self._threads:
            thread.join()

    def results(self) -> list[Got]:
        """In order. Raises: the first error among them."""
        return [_unpacked(came) for _, came in sorted(self._came.items(), key=lambda entry: entry[0])]

    def _labour(self) -> None:
        while not self.stopped.is_set():
            try:
                place, given = self._waiting.get_nowait()
            except Empty:
                break
            came = _attempted(partial(self._work, given))
            if isinstance(came, _Raised):
                self.stopped.set()
            self._finished.put((place, came))
        self._finished.put(None)
