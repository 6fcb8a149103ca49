"""Whether the goodput of a subflow rises or falls from phase to phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.checks.phases import chain, following
from pathweave.results.checks.series import phases_s, with_flows
from pathweave.statistics.kendall import kendall_tau

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun


def phase_trend(run: StoredRun) -> pl.DataFrame | None:
    """One row per subflow and pair of phases of which one comes after the other.

    Columns: flow, name, group, subflow, phase (the first), until (the last), tau: Kendall's tau of
    the subflow's goodput over these and the phases between them, each as long and upon the one
    before: 1 where it rises throughout, -1 where it falls. A subflow that had no part in a phase
    has 0 there. Source: the XMP paper, section 5.1 on Figure 7.
    """
    import polars as pl

    if not {"phase_subflows", "flows"} <= set(run.tables):
        return None
    phases = phases_s(run)
    follows = following(phases)
    goodput = with_flows(run, run.read("phase_subflows")).sort("flow", "subflow")
    rows: list[dict[str, object]] = []
    keys = ("flow", "name", "group", "subflow")
    for values, own in goodput.group_by(*keys, maintain_order=True):
        had = dict(own.select("phase", "goodput_bps").iter_rows())
        about = dict(zip(keys, values, strict=True))
        for first in phases:
            rates: list[float] = []
            for last in chain(first, follows):
                rates.append(had.get(last) or 0.0)
                if last != first:
                    tau = kendall_tau(rates)
                    rows.append({**about, "phase": first, "until": last, "tau": tau})
    text = dict.fromkeys(("name", "group", "phase", "until"), pl.String)
    return pl.DataFrame(
        rows, schema={"flow": pl.Int64, "subflow": pl.Int64, **text, "tau": pl.Float64}
    )
