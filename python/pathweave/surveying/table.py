"""What a workload's runs say of each scheme, quantity by quantity, against the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.measures import Measure
from pathweave.results.merit import values_of
from pathweave.results.optimum import total_shares
from pathweave.statistics.holm import verdicts
from pathweave.statistics.interval import half_width
from pathweave.statistics.paired import paired_difference
from pathweave.surveying.workloads import AXIS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.results.read import StoredRun, StoredScenario
    from pathweave.statistics.holm import Outcome
    from pathweave.statistics.paired import Difference
    from pathweave.surveying.workloads import Survey, Workload

LEVEL = 0.05
"""Largest probability of any false verdict in one column of a workload's table."""


@dataclass(frozen=True)
class Column:
    """A quantity of the table."""

    key: str
    title: str
    larger_is_better: bool


COLUMNS = (
    Column("goodput", "goodput", larger_is_better=True),
    Column("short_p50", "short flows, p50", larger_is_better=False),
    Column("short_p99", "short flows, p99", larger_is_better=False),
    Column("rtt", "RTT", larger_is_better=False),
    Column("queue", "queue", larger_is_better=False),
    Column("fairness", "fairness", larger_is_better=True),
    Column("timeouts", "timeouts a flow", larger_is_better=False),
    Column("recovery", "recovery, p50", larger_is_better=False),
    Column("optimum", "of the optimum", larger_is_better=True),
)


@dataclass(frozen=True)
class Values:
    """One quantity of one scheme: its values by seed, in base units (bit/s, s, packets, ratio)."""

    by_seed: Mapping[int, float]
    at_least: bool
    """Whether some value is only a lower bound, because too many flows did not finish."""

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return math.fsum(self.by_seed.values()) / len(self.by_seed)

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean; None for one seed and for bounds."""
        return None if self.at_least else half_width(list(self.by_seed.values()))


@dataclass(frozen=True)
class Cell:
    """A value and how it compares with the baseline's."""

    values: Values
    difference: Difference | None
    """Paired by seed; None for the baseline, for bounds, and where the baseline has no value."""
    outcome: Outcome | None


Gathered = dict[str, dict[str, Values]]
"""By column, then by scheme."""


def gather(scenario: StoredScenario, workload: Workload) -> Gathered:
    """What the runs of a workload give; quantities that it does not have are left out."""
    runs = scenario.counted().runs
    completion = "jct" if _are_jobs(runs, workload.short) else "fct"
    subjects = {
        "goodput": Measure("goodput", "mean", workload.of),
        "short_p50": Measure(completion, "median", workload.short),
        "short_p99": Measure(completion, "p99", workload.short),
        "rtt": Measure("rtt", "mean", workload.of),
        "queue": Measure("queue", "mean"),
        "fairness": Measure("fairness", "mean", workload.of),
        "timeouts": Measure("timeouts", "mean", workload.of),
        "recovery": Measure("recovery", "median"),
    }
    if not workload.short:
        del subjects["short_p50"], subjects["short_p99"]
    found: Gathered = {}
    for key, subject in subjects.items():
        own = {
            each.name: Values(each.values, each.at_least)
            for each in values_of(scenario, AXIS, subject)
        }
        if own:
            found[key] = own
    schemes = {run.label: run.axes[AXIS] for run in runs}
    shares = {
        scheme: Values(by_seed, at_least=False)
        for label, scheme in schemes.items()
        if (by_seed := total_shares(scenario, label, workload.of))
    }
    if shares:
        found["optimum"] = shares
    return found


def _are_jobs(runs: Sequence[StoredRun], group: str) -> bool:
    """Whether a traffic group has jobs; every run has a table for them."""
    jobs = (run.read("jobs", ["group"])["group"] for run in runs if "jobs" in run.tables)
    return any(group in each for each in jobs)


def compare(survey: Survey, gathered: Gathered) -> dict[str, dict[str, Cell]]:
    """Each value beside the baseline's, by column and scheme; a column is one family of tests."""
    table: dict[str, dict[str, Cell]] = {}
    for column in COLUMNS:
        own = gathered.get(column.key)
        if own is None:
            continue
        table[column.key] = _compared(survey.baseline, own, column)
    return table


def _compared(baseline: str, own: Mapping[str, Values], column: Column) -> dict[str, Cell]:
    base = own.get(baseline)
    tested: list[str] = []
    differences: list[Difference] = []
    for name, values in own.items():
        if base is None or name == baseline or values.at_least or base.at_least:
            continue
        tested.append(name)
        differences.append(paired_difference(values.by_seed, base.by_seed))
    decided = dict(zip(tested, _judged(differences, larger=column.larger_is_better), strict=True))
    by_name = dict(zip(tested, differences, strict=True))
    return {
        name: Cell(values, by_name.get(name), decided.get(name)) for name, values in own.items()
    }


def _judged(differences: Sequence[Difference], *, larger: bool) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts(differences, larger, LEVEL)]
