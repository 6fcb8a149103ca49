"""The summary table: what became of the flows of each traffic group under each variant.

The table is over flows that started in the measurement window, and flows without a size that were
under way in it. Goodput is that of all of them, over the time that each was under way. Percentiles
of completion times count flows that did not finish at their age, and are a lower bound where these
flows decide; mean completion times are over the flows that finished. Flows that had a size and did
not finish are counted, those that were stopped and those that the end of the run cut off, with the
bytes they delivered.
The mean is the mean of the runs' means, its interval is over seeds; percentiles are over the flows
of all seeds. Runs on the testbed that are invalid are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_columns
from pathweave.results.completion import (
    FEW_UNFINISHED,
    flow_completion,
    has_size,
    job_completion,
    together,
)
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from pathweave.results.completion import Completion
    from pathweave.results.read import StoredRun, StoredScenario

_FLOW_COLUMNS = (
    "group", "size_bytes", "delivered_bytes", "start_s", "end_s", "end", "in_window", "fct_s",
    "goodput_bps", "retransmits", "timeouts",
)  # fmt: skip

_TAIL = 99
_PERCENTILES = (50, _TAIL)


def summarise(scenario: StoredScenario) -> pl.DataFrame:
    """One row per traffic group and variant, groups and variants in the file's order.

    Columns: scenario, settings, group, variant, the axes, seeds, flows, finished, unfinished,
    unfinished_bytes, stopped, stopped_bytes (of flows with a size); goodput_mean_bps,
    goodput_ci_bps (half the 95 % interval, null for one seed), goodput_p50_bps, goodput_p99_bps;
    fct_mean_s, fct_p50_s, fct_p99_s, fct_p50_at_least, fct_p99_at_least (whether these percentiles
    are only lower bounds); timeouts, retransmits (totals). A p99 of one value is null.
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
            found = {"seeds": len(runs)} | _flow_row(flows.filter(pl.col("group") == group), runs)
            rows.append(about | axis_columns(runs[0].axes, {*about, *found}) | found)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if frame.is_empty():
        return frame
    order = _group_order(scenario, frame["group"].unique(maintain_order=True).to_list())
    return frame.sort(pl.col("group").replace_strict(order), maintain_order=True)


def summarise_jobs(scenario: StoredScenario) -> pl.DataFrame:
    """One row per variant that has jobs: jobs, finished, jct_mean_s, jct_ci_s, percentiles.

    Jobs are those that start in the measurement window.

    The mean is over jobs that finished; percentiles are as those of flows, with `jct_p50_at_least`
    and `jct_p99_at_least`.
    """
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, Any]] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label]
        jobs = _read(runs, "jobs", ("start_s", "end_s", "in_window", "finished", "jct_s"))
        if jobs is None or jobs.is_empty():
            continue
        jobs = jobs.filter(pl.col("in_window"))
        done = jobs.filter(pl.col("finished"))
        about = {"scenario": scenario.name, "variant": label}
        found = (
            {"seeds": len(runs), "jobs": jobs.height, "finished": done.height}
            | _mean_and_interval(done, "jct_s", "jct_mean_s", "jct_ci_s")
            | _completion_columns(runs, jobs, job_completion, "jct")
        )
        rows.append(about | axis_columns(runs[0].axes, {*about, *found}) | found)
    return pl.DataFrame(rows, infer_schema_length=None)


def compares_survivors(rows: pl.DataFrame) -> bool:
    """Whether a mean over the finished flows of these rows of a summary favours some of them.

    So it does where more than 1 % of a variant's flows did not finish, and not equally many.
    """
    cut = rows["unfinished"] + rows["stopped"]
    shares = [
        left / (left + done) if left + done else 0.0
        for left, done in zip(cut, rows["finished"], strict=True)
    ]
    return max(shares, default=0.0) > FEW_UNFINISHED and len(set(shares)) > 1


def _read(runs: Sequence[StoredRun], table: str, columns: Sequence[str]) -> pl.DataFrame | None:
    import polars as pl

    parts = [
        run.read(table, columns).with_columns(seed=pl.lit(run.seed, dtype=pl.Int64))
        for run in runs
        if table in run.tables
    ]
    return pl.concat(parts, how="diagonal_relaxed") if parts else None


def _flow_row(flows: pl.DataFrame, runs: Sequence[StoredRun]) -> dict[str, Any]:
    import polars as pl

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
        | _mean_and_interval(flows, "goodput_bps", "goodput_mean_bps", "goodput_ci_bps")
        | _percentiles(flows["goodput_bps"].drop_nulls())
        | {"fct_mean_s": _mean_and_interval(done, "fct_s", "mean", "ci")["mean"]}
        | _completion_columns(runs, flows, flow_completion, "fct")
        | {
            "timeouts": int(flows["timeouts"].sum() or 0),
            "retransmits": int(flows["retransmits"].sum() or 0),
        }
    )


def _percentiles(goodput: pl.Series) -> dict[str, float | None]:
    found = {at: goodput.quantile(at / 100, interpolation="linear") for at in _PERCENTILES}
    if len(goodput) < 2:
        found[_TAIL] = None
    return {f"goodput_p{at}_bps": value for at, value in found.items()}


def _completion_columns(
    runs: Sequence[StoredRun],
    rows: pl.DataFrame,
    completion: Callable[[StoredRun, pl.DataFrame], Completion],
    name: str,
) -> dict[str, Any]:
    """Percentiles over all that the runs started; `rows` have a column `seed`."""
    import polars as pl

    parts = [completion(run, rows.filter(pl.col("seed") == run.seed)) for run in runs]
    found = together(parts)
    columns = found.columns(name, _PERCENTILES)
    if len(found.times) + len(found.ages) < 2:
        columns |= {f"{name}_p{_TAIL}_s": None, f"{name}_p{_TAIL}_at_least": False}
    return columns


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
