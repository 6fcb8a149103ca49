"""How far an allocation is from feasible and optimal: from the definitions, without a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Flags, Indices, Vector
    from pathweave.optimum.system import System


@dataclass(frozen=True)
class Residuals:
    """Relative errors, zero at an exact optimum.

    Attributes:
        feasibility: The largest excess of a load over its capacity, as a share of that.
        stationarity: The largest disagreement between a flow's marginal utility and the price of
            its cheapest path, or between its rate and the best one at that price: the smaller of
            the two. None for max-min, which has no such prices.
        complementarity: What is paid in vain: for capacity that is not used, as a share of the
            worth of all capacity, or on paths that are dearer than the flow's cheapest, as a share
            of what the flow pays; the larger of the two. None for max-min.
        gap: An upper bound on what the objective lacks, as a share of the worth of all capacity. It
            follows from duality for any prices. For max-min it is the largest relative error of a
            level.
    """

    feasibility: float
    stationarity: float | None
    complementarity: float | None
    gap: float

    @property
    def worst(self) -> float:
        """The largest of them."""
        parts = (self.feasibility, self.stationarity, self.complementarity, self.gap)
        return max(part for part in parts if part is not None)


def feasibility(load: Vector, capacity: Vector) -> float:
    """The largest excess of a load over its capacity, as a share of the capacity."""
    return float(np.max((load - capacity) / capacity, initial=0.0))


def residuals(system: System, x: Vector, price: Vector) -> Residuals:
    """Check rates (packets/s, not negative) and prices of the rows (utility per packet/s)."""
    network, objective = system.network, system.objective
    z = system.totals @ x
    load = network.rows @ x
    term, weight, cost, cheapest = _costs(system, price)
    above = np.maximum(cost - cheapest[term], 0.0)
    detour = np.bincount(term, x * weight * above, objective.terms)
    unused = float(price @ np.maximum(network.capacity - load, 0.0))
    paid = float(price @ network.capacity)
    if not paid > 0:
        return Residuals(feasibility(load, network.capacity), np.inf, np.inf, np.inf)
    own = cheapest * np.maximum(z, system.total_unit)
    missed = _missed(system, z, cheapest)
    return Residuals(
        feasibility=feasibility(load, network.capacity),
        stationarity=_stationarity(system, z, cheapest),
        complementarity=max(unused / paid, float(np.max(detour / own))),
        gap=max(0.0, missed + float(detour.sum()) + unused) / paid,
    )


def detours(system: System, price: Vector, among: Flags | None = None) -> Vector:
    """By column: how much dearer it is than the cheapest of its sum, as a share of that.

    With `among` the cheapest of those columns, so that others may be below zero.
    """
    term, _, cost, cheapest = _costs(system, price, among)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cost != cheapest[term], cost / cheapest[term] - 1, 0.0)


def _costs(
    system: System, price: Vector, among: Flags | None = None
) -> tuple[Indices, Vector, Vector, Vector]:
    """By column its term, weight and cost per unit of the sum; by term the least of these costs."""
    by_column = sp.csc_array(system.totals)
    term = by_column.indices.astype(np.intp)
    weight = np.asarray(by_column.data, dtype=float)
    cost = system.network.rows.T @ price / weight
    cheapest: Vector = np.full(system.objective.terms, np.inf)
    counted = slice(None) if among is None else among
    np.minimum.at(cheapest, term[counted], cost[counted])
    return term, weight, cost, cheapest


def _stationarity(system: System, z: Vector, cheapest: Vector) -> float:
    """The largest disagreement of marginal utility and price, in either of two measures.

    One is the relative difference of the two, the other that of the rate and the rate that is best
    at that price. A logarithm at a rate near zero is sensitive in the first, a nearly linear
    utility in the second. A sum of zero need not be worth its price.
    """
    slope, wanted = system.objective.slope(z), system.objective.demand(cheapest)
    with np.errstate(invalid="ignore"):
        by_price = np.abs(slope - cheapest) / cheapest
    by_price[np.isnan(by_price)] = np.inf
    by_rate = np.abs(wanted - z) / np.maximum(z, system.total_unit)
    return float(np.max(np.minimum(by_price, by_rate), initial=0.0))


def _missed(system: System, z: Vector, cheapest: Vector) -> float:
    """What the terms would gain, were there as much as they want at those prices.

    With any prices, no allocation is worth more than the sum over terms of the largest
    f(z) - (the cheapest path's price) z, plus the worth of all capacity at those prices.
    """
    best = system.objective.demand(cheapest)
    if not np.isfinite(best).all():
        return np.inf
    values = system.objective.values
    return float(np.sum((values(best) - cheapest * best) - (values(z) - cheapest * z)))
