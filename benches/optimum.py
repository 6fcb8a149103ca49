"""Times the network-utility optimum: python benches/optimum.py [64x4 1024x8 ...], flows x paths.

The network is a three-layer fat-tree of 1 Gbps links, flows go between random hosts and their
subflows over random cores, as under ECMP. One line a utility: seconds, of which of processor,
status, worst residual. In the last line delays differ between a flow's paths, by up to a half.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from pathweave.optimum import (
    AllocationProblem,
    AlphaFairness,
    DelayWeighted,
    Eutcp,
    Flow,
    MaxMin,
    ProportionalFairness,
    Subflow,
    Tcp,
    Utility,
    Wutcp,
    Xmp,
    solve,
)

UTILITIES: tuple[Utility, ...] = (
    ProportionalFairness(),
    AlphaFairness(0.5),
    AlphaFairness(2.0),
    Xmp(),
    Tcp(),
    Eutcp(),
    Wutcp(),
    MaxMin(),
    MaxMin(over="subflows"),
)
RATE_BPS = 1e9


def fat_tree(flows: int, paths: int, seed: int, spread: float = 0.0) -> AllocationProblem:
    """Flows between random hosts of the smallest fat-tree that has a host for each flow."""
    rng = np.random.default_rng(seed)
    k = 4
    while k**3 // 4 < flows:
        k += 2
    hosts, half = k**3 // 4, k // 2
    numbers: dict[tuple[object, ...], int] = {}

    def link(*name: object) -> int:
        return numbers.setdefault(name, len(numbers))

    def path(source: int, target: int) -> tuple[list[int], float]:
        """Links over a random aggregation switch and core, and the round-trip time (s)."""
        (edge, pod), (far_edge, far_pod) = (
            (host // half, host // half**2) for host in (source, target)
        )
        links = [link("up", source), link("down", target)]
        aggregation, core = (int(number) for number in rng.integers(half, size=2))
        if edge == far_edge:
            return links, 100e-6
        links += [link("up", edge, aggregation), link("down", far_edge, aggregation)]
        if pod == far_pod:
            return links, 200e-6
        links += [link("up", pod, aggregation, core), link("down", far_pod, aggregation, core)]
        return links, 400e-6

    made: list[Flow] = []
    for source in range(flows):
        target = int(rng.integers(hosts - 1))
        target += target >= source
        subflows = (path(source, target) for _ in range(paths))
        made.append(
            Flow([Subflow(links, rtt * rng.uniform(1, 1 + spread)) for links, rtt in subflows])
        )
    return AllocationProblem([RATE_BPS] * len(numbers), made)


def flows_and_paths(text: str) -> tuple[int, int]:
    """A size such as 64x4."""
    flows, _, paths = text.partition("x")
    return int(flows), int(paths)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=flows_and_paths, default=[(64, 4), (1024, 8)])
    for flows, paths in parser.parse_args().sizes:
        problem = fat_tree(flows, paths, seed=1)
        print(f"{flows} flows x {paths} paths, {len(problem.capacities_bps)} links")
        for utility in UTILITIES:
            report(problem, utility)
        report(fat_tree(flows, paths, seed=1, spread=0.5), DelayWeighted())


def report(problem: AllocationProblem, utility: Utility) -> None:
    """Solve and print a line."""
    start, start_cpu = time.perf_counter(), time.process_time()
    found = solve(problem, utility)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    print(
        f"  {seconds:6.2f} s {cpu:6.2f} s  {found.status:10}  {found.residuals.worst:7.1e}"
        f"  {found.solver:8}  {utility}",
        flush=True,
    )


if __name__ == "__main__":
    main()
