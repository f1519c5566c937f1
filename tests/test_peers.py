"""The yardstick that is held to other libraries too: its stand-in, its scoring, and what ours keeps by it.

`make peers` runs the others; nothing here needs their environments.
"""

import json
import re
import sys
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from peers import scoring
from peers.drivers import ours
from peers.drivers.driving import Outcome, Report, Task
from peers.environments import REQUIREMENTS
from peers.extracting import KnownLines, Policy, chosen, lines_of, worded_away
from peers.planting import KEEP_MESSAGES, Kind, Message, Session, rows_of, sessions
from peers.running import SYSTEMS, Row, Run, judged, measure
from peers.stand_in import Fault, Meter, StandIn, serving
from peers.tables import failure_table, session_table

from worker.core.tokens import estimate_tokens

pytestmark = pytest.mark.xdist_group("litellm")


@pytest.fixture(scope="module")
def talk() -> Session:
    return sessions()["talk"]


def ask(url: str, *texts: str, **more: object) -> tuple[int, Any]:
    request = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text} for text in texts], **more}
    address = urlsplit(url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=10)
    connection.request("POST", f"{address.path}/chat/completions", json.dumps(request))
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body if more.get("stream") else json.loads(body)


# The sessions.


def test_sessions_are_the_same_every_time_and_plant_what_they_say() -> None:
    for name, session in sessions().items():
        assert session == sessions()[name]
        old, tail = [message.text for message in session.old], [message.text for message in session.tail]
        assert len(tail) == KEEP_MESSAGES
        for one in session.planted:
            assert one.text in old
            assert one.text not in tail
            assert not one.earlier or old.index(one.earlier) < old.index(one.text)
            assert scoring.kept([one], one.text) == [one]
            assert scoring.stale([one], one.text) == []
        assert scoring.by_kind(session.planted) == dict.fromkeys(Kind, 4)


def test_a_tool_output_follows_its_call() -> None:
    rows = rows_of([Message(role="tool", text="3 passed", call=("bash", "pytest"))])
    assert [row["role"] for row in rows] == ["assistant", "tool"]
    assert rows[0]["tool_calls"][0]["id"] == rows[1]["tool_call_id"]


# The stand-in.

LINES = ("We met on Monday and talked.", "Never touch src/app.py before OPS-7.", "The port is 5433 since release 1.2.")


def test_policies_differ_in_what_they_keep() -> None:
    assert chosen(LINES, Policy.SALIENT, budget_tokens=20) == [LINES[1]]
    assert chosen(LINES, Policy.POSITIONAL, budget_tokens=14) == [LINES[0]]
    assert chosen(LINES, Policy.ECHO, budget_tokens=0) == list(LINES)
    assert chosen(LINES, Policy.BLANK) == chosen(LINES, Policy.EMPTY) == []
    reworded = " ".join(chosen(LINES, Policy.PROSE))
    assert "Never touch it before it" in reworded
    assert not any(exact in reworded for exact in ("src/app.py", "OPS-7", "5433", "1.2"))


@pytest.mark.parametrize("exact", ["$704", "2027-05-04", "VUKO-917", "https://a.staging/v2", "eu-north-1", "a8ebf5e"])
def test_no_identifier_survives_a_summarizer_that_words_them_away(exact: str) -> None:
    assert exact not in worded_away(f"It is {exact} now.")


def test_only_lines_of_the_session_are_taken_wherever_they_stand_in_a_prompt() -> None:
    known = KnownLines(["Never touch src/app.py before OPS-7.\nThe port is 5433 since release 1.2."])
    prompt = (
        'Summarize! Never invent OPS-9.\n[{"content": "The port is 5433 since release 1.2.\\nNever touch src/app.py'
    )
    assert known.found_in(prompt + ' before OPS-7."}]') == [LINES[2], LINES[1]]
    assert known.among(lines_of("The port is 5433 since release 1.2. And more of it.")) == [LINES[2]]


def test_the_meter_counts_prompts_and_overlapping_time_once() -> None:
    stand_in = StandIn(LINES)
    with serving(stand_in) as url:
        ask(url, "first"), ask(url, "second", "question")
    assert stand_in.meter.calls == 2
    assert stand_in.meter.prompt_tokens == estimate_tokens("first") + estimate_tokens("second\nquestion")
    one = stand_in.meter.asked[0]
    both = [replace(one, began=1.0, ended=3.0), replace(one, began=2.0, ended=4.0), replace(one, began=9.0, ended=9.5)]
    assert Meter(asked=both).seconds == 3.5


def test_faults_are_those_that_were_ordered() -> None:
    material = "\n".join(LINES)
    with serving(StandIn(LINES, fault=Fault.ONCE_500)) as url:
        assert [ask(url, material)[0] for _ in range(2)] == [500, 200]
    with serving(StandIn(LINES, fault=Fault.ALWAYS_500)) as url:
        assert [ask(url, material)[0] for _ in range(2)] == [500, 500]
    with serving(StandIn(LINES, fault=Fault.CUT_OFF)) as url:
        assert ask(url, material)[1]["choices"][0]["finish_reason"] == "length"
    with serving(StandIn(LINES, fault=Fault.TOOL_CALL)) as url:
        message = ask(url, material)[1]["choices"][0]["message"]
        assert message["content"] is None and message["tool_calls"]
    with serving(StandIn(LINES, policy=Policy.BLANK)) as url:
        assert ask(url, material)[1]["choices"][0]["message"]["content"] == ""


