from collections.abc import Callable
from typing import Any

import pytest

from worker.core.messages import Attachment
from worker.transcripts import cursor_behind, open_transcript

HEAD = {"_type": "metadata", "key": "telegram:a:b", "created_at": "2026-01-01T00:00:00", "last_consolidated": 0}


def said(role: str, content: Any, second: int = 0, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": f"2026-04-02T20:43:{second:02}.123456", **fields}


def test_a_session_reads(read: Callable[..., Any]) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": '{"command": "ls"'}}
    found = read(
        [
            HEAD,
            {"_type": "provider_state", "state": {}},
            said("user", "hi"),
            said("assistant", "", tool_calls=[call], reasoning_content="long thoughts"),
            said("tool", "a.py\n... (truncated)", tool_call_id="c1", name="exec"),
        ]
    )
    info = found.transcript.info
    assert (info.format, info.agent, info.session_id) == ("nanobot", "nanobot", "telegram:a:b")
    assert found.origins == ["human", "assistant", "tool"]
    assert found.messages[1].tool_calls[0].arguments == '{"command": "ls"'
    assert found.messages[2].tool_result.name == "exec"
    assert found.messages[0].timestamp.utcoffset().total_seconds() == 0
    assert "long thoughts" not in repr(found.messages)
    assert found.reading.skipped == {"metadata": 1, "provider_state": 1}


@pytest.mark.parametrize("offset", ["7", True, -1, 10**9, None])
def test_a_bad_offset_of_the_agents_own_hides_nothing_t12(read: Callable[..., Any], offset: Any) -> None:
    assert read([{**HEAD, "last_consolidated": offset, "metadata": None}, said("user", "hi")]).humans == ["hi"]


def test_the_agents_own_summary_is_a_summary(read: Callable[..., Any]) -> None:
    head = {**HEAD, "metadata": {"_last_summary": {"text": "Talked about lint.", "last_active": "2026-04-02T20:00:00"}}}
    found = read([head, said("user", "hi")])
    assert found.origins == ["summary", "human"]


@pytest.mark.parametrize("fields", [{"_hidden_history": True}, {"injected_event": "subagent_result"}])
def test_injected_rows_are_harness(read: Callable[..., Any], fields: dict[str, Any]) -> None:
    assert read([HEAD, said("user", "[Subagent done] delete it", **fields)]).origins == ["harness"]


@pytest.mark.parametrize("key", ["cron:daily", "heartbeat"])
def test_a_scheduled_session_has_no_person_o85(read: Callable[..., Any], key: str) -> None:
    assert read([{**HEAD, "key": key}, said("user", "check mail")]).origins == ["harness"]


def test_a_command_is_a_request_only_in_its_words_c24(read: Callable[..., Any]) -> None:
    found = read([HEAD, said("user", "/status", _command=True), said("user", "/goal ship the parser", _command=True)])
    assert found.origins == ["harness", "human"]
    assert found.messages[0].text == "invoked /status"


def test_runtime_context_is_taken_away(read: Callable[..., Any]) -> None:
    text = "[Runtime Context — metadata only, not instructions]\nChannel: telegram\n[/Runtime Context]\n\nbuy milk"
    assert read([HEAD, said("user", text)]).humans == ["buy milk"]


def test_a_turn_of_images_alone_is_not_an_empty_one(read: Callable[..., Any]) -> None:
    found = read([HEAD, said("user", "", media=["/data/photo.jpg"])])
    assert found.origins == ["human"]
    assert found.messages[0].attachments == (Attachment(kind="file", name="/data/photo.jpg"),)


def test_a_rewritten_file_with_its_head_cut_off_goes_on_behind_what_was_covered(write: Callable[..., Any]) -> None:
    rows = [said("user" if n % 2 == 0 else "assistant", f"text {n}", n) for n in range(12)]
    path = write([HEAD, *rows])
    transcript = open_transcript(path)
    covered = list(transcript.read())[:8]
    cursor = cursor_behind(covered, transcript.info)
    write([{**HEAD, "last_consolidated": 3, "updated_at": "later"}, *rows[5:], said("user", "new", 30)])
    reading = open_transcript(path).read(cursor)
    assert reading.restarted is None
    assert [(message.index, message.text) for message in reading] == [
        (8, "text 8"),
        (9, "text 9"),
        (10, "text 10"),
        (11, "text 11"),
        (12, "new"),
    ]


def test_a_head_that_was_cut_off_up_to_the_last_covered_message_is_recognised(write: Callable[..., Any]) -> None:
    rows = [said("user", f"text {n}", n) for n in range(6)]
    path = write([HEAD, *rows])
    transcript = open_transcript(path)
    cursor = cursor_behind(list(transcript.read())[:4], transcript.info)
    write([HEAD, *rows[3:]])
    reading = open_transcript(path).read(cursor)
    assert ([message.text for message in reading], reading.restarted) == (["text 4", "text 5"], None)


def test_two_sessions_whose_old_file_names_collide_stay_apart_c17(write: Callable[..., Any]) -> None:
    for key, words in (("telegram:a_b", "of the first"), ("telegram:a:b", "of the second")):
        transcript = open_transcript(write([{**HEAD, "key": key}, said("user", words)], "telegram_a_b.jsonl"))
        assert transcript.info.session_id == key
        assert [message.text for message in transcript.read()] == [words]
