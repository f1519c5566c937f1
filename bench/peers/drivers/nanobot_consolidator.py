"""nanobot's Consolidator: the old part of a session goes to its history file and a summary. Variant `small`: the window
of a small model, in which its fallback to a raw dump shows."""

import asyncio
import sys
import tempfile
from pathlib import Path

from loguru import logger  # type: ignore[import-not-found]
from nanobot.agent.context import ContextBuilder  # type: ignore[import-not-found]
from nanobot.agent.memory import Consolidator  # type: ignore[import-not-found]
from nanobot.providers.base import GenerationSettings  # type: ignore[import-not-found]
from nanobot.providers.openai_compat_provider import OpenAICompatProvider  # type: ignore[import-not-found]
from nanobot.session.manager import SessionManager  # type: ignore[import-not-found]
from nanobot.utils.llm_runtime import LLMRuntime  # type: ignore[import-not-found]
from peers.drivers.driving import Outcome, Task, drive, text_of

WINDOW_TOKENS = {"default": 128_000, "small": 16_384}
RETRY_SECONDS = (0.01, 0.01, 0.01)
"""In the place of its own seconds: how often it tries counts here, not how long it waits."""


def archived(task: Task) -> Outcome:
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        provider = OpenAICompatProvider(
            api_key="not-a-key", api_base=task.base_url, default_model="gpt-4o-mini", provider_name="custom"
        )
        provider._CHAT_RETRY_DELAYS = RETRY_SECONDS
        runtime = LLMRuntime(
            provider=provider,
            model="gpt-4o-mini",
            generation=GenerationSettings(temperature=0.0, max_tokens=4_096),
            context_window_tokens=WINDOW_TOKENS[task.variant],
        )
        manager, context = SessionManager(workspace), ContextBuilder(workspace)
        session = manager.get_or_create("cli:bench")
        for row in task.rows:
            calls = {name: row[name] for name in ("tool_calls", "tool_call_id") if name in row}
            session.add_message(row["role"], row["content"], **calls)
        manager.save(session)
        consolidator = Consolidator(
            store=context.memory,
            sessions=manager,
            build_messages=context.build_messages,
            get_tool_definitions=list,
        )
        told = asyncio.run(consolidator.archive_session(session, archive_end=len(task.old), runtime=runtime)) or ""
    return Outcome(text=told, kept=[text_of(row) for row in task.tail], note="raw dump" if "[RAW]" in told else "")


if __name__ == "__main__":
    drive("nanobot-ai", archived)
