"""Published values beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.axis_columns import axis_columns
from pathweave.results.expected import expected_of
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.expected import Expected, Point
    from pathweave.results.runs import StoredScenario


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
    for number, entry in enumerate(expected_of(scenario)):
        for point in entry.points:
            ours, interval = _ours(scenario, entry, point)
            difference = ours / point.value - 1 if ours is not None and point.value else None
            within = (
                abs(difference) <= entry.tolerance
                if difference is not None and entry.tolerance is not None
                else None
            )
            about = {
                "scenario": scenario.name,
                "entry": number,
                "title": entry.title,
                "unit": entry.unit,
            }
            found = {
                "published": point.value,
                "ours": ours,
                "ci": interval,
                "difference": difference,
                "tolerance": entry.tolerance,
                "within": within,
            }
            rows.append(about | axis_columns(point.at, {*about, *found}) | found)
    return pl.DataFrame(rows, infer_schema_length=None)


def _ours(
    scenario: StoredScenario, entry: Expected, point: Point
) -> tuple[float | None, float | None]:
    """Mean over the seeds' values, and half its interval, in the entry's unit."""
    values = [each.value for each in entry.measured.by_seed(scenario, point.at).values()]
    if not values:
        return None, None
    return sum(values) / len(values), half_width(values)
