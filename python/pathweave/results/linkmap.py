"""The table `map`: what every link did in each interval of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.convergence import seconds

if TYPE_CHECKING:
    from pathweave.results.read import StoredRun


def map_interval(run: StoredRun) -> float | None:
    """The length of an interval (s); None for a run that recorded no map."""
    if "map" not in run.tables:
        return None
    return seconds(str(run.manifest["resolved"]["record"]["map"]))
