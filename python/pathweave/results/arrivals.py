"""Flows that start while others are under way, and the rates of all of them from then on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.basertt import largest_base_rtt_s
from pathweave.results.units import amount

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

HOLD = 10
"""Bins for which flows have to stay near their share: one that ends sooner had no time for it."""
_EXACT = 1e-6
"""Times that differ by this part of an interval are the same: they are sums of intervals."""


@dataclass(frozen=True)
class Arrival:
    """A flow that starts while others are under way, until the next flow starts or one ends.

    A flow that ends within `HOLD` bins of that start made way: it is not under way.
    """

    flow: int
    name: str
    group: str
    start_s: float
    bin_s: float
    """The length of the bins."""
    times: Sequence[float]
    """Their ends (s)."""
    rates: Sequence[Sequence[float]]
    """By bin, the rate of each flow under way (bit/s); empty where one has no recorded rates."""
    packets: Sequence[float]
    """By flow, the rate of one packet a bin (bit/s)."""
    own: int
    """Which of the flows it is that starts."""


def arrivals(run: StoredRun) -> list[Arrival] | None:
    """Those of a run, by their starts; None without recorded rates or base RTT."""
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    base_rtt_s = largest_base_rtt_s(run)
    if base_rtt_s is None:
        return None
    interval_s = amount(run.manifest["resolved"]["record"]["rates"])
    count = intervals_in_bin(interval_s, base_rtt_s)
    bin_s = count * interval_s
    payload = {
        str(group["name"]): 8 * amount(group["transport"]["maximum_segment"])
        for group in run.manifest["resolved"]["traffic"]
    }
    rates = whole_intervals(run.read("rates"), interval_s)
    rates = rates.group_by("flow", "time_s").agg(pl.col("rate_bps").sum())
    flows = run.read("flows", ["id", "name", "group", "start_s", "end_s"]).sort("start_s", "id")
    flows = flows.with_columns(pl.col("end_s").fill_null(math.inf))
    starts, ends = flows["start_s"].to_list(), flows["end_s"].to_list()
    found: list[Arrival] = []
    for flow, name, group, start_s, _ in flows.rows():
        stays_s = start_s + HOLD * bin_s
        here = flows.filter((pl.col("start_s") <= start_s) & (pl.col("end_s") > stays_s))
        if not (here["start_s"] < start_s).any() or flow not in here["id"]:
            continue
        later = [each for each in starts if each > start_s]
        until_s = min([*later, *(each for each in ends if each > stays_s)], default=math.inf)
        ids: list[int] = here["id"].to_list()
        inside = rates.filter(
            pl.col("flow").is_in(ids)
            & (pl.col("time_s") > start_s + _EXACT * interval_s)
            & (pl.col("time_s") <= until_s + _EXACT * interval_s)
        )
        times, means = _binned(inside, ids, interval_s, count)
        found.append(
            Arrival(
                flow=flow,
                name=name,
                group=group,
                start_s=start_s,
                bin_s=bin_s,
                times=times,
                rates=means,
                packets=[payload[each] / bin_s for each in here["group"]],
                own=ids.index(flow),
            )
        )
    return found


def by_arrival(
    run: StoredRun, column: str, seconds: Callable[[Arrival], float | None]
) -> pl.DataFrame | None:
    """One row per arrival: flow, name, group, start_s, and what `seconds` gives for it in `column`.

    None without recorded rates or base RTT.
    """
    import polars as pl

    found = arrivals(run)
    if found is None:
        return None
    rows = [(each.flow, each.name, each.group, each.start_s, seconds(each)) for each in found]
    schema = {"flow": pl.Int64, "name": pl.String, "group": pl.String}
    return pl.DataFrame(
        rows, schema={**schema, "start_s": pl.Float64, column: pl.Float64}, orient="row"
    )


def intervals_in_bin(interval_s: float, base_rtt_s: float) -> int:
    """How many recorded intervals make the shortest bin that is a base RTT at least."""
    return max(1, math.ceil(base_rtt_s / interval_s * (1 - _EXACT)))


def whole_intervals(rates: pl.DataFrame, interval_s: float) -> pl.DataFrame:
    """The rows of `rates` without those of the last interval, if the end of the run cut it short.

    Its rates are right, but where intervals count alike it would weigh too much.
    """
    import polars as pl

    ends: list[float] = rates["time_s"].unique().sort().to_list()
    if not ends or ends[-1] - ([0.0, *ends][-2]) > 0.999 * interval_s:
        return rates
    return rates.filter(pl.col("time_s") < ends[-1])


def _binned(
    rates: pl.DataFrame, flows: Sequence[int], interval_s: float, count: int
) -> tuple[list[float], list[tuple[float, ...]]]:
    """Ends of the bins of `count` intervals, and the mean rate of each flow in them.

    The first bin begins with the first interval. Intervals at the end that fill no bin are left
    out. Nothing where a flow has no rates.
    """
    import polars as pl

    if set(rates["flow"].unique()) != set(flows):
        return [], []
    first = float(rates["time_s"].min())  # pyright: ignore[reportArgumentType]
    place = ((pl.col("time_s") - first) / interval_s).round().cast(pl.Int64) // count
    bins = (
        rates.pivot(on="flow", index="time_s", values="rate_bps")
        .fill_null(0.0)
        .group_by(place.alias("bin"))
        .agg(pl.col("time_s").max(), pl.len().alias("intervals"), pl.col(*map(str, flows)).mean())
        .filter(pl.col("intervals") == count)
        .sort("bin")
    )
    return bins["time_s"].to_list(), bins.select(*map(str, flows)).rows()
