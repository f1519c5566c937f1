"""CrewAI's `summarize_messages`: pieces by the size of the window, summaries joined end to end. Variant `small`: a
window of 8,000 tokens."""

from typing import Any

from crewai import LLM  # type: ignore[import-not-found]
from crewai.llms.context_window import summarize_messages  # type: ignore[import-not-found]
from peers.drivers.driving import Outcome, Task, drive, text_of

SMALL_WINDOW_TOKENS = 8_000


def summarized(task: Task) -> Outcome:
    model: Any = LLM(model="openai/gpt-4o-mini", base_url=task.base_url, api_key="not-a-key")
    if task.variant == "small":
        type(model).get_context_window_size = lambda _: SMALL_WINDOW_TOKENS
    messages = [dict(row) for row in task.old]
    summarize_messages(model, messages, [], False)
    return Outcome(
        text="\n".join(str(message.get("content") or "") for message in messages),
        kept=[text_of(row) for row in task.tail],
    )


if __name__ == "__main__":
    drive("crewai", summarized)
