"""Sweeps from end to end: `[sweep]`, `pathweave.sweep`, and what is made of their results."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pytest

import pathweave
from conftest import real
from pathweave.core import core
from pathweave.errors import InputError, ScenarioError
from pathweave.plots.figures import figures
from pathweave.plots.frames import Source, palette_of
from pathweave.report.build import build_report
from pathweave.results.along import along, values_text
from pathweave.results.costs import Costs
from pathweave.results.measures import Measure
from pathweave.results.merit import Ranking, Standing
from pathweave.results.runs import StoredScenario
from pathweave.results.sentences import sentences
from pathweave.results.sweeps import Sweep
from pathweave.statistics.holm import verdicts
from pathweave.statistics.paired import paired_difference

BASE = """
title = "Two flows over K"
seeds = 3

[fabric]
kind = "dumbbell"
left = 2
bottleneck_rate = "1 Gbps"
bottleneck_delay = "50 us"
queue = { limit = 100, mark = { kind = "step", k = 20 } }

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "dctcp"
flows = [{ from = "S1", to = "D1" }, { from = "S2", to = "D2" }]

[stop]
at = "10 ms"
"""
SCHEMES = """
[variants.scheme."DCTCP"]
"traffic.flows.controller" = "dctcp"

[variants.scheme."XMP"]
"traffic.flows.controller" = "xmp"
"""
SWEEP = '[sweep]\n"fabric.queue.mark.k" = { from = 2, to = 32, factor = 4 }\n'


def write(folder: Path, *parts: str) -> Path:
    path = folder / "k.toml"
    path.write_text("\n".join([BASE, *parts]))
    return path


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("swept")
    path = write(folder, SCHEMES, SWEEP)
    return pathweave.run(path, out=folder / "results", progress=False)


def figures_of(results: pathweave.Results) -> dict[str, Any]:
    (scenario,) = results.scenarios
    return {figure.name: figure for figure in figures(Source(scenario, palette_of([scenario])))}


def rows_of(figure: Any) -> pl.DataFrame:
    return pl.read_csv(figure.chart["data"]["values"].encode())


def encodings(spec: Any) -> list[dict[str, Any]]:
    """All encodings of a chart, of its layers and of its panels."""
    found = [spec["encoding"]] if "encoding" in spec else []
    for below in (*spec.get("layer", ()), *([spec["spec"]] if "spec" in spec else ())):
        found += encodings(below)
    return found


def test_a_sweep_in_the_file_and_one_from_python_are_the_same_runs(
    swept: pathweave.Results, tmp_path: Path
) -> None:
    out = tmp_path / "results"
    axes: dict[str, object] = {"fabric.queue.mark.k": {"from": 2, "to": 32, "factor": 4}}
    path = write(tmp_path, SCHEMES)
    plain = pathweave.run(path, out=out, progress=False)
    found = pathweave.sweep(path, axes, out=out, progress=False)
    columns = ["variant", "k", "seed", "results_hash"]
    assert found.runs.select(columns).equals(swept.runs.select(columns))
    # The values of a sweep are no settings: the runs stand beside those without one.
    assert {Path(folder).parent for folder in found.runs["folder"]} == {
        Path(folder).parent for folder in plain.runs["folder"]
    }
    listed = pathweave.sweep(
        path, {"fabric.queue.mark.k": np.array([2, 8, 32])}, out=out, progress=False
    )
    assert listed.runs.select(columns).equals(swept.runs.select(columns))


def test_results_know_the_numbers(swept: pathweave.Results) -> None:
    sweep = swept.sweeps["k"]
    assert dict(sweep.values) == {"2": 2.0, "8": 8.0, "32": 32.0}
    assert (sweep.keys, sweep.unit, sweep.logarithmic) == (("fabric.queue.mark.k",), "", True)
    assert swept.runs["variant"].unique(maintain_order=True).to_list()[:2] == [
        "DCTCP, k = 2",
        "DCTCP, k = 8",
    ]
    assert swept.flows["k"].unique(maintain_order=True).to_list() == ["2", "8", "32"]
    numbers = swept.flows.select(pl.col("k").replace_strict(sweep.values))["k"]
    assert sorted(set(numbers)) == [2.0, 8.0, 32.0]
    assert swept.where(k="8", scheme="XMP").runs.height == 3
    assert swept.where(k=8).runs.equals(swept.where(k="8").runs)
    with pytest.raises(InputError, match="no run with k=9; the axes are "):
        swept.where(k=9)
    again = pathweave.load(swept.scenarios[0].folder)
    assert again.sweeps == swept.sweeps


def test_values_of_earlier_commands_stay_numbers(tmp_path: Path) -> None:
    path, out = write(tmp_path), tmp_path / "results"

    def sweep(*values: int) -> None:
        pathweave.sweep(path, {"fabric.queue.mark.k": values}, out=out, progress=False)

    sweep(20, 5)
    sweep(10)
    results = pathweave.load(out)
    assert results.scenarios[0].axes == {"k": ["5", "10", "20"]}
    assert dict(results.sweeps["k"].values) == {"5": 5.0, "10": 10.0, "20": 20.0}
    about = json.loads((results.scenarios[0].folder / "scenario.json").read_text())
    assert sorted(about["asked"]) == ["k = 10"]
    # Without what the folder says of the scenario the names are names.
    (results.scenarios[0].folder / "scenario.json").unlink()
    assert pathweave.load(out).sweeps == {}


def test_keys_that_move_together_are_one_axis(tmp_path: Path) -> None:
    results = pathweave.sweep(
        write(tmp_path),
        {
            "together": {
                "buffer": {"fabric.queue.mark.k": [5, 20], "fabric.queue.limit": [25, 100]}
            },
            "fabric.bottleneck_delay": ["20 us", "1 ms"],
        },
        seeds=1,
        only={"bottleneck_delay": "1 ms"},
        out=tmp_path / "results",
        progress=False,
    )
    assert results.runs["variant"].to_list() == [
        "buffer = 5, bottleneck_delay = 1 ms",
        "buffer = 20, bottleneck_delay = 1 ms",
    ]
    queues = [run.manifest["resolved"]["fabric"]["queue"] for run in results.stored]
    assert [(queue["mark"]["k"], queue["limit"]) for queue in queues] == [(5, 25), (20, 100)]
    assert results.sweeps["buffer"].keys == ("fabric.queue.mark.k", "fabric.queue.limit")
    assert results.sweeps["bottleneck_delay"].values == {"20 us": 20e-6, "1 ms": 1e-3}


def test_mistakes_of_python_are_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path)

    def sweep(axes: Mapping[str, object]) -> None:
        pathweave.sweep(path, axes, out=tmp_path / "results", progress=False)

    with pytest.raises(ScenarioError, match="step of -1 does not lead from 1 to 3"):
        sweep({"fabric.queue.mark.k": {"from": 1, "to": 3, "step": -1}})
    with pytest.raises(ScenarioError, match='unknown key "fabrik"'):
        sweep({"fabrik.k": [1]})
    with pytest.raises(InputError, match="must be a list, or a dictionary for a range"):
        sweep({"fabric.queue.mark.k": 3})
    with pytest.raises(InputError, match="axes"):
        sweep({"fabric.queue.mark.k": [None]})
    with pytest.raises(ScenarioError, match='unknown key "fabrik"'):
        sweep(MappingProxyType({"fabrik.k": [1]}))
    pairs: Any = [("fabric.queue.mark.k", [1])]
    with pytest.raises(InputError, match="axes must be a dictionary of keys and their values"):
        sweep(pairs)
    assert not (tmp_path / "results").exists()


def test_the_command_line_sweeps_and_shows_it(tmp_path: Path) -> None:
    write(tmp_path, SCHEMES)

    def call(*arguments: str) -> str:
        done = real(tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    option = ["--sweep", "fabric.queue.mark.k=2..32:x4"]
    said = " ".join(call("check", "k.toml", *option).split())
    assert "k 2, 8, 32 (fabric.queue.mark.k) variants 6" in said
    found = json.loads(call("check", "k.toml", *option, "--json"))
    assert found["sweeps"][0]["values"] == [2.0, 8.0, 32.0]
    shown = call("run", "k.toml", *option, "--dry-run")
    assert "XMP, k = 32" in shown
    assert not (tmp_path / "results").exists()
    printed = call("run", "k.toml", *option, "--only", "k=8", "--out", "out", "--json")
    document = json.loads(printed)
    assert {run["axes"]["k"] for run in document["runs"]} == {"8"}
    assert document["results"]["sweeps"][0]["values"] == [["2", 2.0], ["8", 8.0], ["32", 32.0]]
    about = json.loads((tmp_path / "out/k/quick/scenario.json").read_text())
    assert about["command"].endswith("--sweep fabric.queue.mark.k=2..32:x4")
    assert [name for name, _ in about["sweeps"][0]["values"]] == ["2", "8", "32"]


def test_a_chart_has_the_values_as_its_axis(swept: pathweave.Results) -> None:
    found = figures_of(swept)
    first, second = list(found)[:2]
    assert first == "mean-goodput-flows-over-k"
    assert second == "mean-goodput-flows-difference-over-k"
    figure = found[first]
    assert figure.title == 'Mean goodput of "flows" over k'
    assert "95 % interval" in figure.caption
    assert "k: fabric.queue.mark.k." in figure.caption
    for each in encodings(figure.chart):
        assert each["x"]["scale"]["type"] == "log"
        assert each["x"]["axis"]["values"] == [2.0, 8.0, 32.0]
        assert each["y"]["title"] == "mean goodput (Mbps)"
    rows = rows_of(figure)
    assert rows.height == 6
    # Independent of what draws: mean of the flows by seed, then Student's interval over 3 seeds.
    by_seed = (
        swept.where(k="8", scheme="XMP").flows.group_by("seed").agg(pl.col("goodput_bps").mean())
    )
    values = np.array(by_seed["goodput_bps"]) / 1e6
    half = 4.302653 * values.std(ddof=1) / math.sqrt(3)
    (row,) = rows.filter((pl.col("scheme") == "XMP") & (pl.col("at") == 8)).to_dicts()
    assert row["value"] == pytest.approx(values.mean(), rel=1e-4)
    assert row["high"] - row["value"] == pytest.approx(half, rel=1e-2)
    assert row["value"] - row["low"] == pytest.approx(half, rel=1e-2)


def test_a_chart_of_differences_pairs_seeds(swept: pathweave.Results) -> None:
    figure = figures_of(swept)["mean-goodput-flows-difference-over-k"]
    assert figure.title.endswith("over k: XMP against DCTCP")
    rows = rows_of(figure)
    assert rows["scheme"].unique().to_list() == ["XMP"]
    means = {
        scheme: dict(
            swept.where(k="2", scheme=scheme)
            .flows.group_by("seed")
            .agg(pl.col("goodput_bps").mean())
            .iter_rows()
        )
        for scheme in ("DCTCP", "XMP")
    }
    differences = np.array([means["XMP"][seed] - means["DCTCP"][seed] for seed in (1, 2, 3)])
    base = np.mean(list(means["DCTCP"].values()))
    row = rows.filter(pl.col("at") == 2).to_dicts()[0]
    assert row["value"] == pytest.approx(100 * differences.mean() / base, rel=1e-3)
    half = 4.302653 * differences.std(ddof=1) / math.sqrt(3)
    assert row["half"] == pytest.approx(100 * half / base, rel=1e-2)


def test_a_second_axis_is_small_multiples(tmp_path: Path) -> None:
    results = pathweave.sweep(
        write(tmp_path, SCHEMES),
        {"fabric.queue.mark.k": [5, 20, 35], "fabric.bottleneck_delay": ["20 us", "1 ms"]},
        seeds=2,
        out=tmp_path / "results",
        progress=False,
    )
    figure = figures_of(results)["mean-goodput-flows-over-k"]
    assert figure.chart["facet"]["sort"] == ["bottleneck_delay = 20 us", "bottleneck_delay = 1 ms"]
    rows = rows_of(figure)
    assert rows.height == 3 * 2 * 2
    assert all("type" not in each["x"]["scale"] for each in encodings(figure.chart))


def test_a_sweep_alone_is_one_line(tmp_path: Path) -> None:
    results = pathweave.sweep(
        write(tmp_path),
        {"fabric.bottleneck_delay": ["20 us", "200 us", "2 ms"]},
        out=tmp_path / "results",
        progress=False,
    )
    found = figures_of(results)
    figure = found["mean-goodput-flows-over-bottleneck-delay"]
    assert not any("difference" in name for name in found)
    encoding = encodings(figure.chart)[-1]
    assert encoding["x"]["title"] == "bottleneck_delay (us)"
    assert "value" in encoding["color"]  # of one line the colour is no scheme's
    page = build_report([tmp_path / "results"], tmp_path / "page", pictures=False).read_text()
    head = page[: page.index("<dl>")]
    assert "Which value of bottleneck_delay has the largest mean goodput" in head
    assert "is at bottleneck_delay = 20 us, the smallest value of the sweep" in head
    assert "bottleneck_delay = 2 ms</th>" in head


def test_the_first_screen_has_a_row_for_each_value(
    swept: pathweave.Results, tmp_path: Path
) -> None:
    folder = swept.scenarios[0].folder
    page = build_report([folder], tmp_path / "page", pictures=False).read_text()
    head = page[: page.index("<dl>")]
    places = [head.index(f"k = {value}</th>") for value in (2, 8, 32)]
    assert places == sorted(places)
    assert head.index(">DCTCP</th>") < head.index(">XMP</th>")
    assert "paired by seed (3 seeds; 95 % intervals" in head


def test_charts_of_single_variants_show_a_few_values(tmp_path: Path) -> None:
    results = pathweave.sweep(
        write(tmp_path, SCHEMES),
        {"fabric.queue.mark.k": {"from": 2, "to": 40, "step": 2}},
        seeds=1,
        out=tmp_path / "results",
        progress=False,
    )
    found = figures_of(results)
    assert rows_of(found["mean-goodput-flows-over-k"]).height == 40
    shown = found["goodput-by-flow"]
    assert len(shown.chart["facet"]["sort"]) == 6
    assert "Of 20 values of k: 2, 10, 18, 24, 32 and 40." in shown.caption
    ticks = encodings(found["mean-goodput-flows-over-k"].chart)[0]["x"]["axis"]["values"]
    assert (ticks[0], ticks[-1]) == (2, 40)
    assert len(ticks) <= 14
    page = build_report([tmp_path / "results"], tmp_path / "page", pictures=False).read_text()
    assert "<details><summary>Flows of &#34;flows&#34;: 20 parts</summary>" in page


SWEPT = Sweep("load", ("traffic.web.load",), {"0.2": 0.2, "0.4": 0.4, "0.6": 0.6, "0.8": 0.8})
COSTS = Costs(None, None, None, None, None, None, None)


def ranking(values: Mapping[str, Mapping[str, Sequence[float]]], *, larger: bool) -> Ranking:
    """A ranking of made-up values by scheme and load; the first scheme is the baseline."""
    subject = Measure("goodput" if larger else "fct", "mean", "web")
    baseline = next(iter(values))
    standings: list[Standing] = []
    for scheme, line in values.items():
        for load, numbers in line.items():
            own = dict(enumerate(numbers, start=1))
            label = f"{scheme}, load = {load}"
            axes = {"scheme": scheme, "load": load}
            standings.append(
                Standing(label, scheme, f"load = {load}", own, False, 0.0, COSTS, axes=axes)
            )
    differences = {
        each.label: paired_difference(
            each.values, dict(enumerate(values[baseline][each.axes["load"]], start=1))
        )
        for each in standings
        if each.name != baseline
    }
    decided = dict(
        zip(differences, verdicts(list(differences.values()), larger, 0.05), strict=True)
    )
    judged = [
        Standing(
            **{
                **vars(each),
                "difference": differences.get(each.label),
                "verdict": decided.get(each.label),
            }
        )
        for each in standings
    ]
    return Ranking(subject, "scheme", baseline, tuple(judged), (), (SWEPT,), SWEPT)


def noisy(mean: float) -> list[float]:
    return [mean * factor for factor in (0.9, 1.0, 1.1, 0.95, 1.05)]


def near(mean: float) -> list[float]:
    """Paired with `noisy` of the same mean, of which it differs by very little and not by sign."""
    return [
        value * factor
        for value, factor in zip(noisy(mean), (1.001, 0.999, 1, 1.001, 0.999), strict=True)
    ]


def test_sentences_say_where_a_variant_is_better() -> None:
    base = {"0.2": noisy(1e-3), "0.4": noisy(2e-3), "0.6": noisy(3e-3), "0.8": noisy(4e-3)}
    other = {
        "0.2": [0.8 * value for value in base["0.2"]],
        "0.4": [0.9 * value for value in base["0.4"]],
        "0.6": near(3e-3),
        "0.8": [1.5 * value for value in base["0.8"]],
    }
    found = sentences(ranking({"DCTCP": base, "XMP": other}, larger=False))
    assert found == [
        (
            'XMP completes flows of "web" 50 ± 5 % later than DCTCP (mean) at load = 0.8, where'
            " they differ most; it is better at load = 0.2 and 0.4, worse at load = 0.8 and not"
            " told apart at load = 0.6."
        ),
        (
            'All have their smallest mean flow completion time of "web" at load = 0.2, the smallest'
            " value of the sweep."
        ),
    ]


def test_sentences_say_which_value_is_best() -> None:
    base = {"0.2": noisy(4e8), "0.4": noisy(6e8), "0.6": near(6e8), "0.8": noisy(5e8)}
    other = {"0.2": noisy(4e8), "0.4": noisy(5e8), "0.6": noisy(6e8), "0.8": noisy(7e8)}
    made = ranking({"DCTCP": base, "XMP": other}, larger=True)
    best = [text for text in along(made) if "has its" in text]
    assert len(best) == 2
    assert best[0].startswith('DCTCP has its largest mean goodput of "web" at load = 0.')
    assert best[0].endswith("cannot be told from it.")
    assert "load = 0.8, the largest value of the sweep: 700 ± 6" in best[1]
    assert best[1].endswith("Mbps.")


def test_neighbours_are_named_together() -> None:
    known = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]
    assert values_text(SWEPT, ["0.1", "0.2", "0.3", "0.6"], known) == "load = 0.1 to 0.3 and 0.6"
    assert values_text(SWEPT, ["0.1", "0.3", "0.5"], known) == "load = 0.1, 0.3 and 0.5"
    assert values_text(SWEPT, known, known) == "every load"


def test_what_a_folder_says_of_sweeps_is_checked(swept: pathweave.Results, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(swept.scenarios[0].folder, copy)
    about = json.loads((copy / "scenario.json").read_text())
    about["sweeps"][0]["values"] = [["2", "two"]]
    (copy / "scenario.json").write_text(json.dumps(about))
    found = pathweave.load(copy)
    assert isinstance(found.scenarios[0], StoredScenario)
    assert found.sweeps == {}
    assert found.runs.height == 18


ROOT = Path(__file__).parent.parent
DOCUMENTATION = (ROOT / "docs/sweeps.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENTATION, flags=re.DOTALL)


def test_the_documentation_shows_what_the_example_makes() -> None:
    example = "examples/load-sweep.toml"
    assert any(block in (ROOT / example).read_text() for block in blocks("toml"))
    done = real(ROOT, "check", example)
    # How many of the runs are there already depends on the checkout's results.
    said = [re.sub(r"; .*already", "", line.rstrip()) for line in done.stdout.splitlines()]
    assert "\n".join(said) + "\n" in blocks("text")


def test_what_the_documentation_writes_is_sound(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    example = (ROOT / "examples/load-sweep.toml").read_text()
    start = example[: example.index("\n[variants")]
    rest = [block for block in blocks("toml") if block not in example]
    assert len(rest) == 4
    for block in rest:
        read = core().load_text(f"{start}\n{block}", "x", ".", None, [], [], None)
        assert len(read.variants) == math.prod(len(names) for names in read.axes.values())
    (code,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102 - it is ours
    assert found["results"].runs.height == 3 * 2 * 2 * 2
    assert found["sweep"].values == {"0.4": 0.4, "0.8": 0.8}
