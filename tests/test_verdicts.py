"""Verdicts on made-up samples, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathweave.reproducing.paper import Kind, Number, Order, Row, Shape
from pathweave.reproducing.record import Record
from pathweave.reproducing.reproduced import reproduced
from pathweave.reproducing.sample import Sample
from pathweave.reproducing.verdict import (
    Judged,
    Outcome,
    Point,
    judge,
    number_outcome,
    overall,
)
from pathweave.results.expected import Expected
from pathweave.results.expected import Point as Published
from pathweave.results.published_measure import PublishedMeasure
from pathweave.statistics.kendall import kendall_tau

SEEDS = 5
GOODPUT = PublishedMeasure("goodput", unit="Mbps")


def values(mean: float, spread: float = 0.0, seeds: int = SEEDS) -> dict[int, float]:
    """Values by seed with this mean; the interval's half is 0.98 of `spread` for five seeds.

    What a seed does to one mean it does not do to another.
    """
    offsets = [2 * place / (seeds - 1) - 1 if seeds > 1 else 0.0 for place in range(seeds)]
    mixed = np.random.default_rng(round(1000 * abs(mean))).permutation(offsets)
    return {seed: mean + spread * float(each) for seed, each in enumerate(mixed, start=1)}


def number(
    published: Mapping[str, float],
    *,
    tolerance: float | None = None,
    within: float | None = None,
    relative_to: str = "",
    unit: str = "Mbps",
    axis: str = "scheme",
) -> Number:
    measured = PublishedMeasure("goodput", unit=unit)
    if relative_to:
        measured = replace(measured, relative_to={"scheme": relative_to})
    points = tuple(Published({axis: name}, value) for name, value in published.items())
    return Number("goodput", "", Expected(measured, tolerance, "", (axis,), points, within))


Given = float | tuple[float, float] | Sample
"""A mean, a mean and the spread of the seeds, or a sample."""


def sampled(given: Mapping[str, Given], axis: str = "scheme") -> list[Sample]:
    found: list[Sample] = []
    for name, each in given.items():
        if isinstance(each, Sample):
            found.append(replace(each, at={axis: name}))
        else:
            mean, spread = each if isinstance(each, tuple) else (each, 0.01 * abs(each))
            found.append(Sample({axis: name}, values(mean, spread)))
    return found


def bound(least: float) -> Sample:
    return Sample({}, values(least), at_least=True)


def judged(claim: Number, **given: Given) -> Judged:
    return judge(claim, sampled(given))


# Numbers, one by one.

ONE = number({"A": 100}, tolerance=0.1)


@pytest.mark.parametrize(
    ("mean", "spread", "outcome"),
    [
        (100, 1, Outcome.AGREES),
        (109, 1, Outcome.AGREES),
        (91, 9, Outcome.AGREES),
        (109.9, 10, Outcome.AGREES),  # the interval may go beyond
        (100, 20, Outcome.UNDECIDED),  # too wide, however near
        (112, 5, Outcome.UNDECIDED),
        (88, 5, Outcome.UNDECIDED),
        (112, 1, Outcome.DIFFERS),  # wholly outside
        (88, 1, Outcome.DIFFERS),
        (150, 30, Outcome.DIFFERS),
    ],
)
def test_a_number_by_its_interval(mean: float, spread: float, outcome: Outcome) -> None:
    found = judged(ONE, A=(mean, spread))
    assert found.outcome is outcome
    assert [point.outcome for point in found.points] == [outcome]
    assert found.points[0].difference == pytest.approx(mean / 100 - 1)


@pytest.mark.parametrize("mean", [100, 500])
def test_one_seed_decides_nothing(mean: float) -> None:
    assert judged(ONE, A=Sample({}, {1: mean})).outcome is Outcome.UNDECIDED
    shape = Shape("s", "s", GOODPUT, above=50, below=None, at=({"scheme": "A"},))
    assert judge(shape, sampled({"A": Sample({}, {1: mean})})).outcome is Outcome.UNDECIDED
    order = Order("o", "o", GOODPUT, "scheme", (("A",), ("B",)), {})
    single = sampled({"A": Sample({}, {1: mean}), "B": Sample({}, {1: 1000})})
    assert judge(order, single).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("least", "outcome"),
    [(50, Outcome.UNDECIDED), (105, Outcome.UNDECIDED), (111, Outcome.DIFFERS)],
)
def test_a_bound_only_shows_that_a_value_is_too_large(least: float, outcome: Outcome) -> None:
    assert judged(ONE, A=bound(least)).outcome is outcome


def test_the_tolerance_is_a_tenth_unless_it_is_given() -> None:
    plain = number({"A": 100})
    assert judged(plain, A=109).outcome is Outcome.AGREES
    assert judged(plain, A=112).outcome is Outcome.DIFFERS
    assert judged(number({"A": 100}, tolerance=0.3), A=125).outcome is Outcome.AGREES
    assert judged(number({"A": 100}, tolerance=0.03), A=105).outcome is Outcome.DIFFERS


def test_a_published_zero_agrees_within_a_difference() -> None:
    zero = number({"A": 0}, within=0.5)
    found = judged(zero, A=(0.3, 0.1))
    assert found.outcome is Outcome.AGREES
    assert found.points[0].difference is None
    assert judged(zero, A=(0.8, 0.1)).outcome is Outcome.DIFFERS
    assert judged(zero, A=(0.3, 0.8)).outcome is Outcome.UNDECIDED
    # It goes before a tolerance.
    both = number({"A": 100}, within=5, tolerance=0.5)
    assert judged(both, A=120).outcome is Outcome.DIFFERS


PAIR = Order("o", "says", GOODPUT, "scheme", (("A",), ("B",)), {})


def test_seeds_without_a_value_leave_it_open() -> None:
    """They may be those with the largest."""
    some = Sample({}, values(100), lacking=2)
    assert judged(number({"A": 100}), A=some).outcome is Outcome.UNDECIDED
    assert judged(number({"A": 300}), A=some).outcome is Outcome.UNDECIDED
    assert judge(shape(above=10), [replace(some, at={"scheme": "A"})]).outcome is Outcome.UNDECIDED
    apart = sampled({"A": some, "B": 500})
    assert judge(PAIR, apart).outcome is Outcome.UNDECIDED


def test_a_bound_needs_more_than_one_seed() -> None:
    claim = number({"A": 100})
    assert judged(claim, A=bound(200)).outcome is Outcome.DIFFERS
    assert judged(claim, A=Sample({}, {1: 200.0}, at_least=True)).outcome is Outcome.UNDECIDED
    wide = Sample({}, {1: 1000.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0}, at_least=True)
    assert judged(claim, A=wide).outcome is Outcome.UNDECIDED


def test_a_bound_shows_that_a_value_is_the_larger() -> None:
    assert judge(PAIR, sampled({"A": 1, "B": bound(5)})).outcome is Outcome.IN_ORDER
    assert judge(PAIR, sampled({"A": bound(5), "B": 1})).outcome is Outcome.DIFFERS
    assert judge(PAIR, sampled({"A": bound(1), "B": 5})).outcome is Outcome.UNDECIDED


def test_runs_without_values_decide_nothing() -> None:
    none = judged(number({"A": 100, "B": 200}), A=Sample({}, {}), B=Sample({}, {}))
    assert none.outcome is Outcome.NO_VALUE
    assert [point.published for point in none.points] == [100, 200]
    some = judged(number({"A": 100, "B": 200}), A=100, B=Sample({}, {}))
    assert some.outcome is Outcome.NO_VALUE
    assert [point.outcome for point in some.points] == [Outcome.AGREES, Outcome.NO_VALUE]


# The order that numbers state.

TWO = number({"A": 100, "B": 200})


def test_all_agree() -> None:
    assert judged(TWO, A=100, B=200).outcome is Outcome.AGREES


@pytest.mark.parametrize(("a", "b"), [(150, 300), (100, 300), (20, 80)])
def test_numbers_agree_in_order(a: float, b: float) -> None:
    found = judged(TWO, A=a, B=b)
    assert found.outcome is Outcome.IN_ORDER
    assert Outcome.DIFFERS in {point.outcome for point in found.points}


@pytest.mark.parametrize(
    ("a", "b", "part"), [(20, 30, "0.10"), (150, 199, "0.49"), (100, 301, "2.0")]
)
def test_an_order_may_come_with_another_effect(a: float, b: float, part: str) -> None:
    found = judged(TWO, A=(a, 0.1), B=(b, 0.1))
    assert found.outcome is Outcome.EFFECT_DIFFERS
    assert found.because == f"B above A: {part} times the published difference"


def test_the_pair_that_was_published_furthest_apart_shows_the_effect() -> None:
    three = number({"A": 100, "B": 120, "C": 300})
    # A and B are four times as far apart as published, A and C a little less.
    assert judged(three, A=100, B=180, C=240).outcome is Outcome.IN_ORDER
    ratio = number({"B": 2.0}, relative_to="A", unit="")
    assert judged(ratio, B=1.6).outcome is Outcome.IN_ORDER
    assert judged(ratio, B=1.4).outcome is Outcome.EFFECT_DIFFERS


def test_a_reversed_pair_is_no_order() -> None:
    found = judged(TWO, A=300, B=150)
    assert found.outcome is Outcome.DIFFERS
    assert found.because == "reversed: B above A"
    three = number({"A": 100, "B": 200, "C": 300})
    assert judged(three, A=200, B=400, C=600).outcome is Outcome.IN_ORDER
    found = judged(three, A=200, B=600, C=400)
    assert (found.outcome, found.because) == (Outcome.DIFFERS, "reversed: C above B")


def test_a_pair_that_is_not_told_apart_is_no_order() -> None:
    found = judged(TWO, A=(150, 1), B=(152, 30))
    assert found.outcome is Outcome.DIFFERS
    assert found.because == "not told apart: B above A"
    found = judged(TWO, A=(112, 60), B=(190, 90))
    assert (found.outcome, found.because) == (Outcome.UNDECIDED, "not told apart: B above A")


def test_pairs_published_as_alike_must_not_be_told_apart() -> None:
    alike = number({"A": 100, "B": 105, "C": 200})
    assert judged(alike, A=150, B=151, C=300).outcome is Outcome.IN_ORDER
    assert judged(alike, A=151, B=150, C=300).outcome is Outcome.IN_ORDER
    for a, b in ((150, 200), (200, 150)):
        found = judged(alike, A=a, B=b, C=300)
        assert found.outcome is Outcome.DIFFERS
        assert found.because == "told apart: B above A, which was published as alike"


def test_numbers_that_are_all_alike_state_no_order() -> None:
    assert judged(number({"A": 100, "B": 101}), A=150, B=151).outcome is Outcome.DIFFERS
    assert judged(number({"A": 100}), A=150).outcome is Outcome.DIFFERS


def test_orders_are_of_one_panel() -> None:
    """Variants are compared with those that differ in the scheme alone."""
    expected = Expected(
        GOODPUT,
        None,
        "",
        ("pattern", "scheme"),
        tuple(
            Published({"pattern": pattern, "scheme": scheme}, value)
            for pattern, scheme, value in (
                ("Random", "A", 100.0),
                ("Random", "B", 200.0),
                ("Incast", "A", 10.0),
                ("Incast", "B", 20.0),
            )
        ),
    )
    claim = Number("goodput", "", expected)

    def of(*means: float) -> Outcome:
        points = zip(expected.points, means, strict=True)
        found = [Sample(point.at, values(mean, 0.01 * mean)) for point, mean in points]
        return judge(claim, found).outcome

    assert of(150, 300, 500, 518) is Outcome.IN_ORDER  # Incast above Random is of no account
    assert of(150, 300, 600, 500) is Outcome.DIFFERS


def test_a_bound_can_be_the_larger_of_a_pair() -> None:
    assert judged(TWO, A=150, B=bound(250)).outcome is Outcome.IN_ORDER
    assert judged(TWO, A=150, B=bound(120)).because == "not told apart: B above A"
    assert judged(TWO, A=bound(150), B=300).because == "not told apart: B above A"


@pytest.mark.parametrize(("unit", "one"), [("", 1.0), ("%", 100.0)])
def test_a_ratio_states_that_it_is_above_or_below_one(unit: str, one: float) -> None:
    above = number({"A": 1.5 * one}, relative_to="B", unit=unit)
    assert judged(above, A=1.5 * one).outcome is Outcome.AGREES
    assert judged(above, A=1.9 * one).outcome is Outcome.IN_ORDER
    found = judged(above, A=0.8 * one)
    assert (found.outcome, found.because) == (Outcome.DIFFERS, "reversed: A above B")
    below = number({"A": 0.5 * one}, relative_to="B", unit=unit)
    assert judged(below, A=0.7 * one).outcome is Outcome.IN_ORDER
    assert judged(below, A=1.2 * one).because == "reversed: A below B"
    wide = judged(below, A=(0.9 * one, 0.3 * one))
    assert (wide.outcome, wide.because) == (Outcome.DIFFERS, "not told apart: A below B")
    level = number({"A": 1.05 * one}, relative_to="B", unit=unit)
    assert judged(level, A=1.5 * one).outcome is Outcome.DIFFERS


# Orders.

LEVELS = Order("o", "says", GOODPUT, "scheme", (("A", "B"), ("C",), ("D",)), {})


def ordered(claim: Order, **given: Given) -> Judged:
    return judge(claim, sampled(given))


def test_an_order_of_levels() -> None:
    found = ordered(LEVELS, A=10, B=20, C=30, D=40)
    assert (found.outcome, found.because) == (Outcome.IN_ORDER, "")
    assert ordered(LEVELS, A=20, B=10, C=30, D=40).outcome is Outcome.IN_ORDER
    # One is reversed.
    found = ordered(LEVELS, A=10, B=35, C=30, D=40)
    assert (found.outcome, found.because) == (Outcome.DIFFERS, "reversed: C above B")
    # One is not told apart.
    found = ordered(LEVELS, A=10, B=(29.5, 3), C=(30, 3), D=40)
    assert (found.outcome, found.because) == (Outcome.UNDECIDED, "not told apart: C above B")
    # Both.
    found = ordered(LEVELS, A=10, B=(29.5, 3), C=(30, 3), D=1)
    assert found.outcome is Outcome.DIFFERS
    assert found.because == "not told apart: C above B; reversed: D above C"


def test_an_order_corrects_for_many_steps() -> None:
    """A difference that one step would tell is not told among many."""
    names = tuple(f"v{place}" for place in range(12))
    low, high = Sample({}, values(100)), Sample({}, values(101.2, 1.1))
    few = Order("o", "o", GOODPUT, "scheme", (("A",), ("B",)), {})
    assert ordered(few, A=low, B=high).outcome is Outcome.IN_ORDER
    many = Order("o", "o", GOODPUT, "scheme", (names, ("B",)), {})
    assert ordered(many, **dict.fromkeys(names, low), B=high).outcome is Outcome.UNDECIDED


def test_an_order_needs_all_its_names() -> None:
    found = ordered(LEVELS, A=10, B=20, C=Sample({}, {}), D=40)
    assert (found.outcome, found.because) == (Outcome.NO_VALUE, "no value of C")


# Shapes.


def shape(above: float | None = None, below: float | None = None, names: str = "A") -> Shape:
    return Shape("s", "says", GOODPUT, above, below, tuple({"scheme": name} for name in names))


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ((15, 1), Outcome.AGREES),
        ((11, 2), Outcome.UNDECIDED),
        ((15, 9), Outcome.UNDECIDED),
        ((9.5, 1), Outcome.UNDECIDED),
        ((8, 1), Outcome.DIFFERS),
        ((22, 1), Outcome.DIFFERS),
        (bound(15), Outcome.UNDECIDED),
        (bound(5), Outcome.UNDECIDED),
        (bound(22), Outcome.DIFFERS),
    ],
)
def test_a_shape_by_its_bounds(given: Given, outcome: Outcome) -> None:
    assert judge(shape(10, 20), sampled({"A": given})).outcome is outcome


def test_a_bound_beyond_what_a_shape_asks_for_is_enough() -> None:
    assert judge(shape(above=10), sampled({"A": bound(15)})).outcome is Outcome.AGREES
    assert judge(shape(above=10), sampled({"A": bound(5)})).outcome is Outcome.UNDECIDED
    assert judge(shape(below=10), sampled({"A": bound(5)})).outcome is Outcome.UNDECIDED
    assert judge(shape(below=10), sampled({"A": bound(15)})).outcome is Outcome.DIFFERS


def test_each_variant_of_a_shape_must_satisfy_it() -> None:
    both = shape(above=10, names="AB")
    assert judge(both, sampled({"A": 15, "B": 20})).outcome is Outcome.AGREES
    assert judge(both, sampled({"A": 15, "B": 5})).outcome is Outcome.DIFFERS
    assert judge(both, sampled({"A": 15, "B": (10, 1)})).outcome is Outcome.UNDECIDED
    assert judge(both, sampled({"A": 15, "B": Sample({}, {})})).outcome is Outcome.NO_VALUE


def test_kendalls_tau() -> None:
    assert kendall_tau([1, 2, 3, 4]) == 1
    assert kendall_tau([4, 3, 2, 1]) == -1
    assert kendall_tau([1, 3, 2, 4]) == pytest.approx(4 / 6)
    assert kendall_tau([1, 1, 2]) == pytest.approx(2 / 3)  # ties count as neither
    assert kendall_tau([1, 1, 1]) == 0


ALONG = ("2", "4", "8", "16")


def trend(
    series: Mapping[str, Sequence[float]], above: float | None, below: float | None = None
) -> Judged:
    """A trend of these values by seed over the four names, for each scheme."""
    at = tuple({"scheme": scheme} for scheme in series)
    claim = Shape("t", "says", GOODPUT, above, below, at, "subflows", ALONG)
    found = [
        Sample(
            {"scheme": scheme, "subflows": name},
            {seed: value + 0.1 * (seed % 3) for seed in range(1, 6)},
        )
        for scheme, several in series.items()
        for name, value in zip(ALONG, several, strict=True)
    ]
    return judge(claim, found)


def test_a_trend_is_judged_by_its_tau() -> None:
    rises = trend({"A": [1, 2, 3, 4]}, 0.5)
    assert rises.outcome is Outcome.AGREES
    assert rises.points[0].sample.mean == 1
    assert dict(rises.points[0].sample.at) == {"scheme": "A"}
    assert trend({"A": [4, 3, 2, 1]}, 0.5).outcome is Outcome.DIFFERS
    assert trend({"A": [4, 3, 2, 1]}, None, -0.5).outcome is Outcome.AGREES
    assert trend({"A": [1, 2, 3, 4], "B": [2, 1, 4, 3]}, 0.5).outcome is Outcome.DIFFERS


def test_a_trend_that_seeds_do_not_agree_on_is_not_decided() -> None:
    claim = Shape("t", "says", GOODPUT, 0.5, None, ({},), "subflows", ALONG)
    by_seed = {1: [1, 2, 3, 4], 2: [4, 3, 2, 1], 3: [1, 2, 3, 4]}
    found = [
        Sample({"subflows": name}, {seed: each[place] for seed, each in by_seed.items()})
        for place, name in enumerate(ALONG)
    ]
    assert judge(claim, found).outcome is Outcome.UNDECIDED
    found[2] = Sample(found[2].at, {})
    assert judge(claim, found).outcome is Outcome.NO_VALUE


def test_bounds_have_no_trend() -> None:
    """Their ranks are not known."""
    claim = Shape("t", "says", GOODPUT, 0.5, None, ({},), "subflows", ALONG)
    found = [Sample({"subflows": name}, values(10 * int(name))) for name in ALONG]
    assert judge(claim, found).outcome is Outcome.AGREES
    found[2] = replace(found[2], at_least=True)
    assert judge(claim, found).outcome is Outcome.UNDECIDED


# Rows.


def test_a_row_is_as_good_as_its_worst_claim() -> None:
    ranks = [
        Outcome.NOT_RUN, Outcome.DIFFERS, Outcome.NO_VALUE, Outcome.UNDECIDED, Outcome.IN_ORDER,
        Outcome.AGREES,
    ]  # fmt: skip
    for place, worst in enumerate(ranks):
        assert overall([*reversed(ranks[place:])], picture=False) is worst
        assert overall([*ranks[place:]], picture=True) is worst
    assert overall([], picture=True) is Outcome.PICTURE
    assert overall([], picture=False) is Outcome.NOT_RUN


def test_a_row_counts_its_claims() -> None:
    claims = (ONE, LEVELS, replace(shape(above=10), name="s"))
    row = Row("p", "r", "t", "", None, None, (), 5, "", (), claims, ())
    unrun = reproduced(row, None)
    assert unrun.outcome is Outcome.NOT_RUN
    assert unrun.summary == ""
    gave = {
        "goodput": tuple(sampled({"A": 100})),
        "o": tuple(sampled({"A": 1, "B": 2, "C": 3, "D": 4})),
        "s": tuple(sampled({"A": 5})),
    }
    found = reproduced(row, Record("0", "quick", "", "", (1, 2), {}, gave))
    assert found.outcome is Outcome.DIFFERS
    assert found.summary == "2 of 3 claims agree"
    assert [each.claim.name for each in found.differing] == ["s"]
    # A reading decides nothing.
    read = replace(row, claims=(*claims[:2], replace(claims[2], kind=Kind.READING)))
    found = reproduced(read, Record("0", "quick", "", "", (1, 2), {}, gave))
    assert found.outcome is Outcome.IN_ORDER
    assert found.summary == "2 of 2 claims agree, 0 of 1 readings"
    assert found.differing == []
    alone = replace(row, claims=(replace(claims[2], kind=Kind.READING),))
    found = reproduced(alone, Record("0", "quick", "", "", (1, 2), {}, gave))
    assert found.outcome is Outcome.READINGS
    eye = replace(row, claims=(), picture="a curve")
    assert reproduced(eye, None).outcome is Outcome.PICTURE


# Properties.

MEANS = st.lists(st.floats(1, 1000), min_size=2, max_size=4)
SPREADS = st.lists(st.floats(0, 100), min_size=4, max_size=4)


@given(MEANS, MEANS, SPREADS, st.integers(-8, 8))
def test_a_verdict_does_not_depend_on_the_unit(
    published: list[float], ours: list[float], spreads: list[float], power: int
) -> None:
    """Powers of two scale without rounding."""
    count = min(len(published), len(ours))
    names = [f"v{place}" for place in range(count)]
    given = [values(mean, spread) for mean, spread in zip(ours, spreads, strict=False)][:count]

    def outcome(factor: float) -> tuple[Outcome, list[Outcome]]:
        claim = number(
            {name: factor * value for name, value in zip(names, published, strict=False)}
        )
        found = [
            Sample({"scheme": name}, {seed: factor * value for seed, value in each.items()})
            for name, each in zip(names, given, strict=True)
        ]
        verdict = judge(claim, found)
        return verdict.outcome, [point.outcome for point in verdict.points]

    assert outcome(2.0**power) == outcome(1.0)


@given(
    st.floats(1, 1000), st.floats(1, 1000), st.floats(0, 300), st.floats(0.01, 1), st.floats(0, 1)
)
def test_more_tolerance_only_helps(
    published: float, mean: float, spread: float, tolerance: float, more: float
) -> None:
    sample = Sample({}, values(mean, spread))
    strict, lax = (
        number_outcome(sample, published, number({"A": published}, tolerance=each).expected)
        for each in (tolerance, tolerance + more)
    )
    if strict is Outcome.AGREES:
        assert lax is Outcome.AGREES
    if lax is Outcome.DIFFERS:
        assert strict is Outcome.DIFFERS


@given(st.permutations(range(1, 6)), MEANS, SPREADS)
def test_the_names_of_seeds_do_not_matter(
    renamed: list[int], ours: list[float], spreads: list[float]
) -> None:
    names = tuple(f"v{place}" for place in range(len(ours)))
    claim = Order("o", "o", GOODPUT, "scheme", tuple((name,) for name in names), {})
    plain = [
        Sample({"scheme": name}, values(mean, spread))
        for name, mean, spread in zip(names, ours, spreads, strict=False)
    ]
    others = [
        Sample(each.at, {renamed[seed - 1]: value for seed, value in each.values.items()})
        for each in plain
    ]
    assert judge(claim, plain).outcome is judge(claim, others).outcome


def test_a_published_zero_has_no_relative_difference() -> None:
    assert Point(Sample({}, {1: 1.0}), Outcome.UNDECIDED, 0).difference is None
    assert Point(Sample({}, {}), Outcome.NO_VALUE, 5).difference is None
