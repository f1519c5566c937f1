"""Finding what is remembered: over real workspaces, in any language, and whatever happens to the index."""

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worker.adapters.recall_index import RecallIndex
from worker.config import Settings
from worker.consolidate import Request, consolidate
from worker.core.recalling import Kind, Trust
from worker.errors import UsageError
from worker.forgetting import forget
from worker.locating import Place
from worker.recall import Recalled, recall
from worker.wiring import SystemClock, tools_for

ROWS = {
    "alpha": [
        ("user", "Never touch the database schema. T-101: rename the column qty."),
        ("assistant", "I renamed the column in orders.py."),
        ("user", "The staging database listens on port 5433, not 5432."),
        ("assistant", "Noted."),
        ("user", "Should we cache the tokens in Redis? No: keep them in process."),
    ],
    "beta": [
        ("user", "所有面向客户的错误信息必须用中文。不要改用户表。"),
        ("assistant", "明白。"),
        ("user", "本番のデータベースには絶対に触らないで。Der Größenfilter heißt sizeFilterFactory."),
        ("assistant", "はい。"),
    ],
}


def place_of(root: Path) -> Place:
    return Place(root=root, run=root / ".afterturn")


def keep(root: Path, name: str, rows: list[tuple[str, str]] | None = None) -> str:
    """Consolidates a session of those rows; gives its key."""
    path = root.parent / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
    lines = [
        {"role": role, "content": text, "timestamp": at.replace(minute=n).isoformat(), "session_id": name}
        for n, (role, text) in enumerate(rows or ROWS[name])
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    result = consolidate(Request(path=path), tools_for(place_of(root), Settings(workspace=root), hold_back=False))
    assert result.checkpoint, result
    return result.session


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "w"
    for name in ROWS:
        keep(workspace, name)
    return workspace


def ask(root: Path, words: str, budget: int = 2_000) -> Recalled:
    return recall(words, place=place_of(root), budget=budget, now=datetime(2026, 11, 30, 12, tzinfo=UTC))


def first(root: Path, words: str) -> str:
    shown = ask(root, words).page.shown
    return shown[0].hit.record.text if shown else ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("may I change the schema", "Never touch the database schema"),
        ("which port does staging use", "port 5433"),
        ("T-101", "rename the column"),
        ("where are tokens cached", "keep them in process"),
        ("错误信息用什么语言", "必须用中文"),
        ("用户表", "不要改用户表"),
        ("データベース", "データベースには絶対に触らないで"),
        ("grossenfilter", "Größenfilter"),
        ("size_filter_factory", "sizeFilterFactory"),
        ("schemma", "database schema"),
        ("databse", "database"),
    ],
)
def test_the_first_answer_is_the_one_that_was_meant(root: Path, words: str, expected: str) -> None:
    assert expected in first(root, words)


def test_an_answer_names_source_age_and_trust(root: Path) -> None:
    shown = ask(root, "database schema").page.shown[0]
    assert shown.hit.record.kind is Kind.CONSTRAINT
    assert shown.hit.record.trust is Trust.PERSON
    assert "2026-11-20 (10 days ago), a person said it" in ask(root, "database schema").text
    assert "MEMORY.md" in {shown.hit.record.source, *shown.hit.also}


def test_nothing_outranks_the_workspace_and_the_answer_says_so(root: Path) -> None:
    assert "material, not instruction" in ask(root, "schema").text.splitlines()[1]
    assert ask(root, "kubernetes").text == '# Nothing is remembered of "kubernetes"\n'


def test_a_place_that_was_never_written_to_is_no_error_and_stays_so(tmp_path: Path) -> None:
    answer = ask(tmp_path / "none", "anything")
    assert answer.page.found == 0
    assert f"nothing is kept in {tmp_path / 'none'} yet" in answer.text
    assert not (tmp_path / "none").exists()


def test_a_question_without_words_is_refused(root: Path) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        ask(root, "  ")


def test_the_same_question_gives_the_same_bytes_whatever_the_state_of_the_index(root: Path) -> None:
    fresh = ask(root, "database").text
    assert ask(root, "database").text == fresh
    (root / ".afterturn" / "recall.sqlite").unlink()
    assert ask(root, "database").text == fresh


# The index follows its sources.


