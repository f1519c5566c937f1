"""compact-middleware: one call with a nine-section prompt, whose analysis is cut away."""

from compact_middleware.compaction import compact_conversation  # type: ignore[import-not-found]
from compact_middleware.config import CompactionConfig  # type: ignore[import-not-found]
from peers.drivers.chains import messages_of, model_of, text_of
from peers.drivers.driving import Outcome, Task, drive


def compacted(task: Task) -> Outcome:
    messages = messages_of(task.rows)
    left, _, _ = compact_conversation(messages, model_of(task), CompactionConfig(), cutoff_index=len(task.old))
    return Outcome(text=text_of(left[0]), kept=[text_of(message) for message in left[1:]])


if __name__ == "__main__":
    drive("compact-middleware", compacted)
