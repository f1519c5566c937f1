"""Settings: `AFTERTURN_*`, read once at the entry point, checked whole, refused by name when unknown.

The README's table is made from the fields below, so a description here is documentation.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from worker.errors import UsageError

PREFIX = "AFTERTURN_"
_FOREIGN_PREFIXES = (f"{PREFIX}TEST_", f"{PREFIX}EVAL_", f"{PREFIX}BENCH_")


def _split_names(value: object) -> object:
    return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split_names)]


class Settings(BaseModel):
    """All settings. An unset variable and an empty one mean the default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = Field(None, description="Model as LiteLLM names it; unset: work without a model")
    fallback_models: Names = Field((), description="Models to try in this order when the first is unavailable")
    api_base: str | None = Field(None, description="Address of an OpenAI-compatible endpoint")
    api_key: SecretStr | None = Field(None, description="Key for the model; else the provider's own variable")
    workspace: Path | None = Field(None, description="One folder for everything; unset: one per project in the home")
    home: Path = Field(Path("~/.afterturn"), description="Where projects without a workspace of their own are kept")
    window_tokens: int | None = Field(None, ge=4_000, description="The model's window; unset: what is known of it")
    keep_recent_tokens: int | None = Field(None, ge=0, description="The tail; unset: 20,000, or 8,000 under 64k")
    part_tokens: int = Field(16_000, ge=500, description="Largest part that is summarized at once, tokens")
    state_tokens: int = Field(24_000, ge=2_000, description="Largest state that goes from checkpoint to checkpoint")
    summary_tokens: int = Field(20_000, ge=500, description="Reserve for one answer, tokens")
    reserve_tokens: int = Field(
        20_000, ge=0, description="What a view leaves free for the agent's answer, tokens; at most a tenth under 128k"
    )
    show_tokens: int = Field(12_000, ge=500, description="Budget of a rendered summary, tokens")
    briefing_tokens: int = Field(2_000, ge=0, description="What Claude Code is told at a session's start; 0: nothing")
    stages: Literal["auto", "2"] = Field("auto", description="auto: one answer, continued when needed. 2: always two")
    llm_concurrency: int = Field(4, ge=1, le=256, description="Parts asked at the same time")
    llm_timeout_seconds: float = Field(300.0, gt=0, description="For one request to the model, seconds")
    llm_retries: int = Field(2, ge=0, le=10, description="Further tries after a passing fault of the provider")
    batch_tokens: int = Field(4_000, ge=0, description="Least that a turn's end starts an automatic run for, tokens")
    daily_tokens: int | None = Field(None, ge=1, description="Tokens that a workspace may spend a day; unset: no limit")
    max_row_bytes: int = Field(64 * 2**20, ge=2**16, description="Longest transcript row that is read, bytes")
    redis_url: str | None = Field(None, description="Redis of a deployment; unset: the one that 'afterturn up' starts")
    worker_threads: int = Field(8, ge=1, le=256, description="Sessions that one worker consolidates at the same time")
    interactive_threads: int = Field(
        2, ge=1, le=64, description="Threads that 'afterturn up' keeps for people who wait"
    )
    provider_concurrency: int = Field(16, ge=1, le=1024, description="Requests at a time to one model, by all workers")
    job_seconds: float = Field(3_600.0, gt=0, description="Longest attempt at one job, seconds")
    job_attempts: int = Field(5, ge=1, le=50, description="Attempts at a job; the last does without the model")
    nightly_at: str = Field(
        "03:30", pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="Local time of the nightly run, HH:MM"
    )
    nightly_tokens: int | None = Field(2_000_000, ge=1, description="Tokens that one night may spend in a workspace")
    idle_minutes: int = Field(30, ge=0, description="How long a session was quiet before a night consolidates it")
    rebuild_every: int = Field(
        8, ge=2, description="Checkpoints after which a session is summarized from its transcript"
    )
    artifact_days: int = Field(
        30, ge=1, description="Days that an artifact is kept once no checkpoint and no view names it"
    )
    metrics_port: int | None = Field(None, ge=1, le=65_535, description="Port for Prometheus; unset: no metrics")
    timezone: str | None = Field(None, description="Zone of all dates that people read; unset: the machine's own")
    log_level: Literal["debug", "info", "warning", "error"] = Field("warning", description="Least level of log events")

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> "Settings":
        """The settings that an environment gives.

        Raises: UsageError naming the variable, for an unknown name or a value out of range.
        """
        given = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX) and not name.startswith(_FOREIGN_PREFIXES) and value.strip()
        }
        try:
            return cls.model_validate(given)
        except ValidationError as exc:
            raise UsageError("; ".join(_explain(error) for error in exc.errors())) from None


def _explain(error: ErrorDetails) -> str:
    name = PREFIX + str(error["loc"][0]).upper()
    if error["type"] == "extra_forbidden":
        return f"{name}: no such setting{_nearest(name)}; 'afterturn doctor' lists them"
    return f"{name}={error['input']!r}: {error['msg'].lower()}"


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    known = [PREFIX + field.upper() for field in Settings.model_fields]
    close = get_close_matches(name, known, n=1)
    return f", did you mean {close[0]}?" if close else ""
