"""The paths of ECMP and of FMP next to routing by smallest price and the dual iteration.

    python papers/fmptcp/references.py                  # the table of README.md
    python papers/fmptcp/references.py --only k4        # of the small fat-tree alone
    python papers/fmptcp/references.py --seeds 2        # of fewer seeds
    python papers/fmptcp/references.py --only k4-permutation-4 --seeds 2 --alpha-total 10000

Long flows start 5 ms apart (section IV-B.2: one by one, each when those before it have settled) and
stay. Prints a Markdown table: by traffic the mean over seeds of the total rate, and of the
geometric mean over flows of their rates, as shares of the optimum over all shortest paths. Delays
are equal, so this geometric mean is the utility of equation 1, and the optimum bounds all others.

"Solved" has the best rates on the paths that flows take: under ECMP and FMP those of a simulation
with FCC, by smallest price as they join (section IV-B.2), and for the dual iteration (equations 7
and 8) all shortest paths. "Simulated" has FCC's goodput over the payload's share of a packet.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pathweave
from pathweave.optimum import (
    AllocationProblem,
    ProportionalFairness,
    RoutingProblem,
    iterate_prices,
    judge,
    relax,
    smallest_price,
)
from pathweave.running.session import Request, open_session
from pathweave.running.texts import to_toml
from pathweave.solving.routing import candidates_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pathweave._core import FluidProblem, Variant

GAP_S = 5e-3
SETTLE_S = 0.1
MEASURE_S = 0.2
UTILITY = ProportionalFairness()
ROUTINGS: dict[str, dict[str, Any]] = {
    "ECMP": {"kind": "ecmp"},
    "FMP": {"kind": "fmp"},
    "FMP by utilisation": {"kind": "fmp", "price": "utilisation"},
}
COLUMNS = (
    *(f"solved, {name}" for name in ROUTINGS),
    "solved, smallest price",
    "solved, dual iteration",
    *(f"simulated, {name}" for name in ROUTINGS),
)


@dataclass(frozen=True)
class Case:
    """A fat-tree, who sends to whom, and how many subflows a flow has."""

    k: int
    per_edge: int
    traffic: str
    flows: int
    subflows: int

    @property
    def hosts(self) -> int:
        """Of the fat-tree."""
        return self.k**2 // 2 * self.per_edge

    @property
    def name(self) -> str:
        """For `--only`."""
        return f"k{self.k}-{self.traffic.replace(' ', '-')}-{self.subflows}"

    def pairs(self, seed: int) -> list[tuple[int, int]]:
        """Source and destination of each flow, in the order in which they join."""
        generator = np.random.default_rng(seed)
        if self.traffic == "many to one":
            own = generator.permutation(self.hosts)[: self.flows + 1].tolist()
            return [(source, own[0]) for source in own[1:]]
        if self.traffic == "random pairs":
            drawn = [generator.choice(self.hosts, 2, replace=False) for _ in range(self.flows)]
            return [(int(source), int(target)) for source, target in drawn]
        targets = np.arange(self.hosts)
        while (targets == np.arange(self.hosts)).any():
            generator.shuffle(targets)
        order = generator.permutation(self.hosts)[: self.flows].tolist()
        return [(source, int(targets[source])) for source in order]


CASES = (
    *(Case(4, 2, "permutation", 16, subflows) for subflows in (1, 2, 4)),
    *(Case(4, 2, "random pairs", 16, subflows) for subflows in (1, 2, 4)),
    Case(4, 2, "many to one", 15, 4),
    *(Case(10, 10, "permutation", 150, subflows) for subflows in (1, 4)),
    *(Case(10, 10, "random pairs", 150, subflows) for subflows in (1, 4)),
    Case(10, 10, "many to one", 20, 4),
)


def scenario(
    case: Case, seed: int, routing: dict[str, Any], alpha_total: float = 1000
) -> dict[str, Any]:
    """The fabric and transport of the paper's Figures 9 to 12, with these flows."""
    flows = [
        {"from": f"h{source}", "to": f"h{target}", "start": f"{at * GAP_S * 1e3:g} ms"}
        for at, (source, target) in enumerate(case.pairs(seed))
    ]
    begin = case.flows * GAP_S + SETTLE_S
    return {
        "title": "FMPTCP: references",
        "seed": seed,
        "fabric": {
            "kind": "fat-tree",
            "k": case.k,
            "hosts_per_edge": case.per_edge,
            "rate": "1 Gbps",
            "delay": "30 us",
            "queue": {"limit": 100, "mark": {"kind": "proportional", "high": 0.8}},
        },
        "routing": routing,
        "transport": {"preset": "fmptcp-2024"},
        "traffic": [
            {
                "name": "flows",
                "pattern": "flows",
                "size": "unlimited",
                "controller": {"name": "fcc", "alpha_total": alpha_total},
                "subflows": case.subflows,
                "flows": flows,
            }
        ],
        "stop": {"at": f"{(begin + MEASURE_S) * 1e3:g} ms"},
        "measure": {"from": f"{begin * 1e3:g} ms"},
    }


