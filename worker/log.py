"""Log events: one JSON line each on stderr, a past-tense name and fields. Never message text, never a secret."""

import json
import logging
import sys
from collections.abc import Sequence

MAX_FOREIGN_CHARS = 300

_LOGGER = logging.getLogger("afterturn")


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        event = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        return json.dumps({**event, **fields}, ensure_ascii=False, default=str)


class _ForeignJsonLine(logging.Formatter):
    """The first line of what a library says; what follows is its code, and may be what it worked on."""

    def format(self, record: logging.LogRecord) -> str:
        lines = record.getMessage().strip().splitlines() or [""]
        event = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": "library_warned",
            "library": record.name,
            "said": lines[0][:MAX_FOREIGN_CHARS],
        }
        return json.dumps(event, ensure_ascii=False)


def hear_warnings(libraries: Sequence[str]) -> None:
    """Sends what these libraries warn of to stderr, as events."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ForeignJsonLine())
    for name in libraries:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


def configure_log(level: str) -> None:
    """Sends events of at least `level` to stderr. Called once, at the entry point."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine())
    _LOGGER.handlers = [handler]
    _LOGGER.propagate = False
    _LOGGER.setLevel(level.upper())


def log_event(name: str, *, level: str = "info", **fields: object) -> None:
    """One event: `name` in the past tense ("range_sealed"); fields are ids, counts, tokens, `duration_ms`."""
    _LOGGER.log(logging.getLevelName(level.upper()), name, extra={"fields": fields})
