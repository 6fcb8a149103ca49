"""Holm's correction, against published values, the closed test, and families of made-up nulls."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathweave.statistics.holm import holm, verdicts
from pathweave.statistics.paired import paired_difference

FIXED = settings(derandomize=True, deadline=None, database=None)


def test_textbook_values() -> None:
    # The second are those of p.adjust(c(...), "holm") in R.
    found = holm([0.01, 0.04, 0.03, 0.005])
    assert found.adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert found.rejected == (True, False, False, True)
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]).adjusted == pytest.approx(
        [0.05, 0.08, 0.09, 0.09, 0.09]
    )
    assert holm([0.6, 0.7]).adjusted == (1, 1)
    assert holm([]).adjusted == ()
    # The level itself is enough.
    assert holm([0.05]).rejected == (True,)


@FIXED
@given(st.lists(st.floats(0, 1), max_size=6), st.sampled_from([0.01, 0.05, 0.3]))
def test_it_rejects_what_the_closed_bonferroni_test_rejects(p: list[float], level: float) -> None:
    """A hypothesis falls when Bonferroni rejects every set of hypotheses that has it."""
    found = holm(p, level)
    for one in range(len(p)):
        others = [other for other in range(len(p)) if other != one]
        sets = [(one, *rest) for size in range(len(p)) for rest in combinations(others, size)]
        closed = max(min(p[each] for each in group) * len(group) for group in sets)
        assert found.adjusted[one] == pytest.approx(min(closed, 1))
        assert found.rejected[one] == (found.adjusted[one] <= level)


def test_false_finds_of_a_family_stay_below_the_level() -> None:
    """Six variants that are the baseline, 2,000 times; they share it, as in a summary."""
    rng = np.random.default_rng(3)
    wrong = uncorrected = 0
    for _ in range(2000):
        baseline = dict(enumerate(rng.normal(100, 10, 8).tolist()))
        family = [
            paired_difference(
                {seed: baseline[seed] + noise for seed, noise in enumerate(row)}, baseline
            )
            for row in rng.normal(0, 4, (6, 8)).tolist()
        ]
        wrong += any(each.outcome != "not told apart" for each in verdicts(family, True))
        uncorrected += any(each.p_value is not None and each.p_value < 0.05 for each in family)
    error = math.sqrt(0.05 * 0.95 / 2000)
    assert 0.05 - 3 * error - 0.005 < wrong / 2000 <= 0.05 + 3 * error
    # Without the correction it is 1 - 0.95^6, one family in four.
    assert uncorrected / 2000 > 0.2


def test_verdicts_follow_the_direction_of_the_quantity() -> None:
    baseline = {seed: 100.0 + seed for seed in range(8)}
    up = paired_difference({s: v + 10 + 0.1 * (s % 2) for s, v in baseline.items()}, baseline)
    down = paired_difference({s: v - 10 - 0.1 * (s % 2) for s, v in baseline.items()}, baseline)
    same = paired_difference(baseline, baseline)
    lone = paired_difference({0: 500.0}, baseline)
    goodput = verdicts([up, down, same, lone], larger_is_better=True)
    rest = ["not told apart", "too few seeds"]
    assert [each.outcome for each in goodput] == ["better", "worse", *rest]
    times = verdicts([up, down, same, lone], larger_is_better=False)
    assert [each.outcome for each in times] == ["worse", "better", *rest]
    assert {each.correction for each in goodput} == {"Holm"}
    assert {each.comparisons for each in goodput} == {3}
    assert goodput[3].adjusted_p is None


def test_the_correction_can_overrule_an_interval_that_excludes_zero() -> None:
    baseline = dict.fromkeys(range(4), 0.0)
    near = paired_difference({0: 1.0, 1: 2.0, 2: 3.0, 3: 5.0}, baseline)
    assert near.mean is not None
    assert near.half is not None
    assert near.mean > near.half
    assert verdicts([near], True)[0].outcome == "better"
    nulls = [paired_difference({0: 1.0, 1: -1.0, 2: 2.0, 3: -2.0}, baseline)] * 2
    assert verdicts([near, *nulls], True)[0].outcome == "not told apart"


def test_certain_differences_are_found_in_any_family() -> None:
    baseline = {1: 1.0, 2: 2.0}
    certain = paired_difference({1: 2.0, 2: 3.0}, baseline)
    assert [each.outcome for each in verdicts([certain] * 50, True)] == ["better"] * 50


def test_what_cannot_be_is_refused() -> None:
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="p-value"):
            holm([0.5, p])
    with pytest.raises(ValueError, match="a level"):
        holm([0.5], 5)
