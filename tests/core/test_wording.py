"""Two statements are compared by their words; making those is remembered within limits."""

from worker.core.wording import MAX_REMEMBERED_CHARS, wording


def test_a_long_text_is_not_remembered() -> None:
    """A worker that lives for weeks would else hold thousands of the logs that people paste, word by word."""
    item = "Use port 5432 for the replica. " * 10
    log = "GET /health 200 from 10.0.0.7 " * MAX_REMEMBERED_CHARS
    assert wording(item) is wording(item)
    assert wording(log) == wording(log)
    assert wording(log) is not wording(log)
