"""What the value of a run is: one definition for all tables, and a name for each population."""

from __future__ import annotations

import io
import json
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import pathweave
from conftest import real
from pathweave.cli.console import SCHEMA
from pathweave.cli.tables import print_results
from pathweave.errors import InputError
from pathweave.report.build import build_report
from pathweave.results.completion import Completion
from pathweave.results.export import choose
from pathweave.results.measures import Measure, Population, Value, of_completion, parse_measure
from pathweave.results.merit import rankings
from pathweave.results.sizes import CLASSES, SHORT, Sizes
from pathweave.running.until import parse_target

DOCS = Path(__file__).parent.parent / "docs" / "results.md"

SCENARIO = """
title = "A fabric that is stopped while flows are under way"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "1 Gbps"
uplink_rate = "1 Gbps"
host_delay = "2 us"
uplink_delay = "5 us"
queue = { limit = 100, mark = { kind = "step", k = 10 } }

[[traffic]]
name = "bg"
pattern = "random"
size = { kind = "uniform", min = "20 KB", max = "2 MB" }
controller = "dctcp"

[measure]
from = "5 ms"
to = "25 ms"

[stop]
at = "30 ms"

[report]
baseline = "DCTCP"

[variants.scheme."DCTCP"]

[variants.scheme."XMP-2"]
"traffic.bg.controller" = "xmp"
"traffic.bg.subflows" = 2
"""

