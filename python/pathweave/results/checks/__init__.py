"""Named checks: numbers that published figures are about and no table has.

Each is worked out from a run's tables, and gives rows like them: a check has a column that is its
value, and others that `where` can choose by. `expected.toml` says `check = "phase-curvature"`
where it would say `quantity = "goodput"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.checks.episodes import suppression_episodes
from pathweave.results.checks.fluctuation import rate_ranges
from pathweave.results.checks.jumps import completion_jumps
from pathweave.results.checks.max_min import max_min_shares, max_min_totals
from pathweave.results.checks.phase_curvature import phase_curvature
from pathweave.results.checks.phase_trend import phase_trend
from pathweave.results.checks.reaching import rate_settling, start_settling, total_rate_settling
from pathweave.results.checks.series import queue_samples, rtt_samples, window_samples
from pathweave.results.checks.settling import window_settling
from pathweave.results.checks.share import share_settling
from pathweave.results.quantities import Quantity

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from pathweave.results.runs import StoredRun


@dataclass(frozen=True)
class Check:
    """A number that is worked out."""

    table: Callable[[StoredRun], pl.DataFrame | None]
    """Its rows; None where the run has nothing for it."""
    quantity: Quantity
    """Its column there, in base units, and what it is called."""


def _check(table: Callable[[StoredRun], pl.DataFrame | None], column: str, title: str) -> Check:
    return Check(table, Quantity("", column, title))


CHECKS = {
    "phase-curvature": _check(
        phase_curvature, "opposition", "Opposite curvature of siblings' goodput over phases"
    ),
    "phase-trend": _check(phase_trend, "tau", "Trend of a subflow's goodput over phases"),
    "completion-jumps": _check(completion_jumps, "apart_rto", "Distance of two jumps in RTOmin"),
    "first-jump": _check(completion_jumps, "first_s", "Place of the first jump"),
    "second-jump": _check(completion_jumps, "sharpness", "Sharpness of the second jump"),
    "suppression-episodes": _check(suppression_episodes, "episodes", "Suppression episodes"),
    "window-settling": _check(window_settling, "settling_s", "Time until the window has settled"),
    "rate-settling": _check(rate_settling, "settling_s", "Time until the rate has settled"),
    "start-settling": _check(
        start_settling, "settling_s", "Time until a new flow's rate has settled"
    ),
    "share-settling": _check(
        share_settling, "settling_s", "Time until a new flow has its fair share"
    ),
    "total-rate-settling": _check(
        total_rate_settling, "settling_s", "Time until the total rate has settled"
    ),
    "max-min-share": _check(max_min_shares, "share", "Goodput over the max-min fair rate"),
    "max-min-total": _check(max_min_totals, "share", "Traffic over that at max-min fair rates"),
    "rate-range": _check(rate_ranges, "range_bps", "Range of the rate"),
    "queue-samples": _check(queue_samples, "packets", "Queue"),
    "rtt-samples": _check(rtt_samples, "rtt_s", "Round-trip time"),
    "window-samples": _check(window_samples, "window_packets", "Window"),
}
"""Names that `expected.toml` knows."""
