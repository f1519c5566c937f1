"""The next request of an agent: it fits, it is valid, it is true, and it is the same again."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from worker.adapters.files import write_atomically
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.errors import UsageError
from worker.view import View, view
from worker.wiring import ground_of, tools_for

Json = dict[str, Any]
GOLDEN = Path(__file__).parent / "golden"
RULE = "Never touch the database schema, whatever happens."
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "sigma")


class Chat:
    """A session as a file of OpenAI messages, one a line, that grows as an agent writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Json] = []
        self._calls = 0

    def system(self, text: str) -> None:
        self._add({"role": "system", "content": text})

    def human(self, text: str) -> None:
        self._add({"role": "user", "content": text})

    def says(self, text: str) -> None:
        self._add({"role": "assistant", "content": text})

    def calls(self, output: str, *, name: str = "bash", arguments: str = '{"command":"make test"}') -> None:
        self._calls += 1
        call_id = f"call_{self._calls}"
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        self._add({"role": "assistant", "content": None, "tool_calls": [call]})
        self._add({"role": "tool", "tool_call_id": call_id, "content": output})

    def turn(self, number: int, output_words: int = 400) -> None:
        self.human(f"Please do step {number}.")
        self.calls(" ".join(f"{WORDS[(number + at) % len(WORDS)]}{at}" for at in range(output_words)))
        self.says(f"Step {number} is done.")

    def _add(self, row: Json) -> None:
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path / "session.jsonl")


@pytest.fixture
def memory(tmp_path: Path) -> Settings:
    return Settings(workspace=tmp_path / "memory", keep_recent_tokens=500)


def said_in(made: View) -> str:
    return json.dumps([made.system, made.messages], ensure_ascii=False)


def consolidated(chat: Chat, settings: Settings, *, hold_back: bool = True) -> None:
    place = ground_of(settings).place_of(chat.path)
    consolidate(Request(path=chat.path), tools_for(place, settings, hold_back=hold_back))


def record_of(settings: Settings) -> Path:
    assert settings.workspace is not None
    [path] = settings.workspace.glob("sessions/*/view.json")
    return path


# What fits.


def test_a_session_that_fits_is_sent_as_it_is(chat: Chat, memory: Settings) -> None:
    chat.system("Be brief.")
    chat.human("Hello")
    chat.calls("done")
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "unchanged"
    assert made.messages == chat.rows
    assert made.notes == []
    assert made.tokens_before == made.tokens_after == sum(made.sources.values())


def test_a_session_that_was_never_consolidated_needs_no_checkpoint(chat: Chat, memory: Settings) -> None:
    """B53, O9: a rule of the first message is there although the message is not."""
    chat.human(RULE)
    for number in range(40):
        chat.turn(number)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "window"
    assert made.tokens_after <= made.budget
    assert RULE in said_in(made)
    assert made.messages[-1] == chat.rows[-1]
    assert any("no checkpoint" in note for note in made.notes)


def test_a_checkpoint_stands_in_the_place_of_older_messages(chat: Chat, memory: Settings) -> None:
    """J09: what was remembered reaches the agent."""
    chat.human(RULE)
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "checkpoint"
    assert RULE in said_in(made)
    assert "checkpoint 1" in said_in(made)
    assert made.messages[-1] == chat.rows[-1]
    assert any("checkpoint 1" in note for note in made.notes)


def test_what_lies_between_checkpoint_and_window_is_told_by_code(chat: Chat, memory: Settings) -> None:
    for number in range(20):
        chat.turn(number)
    consolidated(chat, memory)
    chat.human("Always write the tests first.")
    for number in range(20, 60):
        chat.turn(number)
    made = view(chat.path, window=6_000, settings=memory)
    assert made.outcome == "checkpoint"
    assert "Always write the tests first." in said_in(made)
    assert "came behind this checkpoint and are told by code alone" in said_in(made)


def test_a_session_that_fits_once_its_outputs_moved_out_needs_no_checkpoint(chat: Chat, memory: Settings) -> None:
    chat.human("Run the build.")
    chat.says("I will.")
    chat.human("Now.")
    chat.calls("\n".join(f"line {at} of the log" for at in range(9_000)))
    chat.human("Thanks.")
    consolidated(chat, memory.model_copy(update={"keep_recent_tokens": 10}))
    made = view(chat.path, window=32_000, settings=memory)
    again = view(chat.path, window=32_000, settings=memory)
    assert made.outcome == "micro_compacted"
    assert (again.messages, again.notes) == (made.messages, [])


