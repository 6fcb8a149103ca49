"""Collectives, recordings and their quantities from the command line's side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import pathweave
from conftest import real
from pathweave.errors import InputError
from pathweave.recordings import as_text
from pathweave.results.merit import rankings, subjects
from pathweave.solving.shares import collective_shares

if TYPE_CHECKING:
    from pathlib import Path

STAR = {
    "kind": "leaf-spine",
    "leaves": 1,
    "spines": 1,
    "hosts_per_leaf": 4,
    "host_rate": "10 Gbps",
    "host_delay": "1 us",
}
RING = {
    "name": "training",
    "pattern": "collective",
    "operation": "ring-all-reduce",
    "bytes": "400 KB",
    "iterations": 3,
    "compute": "50 us",
    "controller": "dctcp",
}


def scenario(**more: object) -> dict[str, object]:
    """One job of four ranks at one switch."""
    return {"title": "Ring", "jitter": "none", "fabric": STAR, "traffic": [RING], **more}


def test_bus_bandwidth_decides_and_follows_from_the_time(tmp_path: Path) -> None:
    variants = {"scheme": {"DCTCP": {}, "Reno": {"traffic.training.controller": "reno"}}}
    results = pathweave.run(scenario(variants=variants), out=tmp_path)
    stored = results.scenarios[0]
    assert [each.quantity for each in subjects(stored)] == ["bus_bandwidth"]
    rows = results.table("collectives")
    assert rows.height == 6
    bus = rows["bytes"] * 8 * 2 * 3 / 4 / rows["collective_s"]
    assert bus.to_list() == pytest.approx(rows["bus_bps"].to_list())
    assert (rows["iteration_s"] > rows["collective_s"]).all()
    (ranking,) = rankings(stored)
    means = {each.name: each.mean for each in ranking.standings}
    assert means["DCTCP"] == pytest.approx(
        rows.filter(pl.col("scheme") == "DCTCP")["bus_bps"].mean()
    )


TEXT = """
title = "Ring"
jitter = "none"
[fabric]
kind = "leaf-spine"
leaves = 1
spines = 1
hosts_per_leaf = 4
host_rate = "10 Gbps"
host_delay = "1 us"
[[traffic]]
name = "training"
pattern = "collective"
operation = "ring-all-reduce"
bytes = "400 KB"
iterations = 3
compute = "50 us"
controller = "dctcp"
"""


def test_the_optimum_is_a_bound_that_its_share_tells(tmp_path: Path) -> None:
    file = tmp_path / "ring.toml"
    file.write_text(TEXT)
    for words in (["run", "--optimum"], ["solve"]):
        done = real(tmp_path, *words, str(file))
        assert done.returncode == 0, done.stderr
    # 2 (n - 1) steps of a quarter of the buffer at the rate of a port that payload has.
    closed_form = 6 * 100_000 * 8 / (10e9 * 1448 / 1500)
    results = pathweave.load(tmp_path / "results" / "ring" / "quick")
    shares = results.table("optimum_collectives")
    assert shares["optimum_s"].to_list() == pytest.approx([closed_form] * 3, rel=1e-6)
    assert shares["share"].is_between(0.3, 1.0).all()
    own = results.table("collectives")["collective_s"]
    assert shares["share"].to_list() == pytest.approx((closed_form / own).to_list(), rel=1e-6)
    alone = pathweave.load(tmp_path / "results" / "ring" / "quick-optimum").table("collectives")
    assert alone["collective_s"].to_list() == pytest.approx([closed_form] * 3, rel=1e-6)
    assert alone["bus_bps"].to_list() == pytest.approx([10e9 * 1448 / 1500] * 3, rel=1e-6)


def test_what_did_not_finish_has_no_share() -> None:
    own = pl.DataFrame(
        {
            "group": ["g", "g"],
            "operation": ["all-gather", "all-gather"],
            "job": [0, 1],
            "team": [0, 0],
            "iteration": [0, 1],
            "in_window": [True, True],
            "collective_s": [2.0, float("nan")],
        }
    )
    optimal = pl.DataFrame({"group": ["g"], "team": [0], "iteration": [0], "collective_s": [1.0]})
    assert collective_shares(own, optimal)["share"].to_list() == [0.5, None]


def test_several_baselines_compare_several_axes(tmp_path: Path) -> None:
    variants = {
        "scheme": {"DCTCP": {}, "Reno": {"traffic.training.controller": "reno"}},
        "fabric": {"intact": {}, "slow": {"fabric.host_rate": "1 Gbps"}},
    }
    report = {"baseline": ["Reno", "intact"], "quantity": "mean collective_time"}
    results = pathweave.run(scenario(variants=variants, report=report), out=tmp_path)
    found = rankings(results.scenarios[0])
    assert [(each.axis, each.baseline) for each in found] == [
        ("scheme", "Reno"),
        ("fabric", "intact"),
    ]
    slow = [each for each in found[1].standings if each.name == "slow"]
    differences = [each.difference.mean for each in slow if each.difference is not None]
    assert len(differences) == 2
    assert all(mean is not None and mean > 0 for mean in differences)


FLOWS = pl.DataFrame(
    {
        "start": [0.0, 0.001],
        "source": ["h0", "h1"],
        "destination": ["h1", "h0"],
        "bytes": [64_000, 1_000_000],
        "id": ["request", "answer"],
        "after": [[], ["request"]],
    },
    schema_overrides={"after": pl.List(pl.String)},
)


def traced(file: str) -> dict[str, object]:
    """Recorded flows from a file."""
    group = {"name": "recorded", "pattern": "trace", "file": file, "controller": "dctcp"}
    return scenario(traffic=[group])


def test_parquet_and_comma_separated_values_are_the_same_run(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    FLOWS.write_parquet("flows.parquet")
    (tmp_path / "flows.csv").write_text(
        "start,source,destination,bytes,id,after\n"
        "0,h0,h1,64 KB,request,\n1 ms,h1,h0,1 MB,answer,request\n"
    )
    folder = tmp_path / "results"
    runs = [
        pathweave.run(traced(file), out=folder / file).stored[0]
        for file in ("flows.parquet", "flows.csv")
    ]
    assert len({run.manifest["hash"] for run in runs}) == 1


def test_parquet_times_may_be_durations(tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    frame = FLOWS.with_columns(start=pl.Series([0, 20]).cast(pl.Duration("us")))
    frame.write_parquet(file)
    lines = as_text(file).splitlines()
    assert lines[0] == "start,source,destination,bytes,id,after"
    assert lines[2] == "20000 ns,h1,h0,1000000,answer,request"


def test_parquet_with_other_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    FLOWS.rename({"bytes": "size"}).write_parquet(file)
    with pytest.raises(InputError, match='no column is called "size"'):
        as_text(file)
    file.write_bytes(b"no Parquet")
    with pytest.raises(InputError):
        as_text(file)
