"""Tables of the report, ready for the page: text, not numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.plots.frames import colour_axis
from pathweave.results.axis_columns import axis_column
from pathweave.results.collective_summary import summarise_collectives
from pathweave.results.optimum import FEW, shares, summarise_optimum
from pathweave.results.present import percentile_text, times_unit
from pathweave.results.published import compare
from pathweave.results.recoveries import summarise_recoveries
from pathweave.results.routing import judgements
from pathweave.results.summary import compares_survivors, summarise, summarise_jobs
from pathweave.results.sweeps import label_of
from pathweave.results.units import number, rate_unit, scale, size_text, time_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from pathweave.plots.palette import Palette
    from pathweave.results.read import StoredScenario


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and whether it lies outside a published value's tolerance."""

    text: str
    outside: bool = False
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A row named by a scheme; `colour` is the scheme's, empty where it has none here."""

    name: str
    colour: str
    cells: list[Cell]


@dataclass(frozen=True)
class Section:
    """Rows under a name on the other axes; the name is empty when there are none."""

    name: str
    rows: list[Row]


@dataclass(frozen=True)
class Table:
    """A table with a heading and the units of its columns."""

    title: str
    heads: list[str]
    sections: list[Section] = field(default_factory=list)


def summary_tables(scenario: StoredScenario, palette: Palette) -> list[Table]:
    """One table per traffic group, those of jobs, collectives and failures where there are some."""
    summary = summarise(scenario)
    tables: list[Table] = []
    if not summary.is_empty():
        for group in summary["group"].unique(maintain_order=True):
            rows = summary.filter(summary["group"] == group)
            tables.append(_group(scenario, palette, str(group), rows))
    jobs = summarise_jobs(scenario)
    if not jobs.is_empty():
        tables.append(_jobs(scenario, palette, jobs))
    collectives = summarise_collectives(scenario)
    if not collectives.is_empty():
        parts = collectives.partition_by("group", maintain_order=True)
        tables += [_collectives(scenario, palette, rows) for rows in parts]
    recoveries = summarise_recoveries(scenario)
    if not recoveries.is_empty():
        tables.append(_recoveries(scenario, palette, recoveries))
    return tables


def optimum_tables(scenario: StoredScenario, palette: Palette) -> list[Table]:
    """Shares of the optimum: a table per traffic group, and one of the flows where they are few."""
    summary = summarise_optimum(scenario)
    if summary.is_empty():
        return []
    tables: list[Table] = []
    for group in summary["group"].unique(maintain_order=True):
        rows = summary.filter(summary["group"] == group)
        tables.append(_optimum(scenario, palette, str(group), rows))
    flows = shares(scenario)
    if flows["flow"].n_unique() <= FEW:
        tables.append(_shares_by_flow(scenario, flows))
    return tables


def routing_tables(scenario: StoredScenario) -> list[Table]:
    """What the paths of each run are worth, and better choices of as many."""
    tables: list[Table] = []
    for found in judgements(scenario):
        unit = rate_unit(found.about["relaxed"]["total_bps"])
        rows: list[Row] = []
        for name, text in found.choices.items():
            worth = found.worth(name)
            cells = ["too many to try", "", ""]
            if worth is not None:
                cells = [_in(worth["total_bps"], unit), _in(worth["smallest_bps"], unit)]
                cells.append(number(worth["objective"], 7))
            rows.append(Row(text, "", [Cell(text) for text in cells]))
        heads = [f"total ({unit})", f"smallest flow ({unit})", "utility"]
        tables.append(Table(found.title, heads, [Section("", rows)]))
    return tables


def published_tables(scenario: StoredScenario, palette: Palette) -> list[Table]:
    """One table per published quantity that was run: a grid for two axes, a list for others."""
    if not scenario.expected:
        return []
    rows = compare(scenario)
    tables: list[Table] = []
    for place, entry in enumerate(scenario.expected):
        part = rows.filter((rows["entry"] == place) & rows["ours"].is_not_null())
        if part.is_empty():
            continue
        axes = {axis: axis_column(axis, part.columns) for axis in entry.axes}
        if len(axes) == 2:
            first, second = axes.values()
            columns = [str(name) for name in part[second].unique(maintain_order=True)]
            named = [
                (str(name), part.filter(part[first] == name))
                for name in part[first].unique(maintain_order=True)
            ]
            body = [_grid_row(scenario, palette, axes, *each, columns) for each in named]
        else:
            columns = ["ours (published)"]
            body = [
                Row(
                    ", ".join(row[column] for column in axes.values()) or "all",
                    _colour(scenario, palette, axes, row),
                    [_beside(row)],
                )
                for row in part.iter_rows(named=True)
            ]
        tolerance = (
            f"; marked when off by more than {100 * entry.tolerance:.0f} %"
            if entry.tolerance
            else ""
        )
        tables.append(Table(f"{entry.title}{tolerance}", columns, [Section("", body)]))
    return tables


