"""How long flows take to fair shares when another starts, from the recorded rates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pathweave.results.units import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.read import StoredRun

HOLD = 10
"""Bins for which all flows stay near their share."""
NEAR = 0.1
"""Largest distance from the share, as a part of it."""
LATE = 0.1
"""Part of the time, at its end, in which the flows' mean rate is the fair share."""


def time_to_fair_share(
    times: Sequence[float], rates: Sequence[Sequence[float]], start_s: float, bin_s: float
) -> float | None:
    """Seconds from `start_s` to the first bin from which all flows stay near their share.

    `times` are the ends of bins of `bin_s` seconds after `start_s`; `rates` has the flows' rates in
    each. The fair share is what the flows have on average at the end of the time. None when they do
    not stay within a tenth of it for ten bins.
    """
    if not rates:
        return None
    late = rates[-max(1, round(LATE * len(rates))) :]
    fair = sum(sum(row) for row in late) / (len(late) * len(late[0]))
    near = [all(abs(rate - fair) <= NEAR * fair for rate in row) for row in rates]
    for first in range(len(near) - HOLD + 1):
        if all(near[first : first + HOLD]):
            return max(0.0, times[first] - bin_s - start_s)
    return None


def convergence(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that starts while others are under way; None without recorded rates.

    Columns: flow, name, group, start_s, time_to_fair_share_s, which is null when shares are not
    fair before the next flow starts, or the run ends. In bins of the scenario's `record.rates`.
    """
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    bin_s = seconds(run.manifest["resolved"]["record"]["rates"])
    flows = run.read("flows").sort("start_s", "id")
    recorded = (
        whole_intervals(run.read("rates"), bin_s)
        .group_by("time_s", "flow")
        .agg(pl.col("rate_bps").sum())
        .pivot(on="flow", index="time_s", values="rate_bps")
        .sort("time_s")
        .fill_null(0.0)
    )
    starts: list[float] = flows["start_s"].to_list()
    rows: list[dict[str, object]] = []
    for place in range(1, flows.height):
        under_way = flows[: place + 1]
        start = starts[place]
        end = starts[place + 1] if place + 1 < len(starts) else float("inf")
        bins = recorded.filter((pl.col("time_s") > start) & (pl.col("time_s") <= end))
        columns = [name for name in map(str, under_way["id"]) if name in bins.columns]
        rates = bins.select(columns).rows()
        found = None
        if len(columns) == under_way.height:
            found = time_to_fair_share(bins["time_s"].to_list(), rates, start, bin_s)
        about = under_way.row(-1, named=True)
        rows.append(
            {
                "flow": about["id"],
                "name": about["name"],
                "group": about["group"],
                "start_s": start,
                "time_to_fair_share_s": found,
            }
        )
    schema = {"flow": pl.Int64, "name": pl.String, "group": pl.String}
    numbers = {"start_s": pl.Float64, "time_to_fair_share_s": pl.Float64}
    return pl.DataFrame(rows, schema={**schema, **numbers})


def whole_intervals(rates: pl.DataFrame, interval_s: float) -> pl.DataFrame:
    """The rows of `rates` without those of the last interval, if the end of the run cut it short.

    Its rates are right, but where intervals count alike it would weigh too much.
    """
    import polars as pl

    ends: list[float] = rates["time_s"].unique().sort().to_list()
    if not ends or ends[-1] - ([0.0, *ends][-2]) > 0.999 * interval_s:
        return rates
    return rates.filter(pl.col("time_s") < ends[-1])


def seconds(text: str) -> float:
    """A time as the resolved scenario writes it: "600 us"."""
    found = re.fullmatch(r"([0-9.]+) ?([a-z]+)", text)
    if found is None:
        raise ValueError(f"not a time: {text}")
    return float(found[1]) * scale(found[2])