def test_an_ended_session_still_shows_its_newest_messages_verbatim(chat: Chat, memory: Settings) -> None:
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory, hold_back=False)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "checkpoint"
    assert made.messages[-4:] == chat.rows[-4:]


def test_a_request_that_is_older_than_the_window_is_quoted(chat: Chat, memory: Settings) -> None:
    """B52, O28: who reads the view has to know what is being worked on."""
    chat.human("Rename every column to snake_case, table by table.")
    for number in range(60):
        chat.calls(" ".join(f"row{number}x{at}" for at in range(300)), arguments=f'{{"command":"step {number}"}}')
    for strategy in ("summarize", "truncate", "archive"):
        made = view(chat.path, window=6_000, strategy=strategy, settings=memory)
        assert made.tokens_after <= made.budget
        assert "Rename every column to snake_case, table by table." in said_in(made)


def test_one_output_that_is_the_whole_overflow_moves_out(chat: Chat, memory: Settings) -> None:
    """B25, strands 981; and what moved can be read again."""
    chat.human("Run the build.")
    chat.calls("\n".join(f"line {at} of the log" for at in range(30_000)))
    made = view(chat.path, window=16_000, settings=memory)
    assert made.over_budget is None
    assert "line 0 of the log" in said_in(made)
    assert "line 29999 of the log" in said_in(made)
    assert memory.workspace is not None
    [kept] = memory.workspace.glob("sessions/*/artifacts/*.txt")
    assert f"afterturn artifact {kept.stem[:16]}" in said_in(made)
    assert kept.read_text("utf-8").count("\n") == 29_999


def test_a_message_that_cannot_be_made_smaller_is_the_reason_that_is_told(chat: Chat, memory: Settings) -> None:
    chat.human("word " * 30_000)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.tokens_after > made.budget
    assert made.over_budget is not None
    assert "the newest message of the person has" in made.over_budget


def test_an_old_failure_keeps_its_words_while_successes_move_out(chat: Chat, memory: Settings) -> None:
    chat.human("Try it.")
    chat.calls("Exit code 2\n" + "ImportError: no module named orders " * 40)
    for number in range(12):
        chat.turn(number)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "micro_compacted"
    assert "ImportError: no module named orders " * 40 in said_in(made)
    assert "moved out of the conversation" in said_in(made)


def test_system_messages_stay_whatever_is_left_out(chat: Chat, memory: Settings) -> None:
    chat.system("You are the order desk's agent.")
    chat.turn(0)
    chat.system("From here on the sandbox is read-only.")
    for number in range(1, 60):
        chat.turn(number)
    wanted = [row for row in chat.rows if row["role"] == "system"]
    for strategy in ("summarize", "truncate", "archive"):
        made = view(chat.path, window=8_000, strategy=strategy, settings=memory)
        again = view(chat.path, window=8_000, strategy=strategy, settings=memory)
        assert made.messages[:2] == wanted
        assert again.messages == made.messages
        blocks = view(chat.path, window=8_000, strategy=strategy, format="anthropic", settings=memory).system
        assert blocks == [{"type": "text", "text": row["content"]} for row in wanted]


# Strategies.


def test_truncate_says_what_is_missing_and_puts_nothing_in_its_place(chat: Chat, memory: Settings) -> None:
    chat.human(RULE)
    for number in range(40):
        chat.turn(number)
    made = view(chat.path, window=8_000, strategy="truncate", settings=memory)
    assert made.outcome == "window"
    assert RULE not in said_in(made)
    assert "no longer fit and are not shown" in made.messages[0]["content"]


def test_archive_leaves_a_file_with_every_older_message(chat: Chat, memory: Settings) -> None:
    chat.human(RULE)
    for number in range(40):
        chat.turn(number)
    made = view(chat.path, window=8_000, strategy="archive", settings=memory)
    assert memory.workspace is not None
    [path] = memory.workspace.glob("sessions/*/archive/*.md")
    assert str(path) in made.messages[0]["content"]
    page = path.read_text("utf-8")
    shown = json.dumps(made.messages)
    for row in chat.rows:
        if row["role"] == "user":
            assert (row["content"] in page) != (row["content"] in shown)


# The same again.


def test_the_same_session_gives_the_same_bytes(chat: Chat, memory: Settings) -> None:
    for number in range(40):
        chat.turn(number)
    for format_name in ("openai", "anthropic"):
        first = view(chat.path, window=8_000, format=format_name, settings=memory)
        again = view(chat.path, window=8_000, format=format_name, settings=memory)
        assert json.dumps(again.messages) == json.dumps(first.messages)
        assert again.prefix_kept


