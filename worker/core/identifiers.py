"""Finds the strings that must survive letter by letter: addresses, paths, hashes, ticket and call ids, versions.

Bare years, counts and words are none, and neither is a secret or the placeholder of one. What a range keeps of them,
and why, is `take_identifiers`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from worker.core.ledger import Identifier
from worker.core.messages import Message, Origin
from worker.core.secret_shapes import PLACEHOLDER
from worker.core.secrets import redact

# One chunk is what stands between white space, quotes and brackets; an address may hold more than other chunks.
_CHUNK = re.compile(
    r"[\w:+.-]*://[^\s\"'`<>\\{}|^（）「」『』【】《》，。；、！？]+"
    r"|[A-Za-z]:\\[^\s\"'`<>|?*,;()]+"
    r"|[^\s\"'`<>()\[\]{},;|=\\^&$（）「」『』【】《》，。；：、！？]+"
)
_WORTH_A_LOOK = re.compile(r"[0-9/@#]|\.[A-Za-z]|:\\")
_DIGIT = re.compile(r"[0-9]")
_SIGNS = re.compile(r"[0-9/@\\:#]")
_QUOTES = " \t\r\n\"'`<>()[]{}"
_EDGES = ".,:!?*_~-+%"
_FOREIGN = re.compile(r"[^\x00-\u024f]")
_ASCII_RUN = re.compile(r"[!-~\u00c0-\u024f]+")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}\Z")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}")
_GIT_REMOTE = re.compile(r"[\w.-]{1,32}@[\w.-]{1,128}:[\w./~-]{1,256}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_CALL = re.compile(r"(?:toolu|srvtoolu|call|chatcmpl|fc|msg|req|run|resp)[_-][A-Za-z0-9_]{8,64}")
_IP = re.compile(r"((?:\d{1,3}\.){3}\d{1,3})(?::\d{1,5}|/\d{1,2})?")
_IPV6 = re.compile(r"[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}")
_HOST_PORT = re.compile(r"([A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}):(\d{2,5})(?:/[\w./-]{0,200})?")
_VERSION = re.compile(r"(?:v\d+(?:\.\d+)+|\d+\.\d+(?:\.\d+)+)(?:[-+.]?[A-Za-z][A-Za-z0-9.+-]{0,40})?")
_HASH = re.compile(r"(?:sha\d{1,3}[:-])?([0-9a-f]{7,64}|[0-9A-F]{7,64})(?:[:^~].{0,80})?")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{0,9}-\d{1,7}|CVE-\d{4}-\d{3,7}|(?:[\w.-]{1,64}/[\w.-]{1,100})?#\d{2,7}")
_NO_TICKET = re.compile(
    r"(?:UTF|SHA|ISO|RFC|AES|GPT|MD|UTC|GMT|RSA|HTTP|BASE|COVID|TLS|CP|IEC|ANSI|ECMA|ES|USB|MP|X|PEP|CLAUDE|IPV|LATIN"
    r"|HMAC|BLAKE|CRC|EC|ED|P|F|Q|H|A4|WIN|INT|FLOAT|UINT|BF|FP|K)-\d+"
)
_PATH = re.compile(r"~?[\w.@+*%:-]*(?:/[\w.@+*%:~-]+)+/?|[\w.@-]+/")
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\.{2,500}")
_LINE_SUFFIX = re.compile(
    r"(?:(?::\d{1,7}(?:-\d{1,7})?|:[A-Za-z_]\w{0,80}){1,4}|#L\d{1,7}(?:-L?\d{1,7})?|::.{1,200})\Z"
)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,9}\Z")
_FILE_NAME = re.compile(
    r"(?!(?:console|logger|log|math|np|process|self|this)\.)(?:[\w@+-][\w.@+-]{0,100})?\.(?:py|pyi|ipynb|js|mjs"
    r"|cjs|jsx|ts"
    r"|tsx|vue|svelte|go|rs|rb|php|java|kt|kts|swift|scala|c|cc|cpp|cxx|h|hh|hpp|cs|fs|mm|lua|pl|jl|ex|exs|erl|hs"
    r"|ml|clj|dart"
    r"|zig|nim|sh|bash|zsh|fish|ps1|bat|sql|html?|css|scss|sass|less|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|lock"
    r"|xml|csv"
    r"|tsv|md|mdx|rst|txt|log|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|webp|ico|mp[34]|wav|zip|tar|gz|tgz|bz2|xz"
    r"|whl|deb|rpm"
    r"|exe|dll|so|dylib|proto|graphql|tf|tfvars|hcl|j2|tmpl|tpl|gradle|properties|gitignore|dockerignore"
    r"|editorconfig|npmrc"
    r"|parquet|sqlite3?|pem|crt|patch|diff|traj)|go\.(?:mod|sum)|\.env(?:\.\w{1,20})?",
    re.IGNORECASE,
)
_KNOWN_FOLDER = re.compile(
    r"(?:src|libs?|tests?|spec|docs?|cmd|pkg|internal|apps?|packages|scripts|bin|build|dist|configs?|tmp|etc|home"
    r"|usr|var|opt"
    r"|dev|mnt|root|srv|users|node_modules|vendor|examples|tools|public|static|assets|api|server|client|worker"
    r"|core|bench"
    r"|prompts|migrations|templates|fixtures|data|\.[a-z]+)",
    re.IGNORECASE,
)
_ROOTS = frozenset({"tmp", "etc", "home", "usr", "var", "opt", "dev", "mnt", "root", "srv", "proc", "sys", "Users"})
_BRANCH = re.compile(
    r"(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor|origin|upstream|refs|heads)/[\w./-]{2,200}"
)
_MEDIA_TYPE = re.compile(r"(?:application|text|image|audio|video|multipart|font|model|message)/[\w.+*-]+")
_NO_HOST = re.compile(
    r"lines?|col|row|id|pid|port|at|error|exit|code|step|chapter|page|year|size|count|width", re.IGNORECASE
)
_MAX_CHUNK = 2_000

Memo = dict[str, tuple[tuple[str, str], ...]]
"""What is known about words and their chunks: sessions repeat theirs ten times over."""


def find_identifiers(text: str) -> list[tuple[str, str]]:
    """(kind, value) of every identifier in order of first appearance, no value twice.

    Kinds: url, path, branch, hash, uuid, ticket, call, host_port, ip, version, email. Secrets are redacted first.
    """
    return identifiers_in_redacted(redact(text))


def identifiers_in_redacted(text: str, memo: Memo | None = None) -> list[tuple[str, str]]:
    """The same for text that has been redacted already; a caller that reads many texts hands in one dict as memo."""
    known: Memo = {} if memo is None else memo
    found: dict[str, str] = {}
    cleaned = PLACEHOLDER.sub("⟨", text) if "⟨" in text else text
    for word in dict.fromkeys(cleaned.split()):
        identifiers = known.get(word)
        if identifiers is None:
            identifiers = known[word] = _identifiers_of_word(word, known)
        for kind, value in identifiers:
            found.setdefault(value, kind)
    return [(kind, value) for value, kind in found.items()]


def _identifiers_of_word(word: str, known: Memo) -> tuple[tuple[str, str], ...]:
    if len(word) < 3 or word.isalpha() or not _WORTH_A_LOOK.search(word):
        return ()
    found: list[tuple[str, str]] = []
    for chunk in _CHUNK.findall(word):
        identifiers = known.get(chunk)
        if identifiers is None:
            identifiers = known[chunk] = _identifiers_of_chunk(chunk)
        found += identifiers
    return tuple(found)


def normal_form(value: str) -> str:
    """The value without what only its surroundings added: quotes, closing punctuation, a leading "./"."""
    return value.lstrip(_QUOTES).rstrip(_QUOTES + _EDGES).removeprefix("./")


def contains_identifier(text: str, value: str) -> bool:
    """True when the value stands in the text whole: T-101 is not in "T-1011", 1.2.3 not in "1.2.3.4"."""
    wanted = normal_form(value)
    position = text.find(wanted) if wanted else -1
    while position >= 0:
        if not _goes_on(text, position, position + len(wanted)):
            return True
        position = text.find(wanted, position + 1)
    return False


def _goes_on(text: str, start: int, end: int) -> bool:
    """True when the letters around [start, end) belong to a longer identifier."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _joins(before[-1:], text[start]) or _joins(text[end - 1], after[:1]):
        return True
    return (before[-1:] == "." and before[:1].isdigit() and text[start].isdigit()) or (
        after[:1] == "." and after[1:].isdigit() and text[end - 1].isdigit()
    )


