"""`pathweave report`: one page that needs nothing else, and its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pathweave
from conftest import write_scenario
from pathweave.report.build import build_report


@pytest.fixture
def results(fake: None, tmp_path: Path) -> Path:
    (tmp_path / "expected.toml").write_text(
        '[[tab1.number]]\nquantity = "goodput"\nunit = "Mbps"\ntolerance = 0.1\n'
        'values = { DCTCP = { Permutation = 513.6, Incast = 423.7 }}\nwhere = { group = "large" }\n'
    )
    path = write_scenario(tmp_path, fake="flows = 60\nsmall = 80\njobs = 20\nseries = true")
    pathweave.run(path, seeds=2, out=tmp_path / "results", progress=False)
    return tmp_path / "results" / "tab1"


def test_page_stands_alone(results: Path) -> None:
    page = build_report([results], pictures=False)
    assert page == results / "report" / "report.html"
    text = page.read_text()
    assert page.stat().st_size < 6_000_000
    assert "src=" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"<link|@import|url\(", text[: text.index("<script>")])
    head = text[: text.index("Goodput of")]
    for said in (
        "Made up",
        "quick",
        "1, 2",
        "mean goodput",
        "95 % ±",
        "p99",
        "unfinished",
        "XMP-4",
    ):
        assert said in head
    assert "Ours beside the published values" in text
    assert "pathweave run" in text
    assert "--seeds 2" in text
    assert "Flows of &#34;large&#34;" in text


def test_pictures_of_every_chart(results: Path, tmp_path: Path) -> None:
    page = build_report([results], tmp_path / "elsewhere")
    assert page == tmp_path / "elsewhere" / "report.html"
    ids = set(re.findall(r'class="chart" id="s1-([a-z0-9-]+)"', page.read_text()))
    charts = tmp_path / "elsewhere" / "charts"
    assert {path.stem for path in charts.glob("*.png")} == ids
    assert {path.stem for path in charts.glob("*.svg")} == ids
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in charts.glob("*.png"))
    assert not (results / "report").exists()


def test_equal_results_give_an_equal_page(results: Path, tmp_path: Path) -> None:
    one = build_report([results], tmp_path / "one", pictures=False)
    two = build_report([results], tmp_path / "two", pictures=False)
    assert one.read_bytes() == two.read_bytes()


def test_several_scenarios_share_colours(results: Path, tmp_path: Path) -> None:
    other = write_scenario(tmp_path, "fig1", axes='scheme = ["XMP-4", "DCTCP"]', fake="flows = 20")
    pathweave.run(other, out=tmp_path / "results", progress=False)
    page = build_report([tmp_path / "results"], tmp_path / "both", pictures=False)
    text = page.read_text()
    swatches = re.findall(r'data-colour="(#[0-9a-f]{6})"[^>]*></i>([^<]+)', text)
    colours: dict[str, set[str]] = {}
    for colour, name in swatches:
        colours.setdefault(name, set()).add(colour)
    assert set(colours) == {"DCTCP", "XMP-4"}
    assert all(len(found) == 1 for found in colours.values())


def test_what_a_reader_should_know_is_said(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    out = tmp_path / "results"
    pathweave.run(path, only={"scheme": "DCTCP"}, out=out, progress=False)
    pathweave.run(path, only={"scheme": "XMP-4"}, set={"fabric.k": 4}, out=out, progress=False)
    text = build_report([out], pictures=False).read_text()
    assert "tab1 was run with different settings" in text
    assert "quick / quick-k=4" in text
    assert "fabric.k=4" in text


def test_two_settings_of_a_scenario_are_compared(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["DCTCP"]')
    out = tmp_path / "results"
    pathweave.run(path, seeds=2, out=out, progress=False)
    pathweave.run(path, seeds=2, set={"fabric.k": 4}, out=out, progress=False)
    before, after = out / "tab1/quick", out / "tab1/quick-k=4"
    text = build_report([before, after], tmp_path / "two", pictures=False).read_text()
    assert text.index("Made up: what changed") < text.index("Flows of &#34;large&#34;")
    head = text[text.index('id="changes"') : text.index('id="s1"')]
    assert "A, the baseline: quick. B: quick-k=4." in head
    assert "set: [] / [&#34;fabric.k=4&#34;]" in head
    assert head.count(">identical</td>") > 5
    assert "All results are identical to the last bit." in head
    # One folder, or two of different scenarios, are no pair.
    other = write_scenario(tmp_path, "fig1", axes='scheme = ["DCTCP"]')
    pathweave.run(other, out=out, progress=False)
    for folders in ([out / "tab1"], [before], [before, out / "fig1"]):
        assert (
            "what changed" not in build_report(folders, tmp_path / "x", pictures=False).read_text()
        )


def test_markup_in_names_is_text(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes='scheme = ["<b>bold</b>", "</script>"]')
    pathweave.run(path, out=tmp_path / "results", progress=False)
    text = build_report([tmp_path / "results"], pictures=False).read_text()
    assert "<b>bold" not in text
    assert text.count("</script>") == 2
