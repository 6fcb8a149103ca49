"""A sum of concave terms: which shape each has, and which rates it adds up."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
import scipy.sparse as sp

from pathweave.errors import InputError
from pathweave.optimum.shapes import Logarithm, Power, ShiftedLogarithm, TcpUtility
from pathweave.optimum.utility import (
    AlphaFairness,
    DelayWeighted,
    Eutcp,
    ProportionalFairness,
    Tcp,
    Wutcp,
    Xmp,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.optimum.problem import AllocationProblem, Flow
    from pathweave.optimum.shapes import Indices, Shape, Vector
    from pathweave.optimum.utility import Concave


@dataclass(frozen=True)
class Objective:
    """The sum over terms k of f_k(z_k), z in packets/s: groups of terms that have one shape.

    Together the index arrays hold every term once.
    """

    groups: tuple[tuple[Indices, Shape], ...]
    """Indices of terms, and their shape."""
    terms: int

    def values(self, z: Vector) -> Vector:
        """f_k(z_k)."""
        return self._gather("value", z)

    def value(self, z: Vector) -> float:
        """The sum."""
        return float(np.sum(self.values(z)))

    def slope(self, z: Vector) -> Vector:
        """f_k'(z_k)."""
        return self._gather("slope", z)

    def curvature(self, z: Vector) -> Vector:
        """f_k''(z_k)."""
        return self._gather("curvature", z)

    def demand(self, price: Vector) -> Vector:
        """The z_k that maximises f_k(z_k) - price_k z_k."""
        return self._gather("demand", price)

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:
        """The sum of f_k(unit_k z_k) / scale, up to a constant, for a cvxpy expression z."""
        return sum(shape.expression(z[at], unit[at], scale) for at, shape in self.groups)

    def kept(self, terms: Indices) -> Objective:
        """The sum of some of the terms, in the order given."""
        place = np.full(self.terms, -1, dtype=np.intp)
        place[terms] = np.arange(len(terms))
        groups: list[tuple[Indices, Shape]] = []
        for at, shape in self.groups:
            own = np.flatnonzero(place[at] >= 0)
            if len(own):
                groups.append((place[at[own]], shape.kept(own)))
        return Objective(tuple(groups), len(terms))

    def _gather(self, name: str, argument: Vector) -> Vector:
        result = np.empty(self.terms)
        for at, shape in self.groups:
            result[at] = getattr(shape, name)(argument[at])
        return result


@dataclass
class _Collected:
    """Terms while the flows are gone through."""

    coefficients: list[tuple[int, int, float]] = field(default_factory=list)
    """Term, subflow (counted over all flows), weight in the sum."""
    terms: int = 0
    plain: dict[float, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    """Alpha-fair terms by alpha: term, weight."""
    shifted: list[tuple[int, float]] = field(default_factory=list)
    """Term, k."""
    tcp: list[tuple[int, float, float, float]] = field(default_factory=list)
    """Term, weight, k, log mu."""

    def term(self, subflows: Sequence[int], weights: Sequence[float] | None = None) -> int:
        """A new term over some subflows."""
        for at, subflow in enumerate(subflows):
            weight = 1.0 if weights is None else weights[at]
            self.coefficients.append((self.terms, subflow, weight))
        self.terms += 1
        return self.terms - 1

    def add_tcp(self, term: int, weight: float, mu: float, b: float, gamma: float = 1.0) -> None:
        """(weight / gamma) U_tcp(gamma z), which is weight U_tcp(z) with b gamma for b."""
        self.tcp.append((term, weight, mu / (b * gamma), math.log(mu)))

    def objective(self) -> Objective:
        groups: list[tuple[Indices, Shape]] = []
        for alpha, plain in self.plain.items():
            terms, weights = zip(*plain, strict=True)
            weight = np.array(weights)
            shape = Logarithm(weight) if alpha == 1 else Power(alpha, weight)
            groups.append((np.array(terms), shape))
        if self.shifted:
            terms, k = zip(*self.shifted, strict=True)
            groups.append((np.array(terms), ShiftedLogarithm(np.array(k))))
        if self.tcp:
            terms, weight, k, log_mu = zip(*self.tcp, strict=True)
            shape = TcpUtility(np.array(weight), np.array(k), np.array(log_mu))
            groups.append((np.array(terms), shape))
        return Objective(tuple(groups), self.terms)


def terms_of(
    problem: AllocationProblem, utilities: Sequence[Concave]
) -> tuple[sp.csr_array, Objective]:
    """The matrix (terms by subflows) that gives z from the rates, and the objective in z.

    There is one utility a flow. Subflows are counted over all flows, in order.
    """
    if len(utilities) != len(problem.flows):
        raise InputError(f"{len(utilities)} utilities for {len(problem.flows)} flows")
    collected = _Collected()
    subflows = 0
    for flow, utility in zip(problem.flows, utilities, strict=True):
        own = range(subflows, subflows + len(flow.subflows))
        _add(collected, flow, own, utility)
        subflows = own.stop
    row, column, weight = zip(*collected.coefficients, strict=True)
    matrix = sp.csr_array((weight, (row, column)), shape=(collected.terms, subflows))
    return matrix, collected.objective()


def _add(collected: _Collected, flow: Flow, own: range, utility: Concave) -> None:
    rtts = [subflow.rtt_s for subflow in flow.subflows]
    mean_rtt = math.fsum(rtts) / len(rtts)
    match utility:
        case ProportionalFairness():
            collected.plain[1.0].append((collected.term(own), 1.0))
        case AlphaFairness(alpha):
            collected.plain[alpha].append((collected.term(own), 1.0))
        case DelayWeighted(alpha, weight):
            shortest = min(rtts)
            term = collected.term(own, [shortest / rtt for rtt in rtts])
            collected.plain[alpha].append((term, 1 / shortest if weight == "1/T" else weight))
        case Xmp(beta):
            collected.shifted.append((collected.term(own), beta / min(rtts)))
        case Tcp(mu, b):
            mu = 1 / mean_rtt**2 if mu is None else mu
            b = 1 / (2 * mean_rtt) if b is None else b
            collected.add_tcp(collected.term(own), 1.0, mu, b)
        case Eutcp(gamma):
            collected.add_tcp(collected.term(own), 1.0, 1 / mean_rtt**2, 1 / (2 * mean_rtt), gamma)
        case Wutcp():
            for subflow, rtt, omega in zip(own, rtts, utility.weights(len(rtts)), strict=True):
                collected.add_tcp(collected.term([subflow]), omega, 1 / rtt**2, 1 / (2 * rtt))
        case _:
            assert_never(utility)
