"""The table `map`: what every link did in each interval of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.units import seconds

if TYPE_CHECKING:
    from pathweave.results.runs import StoredRun

_ROUNDING = 1e-6
"""Part of an interval by which times may be off."""


def map_interval(run: StoredRun) -> float:
    """The length of an interval (s) of a run that recorded a map."""
    return seconds(str(run.manifest["resolved"]["record"]["map"]))


def intervals(run: StoredRun) -> int:
    """How many intervals a run that recorded a map has."""
    return max(1, math.ceil(run.ended_s / map_interval(run) - _ROUNDING))


def begins(ended_s: float, interval: float) -> float:
    """When the interval began that ended then (s); the last of a run is shorter than the others."""
    return (math.ceil(ended_s / interval - _ROUNDING) - 1) * interval
