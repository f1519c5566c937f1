"""`afterturn report`: one page from what is kept, the same for the same inputs, and honest about what is missing."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner, Result

from worker import report as reports
from worker.adapters.sessions import FileCheckpoints
from worker.cli import cli
from worker.core.checkpoint import Checkpoint, Finding, ModelUse, SessionRef, SourceRange, Status, Validation
from worker.core.memory import MAX_MEMORY_BYTES
from worker.core.messages import range_sha256
from worker.core.summary import Concept, Constraint, Lift, Summary, Task, TaskStatus, UserMessage
from worker.errors import StoreError, UsageError
from worker.transcripts import cursor_behind, open_transcript

Diary = Any
Made = Callable[..., Checkpoint]


def afterturn(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(one) for one in arguments], catch_exceptions=True, standalone_mode=False)


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)).split())


def test_a_page_tells_what_is_kept_left_out_and_checked(told: Diary) -> None:
    html = told.report().html
    text = text_of(html)
    for heading in ("Constraints in force", "6. All user messages", "9. Next step", "What was left out, and why"):
        assert heading in text
    assert "Never touch the database schema." in text
    assert "11 messages became a summary of" in text
    assert "The tail" in text
    assert "line 0: nothing of note" in text
    assert "afterturn artifact" in text


def test_every_item_links_to_the_message_that_it_rests_on(told: Diary) -> None:
    html = told.report().html
    ids = set(re.findall(r'id="(s1-m\d+)"', html))
    cites = re.findall(r'<a class="cite" href="#(s1-m\d+)">', html)
    assert {"s1-m0", "s1-m3", "s1-m7"} <= ids
    assert cites
    assert set(cites) <= ids


def test_tasks_tell_which_message_moved_them(told: Diary) -> None:
    text = text_of(told.report().html)
    assert "open → done m7" in text


def test_the_same_inputs_give_the_same_page(told: Diary) -> None:
    assert told.report().html == told.report().html


def test_dates_are_those_of_the_configured_zone(told: Diary) -> None:
    assert "2026-11-27 11:00" in told.report().html


def test_planted_text_is_shown_and_is_no_markup(told: Diary) -> None:
    html = told.report().html
    assert "&lt;script&gt;window.planted = 1&lt;/script&gt;" in html
    assert "<script>window" not in html
    assert "‹U+202E›gnp.exe" in html
    assert "\u2028" not in html


def test_without_its_transcript_a_page_says_so_and_keeps_what_people_wrote(told: Diary) -> None:
    told.path.unlink()
    text = text_of(told.report().html)
    assert "The transcript is no longer where it was." in text
    assert "T-1 is done. Use port 5433, not 5432." in text
    assert "I start with T-1." not in text


def test_a_transcript_that_was_changed_is_not_quoted_where_it_changed(told: Diary) -> None:
    told.change("m3", "all passed, I promise")
    text = text_of(told.report().html)
    assert "The transcript was changed since: what checkpoint 1 covered reads otherwise now" in text
    assert "all passed, I promise" not in text
    assert "2 passed" in text


def test_what_a_model_cost_and_what_was_degraded_is_told(told: Diary, made: Made) -> None:
    use = ModelUse(name="openai/x", calls=7, tokens_in=12_345, tokens_out=678, cost_usd=0.0321, seconds=95.0)
    finding = Finding(code="part_degraded", where="part 3", detail="no answer")
    _add(told, status=Status.DEGRADED, model=use, validation=Validation(findings=(finding,), repairs=1))
    text = text_of(told.report().html)
    assert "$0.0321" in text
    assert "7 calls; 12,345 tokens in, 678 out, 1 min 35 s" in text
    assert "openai/x" in text
    assert "Told without the model 1 part" in text
    assert "A part without a usable answer part_degraded 1 stands" in text
    assert "Degraded: a model was asked" in text


def test_findings_of_a_range_that_was_summarized_again_no_longer_count(told: Diary) -> None:
    finding = Finding(code="part_degraded", where="part 3", detail="no answer")
    _add(told, status=Status.DEGRADED, validation=Validation(findings=(finding,)))
    degraded = told.chain()[-1]
    assert "Told without the model" in text_of(told.report().html)
    again = replace(degraded, number=4, parent=degraded.id, status=Status.OK, validation=Validation(), replaces=(3,))
    assert FileCheckpoints(told.workspace).commit(again) is not None
    text = text_of(told.report().html)
    assert "Told without the model" not in text
    assert "summarized again, in the place of checkpoint 3" in text
    assert "summarized again since" in text


def test_a_lifted_rule_names_the_words_that_lifted_it(told: Diary) -> None:
    newest = told.chain()[-1].summary
    rule = newest.constraints[0]
    lifted = replace(rule, lifted=Lift(quote="T-1 is done.", evidence=("m7",)))
    _add(told, summary=replace(newest, constraints=(lifted,), user_messages=(), artifacts=()))
    text = text_of(told.report().html)
    assert "Lifted 1" in text
    assert "lifted T-1 is done. m7" in text


def test_items_that_outgrew_the_state_can_be_read(told: Diary) -> None:
    _add(told, moved=Summary(concepts=(Concept(id="K-9", text="an old idea", evidence=("m3",)),)))
    text = text_of(told.report().html)
    assert "Items that outgrew the state 1 item" in text
    assert "an old idea" in text


def _add(diary: Diary, **fields: Any) -> None:
    """One more checkpoint over the tail, made by hand."""
    newest = diary.chain()[-1]
    end = len(list(open_transcript(diary.path).read()))
    messages = [one for one in open_transcript(diary.path).read() if one.index >= newest.covered]
    base = {"summary": replace(newest.summary, user_messages=(), artifacts=())}
    checkpoint = replace(
        newest,
        number=newest.number + 1,
        parent=newest.id,
        range=SourceRange(start=newest.covered, end=end, sha256=range_sha256(messages)),
        covered=end,
        cursor=cursor_behind(messages, open_transcript(diary.path).info),
        **(base | fields),
    )
    assert FileCheckpoints(diary.workspace).commit(checkpoint) is not None


def test_the_next_request_is_told_with_its_reserve_where_it_can_be_made(told: Diary) -> None:
    text = text_of(told.report().html)
    assert "Next request and its reserve, of a window of 200,000" in text
    assert "Reserved for the answer 20,000" in text
    assert not (told.workspace / "sessions" / told.key / "view.json").exists()
    told.path.unlink()
    assert "Next request" not in text_of(told.report().html)


# A workspace.


def test_a_workspace_lists_its_sessions_and_where_each_line_of_memory_came_from(told: Diary, tmp_path: Path) -> None:
    other = type(told)(tmp_path, "other")
    other.person("From now on write tests first.")
    other.assistant("I will.")
    other.consolidate()
    made = reports.report_workspace(told.settings)
    text = text_of(made.html)
    assert (made.sessions, made.told, made.account()) == (2, 2, "2 sessions")
    assert "2 sessions, 13 messages." in text
    assert "Never touch the database schema." in text
    assert "afterturn/diary" in text
    assert re.search(
        r'class="from">[^<]* · <a href="#s\d">afterturn/diary</a> <span class="cites"><a class="cite"', made.html
    )


def test_a_persons_line_of_memory_is_told_apart(told: Diary) -> None:
    memory = told.workspace / "MEMORY.md"
    memory.write_text(memory.read_text("utf-8") + "\n- We deploy on Fridays.\n", encoding="utf-8")
    assert "- We deploy on Fridays. a person's line" in text_of(reports.report_workspace(told.settings).html)


def test_a_damaged_session_is_a_row_and_does_not_hide_the_others(told: Diary, tmp_path: Path) -> None:
    other = type(told)(tmp_path, "other")
    other.person("Hello.")
    other.assistant("Hello.")
    other.consolidate()
    (told.workspace / "sessions" / other.key / "checkpoints" / "000001.json").write_text("{}", encoding="utf-8")
    made = reports.report_workspace(told.settings)
    assert (made.sessions, made.told) == (2, 1)
    text = text_of(made.html)
    assert "1 damaged" in text
    assert "restore it from a backup" in text
    assert "Never touch the database schema." in text
    with pytest.raises(StoreError):
        reports.report_session(told.settings, other.key)


def test_sessions_that_a_page_has_no_room_for_are_rows(told: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_PAGE_BYTES", 10)
    made = reports.report_workspace(told.settings)
    assert (made.sessions, made.told, made.account()) == (1, 0, "1 session, 0 of them in full")
    assert "afterturn report afterturn--diary -o report.html" in text_of(made.html)


def test_an_empty_workspace_says_what_to_do(tmp_path: Path, diary: Diary) -> None:
    with pytest.raises(UsageError, match="no session is kept here; 'afterturn run FILE' consolidates one"):
        reports.report_workspace(diary.settings)


# Size.


def test_ten_thousand_messages_are_a_page_below_five_megabytes(
    diary: Diary, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise UsageError("cannot be viewed")

    monkeypatch.setattr(reports, "usage", fail)
    for number in range(2_500):
        diary._rows += [
            {"role": "user", "content": f"Please fix ticket {number}. " + "word " * 40},
            {"role": "assistant", "content": "I look at it. " + "thought " * 20},
            {"role": "assistant", "content": "Then I look again. " + "thought " * 20},
            {"role": "assistant", "content": "Done. " + "result " * 100},
        ]
    diary.write()
    messages = list(open_transcript(diary.path).read())
    assert len(messages) == 10_000
    said = tuple(UserMessage(id=one.id, text=one.text) for one in messages if one.is_human)
    concepts = tuple(Concept(id=f"K-{at}", text="word " * 40, evidence=(f"m{at}", f"m{at + 3}")) for at in range(2_000))
    tasks = tuple(Task(id=f"T-{at}", text="t", status=TaskStatus.OPEN, evidence=(f"m{4 * at}",)) for at in range(500))
    rules = tuple(Constraint(id=f"C-{at}", rule="r", quote="q", evidence=(f"m{4 * at}",)) for at in range(100))
    checkpoint = made(
        1,
        0,
        10_000,
        Summary(user_messages=said, concepts=concepts, tasks=tasks, constraints=rules),
        created_at=datetime(2026, 11, 28, tzinfo=UTC),
        session=SessionRef(key=diary.key, agent="afterturn", id="diary", source=str(diary.path)),
        range=SourceRange(start=0, end=10_000, sha256=range_sha256(messages)),
        cursor=cursor_behind(messages, open_transcript(diary.path).info),
    )
    assert FileCheckpoints(diary.workspace).commit(checkpoint) is not None
    html = diary.report().html
    assert len(html.encode()) < 5_000_000
    assert "500 more are in the checkpoints and not on this page." in text_of(html)


# The command.


def test_the_command_writes_the_page_and_says_where(told: Diary, tmp_path: Path) -> None:
    page = tmp_path / "out" / "report.html"
    done = afterturn("report", "diary", "-w", told.workspace, "-o", page)
    assert done.exception is None
    assert done.output.startswith(f"{page}: 1 session, ")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert page.stat().st_mode & 0o077 == 0
    assert [one.name for one in page.parent.iterdir()] == ["report.html"]


def test_the_command_prints_one_object_or_the_page_itself(told: Diary, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    object_ = json.loads(afterturn("report", "diary", "-w", told.workspace, "-o", page, "--json").output)
    assert object_ == {"report": str(page), "bytes": page.stat().st_size, "sessions": 1, "told": 1}
    assert afterturn("report", "diary", "-w", told.workspace, "-o", "-").output == page.read_text("utf-8")
    refused = afterturn("report", "diary", "-w", told.workspace, "-o", "-", "--json")
    assert isinstance(refused.exception, ClickException)


def test_without_a_session_the_command_tells_the_whole_workspace(told: Diary, tmp_path: Path) -> None:
    done = afterturn("report", "--workspace", told.workspace, "-o", tmp_path / "report.html")
    assert done.exception is None
    assert "Sessions" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["folder", "notes.txt"])
def test_a_folder_and_a_file_that_is_no_page_are_left_alone(told: Diary, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    done = afterturn("report", "diary", "-w", told.workspace, "-o", tmp_path / name)
    assert isinstance(done.exception, UsageError)
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"


def test_the_transcript_itself_can_not_be_written_over(told: Diary) -> None:
    before = told.path.read_bytes()
    done = afterturn("report", "diary", "-w", told.workspace, "-o", told.path)
    assert isinstance(done.exception, UsageError)
    assert told.path.read_bytes() == before


def test_a_page_may_replace_a_page(told: Diary, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("<!DOCTYPE html><p>the last one", encoding="utf-8")
    assert afterturn("report", "diary", "-w", told.workspace, "-o", page).exception is None
    assert "the last one" not in page.read_text("utf-8")


def test_an_unknown_session_writes_nothing(told: Diary, tmp_path: Path) -> None:
    done = afterturn("report", "nobody", "-w", told.workspace, "-o", tmp_path / "report.html")
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "report.html").exists()


def test_memory_of_the_largest_size_fits_the_page(told: Diary) -> None:
    memory = told.workspace / "MEMORY.md"
    memory.write_text(memory.read_text("utf-8") + "- a line of a person's own\n" * (MAX_MEMORY_BYTES // 27), "utf-8")
    assert len(reports.report_workspace(told.settings).html) < 1_000_000
