"""How often a flow's further subflows are suspended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.checks.series import with_flows

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun


def suppression_episodes(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow with several subflows.

    Columns: flow, name, group, episodes: how often the flow's controller begins to suspend further
    subflows, which are all but the first. An episode lasts until none of them is suspended, so a
    subflow that opens meanwhile and is suspended too begins no other one. Source: the AMP paper,
    Figure 7.
    """
    import polars as pl

    if not {"suspensions", "subflows", "flows"} <= set(run.tables):
        return None
    further = pl.col("subflow") > 0
    change = pl.when("suspended").then(1).otherwise(-1)
    begun = (pl.col("suspended_now") > 0) & (pl.col("suspended_before") == 0)
    episodes = (
        run.read("suspensions")
        .filter(further)
        .group_by("flow", "time_s")
        .agg(change=change.sum())
        .sort("flow", "time_s")
        .with_columns(suspended_now=pl.col("change").cum_sum().over("flow"))
        .with_columns(suspended_before=pl.col("suspended_now") - pl.col("change"))
        .group_by("flow")
        .agg(episodes=begun.sum())
    )
    several = run.read("subflows", ["flow", "subflow"]).filter(further).select("flow").unique()
    counted = several.sort("flow").join(episodes, on="flow", how="left", maintain_order="left")
    return with_flows(run, counted.with_columns(pl.col("episodes").fill_null(0)))
