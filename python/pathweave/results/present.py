"""Values of rankings as people write them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pathweave.results.measures import unit_of_column
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from pathweave.results.measures import Value
    from pathweave.results.merit import Ranking, Standing

_MOST_DIGITS = 5
"""Significant digits of a value, however narrow its interval."""
_PLUS_MINUS_DIGITS = 2
"""Significant digits of half an interval; the value has as many decimals."""

_MORE_DIGITS = 3
"""Decimals that a value and half its interval have at most beyond these, to differ."""
_NEGLIGIBLE = 0.001
"""Costs that are smaller are not told apart."""


def seeds_text(seeds: int) -> str:
    """A number of seeds in words: "1 seed"."""
    return f"{seeds} {'seed' if seeds == 1 else 'seeds'}"


def unit_of(ranking: Ranking) -> str:
    """One unit for all values of a ranking; empty for counts, % for shares."""
    values = [each.mean for each in ranking.standings]
    return spread_unit(ranking.subject.defined.column, values)


def spread_unit(column: str, values: Sequence[float | None]) -> str:
    """One unit for these values of a column; empty for counts, % for shares.

    That of times suits the smallest as well as the largest: 0.607 ms stands above 1,200 ms.
    """
    known = [abs(value) for value in values if value]
    match unit_of_column(column):
        case "bit/s":
            return rate_unit(max(known, default=0.0))
        case "s":
            return time_unit(middle(known))
        case "ratio":
            return "%"
        case _:
            return ""


def middle(values: Sequence[float]) -> float:
    """The geometric mean of what is above 0; 0 for nothing."""
    known = [value for value in values if value > 0]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known else 0.0


def unit_text(unit: str) -> str:
    """A unit as people write it: "µs" for "us"."""
    return {"us": "µs"}.get(unit, unit)


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
    time = time_unit(middle([each.value for each in short if each is not None]))
    columns = [
        (
            f"short flows p99 ({unit_text(time)})",
            [_bound(each, time) for each in short],
            any(short),
        ),
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
    return times_between(rows, f"{name}_p50_s", f"{name}_p99_s")


def times_between(rows: pl.DataFrame, *columns: str) -> str:
    """The unit that suits the largest values of several columns of times (s)."""
    largest = [float(rows[column].max() or 0.0) for column in columns]  # pyright: ignore[reportArgumentType]
    return time_unit(middle(largest))


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
    decimals = apart(value, half, decimals)
    text = f"{half:,.{decimals}f}"
    if not text.strip("0."):  # it is not 0, but smaller than what is shown
        text = f"< {10.0**-decimals:.{decimals}f}"
    return _minus(f"{value:{sign},.{decimals}f} ± {text}")


def apart(value: float, half: float, decimals: int) -> int:
    """How many decimals a value and half its interval need, `decimals` at least.

    Where both round to the same digits a reader cannot see whether the interval holds 0: then they
    have one more, and one more again where that does not do.
    """
    least = decimals
    while (
        decimals < least + _MORE_DIGITS and f"{abs(value):.{decimals}f}" == f"{half:.{decimals}f}"
    ):
        if abs(value) == half:
            return least
        decimals += 1
    return decimals


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
