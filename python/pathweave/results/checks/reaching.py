"""How long rates take to what they come to after a change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.checks.series import with_flows
from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

_NEAR = 0.1
"""How far from its final rate a subflow may be when it has reached it."""
_SHARE_NEAR = 0.2
"""The same of a flow that starts."""
_TOTAL_NEAR = 0.05
"""The same of all flows together."""
_AVERAGED = 5
"""Intervals over which the total is averaged."""


def reaching_s(
    times: Sequence[float], rates: Sequence[float], begin_s: float, near: float
) -> float | None:
    """Seconds from `begin_s` until a rate first is within a part `near` of what it comes to.

    That is its mean over the later half of the samples; it is reached from the side on which the
    first sample lies. None for fewer than four samples.
    """
    if len(times) < 4:
        return None
    half = (times[0] + times[-1]) / 2
    late = [rate for time, rate in zip(times, rates, strict=True) if time >= half]
    final = math.fsum(late) / len(late)
    rising = rates[0] < final
    for time, rate in zip(times, rates, strict=True):
        if rate >= (1 - near) * final if rising else rate <= (1 + near) * final:
            return time - begin_s
    return None


def rate_settling(run: StoredRun) -> pl.DataFrame | None:
    """One row per subflow and event of the scenario.

    Columns: flow, name, group, subflow, after (when the event is, as the scenario writes it:
    "5 s"), settling_s: from the event until the subflow's rate is within a tenth of what it comes
    to before the next event. Source: the EUTCP paper, Table 3.
    """
    import polars as pl

    events = sorted(
        {
            seconds(event["at"]): event["at"]
            for event in run.manifest["resolved"].get("events", [])
        }.items()
    )
    if not {"rates", "flows"} <= set(run.tables) or not events:
        return None
    rates = with_flows(run, run.read("rates")).sort("flow", "subflow", "time_s")
    rows: list[dict[str, object]] = []
    for place, (begin, after) in enumerate(events):
        end = events[place + 1][0] if place + 1 < len(events) else math.inf
        inside = rates.filter((pl.col("time_s") > begin) & (pl.col("time_s") <= end))
        keys = ("flow", "name", "group", "subflow")
        for values, part in inside.group_by(*keys, maintain_order=True):
            found = reaching_s(part["time_s"].to_list(), part["rate_bps"].to_list(), begin, _NEAR)
            about = dict(zip(keys, values, strict=True))
            rows.append({**about, "after": after, "settling_s": found})
    text = {"name": pl.String, "group": pl.String, "after": pl.String}
    return pl.DataFrame(
        rows, schema={"flow": pl.Int64, "subflow": pl.Int64, **text, "settling_s": pl.Float64}
    )


def start_settling(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that starts while others are under way.

    Columns: flow, name, group, settling_s: from its start until its rate, that of all its subflows
    together, first is within a fifth of what it comes to before another flow starts or ends.
    Source: the FMPTCP paper, Figure 6.
    """
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    flows = run.read("flows", ["id", "name", "group", "start_s", "end_s"]).sort("start_s", "id")
    rates = (
        run.read("rates")
        .group_by("flow", "time_s")
        .agg(pl.col("rate_bps").sum())
        .sort("flow", "time_s")
    )
    moments = sorted({*flows["start_s"], *flows["end_s"].drop_nulls()})
    rows: list[dict[str, object]] = []
    for number, name, group, begin in flows.select("id", "name", "group", "start_s").rows()[1:]:
        end = next((moment for moment in moments if moment > begin), math.inf)
        own = rates.filter(
            (pl.col("flow") == number) & (pl.col("time_s") > begin) & (pl.col("time_s") <= end)
        )
        times, values = own["time_s"].to_list(), own["rate_bps"].to_list()
        found = reaching_s(times, values, begin, _SHARE_NEAR)
        rows.append({"flow": number, "name": name, "group": group, "settling_s": found})
    text = {"name": pl.String, "group": pl.String}
    return pl.DataFrame(rows, schema={"flow": pl.Int64, **text, "settling_s": pl.Float64})


def total_rate_settling(run: StoredRun) -> pl.DataFrame | None:
    """One row: how long all flows together take to their rate.

    Column: settling_s, from the last flow's start until they have 95 % of what they come to, in
    averages over five intervals of the recorded rates. Source: the FMPTCP paper, Figure 13.
    """
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    begin = float(run.read("flows", ["start_s"])["start_s"].max())  # pyright: ignore[reportArgumentType]
    total = (
        run.read("rates")
        .group_by("time_s")
        .agg(pl.col("rate_bps").sum())
        .sort("time_s")
        .with_columns(pl.col("rate_bps").rolling_mean(_AVERAGED, min_samples=1))
        .filter(pl.col("time_s") > begin)
    )
    times, rates = total["time_s"].to_list(), total["rate_bps"].to_list()
    # The averages of the first intervals still hold what was before the flow began.
    found = reaching_s(times[_AVERAGED:], rates[_AVERAGED:], begin, _TOTAL_NEAR)
    return pl.DataFrame({"settling_s": [found]}, schema={"settling_s": pl.Float64})
