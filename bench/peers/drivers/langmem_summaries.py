"""LangMem's `summarize_messages`. As its guide shows it: 256 tokens of summary, summarizing when the messages exceed a
budget. Variant `wide`: a budget in which everything old is summarized at once."""

from typing import Any

from langchain_core.messages.utils import count_tokens_approximately  # type: ignore[import-not-found]
from langmem.short_term import summarize_messages  # type: ignore[import-not-found]
from peers.drivers.chains import messages_of, model_of, text_of
from peers.drivers.driving import Outcome, Task, drive

DEFAULT_TOKENS = 4_000
"""What an agent's messages may take: with the 256 tokens of summary, the guide's ratio of budget to summary."""


def summarized(task: Task) -> Outcome:
    messages = messages_of(task.rows)
    options: dict[str, Any] = {"max_tokens": DEFAULT_TOKENS, "max_summary_tokens": 256}
    if task.variant == "wide":
        old = count_tokens_approximately(messages[: len(task.old)])
        options = {"max_tokens": 2 * old, "max_tokens_before_summary": old, "max_summary_tokens": 2_000}
    result = summarize_messages(messages, running_summary=None, model=model_of(task), **options)
    running = result.running_summary
    behind = len(running.summarized_message_ids) if running else 0
    return Outcome(
        text=running.summary if running else "",
        kept=[text_of(message) for message in messages[behind:]],
        note=f"{behind} messages summarized",
    )


if __name__ == "__main__":
    drive("langmem", summarized)
