"""The table `map`: what every link did in each interval of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.convergence import seconds

if TYPE_CHECKING:
    from pathweave.results.read import StoredRun

_ROUNDING = 1e-6
"""Part of an interval by which times may be off."""


def map_interval(run: StoredRun) -> float | None:
    """The length of an interval (s); None for a run that recorded no map."""
    if "map" not in run.tables:
        return None
    return seconds(str(run.manifest["resolved"]["record"]["map"]))


def begins(ended_s: float, interval: float) -> float:
    """When the interval began that ended then (s); the last of a run is shorter than the others."""
    return (math.ceil(ended_s / interval - _ROUNDING) - 1) * interval
