"""The split of a flow's rate between its subflows, where its utility leaves it open.

Utilities of a flow's sum fix the sums, and prices, but often not the rates of the subflows. Of all
optimal splits the most even one is taken: the least sum of (x_r / y)^2, y the flow's sum, over all
subflows. It is unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from pathweave.optimum import program
from pathweave.optimum.optimise import within_capacity
from pathweave.optimum.refine import Point, refine

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Flags, Indices, Vector
    from pathweave.optimum.system import Network

# Rows are added when they are violated, for a solver's work grows with them; below this many
# columns it is not worth the rounds.
_FEW = 1000
_ROUNDS = 30
# Of a capacity or of the largest rate: as good as zero.
_NOTHING = 1e-9
# The error of a split in its totals and loads: at most, and where no second solver is asked.
_VIOLATED = 1e-6
_EXACT = 1e-8
# Splits that differ by this share of a rate's scale are different splits.
_DIFFERENT = 1e-3


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
) -> tuple[Vector | None, bool | None]:
    """The most even rates (packets/s) with the totals of x, and whether there are no others.

    `used` are rows that are full in every optimum, `unused` columns that are zero in every one: the
    fewer are left, the faster it is. The rates are None when no solver finds them,
    the other is None when it could not be found out.
    """
    choice = np.ones(len(x), dtype=bool) if unused is None else ~unused
    face = _face(network, totals, x, used, choice)
    if not len(face.columns):
        return x, True
    given = x[face.columns] / face.unit
    even = _most_even(face)
    if even is None:
        return None, None
    result = x.copy()
    result[face.columns] = even * face.unit
    return within_capacity(network, result), _is_point(face, given, even)


@dataclass(frozen=True)
class _Face:
    """The optimal rates of the columns that have a choice: x >= 0, fixed x = level, rows x <= 1.

    Rates are in `unit`s, loads in what the other columns leave. Of `fixed` the first part are the
    totals and the second the loads of full rows. Those follow from the totals, but as inequalities
    they would have no definite prices.
    """

    columns: Indices
    unit: Vector
    weight: Vector
    fixed: sp.csr_array
    level: Vector
    rows: sp.csr_array
    room: Vector
    """One for each row."""


def _face(network: Network, totals: sp.csr_array, x: Vector, used: Indices, choice: Flags) -> _Face:
    term = sp.csc_array(totals).indices
    choice = choice & (np.bincount(term[choice], minlength=len(totals.indptr))[term] > 1)
    left = network.capacity - network.rows @ np.where(choice, 0.0, x)
    nothing = left <= _NOTHING * network.capacity
    choice &= network.rows.T @ nothing.astype(float) == 0
    left = np.maximum(left, _NOTHING * network.capacity)
    columns = np.flatnonzero(choice)

    own = network.kept(columns)
    sums = network.flow_sums @ x
    count = np.bincount(network.flow_of, minlength=network.flows)
    sums = np.maximum(sums, _NOTHING * np.max(sums))
    unit = (sums / np.maximum(count, 1))[own.flow_of]
    rows = sp.csr_array(sp.diags_array(1 / left) @ own.rows @ sp.diags_array(unit))
    part = totals[:, columns]
    part = part[np.flatnonzero(np.diff(part.indptr) > 0)]
    scaled = sp.diags_array(1 / (part @ unit)) @ part @ sp.diags_array(unit)
    used = used[np.diff(rows.indptr)[used] > 0]
    fixed = sp.csr_array(sp.vstack([scaled, rows[used]]))
    unused = np.setdiff1d(np.flatnonzero(np.diff(rows.indptr) > 0), used)
    return _Face(
        columns=columns,
        unit=unit,
        weight=(unit / sums[own.flow_of]) ** 2,
        fixed=fixed,
        level=fixed @ (x[columns] / unit),
        rows=rows[unused],
        room=np.ones(len(unused)),
    )


def _most_even(face: _Face) -> Vector | None:
    """The point of the face with the least sum of weight x^2."""
    present = np.full(len(face.room), len(face.columns) <= _FEW)
    for _ in range(_ROUNDS):
        found = _solve(face, face.rows[np.flatnonzero(present)])
        if found is None:
            return None
        missing = (face.rows @ found > 1 + _VIOLATED) & ~present
        if not missing.any():
            return found
        present |= missing
    return None


def _is_point(face: _Face, one: Vector, other: Vector) -> bool | None:
    """Whether the face is a single point; two points of it are given."""
    if np.abs(one - other).max() > _DIFFERENT:
        return False
    # A direction at random is constant on the face only if that is a point.
    direction = np.random.default_rng(0).uniform(1.0, 2.0, len(one))
    ends: list[Vector] = []
    for sign in (1.0, -1.0):
        result = linprog(
            sign * direction,
            A_ub=sp.vstack([face.rows, face.fixed, -face.fixed]),
            b_ub=np.concatenate([face.room, face.level + _VIOLATED, _VIOLATED - face.level]),
            method="highs",
        )
        if result.status != 0:
            return None
        ends.append(result.x)
    return bool(np.abs(ends[0] - ends[1]).max() <= _DIFFERENT)


def _solve(face: _Face, rows: sp.csr_array) -> Vector | None:
    """The same, with some of the rows."""
    weight, fixed, level = face.weight, face.fixed, face.level
    solvers: tuple[program.Solver, ...] = ("clarabel", "scs")
    best, least = None, _VIOLATED
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
