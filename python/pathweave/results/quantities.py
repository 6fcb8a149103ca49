"""What can be asked of results by name: a column of a table, and a statistic of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.units import SCALES

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: where it stands, in base units (bit/s, s, ratio, packets)."""

    table: str
    column: str
    title: str
    larger_is_better: bool = False


QUANTITIES = {
    "goodput": Quantity("flows", "goodput_bps", "Goodput", larger_is_better=True),
    "fct": Quantity("flows", "fct_s", "Flow completion time"),
    "slowdown": Quantity("slowdowns", "slowdown", "Slowdown"),
    "rtt": Quantity("flows", "rtt_mean_s", "Round-trip time"),
    "timeouts": Quantity("flows", "timeouts", "Timeouts per flow"),
    "timeout_time": Quantity("flow_waits", "timeout_wait_s", "Time lost in timeouts per flow"),
    "retransmits": Quantity("flows", "retransmits", "Retransmitted packets per flow"),
    "subflow_goodput": Quantity(
        "subflows", "goodput_bps", "Goodput of subflows", larger_is_better=True
    ),
    "jct": Quantity("jobs", "jct_s", "Job completion time"),
    "collective_time": Quantity("collectives", "collective_s", "Collective completion time"),
    "iteration_time": Quantity("collectives", "iteration_s", "Iteration time"),
    "bus_bandwidth": Quantity("collectives", "bus_bps", "Bus bandwidth", larger_is_better=True),
    "collective_share": Quantity(
        "optimum_collectives", "share", "Share of the optimum of collectives", larger_is_better=True
    ),
    "utilisation": Quantity("links", "utilisation", "Link utilisation", larger_is_better=True),
    "queue": Quantity("links", "queue_mean", "Mean queue"),
    "phase_goodput": Quantity("phases", "goodput_bps", "Goodput in a phase", larger_is_better=True),
    "phase_subflow_goodput": Quantity(
        "phase_subflows", "goodput_bps", "Goodput of subflows in a phase", larger_is_better=True
    ),
    "phase_utilisation": Quantity(
        "phase_links", "utilisation", "Link utilisation in a phase", larger_is_better=True
    ),
    "time_to_fair_share": Quantity("convergence", "time_to_fair_share_s", "Time to fair share"),
    "recovery": Quantity("recoveries", "recovery_s", "Time to recover from a failure"),
    "fairness": Quantity("fairness", "jain", "Fairness (Jain's index)", larger_is_better=True),
    "phase_queue": Quantity("phase_links", "queue_mean", "Mean queue in a phase"),
}
"""Names that `expected.toml` knows."""

_OVER = re.compile(r"over ([0-9.]+) ?([A-Za-z%]*)")
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")
_PLAIN = ("mean", "median", "min", "max", "range", "std", "sum", "count")


@dataclass(frozen=True)
class Statistic:
    """A statistic of a column: its kind, and the percentile or threshold it needs."""

    kind: str
    at: float = 0.0

    def of(self, values: pl.Series) -> float | None:
        """The statistic of `values`, nulls left out; None when nothing is left."""
        values = values.drop_nulls()
        if values.is_empty():
            return None
        match self.kind:
            case "quantile":
                result = values.quantile(self.at, interpolation="linear")
            case "over":
                result = (values > self.at).mean()
            case "range":
                ordered = values.sort()
                result = ordered[-1] - ordered[0]
            case _:
                result = getattr(values, self.kind)()
        return float(result) if isinstance(result, int | float) else None


def parse_statistic(text: str) -> Statistic:
    """Read "mean", "p99", "over 300 ms" (the share above a threshold) and their like."""
    if text in _PLAIN:
        return Statistic(text)
    if match := _PERCENTILE.fullmatch(text):
        return Statistic("quantile", float(match[1]) / 100)
    if (match := _OVER.fullmatch(text)) and match[2] in SCALES:
        return Statistic("over", float(match[1]) * SCALES[match[2]])
    raise InputError(
        f'unknown statistic "{text}"; write {", ".join(_PLAIN)}, p1 ... p99, or "over 300 ms"'
    )
