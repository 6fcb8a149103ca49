"""How far the recorded rates of flows swing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.checks.series import phases_s, with_flows

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun


def rate_ranges(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow and phase, and one per flow for the whole run, with an empty phase.

    Columns: flow, name, group, phase, range_bps: the largest recorded rate less the smallest, all
    subflows of the flow together. Intervals in which a flow delivered nothing before it began or
    after it ended have no rows.
    """
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    rates = (
        run.read("rates")
        .group_by("flow", "time_s", maintain_order=True)
        .agg(pl.col("rate_bps").sum())
        .sort("flow", "time_s")
    )
    spans = {"": (float("-inf"), float("inf")), **phases_s(run)}
    parts = [
        rates.filter((pl.col("time_s") > begin) & (pl.col("time_s") <= end))
        .group_by("flow", maintain_order=True)
        .agg(range_bps=pl.col("rate_bps").max() - pl.col("rate_bps").min())
        .with_columns(phase=pl.lit(phase))
        for phase, (begin, end) in spans.items()
    ]
    return with_flows(run, pl.concat(parts))
