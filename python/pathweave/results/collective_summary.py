"""What collective operations took, by traffic group and variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_columns
from pathweave.results.measures import counted

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredScenario


def summarise_collectives(scenario: StoredScenario) -> pl.DataFrame:
    """One row per traffic group and variant that has collectives, over those of the window.

    Columns: group, variant, the axes, operation, iterations, unfinished; of what finished, means
    over the seeds of each seed's mean: collective_s, iteration_s, bus_bps, and share (of the
    optimum; null without one).
    """
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, Any]] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label and "collectives" in run.tables]
        if not runs:
            continue
        parts = [
            counted(run.read("collectives"), "collectives").with_columns(
                seed=pl.lit(run.seed, dtype=pl.Int64)
            )
            for run in runs
        ]
        shares = [
            counted(
                run.read("optimum_collectives", ["group", "in_window", "share"]),
                "optimum_collectives",
            )
            for run in runs
            if "optimum_collectives" in run.tables
        ]
        for part in pl.concat(parts).partition_by("group", maintain_order=True):
            group = part["group"][0]
            own = [each.filter(pl.col("group") == group)["share"].mean() for each in shares]
            about = {"group": group, "variant": label}
            found = (
                {"operation": part["operation"][0], "iterations": part.height}
                | {"unfinished": part.height - int(part["finished"].sum())}
                | {name: _mean(part, name) for name in ("collective_s", "iteration_s", "bus_bps")}
                | {"share": pl.Series(own, dtype=pl.Float64).drop_nulls().mean()}
            )
            rows.append(about | axis_columns(runs[0].axes, {*about, *found}) | found)
    return pl.DataFrame(rows, infer_schema_length=None)


def _mean(rows: pl.DataFrame, column: str) -> float | None:
    import polars as pl

    of_seeds = rows.group_by("seed", maintain_order=True).agg(pl.col(column).fill_nan(None).mean())
    mean = of_seeds[column].drop_nulls().mean()
    return float(mean) if isinstance(mean, int | float) else None
