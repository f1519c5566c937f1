"""What a second run reads of a transcript, counted by the kernel for the whole process: the new bytes and a little."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker import wiring
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.locating import Place

Json = dict[str, Any]
Rows = Callable[[int, int], Iterator[Json]]

TURNS = 1_500
A_LITTLE_BYTES = 128 * 1024
OUTPUT = "\n".join(f"src/unit{number}.py: 7 lines" for number in range(80))

_READ = re.compile(r"\b(?:read|pread64|readv|preadv|preadv2)\(\d+<(?P<path>[^>]*)>.* = (?P<bytes>\d+)$")


def claude_code(first: int, turns: int) -> Iterator[Json]:
    for turn in range(first, first + turns):
        said = {"role": "user", "content": f"Look at unit {turn}."}
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "grep -rn lines src"}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": OUTPUT}
        messages = [("user", said), ("assistant", {"content": [call]}), ("user", {"content": [result]})]
        for at, (kind, message) in enumerate(messages):
            base = {"sessionId": "s", "cwd": "/app", "uuid": f"u{turn}-{at}", "timestamp": "2026-01-23T03:07:00Z"}
            yield {**base, "parentUuid": None, "type": kind, "message": message}


def codex(first: int, turns: int) -> Iterator[Json]:
    def item(**payload: Any) -> Json:
        return {"timestamp": "2026-01-23T03:07:00Z", "type": "response_item", "payload": payload}

    if not first:
        yield {"type": "session_meta", "payload": {"id": "s", "cwd": "/app"}}
    for turn in range(first, first + turns):
        text = f"Look at unit {turn}."
        yield item(type="message", role="user", content=[{"type": "input_text", "text": text}])
        yield {"type": "event_msg", "payload": {"type": "user_message", "message": text}}
        yield item(type="function_call", name="shell", call_id=f"t{turn}", arguments='{"cmd": "ls"}')
        yield item(type="function_call_output", call_id=f"t{turn}", output=OUTPUT)


def pi(first: int, turns: int) -> Iterator[Json]:
    if not first:
        yield {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-23T03:07:00Z", "cwd": "/app"}
    for turn in range(first, first + turns):
        call = {"type": "toolCall", "id": f"t{turn}", "name": "bash", "arguments": {"command": "ls"}}
        messages: list[Json] = [
            {"role": "user", "content": f"Look at unit {turn}."},
            {"role": "assistant", "content": [call]},
            {"role": "toolResult", "toolCallId": f"t{turn}", "toolName": "bash", "content": OUTPUT},
        ]
        for at, message in enumerate(messages):
            yield {"type": "message", "id": f"{turn}-{at}", "parentId": None, "message": message}


def openai(first: int, turns: int) -> Iterator[Json]:
    for turn in range(first, first + turns):
        yield {"role": "user", "content": f"Look at unit {turn}."}
        call = {"id": f"t{turn}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"t{turn}", "content": OUTPUT}


def append(path: Path, rows: Iterator[Json]) -> int:
    """How many bytes were written."""
    with path.open("ab") as file:
        return file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def consolidated(path: Path, workspace: Path) -> None:
    place = Place(root=workspace, run=workspace / ".afterturn")
    tools = wiring.tools_for(place, Settings(workspace=workspace), hold_back=False)
    assert consolidate(Request(path=path), tools).checkpoint


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("rows", [claude_code, codex, pi, openai], ids=lambda rows: rows.__name__)
def test_a_second_run_after_ten_new_messages_reads_the_new_bytes_and_a_little_f23(
    rows: Rows, desk: Any, tmp_path: Path, subprocess_environment: Any
) -> None:
    path, trace = tmp_path / "session.jsonl", tmp_path / "trace"
    size = append(path, rows(0, TURNS))
    consolidated(path, desk.root)
    new_bytes = append(path, rows(TURNS, 3))
    strace = ["strace", "-f", "-qq", "-y", "-s", "1", "-o", str(trace)]
    strace += ["-e", "trace=read,pread64,readv,preadv,preadv2,mmap,sendfile,copy_file_range"]
    command = [sys.executable, "-m", "worker", "run", str(path), "--all", "--json"]
    environment = {**subprocess_environment, **desk.variables}
    ended = subprocess.run([*strace, *command], env=environment, check=False, capture_output=True, text=True)
    if "ptrace" in ended.stderr:
        pytest.skip("this machine lets nobody trace")
    told = json.loads(ended.stdout)
    assert (told["outcome"], told["range"][1] - told["range"][0]) == ("committed", 9)
    lines = [line for line in trace.read_text("utf-8", "replace").splitlines() if f"<{path}>" in line]
    reads = [_READ.search(line) for line in lines]
    assert None not in reads, "read in another way than by reading"
    bytes_read = sum(int(found["bytes"]) for found in reads if found)
    assert new_bytes <= bytes_read <= new_bytes + A_LITTLE_BYTES < size
