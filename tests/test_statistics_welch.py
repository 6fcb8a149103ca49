"""Unpaired differences, against SciPy's Welch test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from pathweave.statistics.welch import welch_difference


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_and_p_value_are_those_of_scipy(level: float) -> None:
    rng = np.random.default_rng(7)
    for ours, theirs, spread in ((2, 2, 1.0), (3, 8, 5.0), (8, 3, 0.1), (40, 25, 3.0)):
        variant = rng.normal(101, 3 * spread, ours)
        baseline = rng.normal(100, 3, theirs)
        found = welch_difference(variant.tolist(), baseline.tolist(), level)
        truth = ttest_ind(variant, baseline, equal_var=False)
        low, high = truth.confidence_interval(level)
        assert found.p_value == pytest.approx(truth[1], rel=1e-8)
        assert found.degrees == pytest.approx(truth.df, rel=1e-9)  # pyright: ignore[reportAttributeAccessIssue]
        assert found.half is not None
        assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high))
        assert found.percent == pytest.approx(100 * found.mean / baseline.mean())
        assert found.half_percent == pytest.approx(100 * found.half / baseline.mean())


def test_what_the_samples_do_not_say_is_none() -> None:
    found = welch_difference([3.0], [2.0, 2.5])
    assert found.mean == pytest.approx(0.75)
    assert (found.half, found.p_value, found.degrees) == (None, None, None)
    nothing = welch_difference([1.0, 2.0], [0.0, 0.0])
    assert (nothing.percent, nothing.half_percent) == (None, None)
    assert nothing.half is not None


def test_the_sign_is_that_of_the_difference() -> None:
    assert welch_difference([-3.0, -3.1], [-2.0, -2.1]).percent == pytest.approx(-100 / 2.05)


def test_samples_without_spread_have_an_interval_without_width() -> None:
    same = welch_difference([2.0, 2.0], [2.0, 2.0, 2.0])
    assert (same.mean, same.half, same.p_value) == (0, 0, 1)
    other = welch_difference([2.0, 2.0], [3.0, 3.0, 3.0])
    assert (other.mean, other.half, other.p_value) == (-1, 0, 0)
    # Sums of tenths differ in their last bits; that is no spread.
    rounding = welch_difference([0.1 + 0.2, 0.3], [0.3, 0.3])
    assert (rounding.mean, rounding.p_value) == (0, 1)


def test_large_values_keep_their_degrees_of_freedom() -> None:
    plain = welch_difference([1.0, 2.0, 4.0], [1.5, 1.6])
    scaled = welch_difference([1e150, 2e150, 4e150], [1.5e150, 1.6e150])
    assert scaled.degrees == pytest.approx(plain.degrees)
    assert scaled.p_value == pytest.approx(plain.p_value)


@pytest.mark.parametrize(
    ("variant", "baseline", "level", "said"),
    [
        ([], [1.0], 0.95, "at least one value"),
        ([1.0], [math.inf], 0.95, "a value is inf"),
        ([1.0], [1.0], 1.0, "between 0 and 1"),
    ],
)
def test_nonsense_is_refused(
    variant: list[float], baseline: list[float], level: float, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        welch_difference(variant, baseline, level)
