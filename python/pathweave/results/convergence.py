"""How long flows take to fair shares when another starts, from the recorded rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.arrivals import HOLD, by_arrival

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.arrivals import Arrival
    from pathweave.results.runs import StoredRun

NEAR = 0.1
"""Largest distance from the share, as a part of it, where it is more than a packet a bin."""
LATE = 0.1
"""Part of the time, at its end, in which the flows' mean rate is the fair share."""


def near_fair_share(
    rates: Sequence[Sequence[float]], packets: Sequence[float]
) -> list[tuple[bool, ...]]:
    """By bin and flow, whether the flow is near the fair share.

    `rates` has the flows' rates in each bin, `packets` what one packet a bin is of each flow's
    rate. The fair share is what the flows have on average at the end of the time. Near it is a rate
    that differs by at most a tenth of it or one packet a bin, whichever is more.
    """
    late = rates[-max(1, round(LATE * len(rates))) :]
    fair = sum(sum(row) for row in late) / (len(late) * len(late[0])) if late else 0.0
    # A mean of intervals can be off in its last digits.
    most = [max(NEAR * fair, packet) * (1 + 1e-9) for packet in packets]
    return [
        tuple(abs(rate - fair) <= limit for rate, limit in zip(row, most, strict=True))
        for row in rates
    ]


def time_to_stay(
    times: Sequence[float], near: Sequence[bool], start_s: float, bin_s: float
) -> float | None:
    """Seconds from `start_s` to the first of ten bins in a row that are all near.

    `times` are the ends of bins of `bin_s` seconds. None where there are no such ten.
    """
    for first in range(len(near) - HOLD + 1):
        if all(near[first : first + HOLD]):
            return max(0.0, times[first] - bin_s - start_s)
    return None


def time_to_fair_share(arrival: Arrival) -> float | None:
    """Seconds from a flow's start until all flows stay near their fair share; None for never."""
    near = [all(row) for row in near_fair_share(arrival.rates, arrival.packets)]
    return time_to_stay(arrival.times, near, arrival.start_s, arrival.bin_s)


def convergence(run: StoredRun) -> pl.DataFrame | None:
    """One row per flow that starts while others are under way.

    Columns: flow, name, group, start_s, time_to_fair_share_s, which is null when shares are not
    fair before the next flow starts, one ends, or the run does. Flows that end within ten bins of
    the start do not count. Bins are the shortest multiple of the scenario's `record.rates` that is
    at least the largest base RTT of the flows. None without recorded rates, and where the base RTT
    cannot be found.
    """
    return by_arrival(run, "time_to_fair_share_s", time_to_fair_share)
