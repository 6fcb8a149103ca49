"""How long flows took to recover from failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.read import StoredScenario


def summarise_recoveries(scenario: StoredScenario) -> pl.DataFrame:
    """One row per variant in which links went down, over all of its failures and seeds.

    Columns: variant, the axes, failures, hit (flows, once per failure), recovered (of these),
    recovery_p50_s and recovery_max_s (of those that did).
    """
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, Any]] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label and "recoveries" in run.tables]
        if not runs:
            continue
        tables = [run.read("recoveries") for run in runs]
        hits = pl.concat(tables)
        took = hits["recovery_s"].drop_nulls()
        rows.append(
            {
                "variant": label,
                **runs[0].axes,
                "failures": sum(table["at_s"].n_unique() for table in tables),
                "hit": hits.height,
                "recovered": took.len(),
                "recovery_p50_s": took.median(),
                "recovery_max_s": took.max(),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
