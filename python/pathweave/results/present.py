"""Values of rankings as people write them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pathweave.results.quantities import QUANTITIES
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from pathweave.results.measures import Value
    from pathweave.results.merit import Ranking, Standing

_MOST_DIGITS = 5
"""Significant digits of a value, however narrow its interval."""
_PLUS_MINUS_DIGITS = 2
"""Significant digits of half an interval; the value has as many decimals."""

_NEGLIGIBLE = 0.001
"""Costs that are smaller are not told apart."""


def seeds_text(seeds: int) -> str:
    """A number of seeds in words: "1 seed"."""
    return f"{seeds} {'seed' if seeds == 1 else 'seeds'}"


def unit_of(ranking: Ranking) -> str:
    """One unit for all values of a ranking; empty for counts, % for shares."""
    column = QUANTITIES[ranking.subject.quantity].column
    largest = max((abs(each.mean or 0.0) for each in ranking.standings), default=0.0)
    if column.endswith("_bps"):
        return rate_unit(largest)
    if column.endswith("_s"):
        return time_unit(largest)
    return "%" if column in ("utilisation", "share") else ""


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


def cost_columns(ranking: Ranking) -> list[tuple[str, list[str]]]:
    """What the variants cost: a head with its unit, and a text for each standing.

    Only what some variant has, and drops, marks and timeouts only where there are any.
    """
    paid = [each.costs for each in ranking.standings]
    short = [each.short_p99_s for each in paid]
    time = time_unit(max((each.value for each in short if each is not None), default=0.0))
    columns = [
        (f"short flows p99 ({time})", [_bound(each, time) for each in short], any(short)),
        ("mean queue (packets)", *_numbers([each.queue_packets for each in paid], 1)),
        ("drops (%)", *_numbers([each.drops for each in paid], 100)),
        ("marks (%)", *_numbers([each.marks for each in paid], 100)),
        ("timeouts per flow", *_numbers([each.timeouts for each in paid], 1)),
        ("fairness (Jain)", *_numbers([each.fairness for each in paid], 1)),
        ("share of the optimum (%)", *_numbers([each.optimum for each in paid], 100)),
    ]
    return [(head, texts) for head, texts, there in columns if there]


def _bound(percentile: Value | None, unit: str) -> str:
    if percentile is None:
        return "–"
    text = number(percentile.value / scale(unit), 3)
    return f"≥ {text}" if percentile.at_least else text


def _numbers(values: list[float | None], factor: float) -> tuple[list[str], bool]:
    return [_cost(None if value is None else factor * value) for value in values], any(values)


def _cost(value: float | None) -> str:
    if value is not None and 0 < value < _NEGLIGIBLE:
        return f"< {_NEGLIGIBLE:g}"
    return number(value, 3)


def times_unit(rows: pl.DataFrame, name: str) -> str:
    """The unit that suits both the median and the 99th percentile of these rows of a summary."""
    largest = [float(rows[f"{name}_{at}_s"].max() or 0.0) for at in ("p50", "p99")]  # pyright: ignore[reportArgumentType]
    known = [value for value in largest if value > 0]
    return time_unit(math.exp(math.fsum(map(math.log, known)) / len(known)) if known else 0.0)


def percentile_text(row: Mapping[str, Any], name: str, unit: str) -> str:
    """A percentile of completion times in a row of a summary: "12.3", "≥ 12.3" for a bound."""
    value = row[f"{name}_s"]
    text = number(None if value is None else value / scale(unit), 4)
    return f"≥ {text}" if row[f"{name}_at_least"] else text


def plus_minus(value: float, half: float | None, *, signed: bool = False) -> str:
    """A value to the digits that half its interval leaves it: "+12.3 ± 4.5"."""
    sign = "+" if signed else ""
    if half is None or half == 0 or not math.isfinite(half):
        decimals = _decimals(abs(value), 4) if value else 0
        text = f"{value:{sign},.{decimals}f}"
        return _minus(text if half is None else f"{text} ± 0")
    decimals = min(_decimals(half, _PLUS_MINUS_DIGITS), _decimals(abs(value), _MOST_DIGITS))
    text = f"{half:,.{decimals}f}"
    if not text.strip("0."):  # it is not 0, but smaller than what is shown
        text = f"< {10.0**-decimals:.{decimals}f}"
    return _minus(f"{value:{sign},.{decimals}f} ± {text}")


def _decimals(value: float, digits: int) -> int:
    if value <= 0 or not math.isfinite(value):
        return 9
    return min(max(digits - 1 - math.floor(math.log10(value)), 0), 9)


def _minus(text: str) -> str:
    """With the sign that belongs to numbers, and none before what is rounded to 0."""
    value = text.partition(" ")[0]
    if value.startswith("-") and not value.strip("-0.,"):
        text = text[1:]
    return text.replace("-", "−")
