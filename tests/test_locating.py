"""Which workspace a session belongs to."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.session_key import is_session_key
from worker.errors import TranscriptError, UsageError
from worker.locating import Ground, Place, project_key

names = st.text(st.characters(exclude_characters="/\0\\"), min_size=1, max_size=60).filter(
    lambda n: n not in (".", "..")
)
directories = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


def ground(tmp_path: Path, workspace: Path | None = None) -> Ground:
    return Ground.from_env({"AFTERTURN_HOME": str(tmp_path / "home")}, workspace)


def claude_transcript(path: Path, cwd: object) -> Path:
    row = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "cwd": cwd,
        "timestamp": "2026-11-29T10:00:00Z",
        "message": {"role": "user", "content": "hello"},
    }
    path.write_text(json.dumps(row) + "\n", "utf-8")
    return path


def test_a_named_workspace_holds_everything_itself(tmp_path: Path) -> None:
    place = ground(tmp_path, tmp_path / "w").place_of_project("/home/u/app")
    assert place == Place(root=tmp_path / "w", run=tmp_path / "w" / ".afterturn")


def test_the_command_line_wins_over_the_environment(tmp_path: Path) -> None:
    environ = {"AFTERTURN_WORKSPACE": str(tmp_path / "env")}
    assert Ground.from_env(environ).workspace == tmp_path / "env"
    assert Ground.from_env(environ, tmp_path / "given").workspace == tmp_path / "given"


def test_an_empty_variable_is_an_unset_one() -> None:
    found = Ground.from_env({"AFTERTURN_WORKSPACE": " ", "AFTERTURN_HOME": "", "HOME": "/home/u"})
    assert found == Ground(workspace=None, home=Path("/home/u/.afterturn"))


def test_the_home_is_found_by_the_environment_that_was_given() -> None:
    assert Ground.from_env({"AFTERTURN_HOME": "~/memory", "HOME": "/home/u"}).home == Path("/home/u/memory")


def test_a_relative_workspace_means_the_same_folder_after_a_change_of_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = Ground.from_env({}, Path("memory"))
    monkeypatch.chdir("/")
    assert found.place_of_project("/p").root == tmp_path / "memory"


def test_projects_of_one_home_share_the_run_folder_and_nothing_else_o82(tmp_path: Path) -> None:
    one = ground(tmp_path).place_of_project("/home/u/app")
    two = ground(tmp_path).place_of_project("/home/v/app")
    assert one.run == two.run == tmp_path / "home" / "run"
    assert one.root != two.root
    assert one.root.parent == two.root.parent == tmp_path / "home" / "workspaces"


def test_a_project_is_known_by_its_own_name() -> None:
    assert project_key("/home/u/My App").startswith("my-app-")
    assert project_key("/home/u/记忆").startswith("记忆-")
    assert project_key("/").startswith("project-")


@pytest.mark.parametrize(
    "spelling", ["/home/u/app/", "/home/u//app", "/home/u/./app", "/home/u/x/../app", "//home/u/app"]
)
def test_spellings_of_one_directory_are_one_project(spelling: str) -> None:
    assert project_key(spelling) == project_key("/home/u/app")


def test_composed_and_decomposed_accents_are_one_project() -> None:
    assert project_key("/home/u/caf\u00e9") == project_key(unicodedata.normalize("NFD", "/home/u/caf\u00e9"))


def test_windows_spellings_of_one_directory_are_one_project() -> None:
    assert project_key("c:\\Users\\me\\app") == project_key("C:/Users/me/app/")
    assert project_key("C:\\Users\\me\\app").startswith("app-")


def test_a_difference_in_letter_case_only_gives_names_that_differ_where_case_is_ignored_o82() -> None:
    assert project_key("/home/u/App").lower() != project_key("/home/u/app").lower()


@given(directories, directories)
@settings(deadline=None, max_examples=100)
def test_two_directories_never_share_a_name(one: str, two: str) -> None:
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", two)
    assert (project_key(one).lower() == project_key(two).lower()) is same


@given(directories)
@settings(deadline=None, max_examples=100)
def test_a_name_is_one_folder_below_workspaces(directory: str) -> None:
    name = project_key(directory)
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name.encode()) <= 255
    assert name.isprintable()
    assert not is_session_key(name) or name == name.lower()


def test_a_lone_surrogate_and_a_very_long_path_are_directories_like_others() -> None:
    assert project_key("/home/\ud83d/app") != project_key("/home/\ud83e/app")
    assert project_key("/" + "a" * 100_000).startswith("a" * 40 + "-")


@pytest.mark.parametrize("directory", ["", "app", "./app", "~"])
def test_a_relative_directory_is_refused(tmp_path: Path, directory: str) -> None:
    with pytest.raises(UsageError, match="--workspace"):
        ground(tmp_path).place_of_project(directory)


def test_a_transcript_belongs_to_the_directory_that_its_rows_name(tmp_path: Path) -> None:
    file = claude_transcript(tmp_path / "s1.jsonl", "/home/u/app")
    assert ground(tmp_path).place_of(file) == ground(tmp_path).place_of_project("/home/u/app")


@pytest.mark.parametrize("cwd", [None, "", "app"])
def test_a_transcript_that_names_no_directory_belongs_to_its_folder(tmp_path: Path, cwd: object) -> None:
    file = claude_transcript(tmp_path / "s1.jsonl", cwd)
    assert ground(tmp_path).place_of(file) == ground(tmp_path).place_of_project(str(tmp_path))


def test_a_folder_is_a_project(tmp_path: Path) -> None:
    assert ground(tmp_path).place_of(tmp_path) == ground(tmp_path).place_of_project(str(tmp_path))


def test_a_link_to_a_folder_is_the_project_that_its_name_says(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert ground(tmp_path).place_of(tmp_path / "link").root.name.startswith("link-")


def test_a_file_that_is_no_transcript_names_no_place(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError):
        ground(tmp_path).place_of(tmp_path / "missing.jsonl")


def test_a_named_workspace_needs_no_look_into_the_file(tmp_path: Path) -> None:
    assert ground(tmp_path, tmp_path / "w").place_of(tmp_path / "missing.jsonl").root == tmp_path / "w"


def test_all_places_are_found_by_name(tmp_path: Path) -> None:
    where = ground(tmp_path)
    assert where.places() == []
    made = [where.place_of_project(name) for name in ("/z", "/a", "/m")]
    for place in made:
        place.root.mkdir(parents=True)
    (tmp_path / "home" / "workspaces" / "a file").write_text("")
    assert where.places() == sorted(made, key=lambda place: place.root.name)
    assert ground(tmp_path, tmp_path / "w").places() == [Place(root=tmp_path / "w", run=tmp_path / "w" / ".afterturn")]


def test_locating_loads_no_heavy_module() -> None:
    check = (
        "import sys, worker.locating; print(*{'pydantic', 'redis', 'celery', 'litellm', 'orjson'} & set(sys.modules))"
    )
    environ = {"PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.split() == []
