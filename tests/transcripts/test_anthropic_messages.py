from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Role

CALL = {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "/a"}}
TURN: list[dict[str, Any]] = [
    {"role": "user", "content": "list it"},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "long thoughts", "signature": "x"}, CALL]},
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}]},
            {"type": "text", "text": "<system-reminder>be quiet</system-reminder>"},
            {"type": "text", "text": "and now delete it"},
        ],
    },
]


@pytest.mark.parametrize("shape", ["array", "messages", "lines"])
def test_every_shape_reads_the_same(read: Callable[..., Any], shape: str) -> None:
    documents = {"array": TURN, "messages": {"model": "x", "messages": TURN}}
    found = read(TURN) if shape == "lines" else read(document=documents[shape])
    assert (found.transcript.info.format, found.transcript.info.agent) == ("anthropic", "anthropic")
    assert [message.role for message in found.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
    assert found.humans == ["list it", "and now delete it"]
    assert found.messages[2].tool_result.name == "ls"
    assert found.reading.skipped == {"harness_block": 1}
    assert "long thoughts" not in repr(found.messages)


def test_the_system_prompt_beside_the_messages_comes_first(read: Callable[..., Any]) -> None:
    plain = [{"role": "user", "content": "hi"}]
    for system in ("be terse", [{"type": "text", "text": "be terse"}]):
        found = read(document={"system": system, "messages": plain})
        assert found.transcript.info.format == "anthropic"
        assert (found.origins, found.messages[0].text) == (["system", "human"], "be terse")
