"""The difference of a variant to a baseline, seed by seed.

A seed fixes what is random in a run, such as the start times and sizes of flows, for all variants
alike. What a seed does to both cancels in their difference, so its interval can be much narrower
than the intervals of the two means suggest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.statistics.interval import half_width, two_sided_p

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROUNDING = 1e-12
"""Differences below this part of the values are the rounding of sums, and count as zero."""


@dataclass(frozen=True)
class Difference:
    """A variant minus the baseline, over the seeds that both have."""

    mean: float | None
    """Mean difference, in the quantity's unit; None without a pair."""
    half: float | None
    """Half the interval of the mean difference, in the quantity's unit; None below two pairs."""
    percent: float | None
    """`mean` in % of the baseline's mean over the same seeds; None where that mean is 0.

    Relative to its absolute value: the sign is that of `mean`.
    """
    half_percent: float | None
    """`half` in % of the same mean, which is taken as known: its own spread does not count."""
    p_value: float | None
    """Of the two-sided paired t-test that the mean difference is 0; None below two pairs."""
    pairs: int
    """Number of seeds that both have."""
    left_out: int
    """Number of seeds that only one of the two has."""
    identical: bool
    """Whether the two have the same value on every common seed, but for rounding."""
    level: float
    """Confidence level of the intervals, 0.95 by default."""


def paired_difference(
    variant: Mapping[int, float], baseline: Mapping[int, float], level: float = 0.95
) -> Difference:
    """The difference of `variant` to `baseline`, both values by seed in one unit.

    Where all differences are equal the interval has no width; p is 1 if they are 0, and 0 if not:
    the seeds then do not change the difference at all. Raises ValueError for values that are not
    finite and for a level outside 0 to 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level is between 0 and 1, not {level}")
    for values in (variant, baseline):
        for seed, value in values.items():
            if not math.isfinite(value):
                raise ValueError(f"the value of seed {seed} is {value}")
    seeds = sorted(variant.keys() & baseline.keys())
    left_out = len(variant.keys() ^ baseline.keys())
    if not seeds:
        return Difference(None, None, None, None, None, 0, left_out, False, level)
    differences = _differences(
        [variant[seed] for seed in seeds], [baseline[seed] for seed in seeds]
    )
    mean = math.fsum(differences) / len(seeds)
    half = half_width(differences, level)
    base = abs(math.fsum(baseline[seed] for seed in seeds) / len(seeds))
    return Difference(
        mean=mean,
        half=half,
        percent=100 * mean / base if base > 0 else None,
        half_percent=100 * half / base if base > 0 and half is not None else None,
        p_value=_p_value(differences, mean),
        pairs=len(seeds),
        left_out=left_out,
        identical=not any(differences),
        level=level,
    )


def _differences(variant: list[float], baseline: list[float]) -> list[float]:
    """The differences; those that only rounding keeps from 0 are 0, or from each other, equal."""
    pairs = list(zip(variant, baseline, strict=True))
    sizes = [max(abs(a), abs(b)) for a, b in pairs]
    differences = [
        0.0 if abs(a - b) <= _ROUNDING * size else a - b
        for (a, b), size in zip(pairs, sizes, strict=True)
    ]
    if max(differences) - min(differences) <= _ROUNDING * max(sizes):
        return [differences[0]] * len(differences)
    return differences


def _p_value(differences: list[float], mean: float) -> float | None:
    n = len(differences)
    if n < 2:
        return None
    if min(differences) == max(differences):
        return 0.0 if differences[0] else 1.0
    variance = math.fsum((each - mean) ** 2 for each in differences) / (n - 1)
    return two_sided_p(mean / math.sqrt(variance / n), n - 1)
