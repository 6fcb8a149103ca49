"""The optimum of an allocation problem."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pathweave.errors import InputError
from pathweave.optimum import maxmin
from pathweave.optimum.allocation import Allocation
from pathweave.optimum.optimise import optimise
from pathweave.optimum.residuals import Residuals, detours, feasibility, residuals
from pathweave.optimum.split import split
from pathweave.optimum.system import network_of, system_of
from pathweave.optimum.terms import terms_of
from pathweave.optimum.utility import MaxMin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.optimum.problem import AllocationProblem
    from pathweave.optimum.program import Solver
    from pathweave.optimum.shapes import Flags, Indices, Vector
    from pathweave.optimum.single import Verdicts
    from pathweave.optimum.system import Network
    from pathweave.optimum.utility import Concave, Utility

TOLERANCE = 1e-6
# A path dearer by this share than its flow's cheapest has no rate in any optimum.
_DEARER = 1e-6
_NOT_UNIQUE = "other splits of {} between their subflows are as good: this is the most even one"
_SPLIT_LEFT = "the most even split was not found: the rates are an optimum, but not that one"
_UNKNOWN = "whether other splits of {} are as good was not found out"


def solve(
    problem: AllocationProblem,
    utility: Utility | Sequence[Utility],
    *,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
) -> Allocation:
    """The allocation that maximises the sum of the flows' utilities within the capacities.

    One utility counts for all flows; a sequence has one a flow. `tolerance` is for the residuals:
    an allocation beyond it has the status "inaccurate" and a remark. With `solver` that one alone
    is tried; max-min has its own.

    Raises `InputError` for a problem that has no optimum, and `OptimumError` when none was found.
    """
    return allocate(network_of(problem), problem, utility, tolerance, solver)


def allocate(
    network: Network,
    problem: AllocationProblem,
    utility: Utility | Sequence[Utility],
    tolerance: float,
    solver: Solver | None,
) -> Allocation:
    """The same over the columns of a network alone, which may be some of the problem's subflows.

    What a utility takes from the delays is of all subflows.
    """
    start = time.perf_counter()
    if not len(network.columns):
        raise InputError("no flow has a path with capacity")
    if isinstance(utility, MaxMin):
        found = _max_min(network, utility)
    else:
        found = _concave(network, problem, by_flow(problem, utility), tolerance, solver)
    return _allocation(network, found, tolerance, start)


@dataclass(frozen=True)
class _Found:
    """An optimum in packets/s, by column and row of the network."""

    x: Vector
    weights: Vector
    """Of each subflow in what its flow's utility sees."""
    price: Vector | None
    objective: float
    splits_unique: Verdicts
    """By flow."""
    solver: str
    status: str
    residuals: Residuals
    remarks: tuple[str, ...]


def by_flow(problem: AllocationProblem, utility: Concave | Sequence[Utility]) -> list[Concave]:
    """One utility a flow, none of them max-min."""
    flows = len(problem.flows)
    if not isinstance(utility, (list, tuple)):
        return [utility] * flows  # pyright: ignore[reportReturnType]
    concave = [each for each in utility if not isinstance(each, MaxMin)]
    if len(concave) < len(utility):
        raise InputError("max-min orders all flows at once: it cannot be one flow's utility")
    return concave


def _concave(
    network: Network,
    problem: AllocationProblem,
    utilities: Sequence[Concave],
    tolerance: float,
    solver: Solver | None,
) -> _Found:
    totals, objective = terms_of(problem, utilities)
    system = system_of(network, totals, objective)
    optimum = optimise(system, tolerance, solver)
    full = np.flatnonzero(optimum.price > 0)
    dear = detours(system, optimum.price) > max(_DEARER, 10 * optimum.residuals.worst)
    x, unique, remarks = _split(network, system.totals, optimum.x, full, dear)
    measured = residuals(system, x, optimum.price)
    if measured.worst > max(tolerance, optimum.residuals.worst):
        x, measured, remarks = optimum.x, optimum.residuals, (_SPLIT_LEFT,)
    return _Found(
        x=x,
        weights=np.asarray(sp.csc_array(totals).data, dtype=float),
        price=optimum.price,
        objective=system.objective.value(system.totals @ x) + system.constant,
        splits_unique=unique,
        solver=optimum.solver,
        status=optimum.status,
        residuals=measured,
        remarks=remarks,
    )