def test_over_a_hundred_requests_the_prefix_breaks_rarely_and_says_so(chat: Chat, memory: Settings) -> None:
    """B44, P11, #7393: each break makes room for many requests."""
    chat.human(RULE)
    sent: list[Json] = []
    breaks = 0
    for number in range(100):
        chat.turn(number, output_words=100)
        made = view(chat.path, window=12_000, settings=memory)
        kept = made.messages[: len(sent)] == sent
        assert made.prefix_kept == kept
        assert made.tokens_after <= made.budget
        assert RULE in said_in(made)
        if not kept:
            breaks += 1
            assert made.notes
            assert made.tokens_after <= 0.8 * made.budget
        sent = made.messages
    assert 2 <= breaks <= 12


def test_anthropic_messages_are_a_prefix_too_when_requests_are_made(chat: Chat, memory: Settings) -> None:
    chat.human(RULE)
    sent: list[Json] = []
    breaks = 0
    for number in range(100):
        chat.human(f"Step {number}.")
        chat.calls("output " * 40)
        made = view(chat.path, window=12_000, format="anthropic", settings=memory)
        assert made.prefix_kept == (made.messages[: len(sent)] == sent)
        breaks += not made.prefix_kept
        sent = made.messages
        chat.says(f"Step {number} is done.")
    assert breaks <= 6


def test_a_new_checkpoint_changes_nothing_as_long_as_all_fits(chat: Chat, memory: Settings) -> None:
    for number in range(10):
        chat.turn(number)
    first = view(chat.path, window=32_000, settings=memory)
    consolidated(chat, memory)
    chat.turn(10)
    second = view(chat.path, window=32_000, settings=memory)
    assert second.outcome == "unchanged"
    assert second.messages[: len(first.messages)] == first.messages


def test_a_smaller_model_that_comes_later_shrinks_nothing_for_the_larger_one(chat: Chat, memory: Settings) -> None:
    """B65."""
    for number in range(40):
        chat.turn(number)
    large = view(chat.path, window=200_000, settings=memory)
    view(chat.path, window=8_000, settings=memory)
    assert view(chat.path, window=200_000, settings=memory).messages == large.messages == chat.rows


def test_messages_that_were_taken_back_break_the_prefix_and_the_view_says_why(chat: Chat, memory: Settings) -> None:
    for number in range(4):
        chat.turn(number)
    view(chat.path, window=32_000, settings=memory)
    chat.path.write_text("".join(json.dumps(row) + "\n" for row in chat.rows[:-4]), "utf-8")
    made = view(chat.path, window=32_000, settings=memory)
    assert made.messages == chat.rows[:-4]
    assert not made.prefix_kept
    assert any("began anew" in note for note in made.notes)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("shorter", lambda rows: rows[:60]),
        ("rewritten", lambda rows: [row if row["role"] == "user" else _edited(row) for row in rows]),
        ("restarted", lambda rows: [{"role": "user", "content": f"new {number}"} for number in range(500)]),
    ],
)
def test_a_checkpoint_of_a_file_that_is_no_longer_that_file_is_not_used(
    chat: Chat, memory: Settings, name: str, change: Callable[[list[Json]], list[Json]]
) -> None:
    """T12, B19."""
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory)
    chat.path.write_text("".join(json.dumps(row) + "\n" for row in change(chat.rows)), "utf-8")
    made = view(chat.path, window=2_000, settings=memory)
    assert made.outcome == "window", name
    assert any("checkpoint 1 was not used" in note for note in made.notes), name


def _edited(row: Json) -> Json:
    return {**row, "content": f"{row['content']} (edited)"}


def test_a_checkpoint_counts_in_a_file_that_lost_its_beginning(chat: Chat, memory: Settings) -> None:
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory)
    kept = [{"role": "user", "content": "another beginning"}, *chat.rows[40:]]
    chat.path.write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
    made = view(chat.path, window=2_000, settings=memory)
    assert made.outcome == "checkpoint"
    assert made.messages[-1] == chat.rows[-1]


def test_a_damaged_checkpoint_is_told_and_not_used(chat: Chat, memory: Settings) -> None:
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory)
    assert memory.workspace is not None
    [path] = memory.workspace.glob("sessions/*/checkpoints/000001.json")
    path.write_bytes(path.read_bytes()[:-20])
    made = view(chat.path, window=8_000, settings=memory)
    assert made.outcome == "window"
    assert any("no checkpoint was used" in note for note in made.notes)


