"""What flows had, as shares of the optimum that was solved alongside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_columns
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun, StoredScenario

_FLOW_COLUMNS = ("id", "name", "group", "in_window")
FEW = 12
"""Flows of a run up to which each is shown by name."""


def shares(scenario: StoredScenario) -> pl.DataFrame:
    """One row per flow and phase (empty for the whole measurement window) of runs with an optimum.

    Columns: variant, seed, group, name, phase, flow, time_s, seen, moments, optimum_bps,
    goodput_bps, share, split_unique, split_distance.
    """
    import polars as pl

    parts = [_of_run(run) for run in scenario.runs if run.optimum is not None]
    return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()


def _of_run(run: StoredRun) -> pl.DataFrame:
    import polars as pl

    flows = run.read("flows", list(_FLOW_COLUMNS))
    flows = flows.filter("in_window").drop("in_window").rename({"id": "flow"})
    return (
        run.read("optimum")
        .join(flows, on="flow", how="inner", maintain_order="left")
        .select(
            pl.lit(run.label).alias("variant"),
            pl.lit(run.seed, dtype=pl.Int64).alias("seed"),
            pl.all(),
        )
    )


def total_shares(scenario: StoredScenario, label: str, group: str) -> dict[int, float]:
    """A group's traffic over optimal traffic in the measurement window, by seed.

    Of runs of the variant with this label that have an optimum; of a sample at its moments.
    """
    import polars as pl

    runs = [run for run in scenario.runs if run.label == label and run.optimum is not None]
    found: dict[int, float] = {}
    for run in runs:
        rows = _of_run(run).filter((pl.col("phase") == "") & (pl.col("group") == group))
        best = (rows["optimum_bps"] * rows["time_s"]).sum()
        if best:
            found[run.seed] = float((rows["goodput_bps"] * rows["time_s"]).sum()) / float(best)
    return found


def summarise_optimum(scenario: StoredScenario) -> pl.DataFrame:
    """One row per traffic group and variant that has an optimum, over the measurement window.

    Columns: group, variant, the axes, flows; share_total (traffic over optimal traffic, of a sample
    at its moments), share_total_ci (half its 95 % interval over seeds), shared (flows that have a
    share), share_mean (of those), share_p5, share_p95, split_distance (mean over the flows that
    have one), split_known (how many those are).
    """
    import polars as pl

    frame = shares(scenario)
    if frame.is_empty():
        return frame
    frame = frame.filter(pl.col("phase") == "")
    rows: list[dict[str, Any]] = []
    for (group, variant), part in frame.group_by("group", "variant", maintain_order=True):
        axes = next(run.axes for run in scenario.runs if run.label == variant)
        had = (pl.col("goodput_bps") * pl.col("time_s")).sum()
        best = (pl.col("optimum_bps") * pl.col("time_s")).sum()
        totals = part.group_by("seed", maintain_order=True).agg((had / best).alias("share"))
        per_seed = [float(share) for share in totals["share"].drop_nulls()]
        share, distance = part["share"].drop_nulls(), part["split_distance"].drop_nulls()
        about = {"group": group, "variant": variant}
        found = {
            "flows": part.height,
            "share_total": sum(per_seed) / len(per_seed) if per_seed else None,
            "share_total_ci": half_width(per_seed),
            "shared": share.len(),
            "share_mean": share.mean(),
            "share_p5": share.quantile(0.05, interpolation="linear"),
            "share_p95": share.quantile(0.95, interpolation="linear"),
            "split_distance": distance.mean(),
            "split_known": distance.len(),
        }
        rows.append(about | axis_columns(axes, {*about, *found}) | found)
    result = pl.DataFrame(rows, infer_schema_length=None)
    order = {group: place for place, group in enumerate(scenario.groups)}
    last = len(order)
    return result.sort(pl.col("group").replace_strict(order, default=last), maintain_order=True)


def objective(scenario: StoredScenario) -> str:
    """The utilities that were maximised, as they were named."""
    found = [run.optimum["utility"] for run in scenario.runs if run.optimum is not None]
    return ", ".join(dict.fromkeys(found))
