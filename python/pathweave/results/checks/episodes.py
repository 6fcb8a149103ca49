"""How often a flow's further subflows fall silent together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.checks.series import with_flows

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.read import StoredRun


def silent_episodes(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow with several subflows.

    Columns: flow, name, group, episodes: how often all subflows but the first begin to deliver
    nothing for one interval of the recorded rates or more, as they do while AMP suppresses them.
    Before they have opened they are silent too: that is no episode. Silences shorter than an
    interval are missed. Source: the AMP paper, Figure 7.
    """
    import polars as pl

    if not {"rates", "flows"} <= set(run.tables):
        return None
    further = run.read("rates").filter(pl.col("subflow") > 0)
    silent = (
        further.group_by("flow", "time_s")
        .agg(silent=pl.col("rate_bps").sum() == 0)
        .sort("flow", "time_s")
        .with_columns(before=pl.col("silent").shift(1).over("flow"))
    )
    begun = pl.col("silent") & ~pl.col("before")
    episodes = silent.group_by("flow", maintain_order=True).agg(episodes=begun.sum())
    return with_flows(run, episodes)