def _joins(left: str, right: str) -> bool:
    def is_part(char: str) -> bool:
        return char.isascii() and (char.isalnum() or char == "_")

    return is_part(left) and is_part(right)


def _identifiers_of_chunk(chunk: str) -> tuple[tuple[str, str], ...]:
    """The identifiers of one chunk: one, several (a range of commits), or none."""
    if not 2 < len(chunk) <= _MAX_CHUNK or "⟨" in chunk or not _WORTH_A_LOOK.search(chunk) or chunk.isdigit():
        return ()
    if "://" in chunk:
        return _urls(chunk)
    stripped = (piece.lstrip("*_:!?,+-").rstrip(_EDGES) for piece in _pieces(chunk))
    classified = (_classify(piece) for piece in stripped if len(piece) > 2)
    return tuple(found for found in classified if found is not None)


def _pieces(chunk: str) -> Iterable[str]:
    """Chinese has no spaces: there an ASCII run is a chunk, unless the whole chunk is the name of a file."""
    if chunk.isascii() or not _FOREIGN.search(chunk):
        return chunk.split("..") if ".." in chunk and "/" not in chunk else (chunk,)
    if chunk[0] in "/~." and _EXTENSION.search(chunk):
        return (chunk,)
    return _ASCII_RUN.findall(chunk)


