"""Some of a sweep's values, for charts that show variants one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pathweave.plots.figure import MOST_LINES
from pathweave.plots.frames import Source, colour_axis
from pathweave.plots.palette import Palette
from pathweave.plots.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

_PANELS = 6
"""Panels of a chart at most, where these are values of a sweep."""


def few_values(source: Source) -> tuple[Source, str]:
    """The runs of as many values of the sweep as charts of single variants have room for.

    The second is what a caption says of it; empty where all are there.
    """
    scenario = source.scenario
    sweep = scenario.numeric_sweep()
    if sweep is None:
        return source, ""
    here = {run.axes.get(sweep.axis) for run in scenario.runs}
    names = [name for name in scenario.axes[sweep.axis] if name in here]
    alone = colour_axis(scenario) == sweep.axis
    panels = len({source.panel(run) for run in scenario.runs})
    room = MOST_LINES if alone else max(3, _PANELS * len(names) // max(1, panels))
    if len(names) <= room:
        return source, ""
    kept = _evenly(names, room)
    runs = [run for run in scenario.runs if run.axes.get(sweep.axis) in kept]
    # Of many values some would share a colour.
    palette = Palette(kept, baseline=source.palette.baseline) if alone else source.palette
    return (
        Source(replace(scenario, runs=runs), palette),
        f"Of {len(names)} values of {sweep.axis}: {listed(kept)}.",
    )


def _evenly(names: Sequence[str], room: int) -> list[str]:
    """Up to `room` of the names, the ends among them, at equal distances where that is possible."""
    last = len(names) - 1
    even = (count for count in range(room, room // 2, -1) if count > 1 and last % (count - 1) == 0)
    count = next(even, room)
    return [names[round(place * last / (count - 1))] for place in range(count)]
