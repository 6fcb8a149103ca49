"""How long flows took to recover from failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_columns
from pathweave.results.completion import recovery_completion, together

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredScenario


def summarise_recoveries(scenario: StoredScenario) -> pl.DataFrame:
    """One row per variant in which links went down, over all of its failures and seeds.

    Columns: variant, the axes, failures, hit (flows, once per failure), recovered (of these),
    recovery_p50_s and recovery_p100_s (the longest) over all that were hit. One that did not
    recover counts with the time that it had until the run's end, and `recovery_p50_at_least` and
    `recovery_p100_at_least` say whether the percentile is only a lower bound on that account.
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
        found = together([recovery_completion(*each) for each in zip(runs, tables, strict=True)])
        row = {
            "failures": sum(table["at_s"].n_unique() for table in tables),
            "hit": hits.height,
            "recovered": len(found.times),
            **found.columns("recovery", (50, 100)),
        }
        rows.append({"variant": label} | axis_columns(runs[0].axes, {"variant", *row}) | row)
    return pl.DataFrame(rows, infer_schema_length=None)
