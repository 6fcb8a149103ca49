"""Slowdown: a flow's completion time over the time that it would take alone (`fct_ideal_s`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.completion import has_finished, has_size

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun


def slowdowns(run: StoredRun) -> pl.DataFrame | None:
    """The run's flows that have a size and an ideal time, with a column `slowdown`.

    It is null for flows that did not finish. None where the run has no ideal times.
    """
    import polars as pl

    if "flows" not in run.tables or "fct_ideal_s" not in run.scan("flows").collect_schema():
        return None
    flows = run.read("flows").filter(has_size() & (pl.col("fct_ideal_s") > 0))
    ratio = pl.col("fct_s") / pl.col("fct_ideal_s")
    return flows.with_columns(slowdown=pl.when(has_finished()).then(ratio))
