"""Paired differences, against SciPy's paired t-test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from pathweave.statistics.paired import paired_difference

BASELINE = {1: 7000.0, 2: 7228.0, 3: 7456.0}
VARIANT = {1: 7405.0, 2: 7538.0, 3: 7685.0}


def test_pairing_finds_what_two_intervals_hide() -> None:
    found = paired_difference(VARIANT, BASELINE)
    mean = (405 + 310 + 229) / 3
    assert found.mean == pytest.approx(mean)
    # t is 4.302653 at 2 degrees of freedom.
    half = 4.302653 * math.sqrt(sum((each - mean) ** 2 for each in (405, 310, 229)) / 6)
    assert half == pytest.approx(219, abs=0.5)
    assert found.half == pytest.approx(half, rel=1e-6)
    assert found.percent == pytest.approx(100 * mean / 7228)
    assert found.half_percent == pytest.approx(100 * half / 7228, rel=1e-6)
    assert (found.pairs, found.left_out, found.identical, found.level) == (3, 0, False, 0.95)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_interval_and_p_value_are_those_of_scipy(level: float) -> None:
    rng = np.random.default_rng(2)
    for n in (2, 3, 8, 40):
        baseline = rng.normal(100, 20, n)
        variant = baseline + rng.normal(1, 3, n)
        found = paired_difference(
            dict(enumerate(variant.tolist())), dict(enumerate(baseline.tolist())), level
        )
        truth = ttest_rel(variant, baseline)
        low, high = truth.confidence_interval(level)
        assert found.p_value == pytest.approx(truth.pvalue, rel=1e-8)
        assert found.mean is not None
        assert found.half is not None
        assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high))


def test_only_common_seeds_count() -> None:
    # Seeds 4 and 5 have no partner; neither may move the difference or the baseline's mean.
    found = paired_difference(VARIANT | {4: 1e9}, {5: -1e9} | BASELINE)
    alone = paired_difference(VARIANT, BASELINE)
    assert found.left_out == 2
    assert found.mean == alone.mean
    assert found.percent == alone.percent
    assert found.pairs == 3


def test_equal_values_are_identical() -> None:
    found = paired_difference(BASELINE, dict(BASELINE))
    assert found.identical
    assert (found.mean, found.half, found.percent, found.half_percent) == (0, 0, 0, 0)
    assert found.p_value == 1


def test_rounding_is_no_difference() -> None:
    assert paired_difference({1: 0.1 + 0.2, 2: 0.7 + 0.1}, {1: 0.3, 2: 0.8}).identical
    assert not paired_difference({1: 0.3 + 1e-9, 2: 0.8}, {1: 0.3, 2: 0.8}).identical


def test_a_constant_difference_is_certain() -> None:
    # In binary 1.1 - 0.1, 2.2 - 1.2 and 3.3 - 2.3 differ in their last digits.
    found = paired_difference({1: 1.1, 2: 2.2, 3: 3.3}, {1: 0.1, 2: 1.2, 3: 2.3})
    assert found.mean == pytest.approx(1)
    assert (found.half, found.p_value, found.identical) == (0, 0, False)


def test_one_pair_has_no_interval() -> None:
    found = paired_difference({1: 3.0, 2: 4.0}, {1: 2.0})
    assert (found.mean, found.percent, found.pairs, found.left_out) == (1, 50, 1, 1)
    assert (found.half, found.half_percent, found.p_value) == (None, None, None)


def test_no_pair_has_nothing() -> None:
    found = paired_difference({1: 3.0}, {2: 2.0})
    assert (found.mean, found.half, found.percent, found.p_value) == (None, None, None, None)
    assert (found.pairs, found.left_out, found.identical) == (0, 2, False)


def test_percentages_keep_the_sign_of_the_difference() -> None:
    assert paired_difference({1: -1.0, 2: -2.0}, {1: -2.0, 2: -2.0}).percent == pytest.approx(25)
    assert paired_difference({1: 1.0, 2: 2.0}, {1: 1.0, 2: -1.0}).percent is None


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="seed 2 is nan"):
        paired_difference({1: 1.0, 2: math.nan}, {1: 1.0})
    with pytest.raises(ValueError, match="seed 1 is inf"):
        paired_difference({1: 1.0}, {1: math.inf})
    with pytest.raises(ValueError, match="confidence level"):
        paired_difference({}, {}, 95)
