"""Max-min fairness: progressive filling, by counting or by linear programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from pathweave.errors import OptimumError
from pathweave.optimum import program
from pathweave.optimum.optimise import REFUSED, within_capacity
from pathweave.optimum.system import even_shares, scaled_rows, tightest_rows

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Indices, Vector
    from pathweave.optimum.system import Network

# A flow is at its final level when its price exceeds the share by which it is above the level; the
# solver's answer has one of the two at zero, this far at least from the other.
_NOTHING = 1e-6
_FULL = 1e-6


@dataclass(frozen=True)
class Filling:
    """Rates (packets/s), rows that are surely full, the largest error of a level, the solver."""

    x: Vector
    full: Indices
    gap: float
    solver: str
    status: str


def fill_by_counting(network: Network) -> Filling:
    """Max-min fair rates of the subflows, each with its one path (Bertsekas and Gallager, 6.5.2).

    All rates rise together; those on a row that is full stay where they are.
    """
    rows = network.rows
    by_row = sp.csr_array(rows)
    fixed = np.zeros(len(network.columns), dtype=bool)
    x = np.zeros(len(network.columns))
    taken = np.zeros(len(network.capacity))
    rising = rows @ np.ones(len(x))
    while not fixed.all():
        open_rows = np.flatnonzero(rising > 0.5)
        share = (network.capacity[open_rows] - taken[open_rows]) / rising[open_rows]
        level = max(float(share.min()), 0.0)
        full = open_rows[share <= level * (1 + 1e-12)]
        stopped = np.unique(by_row[full].indices)
        stopped = stopped[~fixed[stopped]]
        fixed[stopped] = True
        x[stopped] = level
        change = np.zeros(len(x))
        change[stopped] = 1.0
        leaving = rows @ change
        rising -= leaving
        taken += level * leaving
    return Filling(x, np.empty(0, dtype=np.intp), _bottleneck(network, x), "counting", "optimal")


def _bottleneck(network: Network, x: Vector) -> float:
    """How far the worst rate is from having a full row on which no rate is higher."""
    entries = sp.coo_array(network.rows)
    highest = np.zeros(len(network.capacity))
    np.maximum.at(highest, entries.row, x[entries.col])
    slack = np.maximum(1 - network.rows @ x / network.capacity, 0.0)
    lower = 1 - x[entries.col] / highest[entries.row]
    nearest = np.full(len(x), np.inf)
    np.minimum.at(nearest, entries.col, np.maximum(slack[entries.row], lower))
    return float(nearest.max())


class _Level:
    """The program of one level: raise the smallest of the free sums, keep the fixed ones.

    Rates are in units, loads in capacities, sums in the sums of the units, as in a `System`. The
    program is compiled once; the levels and the free flows are its parameters.
    """

    def __init__(self, rows: sp.csr_array, sums: sp.csr_array) -> None:
        flows, columns = sums.shape  # pyright: ignore[reportGeneralTypeIssues]
        self._x: Any = cp.Variable(columns, nonneg=True)
        self._t: Any = cp.Variable(nonneg=True)
        self._floor = cp.Parameter(flows, nonneg=True)
        self._rise = cp.Parameter(flows, nonneg=True)
        self._capacity: Any = rows @ self._x <= 1
        self._at_least: Any = sums @ self._x - cp.multiply(self._rise, self._t) >= self._floor
        self._problem = cp.Problem(cp.Maximize(self._t), [self._capacity, self._at_least])

    def solve(self, floor: Vector, rise: Vector) -> tuple[Any, Any, Any, str]:
        """Rates, and the prices of rows and sums; the solver's name."""
        self._floor.value, self._rise.value = floor, rise
        solvers: tuple[program.Solver, ...] = ("clarabel", "scs")
        for solver in solvers:
            status = program.run(self._problem, solver)
            if not status.startswith("failed"):
                return (
                    np.maximum(self._x.value, 0.0),
                    np.maximum(self._capacity.dual_value, 0.0),
                    np.maximum(self._at_least.dual_value, 0.0),
                    solver,
                )
        raise OptimumError("no solver found a max-min fair level")


def fill_by_programs(network: Network) -> Filling:
    """Max-min fair sums of the flows: a linear program a level.

    Each level's dual prices prove it: they bound what the smallest free sum can be, and a sum that
    has a price can be no higher in any optimum. The program's rows are those that got in the way so
    far, when there are many.
    """
    unit = even_shares(network)
    all_rows = scaled_rows(network, unit)
    flows = np.unique(network.flow_of)
    flow_sums = network.flow_sums[flows]
    sum_unit = flow_sums @ unit
    sums = sp.csr_array(sp.diags_array(1 / sum_unit) @ flow_sums @ sp.diags_array(unit))

    present = np.zeros(len(network.capacity), dtype=bool)
    present[tightest_rows(network)] = True
    if len(unit) <= program.LARGE:
        present[:] = True
    free = np.ones(len(flows), dtype=bool)
    floor = np.zeros(len(flows))
    full = np.zeros(len(network.capacity), dtype=bool)
    step = float(sum_unit.min())
    level = _Level(all_rows[np.flatnonzero(present)], sums)
    gap, solver = 0.0, ""
    x = np.zeros_like(unit)
    while free.any():
        rise = np.where(free, step / sum_unit, 0.0)
        x, price, worth, solver = level.solve(floor / sum_unit, rise)
        at = np.flatnonzero(present)
        missing = (all_rows @ x > 1 + _FULL) & ~present
        if missing.any():
            present |= missing
            level = _Level(all_rows[np.flatnonzero(present)], sums)
            continue
        x = within_capacity(network, x * unit)
        z = flow_sums @ x
        reached = float(z[free].min())
        weight, bound = _proof(all_rows[at], sums, floor / sum_unit, rise, price, worth)
        gap = max(gap, bound * step / reached - 1)
        if not gap <= REFUSED:
            raise OptimumError(f"{solver} missed a max-min fair level by {gap:.1e} of it")
        above = np.maximum(z / reached - 1, _NOTHING)
        final = free & (weight * np.count_nonzero(free) > above)
        final[np.argmax(np.where(free, weight, -1.0))] = True
        floor[final] = reached
        free &= ~final
        full[at[price > _NOTHING * price.max()]] = True
        step = max(reached, float(sum_unit[free].min(initial=np.inf)))
    return Filling(x, np.flatnonzero(full), gap, solver, "optimal")


def _proof(
    rows: sp.csr_array,
    sums: sp.csr_array,
    floor: Vector,
    rise: Vector,
    price: Vector,
    worth: Vector,
) -> tuple[Vector, float]:
    """The weight of each free sum in the bound on the level (together 1), and the bound.

    Whatever the prices of the rows, a sum is worth at most its cheapest path.
    """
    cost = rows.T @ price
    entries = sums.tocoo()
    cheapest = np.full(len(worth), np.inf)
    np.minimum.at(cheapest, entries.row, cost[entries.col] / entries.data)
    worth = np.minimum(worth, cheapest)
    weight = worth * rise
    total = float(weight.sum())
    if total <= 0:
        return weight, np.inf
    return weight / total, float(price.sum() - worth @ floor) / total
