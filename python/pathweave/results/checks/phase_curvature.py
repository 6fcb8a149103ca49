"""Whether the goodput of sibling subflows bends in opposite ways from phase to phase."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.checks.phases import chain, following
from pathweave.results.checks.series import phases_s, with_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun


def opposition(pairs: Sequence[tuple[float, float]]) -> float | None:
    """From -1 to 1: how far the two curvatures of each pair have opposite signs.

    Pairs weigh by the product of their sizes, so that straight lines, whose sign is noise, do not
    count. None where no pair is bent.
    """
    total = math.fsum(abs(a * b) for a, b in pairs)
    return -math.fsum(a * b for a, b in pairs) / total if total else None


def second_differences(values: Sequence[float]) -> list[float]:
    """Negative where values of equal steps are concave, of each value that has two neighbours."""
    return [
        before - 2 * value + after
        for before, value, after in zip(values, values[1:], values[2:], strict=False)
    ]


def phase_curvature(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that has two subflows, and phase that two others follow.

    Columns: flow, name, group, phase, opposition: over that phase and all that follow, each upon
    the one before and as long, how far one subflow's goodput is concave where the other's is
    convex, from -1 (never) to 1 (always), by second differences. A subflow that had no part in a
    phase has 0 there. Source: the XMP paper, section 5.1 on Figure 7.
    """
    import polars as pl

    if not {"phase_subflows", "flows"} <= set(run.tables):
        return None
    follows = following(phases_s(run))
    goodput = with_flows(run, run.read("phase_subflows")).sort("flow", "subflow")
    rows: list[dict[str, object]] = []
    for (flow, name, group), own in goodput.group_by("flow", "name", "group", maintain_order=True):
        subflows: list[int] = own["subflow"].unique().sort().to_list()
        if len(subflows) != 2:
            continue
        had = {
            (phase, subflow): rate or 0.0
            for phase, subflow, rate in own.select("phase", "subflow", "goodput_bps").iter_rows()
        }
        for first in phases_s(run):
            names = list(chain(first, follows))
            if len(names) < 3:
                continue
            bends = [
                second_differences([had.get((phase, subflow), 0.0) for phase in names])
                for subflow in subflows
            ]
            about = {"flow": flow, "name": name, "group": group, "phase": first}
            rows.append({**about, "opposition": opposition(list(zip(*bends, strict=True)))})
    text = {"name": pl.String, "group": pl.String, "phase": pl.String}
    return pl.DataFrame(rows, schema={"flow": pl.Int64, **text, "opposition": pl.Float64})
