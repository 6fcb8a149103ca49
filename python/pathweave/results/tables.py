"""The tables of a scenario that terminal, page and JSON share: rankings, summary, published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pathweave.results.axis_columns import axis_column
from pathweave.results.expected import expected_of
from pathweave.results.measures import Measure
from pathweave.results.merit import LEVEL, rankings, values_of
from pathweave.results.places import by_place, has_places
from pathweave.results.present import (
    cost_columns,
    difference_text,
    interval_text,
    percentile_text,
    plus_minus,
    seeds_text,
    share_text,
    spread_unit,
    times_unit,
    unit_of,
    unit_text,
)
from pathweave.results.published import compare
from pathweave.results.sizes import CLASSES
from pathweave.results.summary import compares_survivors, summarise
from pathweave.results.sweeps import label_of
from pathweave.results.tabular import Cell, Column, Row, Section, Table
from pathweave.results.units import number, rate_unit, scale, size_text
from pathweave.statistics.holm import CORRECTION
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from pathweave.results.measures import Value
    from pathweave.results.merit import Ranking, Standing, VariantValues
    from pathweave.results.runs import StoredScenario

    Colour = Callable[[str], str]

_BESIDE = ("mean", "median", "p99")
"""What stands together in a ranking's table, so that no statistic hides another."""


_OF_SLOWDOWN = ("mean", "median", "p95", "p99")


def no_colour(name: str) -> str:  # noqa: ARG001
    """The colour of a variant where nothing is drawn."""
    return ""


def colour_axis(scenario: StoredScenario) -> str | None:
    """The axis whose names have colours: "scheme", or else the first; None without any."""
    return "scheme" if "scheme" in scenario.axes else next(iter(scenario.axes), None)


def shared_tables(scenario: StoredScenario, baseline: str | None = None) -> list[Table]:
    """The tables of this module for a scenario, in the order of a page."""
    ranked = [
        ranking_table(scenario, each) for each in rankings(scenario, baseline) if each.standings
    ]
    slowdown = slowdown_table(scenario)
    by_size = [slowdown] if slowdown is not None else []
    return [*ranked, *group_tables(scenario), *by_size, *published_tables(scenario)]


def ranking_table(scenario: StoredScenario, ranking: Ranking, colour: Colour = no_colour) -> Table:
    """A ranking: values, differences to the baseline, verdicts, and what the variants cost.

    Mean, median and 99th percentile of what decides stand together, each with its difference to
    the baseline in %; only the one that decides has a verdict.
    """
    unit = unit_of(ranking)
    shown = unit_text(unit)
    beside = _beside(scenario, ranking)
    paid = cost_columns(ranking)
    columns = [
        Column(ranking.subject.statistic, shown),
        Column(f"against {ranking.baseline}", shown),
        Column("in %"),
        Column("verdict"),
        *(Column(head, head_unit) for head, head_unit, _ in beside),
        Column("unfinished", brief=False),
        *(Column(head, brief=False) for head, _ in paid),
    ]
    rows = [
        Row(
            each.name,
            colour(each.name),
            [
                *_ranked_cells(each, ranking, unit),
                *(texts.get(each.label, Cell("–")) for _, _, texts in beside),
                Cell(f"{100 * each.unfinished:.1f} %" if each.unfinished else "0"),
                *(Cell(texts[place]) for _, texts in paid),
            ],
        )
        for place, each in enumerate(ranking.standings)
    ]
    sections = [
        Section(
            panel,
            [row for row, each in zip(rows, ranking.standings, strict=True) if each.panel == panel],
        )
        for panel in ranking.panels
    ]
    return Table(
        f"{ranking_title(ranking)}, {method_text(ranking)}",
        columns,
        sections,
        population=ranking.subject.over,
    )


def ranking_title(ranking: Ranking) -> str:
    """What decides, as a heading."""
    title = ranking.subject.text
    return f"{title[0].upper()}{title[1:]}"