# The record.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"schema": 99, "lanes": {}}',
        b'{"schema": 1, "lanes": {"openai summarize 8000": {"replaced": {"x": 1}}}}',
        (
            b'{"schema": 1, "lanes": {"openai summarize 8000": {"base": {"kind": "window", "start": '
            b'{"format": "openai", "index": 999999, "anchors": ["00"]}}}}}'
        ),
        b"\xff\xfe\x00",
    ],
)
def test_a_record_that_cannot_be_used_costs_a_cache_and_no_view(chat: Chat, memory: Settings, data: bytes) -> None:
    """O74, T12."""
    for number in range(40):
        chat.turn(number)
    before = view(chat.path, window=8_000, settings=memory)
    write_atomically(record_of(memory), data)
    made = view(chat.path, window=8_000, settings=memory)
    assert made.messages == before.messages
    assert any("anew" in note for note in made.notes)
    assert view(chat.path, window=8_000, settings=memory).notes == []


def test_a_workspace_that_takes_nothing_costs_a_cache_and_no_view(chat: Chat, tmp_path: Path, protocols: Any) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "sessions").write_text("a file in the way", "utf-8")
    for number in range(40):
        chat.turn(number)
    settings = Settings(workspace=tmp_path / "memory")
    for strategy in ("summarize", "truncate", "archive"):
        made = view(chat.path, window=12_000, strategy=strategy, settings=settings)
        protocols.check_openai(made.messages)
        assert made.tokens_after <= made.budget
        assert "afterturn artifact" not in said_in(made)
        assert any("not kept" in note for note in made.notes)


def test_two_processes_at_once_settle_the_same(chat: Chat, memory: Settings) -> None:
    """B40, T13: neither loses, neither fails."""
    for number in range(40):
        chat.turn(number)
    script = (
        "import json, sys; from worker.view import view; from worker.config import Settings; from pathlib import Path\n"
        "made = view(sys.argv[1], window=8000, settings=Settings(workspace=Path(sys.argv[2])))\n"
        "print(json.dumps(made.messages))"
    )
    command = [sys.executable, "-c", script, str(chat.path), str(memory.workspace)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate(timeout=120)[0] for process in running}
    assert {process.returncode for process in running} == {0}
    assert len(answers) == 1
    assert json.loads(answers.pop()) == view(chat.path, window=8_000, settings=memory).messages


def test_secrets_are_in_the_request_as_they_were_said_and_in_no_file_of_ours(chat: Chat, memory: Settings) -> None:
    """O78, B57, O76: an agent that gets a placeholder writes it into a file; a store that gets a secret keeps it."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    chat.human(f"Use the token {token}.")
    for number in range(40):
        chat.calls(f"token {token}\n" + "word " * 500, arguments=f'{{"command":"step {number}"}}')
    chat.human(f"Again: the token is {token}.")
    for strategy in ("summarize", "truncate", "archive"):
        made = view(chat.path, window=8_000, strategy=strategy, settings=memory)
        assert f"Again: the token is {token}." in said_in(made)
    assert memory.workspace is not None
    for path in memory.workspace.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


# Forcing.


def test_a_view_that_was_refused_becomes_smaller_once_and_stays_so(chat: Chat, memory: Settings) -> None:
    """F12, O38, P12: bounded, and never for ever."""
    for number in range(20):
        chat.turn(number)
    first = view(chat.path, window=32_000, settings=memory)
    forced = view(chat.path, window=32_000, force=True, settings=memory)
    assert forced.tokens_after < 0.75 * first.tokens_after
    assert forced.over_budget is None
    again = view(chat.path, window=32_000, force=True, settings=memory)
    assert again.messages == forced.messages
    assert again.over_budget is not None
    chat.turn(20)
    later = view(chat.path, window=32_000, settings=memory)
    assert later.budget == forced.budget
    assert later.tokens_after <= later.budget


def test_forcing_ends_at_a_view_that_nobody_can_refuse_for_its_length(chat: Chat, memory: Settings) -> None:
    chat.human("Hello")
    made = view(chat.path, window=32_000, force=True, settings=memory)
    assert made.messages == chat.rows
    assert made.over_budget is not None
    assert "too few" in made.over_budget


# Laws.


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Steps of a session: what happens, and with which text."""
    texts = st.sampled_from(["ok", "please go on", "不要修改数据库。", "x " * 300, "word " * 1_500, "\ud83d half", " "])
    kinds = st.sampled_from(["human", "human", "says", "calls", "calls", "calls", "open", "orphan", "system"])
    return draw(st.lists(st.tuples(kinds, texts), min_size=1, max_size=25))


