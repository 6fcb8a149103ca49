"""Coverage of the interval at which "seeds until it is sure" stops, on made-up values.

    PYTHONPATH=python:tests python tests/statistics_coverage.py

prints the table of docs/statistics.md. It states the rule again, for many replications at once and
with SciPy's quantiles; test_statistics_until.py holds `Rule` to it, replication by replication.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Draw = Callable[[Generator, tuple[int, int]], tuple[NDArray, list[NDArray]]]

BASE = 100.0
"""Mean of every baseline; a standard deviation is 10 where nothing else is said."""
MOST = 400
REPLICATIONS = 10_000
TARGETS = (0.08, 0.05, 0.04, 0.03, 0.025, 0.02)


@dataclass(frozen=True)
class Case:
    """Values of a baseline and of variants, one row a replication and one column a seed."""

    name: str
    draw: Draw
    true: float
    """The true mean difference of each variant; the true mean where there is no variant."""


def _normal(correlation: float, variants: int) -> Draw:
    def draw(rng: Generator, size: tuple[int, int]) -> tuple[NDArray, list[NDArray]]:
        common = rng.normal(0, 1, size)
        own = np.sqrt(1 - correlation)

        def values(mean: float) -> NDArray:
            # Differences have a standard deviation of 10.
            mixed = np.sqrt(correlation) * common + own * rng.normal(0, 1, size)
            return mean + 10 * mixed / np.sqrt(2 * (1 - correlation))

        return values(BASE), [values(BASE - 5) for _ in range(variants)]

    return draw


def _bimodal(share: float) -> Draw:
    """The variant falls behind in `share` of the seeds; the standard deviation stays 10."""

    def draw(rng: Generator, size: tuple[int, int]) -> tuple[NDArray, list[NDArray]]:
        baseline = rng.normal(BASE, 5, size)
        hit = ((rng.random(size) < share) - share) / np.sqrt(share * (1 - share))
        return baseline, [baseline - 5 + 10 * hit + rng.normal(0, 1, size)]

    return draw


def _skewed(sigma: float) -> Draw:
    """The difference is lognormal, shifted; an exponential one where sigma is 0."""

    def draw(rng: Generator, size: tuple[int, int]) -> tuple[NDArray, list[NDArray]]:
        baseline = rng.normal(BASE, 5, size)
        return baseline, [baseline - 5 + 10 * _standard_skewed(rng, size, sigma)]

    return draw


def _lognormal_pair(rng: Generator, size: tuple[int, int]) -> tuple[NDArray, list[NDArray]]:
    """Two independent lognormal values with sigma 1: each skewed, their difference not."""
    baseline, variant = (BASE + shift + 7 * _standard_skewed(rng, size, 1.0) for shift in (0, -5))
    return baseline, [variant]


def _mean_alone(sigma: float) -> Draw:
    def draw(rng: Generator, size: tuple[int, int]) -> tuple[NDArray, list[NDArray]]:
        return BASE + 10 * _standard_skewed(rng, size, sigma), []

    return draw


def _standard_skewed(rng: Generator, size: tuple[int, int], sigma: float) -> NDArray:
    if sigma == 0:
        return rng.exponential(1, size) - 1
    middle = np.exp(sigma**2 / 2)
    spread = middle * np.sqrt(np.exp(sigma**2) - 1)
    return (rng.lognormal(0, sigma, size) - middle) / spread


EVEN = (
    Case("normal", _normal(0.0, 1), -5),
    Case("normal, correlated 0.9", _normal(0.9, 1), -5),
    Case("three normal comparisons, the widest", _normal(0.5, 3), -5),
    Case("bimodal, half and half", _bimodal(0.5), -5),
    Case("lognormal (sigma 1) less lognormal", _lognormal_pair, -5),
)
"""Differences that are as often above their mean as below it."""
SKEWED = (
    Case("lognormal, sigma 0.25 (skewness 0.8)", _skewed(0.25), -5),
    Case("lognormal mean alone, sigma 0.25", _mean_alone(0.25), BASE),
    Case("lognormal, sigma 0.5 (skewness 1.8)", _skewed(0.5), -5),
    Case("exponential (skewness 2)", _skewed(0.0), -5),
    Case("bimodal, 1 seed in 10 (skewness 2.7)", _bimodal(0.1), -5),
    Case("lognormal, sigma 1 (skewness 6.2)", _skewed(1.0), -5),
)


@dataclass(frozen=True)
class Stops:
    """Where the rule stops in each replication, and whether the intervals there hold the truth."""

    seeds: NDArray
    covers: NDArray
    """One row a comparison."""
    values: tuple[NDArray, list[NDArray]]

    def coverage(self) -> float:
        """The share of replications that cover, of the comparison that does so least often."""
        return float(self.covers.mean(axis=1).min())


def stops(
    case: Case,
    targets: tuple[float, ...],
    least: int = 8,
    replications: int = REPLICATIONS,
    looks_in_a_row: int = 2,
) -> list[Stops]:
    """The rule with steps of 4, once for each target, on the same values."""
    baseline, variants = case.draw(np.random.default_rng(1), (replications, MOST))
    looks = np.arange(least, MOST + 1, 4)
    differences = [variant - baseline for variant in variants] or [baseline]
    base = _means(baseline, looks)
    means = [_means(each, looks) for each in differences]
    halves = [
        student.ppf(0.975, looks - 1)
        * np.sqrt((_means(each**2, looks) - mean**2) * looks / (looks - 1) / looks)
        for each, mean in zip(differences, means, strict=True)
    ]
    widest = np.max(halves, axis=0) / np.abs(base)
    every = np.arange(replications)
    found = []
    for target in targets:
        narrow = widest <= target
        stop = narrow.copy()
        for back in range(1, looks_in_a_row):
            stop[:, back:] &= narrow[:, :-back]
            stop[:, :back] = False
        stop[:, -1] = True
        at = stop.argmax(axis=1)
        covers = [
            np.abs(mean[every, at] - case.true) <= half[every, at]
            for mean, half in zip(means, halves, strict=True)
        ]
        found.append(Stops(looks[at], np.array(covers), (baseline, variants)))
    return found


def _means(values: NDArray, looks: NDArray) -> NDArray:
    return np.cumsum(values, axis=1)[:, looks - 1] / looks


def main() -> None:
    columns = [(8, 2), (64, 2), (96, 2), (8, 4)]
    print("| differences |", end="")
    for least, row in columns:
        print(f" {least} seeds at least, {row} looks |", end="")
    print("\n|---|" + "---|" * len(columns))
    for case in (*EVEN, *SKEWED):
        print(f"| {case.name} |", end="", flush=True)
        for least, row in columns:
            found = stops(case, TARGETS, least, looks_in_a_row=row)
            worst = min(found, key=Stops.coverage)
            print(f" {100 * worst.coverage():.1f} ({worst.seeds.mean():.0f}) |", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
