"""A model as all workers share it: no more requests at a time than allowed, none while the provider asked for a pause,
none while it is down. What a request took is counted, also that of an attempt that came to nothing.
"""

import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from worker.adapters.breakers import Breakers
from worker.adapters.redis_link import RedisLink
from worker.adapters.slots import Slots
from worker.errors import ModelUnavailable, RateLimited
from worker.ports import Clock, Model, ModelAnswer, ModelLimits, Passage, Turn

SLOT_SLACK_SECONDS = 30.0
"""How much longer than its request a slot is kept for a holder that died."""


class Meter:
    """What one attempt has spent so far. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.tokens_in = 0
        self.tokens_out = 0
        self.calls = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def add(self, answer: ModelAnswer) -> None:
        with self._lock:
            self.tokens_in += answer.tokens_in
            self.tokens_out += answer.tokens_out
            self.calls += 1


class Providers:
    """The providers of one Redis, by model name. One object per process, so that one thread of it waits for a slot."""

    def __init__(
        self, link: RedisLink, breakers: Breakers, clock: Clock, *, concurrency: int, timeout_seconds: float
    ) -> None:
        self._link = link
        self._breakers = breakers
        self._clock = clock
        self._concurrency = concurrency
        self._timeout_seconds = timeout_seconds
        self._slots: dict[str, Slots] = {}
        self._lock = threading.Lock()

    def shared(self, model: Model, meter: Meter, *, is_manual: bool) -> Model:
        """The model with all that is agreed on between the workers around it."""
        return SharedModel(
            model,
            slots=self._slots_of(model.name),
            breakers=self._breakers,
            clock=self._clock,
            meter=meter,
            is_manual=is_manual,
            wait_seconds=self._timeout_seconds,
        )

    def _slots_of(self, name: str) -> Slots:
        with self._lock:
            if name not in self._slots:
                life = self._timeout_seconds + SLOT_SLACK_SECONDS
                self._slots[name] = Slots(self._link, name, self._concurrency, life_seconds=life)
            return self._slots[name]


class SharedModel:
    """One model; a Model itself. wait_seconds: how long a request waits for its slot."""

    def __init__(
        self,
        model: Model,
        *,
        slots: Slots,
        breakers: Breakers,
        clock: Clock,
        meter: Meter,
        is_manual: bool,
        wait_seconds: float,
    ) -> None:
        self.name = model.name
        self._model = model
        self._slots = slots
        self._breakers = breakers
        self._clock = clock
        self._meter = meter
        self._is_manual = is_manual
        self._wait_seconds = wait_seconds
        self._breaker = f"provider:{model.name}"

    @property
    def limits(self) -> ModelLimits:
        return self._model.limits

    @property
    def supports_schema(self) -> bool:
        return self._model.supports_schema

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        """Raises: RateLimited while the breaker is open, as if the provider had asked to wait so long;
        ModelUnavailable when no slot became free; BrokerUnavailable; what the model raises.
        """
        passage = self._breakers.ask(self._breaker, self._clock.now(), is_manual=self._is_manual)
        if not passage.allowed:
            raise self._closed_to(passage)
        try:
            with self._slots.slot(wait_seconds=self._wait_seconds):
                answer = self._asked(turns, max_tokens, schema)
        except BaseException:
            if passage.is_probe:  # after a failure that was noted this changes nothing
                self._breakers.withdrew(self._breaker)
            raise
        self._meter.add(answer)
        self._breakers.succeeded(self._breaker)
        return answer

    def _asked(self, turns: Sequence[Turn], max_tokens: int, schema: Mapping[str, Any] | None) -> ModelAnswer:
        """An outage counts against the provider; a limit is obeyed; what lies with the request says nothing of it."""
        try:
            return self._model.ask(turns, max_tokens=max_tokens, schema=schema)
        except RateLimited as exc:
            if exc.retry_after_seconds:
                self._slots.pause(exc.retry_after_seconds)
            raise
        except ModelUnavailable as exc:
            self._breakers.failed(self._breaker, self._clock.now(), exc.reason)
            raise

    def _closed_to(self, passage: Passage) -> RateLimited:
        left = (passage.until - self._clock.now()) if passage.until else timedelta()
        seconds = max(left.total_seconds(), 1.0)
        return RateLimited(f"{self.name}: {passage.detail}; asked again in {seconds:.0f} s", seconds)
