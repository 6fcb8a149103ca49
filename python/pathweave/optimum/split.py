"""The split of a flow's rate between its subflows, where its utility leaves it open.

Utilities of a flow's sum fix the sums, and prices, but often not the rates of the subflows. Of all
optimal splits the most even one is taken: the least sum of (x_r / y)^2, y the flow's sum, over all
subflows. It is unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pathweave.optimum import program
from pathweave.optimum.face import VIOLATED, face_of
from pathweave.optimum.optimise import within_capacity
from pathweave.optimum.refine import Point, refine
from pathweave.optimum.single import single_flows

if TYPE_CHECKING:
    from pathweave.optimum.face import Face
    from pathweave.optimum.shapes import Flags, Indices, Vector
    from pathweave.optimum.single import Verdicts
    from pathweave.optimum.system import Network

# Rows are added when they are violated, because a solver's work grows with them; below this many
# columns it is not worth the rounds.
_FEW = 1000
_ROUNDS = 30
# The error of a split in its totals and loads where no second solver is asked.
_EXACT = 1e-8


class _Spread:
    """Half the sum of weight x^2."""

    def __init__(self, weight: Vector) -> None:
        self._weight = weight

    def gradient(self, x: Vector) -> Vector:
        return self._weight * x

    def hessian(self, x: Vector, columns: Indices) -> sp.csc_array:  # noqa: ARG002
        return sp.csc_array(sp.diags_array(self._weight[columns]))

    def step(self, x: Vector, change: Vector) -> float:  # noqa: ARG002
        return 1.0


def split(
    network: Network, totals: sp.csr_array, x: Vector, used: Indices, unused: Flags | None = None
) -> tuple[Vector | None, Verdicts]:
    """The most even rates (packets/s) with the totals of x, and which flows have no others.

    `used` are rows that are full in every optimum, `unused` columns that are zero in every one: the
    fewer are left, the faster it is. The rates are None when no solver finds them.
    """
    face = face_of(network, totals, x, used, unused)
    if not len(face.columns):
        return x, (True,) * network.flows
    points = [x[face.columns] / face.unit]
    even = _most_even(face)
    if even is not None:
        points.append(even)
    verdicts = single_flows(face, points, network.flows)
    if even is None:
        return None, verdicts
    result = x.copy()
    result[face.columns] = even * face.unit
    return within_capacity(network, result), verdicts


def _most_even(face: Face) -> Vector | None:
    """The point of the face with the least sum of weight x^2."""
    present = np.full(len(face.room), len(face.columns) <= _FEW)
    for _ in range(_ROUNDS):
        found = _solve(face, face.rows[np.flatnonzero(present)])
        if found is None:
            return None
        missing = (face.rows @ found > 1 + VIOLATED) & ~present
        if not missing.any():
            return found
        present |= missing
    return None


def _solve(face: Face, rows: sp.csr_array) -> Vector | None:
    """The same, with some of the rows."""
    weight, fixed, level = face.weight, face.fixed, face.level
    solvers: tuple[program.Solver, ...] = ("clarabel", "scs")
    best, least = None, VIOLATED
    for solver in solvers:
        answer = program.shortest_split(weight, fixed, level, rows, solver)
        if answer is None:
            continue
        x, price, dual = answer
        raw = np.maximum(x, 0)
        start = Point(raw, np.maximum(price, 0), dual)
        for found in (refine(_Spread(weight), rows, fixed, level, start).x, raw):
            off = np.abs(fixed @ found - level).max()
            violated = max(off, np.max(rows @ found - 1, initial=0.0))
            if violated < least:
                best, least = found, violated
        if least < _EXACT:
            break
    return best
