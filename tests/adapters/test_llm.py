"""LiteLLM against a real HTTP server: one request per call, and every failure becomes an error of ours."""

import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from worker.adapters.llm import (
    DEFAULT_OUTPUT_TOKENS,
    DEFAULT_WINDOW_TOKENS,
    FallbackModel,
    LiteLlm,
    _litellm,
    _mapped,
    too_long_numbers,
)
from worker.errors import (
    AfterturnError,
    ModelRefused,
    ModelUnavailable,
    Permanent,
    PromptTooLong,
    RateLimited,
    Transient,
)
from worker.ports import ModelAnswer, ModelLimits, Turn
from worker.testing import ScriptedModel

pytestmark = pytest.mark.xdist_group("litellm")

KEY = "sk-test-not-a-key-0123456789"
WORDS = "the schema of the moon"
TURNS = [Turn(role="system", content="Be brief."), Turn(role="user", content=WORDS)]


@pytest.fixture
def model(provider: Any) -> LiteLlm:
    return LiteLlm("openai/test", api_base=provider.url, api_key=KEY, timeout_seconds=5)


def ask(model: LiteLlm | FallbackModel) -> ModelAnswer:
    return model.ask(TURNS, max_tokens=50)


def failure(model: LiteLlm | FallbackModel) -> AfterturnError:
    with pytest.raises(AfterturnError) as caught:
        ask(model)
    return caught.value


def test_an_answer_comes_with_what_it_took(provider: Any, model: LiteLlm) -> None:
    provider.script(provider.says("hello"))
    answer = ask(model)
    assert (answer.text, answer.finish_reason, answer.tokens_in, answer.tokens_out) == ("hello", "stop", 120, 30)
    assert (answer.has_tool_calls, answer.cost_usd) == (False, None)
    assert answer.seconds > 0


def test_the_cost_is_known_where_the_price_is(provider: Any) -> None:
    provider.script(provider.says("hello"))
    answer = ask(LiteLlm("openai/gpt-4o", api_base=provider.url, api_key=KEY))
    assert answer.cost_usd is not None
    assert answer.cost_usd > 0


def test_the_request_says_what_was_asked_and_carries_no_tools_b10_b14_o51(provider: Any, model: LiteLlm) -> None:
    provider.script(provider.says("hello"))
    ask(model)
    (request,) = provider.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["messages"] == [{"role": turn.role, "content": turn.content} for turn in TURNS]
    assert request.body["max_tokens"] == 50
    assert not {"tools", "tool_choice", "functions", "stream"} & request.body.keys()


def test_text_that_is_no_unicode_is_sent_all_the_same(provider: Any, model: LiteLlm) -> None:
    provider.script(provider.says("hello"))
    model.ask([Turn(role="user", content="a\ud800b\x00\u2028\U0001f600")], max_tokens=9)
    assert provider.requests[0].body["messages"][0]["content"] == "a?b\x00\u2028\U0001f600"


