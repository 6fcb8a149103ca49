"""Censored completion times, against textbook data, SciPy and times that are known after all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import CensoredData, ecdf

from pathweave.statistics.survival import Percentile, Steps, bounds, kaplan_meier

FIXED = settings(derandomize=True, deadline=None, database=None)
TIMES = st.lists(st.integers(0, 20).map(float), max_size=25)

# Weeks in remission under 6-mercaptopurine (Freireich et al., Blood 21, 1963), the usual example.
REMISSION = [6.0, 6, 6, 7, 10, 13, 16, 22, 23]
STILL_IN_REMISSION = [6.0, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]


def test_kaplan_meier_of_the_textbook() -> None:
    found = kaplan_meier(REMISSION, STILL_IN_REMISSION)
    assert found.survival.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert found.survival.values == pytest.approx(
        [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], abs=5e-4
    )
    assert np.sqrt(found.variance.values) == pytest.approx(
        [0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346], abs=5e-5
    )
    assert found.median() == Percentile(23, at_least=False)
    assert found.percentile(25) == Percentile(13, at_least=False)
    # Only 55 % are known to have relapsed.
    assert found.percentile(56) == Percentile(35, at_least=True)
    assert (found.survival.at(5.9), found.survival.at(6)) == (1, pytest.approx(6 / 7))


def test_kaplan_meier_by_hand() -> None:
    # At 1: 1 of 4. At 2: 1 of 3; the one cut off at 2 was still watched. At 3: the last one.
    found = kaplan_meier([1, 2, 3], [2])
    assert found.survival.values == pytest.approx([3 / 4, 1 / 2, 0])
    assert found.variance.values == pytest.approx([3 / 64, 1 / 4 * (1 / 12 + 1 / 6), 0])


@FIXED
@given(TIMES.filter(bool), TIMES)
def test_kaplan_meier_is_that_of_scipy(finished: list[float], ages: list[float]) -> None:
    found = kaplan_meier(finished, ages)
    # A flow that is cut off when another finishes is later by a hair: SciPy's way with ties.
    truth = ecdf(CensoredData(uncensored=finished, right=ages)).sf
    for time in np.arange(0, 20.5, 0.5):
        assert found.survival.at(time) == pytest.approx(truth.evaluate(time), abs=1e-12)


@FIXED
@given(TIMES.filter(bool))
def test_without_censoring_all_are_the_empirical_cdf(finished: list[float]) -> None:
    found, both = kaplan_meier(finished, []), bounds(finished, [])
    n = len(finished)
    for time in (-1.0, *np.arange(0, 20.5, 0.5)):
        share = sum(each <= time for each in finished) / n
        assert found.survival.at(time) == pytest.approx(1 - share, abs=1e-12)
        assert found.variance.at(time) == pytest.approx(share * (1 - share) / n, abs=1e-12)
        assert both.earliest.at(time) == both.latest.at(time) == pytest.approx(share)
    for percent in (0, 10, 50, 99, 100):
        known = both.percentile(percent)
        assert known is not None
        assert not known.at_least
        assert known.value == pytest.approx(np.percentile(finished, percent))
        assert found.percentile(percent) == Percentile(
            np.percentile(finished, percent, method="inverted_cdf"), at_least=False
        )


def test_bounds_by_hand() -> None:
    found = bounds([1, 2, 4], [3, 3])
    assert found.started == 5
    assert found.earliest.times.tolist() == [1, 2, 3, 4]
    assert found.earliest.values == pytest.approx([0.2, 0.4, 0.8, 1])
    assert found.latest.times.tolist() == [1, 2, 4]
    assert found.latest.values == pytest.approx([0.2, 0.4, 0.6])
    assert found.percentile(25) == Percentile(2, at_least=False)
    # The third of five took 3 s or 4 s, the fourth 3 s or for ever.
    assert found.percentile(50) == Percentile(3, at_least=True)
    assert found.percentile(75) == Percentile(3, at_least=True)
    assert found.percentile(100) == Percentile(4, at_least=True)


@FIXED
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=25),
    st.floats(0, 100),
)
def test_bounds_hold_whatever_becomes_of_the_unfinished(
    flows: list[tuple[int, int]], percent: float
) -> None:
    """Each flow's full time is known here; it is cut off at its age if that comes first."""
    finished = [float(time) for time, age in flows if time <= age]
    ages = [float(age) for time, age in flows if time > age]
    full = [float(time) for time, _ in flows]
    found = bounds(finished, ages)
    for at in range(22):
        share = sum(each <= at for each in full) / len(full)
        assert found.latest.at(at) - 1e-12 <= share <= found.earliest.at(at) + 1e-12
    known = found.percentile(percent)
    assert known is not None
    truth = float(np.percentile(full, percent))
    if known.at_least:
        assert known.value <= truth + 1e-9
    else:
        assert known.value == pytest.approx(truth)


def test_kaplan_meier_mends_what_survivors_hide() -> None:
    """Exponential times of mean 1, cut off at independent ages: half of them unfinished."""
    rng = np.random.default_rng(4)
    at_one, covered, survivors = [], [], []
    for _ in range(400):
        full, ages = rng.exponential(1, 200), rng.exponential(1, 200)
        done = full <= ages
        found = kaplan_meier(full[done], ages[~done])
        at_one.append(found.survival.at(1))
        half = 1.96 * math.sqrt(found.variance.at(1))
        covered.append(abs(at_one[-1] - math.exp(-1)) <= half)
        survivors.append((full[done] > 1).mean())
    assert np.mean(at_one) == pytest.approx(math.exp(-1), abs=0.008)
    assert 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400) <= np.mean(covered)
    # Of the finished ones alone e^-2 take longer than 1, not e^-1.
    assert np.mean(survivors) == pytest.approx(math.exp(-2), abs=0.01)


def test_without_flows_nothing_is_known() -> None:
    assert bounds([], []).percentile(50) is None
    assert bounds([], []).latest.at(1) == 0
    assert kaplan_meier([], []).median() is None
    assert kaplan_meier([], []).survival.at(1) == 1


def test_with_unfinished_flows_alone_there_are_lower_bounds() -> None:
    assert bounds([], [2, 4]).percentile(50) == Percentile(3, at_least=True)
    assert bounds([], [2, 4]).latest.at(9) == 0
    assert kaplan_meier([], [2, 4]).median() == Percentile(4, at_least=True)


def test_steps_jump_at_their_times() -> None:
    steps = Steps(0.0, np.array([1.0, 2.0]), np.array([0.5, 1.0]))
    assert [steps.at(time) for time in (0.9, 1, 1.9, 2, 3)] == [0, 0.5, 0.5, 1, 1]


def test_what_cannot_be_is_refused() -> None:
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="completion time is"):
            bounds([wrong], [])
        with pytest.raises(ValueError, match="age is"):
            kaplan_meier([], [wrong])
    for percent in (-1, 101, math.nan):
        with pytest.raises(ValueError, match="percentile"):
            bounds([1], []).percentile(percent)
        with pytest.raises(ValueError, match="percentile"):
            kaplan_meier([1], []).percentile(percent)
