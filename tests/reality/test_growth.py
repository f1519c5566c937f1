"""A session file between two runs: it grows, shrinks, begins anew, is rewound, ends in half a row."""

import json
import os
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from worker.core.checkpoint import Outcome, Status
from worker.core.rendering import render_summary, source_of
from worker.testing import ScriptedModel, part_answer


def codes(checkpoint: Any) -> list[str]:
    return [finding.code for finding in checkpoint.validation.findings]


def test_a_session_that_grows_gets_a_checkpoint_over_what_is_new(desk: Any, afternoon: Any) -> None:
    """O31 F10 P12 B37"""
    first = desk.run(afternoon)
    assert (first.range, first.checkpoint) == ((0, 19), 1)
    assert desk.run(afternoon).outcome == Outcome.NOTHING_TO_DO
    afternoon.turn("billing")
    second = desk.run(afternoon)
    assert (second.range, second.checkpoint) == ((19, 23), 2)
    one, two = desk.chain()
    assert (two.parent, two.range.chain, two.covered) == (one.id, 1, 23)
    assert desk.problems() == []


def test_nothing_new_asks_no_model_and_changes_no_byte(desk: Any, afternoon: Any) -> None:
    """O16 O17 O18 F06: an empty range is no range."""
    desk.run(afternoon)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in desk.files()}
    model = ScriptedModel()
    assert desk.run(afternoon, model=model).reason == "nothing_new"
    assert model.asked == []
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in desk.files()} == before


def test_what_fits_the_tail_stays_there_and_the_answer_names_both_options_p08(desk: Any, afternoon: Any) -> None:
    result = desk.run(afternoon, keep_recent=20_000)
    assert (result.outcome, result.reason) == ("nothing_to_do", "fits_tail")
    assert "--keep-recent" in result.explanation
    assert "--all" in result.explanation
    assert desk.kept() == []


def test_a_late_correction_reaches_the_memory_when_the_session_is_over_c10(desk: Any, afternoon: Any) -> None:
    afternoon.turn("billing")
    desk.run(afternoon, keep_recent=100)
    afternoon.person("Correction: from now on use port 5434 on staging, never 5433.")
    desk.run(afternoon)
    rules = [constraint.quote for constraint in desk.joined().summary.constraints if constraint.in_force]
    assert any("5434" in rule for rule in rules)
    assert "5434" in (desk.root / "MEMORY.md").read_text("utf-8")


def test_a_file_that_begins_anew_starts_a_new_chain_and_loses_no_checkpoint(desk: Any, afternoon: Any) -> None:
    desk.run(afternoon)
    kept = [path.read_bytes() for path in desk.kept() if path.suffix == ".json"]
    afternoon.restart()
    afternoon.turn("billing", request="T-300: look at billing. Never rename billing.log.")
    result = desk.run(afternoon)
    assert result.outcome == Outcome.COMMITTED
    old, new = desk.chain()
    assert (old.range.chain, new.range.chain) == (1, 2)
    assert codes(new) == ["source_restarted"]
    assert kept[0] in [path.read_bytes() for path in desk.kept()]
    rules = {constraint.quote for constraint in new.summary.constraints if constraint.in_force}
    assert rules == {afternoon.rule, afternoon.chinese_rule, "Never rename billing.log."}
    assert desk.run(afternoon).outcome == Outcome.NOTHING_TO_DO


def test_a_file_that_is_cut_is_told_and_goes_on(desk: Any, afternoon: Any) -> None:
    desk.run(afternoon)
    lines = afternoon.path.read_bytes().splitlines(keepends=True)
    afternoon.path.write_bytes(b"".join(lines[:9]))
    desk.run(afternoon)
    assert [checkpoint.range.chain for checkpoint in desk.chain()] == [1, 2]
    assert codes(desk.chain()[-1]) == ["source_restarted"]


