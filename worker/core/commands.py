"""Reads shell commands far enough to say which programs they run: no shell, just the simple cases, never a guess."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

_HEREDOC = re.compile(r"<<-?\s*(\\?[\"']?)([A-Za-z_]\w{0,40})\1")
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&", ";;"})
_NOISE = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|>\s*/dev/null)\s*|\s*\|\s*(?:tail|head|tee /dev/null)\b[^|&;]*$")
_PLAIN = re.compile(r"[\w \t./:=@%+,*?~^$!-]*", re.ASCII)
"""Lines that white space alone takes apart; `shlex` looks at every character in Python."""
_GOES_TO = re.compile(r"^(?:cd [^&|;]{1,300} && ){1,5}")
_LOGICAL_LINE = re.compile(
    r"""(?:^[ \t]*\#[^\n]*|[^\n'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+""", re.DOTALL | re.MULTILINE
)
"""A line of the shell: quoted text goes on over line breaks. A quote that never ends is a character like others."""
_MAX_CHARS = 20_000
_MAX_NORMAL_CHARS = 2_000
_WRAPPERS = frozenset({"sudo", "time", "nice", "env", "command", "exec", "nohup", "xargs"})


def without_heredocs(command: str) -> str:
    """The command with the bodies of its here-documents cut out: they are data."""
    kept: list[str] = []
    ending: str | None = None
    for line in command.split("\n"):
        if ending is not None:
            if line.strip() == ending:
                ending = None
            continue
        kept.append(line)
        opened = _HEREDOC.search(line) if "<<" in line and "<<<" not in line else None
        ending = opened[2] if opened else None
    return "\n".join(kept)


def simple_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of each simple command, redirections included; none when the quoting cannot be read."""
    return _simple_commands(command[:_MAX_CHARS])


@lru_cache(maxsize=256)
def _simple_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Files, checks and failures ask for the same command one after the other, and sessions repeat theirs."""
    return tuple(map(tuple, _commands_in(command)))


def _commands_in(command: str) -> Iterator[list[str]]:
    words: list[str] = []
    for line in _LOGICAL_LINE.findall(without_heredocs(command).replace("\\\n", " ")):
        try:
            tokens = _tokens(line)
        except ValueError:
            tokens = []
        for token in [*tokens, ";"]:
            if token in _OPERATORS:
                if words:
                    yield _unwrapped(words)
                words = []
            else:
                words.append(token)


def hides_exit_code(command: str) -> bool:
    """True when the last exit code is not that of the program: a pipe, "|| true", something run afterwards."""
    bare = without_heredocs(command)
    return "||" in bare or ";" in bare or (re.search(r"(?<!\|)\|(?!\|)", bare) is not None and "pipefail" not in bare)


def normal_command(command: str) -> str:
    """The command without what does not change what it does: white space, where output goes, how much is shown."""
    previous = ""
    current = " ".join(command[:_MAX_NORMAL_CHARS].split())
    while current != previous:
        previous, current = current, _NOISE.sub(" ", current).strip()
    return current


def repeatable(command: str) -> str:
    """The command as it is told, and compared with another run: wherever the shell stood."""
    return _GOES_TO.sub("", normal_command(command))


def _tokens(line: str) -> list[str]:
    if _PLAIN.fullmatch(line):
        return line.split()
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#" if line.lstrip().startswith("#") else ""
    return [token for piece in lexer for token in _split_operator(piece)]


def _split_operator(token: str) -> list[str]:
    """ "&&" stays one word; "(" and ")" go."""
    return [token] if token.strip("()") else []


def _unwrapped(words: list[str]) -> list[str]:
    """Without "sudo", "FOO=1" and the like before the program."""
    for position, word in enumerate(words):
        if word not in _WRAPPERS and not re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            return words[position:]
    return words
