"""Tables of one scenario on several backends, side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pathweave.plots.frames import Source
from pathweave.plots.series import KINDS, series_figure
from pathweave.results.backends import (
    SIMULATION,
    Comparison,
    Key,
    Value,
    flows,
    is_few,
    means,
    optimum,
    queues,
)
from pathweave.results.measures import Measure
from pathweave.results.played import lateness, played
from pathweave.results.tabular import Cell, Row, Section, Table, plain_columns
from pathweave.results.units import number, rate_unit, scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pathweave.plots.figure import Figure
    from pathweave.plots.palette import Palette
    from pathweave.results.backends import Column
    from pathweave.results.runs import StoredScenario

    Values = Mapping[Key, Value]

SERIES = ("rates", "windows")
BUSY = 0.5
"""Packets that wait on average on a link that is worth a row, on one of the backends."""
LINKS = 12
"""Links of a variant that have a row at most: those with the longest queues."""


def goodput_tables(comparison: Comparison) -> list[Table]:
    """Goodput of flows and subflows (of groups, where flows are many): a table per variant."""
    few = is_few(comparison)
    tables: list[Table] = []
    for label in comparison.labels():
        columns = _present(comparison, label)
        values = [
            means(
                [
                    (optimum if column.alongside else flows)(run, few=few)
                    for run in column.runs(label)
                ]
            )
            for column in columns
        ]
        unit = rate_unit(max((each.mean for found in values for each in found.values()), default=0))
        heads = [_head(column, label, unit) for column in columns]
        sections = _sections(columns, values, partial(_rate, unit))
        what = "Goodput" if few else "Mean goodput of flows"
        tables.append(
            Table(
                _title(what, label),
                plain_columns(*heads),
                sections,
                population=Measure("goodput").over,
            )
        )
    return tables


def queue_tables(comparison: Comparison) -> list[Table]:
    """Mean queues of the links on which packets wait: a table per variant."""
    tables: list[Table] = []
    for label in comparison.labels():
        columns = [
            column
            for column in _present(comparison, label)
            if not column.alongside and column.scenario.runs[0].backend != "solve"
        ]
        values = [means([queues(run) for run in column.runs(label)]) for column in columns]
        longest: dict[str, float] = {}
        for found in values:
            for (_, link, _), value in found.items():
                longest[link] = max(longest.get(link, 0.0), value.mean)
        busy = sorted(
            (link for link in longest if longest[link] >= BUSY), key=lambda k: -longest[k]
        )
        shown = set(busy[:LINKS])
        if len(columns) < 2 or not shown:
            continue
        values = [{key: found[key] for key in found if key[1] in shown} for found in values]
        heads = [_head(column, label, "packets") for column in columns]
        left = f" (the {LINKS} longest of {len(busy)})" if len(busy) > LINKS else ""
        sections = _sections(columns, values, _packets)
        tables.append(
            Table(
                _title(f"Mean queues of links{left}", label),
                plain_columns(*heads),
                sections,
                population="time, port by port",
            )
        )
    return tables


def played_tables(scenario: StoredScenario) -> list[Table]:
    """How the runs on the testbed went, a row per variant; none of other backends."""
    rows = [
        Row(
            each.label or "all",
            "",
            [
                Cell(str(each.valid)),
                Cell(str(each.invalid)),
                Cell(lateness(each)),
                Cell(f"{number(1e3 * each.late_max_s, 3)} ms"),
                Cell(f"{each.packets:,}"),
            ],
        )
        for each in played(scenario)
    ]
    heads = ["valid runs", "invalid runs", "lateness p99", "latest", "packets"]
    return (
        [
            Table(
                "Runs on the testbed",
                plain_columns(*heads),
                [Section("", rows)],
                population="all runs",
            )
        ]
        if rows
        else []
    )


def series_figures(comparison: Comparison, palette: Palette) -> list[Figure]:
    """Rates and windows over time, backends in panels beside each other."""
    source = Source(comparison.merged(), palette)
    found = [series_figure(source, kind) for kind in KINDS if kind.table in SERIES]
    return [figure for figure in found if figure is not None]


def _present(comparison: Comparison, label: str) -> list[Column]:
    return [column for column in comparison.columns if column.runs(label)]


def _title(what: str, label: str) -> str:
    return f"{what}: {label}" if label else what


def _head(column: Column, label: str, unit: str) -> str:
    count = len(column.runs(label))
    valid = "valid " if column.played else ""
    return f"{column.name} ({unit}), {count} {valid}{'run' if count == 1 else 'runs'}"


def _sections(
    columns: Sequence[Column],
    values: Sequence[Values],
    cell: Callable[[Value | None, Value | None], Cell],
) -> list[Section]:
    """A section per phase, the first without a name; rows in the order of the first backend."""
    simulated = next((place for place, c in enumerate(columns) if c.name == SIMULATION), None)
    keys = _sorted(list(dict.fromkeys(key for found in values for key in found)))
    sections: list[Section] = []
    for phase in dict.fromkeys(key[0] for key in keys):
        rows: list[Row] = []
        for key in keys:
            if key[0] != phase:
                continue
            base = None if simulated is None else values[simulated].get(key)
            rows.append(
                Row(
                    _row_name(key),
                    "",
                    [
                        cell(found.get(key), base if column.played else None)
                        for column, found in zip(columns, values, strict=True)
                    ],
                )
            )
        sections.append(Section(phase or "the whole window", rows))
    return sections if len(sections) > 1 else [Section("", s.rows) for s in sections]


def _sorted(keys: list[Key]) -> list[Key]:
    """By phase and item in the order in which they came, subflows after their flow."""
    phases = list(dict.fromkeys(key[0] for key in keys))
    items = list(dict.fromkeys(key[1] for key in keys))
    return sorted(keys, key=lambda key: (phases.index(key[0]), items.index(key[1]), key[2]))


def _row_name(key: Key) -> str:
    _, item, subflow = key
    return item if subflow == -1 else f"{item}, subflow {subflow + 1}"


def _rate(unit: str, ours: Value | None, base: Value | None) -> Cell:
    if ours is None:
        return Cell("–")
    note = f"{_signed(100 * (ours.mean / base.mean - 1), 1)} %" if base and base.mean else ""
    return Cell(_with_interval(ours, scale(unit)), note=note)


def _packets(ours: Value | None, base: Value | None) -> Cell:
    if ours is None:
        return Cell("–")
    note = _signed(ours.mean - base.mean, 1) if base else ""
    return Cell(_with_interval(ours, 1.0), note=note)


def _with_interval(value: Value, unit: float) -> str:
    mean = number(value.mean / unit)
    return mean if value.half is None else f"{mean} ± {number(value.half / unit, 2)}"


def _signed(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}".replace("-", "−")
