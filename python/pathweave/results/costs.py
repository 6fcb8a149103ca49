"""What a variant costs beside the quantity that decides: short flows, queues, losses, fairness."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pathweave.results.completion import flow_completion, together
from pathweave.results.fairness import fairness
from pathweave.results.optimum import summarise_optimum

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.read import StoredRun, StoredScenario
    from pathweave.statistics.survival import Percentile

SHORT_BYTES = 100_000
"""Size below which a flow counts as short, as in the papers on data-centre transport."""


@dataclass(frozen=True)
class Costs:
    """Of one variant and traffic group, over all seeds; None where a run has no such thing."""

    short_p99_s: Percentile | None
    """99th percentile of the completion times of flows below `SHORT_BYTES`, of all groups."""
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
    sent = _total(runs, "subflows", "sent_packets")
    return Costs(
        short_p99_s=_short_p99(runs),
        queue_packets=_queue(runs),
        drops=_share(_total(runs, "links", "drops"), sent),
        marks=_share(_total(runs, "links", "marks"), sent),
        timeouts=_timeouts(runs, group),
        fairness=_fairness(runs, group),
        optimum=_optimum(replace(scenario, runs=runs), group),
    )


def _short_p99(runs: Sequence[StoredRun]) -> Percentile | None:
    import polars as pl

    short = [
        flow_completion(run, flows.filter(pl.col("size_bytes") < SHORT_BYTES))
        for run in runs
        if (flows := _flows(run, "")) is not None
    ]
    found = together(short)
    # The 99th percentile of a handful is its slowest flow.
    return found.percentile(99) if len(found.times) + len(found.ages) > 1 else None


def _queue(runs: Sequence[StoredRun]) -> float | None:
    links = [run.read("links", ["bytes", "queue_mean"]) for run in runs if "links" in run.tables]
    sent = math.fsum(float(table["bytes"].sum()) for table in links)
    waited = math.fsum(float((table["bytes"] * table["queue_mean"]).sum()) for table in links)
    return waited / sent if sent else None


def _timeouts(runs: Sequence[StoredRun], group: str) -> float | None:
    found = [flows["timeouts"] for run in runs if (flows := _flows(run, group)) is not None]
    flows = sum(len(each) for each in found)
    return sum(int(each.sum() or 0) for each in found) / flows if flows else None


def _fairness(runs: Sequence[StoredRun], group: str) -> float | None:
    import polars as pl

    found = [
        float(indices.mean())  # pyright: ignore[reportArgumentType]
        for run in runs
        if (rows := fairness(run)) is not None
        and len(indices := rows.filter(pl.col("group") == group)["jain"].drop_nulls())
    ]
    return math.fsum(found) / len(found) if found else None


def _optimum(scenario: StoredScenario, group: str) -> float | None:
    found = summarise_optimum(scenario)
    if found.is_empty() or not group:
        return None
    rows = found.filter(found["group"] == group)
    return None if rows.is_empty() else rows["share_total"][0]


def _flows(run: StoredRun, group: str) -> pl.DataFrame | None:
    """The flows of the measurement window: of a group, or all."""
    import polars as pl

    if "flows" not in run.tables:
        return None
    flows = run.read("flows").filter(pl.col("in_window"))
    return flows.filter(pl.col("group") == group) if group else flows


def _total(runs: Sequence[StoredRun], table: str, column: str) -> float | None:
    found = [run.read(table, [column])[column].sum() for run in runs if table in run.tables]
    return math.fsum(found) if found else None


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
