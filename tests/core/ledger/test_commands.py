"""Commands are read alike whether white space alone takes them apart or quotes have to be understood."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.commands import simple_commands

PLAIN_WORDS = st.text(alphabet="ab0_./:@%+,*?~^$!-", min_size=1, max_size=6)
SPACES = st.sampled_from((" ", "  ", "\t"))


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(PLAIN_WORDS, SPACES), min_size=1, max_size=5))
def test_a_plain_line_has_the_words_that_a_shell_would_see(pieces: list[tuple[str, str]]) -> None:
    line = "".join(f"{word}{space}" for word, space in pieces)
    (plain,) = simple_commands(line)
    (quoted,) = simple_commands(f"{line} 'last one'")  # the quotes make the shell's own lexer read it
    assert quoted == (*plain, "last one")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q && ruff check .", (("pytest", "-q"), ("ruff", "check", "."))),
        ("cd src; go test ./... | tail -3", (("cd", "src"), ("go", "test", "./..."), ("tail", "-3"))),
        ("CI=1 sudo make all", (("make", "all"),)),
        ("cat <<'EOF' > a.txt\nrm -rf /\nEOF\nls", (("cat", "<<", "EOF", ">", "a.txt"), ("ls",))),
        ("echo 'never closed", ()),
        ("echo 'never closed\nls\nrm a.py", (("ls",), ("rm", "a.py"))),
        ('python -c "\nif a > b:\n    pass\n" && ls', (("python", "-c", "\nif a > b:\n    pass\n"), ("ls",))),
        ("git commit -m 'title\n\n> quoted'", (("git", "commit", "-m", "title\n\n> quoted"),)),
        ("# don't\nls -l\n# isn't", (("ls", "-l"),)),
        ("", ()),
    ],
)
def test_a_command_is_taken_apart_into_its_programs(command: str, expected: tuple[tuple[str, ...], ...]) -> None:
    assert simple_commands(command) == expected


@pytest.mark.parametrize("text", ["'", '"', "\\", "'\n", '"\\\n', "#'\n"])
def test_a_hostile_command_ends_soon(text: str) -> None:
    assert isinstance(simple_commands(text * 10_000), tuple)
