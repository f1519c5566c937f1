"""Secrets that give themselves away by their shape: vendor keys, tokens with a signature, private keys, URLs.

Values that are secret only because of the name before them live in `secret_assignments`. Every pattern starts with a
literal that is looked for first, so that a text without it costs one substring search, and no pattern can backtrack
over more than its own match.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"⟨secret:[a-z-]{2,24}(?::[0-9a-f]{4})?⟩")

_LONG_RUN = re.compile(r"[A-Za-z0-9]{12}")
_TEMPLATE = re.compile(
    r"""[<$%{\[*#…⟨]|(?i:x{3,}|\.{3}|-{3}|your|my[-_]|the[-_]|some[-_]|example|sample|dummy|fake[-_]|change[-_]?me
    |replace|redacted|placeholder|insert|todo|secret$|password$|passwd$|pass$|pwd$|token$|api[-_]?key$|user$)""",
    re.VERBOSE,
)
_TEMPLATE_INSIDE = re.compile(r"\.\.\.|…|\$\{|\{\{|\$\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSpan:
    """Where a secret stands in a text: [start, end)."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """marker: a literal that every match contains. holds: what a regular expression cannot say about the match."""

    kind: str
    marker: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = bool


def is_template(value: str) -> bool:
    """True for what stands where a secret will be put: "<token>", "${TOKEN}", "xxxx", "your-key-here"."""
    return _TEMPLATE.match(value) is not None or len(set(value)) <= 2 or _TEMPLATE_INSIDE.search(value) is not None


def _has_digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _is_random(value: str) -> bool:
    """A long unbroken run with a digit somewhere: "sk-learn-style-names" of words are none."""
    return _has_digit(value) and _LONG_RUN.search(value) is not None and not is_template(value[3:])


def _no_template(value: str) -> bool:
    return not is_template(value.split("_", 1)[-1]) and _has_digit(value)


def _shape(kind: str, marker: str, pattern: str, holds: Callable[[str], bool] = bool) -> _Shape:
    return _Shape(kind=kind, marker=marker, pattern=re.compile(pattern), holds=holds)


_SHAPES = (
    _shape("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{12,}"),
    _shape("openai-key", "sk-", r"sk-(?<![A-Za-z0-9]sk-)(?!ant-)[A-Za-z0-9_-]{16,}", _is_random),
    _shape("github-token", "gh", r"gh[pousr]_(?<![A-Za-z0-9]gh[pousr]_)[A-Za-z0-9]{16,}", _no_template),
    _shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _shape("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{16,}"),
    _shape("aws-key-id", "AKIA", r"AKIA(?<![A-Za-z0-9]AKIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _shape("aws-key-id", "ASIA", r"ASIA(?<![A-Za-z0-9]ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])", _has_digit),
    _shape("google-key", "AIza", r"AIza[A-Za-z0-9_-]{30,}"),
    _shape("google-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _shape("slack-token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", _has_digit),
    _shape("slack-token", "xapp-", r"xapp-[A-Za-z0-9-]{16,}", _has_digit),
    _shape("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    _shape("huggingface-token", "hf_", r"hf_(?<![A-Za-z0-9_]hf_)[A-Za-z0-9]{20,}"),
    _shape("npm-token", "npm_", r"npm_(?<![A-Za-z0-9_]npm_)[A-Za-z0-9]{30,}"),
    _shape("pypi-token", "pypi-Ag", r"pypi-Ag[A-Za-z0-9_-]{30,}"),
    _shape("stripe-key", "_live_", r"(?:sk|rk)_live_[A-Za-z0-9]{10,}"),
    _shape("stripe-key", "_test_", r"(?:sk|rk)_test_[A-Za-z0-9]{16,}", _has_digit),
    _shape("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    _shape("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _shape("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    _shape("xai-key", "xai-", r"xai-[A-Za-z0-9]{30,}"),
    _shape("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{30,}"),
    _shape("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{32,}"),
    _shape("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}"),
    _shape("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{24,}"),
    _shape("telegram-token", ":AA", r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    _shape("jwt", "eyJ", r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"),
    _shape("twilio-key", "SK", r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}(?![A-Za-z0-9])", _has_digit),
    _shape("vault-token", "hvs.", r"hvs\.[A-Za-z0-9_-]{24,}"),
    _shape("databricks-token", "dapi", r"dapi(?<![A-Za-z0-9]dapi)[0-9a-f]{32}"),
    _shape("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{30,}"),
    _shape("notion-token", "ntn_", r"ntn_(?<![A-Za-z0-9_]ntn_)[A-Za-z0-9]{40,}"),
    _shape("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{30,}"),
    _shape("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _shape("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _shape("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,}"),
    _shape("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
)

_MARKED = tuple((shape.marker, shape) for shape in _SHAPES)

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:\\+[rn]|[\sA-Za-z0-9+/=,:-])*")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])")
_AWS_SECRET_REACH = 300
_URL_PASSWORD = re.compile(r"://[^\s:/@\"'`<>?#\\]{0,100}:([^\s/\"'`<>\\@]{1,200})@(?=[A-Za-z0-9\[$_{])")
_BEARER = re.compile(r"(?i:bearer|basic|token)\s{1,3}([A-Za-z0-9._~+/-]{12,}={0,2})")
_AUTHORIZATION = re.compile(r"(?i:authorization)\\{0,3}[\"']?\s{0,3}[:=,]\s{0,3}\\{0,3}[\"']?")
_CURL_USER = re.compile(r"\s(?:-u|--user|--proxy-user)[\s=]{1,3}[\"']?[^\s:\"'$]{1,100}:([^\s\"'$@]{3,200})")


def shaped_secrets(text: str) -> Iterator[SecretSpan]:
    """Every secret that its own shape shows, in no order; spans may overlap."""
    for shape in [shape for marker, shape in _MARKED if marker in text]:
        yield from _matches(shape, text)
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if "AKIA" in text or "ASIA" in text:
        yield from _aws_secrets(text)
    if "://" in text and "@" in text:
        yield from _url_passwords(text)
    yield from _credentials_of_requests(text)


def _matches(shape: _Shape, text: str) -> Iterator[SecretSpan]:
    for match in shape.pattern.finditer(text):
        if shape.holds(match[0]):
            yield SecretSpan(start=match.start(), end=match.end(), kind=shape.kind)


def _private_keys(text: str) -> Iterator[SecretSpan]:
    """Whole blocks; also the rest of a block whose begin or end fell to a cut."""
    position = 0
    while (begin := _PEM_BEGIN.search(text, position)) is not None:
        body = _PEM_BODY.match(text, begin.end())
        body_end = body.end() if body else begin.end()
        end = _PEM_END.search(text, begin.end())
        position = end.end() if end and end.start() <= body_end + 1 else body_end
        yield SecretSpan(start=begin.start(), end=max(position, begin.end()), kind="private-key")
    end = _PEM_END.search(text)
    begin = _PEM_BEGIN.search(text)
    if end is not None and (begin is None or end.start() < begin.start()):
        yield SecretSpan(start=_body_start(text, end.start()), end=end.end(), kind="private-key")


_BODY_LINE = re.compile(r"[A-Za-z0-9+/=]{1,80}")


def _body_start(text: str, position: int) -> int:
    """Where the unbroken lines of base64 that end at `position` begin."""
    while True:
        line_start = text.rfind("\n", 0, max(position - 1, 0)) + 1
        line = text[line_start:position].strip()
        if position <= 0 or (line and _BODY_LINE.fullmatch(line) is None):
            return position
        position = line_start


def _aws_secrets(text: str) -> Iterator[SecretSpan]:
    """The 40 characters that go with a key id: within reach of one, mixed case and digits, so no git hash."""
    for marker in ("AKIA", "ASIA"):
        start = text.find(marker)
        while start >= 0:
            for match in _AWS_SECRET.finditer(text, start, start + _AWS_SECRET_REACH):
                if _has_digit(match[0]) and match[0].lower() != match[0] and match[0].upper() != match[0]:
                    yield SecretSpan(start=match.start(), end=match.end(), kind="aws-secret")
            start = text.find(marker, start + _AWS_SECRET_REACH)


def _url_passwords(text: str) -> Iterator[SecretSpan]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_template(match[1]):
            yield SecretSpan(start=match.start(1), end=match.end(1), kind="url-password")


def _credentials_of_requests(text: str) -> Iterator[SecretSpan]:
    """What stands behind "Authorization:", "Bearer", "curl -u user:"."""
    if "earer" in text or "BEARER" in text or "uthorization" in text or "AUTHORIZATION" in text:
        yield from _bearers(text)
    if "curl" in text:
        for match in _CURL_USER.finditer(text):
            if not is_template(match[1]):
                yield SecretSpan(start=match.start(1), end=match.end(1), kind="password")


def _bearers(text: str) -> Iterator[SecretSpan]:
    for match in _BEARER.finditer(text):
        named = match[0][:6].lower() == "bearer" or _follows_authorization(text, match.start())
        if named and _has_digit(match[1]) and not is_template(match[1]):
            yield SecretSpan(start=match.start(1), end=match.end(1), kind="bearer-token")


def _follows_authorization(text: str, position: int) -> bool:
    window = max(0, position - 32)
    return any(match.end() == position - window for match in _AUTHORIZATION.finditer(text[window:position]))
