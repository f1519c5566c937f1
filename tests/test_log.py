"""What is logged is one JSON object per line, our own events and the warnings of libraries alike."""

import json
import logging

import pytest

from worker.log import MAX_FOREIGN_CHARS, hear_warnings


def test_a_warning_of_a_library_is_an_event_with_its_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    hear_warnings(("a_library",))
    library = logging.getLogger("a_library.part")
    library.info("starting")
    library.warning("lost %s\nTraceback with secret words", "the connection")
    [line] = capsys.readouterr().err.splitlines()
    event = json.loads(line)
    assert (event["event"], event["level"], event["library"]) == ("library_warned", "warning", "a_library.part")
    assert event["said"] == "lost the connection"


def test_a_warning_of_any_length_is_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    hear_warnings(("a_library",))
    logging.getLogger("a_library").error("x" * 10_000)
    assert len(json.loads(capsys.readouterr().err)["said"]) == MAX_FOREIGN_CHARS
