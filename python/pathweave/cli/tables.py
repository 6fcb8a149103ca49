"""Tables on the terminal: the summary, and published values beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from pathweave.cli.rankings import print_rankings
from pathweave.cli.terminal_table import plain_table, show, show_table
from pathweave.results.axis_columns import axis_column
from pathweave.results.collective_summary import summarise_collectives
from pathweave.results.measures import Measure
from pathweave.results.optimum import objective, summarise_optimum
from pathweave.results.played import facts, remarks
from pathweave.results.present import percentile_text, times_unit, unit_text
from pathweave.results.summary import summarise_jobs
from pathweave.results.sweeps import label_of
from pathweave.results.tables import group_tables, published_tables
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from rich.console import Console
    from rich.table import Table

    from pathweave.results.runs import StoredScenario


def print_results(console: Console, scenario: StoredScenario, baseline: str | None = None) -> None:
    """Print what a run of `scenario` found: rankings, flows by group, jobs, published values."""
    seeds = len({run.seed for run in scenario.runs})
    size = f", {scenario.size} size" if scenario.size else ""
    console.print()
    console.print(
        Text(f"{scenario.heading}{size}, {seeds} {'seed' if seeds == 1 else 'seeds'}", "bold")
    )
    for name, text in facts(scenario):
        console.print(Text(f"{name}: {text}"))
    for remark in remarks(scenario):
        console.print(Text(remark, "yellow"))
    for table in group_tables(scenario):
        show_table(console, table)
    jobs = summarise_jobs(scenario)
    if not jobs.is_empty():
        show(console, *_jobs_table(scenario, jobs))
    collectives = summarise_collectives(scenario)
    if not collectives.is_empty():
        for rows in collectives.partition_by("group", maintain_order=True):
            show(console, *_collectives_table(scenario, rows))
    print_rankings(console, scenario, baseline)
    optimum = summarise_optimum(scenario)
    if not optimum.is_empty():
        for group in optimum["group"].unique(maintain_order=True):
            rows = optimum.filter(optimum["group"] == group)
            show(console, *_optimum_table(scenario, str(group), rows))
    if scenario.published:
        for table in published_tables(scenario):
            show_table(console, table)


def _add_rows(
    table: Table,
    scenario: StoredScenario,
    rows: pl.DataFrame,
    cells: Callable[[dict[str, Any]], list[str]],
) -> None:
    """Add a row per variant, named by the first axis, under a line per name on the others."""
    first, *others = scenario.axes or [""]
    columns = {axis: axis_column(axis, rows.columns) for axis in scenario.axes}
    apart = [columns[axis] for axis in others]
    parts = rows.partition_by(apart, maintain_order=True) if apart else [rows]
    for part in parts:
        if others:
            others_here = {axis: str(part[columns[axis]][0]) for axis in others}
            table.add_row(Text(label_of(others_here, scenario.sweeps), style="italic"))
        for row in part.iter_rows(named=True):
            name = label_of({first: row[columns[first]]}, scenario.sweeps) if first else ""
            table.add_row(name or "all", *cells(row))


def _jobs_table(scenario: StoredScenario, rows: pl.DataFrame) -> tuple[str, Table]:
    time = times_unit(rows, "jct")

    def cells(row: dict[str, Any]) -> list[str]:
        times = [_in(row["jct_mean_s"], time)]
        times += [percentile_text(row, name, time) for name in ("jct_p50", "jct_p99")]
        return [f"{row['jobs']:,}", *times, f"{row['jobs'] - row['finished']:,}"]

    table = plain_table("jobs", "mean of\nfinished", "p50", "p99", "unfinished")
    _add_rows(table, scenario, rows, cells)
    over = Measure("jct").over + "; the mean over finished jobs"
    return f"Jobs: completion time in {unit_text(time)}. Over {over}", table


def _collectives_table(scenario: StoredScenario, rows: pl.DataFrame) -> tuple[str, Table]:
    time = time_unit(_largest(rows, "iteration_s"))
    rate = rate_unit(_largest(rows, "bus_bps"))
    shared = not rows["share"].drop_nulls().is_empty()

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['iterations']:,}", f"{row['unfinished']:,}"]
        found += [_in(row["collective_s"], time), _in(row["iteration_s"], time)]
        found.append(_in(row["bus_bps"], rate))
        return found + ([_in(row["share"], "%", 3)] if shared else [])

    heads = ["iterations", "unfinished", "collective\ntime", "iteration\ntime", "bus\nbandwidth"]
    table = plain_table(*heads, *(["% of the\noptimum"] if shared else []))
    _add_rows(table, scenario, rows, cells)
    title = f'Collectives of "{rows["group"][0]}": means, in {time} and {rate}. Over '
    title += Measure("bus_bandwidth").over
    return title, table


def _optimum_table(scenario: StoredScenario, group: str, rows: pl.DataFrame) -> tuple[str, Table]:
    interval = not rows["share_total_ci"].drop_nulls().is_empty()
    splits = bool((rows["split_known"] > 0).any())
    partly = bool((rows["shared"] < rows["flows"]).any())

    def cells(row: dict[str, Any]) -> list[str]:
        totals = ["share_total", *(["share_total_ci"] if interval else [])]
        names = ["share_mean", "share_p5", "share_p95", *(["split_distance"] if splits else [])]
        return [
            f"{row['flows']:,}",
            *(_percent(row[name]) for name in totals),
            *([f"{row['shared']:,}"] if partly else []),
            *(_percent(row[name]) for name in names),
        ]

    heads = ["flows", "total", *(["95 %\n±"] if interval else [])]
    heads += [*(["with a\nshare"] if partly else []), "mean of\nflows", "p5", "p95"]
    table = plain_table(*heads, *(["off the best\nsplit"] if splits else []))
    over = Measure("goodput").over
    _add_rows(table, scenario, rows, cells)
    return f'Goodput of "{group}" in % of the optimum ({objective(scenario)}). Over {over}', table


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 3)


def _largest(rows: pl.DataFrame, column: str) -> float:
    return max((float(value) for value in rows[column].drop_nulls()), default=0.0)


def _in(value: float | None, unit: str, digits: int = 4) -> str:
    return number(None if value is None else value / scale(unit), digits)
