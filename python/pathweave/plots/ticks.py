"""Where axes have ticks: always at both ends."""

from __future__ import annotations

import math
from typing import Any

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LOG_STEPS = (1.0, 2.0, 5.0)
_ROUND = 1e-9
_LABEL = "format(datum.value, ',.6~r')"
"""A tick as it is. A format alone would round it to what the distance of ticks suggests."""
_NARROW = 340
"""Pixels of a panel below which there is no room for as many ticks."""
_NEAR_END = 0.5
"""Part of a step that a tick keeps from the axis's ends, whose labels it would touch."""


def most_ticks(width: int) -> int:
    """Intervals between the ticks of a panel at most, `width` pixels wide."""
    return 5 if width >= _NARROW else 4


def from_zero(top: float, most: int = 5) -> list[float]:
    """Ticks from 0 to the first that reaches `top`, `most` intervals at most."""
    step = round_step(top / most) if top > 0 else 1.0
    count = max(1, math.ceil(top / step - _ROUND))
    return [_rounded(place * step) for place in range(count + 1)]


def between(start: float, end: float, most: int = 6) -> list[float]:
    """Ticks at `start`, at `end` and at round values between them."""
    if end <= start:
        return [start]
    step = round_step((end - start) / most)
    first, last = math.ceil(start / step - _ROUND), math.floor(end / step + _ROUND)
    middle = [_rounded(place * step) for place in range(first, last + 1)]
    room = _NEAR_END * step
    inside = [value for value in middle if start + room <= value <= end - room]
    return [start, *inside, end]


def zero_axis(title: str, top: float, *, end: float | None = None, most: int = 5) -> dict[str, Any]:
    """Title, scale and axis of an encoding that begins at 0 and reaches `top`, or ends at `end`."""
    ticks = from_zero(top, most) if end is None else between(0.0, end, most)
    return {
        "title": title,
        "scale": {"domain": [0, ticks[-1]], "nice": False},
        "axis": {"values": ticks, "labelExpr": _LABEL},
    }


def signed_axis(title: str, low: float, high: float, *, most: int = 6) -> dict[str, Any]:
    """Title, scale and axis of an encoding that holds 0 and reaches from `low` to `high`."""
    low, high = min(low, 0.0), max(high, 0.0)
    step = round_step((high - low) / most) if high > low else 1.0
    first, last = math.floor(low / step + _ROUND), math.ceil(high / step - _ROUND)
    ticks = [_rounded(place * step) for place in range(first, max(last, first + 1) + 1)]
    return {
        "title": title,
        "scale": {"domain": [ticks[0], ticks[-1]], "nice": False},
        "axis": {
            "values": ticks,
            "grid": True,
            "labelExpr": "datum.value ? format(datum.value, '+,.6~r') : '0'",
        },
    }


def log_axis(low: float, high: float, *, title: str) -> dict[str, Any]:
    """Title, scale and axis of a logarithmic encoding that holds `low` to `high`.

    It ends at 1, 2 or 5 times a power of ten; ticks are decades, or all of these on a short one.
    """
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    powers = range(first, last + 1)
    marks = [_rounded(step * 10.0**power) for power in powers for step in _LOG_STEPS]
    start = max(mark for mark in marks if mark <= low * (1 + _ROUND))
    end = min(mark for mark in marks if mark >= high * (1 - _ROUND) and mark > start)
    far = end > start * 100
    inside = [mark for mark in marks if start * 1.5 < mark < end / 1.5]
    kept = [mark for mark in inside if not far or f"{mark:e}".startswith("1.0")]
    return {
        "title": title,
        "scale": {"type": "log", "nice": False, "domain": [start, end]},
        "axis": {"values": [start, *kept, end], "labelExpr": _LABEL},
    }


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - _ROUND))


def _rounded(value: float, digits: int = 12) -> float:
    return float(f"{value:.{digits}g}")
