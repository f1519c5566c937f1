"""The one place that knows redis-py: a connection, commands, scripts, and every foreign error as one of ours.

Nothing is retried here: a call takes at most the connect and the read timeout, and whoever calls knows whether doing it
twice is harmless. A connection that broke while it was idle is replaced before the next command goes out.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from worker.errors import AfterturnError, BrokerUnavailable, StoreError, UsageError

PREFIX = "afterturn:"
CONNECT_TIMEOUT_SECONDS = 0.1
READ_TIMEOUT_SECONDS = 5.0

_PASSING_REPLIES = (
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
)
"""First words of error replies that go away by themselves or by freeing memory or disk."""


@dataclass(frozen=True)
class Script:
    """A Lua script; Redis runs it whole or not at all, with nothing in between."""

    text: str

    @cached_property
    def sha1(self) -> str:
        return hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    @classmethod
    def beside(cls, module_file: str) -> "Script":
        """The script that lies beside a module under the same name."""
        return cls(Path(module_file).with_suffix(".lua").read_text("utf-8"))


class RedisLink:
    """Commands and scripts on one Redis, below one prefix of keys. Safe to share between threads."""

    def __init__(
        self,
        url: str,
        *,
        prefix: str = PREFIX,
        connect_timeout_seconds: float = CONNECT_TIMEOUT_SECONDS,
        read_timeout_seconds: float = READ_TIMEOUT_SECONDS,
    ) -> None:
        """url: redis://, rediss://, unix:// or the path of a Unix socket. Nothing is sent before the first command.

        Raises: UsageError for an address that is none of these.
        """
        self.prefix = prefix
        self.read_timeout_seconds = read_timeout_seconds
        self.where = _without_password(url)
        self._client = _client(_as_url(url), self.where, connect_timeout_seconds, read_timeout_seconds)
        self._execute: Callable[..., Any] = self._client.execute_command

    def key(self, *names: str) -> str:
        return self.prefix + ":".join(names)

    def call(self, *command: str | int | float) -> Any:
        """The reply to one command.

        Raises: BrokerUnavailable, StoreError (the key holds something else), UsageError (not let in).
        """
        with self._errors():
            return self._execute(*map(_encoded, command))

    def run(self, script: Script, keys: Sequence[str], *arguments: str | int | float) -> Any:
        """What the script returns. Raises: as `call`."""
        given = (len(keys), *map(_encoded, keys), *map(_encoded, arguments))
        with self._errors():
            try:
                return self._execute("EVALSHA", script.sha1, *given)
            except redis.exceptions.NoScriptError:  # a new server, or one that was restarted
                return self._execute("EVAL", script.text, *given)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except redis.exceptions.RedisError as exc:
            raise _mapped(exc, self.where) from exc
        except OSError as exc:
            raise BrokerUnavailable(f"{self.where}: {exc.strerror or type(exc).__name__}; is Redis running?") from exc


def milliseconds(moment: datetime) -> int:
    """Since 1970, as scripts count time. Raises: ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone could mean any hour")
    return round(moment.timestamp() * 1000)


def moment_of(value: str | float) -> datetime:
    """The time that `milliseconds` made a number of."""
    return datetime.fromtimestamp(float(value) / 1000, UTC)


def _encoded(word: str | int | float) -> bytes | str | int | float:
    """Paths come back byte by byte; text that is no path and no Unicode either (half a surrogate pair) loses that."""
    if not isinstance(word, str) or word.isascii():
        return word
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "replace")


def _client(url: str, where: str, connect_seconds: float, read_seconds: float) -> "redis.Redis":
    try:
        return redis.Redis.from_url(
            url,
            socket_connect_timeout=connect_seconds,
            socket_timeout=read_seconds,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            decode_responses=True,
            encoding_errors="surrogateescape",
        )
    except (ValueError, TypeError) as exc:
        raise UsageError(f"{where}: not an address of Redis; use redis://, rediss:// or unix://") from exc


def socket_address(path: str | Path) -> str:
    """The address of a Unix socket; what means something in an address is escaped ("%", "?", "#", a space)."""
    return f"unix://{quote(os.fspath(path))}"


def _as_url(url: str) -> str:
    return socket_address(url) if url.startswith("/") else url


def _without_password(url: str) -> str:
    """The address as it may stand in a message: without user, password and query."""
    try:
        parts = urlsplit(_as_url(url))
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "AFTERTURN_REDIS_URL"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _mapped(exc: redis.exceptions.RedisError, where: str) -> AfterturnError:
    words = " ".join(str(exc).split())[:200]
    not_let_in = (
        redis.exceptions.AuthenticationError,
        redis.exceptions.AuthorizationError,
        redis.exceptions.AuthenticationWrongNumberOfArgsError,
        redis.exceptions.NoPermissionError,
    )
    if isinstance(exc, not_let_in) or words.startswith(("NOAUTH", "WRONGPASS", "NOPERM")):
        return UsageError(f"{where}: Redis does not let us in; check user and password of AFTERTURN_REDIS_URL")
    if isinstance(exc, redis.exceptions.TimeoutError):
        return BrokerUnavailable(f"{where}: Redis does not answer in time; try again")
    if isinstance(exc, redis.exceptions.ConnectionError):
        return BrokerUnavailable(f"{where}: no connection to Redis; is it running?")
    if _is_passing(exc, words):
        return BrokerUnavailable(f"{where}: Redis takes nothing now ({words}); free memory or disk and try again")
    return StoreError(f"{where}: Redis refused a command ({words}); is it ours alone and version 6.2 or newer?")


def _is_passing(exc: redis.exceptions.RedisError, words: str) -> bool:
    """redis-py strips the first word from some replies and gives them a class instead."""
    passing = (
        redis.exceptions.OutOfMemoryError,
        redis.exceptions.ReadOnlyError,
        redis.exceptions.ClusterDownError,
        redis.exceptions.TryAgainError,
    )
    return isinstance(exc, passing) or words.startswith(_PASSING_REPLIES) or "MISCONF" in words or "-OOM" in words