def test_an_answer_can_be_streamed() -> None:
    with serving(StandIn(LINES, policy=Policy.ECHO)) as url:
        _, events = ask(url, "\n".join(LINES), stream=True)
    pieces = [json.loads(event.removeprefix("data: ")) for event in events.strip().split("\n\n")[:-1]]
    assert pieces[0]["choices"][0]["delta"]["content"].startswith("- We met")
    assert pieces[1]["choices"][0]["finish_reason"] == "stop"
    assert pieces[2]["usage"]["completion_tokens"] > 0


# Scoring.


def test_reach_is_the_share_of_messages_that_stand_in_a_prompt() -> None:
    messages = [Message(role="user", text='say "hi"\nto them'), Message(role="user", text="never sent")]
    assert scoring.reach(messages, ['[{"content": "say \\"hi\\"\\nto them"}]']) == 0.5


def test_an_item_needs_all_its_pieces_and_none_that_was_put_right(talk: Session) -> None:
    deadline = next(one for one in talk.planted if one.superseded)
    assert scoring.kept([deadline], deadline.text.upper()) == [deadline]
    assert scoring.kept([deadline], "") == []
    assert scoring.stale([deadline], f"{deadline.earlier} {deadline.text}") == [deadline]


# Ours.


def measured(session: Session, policy: Policy, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> Row:
    monkeypatch.setattr("time.sleep", lambda _: None)  # what waits for a provider that is down
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    stand_in = StandIn((message.text for message in session.messages), policy=policy, fault=fault)
    with serving(stand_in) as url:
        keep_rows = len(rows_of(session.tail))
        task = Task(rows=rows_of(session.messages), base_url=url, keep_rows=keep_rows, variant="default")
        outcome = ours.consolidated(task)
    run = Run(system="afterturn", session=session.name, policy=policy, fault=fault)
    return judged(session, reported(outcome), stand_in.meter, run)


def reported(outcome: Outcome) -> Report:
    return Report(version="0", seconds=1, cpu_seconds=1, peak_mib=1, text=outcome.text, kept=outcome.kept)


@pytest.mark.parametrize(
    ("policy", "fault"),
    [
        (Policy.PROSE, Fault.NONE),
        (Policy.PROSE, Fault.ALWAYS_500),
        (Policy.PROSE, Fault.TOOL_CALL),
        (Policy.PROSE, Fault.CUT_OFF),
        (Policy.BLANK, Fault.NONE),
    ],
)
def test_c13_whatever_the_model_does_what_people_said_is_kept_and_the_context_freed(
    talk: Session, policy: Policy, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = measured(talk, policy, fault, monkeypatch)
    assert row.reach == 1.0
    assert row.kept_in_all >= 19, row.lost
    assert row.stale == 0
    assert row.left_tokens <= ours.BUDGET_TOKENS + 1_500  # the tail is left as it was
    assert row.left < 0.5


@pytest.mark.parametrize("name", ["tool-logs", "pasted-logs"])
def test_logs_do_not_crowd_out_what_people_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = measured(sessions()[name], Policy.PROSE, Fault.NONE, monkeypatch)
    assert row.reach == 1.0
    assert row.kept_in_all >= 18, row.lost
    assert row.stale == 0


def test_what_cannot_be_installed_is_a_row_that_says_why(
    talk: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("AFTERTURN_BENCH_HOME", str(tmp_path / "home"))
    row = measure(next(system for system in SYSTEMS if system.environment), talk)
    assert row.failure.startswith("not installed: Error: ")
    assert "home" in row.failure


def test_every_pin_is_a_name_and_a_version() -> None:
    files = list(REQUIREMENTS.glob("*.txt"))
    assert {system.environment for system in SYSTEMS if system.environment} <= {file.stem for file in files}
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            assert line.startswith("#") or re.fullmatch(r"[\w.-]+(?:\[[\w,-]+\])?==[\w.+!-]+", line), line


# The tables.


def test_a_session_table_has_a_line_per_system_and_says_what_is_missing() -> None:
    run = Run(system="afterturn", session="talk", policy=Policy.PROSE, fault=Fault.NONE)
    kept = {"rule": 4, "fact": 3}
    measured = Row(run=run, version="1", reach=1.0, kept=kept, planted=20, superseded=2, left_tokens=4_500, left=0.4)
    absent = Row(run=replace(run, system="other"), failure="not installed: no such | version")
    lines = list(session_table([measured, absent]))
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert "7/20" in lines[2] and "4,500 (40%)" in lines[2]
    assert "not installed: no such / version" in lines[3]


def test_a_failure_table_has_a_column_per_fault() -> None:
    run = Run(system="other", session="talk", policy=Policy.PROSE, fault=Fault.ALWAYS_500)
    rows = [
        Row(run=run, error="APIError: 500", planted=20),
        Row(run=replace(run, policy=Policy.BLANK, fault=Fault.NONE), kept={"fact": 1}, planted=20, left=0.11),
    ]
    head, _, line = failure_table(rows)
    assert [cell.strip() for cell in head.split("|")[1:-1]] == ["system", "http500", "blank"]
    assert "raised, nothing freed" in line and "1/20, 11% left" in line