def variant_of(written: dict[str, Any], folder: Path) -> Variant:
    """The only one of a scenario."""
    path = folder / "references.toml"
    path.write_text(to_toml(written))
    session = open_session(Request(path=path, root=folder / "out", utility="proportional"))
    (variant,) = session.plan.scenario.variants
    return variant


def all_under_way(variant: Variant, seed: int) -> tuple[FluidProblem, float]:
    """The problem once all flows have joined, and the payload's share of a rate."""
    last: list[FluidProblem] = []

    def allocate(problem: FluidProblem) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        last[:] = [problem]
        paths = np.bincount(problem["flow_of"].astype(np.intp))
        return 1e6 / paths[problem["flow_of"].astype(np.intp)], np.ones(len(paths), dtype=bool)

    flows = variant.flow(seed, allocate).tables["flows"]
    return last[0], float(np.mean(np.asarray(flows["goodput_bps"]))) / 1e6


def paths_taken(results: pathweave.Results, candidates: AllocationProblem) -> list[list[int]]:
    """By flow: which of its candidates the simulation's subflows took."""
    number = {name: at for at, name in enumerate(results.links["link"])}
    taken: list[list[int]] = [[] for _ in candidates.flows]
    for row in results.subflows.select("flow", "path").iter_rows():
        flow, path = int(row[0]), str(row[1])
        links = tuple(number[f"{one}->{other}"] for one, other in pairwise(path.split("-")))
        own = [subflow.links for subflow in candidates.flows[flow].subflows]
        taken[flow].append(own.index(links))
    return taken


def rates(case: Case, seed: int, alpha_total: float) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The rate of each flow (bit/s), first of the optimum and then by column."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variant = variant_of(scenario(case, seed, ROUTINGS["ECMP"]), folder)
        problem, payload = all_under_way(variant, seed)
        candidates, _, _ = candidates_of(variant, seed, problem)
        choice = RoutingProblem(candidates, case.subflows)
        yield "optimum", relax(choice, UTILITY).totals_bps
        for routing, table in ROUTINGS.items():
            written = scenario(case, seed, table, alpha_total)
            results = pathweave.run(
                written, name="references", out=folder / routing, progress=False
            )
            taken = paths_taken(results, candidates)
            yield f"solved, {routing}", judge(choice, UTILITY, taken).allocation.totals_bps
            goodput = results.flows.sort("id")["goodput_bps"].to_numpy()
            yield f"simulated, {routing}", goodput / payload
        smallest = smallest_price(choice, UTILITY)
        yield "solved, smallest price", smallest.allocation.totals_bps
        yield "solved, dual iteration", iterate_prices(candidates, UTILITY).totals_bps


def row(case: Case, seeds: int, alpha_total: float) -> str:
    """Of the table: the share of the total, and of the geometric mean."""
    totals: dict[str, list[float]] = defaultdict(list)
    means: dict[str, list[float]] = defaultdict(list)
    for seed in range(1, seeds + 1):
        print(f"{case.name}, seed {seed}", file=sys.stderr)
        optimum = np.ones(case.flows)
        for column, own in rates(case, seed, alpha_total):
            optimum = own if column == "optimum" else optimum
            totals[column].append(float(own.sum() / optimum.sum()))
            means[column].append(float(np.exp(np.mean(np.log(own / optimum)))))
    cells = [f"{case.k}", case.traffic, f"{case.flows}", f"{case.subflows}", f"{seeds}"]
    for column in COLUMNS:
        total, mean = np.mean(totals[column]), np.mean(means[column])
        cells.append(f"{100 * total:.0f} / {100 * mean:.0f}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table, a row when it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="beginning of the cases' names, as k4-random")
    parser.add_argument("--seeds", type=int, help="10 for k = 4 and 2 for k = 10, if not given")
    parser.add_argument("--alpha-total", type=float, default=1000, help="of FCC, 1/s")
    arguments = parser.parse_args()
    head = ["k", "traffic", "flows", "subflows", "seeds", *COLUMNS]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for case in CASES:
        if case.name.startswith(arguments.only):
            seeds = arguments.seeds or (10 if case.k == 4 else 2)
            print(row(case, seeds, arguments.alpha_total), flush=True)


if __name__ == "__main__":
    main()
