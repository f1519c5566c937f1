"""What every model keeps to, the stand-in as well as LiteLLM before a real HTTP server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from worker.adapters.llm import FallbackModel, LiteLlm
from worker.errors import AfterturnError, ModelRefused, ModelUnavailable, PromptTooLong, RateLimited
from worker.ports import Model, ModelAnswer, Turn
from worker.testing import ScriptedModel

pytestmark = pytest.mark.xdist_group("litellm")

TURNS = (Turn(role="system", content="Be brief."), Turn(role="user", content="Say hello."))
Built = tuple[Model, Callable[[], int]]


@dataclass(frozen=True)
class Case:
    """One behaviour of a provider, told to either: what the stand-in replies and what the server sends."""

    scripted: Any
    served: Callable[[Any], Any]


ANSWER = Case("hello", lambda provider: provider.says("hello"))
CASES: dict[str, tuple[Case, type[AfterturnError] | ModelAnswer]] = {
    "cut off": (
        Case(
            ModelAnswer(text="hel", finish_reason="length"),
            lambda provider: provider.says("hel", finish_reason="length"),
        ),
        ModelAnswer(text="hel", finish_reason="length"),
    ),
    "tool call": (
        Case(
            ModelAnswer(text="", finish_reason="tool_calls", has_tool_calls=True),
            lambda provider: provider.calls_tool(),
        ),
        ModelAnswer(text="", finish_reason="tool_calls", has_tool_calls=True),
    ),
    "empty": (Case("", lambda provider: provider.says("")), ModelAnswer(text="", finish_reason="stop")),
    "outage": (Case(ModelUnavailable("down"), lambda provider: provider.fails(503, "down")), ModelUnavailable),
    "rate limit": (
        Case(RateLimited("wait", 7.0), lambda provider: provider.fails(429, "wait", retry_after=7)),
        RateLimited,
    ),
    "refusal": (Case(ModelRefused("bad key"), lambda provider: provider.fails(401, "bad key")), ModelRefused),
    "too long": (
        Case(PromptTooLong("long", 4096, 5000), lambda provider: provider.too_long(4096, 5000)),
        PromptTooLong,
    ),
}


def scripted(case: Case, provider: Any) -> Built:
    model = ScriptedModel(case.scripted)
    return model, lambda: len(model.asked)


def litellm(case: Case, provider: Any) -> Built:
    provider.script(case.served(provider))
    return LiteLlm("openai/test", api_base=provider.url, api_key="sk-test"), lambda: len(provider.requests)


def with_fallback(case: Case, provider: Any) -> Built:
    model = ScriptedModel(case.scripted)
    return FallbackModel([model]), lambda: len(model.asked)


BUILDERS = [scripted, litellm, with_fallback]


@pytest.mark.parametrize("build", BUILDERS)
def test_an_answer_is_text_with_reason_model_and_tokens(build: Any, provider: Any) -> None:
    model, requests = build(ANSWER, provider)
    answer = model.ask(TURNS, max_tokens=20)
    assert (answer.text, answer.finish_reason, answer.has_tool_calls, requests()) == ("hello", "stop", False, 1)
    assert answer.model
    assert answer.tokens_in > 0
    assert answer.tokens_out > 0


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("name", CASES)
def test_each_behaviour_of_a_provider_is_the_same_answer_or_error_after_one_request(
    build: Any, name: str, provider: Any
) -> None:
    case, expected = CASES[name]
    model, requests = build(case, provider)
    if isinstance(expected, ModelAnswer):
        answer = model.ask(TURNS, max_tokens=20)
        assert (answer.text, answer.finish_reason) == (expected.text, expected.finish_reason)
        assert answer.has_tool_calls == expected.has_tool_calls
    else:
        with pytest.raises(AfterturnError) as caught:
            model.ask(TURNS, max_tokens=20)
        assert type(caught.value) is expected
        assert caught.value.args[1:] == getattr(case.scripted, "args", ())[1:]
    assert requests() == 1


@pytest.mark.parametrize("build", BUILDERS)
def test_limits_and_name_are_known_without_a_request(build: Any, provider: Any) -> None:
    model, requests = build(ANSWER, provider)
    assert model.name
    assert model.limits.window_tokens >= model.limits.output_tokens > 0
    assert model.supports_schema in (True, False)
    assert requests() == 0
