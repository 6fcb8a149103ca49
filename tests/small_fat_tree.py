"""A fat-tree's paths and random traffic for the tests of the optimum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathweave.optimum import AllocationProblem, Flow, Subflow

RATE_BPS = 1e9
HOSTS = 16


def candidates(pairs: Sequence[tuple[int, int]], rtt_s: float = 3e-4) -> AllocationProblem:
    """All shortest paths between pairs of the 16 hosts of a fat-tree with k = 4."""
    numbers: dict[tuple[object, ...], int] = {}

    def link(*name: object) -> int:
        return numbers.setdefault(name, len(numbers))

    def paths(source: int, target: int) -> list[list[int]]:
        ends = [link("up", source), link("down", target)]
        edge, far_edge = source // 2, target // 2
        pod, far_pod = edge // 2, far_edge // 2
        if edge == far_edge:
            return [ends]
        found: list[list[int]] = []
        for aggregation in range(2):
            there = [*ends, link("up", edge, aggregation), link("down", far_edge, aggregation)]
            if pod == far_pod:
                found.append(there)
                continue
            cores = (2 * aggregation, 2 * aggregation + 1)
            found += [[*there, link("core", pod, at), link(at, "pod", far_pod)] for at in cores]
        return found

    flows = [
        Flow([Subflow(own, rtt_s) for own in paths(source, target)]) for source, target in pairs
    ]
    return AllocationProblem([RATE_BPS] * len(numbers), flows)


def permutation(seed: int) -> list[tuple[int, int]]:
    """Each host sends to another, and each receives once."""
    generator = np.random.default_rng(seed)
    targets = np.arange(HOSTS)
    while (targets == np.arange(HOSTS)).any():
        generator.shuffle(targets)
    return list(enumerate(targets.tolist()))


def random_pairs(seed: int) -> list[tuple[int, int]]:
    """As many pairs as hosts, each of two different hosts that may be in others as well."""
    generator = np.random.default_rng(seed)
    pairs = [generator.choice(HOSTS, 2, replace=False).tolist() for _ in range(HOSTS)]
    return [(source, target) for source, target in pairs]
