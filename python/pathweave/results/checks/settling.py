"""How long a subflow's congestion window takes to where it stays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.checks.series import with_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

_FEWEST = 4
"""Samples that it takes to say where a window stays."""


def settling_s(times: Sequence[float], windows: Sequence[float], begin_s: float) -> float | None:
    """Seconds from `begin_s` until the window first is within its later range.

    That is at most the mean and a standard deviation of the later half of the samples. None for
    fewer than four samples.
    """
    if len(times) < _FEWEST:
        return None
    half = (times[0] + times[-1]) / 2
    late = [window for time, window in zip(times, windows, strict=True) if time >= half]
    mean = math.fsum(late) / len(late)
    spread = math.sqrt(math.fsum((window - mean) ** 2 for window in late) / max(1, len(late) - 1))
    first = next(
        time for time, window in zip(times, windows, strict=True) if window <= mean + spread
    )
    return first - begin_s


def window_settling(run: StoredRun) -> pl.DataFrame | None:
    """One row per subflow and flow that starts while it is under way.

    Columns: flow, name, group, subflow, after (the name of the flow that starts), settling_s: from
    that start until the subflow's window has fallen to where it stays before the next flow starts
    or one ends. One that ends before there are four samples made way for the flow that starts.
    Source: the AMP paper, section 5.2 on Figure 11.
    """
    import polars as pl

    if not {"windows", "flows"} <= set(run.tables):
        return None
    flows = run.read("flows", ["id", "name", "start_s", "end_s"]).sort("start_s", "id")
    windows = with_flows(run, run.read("windows", ["time_s", "flow", "subflow", "window_packets"]))
    starts, ends = flows["start_s"].to_list(), flows["end_s"].drop_nulls().to_list()
    samples: list[float] = windows["time_s"].unique().sort().to_list()
    rows: list[dict[str, object]] = []
    for after, begin in flows.select("name", "start_s").iter_rows():
        stays = [time for time in samples if time >= begin][:_FEWEST]
        later = [start for start in starts if start > begin]
        later += [end for end in ends if stays and end > stays[-1]]
        end = min(later, default=math.inf)
        older = flows.filter(pl.col("start_s") < begin)["id"].implode()
        own = windows.filter(
            (pl.col("time_s") >= begin) & (pl.col("time_s") < end) & pl.col("flow").is_in(older)
        )
        keys = ("flow", "name", "group", "subflow")
        for values, part in own.group_by(*keys, maintain_order=True):
            found = settling_s(part["time_s"].to_list(), part["window_packets"].to_list(), begin)
            about = dict(zip(keys, values, strict=True))
            rows.append({**about, "after": after, "settling_s": found})
    text = {"name": pl.String, "group": pl.String, "after": pl.String}
    return pl.DataFrame(
        rows,
        schema={"flow": pl.Int64, "subflow": pl.Int64, **text, "settling_s": pl.Float64},
    )
