"""Which paths to give the subflows: FMPTCP's multi-path routing problem (its eqs 9 to 11).

Each flow may use n_k of its candidate paths; the routing is judged by the best allocation over the
paths chosen. That is NP-hard. Without the limit n_k it is an ordinary allocation problem, the
relaxation, whose optimum no routing exceeds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pathweave.errors import InputError
from pathweave.optimum.allocate import TOLERANCE, allocate, by_flow
from pathweave.optimum.problem import AllocationProblem
from pathweave.optimum.system import network_of
from pathweave.optimum.terms import terms_of
from pathweave.optimum.utility import MaxMin, Wutcp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pathweave.optimum.allocation import Allocation
    from pathweave.optimum.program import Solver
    from pathweave.optimum.shapes import Vector
    from pathweave.optimum.system import Network
    from pathweave.optimum.utility import Concave

LIMIT = 1000
"""Combinations that `enumerate_paths` tries unless told otherwise."""
FLOWS = 200
"""Flows that `smallest_price` lets join unless told otherwise: it solves a problem for each."""

# Rates that differ by less than this share of their flow's total count as equal, and so do prices
# that differ by less than this share of their flow's dearest candidate.
_EQUAL = 1e-6


@dataclass(frozen=True)
class RoutingProblem:
    """Flows whose subflows are all candidate paths, and how many of them each flow may use.

    `paths` is one number for all flows, or one a flow.
    """

    candidates: AllocationProblem
    paths: int | Sequence[int]

    def __post_init__(self) -> None:
        flows = len(self.candidates.flows)
        paths = (self.paths,) * flows if isinstance(self.paths, int) else tuple(self.paths)
        if len(paths) != flows:
            raise InputError(f"{len(paths)} numbers of paths for {flows} flows")
        for flow, number in enumerate(paths):
            if number < 1:
                raise InputError(f"flow {flow} may use {number} paths; it needs one at least")
        object.__setattr__(self, "paths", paths)

    def most(self, flow: int) -> int:
        """How many paths a flow may use."""
        return self.paths if isinstance(self.paths, int) else self.paths[flow]


@dataclass(frozen=True)
class Routing:
    """Paths chosen, and what they are worth.

    Attributes:
        chosen: By flow: which of its candidate paths, counted from 0, in order.
        allocation: The optimum over the chosen paths. It lists all candidates; the others have no
            rate.
        relaxed: The optimum over all candidates.
    """

    chosen: tuple[tuple[int, ...], ...]
    allocation: Allocation
    relaxed: Allocation

    @property
    def bound(self) -> float:
        """The relaxation's objective: that of no routing is higher."""
        return self.relaxed.objective

    @property
    def gap(self) -> float:
        """How far the objective is below the bound; not below zero but for the tolerance."""
        return self.bound - self.allocation.objective


def relax(
    problem: RoutingProblem,
    utility: Concave | Sequence[Concave],
    *,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
) -> Allocation:
    """The optimum over all candidate paths.

    Here and below the delays in a utility are of all candidates, so that every routing has the same
    objective.

    Raises `InputError` for a utility that is not of a flow's sum.
    """
    return _Judge(problem, utility, tolerance, solver).relaxed


def round_up(
    problem: RoutingProblem,
    utility: Concave | Sequence[Concave],
    *,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
) -> Routing:
    """The n_k paths of each flow with the largest rates in the relaxation.

    Where the relaxation has several optima it is the most even one. Among equal rates the k-th flow
    begins with its k-th candidate, so that flows with the same candidates differ.
    """
    judged = _Judge(problem, utility, tolerance, solver)
    rates = [judged.relaxed.of_flow(flow) for flow in range(len(judged.usable))]
    return judged.routing(
        _first(own, _EQUAL * float(own.sum()), usable, problem.most(flow), flow)
        for flow, (own, usable) in enumerate(zip(rates, judged.usable, strict=True))
    )


