"""Verdicts: whether what comes out agrees with what was published.

A number agrees when half its interval and its difference are at most the tolerance. It differs when
the interval lies wholly outside the tolerance around the published value. Otherwise it is not
decided, and more seeds may decide it. Numbers of one claim that do not all agree still agree in
order when every two of them that were published further apart than the tolerance have the
published order, in paired differences that Holm's correction tells from 0, and none of the others
is told apart by more than the tolerance. A ratio to another variant also states an order: above or
below 1. Where nothing was published as apart there is no order to agree in. An order that holds may
come with another effect: where the two that were published furthest apart differ less than half as
much here, or more than twice as much.

An order holds when every two neighbouring levels do, and is contradicted when two of them are
reversed. A shape holds when its interval lies within its bounds, and differs when it lies wholly
outside.

Nothing is decided by one seed, or where some seeds have no value. A lower bound (too much was
unfinished) can only show that a value is too large, or the larger of two.

A claim whose quick set-up is not the published one may lose its verdict: see `consistency`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from pathweave.reproducing.paper import TOLERANCE, Number, Order, Shape
from pathweave.reproducing.sample import Sample
from pathweave.results.units import number
from pathweave.statistics.holm import holm
from pathweave.statistics.kendall import kendall_tau
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.reproducing.paper import Claim
    from pathweave.results.expected import Expected

_EFFECT = 2.0
"""Largest factor between our effect and the published one."""
_SAID = 4
"""Most steps that are named where an order does not hold."""
LEVEL = 0.05
"""Largest probability of any false step in the orders of one claim."""


class Outcome(StrEnum):
    """What a comparison with a published value, order or shape comes to."""

    AGREES = "agrees"
    IN_ORDER = "agrees in order"
    EFFECT_DIFFERS = "agrees in order, effect differs"
    DIFFERS = "differs"
    UNDECIDED = "not decided"
    SIZES_DISAGREE = "sizes disagree"
    """The quick set-up gives something else than the published one, and so no verdict."""
    NO_VALUE = "no value"
    PICTURE = "picture only"
    READINGS = "readings only"
    NOT_RUN = "not run"


_WORST = (
    Outcome.NOT_RUN,
    Outcome.DIFFERS,
    Outcome.NO_VALUE,
    Outcome.UNDECIDED,
    Outcome.EFFECT_DIFFERS,
    Outcome.IN_ORDER,
)
HOLDS = (Outcome.AGREES, Outcome.IN_ORDER, Outcome.EFFECT_DIFFERS)
"""Of a claim that our runs bear out, if only in its order."""


class Consistency(StrEnum):
    """How what a claim's quick runs give compares with what it gives at the published size."""

    CONSISTENT = "consistent"
    DISAGREES = "disagrees"
    NOT_COMPARED = "not compared"
    """One of the two has no value, or nothing that could be contradicted."""


@dataclass(frozen=True)
class Point:
    """One variant of a claim, judged."""

    sample: Sample
    outcome: Outcome
    published: float | None = None
    """In the claim's unit; None where no number was published."""
    at_paper_size: Sample | None = None
    """The same at the published size; None without such a value."""

    @property
    def difference(self) -> float | None:
        """How far ours is from the published value, as a part of it; None where that is 0."""
        mean = self.sample.mean
        if mean is None or not self.published:
            return None
        return mean / self.published - 1


@dataclass(frozen=True)
class Judged:
    """A claim, judged."""

    claim: Claim
    outcome: Outcome
    points: tuple[Point, ...]
    because: str = ""
    """What decided, where it is not plain from the points."""
    consistency: Consistency | None = None
    """None where there is nothing recorded at the published size, or where that is the quick one.
    """


def judge(claim: Claim, found: Sequence[Sample]) -> Judged:
    """Judge a claim by what our runs give; `found` are its samples in order."""
    if not any(sample.values for sample in found):
        return _unjudged(claim, found, Outcome.NO_VALUE)
    if isinstance(claim, Number):
        return _number(claim, found)
    if isinstance(claim, Order):
        return _order(claim, found)
    return _trend(claim, found) if claim.trend else _shape(claim, found)


