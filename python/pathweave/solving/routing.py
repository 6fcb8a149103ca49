"""How good a scenario's routing is: the paths that it gave beside the best choice of paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.optimum.problem import AllocationProblem, Flow, Subflow
from pathweave.solving.allocator import subflows_of
from pathweave.solving.objective import of_a_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave._core import FluidProblem, Variant
    from pathweave.optimum.allocation import Allocation
    from pathweave.optimum.utility import Concave
    from pathweave.solving.objective import Objective


def judge_routing(
    variant: Variant,
    seed: int,
    problem: FluidProblem,
    objective: Objective,
    watch: Callable[[], None],
) -> dict[str, Any]:
    """The optimum over the paths that flows have, and over better choices of as many paths.

    `watch` is called before each choice of paths is solved; what it raises ends the search.
    Candidates are the shortest paths between the flow's hosts, and those that it has. Numbers, not
    objects: the result stands in a manifest. `best` is null where there are too many combinations,
    `smallest` where there are too many flows to join one by one.
    """
    from pathweave.optimum import RoutingProblem, enumerate_paths, judge, round_up, smallest_price
    from pathweave.optimum.routing import FLOWS

    candidates, chosen, judged = candidates_of(variant, seed, problem)
    numbers = [len(own) for own in chosen]
    given = RoutingProblem(candidates, numbers)
    utilities: list[Concave] = []
    subflows = subflows_of(problem)
    for flow, own in zip(judged, candidates.flows, strict=True):
        controller, parameters = problem["controllers"][int(problem["controller_of"][flow])]
        rtts_s = [path.rtt_s for path in own.subflows]
        utility = objective.of(controller, parameters, subflows=int(subflows[flow]), rtts_s=rtts_s)
        utilities.append(of_a_sum(utility))
    watch()
    ours = judge(given, utilities, chosen)
    watch()
    rounded = round_up(given, utilities)
    few = len(candidates.flows) <= FLOWS
    smallest = smallest_price(given, utilities, watch=watch) if few else None
    try:
        best = enumerate_paths(given, utilities, watch=watch)
    except InputError:
        best = None
    return {
        "time_s": problem["time_s"],
        "flows": len(candidates.flows),
        "candidates": sum(len(flow.subflows) for flow in candidates.flows),
        "given": _worth(ours.allocation),
        "smallest": _worth(smallest.allocation) if smallest is not None else None,
        "rounded": _worth(rounded.allocation),
        "best": _worth(best.allocation) if best is not None else None,
        "relaxed": _worth(ours.relaxed),
    }


def _worth(found: Allocation) -> dict[str, float]:
    return {
        "objective": found.objective,
        "total_bps": float(found.totals_bps.sum()),
        "smallest_bps": float(found.totals_bps.min()),
    }


def candidates_of(
    variant: Variant, seed: int, problem: FluidProblem
) -> tuple[AllocationProblem, list[list[int]], list[int]]:
    """All paths that the flows could have, which of them they have, and which flows these are."""
    pairs = [
        (int(source), int(destination))
        for source, destination in zip(problem["source"], problem["destination"], strict=True)
    ]
    first, links = problem["first_link"].tolist(), problem["links"].tolist()
    own: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in pairs]
    for path, flow in enumerate(problem["flow_of"].tolist()):
        rtt = float(problem["rtt_s"][path])
        own[flow].append((rtt, tuple(links[first[path] : first[path + 1]])))
    capacity = problem["capacities_bps"].tolist()
    flows: list[Flow] = []
    chosen: list[list[int]] = []
    judged: list[int] = []
    candidates = variant.candidates(seed, pairs)
    for flow, (paths, shortest) in enumerate(zip(own, candidates, strict=True)):
        if not any(all(capacity[link] > 0 for link in there) for _, there in paths):
            continue  # none of its subflows is open, or none has a live path
        possible = {tuple(there): rtt for rtt, there in shortest}
        possible.update({there: rtt for rtt, there in paths})
        places = {there: place for place, there in enumerate(possible)}
        flows.append(Flow([Subflow(there, rtt) for there, rtt in possible.items()]))
        chosen.append(sorted({places[there] for _, there in paths}))
        judged.append(flow)
    problem_of_all = AllocationProblem(capacity, flows, packet_bytes=problem["packet_bytes"])
    return problem_of_all, chosen, judged