def test_key_and_address_may_come_from_litellms_own_variables(provider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-the-environment")
    monkeypatch.setenv("OPENAI_API_BASE", provider.url)
    provider.script(provider.says("hello"))
    assert ask(LiteLlm("openai/test")).text == "hello"
    assert provider.requests[0].headers["authorization"] == "Bearer sk-test-of-the-environment"


def test_a_schema_is_sent_as_a_response_format(provider: Any) -> None:
    provider.script(provider.says("{}"))
    model = LiteLlm("openai/gpt-4o", api_base=provider.url, api_key=KEY)
    assert model.supports_schema
    model.ask(TURNS, max_tokens=50, schema={"title": "note", "type": "object"})
    sent = provider.requests[0].body["response_format"]
    assert (sent["type"], sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("json_schema", "note", True)


# Strange answers.


def test_what_ended_otherwise_says_so(provider: Any, model: LiteLlm) -> None:
    provider.script(
        provider.says("half", finish_reason="length"),
        provider.calls_tool(text="let me save that"),
        provider.refuses(),
        provider.reasons("I think"),
        provider.says("x", finish_reason="content_filter"),
    )
    answers = [ask(model) for _ in range(5)]
    assert [each.finish_reason for each in answers] == ["length", "tool_calls", "refusal", "stop", "content_filter"]
    assert [each.has_tool_calls for each in answers] == [False, True, False, False, False]
    assert [each.text for each in answers] == ["half", "let me save that", "", "", "x"]


def test_a_filter_that_comes_as_an_error_is_an_answer_of_a_kind(provider: Any, model: LiteLlm) -> None:
    message = "The response was filtered due to the prompt triggering our content management policy"
    provider.script(provider.fails(400, message, code="content_policy_violation"))
    assert ask(model).finish_reason == "content_filter"


# Failures.


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda provider: provider.fails(500, WORDS), ModelUnavailable),
        (lambda provider: provider.fails(503, WORDS), ModelUnavailable),
        (lambda provider: provider.fails(529, WORDS), ModelUnavailable),
        (lambda provider: provider.fails(408, WORDS), ModelUnavailable),
        (lambda provider: provider.page(200), ModelUnavailable),
        (lambda provider: provider.page(502), ModelUnavailable),
        (lambda provider: provider.empty(), ModelUnavailable),
        (lambda provider: provider.garbage(), ModelUnavailable),
        (lambda provider: provider.sends({"choices": []}), ModelUnavailable),
        (lambda provider: provider.sends([]), ModelUnavailable),
        (lambda provider: provider.says([{"type": "text", "text": "in parts"}]), ModelUnavailable),
        (lambda provider: provider.breaks(), ModelUnavailable),
        (lambda provider: provider.fails(429, WORDS), RateLimited),
        (lambda provider: provider.fails(429, "You exceeded your current quota"), ModelRefused),
        (lambda provider: provider.fails(401, f"Incorrect key {KEY}"), ModelRefused),
        (lambda provider: provider.fails(402, WORDS), ModelRefused),
        (lambda provider: provider.fails(403, WORDS), ModelRefused),
        (lambda provider: provider.fails(404, WORDS), ModelRefused),
        (lambda provider: provider.page(404), ModelRefused),
        (lambda provider: provider.fails(400, WORDS), ModelRefused),
        (lambda provider: provider.fails(422, WORDS), ModelRefused),
        (lambda provider: provider.fails(413, WORDS), PromptTooLong),
        (lambda provider: provider.too_long(), PromptTooLong),
    ],
)
def test_a_failure_is_one_request_and_one_line_without_key_and_words_b6_f01_f03(
    provider: Any, model: LiteLlm, reply: Any, error: type[AfterturnError]
) -> None:
    provider.script(reply(provider))
    raised = failure(model)
    assert type(raised) is error
    assert len(provider.requests) == 1
    assert str(raised).startswith("openai/test: ")
    assert "\n" not in str(raised)
    assert not [secret for secret in (KEY, WORDS, "<html", "in parts") if secret in str(raised)]
    assert str(pickle.loads(pickle.dumps(raised))) == str(raised)  # noqa: S301 (our own error)


def test_a_provider_that_hangs_is_left_after_the_timeout_f14(provider: Any) -> None:
    provider.script(provider.hangs())
    model = LiteLlm("openai/test", api_base=provider.url, api_key=KEY, timeout_seconds=0.3)
    assert type(failure(model)) is ModelUnavailable
    assert len(provider.requests) == 1


def test_a_provider_that_is_not_there_is_unavailable_f20() -> None:
    model = LiteLlm("openai/test", api_base="http://127.0.0.1:9/v1", api_key=KEY, timeout_seconds=2)
    assert type(failure(model)) is ModelUnavailable


def test_a_model_name_that_litellm_cannot_place_is_refused() -> None:
    assert isinstance(failure(LiteLlm("no-such-provider/model", api_key=KEY)), ModelRefused)


