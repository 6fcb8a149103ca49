"""The convex program for a solver, in cvxpy's disciplined form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

    from pathweave.optimum.shapes import Vector
    from pathweave.optimum.system import System

Solver = Literal["clarabel", "scs"]

# Clarabel factorises a matrix that fills up when many paths cross many links; SCS does so once.
LARGE = 3000
"""Subflows above which SCS comes first, then Clarabel; below, the other way round."""

# The refinement starts from what a solver finds. SCS, which takes its time for each digit, is asked
# for more of them with each attempt.
_SETTINGS: dict[Solver, dict[str, Any]] = {
    "clarabel": {"max_threads": 1},
    "scs": {"max_iters": 20_000},
}
_SCS_TOLERANCES = (1e-3, 1e-4, 1e-6)
ATTEMPTS = len(_SCS_TOLERANCES)
_ANSWERS = ("optimal", "optimal_inaccurate")


@dataclass(frozen=True)
class Answer:
    """What a solver said: x, the multipliers of the rows, and its word for how good they are."""

    x: Vector
    price: Vector
    status: str
    solver: Solver


def order(subflows: int) -> tuple[Solver, Solver]:
    """Which solver to try first, and which second."""
    return ("scs", "clarabel") if subflows > LARGE else ("clarabel", "scs")


def run(problem: Any, solver: Solver, attempt: int = ATTEMPTS - 1) -> str:
    """Solve a cvxpy problem; the status, "failed" when the solver gave up."""
    settings = _SETTINGS[solver]
    if solver == "scs":
        tolerance = _SCS_TOLERANCES[attempt]
        settings = settings | {"eps_abs": tolerance, "eps_rel": tolerance}
    with warnings.catch_warnings():
        # That an answer is inaccurate stands in the status, and what it is worth is measured.
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver.upper(), **settings)
        except (cp.SolverError, cp.DCPError, ValueError, ArithmeticError):
            return "failed"
    return problem.status if problem.status in _ANSWERS else f"failed ({problem.status})"


def best_rates(system: System, solver: Solver, attempt: int) -> Answer | None:
    """Maximise the system's objective, in its scaled units; None when the solver gave up."""
    x: Any = cp.Variable(len(system.unit), nonneg=True)
    capacity: Any = system.scaled_rows @ x <= 1
    objective = system.objective.expression(
        system.scaled_totals @ x, system.total_unit, system.scale
    )
    problem = cp.Problem(cp.Maximize(objective), [capacity])
    status = run(problem, solver, attempt)
    if status not in _ANSWERS:
        return None
    return Answer(np.maximum(x.value, 0.0), np.maximum(capacity.dual_value, 0.0), status, solver)


def shortest_split(
    weight: Vector, equations: sp.csr_array, level: Vector, rows: sp.csr_array, solver: Solver
) -> tuple[Vector, Vector, Vector] | None:
    """Minimise the sum of weight x^2 / 2 over x >= 0, equations x = level, rows x <= 1.

    x, the multipliers of the rows and those of the equations; None when the solver gave up.
    """
    x: Any = cp.Variable(len(weight), nonneg=True)
    fixed: Any = equations @ x == level
    capacity: Any = rows @ x <= 1
    norm = cp.sum_squares(cp.multiply(np.sqrt(weight), x))
    problem = cp.Problem(cp.Minimize(norm / 2), [fixed, capacity])
    if run(problem, solver) not in _ANSWERS:
        return None
    return x.value, capacity.dual_value, fixed.dual_value
