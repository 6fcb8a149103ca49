"""Which variant is better, by how much, and how sure that is: rankings against a baseline.

Each workload (a traffic group) is judged by one quantity. Every run gives one value, the runs of
one seed are paired, and a variant's difference to the baseline has an interval over these pairs. No
ranking rests on survivors: goodput is that of all flows that were under way, and completion times
count unfinished flows at their age.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.completion import FEW_UNFINISHED
from pathweave.results.costs import Costs, costs
from pathweave.results.measures import OF_COLLECTIVES, Measure, parse_measure
from pathweave.results.sweeps import label_of
from pathweave.statistics.holm import Verdict, verdicts
from pathweave.statistics.interval import half_width
from pathweave.statistics.paired import Difference, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.results.runs import StoredRun, StoredScenario
    from pathweave.results.sweeps import Sweep

LEVEL = 0.05
"""Largest probability of any false verdict in one ranking."""
_WHAT = {"jct": "jobs", "collective_time": "operations", "iteration_time": "iterations"}
"""What completes, where it is not flows."""
_CLOSED_LOOPS = ("permutation", "random")
"""Patterns in which a flow starts when another ends: what counts is how much gets through."""


@dataclass(frozen=True)
class VariantValues:
    """What the runs of one variant gave of one measure."""

    label: str
    name: str
    """Its name on the axis that is compared."""
    panel: str
    """Its names on the other axes; it is compared with the baseline of the same panel."""
    values: dict[int, float]
    """By seed, in base units (bit/s, s, packets, ratio)."""
    at_least: bool
    """Whether some value is only a lower bound, because too many flows are unfinished."""
    axes: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    """Its names on all axes."""

    @property
    def mean(self) -> float | None:
        """Mean over the seeds."""
        return math.fsum(self.values.values()) / len(self.values) if self.values else None

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of that mean; None for one seed."""
        return half_width(list(self.values.values()))


@dataclass(frozen=True)
class Standing(VariantValues):
    """One variant in a ranking."""

    unfinished: float
    """Share of the flows (or jobs) that have a size and did not finish."""
    costs: Costs
    difference: Difference | None = None
    """To the baseline; None for the baseline itself, and where there is nothing to compare."""
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Ranking:
    """The variants of a scenario, judged by one quantity."""

    subject: Measure
    axis: str
    """The axis whose names are compared."""
    baseline: str
    """The name on it that the others are compared with."""
    standings: tuple[Standing, ...]
    """By panel; within it in order of merit, those that cannot be ranked last."""
    notes: tuple[str, ...] = field(default=())
    """What a reader must know before believing it."""
    sweeps: tuple[Sweep, ...] = ()
    """Which axes are sweeps."""
    sweep: Sweep | None = None
    """The axis of numbers that its values are read along, where there is one."""

    @property
    def panels(self) -> list[str]:
        """Names of the panels, in order."""
        return list(dict.fromkeys(standing.panel for standing in self.standings))


def rankings(
    scenario: StoredScenario,
    baseline: str | None = None,
    asked: Sequence[Measure] | None = None,
) -> list[Ranking]:
    """The rankings of a scenario's workloads; none where there are no variants to compare.

    `baseline` goes before the scenario's own, `asked` before what decides about it. Raises
    `InputError` for a baseline or a quantity that is not there.
    """
    stated = stated_baselines(scenario.report)
    if baseline is None and len(stated) > 1:
        return [ranking for name in stated for ranking in rankings(scenario, name, asked)]
    scenario = scenario.counted()
    if not scenario.runs or not scenario.axes:
        return []
    wanted = baseline or next(iter(stated), None)
    axis = compared_axis(scenario.axes, wanted)
    names = list(dict.fromkeys(run.axes.get(axis, "") for run in scenario.runs))
    order = [name for name in scenario.axes[axis] if name in names]
    reference = wanted if wanted is not None else order[0]
    wanted_of = subjects(scenario) if asked is None else asked
    found = [_ranking(scenario, axis, reference, subject) for subject in wanted_of]
    return [ranking for ranking in found if len(ranking.standings) != 1]


def stated_baselines(report: Mapping[str, Any]) -> list[str]:
    """The baselines that a scenario's `[report]` names; more than one compares several axes."""
    said = report.get("baseline", [])
    return [said] if isinstance(said, str) else list(said)


