"""Rates that flows may get from the links, roughly: shares of a link are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pathweave._core import FluidProblem

_ROUNDS = 4
"""Times that what is left is shared out. The exact answer takes as many as there are links."""
_FULL = 1e-6
"""Part of a link's capacity below which nothing is left of it."""


def rough_shares(problem: FluidProblem) -> NDArray[np.float64]:
    """Rates (bit/s, headers included) of the problem's paths.

    Each path gets an equal share of its tightest link, and what is left is shared out again.
    """
    first, links = problem["first_link"].astype(np.int64), problem["links"].astype(np.int64)
    capacities = problem["capacities_bps"]
    paths = len(first) - 1
    rates = np.zeros(paths)
    of_path = np.repeat(np.arange(paths), np.diff(first))
    open_paths = np.diff(first) > 0
    for _ in range(_ROUNDS):
        used = np.bincount(links, weights=rates[of_path], minlength=len(capacities))
        left = np.maximum(capacities - used, 0.0)
        open_links = left > _FULL * capacities
        blocked = np.bincount(of_path, weights=~open_links[links], minlength=paths) > 0
        active = open_paths & ~blocked
        if not active.any():
            break
        sharing = np.bincount(links, weights=active[of_path], minlength=len(capacities))
        share = left / np.maximum(sharing, 1.0)
        tightest = np.full(paths, np.inf)
        np.minimum.at(tightest, of_path, share[links])
        rates[active] += tightest[active]
    return rates


def hops_of(problem: FluidProblem) -> NDArray[np.int64]:
    """Number of links of each path."""
    return np.diff(problem["first_link"].astype(np.int64))