def _sections(
    scenario: StoredScenario,
    palette: Palette,
    rows: pl.DataFrame,
    cells: Callable[[dict[str, Any]], list[str]],
) -> list[Section]:
    first = colour_axis(scenario)
    others = [axis for axis in scenario.axes if axis != first]
    columns = {axis: axis_column(axis, rows.columns) for axis in scenario.axes}
    apart = [columns[axis] for axis in others]
    parts = rows.partition_by(apart, maintain_order=True) if apart else [rows]
    found: list[Section] = []
    for part in parts:
        name = label_of({axis: str(part[columns[axis]][0]) for axis in others}, scenario.sweeps)
        body: list[Row] = []
        for row in part.iter_rows(named=True):
            scheme = row[columns[first]] if first else ""
            # A value of a sweep has a place on an axis, and no colour.
            swept = first in {sweep.axis for sweep in scenario.sweeps}
            name_of = f"{first} = {scheme}" if swept else scheme or "all"
            colour = "" if swept else palette.colour(scheme)
            body.append(Row(name_of, colour, [Cell(text) for text in cells(row)]))
        found.append(Section(name, body))
    return found


def _group(scenario: StoredScenario, palette: Palette, group: str, rows: pl.DataFrame) -> Table:
    rate = rate_unit(_largest(rows, "goodput_p50_bps"))
    time = times_unit(rows, "fct")
    has_times = not rows["fct_p50_s"].drop_nulls().is_empty()
    interval = not rows["goodput_ci_bps"].drop_nulls().is_empty()
    heads = ["flows", f"mean goodput ({rate})"]
    heads += [f"95 % ± ({rate})"] if interval else []
    heads += [f"p50 ({rate})", f"p99 ({rate})"]
    if has_times:
        heads += [f"mean FCT of finished ({time})", f"FCT p50 ({time})", f"FCT p99 ({time})"]
    some_stopped = bool((rows["stopped"] > 0).any())
    heads += ["unfinished (delivered)", *(["stopped (delivered)"] if some_stopped else [])]
    heads += ["timeouts per flow", "retransmits per flow"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['flows']:,}", _in(row["goodput_mean_bps"], rate)]
        found += [_in(row["goodput_ci_bps"], rate, 3)] if interval else []
        found += [_in(row[name], rate) for name in ("goodput_p50_bps", "goodput_p99_bps")]
        if has_times:
            found.append(_in(row["fct_mean_s"], time))
            found += [percentile_text(row, name, time) for name in ("fct_p50", "fct_p99")]
        for end in ("unfinished", *(["stopped"] if some_stopped else [])):
            left = row[end]
            found.append(f"{left:,} ({size_text(row[f'{end}_bytes'])})" if left else "0")
        found += [number(row[name] / row["flows"], 3) for name in ("timeouts", "retransmits")]
        return found

    title = f'Flows of "{group}"'
    if has_times and compares_survivors(rows):
        title += "; the mean covers finished flows only, so do not compare it"
    return Table(title, heads, _sections(scenario, palette, rows, cells))


