"""Completion times of all flows that started, those included that have not finished.

An unfinished flow is censored at its age: it takes at least that long. To leave it out is to rank
by the survivors, and favours whoever leaves slow flows unfinished. `bounds` says what is certain
whatever becomes of the unfinished flows. `kaplan_meier` estimates, under an assumption.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Times = Sequence[float] | Vector

# Products of many factors of the estimate are off by this much at most, for 10 million flows.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Steps:
    """A step function of time that is constant between jumps and continuous from the right."""

    before: float
    """Its value before the first jump."""
    times: Vector
    """Times of the jumps (s), increasing."""
    values: Vector
    """Its value from each jump on."""

    def at(self, time_s: float) -> float:
        """Its value at `time_s`."""
        return float(self.along(np.array([time_s]))[0])

    def along(self, times_s: Vector) -> Vector:
        """Its values at `times_s`."""
        places = np.searchsorted(self.times, times_s, side="right")
        return np.concatenate([[self.before], self.values])[places]


@dataclass(frozen=True)
class Percentile:
    """A percentile of completion times (s), or the most that is known of it."""

    value: float
    """The percentile in s; its lower bound where `at_least`."""
    at_least: bool
    """Whether the percentile is only known to be `value` or more. No ranking may rest on it."""


@dataclass(frozen=True, eq=False)
class CompletionBounds:
    """What the CDF of completion times over all started flows can be.

    It lies between `latest` and `earliest`, whatever becomes of the unfinished flows.
    """

    earliest: Steps
    """The CDF if all unfinished flows finished at their present age."""
    latest: Steps
    """The CDF if no unfinished flow ever finished; it stays below 1."""
    _earliest_times: Vector
    _latest_times: Vector

    @property
    def started(self) -> int:
        """Number of flows, finished and not."""
        return len(self._earliest_times)

    def percentile(self, percent: float) -> Percentile | None:
        """The percentile over all started flows; None without flows.

        Between two flows it is interpolated, as in the summary's percentiles over finished flows,
        so that the two agree where all have finished. It is exact where the two bounds agree, and
        "at least" its lower bound elsewhere. Raises ValueError outside 0 to 100.
        """
        _check_percent(percent)
        if not self.started:
            return None
        low = _interpolated(self._earliest_times, percent)
        high = _interpolated(self._latest_times, percent)
        return Percentile(low, at_least=high > low)


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """The product-limit estimate of the share of flows that take longer than a time."""

    survival: Steps
    """S(t), from 1 down. It jumps at completions only."""
    variance: Steps
    """Greenwood's estimate of the variance of S(t); 0 where S(t) is 0, which is its limit there."""
    last_s: float
    """Longest time that was watched, of a finished flow or an unfinished one; nan without flows.

    Nothing is known beyond it.
    """

    def percentile(self, percent: float) -> Percentile | None:
        """The first time at which `percent` of the flows have finished; None without flows.

        "At least" the longest time watched where the estimate does not come down that far. Raises
        ValueError outside 0 to 100.
        """
        _check_percent(percent)
        if math.isnan(self.last_s):
            return None
        reached = np.nonzero(self.survival.values <= 1 - percent / 100 + _ROUNDING)[0]
        if reached.size:
            return Percentile(float(self.survival.times[reached[0]]), at_least=False)
        return Percentile(self.last_s, at_least=True)

    def median(self) -> Percentile | None:
        """The 50th percentile."""
        return self.percentile(50)


def bounds(finished: Times, censored: Times) -> CompletionBounds:
    """Bounds of the CDF from the times of finished flows and the ages of unfinished ones (s).

    They hold for any traffic. Raises ValueError for times that are negative or not finite.
    """
    done, ages = _times(finished, "completion time"), _times(censored, "age")
    never = np.full(len(ages), np.inf)
    return CompletionBounds(
        earliest=_cdf(np.concatenate([done, ages]), len(done) + len(ages)),
        latest=_cdf(done, len(done) + len(ages)),
        _earliest_times=np.sort(np.concatenate([done, ages])),
        _latest_times=np.sort(np.concatenate([done, never])),
    )


def kaplan_meier(finished: Times, censored: Times) -> KaplanMeier:
    """Estimate from the times of finished flows and the ages of unfinished ones (s).

    It assumes that what cuts a flow off has nothing to do with how long the flow would take. That
    is so where starts do not depend on completions (listed flows, Poisson), and not where a flow
    starts when another ends (permutation, random, incast). A flow that is cut off at the time at
    which another finishes counts as watched at that time. Raises ValueError for times that are
    negative or not finite.

    Sources: E. L. Kaplan and P. Meier, "Nonparametric estimation from incomplete observations",
    Journal of the American Statistical Association 53 (1958) 457-481; M. Greenwood, "The natural
    duration of cancer", Reports on Public Health and Medical Subjects 33 (1926) 1-26.
    """
    done, ages = _times(finished, "completion time"), _times(censored, "age")
    watched = np.sort(np.concatenate([done, ages]))
    times, completed = np.unique(done, return_counts=True)
    at_risk = len(watched) - np.searchsorted(watched, times, side="left")
    survival = np.cumprod((at_risk - completed) / at_risk, dtype=np.float64)
    # Where the last watched flow finishes, at_risk - completed is 0 and so is the survival.
    left = np.maximum(at_risk - completed, 1)
    variance = survival**2 * np.cumsum(completed / (at_risk * left), dtype=np.float64)
    return KaplanMeier(
        survival=Steps(1.0, times, survival),
        variance=Steps(0.0, times, variance),
        last_s=float(watched[-1]) if len(watched) else math.nan,
    )


def _times(values: Times, what: str) -> Vector:
    result = np.asarray(values, dtype=np.float64)
    if result.ndim != 1:
        raise ValueError(f"a {what} for each flow is asked for, not {result.ndim} dimensions")
    wrong = result[~(np.isfinite(result) & (result >= 0))]
    if wrong.size:
        raise ValueError(f"a {what} is {wrong[0]} s")
    return result


def _cdf(times: Vector, flows: int) -> Steps:
    jumps, counts = np.unique(times, return_counts=True)
    return Steps(0.0, jumps, np.cumsum(counts, dtype=np.float64) / max(flows, 1))


def _check_percent(percent: float) -> None:
    if not 0 <= percent <= 100:
        raise ValueError(f"a percentile is from 0 to 100, not {percent}")


def _interpolated(ordered: Vector, percent: float) -> float:
    # In this order a whole position is exact, and does not reach for the next flow.
    position = percent * (len(ordered) - 1) / 100
    place = math.floor(position)
    part = position - place
    low = float(ordered[place])
    if part == 0 or math.isinf(low):
        return low
    return low + part * (float(ordered[place + 1]) - low)