def _urls(chunk: str) -> tuple[tuple[str, str], ...]:
    before, _, after = chunk.partition("://")
    scheme = _SCHEME.search(before)
    host = _trimmed_url(after)
    return (("url", f"{scheme[0]}://{host}"),) if scheme is not None and host and host[0].isalnum() else ()


def _trimmed_url(text: str) -> str:
    """Without the punctuation of the sentence, and without a closing bracket that the address did not open."""
    text = text.partition("](")[0]
    while text and (
        text[-1] in ".,;:!?*_~'\"" or (text[-1] in ")]" and text.count(text[-1]) > text.count(_OPENING[text[-1]]))
    ):
        text = text[:-1]
    return text


_OPENING = {")": "(", "]": "["}


def _classify(chunk: str) -> tuple[str, str] | None:
    if not _SIGNS.search(chunk):
        return ("path", chunk) if "." in chunk and _is_file_name(chunk) else None
    numbered = _numbered(chunk) if _DIGIT.search(chunk) else None
    if numbered is not None:
        return numbered
    if "@" in chunk:
        if _GIT_REMOTE.fullmatch(chunk):
            return "url", chunk
        if _EMAIL.fullmatch(chunk):
            return "email", chunk
    return _path(chunk)


def _is_file_name(chunk: str) -> bool:
    return _FILE_NAME.fullmatch(chunk) is not None and not chunk.isupper()


def _numbered(chunk: str) -> tuple[str, str] | None:
    """Kinds that cannot be without a digit."""
    if (found := _UUID.search(chunk)) is not None and "/" not in chunk and "." not in chunk:
        return "uuid", found[0]
    if (found := _HASH.fullmatch(chunk)) is not None and _is_hash(found[1]):
        return "hash", found[1]
    if _TICKET.fullmatch(chunk) and not _NO_TICKET.fullmatch(chunk):
        return "ticket", chunk
    if (found := _CALL.match(chunk)) is not None and any(char.isdigit() for char in chunk[5:]):
        return "call", found[0]
    if _VERSION.fullmatch(chunk) and not _IP.fullmatch(chunk):
        return "version", chunk
    return _address(chunk)


def _is_hash(digits: str) -> bool:
    if len(digits) in (40, 64):
        return len(set(digits)) > 2
    return (
        any(char.isdigit() for char in digits)
        and sum(char.isalpha() for char in digits) >= 1
        and not _is_number(digits)
    )


def _is_number(digits: str) -> bool:
    """1e100000 and 12345e6 are numbers."""
    return re.fullmatch(r"\d+[eE]\d+", digits) is not None


def _address(chunk: str) -> tuple[str, str] | None:
    if (found := _IP.fullmatch(chunk)) is not None:
        return ("ip", chunk) if all(int(part) <= 255 for part in found[1].split(".")) else None
    if "::" in chunk or chunk.count(":") == 7:
        return ("ip", chunk) if _IPV6.fullmatch(chunk) and sum(char.isalnum() for char in chunk) > 2 else None
    if (found := _HOST_PORT.fullmatch(chunk)) is not None and _is_host(found[1], found[2]):
        return "host_port", chunk
    return None


def _is_host(host: str, port: str) -> bool:
    if host == "localhost":
        return True
    if not 0 < int(port) <= 65_535 or _FILE_NAME.fullmatch(host) or _NO_HOST.fullmatch(host):
        return False
    return "." in host or (len(port) >= 4 and host.islower())


