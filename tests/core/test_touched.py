"""Which files a session worked on last, and what it saw of them."""

from typing import Any

from worker.core.touched import Touched, newest_touched, seen_whole


def test_the_newest_come_first_each_once_without_the_deleted(script: Any) -> None:
    for number, (name, arguments, output) in enumerate(
        [
            ("Read", {"file_path": "/app/src/a.py"}, "     1→import os\n     2→"),
            ("Write", {"file_path": "/app/b.py", "content": "x = 1\n"}, "File created successfully at: /app/b.py"),
            ("Edit", {"file_path": "/app/c.py", "old_string": "a", "new_string": "b"}, "The file has been updated"),
            ("Bash", {"command": "rm /app/d.py"}, ""),
            ("Read", {"file_path": "/app/d.py"}, "     1→old"),
            ("Bash", {"command": "rm /app/d.py"}, ""),
            ("Read", {"file_path": "/app/src/a.py", "offset": 3}, "     3→def run(): ..."),
        ]
    ):
        script.calls((f"c{number}", name, arguments))
        script.result(f"c{number}", output)
    assert newest_touched(script.messages, "/app") == [
        Touched(path="src/a.py"),
        Touched(path="c.py"),
        Touched(path="b.py", content="x = 1\n"),
    ]
    assert newest_touched(script.messages, "/app", most=1) == [Touched(path="src/a.py")]


def test_a_whole_reading_is_known_without_its_line_numbers(script: Any) -> None:
    script.calls(("a", "Read", {"file_path": "a.py"}))
    script.result("a", "     1→import os\n     2→    print(1)\n")
    assert newest_touched(script.messages, None) == [Touched(path="a.py", content="import os\n    print(1)")]
    assert seen_whole(script.messages, None) == {"a.py"}


def test_a_failed_reading_touches_nothing(script: Any) -> None:
    script.calls(("a", "Read", {"file_path": "a.py"}))
    script.result("a", "File does not exist.", is_error=True)
    assert newest_touched(script.messages, None) == []
