"""Time to fair share, against rates written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from pathweave.results.convergence import (
    convergence,
    seconds,
    time_to_fair_share,
    whole_intervals,
)

if TYPE_CHECKING:
    from pathweave.results.read import StoredRun

HALF, UNFAIR = (5.0, 5.0), (7.0, 3.0)


def measured(rates: list[tuple[float, float]]) -> float | None:
    """With bins of a second, the first one beginning with the flow."""
    return time_to_fair_share([10.0 + n for n in range(1, len(rates) + 1)], rates, 10.0, 1.0)


def test_counts_to_the_beginning_of_the_first_fair_bin() -> None:
    assert measured([UNFAIR] * 4 + [HALF] * 20) == pytest.approx(4.0)
    assert measured([HALF] * 20) == 0.0


def test_ten_bins_in_a_row() -> None:
    assert measured([HALF] * 9 + [UNFAIR] + [HALF] * 20) == pytest.approx(10.0)
    assert measured([HALF] * 9) is None
    assert measured([UNFAIR] * 40) is None
    assert measured([]) is None


def test_the_fair_share_is_what_flows_have_in_the_end() -> None:
    # Fair is 5 each: 5.4 and 4.6 are within a tenth, 5.6 and 4.4 are not.
    assert measured([(5.4, 4.6)] * 10 + [HALF] * 20) == 0.0
    assert measured([(5.6, 4.4)] * 10 + [HALF] * 20) == pytest.approx(10.0)
    # Both have twice as much until half the time is over.
    assert measured([(10.0, 10.0)] * 15 + [HALF] * 15) == pytest.approx(15.0)


@dataclass
class Run:
    """As much of a stored run as is read."""

    folder: Path
    manifest: dict[str, Any]
    tables: tuple[str, ...]

    def read(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / f"{name}.parquet")


def stored(folder: Path, rates: list[tuple[float, int, float]], starts: list[float]) -> StoredRun:
    pl.DataFrame(rates, schema=["time_s", "flow", "rate_bps"], orient="row").write_parquet(
        folder / "rates.parquet"
    )
    flows = [(n, f"Flow {n + 1}", "flows", start) for n, start in enumerate(starts)]
    pl.DataFrame(flows, schema=["id", "name", "group", "start_s"], orient="row").write_parquet(
        folder / "flows.parquet"
    )
    manifest = {"resolved": {"record": {"rates": "100 ms"}}}
    return cast("StoredRun", Run(folder, manifest, ("flows", "rates")))


def test_each_later_flow_has_a_row(tmp_path: Path) -> None:
    # The second flow comes after 2 s and has its half after 0.3 s; the third comes after 4 s and
    # never has anything. Subflows of a flow count together.
    rates = [(n / 10, 0, 6.0) for n in range(1, 21)]
    for n in range(21, 61):
        rates += [(n / 10, 0, 3.0)]
        if n > 23:
            rates += [(n / 10, 1, 1.0), (n / 10, 1, 2.0)]
    table = convergence(stored(tmp_path, rates, [0.0, 2.0, 4.0]))
    assert table is not None
    assert table["name"].to_list() == ["Flow 2", "Flow 3"]
    assert table["time_to_fair_share_s"].to_list() == [pytest.approx(0.3), None]


def test_an_interval_that_the_end_of_the_run_cut_short_does_not_count(tmp_path: Path) -> None:
    rates = [(n / 10, 0, 6.0) for n in range(1, 21)]
    for n in range(21, 41):
        rates += [(n / 10, 0, 3.0), (n / 10, 1, 3.0)]
    short = [(4.01, 0, 60.0), (4.01, 1, 0.0)]
    for ends in ([], short):
        table = convergence(stored(tmp_path, rates + ends, [0.0, 2.0]))
        assert table is not None
        assert table["time_to_fair_share_s"].to_list() == [pytest.approx(0.0)]
    frame = pl.DataFrame(rates + short, schema=["time_s", "flow", "rate_bps"], orient="row")
    assert whole_intervals(frame, 0.1)["time_s"].max() == 4.0
    assert whole_intervals(frame[:1], 0.1).height == 1
    assert whole_intervals(frame[:1], 0.2).height == 0
    assert whole_intervals(frame[:0], 0.1).height == 0


def test_without_rates_there_is_no_table(tmp_path: Path) -> None:
    run = stored(tmp_path, [(0.1, 0, 1.0)], [0.0])
    cast("Run", run).tables = ("flows",)
    assert convergence(run) is None


def test_times_are_read() -> None:
    assert [seconds("600 us"), seconds("1 ms"), seconds("0.25 s")] == [6e-4, 1e-3, 0.25]
    with pytest.raises(ValueError, match="not a time"):
        seconds("on-change")
