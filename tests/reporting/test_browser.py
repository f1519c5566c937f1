"""The page in a real browser: it opens from a file, answers to clicks, fetches nothing and runs nothing but its own.

Screenshots go to the test's folder, or to the one that AFTERTURN_TEST_SCREENSHOTS names.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from worker.report import report_workspace, save

Diary = Any
NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = {"width": 1360, "height": 900}
PHONE = {"width": 390, "height": 844}


@dataclass
class Opened:
    """A page that was opened, with everything that it asked for or complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser on the PATH: one of {', '.join(NAMES)} is needed")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def report(told: Diary, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    save(told.report(), path)
    return path


def opened(
    browser: Browser, path: Path, *, size: dict[str, int] = WIDE, scripts: bool = True, dark: bool = False
) -> Opened:
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        java_script_enabled=scripts,
        color_scheme="dark" if dark else "light",
    )
    seen = Opened(page=context.new_page())
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.on("console", lambda message: seen.complaints.append(message.text))
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.goto(path.as_uri())
    return seen


def photograph(page: Page, folder: Path, name: str) -> None:
    target = Path(os.environ.get("AFTERTURN_TEST_SCREENSHOTS") or folder)
    target.mkdir(parents=True, exist_ok=True)
    assert page.screenshot(path=target / f"{name}.png", full_page=True)


def test_it_opens_without_a_request_a_complaint_or_a_planted_script(
    browser: Browser, report: Path, tmp_path: Path
) -> None:
    seen = opened(browser, report)
    assert seen.page.title().startswith("Never touch the database schema.")
    assert "window.planted = 1" in (seen.page.text_content("#s1-m0") or "")
    assert seen.page.evaluate("typeof window.planted") == "undefined"
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    assert seen.complaints == []
    photograph(seen.page, tmp_path, "report-light")


def test_a_script_that_slipped_through_would_not_run(browser: Browser, report: Path) -> None:
    broken = report.read_text("utf-8").replace("<main", "<script>window.planted = 1</script><main", 1)
    report.write_text(broken, encoding="utf-8")
    seen = opened(browser, report)
    assert seen.page.evaluate("typeof window.planted") == "undefined"
    assert any("Content Security Policy" in complaint for complaint in seen.complaints)


def test_evidence_opens_the_message_that_it_came_from(browser: Browser, report: Path, tmp_path: Path) -> None:
    page = opened(browser, report).page
    cite = page.locator(".kind-error a.cite", has_text="m3").first
    cite.click()
    assert "AssertionError: assert 1 == 2" in page.inner_text("#reader-body")
    photograph(page, tmp_path, "report-message")
    page.keyboard.press("Escape")
    assert not page.is_visible("#reader")
    assert cite.evaluate("element => element === document.activeElement")


def test_the_messages_of_one_item_are_leafed_through_by_keyboard(browser: Browser, report: Path) -> None:
    page = opened(browser, report).page
    page.locator(".kind-error .rests a.cite").first.focus()
    page.keyboard.press("Enter")
    first = page.inner_text("#reader-body")
    assert page.inner_text("#reader-place").startswith("1 of ")
    page.click("#reader-on")
    assert page.inner_text("#reader-body") != first


def test_the_filter_narrows_by_words_kind_and_status(browser: Browser, report: Path) -> None:
    page = opened(browser, report).page
    page.fill("#words", "schema")
    expect(page.locator("#told")).not_to_be_empty()
    assert page.is_visible("text=Never touch the database schema.")
    assert not page.is_visible(".kind-check")
    page.fill("#words", "")
    expect(page.locator("#told")).to_be_empty()
    page.select_option("#kind", "task")
    assert {entry.get_attribute("data-kind") for entry in page.locator(".entry:visible").all()} == {"task"}
    page.select_option("#status", "done")
    assert [entry.inner_text().split()[0] for entry in page.locator(".entry:visible").all()] == ["T-1"]
    page.fill("#words", "no such words anywhere")
    page.wait_for_selector("#nothing:visible")


def test_the_theme_follows_the_system_until_it_is_chosen(browser: Browser, report: Path, tmp_path: Path) -> None:
    seen = opened(browser, report, dark=True)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = seen.page.evaluate(background)
    photograph(seen.page, tmp_path, "report-dark")
    seen.page.click("#theme")
    light = seen.page.evaluate(background)
    assert light != dark
    assert opened(browser, report).page.evaluate(background) == light
    seen.page.reload()
    assert seen.page.evaluate(background) == light


def test_a_phone_needs_no_sideways_scrolling(browser: Browser, report: Path, tmp_path: Path) -> None:
    page = opened(browser, report, size=PHONE).page
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    photograph(page, tmp_path, "report-phone")
    page.locator("a.cite").first.click()
    assert page.is_visible("#reader")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_without_scripts_it_reads_the_same(browser: Browser, report: Path) -> None:
    page = opened(browser, report, scripts=False).page
    assert page.is_visible("text=Never touch the database schema.")
    assert not page.is_visible("#words")
    assert not page.is_visible("#theme")
    page.locator(".kind-error a.cite", has_text="m3").first.click()
    assert page.url.endswith("#s1-m3")
    assert page.is_visible("#s1-m3")


def test_it_prints_what_is_folded_away_but_not_the_messages(browser: Browser, report: Path, tmp_path: Path) -> None:
    page = opened(browser, report).page
    assert page.pdf(path=tmp_path / "report.pdf", format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.is_visible("text=add the export")
    assert not page.is_visible(".top")
    assert not page.is_visible("details.messages")


def test_headings_descend_step_by_step_and_controls_have_names(browser: Browser, report: Path) -> None:
    page = opened(browser, report).page
    levels = [int(tag[1]) for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.tagName)")]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = "[...document.querySelectorAll('button,input,select')].filter(e => !e.ariaLabel && !e.textContent.trim())"
    assert page.evaluate(f"{unnamed}.length") == 0


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const mixed = (top, under) => (v, i) => (v * top[3] + under[i] * (255 - top[3])) / 255;
  const over = (top, under) => top.slice(0, 3).map(mixed(top, under)).concat(255);
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgb(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 255]);
  };
  const poor = [];
  for (const element of document.querySelectorAll("main *, .top *, .contents *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    const told = `${element.className || element.tagName}: ${element.textContent.trim().slice(0, 30)}`;
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(told);
  }
  return poor;
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_its_ground(browser: Browser, report: Path, dark: bool) -> None:
    assert opened(browser, report, dark=dark).page.evaluate(CONTRAST) == []


def test_a_workspace_leads_to_its_sessions(browser: Browser, told: Diary, tmp_path: Path) -> None:
    other = type(told)(tmp_path, "other")
    other.person("From now on write tests first.")
    other.assistant("I will.")
    other.consolidate()
    path = tmp_path / "workspace.html"
    save(report_workspace(told.settings), path)
    seen = opened(browser, path)
    photograph(seen.page, tmp_path, "workspace-light")
    seen.page.click(".sessions a >> nth=0")
    assert seen.page.url.endswith("#s1")
    seen.page.locator(".memory a.cite").first.click()
    assert seen.page.is_visible("#reader")
    assert seen.complaints == []
    assert opened(browser, path, size=PHONE).page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
