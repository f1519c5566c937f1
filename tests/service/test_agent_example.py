"""`examples/agent.py` against a model on loopback and a real worker: the history goes, what was ordered stays."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.adapters.sessions import FileCheckpoints
from worker.core.tokens import estimate_tokens
from worker.view import view

ROOT = Path(__file__).parents[2]
RULE = "Never change the database schema."
WINDOW = 16_000
Json = dict[str, Any]


@pytest.fixture(scope="module")
def agent() -> Any:
    spec = importlib.util.spec_from_file_location("example_agent", ROOT / "examples" / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(topic: str, count: int = 260) -> str:
    return " ".join(f"{topic}{number} is fine." for number in range(count))


def scripted(provider: Any, request: Any) -> Any:
    """Reads the file of the turn's number first, then answers at length about it."""
    last = request.body["messages"][-1]
    if last["role"] == "user":
        name = last["content"].split()[-1]
        call = {"id": f"call_{name}", "type": "function"}
        function = {"name": "read_file", "arguments": json.dumps({"path": name})}
        return provider.says(None, finish_reason="tool_calls", tool_calls=[call | {"function": function}])
    return provider.says(f"About that file: {words('line')}")


def check_that_it_is_valid(messages: list[Json]) -> None:
    """What every provider of the OpenAI kind insists on."""
    roles = [message["role"] for message in messages]
    assert roles[0] == "system"
    assert roles[1] == "user"
    assert roles[-1] in ("user", "tool")
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    assert not waiting


def test_the_model_still_sees_the_rule_of_the_first_turn_when_a_checkpoint_has_replaced_it(
    agent: Any,
    provider: Any,
    factory: Any,
    until: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """O9. `submit` alone leads to the checkpoint: nothing else asks for one here."""
    factory.environ["AFTERTURN_KEEP_RECENT_TOKENS"] = "2000"
    for name, value in factory.variables.items():
        if name.startswith("AFTERTURN_") or name == "HOME":
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_API_BASE", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    monkeypatch.chdir(tmp_path)
    provider.otherwise = lambda request: scripted(provider, request)
    transcript = tmp_path / "chat.jsonl"
    for number in range(14):
        (tmp_path / f"f{number}.txt").write_text(words(f"file{number}line", 120))
    factory.redis.start()
    factory.afterturn("worker")

    def say(number: int, text: str = "Look at") -> str:
        return str(agent.turn(f"{text} f{number}.txt", transcript, "openai/test", WINDOW))

    assert say(0, f"{RULE} Then look at").startswith("About that file")
    for number in range(1, 6):
        say(number)
    until(lambda: FileCheckpoints(factory.root).sessions(), 60)
    for number in range(6, 14):
        say(number)

    requests = [request.body["messages"] for request in provider.requests]
    assert len(requests) == 28
    for messages in requests:
        check_that_it_is_valid(messages)
        assert estimate_tokens(json.dumps(messages)) < WINDOW
    first = requests[0][1]
    assert first["content"] == f"{RULE} Then look at f0.txt"
    for messages in requests[-2:]:
        assert first not in messages
        assert RULE in messages[1]["content"]
        assert "file1line" not in json.dumps(messages)
    assert "file13line119" in json.dumps(requests[-1])
    assert view(transcript, window=WINDOW).outcome == "checkpoint"
    assert len(transcript.read_bytes().splitlines()) == 1 + 14 * 4


def test_a_provider_that_refuses_the_length_is_asked_again_with_less(
    agent: Any, provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERTURN_WORKSPACE", str(tmp_path / "w"))
    monkeypatch.setenv("OPENAI_API_BASE", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    transcript = tmp_path / "chat.jsonl"
    for number in range(8):
        agent.append(transcript, {"role": "user", "content": f"Look at part {number}."})
        agent.append(transcript, {"role": "assistant", "content": words(f"part{number}line")})
    provider.script(provider.too_long(), provider.says("Done."))
    assert agent.turn("And now?", transcript, "openai/test", WINDOW) == "Done."
    refused, answered = (request.body["messages"] for request in provider.requests)
    assert len(json.dumps(answered)) < 0.8 * len(json.dumps(refused))
    assert answered[-1] == {"role": "user", "content": "And now?"}


def test_the_tool_reads_nothing_outside_of_the_folder(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "inside" / "f.txt").write_text("here")
    monkeypatch.chdir(tmp_path / "inside")
    assert agent.read_file('{"path": "f.txt"}') == "here"
    for arguments in (
        '{"path": "../secret.txt"}',
        '{"path": "/etc/passwd"}',
        '{"path": "no"}',
        "{",
        "[]",
        '{"path": 7}',
    ):
        assert agent.read_file(arguments).startswith("error: ")


def test_the_example_is_short() -> None:
    assert len((ROOT / "examples" / "agent.py").read_text("utf-8").splitlines()) < 80