def not_run(claim: Claim, found: Sequence[Sample]) -> Judged:
    """A claim of which nothing was run."""
    return _unjudged(claim, found, Outcome.NOT_RUN)


def overall(outcomes: Sequence[Outcome], *, picture: bool) -> Outcome:
    """The verdict on a row: that of its worst claim.

    A claim whose sizes disagree has no verdict, and the others decide.
    """
    if not outcomes:
        return Outcome.PICTURE if picture else Outcome.NOT_RUN
    for worst in _WORST:
        if worst in outcomes:
            return worst
    undecided = all(outcome is Outcome.SIZES_DISAGREE for outcome in outcomes)
    return Outcome.SIZES_DISAGREE if undecided else Outcome.AGREES


def number_outcome(sample: Sample, published: float, expected: Expected) -> Outcome:
    """Whether ours agrees with one published number."""
    mean, half = sample.mean, sample.half
    if mean is None:
        return Outcome.NO_VALUE
    room = allowance(published, expected)
    if sample.at_least:
        least = sample.least
        too_large = least is not None and least > published + room
        return Outcome.DIFFERS if too_large else Outcome.UNDECIDED
    if half is None:
        return Outcome.UNDECIDED
    off = abs(mean - published)
    if off <= room and half <= room:
        return Outcome.AGREES
    return Outcome.DIFFERS if off - half > room else Outcome.UNDECIDED


def allowance(published: float, expected: Expected) -> float:
    """Largest difference at which a number agrees, in its unit."""
    if expected.within is not None:
        return expected.within
    return (expected.tolerance or TOLERANCE) * abs(published)


def _unjudged(claim: Claim, found: Sequence[Sample], outcome: Outcome) -> Judged:
    published: Sequence[float | None] = [None] * len(found)
    if isinstance(claim, Number):
        published = [point.value for point in claim.expected.points]
    points = tuple(
        Point(sample, outcome, value) for sample, value in zip(found, published, strict=True)
    )
    return Judged(claim, outcome, points)


def _number(claim: Number, found: Sequence[Sample]) -> Judged:
    expected = claim.expected
    points = tuple(
        Point(sample, number_outcome(sample, point.value, expected), point.value)
        for sample, point in zip(found, expected.points, strict=True)
    )
    outcomes = [point.outcome for point in points]
    if all(outcome is Outcome.AGREES for outcome in outcomes):
        return Judged(claim, Outcome.AGREES, points)
    if Outcome.NO_VALUE in outcomes:
        return Judged(claim, overall(outcomes, picture=False), points)
    steps = _Steps()
    _published_order(points, expected, steps)
    if steps.any and steps.outcome() is Outcome.AGREES:
        effects = [apart.part for apart in steps.furthest.values()]
        if all(1 / _EFFECT <= part <= _EFFECT for part in effects):
            return Judged(claim, Outcome.IN_ORDER, points)
        off = max(steps.furthest.values(), key=lambda apart: abs(math.log(max(apart.part, 1e-9))))
        said = f"{off.what}: {number(off.part, 2)} times the published difference"
        return Judged(claim, Outcome.EFFECT_DIFFERS, points, said)
    worst = Outcome.DIFFERS if Outcome.DIFFERS in outcomes else Outcome.UNDECIDED
    return Judged(claim, worst, points, steps.said())


@dataclass(frozen=True)
class _Apart:
    """Two values that were published furthest apart in a panel."""

    what: str
    published: float
    part: float
    """Our difference as a part of the published one."""


