"""The optimal rates that are left open: a polyhedron, over the columns that have a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Flags, Indices, Vector
    from pathweave.optimum.system import Network

# Of a capacity or of the largest rate: as good as zero.
_NOTHING = 1e-9
VIOLATED = 1e-6
"""What a point of the face may be off, in its totals and loads."""


@dataclass(frozen=True)
class Face:
    """The optimal rates of the columns that have a choice: x >= 0, fixed x = level, rows x <= room.

    Rates are in `unit`s, loads in what the other columns leave. Of `fixed` the first part are the
    totals and the second the loads of full rows. Those follow from the totals, but as inequalities
    they would have no definite prices.
    """

    columns: Indices
    flow_of: Indices
    """The flow of each column."""
    unit: Vector
    weight: Vector
    fixed: sp.csr_array
    level: Vector
    rows: sp.csr_array
    room: Vector
    """One for each row."""


def face_of(
    network: Network, totals: sp.csr_array, x: Vector, used: Indices, unused: Flags | None
) -> Face:
    """All rates with the totals of x.

    `used` are rows that are full in every optimum, `unused` columns that are zero in every one.
    """
    choice = np.ones(len(x), dtype=bool) if unused is None else ~unused
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
    spare = np.setdiff1d(np.flatnonzero(np.diff(rows.indptr) > 0), used)
    return Face(
        columns=columns,
        flow_of=own.flow_of,
        unit=unit,
        weight=(unit / sums[own.flow_of]) ** 2,
        fixed=fixed,
        level=fixed @ (x[columns] / unit),
        rows=rows[spare],
        room=np.ones(len(spare)),
    )
