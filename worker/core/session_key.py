"""The name under which a session is kept: safe as a folder on every file system, and readable.

    claude-code, 0f3a9c1e-…        claude-code--0f3a9c1e-…
    nanobot, telegram:a_b          nanobot--telegram-a-b~3f0c…    (24 hex digits of both names)

Two sessions never share a name: what is not plain lower case carries a hash of exactly what it was. No name holds "--"
twice, so the label "agent/session" can be turned back, and stands inside an HTML comment, where "--" may not.
"""

import re

from worker.core.messages import digest_of

MAX_AGENT_CHARS = 32
MAX_SESSION_CHARS = 64

_PLAIN = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_KEY = re.compile(r"[a-z0-9][a-z0-9._~-]*")
_HASH_CHARS = 24


def session_key(agent: str, session_id: str) -> str:
    """The folder name of a session: injective, also where letter case is ignored, at most 124 characters."""
    if _is_plain(agent, MAX_AGENT_CHARS) and _is_plain(session_id, MAX_SESSION_CHARS):
        return f"{agent}--{session_id}"
    agent_name = _readable(agent, MAX_AGENT_CHARS)
    session_name = _readable(session_id, MAX_SESSION_CHARS)
    return f"{agent_name}--{session_name}~{digest_of(agent, session_id)[:_HASH_CHARS]}"


def is_session_key(text: str) -> bool:
    """Whether the text can be one folder name below sessions/: the guard for names that people type."""
    return len(text) <= 200 and _KEY.fullmatch(text) is not None


def session_label(key: str) -> str:
    """The key as people read it and as comments may hold it: "claude-code/0f3a9c1e"."""
    return key.replace("--", "/", 1)


def key_of_label(label: str) -> str:
    return label.replace("/", "--", 1)


def _is_plain(name: str, max_chars: int) -> bool:
    return len(name) <= max_chars and _PLAIN.fullmatch(name) is not None


def _readable(name: str, max_chars: int) -> str:
    return _NOT_PLAIN.sub("-", name[: 4 * max_chars].lower()).strip("-")[:max_chars].strip("-") or "unnamed"
