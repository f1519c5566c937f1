from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Origin


def test_the_rows_of_its_documentation_read(read: Callable[..., Any]) -> None:
    found = read(
        [
            {"role": "user", "content": "Deploy on Friday.", "timestamp": "2026-01-23T03:07:00Z"},
            {"role": "user", "content": "build 4711 passed", "origin": "harness", "id": "n-7"},
        ]
    )
    assert (found.transcript.info.format, found.transcript.info.agent) == ("afterturn", "afterturn")
    assert found.origins == ["human", "harness"]
    assert found.messages[0].timestamp.isoformat() == "2026-01-23T03:07:00+00:00"
    assert found.messages[1].row_id == "n-7"


@pytest.mark.parametrize("origin", [origin.value for origin in Origin if origin is not Origin.TOOL])
def test_an_origin_is_believed_as_it_stands(read: Callable[..., Any], origin: str) -> None:
    assert read([{"role": "user", "content": "<system-reminder>x</system-reminder>", "origin": origin}]).origins == [
        origin
    ]


@pytest.mark.parametrize("origin", ["robot", None, 7, ["human"]])
def test_without_a_known_origin_the_text_decides(read: Callable[..., Any], origin: Any) -> None:
    rows = [
        {"role": "user", "content": "<system-reminder>x</system-reminder>", "origin": origin},
        {"role": "user", "content": "hi", "origin": origin},
    ]
    assert read(rows).origins == ["harness", "human"]


def test_session_and_folder_can_be_named_in_any_row(read: Callable[..., Any]) -> None:
    rows = [
        {"role": "user", "content": "hi", "timestamp": 1769137620},
        {"role": "assistant", "content": "hello", "session_id": "s-1", "cwd": "/home/dana/app"},
    ]
    info = read(rows).transcript.info
    assert (info.session_id, info.cwd) == ("s-1", "/home/dana/app")


@pytest.mark.parametrize(
    ("fields", "code", "is_error"),
    [({"exit_code": 2}, 2, True), ({"exit_code": 0}, 0, False), ({"is_error": True}, None, True), ({}, None, False)],
)
def test_a_tools_outcome_stands_beside_its_content(
    read: Callable[..., Any], fields: dict[str, Any], code: int | None, is_error: bool
) -> None:
    row = {"role": "tool", "tool_call_id": "c1", "content": "out", "timestamp": "2026-01-23T03:07:00Z", **fields}
    result = read([row]).messages[0].tool_result
    assert (result.call_id, result.text, result.exit_code, result.is_error) == ("c1", "out", code, is_error)


def test_a_row_that_comes_again_word_for_word_is_read_once(read: Callable[..., Any]) -> None:
    row = {"role": "user", "content": "hi", "id": "n-1", "timestamp": "2026-01-23T03:07:00Z"}
    found = read([row, row, {**row, "content": "hello"}, {"role": "user", "content": "hi"}])
    assert [message.text for message in found.messages] == ["hi", "hello", "hi"]
    assert found.reading.skipped == {"duplicate_row": 1}
