"""Pages for people: Jinja2 over `worker/pages/`, every value escaped, nothing fetched.

A home of its own for Jinja2, beside the prompts': those are plain text for a model, unescaped and hashed into each
result, so that no change of a page may touch their environment or their files. The page allows itself its own two
scripts by their hashes and nothing else: a script that came in with a transcript would not run even where escaping
failed.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import worker
from worker.reporting.legible import legible
from worker.reporting.page import SessionPage, WorkspacePage

LONG_CHARS = 500_000
"""From here on the browser lays out what comes into sight, not all at once; shorter pages are whole in a screenshot."""

_FOLDER = Path(worker.__file__).parent / "pages"


def session_part(page: SessionPage, *, is_alone: bool) -> str:
    """The part of one session, for a page that is put together below: whoever does that knows what each part weighs.

    is_alone: it is the whole page, and its heading the page's.
    """
    return _environment().get_template("session.html.jinja").render(page=page, is_alone=is_alone)


def session_report(page: SessionPage, part: str) -> str:
    """The page of one session."""
    return _page(title=page.title, pages=[page], workspace=None, parts=[part])


def workspace_report(workspace: WorkspacePage, pages: Sequence[SessionPage], parts: Sequence[str]) -> str:
    """The page of a workspace. parts: of those sessions that it has room for, one per page."""
    return _page(title=workspace.name, pages=pages, workspace=workspace, parts=parts)


def _page(*, title: str, pages: Sequence[SessionPage], workspace: WorkspacePage | None, parts: Sequence[str]) -> str:
    theme, script = _source("theme.js"), _source("report.js")
    values = {"title": title, "pages": pages, "workspace": workspace, "parts": parts, "policy": _policy(theme, script)}
    page = _environment().get_template("report.html.jinja")
    is_long = sum(map(len, parts)) > LONG_CHARS
    return page.render(values, is_long=is_long, style=_source("report.css"), theme=theme, script=script)


# Templates are compiled once per process, and not by who only imports this.
@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        finalize=_shown,
    )
    environment.filters["count"] = _count
    return environment


def _shown(value: object) -> object:
    """What Jinja2 puts on the page in place of a value: text that people wrote hides nothing."""
    return legible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _count(value: int) -> str:
    return f"{value:,}"


def _source(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _policy(*scripts: str) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
