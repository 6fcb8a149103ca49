"""The first screen of a report: fabric and load, verdict, differences in a chart, contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pathweave
from pathweave.plots.forest import forest_figure
from pathweave.plots.frames import palette_of
from pathweave.plots.heat import heat_figure
from pathweave.report.advice import advice
from pathweave.report.build import build_report
from pathweave.report.setting import setting_sentence
from pathweave.results.merit import rankings
from pathweave.results.present import apart, spread_unit, unit_text

SCENARIO = """
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "1 Gbps"
uplink_rate = "1 Gbps"
host_delay = "2 us"
uplink_delay = "5 us"
queue = { limit = 100, mark = { kind = "step", k = 10 } }

[[traffic]]
name = "web"
pattern = "poisson"
layer = "uplink"
load = 0.4
size = { kind = "uniform", min = "5 KB", max = "100 KB" }
controller = "dctcp"

[stop]
at = "10 ms"
drain = true
limit = "1 s"

[report]
quantity = "mean fct of web"
baseline = "DCTCP"

[variants.scheme."DCTCP"]

[variants.scheme."XMP-2"]
"traffic.web.controller" = "xmp"
"traffic.web.subflows" = 2
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("first")
    (folder / "web.toml").write_text(SCENARIO)
    return pathweave.run(folder / "web.toml", seeds=3, out=folder / "results")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("swept")
    sweep = '\n[sweep]\n"traffic.web.load" = [0.2, 0.4]\n"fabric.queue.mark.k" = [5, 20]\n'
    (folder / "web.toml").write_text(SCENARIO + sweep)
    return pathweave.run(folder / "web.toml", seeds=2, out=folder / "results")


def layers(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return chart.get("spec", chart)["layer"]


def test_mean_median_and_p99_stand_together(plain: pathweave.Results, tmp_path: Path) -> None:
    (scenario,) = plain.scenarios
    figure = forest_figure(scenario, rankings(scenario), palette_of([scenario]))
    assert figure is not None
    assert figure.chart["facet"]["sort"] == ["mean", "median", "p99"]
    page = build_report([scenario.folder], tmp_path, pictures=False).read_text()
    head = page.partition("<caption><span>Mean flow completion time")[2].partition("</thead>")[0]
    for statistic in ("mean (", "median (", "p99 ("):
        assert f">{statistic}" in head
    first, _, rest = page.partition('<nav class="contents"')
    assert "Leaf-spine fabric (2 leaves, 2 spines, 2 hosts per leaf, links of 1 Gbps)" in first
    assert "Poisson traffic &#34;web&#34; at load 0.4" in first
    assert 'id="s1-differences"' in first
    assert "<details" not in first
    assert rest.count('<details class="part"') >= 4


def test_a_difference_has_the_interval_of_the_table(plain: pathweave.Results) -> None:
    (scenario,) = plain.scenarios
    (ranking,) = rankings(scenario)
    figure = forest_figure(scenario, [ranking], palette_of([scenario]))
    assert figure is not None
    rows = [line.split(",") for line in figure.chart["data"]["values"].splitlines()]
    column = rows[0].index("percent")
    (standing,) = (each for each in ranking.standings if each.name == "XMP-2")
    assert standing.difference is not None
    assert float(rows[1][column]) == pytest.approx(standing.difference.percent, rel=1e-4)


def test_two_swept_numbers_are_a_heat_map(swept: pathweave.Results) -> None:
    (scenario,) = swept.scenarios
    found = rankings(scenario)
    figure = heat_figure(found)
    assert figure is not None
    assert {layer["mark"]["type"] for layer in layers(figure.chart)} == {"rect", "text"}
    data = figure.chart["data"]["values"]
    assert len(data.splitlines()) == 1 + 4
    assert forest_figure(scenario, found, palette_of([scenario])) is None
    assert "at load 0.2 to 0.4" in setting_sentence(scenario)


def test_advice_shows_only_where_there_is_some() -> None:
    assert advice([]) == ""
    assert "<li>Use K &gt; 10.</li>" in advice(["Use K > 10."])


@pytest.mark.parametrize(
    ("value", "half", "decimals", "needed"),
    [(2.0, 2.4, 0, 1), (2.04, 2.01, 0, 2), (5.0, 2.0, 0, 0), (-2.2, 2.4, 0, 1), (2.0, 2.0, 0, 0)],
)
def test_a_value_and_its_interval_differ_in_print(
    value: float, half: float, decimals: int, needed: int
) -> None:
    assert apart(value, half, decimals) == needed


def test_times_have_a_unit_for_the_small_ones_too() -> None:
    assert spread_unit("fct_s", [0.000607, 1.2]) == "ms"
    assert unit_text(spread_unit("fct_s", [0.000607, 0.00003])) == "µs"
    assert spread_unit("fct_s", [3.0, 20.0]) == "s"
