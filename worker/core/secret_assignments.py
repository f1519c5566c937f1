"""Secrets that are such because of their name: `password=…`, `"token": "…"`, `--api-key …`, "the password is …".

The name is looked for as a plain substring; a regular expression looks only at what follows it. What is said about
false alarms holds for code above all: a variable, a call, a type, a template is not a value.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from worker.core.secret_shapes import SecretSpan, is_template

_NAMES = (
    ("password", "pass", ("password", "passwd", "passphrase")),
    ("password", "pwd", ("pwd",)),
    ("token", "token", ("token",)),
    ("token", "secret", ("secret",)),
    ("token", "credential", ("credential",)),
    (
        "token",
        "key",
        (
            "api_key",
            "apikey",
            "api-key",
            "access_key",
            "access-key",
            "accesskey",
            "account_key",
            "accountkey",
            "auth_key",
            "private_key",
            "privatekey",
            "encryption_key",
            "signing_key",
        ),
    ),
)
"""Kind, a piece that all the names hold (looked for first), and the names, in lower case."""

_NAMES_BEYOND_ASCII = (("password", "", ("密码", "密碼", "口令", "パスワード", "пароль", "비밀번호")),)

_REST_OF_NAME = re.compile(r"(?:_?(?:access)?_?(?:key|value|hash)(?:_?base)?)?", re.IGNORECASE)
_QUOTE = r"(?P<quote>\\{0,7}[\"'`])"
_SEPARATED = re.compile(
    rf"(?:\\{{0,7}}[\"'`])?\]?(?P<sep>\s{{0,4}}(?::=|=>|=|:|：|>(?=[^<>\s]{{4,200}}</)"
    rf"|,(?=\s?\\?[\"']))\s{{0,4}}){_QUOTE}?"
)
_SPOKEN = re.compile(rf"(?P<sep>\s{{1,3}}(?:is|was|ist|est|es|to)\s{{1,3}}:?\s?|\s?[是为為は]\s?){_QUOTE}?")
_FLAGGED = re.compile(rf"(?P<sep>\s{{1,3}}){_QUOTE}?(?!-)")
_MAY_FOLLOW = (
    rf"{_REST_OF_NAME.pattern}(?=(?:\\{{0,7}}[\"'`])?\]?\s{{0,4}}[:=：>,]"
    r"|\s{1,3}(?:is|was|ist|est|es|to)\s|\s?[是为為は]"
)
"""What a value needs behind its name, looked at in one go: of a hundred words "token" one is followed by it."""

_BARE = re.compile(r"[^\s\"'`\\,;)}\]&|<>⟨⟩]{1,256}")
_CLOSING = {
    '"': re.compile(r'(?:[^"\\\n⟨⟩]|\\.){0,2048}'),
    "'": re.compile(r"(?:[^'\\\n⟨⟩]|\\.){0,2048}"),
    "`": re.compile(r"[^`\\\n⟨⟩]{0,2048}"),
}
_ESCAPED = re.compile(r"[^\"'`\\\n⟨⟩]{0,2048}")
_CODE_LIKE = re.compile(
    r"[(\[{]|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[./~]+[\w./-]*$|::|->|^\$"
)
_NAME_OF_SECRET = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth|value|field|input|hash|param|string|option")
_WORD = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*")
_TYPE_WORD = re.compile(
    "(?:str|string|text|bytes|int|integer|bool|boolean|number|any|none|null|nil|undefined|true|false|required|optional"
    "|object|char|varchar|unknown|never|default|empty|missing|invalid|valid|wrong|correct|incorrect|expired|set|unset"
    "|hidden|masked|yes|no|on|off|is|not|and|or|in|the|a|an|for|from|with|to)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s")
_MIN_PASSWORD = 4
_MIN_QUOTED_TOKEN = 8
_MIN_LITERAL_TOKEN = 12
_MIN_BARE_TOKEN = 16
_MIN_BITS_PER_CHAR = 2.8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """What stands behind a name. literal: written so that it can only be a value (a quote, an environment line)."""

    start: int
    text: str
    quoted: bool
    literal: bool
    spoken: bool = False


def assigned_secrets(text: str) -> Iterator[SecretSpan]:
    """Every value that the name before it makes a secret; spans may overlap."""
    lower = _lowered(text)
    for kind, piece, names in _NAMES if text.isascii() else _NAMES + _NAMES_BEYOND_ASCII:
        if piece not in lower:
            continue
        for name in names:
            yield from _behind_each(name, kind, text, lower)


def _behind_each(name: str, kind: str, text: str, lower: str) -> Iterator[SecretSpan]:
    first = lower.find(name)
    if first < 0:
        return
    for match in _name_before_value(name, flags="--" in text).finditer(lower, first):
        yield from _behind_name(text, match.start(), match.start() + len(name), kind)


@cache
def _name_before_value(name: str, *, flags: bool) -> re.Pattern[str]:
    """flags: also "--token VALUE", where nothing but space need stand between."""
    return re.compile(re.escape(name) + _MAY_FOLLOW + (r"|\s{1,3})" if flags else ")"))


def bits_of(value: str) -> float:
    """Shannon entropy of the value's characters, in bits for the whole value: a lower bound of how random it is."""
    counts = Counter(value)
    return -sum(count * math.log2(count / len(value)) for count in counts.values())


