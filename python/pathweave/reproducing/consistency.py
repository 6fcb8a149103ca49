"""Whether a smaller set-up stands in for the published one: a claim's values at both sizes.

The quick size gives a verdict only where it is shown to give what the published size gives. The
tests of `regression` would not do: they ask whether a difference is sure, and with the one or two
seeds that there are at the published size hardly any is. So the mean there is compared as it is.

A number is consistent when that mean lies within the interval of the quick runs, widened by the
claim's tolerance, a part of the larger of ours and the published value, and when the same interval
around it does not come to the opposite verdict. Numbers that agree in order must have that order in
their means, too. An order is consistent when the means at the published size have it and the quick
runs do, or when both break it. A shape is consistent when the mean lies within its bounds and the
quick runs do, or when both lie outside. A lower bound counts for what it shows. Orders and shapes
that the quick size does not decide are not compared.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pathweave.reproducing.paper import Number, Order, Shape
from pathweave.reproducing.verdict import (
    HOLDS,
    Consistency,
    Outcome,
    allowance,
    judge,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.sample import Sample
    from pathweave.reproducing.verdict import Judged, Point
    from pathweave.results.expected import Expected


def checked(judged: Judged, found: Sequence[Sample]) -> Judged:
    """A claim judged at the quick size, checked against its samples at the published one, in order.

    Where the two disagree, it loses its verdict.
    """
    valued = any(sample.values for sample in found)
    if judged.outcome in (Outcome.NO_VALUE, Outcome.NOT_RUN) or not valued:
        return replace(judged, consistency=Consistency.NOT_COMPARED)
    claim = judged.claim
    there = judge(claim, found)
    points = tuple(
        replace(point, at_paper_size=other.sample if other.sample.values else None)
        for point, other in zip(judged.points, there.points, strict=True)
    )
    each: list[Consistency] = []
    because = ""
    if not isinstance(claim, Order):
        # A value of which only a bound is known leaves all ranks unknown.
        ranks = isinstance(claim, Shape) and bool(claim.trend)
        unknown = ranks and any(sample.at_least or sample.lacking for sample in found)
        each = [Consistency.NOT_COMPARED if unknown else _point(claim, point) for point in points]
        points = tuple(
            replace(point, outcome=Outcome.SIZES_DISAGREE)
            if one is Consistency.DISAGREES
            else point
            for point, one in zip(points, each, strict=True)
        )
    in_order = judged.outcome in (Outcome.IN_ORDER, Outcome.EFFECT_DIFFERS)
    if isinstance(claim, Order) or (isinstance(claim, Number) and in_order):
        each.append(_order(claim, judged.outcome, found))
        because = _broken(claim, found)
    consistency = _worst(each)
    judged = replace(judged, points=points, consistency=consistency)
    if consistency is not Consistency.DISAGREES:
        return judged
    return replace(judged, outcome=Outcome.SIZES_DISAGREE, because=because)


def _worst(each: Sequence[Consistency]) -> Consistency:
    for worst in (Consistency.DISAGREES, Consistency.NOT_COMPARED):
        if worst in each:
            return worst
    return Consistency.CONSISTENT


def _point(claim: Number | Shape, point: Point) -> Consistency:
    quick, there = point.sample, point.at_paper_size
    if quick.mean is None or there is None:
        return Consistency.NOT_COMPARED
    if isinstance(claim, Shape):
        return _side(point.outcome, _within(claim, there))
    assert point.published is not None  # noqa: S101 - points of numbers have one
    if quick.at_least or there.at_least:
        return _bounds(point, point.published, claim.expected)
    return _values(point, point.published, claim.expected)


def _values(point: Point, published: float, expected: Expected) -> Consistency:
    ours, there = point.sample.mean or 0.0, _mean(point)
    half = point.sample.half or 0.0
    room = allowance(max(abs(published), abs(ours)), expected)
    if abs(there - ours) > half + room:
        return Consistency.DISAGREES
    off, allowed = abs(there - published), allowance(published, expected)
    opposite = {
        Outcome.AGREES: off - half > allowed,
        Outcome.DIFFERS: off <= allowed and half <= allowed,
    }
    contradicted = opposite.get(point.outcome, False)
    return Consistency.DISAGREES if contradicted else Consistency.CONSISTENT


def _bounds(point: Point, published: float, expected: Expected) -> Consistency:
    """Where one value or both are lower bounds: these show what is too large, and no more."""
    quick, there = point.sample, point.at_paper_size
    ours, theirs = quick.mean or 0.0, _mean(point)
    both = there is not None and there.at_least and quick.at_least
    half = point.sample.half or 0.0
    room = half + allowance(max(abs(published), abs(ours)), expected)
    if not both and (theirs < ours - room if quick.at_least else theirs > ours + room):
        return Consistency.DISAGREES
    if point.outcome is Outcome.DIFFERS and ours > published:
        if theirs > published + allowance(published, expected):
            return Consistency.CONSISTENT
        if there is not None and not there.at_least:
            return Consistency.DISAGREES
    return Consistency.NOT_COMPARED


def _mean(point: Point) -> float:
    there = point.at_paper_size
    return 0.0 if there is None else there.mean or 0.0


def _within(claim: Shape, sample: Sample) -> bool | None:
    """Whether the mean lies within a shape's bounds; None where a bound leaves that open."""
    mean = sample.mean or 0.0
    above = -math.inf if claim.above is None else claim.above
    below = math.inf if claim.below is None else claim.below
    if sample.at_least and mean <= below:
        return True if below == math.inf and mean >= above else None
    return above <= mean <= below


def _side(outcome: Outcome, holds: bool | None) -> Consistency:
    """Whether what holds at the published size is what the quick size decided."""
    if holds is None or outcome not in (*HOLDS, Outcome.DIFFERS):
        return Consistency.NOT_COMPARED
    same = holds is (outcome in HOLDS)
    return Consistency.CONSISTENT if same else Consistency.DISAGREES


def _order(claim: Order | Number, outcome: Outcome, found: Sequence[Sample]) -> Consistency:
    apart = [apart for _, apart in steps_of(claim, found)]
    if any(each is not None and each <= 0 for each in apart):
        return _side(outcome, holds=False)
    return _side(outcome, None if None in apart else True)


def _broken(claim: Order | Number, found: Sequence[Sample]) -> str:
    """Which steps of an order do not hold at the published size, in words."""
    steps = [what for what, apart in steps_of(claim, found) if apart is not None and apart <= 0]
    if steps:
        return f"not at the published size: {'; '.join(steps)}"
    return "the order holds at the published size"
