"""Published values beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.derived import table_of
from pathweave.results.quantities import QUANTITIES, evaluate, parse_statistic
from pathweave.results.summary import counted
from pathweave.results.units import scale
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from pathweave.results.expected import Expected, Point
    from pathweave.results.read import StoredRun, StoredScenario


def compare(scenario: StoredScenario) -> pl.DataFrame:
    """One row per published value.

    Columns: scenario, entry (its place in the file, from 0), title, unit, the axes, published,
    ours and ci (half the 95 % interval over seeds) in that unit, difference (relative), tolerance
    (relative, null for none), within. `ours` is null when nothing was run for a value, or nothing
    valid.
    """
    import polars as pl

    scenario = scenario.counted()
    rows: list[dict[str, object]] = []
    for number, entry in enumerate(scenario.expected):
        for point in entry.points:
            ours, interval = _ours(scenario, entry, point)
            difference = ours / point.value - 1 if ours is not None and point.value else None
            within = (
                abs(difference) <= entry.tolerance
                if difference is not None and entry.tolerance is not None
                else None
            )
            rows.append(
                {
                    "scenario": scenario.name,
                    "entry": number,
                    "title": entry.title,
                    "unit": entry.unit,
                    **point.at,
                    "published": point.value,
                    "ours": ours,
                    "ci": interval,
                    "difference": difference,
                    "tolerance": entry.tolerance,
                    "within": within,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _ours(
    scenario: StoredScenario, entry: Expected, point: Point
) -> tuple[float | None, float | None]:
    """Mean over the runs that the value is about, and half its interval, in the entry's unit."""
    values: list[float] = []
    for run in scenario.runs:
        if any(run.axes.get(axis) != name for axis, name in point.at.items()):
            continue
        value = _of_run(run, entry)
        if value is not None and entry.relative_to:
            value = _ratio(value, _partner(scenario, run, entry.relative_to), entry)
        if value is not None:
            values.append(value / scale(entry.unit))
    if not values:
        return None, None
    return sum(values) / len(values), half_width(values)


def _of_run(run: StoredRun, entry: Expected) -> float | None:
    """The statistic over one run, in base units."""
    quantity = QUANTITIES[entry.quantity]
    table = _basis(run, quantity.table)
    if table is None:
        return None
    return evaluate(table, quantity, parse_statistic(entry.statistic), entry.where)


def _partner(
    scenario: StoredScenario, run: StoredRun, changes: Mapping[str, str]
) -> StoredRun | None:
    """The run with the same seed and, but for these, the same names on all axes."""
    axes = {**run.axes, **changes}
    same = (other for other in scenario.runs if other.seed == run.seed and other.axes == axes)
    return next(same, None)


def _ratio(value: float, partner: StoredRun | None, entry: Expected) -> float | None:
    base = _of_run(partner, entry) if partner else None
    return value / base if base else None


def _basis(run: StoredRun, name: str) -> pl.DataFrame | None:
    """Rows that a value is over: flows as in the summary, phases with what is known of the flow.

    What is not stored is worked out.
    """
    table = table_of(run, name)
    if table is None:
        return None
    if name == "flows":
        return counted(table)
    if name == "jobs":
        return table.filter("finished")
    key = "link" if name == "phase_links" else "flow"
    other = {"phase_links": "links", "phases": "flows", "phase_subflows": "flows"}.get(name)
    if other is None:
        return table
    about = run.read(other)
    identity = key if key in about.columns else "id"
    new = [column for column in about.columns if column not in (*table.columns, identity)]
    return table.join(about.select(identity, *new), left_on=key, right_on=identity, how="left")