@dataclass
class _Steps:
    """Pairs of which the second must be the larger."""

    wanted: list[tuple[str, float | None, float]] = field(default_factory=list)
    """What it is, the p-value of the difference, and its mean; None where there is no test."""
    reversed: list[str] = field(default_factory=list)
    """Pairs that need no order, and have the wrong one by more than the tolerance."""
    furthest: dict[object, _Apart] = field(default_factory=dict)
    """By panel."""
    apart: list[tuple[str, float | None]] = field(default_factory=list)
    """Each pair of `wanted`, and how far the second is above the first; None if not known."""

    @property
    def any(self) -> bool:
        return bool(self.wanted or self.reversed)

    def add(self, what: str, low: Sample, high: Sample) -> None:
        """A pair whose second value must be the larger."""
        apart = _least_apart(low, high)
        p_value = None if apart is None else _p(high, low)
        self.wanted.append((what, p_value, _mean(high, low)))
        self.apart.append((what, apart if low.values.keys() & high.values.keys() else None))

    def compare(self, panel: object, what: str, published: float, ours: float) -> None:
        """The difference of a pair, in ours and as it was published."""
        known = self.furthest.get(panel)
        if published and (known is None or abs(published) > abs(known.published)):
            self.furthest[panel] = _Apart(what, published, ours / published)

    def outcome(self) -> Outcome:
        """AGREES where all steps hold, DIFFERS where one is reversed."""
        tested = [p for _, p, _ in self.wanted if p is not None]
        rejected = iter(holm(tested, LEVEL).rejected if tested else ())
        sure = [p is not None and next(rejected) for _, p, _ in self.wanted]
        if self.reversed or any(
            told and mean < 0 for told, (_, _, mean) in zip(sure, self.wanted, strict=True)
        ):
            return Outcome.DIFFERS
        return Outcome.AGREES if all(sure) else Outcome.UNDECIDED

    def said(self) -> str:
        """Which steps do not hold, in words."""
        tested = [p for _, p, _ in self.wanted if p is not None]
        rejected = iter(holm(tested, LEVEL).rejected if tested else ())
        lines = list(self.reversed)
        for what, p, mean in self.wanted:
            told = p is not None and next(rejected)
            if not told:
                lines.append(f"not told apart: {what}")
            elif mean < 0:
                lines.append(f"reversed: {what}")
        more = len(lines) - _SAID
        return "; ".join(lines[:_SAID] + ([f"and {more} more"] if more > 0 else []))


def _least_apart(low: Sample, high: Sample) -> float | None:
    """How far the second is above the first at least, or below it if negative; None if not known.

    A bound on the larger of the two shows that they are apart as well as its value would.
    """
    if low.lacking or high.lacking or (low.at_least and high.at_least):
        return None
    apart = _mean(high, low)
    if (high.at_least and apart < 0) or (low.at_least and apart > 0):
        return None
    return apart


def _mean(high: Sample, low: Sample) -> float:
    return paired_difference(high.values, low.values).mean or 0.0


def _p(high: Sample, low: Sample) -> float | None:
    return paired_difference(high.values, low.values).p_value


def _published_order(points: Sequence[Point], expected: Expected, steps: _Steps) -> None:
    """The order that published numbers state, within each panel of the compared axis."""
    if expected.measured.relative_to:
        for point in points:
            _against_one(point, expected, steps)
        return
    axis = _compared_axis(expected)
    if axis is None:
        return
    panels: dict[tuple[tuple[str, str], ...], list[Point]] = {}
    for point in points:
        others = tuple((key, name) for key, name in point.sample.at.items() if key != axis)
        panels.setdefault(others, []).append(point)
    for others, panel in panels.items():
        for place, one in enumerate(panel):
            for other in panel[place + 1 :]:
                _published_pair(one, other, expected, steps, others)


def _published_pair(
    one: Point, other: Point, expected: Expected, steps: _Steps, panel: object
) -> None:
    low, high = sorted((one, other), key=lambda point: point.published or 0.0)
    least, most = low.published or 0.0, high.published or 0.0
    room = allowance(most, expected)
    what = f"{high.sample.label} above {low.sample.label}"
    if most - least > room:
        steps.add(what, low.sample, high.sample)
        steps.compare(panel, what, most - least, _mean(high.sample, low.sample))
        return
    found = paired_difference(high.sample.values, low.sample.values)
    apart = _least_apart(low.sample, high.sample)
    if apart is not None and found.half is not None and abs(apart) - found.half > room:
        steps.reversed.append(f"told apart: {what}, which was published as alike")


