"""What a workload's runs say of each scheme, quantity by quantity, against the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pathweave.results.measures import Measure
from pathweave.results.merit import values_of
from pathweave.results.optimum import total_shares
from pathweave.results.sizes import SHORT, Sizes
from pathweave.statistics.holm import verdicts
from pathweave.statistics.interval import half_width
from pathweave.statistics.paired import paired_difference
from pathweave.surveying.workloads import AXIS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pathweave.results.runs import StoredScenario
    from pathweave.statistics.holm import Outcome
    from pathweave.statistics.paired import Difference
    from pathweave.surveying.workloads import Survey, Workload

Over = Literal["all", "of", "jobs"]
"""Whom a quantity is over: all flows, those under the scheme, or the workload's jobs."""
LEVEL = 0.05
"""Largest probability of any false verdict in one column of a workload's table."""


@dataclass(frozen=True)
class Column:
    """A quantity of the table."""

    key: str
    title: str
    measure: Measure | None
    """What it is of, over all traffic groups; None for a share of the optimum."""
    over: Over = "all"

    @property
    def larger_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.measure is None or self.measure.larger_is_better


def _slowdowns() -> Iterator[Column]:
    for name, sizes in SIZES.items():
        for statistic, said in (("median", "p50"), ("p99", "p99")):
            key = f"slowdown_{said}_{name}"
            title = f"slowdown {sizes.text}, {said}"
            yield Column(key, title, Measure("slowdown", statistic, sizes=sizes))


SIZES = {
    "short": SHORT,
    "medium": Sizes(SHORT.below, 1e6),
    "long": Sizes(1e6),
}
"""Classes of flow size whose slowdowns are compared, by what keys call them."""
COLUMNS = (
    Column("goodput", "goodput", Measure("goodput"), over="of"),
    *_slowdowns(),
    Column("job_time", "job time, mean", Measure("jct"), over="jobs"),
    Column("job_time_p99", "job time, p99", Measure("jct", "p99"), over="jobs"),
    Column("rtt", "RTT", Measure("rtt"), over="of"),
    Column("queue", "queue", Measure("queue")),
    Column("fairness", "fairness", Measure("fairness"), over="of"),
    Column("timeouts", "timeouts a flow", Measure("timeouts"), over="of"),
    Column("timeout_time", "time lost in timeouts", Measure("timeout_time"), over="of"),
    Column("recovery", "recovery, p50", Measure("recovery", "median")),
    Column("optimum", "of the optimum", None, over="of"),
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
class Compared:
    """How a value compares with a baseline's."""

    difference: Difference
    """Paired by seed."""
    outcome: Outcome


@dataclass(frozen=True)
class Cell:
    """A value and how it compares; nothing for bounds, and where a baseline has no value."""

    values: Values
    compared: Compared | None
    """With the baseline; None for the baseline itself."""
    same_burst: Compared | None
    """With the baseline that opens with as many packets; None for single paths."""


Gathered = dict[str, dict[str, Values]]
"""By column, then by scheme."""


def gather(scenario: StoredScenario, workload: Workload) -> Gathered:
    """What the runs of a workload give; quantities that it does not have are left out."""
    found: Gathered = {}
    for column in COLUMNS:
        if column.measure is None:
            own = _shares(scenario, workload.of)
        else:
            own = _values(scenario, workload, column.measure, column.over)
        if own:
            found[column.key] = own
    return found


def _values(
    scenario: StoredScenario, workload: Workload, measure: Measure, over: Over
) -> dict[str, Values]:
    if over == "jobs" and not workload.jobs:
        return {}
    group = {"all": "", "of": workload.of, "jobs": workload.jobs}[over]
    found = values_of(scenario, AXIS, replace(measure, group=group))
    return {each.name: Values(each.values, each.at_least) for each in found}


def _shares(scenario: StoredScenario, group: str) -> dict[str, Values]:
    """The parts of the optimum that schemes had, by their names."""
    schemes = {run.label: run.axes[AXIS] for run in scenario.counted().runs}
    return {
        scheme: Values(by_seed, at_least=False)
        for label, scheme in schemes.items()
        if (by_seed := total_shares(scenario, label, group))
    }


def compare(survey: Survey, gathered: Gathered) -> dict[str, dict[str, Cell]]:
    """Each value beside its baselines', by column and scheme.

    The comparisons of a column with one baseline are one family of tests.
    """
    multipath = {each.name for each in survey.schemes if each.subflows > 1}
    table: dict[str, dict[str, Cell]] = {}
    for column in COLUMNS:
        own = gathered.get(column.key)
        if own is None:
            continue
        larger = column.larger_is_better
        usual = _compared(survey.baseline, own, larger=larger)
        some = {name: own[name] for name in own if name in {*multipath, survey.same_burst}}
        burst = _compared(survey.same_burst, some, larger=larger)
        table[column.key] = {
            name: Cell(values, usual.get(name), burst.get(name)) for name, values in own.items()
        }
    return table


def _compared(baseline: str, own: Mapping[str, Values], *, larger: bool) -> dict[str, Compared]:
    base = own.get(baseline)
    if base is None or base.at_least:
        return {}
    differences = {
        name: paired_difference(values.by_seed, base.by_seed)
        for name, values in own.items()
        if name != baseline and not values.at_least
    }
    decided = verdicts(list(differences.values()), larger, LEVEL)
    return {
        name: Compared(difference, verdict.outcome)
        for (name, difference), verdict in zip(differences.items(), decided, strict=True)
    }
