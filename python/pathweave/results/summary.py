"""The summary table: what became of the flows of each traffic group under each variant.

The table is over flows that started in the measurement window, and flows without a size that were
under way in it. Means, percentiles and completion times are over those that finished and those
without a size; flows that had a size and did not finish are counted beside them, those that were
stopped and those that the end of the run cut off, with the bytes they delivered.
The mean is the mean of the runs' means, its interval is over seeds; percentiles are over the flows
of all seeds. Runs on the testbed that are invalid are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.read import StoredRun, StoredScenario

_FLOW_COLUMNS = (
    "group", "size_bytes", "delivered_bytes", "end", "in_window", "fct_s", "goodput_bps",
    "retransmits", "timeouts",
)  # fmt: skip


def summarise(scenario: StoredScenario) -> pl.DataFrame:
    """One row per traffic group and variant, groups and variants in the file's order.

    Columns: scenario, settings, group, variant, the axes, seeds, flows, finished, unfinished,
    unfinished_bytes, stopped, stopped_bytes (of flows with a size); goodput_mean_bps,
    goodput_ci_bps (half the 95 % interval, null for one seed), goodput_p50_bps, goodput_p99_bps;
    fct_mean_s, fct_p50_s, fct_p99_s; timeouts, retransmits
    (totals).
    """
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, Any]] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label]
        flows = _read(runs, "flows", _FLOW_COLUMNS)
        if flows is None:
            continue
        flows = flows.filter(pl.col("in_window"))
        for group in flows["group"].unique(maintain_order=True):
            about = {
                "scenario": scenario.name,
                "settings": scenario.folder.name,
                "group": group,
                "variant": label,
            }
            rows.append(
                about
                | runs[0].axes
                | {"seeds": len(runs)}
                | _flow_row(flows.filter(pl.col("group") == group))
            )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if frame.is_empty():
        return frame
    order = _group_order(scenario, frame["group"].unique(maintain_order=True).to_list())
    return frame.sort(pl.col("group").replace_strict(order), maintain_order=True)


def summarise_jobs(scenario: StoredScenario) -> pl.DataFrame:
    """One row per variant that has jobs: jobs, finished, jct_mean_s, jct_ci_s, percentiles."""
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, Any]] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label]
        jobs = _read(runs, "jobs", ("finished", "jct_s"))
        if jobs is None or jobs.is_empty():
            continue
        done = jobs.filter(pl.col("finished"))
        rows.append(
            {"scenario": scenario.name, "variant": label, **runs[0].axes, "seeds": len(runs)}
            | {"jobs": jobs.height, "finished": done.height}
            | _mean_and_interval(done, "jct_s", "jct_mean_s", "jct_ci_s")
            | {
                name: done["jct_s"].quantile(at, interpolation="linear")
                for name, at in (("jct_p50_s", 0.5), ("jct_p99_s", 0.99))
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def counted(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that means and percentiles are over: finished ones, and those without a size.

    Only those of the measurement window.
    """
    import polars as pl

    return flows.filter(pl.col("in_window") & (has_finished() | ~has_size()))


def has_finished() -> pl.Expr:
    """Whether all of a flow's size was delivered: neither a stop nor the run's end cut it off."""
    import polars as pl

    return pl.col("end") == "finished"


def has_size() -> pl.Expr:
    """Whether a flow has a size; flows that send until they are stopped have 0 or null."""
    import polars as pl

    return pl.col("size_bytes").fill_null(0) > 0


def _read(runs: Sequence[StoredRun], table: str, columns: Sequence[str]) -> pl.DataFrame | None:
    import polars as pl

    parts = [
        run.read(table, columns).with_columns(seed=pl.lit(run.seed, dtype=pl.Int64))
        for run in runs
        if table in run.tables
    ]
    return pl.concat(parts, how="diagonal_relaxed") if parts else None


def _flow_row(flows: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    basis = counted(flows)
    sized = flows.filter(has_size())
    done, left, cut = (
        sized.filter(pl.col("end") == end) for end in ("finished", "unfinished", "stopped")
    )
    return (
        {
            "flows": flows.height,
            "finished": done.height,
            "unfinished": left.height,
            "unfinished_bytes": int(left["delivered_bytes"].sum() or 0),
            "stopped": cut.height,
            "stopped_bytes": int(cut["delivered_bytes"].sum() or 0),
        }
        | _mean_and_interval(basis, "goodput_bps", "goodput_mean_bps", "goodput_ci_bps")
        | _percentiles(basis, "goodput_bps", "goodput", "bps")
        | {"fct_mean_s": _mean_and_interval(done, "fct_s", "mean", "ci")["mean"]}
        | _percentiles(done, "fct_s", "fct", "s")
        | {
            "timeouts": int(flows["timeouts"].sum() or 0),
            "retransmits": int(flows["retransmits"].sum() or 0),
        }
    )


def _percentiles(frame: pl.DataFrame, column: str, name: str, unit: str) -> dict[str, Any]:
    values = frame[column].drop_nulls()
    return {
        f"{name}_p{at}_{unit}": values.quantile(at / 100, interpolation="linear") for at in (50, 99)
    }


def _mean_and_interval(
    frame: pl.DataFrame, column: str, mean: str, interval: str
) -> dict[str, float | None]:
    """Mean of the seeds' means, and half its 95 % interval."""
    per_seed = [
        float(value)
        for value in frame.group_by("seed", maintain_order=True).mean()[column].drop_nulls()
    ]
    if not per_seed:
        return {mean: None, interval: None}
    return {mean: sum(per_seed) / len(per_seed), interval: half_width(per_seed)}


def _group_order(scenario: StoredScenario, groups: list[str]) -> dict[str, int]:
    named = [group for group in scenario.groups if group in groups]
    rest = [group for group in groups if group not in named]
    return {group: place for place, group in enumerate([*named, *rest])}