def smallest_price(
    problem: RoutingProblem,
    utility: Concave | Sequence[Concave],
    *,
    order: Sequence[int] | None = None,
    limit: int = FLOWS,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
    watch: Callable[[], None] | None = None,
) -> Routing:
    """Flows join one by one and take the n_k paths with the smallest prices (FMPTCP, IV-B.2).

    The prices are those of the optimum of the flows that joined before, over the paths that these
    took. A path's price (utility per bit/s) is the sum of its links' prices, over the weight of the
    path's delay in the utility. `order` lists the flows in the order in which they join, by default
    that of the problem. Among equal prices the k-th flow begins with its k-th candidate, as in
    `round_up`: links that are not full have no price, so many candidates are equal.

    `watch` is called before each problem is solved: what it raises ends the search.

    Raises `InputError` when there are more than `limit` flows.
    """
    flows = problem.candidates.flows
    if len(flows) > limit:
        raise InputError(f"there are {len(flows)} flows to join one by one; the limit is {limit}")
    order = range(len(flows)) if order is None else order
    if sorted(order) != list(range(len(flows))):
        raise InputError(f"the order must have each of the {len(flows)} flows once")
    judged = _Judge(problem, utility, tolerance, solver)
    chosen: list[tuple[int, ...]] = [()] * len(flows)
    joined: list[int] = []
    for flow in order:
        if watch is not None and joined:
            watch()
        cost = judged.path_prices(flow, joined, chosen)
        step = _EQUAL * float(cost[np.isfinite(cost)].max(initial=0.0))
        chosen[flow] = _first(-cost, step, judged.usable[flow], problem.most(flow), flow)
        joined += [flow] * bool(chosen[flow])
    if watch is not None:
        watch()
    return judged.routing(chosen)


def enumerate_paths(
    problem: RoutingProblem,
    utility: Concave | Sequence[Concave],
    *,
    limit: int = LIMIT,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
    watch: Callable[[], None] | None = None,
) -> Routing:
    """The best routing, by trying all; one of them when several are equally good.

    `watch` is called before each is solved: what it raises ends the search.

    Raises `InputError` when there are more than `limit` combinations.
    """
    judged = _Judge(problem, utility, tolerance, solver)
    # More paths are never worse, so that each flow uses as many as it may.
    numbers = [min(problem.most(flow), len(usable)) for flow, usable in enumerate(judged.usable)]
    combinations = math.prod(
        math.comb(len(usable), number)
        for usable, number in zip(judged.usable, numbers, strict=True)
    )
    if combinations > limit:
        raise InputError(
            f"there are {combinations} combinations of paths, and the limit is {limit}"
        )
    choices = (
        itertools.combinations(usable, number)
        for usable, number in zip(judged.usable, numbers, strict=True)
    )

    def worth(chosen: Sequence[Sequence[int]]) -> Routing:
        if watch is not None:
            watch()
        return judged.routing(chosen)

    routings = (worth(chosen) for chosen in itertools.product(*choices))
    return max(routings, key=lambda routing: routing.allocation.objective)


def judge(
    problem: RoutingProblem,
    utility: Concave | Sequence[Concave],
    chosen: Sequence[Sequence[int]],
    *,
    tolerance: float = TOLERANCE,
    solver: Solver | None = None,
) -> Routing:
    """What a given choice of paths is worth: `chosen` has the candidates (from 0) by flow."""
    flows = problem.candidates.flows
    if len(chosen) != len(flows):
        raise InputError(f"the paths of {len(chosen)} flows are chosen; there are {len(flows)}")
    for index, (flow, own) in enumerate(zip(flows, chosen, strict=True)):
        for path in own:
            if not 0 <= path < len(flow.subflows):
                raise InputError(
                    f"flow {index} has no candidate path {path}; it has {len(flow.subflows)}"
                )
        if len(set(own)) > problem.most(index):
            raise InputError(
                f"flow {index} may use {problem.most(index)} paths; {len(set(own))} are chosen"
            )
    return _Judge(problem, utility, tolerance, solver).routing(chosen)


