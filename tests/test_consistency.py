"""Claims at the quick and at the published size, on made-up samples, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathweave.reproducing.consistency import checked
from pathweave.reproducing.paper import Because, Claim, Kind, Number, Order, Row, Shape
from pathweave.reproducing.record import Record
from pathweave.reproducing.reproduced import reproduced
from pathweave.reproducing.sample import Sample
from pathweave.reproducing.verdict import Consistency, Judged, Outcome, judge
from pathweave.reproducing.words import checked_text, paper_size_text
from pathweave.results.expected import Expected, Point
from pathweave.results.published_measure import PublishedMeasure
from test_verdicts import Given, bound, number, sampled

CONSISTENT, DISAGREES, NOT_COMPARED = Consistency
GOODPUT = PublishedMeasure("goodput", unit="Mbps")
NOTHING = Sample({}, {})


def one(value: float) -> Sample:
    """A single run."""
    return Sample({}, {1: value})


def compared(claim: Claim, quick: Mapping[str, Given], there: Mapping[str, Given]) -> Judged:
    return checked(judge(claim, sampled(quick)), sampled(there))


# Numbers. The half interval of five seeds is 0.98 of their spread.

ONE = number({"A": 100}, tolerance=0.1)


@pytest.mark.parametrize(
    ("quick", "there", "found"),
    [
        ((100, 1), 100, CONSISTENT),
        ((100, 1), 110.9, CONSISTENT),  # the interval of 0.98 and a tenth
        ((100, 1), 111.1, DISAGREES),
        ((100, 1), 89.1, CONSISTENT),
        ((100, 1), 88.9, DISAGREES),
        # Near to ours, but on the other side of the tolerance by more than the interval.
        ((108, 1), 110.9, CONSISTENT),
        ((108, 1), 111.1, DISAGREES),
        ((112, 1), 109, DISAGREES),
        ((112, 1), 111, CONSISTENT),
        # A tenth of the larger of the two.
        ((300, 1), 330, CONSISTENT),
        ((300, 1), 332, DISAGREES),
        ((30, 1), 40.9, CONSISTENT),
        ((30, 1), 41.1, DISAGREES),
        # What is not decided is compared as well.
        ((100, 20), 129, CONSISTENT),
        ((100, 20), 130, DISAGREES),
    ],
)
def test_a_number_by_the_interval_of_its_quick_runs(
    quick: tuple[float, float], there: float, found: Consistency
) -> None:
    judged = compared(ONE, {"A": quick}, {"A": one(there)})
    assert judged.consistency is found
    plain = judge(ONE, sampled({"A": quick}))
    (point,) = judged.points
    assert point.at_paper_size == Sample({"scheme": "A"}, {1: there})
    if found is CONSISTENT:
        assert (judged.outcome, point.outcome) == (plain.outcome, plain.points[0].outcome)
    else:
        assert judged.outcome is point.outcome is Outcome.SIZES_DISAGREE


def test_several_seeds_count_by_their_mean_whatever_they_scatter() -> None:
    wide = Sample({}, {1: 60, 2: 140})
    assert compared(ONE, {"A": (100, 1)}, {"A": wide}).consistency is CONSISTENT
    far = Sample({}, {1: 80, 2: 160})
    assert compared(ONE, {"A": (100, 1)}, {"A": far}).consistency is DISAGREES


def test_a_tolerance_in_the_unit() -> None:
    claim = number({"A": 0}, within=2)
    assert compared(claim, {"A": (1, 0.1)}, {"A": one(-1)}).consistency is CONSISTENT
    assert compared(claim, {"A": (1, 0.1)}, {"A": one(-1.2)}).consistency is DISAGREES


@pytest.mark.parametrize(
    ("quick", "there", "found"),
    [
        (bound(120), one(150), CONSISTENT),  # both are too large
        (bound(120), one(105), DISAGREES),
        (bound(120), bound(105), NOT_COMPARED),  # it may be larger
        (bound(120), bound(115), CONSISTENT),
        (bound(90), one(95), NOT_COMPARED),
        (bound(90), one(50), DISAGREES),  # less than the least
        (bound(90), bound(50), NOT_COMPARED),
        ((100, 1), bound(90), NOT_COMPARED),
        ((100, 1), bound(120), DISAGREES),
        ((150, 1), bound(140), CONSISTENT),
        ((100, 1), NOTHING, NOT_COMPARED),
        (NOTHING, one(100), NOT_COMPARED),
    ],
)
def test_a_lower_bound_counts_for_what_it_shows(
    quick: Given, there: Sample, found: Consistency
) -> None:
    judged = compared(ONE, {"A": quick}, {"A": there})
    assert judged.consistency is found


TWO = number({"A": 100, "B": 112}, tolerance=0.1)


def test_each_variant_must_be_consistent() -> None:
    quick: dict[str, Given] = {"A": (100, 1), "B": (112, 1)}
    assert compared(TWO, quick, {"A": one(101), "B": one(113)}).consistency is CONSISTENT
    judged = compared(TWO, quick, {"A": one(101), "B": one(140)})
    assert judged.outcome is Outcome.SIZES_DISAGREE
    assert [point.outcome for point in judged.points] == [
        Outcome.AGREES,
        Outcome.SIZES_DISAGREE,
    ]
    assert compared(TWO, quick, {"A": one(101), "B": NOTHING}).consistency is NOT_COMPARED
    assert compared(TWO, quick, {"A": one(200), "B": NOTHING}).consistency is DISAGREES


def test_numbers_that_agree_in_order_keep_it() -> None:
    """Each is near enough, and yet the order is the other one."""
    quick: dict[str, Given] = {"A": (130, 1), "B": (140, 1)}
    assert judge(TWO, sampled(quick)).outcome is Outcome.IN_ORDER
    assert compared(TWO, quick, {"A": one(130), "B": one(141)}).consistency is CONSISTENT
    judged = compared(TWO, quick, {"A": one(138), "B": one(135)})
    assert judged.outcome is Outcome.SIZES_DISAGREE
    assert judged.because == "not at the published size: B above A"
    # Where the numbers themselves agree, the order is nothing that was found.
    agree: dict[str, Given] = {"A": (104, 1), "B": (106, 1)}
    assert compared(TWO, agree, {"A": one(106), "B": one(105)}).consistency is CONSISTENT


# Orders.

ORDER = Order("o", "o", GOODPUT, "scheme", (("A",), ("B", "C")), {})
HELD: dict[str, Given] = {"A": (10, 1), "B": (20, 1), "C": (21, 1)}
BROKEN: dict[str, Given] = {"A": (20, 1), "B": (10, 1), "C": (30, 1)}
OPEN: dict[str, Given] = {"A": (20, 5), "B": (20.1, 5), "C": (30, 1)}


@pytest.mark.parametrize(
    ("quick", "there", "found", "because"),
    [
        (HELD, (1, 2, 1.5), CONSISTENT, ""),
        (HELD, (2, 1, 3), DISAGREES, "not at the published size: B above A"),
        (HELD, (2, 2, 3), DISAGREES, "not at the published size: B above A"),
        (HELD, (9, 1, 2), DISAGREES, "not at the published size: B above A; C above A"),
        (BROKEN, (2, 3, 1), CONSISTENT, ""),  # the order does not hold there, either
        (BROKEN, (1, 2, 3), DISAGREES, "the order holds at the published size"),
        (OPEN, (1, 2, 3), NOT_COMPARED, ""),
    ],
)
def test_an_order_by_the_order_of_the_means(
    quick: Mapping[str, Given],
    there: Sequence[float],
    found: Consistency,
    because: str,
) -> None:
    judged = compared(ORDER, quick, dict(zip("ABC", map(one, there), strict=True)))
    assert judged.consistency is found
    if found is DISAGREES:
        assert (judged.outcome, judged.because) == (Outcome.SIZES_DISAGREE, because)


def test_an_order_with_values_that_are_not_known() -> None:
    known: dict[str, Given] = {"A": one(1), "B": one(2)}
    assert compared(ORDER, HELD, {**known, "C": NOTHING}).consistency is NOT_COMPARED
    assert compared(ORDER, HELD, {**known, "C": bound(0.5)}).consistency is NOT_COMPARED
    assert compared(ORDER, HELD, {**known, "C": bound(3)}).consistency is CONSISTENT
    other: dict[str, Given] = {**known, "C": Sample({}, {7: 3.0})}  # no seed in common
    assert compared(ORDER, HELD, other).consistency is NOT_COMPARED
    assert compared(ORDER, HELD, {"A": one(3), "B": one(2), "C": NOTHING}).consistency is DISAGREES


# Shapes.


def shape(above: float | None, below: float | None) -> Shape:
    return Shape("s", "s", GOODPUT, above, below, ({"scheme": "A"},))


@pytest.mark.parametrize(
    ("quick", "there", "found"),
    [
        ((15, 1), one(19), CONSISTENT),
        ((15, 1), one(10), CONSISTENT),
        ((15, 1), one(21), DISAGREES),
        ((15, 1), one(9), DISAGREES),
        ((30, 1), one(21), CONSISTENT),
        ((30, 1), one(5), CONSISTENT),
        ((30, 1), one(15), DISAGREES),
        ((20, 5), one(15), NOT_COMPARED),
        ((15, 1), bound(12), NOT_COMPARED),
        ((15, 1), bound(21), DISAGREES),
        ((30, 1), bound(21), CONSISTENT),
    ],
)
def test_a_shape_by_the_side_of_its_bounds(quick: Given, there: Sample, found: Consistency) -> None:
    assert compared(shape(10, 20), {"A": quick}, {"A": there}).consistency is found


def test_a_bound_above_what_a_shape_asks_for() -> None:
    above = shape(10, None)
    assert compared(above, {"A": (15, 1)}, {"A": bound(11)}).consistency is CONSISTENT
    assert compared(above, {"A": (15, 1)}, {"A": bound(9)}).consistency is NOT_COMPARED


ALONG = ("2", "4", "8")


def along(series: Sequence[float], seeds: int, **more: bool) -> list[Sample]:
    return [
        Sample({"subflows": name}, {seed: value + seed for seed in range(1, seeds + 1)}, **more)
        for name, value in zip(ALONG, series, strict=True)
    ]


def test_a_trend_by_its_tau() -> None:
    claim = Shape("t", "t", GOODPUT, 0.5, None, ({},), "subflows", ALONG)
    judged = judge(claim, along((1, 2, 3), 5))
    assert judged.outcome is Outcome.AGREES
    same = checked(judged, along((7, 8, 9), 1))
    assert (same.consistency, same.outcome) == (CONSISTENT, Outcome.AGREES)
    other = checked(judged, along((9, 8, 7), 1))
    assert other.outcome is Outcome.SIZES_DISAGREE
    (point,) = other.points
    assert point.at_paper_size == Sample({}, {1: -1.0})
    assert checked(judged, along((9, 8, 7), 1, at_least=True)).consistency is NOT_COMPARED
    assert checked(judged, [NOTHING] * 3).consistency is NOT_COMPARED


# Rows.

ROW = Row(
    "p", "r", "t", "", None, None, (), 5, "",
    (), (ONE, ORDER, replace(shape(10, 20), kind=Kind.READING)), (),
    {"goodput": "1", "o": "2", "s": "3"},
)  # fmt: skip


def record(size: str, samples: Mapping[str, Sequence[Sample]], **setups: str) -> Record:
    seeds = (1, 2, 3, 4, 5) if size == "quick" else (1,)
    several = {name: tuple(each) for name, each in samples.items()}
    return Record("0", size, "", "", seeds, {}, several, (), setups)


QUICK = record(
    "quick", {"goodput": sampled({"A": 100}), "o": sampled(HELD), "s": sampled({"A": 15})}
)


def there(goodput: float, order: Sequence[float], value: float) -> Record:
    samples = {
        "goodput": sampled({"A": one(goodput)}),
        "o": sampled(dict(zip("ABC", map(one, order), strict=True))),
        "s": sampled({"A": one(value)}),
    }
    return record("paper", samples, goodput="1", o="2", s="3")


def test_a_row_is_judged_by_claims_whose_sizes_agree() -> None:
    unchecked = reproduced(ROW, QUICK)
    assert unchecked.outcome is Outcome.IN_ORDER
    assert checked_text(unchecked) == "not checked"
    same = reproduced(ROW, QUICK, there(101, (1, 2, 3), 15))
    assert same.outcome is Outcome.IN_ORDER
    assert checked_text(same) == "consistent in 2 of 2 claims, 1 of 1 reading (1 seed)"
    other = reproduced(ROW, QUICK, there(101, (3, 2, 1), 15))
    assert other.outcome is Outcome.AGREES
    assert other.summary == "1 of 2 claims agree, 1 of 1 readings"
    assert checked_text(other) == (
        "consistent in 1 of 2 claims, 1 of 1 reading (1 seed); the sizes disagree in 1"
    )
    order = other.judged[1]
    assert [paper_size_text(order, point) for point in order.points] == [
        f"{each} Mbps at the published size" for each in ("3.000", "2.000", "1.000")
    ]
    assert paper_size_text(other.judged[0], other.judged[0].points[0]) == ""
    none = reproduced(ROW, QUICK, there(500, (3, 2, 1), 15))
    assert none.outcome is Outcome.SIZES_DISAGREE


def test_what_differs_outweighs_what_has_no_verdict() -> None:
    wrong = replace(QUICK, samples={**QUICK.samples, "goodput": tuple(sampled({"A": 200}))})
    assert reproduced(ROW, wrong, there(200, (3, 2, 1), 15)).outcome is Outcome.DIFFERS
    open_ = replace(QUICK, samples={**QUICK.samples, "goodput": tuple(sampled({"A": (100, 40)}))})
    assert reproduced(ROW, open_, there(100, (3, 2, 1), 15)).outcome is Outcome.UNDECIDED


def test_only_values_of_the_same_set_up_count() -> None:
    stale = replace(there(500, (3, 2, 1), 90), setups={"goodput": "1", "o": "another", "x": "3"})
    found = reproduced(ROW, QUICK, stale)
    assert [each.consistency for each in found.judged] == [DISAGREES, NOT_COMPARED, NOT_COMPARED]
    assert found.outcome is Outcome.IN_ORDER
    assert checked_text(found) == (
        "consistent in 0 of 2 claims, 0 of 1 reading (1 seed); the sizes disagree in 1;"
        " 2 not compared"
    )
    nothing = replace(stale, setups={"goodput": "another"})
    assert checked_text(reproduced(ROW, QUICK, nothing)) == "not checked"
    # Claims with the published set-up at the quick size have nothing to be checked against.
    partly = replace(ROW, paper_setups={"goodput": "1"})
    found = reproduced(partly, QUICK, stale)
    assert [each.consistency for each in found.judged] == [DISAGREES, None, None]
    assert checked_text(found) == "consistent in 0 of 1 claim (1 seed); the sizes disagree in 1"


def test_runs_at_another_size_are_not_checked() -> None:
    paper = there(500, (3, 2, 1), 15)
    for found in (
        reproduced(ROW, paper, paper),
        reproduced(replace(ROW, paper_setups={}), QUICK, paper),
        reproduced(ROW, None, paper),
    ):
        assert {each.consistency for each in found.judged} == {None}
        assert checked_text(found) == ""


def test_what_has_no_verdict_is_not_explained() -> None:
    for expects in ("holds", "fails"):
        because = Because("o", "why", ("a=1",), (), "r.toml", None, {}, expects, None)
        row = replace(ROW, because=(because,))
        assert reproduced(row, QUICK, there(101, (3, 2, 1), 15)).to_explain() == []


# Properties.

MEANS = st.floats(1, 1000)


@given(MEANS, st.floats(0, 300), MEANS, MEANS, st.integers(-8, 8))
def test_it_does_not_depend_on_the_unit(
    mean: float, spread: float, there: float, published: float, power: int
) -> None:
    """Powers of two scale without rounding."""

    def found(factor: float) -> Judged:
        quick = sampled({"A": (mean, spread)})[0]
        scaled = replace(quick, values={s: factor * v for s, v in quick.values.items()})
        claim = number({"A": factor * published})
        return checked(judge(claim, [scaled]), [Sample({}, {1: factor * there})])

    one, other = found(1.0), found(2.0**power)
    assert (one.consistency, one.outcome) == (other.consistency, other.outcome)


@given(MEANS, st.floats(0, 300), MEANS)
def test_a_value_is_consistent_with_itself(mean: float, spread: float, published: float) -> None:
    claim = Number("n", "", Expected(GOODPUT, None, "", ("scheme",), (Point({}, published),)))
    quick = sampled({"A": (mean, spread)})
    assert checked(judge(claim, quick), quick).consistency is CONSISTENT
