"""LangChain's SummarizationMiddleware, as its `before_model` hook is called. Variant `untrimmed`: all that is old is
summarized; as it comes, the last 4,000 tokens of it."""

from typing import Any

from langchain.agents.middleware import SummarizationMiddleware  # type: ignore[import-not-found]
from peers.drivers.chains import messages_of, model_of, text_of
from peers.drivers.driving import Outcome, Task, drive


def summarized(task: Task) -> Outcome:
    options: dict[str, Any] = {"trim_tokens_to_summarize": None} if task.variant == "untrimmed" else {}
    middleware = SummarizationMiddleware(
        model=model_of(task), trigger=("messages", task.keep_rows + 1), keep=("messages", task.keep_rows), **options
    )
    changed = middleware.before_model({"messages": messages_of(task.rows)}, None)
    left = [message for message in changed["messages"] if message.type != "remove"]
    return Outcome(text=text_of(left[0]), kept=[text_of(message) for message in left[1:]])


if __name__ == "__main__":
    drive("langchain", summarized)
