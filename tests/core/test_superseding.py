"""Which results a later one makes needless."""

from typing import Any

from worker.core.pairing import pair
from worker.core.superseding import superseded

LONG = "def f():\n    return 1\n" * 100


def look_up(script: Any, name: str, arguments: object, text: str = LONG, **how: Any) -> None:
    call_id = f"c{len(script.messages)}"
    script.calls((call_id, name, arguments))
    script.result(call_id, text, **how)


def stubs(script: Any, old_after_messages: int = 20) -> dict[int, str]:
    return superseded(script.messages, pair(script.messages), old_after_messages)


def test_a_file_that_was_read_again_is_kept_once_the_newest_time(script: Any) -> None:
    look_up(script, "Read", {"file_path": "a.py"})
    look_up(script, "Read", {"file_path": "b.py"})
    look_up(script, "Read", {"file_path": "a.py"})
    assert [*stubs(script)] == [1]
    assert "again in m5" in stubs(script)[1]


def test_some_lines_are_superseded_by_the_whole_file_not_the_other_way_round(script: Any) -> None:
    look_up(script, "Read", {"file_path": "a.py", "offset": 10, "limit": 50})
    look_up(script, "Read", {"file_path": "a.py"})
    look_up(script, "Read", {"file_path": "a.py", "offset": 10, "limit": 50})
    assert [*stubs(script)] == [1]


def test_a_read_that_failed_supersedes_nothing_and_is_kept(script: Any) -> None:
    look_up(script, "Read", {"file_path": "a.py"}, is_error=True)
    look_up(script, "Read", {"file_path": "a.py"})
    look_up(script, "Read", {"file_path": "a.py"}, exit_code=1)
    assert stubs(script) == {}


def test_the_same_search_run_again_supersedes_the_first(script: Any) -> None:
    look_up(script, "Grep", {"pattern": "needle"})
    look_up(script, "Grep", {"pattern": "other"})
    look_up(script, "Grep", {"pattern": "needle"})
    assert [*stubs(script)] == [1]


def test_an_old_search_keeps_how_it_began_and_how_long_it_was(script: Any) -> None:
    look_up(script, "Grep", {"pattern": "x"}, "\n".join(f"src/{number}.py:1:x" for number in range(300)))
    for number in range(30):
        script.says(f"step {number}")
    stub = stubs(script)[1]
    assert "300 lines" in stub
    assert "src/9.py" in stub
    assert "src/11.py" not in stub


def test_short_results_and_other_tools_are_left_alone(script: Any) -> None:
    look_up(script, "Read", {"file_path": "a.py"}, "denied by the user")
    look_up(script, "Bash", {"command": "make"})
    look_up(script, "Bash", {"command": "make"})
    look_up(script, "Read", {"file_path": "a.py"})
    assert stubs(script) == {}


def test_arguments_that_are_no_json_are_compared_as_text(script: Any) -> None:
    look_up(script, "Read", "{broken")
    look_up(script, "Read", "{broken")
    look_up(script, "Read", "[" * 5_000)
    assert [*stubs(script)] == [1]
