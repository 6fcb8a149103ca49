"""A rough optimum without a solver: prices follow loads, and rates the prices.

A link that is fuller than full becomes dearer, an emptier one cheaper; each sum is what is best at
its price, split over its paths by how cheap they are, ever more sharply. It tells which paths and
links matter, in a hundredth of the time that a solver takes for a large problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Vector
    from pathweave.optimum.system import System

_STEPS = 2000
# The last part of the steps, over which the mean is taken.
_SETTLED = 0.2
# How far a price moves for a load of twice or none of the capacity: at first, and at last.
_GAIN = (0.2, 0.02)
# What a path may be dearer than the cheapest, as a share, and still get 1/e of its rate.
_BLUR = (0.2, 0.005)
_SHARPEST = 50.0
# Bounds for what a price near zero may ask for and a long idle link may come back from.
_MOST = 20.0
_LEAST = 1e-9


def follow_loads(system: System) -> tuple[Vector, Vector]:
    """Rates (packets/s) and prices of the rows, wrong by some per cent."""
    by_column = sp.csc_array(system.totals)
    order = np.argsort(by_column.indices, kind="stable")
    term = by_column.indices[order]
    first = np.searchsorted(term, np.arange(system.objective.terms))
    weight = by_column.data[order]
    capacity = system.network.capacity
    rows = sp.csr_array(system.network.rows[:, order])
    columns = sp.csr_array(rows.T)

    # At first each path's worth is spread over its links.
    slope = system.objective.slope(system.total_unit)[term]
    length = columns @ np.ones(len(capacity))
    price = rows @ (slope * weight * system.unit[order] / length) / capacity
    price += _LEAST * price.max()
    x_sum, price_sum, count = np.zeros(len(term)), np.zeros_like(price), 0
    for step in range(_STEPS):
        part = step / _STEPS
        cost = columns @ price / weight
        cheapest = np.minimum.reduceat(cost, first)[term]
        blur = _BLUR[0] * (_BLUR[1] / _BLUR[0]) ** part
        share = np.exp(-np.minimum((cost / cheapest - 1) / blur, _SHARPEST))
        share /= np.add.reduceat(share, first)[term]
        wanted = system.objective.demand(np.add.reduceat(share * cost, first))
        x = np.minimum(wanted, _MOST * system.total_unit)[term] * share / weight
        if part >= 1 - _SETTLED:
            x_sum, price_sum, count = x_sum + x, price_sum + price, count + 1
        gain = _GAIN[0] + (_GAIN[1] - _GAIN[0]) * part
        price = price * np.exp(gain * np.clip(rows @ x / capacity - 1, -1.0, 1.0))
        price = np.maximum(price, _LEAST * price.max())
    rates = np.empty_like(x_sum)
    rates[order] = x_sum / count
    return rates, price_sum / count
