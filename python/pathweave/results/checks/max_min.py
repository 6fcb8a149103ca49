"""What flows had as a share of max-min fair rates on their paths."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.checks.series import with_flows
from pathweave.results.replay import along, can_be_read
from pathweave.results.stored import read_table
from pathweave.results.wholefile import whole_file

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun

_LIMIT = 100
"""Intervals between changes that are solved for a run, evenly over time."""


def max_min_shares(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow of the measurement window, and per phase; the phase is empty for the window.

    Columns: flow, name, group, phase, time_s, max_min_bps, goodput_bps, share. `max_min_bps` is the
    mean, over the flow's time there, of its max-min fair rate: flows' rates, each the sum of its
    subflows', are as in `pathweave run --optimum --utility max-min`, for the flows under way. They
    are solved again whenever a flow starts or ends, of more than a hundred such intervals for a
    hundred, evenly over time. `share` is goodput over it, null for a flow of which these saw too
    little. None where the paths cannot be found again.

    The table takes seconds to solve, and is kept beside the run for the next time.
    """
    if not {"flows", "subflows"} <= set(run.tables):
        return None
    kept = run.folder / layout.table_file(f"max-min-{run.manifest['results_hash']}")
    with suppress(OSError, InputError):  # not there, or not one of ours
        return read_table(kept)
    if not can_be_read(run):
        return None
    shares = _solved(run)
    with suppress(OSError), whole_file(kept) as draft:  # results of others may be read-only
        shares.write_parquet(draft)
    return shares


def max_min_totals(run: StoredRun) -> pl.DataFrame | None:
    """One row per traffic group and phase.

    Columns: group (empty for all flows together), phase (empty for the measurement window), flows,
    share: the traffic of the flows over what it would have been at their max-min fair rates.
    """
    shares = max_min_shares(run)
    return None if shares is None else totals(shares)


def totals(shares: pl.DataFrame) -> pl.DataFrame:
    """The rows of `max_min_totals` from those of `max_min_shares`."""
    import polars as pl

    known = shares.drop_nulls(["max_min_bps", "goodput_bps"])
    had = (pl.col("goodput_bps") * pl.col("time_s")).sum()
    fair = (pl.col("max_min_bps") * pl.col("time_s")).sum()
    return (
        pl.concat([known.with_columns(group=pl.lit("")), known])
        .group_by("group", "phase", maintain_order=True)
        .agg(pl.len().alias("flows"), pl.when(fair > 0).then(had / fair).alias("share"))
    )


def _solved(run: StoredRun) -> pl.DataFrame:
    import polars as pl

    from pathweave.results.write import frame
    from pathweave.solving.allocator import Allocator
    from pathweave.solving.objective import parse
    from pathweave.solving.shares import flow_shares, subflow_shares

    allocator = Allocator(parse("max-min"), lambda _done, _time_s: None)
    allocator.begin()
    solved = along(run, allocator, _LIMIT)
    names = {"flows", "subflows", "phases", "phase_subflows"} & set(run.tables)
    tables = {name: run.read(name) for name in names}
    subflows = subflow_shares(frame(solved["optimum_subflows"]), tables)
    shares = flow_shares(frame(solved["optimum"]), subflows, tables)
    inside = run.read("flows", ["id", "in_window"]).filter("in_window")["id"]
    return with_flows(run, shares.filter(pl.col("flow").is_in(inside.implode()))).select(
        "flow",
        "name",
        "group",
        "phase",
        "time_s",
        pl.col("optimum_bps").alias("max_min_bps"),
        "goodput_bps",
        "share",
    )
