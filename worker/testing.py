"""Public stand-ins for the ports: what a test, a demo or an embedding program uses where no network or disk is wanted.

They keep the contracts of `worker.ports` (`tests/contracts` runs one suite on them and on the real adapters), are safe
to share between threads, and record what was asked of them.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from worker.adapters.sessions import encode
from worker.core.checkpoint import Checkpoint
from worker.core.summary import Artifact
from worker.errors import AfterturnError, ModelRefused, StoreError
from worker.ports import ModelAnswer, ModelLimits, Turn

Reply = str | ModelAnswer | AfterturnError | Callable[[Sequence[Turn]], "str | ModelAnswer"]
"""A text is an answer that ended by itself; an error is raised; a function sees the turns and answers them."""


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime = datetime(2026, 1, 23, 3, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as the model got it."""

    turns: tuple[Turn, ...]
    max_tokens: int
    schema: Mapping[str, Any] | None

    @property
    def text(self) -> str:
        return "\n".join(turn.content for turn in self.turns)


class ScriptedModel:
    """Answers with the replies in order, then with `otherwise`; without one, a request too many is refused.

    `asked` holds every request, oldest first.
    """

    def __init__(
        self,
        *replies: Reply,
        otherwise: Reply | None = None,
        name: str = "scripted",
        window_tokens: int = 128_000,
        output_tokens: int = 8_192,
        supports_schema: bool = False,
    ) -> None:
        self.name = name
        self.limits = ModelLimits(window_tokens=window_tokens, output_tokens=output_tokens)
        self.supports_schema = supports_schema
        self.asked: list[Request] = []
        self._replies = list(replies)
        self._otherwise = otherwise
        self._lock = threading.Lock()

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        reply = self._next(Request(turns=tuple(turns), max_tokens=max_tokens, schema=schema))
        if callable(reply):
            reply = reply(turns)
        if isinstance(reply, AfterturnError):
            raise reply
        return self._counted(turns, reply)

    def _next(self, asked: Request) -> Reply:
        with self._lock:
            self.asked.append(asked)
            reply = self._replies.pop(0) if self._replies else self._otherwise
        if reply is None:
            raise ModelRefused(f"{self.name}: no reply is scripted for request {len(self.asked)}")
        return reply

    def _counted(self, turns: Sequence[Turn], reply: str | ModelAnswer) -> ModelAnswer:
        """Four characters per token, as the fiction of a provider's own count."""
        if isinstance(reply, ModelAnswer):
            return replace(reply, model=reply.model or self.name)
        read = sum(len(turn.content) for turn in turns) // 4
        return ModelAnswer(
            text=reply, finish_reason="stop", model=self.name, tokens_in=read, tokens_out=len(reply) // 4, cost_usd=0.0
        )


EMPTY_PART: Mapping[str, object] = {
    "request": "",
    "concepts": [],
    "files": [],
    "references": [],
    "errors": [],
    "checks": [],
    "problem_solving": [],
    "tasks": [],
    "current_work": "",
    "next_step": None,
    "constraints": [],
    "lifted": [],
    "memories": [],
}


def in_form(content: Mapping[str, object], analysis: str = "Went through the messages in order.") -> str:
    """An answer as the prompts ask for it: the analysis, then one JSON object."""
    body = json.dumps(content, ensure_ascii=False)
    return f"<analysis>\n{analysis}\n</analysis>\n<summary>\n{body}\n</summary>"


def part_answer(**content: object) -> str:
    """A well-formed answer to the question about a part; sections that are not named are empty."""
    texts = {"request": "Go on with the work of this session", "current_work": "The last message was answered"}
    return in_form({**EMPTY_PART, **texts, **content})


class MemoryParts:
    """Part answers in a dict."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.entries.get(key)

    def put(self, key: str, answer: str) -> None:
        self.entries[key] = answer


class MemoryStore:
    """The chains of checkpoints of any number of sessions."""

    def __init__(self) -> None:
        self._chains: dict[str, dict[int, Checkpoint]] = {}
        self._lock = threading.Lock()

    def latest(self, session_key: str) -> Checkpoint | None:
        chain = self.chain(session_key)
        return chain[-1] if chain else None

    def chain(self, session_key: str) -> list[Checkpoint]:
        with self._lock:
            return [checkpoint for _, checkpoint in sorted(self._chains.get(session_key, {}).items())]

    def commit(self, checkpoint: Checkpoint) -> Checkpoint | None:
        sealed, _ = encode(checkpoint)
        with self._lock:
            chain = self._chains.setdefault(checkpoint.session.key, {})
            before = chain.get(checkpoint.number - 1)
            if sealed.parent != (before.id if before else None) or (before is None and sealed.number != 1):
                return None
            stored = chain.setdefault(sealed.number, sealed)
            return stored if stored.id == sealed.id else None


class MemoryArtifacts:
    """Artifacts by (session key, handle), as (text, artifact)."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], tuple[str, Artifact]] = {}

    def put(self, session_key: str, text: str, artifact: Artifact) -> None:
        if hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() != artifact.handle:
            raise StoreError(f"{session_key}: the handle is not the hash of the text; nothing was written")
        self.entries.setdefault((session_key, artifact.handle), (text, artifact))


class MemoryProjections:
    """Remembers for which sessions it was told to project; writes nothing."""

    def __init__(self) -> None:
        self.projected: list[str] = []

    def project(self, session_key: str) -> list[str]:
        self.projected.append(session_key)
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One report of progress."""

    stage: str
    done: int
    total: int
    tokens: int


@dataclass(slots=True)
class RecordedProgress:
    """Every report, in the order in which they came."""

    steps: list[Step] = field(default_factory=list)

    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        self.steps.append(Step(stage=stage, done=done, total=total, tokens=tokens))