def compared_axis(axes: Mapping[str, Sequence[str]], baseline: str | None = None) -> str:
    """The axis whose names are compared: that of the baseline, else "scheme", else the first.

    Raises `InputError` for a baseline that is on no axis.
    """
    named = sorted(axes, key=lambda axis: axis != "scheme")
    if baseline is None:
        return named[0]
    for axis in named:
        if baseline in axes[axis]:
            return axis
    known = "; ".join(f"{axis} has {', '.join(axes[axis])}" for axis in axes)
    raise InputError(f'there is no variant "{baseline}" for a baseline: {known}')


def subjects(scenario: StoredScenario) -> list[Measure]:
    """What decides, by workload: what `[report]` says, or what the traffic suggests.

    That is goodput where a flow starts when another ends and where flows have no size, job
    completion times of incast, bus bandwidth of collectives, and completion times of flows
    elsewhere.
    """
    said = scenario.report.get("quantity")
    if said is not None:
        return [parse_measure(said, scenario.groups)]
    found: list[Measure] = []
    for group in _traffic(scenario):
        name = str(group["name"])
        unlimited = (group.get("size") or {}).get("kind") == "unlimited"
        if group.get("pattern") in ("incast", "request-response"):
            found.append(Measure("jct", "mean", name))
        elif group.get("pattern") == "collective":
            found.append(Measure("bus_bandwidth", "mean", name))
        elif unlimited or group.get("pattern") in _CLOSED_LOOPS:
            found.append(Measure("goodput", "mean", name))
        else:
            found.append(Measure("fct", "mean", name))
    return found


def _traffic(scenario: StoredScenario) -> list[dict[str, Any]]:
    resolved = scenario.runs[0].manifest["resolved"]
    here = [group for group in resolved.get("traffic", []) if group.get("enabled", True)]
    return here or [{"name": name} for name in scenario.groups]


def values_of(scenario: StoredScenario, axis: str, subject: Measure) -> list[VariantValues]:
    """The variants that have a value of `subject`, in the scenario's order.

    `axis` is the one whose names will be compared; empty where there is none.
    """
    found: list[VariantValues] = []
    for label, runs in _by_label(scenario).items():
        values = subject.by_run(runs)
        if values:
            name = runs[0].axes.get(axis, "")
            panel = label_of(runs[0].axes, scenario.sweeps, leave_out=axis)
            names = dict(runs[0].axes)
            by_seed = {run.seed: value.value for run, value in values}
            at_least = any(value.at_least for _, value in values)
            found.append(VariantValues(label, name, panel, by_seed, at_least, axes=names))
    return found


def _by_label(scenario: StoredScenario) -> dict[str, list[StoredRun]]:
    found: dict[str, list[StoredRun]] = {}
    for run in scenario.runs:
        found.setdefault(run.label, []).append(run)
    return found


def _ranking(scenario: StoredScenario, axis: str, baseline: str, subject: Measure) -> Ranking:
    by_label = _by_label(scenario)
    unfinished = {label: subject.unfinished(runs) for label, runs in by_label.items()}
    subject, notes = _fair(subject, unfinished)
    found = [
        Standing(
            **vars(each),
            unfinished=subject.unfinished(by_label[each.label]),
            costs=costs(scenario, each.label, subject.group or ""),
        )
        for each in values_of(scenario, axis, subject)
    ]
    judged = _judged(found, baseline, larger_is_better=subject.larger_is_better)
    if any(each.at_least for each in judged):
        notes.append(
            f'"At least": the {subject.statistic} depends on what is unfinished, and is not ranked.'
            " Let the run go on until more has finished."
        )
    bounds = [each.panel for each in judged if each.name == baseline and each.at_least]
    if bounds:
        where = " in " + ", ".join(bounds) if any(bounds) else ""
        notes.append(
            f"Only a bound is known of the baseline {baseline}{where}, so nothing is compared with"
            " it. --baseline names another."
        )
    if not judged:
        notes.append(f"No run has a {subject.text}, so nothing is ranked by it.")
    elif not any(each.name == baseline for each in judged):
        notes.append(f"There is no run of the baseline {baseline} here, so nothing is compared.")
    notes += _alone(judged, baseline)
    notes += _sameness(scenario, judged)
    by_merit = scenario.report.get("order", "merit") == "merit"
    ordered = _ordered(judged, larger_is_better=subject.larger_is_better, by_merit=by_merit)
    return Ranking(
        subject,
        axis,
        baseline,
        tuple(ordered),
        tuple(notes),
        scenario.sweeps,
        scenario.numeric_sweep(),
    )


