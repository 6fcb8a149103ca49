"""The round-trip time without queues of a stored run's flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.replay import along

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pathweave._core import FluidProblem
    from pathweave.results.runs import StoredRun

_LIMIT = 1000
"""Intervals between changes at most whose flows are looked at, evenly over time."""
_ALL = {"measure": {"phases": {}}}
"""Without a measurement window flows are seen from the beginning of the run to its end."""


def largest_base_rtt_s(run: StoredRun) -> float | None:
    """The largest base RTT among the paths of the run's flows (s).

    It is that of a full data packet, stored and forwarded at every hop, and of its acknowledgement.
    None where the core cannot find the paths again, and where no flow had one.
    """
    import numpy as np

    if not {"flows", "subflows"} <= set(run.tables):
        return None
    largest = 0.0

    def look(problem: FluidProblem) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        nonlocal largest
        rtts = problem["rtt_s"]
        largest = max(largest, float(rtts.max(initial=0.0)))
        return np.zeros(len(rtts)), np.ones(len(problem["flows"]), dtype=bool)

    try:
        along(run, look, _LIMIT, _ALL)
    except InputError:
        return None
    return largest or None