def _path(chunk: str) -> tuple[str, str] | None:
    if _WINDOWS_PATH.fullmatch(chunk):
        return "path", chunk
    path = _LINE_SUFFIX.sub("", chunk)
    if path.startswith(("a/", "b/")) and _EXTENSION.search(path):  # the two sides of a diff
        path = path[2:]
    if "/" not in path:
        return ("path", path) if _is_file_name(path) else None
    if _BRANCH.fullmatch(path) and not _EXTENSION.search(path):
        return "branch", path
    is_path = _PATH.fullmatch(path) or not path.isascii()
    return ("path", path.removeprefix("./")) if is_path and _is_path(path) else None


def _is_path(path: str) -> bool:
    """Told apart from and/or, 24/7, 2026/01/02, /compact, application/json."""
    if not any(char.isalpha() for char in path) or _MEDIA_TYPE.fullmatch(path):
        return False
    segments = [segment for segment in path.split("/") if segment not in ("", ".", "..")]
    if not segments or path.startswith("..."):
        return False
    if path[0] in "/~" or path.startswith(("./", "../")):
        return len(segments) > 1 or bool(_EXTENSION.search(path)) or segments[0] in _ROOTS or path[0] in "~."
    if _EXTENSION.search(path) or _KNOWN_FOLDER.fullmatch(segments[0]):
        return True
    if path.endswith("/"):
        return len(segments[0]) > 2 and segments[0].isascii()
    return (len(segments) > 2 and all(len(segment) > 1 for segment in segments)) or _has_name_signs(segments)


def _has_name_signs(segments: list[str]) -> bool:
    """Two words with a slash are prose ("input/output"); names in a project have signs and digits in them."""
    return (
        len(segments) == 2
        and all(re.search(r"[a-z]", s) for s in segments)
        and re.search(r"\w[_-]\w", segments[1]) is not None
    )


def take_identifiers(messages: Sequence[Message]) -> tuple[Identifier, ...]:
    """What a range keeps, in order of first appearance, each with its first 4 messages.

    Everything that a person wrote is kept. Of what only the assistant and its calls hold, the 300 that stand in most
    messages; of what only tools printed, 100. A long output is searched in its first and last 6,000 characters:
    listings hold thousands of paths that nobody will ask for again.
    """
    memo: Memo = {}
    seen: dict[str, _Sighting] = {}
    for message in messages:
        for weight, text in _searched_texts(message):
            for kind, value in identifiers_in_redacted(text, memo):
                sighting = seen.setdefault(value, _Sighting(kind))
                sighting.see(message.id, weight)
    kept = _within_caps(seen)
    return tuple(
        Identifier(kind=sighting.kind, value=value, evidence=tuple(sighting.evidence))
        for value, sighting in seen.items()
        if value in kept
    )


_HUMAN, _CALLED, _PRINTED = 0, 1, 2
_CAPS = {_CALLED: 300, _PRINTED: 100}
_MAX_EVIDENCE = 4
_SEARCHED_EDGE_CHARS = 6_000


class _Sighting:
    """Where an identifier was seen. weight: the best of those who wrote it."""

    __slots__ = ("count", "evidence", "kind", "weight")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.weight = _PRINTED
        self.count = 0
        self.evidence: list[str] = []

    def see(self, message_id: str, weight: int) -> None:
        self.weight = min(self.weight, weight)
        self.count += 1
        if message_id not in self.evidence and len(self.evidence) < _MAX_EVIDENCE:
            self.evidence.append(message_id)


def _within_caps(seen: dict[str, _Sighting]) -> set[str]:
    kept = {value for value, sighting in seen.items() if sighting.weight == _HUMAN}
    for weight, cap in _CAPS.items():
        values = [value for value, sighting in seen.items() if sighting.weight == weight]
        kept.update(sorted(values, key=lambda value: -seen[value].count)[:cap])
    return kept


def _searched_texts(message: Message) -> Iterator[tuple[int, str]]:
    """(who wrote it, text); failures count like calls, since they are what goes on being talked about."""
    if message.text:
        yield _WEIGHTS.get(message.origin, _PRINTED), message.text
    for call in message.tool_calls:
        yield _CALLED, call.arguments.replace("\\n", "\n").replace('\\"', '"')
    result = message.tool_result
    if result is not None:
        failed = result.is_error or bool(result.exit_code)
        yield _CALLED if failed else _PRINTED, _edges(result.text)


_WEIGHTS = {Origin.HUMAN: _HUMAN, Origin.ASSISTANT: _CALLED}


def _edges(text: str) -> str:
    """The first and the last words of a long text, without those that the cut went through."""
    edge = _SEARCHED_EDGE_CHARS
    return text if len(text) <= 2 * edge else " ".join((*text[:edge].split()[:-1], *text[-edge:].split()[1:]))
