"""Rows of the chat API as LangChain's messages: three of the peers take these."""

import json
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage  # type: ignore[import-not-found]
from langchain_openai import ChatOpenAI  # type: ignore[import-not-found]
from peers.drivers.driving import Row, Task


def model_of(task: Task) -> Any:
    """The chat model with the settings that it comes with, its two retries included."""
    return ChatOpenAI(model="gpt-4o-mini", base_url=task.base_url, api_key="not-a-key")


def messages_of(rows: list[Row]) -> list[Any]:
    return [_message(row, f"m{at}") for at, row in enumerate(rows)]


def _message(row: Row, message_id: str) -> "AnyMessage":
    if row["role"] == "tool":
        return ToolMessage(content=row["content"], tool_call_id=row["tool_call_id"], id=message_id)
    if row["role"] == "user":
        return HumanMessage(content=row["content"], id=message_id)
    calls = [
        {"name": one["function"]["name"], "args": json.loads(one["function"]["arguments"]), "id": one["id"]}
        for one in row.get("tool_calls", ())
    ]
    return AIMessage(content=row["content"], tool_calls=calls, id=message_id)


def text_of(message: Any) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