def method_text(ranking: Ranking) -> str:
    """How the differences of a ranking come about: pairs, intervals, correction."""
    pairs = {each.difference.pairs for each in ranking.standings if each.difference is not None}
    seeds = f"{seeds_text(min(pairs))}, " if pairs else ""
    return f"paired by seed ({seeds}95 % intervals; {CORRECTION}, {100 * LEVEL:.0f} %)"


def group_tables(scenario: StoredScenario, colour: Colour = no_colour) -> list[Table]:
    """The summary: what became of the flows of each traffic group, a table for each."""
    summary = summarise(scenario)
    if summary.is_empty():
        return []
    return [
        _group(scenario, str(group), summary.filter(summary["group"] == group), colour)
        for group in summary["group"].unique(maintain_order=True)
    ]


def slowdown_table(scenario: StoredScenario, colour: Colour = no_colour) -> Table | None:
    """Slowdown by class of flow size: a section for each class, a row for each variant.

    Over the flows of all seeds; a value that depends on what is unfinished is a lower bound. None
    where no run has ideal times.
    """
    counted = scenario.counted()
    measure = Measure("slowdown")
    sections: list[Section] = []
    found = {
        label: [
            (run, rows)
            for run in counted.runs
            if run.label == label and (rows := measure.rows(run)) is not None
        ]
        for label in counted.labels()
    }
    swept = {sweep.axis for sweep in scenario.sweeps}
    axis = colour_axis(scenario)
    for name, sizes in CLASSES.items():
        in_panels: dict[str, list[Row]] = {}
        for parts in found.values():
            own = [(run, part.filter(sizes.holds())) for run, part in parts]
            started = measure.started(own) if own else 0
            if not started:
                continue
            axes = own[0][0].axes
            scheme = axes.get(axis or "", "")
            panel = label_of(axes, scenario.sweeps, leave_out=axis or "")
            cells = [Cell(f"{started:,}")]
            cells += [
                Cell(_bounded(replace(measure, statistic=statistic).pooled_rows(own)))
                for statistic in _OF_SLOWDOWN
            ]
            row_name = f"{axis} = {scheme}" if axis in swept else scheme or "all"
            own_colour = "" if axis in swept else colour(scheme)
            in_panels.setdefault(panel, []).append(Row(row_name, own_colour, cells))
        for panel, body in in_panels.items():
            sections.append(Section(f"{name}; {panel}" if panel else name, body))
    if not sections:
        return None
    columns = [Column("flows"), *(Column(statistic) for statistic in _OF_SLOWDOWN)]
    title = "Slowdown by flow size: completion time over that of the flow alone"
    return Table(title, columns, sections, population=measure.over)


def places_table(scenario: StoredScenario, colour: Colour = no_colour) -> Table | None:
    """What ports were offered and what they dropped, by place; None where packets were not sent."""
    import polars as pl

    counted = scenario.counted()
    rows: list[dict[str, object]] = []
    places: dict[str, None] = {}
    sent = 0.0
    for label in counted.labels():
        runs = [run for run in counted.runs if run.label == label]
        if not all(has_places(run) for run in runs):
            return None
        found = by_place(runs)
        sent += float(found["packets"].sum())
        places.update(dict.fromkeys(found["place"].to_list()))
        # No axis has such a name.
        names: dict[str, object] = dict(runs[0].axes)
        rows.append(names | {f"at {row['place']}": row for row in found.to_dicts()})
    if not sent:
        return None

    def cells(row: dict[str, Any]) -> list[str]:
        none = {"load": 0.0, "drops": 0.0, "packets": 0.0}
        here = [row[f"at {place}"] or none for place in places]
        loads = [number(100 * each["load"], 3) for each in here]
        return loads + [_dropped(each) for each in here]

    columns = [Column(f"load, {place}", "%") for place in places]
    columns += [Column(f"dropped, {place}", "%") for place in places]
    sections = variant_sections(scenario, pl.DataFrame(rows), cells, colour)
    return Table("Load and drops by place", columns, sections, population="all ports of a place")


def _dropped(place: Mapping[str, Any]) -> str:
    offered = place["packets"] + place["drops"]
    return number(100 * place["drops"] / offered, 3) if place["drops"] else "0"


