"""Flows with what they waited for: the account of time, a column for each wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun

WAITS = (
    "handshake", "timeout", "recovery", "receive window", "send window", "pace", "own port",
    "window", "network", "data",
)  # fmt: skip
"""Everything that a flow may wait for, as the table `waits` has it."""


def column_of(wait: str) -> str:
    """The column of a wait, in seconds: "own_port_wait_s"."""
    return f"{wait.replace(' ', '_')}_wait_s"


def flow_waits(run: StoredRun) -> pl.DataFrame | None:
    """The run's flows with a column for each wait; None where nobody kept account.

    The waits of a flow add up to its completion time, or to its age if it has not finished.
    """
    import polars as pl

    if "waits" not in run.tables:
        return None
    waits = run.read("waits")
    columns = [
        pl.col("waited_s").filter(pl.col("wait") == wait).sum().alias(column_of(wait))
        for wait in WAITS
    ]
    by_flow = waits.group_by("flow").agg(columns)
    flows = run.read("flows").join(
        by_flow, left_on="id", right_on="flow", how="left", maintain_order="left"
    )
    return flows.with_columns(pl.col(column_of(wait)).fill_null(0.0) for wait in WAITS)
