"""Tables of the report, ready for the page: text, not numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.collective_summary import summarise_collectives
from pathweave.results.measures import Measure
from pathweave.results.optimum import FEW, shares, summarise_optimum
from pathweave.results.present import percentile_text, times_between, times_unit, unit_text
from pathweave.results.recoveries import summarise_recoveries
from pathweave.results.routing import judgements
from pathweave.results.summary import summarise_jobs
from pathweave.results.tables import group_tables, places_table, slowdown_table, variant_sections
from pathweave.results.tabular import Cell, Row, Section, Table, plain_columns
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    import polars as pl

    from pathweave.plots.palette import Palette
    from pathweave.results.runs import StoredScenario


def summary_tables(scenario: StoredScenario, palette: Palette) -> list[Table]:
    """One table per traffic group, those of jobs, collectives and failures where there are some."""
    tables = group_tables(scenario, palette.colour)
    slowdown = slowdown_table(scenario, palette.colour)
    places = places_table(scenario, palette.colour)
    tables += [table for table in (slowdown, places) if table is not None]
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
        over = "the flows of the moment with the most"
        tables.append(
            Table(found.title, plain_columns(*heads), [Section("", rows)], population=over)
        )
    return tables


def _jobs(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = times_unit(rows, "jct")
    interval = not rows["jct_ci_s"].drop_nulls().is_empty()
    heads = [
        "jobs",
        f"mean of finished ({unit_text(time)})",
        *([f"95 % ± ({unit_text(time)})"] if interval else []),
    ]
    heads += [f"p50 ({unit_text(time)})", f"p99 ({unit_text(time)})", "unfinished"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['jobs']:,}", _in(row["jct_mean_s"], time)]
        found += [_in(row["jct_ci_s"], time, 3)] if interval else []
        found += [percentile_text(row, name, time) for name in ("jct_p50", "jct_p99")]
        return [*found, f"{row['jobs'] - row['finished']:,}"]

    sections = variant_sections(scenario, rows, cells, palette.colour)
    over = Measure("jct").over + "; the mean over finished jobs"
    return Table("Jobs: completion time", plain_columns(*heads), sections, population=over)


def _collectives(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = time_unit(_largest(rows, "iteration_s"))
    rate = rate_unit(_largest(rows, "bus_bps"))
    shared = not rows["share"].drop_nulls().is_empty()
    heads = [
        "iterations",
        "unfinished",
        f"collective time ({unit_text(time)})",
        f"iteration time ({unit_text(time)})",
    ]
    heads += [f"bus bandwidth ({rate})", *(["of the optimum (%)"] if shared else [])]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['iterations']:,}", f"{row['unfinished']:,}"]
        found += [_in(row["collective_s"], time), _in(row["iteration_s"], time)]
        found.append(_in(row["bus_bps"], rate))
        return found + ([_in(row["share"], "%", 3)] if shared else [])

    title = f'Collectives of "{rows["group"][0]}": means'
    sections = variant_sections(scenario, rows, cells, palette.colour)
    over = Measure("bus_bandwidth").over
    return Table(title, plain_columns(*heads), sections, population=over)


def _recoveries(scenario: StoredScenario, palette: Palette, rows: pl.DataFrame) -> Table:
    time = times_between(rows, "recovery_p50_s", "recovery_p100_s")
    heads = [
        "failures",
        "flows hit",
        "not recovered",
        f"time p50 ({unit_text(time)})",
        f"longest ({unit_text(time)})",
    ]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['failures']:,}", f"{row['hit']:,}", f"{row['hit'] - row['recovered']:,}"]
        return found + [
            percentile_text(row, name, time) for name in ("recovery_p50", "recovery_p100")
        ]

    title = "Recovery time after link failures"
    sections = variant_sections(scenario, rows, cells, palette.colour)
    over = Measure("recovery").over
    return Table(title, plain_columns(*heads), sections, population=over)


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
    sections = variant_sections(scenario, rows, cells, palette.colour)
    over = Measure("goodput").over
    return Table(title, plain_columns(*heads), sections, population=over)


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
    title = "Share of the optimum by flow; below it, how far off the best split"
    over = Measure("goodput").over
    return Table(title, plain_columns(*heads), sections, population=over)


def _share_cell(row: dict[str, Any] | None) -> Cell:
    if row is None or row["share"] is None:
        return Cell("")
    off = row["split_distance"]
    return Cell(_percent(row["share"]), note="" if off is None else f"{_percent(off)} % off")


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 3)


def _largest(rows: pl.DataFrame, column: str) -> float:
    return max((float(value) for value in rows[column].drop_nulls()), default=0.0)


def _in(value: float | None, unit: str, digits: int = 4) -> str:
    return number(None if value is None else value / scale(unit), digits)
