"""What failed and what was checked, by code alone."""

from typing import Any

import pytest

from worker.core.failures import find_checks, find_failures, runs_check, telling_line, tells_failure
from worker.core.messages import ToolResult

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "a.py", line 3, in <module>\n'
    "    main()\n"
    "ValueError: no such order: 17\n"
)


def test_an_edit_of_the_open_file_is_resolved_by_the_next_one(session: Any) -> None:
    session.call("open", path="src/fields.py")
    session.result("[File: src/fields.py]")
    session.call("edit", command="edit 3:3\n    return 1\nend_of_edit")
    session.result("Your proposed edit has introduced new syntax error(s).\nERRORS:\n- E999 IndentationError")
    session.call("edit", command="edit 3:3\nreturn 1\nend_of_edit")
    mended = session.result("[File: src/fields.py]\nFile updated.")
    (failure,) = find_failures(session.invocations)
    assert (failure.command, failure.resolved_by) == ("edit src/fields.py", mended.id)


def test_a_failure_keeps_the_line_that_tells(session: Any) -> None:
    session.run("python a.py", f"Exit code 1\n{TRACEBACK}", is_error=True)
    (failure,) = find_failures(session.invocations)
    assert failure.message == "ValueError: no such order: 17"
    assert (failure.command, failure.exit_code, failure.kind) == ("python a.py", 1, "error")
    assert failure.evidence == ("m0", "m1")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (TRACEBACK, "ValueError: no such order: 17"),
        ("collecting\nmake: *** [test] Error 2\nmain.c:4: error: expected ';'\n", "main.c:4: error: expected ';'"),
        ("step 1\nstep 2\n0 failed, 3 passed\nfatal: not a git repository", "fatal: not a git repository"),
        ("\x1b[31merror: nope\x1b[0m", "error: nope"),
        ("just\nlines", "lines"),
        ("", ""),
    ],
)
def test_the_telling_line_is_the_exception_else_the_first_complaint_else_the_last(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_a_failure_is_resolved_when_the_same_command_passes(session: Any) -> None:
    session.run("go test ./... 2>&1", "FAIL x", exit_code=1)
    session.run("go  test ./... 2>&1 | tail -20", "ok  x 0.1s", exit_code=0)
    (failure,) = find_failures(session.invocations)
    assert failure.resolved_by == "m3"


def test_a_pass_that_a_pipe_feigns_resolves_nothing(session: Any) -> None:
    session.run("make test", "FAIL x", exit_code=2)
    session.run("make test | tail -5", "--- FAIL: TestX\nFAIL", exit_code=0)
    (failure,) = find_failures(session.invocations)
    assert failure.resolved_by is None


def test_the_same_failure_again_is_one_with_more_evidence(session: Any) -> None:
    for _ in range(3):
        session.run("make", "error: no rule", exit_code=2)
    (failure,) = find_failures(session.invocations)
    assert failure.evidence == ("m2", "m3", "m4", "m5")


def test_what_a_pipe_hides_is_no_failure_by_code(session: Any) -> None:
    session.run("false | cat", "error: it broke", exit_code=0)
    assert find_failures(session.invocations) == []


def test_a_search_that_finds_nothing_did_not_fail(session: Any) -> None:
    session.run("grep -n x a.py", "(no output)\n\nCommand exited with code 1", is_error=True)
    session.run("grep -n x missing.py", "grep: missing.py: No such file or directory", exit_code=2)
    assert [failure.exit_code for failure in find_failures(session.invocations)] == [2]


def test_a_refusal_is_kept_with_what_the_person_said(session: Any) -> None:
    """C05"""
    session.call("ExitPlanMode", plan="…")
    session.result(
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
        "the user said:\nuse the old table",
        is_error=True,
    )
    (failure,) = find_failures(session.invocations)
    assert (failure.kind, failure.message) == ("denial", "refused: use the old table")


@pytest.mark.parametrize(
    ("output", "exit_code"),
    [
        ("Exit code 3\nboom", 3),
        ("boom\n\nCommand exited with code 4", 4),
        ("Chunk ID: 1\nWall time: 0.1\nProcess exited with code 5\nOutput:\nboom", 5),
        ("boom\nExit code: 6", 6),
    ],
)
def test_exit_codes_are_read_from_what_harnesses_add(session: Any, output: str, exit_code: int) -> None:
    session.run("./x", output)
    assert [failure.exit_code for failure in find_failures(session.invocations)] == [exit_code]


def test_an_exit_code_in_the_middle_of_an_output_is_only_text(session: Any) -> None:
    session.run("cat ci.log", "line\n" * 200 + "Exit code: 1\n" + "line\n" * 200)
    assert find_failures(session.invocations) == []


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "result"),
    [
        ("pytest -q", "3 passed in 0.1s", 0, "passed"),
        ("pytest -q", "1 failed, 2 passed in 0.1s", 1, "failed"),
        ("pytest -q | tail -3", "1 failed, 2 passed in 0.1s", 0, "failed"),
        ("pytest -q | tail -3", "3 passed in 0.1s", 0, "passed"),
        ("pytest -q | head", "collecting", 0, "unknown"),
        ("cd app && npm run lint", "", 0, "passed"),
        ("go test ./...", "ok  \tx\t0.1s\nFAIL\ty", 1, "failed"),
        ("mypy src", "Success: no issues found in 3 source files", None, "passed"),
        ("ruff check . || true", "Found 2 errors.", 0, "failed"),
        ("npx tsc --noEmit", "a.ts(1,2): error TS2304: Cannot find name", 2, "failed"),
        ("uv run pytest", "Command aborted", None, "unknown"),
        ("make test", "make: *** [test] Error 1", 2, "failed"),
    ],
)
def test_checks_have_the_result_that_was_seen(
    session: Any, command: str, output: str, exit_code: int | None, result: str
) -> None:
    session.run(command, output, exit_code=exit_code)
    (check,) = find_checks(session.invocations)
    assert check.result.value == result


