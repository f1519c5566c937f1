"""What a consolidation needs from the world. Adapters implement these; `worker.testing` has stand-ins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from worker.core.checkpoint import Checkpoint
from worker.core.summary import Artifact


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware and in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a request to a model. role: system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """window_tokens holds input and output together; output_tokens is the longest answer the model gives.

    assumed: neither a setting nor a list tells the window, and it is a careful guess.
    """

    window_tokens: int
    output_tokens: int
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What came back, unjudged. finish_reason: stop, length, tool_calls, content_filter, or what the provider says."""

    text: str
    finish_reason: str
    has_tool_calls: bool = False
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0


class Model(Protocol):
    """A chat model. Implementations make exactly one request per call and raise only `worker.errors`."""

    name: str

    @property
    def limits(self) -> ModelLimits: ...

    @property
    def supports_schema(self) -> bool:
        """True when `ask` can hold the answer to a schema."""
        ...

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        """The model's answer to the turns.

        Raises: ModelUnavailable, RateLimited (try later), ModelRefused, PromptTooLong (the same call fails again).
        """
        ...


class Prompts(Protocol):
    @property
    def sha256(self) -> str:
        """Over all prompt files: changes when any of them does."""
        ...

    def render(self, name: str, /, **values: object) -> str:
        """The prompt file of that name with the values filled in; a missing or unknown value is an error."""
        ...


class Parts(Protocol):
    """Answers already paid for, by (prompt hash, model, content hash)."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, answer: str) -> None: ...


class Checkpoints(Protocol):
    """The chain of one workspace's sessions."""

    def latest(self, session_key: str) -> Checkpoint | None:
        """The newest checkpoint of a session, None for a new one. Raises: StoreError when it is damaged."""
        ...

    def chain(self, session_key: str) -> list[Checkpoint]:
        """All checkpoints of a session, oldest first."""
        ...

    def commit(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Creates the file exclusively: the checkpoint as it is stored, with its id; None when somebody else won.

        Raises: StorageUnavailable; then nothing is left behind.
        """
        ...


class Artifacts(Protocol):
    def put(self, session_key: str, text: str, artifact: Artifact) -> None:
        """Keeps the text under `artifact.handle`; a second put of the same handle changes nothing."""
        ...


class Projections(Protocol):
    def project(self, session_key: str) -> list[str]:
        """Brings HISTORY.md and MEMORY.md up to the newest checkpoint; names what was written. Never doubles a line."""
        ...


class Progress(Protocol):
    def report(self, stage: str, done: int = 0, total: int = 0, tokens: int = 0) -> None:
        """stage: reading, planning, asking (part done of total), merging, validating, writing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a gate (breaker, frequency cap …) says to an automatic job.

    reason: a code, None when allowed. until: when asking again makes sense, None when that is no question of time.
    is_probe: allowed as the one attempt that decides whether others may follow. detail: numbers for a person.
    """

    allowed: bool
    reason: str | None = None
    until: datetime | None = None
    is_probe: bool = False
    detail: str = ""