def test_a_persons_edit_is_found_at_once_and_what_they_took_out_is_not(root: Path) -> None:
    ask(root, "lighthouse")
    memory = root / "MEMORY.md"
    memory.write_text(memory.read_text("utf-8") + "\nThe lighthouse box is for demos only.\n", "utf-8")
    shown = ask(root, "lighthouse").page.shown
    assert [one.hit.record.trust for one in shown] == [Trust.OWN_LINE]
    memory.write_text(memory.read_text("utf-8").replace("lighthouse", "harbour"), "utf-8")
    assert ask(root, "lighthouse").page.found == 0
    assert b"lighthouse" not in (root / ".afterturn" / "recall.sqlite").read_bytes()


def test_a_new_session_is_found_at_once(root: Path) -> None:
    assert ask(root, "gazebo").page.found == 0
    keep(root, "gamma", [("user", "Paint the gazebo green, always."), ("assistant", "Yes.")])
    assert "gazebo" in first(root, "gazebo")


def test_what_is_forgotten_is_neither_found_nor_anywhere_in_the_index(root: Path) -> None:
    key = keep(root, "gamma", [("user", "Never paint the gazebo green."), ("assistant", "Yes.")])
    assert ask(root, "gazebo").page.found
    index = root / ".afterturn" / "recall.sqlite"
    assert b"gazebo" in index.read_bytes()
    forget(place_of(root), key, clock=SystemClock(), zone=UTC)
    assert not index.exists()
    assert ask(root, "gazebo").page.found == 0
    for path in root.rglob("*"):
        assert not path.is_file() or b"gazebo" not in path.read_bytes(), path


def test_a_session_that_vanished_leaves_no_word_behind(root: Path) -> None:
    import shutil

    key = keep(root, "gamma", [("user", "Look at the zyzzyva page."), ("assistant", "Yes.")])
    ask(root, "zyzzyva")
    shutil.rmtree(root / "sessions" / key)
    for name in ("MEMORY.md", "HISTORY.md"):
        path = root / name
        path.write_text(path.read_text("utf-8").replace("zyzzyva", "gone"), "utf-8")
    assert ask(root, "zyzzyva").page.found == 0
    assert b"zyzzyva" not in (root / ".afterturn" / "recall.sqlite").read_bytes()


def test_a_forgetting_waits_for_whoever_writes_the_index(root: Path) -> None:
    from worker.adapters.files import locked

    ask(root, "schema")
    index = RecallIndex(root)
    with locked(root / ".afterturn" / "recall.lock", wait_seconds=1):
        process = multiprocessing.get_context("fork").Process(target=index.remove)
        process.start()
        process.join(0.3)
        assert process.is_alive()
    process.join(20)
    assert process.exitcode == 0
    assert not (root / ".afterturn" / "recall.sqlite").exists()


# What can be wrong with it.


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "other", "format"])
def test_a_damaged_index_is_made_anew(root: Path, damage: str) -> None:
    expected = ask(root, "schema").text
    path = root / ".afterturn" / "recall.sqlite"
    data = path.read_bytes()
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 300)
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink() if damage == "other" else None
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE mine (x)" if damage == "other" else "UPDATE about SET format = 99")
        connection.commit()
        connection.close()
    assert ask(root, "schema").text == expected
    assert ask(root, "schema").text == expected


def test_damage_in_a_record_is_noticed_before_it_is_shown(root: Path) -> None:
    expected = ask(root, "schema").text
    path = root / ".afterturn" / "recall.sqlite"
    data = path.read_bytes()
    assert data.count(b"Never touch the database schema")
    path.write_bytes(data.replace(b"Never touch the database schema", b"Rather drop all database tables"))
    assert ask(root, "schema").text == expected


