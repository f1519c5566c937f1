"""A chat agent that does not forget: it writes a transcript, hands it in after each turn and asks what to send next.

afterturn up &                                                  # consolidates in the background
python examples/agent.py chat.jsonl --model openai/gpt-5-mini   # with its key in OPENAI_API_KEY
"""

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or LiteLLM downloads a price list at import
import litellm

from worker.client import submit
from worker.view import view

SYSTEM = "You help with the files of this folder. Read a file before you say something about it."
READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "The text of a file below the current folder.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def turn(said: str, transcript: Path, model: str, window: int) -> str:
    """What the model answers in the end, after all the files that it wanted to read."""
    if not transcript.exists():
        append(transcript, {"role": "system", "content": SYSTEM})
    append(transcript, {"role": "user", "content": said})
    while True:
        answer = ask(transcript, model, window)
        calls = [call.model_dump() for call in answer.tool_calls or ()]
        append(transcript, {"role": "assistant", "content": answer.content} | ({"tool_calls": calls} if calls else {}))
        for call in calls:
            result = read_file(call["function"]["arguments"])
            append(transcript, {"role": "tool", "tool_call_id": call["id"], "content": result})
        if not calls:
            submit(transcript)
            return answer.content or ""


def ask(transcript: Path, model: str, window: int) -> Any:
    """The model's next message. A provider that counts otherwise and refuses the length gets a shorter view, once."""
    try:
        messages = view(transcript, window=window).messages
        return litellm.completion(model=model, messages=messages, tools=[READ_FILE]).choices[0].message
    except litellm.ContextWindowExceededError:
        messages = view(transcript, window=window, force=True).messages
        return litellm.completion(model=model, messages=messages, tools=[READ_FILE]).choices[0].message


def read_file(arguments: str) -> str:
    try:
        path = Path(json.loads(arguments)["path"]).resolve()
        return path.read_text("utf-8", "replace") if path.is_relative_to(Path.cwd()) else "error: outside of the folder"
    except (OSError, ValueError, KeyError, TypeError) as exc:
        return f"error: {exc}"


def append(transcript: Path, row: dict[str, Any]) -> None:
    with transcript.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("transcript", type=Path)
    parser.add_argument("--model", default="openai/gpt-5-mini")
    parser.add_argument("--window", type=int, default=128_000)
    options = parser.parse_args()
    with suppress(EOFError, KeyboardInterrupt):
        while said := input("> ").strip():
            print(turn(said, options.transcript, options.model, options.window))
