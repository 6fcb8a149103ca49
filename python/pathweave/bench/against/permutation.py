"""A permutation of flows on a fat-tree and the paths that their packets take.

All paths are drawn here, so that both simulators send the same flows over the same links.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Subflow:
    """The nodes that packets pass, in order, both hosts included."""

    data: tuple[str, ...]
    acknowledgements: tuple[str, ...]


@dataclass(frozen=True)
class Flow:
    """One sender and receiver."""

    source: str
    destination: str
    subflows: tuple[Subflow, ...]


def draw(k: int, subflows: int, seed: int) -> list[Flow]:
    """A flow for each host of a fat-tree with k-port switches, to one other host each.

    Each subflow takes a random shortest path, and its acknowledgements another one.
    """
    chance = random.Random(seed)  # noqa: S311 - a workload, not a secret
    hosts = range(k**3 // 4)
    to = list(hosts)
    while any(host == other for host, other in zip(hosts, to, strict=True)):
        chance.shuffle(to)
    return [
        Flow(
            source=f"h{host}",
            destination=f"h{other}",
            subflows=tuple(
                Subflow(_path(k, host, other, chance), _path(k, other, host, chance))
                for _ in range(subflows)
            ),
        )
        for host, other in zip(hosts, to, strict=True)
    ]


def path_lines(flows: list[Flow]) -> str:
    """Two lines for each subflow: the path of its data, and that of its acknowledgements."""
    return "".join(
        f"{' '.join(path)}\n"
        for flow in flows
        for subflow in flow.subflows
        for path in (subflow.data, subflow.acknowledgements)
    )


def _path(k: int, source: int, destination: int, chance: random.Random) -> tuple[str, ...]:
    """A random shortest path; nodes have Pathweave's names."""
    half = k // 2
    (pod, edge), (to_pod, to_edge) = (
        (host // half**2, host // half % half) for host in (source, destination)
    )
    first, last = f"h{source}", f"h{destination}"
    if (pod, edge) == (to_pod, to_edge):
        return (first, f"edge{pod}.{edge}", last)
    up = chance.randrange(half)
    if pod == to_pod:
        return (first, f"edge{pod}.{edge}", f"agg{pod}.{up}", f"edge{pod}.{to_edge}", last)
    core = f"core{up}.{chance.randrange(half)}"
    climb = (first, f"edge{pod}.{edge}", f"agg{pod}.{up}")
    return (*climb, core, f"agg{to_pod}.{up}", f"edge{to_pod}.{to_edge}", last)
