"""Utilities, bisection and optimality conditions for the tests, from the papers' formulas.

Nothing here is taken from `pathweave.optimum` but the description of the problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pathweave.optimum import Allocation, AllocationProblem, Flow, Subflow

PACKET_BITS = 12_000.0
Function = Callable[[float], float]


def bisect(decreasing: Function, low: float, high: float) -> float:
    """Where a decreasing function of a positive argument is zero, by halving its logarithm."""
    for _ in range(200):
        middle = math.sqrt(low * high)
        if decreasing(middle) > 0:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def shares(capacity: float, demands: Sequence[Function]) -> list[float]:
    """Rates on one link (packets/s): demands at the price at which they add up to its capacity."""

    def excess(price: float) -> float:
        return math.fsum(demand(price) for demand in demands) - capacity

    price = bisect(excess, 1e-100, 1e3)
    return [demand(price) for demand in demands]


def alpha_fair(alpha: float) -> Function:
    """U' = y^-alpha."""
    return lambda price: price ** (-1 / alpha)


def xmp(beta: float, rtt: float) -> Function:
    """The price is XMP's marked-round probability 1 / (1 + y T / beta)."""
    return lambda price: max(beta / rtt * (1 / price - 1), 0.0)


def reno(rtt: float, gamma: float = 1.0, omega: float = 1.0) -> Function:
    """U' = omega log(1 + 2 / (gamma tau y)): of a TCP, an EUTCP or a subflow of WUTCP.

    Its half-window is u = gamma tau y / 2, and 1 - exp(-U') = 1 / (1 + u) EUTCP's mark probability.
    """

    def demand(price: float) -> float:
        exponent = price / omega
        return 0.0 if exponent > 600 else 2 / (gamma * rtt) / math.expm1(exponent)

    return demand


def tcp(mu: float, b: float) -> Function:
    """U' = log((mu + b y) / (b y))."""
    return lambda price: 0.0 if price > 600 else mu / b / math.expm1(price)


def on_one_link(capacity_bps: float, rtts_s: Sequence[Sequence[float]]) -> AllocationProblem:
    """Flows with subflows of the given RTTs, all of them on one link."""
    flows = [Flow([Subflow([0], rtt) for rtt in own]) for own in rtts_s]
    return AllocationProblem([capacity_bps], flows)


@dataclass(frozen=True)
class Marginal:
    """What one packet/s more on a subflow is worth, given all rates of its flow (packets/s)."""

    of: Callable[[Sequence[float], int], float]


def by_sum(slope: Function) -> Marginal:
    """A utility of the flow's sum."""
    return Marginal(lambda rates, _: slope(max(math.fsum(rates), 1e-300)))


def assert_optimal(
    problem: AllocationProblem,
    marginals: Sequence[Marginal],
    found: Allocation,
    tolerance: float = 1e-6,
) -> None:
    """The conditions of Karush, Kuhn and Tucker, which are sufficient for a concave objective."""
    assert found.prices is not None
    prices = [float(price) * PACKET_BITS for price in found.prices]
    capacities = [capacity / PACKET_BITS for capacity in problem.capacities_bps]
    loads = [0.0] * len(capacities)
    for index, flow in enumerate(problem.flows):
        rates = [float(rate) / PACKET_BITS for rate in found.of_flow(index)]
        total = math.fsum(rates)
        for number, subflow in enumerate(flow.subflows):
            rate = rates[number]
            assert rate >= 0
            for link in subflow.links:
                loads[link] += rate
            cost = math.fsum(prices[link] for link in subflow.links)
            worth = marginals[index].of(rates, number)
            assert worth <= cost * (1 + tolerance), "a rate should be higher"
            if rate > tolerance * total:
                assert worth >= cost * (1 - tolerance), "a rate should be lower"
    worth_of_all = math.fsum(
        price * capacity for price, capacity in zip(prices, capacities, strict=True)
    )
    for price, load, capacity in zip(prices, loads, capacities, strict=True):
        assert price >= 0
        assert load <= capacity * (1 + 1e-9)
        assert price * (capacity - load) <= tolerance * worth_of_all
