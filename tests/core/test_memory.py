"""MEMORY.md as a value: what is ours, what is a person's, and what never comes back."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.core.memory import (
    Bullet,
    Gone,
    Left,
    MemoryRecord,
    Page,
    Section,
    Why,
    add,
    after_write,
    departed,
    exchange,
    for_model,
    ids_in,
    made_bullet,
    parse,
    shrinks_unnamed,
    statements_of_others,
    within_limits,
    without,
)

NOW = datetime(2026, 11, 29, 6, 0, tzinfo=UTC)
FOREIGN = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("\n\n\r\u2028\u0085\x0b\ufeff\udcff#-|`<>! ")), max_size=120
) | st.sampled_from(
    [
        "",
        "no final newline",
        "\ufeff# Notes\r\n\r\n- mine\r\n",
        "---\ntitle: x\n---\n# Notes\n",
        "---\nnot closed\n",
        "```\nopen fence\n",
        "~~~~\n```\n~~~~\n",
        "| a | b |\n|---|---",
        "<!-- a comment\nthat goes on",
        "## Preferences\n\nI write this myself.",
        "- a bullet\n  with a second line\n\n    code\n",
        "caf\udce9 is not UTF-8\n",
    ]
)
SECTIONS = st.sampled_from(list(Section))


def bullet(number: int = 1, text: str = "Answers stay short.", section: Section = Section.PREFERENCES) -> Bullet:
    return made_bullet(
        Bullet(
            id=f"M-{number:06x}",
            section=section,
            text=text,
            date=date(2026, 1, 1) + timedelta(days=number % 300),
            session="claude-code/0f3a",
            evidence=("m1", "m40"),
        )
    )


BULLETS = st.builds(bullet, st.integers(1, 40), st.text(min_size=1, max_size=40).map(lambda t: f"says {t}"), SECTIONS)


def page_of(*bullets: Bullet, text: str = "") -> Page:
    page = parse(text)
    for each in bullets:
        page = add(page, each)
    return page


def test_a_first_file_reads_well() -> None:
    rule = Bullet(
        id="C-1a2b3c",
        section=Section.CONSTRAINTS,
        text="Never change the schema.",
        date=date(2026, 11, 29),
        session="claude-code/0f3a",
        evidence=("m12",),
    )
    assert page_of(rule).render() == (
        "# Memory\n"
        "\n"
        "## Standing constraints <!-- afterturn:section -->\n"
        "\n"
        "- Never change the schema. <!-- afterturn:memory id=C-1a2b3c kind=constraint date=2026-11-29"
        f" session=claude-code/0f3a evidence=m12 sum={rule.sum} -->\n"
    )


@settings(deadline=None)
@given(FOREIGN)
def test_parsing_and_rendering_gives_every_byte_back(text: str) -> None:
    assert parse(text).render() == text


@settings(deadline=None)
@given(BULLETS)
def test_a_bullet_that_was_written_is_read_again(each: Bullet) -> None:
    assert parse(page_of(each).render()).bullets == (each,)


@settings(deadline=None, max_examples=200)
@given(FOREIGN, st.lists(BULLETS, max_size=6, unique_by=lambda each: each.id))
def test_what_a_person_wrote_is_never_touched(text: str, bullets: list[Bullet]) -> None:
    """O64, O66: only lines of ours and blank lines come in; a missing final newline is the one thing that is added."""
    page = parse(text)
    person = [line.text for line in page.lines if not line.is_ours]
    for each in bullets:
        page = add(parse(page.render()), each)
    if bullets:
        page = exchange(page, bullets[0].id, bullet(41, "other words"))
        page = without(page, [each.id for each in bullets[1:3]])
    kept = [line.text for line in parse(page.render()).lines if not line.is_ours]
    assert [line for line in _visible(kept) if line != "# Memory\n"] == _visible(person)


def _visible(lines: list[str]) -> list[str]:
    """The lines that are not blank, each with one line end, as the last may have got one."""
    return [line if line.endswith("\n") else f"{line}\n" for line in lines if line.strip()]


@settings(deadline=None, max_examples=100)
@given(FOREIGN, st.lists(BULLETS, max_size=5, unique_by=lambda each: each.id))
def test_a_bullet_is_ours_wherever_the_person_left_off(text: str, bullets: list[Bullet]) -> None:
    page = page_of(*bullets, text=text)
    assert {each.id for each in parse(page.render()).bullets} == {each.id for each in bullets}


def test_lines_of_a_file_with_windows_line_ends_end_the_same_way() -> None:
    page = page_of(bullet(), text="# Notes\r\n")
    assert all(line.text.endswith("\r\n") for line in page.lines)
    assert len(parse(page.render()).bullets) == 1


def test_an_open_code_fence_does_not_swallow_new_bullets() -> None:
    page = page_of(bullet(), text="# Notes\n\n```\nhalf a thou")
    assert page.render().index("- Answers") < page.render().index("```")
    assert page.render().endswith("```\nhalf a thou")


def test_a_marker_in_a_closed_fence_is_a_person_s_example() -> None:
    line = page_of(bullet()).render().splitlines()[-1]
    assert parse(f"```\n{line}\n```\n").bullets == ()
    assert ids_in(f"```\n{line}\n```\n") == {"M-000001"}


@pytest.mark.parametrize("change", [("short", "long"), ("m40", "m41"), ("preference", "project"), ("2026", "2025")])
def test_an_edit_by_a_person_makes_the_bullet_theirs(change: tuple[str, str]) -> None:
    edited = page_of(bullet()).render().replace(*change)
    page = parse(edited)
    assert page.bullets == ()
    assert without(page, ["M-000001"]).render() == edited


def test_a_bullet_that_a_person_only_moved_stays_ours() -> None:
    text = page_of(bullet(1), bullet(2, "Cite sources.")).render()
    lines = text.splitlines(keepends=True)
    moved = "".join([lines[0], lines[-1].replace("- ", "* ", 1), *lines[1:-1]])
    assert len(parse(moved).bullets) == 2


def test_what_a_person_took_out_is_remembered_as_deleted() -> None:
    both = page_of(bullet(1), bullet(2, "Cite sources."))
    record = after_write(MemoryRecord(), both, [], now=NOW)
    later = departed(record, without(both, ["M-000001"]).render(), now=NOW)
    assert [(each.id, each.text, each.why) for each in later.gone] == [("M-000001", "Answers stay short.", Why.DELETED)]
    assert set(later.written) == {"M-000002"}


def test_what_a_person_edited_and_later_deleted_is_deleted() -> None:
    page = page_of(bullet())
    record = after_write(MemoryRecord(), page, [], now=NOW)
    edited = departed(record, page.render().replace("short", "long"), now=NOW)
    assert edited.gone == ()
    assert departed(edited, "# Memory\n", now=NOW).gone[0].why is Why.DELETED


def test_what_code_took_out_is_not_taken_for_a_person_s_deletion() -> None:
    page = page_of(bullet(1), bullet(2, "Cite sources."))
    record = after_write(MemoryRecord(), page, [], now=NOW)
    smaller = without(page, ["M-000001"])
    record = after_write(record, smaller, [Left(bullet=bullet(1), why=Why.MOVED)], now=NOW)
    assert [each.why for each in departed(record, smaller.render(), now=NOW).gone] == [Why.MOVED]


def test_the_record_is_bounded_and_forgets_deletions_last() -> None:
    """O74"""
    old = [Gone(id=f"M-{n:06x}", text="x", why=Why.DELETED, at=NOW) for n in range(100)]
    new = [Gone(id=f"M-{n:06x}", text="x", why=Why.MOVED, at=NOW) for n in range(200, 3000)]
    record = departed(MemoryRecord(gone=(*old, *new)), "", now=NOW)
    assert len(record.gone) == 1000
    assert record.gone[:100] == tuple(old)


def test_the_least_useful_and_oldest_bullets_leave_first() -> None:
    page = page_of(
        *(bullet(n, f"rule {n}", Section.CONSTRAINTS) for n in range(1, 4)),
        *(bullet(n, f"fact {n}", Section.PROJECT) for n in range(4, 8)),
    )
    kept, left = within_limits(page, max_lines=len(page.lines) - 3)
    assert [each.bullet.text for each in left] == ["fact 4", "fact 5", "fact 6"]
    assert {each.text for each in kept.bullets} == {"rule 1", "rule 2", "rule 3", "fact 7"}


def test_many_old_rules_do_not_push_out_what_was_just_put_right() -> None:
    page = page_of(
        *(bullet(n, f"rule {n}", Section.CONSTRAINTS) for n in range(1, 21)),
        bullet(21, "port 5433, not 5432", Section.CORRECTIONS),
    )
    kept, left = within_limits(page, max_lines=len(page.lines) - 3)
    assert [each.bullet.text for each in left] == ["rule 1", "rule 2", "rule 3"]
    assert "port 5433, not 5432" in {each.text for each in kept.bullets}


@settings(deadline=None, max_examples=60)
@given(st.lists(BULLETS, max_size=30, unique_by=lambda each: each.id), st.integers(0, 60), st.integers(0, 6000))
def test_a_file_is_within_its_limits_or_has_no_bullet_left(bullets: list[Bullet], lines: int, size: int) -> None:
    """O67, T16, B48: and every bullet that left is named."""
    page = page_of(*bullets, text="my own line\n")
    kept, left = within_limits(page, max_lines=lines, max_bytes=size)
    fits = len(kept.lines) <= lines and len(kept.render().encode()) <= size
    assert fits or not kept.bullets
    assert {each.bullet.id for each in left} | {each.id for each in kept.bullets} == {each.id for each in bullets}
    assert kept.render().startswith("my own line\n")


def test_a_shrink_that_names_what_went_is_honest_and_one_that_does_not_is_refused() -> None:
    """F04"""
    before = page_of(*(bullet(n, f"fact number {n}") for n in range(1, 21)))
    after = without(before, [f"M-{n:06x}" for n in range(1, 16)])
    assert shrinks_unnamed(before, after, [])
    assert shrinks_unnamed(before, after, [f"M-{n:06x}" for n in range(1, 15)])
    assert not shrinks_unnamed(before, after, [f"M-{n:06x}" for n in range(1, 16)])
    assert not shrinks_unnamed(before, without(before, ["M-000001"]), [])


def test_a_model_reads_no_marker_and_no_front_matter() -> None:
    """T21"""
    page = page_of(
        bullet(1), bullet(2, "Cite sources.", Section.PROJECT), text="---\nid: 7\n---\n# Mine\n<!-- keep -->\n"
    )
    assert for_model(page.render()) == (
        "# Mine\n<!-- keep -->\n\n## Preferences\n\n- Answers stay short.\n\n## Project\n\n- Cite sources.\n"
    )


def test_a_person_s_lines_are_compared_without_our_markers() -> None:
    edited = page_of(bullet(), text="I like tea.\n").render().replace("short", "brief")
    assert statements_of_others(parse(edited)) == ["I like tea.", "- Answers stay brief."]


def test_evidence_that_is_no_message_id_cannot_break_the_marker() -> None:
    made = made_bullet(
        Bullet(
            id="M-000001",
            section=Section.PROJECT,
            text="x <!-- afterturn:memory id=M-000002 -->\n- y",
            date=date(2026, 1, 1),
            session="a/b",
            evidence=("m1 -->", "m2,m3", "m4"),
        )
    )
    text = page_of(made).render()
    assert parse(text).bullets == (made,)
    assert made.evidence == ("m4",)
    assert text.count("<!-- afterturn:memory") == 1


@pytest.mark.parametrize(
    "line",
    [
        "- " + "x <!-- afterturn:memory " * 20_000,
        " " * 200_000 + "<!-- afterturn:memory",
        "- <!-- afterturn:memory id=" + "a" * 200_000,
        "```" * 100_000,
        "\n".join("`" * (3 + n % 50) for n in range(20_000)),
        "<!--\n" * 50_000,
    ],
    ids=lambda line: line[:20].strip(),
)
def test_hostile_files_are_read_whole(line: str) -> None:
    """A pattern that backtracks would hang here."""
    page = parse(line)
    assert page.render() == line
    assert page.bullets == ()
    assert "<!-- afterturn:memory id=M-" not in for_model(line)
