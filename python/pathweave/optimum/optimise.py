"""The optimum of a sum of concave utilities: a solver, refinement, and what the result is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pathweave.errors import OptimumError
from pathweave.optimum import program
from pathweave.optimum.follow import follow_loads
from pathweave.optimum.part import best_rates_near
from pathweave.optimum.refine import Point, refine
from pathweave.optimum.residuals import Residuals, residuals

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Indices, Vector
    from pathweave.optimum.system import Network, System

REFUSED = 1e-3
"""A residual above which there is no answer."""

# Of the unit of a sum: at zero a utility may have no slope.
_POSITIVE = 1e-30


@dataclass(frozen=True)
class Optimum:
    """Rates (packets/s), prices of the rows (utility per packet/s), and where they come from."""

    x: Vector
    price: Vector
    residuals: Residuals
    solver: str
    status: str


class _Loss:
    """The objective with its sign turned, for rates in the system's units."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._matrix = sp.csc_array(system.scaled_totals)

    def gradient(self, x: Vector) -> Vector:
        slope = self._system.objective.slope(self._sums(x))
        return -(self._matrix.T @ (self._system.total_unit * slope)) / self._system.scale

    def hessian(self, x: Vector, columns: Indices) -> sp.csc_array:
        curvature = self._system.objective.curvature(self._sums(x))
        part = self._matrix[:, columns]
        weight = -(self._system.total_unit**2) * curvature / self._system.scale
        return sp.csc_array(part.T @ sp.diags_array(weight) @ part)

    def step(self, x: Vector, change: Vector) -> float:
        """Totals stay positive."""
        z, dz = self._matrix @ x, self._matrix @ change
        falling = dz < 0
        return float(min(1.0, np.min(0.9 * z[falling] / -dz[falling], initial=1.0)))

    def _sums(self, x: Vector) -> Vector:
        return self._system.total_unit * np.maximum(self._matrix @ x, _POSITIVE)


def optimise(system: System, tolerance: float, solver: program.Solver | None) -> Optimum:
    """Rates that maximise the system's objective.

    Solvers are tried in turn, each in units that come from its last answer, until the residuals are
    within the tolerance; the best answer counts. A large problem in which a flow's paths differ in
    weight, so that few matter, begins with those that do.

    Raises `OptimumError` when even that is no answer.
    """
    best: Optimum | None = None
    scaled, rough = system, None
    large = len(system.unit) > program.LARGE
    if large and solver is None and system.has_weights:
        rough = follow_loads(system)
        scaled = system.rescaled(rough[0])
    for name, attempt in program.attempts(len(system.unit), solver, begun=rough is not None):
        if rough and name == "clarabel" and large:
            answer = best_rates_near(scaled, *rough, name, attempt)
        else:
            answer = program.best_rates(scaled, name, attempt)
        if answer is None:
            continue
        x = answer.x * scaled.unit
        price = answer.price * scaled.scale / system.network.capacity
        scaled, rough = system.rescaled(x), (x, price)
        for pair in (rough, _refined(scaled, *rough)):
            found = _measured(system, *pair, name, answer.status)
            if best is None or not best.residuals.worst <= found.residuals.worst:
                best = found
        if best is not None and best.residuals.worst <= tolerance:
            return best
    return _checked(best)


def _refined(scaled: System, x: Vector, price: Vector) -> tuple[Vector, Vector]:
    """The exact optimum near rates and prices, if the refinement gets there."""
    worth = scaled.scale / scaled.network.capacity
    nothing = sp.csr_array((0, len(x)))
    start = Point(x / scaled.unit, price / worth, np.empty(0))
    point = refine(_Loss(scaled), scaled.scaled_rows, nothing, np.empty(0), start)
    return point.x * scaled.unit, point.price * worth


def _checked(found: Optimum | None) -> Optimum:
    """Refuse what is not an answer."""
    if found is None:
        raise OptimumError("no solver found an allocation")
    if not found.residuals.worst <= REFUSED:
        raise OptimumError(
            f"{found.solver} ended {found.status}, with a residual of"
            f" {found.residuals.worst:.1e}: this is not the optimum"
        )
    return found


def within_capacity(network: Network, x: Vector) -> Vector:
    """The same rates, lowered just enough that no load exceeds its capacity."""
    excess = np.maximum(network.rows @ x / network.capacity, 1.0)
    if excess.max() == 1.0:
        return x
    by_column = sp.csc_array(network.rows)
    return x / np.maximum.reduceat(excess[by_column.indices], by_column.indptr[:-1])


def _measured(system: System, x: Vector, price: Vector, solver: str, status: str) -> Optimum:
    """Rates, lowered to the capacities, and prices with their residuals."""
    x = within_capacity(system.network, x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        measured = residuals(system, x, price)
    return Optimum(x, price, measured, solver, status)
