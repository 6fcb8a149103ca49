"""Values of rankings as people write them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.quantities import QUANTITIES
from pathweave.results.units import rate_unit, scale, time_unit

if TYPE_CHECKING:
    from pathweave.results.merit import Ranking, Standing

_PLUS_MINUS_DIGITS = 2
"""Significant digits of half an interval; the value has as many decimals."""


def unit_of(ranking: Ranking) -> str:
    """One unit for all values of a ranking; empty for counts, % for shares."""
    column = QUANTITIES[ranking.subject.quantity].column
    largest = max((abs(each.mean or 0.0) for each in ranking.standings), default=0.0)
    if column.endswith("_bps"):
        return rate_unit(largest)
    if column.endswith("_s"):
        return time_unit(largest)
    return "%" if column == "utilisation" else ""


def interval_text(each: Standing, unit: str) -> str:
    """The mean over the seeds and half its interval: "735.1 ± 4.2", "at least 120"."""
    if each.mean is None:
        return "–"
    if each.at_least:  # values and bounds together have no interval
        return f"at least {plus_minus(each.mean / scale(unit), None)}"
    return plus_minus(
        each.mean / scale(unit), None if each.half is None else each.half / scale(unit)
    )


def difference_text(each: Standing, unit: str) -> str:
    """The paired difference in `unit`: "+222 ± 40"; empty for the baseline."""
    found = each.difference
    if found is None or found.mean is None:
        return ""
    half = None if found.half is None else found.half / scale(unit)
    return plus_minus(found.mean / scale(unit), half, signed=True)


def share_text(each: Standing) -> str:
    """The paired difference in % of the baseline's mean."""
    found = each.difference
    if found is None or found.percent is None:
        return ""
    return plus_minus(found.percent, found.half_percent, signed=True)


def plus_minus(value: float, half: float | None, *, signed: bool = False) -> str:
    """A value to the digits that half its interval leaves it: "+12.3 ± 4.5"."""
    sign = "+" if signed else ""
    if half is None or half == 0 or not math.isfinite(half):
        decimals = _decimals(abs(value), 4)
        text = f"{value:{sign},.{decimals}f}"
        return _minus(text if half is None else f"{text} ± 0")
    decimals = _decimals(half, _PLUS_MINUS_DIGITS)
    return _minus(f"{value:{sign},.{decimals}f} ± {half:,.{decimals}f}")


def _decimals(value: float, digits: int) -> int:
    if value <= 0 or not math.isfinite(value):
        return 0
    return min(max(digits - 1 - math.floor(math.log10(value)), 0), 9)


def _minus(text: str) -> str:
    """With the sign that belongs to numbers."""
    return text.replace("-", "−")