def _against_one(point: Point, expected: Expected, steps: _Steps) -> None:
    """A ratio states that a value is above or below the one that it is relative to."""
    one = 100.0 if expected.unit == "%" else 1.0
    published = point.published or 0.0
    if abs(published - one) <= allowance(one, expected):
        return
    equal = Sample({}, dict.fromkeys(point.sample.values, one))
    base = ", ".join(expected.measured.relative_to.values())
    if published > one:
        what = f"{point.sample.label} above {base}"
        steps.add(what, equal, point.sample)
    else:
        what = f"{point.sample.label} below {base}"
        steps.add(what, point.sample, equal)
    steps.compare(point.sample.label, what, published - one, (point.sample.mean or one) - one)


def _compared_axis(expected: Expected) -> str | None:
    if not expected.axes:
        return None
    return "scheme" if "scheme" in expected.axes else expected.axes[0]


def _order(claim: Order, found: Sequence[Sample]) -> Judged:
    by_name = {sample.at[claim.axis]: sample for sample in found}
    points = tuple(
        Point(sample, Outcome.AGREES if sample.values else Outcome.NO_VALUE) for sample in found
    )
    missing = [name for name, sample in by_name.items() if not sample.values]
    if missing:
        said = f"no value of {', '.join(missing)}"
        return Judged(claim, Outcome.NO_VALUE, points, said)
    steps = _levels(claim, by_name)
    outcome = steps.outcome()
    in_order = Outcome.IN_ORDER if outcome is Outcome.AGREES else outcome
    return Judged(claim, in_order, points, "" if in_order is Outcome.IN_ORDER else steps.said())


def _levels(claim: Order, by_name: Mapping[str, Sample]) -> _Steps:
    steps = _Steps()
    for lower, upper in zip(claim.levels, claim.levels[1:], strict=False):
        for low in lower:
            for high in upper:
                steps.add(f"{high} above {low}", by_name[low], by_name[high])
    return steps


def steps_of(claim: Order | Number, found: Sequence[Sample]) -> list[tuple[str, float | None]]:
    """The pairs of variants that a claim puts in an order, as "B above A".

    Each with how far the second is above the first in these samples, in the mean; None where that
    is not known.
    """
    if isinstance(claim, Order):
        return _levels(claim, {sample.at[claim.axis]: sample for sample in found}).apart
    steps = _Steps()
    points = [
        Point(sample, Outcome.UNDECIDED, point.value)
        for sample, point in zip(found, claim.expected.points, strict=True)
    ]
    _published_order(points, claim.expected, steps)
    return steps.apart


def _shape(claim: Shape, found: Sequence[Sample]) -> Judged:
    points = tuple(Point(sample, bounds_outcome(claim, sample)) for sample in found)
    return Judged(claim, overall([point.outcome for point in points], picture=False), points)


def bounds_outcome(claim: Shape, sample: Sample) -> Outcome:
    """The verdict on a value that must lie within a shape's bounds."""
    mean, half = sample.mean, sample.half
    if mean is None:
        return Outcome.NO_VALUE
    above = -math.inf if claim.above is None else claim.above
    below = math.inf if claim.below is None else claim.below
    if sample.at_least:
        least = sample.least
        if least is None or least <= above:
            return Outcome.UNDECIDED
        if least > below:
            return Outcome.DIFFERS
        return Outcome.AGREES if below == math.inf else Outcome.UNDECIDED
    if half is None:
        return Outcome.UNDECIDED
    low, high = mean - half, mean + half
    if low >= above and high <= below:
        return Outcome.AGREES
    return Outcome.DIFFERS if high < above or low > below else Outcome.UNDECIDED


def _trend(claim: Shape, found: Sequence[Sample]) -> Judged:
    """Kendall's tau of each seed over the names, for each variant on the other axes."""
    steps = len(claim.along)
    points: list[Point] = []
    for place, at in enumerate(claim.at):
        along = found[place * steps : (place + 1) * steps]
        seeds = sorted(set.intersection(*(set(sample.values) for sample in along)))
        taus = {seed: kendall_tau([sample.values[seed] for sample in along]) for seed in seeds}
        sample = Sample(at, taus)
        # The rank of a value of which only a lower bound is known is not known either.
        bounds = any(each.at_least or each.lacking for each in along)
        points.append(Point(sample, Outcome.UNDECIDED if bounds else bounds_outcome(claim, sample)))
    outcome = overall([point.outcome for point in points], picture=False)
    return Judged(claim, outcome, tuple(points))
