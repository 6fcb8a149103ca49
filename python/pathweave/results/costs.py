"""What a variant costs beside the quantity that decides: short flows, queues, losses, fairness."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pathweave.results.completion import together
from pathweave.results.measures import Measure, of_completion, share_of_sent
from pathweave.results.optimum import summarise_optimum
from pathweave.results.sizes import SHORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.measures import Value
    from pathweave.results.runs import StoredRun, StoredScenario


@dataclass(frozen=True)
class Costs:
    """Of one variant and traffic group, over all seeds; None where a run has no such thing."""

    short_p99_s: Value | None
    """99th percentile of the completion times of flows in `SHORT`, of all groups."""
    queue_packets: float | None
    """Mean queue over all ports, each weighted by the bytes that it sent: what data meets."""
    drops: float | None
    """Packets dropped by ports, as a share of those that senders sent."""
    marks: float | None
    """Packets marked by ports, as a share of the same."""
    timeouts: float | None
    """Timeouts per flow of the group."""
    fairness: float | None
    """Jain's index of the goodput of the group's flows; mean over phases, if any, and then over the
    runs."""
    optimum: float | None
    """The group's traffic as a share of the optimum, where that was solved."""


def costs(scenario: StoredScenario, label: str, group: str = "") -> Costs:
    """The costs of the variant with this label; `group` empty for all flows."""
    runs = [run for run in scenario.counted().runs if run.label == label]
    fair = [value.value for _, value in Measure("fairness", "mean", group).by_run(runs)]
    return Costs(
        short_p99_s=_short_p99(runs),
        queue_packets=_pooled(Measure("queue"), runs),
        drops=share_of_sent(runs, "drops"),
        marks=share_of_sent(runs, "marks"),
        timeouts=_pooled(Measure("timeouts", "mean", group), runs),
        fairness=math.fsum(fair) / len(fair) if fair else None,
        optimum=_optimum(replace(scenario, runs=runs), group),
    )


def _pooled(measure: Measure, runs: Sequence[StoredRun]) -> float | None:
    found = measure.pooled(runs)
    return None if found is None else found.value


def _short_p99(runs: Sequence[StoredRun]) -> Value | None:
    measure = Measure("fct", "p99", sizes=SHORT)
    found = together([measure.completion(run) for run in runs])
    # The 99th percentile of a handful is its slowest flow.
    several = len(found.times) + len(found.ages) > 1
    return of_completion(found, measure.statistic) if several else None


def _optimum(scenario: StoredScenario, group: str) -> float | None:
    found = summarise_optimum(scenario)
    if found.is_empty() or not group:
        return None
    rows = found.filter(found["group"] == group)
    return None if rows.is_empty() else rows["share_total"][0]
