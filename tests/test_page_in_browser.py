"""The report's page in headless Chromium: nothing fails, nothing is asked for, everything fits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import pathweave
from conftest import environment, fake_command, write_scenario
from pathweave.report.build import build_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None
)
REQUIRED = bool(os.environ.get("PATHWEAVE_REQUIRE_CHROMIUM"))
if CHROMIUM is None and not REQUIRED:
    pytest.skip("Chromium is missing (Debian: apt install chromium)", allow_module_level=True)
TIMEOUT_MS = 120_000

Scheme = Literal["light", "dark"]

SCENARIO = """
title = "One of two paths fails"
[fabric]
kind = "parallel-paths"
pairs = 3
rates = ["200 Mbps", "200 Mbps"]
delays = "50 us"
host_rate = "1 Gbps"
host_delay = "10 us"
queue = { limit = 100, mark = { kind = "step", k = 10 } }
[[traffic]]
name = "long"
pattern = "flows"
size = "unlimited"
controller = "xmp"
subflows = 2
flows = [{ name = "one", from = "S1", to = "D1" }, { name = "two", from = "S2", to = "D2" }]
[[traffic]]
name = "short"
pattern = "poisson"
size = "200 KB"
controller = "dctcp"
subflows = 1
flows_per_second = 100
sources = "S3"
destinations = "D3"
[[events]]
at = "60 ms"
link = "A1-B1"
down = true
[[events]]
at = "120 ms"
link = "A1-B1"
up = true
[variants.scheme."XMP"]
"traffic.long.controller" = "xmp"
[variants.scheme."LIA"]
"traffic.long.controller" = "lia"
[variants.scheme."OLIA"]
"traffic.long.controller" = "olia"
[stop]
at = "200 ms"
[measure.phases]
before = ["0 s", "60 ms"]
failed = ["60 ms", "120 ms"]
[record]
rates = "2 ms"
windows = "1 ms"
rtts = "1 ms"
queues = "1 ms"
map = "1 ms"
links = ["A1->B1", "A2->B2"]
"""


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every kind of table and chart, with phases, a failure and unfinished flows."""
    folder = tmp_path_factory.mktemp("browser")
    write_scenario(
        folder,
        axes='scheme = ["DCTCP", "LIA-2", "XMP-4"]\nthreshold = ["K = 10", "K = 20"]',
        fake="flows = 60\nsmall = 80\njobs = 20\nseries = true\nphases = true",
    )
    subprocess.run(
        fake_command(["run", "tab1.toml", "--seeds", "2"]),
        cwd=folder,
        env=environment(),
        check=True,
        capture_output=True,
    )
    (folder / "failing.toml").write_text(SCENARIO)
    pathweave.run(folder / "failing.toml", seeds=3, out=folder / "results", progress=False)
    return build_report([folder / "results"], pictures=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The kernel of a container may refuse the sandbox; the page is our own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Seen:
    """A page that has been drawn, what it complained of and what it asked for."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: Scheme) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.page: Page = context.new_page()
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-drawn]", state="attached")

    def close(self) -> None:
        self.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_needs_nothing(
    browser: Browser, page_path: Path, width: int, scheme: Scheme
) -> None:
    seen = Seen(browser, page_path, width, scheme)
    try:
        assert seen.complaints == []
        assert seen.requests == [page_path.as_uri()]
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        charts = seen.page.locator(".chart").count()
        assert charts > 10
        assert seen.page.locator(".chart svg.marks").count() == charts
        # No chart is wider than its place, where it could only be moved to and fro.
        wide = seen.page.evaluate(
            "[...document.querySelectorAll('.chart')].filter(it => it.scrollWidth > it.clientWidth)"
            ".map(it => it.id)"
        )
        assert wide == []
        assert seen.page.evaluate("document.documentElement.classList.contains('dark')") is (
            scheme == "dark"
        )
    finally:
        seen.close()


def test_charts_and_tables_are_described(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 1280, "light")
    try:
        for chart in seen.page.locator(".chart").all():
            name = chart.get_attribute("id")
            described = chart.locator("[aria-label]").first.get_attribute("aria-label") or ""
            title = chart.locator("xpath=..").locator("h2").inner_text()
            assert described.startswith(title), name
            assert any(letter.isdigit() for letter in described), f"{name} has no numbers"
        for table in seen.page.locator("table").all():
            assert table.locator("caption").inner_text().strip()
            assert table.locator("th[scope=row]").count() > 0
    finally:
        seen.close()


def test_the_keyboard_reaches_every_control(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 1280, "light")
    try:
        reached: set[str] = set()
        for _ in range(12):
            seen.page.keyboard.press("Tab")
            reached.add(
                seen.page.evaluate(
                    "document.activeElement.id || document.activeElement.className"
                    " || document.activeElement.tagName"
                )
            )
        assert "theme" in reached
        assert "wide" in reached, "tables that are wider than the page are scrolled by keys"
        seen.page.locator("#theme").focus()
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_selector("html.dark", state="attached")
        assert seen.page.locator("#theme").inner_text() == "light"
        assert seen.complaints == []
    finally:
        seen.close()


def test_a_narrowed_window_draws_again(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 1280, "light")
    try:
        wide = seen.page.locator(".chart svg.marks").first.bounding_box()
        seen.page.set_viewport_size({"width": 390, "height": 800})
        seen.page.wait_for_function("document.querySelector('.chart svg.marks').clientWidth <= 390")
        narrow = seen.page.locator(".chart svg.marks").first.bounding_box()
        assert wide is not None
        assert narrow is not None
        assert narrow["width"] < wide["width"]
        # The other charts follow.
        seen.page.wait_for_function("document.documentElement.scrollWidth <= 390")
    finally:
        seen.close()


def test_on_paper_controls_are_left_out(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 1280, "light")
    try:
        seen.page.emulate_media(media="print")
        assert not seen.page.locator("#theme").is_visible()
        assert seen.page.locator("table").first.is_visible()
        assert seen.page.locator(".chart svg.marks").first.is_visible()
        assert len(seen.page.pdf(format="A4")) > 10_000
    finally:
        seen.close()


def test_the_map_shows_a_failure(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 1280, "light")
    try:
        page = seen.page
        fabric = page.locator(".map")
        assert fabric.count() == 1, "the other scenario recorded no map"
        canvases = fabric.locator("canvas")
        assert canvases.count() == 2, "two variants stand beside each other"
        slider = fabric.locator("input[type=range]")
        slider.focus()
        page.keyboard.press("End")
        page.keyboard.press("Home")
        for _ in range(80):  # to 80 ms, when the link is down
            page.keyboard.press("ArrowRight")
        assert "80.50 ms of 200.0 ms" in fabric.locator("output").inner_text()
        said = canvases.first.get_attribute("aria-label") or ""
        assert "A1->B1 down" in said
        assert "A2->B2" in said
        fabric.get_by_role("button", name="A2->B2").first.click()
        detail = fabric.locator(".map-detail")
        assert detail.locator("h3").inner_text() == "A2->B2"
        detail.locator("svg.marks").wait_for()
        assert "utilisation" in detail.inner_text()
        # The chart follows the metric, and a link that is down is so whatever is shown.
        fabric.get_by_label("Colour").select_option("queue")
        described = detail.locator("[aria-label^='mean queue (packets) of A2->B2']")
        described.first.wait_for()
        assert "down" in (canvases.first.get_attribute("aria-label") or "")
        fabric.get_by_label("Colour").select_option("utilisation")
        detail.get_by_role("button", name="one").first.click()
        assert detail.locator("h3").inner_text() == "one"
        assert "S1 to D1" in detail.inner_text()
        fabric.get_by_role("button", name="play").click()
        page.wait_for_function(
            "document.querySelector('.map input[type=range]').valueAsNumber > 85"
        )
        fabric.get_by_role("button", name="pause").click()
        assert seen.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    finally:
        seen.close()


def test_a_click_on_a_link_of_the_map_chooses_it(browser: Browser, page_path: Path) -> None:
    seen = Seen(browser, page_path, 390, "dark")
    try:
        canvas = seen.page.locator(".map canvas").first
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        # Along a line between the layers some link is hit before the whole width is passed.
        title = seen.page.locator(".map-detail h3")
        for x in range(4, int(box["width"]), 4):
            canvas.click(position={"x": x, "y": box["height"] * 0.75})
            if title.count():
                break
        assert "->" in title.inner_text()
        assert seen.complaints == []
    finally:
        seen.close()
