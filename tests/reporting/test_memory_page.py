"""Each line of MEMORY.md says where it came from; what a person wrote is told apart."""

from worker.reporting.memory_page import memory_lines
from worker.reporting.page import Cite

MARKER = (
    "<!-- afterturn:memory id=C-1a2b3c kind=constraint date=2026-11-30 session=claude-code/5f0c evidence=m0 sum={} -->"
)


def cite_in(key: str, message_id: str) -> Cite:
    return Cite(id=message_id, anchor=f"{key}#{message_id}")


def bullet() -> str:
    from datetime import date

    from worker.core.memory import Bullet, Section

    made = Bullet(
        id="C-1a2b3c",
        section=Section.CONSTRAINTS,
        text="Never touch the schema.",
        date=date(2026, 11, 30),
        session="claude-code/5f0c",
        evidence=("m0",),
    )
    return f"- {made.text} {MARKER.format(made.sum)}"


def test_a_line_of_ours_names_session_date_and_message() -> None:
    text = f"# Memory\n\n## Standing constraints <!-- afterturn:section -->\n\n{bullet()}\n- Mine alone.\n"
    lines = memory_lines(text, {"claude-code--5f0c": "s3"}, cite_in)
    assert [(line.text, line.source, line.is_heading) for line in lines] == [
        ("Standing constraints", "", True),
        ("Never touch the schema.", "claude-code/5f0c", False),
        ("- Mine alone.", "", False),
    ]
    assert lines[1].target == "s3"
    assert lines[1].cites[0].anchor == "claude-code--5f0c#m0"


def test_a_line_that_a_person_edited_is_theirs() -> None:
    edited = bullet().replace("Never touch", "Always touch")
    (line,) = memory_lines(edited, {}, cite_in)
    assert line.source == ""


def test_a_persons_hashtags_are_no_headings() -> None:
    lines = memory_lines("#4670 is the ticket\n# A real heading\n", {}, cite_in)
    assert [(line.text, line.is_heading) for line in lines] == [
        ("#4670 is the ticket", False),
        ("A real heading", True),
    ]