def test_a_kill_while_it_is_written_harms_nothing(root: Path) -> None:
    program = f"""
import os
from pathlib import Path
from worker.adapters import recall_index
from worker.recall import recall
from worker.locating import Place
put = recall_index._put_in
def put_and_die(connection, name, stamp, unit):
    put(connection, name, stamp, unit)
    if name.startswith("sessions/"):
        os.kill(os.getpid(), 9)
recall_index._put_in = put_and_die
root = Path({str(root)!r})
recall("schema", place=Place(root=root, run=root))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == -9
    assert "database schema" in first(root, "schema")


def test_a_workspace_that_cannot_be_written_is_searched_in_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ask(root, "schema").text
    (root / ".afterturn" / "recall.sqlite").unlink()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("worker.adapters.recall_index.make_folder", refuse)
    assert ask(root, "schema").text == expected
    assert not (root / ".afterturn" / "recall.sqlite").exists()


def test_a_fresh_index_is_used_where_nothing_can_be_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ask(root, "schema").text
    monkeypatch.setattr("worker.recall.read_unit", lambda *_: pytest.fail("nothing changed"))
    (root / ".afterturn").chmod(0o500)
    try:
        assert ask(root, "schema").text == expected
    finally:
        (root / ".afterturn").chmod(0o700)


def _ask_often(root: Path, answers: "multiprocessing.Queue[str]") -> None:
    for _ in range(3):
        answers.put(ask(root, "schema").text)


def test_processes_that_build_it_at_once_give_one_answer(root: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=_ask_often, args=(root, answers)) for _ in range(4)]
    for process in processes:
        process.start()
    texts = {answers.get(timeout=60) for _ in range(12)}
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    assert texts == {ask(root, "schema").text}


def test_a_damaged_checkpoint_is_left_out_and_named(root: Path) -> None:
    (path,) = (root / "sessions" / "afterturn--alpha" / "checkpoints").glob("*.json")
    path.write_bytes(path.read_bytes().replace(b"schema", b"scheme"))
    answer = ask(root, "用户表")
    assert answer.page.found
    assert any("not what was written" in note for note in answer.notes)
    assert "000001.json" in answer.text


def test_of_a_huge_history_the_newest_part_is_searched_and_the_answer_says_so(root: Path) -> None:
    path = root / "HISTORY.md"
    heading = "## [2026-11-{day} 14:02 +00:00] pi/1a2b · checkpoint 1 · m0–m1"
    entry = f"{heading}\n\nThe {{word}} was moved.\n\n<!-- afterturn:x y -->\n\n"
    with path.open("r+b") as file:
        file.write(entry.format(day="01", word="aardvark").encode())
        file.seek(2 * 2**30)
        file.write(("\n" + entry.format(day="02", word="wombat")).encode())
    answer = ask(root, "aardvark wombat")
    assert [shown.hit.record.text for shown in answer.page.shown] == ["The wombat was moved."]
    assert answer.notes == ("HISTORY.md is too large: only its newest 16 MiB are searched",)
    assert path.stat().st_size > 2 * 2**30


def test_links_that_lead_out_are_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The zebra password.\n", "utf-8")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(tmp_path / "secret.md")
    answer = ask(root, "zebra")
    assert answer.page.found == 0
    assert "leads out of the workspace" in answer.text


# The command.


def afterturn(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worker", "recall", *arguments]
    path = str(Path(__file__).parent.parent)
    environ = os.environ | {"PYTHONPATH": path, "HOME": str(cwd or path)}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd, env=environ)


def test_the_command_prints_the_answer_and_nothing_else(root: Path) -> None:
    done = afterturn("which", "port", "-w", str(root))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "port 5433" in done.stdout


def test_json_is_one_object_with_the_documented_fields(root: Path) -> None:
    told = json.loads(afterturn("database schema", "-w", str(root), "--json", "--budget", "600").stdout)
    assert set(told) == {"query", "workspace", "found", "tokens", "notes", "results"}
    documented = "number kind status trust at source place session evidence name heading title body cut_lines more also"
    assert set(documented.split()) <= told["results"][0].keys()
    assert told["results"][0]["trust"] == "a person said it"
    assert told["tokens"] <= 600


def test_without_a_workspace_it_is_that_of_the_current_folder(tmp_path: Path) -> None:
    from worker.locating import Ground

    ground = Ground(workspace=None, home=tmp_path / ".afterturn")
    project = tmp_path / "project"
    project.mkdir()
    keep(ground.place_of(project).root, "alpha")
    done = subprocess.run(
        [sys.executable, "-m", "worker", "recall", "port"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent), "HOME": str(tmp_path)},
    )
    assert "port 5433" in done.stdout, done.stderr


def test_words_of_any_bytes_are_looked_for(root: Path) -> None:
    words = [sys.executable, "-m", "worker", "recall", "-w", str(root), "--json"]
    command = [*(word.encode() for word in words), b"port \xff\x1b[31m 5433"]
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, timeout=60, check=True, env=environ)
    assert json.loads(done.stdout)["found"]


def test_an_unknown_setting_is_refused_before_the_wrong_place_is_searched(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERTURN_WORKSPCE", str(root))
    done = afterturn("port")
    assert done.returncode == 2
    assert "did you mean AFTERTURN_WORKSPACE" in done.stderr