def _jobs(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = times_unit(rows, "jct")
    interval = not rows["jct_ci_s"].drop_nulls().is_empty()
    heads = ["jobs", f"mean of finished ({time})", *([f"95 % ± ({time})"] if interval else [])]
    heads += [f"p50 ({time})", f"p99 ({time})", "unfinished"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['jobs']:,}", _in(row["jct_mean_s"], time)]
        found += [_in(row["jct_ci_s"], time, 3)] if interval else []
        found += [percentile_text(row, name, time) for name in ("jct_p50", "jct_p99")]
        return [*found, f"{row['jobs'] - row['finished']:,}"]

    return Table("Jobs: completion time", heads, _sections(scenario, palette, rows, cells))


def _collectives(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = time_unit(_largest(rows, "iteration_s"))
    rate = rate_unit(_largest(rows, "bus_bps"))
    shared = not rows["share"].drop_nulls().is_empty()
    heads = ["iterations", "unfinished", f"collective time ({time})", f"iteration time ({time})"]
    heads += [f"bus bandwidth ({rate})", *(["of the optimum (%)"] if shared else [])]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['iterations']:,}", f"{row['unfinished']:,}"]
        found += [_in(row["collective_s"], time), _in(row["iteration_s"], time)]
        found.append(_in(row["bus_bps"], rate))
        return found + ([_in(row["share"], "%", 3)] if shared else [])

    title = f'Collectives of "{rows["group"][0]}": means'
    return Table(title, heads, _sections(scenario, palette, rows, cells))


def _recoveries(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = time_unit(_largest(rows, "recovery_p50_s"))
    heads = ["failures", "flows hit", "not recovered", f"time p50 ({time})", f"longest ({time})"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['failures']:,}", f"{row['hit']:,}", f"{row['hit'] - row['recovered']:,}"]
        return found + [
            percentile_text(row, name, time) for name in ("recovery_p50", "recovery_p100")
        ]

    title = "Failures: time until all that had been sent was delivered"
    return Table(title, heads, _sections(scenario, palette, rows, cells))


def _optimum(scenario: StoredScenario, palette: Palette, group: str, rows: pl.DataFrame) -> Table:
    interval = not rows["share_total_ci"].drop_nulls().is_empty()
    splits = bool((rows["split_known"] > 0).any())
    partly = bool((rows["shared"] < rows["flows"]).any())
    heads = ["flows", "total (%)", *(["95 % ± (%)"] if interval else [])]
    heads += [*(["flows with a share"] if partly else []), "mean of flows (%)", "p5 (%)", "p95 (%)"]
    heads += ["off the best split (%)", "flows with one best split"] if splits else []

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['flows']:,}", _percent(row["share_total"])]
        found += [_percent(row["share_total_ci"])] if interval else []
        found += [f"{row['shared']:,}"] if partly else []
        found += [_percent(row[name]) for name in ("share_mean", "share_p5", "share_p95")]
        if splits:
            found += [_percent(row["split_distance"]), f"{row['split_known']:,}"]
        return found

    title = f'Goodput of "{group}" as a share of the optimum'
    return Table(title, heads, _sections(scenario, palette, rows, cells))


def _shares_by_flow(scenario: StoredScenario, flows: pl.DataFrame) -> Table:
    """Flows by phase, a column per variant; means over seeds."""
    import polars as pl

    labels = [label for label in scenario.labels() if label in set(flows["variant"])]
    sections: list[Section] = []
    for (phase,), part in flows.group_by("phase", maintain_order=True):
        means = part.group_by("name", "variant", maintain_order=True).agg(
            pl.col("share").mean(), pl.col("split_distance").mean()
        )
        found = {(row["name"], row["variant"]): row for row in means.iter_rows(named=True)}
        rows = [
            Row(str(name), "", [_share_cell(found.get((name, label))) for label in labels])
            for name in part.sort("flow")["name"].unique(maintain_order=True)
        ]
        sections.append(Section(str(phase), rows))
    heads = [f"{label} (%)" if label else "share (%)" for label in labels]
    return Table(
        "Share of the optimum by flow; below it, how far off the best split", heads, sections
    )


def _share_cell(row: dict[str, Any] | None) -> Cell:
    if row is None or row["share"] is None:
        return Cell("")
    off = row["split_distance"]
    return Cell(_percent(row["share"]), note="" if off is None else f"{_percent(off)} % off")


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 3)


def _grid_row(
    scenario: StoredScenario,
    palette: Palette,
    axes: Mapping[str, str],
    name: str,
    rows: pl.DataFrame,
    columns: list[str],
) -> Row:
    (first, _), (_, second) = axes.items()
    cells = {row[second]: _beside(row) for row in rows.iter_rows(named=True)}
    colour = palette.colour(name) if first == colour_axis(scenario) else ""
    return Row(name, colour, [cells.get(column, Cell("")) for column in columns])


def _colour(
    scenario: StoredScenario, palette: Palette, axes: Mapping[str, str], row: dict[str, Any]
) -> str:
    axis = colour_axis(scenario)
    return palette.colour(row[axes[axis]]) if axis is not None and axis in axes else ""


def _beside(row: dict[str, Any]) -> Cell:
    text = f"{number(row['ours'])} ({number(row['published'])})"
    if row["difference"] is None:
        return Cell(text)
    difference = f"{row['difference']:+.0%}".replace("%", " %").replace("-", "−")
    return Cell(text, outside=row["within"] is False, note=difference)


def _largest(rows: pl.DataFrame, column: str) -> float:
    return max((float(value) for value in rows[column].drop_nulls()), default=0.0)


def _in(value: float | None, unit: str, digits: int = 4) -> str:
    return number(None if value is None else value / scale(unit), digits)