def play(chat: Chat, steps: list[tuple[str, str]]) -> None:
    for number, (kind, text) in enumerate(steps):
        call = {"id": f"call_{number % 3}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        match kind:
            case "human" | "system" | "says":
                getattr(chat, kind)(f"{text} {number}")
            case "calls":
                chat.calls(text)
            case "open":
                chat._add({"role": "assistant", "content": None, "tool_calls": [call]})
            case _:
                chat._add({"role": "tool", "tool_call_id": f"call_{number}", "content": text})


@pytest.fixture
def numbered(tmp_path: Path) -> Iterator[int]:
    return iter(range(10_000))


@hypothesis_settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=sessions(), window=st.sampled_from([2_000, 4_000, 12_000]), more=sessions(), data=st.data())
def test_every_view_is_valid_fits_and_holds_what_it_must(
    tmp_path: Path,
    numbered: Iterator[int],
    protocols: Any,
    steps: list[tuple[str, str]],
    window: int,
    more: list[tuple[str, str]],
    data: st.DataObject,
) -> None:
    """P05: it begins with a user's message and holds the newest of a person."""
    number = next(numbered)
    chat = Chat(tmp_path / f"{number}.jsonl")
    settings = Settings(workspace=tmp_path / f"memory-{number}")
    strategy = data.draw(st.sampled_from(["summarize", "truncate", "archive"]))
    before: dict[str, list[Json]] = {}
    for part in (steps, more):
        play(chat, part)
        for format_name in ("openai", "anthropic"):
            made = view(chat.path, window=window, format=format_name, strategy=strategy, settings=settings)  # type: ignore[arg-type]
            if format_name == "anthropic":
                assert made.system is not None
                protocols.check_anthropic(made.system, made.messages)
            else:
                protocols.check_openai(made.messages)
                sent = before.get(format_name, [])
                assert made.prefix_kept == (made.messages[: len(sent)] == sent)
                before[format_name] = made.messages
            assert (made.tokens_after <= made.budget) == (made.over_budget is None)
            humans = [row["content"] for row in chat.rows if row["role"] == "user"]
            if humans:
                assert json.dumps(humans[-1].replace("\ud83d", "\ufffd"))[1:-1] in json.dumps([made.messages])
            again = view(chat.path, window=window, format=format_name, strategy=strategy, settings=settings)  # type: ignore[arg-type]
            assert json.dumps(again.messages) == json.dumps(made.messages)


# What callers rely on.


def test_importing_the_reading_side_loads_no_model_and_no_broker() -> None:
    code = "import sys, worker.view; print(sorted({'litellm', 'redis', 'celery', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_cache_marks_are_set_on_request_and_change_nothing_else(chat: Chat, memory: Settings) -> None:
    chat.system("Be brief.")
    chat.turn(0)
    plain = view(chat.path, window=8_000, format="anthropic", settings=memory)
    marked = view(chat.path, window=8_000, format="anthropic", cache_marks=True, settings=memory)
    assert said_in(marked).count("cache_control") == 2
    assert said_in(marked).replace(', "cache_control": {"type": "ephemeral"}', "") == said_in(plain)
    assert marked.prefix_kept
    assert any("Anthropic" in note for note in view(chat.path, window=8_000, cache_marks=True, settings=memory).notes)


def test_what_cannot_be_meant_is_refused(chat: Chat, memory: Settings) -> None:
    chat.human("Hello")
    for wrong in (
        {"window": 12},
        {"window": -1},
        {"window": 8_000, "format": "gemini"},
        {"window": 8_000, "strategy": "x"},
    ):
        with pytest.raises(UsageError):
            view(chat.path, settings=memory, **wrong)
    with pytest.raises(UsageError):
        view("no such session", window=8_000, settings=memory)


def test_a_session_is_found_by_its_name(chat: Chat, memory: Settings) -> None:
    for number in range(40):
        chat.turn(number)
    consolidated(chat, memory)
    by_path = view(chat.path, window=8_000, settings=memory)
    assert view("session", window=8_000, settings=memory).messages == by_path.messages


def test_a_small_view_reads_as_it_did_before(chat: Chat, memory: Settings) -> None:
    """Read the difference before you update the golden file."""
    chat.system("You are the order desk's agent.")
    chat.human(f"T-101: add a currency column to the export. {RULE}")
    for number in range(30):
        chat.turn(number, output_words=60)
    made = view(chat.path, window=4_000, format="anthropic", settings=memory)
    assert json.dumps([made.system, made.messages], indent=1, ensure_ascii=False) + "\n" == (
        GOLDEN / "view_small.json"
    ).read_text("utf-8")
