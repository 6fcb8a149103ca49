"""The stopping rule: its looks by hand, and the coverage of the interval at the stop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pathweave.statistics.interval import half_width
from pathweave.statistics.until import Decision, Rule, State
from statistics_coverage import EVEN, MOST, SKEWED, TARGETS, Case, Stops, stops


def state(count: int, spread: float, variants: int = 0) -> State:
    """Values that alternate about 100 by `spread`, or differences to a baseline of 100 that do."""
    seeds = range(1, count + 1)
    swing = {seed: 100 + spread * (-1) ** seed for seed in seeds}
    still = dict.fromkeys(seeds, 100.0)
    return State(list(seeds), still, [swing] * variants) if variants else State(list(seeds), swing)


@pytest.mark.parametrize("variants", [0, 1, 3])
def test_looks_begin_at_eight_and_come_every_four(variants: int) -> None:
    rule = Rule(target=0.02, most=100)
    asked = [rule.next_seeds(state(count, 50, variants)).further for count in range(18)]
    assert asked == [8, 7, 6, 5, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3]


@pytest.mark.parametrize("variants", [0, 1, 3])
def test_two_narrow_looks_in_a_row_end_it(variants: int) -> None:
    rule = Rule(target=0.02, most=100)
    first = rule.next_seeds(state(8, 0.1, variants))
    assert (first.further, first.reason) == (4, None)
    second = rule.next_seeds(state(12, 0.1, variants))
    assert (second.further, second.reason) == (0, "narrow enough")
    expected = half_width([100 + 0.1 * (-1) ** seed for seed in range(12)])
    assert expected is not None
    assert second.half == pytest.approx(expected / 100)


def test_a_wide_look_between_starts_again() -> None:
    rule = Rule(target=0.02, most=100)
    calm = dict.fromkeys(range(20), 100.0)
    burst = calm | {9: 300.0}
    assert rule.next_seeds(State(range(12), calm)).reason == "narrow enough"
    assert rule.next_seeds(State(range(12), burst)).further == 4
    # Narrow at 12 and 16, though not at 8.
    early = calm | {0: 108.0}
    assert rule.next_seeds(State(range(12), early)).further == 4
    assert rule.next_seeds(State(range(16), early)).reason == "narrow enough"


def test_the_target_itself_is_narrow_enough() -> None:
    half = half_width([100 + (-1) ** seed for seed in range(12)])
    assert half is not None
    at_eight = half_width([100 + (-1) ** seed for seed in range(8)])
    assert at_eight is not None
    assert at_eight > half
    exact = Rule(target=at_eight / 100, most=100)
    assert exact.next_seeds(state(12, 1)).reason == "narrow enough"
    below = Rule(target=at_eight / 100 * (1 - 1e-9), most=100)
    assert below.next_seeds(state(12, 1)).further == 4


def test_the_widest_of_several_comparisons_counts() -> None:
    rule = Rule(target=0.02, most=100)
    narrow, wide = state(12, 0.1, 1), state(12, 50, 1)
    both = State(narrow.seeds, narrow.baseline, [*narrow.variants, *wide.variants])
    assert rule.next_seeds(both).further == 4
    assert rule.next_seeds(both).half == rule.next_seeds(wide).half


def test_pairing_counts_and_not_the_spread_of_the_means() -> None:
    baseline = {seed: 100.0 + 20 * (seed % 5) for seed in range(12)}
    variant = {seed: value + 3 + 0.01 * (seed % 2) for seed, value in baseline.items()}
    rule = Rule(target=0.02, most=100)
    assert rule.next_seeds(State(range(12), baseline)).further == 4
    assert rule.next_seeds(State(range(12), baseline, [variant])).reason == "narrow enough"


def test_most_seeds_end_it() -> None:
    rule = Rule(target=0.02, most=14)
    assert [rule.next_seeds(state(count, 50)).further for count in (8, 12, 13, 14)] == [4, 2, 1, 0]
    assert rule.next_seeds(state(14, 50)).reason == "most seeds reached"
    assert rule.next_seeds(state(14, 0.1)).reason == "narrow enough"
    # Seeds beyond the most that were there before are no look.
    assert rule.next_seeds(state(30, 50)).reason == "most seeds reached"
    few = Rule(target=0.02, most=3)
    assert few.next_seeds(state(0, 0.1)).further == 3
    assert few.next_seeds(state(3, 0.1)).reason == "most seeds reached"


def test_one_look_is_not_two() -> None:
    found = Rule(target=0.02, most=8).next_seeds(state(8, 0.0))
    assert (found.further, found.reason, found.half) == (0, "most seeds reached", 0)


def test_seeds_that_do_not_differ_end_it_at_twelve() -> None:
    rule = Rule(target=0.02, most=100)
    assert rule.next_seeds(state(12, 0.0)) == Decision(0, "narrow enough", 0)
    zero = dict.fromkeys(range(12), 0.0)
    assert rule.next_seeds(State(range(12), zero, [zero])) == Decision(0, "narrow enough", 0)


def test_relative_to_nothing_is_never_narrow() -> None:
    rule = Rule(target=0.02, most=100)
    swing = {seed: (-1.0) ** seed for seed in range(12)}
    zero = dict.fromkeys(range(12), 0.0)
    assert rule.next_seeds(State(range(12), swing)) == Decision(4, None, None)
    assert rule.next_seeds(State(range(12), zero, [swing])) == Decision(4, None, None)


def test_a_missing_pair_delays_the_first_look() -> None:
    rule = Rule(target=0.02, most=100)
    whole = dict.fromkeys(range(20), 100.0)
    holes = {seed: 101.0 for seed in range(20) if seed != 2}
    assert rule.next_seeds(State(range(12), whole, [holes])).further == 4
    assert rule.next_seeds(State(range(16), whole, [holes])).reason == "narrow enough"
    # Of several variants the one with the fewest pairs counts.
    assert rule.next_seeds(State(range(12), whole, [whole, holes])).further == 4
    assert rule.next_seeds(State(range(16), whole, [holes, {}])) == Decision(4, None, None)


def test_seeds_count_in_the_order_in_which_they_ran() -> None:
    values = dict.fromkeys(range(12), 100.0) | {11: 108.0}
    rule = Rule(target=0.02, most=100)
    assert rule.next_seeds(State(range(12), values)).reason == "narrow enough"
    assert rule.next_seeds(State([*range(11, -1, -1)], values)).further == 4


def test_what_cannot_be_is_refused() -> None:
    for target in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="target"):
            Rule(target, 100)
    for numbers in ({"most": 0}, {"most": 9, "least": 1}, {"most": 9, "step": 0}):
        with pytest.raises(ValueError, match="seed"):
            Rule(0.02, **numbers)
    with pytest.raises(ValueError, match="twice"):
        Rule(0.02, 100).next_seeds(State([1, 1], {1: 1.0}))
    with pytest.raises(ValueError, match="seed 1 is nan"):
        Rule(0.02, 100).next_seeds(State([1], {1: math.nan}))


def name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", [*EVEN, *SKEWED], ids=name)
def test_the_simulation_of_coverage_stops_where_the_rule_does(case: Case) -> None:
    found = stops(case, (0.05,), replications=30)[0]
    baseline, variants = found.values
    rule = Rule(target=0.05, most=MOST)
    for row, expected in enumerate(found.seeds):
        count = 0
        while more := rule.next_seeds(
            State(
                range(count),
                dict(enumerate(baseline[row, :count].tolist())),
                [dict(enumerate(each[row, :count].tolist())) for each in variants],
            )
        ).further:
            count += more
        assert count == expected


def least_coverage(case: Case, least: int = 8) -> float:
    return min(map(Stops.coverage, stops(case, TARGETS, least)))


@pytest.mark.parametrize("case", [*EVEN, *SKEWED[:2]], ids=name)
def test_intervals_at_the_stop_cover(case: Case) -> None:
    assert least_coverage(case) >= 0.93


@pytest.mark.parametrize("case", SKEWED[2:5], ids=name)
def test_skewed_differences_need_96_seeds_at_least(case: Case) -> None:
    assert least_coverage(case) < 0.93 <= least_coverage(case, least=96)


@pytest.mark.parametrize("case", SKEWED[5:], ids=name)
def test_the_most_skewed_differences_are_not_covered_even_so(case: Case) -> None:
    """docs/statistics.md says so. Where this fails, the page has to be measured again."""
    assert least_coverage(case, least=96) < 0.93


def test_skewed_differences_are_recognised() -> None:
    """Exponential differences are found out more often than not, normal ones hardly ever."""
    rng = np.random.default_rng(7)
    rule = Rule(0.02, most=64)
    found = {"normal": 0, "exponential": 0}
    for _ in range(1000):
        for name, draw in (("normal", rng.normal), ("exponential", rng.exponential)):
            values = dict(enumerate(draw(size=20)))
            zeros = dict.fromkeys(range(20), 0.0)
            found[name] += rule.skewed(State(range(20), zeros, [values]))
    assert found["normal"] < 60
    assert found["exponential"] > 600
