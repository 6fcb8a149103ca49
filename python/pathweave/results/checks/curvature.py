"""Whether the rates of sibling subflows bend in opposite ways."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.checks.series import phases_s, with_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.read import StoredRun


def curvature(rates: Sequence[float]) -> float:
    """The second-order coefficient of the parabola that fits best, over equally spaced samples.

    Negative where the rates are concave in time, 0 for a straight line and for fewer than three.
    """
    n = len(rates)
    if n < 3:
        return 0.0
    # The coefficient by the discrete orthogonal polynomial of second order.
    middle = (n - 1) / 2
    shift = (n * n - 1) / 12
    weights = [(k - middle) ** 2 - shift for k in range(n)]
    norm = math.fsum(weight * weight for weight in weights)
    return math.fsum(w * rate for w, rate in zip(weights, rates, strict=True)) / norm


def opposition(pairs: Sequence[tuple[float, float]]) -> float | None:
    """From -1 to 1: how far the two curvatures of each pair have opposite signs.

    Pairs weigh by the product of their sizes, so that straight lines, whose sign is noise, do not
    count. None where no pair is bent.
    """
    total = math.fsum(abs(a * b) for a, b in pairs)
    return -math.fsum(a * b for a, b in pairs) / total if total else None


def sibling_curvature(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that has two subflows.

    Columns: flow, name, group, opposition: over the phases of the run, how far one subflow's rate
    is concave in time where the other's is convex, from -1 (never) to 1 (always).
    Source: the XMP paper, section 5.2 on Figure 7.
    """
    import polars as pl

    phases = phases_s(run)
    if not {"rates", "flows"} <= set(run.tables) or not phases:
        return None
    rates = with_flows(run, run.read("rates")).sort("flow", "subflow", "time_s")
    rows: list[dict[str, object]] = []
    for (flow, name, group), own in rates.group_by("flow", "name", "group", maintain_order=True):
        if own["subflow"].n_unique() != 2:
            continue
        pairs: list[tuple[float, float]] = []
        for begin, end in phases.values():
            inside = own.filter((pl.col("time_s") > begin) & (pl.col("time_s") <= end))
            series = inside.partition_by("subflow", maintain_order=True)
            if len(series) == 2:
                first, second = (curvature(part["rate_bps"].to_list()) for part in series)
                pairs.append((first, second))
        rows.append({"flow": flow, "name": name, "group": group, "opposition": opposition(pairs)})
    schema = {"flow": pl.Int64, "name": pl.String, "group": pl.String, "opposition": pl.Float64}
    return pl.DataFrame(rows, schema=schema)
