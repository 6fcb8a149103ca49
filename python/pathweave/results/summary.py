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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_columns
from pathweave.results.completion import FEW_UNFINISHED, has_size
from pathweave.results.measures import Measure, Population, counted, finished
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun, StoredScenario

_FLOW_COLUMNS = (
    "group", "size_bytes", "delivered_bytes", "start_s", "end_s", "end", "in_window", "fct_s",
    "goodput_bps", "retransmits", "timeouts",
)  # fmt: skip

_TAIL = 99
_PERCENTILES = (50, _TAIL)
_GOODPUT = Measure("goodput")
_FCT = Measure("fct")
_FINISHED_FCT = Measure("fct", population=Population.FINISHED)
_JCT = Measure("jct")


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
        found_rows = _read(runs, "flows", _FLOW_COLUMNS)
        for group in _groups(found_rows):
            about = {
                "scenario": scenario.name,
                "settings": scenario.folder.name,
                "group": group,
                "variant": label,
            }
            own = [(run, part.filter(pl.col("group") == group)) for run, part in found_rows]
            found = {"seeds": len(runs)} | _flow_row(own)
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
        if not any(run.read("jobs", ["finished"]).height for run, _ in jobs):
            continue
        done = [(run, finished(part)) for run, part in jobs]
        mean, half = _mean_and_interval(replace(_JCT, population=Population.FINISHED), done)
        about = {"scenario": scenario.name, "variant": label}
        found = (
            {
                "seeds": len(runs),
                "jobs": sum(part.height for _, part in jobs),
                "finished": sum(part.height for _, part in done),
            }
            | {"jct_mean_s": mean, "jct_ci_s": half}
            | _completion_columns(_JCT, jobs, "jct")
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


_Rows = list[tuple["StoredRun", "pl.DataFrame"]]
"""Of each run the rows that count."""


def _read(runs: Sequence[StoredRun], table: str, columns: Sequence[str]) -> _Rows:
    """The rows of a table that count, of the runs that have it."""
    return [(run, counted(run.read(table, columns), table)) for run in runs if table in run.tables]


def _groups(found: _Rows) -> list[str]:
    return list(
        dict.fromkeys(
            group for _, rows in found for group in rows["group"].unique(maintain_order=True)
        )
    )


def _flow_row(rows: _Rows) -> dict[str, Any]:
    import polars as pl

    flows = pl.concat([part for _, part in rows], how="diagonal_relaxed")
    sized = flows.filter(has_size())
    done, left, cut = (
        sized.filter(pl.col("end") == end) for end in ("finished", "unfinished", "stopped")
    )
    mean, half = _mean_and_interval(_GOODPUT, rows)
    complete = [(run, finished(part.filter(has_size()))) for run, part in rows]
    return (
        {
            "flows": flows.height,
            "finished": done.height,
            "unfinished": left.height,
            "unfinished_bytes": int(left["delivered_bytes"].sum() or 0),
            "stopped": cut.height,
            "stopped_bytes": int(cut["delivered_bytes"].sum() or 0),
        }
        | {"goodput_mean_bps": mean, "goodput_ci_bps": half}
        | _percentiles(rows)
        | {"fct_mean_s": _mean_and_interval(_FINISHED_FCT, complete)[0]}
        | _completion_columns(_FCT, rows, "fct")
        | {
            "timeouts": int(flows["timeouts"].sum() or 0),
            "retransmits": int(flows["retransmits"].sum() or 0),
        }
    )


def _percentiles(rows: _Rows) -> dict[str, float | None]:
    found = {at: replace(_GOODPUT, statistic=f"p{at}").pooled_rows(rows) for at in _PERCENTILES}
    values = {at: None if value is None else value.value for at, value in found.items()}
    if sum(part["goodput_bps"].count() for _, part in rows) < 2:
        values[_TAIL] = None
    return {f"goodput_p{at}_bps": value for at, value in values.items()}


def _completion_columns(measure: Measure, rows: _Rows, name: str) -> dict[str, Any]:
    """Percentiles over all that the runs started, with whether each is only a lower bound."""
    found = {at: replace(measure, statistic=f"p{at}").pooled_rows(rows) for at in _PERCENTILES}
    if measure.started(rows) < 2:
        found[_TAIL] = None
    values = {
        f"{name}_p{at}_s": None if value is None else value.value for at, value in found.items()
    }
    return values | {
        f"{name}_p{at}_at_least": value is not None and value.at_least
        for at, value in found.items()
    }


def _mean_and_interval(measure: Measure, rows: _Rows) -> tuple[float | None, float | None]:
    """Mean of the seeds' means, and half its 95 % interval."""
    values = [value.value for each in rows if (value := measure.pooled_rows([each])) is not None]
    if not values:
        return None, None
    return sum(values) / len(values), half_width(values)


def _group_order(scenario: StoredScenario, groups: list[str]) -> dict[str, int]:
    named = [group for group in scenario.groups if group in groups]
    rest = [group for group in groups if group not in named]
    return {group: place for place, group in enumerate([*named, *rest])}