def test_a_huge_first_run_becomes_several_checkpoints_that_follow_on_each_other(desk: Any, new_session: Any) -> None:
    """B23 B24 O38 F12: no request is ever larger than its part."""
    session = new_session()
    for number in range(30):
        session.turn(f"module{number}", rows=150)
    result = desk.run(session, part_tokens=500)
    chain = desk.chain()
    assert result.checkpoints == len(chain) > 1
    assert [one.range.start for one in chain[1:]] == [one.range.end for one in chain[:-1]]
    assert [said.text for said in desk.joined().summary.user_messages] == session.said
    assert desk.problems() == []


def test_an_interrupted_huge_run_goes_on_behind_what_was_committed(desk: Any, new_session: Any) -> None:
    """O26 T17: what is committed is not asked for again."""
    session = new_session()
    for number in range(30):
        session.turn(f"module{number}", rows=150)

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    tired = ScriptedModel(*[part_answer() for _ in range(70)], otherwise=interrupt)
    with pytest.raises(KeyboardInterrupt):
        desk.run(session, model=tired, part_tokens=500, llm_concurrency=1)
    committed = desk.chain()[-1].covered
    assert 0 < committed < 120
    result = desk.run(session, model=ScriptedModel(otherwise=part_answer()), part_tokens=500)
    assert result.range == (committed, 120)
    assert desk.problems() == []


def test_with_all_a_half_written_last_row_waits_for_its_end(desk: Any, afternoon: Any) -> None:
    with afternoon.path.open("ab") as stream:
        stream.write(b'{"type": "assistant", "message": {"role": "assis')
    before = afternoon.path.read_bytes()
    first = desk.run(afternoon)
    assert first.range[1] < 19
    assert afternoon.path.read_bytes() == before
    old = time.time() - 3_600
    os.utime(afternoon.path, (old, old))
    assert desk.run(afternoon).range[1] == 19
    assert desk.problems() == []


def test_what_the_person_went_back_behind_gives_no_rule(desk: Any, afternoon: Any) -> None:
    """A rewound branch stays in the file; its orders were taken back with it."""
    afternoon.person("Always deploy on Friday evening.")
    afternoon.assistant("As you like.")
    rows = [json.loads(line) for line in afternoon.path.read_text("utf-8").splitlines()]
    anew = {**rows[-2], "uuid": "anew", "message": {"role": "user", "content": "Never deploy on Friday evening."}}
    with afternoon.path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(anew) + "\n")
    desk.run(afternoon)
    rules = {constraint.quote for constraint in desk.joined().summary.constraints if constraint.in_force}
    assert rules == {afternoon.rule, afternoon.chinese_rule, "Never deploy on Friday evening."}


def test_without_a_model_the_checkpoint_says_so_and_holds_the_facts_c13_c14(desk: Any, afternoon: Any) -> None:
    assert desk.run(afternoon).status == Status.DETERMINISTIC
    words = str(replace(desk.joined().summary, user_messages=()))
    for fact in (afternoon.commit, afternoon.failing, "src/export.py", "src/quoting.py", "T-102", afternoon.rule):
        assert fact in words
    assert "evil.example" not in (desk.root / "MEMORY.md").read_text("utf-8")


def test_tools_alone_are_summarized_too_b17(desk: Any, new_session: Any) -> None:
    session = new_session()
    session.bash("make release", "Exit code 2\nno rule to make target 'release'", failed=True)
    session.edit("Makefile")
    desk.run(session)
    summary = desk.joined().summary
    assert [error.error for error in summary.errors if "make release" in error.error]
    assert [file.path for file in summary.files] == ["Makefile"]


def test_a_long_session_without_a_model_loses_no_word_of_a_person_c11(desk: Any, new_session: Any) -> None:
    session = new_session()
    long = "\n".join(f"Requirement {number}: the export has column {number * 13}." for number in range(1_200))
    session.person(long)
    session.assistant("Read.")
    desk.run(session)
    assert [said.text for said in desk.joined().summary.user_messages] == [long]


