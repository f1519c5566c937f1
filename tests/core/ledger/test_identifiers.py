"""What must survive letter by letter is found, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.identifiers import contains_identifier, find_identifiers, normal_form, take_identifiers
from worker.core.messages import Message, Origin, Role, ToolResult

UUID = "550e8400-e29b-41d4-a716-446655440000"
SHA = "0123456789abcdef0123456789abcdef01234567"

FOUND = {
    f"the run {UUID} failed": ("uuid", UUID),
    f"commit {SHA}.": ("hash", SHA),
    "fixed in 1a2b3c4, thanks": ("hash", "1a2b3c4"),
    "see (https://en.wikipedia.org/wiki/Foo_(bar)).": ("url", "https://en.wikipedia.org/wiki/Foo_(bar)"),
    "[docs](https://a.example/b?x=1&y=2)": ("url", "https://a.example/b?x=1&y=2"),
    "url=https://x.example/?a=b": ("url", "https://x.example/?a=b"),
    "edit src/a.py:12 please": ("path", "src/a.py"),
    "run ./build.sh": ("path", "build.sh"),
    "in /tmp/out.txt,": ("path", "/tmp/out.txt"),
    "~/.claude/settings.json": ("path", "~/.claude/settings.json"),
    "请看src/main.py文件": ("path", "src/main.py"),
    '"/home/用户/文档.txt"': ("path", "/home/用户/文档.txt"),
    r"C:\Users\me\notes.txt": ("path", r"C:\Users\me\notes.txt"),
    "T-101: fix it": ("ticket", "T-101"),
    "JIRA-1234 and": ("ticket", "JIRA-1234"),
    "closes #4670.": ("ticket", "#4670"),
    "owner/repo#77": ("ticket", "owner/repo#77"),
    "toolu_01VFMPi4pKheFn9Ht7yq7cux": ("call", "toolu_01VFMPi4pKheFn9Ht7yq7cux"),
    "on localhost:8080": ("host_port", "localhost:8080"),
    "db.example.org:5432": ("host_port", "db.example.org:5432"),
    "from 10.0.0.1 on": ("ip", "10.0.0.1"),
    "litellm==1.82.7": ("version", "1.82.7"),
    "mail bob@example.com": ("email", "bob@example.com"),
    "git@github.com:o/r.git": ("url", "git@github.com:o/r.git"),
    "on feature/foo-bar": ("branch", "feature/foo-bar"),
    "**`worker/core/ledger.py`**": ("path", "worker/core/ledger.py"),
}

NOTHING = [
    "in 2026 we had 12 of 300",
    "2026-01-02 12:30:45",
    "and/or, input/output, 24/7, n/a",
    "application/json",
    "UTF-8 and SHA-256 with GPT-4",
    "e.g. this, i.e. that",
    "/compact",
    "3.14 or 99.5%",
    "deadbeef",
    "console.log and process.env",
    "1e100000",
    "x / y",
]


@pytest.mark.parametrize("text", FOUND)
def test_it_is_found_without_what_stands_around_it(text: str) -> None:
    assert FOUND[text] in find_identifiers(text)


@pytest.mark.parametrize("text", NOTHING)
def test_prose_numbers_and_dates_are_no_identifiers(text: str) -> None:
    assert find_identifiers(text) == []


def test_they_come_in_order_and_once() -> None:
    """O1"""
    text = f"{UUID} then 1a2b3c4 then {UUID} then src/a.py and 1a2b3c4"
    assert [value for _, value in find_identifiers(text)] == [UUID, "1a2b3c4", "src/a.py"]


def test_a_secret_or_its_placeholder_is_never_one() -> None:
    """O6, B7, O76"""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    text = f"GITHUB_TOKEN={SHA} {token} ⟨secret:github-token:1a2b⟩ postgres://u:pw12345@h/db"
    assert find_identifiers(text) == []


def test_a_shortened_identifier_is_not_the_identifier() -> None:
    """O2"""
    assert contains_identifier(f"in {UUID}.", UUID)
    assert not contains_identifier(UUID[:-4], UUID)
    assert not contains_identifier("T-1011", "T-101")
    assert not contains_identifier("1.2.3.4", "1.2.3")
    assert not contains_identifier("x11.2.3", "1.2.3")
    assert contains_identifier("at 1.2.3.", "1.2.3")
    assert contains_identifier("in (`./src/a.py`)", "./src/a.py")
    assert normal_form("`./src/a.py`.") == "src/a.py"


@given(st.lists(st.sampled_from([*FOUND, *NOTHING]), max_size=8))
@settings(deadline=None, max_examples=50)
def test_what_is_found_stands_in_the_text_and_is_found_again_alone(lines: list[str]) -> None:
    text = "\n".join(lines)
    for kind, value in find_identifiers(text):
        assert contains_identifier(text, value)
        assert (kind, value) in find_identifiers(value)


def message(index: int, origin: Origin, text: str) -> Message:
    if origin is Origin.TOOL:
        result = ToolResult(call_id="c", name="Read", text=text)
        return Message(index=index, role=Role.TOOL, origin=origin, text="", tool_result=result)
    return Message(index=index, role=Role.USER, origin=origin, text=text)


def test_a_range_keeps_all_that_people_wrote_and_caps_what_tools_printed() -> None:
    """B4, O4"""
    listing = "\n".join(f"pkg/module_{number}.py" for number in range(250))
    typed = "\n".join(f"T-{number}" for number in range(100, 900))
    kept = take_identifiers([message(0, Origin.TOOL, listing), message(1, Origin.HUMAN, typed)])
    assert sum(each.kind == "ticket" for each in kept) == 800
    assert sum(each.kind == "path" for each in kept) == 100


def test_evidence_is_the_first_four_messages() -> None:
    kept = take_identifiers([message(index, Origin.HUMAN, "T-101 again") for index in range(6)])
    assert [(each.value, each.evidence) for each in kept] == [("T-101", ("m0", "m1", "m2", "m3"))]