@pytest.mark.parametrize(
    ("header", "text", "low", "high"),
    [
        ("7", "slow down", 7, 7),
        ("1.5", "slow down", 1.5, 1.5),
        (format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True), "slow down", 300, 600),
        (format_datetime(datetime.now(UTC) - timedelta(seconds=600), usegmt=True), "slow down", 0, 0),
        (None, "Please try again in 7.66s.", 7.66, 7.66),
        (None, "Please try again in 250ms.", 0.25, 0.25),
    ],
    ids=["seconds", "fractions", "date-ahead", "date-gone", "text-seconds", "text-milliseconds"],
)
def test_the_time_to_wait_is_read(
    provider: Any, model: LiteLlm, header: str | None, text: str, low: float, high: float
) -> None:
    provider.script(provider.fails(429, text, retry_after=header))
    raised = failure(model)
    assert isinstance(raised, RateLimited)
    assert raised.retry_after_seconds is not None
    assert low <= raised.retry_after_seconds <= high


def test_a_wait_that_nobody_can_read_is_none(provider: Any, model: LiteLlm) -> None:
    provider.script(provider.fails(429, "slow down", retry_after="soon"), provider.fails(429, "slow down"))
    for _ in range(2):
        raised = failure(model)
        assert isinstance(raised, RateLimited)
        assert raised.retry_after_seconds is None


def test_the_size_of_a_prompt_that_is_too_long_is_read_f12(provider: Any, model: LiteLlm) -> None:
    provider.script(provider.too_long(limit=4096, actual=5000))
    raised = failure(model)
    assert isinstance(raised, PromptTooLong)
    assert (raised.limit, raised.actual) == (4096, 5000)


@pytest.mark.parametrize(
    ("text", "limit", "actual"),
    [
        ("maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages", 4096, 5000),
        ("maximum context length is 128000 tokens, but you requested about 130,001 tokens", 128_000, 130_001),
        ("prompt is too long: 214315 tokens > 200000 maximum", 200_000, 214_315),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 200_000, 210_000),
        (
            "The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
            1_234_567,
        ),
        ("The input token count exceeds the maximum number of tokens allowed", None, None),
        ("This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 131_072, 200_000),
        ("configured limit of 272000 tokens. Your messages resulted in 300000 tokens.", 272_000, 300_000),
        ("the request (5000 tokens) exceeds the available context size (4096 tokens)", 4096, 5000),
        ("Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000.", 30_000, 40_000),
        ("Input is too long for requested model.", None, None),
        ("maximum context length is " + "9" * 5_000, None, None),
    ],
)
def test_sizes_are_read_in_the_words_of_every_provider(text: str, limit: int | None, actual: int | None) -> None:
    assert too_long_numbers(text) == (limit, actual)


def made(error: type[Exception]) -> Exception:
    """One of litellm's errors, whatever its constructor wants."""
    import httpx

    response = httpx.Response(400, request=httpx.Request("POST", "http://127.0.0.1/"))
    known = {"status_code": 503, "response": response, "message": WORDS, "original_exception": None}
    parameters = inspect.signature(error.__init__).parameters.values()
    wanted = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_POSITIONAL]
    names = [each.name for each in wanted if each.kind is not each.VAR_KEYWORD and each.name not in ("self", "/")]
    numbers = {"current_cost": 1.0, "max_budget": 1.0, "failures": [], "request_data": {}}
    return error(**{name: {**known, **numbers}.get(name, "x") for name in names})


PASSING = {
    "APIConnectionError",
    "APIError",
    "APIResponseValidationError",
    "BadGatewayError",
    "CallerCredentialRateLimitError",
    "InternalServerError",
    "JSONSchemaValidationError",
    "MidStreamFallbackError",
    "MockException",
    "RateLimitError",
    "ServiceUnavailableError",
    "Timeout",
}