def test_memory_is_made_of_what_was_said_and_not_of_what_an_agents_summary_left_of_it_o58(
    desk: Any, afternoon: Any
) -> None:
    afternoon.compacts(
        "This session is being continued. Summary:\n1. Primary Request and Intent:\n   Some export work."
    )
    afternoon.person("Go on.")
    afternoon.assistant("I write the release notes.")
    desk.run(afternoon)
    memory = (desk.root / "MEMORY.md").read_text("utf-8")
    assert afternoon.rule in memory
    assert afternoon.chinese_rule in memory
    assert "T-102" in {task.id for task in desk.joined().summary.tasks if task.status.is_open}


def test_a_system_prompt_is_in_no_summary_and_ten_runs_do_not_pile_up(desk: Any, tmp_path: Path) -> None:
    """O30: neither the prompt nor the summary of before comes back as material."""
    session = Chat(tmp_path / "chat.json", system="You are the export assistant. Always answer in rhymes. " * 200)
    sizes = []
    for number in range(10):
        session.turn(f"Look at module {number}.", f"Module {number} logs twice.")
        desk.run(session)
        whole = desk.joined()
        page = render_summary(whole.summary, source=source_of(whole), budget_tokens=12_000).markdown
        assert "rhymes" not in page
        sizes.append(len(page))
    growth = [later - earlier for earlier, later in pairwise(sizes)]
    assert max(growth[1:]) <= 2 * min(growth[1:]) < 1_000
    assert b"rhymes" not in desk.bytes()


@pytest.mark.parametrize("reported", [0, 190_000], ids=["nothing reported", "a full window reported"])
def test_only_what_is_new_in_the_session_starts_an_automatic_run(reported: int, desk: Any, tmp_path: Path) -> None:
    """C23 O44 P11 O35: not cached tokens that a provider reports, not our own use, not what is covered already."""
    session = Chat(tmp_path / "chat.jsonl", reported=reported)
    automatic = {"request": {"manual": False}, "ports": {"batch_tokens": 2_000}}
    session.turn("Look at billing.", "It logs twice.")
    assert desk.run(session, **automatic).reason == "below_batch_size"
    session.turn("And this listing?", " ".join(f"unit{number}" for number in range(2_000)))
    assert desk.run(session, **automatic).outcome == Outcome.COMMITTED
    session.turn("Look at payments.", "They log once.")
    assert desk.run(session, **automatic).reason == "below_batch_size"


def test_a_smaller_model_later_takes_nothing_back_b65(desk: Any, new_session: Any) -> None:
    session = new_session()
    for topic in ("orders", "billing", "payments"):
        session.turn(topic, request=f"Look at {topic}. Never rename {topic}.log.", rows=200)
    desk.run(session, window_tokens=200_000)
    kept = {path: path.read_bytes() for path in desk.kept() if "sessions" in path.parts}
    session.turn("shipping", rows=200)
    desk.run(session, window_tokens=6_000)
    assert {path: path.read_bytes() for path in kept} == kept
    rules = {constraint.quote for constraint in desk.joined().summary.constraints}
    assert rules == {f"Never rename {topic}.log." for topic in ("orders", "billing", "payments")}
    assert [said.text for said in desk.joined().summary.user_messages] == session.said
    assert desk.problems() == []


class Chat:
    """A session as a list of chat messages (.json) or one per line (.jsonl); every answer reports its usage."""

    def __init__(self, path: Path, *, system: str = "", reported: int = 0) -> None:
        self.path = path
        self._reported = reported
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []

    def turn(self, said: str, answer: str) -> None:
        usage = {"prompt_tokens": self._reported, "prompt_tokens_details": {"cached_tokens": self._reported}}
        self._messages.append({"role": "user", "content": said})
        self._messages.append({"role": "assistant", "content": answer, "usage": usage})
        rows = [json.dumps(message) for message in self._messages]
        self.path.write_text(f"[{','.join(rows)}]" if self.path.suffix == ".json" else "\n".join(rows) + "\n", "utf-8")
