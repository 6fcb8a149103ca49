"""The convex program for a solver, in cvxpy's disciplined form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

    from pathweave.optimum.shapes import Indices, Vector
    from pathweave.optimum.system import System

Solver = Literal["clarabel", "scs"]

# Clarabel factorises a matrix that fills up when many paths cross many links; SCS does so once.
LARGE = 3000
"""Subflows above which SCS comes first; below, Clarabel."""

# The refinement starts from what a solver finds. SCS, which takes its time for each digit, is asked
# for more of them with each attempt.
_SETTINGS: dict[Solver, dict[str, Any]] = {
    "clarabel": {"max_threads": 1},
    "scs": {"max_iters": 20_000},
}
_SCS_TOLERANCES = (1e-3, 1e-4, 1e-6)
_LAST = len(_SCS_TOLERANCES) - 1
_ANSWERS = ("optimal", "optimal_inaccurate")


@dataclass(frozen=True)
class Answer:
    """What a solver said: x, the multipliers of the rows, and its word for how good they are."""

    x: Vector
    price: Vector
    status: str


def attempts(
    subflows: int, solver: Solver | None, *, begun: bool
) -> tuple[tuple[Solver, int], ...]:
    """Which solver to ask, and the how many-th time it is, until an answer is good enough.

    `begun` when a rough answer is there already.
    """
    if begun:
        return ("clarabel", 0), ("scs", 0), ("clarabel", 1), ("scs", _LAST)
    if subflows > LARGE and solver is None:
        return ("scs", 0), ("clarabel", 0), ("clarabel", 1), ("scs", _LAST)
    solvers: tuple[Solver, ...] = (solver,) if solver else ("clarabel", "scs")
    return tuple((name, attempt) for name in solvers for attempt in range(_LAST + 1))


def run(problem: Any, solver: Solver, attempt: int = _LAST) -> str:
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


def best_rates(
    system: System,
    solver: Solver,
    attempt: int,
    columns: Indices | None = None,
    rows: Indices | None = None,
) -> Answer | None:
    """Maximise the system's objective, in its scaled units; None when the solver gave up.

    With `columns` and `rows` over those alone; the others' rates and prices are zero.
    """
    columns = np.arange(len(system.unit)) if columns is None else columns
    rows = np.arange(len(system.network.capacity)) if rows is None else rows
    x: Any = cp.Variable(len(columns), nonneg=True)
    capacity: Any = system.scaled_rows[rows][:, columns] @ x <= 1
    objective = system.objective.expression(
        system.scaled_totals[:, columns] @ x, system.total_unit, system.scale
    )
    problem = cp.Problem(cp.Maximize(objective), [capacity])
    status = run(problem, solver, attempt)
    if status not in _ANSWERS:
        return None
    answer = Answer(np.zeros(len(system.unit)), np.zeros_like(system.network.capacity), status)
    answer.x[columns] = np.maximum(x.value, 0.0)
    answer.price[rows] = np.maximum(capacity.dual_value, 0.0)
    return answer


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