class _Judge:
    """Solves one problem for one choice of paths after the other."""

    def __init__(
        self,
        problem: RoutingProblem,
        utility: Concave | Sequence[Concave],
        tolerance: float,
        solver: Solver | None,
    ) -> None:
        self._candidates = problem.candidates
        if isinstance(utility, MaxMin):
            raise InputError("max-min is not a sum of utilities: the routing problem needs one")
        self._utilities = by_flow(problem.candidates, utility)
        if any(isinstance(each, Wutcp) for each in self._utilities):
            raise InputError(
                "WUTCP's utility depends on the number of subflows: the routing problem needs one"
                " of a flow's sum"
            )
        self._settings = tolerance, solver
        self._network = network_of(problem.candidates)
        first = np.cumsum([0, *(len(flow.subflows) for flow in problem.candidates.flows)])
        self._first = [int(subflow) for subflow in first]
        up = {int(subflow) for subflow in self._network.columns}
        self.usable = [
            tuple(path for path in range(end - begin) if begin + path in up)
            for begin, end in itertools.pairwise(self._first)
        ]
        """By flow: the candidates on which every link has a capacity."""
        self.relaxed = self._solve(self._network)

    def routing(self, chosen: Iterable[Sequence[int]]) -> Routing:
        paths = tuple(tuple(sorted(set(own))) for own in chosen)
        subflows = [
            begin + path for begin, own in zip(self._first, paths, strict=False) for path in own
        ]
        columns = np.flatnonzero(np.isin(self._network.columns, subflows))
        return Routing(paths, self._solve(self._network.kept(columns)), self.relaxed)

    def path_prices(
        self, flow: int, joined: Sequence[int], chosen: Sequence[Sequence[int]]
    ) -> Vector:
        """By candidate of a flow: its price when the flows that joined share the links optimally.

        Infinite for a candidate that crosses a link without capacity.
        """
        whole = self._candidates
        own = whole.flows[flow]
        if not joined:
            return np.zeros(len(own.subflows))
        before = AllocationProblem(
            whole.capacities_bps,
            [whole.flows[each] for each in joined],
            packet_bytes=whole.packet_bytes,
        )
        first = np.cumsum([0, *(len(each.subflows) for each in before.flows)])
        taken = [
            int(begin) + path
            for begin, each in zip(first, joined, strict=False)
            for path in chosen[each]
        ]
        network = network_of(before)
        columns = np.flatnonzero(np.isin(network.columns, taken))
        utilities = [self._utilities[each] for each in joined]
        found = allocate(network.kept(columns), before, utilities, *self._settings)
        if found.prices is None:
            raise TypeError("only max-min has no prices, and it is refused")
        alone = AllocationProblem(whole.capacities_bps, [own], packet_bytes=whole.packet_bytes)
        weights = terms_of(alone, [self._utilities[flow]])[0].toarray()[0]
        price = np.nan_to_num(found.prices, nan=np.inf)
        cost = [float(price[list(subflow.links)].sum()) for subflow in own.subflows]
        return np.array(cost) / weights

    def _solve(self, network: Network) -> Allocation:
        return allocate(network, self._candidates, self._utilities, *self._settings)


def _first(
    values: Vector, step: float, usable: Sequence[int], number: int, turn: int
) -> tuple[int, ...]:
    """The usable paths with the largest values; values within a step of each other are equal.

    Among equals the candidate with number `turn` comes first. An even relaxation, or a network
    without full links, gives all candidates the same: with the same order for all flows, they would
    all choose the same links.
    """
    step = max(step, np.finfo(float).tiny)

    def order(path: int) -> tuple[int, int]:
        return -round(values[path] / step), (path - turn) % len(values)

    return tuple(sorted(usable, key=order)[:number])
