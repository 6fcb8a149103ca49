"""How long a subflow's congestion window takes to where it stays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.checks.series import with_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.read import StoredRun


def settling_s(times: Sequence[float], windows: Sequence[float], begin_s: float) -> float | None:
    """Seconds from `begin_s` until the window first is within its later range.

    That is at most the mean and a standard deviation of the later half of the samples. None for
    fewer than four samples.
    """
    if len(times) < 4:
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
    that start until the subflow's window has fallen to where it stays, up to the next start.
    Source: the AMP paper, section 5.2 on Figure 11.
    """
    import polars as pl

    if not {"windows", "flows"} <= set(run.tables):
        return None
    flows = run.read("flows", ["id", "name", "start_s"]).sort("start_s", "id")
    windows = with_flows(run, run.read("windows", ["time_s", "flow", "subflow", "window_packets"]))
    starts: list[tuple[int, str, float]] = flows.rows()
    rows: list[dict[str, object]] = []
    for place, (newcomer, after, begin) in enumerate(starts):
        end = starts[place + 1][2] if place + 1 < len(starts) else math.inf
        own = windows.filter(
            (pl.col("time_s") >= begin) & (pl.col("time_s") < end) & (pl.col("flow") != newcomer)
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