def _lowered(text: str) -> str:
    """Lower case of the same length: a few letters grow when lowered, and positions must stay those of the text."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(char.lower() if char.isascii() else char for char in text)


def _behind_name(text: str, start: int, end: int, kind: str) -> Iterator[SecretSpan]:
    rest = _REST_OF_NAME.match(text, end)
    value = _value_at(text, start, rest.end() if rest else end)
    if value is not None and (_is_password(value) if kind == "password" else _is_token(value)):
        yield SecretSpan(start=value.start, end=value.start + len(value.text), kind=kind)


def _value_at(text: str, name_start: int, position: int) -> _Value | None:
    is_flag = text.rfind("--", max(0, name_start - 24), name_start) >= 0 and _is_flag(text, name_start)
    separated = _SEPARATED.match(text, position)
    match = separated or (_FLAGGED.match(text, position) if is_flag else None) or _SPOKEN.match(text, position)
    if match is None:
        return None
    quote = match["quote"]
    body = _pattern_behind(quote).match(text, match.end())
    if body is None or not body[0]:
        return None
    value = body[0] if quote else body[0].rstrip(".:!?。，、")
    return _Value(
        start=match.end(),
        text=value,
        quoted=quote is not None,
        literal=is_flag or _is_literal(text, name_start, match, body.end()),
        spoken=separated is None and not is_flag,
    )


def _is_flag(text: str, name_start: int) -> bool:
    word = text[max(0, name_start - 24) : name_start].rsplit(None, 1)
    return bool(word) and word[-1].startswith("--") if not text[name_start - 1].isspace() else False


def _pattern_behind(quote: str | None) -> re.Pattern[str]:
    if quote is None:
        return _BARE
    return _ESCAPED if len(quote) > 1 else _CLOSING[quote]


def _is_literal(text: str, name_start: int, match: re.Match[str], end: int) -> bool:
    """`DB_PASSWORD=swordfish` (environment line) and `password: swordfish` alone on its line (YAML)."""
    separator = match["sep"]
    if separator == "=":
        return text[name_start : name_start + 2].isupper()
    line_start = text.rfind("\n", 0, name_start) + 1
    alone = name_start - line_start <= 40 and " " not in text[line_start:name_start].strip()
    return ":" in separator and alone and (end >= len(text) or text[end] == "\n")


def _is_password(value: _Value) -> bool:
    text = value.text
    if len(text) < _MIN_PASSWORD or is_template(text) or _SPACE.search(text):
        return False
    if value.quoted:
        return _TYPE_WORD.fullmatch(text) is None and not (_WORD.fullmatch(text) and _NAME_OF_SECRET.search(text))
    if _CODE_LIKE.search(text):
        return False
    if _WORD.fullmatch(text):
        named = _NAME_OF_SECRET.search(text) or _TYPE_WORD.fullmatch(text)
        return value.literal and not named
    return any(char.isdigit() or not char.isalnum() for char in text) and not _NAME_OF_SECRET.match(text)


def _shortest_token(value: _Value) -> int:
    if value.quoted:
        return _MIN_QUOTED_TOKEN
    return _MIN_LITERAL_TOKEN if value.literal else _MIN_BARE_TOKEN


def _is_token(value: _Value) -> bool:
    text = value.text
    if len(text) < _shortest_token(value) or is_template(text) or not text.isascii() or _CODE_LIKE.search(text):
        return False
    if _SPACE.search(text) or "://" in text or text.count("/") > 3:
        return False
    mixed = any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
    return mixed and bits_of(text) / len(text) >= min(_MIN_BITS_PER_CHAR, math.log2(len(text)) * 0.8)
