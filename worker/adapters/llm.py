"""LiteLLM behind `worker.ports.Model`: one request per call, and only errors of ours.

The one file that imports litellm, and only when a model is first used: the import costs seconds. What litellm and the
providers say about a failure stays out of our messages, because it may quote the request or the key; a message names
the model, the kind of failure, the status and the next step.
"""

import os
import re
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, cached_property, partial
from typing import Any

from worker.errors import AfterturnError, ModelRefused, ModelUnavailable, PromptTooLong, RateLimited
from worker.ports import Model, ModelAnswer, ModelLimits, Turn
from worker.threads import within

DEFAULT_WINDOW_TOKENS = 32_000
DEFAULT_OUTPUT_TOKENS = 8_192
"""What is assumed of a model that litellm's list does not know: what most servers of open models are started with."""


_LOADING = threading.Lock()
"""Parts are asked in threads, and the first to come loads the library for all."""


def _litellm() -> Any:
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> Any:
    """The library, told before its import to fetch no price list and to read no .env of the folder we stand in."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    with warnings.catch_warnings():
        # Its modules warn about each other, and the last of them are only loaded by a call: this one sends nothing.
        warnings.simplefilter("ignore")
        import litellm

        litellm.suppress_debug_info = True
        litellm.completion(model="openai/none", messages=[{"role": "user", "content": "-"}], mock_response="-")
    litellm.telemetry = False
    # With it a 422 is answered by a second request of litellm's own; what we send, every chat model takes.
    litellm.drop_params = False
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    return litellm


@cache
def _litellm_errors() -> tuple[type[Exception], ...]:
    classes = vars(_litellm().exceptions).values()
    return tuple(each for each in classes if isinstance(each, type) and issubclass(each, Exception))


class LiteLlm:
    """A model as LiteLLM names it ("openai/gpt-4o", "anthropic/…"); key and address by argument or litellm's own
    environment variables.
    """

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 300.0,
        window_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        self.name = name
        self._api_base = api_base
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._window_tokens = window_tokens
        self._output_tokens = output_tokens

    @cached_property
    def limits(self) -> ModelLimits:
        """By setting, else by litellm's list, else careful defaults; an answer is never longer than the window."""
        known = self._known
        told = self._window_tokens or known.get("max_input_tokens")
        window = told or DEFAULT_WINDOW_TOKENS
        output = self._output_tokens or known.get("max_output_tokens") or DEFAULT_OUTPUT_TOKENS
        return ModelLimits(window_tokens=window, output_tokens=min(output, window), assumed=told is None)

    @cached_property
    def supports_schema(self) -> bool:
        """By litellm's list; not of Claude, which litellm holds to a schema by forcing a tool call on it."""
        return "claude" not in self.name.lower() and bool(self._known.get("supports_response_schema"))

    @cached_property
    def _known(self) -> Mapping[str, Any]:
        """The entry in litellm's own list. Its `get_model_info` is not asked: for some providers it goes online."""
        listed = _litellm().model_cost
        names = (self.name, self.name.partition("/")[2], self.name.rpartition("/")[2])
        return next((listed[name] for name in names if name in listed), {})

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        """One request. Raises: as `worker.ports.Model` says."""
        litellm = _litellm()
        request = self._request(turns, max_tokens, schema)
        started = time.monotonic()
        try:
            # litellm's own limit is for each read: a server that drips a byte now and then never meets it.
            response = within(self._timeout_seconds, partial(litellm.completion, **request))
        except TimeoutError as exc:
            raise _too_slow(self.name) from exc
        except _litellm_errors() as exc:
            if _is_filtered(exc):
                # An answer of a kind: the same job with other material is served, so only this question is lost.
                return ModelAnswer(text="", finish_reason="content_filter", model=self.name)
            raise _mapped(exc, self.name) from exc
        return _read(response, self.name, time.monotonic() - started)

    def _request(self, turns: Sequence[Turn], max_tokens: int, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": turn.role, "content": _sendable(turn.content)} for turn in turns],
            "max_tokens": max_tokens,
            "timeout": self._timeout_seconds,
            "max_retries": 0,
            "num_retries": 0,
        }
        if self._api_base is not None:
            request["api_base"] = self._api_base
        if self._api_key is not None:
            request["api_key"] = self._api_key
        if schema is not None:
            named = {"name": schema.get("title", "answer"), "schema": dict(schema), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": named}
        return request


def _sendable(text: str) -> str:
    """Without lone halves of surrogate pairs, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


class FallbackModel:
    """Several models as one: the first that is there answers, each asked at most once per question.

    Passed on to the next: outage and rate limit. Not passed on: a refusal of the first model, because a wrong key or a
    malformed request is to be repaired and not to be hidden behind a dearer model. When a fallback fails, whatever the
    reason, the next one is asked; when none is left, the first model's error is the one that tells when to come back.
    The limits are the tightest of all, so that what fits one fits every other.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ValueError("a FallbackModel needs at least one model")
        self._models = tuple(models)
        self.name = self._models[0].name

    @cached_property
    def limits(self) -> ModelLimits:
        limits = [model.limits for model in self._models]
        return ModelLimits(
            window_tokens=min(each.window_tokens for each in limits),
            output_tokens=min(each.output_tokens for each in limits),
            assumed=any(each.assumed for each in limits),
        )

    @cached_property
    def supports_schema(self) -> bool:
        return all(model.supports_schema for model in self._models)

    def ask(self, turns: Sequence[Turn], *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> ModelAnswer:
        """The answer of the first model that gives one. Raises: the first model's error."""
        first, *others = self._models
        try:
            return first.ask(turns, max_tokens=max_tokens, schema=schema)
        except ModelUnavailable:
            for model in others:
                try:
                    return model.ask(turns, max_tokens=max_tokens, schema=schema)
                except (ModelUnavailable, ModelRefused):
                    continue
            raise


def _read(response: Any, name: str, seconds: float) -> ModelAnswer:
    """The answer in our words. Raises: ModelUnavailable when the response is none."""
    choices = getattr(response, "choices", None)
    if not choices:
        raise ModelUnavailable(f"{name}: the provider answered without a choice; try again later")
    message = choices[0].message
    text = _text_of(getattr(message, "content", None))
    usage = getattr(response, "usage", None)
    return ModelAnswer(
        text=text,
        finish_reason=_finish_reason(choices[0], text),
        has_tool_calls=bool(getattr(message, "tool_calls", None) or getattr(message, "function_call", None)),
        model=str(getattr(response, "model", None) or name),
        tokens_in=getattr(usage, "prompt_tokens", None) or 0,
        tokens_out=getattr(usage, "completion_tokens", None) or 0,
        cost_usd=getattr(response, "_hidden_params", {}).get("response_cost"),
        seconds=seconds,
    )


def _text_of(content: object) -> str:
    """The text of an answer whose content is a text, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _finish_reason(choice: Any, text: str) -> str:
    """The provider's, except that a refusal comes as "stop" without a text."""
    fields = getattr(choice.message, "provider_specific_fields", None) or {}
    if not text and (getattr(choice.message, "refusal", None) or fields.get("refusal")):
        return "refusal"
    return str(choice.finish_reason or "")


# Failures.

_AGAIN_LATER = frozenset({408, 409, 425, 429, 498, 499})
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance|payment", re.IGNORECASE)
_UNREADABLE = re.compile(r"[Ii]nvalid response (?:object|from)|Received response - <APIResponse \[200")
_FILTERED = re.compile(r"content_policy_violation|content management policy|violating our usage policy")
_N = r"(\d[\d,]{0,15})"
_LIMIT_THEN_ACTUAL = (
    re.compile(
        rf"maximum (?:context|prompt) length is {_N}.{{0,120}}?(?:requested(?: about)?|resulted in|contains) {_N}"
    ),
    re.compile(rf"limit of {_N} tokens.{{0,80}}?resulted in {_N}"),
    re.compile(rf"[Rr]equest too large.{{0,200}}?Limit {_N}, Requested {_N}"),
)
_ACTUAL_THEN_LIMIT = (
    re.compile(rf"prompt is too long: {_N} tokens > {_N}"),
    re.compile(rf"token count \(?{_N}\)? exceeds the maximum number of (?:input )?tokens allowed \(?{_N}"),
    re.compile(rf"request \({_N} tokens\) exceeds the available context size \({_N}"),
    re.compile(rf"[Pp]rompt contains {_N} tokens.{{0,120}}?with {_N} maximum context"),
)
_SUM_THEN_LIMIT = re.compile(rf"exceed context limit: {_N} \+ {_N} > {_N}")
_TOO_LONG = re.compile(
    r"context.length|context.window|context size|prompt is too long|input is too long|too many (?:input )?tokens"
    r"|reduce the length|maximum number of (?:input )?tokens|request too large",
    re.IGNORECASE,
)
_WAIT_IN_TEXT = re.compile(r"(?:try again|retry) (?:in|after) (\d{1,6}(?:\.\d{1,6})?) ?(ms|s)", re.IGNORECASE)


def _is_filtered(exc: Exception) -> bool:
    policy = _litellm().exceptions.ContentPolicyViolationError
    return isinstance(exc, policy) or (_status_of(exc) == 400 and _FILTERED.search(str(exc)[:4_000]) is not None)


def _mapped(exc: Exception, name: str) -> AfterturnError:
    """The error of ours that says what a caller can do about one of litellm's."""
    errors = _litellm().exceptions
    text = str(exc)[:4_000]
    if isinstance(exc, errors.ContextWindowExceededError) or _says_too_long(exc, text):
        limit, actual = too_long_numbers(text)
        return PromptTooLong(f"{name}: the request is longer than the model's window", limit, actual)
    if isinstance(exc, errors.RateLimitError):
        if _QUOTA.search(text):
            return ModelRefused(f"{name}: the quota is used up; check the plan and billing of the key")
        return RateLimited(f"{name}: the provider asks to wait", _retry_after_seconds(exc, text))
    if isinstance(exc, errors.Timeout):
        return _too_slow(name)
    return _by_status(exc, name)


def _too_slow(name: str) -> ModelUnavailable:
    return ModelUnavailable(f"{name}: no answer in time; AFTERTURN_LLM_TIMEOUT_SECONDS is how long we wait")


def _by_status(exc: Exception, name: str) -> AfterturnError:
    """A failure that has no class of its own: what the client did wrong stays wrong, all else may pass."""
    errors = _litellm().exceptions
    status = _status_of(exc)
    if isinstance(exc, errors.APIConnectionError):
        return ModelUnavailable(f"{name}: the connection failed or broke; try again later")
    if isinstance(exc, errors.AuthenticationError | errors.PermissionDeniedError) or status in (401, 403):
        return ModelRefused(f"{name}: the provider refused the key ({status}); check AFTERTURN_API_KEY")
    if isinstance(exc, errors.NotFoundError) or status == 404:
        return ModelRefused(f"{name}: no such model or address (404); check AFTERTURN_MODEL and AFTERTURN_API_BASE")
    if _UNREADABLE.search(str(exc)[:4_000]):
        return ModelUnavailable(f"{name}: what answered is no chat model; check AFTERTURN_API_BASE, or try again later")
    if status >= 500 or status in _AGAIN_LATER:
        return ModelUnavailable(f"{name}: the provider failed ({status}); try again later")
    if isinstance(exc, errors.APIResponseValidationError):
        return ModelUnavailable(f"{name}: the provider's answer is not readable; try again later")
    reason = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(exc).__name__).lower()
    return ModelRefused(
        f"{name}: the provider will not serve this request ({reason}, {status}); see 'afterturn doctor'"
    )


def _status_of(exc: Exception) -> int:
    status = getattr(exc, "status_code", None)
    return status if isinstance(status, int) else 400


def _says_too_long(exc: Exception, text: str) -> bool:
    status = _status_of(exc)
    return status == 413 or (status in (400, 422, 429) and _TOO_LONG.search(text) is not None)


def too_long_numbers(text: str) -> tuple[int | None, int | None]:
    """The window and the size of the request, in tokens, as far as the provider names them."""
    for pattern in _LIMIT_THEN_ACTUAL:
        if found := pattern.search(text):
            return _number(found[1]), _number(found[2])
    for pattern in _ACTUAL_THEN_LIMIT:
        if found := pattern.search(text):
            return _number(found[2]), _number(found[1])
    if found := _SUM_THEN_LIMIT.search(text):
        return _number(found[3]), _number(found[1]) + _number(found[2])
    return None, None


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


def _retry_after_seconds(exc: Exception, text: str) -> float | None:
    """How long to wait, from the headers, else from the words; None when neither tells."""
    for headers in _headers_of(exc):
        if (milliseconds := _float(headers.get("retry-after-ms"))) is not None:
            return milliseconds / 1000
        if (value := headers.get("retry-after")) is not None:
            return _seconds(value)
    if found := _WAIT_IN_TEXT.search(text):
        return float(found[1]) / (1000 if found[2].lower() == "ms" else 1)
    return None


def _headers_of(exc: Exception) -> Iterator[Mapping[str, str]]:
    for holder in (getattr(exc, "response", None), exc):
        headers = getattr(holder, "headers", None)
        if headers:
            yield {str(name).lower(): str(value) for name, value in headers.items()}


def _seconds(value: str) -> float | None:
    """Seconds or a date, as the header allows both; never negative."""
    seconds = _float(value)
    if seconds is None:
        try:
            seconds = (parsedate_to_datetime(value).astimezone(UTC) - datetime.now(UTC)).total_seconds()
        except ValueError:
            return None
    return max(0.0, seconds)


def _float(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None
