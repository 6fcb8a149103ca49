"""The difference of a variant to a baseline whose values do not belong together seed by seed.

Where a seed does not fix the same workload for both, nothing cancels in the differences of equal
seeds. Welch's interval takes the two samples as independent and lets their spreads differ.
Source: B. L. Welch, "The generalization of 'Student's' problem when several different population
variances are involved", Biometrika 34 (1947) 28-35.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.statistics.interval import t_critical, two_sided_p

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-12
"""Differences below this part of the values are the rounding of sums, and count as zero."""


@dataclass(frozen=True)
class UnpairedDifference:
    """The mean of a variant minus the mean of the baseline."""

    mean: float
    """In the quantity's unit."""
    half: float | None
    """Half the interval, in the quantity's unit; None where a side has fewer than two values."""
    percent: float | None
    """`mean` in % of the absolute value of the baseline's mean; None where that is 0."""
    half_percent: float | None
    """`half` in % of the same mean, which is taken as known."""
    p_value: float | None
    """Of the two-sided test that the means are equal; None as for `half`."""
    degrees: float | None
    """Degrees of freedom by Welch and Satterthwaite; None as for `half`."""
    level: float
    """Confidence level of the interval."""


def welch_difference(
    variant: Sequence[float], baseline: Sequence[float], level: float = 0.95
) -> UnpairedDifference:
    """The difference of the means of two independent samples, both in one unit.

    Where neither sample has any spread the interval has no width; p is 1 if the means are equal,
    and 0 if not. Raises ValueError for an empty sample, for values that are not finite and for a
    level outside 0 to 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level is between 0 and 1, not {level}")
    for values in (variant, baseline):
        if not values:
            raise ValueError("each sample needs at least one value")
        for value in values:
            if not math.isfinite(value):
                raise ValueError(f"a value is {value}")
    mean, base = _mean(variant), _mean(baseline)
    size = max(abs(each) for each in (*variant, *baseline))
    difference = 0.0 if abs(mean - base) <= _ROUNDING * size else mean - base
    half = p_value = degrees = None
    if min(len(variant), len(baseline)) >= 2:
        ours, theirs = _squared_error(variant), _squared_error(baseline)
        error = math.sqrt(ours + theirs)
        if error <= _ROUNDING * size:
            half, p_value = 0.0, 0.0 if difference else 1.0
            degrees = float(len(variant) + len(baseline) - 2)
        else:
            # In shares of the sum, so that no square is too small for a double.
            part, other = ours / (ours + theirs), theirs / (ours + theirs)
            degrees = 1 / (part**2 / (len(variant) - 1) + other**2 / (len(baseline) - 1))
            half = t_critical(degrees, level) * error
            p_value = two_sided_p(difference / error, degrees)
    return UnpairedDifference(
        mean=difference,
        half=half,
        percent=100 * difference / abs(base) if base else None,
        half_percent=100 * half / abs(base) if base and half is not None else None,
        p_value=p_value,
        degrees=degrees,
        level=level,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _squared_error(values: Sequence[float]) -> float:
    """The squared standard error of the mean."""
    mean = _mean(values)
    n = len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n
