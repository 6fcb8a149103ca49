"""Verdicts on what changed: one family of tests over all variants and quantities.

A change has moved when Holm's correction rejects at `LEVEL` that there is none, and when it is at
least as large as the stated part of the baseline's mean. No verdict rests on the flows that
happened to finish: completion times count unfinished flows at their age, and the share that did not
finish is a quantity of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from pathweave.changes.observe import Metric
from pathweave.results.completion import FEW_UNFINISHED, Completion, together
from pathweave.results.measures import of_completion
from pathweave.results.quantities import QUANTITIES
from pathweave.statistics.holm import holm
from pathweave.statistics.interval import t_critical, two_sided_p
from pathweave.statistics.paired import paired_difference
from pathweave.statistics.welch import welch_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.changes.observe import Observed

LEVEL: Final = 0.01
"""Largest probability of any false "moved" or "irrelevant" in one comparison."""

Verdict = Literal["identical", "moved", "irrelevant", "not told apart", "needs more seeds"]
Method = Literal["paired", "Welch", "exact", "none"]


@dataclass(frozen=True)
class Compared:
    """The runs of one variant on both sides, by seed."""

    variant: str
    before: Mapping[int, Observed]
    after: Mapping[int, Observed]
    paired: bool
    repeatable: bool
    """Whether all seeds of a side give the same bits, on both sides: there is no chance in it."""


@dataclass(frozen=True)
class Change:
    """What became of one quantity of one variant from A, the baseline, to B."""

    variant: str
    metric: Metric
    before: float
    """Mean of A over its seeds, in base units; over the common ones where they are paired."""
    after: float
    seeds: tuple[int, int]
    """How many seeds of A and of B these are over."""
    difference: float
    """B less A."""
    half: float | None
    """Half the interval of the difference at 1 - `LEVEL`; None where there is none."""
    percent: float | None
    """The difference in % of A's mean; None where that is 0."""
    half_percent: float | None
    p_value: float | None
    """Of the test that nothing has changed; None where there is no test."""
    adjusted_p: float | None
    """After Holm's correction for all tests of the comparison."""
    method: Method
    """What the interval and the test are: paired by seed, Welch's for independent samples, or none;
    "exact" where seeds make no difference, so that no chance is in it."""
    verdict: Verdict


@dataclass(frozen=True)
class _Estimate:
    """A change before there is a verdict on it."""

    variant: str
    metric: Metric
    before: float
    after: float
    seeds: tuple[int, int]
    difference: float
    half: float | None
    p_value: float | None
    method: Method
    identical: bool


def judge(
    compared: Sequence[Compared], relevant: float
) -> tuple[list[Change], list[tuple[str, str]]]:
    """The changes of all variants, in their order; and of each variant what is not compared.

    `relevant` is a part of the baseline's mean, 0.01 for 1 %.
    """
    estimates: list[_Estimate] = []
    notes: list[tuple[str, str]] = []
    for each in compared:
        before, after, remarks = _values(each)
        notes += [(each.variant, remark) for remark in remarks]
        for metric in _ordered(before, after):
            if before.get(metric) and after.get(metric):
                estimates.append(_estimate(each, metric, before[metric], after[metric]))
            else:
                side = "A" if before.get(metric) else "B"
                notes.append((each.variant, f"{metric.text}: only in {side}"))
    tested = [place for place, each in enumerate(estimates) if each.p_value is not None]
    family = holm([p for each in estimates if (p := each.p_value) is not None], LEVEL)
    adjusted = dict(zip(tested, family.adjusted, strict=True))
    return [
        _change(each, adjusted.get(place), relevant) for place, each in enumerate(estimates)
    ], notes


def _change(each: _Estimate, adjusted_p: float | None, relevant: float) -> Change:
    base = abs(each.before)
    relative = abs(each.difference) / base if base else math.inf
    verdict: Verdict = "not told apart"
    if each.identical:
        verdict = "identical"
    elif each.method == "none":
        verdict = "needs more seeds"
    elif each.method == "exact" or (adjusted_p is not None and adjusted_p <= LEVEL):
        verdict = "moved" if relative >= relevant else "irrelevant"
    return Change(
        variant=each.variant,
        metric=each.metric,
        before=each.before,
        after=each.after,
        seeds=each.seeds,
        difference=each.difference,
        half=each.half,
        percent=100 * each.difference / base if base else None,
        half_percent=100 * each.half / base if base and each.half is not None else None,
        p_value=each.p_value,
        adjusted_p=adjusted_p,
        method=each.method,
        verdict=verdict,
    )


def _estimate(
    compared: Compared, metric: Metric, before: dict[int, float], after: dict[int, float]
) -> _Estimate:
    common = sorted(before.keys() & after.keys())
    paired = compared.paired and len(common) >= min(2, len(before), len(after))
    seeds = (common, common) if paired else (sorted(before), sorted(after))
    ours = [before[seed] for seed in seeds[0]]
    theirs = [after[seed] for seed in seeds[1]]
    identical = (paired and ours == theirs) or len({*ours, *theirs}) == 1
    degrees = half = p_value = None
    method: Method = "none"
    if identical or compared.repeatable:
        method = "exact"
        difference = _mean(theirs) - _mean(ours)
    elif paired:
        pairs = dict(enumerate(theirs)), dict(enumerate(ours))
        found = paired_difference(*pairs, level=1 - LEVEL)
        difference, half, p_value = found.mean or 0.0, found.half, found.p_value
        degrees = found.pairs - 1.0
    else:
        unpaired = welch_difference(theirs, ours, level=1 - LEVEL)
        difference, half, p_value = unpaired.mean, unpaired.half, unpaired.p_value
        degrees = unpaired.degrees
    if half is not None and p_value is not None and degrees:
        method = "paired" if paired else "Welch"
        error = _least_error(compared, metric, seeds)
        if half < (least := t_critical(degrees, 1 - LEVEL) * error):
            half, p_value = least, two_sided_p(difference / error, degrees)
    return _Estimate(
        variant=compared.variant,
        metric=metric,
        before=_mean(ours),
        after=_mean(theirs),
        seeds=(len(ours), len(theirs)),
        difference=difference,
        half=half,
        p_value=p_value,
        method=method,
        identical=identical,
    )


