"""Shares of max-min fair rates, against sums by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import run_here
from made_results import made_run
from pathweave.results.checks import max_min
from pathweave.results.checks.max_min import max_min_shares, max_min_totals, totals
from pathweave.results.published_measure import PublishedMeasure, Value
from pathweave.results.read import find_runs

if TYPE_CHECKING:
    from pathweave.results.runs import StoredRun

# "both" has a link of its own and shares the other one with "one", which leaves at half-time. Its
# own link is a fair rate for it while "one" is there, and both links are when it has left.
SCENARIO = """
title = "Two links"

[fabric]
kind = "parallel-paths"
pairs = 2
rates = ["1 Gbps", "1 Gbps"]
delays = "100 us"
host_rate = "10 Gbps"
host_delay = "10 us"

[routing]
kind = "pinned"

[[traffic]]
name = "multipath"
pattern = "flows"
size = "unlimited"
controller = "xmp"
flows = [{ name = "both", from = "S1", to = "D1", paths = [["A1", "B1"], ["A2", "B2"]] }]

[[traffic]]
name = "single path"
pattern = "flows"
size = "unlimited"
controller = "xmp"
flows = [{ name = "one", from = "S2", to = "D2", paths = [["A2", "B2"]], stop = "20 ms" }]

[stop]
at = "40 ms"

[measure.phases]
early = ["10 ms", "20 ms"]
late = ["25 ms", "40 ms"]
"""
GBPS = 1e9 * 1448 / 1500


def stored(folder: Path) -> StoredRun:
    (folder / "two.toml").write_text(SCENARIO)
    code, _, errors = run_here("run", str(folder / "two.toml"), "--out", str(folder / "results"))
    assert code == 0, errors
    (scenario,) = find_runs([folder / "results"])
    (run,) = scenario.runs
    return run


def test_fair_rates_change_when_a_flow_ends(tmp_path: Path) -> None:
    run = stored(tmp_path)
    table = max_min_shares(run)
    assert table is not None
    rates = {
        (name, phase): rate
        for name, phase, rate in table.select("name", "phase", "max_min_bps").rows()
    }
    assert rates["both", "early"] == pytest.approx(GBPS)
    assert rates["one", "early"] == pytest.approx(GBPS)
    assert rates["both", "late"] == pytest.approx(2 * GBPS)
    # The last packets of "one" arrive after its stop.
    start_s, end_s = run.read("flows").sort("id").select("start_s", "end_s").row(1)
    assert 20e-3 < end_s < 22e-3
    begin_s = run.read("flows").sort("id")["start_s"][0]
    alone = (start_s - begin_s) + (40e-3 - end_s)
    assert rates["both", ""] == pytest.approx(GBPS * (1 + alone / (40e-3 - begin_s)))
    assert rates["one", ""] == pytest.approx(GBPS)
    goodput = run.read("flows").filter(pl.col("name") == "both")["goodput_bps"].item()
    share = PublishedMeasure("max-min-share", where={"name": "both", "phase": ""}).of_run(run)
    assert share == Value(pytest.approx(goodput / rates["both", ""]))  # pyright: ignore[reportArgumentType]


def test_totals_of_groups(tmp_path: Path) -> None:
    run = stored(tmp_path)
    table = max_min_totals(run)
    assert table is not None
    early = table.filter(pl.col("phase") == "early")
    assert sorted(early["group"]) == ["", "multipath", "single path"]
    rates = run.read("phases").filter(pl.col("phase") == "early")
    everything = early.filter(pl.col("group") == "")
    assert everything["flows"].item() == 2
    share = float(rates["goodput_bps"].sum()) / (2 * GBPS)
    assert everything["share"].item() == pytest.approx(share, rel=1e-6)


def test_totals_are_of_traffic() -> None:
    """A flow of a tenth of the time counts a tenth; one that was not seen does not."""
    shares = pl.DataFrame(
        {
            "group": ["a", "a", "a", "b"],
            "phase": [""] * 4,
            "time_s": [10.0, 1.0, 5.0, 2.0],
            "max_min_bps": [4.0, 4.0, None, 6.0],
            "goodput_bps": [3.0, 8.0, 9.0, 3.0],
        }
    )
    found = {group: (flows, share) for group, _, flows, share in totals(shares).rows()}
    assert found == {
        "a": (2, pytest.approx(38 / 44)),
        "b": (1, pytest.approx(0.5)),
        "": (3, pytest.approx(44 / 56)),
    }


def test_a_run_is_solved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = stored(tmp_path)
    first = max_min_shares(run)
    assert first is not None
    with monkeypatch.context() as without:
        without.setattr(max_min, "along", None)
        assert first.equals(max_min_shares(run))  # pyright: ignore[reportArgumentType]
        assert max_min_totals(run) is not None
    (kept,) = run.folder.glob("max-min-*.parquet")
    kept.write_bytes(b"no table")
    assert first.equals(max_min_shares(run))  # pyright: ignore[reportArgumentType]
    # A run that took its place has a table of its own.
    run.manifest["results_hash"] = "0" * 64
    with monkeypatch.context() as without:
        without.setattr(max_min, "_solved", lambda _run: None)
        with pytest.raises(AttributeError):
            max_min_shares(run)


def test_without_the_scenario_there_are_no_shares(tmp_path: Path) -> None:
    run = stored(tmp_path)
    run.manifest["resolved"]["fabric"]["kind"] = "gone"
    assert max_min_shares(run) is None
    assert max_min_totals(run) is None
    assert max_min_totals(made_run(1, {})) is None
