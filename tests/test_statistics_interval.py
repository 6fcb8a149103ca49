"""Student's t and the interval of a mean, against SciPy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from pathweave.statistics.interval import half_width, t_critical, two_sided_p

LEVELS = (0.9, 0.95, 0.98, 0.99, 1 - 0.05 / 6, 0.999, 0.9999)


def test_quantiles_are_those_of_scipy() -> None:
    degrees = np.concatenate([np.arange(1, 101), np.arange(125, 1001, 25)])
    for level in LEVELS:
        ours = [t_critical(int(each), level) for each in degrees]
        np.testing.assert_allclose(ours, student.ppf((1 + level) / 2, degrees), rtol=1e-9)


def test_quantiles_are_those_of_the_tables() -> None:
    assert [round(t_critical(each), 3) for each in (1, 9, 40, 100)] == [12.706, 2.262, 2.021, 1.984]
    assert round(t_critical(10, 0.99), 3) == 3.169
    # With one degree of freedom it is Cauchy's distribution.
    assert t_critical(1, 0.5) == pytest.approx(1, rel=1e-12)


def test_p_values_are_those_of_scipy() -> None:
    for t in (0.0, 1e-8, 0.3, 1.0, 2.5, -2.5, 8.0, 40.0, 1e6):
        for degrees in (1, 2, 3, 7, 30, 399, 1000):
            expected = 2 * student.sf(abs(t), degrees)
            assert two_sided_p(t, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-300)
    assert two_sided_p(math.inf, 3) == 0
    assert two_sided_p(1e200, 3) == 0


def test_half_width() -> None:
    assert half_width([]) is None
    assert half_width([1.0]) is None
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert half_width([1.0, 2.0, 3.0], 0.99) == pytest.approx(9.924843 / math.sqrt(3), rel=1e-6)
    assert half_width([7.0, 7.0]) == 0


def test_intervals_of_normal_values_cover_as_often_as_they_say() -> None:
    values = np.random.default_rng(1).normal(3, 2, (4000, 5))
    for level in (0.9, 0.95):
        halves = np.array([half_width(row, level) for row in values.tolist()])
        covers = np.abs(values.mean(axis=1) - 3) <= halves
        assert abs(covers.mean() - level) < 3 * math.sqrt(level * (1 - level) / 4000)


def test_what_cannot_be_is_refused() -> None:
    for level in (0.0, 1.0, 95.0, math.nan):
        with pytest.raises(ValueError, match="confidence level"):
            t_critical(3, level)
    with pytest.raises(ValueError, match="degree of freedom"):
        t_critical(0)
    with pytest.raises(ValueError, match="not a number"):
        two_sided_p(math.nan, 3)