def test_every_error_of_litellm_is_one_of_ours() -> None:
    errors = _litellm().exceptions
    classes = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)}
    assert len(classes) > 25
    for each in classes:
        mapped = _mapped(made(each), "m")
        assert isinstance(mapped, Transient if each.__name__ in PASSING else Permanent), each.__name__
        assert isinstance(mapped, ModelUnavailable | ModelRefused)
        assert WORDS not in str(mapped)
        assert "\n" not in str(mapped)


# Limits.


def test_limits_come_from_the_setting_else_from_the_list_else_are_careful_j20() -> None:
    known = LiteLlm("openai/gpt-4o")
    assert known.limits == ModelLimits(window_tokens=128_000, output_tokens=16_384)
    unknown = LiteLlm("openai/qwen-at-home")
    assert unknown.limits == ModelLimits(
        window_tokens=DEFAULT_WINDOW_TOKENS, output_tokens=DEFAULT_OUTPUT_TOKENS, assumed=True
    )
    assert not unknown.supports_schema
    assert LiteLlm("openai/gpt-4o", window_tokens=9_000).limits == ModelLimits(window_tokens=9_000, output_tokens=9_000)


def test_a_schema_is_not_used_where_it_would_become_a_tool_b10() -> None:
    assert LiteLlm("gpt-4o").supports_schema
    assert not LiteLlm("anthropic/claude-sonnet-4-5").supports_schema
    assert not LiteLlm("bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0").supports_schema


def test_the_library_is_not_loaded_before_a_model_is_used() -> None:
    code = (
        "import sys; from worker.adapters.llm import LiteLlm, FallbackModel; FallbackModel([LiteLlm('openai/x')]);"
        "import worker.asking, worker.testing; sys.exit('litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_loading_the_library_goes_nowhere_and_reads_no_env_file(tmp_path: Any) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-of-a-hostile-folder\n")
    code = (
        "import os, socket\n"
        "def refuse(*args): raise SystemExit('went online')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from worker.adapters.llm import LiteLlm\n"
        "assert LiteLlm('ollama/some-model').limits.window_tokens\n"
        "assert 'OPENAI_API_KEY' not in os.environ\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "LITELLM"))}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr.decode()


# Fallback.


def models(*replies: Any) -> Sequence[ScriptedModel]:
    return [ScriptedModel(reply, name=f"m{number}") for number, reply in enumerate(replies)]


@pytest.mark.parametrize("error", [ModelUnavailable("down"), RateLimited("wait", 60.0)])
def test_the_next_model_answers_when_the_first_is_not_there_f19_o50(error: AfterturnError) -> None:
    first, second, third = models(error, "hello", "unused")
    assert ask(FallbackModel([first, second, third])).model == "m1"
    assert [len(each.asked) for each in (first, second, third)] == [1, 1, 0]


@pytest.mark.parametrize("error", [ModelRefused("bad key"), PromptTooLong("too long")])
def test_a_refusal_of_the_first_model_is_not_hidden_behind_the_next_o50(error: AfterturnError) -> None:
    first, second = models(error, "hello")
    assert failure(FallbackModel([first, second])) is error
    assert second.asked == []


def test_when_none_answers_the_first_models_error_says_when_to_come_back_f19() -> None:
    limited = RateLimited("wait", 60.0)
    several = models(limited, ModelRefused("bad key"), ModelUnavailable("down"))
    assert failure(FallbackModel(several)) is limited
    assert [len(each.asked) for each in several] == [1, 1, 1]


def test_several_models_have_the_name_of_the_first_and_the_tightest_limits() -> None:
    wide = ScriptedModel(name="wide", window_tokens=200_000, output_tokens=4_000, supports_schema=True)
    narrow = ScriptedModel(name="narrow", window_tokens=32_000, output_tokens=8_000)
    both = FallbackModel([wide, narrow])
    assert (both.name, both.supports_schema) == ("wide", False)
    assert both.limits == ModelLimits(window_tokens=32_000, output_tokens=4_000)
    with pytest.raises(ValueError, match="at least one"):
        FallbackModel([])