def _least_error(
    compared: Compared, metric: Metric, seeds: tuple[Sequence[int], Sequence[int]]
) -> float:
    """The least standard error of a change of a count; 0 of what is no count.

    A few chance events often come as 0, 0, 0 on one side and 1, 1, 1 on the other. Their spread
    then says that the change is certain, which it is not. So the number of events of each side, all
    seeds together, is taken to be uncertain by one event or more.
    """
    if not metric.is_count:
        return 0.0
    totals = [
        sum(side[seed].size(metric) for seed in of)
        for side, of in zip((compared.before, compared.after), seeds, strict=True)
    ]
    return math.hypot(*(1 / total for total in totals if total))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


_ByMetric = dict[Metric, dict[int, float]]


def _values(compared: Compared) -> tuple[_ByMetric, _ByMetric, list[str]]:
    """Values by metric and seed of both sides, and what could not be compared."""
    before = _plain(compared.before)
    after = _plain(compared.after)
    notes: list[str] = []
    sides = (compared.before, compared.after)
    keys = dict.fromkeys(
        key for side in sides for observed in side.values() for key in observed.completions
    )
    for name, of in keys:
        ours, theirs = (_completions(side, name, of) for side in sides)
        remark = _add_completions(name, of, ours, theirs, before, after)
        notes += [remark] if remark else []
    for metric in dict.fromkeys(
        metric for side in sides for each in side.values() for metric in each.bounds
    ):
        before.pop(metric, None)
        after.pop(metric, None)
        notes.append(f"{metric.text} is not compared: only a lower bound is known of some runs")
    _drop_repeated(before, after)
    return before, after, notes


def _drop_repeated(before: _ByMetric, after: _ByMetric) -> None:
    """Leave out values that say the same as others, so that each counts once in the family.

    Where every flow has one subflow, its goodput is the flow's. Where there is one traffic group,
    the fairness between all flows is that within the group.
    """
    for metric in [*before]:
        if any(
            before[metric] == before.get(other) and after.get(metric) == after.get(other)
            for other in _said_by(metric, before)
        ):
            del before[metric]
            after.pop(metric, None)


def _said_by(metric: Metric, known: _ByMetric) -> list[Metric]:
    """The measures that may say the same as this one."""
    if metric.quantity == "fairness" and not metric.of:
        return [
            each
            for each in known
            if (each.quantity, each.phase) == (metric.quantity, metric.phase) and each.of
        ]
    flows = {"subflow_goodput": "goodput", "phase_subflow_goodput": "phase_goodput"}
    if metric.quantity in flows:
        return [replace(metric, quantity=flows[metric.quantity])]
    return []


def _plain(side: Mapping[int, Observed]) -> _ByMetric:
    found: _ByMetric = {}
    for seed, observed in side.items():
        for metric, value in observed.values.items():
            found.setdefault(metric, {})[seed] = value
    return found


def _completions(side: Mapping[int, Observed], name: str, of: str) -> dict[int, Completion]:
    return {
        seed: observed.completions[name, of]
        for seed, observed in side.items()
        if (name, of) in observed.completions
    }


def _add_completions(
    name: str,
    of: str,
    ours: Mapping[int, Completion],
    theirs: Mapping[int, Completion],
    before: _ByMetric,
    after: _ByMetric,
) -> str:
    """Add what both sides can be compared by; say what cannot be."""
    left = max(together([*side.values()]).unfinished for side in (ours, theirs))
    # The share of flows without a slowdown is that of flows without a completion time.
    if left and ours and theirs and name != "slowdown":
        share = Metric(name, "unfinished", of)
        before[share] = {seed: each.unfinished for seed, each in ours.items()}
        after[share] = {seed: each.unfinished for seed, each in theirs.items()}
    if left <= FEW_UNFINISHED:
        mean = Metric(name, "mean", of)
        for side, found in ((before, ours), (after, theirs)):
            means = {
                seed: value.value
                for seed, each in found.items()
                if each.times and (value := of_completion(each, "mean", few=True)) is not None
            }
            if means:
                side[mean] = means
        return ""
    median = Metric(name, "median", of)
    first, second = _medians(ours), _medians(theirs)
    if first is None or second is None:
        share = f"up to {100 * left:.0f} % of a run's flows"
        return f"{median.text} is not compared: {share} did not finish"
    before[median], after[median] = first, second
    return ""


def _medians(side: Mapping[int, Completion]) -> dict[int, float] | None:
    """Medians over what is done and what is not; None where one is only a lower bound."""
    found: dict[int, float] = {}
    for seed, each in side.items():
        median = of_completion(each, "median")
        if median is None or median.at_least:
            return None
        found[seed] = median.value
    return found


def _ordered(before: _ByMetric, after: _ByMetric) -> list[Metric]:
    """All measures in the order of the quantities, then of the traffic groups."""
    places = {name: place for place, name in enumerate(QUANTITIES)}
    return sorted(dict.fromkeys((*before, *after)), key=lambda each: places[each.quantity])
