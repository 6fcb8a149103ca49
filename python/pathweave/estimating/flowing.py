"""Packet-hops of a whole run, from its traffic at rough rates.

The traffic of the scenario goes on at rates in place of packets, as for the optimum, but with rough
shares of the links in place of optimal ones. Of each interval between two changes of the flows
under way, packets are rates over packet size, and packet-hops are packets times the links of their
paths, acknowledgements included. After some changes the rest is taken to be like what was seen.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pathweave.estimating.shares import hops_of, rough_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pathweave._core import FluidProblem, Variant

_LEAST_DONE = 0.01
"""Part of a run that must have been seen before the rest is taken to be like it."""
_ENOUGH_DONE = 0.1
"""Part of a run after which the rest is taken to be like it, where it has had `_ENOUGH` changes."""
_ENOUGH = 300
_MOST = 1_500
"""Changes of the flows under way that are followed at most: a second or less."""


class _Meter:
    """Answers the core's questions, and counts what goes over the links between them."""

    def __init__(self, per_packet: float) -> None:
        self._per_packet = per_packet
        self._asked = 0
        self._rate = 0.0
        self.hops = 0.0
        self.time_s = 0.0
        self.done = 0.0
        self.cut = False

    def __call__(
        self, problem: FluidProblem
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
        self.until(problem["time_s"])
        self.done = problem["done"]
        self._asked += 1
        enough = self._asked > _ENOUGH and self.done >= _ENOUGH_DONE
        if enough or self._asked > _MOST:
            self.cut = True
            return None
        rates = rough_shares(problem)
        packets = rates / (8.0 * problem["packet_bytes"])
        self._rate = float(packets @ hops_of(problem)) * self._per_packet
        return rates, np.ones(len(problem["flows"]), dtype=bool)

    def until(self, time_s: float) -> None:
        """Everything goes on as it is until then."""
        self.hops += self._rate * (time_s - self.time_s)
        self.time_s = time_s


def flowing(variant: Variant, seed: int) -> float | None:
    """Packet-hops of one run, after at most `_MOST` changes; None where these say nothing."""
    meter = _Meter(_per_packet(json.loads(variant.resolved)))
    try:
        output = variant.flow(seed, meter)
    except (RuntimeError, ValueError):
        return None
    if not meter.cut:
        meter.until(float(output.counters.get("ended_s", meter.time_s)))
        meter.done = 1.0
    if meter.done < _LEAST_DONE or meter.time_s <= 0:
        return None
    return meter.hops / meter.done


def _per_packet(resolved: dict[str, Any]) -> float:
    """Packets for each full data packet: those that carry as much, and their acknowledgements."""
    here = [group for group in resolved.get("traffic", []) if group.get("enabled", True)]
    every = [
        _smaller(group) * (1 + 1 / group.get("transport", {}).get("ack_every", 1)) for group in here
    ]
    return sum(every) / len(every) if every else 2.0


def _smaller(group: dict[str, Any]) -> float:
    """How many of a group's packets carry what a full one does."""
    sizes = group.get("packets") or {}
    points = sizes.get("points", [])
    full = points[-1][0] if points else 0.0
    mean = points[0][0] * points[0][1] if points else 0.0
    mean += sum((q - p) * (x + y) / 2 for (x, p), (y, q) in pairwise(points))
    return full / mean if mean > 0 else 1.0
