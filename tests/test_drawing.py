"""Drawing in processes of its own: what comes back, what is kept, and how it ends."""

from __future__ import annotations

import io
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import pathweave
from conftest import environment, write_scenario
from pathweave.cli import drawing
from pathweave.errors import PathweaveError
from pathweave.plots.painters import Painters
from pathweave.report import library
from pathweave.report.build import build_report
from pathweave.report.steps import Steps

CHART = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}


@pytest.fixture
def results(fake: None, tmp_path: Path) -> Path:
    path = write_scenario(tmp_path, fake="flows = 60")
    pathweave.run(path, out=tmp_path / "results", progress=False)
    return tmp_path / "results" / "tab1"


def test_a_picture_is_what_the_converter_draws() -> None:
    import vl_convert

    with Painters(1) as painters:
        found = painters.picture("one", CHART, {"background": "#ffffff"}).result()
    svg = vl_convert.vegalite_to_svg(CHART, config={"background": "#ffffff"})
    assert found.svg.decode() == svg
    assert found.png == vl_convert.svg_to_png(svg, scale=2.0)


def test_a_chart_that_cannot_be_drawn_is_named() -> None:
    with Painters(1) as painters:
        wrong = painters.picture("rates-over-time", {"mark": 3}, {})
        right = painters.picture("one", CHART, {})
        with pytest.raises(PathweaveError, match="the chart rates-over-time cannot be drawn"):
            wrong.result()
        assert right.result().png[:4] == b"\x89PNG"


def test_a_painter_that_is_killed_is_said() -> None:
    with Painters(1) as painters:
        painters.start()
        painters._painters[0]._process.kill()
        with pytest.raises(PathweaveError, match="the process that draws has ended"):
            painters.picture("one", CHART, {}).result()


def test_painters_end_with_what_is_left_undone() -> None:
    with Painters(2) as painters:
        futures = [painters.picture(str(place), CHART, {}) for place in range(50)]
        futures[0].result()
    assert all(painter._process.returncode == -signal.SIGKILL for painter in painters._painters)
    assert futures[-1].cancelled()


def test_the_script_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Painters(1) as painters:
        made = library.library(painters)()
    assert "vegaEmbed" in made
    kept = library.kept()
    assert kept.is_relative_to(tmp_path)
    with Painters(1) as painters:
        assert library.library(painters)() == made
        assert painters._painters == [], "nothing is left to make"
    kept.write_text(made[: len(made) // 2])
    with Painters(1) as painters:
        assert library.library(painters)() == made
    assert kept.read_text() == made


def test_a_home_that_cannot_be_written_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = library.kept()
    with Painters(1) as painters:
        made = library.library(painters)()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert library.kept() != kept
    with Painters(1) as painters:
        assert library.library(painters)() == made


class Interrupting(Steps):
    def drawn(self, done: int, charts: int) -> None:
        if done == 2:
            raise KeyboardInterrupt


def test_an_interruption_leaves_whole_files(results: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        build_report([results], steps=Interrupting())
    below = results / "report"
    assert (below / "report.html").read_text().endswith("</html>")
    pictures = sorted((below / "charts").iterdir())
    assert len(pictures) == 4
    assert {path.suffix for path in pictures} == {".png", ".svg"}
    assert not list(below.rglob(".*"))


ENDING = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell in the background
from pathweave.cli import drawing
from pathweave.cli.app import main

def end(self, text):
    if text.startswith("charts"):
        os.kill(os.getpid(), signal.{signal})

drawing.Staying._tell = end
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_is_one_message_and_exit_code_1(results: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING.format(signal=name), "report", str(results)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: interrupted\n"
    assert [path.name for path in (results / "report").iterdir()] == ["report.html"]


def test_a_full_disk_is_one_message_and_exit_code_1(results: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-m", "pathweave", "report", str(results)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=limit,
    )
    page = results / "report" / "report.html"
    assert done.returncode == 1
    assert done.stderr == f"error: {page}: File too large\n"
    assert list(page.parent.iterdir()) == []


def test_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 2.9, 2.9, 10.0, 10.0, 16.0, 16.0, 20.0, 20.0, 21.0])
    monkeypatch.setattr(drawing.time, "monotonic", lambda: next(clock))
    console = Console(width=80, record=True, file=io.StringIO())
    with drawing.Staying(console) as steps:
        steps.reading("Figure 1", 1, 2)  # at 1 s: a short report says nothing
        steps.drawn(0, 40)  # at 2.9 s
        steps.drawn(5, 40)  # at 10 s
        steps.drawn(6, 40)  # at 16 s: too soon
        steps.drawn(12, 40)  # at 20 s
    said = console.export_text()
    assert said.splitlines() == [
        "charts 5 of 40, about 0:50 of wall time left",
        "charts 12 of 40, about 0:40 of wall time left",
    ]


def test_a_report_says_what_it_reads_and_draws(results: Path, tmp_path: Path) -> None:
    class Listening(Steps):
        said: list[tuple[object, ...]] = []  # noqa: RUF012 - of this test alone

        def reading(self, heading: str, place: int, scenarios: int) -> None:
            self.said.append((heading, place, scenarios))

        def drawn(self, done: int, charts: int) -> None:
            self.said.append((done, charts))

    shutil.rmtree(results / "report", ignore_errors=True)
    build_report([results], tmp_path / "out", steps=Listening())
    charts = len(list((tmp_path / "out" / "charts").glob("*.png")))
    assert Listening.said == [("Made up", 1, 1), *((done, charts) for done in range(charts))]


def test_the_page_has_the_script_that_draws(results: Path) -> None:
    text = build_report([results], pictures=False).read_text()
    assert re.search(r"vegaEmbed\s*=", text)