def published_tables(scenario: StoredScenario, colour: Colour = no_colour) -> list[Table]:
    """One table per published quantity that was run: a grid for two axes, a list for others."""
    if not scenario.published:
        return []
    rows = compare(scenario)
    tables: list[Table] = []
    for place, entry in enumerate(expected_of(scenario)):
        part = rows.filter((rows["entry"] == place) & rows["ours"].is_not_null())
        if part.is_empty():
            continue
        axes = {axis: axis_column(axis, part.columns) for axis in entry.axes}
        coloured = colour_axis(scenario)
        if len(axes) == 2:
            first, second = axes.values()
            heads = [str(name) for name in part[second].unique(maintain_order=True)]
            body = [
                Row(
                    str(name),
                    colour(str(name)) if next(iter(axes)) == coloured else "",
                    _grid_cells(part.filter(part[first] == name), second, heads),
                )
                for name in part[first].unique(maintain_order=True)
            ]
        else:
            heads = ["ours (published)"]
            body = [
                Row(
                    ", ".join(row[column] for column in axes.values()) or "all",
                    colour(row[axes[coloured]]) if coloured in axes else "",
                    [_published_cell(row)],
                )
                for row in part.iter_rows(named=True)
            ]
        tolerance = (
            f"; marked when off by more than {100 * entry.tolerance:.0f} %"
            if entry.tolerance
            else ""
        )
        tables.append(
            Table(
                f"Ours (published): {entry.title}{tolerance}",
                [Column(head) for head in heads],
                [Section("", body)],
                population=entry.population,
            )
        )
    return tables


def variant_sections(
    scenario: StoredScenario,
    rows: pl.DataFrame,
    cells: Callable[[dict[str, Any]], list[str]],
    colour: Colour = no_colour,
) -> list[Section]:
    """A row per variant, named on the axis of colours, under its names on the others."""
    first = colour_axis(scenario)
    others = [axis for axis in scenario.axes if axis != first]
    columns = {axis: axis_column(axis, rows.columns) for axis in scenario.axes}
    apart = [columns[axis] for axis in others]
    parts = rows.partition_by(apart, maintain_order=True) if apart else [rows]
    # A value of a sweep has a place on an axis, and no colour.
    swept = first in {sweep.axis for sweep in scenario.sweeps}
    found: list[Section] = []
    for part in parts:
        name = label_of({axis: str(part[columns[axis]][0]) for axis in others}, scenario.sweeps)
        body: list[Row] = []
        for row in part.iter_rows(named=True):
            scheme = row[columns[first]] if first else ""
            name_of = f"{first} = {scheme}" if swept else scheme or "all"
            own = "" if swept else colour(scheme)
            body.append(Row(name_of, own, [Cell(text) for text in cells(row)]))
        found.append(Section(name, body))
    return found


def _ranked_cells(each: Standing, ranking: Ranking, unit: str) -> list[Cell]:
    outcome = each.verdict.outcome if each.verdict is not None else "not ranked"
    if each.name == ranking.baseline:
        outcome = "baseline"
    texts = (interval_text(each, unit), difference_text(each, unit), share_text(each))
    return [*(Cell(text) for text in texts), Cell(outcome, outside=outcome == "worse")]


def _beside(scenario: StoredScenario, ranking: Ranking) -> list[tuple[str, str, dict[str, Cell]]]:
    """The other statistics of what decides: a head, its unit, and a cell by the variant's label."""
    found: list[tuple[str, str, dict[str, Cell]]] = []
    for statistic in _BESIDE:
        if statistic == ranking.subject.statistic or ranking.subject.quantity == "fairness":
            continue
        measure = replace(ranking.subject, statistic=statistic)
        values = values_of(scenario.counted(), ranking.axis, measure)
        if not values:
            continue
        unit = spread_unit(measure.defined.column, [each.mean for each in values])
        bases = {each.panel: each for each in values if each.name == ranking.baseline}
        cells = {each.label: _beside_cell(each, bases.get(each.panel), unit) for each in values}
        found.append((statistic, unit_text(unit), cells))
    return found


