"""Which flows have the same rates in every point of a face.

The range of each rate would take two linear programs a column. Instead a random direction over the
columns that are still undecided is made as long and as short as can be: both ends agree in those
columns only if none of them has a choice, and otherwise at least one is found that has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from pathweave.optimum.face import VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.optimum.face import Face
    from pathweave.optimum.shapes import Indices, Vector

    Verdicts = tuple[bool | None, ...]

# Rates that differ by this share of their unit are different.
_DIFFERENT = 1e-3
# What equations may be off, so that rounding leaves a point at all. Rates that hang on one another
# may then be off by ten thousand times as much, and must not pass for a choice.
_SLACKS = (1e-9, 1e-7, VIOLATED)
_TOLERANCE = 1e-10
# Each finds a flow at least, and usually nearly all that are left.
_ROUNDS = 100
# Columns above which an interior point is faster than the simplex method.
_MANY = 2000


def single_flows(face: Face, points: Sequence[Vector], flows: int) -> Verdicts:
    """By flow: whether its rates are the same in all points of the face, of which some are given.

    None where it could not be found out.
    """
    parts = _parts(face)
    rng = np.random.default_rng(0)
    verdicts: list[bool | None] = [True] * flows
    undecided = np.ones(len(face.columns), dtype=bool)
    known: Sequence[Vector] = points
    for _ in range(_ROUNDS):
        apart = np.max(known, axis=0) - np.min(known, axis=0) > _DIFFERENT
        several = np.unique(face.flow_of[undecided & apart])
        if known is not points and not len(several):
            return tuple(verdicts)
        for flow in several:
            verdicts[flow] = False
        undecided &= ~np.isin(face.flow_of, several)
        if not undecided.any():
            return tuple(verdicts)
        concerned = np.isin(parts, parts[undecided])
        direction = np.where(undecided, rng.uniform(1.0, 2.0, len(undecided)), 0.0)
        ends = [_furthest(face, np.flatnonzero(concerned), sign * direction) for sign in (1, -1)]
        if ends[0] is None or ends[1] is None:
            break
        known = [end for end in ends if end is not None]
    for flow in np.unique(face.flow_of[undecided]):
        verdicts[flow] = None
    return tuple(verdicts)


def _parts(face: Face) -> Indices:
    """By column: the number of its part; parts have no equation or row in common."""
    shared = sp.csr_array(sp.vstack([face.fixed, face.rows]))
    links = sp.block_array([[None, shared.T], [shared, None]])
    return connected_components(links, directed=False)[1][: len(face.columns)]


def _furthest(face: Face, columns: Indices, direction: Vector) -> Vector | None:
    """A point where the sum of direction x is least, of whole parts; elsewhere it is zero."""
    rows, fixed = face.rows[:, columns], face.fixed[:, columns]
    tight, equal = np.flatnonzero(np.diff(rows.indptr)), np.flatnonzero(np.diff(fixed.indptr))
    rows, fixed, level = rows[tight], fixed[equal], face.level[equal]
    for slack in _SLACKS:
        result = linprog(
            direction[columns],
            A_ub=sp.vstack([rows, fixed, -fixed]),
            b_ub=np.concatenate([face.room[tight], level + slack, slack - level]),
            method="highs-ipm" if len(columns) > _MANY else "highs",
            options={"primal_feasibility_tolerance": _TOLERANCE},
        )
        if result.status == 0:
            point = np.zeros(len(direction))
            point[columns] = result.x
            return point
    return None
