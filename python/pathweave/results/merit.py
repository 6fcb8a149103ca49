"""Which variant is better, by how much, and how sure that is: rankings against a baseline.

Each workload (a traffic group) is judged by one quantity. Every run gives one value, the runs of
one seed are paired, and a variant's difference to the baseline has an interval over these pairs. No
ranking rests on survivors: goodput is that of all flows that were under way, and completion times
count unfinished flows at their age.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.completion import (
    COMPLETIONS,
    FEW_UNFINISHED,
    Completion,
    together,
)
from pathweave.results.costs import Costs, costs
from pathweave.results.derived import table_of
from pathweave.results.quantities import QUANTITIES, parse_statistic
from pathweave.results.schema import IN_WINDOW
from pathweave.results.sweeps import label_of, numeric_sweep
from pathweave.statistics.holm import Verdict, verdicts
from pathweave.statistics.interval import half_width
from pathweave.statistics.paired import Difference, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from pathweave.results.read import StoredRun, StoredScenario
    from pathweave.results.sweeps import Sweep

LEVEL = 0.05
"""Largest probability of any false verdict in one ranking."""
_OF_GROUPS = (
    "flows", "slowdowns", "jobs", "collectives", "optimum_collectives", "convergence", "fairness",
)  # fmt: skip
"""Tables whose rows belong to a traffic group."""
_OF_COLLECTIVES = ("bus_bandwidth", "collective_share")
"""Quantities that only collective operations have that finished."""
_WHAT = {"jct": "jobs", "collective_time": "operations", "iteration_time": "iterations"}
"""What completes, where it is not flows."""
_CLOSED_LOOPS = ("permutation", "random")
"""Patterns in which a flow starts when another ends: what counts is how much gets through."""


@dataclass(frozen=True)
class Subject:
    """What decides about one workload."""

    quantity: str
    """A name in `QUANTITIES`."""
    statistic: str
    """What is taken of it in a run: "mean", "p99", ..."""
    group: str = ""
    """The traffic group; empty for all, and for quantities that belong to none."""

    @property
    def larger_is_better(self) -> bool:
        """Whether more of it is better."""
        return QUANTITIES[self.quantity].larger_is_better

    @property
    def written(self) -> str:
        """As `parse_subject` reads it."""
        of = f" of {self.group}" if self.group else ""
        return f"{self.statistic} {self.quantity}{of}"

    @property
    def text(self) -> str:
        """In words: "mean goodput of large"."""
        title = QUANTITIES[self.quantity].title
        title = title[0].lower() + title[1:]
        words = title if title.startswith(f"{self.statistic} ") else f"{self.statistic} {title}"
        return words + (f' of "{self.group}"' if self.group else "")


@dataclass(frozen=True)
class Measured:
    """What the runs of one variant gave of one quantity."""

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
class Standing(Measured):
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

    subject: Subject
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
    asked: Sequence[Subject] | None = None,
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


def subjects(scenario: StoredScenario) -> list[Subject]:
    """What decides, by workload: what `[report]` says, or what the traffic suggests.

    That is goodput where a flow starts when another ends and where flows have no size, job
    completion times of incast, bus bandwidth of collectives, and completion times of flows
    elsewhere.
    """
    said = scenario.report.get("quantity")
    if said is not None:
        return [parse_subject(said, scenario.groups)]
    found: list[Subject] = []
    for group in _traffic(scenario):
        name = str(group["name"])
        unlimited = (group.get("size") or {}).get("kind") == "unlimited"
        if group.get("pattern") in ("incast", "request-response"):
            found.append(Subject("jct", "mean", name))
        elif group.get("pattern") == "collective":
            found.append(Subject("bus_bandwidth", "mean", name))
        elif unlimited or group.get("pattern") in _CLOSED_LOOPS:
            found.append(Subject("goodput", "mean", name))
        else:
            found.append(Subject("fct", "mean", name))
    return found


def parse_subject(text: str, groups: Sequence[str], where: str = "report.quantity") -> Subject:
    """Read "goodput", "p99 fct" or "mean fct of small".

    Raises `InputError` with what is wrong in `where`.
    """
    rest, _, group = text.partition(" of ")
    *statistic, quantity = rest.split() or [""]
    group = group.strip()
    if quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise InputError(f'{where}: unknown quantity "{quantity}"; there are {known}')
    taken = " ".join(statistic) or "mean"
    if parse_statistic(taken).kind not in ("mean", "median", "quantile"):
        raise InputError(
            f'{where}: variants are ranked by a mean, a median or a percentile, not by "{taken}"'
        )
    if group and QUANTITIES[quantity].table not in _OF_GROUPS:
        raise InputError(f"{where}: {quantity} is not of a traffic group; leave out its name")
    if group and group not in groups:
        raise InputError(
            f'{where}: there is no traffic group "{group}"; there are {", ".join(groups)}'
        )
    return Subject(quantity, taken, group)


def _traffic(scenario: StoredScenario) -> list[dict[str, Any]]:
    resolved = scenario.runs[0].manifest["resolved"]
    here = [group for group in resolved.get("traffic", []) if group.get("enabled", True)]
    return here or [{"name": name} for name in scenario.groups]


def measured(scenario: StoredScenario, axis: str, subject: Subject) -> list[Measured]:
    """The variants that have a value of `subject`, in the scenario's order.

    `axis` is the one whose names will be compared; empty where there is none.
    """
    found: list[Measured] = []
    for label, runs in _by_label(scenario).items():
        values: dict[int, float] = {}
        at_least = False
        for run in runs:
            value, bound = _value(run, subject)
            if value is not None:
                values[run.seed] = value
                at_least |= bound
        if values:
            name = runs[0].axes.get(axis, "")
            panel = label_of(runs[0].axes, scenario.sweeps, leave_out=axis)
            names = dict(runs[0].axes)
            found.append(Measured(label, name, panel, values, at_least, axes=names))
    return found


def _by_label(scenario: StoredScenario) -> dict[str, list[StoredRun]]:
    found: dict[str, list[StoredRun]] = {}
    for run in scenario.runs:
        found.setdefault(run.label, []).append(run)
    return found


def _ranking(scenario: StoredScenario, axis: str, baseline: str, subject: Subject) -> Ranking:
    by_label = _by_label(scenario)
    unfinished = {label: _unfinished(runs, subject) for label, runs in by_label.items()}
    subject, notes = _fair(subject, unfinished)
    found = [
        Standing(
            **vars(each),
            unfinished=_unfinished(by_label[each.label], subject),
            costs=costs(scenario, each.label, subject.group),
        )
        for each in measured(scenario, axis, subject)
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
        numeric_sweep(scenario),
    )


def _fair(subject: Subject, unfinished: dict[str, float]) -> tuple[Subject, list[str]]:
    """The subject, or one that survivors do not decide, with what a reader must know of it."""
    shares = unfinished.values()
    if subject.quantity in _OF_COLLECTIVES and max(shares, default=0.0) > FEW_UNFINISHED:
        # What did not finish has no bandwidth: its time is known to be long.
        subject = Subject("collective_time", subject.statistic, subject.group)
    if subject.quantity not in COMPLETIONS or max(shares, default=0.0) <= FEW_UNFINISHED:
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
    median = Subject(subject.quantity, "median", subject.group)
    return median, [f"{note} The median over all {what} that started decides instead."]


def _judged(
    standings: Sequence[Standing], baseline: str, *, larger_is_better: bool
) -> list[Standing]:
    """The standings with their differences to the baseline of their panel, as one family."""
    from dataclasses import replace

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


def _rows(run: StoredRun, subject: Subject) -> pl.DataFrame | None:
    """The rows of a run that its value is over, unfinished flows and jobs included."""
    import polars as pl

    table = QUANTITIES[subject.quantity].table
    rows = table_of(run, table)
    if rows is None:
        return None
    if table in IN_WINDOW:
        rows = rows.filter(pl.col("in_window"))
    # The fairness of all flows has rows of its own, under no group.
    if subject.group or table == "fairness":
        rows = rows.filter(pl.col("group") == subject.group)
    return rows


def _completion(run: StoredRun, subject: Subject) -> Completion:
    """What the flows or jobs of a run took that its value is over."""
    rows = _rows(run, subject)
    return Completion((), ()) if rows is None else COMPLETIONS[subject.quantity](run, rows)


def _unfinished(runs: Sequence[StoredRun], subject: Subject) -> float:
    """Share of flows with a size, or of jobs, that did not finish."""
    if subject.quantity in _OF_COLLECTIVES:
        subject = Subject("collective_time", "mean", subject.group)
    if subject.quantity not in COMPLETIONS:
        flows = Subject("fct", "mean", subject.group)
        return together([_completion(run, flows) for run in runs]).unfinished
    return together([_completion(run, subject) for run in runs]).unfinished


def _value(run: StoredRun, subject: Subject) -> tuple[float | None, bool]:
    """The value of a run in base units, and whether it is only a lower bound."""
    statistic = parse_statistic(subject.statistic)
    if subject.quantity not in COMPLETIONS:
        rows = _rows(run, subject)
        quantity = QUANTITIES[subject.quantity]
        if rows is None:
            return None, False
        if quantity.table == "links" and statistic.kind == "mean":
            return _mean_by_bytes(rows, quantity.column), False
        return statistic.of(rows[quantity.column]), False
    completion = _completion(run, subject)
    if statistic.kind == "mean":
        times = completion.times
        return (math.fsum(times) / len(times) if times else None), False
    found = completion.percentile(50.0 if statistic.kind == "median" else 100 * statistic.at)
    return (None, False) if found is None else (found.value, found.at_least)


def _mean_by_bytes(links: pl.DataFrame, column: str) -> float | None:
    """The mean over ports, weighted by what they sent: what data meets, not what idle ports have.

    Ports that only acknowledgements leave by hardly count.
    """
    sent = float(links["bytes"].sum())
    return float((links["bytes"] * links[column]).sum()) / sent if sent else None