def _beside_cell(each: VariantValues, base: VariantValues | None, unit: str) -> Cell:
    mean = number((each.mean or 0.0) / scale(unit), 3)
    if each.at_least:
        return Cell(f"≥ {mean}")
    if base is None or base is each or base.at_least:
        return Cell(mean)
    difference = paired_difference(each.values, base.values)
    if difference.percent is None:
        return Cell(mean)
    change = plus_minus(difference.percent, difference.half_percent, signed=True)
    return Cell(mean, note=f"{change} %")


def _group(scenario: StoredScenario, group: str, rows: pl.DataFrame, colour: Colour) -> Table:
    rate = rate_unit(_largest(rows, "goodput_p50_bps"))
    time = times_unit(rows, "fct")
    shown = unit_text(time)
    has_times = not rows["fct_p50_s"].drop_nulls().is_empty()
    interval = not rows["goodput_ci_bps"].drop_nulls().is_empty()
    columns = [Column("flows"), Column("mean goodput", rate)]
    columns += [Column("95 % ±", rate)] if interval else []
    columns += [Column("goodput p50", rate), Column("goodput p99", rate)]
    if has_times:
        columns += [Column("mean FCT of finished flows", shown, brief=False)]
        columns += [Column("FCT p50", shown), Column("FCT p99", shown)]
    some_stopped = bool((rows["stopped"] > 0).any())
    ends = ["unfinished", *(["stopped"] if some_stopped else [])]
    columns += [Column(f"{end} (delivered)") for end in ends]
    columns += [Column("timeouts per flow"), Column("retransmits per flow", brief=False)]

    def cells(row: dict[str, Any]) -> list[str]:
        found = [f"{row['flows']:,}", _in(row["goodput_mean_bps"], rate)]
        found += [_in(row["goodput_ci_bps"], rate, 3)] if interval else []
        found += [_in(row[name], rate) for name in ("goodput_p50_bps", "goodput_p99_bps")]
        if has_times:
            found.append(_in(row["fct_mean_s"], time))
            found += [percentile_text(row, name, time) for name in ("fct_p50", "fct_p99")]
        for end in ends:
            left = row[end]
            found.append(f"{left:,} ({size_text(row[f'{end}_bytes'])})" if left else "0")
        found += [
            number(row[name] / row["flows"], 3) if row[name] else "0"
            for name in ("timeouts", "retransmits")
        ]
        return found

    notes: tuple[str, ...] = ()
    if has_times and compares_survivors(rows):
        notes = ("Do not compare the mean FCTs of finished flows: not equally many finished.",)
    over = Measure("goodput", "mean", group).over
    if has_times:
        percentiles = Measure("fct", "p99", group).over
        over += f"; percentiles of completion times (FCT) over {percentiles}"
    sections = variant_sections(scenario, rows, cells, colour)
    return Table(f'Flows of "{group}"', columns, sections, population=over, footnotes=notes)


def _grid_cells(rows: pl.DataFrame, second: str, heads: list[str]) -> list[Cell]:
    cells = {row[second]: _published_cell(row) for row in rows.iter_rows(named=True)}
    return [cells.get(head, Cell("")) for head in heads]


def _published_cell(row: Mapping[str, Any]) -> Cell:
    text = f"{number(row['ours'])} ({number(row['published'])})"
    if row["difference"] is None:
        return Cell(text)
    difference = f"{row['difference']:+.0%}".replace("%", " %").replace("-", "−")
    return Cell(text, outside=row["within"] is False, note=difference)


def _bounded(value: Value | None) -> str:
    if value is None:
        return "–"
    text = number(value.value, 3)
    return f"≥ {text}" if value.at_least else text


def _largest(rows: pl.DataFrame, column: str) -> float:
    return max((float(value) for value in rows[column].drop_nulls()), default=0.0)


def _in(value: float | None, unit: str, digits: int = 4) -> str:
    return number(None if value is None else value / scale(unit), digits)