def _fair(subject: Measure, unfinished: dict[str, float]) -> tuple[Measure, list[str]]:
    """The subject, or one that survivors do not decide, with what a reader must know of it."""
    shares = unfinished.values()
    if subject.quantity in OF_COLLECTIVES and max(shares, default=0.0) > FEW_UNFINISHED:
        # What did not finish has no bandwidth: its time is known to be long.
        subject = replace(subject, quantity="collective_time")
    if not subject.is_completion or max(shares, default=0.0) <= FEW_UNFINISHED:
        return subject, []
    what = _WHAT.get(subject.quantity, "flows")
    did = "come to a fair share" if subject.quantity == "time_to_fair_share" else "finish"
    worst = max(unfinished, key=lambda label: unfinished[label])
    note = (
        f"Up to {100 * unfinished[worst]:.0f} % of the {what} did not {did} ({worst}), so a mean"
        f" over those that did would compare survivors."
    )
    if subject.statistic != "mean":
        return subject, [note] if max(shares) != min(shares) else []
    median = replace(subject, statistic="median")
    return median, [f"{note} The median over all {what} that started decides instead."]


def _judged(
    standings: Sequence[Standing], baseline: str, *, larger_is_better: bool
) -> list[Standing]:
    """The standings with their differences to the baseline of their panel, as one family."""
    bases = {each.panel: each for each in standings if each.name == baseline}
    compared: list[tuple[int, Difference]] = []
    for place, each in enumerate(standings):
        base = bases.get(each.panel)
        if base is None or base is each or each.at_least or base.at_least:
            continue
        compared.append((place, paired_difference(each.values, base.values)))
    decided = verdicts([difference for _, difference in compared], larger_is_better, LEVEL)
    judged = list(standings)
    for (place, difference), verdict in zip(compared, decided, strict=True):
        judged[place] = replace(judged[place], difference=difference, verdict=verdict)
    return judged


def _ordered(
    standings: Sequence[Standing], *, larger_is_better: bool, by_merit: bool
) -> list[Standing]:
    panels = list(dict.fromkeys(each.panel for each in standings))
    if not by_merit:
        return sorted(standings, key=lambda each: panels.index(each.panel))

    def merit(each: Standing) -> tuple[int, bool, float]:
        mean = each.mean or 0.0
        return panels.index(each.panel), each.at_least, -mean if larger_is_better else mean

    return sorted(standings, key=merit)


def _alone(standings: Sequence[Standing], baseline: str) -> list[str]:
    """Seeds that a difference leaves out, because one of the two variants has no run of them."""
    bases = {each.panel: set(each.values) for each in standings if each.name == baseline}
    notes: list[str] = []
    for each in standings:
        if each.difference is None:
            continue
        alone = sorted(set(each.values) ^ bases.get(each.panel, set()))
        if alone:
            seeds = ", ".join(str(seed) for seed in alone)
            word = "seed" if len(alone) == 1 else "seeds"
            notes.append(
                f"{each.label} and {baseline} are not compared on {word} {seeds}: one of them has"
                " no value there."
            )
    return notes


def _sameness(scenario: StoredScenario, standings: Sequence[Standing]) -> list[str]:
    """Seeds or variants that make no difference."""
    notes: list[str] = []
    hashes: dict[str, set[str]] = {}
    seeds: dict[str, set[int]] = {}
    for run in scenario.runs:
        hashes.setdefault(run.label, set()).add(run.manifest["results_hash"])
        seeds.setdefault(run.label, set()).add(run.seed)
    several = [label for label, found in seeds.items() if len(found) > 1]
    if several and all(len(hashes[label]) == 1 for label in several):
        jitter = scenario.runs[0].manifest["resolved"].get("jitter")
        why = ' (jitter = "none")' if jitter == "none" else ""
        notes.append(f"The seeds do not differ{why}: all give the same bits, so no interval holds.")
    same = [each.name for each in standings if each.difference and each.difference.identical]
    if same and len(same) == sum(each.difference is not None for each in standings):
        notes.append("The variants make no difference here.")
    return notes
