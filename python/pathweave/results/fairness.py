"""How evenly flows share what they get: Jain's index."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun


def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index: 1 where all are equal, 1/n where one has all.

    None for fewer than two values, and where all are 0. Source: R. Jain, D. Chiu, W. Hawe, "A
    quantitative measure of fairness and discrimination for resource allocation in shared computer
    systems", DEC-TR-301 (1984).
    """
    squares = math.fsum(value * value for value in values)
    if len(values) < 2 or squares == 0:
        return None
    return math.fsum(values) ** 2 / (len(values) * squares)


def fairness(run: StoredRun) -> pl.DataFrame | None:
    """One row per traffic group and phase, or the whole window where there are no phases.

    Columns: group (empty for the flows of all groups together), phase (empty for the whole window),
    flows, jain (the index of their goodput, null for fewer than two flows). Flows that had no part
    in a phase do not count in it.
    """
    import polars as pl

    if "flows" not in run.tables:
        return None
    flows = run.read("flows", ["id", "group", "in_window", "goodput_bps"])
    if "phases" in run.tables:
        rates = run.read("phases").join(
            flows.select("id", "group"), left_on="flow", right_on="id", how="left"
        )
    else:
        rates = flows.filter("in_window").with_columns(phase=pl.lit(""))
    rates = rates.drop_nulls("goodput_bps").select("group", "phase", "goodput_bps")
    rates = pl.concat([rates.with_columns(group=pl.lit("")), rates])
    rows = [
        {
            "group": group,
            "phase": phase,
            "flows": part.height,
            "jain": jain(part["goodput_bps"].to_list()),
        }
        for (group, phase), part in rates.group_by("group", "phase", maintain_order=True)
    ]
    schema = {"group": pl.String, "phase": pl.String, "flows": pl.Int64, "jain": pl.Float64}
    return pl.DataFrame(rows, schema=schema)
