"""Seeds until the answer is sure: when a comparison needs no further seeds.

A look is taken at 8 seeds and after every 4 more. It is narrow when the half-interval is at most
the target, and two narrow looks in a row end it.

To stop where an interval happens to be narrow favours samples whose spread is too small by chance.
Chow and Robbins ("On the asymptotic theory of fixed-width sequential confidence intervals for the
mean", Annals of Mathematical Statistics 36 (1965) 457-462) show that the loss of coverage vanishes
as the target gets small; with few seeds it has to be measured.

Of 10,000 made-up series for each of six targets, the 95 % interval at the stop holds the true
difference at least so often at the worst target (tests/statistics_coverage.py; docs/statistics.md
has more cases):

    differences                          least = 8    least = 64    least = 96
    normal                                  93.9 %        94.9 %        95.1 %
    bimodal, half and half                  93.4 %        94.7 %        94.8 %
    lognormal, sigma 0.25 (skewness 0.8)    93.5 %        94.6 %        95.1 %
    lognormal, sigma 0.5 (skewness 1.8)     91.0 %        94.0 %        94.4 %
    exponential (skewness 2)                88.4 %        93.0 %        93.9 %
    bimodal, 1 in 10 (skewness 2.7)         67.2 %        91.8 %        93.2 %
    lognormal, sigma 1 (skewness 6.2)       80.5 %        91.0 %        91.6 %

So the rule as it stands keeps 93 % for differences with little skewness, and not for skewed ones:
those need `least` = 96, and the most skewed are not covered even then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pathweave.statistics.interval import half_width
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Reason = Literal["narrow enough", "most seeds reached"]

SKEWED = 1.0
"""Skewness of differences from which a few seeds may not tell enough."""


@dataclass(frozen=True)
class State:
    """What has been run: values by seed, in one unit."""

    seeds: Sequence[int]
    """The seeds that were run, in the order in which they were."""
    baseline: Mapping[int, float]
    """The baseline's values; the only variant's where nothing is compared."""
    variants: Sequence[Mapping[int, float]] = ()
    """The values of each variant that is compared to the baseline."""


@dataclass(frozen=True)
class Decision:
    """How many seeds to run next, or why none."""

    further: int
    """Number of further seeds before the next decision; 0 when done."""
    reason: Reason | None
    """Why it is done; None while it is not."""
    half: float | None
    """The widest half-interval over all seeds run, as a share of the baseline's mean.

    None where an interval is missing or the mean is 0.
    """


@dataclass(frozen=True)
class Rule:
    """When to stop. Raises ValueError for a target or numbers of seeds that cannot be."""

    target: float
    """Largest half-interval at the end, as a share of the baseline's mean: 0.02 for 2 %."""
    most: int
    """Most seeds allowed."""
    least: int = 8
    """Seeds at the first look."""
    step: int = 4
    """Seeds from one look to the next."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.target) and self.target > 0):
            raise ValueError(f"the target is above 0, not {self.target}")
        if self.most < 1 or self.least < 2 or self.step < 1:
            raise ValueError("at least one seed, two at the first look, and steps of one")

    def next_seeds(self, state: State) -> Decision:
        """How many seeds to run after those of `state`.

        It depends on the last two looks alone, so that it is the same whether seeds came one look
        at a time or were there before. A look with fewer than `least` values of a variant that
        have their pair is not narrow. Raises ValueError for a seed that is named twice and for
        values that are not finite.
        """
        seeds = state.seeds
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is named twice")
        half, _ = _widest(state, seeds)
        looks = self._looks()
        taken = [count for count in looks if count <= len(seeds)]
        if len(taken) >= 2 and all(self._narrow(state, seeds[:count]) for count in taken[-2:]):
            return Decision(0, "narrow enough", half)
        if len(taken) == len(looks):
            return Decision(0, "most seeds reached", half)
        return Decision(looks[len(taken)] - len(seeds), None, half)

    def skewed(self, state: State) -> bool:
        """Whether the differences of some variant are skewed beyond doubt.

        Then an interval over few of them holds the truth less often than its level says, as in the
        lower half of the table above: where the sample's skewness is above `SKEWED` and twice its
        standard error under a normal distribution.
        """
        baseline = _of(state.baseline, state.seeds)
        series = [
            [values[seed] - baseline[seed] for seed in baseline if seed in values]
            for values in (_of(variant, state.seeds) for variant in state.variants)
        ] or [list(baseline.values())]
        return any(_is_skewed(values) for values in series)

    def _looks(self) -> list[int]:
        return [*range(self.least, self.most, self.step), self.most]

    def _narrow(self, state: State, seeds: Sequence[int]) -> bool:
        half, values = _widest(state, seeds)
        return half is not None and values >= self.least and half <= self.target


def _is_skewed(values: Sequence[float]) -> bool:
    n = len(values)
    if n < 3:
        return False
    mean = math.fsum(values) / n
    second = math.fsum((value - mean) ** 2 for value in values) / n
    if second == 0:
        return False
    third = math.fsum((value - mean) ** 3 for value in values) / n
    skewness = math.sqrt(n * (n - 1)) / (n - 2) * third / second**1.5
    # Of the sample skewness of normal values (Cramér 1946, 29.3).
    error = math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    return abs(skewness) > max(SKEWED, 2 * error)


def _widest(state: State, seeds: Sequence[int]) -> tuple[float | None, int]:
    """The widest half-interval over `seeds`, as a share, and the fewest values it rests on."""
    baseline = _of(state.baseline, seeds)
    if not state.variants:
        return _of_mean(baseline), len(baseline)
    found = [paired_difference(_of(variant, seeds), baseline) for variant in state.variants]
    halves = [
        0.0 if each.half == 0 else None if each.half_percent is None else each.half_percent / 100
        for each in found
    ]
    known = [half for half in halves if half is not None]
    widest = max(known) if len(known) == len(halves) else None
    return widest, min(each.pairs for each in found)


def _of_mean(values: Mapping[int, float]) -> float | None:
    for seed, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"the value of seed {seed} is {value}")
    half = half_width(list(values.values()))
    if half is None or half == 0:
        return half
    mean = math.fsum(values.values()) / len(values)
    return half / abs(mean) if mean else None


def _of(values: Mapping[int, float], seeds: Sequence[int]) -> dict[int, float]:
    return {seed: values[seed] for seed in seeds if seed in values}
