"""How good a scenario's routing is: the paths that it gave beside the best choice of paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.optimum.problem import AllocationProblem, Flow, Subflow
from pathweave.optimum.utility import Concave, MaxMin, Utility, Wutcp

if TYPE_CHECKING:
    from pathweave._core import FluidProblem, Variant
    from pathweave.optimum.allocation import Allocation
    from pathweave.solving.objective import Objective


def judge_routing(
    variant: Variant, seed: int, problem: FluidProblem, objective: Objective
) -> dict[str, Any]:
    """The optimum over the paths that flows have, and over better choices of as many paths.

    Candidates are the shortest paths between the flow's hosts, and those that it has. Numbers, not
    objects: the result stands in a manifest. `best` is null where there are too many combinations.
    """
    from pathweave.optimum import RoutingProblem, enumerate_paths, judge, round_up

    candidates, chosen = _candidates(variant, seed, problem)
    numbers = [len(own) for own in chosen]
    given = RoutingProblem(candidates, numbers)
    utilities = [
        of_a_sum(objective.of(*problem["controllers"][int(at)])) for at in problem["controller_of"]
    ]
    ours = judge(given, utilities, chosen)
    rounded = round_up(given, utilities)
    try:
        best = enumerate_paths(given, utilities)
    except InputError:
        best = None
    return {
        "time_s": problem["time_s"],
        "flows": len(candidates.flows),
        "candidates": sum(len(flow.subflows) for flow in candidates.flows),
        "given": _worth(ours.allocation),
        "rounded": _worth(rounded.allocation),
        "best": _worth(best.allocation) if best is not None else None,
        "relaxed": _worth(ours.relaxed),
    }


def of_a_sum(utility: Utility) -> Concave:
    """The same utility; raises `InputError` for one that cannot judge a choice of paths."""
    if isinstance(utility, MaxMin | Wutcp):
        raise InputError(
            "--routing needs a utility of a flow's whole rate, which max-min and WUTCP's are not:"
            " choose another --utility"
        )
    return utility


def _worth(found: Allocation) -> dict[str, float]:
    return {
        "objective": found.objective,
        "total_bps": float(found.totals_bps.sum()),
        "smallest_bps": float(found.totals_bps.min()),
    }


def _candidates(
    variant: Variant, seed: int, problem: FluidProblem
) -> tuple[AllocationProblem, list[list[int]]]:
    """All paths that the flows could have, and which of them they have."""
    pairs = [
        (int(source), int(destination))
        for source, destination in zip(problem["source"], problem["destination"], strict=True)
    ]
    first, links = problem["first_link"].tolist(), problem["links"].tolist()
    own: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in pairs]
    for path, flow in enumerate(problem["flow_of"].tolist()):
        rtt = float(problem["rtt_s"][path])
        own[flow].append((rtt, tuple(links[first[path] : first[path + 1]])))
    flows: list[Flow] = []
    chosen: list[list[int]] = []
    for paths, shortest in zip(own, variant.candidates(seed, pairs), strict=True):
        possible = {tuple(there): rtt for rtt, there in shortest}
        for rtt, there in paths:
            possible.setdefault(there, rtt)
        places = {there: place for place, there in enumerate(possible)}
        if not possible:
            raise InputError("a flow has no path at all: its routing cannot be judged")
        flows.append(Flow([Subflow(there, rtt) for there, rtt in possible.items()]))
        chosen.append(sorted({places[there] for _, there in paths}))
    return (
        AllocationProblem(
            problem["capacities_bps"].tolist(), flows, packet_bytes=problem["packet_bytes"]
        ),
        chosen,
    )
