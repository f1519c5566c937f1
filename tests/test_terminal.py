"""What a command prints: progress on a terminal only, one line that is gone at the end."""

import io

from worker.terminal import TerminalProgress, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_names_part_tokens_and_time_on_one_line() -> None:
    stream = Terminal()
    with progress(stream) as line:
        line.report("reading")
        line.report("asking", 3, 12, 45_000)
    shown = stream.getvalue().split("\r\x1b[K")
    assert shown[1] == "reading · 0:00"
    assert shown[2].startswith("asking █████░")
    assert shown[2].endswith("part 3 of 12 · 45,000 tokens · 0:00")
    assert shown[-1] == ""
    assert "\n" not in stream.getvalue()


def test_where_nobody_looks_nothing_is_written() -> None:
    stream = io.StringIO()
    with progress(stream) as line:
        line.report("asking", 3, 12, 45_000)
    assert stream.getvalue() == ""


def test_the_line_is_gone_also_when_the_work_fails() -> None:
    stream = Terminal()
    try:
        with progress(stream) as line:
            assert isinstance(line, TerminalProgress)
            line.report("merging")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert stream.getvalue().endswith("\r\x1b[K")
