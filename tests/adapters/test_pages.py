"""A page shows what people wrote and runs nothing of it, whatever they wrote."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.adapters import pages
from worker.reporting.page import (
    Bar,
    CheckpointRow,
    Cite,
    Entry,
    Event,
    Figure,
    LeftOut,
    MemoryLine,
    Quoted,
    Section,
    SessionPage,
    SessionRow,
    Share,
    Timeline,
    WorkspacePage,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!-- <img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "javascript:alert(1)",
    "</style><style>* { display: none }</style>",
    "&lt;b&gt; & &amp;",
    "a\u2028b\u202ec",
    "`<b>` and ```",
)


def session(text: str) -> SessionPage:
    """A page with the text in every place that takes one."""
    cite = Cite(id="m3", anchor="s1-m3")
    event = Event(what="lifted", detail=text, when=text, checkpoint=1, cites=(cite,))
    entry = Entry(
        id=text, kind=text, text=text, status=text, notes=((text, text),), code=text, cites=(cite,), history=(event,)
    )
    said = Quoted(anchor="s1-m3", id="m3", author=text or "x", when=text, text=text, answers=text, answered=cite)
    bar = Bar(title=text, note=text, shares=(Share(name=text, tokens=3, tone="people"),), scale=3)
    row = CheckpointRow(
        anchor="s1-checkpoint-1",
        number=1,
        messages=text,
        status=text,
        when=text,
        tokens_before=1,
        tokens_after=1,
        calls=1,
        tokens_in=1,
        tokens_out=1,
        cost=text,
        seconds=text,
        model=text,
        note=text,
    )
    section = Section(
        anchor="s1-section-1",
        heading=text,
        paragraphs=((text, cite),),
        entries=(entry,),
        ended=(entry,),
        ended_heading=text,
        messages=(said,),
    )
    return SessionPage(
        anchor="s1",
        key="k",
        title=text,
        name=text,
        agent=text,
        project=text,
        source=text,
        span=text,
        lede=text,
        status=text,
        status_note=text,
        notices=(text,),
        figures=(Figure(label=text, value=text, note=text),),
        before=bar,
        after=bar,
        summary=bar,
        following=bar,
        timeline=Timeline(start=text, end=text),
        sections=(section,),
        left_out=(LeftOut(what=text, amount=text, why=text, entries=(entry,)),),
        checked=(),
        artifacts=(),
        checkpoints=(row,),
        totals=row,
        quoted=(replace(said, anchor="s1-m9"),),
        unquoted=0,
        command=text,
    )


def workspace(text: str) -> WorkspacePage:
    row = SessionRow(
        name=text,
        agent=text,
        title=text,
        span=text,
        messages=1,
        tokens_before=1,
        tokens_after=1,
        rules=1,
        tasks=1,
        errors=1,
        status=text,
        cost=text,
        command=text,
        problem=text,
    )
    return WorkspacePage(
        name=text,
        path=text,
        lede=text,
        figures=(),
        rows=(row, replace(row, problem="")),
        memory=(MemoryLine(text=text, source=text, date=text), MemoryLine(text=text, is_heading=True)),
        memory_note=text,
    )


def page_of(text: str) -> str:
    told = session(text)
    part = pages.session_part(told, is_alone=False)
    return pages.workspace_report(workspace(text), [told], [part])


class Tags(HTMLParser):
    """Every tag with its attributes, as a browser would find them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.comments = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.comments += 1


def shape(html: str) -> list[tuple[str, list[str]]]:
    return [(tag, sorted(attributes)) for tag, attributes in Tags(html).tags]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_tag_an_attribute_or_a_comment(text: str) -> None:
    harmless = page_of("`a` and ```" if "`" in text else "harmless")
    hostile = page_of(text)
    assert shape(hostile) == shape(harmless)
    assert Tags(hostile).comments == 0


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=60).filter(lambda text: text.strip() and "`" not in text))
def test_whatever_people_write_the_page_has_the_same_tags(text: str) -> None:
    assert shape(page_of(text)) == shape(page_of("harmless"))


def test_what_was_written_can_be_read() -> None:
    html = page_of("<script>alert(1)</script>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "‹U+202E›" in page_of("\u202egnp.exe")


@pytest.mark.parametrize("text", ["half an emoji \ud83d", "a byte that is no UTF-8 \udc80", "nul \x00 and bell \x07"])
def test_a_page_can_always_be_written(text: str) -> None:
    assert page_of(text).encode("utf-8")


def test_only_our_own_scripts_may_run() -> None:
    html = page_of("x")
    policy = next(values["content"] for tag, values in Tags(html).tags if values.get("http-equiv"))
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    allowed = re.search(r"script-src ([^;]*)", policy)
    assert allowed is not None
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in scripts]
    assert allowed[1].split() == hashes


def test_nothing_is_fetched_and_every_link_stays_on_the_page() -> None:
    for tag, values in Tags(page_of("http://example.com/x")).tags:
        assert tag not in {"iframe", "object", "embed", "form", "base", "img", "video", "audio"}
        assert "src" not in values
        if (target := values.get("href")) is not None:
            assert target.startswith("#") or target == "data:,"


def test_every_link_within_the_page_has_a_target_and_no_id_is_twice() -> None:
    tags = Tags(page_of("x")).tags
    ids = [values["id"] for _, values in tags if "id" in values]
    assert len(ids) == len(set(ids))
    targets = {values["href"] for _, values in tags if (values.get("href") or "").startswith("#")}
    assert {target[1:] for target in targets if target} <= set(ids)


def test_code_between_backticks_is_code_and_half_a_pair_is_a_backtick() -> None:
    assert "ran <code>pytest -q</code> twice" in page_of("ran `pytest -q` twice")
    assert "it`s fine" in page_of("it`s fine")
