"""Every error that Afterturn raises on purpose. Layer 0: imports nothing of ours.

    AfterturnError
    ├── Permanent                the same call fails again                     exit code 3
    │   ├── UsageError           an argument or a setting is wrong             exit code 2
    │   ├── TranscriptError      missing, unreadable, of no known format
    │   ├── StoreError           a file of ours is damaged or contradicts another
    │   └── ModelRefused         the provider will not serve this: key, quota, model name, request
    │       └── PromptTooLong    the request exceeds the model's window
    └── Transient                try later; nothing was written                exit code 4
        ├── ModelUnavailable     rate limit, outage, timeout, broken connection
        │   └── RateLimited      with the seconds that the provider asked to wait
        ├── SessionBusy          somebody else works on this session
        ├── StorageUnavailable   disk full, read-only, no permission
        └── BrokerUnavailable    Redis is down, full, too slow, or just starting

The class decides retry and exit code. A message is one line: where, what, next step. Fields are positional and go to
`super().__init__`, so that an error survives pickle and with it a Celery result backend. An expected outcome (nothing
new, refused by a gate) is a return value, never an error.
"""


class AfterturnError(Exception):
    """Anything that Afterturn raises on purpose; `str()` is one line for a person."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    @property
    def reason(self) -> str:
        """The class as a reason code: "model_unavailable"."""
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__).lstrip("_")


class Permanent(AfterturnError):
    """The same call would fail again."""

    exit_code = 3


class UsageError(Permanent):
    """An argument or a setting is wrong."""

    exit_code = 2


class TranscriptError(Permanent):
    """A transcript is missing, unreadable, or of no known format."""


class StoreError(Permanent):
    """A file that we wrote is damaged or contradicts another."""


class ModelRefused(Permanent):
    """The provider will not serve this request: key, quota, model name, content policy, malformed request."""


class PromptTooLong(ModelRefused):
    """The request exceeds the model's window; `limit` and `actual` are tokens, None when the provider names none."""

    def __init__(self, message: str, limit: int | None = None, actual: int | None = None) -> None:
        super().__init__(message)
        self.args = (message, limit, actual)
        self.limit = limit
        self.actual = actual


class Transient(AfterturnError):
    """Try later; nothing was written."""

    exit_code = 4


class ModelUnavailable(Transient):
    """The provider is overloaded, down, too slow, or the connection broke."""


class RateLimited(ModelUnavailable):
    """The provider asks to wait `retry_after_seconds`; None when it names no time."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.args = (message, retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds


class SessionBusy(Transient):
    """Somebody else works on this session or workspace right now."""


class StorageUnavailable(Transient):
    """The disk is full, read-only, or not ours to write."""


class BrokerUnavailable(Transient):
    """Redis is down, full, too slow, or still loading its file."""
