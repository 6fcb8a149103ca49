"""What flows had beside what they could have had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

_WHOLE = ""
"""The `phase` of the measurement window as a whole."""

# A flow's goodput is over its whole life. Beside what a sample saw of it that means something when
# this share of its life was seen, or this many moments of it.
LEAST_SEEN = 0.5
LEAST_MOMENTS = 20


def is_seen_enough() -> pl.Expr:
    """Whether a row's flow can be held against its optimum, from columns seen and moments."""
    # A sum of times may be off in its last digits.
    return (pl.col("seen") > LEAST_SEEN * (1 - 1e-9)) | (pl.col("moments") >= LEAST_MOMENTS)


def subflow_shares(optimum: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Columns phase, flow, subflow, optimum_bps, goodput_bps."""
    had = tables["subflows"].select(pl.lit(_WHOLE).alias("phase"), "flow", "subflow", "goodput_bps")
    if "phase_subflows" in tables:
        had = pl.concat([had, tables["phase_subflows"]])
    return optimum.rename({"goodput_bps": "optimum_bps"}).join(
        had, on=["phase", "flow", "subflow"], how="left", maintain_order="left"
    )


def flow_shares(
    optimum: pl.DataFrame, subflows: pl.DataFrame, tables: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """The table `optimum`, of what was solved and what the flows had.

    `share` is goodput over optimum. `split_distance` is half the sum over subflows of the
    difference between the two splits: the part of the flow's traffic that would have to move to
    another subflow. It is null for a single subflow and where other splits are as good. Both are
    null for a flow of which a sample saw too little.
    """
    had = tables["flows"].select(
        pl.lit(_WHOLE).alias("phase"), pl.col("id").alias("flow"), "goodput_bps"
    )
    if "phases" in tables:
        had = pl.concat([had, tables["phases"]])
    key = ["phase", "flow"]
    part = pl.col("goodput_bps") / pl.col("goodput_bps").sum().over(key)
    best = pl.col("optimum_bps") / pl.col("optimum_bps").sum().over(key)
    distance = (
        subflows.with_columns((part - best).abs().alias("off"))
        .group_by(key, maintain_order=True)
        .agg((pl.col("off").sum() / 2).alias("split_distance"), pl.len().alias("subflows"))
    )
    several = (pl.col("subflows") > 1) & pl.col("split_distance").is_finite()
    known = pl.col("split_unique") & several & is_seen_enough()
    return (
        optimum.rename({"goodput_bps": "optimum_bps"})
        .join(had, on=key, how="left", maintain_order="left")
        .join(distance, on=key, how="left", maintain_order="left")
        .with_columns(
            pl.when((pl.col("optimum_bps") > 0) & is_seen_enough())
            .then(pl.col("goodput_bps") / pl.col("optimum_bps"))
            .alias("share"),
            pl.when(known).then(pl.col("split_distance")).alias("split_distance"),
        )
        .select(
            *key,
            "time_s",
            "seen",
            "moments",
            "optimum_bps",
            "goodput_bps",
            "share",
            "split_unique",
            "split_distance",
        )
    )


def collective_shares(own: pl.DataFrame, optimal: pl.DataFrame) -> pl.DataFrame:
    """Of each collective of a run, the time that it would take at optimal rates over its own.

    Columns: group, operation, job, team, iteration, in_window, collective_s, optimum_s, share; the
    last two are null where one of the two did not finish.
    """
    keys = ["group", "team", "iteration"]
    optimal = optimal.select(*keys, optimum_s=pl.col("collective_s").fill_nan(None))
    joined = own.join(optimal, on=keys, how="left", maintain_order="left")
    return joined.select(
        "group",
        "operation",
        "job",
        "team",
        "iteration",
        "in_window",
        "collective_s",
        "optimum_s",
        share=pl.col("optimum_s") / pl.col("collective_s").fill_nan(None),
    )
