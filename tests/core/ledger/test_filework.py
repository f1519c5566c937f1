"""Files are what tools did to them, whatever the tools are called."""

from typing import Any

import pytest

from worker.core.filework import find_files, relative_path

PATCH = (
    "*** Begin Patch\n*** Add File: src/new.py\n+x\n*** Update File: src/old.py\n*** Delete File: src/gone.py\n"
    "*** End Patch"
)


def files(session: Any, cwd: str | None = None) -> dict[str, str]:
    return {item.path: item.change.value for item in find_files(session.invocations, cwd)}


@pytest.mark.parametrize(
    ("tool", "arguments", "change"),
    [
        ("Read", {"file_path": "a.py"}, "read"),
        ("Write", {"file_path": "a.py", "content": "x"}, "created"),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "edited"),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "edited"),
        ("NotebookEdit", {"notebook_path": "a.py"}, "edited"),
        ("read", {"path": "a.py"}, "read"),
        ("write", {"path": "a.py", "content": "x"}, "created"),
        ("edit", {"path": "a.py"}, "edited"),
        ("read_file", {"absolute_path": "a.py"}, "read"),
        ("write_file", {"file_path": "a.py"}, "created"),
        ("replace", {"file_path": "a.py"}, "edited"),
        ("open", {"path": "a.py"}, "read"),
        ("create", {"filename": "a.py"}, "created"),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "read"),
        ("str_replace_editor", {"command": "create", "path": "a.py"}, "created"),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a.py"}, "edited"),
        ("mcp__fs__delete_file", {"path": "a.py"}, "deleted"),
    ],
)
def test_every_agents_tools_are_known(session: Any, tool: str, arguments: dict[str, Any], change: str) -> None:
    session.call(tool, **arguments)
    session.result("ok")
    assert files(session) == {"a.py": change}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm -rf a.py b.py", {"a.py": "deleted", "b.py": "deleted"}),
        ("mv a.py b.py", {"a.py": "deleted", "b.py": "created"}),
        ("mv a.py b.py sub", {"a.py": "deleted", "b.py": "deleted", "sub/a.py": "created", "sub/b.py": "created"}),
        ("cd src && mv utils/config.py .", {"src/utils/config.py": "deleted", "src/config.py": "created"}),
        ("cp a.py sub/", {"sub/a.py": "created"}),
        ("mv a.py", {}),
        ("git mv a.py sub/b.py && git rm c.py", {"a.py": "deleted", "sub/b.py": "created", "c.py": "deleted"}),
        ("cd pkg && touch x.py", {"pkg/x.py": "created"}),
        ("echo hi > out.txt; echo more >> log.txt", {"out.txt": "created", "log.txt": "edited"}),
        ("cat > a.py <<'EOF'\nrm b.py\nprint('x') > y\nEOF", {"a.py": "created"}),
        ("sed -i 's/a/b/' a.py", {"a.py": "edited"}),
        ("cat a.py | grep x", {"a.py": "read"}),
        ("make 2>&1 | tee build.log", {"build.log": "created"}),
        ("pytest > /dev/null 2>&1", {}),
        ("rm $FILE *.tmp", {}),
        ("echo 'unclosed", {}),
        ("sudo rm a.py", {"a.py": "deleted"}),
    ],
)
def test_simple_shell_commands_are_read(session: Any, command: str, expected: dict[str, str]) -> None:
    session.run(command, exit_code=0)
    assert files(session) == expected


@pytest.mark.parametrize("arguments", [{"input": PATCH}, {"command": ["apply_patch", PATCH]}])
def test_a_patch_names_its_files(session: Any, arguments: dict[str, Any]) -> None:
    session.call("apply_patch", **arguments)
    session.result("Success", exit_code=0)
    assert files(session) == {"src/new.py": "created", "src/old.py": "edited", "src/gone.py": "deleted"}


def test_a_raw_patch_is_read_although_it_is_no_json(session: Any) -> None:
    session.call("apply_patch", raw=PATCH)
    session.result("Success")
    assert list(files(session)) == ["src/new.py", "src/old.py", "src/gone.py"]


def test_a_failed_or_unanswered_write_is_no_change(session: Any) -> None:
    session.call("Write", file_path="a.py", content="x")
    session.result("<tool_use_error>File has not been read yet.</tool_use_error>", is_error=True)
    session.call("Edit", file_path="b.py")
    session.call("edit", path="c.py")
    session.result("Could not find the exact text in c.py.")
    session.run("rm d.py", "rm: d.py: No such file", exit_code=1)
    assert files(session) == {}


def test_reading_does_not_undo_a_change_and_the_later_change_wins(session: Any) -> None:
    for tool in ("Read", "Write", "Read"):
        session.call(tool, file_path="a.py")
        session.result("ok")
    session.call("Write", file_path="b.py")
    session.result("File created successfully")
    session.call("Edit", file_path="b.py")
    session.result("ok")
    session.run("rm c.py", exit_code=0)
    session.call("Write", file_path="c.py")
    session.result("ok")
    assert files(session) == {"a.py": "edited", "b.py": "created", "c.py": "created"}


def test_the_editor_without_a_path_means_the_file_that_is_open(session: Any) -> None:
    session.call("open", path="src/fields.py")
    session.result("[File: src/fields.py]")
    session.call("edit", search="a", replace="b")
    session.result("Text replaced.")
    assert files(session) == {"src/fields.py": "edited"}


def test_a_file_that_was_just_made_is_the_open_one(session: Any) -> None:
    session.call("open", path="setup.py")
    session.result("[File: setup.py (94 lines total)]")
    session.call("create", path="reproduce.py")
    session.result("[File: reproduce.py (1 lines total)]")
    session.call("insert", text="print(1)")
    session.result("[File: reproduce.py (2 lines total)]")
    session.call("edit", command="edit 1:1\n  x\nend_of_edit")
    session.result("Your proposed edit has introduced new syntax error(s).")
    assert files(session) == {"setup.py": "read", "reproduce.py": "created"}


def test_paths_inside_the_project_are_relative_to_it() -> None:
    assert relative_path("/home/me/app/src/a.py", "/home/me/app/") == "src/a.py"
    assert relative_path("/home/me/app2/a.py", "/home/me/app") == "/home/me/app2/a.py"
    assert relative_path("./a.py", None) == "a.py"


def test_evidence_is_the_first_and_the_newest_changes(session: Any) -> None:
    for _ in range(6):
        session.call("Edit", file_path="a.py")
        session.result("ok")
    (item,) = find_files(session.invocations)
    assert item.evidence == ("m0", "m6", "m8", "m10")


def test_results_are_matched_by_order_within_an_id_that_is_used_again(session: Any) -> None:
    """O1, P04"""
    session.call("Write", call_id="same", file_path="a.py")
    session.result("Error: no space left", is_error=True, call_id="same")
    session.call("Write", call_id="same", file_path="b.py")
    session.result("ok", call_id="same")
    assert files(session) == {"b.py": "created"}