def test_a_check_without_result_or_in_the_background_is_unknown(session: Any) -> None:
    """P03"""
    session.call("Bash", command="pytest")
    session.call("Bash", command="make test", run_in_background=True)
    session.result("Command running in background with ID: b1", exit_code=0)
    assert [check.result.value for check in find_checks(session.invocations)] == ["unknown", "unknown"]


def test_the_newest_run_of_a_check_counts(session: Any) -> None:
    session.run("pytest -q", "1 failed", exit_code=1)
    session.run("pytest  -q 2>&1", "1 passed", exit_code=0)
    (check,) = find_checks(session.invocations)
    assert (check.result.value, check.evidence, check.note) == ("passed", ("m1", "m3"), "1 passed")


@pytest.mark.parametrize(
    "command", ["grep pytest setup.cfg", 'git commit -m "make test pass"', "echo ruff", "ls tests"]
)
def test_a_command_that_only_names_a_check_is_none(command: str) -> None:
    assert not runs_check(command)


def test_a_failure_is_resolved_by_a_chain_that_runs_it_and_passes_wherever_the_shell_stands(session: Any) -> None:
    session.run("cd /repo && mise run lint", "Exit code 1\na.go:4:2: unused", is_error=True)
    session.run("mise run lint && mise run test", "0 issues.\nok  pkg 0.3s", exit_code=0)
    (failure,) = find_failures(session.invocations)
    assert failure.resolved_by == "m3"


def test_a_chain_that_failed_resolves_nothing(session: Any) -> None:
    session.run("mise run lint", "Exit code 1\na.go:4:2: unused", is_error=True)
    session.run("mise run lint && mise run test | tail", "--- FAIL: TestX")
    assert [failure.resolved_by for failure in find_failures(session.invocations)] == [None]


def test_where_a_linter_found_something_tells_more_than_that_its_task_failed() -> None:
    assert telling_line("cmd/a.go:96:5: SA5011: nil\n[lint] ERROR task failed") == "cmd/a.go:96:5: SA5011: nil"


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("Command: git add a.md\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0", False),
        ("Checked 12 files\n0 errors\n", False),
        ("Checked 12 files\n3 errors\n", True),
        ("Error: null\nErrors: 0\n", False),
        ("error: no such branch", True),
        ("Error: (none)\nFAILED tests/test_a.py", True),
    ],
)
def test_no_error_is_no_failure(text: str, fails: bool) -> None:
    """Gemini CLI writes "Error: (none)" under every command."""
    assert tells_failure(ToolResult(call_id="c1", name=None, text=text, is_error=False)) is fails
