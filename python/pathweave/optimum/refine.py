"""From a solver's answer to the exact optimum, by Newton's method on the active constraints.

An interior-point or first-order solver ends with errors of 1e-8 to 1e-5, depending on the problem,
but its answer tells which rates are zero and which rows are full. Given that, the optimum is the
solution of a system of equations. Where the sets turn out wrong they are mended and the system is
solved again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Flags, Indices, Vector

# Keeps the equations solvable where they leave something open (a split, the prices of two full
# links in series); the fixed point does not depend on it.
_REGULARISATION = (1e-8, 1e-6, 1e-4)
_STEPS = 50
_PATIENCE = 4
_SETS = 8
# The sets' changes may grow by this factor, or to this number, before it is given up.
_GROWTH = 4
_FEW = 100
_EXACT = 1e-12
# What leaves its set: rates and prices below minus this, gains and loads above it.
_WRONG_SIDE = 1e-9
# Where an entry starts that was taken for zero.
_POSITIVE = 1e-2
_TINY = 1e-12


class Smooth(Protocol):
    """A convex function of x >= 0 to minimise."""

    def gradient(self, x: Vector) -> Vector:
        """By entry."""
        ...

    def hessian(self, x: Vector, columns: Indices) -> sp.csc_array:
        """For some of the entries."""
        ...

    def step(self, x: Vector, change: Vector) -> float:
        """The share of a change, at most 1, that stays inside the domain."""
        ...


@dataclass
class Point:
    """x, the multipliers of the rows (rows x <= 1) and those of the equations."""

    x: Vector
    price: Vector
    dual: Vector


def refine(
    function: Smooth,
    rows: sp.csr_array,
    equations: sp.csr_array,
    level: Vector,
    start: Point,
) -> Point:
    """Minimise the function over x >= 0 with rows x <= 1 and equations x = level, from `start`.

    Entries of x, of rows x and of the function are of the order of one. The result satisfies what
    is active, nearly to rounding, when the sets were found; its caller must check.
    """
    point = start
    scale = _scale(function, equations, point)
    # As a share of all that an entry costs, below one: an entry of one counts as positive.
    dearer = _reduced(function, rows, equations, point) / (scale + rows.T @ point.price)
    positive: Flags = point.x > np.maximum(dearer, 0)
    full: Flags = point.price > (1 - rows @ point.x) * _price_scale(rows, point.x, scale)
    most = np.inf
    for _ in range(_SETS):
        try:
            point = _newton(function, rows, equations, level, point, positive, full)
        except ArithmeticError:  # the start was too far off
            return start
        scale = _scale(function, equations, point)
        reduced = _reduced(function, rows, equations, point)
        keep = positive & (point.x > -_WRONG_SIDE) | ~positive & (reduced < -_WRONG_SIDE * scale)
        fill = full & (point.price > -_WRONG_SIDE) | ~full & (rows @ point.x > 1 + _WRONG_SIDE)
        changes = np.count_nonzero(keep != positive) + np.count_nonzero(fill != full)
        if changes == 0:
            break
        if changes > most:  # it leads away, and each step costs more
            return start
        most = min(most, max(_FEW, _GROWTH * changes))
        positive, full = keep, fill
    return Point(np.maximum(point.x, 0), np.maximum(point.price, 0), point.dual)


def _reduced(function: Smooth, rows: sp.csr_array, equations: sp.csr_array, point: Point) -> Vector:
    """What a unit more of each entry costs; zero at the optimum where x is positive."""
    return function.gradient(point.x) + rows.T @ point.price + equations.T @ point.dual


def _scale(function: Smooth, equations: sp.csr_array, point: Point) -> Vector:
    """What the cost of each entry is made of: the scale of its reduced cost."""
    return np.abs(function.gradient(point.x)) + np.abs(equations.T @ point.dual) + _TINY


def _price_scale(rows: sp.csr_array | sp.csc_array, x: Vector, scale: Vector) -> Vector:
    """What each row's price could be at most: its largest user would pay nothing else."""
    entries = sp.coo_array(rows)
    use = entries.data * x[entries.col]
    order = np.lexsort((use, entries.row))
    last = np.flatnonzero(np.diff(entries.row[order], append=-1))
    largest = order[last]
    highest = np.full_like(rows @ x, np.inf)
    highest[entries.row[largest]] = scale[entries.col[largest]] / entries.data[largest]
    return highest


def _newton(
    function: Smooth,
    rows: sp.csr_array,
    equations: sp.csr_array,
    level: Vector,
    start: Point,
    positive: Flags,
    full: Flags,
) -> Point:
    """Solve the optimality conditions with the given sets (booleans)."""
    columns, tight = np.flatnonzero(positive), np.flatnonzero(full)
    active = sp.csc_array(sp.vstack([equations[:, columns], rows[tight][:, columns]]))
    target = np.concatenate([level, np.ones(len(tight))])
    x = np.where(positive, np.where(start.x > 0, start.x, _POSITIVE), 0.0)
    y = np.concatenate([start.dual, start.price[tight]])
    scale = _scale(function, equations, start)[columns]
    y_scale = _price_scale(active, x[columns], scale)
    y_scale[np.isinf(y_scale)] = 1.0
    regular = sp.diags_array(np.concatenate([scale, -1 / y_scale]))
    smallest, since, step = np.inf, 0, 1.0
    for _ in range(_STEPS):
        stationary = -(function.gradient(x)[columns] + active.T @ y)
        feasible = target - active @ x[columns]
        off = np.abs(np.concatenate([stationary / scale, feasible])).max(initial=0.0)
        since = 0 if off < smallest / 2 or step < 1 else since + 1
        smallest = min(off, smallest)
        if off < _EXACT or since > _PATIENCE:
            break
        hessian = function.hessian(x, columns)
        matrix = sp.csc_array(sp.block_array([[hessian, active.T], [active, None]]))
        change = _solve(matrix, regular, np.concatenate([stationary, feasible]))
        change_x = np.zeros_like(x)
        change_x[columns] = change[: len(columns)]
        step = function.step(x, change_x)
        x = x + step * change_x
        y = y + step * change[len(columns) :]
    price = np.zeros_like(start.price)
    price[tight] = y[len(level) :]
    return Point(x, price, y[: len(level)])


def _solve(matrix: sp.csc_array, regular: sp.dia_array, right: Vector) -> Vector:
    """A quasi-definite system: it needs no pivots. More regularisation if it turns singular."""
    for amount in _REGULARISATION:
        try:
            factors = splu(
                sp.csc_array(matrix + amount * regular),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:
            continue
        change = factors.solve(right)
        if np.isfinite(change).all():
            return change
    raise ArithmeticError
