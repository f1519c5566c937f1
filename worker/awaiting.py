"""Waiting for a transcript to hold what its agent's hook saw: a hook can be faster than the agent's own writing."""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from worker.core.job import JobRequest
from worker.core.messages import Role
from worker.hooks import said_sha256
from worker.ports import Checkpoints
from worker.transcripts import open_transcript

LONGEST_WAIT_SECONDS = 5.0
PAUSE_SECONDS = 0.25
LAST_WORDS = 8
"""An agent writes a few rows behind its last message; it is looked for among so many of its messages."""


def has_arrived(
    request: JobRequest,
    checkpoints: Checkpoints,
    session_key: str,
    check: Callable[[], None],
    *,
    wait_seconds: float = LONGEST_WAIT_SECONDS,
) -> bool:
    """Whether the transcript has the bytes and the last message that the request names, after a wait with an end.

    check: called in between; what it raises ends the wait.
    """
    deadline = time.monotonic() + wait_seconds
    looked_at = -1
    while True:
        size = Path(request.transcript).stat().st_size
        if size != looked_at and _holds(request, size, checkpoints, session_key):
            return True
        looked_at = size
        if time.monotonic() >= deadline:
            return False
        check()
        time.sleep(PAUSE_SECONDS)


def _holds(request: JobRequest, size: int, checkpoints: Checkpoints, session_key: str) -> bool:
    if request.last_message_sha256 is None:
        return request.transcript_bytes is None or size >= request.transcript_bytes
    covered = checkpoints.latest(session_key)
    reading = open_transcript(Path(request.transcript)).read(covered.cursor if covered else None)
    said = deque((one.text for one in reading if one.role is Role.ASSISTANT and one.text), maxlen=LAST_WORDS)
    if any(said_sha256(text) == request.last_message_sha256 for text in said):
        return True
    # Covered already: a job that is redone after its commit finds its last message behind it.
    return covered is not None and not said