EXPECTED = """
[small]

[[small.number]]
quantity = "goodput"
where = { group = "bg", end = "finished" }
unit = "Mbps"
source = "Table 1"
axes = ["scheme"]
values = { DCTCP = 400, "XMP-2" = 500 }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> pathweave.Results:
    folder = tmp_path_factory.mktemp("measures")
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "expected.toml").write_text(EXPECTED)
    return pathweave.run(folder / "small.toml", seeds=3, out=folder / "results")


def captions(page: str) -> list[str]:
    return [
        " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())
        for text in re.findall(r"<caption>(.*?)</caption>", page, re.DOTALL)
    ]


def test_two_populations_on_one_page_have_two_names(
    results: pathweave.Results, tmp_path: Path
) -> None:
    (scenario,) = results.scenarios
    page = build_report([scenario.folder], tmp_path, pictures=False).read_text()
    ranked = next(text for text in captions(page) if text.startswith("Mean goodput"))
    published = next(text for text in captions(page) if "(published)" in text)
    assert "Over all flows of the window" in ranked
    assert "Goodput of finished flows" in published
    assert "Over finished flows of the window" in published
    console = Console(file=io.StringIO(), width=110)
    print_results(console, scenario)
    printed = " ".join(console.file.getvalue().split())  # pyright: ignore[reportAttributeAccessIssue]
    assert "Over all flows of the window" in printed
    assert "Goodput of finished flows" in printed


def test_each_population_has_the_value_of_its_definition(results: pathweave.Results) -> None:
    (scenario,) = results.scenarios
    (ranking,) = rankings(scenario)
    flows = pl.concat(
        pl.read_parquet(run.folder / "flows.parquet").with_columns(
            scheme=pl.lit(run.axes["scheme"]), seed=pl.lit(run.seed)
        )
        for run in scenario.runs
    ).filter(pl.col("in_window"))
    done = flows.filter(pl.col("end") == "finished")
    assert 0 < done.height < flows.height
    published = results.published()
    for scheme in ("DCTCP", "XMP-2"):
        (standing,) = (each for each in ranking.standings if each.name == scheme)
        (row,) = published.filter(pl.col("scheme") == scheme).iter_rows(named=True)
        every, finished = (
            frame.filter(pl.col("scheme") == scheme)
            .group_by("seed")
            .agg(pl.col("goodput_bps").mean())["goodput_bps"]
            .mean()
            for frame in (flows, done)
        )
        assert standing.mean == pytest.approx(every)
        assert isinstance(finished, float)
        assert row["ours"] == pytest.approx(finished / 1e6)
        assert row["ours"] != pytest.approx(standing.mean / 1e6)  # pyright: ignore[reportOptionalOperand]
        summary = results.summary().filter(pl.col("variant") == scheme)
        assert summary["goodput_mean_bps"].item() == pytest.approx(every)


def test_every_table_of_the_report_names_its_population(
    results: pathweave.Results, tmp_path: Path
) -> None:
    page = build_report([results.scenarios[0].folder], tmp_path, pictures=False).read_text()
    for caption in captions(page):
        assert "Over " in caption, caption


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("p99 slowdown of bg under 100 KB", Measure("slowdown", "p99", "bg", SHORT)),
        ("p95 slowdown from 10 KB to 100 KB", Measure("slowdown", "p95", "", Sizes(1e4, 1e5))),
        ("mean fct of bg from 10 MB", Measure("fct", "mean", "bg", Sizes(1e7))),
        ("goodput of a from 1 to 2", Measure("goodput", "mean", "a from 1 to 2")),
    ],
)
def test_a_quantity_may_have_a_range_of_flow_sizes(text: str, measure: Measure) -> None:
    found = parse_measure(text, ["bg", "a from 1 to 2"])
    assert found == measure
    assert parse_measure(found.written, ["bg", "a from 1 to 2"]) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99 slowdown of bg below 100 KB", 'write "under 100 KB", "from 100 KB to 1 MB" or'),
        ("p99 slowdown of bg under 100 kilobytes", 'write "under 100 KB"'),
        ("p99 slowdown of bg from 1 MB to 1 KB", "no flow size is in"),
        ("mean queue under 100 KB", "queue is not of flows with a size"),
        ("p99 slowdown of web under 100 KB", 'no traffic group "web"'),
    ],
)
def test_a_wrong_range_of_flow_sizes_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_measure(text, ["bg"])


@pytest.mark.parametrize("sizes", CLASSES.values(), ids=list(CLASSES))
@pytest.mark.parametrize("statistic", ["mean", "median", "p95", "p99"])
def test_slowdowns_of_a_class_count_unfinished_flows_at_their_age(
    results: pathweave.Results, sizes: Sizes, statistic: str
) -> None:
    run = results.stored[0]
    flows = pl.read_parquet(run.folder / "flows.parquet").filter(
        pl.col("in_window")
        & (pl.col("size_bytes") >= max(sizes.least, 1))
        & (pl.col("size_bytes") < sizes.below)
    )
    done = flows.filter(pl.col("end") == "finished")
    left = flows.filter(pl.col("end") != "finished")
    completion = Completion(
        tuple(done["fct_s"] / done["fct_ideal_s"]),
        tuple((run.ended_s - left["start_s"]) / left["fct_ideal_s"]),
    )
    found = Measure("slowdown", statistic, "bg", sizes).of(run)
    assert found == of_completion(completion, statistic)
    if statistic == "p99" and left.height and not done.is_empty():
        assert found is not None
        assert found.at_least


def test_a_class_of_flow_sizes_goes_wherever_a_quantity_does(
    results: pathweave.Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "median slowdown of bg from 100 KB"
    (scenario,) = results.scenarios
    values = results.values(text)
    assert values["seed"].to_list() == [run.seed for run in scenario.runs]
    assert values["over"].unique().item() == (
        "all flows from 100 KB of the window, unfinished ones at their age"
    )
    (ranking,) = rankings(scenario, asked=[parse_measure(text, ["bg"])])
    for standing in ranking.standings:
        own = values.filter(pl.col("variant") == standing.name)
        assert dict(zip(own["seed"], own["value"], strict=True)) == standing.values
    assert choose(results, "", [], text).frames().__next__().height == len(scenario.runs)
    assert parse_target(f"{text} = 5 %", ["bg"]).subject == ranking.subject
    for k in (10, 20):
        (tmp_path / "other.toml").write_text(SCENARIO.replace("k = 10", f"k = {k}"))
        pathweave.run(tmp_path / "other.toml", seeds=3, out=tmp_path / str(k))
    sides = tmp_path / "10" / "other" / "quick", tmp_path / "20" / "other" / "quick"
    count = "mean goodput of bg from 100 KB"
    changes = pathweave.compare(*sides, quantities=[count])
    assert {each.metric.sizes for each in changes.changes} == {"from 100 KB"}
    ours = pathweave.load(sides[0]).values(count).filter(pl.col("variant") == "DCTCP")
    assert changes.changes[0].before == pytest.approx(ours["value"].mean())
    with pytest.raises(InputError, match="only a lower bound"):
        pathweave.compare(*sides, quantities=["p99 slowdown of bg from 100 KB"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_scenario_with_a_wrong_range_is_refused_with_its_line(
    command: str, tmp_path: Path
) -> None:
    wrong = SCENARIO.replace("[report]", '[report]\nquantity = "p99 slowdown of bg below 1 KB"')
    (tmp_path / "wrong.toml").write_text(wrong)
    line = wrong.splitlines().index('quantity = "p99 slowdown of bg below 1 KB"') + 1
    done = real(tmp_path, command, "wrong.toml")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert f"wrong.toml:{line}: report.quantity" in said
    assert "under 100 KB" in said


def test_documents_for_programs_have_the_version_of_their_keys(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO)
    done = real(tmp_path, "check", "small.toml", "--json")
    assert next(iter(json.loads(done.stdout).items())) == ("schema", SCHEMA)


def test_the_docs_list_every_table_with_its_population(
    results: pathweave.Results, tmp_path: Path
) -> None:
    """docs/results.md names each table of a report, by the beginning of its caption."""
    page = build_report([results.scenarios[0].folder], tmp_path, pictures=False).read_text()
    listed = DOCS.read_text().partition("## Tables of the report")[2].partition("\n## ")[0]
    known = [row.split("|")[1].strip() for row in listed.splitlines() if row.startswith("| ")][1:]
    for caption in captions(page):
        assert any(caption.startswith(name.split(" *")[0]) for name in known), caption
    for name in ("Jobs", "Collectives", "Recovery time", "Share of the optimum", "Mean queues"):
        assert any(each.startswith(name) for each in known), name


def test_a_mean_of_finished_flows_is_asked_for_by_name() -> None:
    measure = Measure("goodput", "mean", "bg", population=Population.FINISHED)
    assert measure.text == 'mean goodput of finished flows of "bg"'
    assert Measure("goodput", "mean", "bg").text == 'mean goodput of "bg"'


def test_a_mean_with_many_unfinished_is_a_lower_bound() -> None:
    completion = Completion((1.0, 2.0), (4.0, 5.0))
    assert of_completion(completion, "mean") == Value(3.0, at_least=True)
    assert of_completion(completion, "mean", few=True) == Value(1.5)
