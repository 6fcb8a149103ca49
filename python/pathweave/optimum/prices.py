"""The distributed iteration to the optimum: links set prices, flows answer (FMPTCP, eqs 7 and 8).

A link raises its price in proportion to the load above its capacity and lowers it below, but not
under zero. A flow sends what is best at the price of its cheapest path, all of it there. This is a
subgradient method on the dual problem, and a reference that shares no step with `solve`.

With several paths for a flow the rates of single rounds never settle: a flow moves all of its rate
to whichever path is cheapest. What converges are the prices, and the mean of the rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pathweave.errors import InputError
from pathweave.optimum.allocate import by_flow
from pathweave.optimum.optimise import within_capacity
from pathweave.optimum.residuals import residuals
from pathweave.optimum.system import network_of, system_of
from pathweave.optimum.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.optimum.problem import AllocationProblem
    from pathweave.optimum.shapes import Indices, Vector
    from pathweave.optimum.system import Network, System
    from pathweave.optimum.utility import Concave

STEP = 0.03
"""gamma of equation 7, as a share of a flow's worth over the square of the largest capacity."""
TOLERANCE = 1e-3
"""Of the gap."""
ROUNDS = 200_000
"""Rounds unless told otherwise."""

# Rounds after which a step that shrinks is down to 71 %, and between two looks at the gap.
_SHRINK = 100
_LOOK = 100
# What a flow asks for at most, in narrowest links of its paths: at a price of zero a utility may
# ask for an infinite rate. More than one, so that it binds at no optimum and changes no price.
_MOST = 2.0
# Prices of two paths that differ by less than this share are the same sum of other prices.
_TIED = 1e-12


@dataclass(frozen=True)
class PriceIteration:
    """What the iteration came to. Subflows are counted over all flows, in order.

    Attributes:
        rates_bps: By subflow (bit/s): the mean over the last rounds, weighted with their steps and
            lowered where a load exceeds its capacity.
        totals_bps: By flow: the sum of these.
        last_bps: By subflow (bit/s): equation 8 at the last prices.
        prices: By link: the mean over the same rounds (utility per bit/s); NaN for a link without
            capacity.
        iterations: Rounds until the gap was within the tolerance, or all of them.
        converged: Whether it was.
        gap: What the objective of `rates_bps` lacks to the optimum at most, as a share of the worth
            of all capacity: from duality, without the optimum.
    """

    rates_bps: Vector
    totals_bps: Vector
    last_bps: Vector
    prices: Vector
    iterations: int
    converged: bool
    gap: float


def iterate_prices(
    problem: AllocationProblem,
    utility: Concave | Sequence[Concave],
    *,
    step: float = STEP,
    constant: bool = False,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
) -> PriceIteration:
    """Iterate equations 7 and 8 from prices of zero until the gap is within the tolerance.

    `step` is gamma, one number for all links, in units of (z U'(z) of a flow with an even share, in
    the mean over flows) / (the largest capacity)^2. In round t it is step / sqrt(1 + t/100), or
    with `constant` always the same, as printed: then the iteration stays about as far from the
    optimum as its step is long.

    Raises `InputError` for a problem without an optimum, or a step that is not positive.
    """
    if not (np.isfinite(step) and step > 0):
        raise InputError(f"the step is {step}; it must be positive")
    network = network_of(problem)
    if not len(network.columns):
        raise InputError("no flow has a path with capacity")
    totals, objective = terms_of(problem, by_flow(problem, utility))
    system = system_of(network, totals, objective)
    links = _Links(system)
    price = np.zeros(len(network.capacity))
    mean = _Mean(system)
    done, measured = 0, np.inf
    while done < rounds and measured > tolerance:
        if done & (done - 1) == 0:
            mean = _Mean(system)  # the first rounds are far off: forget half of them each time
        done += 1
        gamma = step if constant else step / np.sqrt(1 + done / _SHRINK)
        x = links.answer(price)
        mean.add(gamma, x, price)
        price = links.adjust(price, x, gamma)
        if done % _LOOK == 0 or done == rounds:
            measured = residuals(system, mean.rates, mean.prices).gap
    return _iteration(network, mean, links.answer(price), done, measured, tolerance)


class _Links:
    """Equations 7 and 8 for one system, in packets/s."""

    def __init__(self, system: System) -> None:
        self._objective = system.objective
        self._rows = system.network.rows
        self._capacity = system.network.capacity
        self._columns = sp.csr_array(self._rows.T)
        by_column = sp.csc_array(system.totals)
        self._term: Indices = by_column.indices.astype(np.intp)
        self._weight = np.asarray(by_column.data, dtype=float)
        crossed = sp.csc_array(self._rows)
        narrowest = np.minimum.reduceat(self._capacity[crossed.indices], crossed.indptr[:-1])
        self._most = _MOST * self._of_terms(self._weight * narrowest)
        self._unit = system.scale / self._capacity.max() ** 2

    def answer(self, price: Vector) -> Vector:
        """Equation 8: what is best at the price of the cheapest path, on the paths that have it."""
        cost = self._columns @ price / self._weight
        cheapest: Vector = np.full(self._objective.terms, np.inf)
        np.minimum.at(cheapest, self._term, cost)
        taken = (cost <= cheapest[self._term] * (1 + _TIED)).astype(float)
        wanted = np.minimum(self._objective.demand(cheapest), self._most)
        return taken * (wanted / self._of_terms(taken))[self._term] / self._weight

    def adjust(self, price: Vector, x: Vector, gamma: float) -> Vector:
        """Equation 7."""
        return np.maximum(price + gamma * self._unit * (self._rows @ x - self._capacity), 0.0)

    def _of_terms(self, values: Vector) -> Vector:
        return np.bincount(self._term, values, self._objective.terms).astype(float)


class _Mean:
    """The mean of rates and prices, weighted with the steps.

    The loads' excess over the capacities is then what prices have moved by over the sum of the
    steps: it vanishes.
    """

    def __init__(self, system: System) -> None:
        self._network = system.network
        self._x = np.zeros(len(system.network.columns))
        self._price = np.zeros(len(system.network.capacity))
        self._weight = 0.0

    def add(self, weight: float, x: Vector, price: Vector) -> None:
        self._x += weight * x
        self._price += weight * price
        self._weight += weight

    @property
    def rates(self) -> Vector:
        return within_capacity(self._network, self._x / self._weight)

    @property
    def prices(self) -> Vector:
        return self._price / self._weight


def _iteration(
    network: Network, mean: _Mean, last: Vector, done: int, gap: float, tolerance: float
) -> PriceIteration:
    bits = network.packet_bits
    rates, last_rates = np.zeros((2, len(network.flow_of_subflow)))
    rates[network.columns] = mean.rates * bits
    last_rates[network.columns] = last * bits
    prices = np.full(network.links, np.nan)
    prices[network.link_of_row] = mean.prices[: len(network.link_of_row)] / bits
    return PriceIteration(
        rates_bps=rates,
        totals_bps=np.bincount(network.flow_of_subflow, rates, network.flows).astype(float),
        last_bps=last_rates,
        prices=prices,
        iterations=done,
        converged=gap <= tolerance,
        gap=float(gap),
    )