def _max_min(network: Network, utility: MaxMin) -> _Found:
    alone = len(np.unique(network.flow_of)) == len(network.columns)
    unique: Verdicts = (True,) * network.flows
    remarks: tuple[str, ...] = ()
    if alone or utility.over == "subflows":
        filling = maxmin.fill_by_counting(network)
        x = filling.x
        smallest = x.min()
    else:
        filling = maxmin.fill_by_programs(network)
        flows = np.unique(network.flow_of)
        sums = network.flow_sums[flows]
        x, unique, remarks = _split(network, sums, filling.x, filling.full)
        smallest = (sums @ x).min()
    return _Found(
        x=x,
        weights=np.ones(len(network.flow_of_subflow)),
        price=None,
        objective=float(smallest * network.packet_bits),
        splits_unique=unique,
        solver=filling.solver,
        status=filling.status,
        residuals=Residuals(
            feasibility(network.rows @ x, network.capacity), None, None, max(filling.gap, 0.0)
        ),
        remarks=remarks,
    )


def _split(
    network: Network, totals: sp.csr_array, x: Vector, full: Indices, dear: Flags | None = None
) -> tuple[Vector, Verdicts, tuple[str, ...]]:
    """The most even rates with the totals of x, by flow whether it has no others, and remarks."""
    even, unique = split(network, totals, x, full, dear)
    if even is None:
        return x, unique, (_SPLIT_LEFT,)
    remarks: tuple[str, ...] = ()
    if several := unique.count(False):
        remarks += (_NOT_UNIQUE.format(_flows(several, network.flows)),)
    if unknown := unique.count(None):
        remarks += (_UNKNOWN.format(_flows(unknown, network.flows)),)
    return even, unique, remarks


def _flows(some: int, flows: int) -> str:
    return "all flows' rates" if some == flows else f"the rates of {some:,} of {flows:,} flows"


def _allocation(network: Network, found: _Found, tolerance: float, start: float) -> Allocation:
    bits = network.packet_bits
    flow_of = network.flow_of_subflow
    rates = np.zeros(len(flow_of))
    rates[network.columns] = found.x * bits
    row_of_link = np.arange(len(network.link_of_row))
    loads = np.zeros(network.links)
    loads[network.link_of_row] = (network.rows @ found.x)[row_of_link] * bits
    prices = None
    if found.price is not None:
        prices = np.full(network.links, np.nan)
        prices[network.link_of_row] = found.price[row_of_link] / bits
    accurate = found.residuals.worst <= tolerance
    remarks = found.remarks
    if not accurate:
        worst = found.residuals.worst
        remarks += (
            f"inaccurate: a residual of {worst:.1e} is above the tolerance of {tolerance:g}",
        )
    totals = np.zeros(network.flows)
    weighted = np.zeros(network.flows)
    np.add.at(totals, flow_of, rates)
    np.add.at(weighted, flow_of, rates * found.weights)
    return Allocation(
        rates_bps=rates,
        flow_of=flow_of,
        totals_bps=totals,
        weighted_totals_bps=weighted,
        splits_unique=found.splits_unique,
        loads_bps=loads,
        prices=prices,
        objective=found.objective,
        solver=found.solver,
        status="optimal" if accurate else "inaccurate",
        solver_status=found.status,
        tolerance=tolerance,
        residuals=found.residuals,
        remarks=remarks,
        wall_s=time.perf_counter() - start,
    )
