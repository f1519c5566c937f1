"""Settings are read whole or refused by name."""

from pathlib import Path

import pytest

from worker.config import PREFIX, Settings
from worker.errors import UsageError


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    settings = Settings.from_env({})
    assert settings.model is None
    assert (settings.part_tokens, settings.state_tokens, settings.summary_tokens) == (16_000, 24_000, 20_000)


def test_an_empty_value_means_the_default() -> None:
    assert Settings.from_env({"AFTERTURN_MODEL": " "}).model is None


def test_values_get_their_types() -> None:
    settings = Settings.from_env(
        {
            "AFTERTURN_FALLBACK_MODELS": "openai/a, openai/b",
            "AFTERTURN_WORKSPACE": "/w",
            "AFTERTURN_LLM_TIMEOUT_SECONDS": "2.5",
        }
    )
    assert settings.fallback_models == ("openai/a", "openai/b")
    assert settings.workspace == Path("/w")
    assert settings.llm_timeout_seconds == 2.5


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AFTERTURN_MODLE", "x", "did you mean AFTERTURN_MODEL?"),
        ("AFTERTURN_ZZZ", "x", "no such setting"),
        ("AFTERTURN_PART_TOKENS", "many", "valid integer"),
        ("AFTERTURN_PART_TOKENS", "-3", "greater than or equal to 500"),
        ("AFTERTURN_STAGES", "3", "'auto' or '2'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_in_one_line(name: str, value: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.from_env({name: value})
    assert str(caught.value).startswith(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_of_tests_and_evaluation_are_not_ours_to_judge() -> None:
    Settings.from_env(
        {"AFTERTURN_TEST_DATA": "/d", "AFTERTURN_EVAL_MODEL": "m", "AFTERTURN_BENCH_HOME": "/b", "HOME": "/root"}
    )


def test_a_key_does_not_show_in_a_representation() -> None:
    assert "hunter2" not in repr(Settings.from_env({"AFTERTURN_API_KEY": "hunter2"}))


def test_every_setting_is_described() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, PREFIX + name.upper()
