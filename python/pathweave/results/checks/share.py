"""How long a flow that starts takes to its own fair share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.arrivals import by_arrival
from pathweave.results.convergence import near_fair_share, time_to_stay

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.arrivals import Arrival
    from pathweave.results.runs import StoredRun


def time_to_own_share(arrival: Arrival) -> float | None:
    """Seconds from the flow's start until it stays near the fair share, whatever others have."""
    near = [row[arrival.own] for row in near_fair_share(arrival.rates, arrival.packets)]
    return time_to_stay(arrival.times, near, arrival.start_s, arrival.bin_s)


def share_settling(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that starts while others are under way.

    Columns: flow, name, group, start_s, settling_s: as the time to fair share, but of that flow's
    rate alone; null when it does not stay near its share. Source: the DECN paper, Figure 8(b).
    """
    return by_arrival(run, "settling_s", time_to_own_share)
