"""The axis of a chart over the values of a sweep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.plots.figure import quantity
from pathweave.plots.ticks import between
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec
    from pathweave.results.sweeps import Sweep

_TICKS_APART = 46
"""Pixels that a tick of the x axis needs, about."""


def value_axis(sweep: Sweep, values: Sequence[float], width: int) -> Spec:
    """The encoding of a sweep's values, with ticks at them as far as there is room.

    `values` are those that are drawn, in base units and in order; `width` is in pixels.
    """
    unit = _unit_of_values(sweep, values)
    size = scale(unit) if unit else 1.0
    title = f"{sweep.axis} ({unit})" if unit else sweep.axis
    logarithmic = sweep.logarithmic and values[0] > 0
    ticks = _ticks(values, size, width, logarithmic=logarithmic)
    if logarithmic:
        margin = (values[-1] / values[0]) ** 0.03
        domain = [values[0] / margin, values[-1] * margin]
    else:
        margin = 0.03 * (values[-1] - values[0])
        domain = [values[0] - margin, values[-1] + margin]
    kind = {"type": "log"} if logarithmic else {"zero": False}
    return quantity(
        "x",
        title,
        scale={**kind, "domain": domain, "nice": False},
        axis={"values": ticks, "labelExpr": f"format(datum.value / {size}, ',.6~r')"},
    )


def _unit_of_values(sweep: Sweep, values: Sequence[float]) -> str:
    """The unit in which most of the values are short."""
    known = [abs(value) for value in values if value]
    middle = math.exp(math.fsum(map(math.log, known)) / len(known)) if known else 0.0
    match sweep.unit:
        case "s":
            return time_unit(middle)
        case "bit/s":
            return rate_unit(middle)
        case "B":
            return next((unit for unit in ("MB", "KB") if middle >= scale(unit)), "B")
        case _:
            return ""


def _ticks(values: Sequence[float], size: float, width: int, *, logarithmic: bool) -> list[float]:
    """Ticks at the values, as far as their labels leave room; at round values where they do not."""
    room = max(2, width // _TICKS_APART)
    low, high = values[0], values[-1]

    def place(value: float) -> float:
        if logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    kept = [low]
    for value in values[1:-1]:
        wide = width * min(place(value) - place(kept[-1]), 1 - place(value))
        if wide >= max(_TICKS_APART, 9 * len(number(value / size, 3))) * 0.75:
            kept.append(value)
    kept.append(high)
    if logarithmic or len(values) <= room or len(kept) == len(values):
        return kept
    return [tick * size for tick in between(low / size, high / size, min(room, 8))]
